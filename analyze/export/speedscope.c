/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* speedscope's file format: a profile a comm, of stacks with weights. */
#include <inttypes.h>
#include <string.h>

#include "analyze/export/exporter.h"

static void write_frames(const struct report *r, FILE *to)
{
	const struct function_table *n = &r->naming;

	for (size_t i = 0; i < n->function_count; i++) {
		fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", to);
		export_json(to, string_table_text(r->names, n->functions[i].name));
		fputs(", \"file\": ", to);
		export_json(to, string_table_text(r->names, n->functions[i].dso));
		putc('}', to);
	}
}

/* [first, end) are of one comm. */
static int write_profile(struct export_stacks *s, const struct export_ask *ask, size_t first,
			 size_t end, const char *comm, FILE *to)
{
	uint64_t sum = 0;
	int err = 0;

	for (size_t i = first; i < end; i++)
		sum += export_weight(ask, s->list[i]);
	fprintf(to, "%s\n  {\"type\": \"sampled\", \"name\": ", first ? "," : "");
	export_json(to, comm);
	fprintf(to,
		", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": %" PRIu64
		",\n   \"samples\": [",
		strcmp(ask->unit, "nanoseconds") ? "none" : ask->unit, sum);
	for (size_t i = first; !err && i < end; i++) {
		err = export_stacks_read(s, i);
		fputs(i > first ? ",[" : "[", to);
		for (size_t f = s->path.count; !err && f-- > 0;)
			fprintf(to, f ? "%" PRIu32 "," : "%" PRIu32, s->path.labels[f]);
		putc(']', to);
	}
	fputs("],\n   \"weights\": [", to);
	for (size_t i = first; i < end; i++)
		fprintf(to, "%s%" PRIu64, i > first ? "," : "", export_weight(ask, s->list[i]));
	fputs("]}", to);
	return err;
}

int export_speedscope(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct export_stacks s;
	char unknown[16];
	size_t first = 0;
	int err = export_stacks_init(&s, r);

	if (err)
		return err;
	fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
	      " \"exporter\": \"ebprec " EBPREC_VERSION "\",\n \"name\": ",
	      to);
	export_json(to, ask->path);
	fputs(",\n \"shared\": {\"frames\": [", to);
	write_frames(r, to);
	fputs("\n ]},\n \"profiles\": [", to);
	for (size_t i = 1; !err && i <= s.count; i++) {
		if (i < s.count &&
		    export_stacks_group(&s, i)->comm == export_stacks_group(&s, first)->comm)
			continue;
		err = write_profile(&s, ask, first, i,
				    export_comm(r, export_stacks_group(&s, first), unknown), to);
		first = i;
	}
	fputs("\n ]\n}\n", to);
	export_stacks_done(&s);
	return err;
}
