/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pprof's profile.proto, gzipped.  A function is a location of its own, since stacks here are of
 * functions; files become mappings, so that pprof can distinguish them, and containers labels.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyze/export/exporter.h"
#include "analyze/export/pprof_message.h"

struct pprof {
	struct report *r;
	const struct export_ask *ask;
	struct pprof_message m;
	uint32_t *strings; /* by number in the names: number in the file + 1; 0: not there yet */
	size_t string_room;
	uint32_t string_count;
	struct export_files files; /* mapping number i + 1 is of file i */
};

/* The number in the file of a text that is in the names. */
static uint64_t string_of(struct pprof *p, uint32_t name)
{
	if (!p->strings[name]) {
		p->strings[name] = ++p->string_count;
		protobuf_text(&p->m.out, PPROF_STRING, string_table_text(p->r->names, name),
			      string_table_bytes(p->r->names, name));
	}
	return p->strings[name] - 1;
}

static int text_of(struct pprof *p, const char *text, uint64_t *out)
{
	uint32_t name = string_table_find(p->r->names, text);

	if (name == UINT32_MAX || name >= p->string_room)
		return -ENOENT;
	*out = string_of(p, name);
	return 0;
}

/* All texts that will be needed, before the table of strings gets its size. */
static int prepare(struct pprof *p)
{
	static const char *const fixed[] = { "samples", "count", "time_ns", "nanoseconds", "period",
					     "comm",    "pid",   "tid",     "container" };
	size_t group_count;
	const struct group *groups = groups_list(p->r->groups, &group_count);
	uint32_t id;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(fixed) / sizeof(fixed[0]); i++)
		err = string_table_add(p->r->names, fixed[i], strlen(fixed[i]), &id);
	for (size_t i = 0; !err && i < group_count; i++)
		err = export_container(p->r, &groups[i], &id);
	p->string_room = string_table_count(p->r->names);
	p->strings = calloc(p->string_room + 1, sizeof(*p->strings));
	if (!err && !p->strings)
		err = -ENOMEM;
	if (!err)
		err = export_files_make(p->r, NULL, &p->files);
	if (!err)
		(void)string_of(p, 0); /* string 0 is "", as the format wants it */
	return err;
}

static void put_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	uint64_t type_id = 0, unit_id = 0;

	(void)text_of(p, type, &type_id);
	(void)text_of(p, unit, &unit_id);
	pprof_message_type(&p->m, field, type_id, unit_id);
}

static void put_functions(struct pprof *p)
{
	const struct function_table *n = &p->r->naming;

	for (size_t i = 0; i < n->function_count; i++) {
		uint64_t name = string_of(p, n->functions[i].name);
		uint64_t file = string_of(p, n->functions[i].dso);
		uint32_t build_id = name_sources_of(&p->r->sources, i).build_id;
		uint32_t mapping = p->files.by_function[i] + 1;

		if (p->files.functions[mapping - 1] == i)
			pprof_message_mapping(&p->m, mapping, file, string_of(p, build_id));
		pprof_message_function(&p->m, i + 1, name, file, mapping);
	}
}

static void put_label(struct pprof *p, const char *key, uint64_t text, uint64_t number)
{
	uint64_t key_id = 0;

	(void)text_of(p, key, &key_id);
	pprof_message_label(&p->m, key_id, text, number);
}

static int put_samples(struct pprof *p)
{
	struct export_stacks s;
	const struct group *g;
	uint32_t container;
	int err = export_stacks_init(&s, p->r);

	for (size_t i = 0; !err && i < s.count; i++) {
		err = export_stacks_read(&s, i);
		if (err)
			break;
		g = export_stacks_group(&s, i);
		err = export_container(p->r, g, &container);
		if (err)
			break;
		pprof_message_begin_sample(&p->m);
		for (size_t f = 0; f < s.path.count; f++)
			pprof_message_frame(&p->m, (uint64_t)s.path.labels[f] + 1);
		pprof_message_value(&p->m, s.list[i]->sample_count);
		if (p->ask->weight == CALLTREE_PERIOD)
			pprof_message_value(&p->m, s.list[i]->period_sum);
		if (!(g->comm & STACK_COUNTER_TID_GROUP))
			put_label(p, "comm", string_of(p, g->comm), 0);
		put_label(p, "pid", 0, g->pid);
		put_label(p, "tid", 0, g->tid);
		if (container)
			put_label(p, "container", string_of(p, container), 0);
		pprof_message_end_sample(&p->m, &p->m.out);
	}
	export_stacks_done(&s);
	return err;
}

static int write_gzip(const struct protobuf *m, FILE *to)
{
	uint8_t block[1 << 14];
	z_stream z = { .next_in = m->data, .avail_in = 0 };
	size_t left = m->size_bytes;
	int rc;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	do {
		if (!z.avail_in && left) {
			z.avail_in = left < 1u << 30 ? (unsigned)left : 1u << 30;
			left -= z.avail_in;
		}
		z.next_out = block;
		z.avail_out = sizeof(block);
		rc = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(block, 1, sizeof(block) - z.avail_out, to);
	} while (rc != Z_STREAM_END && rc >= 0 && !ferror(to));
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -EIO;
}

int export_pprof(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct pprof p = { .r = r, .ask = ask };
	int err = prepare(&p);

	if (!err) {
		put_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
		if (ask->weight == CALLTREE_PERIOD)
			put_type(&p, PPROF_SAMPLE_TYPE, ask->weight_name, ask->unit);
		put_functions(&p);
		err = put_samples(&p);
	}
	if (!err) {
		protobuf_number(&p.m.out, PPROF_TIME, ask->wall_ns);
		protobuf_number(&p.m.out, PPROF_DURATION, ask->span.to_ns - ask->span.from_ns);
		if (ask->interval_ns) {
			put_type(&p, PPROF_PERIOD_TYPE, "time_ns", "nanoseconds");
			protobuf_number(&p.m.out, PPROF_PERIOD, ask->interval_ns);
		}
		err = p.m.out.failed ? -ENOMEM : write_gzip(&p.m.out, to);
	}
	pprof_message_done(&p.m);
	free(p.strings);
	export_files_done(&p.files);
	return err;
}
