/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/bpfprogs.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECES_MAX 1024 /* functions of one program; the kernel allows 256 */

struct pieces {
	uint64_t addr[PIECES_MAX];
	uint32_t size_bytes[PIECES_MAX];
};

static void piece_name(const struct bpf_prog_info *info, const struct ksyms *k, uint64_t addr,
		       char *out, size_t out_bytes)
{
	struct ksym s;
	size_t at = 0, i;

	if (k && ksyms_at(k, addr, "bpf", &s)) {
		snprintf(out, out_bytes, "%.*s", (int)s.name_bytes, s.name);
		return;
	}
	at += (size_t)snprintf(out, out_bytes, "bpf_prog_");
	for (i = 0; i < sizeof(info->tag); i++)
		at += (size_t)snprintf(out + at, out_bytes - at, "%02x", info->tag[i]);
	if (info->name[0])
		snprintf(out + at, out_bytes - at, "_%.*s", (int)sizeof(info->name), info->name);
}

static int emit_prog(struct emit *e, const struct ksyms *k, int fd, struct pieces *pieces)
{
	struct siderec r = { .id = emit_side_id(e) };
	struct bpf_prog_info info = {
		.nr_jited_ksyms = PIECES_MAX,
		.jited_ksyms = (uintptr_t)pieces->addr,
		.nr_jited_func_lens = PIECES_MAX,
		.jited_func_lens = (uintptr_t)pieces->size_bytes,
	};
	uint32_t info_bytes = sizeof(info), i;
	char name[256];
	int err = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		return 0;
	for (i = 0;
	     !err && i < info.nr_jited_ksyms && i < info.nr_jited_func_lens && i < PIECES_MAX;
	     i++) {
		if (!pieces->addr[i])
			continue; /* hidden from us */
		piece_name(&info, k, pieces->addr[i], name, sizeof(name));
		err = emit_side(e, &r,
				siderec_ksymbol(&r, pieces->addr[i], pieces->size_bytes[i], name));
	}
	if (!err)
		err = emit_side(e, &r, siderec_bpf_event(&r, info.id, info.tag));
	return err;
}

int bpfprogs_emit(struct emit *e, const struct ksyms *k, uint32_t below_id)
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

uint32_t bpfprogs_last_id(void)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		;
	return id;
}
