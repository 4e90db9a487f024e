/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/table/missing_tracepoints.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char needs[] = "needs:", instead[] = "instead:";

/* The rest of text when it begins with word; NULL: it does not. */
static const char *behind(const char *text, const char *word)
{
	size_t bytes = strlen(word);

	return text && !strncmp(text, word, bytes) ? text + bytes : NULL;
}

static bool has_tracepoint(const struct btf *kernel, const char *name)
{
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return !kernel || btf__find_by_name_kind(kernel, type, BTF_KIND_TYPEDEF) != -ENOENT;
}

static bool is_optional(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);
	size_t bytes = strlen(name);

	return bytes > 6 && !strcmp(name + bytes - 6, "_maybe");
}

/* The tracepoint of a program; NULL: it is of another kind. */
static const char *tracepoint_of(const struct bpf_program *prog)
{
	return behind(bpf_program__section_name(prog), "tp_btf/");
}

static bool is_missing(const struct btf *kernel, const struct bpf_program *prog)
{
	const char *tracepoint = tracepoint_of(prog);

	return tracepoint && !has_tracepoint(kernel, tracepoint);
}

bool missing_tracepoints_fails(const struct bpf_object *obj, const struct btf *kernel, char out[64])
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (is_optional(prog) || !is_missing(kernel, prog))
			continue;
		snprintf(out, 64, "%s", tracepoint_of(prog));
		return true;
	}
	return false;
}

void missing_tracepoints_leave_out(const struct bpf_object *obj, const struct btf *kernel)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (is_optional(prog) && is_missing(kernel, prog))
			bpf_program__set_autoload(prog, false);
	}
}

/* ---- tags ---- */

/* The tag when it names a tracepoint that this kernel lacks; else NULL. */
static const char *lacking_tag(const struct btf *btf, const struct btf *kernel, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *tag = btf_is_decl_tag(t) ? btf__name_by_offset(btf, t->name_off) : NULL;
	const char *tracepoint = behind(tag, needs);

	return tracepoint && !has_tracepoint(kernel, tracepoint) ? tag : NULL;
}

bool missing_tracepoints_column(const struct btf *btf, const struct btf *kernel,
				const struct btf_type *of, uint32_t member)
{
	uint32_t types = btf__type_cnt(btf);
	const struct btf_type *t;

	for (uint32_t id = 1; id < types; id++) {
		t = btf__type_by_id(btf, id);
		if (btf_is_decl_tag(t) && btf_decl_tag(t)->component_idx == (int)member &&
		    btf__type_by_id(btf, t->type) == of && lacking_tag(btf, kernel, id))
			return true;
	}
	return false;
}

/* The tag's text: what holds without that program; NULL: none. */
static const char *instead_of(const struct btf *btf, const struct bpf_program *prog)
{
	uint32_t types = btf__type_cnt(btf);
	const struct btf_type *t, *of;
	const char *text;

	for (uint32_t id = 1; id < types; id++) {
		t = btf__type_by_id(btf, id);
		if (!btf_is_decl_tag(t) || btf_decl_tag(t)->component_idx != -1)
			continue;
		of = btf__type_by_id(btf, t->type);
		text = behind(btf__name_by_offset(btf, t->name_off), instead);
		if (text && of && btf_is_func(of) &&
		    !strcmp(btf__name_by_offset(btf, of->name_off), bpf_program__name(prog)))
			return text;
	}
	return NULL;
}

/* ---- words ---- */

static void put_columns(const struct btf *btf, const struct btf *kernel, struct outbuf *out)
{
	uint32_t types = btf ? btf__type_cnt(btf) : 0;
	const char *before = "no column ";

	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id), *of;
		int member;

		if (!lacking_tag(btf, kernel, id))
			continue;
		of = btf__type_by_id(btf, t->type);
		member = btf_decl_tag(t)->component_idx;
		if (!of || !btf_is_struct(of) || member < 0 || member >= (int)btf_vlen(of))
			continue;
		outbuf_printf(out, "%s%s", before,
			      btf__name_by_offset(btf, btf_members(of)[member].name_off));
		before = ", ";
	}
}

bool missing_tracepoints_text(const struct bpf_object *obj, const struct btf *kernel,
			      struct outbuf *out)
{
	const struct btf *btf = bpf_object__btf(obj);
	const char *before = "no tracepoint ", *text;
	struct outbuf columns = { 0 };
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (!is_optional(prog) || !is_missing(kernel, prog))
			continue;
		outbuf_printf(out, "%s%s", before, tracepoint_of(prog));
		before = ", ";
		text = btf ? instead_of(btf, prog) : NULL;
		if (text)
			outbuf_printf(&columns, "%s; ", text);
	}
	if (*before == 'n') {
		outbuf_done(&columns);
		return false;
	}
	put_columns(btf, kernel, &columns);
	if (columns.size_bytes) {
		/* without what would have come next */
		while (columns.size_bytes && strchr("; ", columns.data[columns.size_bytes - 1]))
			columns.size_bytes--;
		outbuf_printf(out, ": %.*s", (int)columns.size_bytes, (const char *)columns.data);
	}
	outbuf_add(out, "", 1);
	outbuf_done(&columns);
	return true;
}
