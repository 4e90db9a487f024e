/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECES_MAX 1024 /* functions of one program; the kernel allows 256 */

struct pieces {
	uint64_t addr[PIECES_MAX];
	uint32_t size_bytes[PIECES_MAX];
	struct bpf_func_info func[PIECES_MAX];
};

/* The kernel's own way to name piece i, by the program's types; false: it has none. */
static bool typed_name(const struct bpf_prog_info *info, const struct pieces *pieces, uint32_t i,
		       const struct btf *btf, char *out, size_t out_bytes)
{
	const struct btf_type *type;

	if (!btf || i >= info->nr_func_info || i >= PIECES_MAX)
		return false;
	type = btf__type_by_id(btf, pieces->func[i].type_id);
	return type && snprintf(out, out_bytes, "%s", btf__name_by_offset(btf, type->name_off)) > 0;
}

static void piece_name(const struct bpf_prog_info *info, const struct pieces *pieces, uint32_t i,
		       const struct kernel_symbols_index *k, const struct btf *btf, char *out,
		       size_t out_bytes)
{
	char name[128];
	size_t at = 0, j;

	if (k && kernel_symbols_index_bpf_name(k, pieces->addr[i], out, out_bytes))
		return;
	at += (size_t)snprintf(out, out_bytes, "bpf_prog_");
	for (j = 0; j < sizeof(info->tag); j++)
		at += (size_t)snprintf(out + at, out_bytes - at, "%02x", info->tag[j]);
	if (typed_name(info, pieces, i, btf, name, sizeof(name)))
		snprintf(out + at, out_bytes - at, "_%s", name);
	else if (info->name[0])
		snprintf(out + at, out_bytes - at, "_%.*s", (int)sizeof(info->name), info->name);
}

static int emit_prog(struct sink *e, struct kernel_symbols_index *k, int fd, struct pieces *pieces)
{
	struct side_record r = { .id = sink_side_id(e) };
	struct bpf_prog_info info = {
		.nr_jited_ksyms = PIECES_MAX,
		.jited_ksyms = (uintptr_t)pieces->addr,
		.nr_jited_func_lens = PIECES_MAX,
		.jited_func_lens = (uintptr_t)pieces->size_bytes,
		.nr_func_info = PIECES_MAX,
		.func_info_rec_size = sizeof(pieces->func[0]),
		.func_info = (uintptr_t)pieces->func,
	};
	struct btf *btf;
	uint32_t info_bytes = sizeof(info), i;
	char name[256];
	int err = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		return 0;
	btf = info.btf_id ? btf__load_from_kernel_by_id(info.btf_id) : NULL;
	for (i = 0;
	     !err && i < info.nr_jited_ksyms && i < info.nr_jited_func_lens && i < PIECES_MAX;
	     i++) {
		if (!pieces->addr[i])
			continue; /* hidden from us */
		piece_name(&info, pieces, i, k, btf, name, sizeof(name));
		if (k)
			kernel_symbols_index_note(k, pieces->addr[i], pieces->size_bytes[i], false);
		err = sink_side(
			e, &r,
			side_record_ksymbol(&r, pieces->addr[i], pieces->size_bytes[i], name));
	}
	btf__free(btf);
	if (!err)
		err = sink_side(e, &r, side_record_bpf_event(&r, info.id, info.tag));
	return err;
}

int bpf_programs_emit(struct sink *e, struct kernel_symbols_index *k, uint32_t below_id)
{
	struct pieces *pieces = calloc(1, sizeof(*pieces));
	uint32_t id = 0;
	int err = 0, fd;

	while (pieces && !err && !bpf_prog_get_next_id(id, &id)) {
		if (below_id && id >= below_id)
			break;
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			continue; /* unloaded meanwhile */
		err = emit_prog(e, k, fd, pieces);
		close(fd);
	}
	free(pieces);
	return err;
}

uint64_t bpf_programs_run_ns(uint32_t from_id, uint32_t last_id)
{
	uint32_t id = from_id ? from_id - 1 : 0, bytes;
	struct bpf_prog_info info;
	uint64_t ns = 0;
	int fd;

	while (!bpf_prog_get_next_id(id, &id) && id <= last_id) {
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			continue;
		info = (struct bpf_prog_info){ 0 };
		bytes = sizeof(info);
		if (!bpf_obj_get_info_by_fd(fd, &info, &bytes))
			ns += info.run_time_ns;
		close(fd);
	}
	return ns;
}

uint32_t bpf_programs_last_id(void)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		;
	return id;
}
