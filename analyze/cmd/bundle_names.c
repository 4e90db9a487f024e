/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/bundle_names.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/metric/lock_names.h"
#include "analyze/out/message.h"
#include "analyze/report/report.h"

static int collect(void *arg, struct resolver *resolver)
{
	uint32_t count = resolver_file_count(resolver);
	struct bundle_names *o = arg;
	struct bundle *b;
	size_t size_bytes;
	uint8_t *data;
	int err = 0;

	for (uint32_t i = 0; !err && i < count; i++) {
		err = resolver_bundle(resolver, i, o->with_lines, &data, &size_bytes);
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		if (err)
			break;
		err = bundle_decode(data, size_bytes, &b);
		if (err)
			free(data);
		else
			err = bundle_merge_add(&o->files, b, 0);
	}
	return err;
}

int bundle_names_write(void *arg, struct writer *w)
{
	const struct bundle_merge *files = &((const struct bundle_names *)arg)->files;
	const uint8_t *data;
	size_t size_bytes;
	int err = 0;

	for (size_t i = 0; !err && i < files->ids.count; i++) {
		data = bundle_bytes(files->files[i].bundle, &size_bytes);
		err = writer_object(w, EBX_SYMTAB, i, data, size_bytes);
	}
	return err;
}

/* Each event's samples have stacks of their own. */
static int resolve_all(const struct capture *c, const struct name_roots *roots,
		       struct bundle_names *o)
{
	struct report_query query = {
		.roots = *roots,
		.demangle = true,
		.on_named = collect,
		.on_named_arg = o,
	};
	struct report r;
	size_t count;
	int err = 0;

	capture_attrs(c, &count);
	for (; !err && query.attr < count; query.attr++) {
		err = report_open(c, &r);
		if (err)
			break;
		err = report_make(&r, &query);
		report_done(&r);
	}
	return err;
}

static int ignore_row(void *ctx, const struct metric_row *r)
{
	return 0;
}

/* Names the locks, which are in no sample: each row has its lock named. */
static int name_locks(const struct capture *c, const struct report *r,
		      const struct name_roots *roots, struct metric_rows *rows,
		      struct bundle_names *o)
{
	struct lock_names locks;
	struct filter all;
	int err = lock_names_open(&locks, c, &r->scan, r->model, r->names, roots);

	if (!err) {
		filter_init(&all);
		lock_names_use(&locks, rows);
		err = metric_rows_walk(rows, r->names, &all, ignore_row, NULL);
		filter_done(&all);
	}
	if (!err)
		err = collect(o, locks.context.resolver);
	lock_names_close(&locks);
	return err;
}

static int resolve_locks(const struct capture *c, const struct name_roots *roots,
			 struct bundle_names *o)
{
	struct metric_rows rows;
	struct report r;
	int err = metric_rows_open(c, &rows);

	if (err)
		return err;
	if (metric_rows_add_symbols(&rows)) {
		err = report_open(c, &r);
		if (!err) {
			err = name_locks(c, &r, roots, &rows, o);
			report_done(&r);
		}
	}
	metric_rows_done(&rows);
	return err;
}

int bundle_names_find(const struct capture *c, const struct name_options *names, bool quiet,
		      struct bundle_names *out)
{
	struct name_root_options roots;
	int err = name_roots_make(names, &roots, quiet);

	if (err == -ENOENT)
		message_note("cannot ask debuginfod: no libdebuginfod.so.1, skipping");
	else if (err)
		return err;
	err = resolve_all(c, &roots.roots, out);
	if (!err)
		err = resolve_locks(c, &roots.roots, out);
	if (!quiet)
		name_roots_note_fetched(&roots);
	name_roots_done(&roots);
	return err;
}

bool bundle_names_can(const struct capture *c)
{
	const struct capture_damage *damage = capture_damage(c);

	return !damage->unfinished && !damage->cut && !damage->bad_blocks && !damage->missing_seq;
}
