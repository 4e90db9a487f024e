/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* speedscope's file format: a profile a comm, of stacks with weights. */
#include <string.h>

#include "analyze/export/exporter.h"
#include "format/text/json_writer.h"

static void write_frames(const struct report *r, struct json_writer *j)
{
	const struct function_table *n = &r->naming;

	json_writer_begin(j, "shared");
	json_writer_begin_array(j, "frames");
	for (size_t i = 0; i < n->function_count; i++) {
		json_writer_line(j, 2);
		json_writer_begin(j, NULL);
		json_writer_string(j, "name", string_table_text(r->names, n->functions[i].name));
		json_writer_string(j, "file", string_table_text(r->names, n->functions[i].dso));
		json_writer_end(j);
	}
	json_writer_line(j, 1);
	json_writer_end_array(j);
	json_writer_end(j);
}

/* [first, end) are of one comm. */
static int write_profile(struct export_stacks *s, const struct export_ask *ask, size_t first,
			 size_t end, const char *comm, struct json_writer *j)
{
	uint64_t sum = 0;
	int err = 0;

	for (size_t i = first; i < end; i++)
		sum += export_weight(ask, s->list[i]);
	json_writer_begin(j, NULL);
	json_writer_string(j, "type", "sampled");
	json_writer_string(j, "name", comm);
	json_writer_string(j, "unit", strcmp(ask->unit, "nanoseconds") ? "none" : ask->unit);
	json_writer_u64(j, "startValue", 0);
	json_writer_u64(j, "endValue", sum);
	json_writer_line(j, 3);
	json_writer_begin_array(j, "samples");
	j->layout = JSON_WRITER_TIGHT;
	for (size_t i = first; !err && i < end; i++) {
		err = export_stacks_read(s, i);
		json_writer_begin_array(j, NULL);
		for (size_t f = s->path.count; !err && f-- > 0;)
			json_writer_u64(j, NULL, s->path.labels[f]);
		json_writer_end_array(j);
	}
	json_writer_end_array(j);
	json_writer_line(j, 3);
	json_writer_begin_array(j, "weights");
	for (size_t i = first; i < end; i++)
		json_writer_u64(j, NULL, export_weight(ask, s->list[i]));
	json_writer_end_array(j);
	j->layout = JSON_WRITER_SPACED;
	json_writer_end(j);
	return err;
}

int export_speedscope(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_SPACED, .line_depth = 1 };
	struct export_stacks s;
	char unknown[16];
	size_t first = 0;
	int err = export_stacks_init(&s, r);

	if (err)
		return err;
	json_writer_begin(&j, NULL);
	json_writer_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_writer_string(&j, "exporter", "ebprec " EBPREC_VERSION);
	json_writer_string(&j, "name", ask->path);
	write_frames(r, &j);
	json_writer_begin_array(&j, "profiles");
	j.line_depth = 2;
	for (size_t i = 1; !err && i <= s.count; i++) {
		if (i < s.count &&
		    export_stacks_group(&s, i)->comm == export_stacks_group(&s, first)->comm)
			continue;
		err = write_profile(&s, ask, first, i,
				    export_comm(r, export_stacks_group(&s, first), unknown), &j);
		first = i;
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
	export_stacks_done(&s);
	return err;
}
