/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/rotated_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "format/base/clock.h"

char *segment_path(const char *path, unsigned number)
{
	char *out = NULL;

	if (!number)
		return strdup(path);
	return asprintf(&out, "%s.%u", path, number) < 0 ? NULL : out;
}

int segment_open(struct segment *s, const char *path, const struct writer *like, struct window *w,
		 struct evidence *evidence, struct notes *notes)
{
	struct segment fresh = { .file.fd = -1 };
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	uint8_t uuid[16] = { 0 };
	int err = recfile_open(&fresh.file, path, notes);

	if (err)
		return err;
	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
		memcpy(uuid, &now_ns, sizeof(now_ns));
	err = writer_like(fresh.file.fd, like, uuid, &fresh.writer);
	if (!err)
		writer_spill_to(fresh.writer, recfile_spill(&fresh.file));
	if (!err)
		err = window_begin(w, fresh.writer, &fresh.begin_records);
	if (!err)
		err = evidence_copy(evidence, fresh.writer);
	if (!err)
		err = writer_flush(fresh.writer, false);
	if (err) {
		segment_close(&fresh);
		return note_fail(notes, err, NULL, "cannot write '%s'", path);
	}
	fresh.before = fresh.written = *window_before(w);
	*s = fresh;
	return 0;
}

int segment_place(struct segment *s, struct notes *notes)
{
	return recfile_place(&s->file, notes);
}

int segment_flush(struct segment *s, const struct account *upto)
{
	int err = writer_flush(s->writer, true);

	if (!err)
		s->written = *upto;
	return err;
}

int segment_finish(struct segment *s, const struct segment_end *end, struct account *done)
{
	struct writer_feature build_ids = { .bit = PERFFILE_BUILD_ID };
	struct emit e = {
		.writer = s->writer,
		.attrs = end->attrs,
		.account = account_since(end->all, &s->before),
		.written = account_since(&s->written, &s->before),
	};
	struct writer_stats stats;
	struct outbuf meta = { 0 };
	int err = end->failed ? emit_give_up(&e, clock_ns(CLOCK_MONOTONIC)) : 0;

	e.account.side_count += s->begin_records;
	meta_account(&meta, &e.account, &end->meta);
	if (!err)
		err = outbuf_ok(&meta) ? writer_object(s->writer, EBX_META, EBX_META_ACCOUNT,
						       meta.data, meta.size_bytes)
				       : -ENOMEM;
	outbuf_done(&meta);
	build_ids.data = buildidlist_section(end->build_ids, &build_ids.size_bytes);
	if (!err)
		err = writer_finish(s->writer, &build_ids, build_ids.size_bytes ? 1 : 0);
	writer_get_stats(s->writer, &stats);
	e.account.file_bytes = stats.file_bytes;
	*done = e.account;
	return err;
}

void segment_close(struct segment *s)
{
	writer_free(s->writer);
	recfile_close(&s->file);
	*s = (struct segment){ .file.fd = -1 };
}
