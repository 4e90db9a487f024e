/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/segment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "record/clock.h"

char *segment_path(const char *path, unsigned number)
{
	char *out = NULL;

	if (!number)
		return strdup(path);
	return asprintf(&out, "%s.%u", path, number) < 0 ? NULL : out;
}

int segment_open(struct segment *s, const char *path, const struct writer *like, struct window *w,
		 struct notes *notes)
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
		err = window_begin(w, fresh.writer, &fresh.begin_records);
	if (!err)
		err = writer_flush(fresh.writer, false);
	if (err) {
		segment_close(&fresh);
		return note_fail(notes, err, NULL, "cannot write '%s'", path);
	}
	fresh.before = *window_before(w);
	*s = fresh;
	return 0;
}

int segment_place(struct segment *s, struct notes *notes)
{
	return recfile_place(&s->file, notes);
}

int segment_finish(struct segment *s, const struct account *all, const struct meta_end *end,
		   struct mapids *ids, struct account *done)
{
	struct writer_feature build_ids = { .bit = PERFFILE_BUILD_ID };
	struct account a = account_since(all, &s->before);
	struct writer_stats stats;
	struct outbuf meta = { 0 };
	int err = -ENOMEM;

	a.side_count += s->begin_records;
	meta_account(&meta, &a, end);
	if (outbuf_ok(&meta))
		err = writer_object(s->writer, EBX_META, EBX_META_ACCOUNT, meta.data,
				    meta.size_bytes);
	outbuf_done(&meta);
	build_ids.data = buildidlist_section(ids->named, &build_ids.size_bytes);
	if (!err)
		err = writer_finish(s->writer, &build_ids, build_ids.size_bytes ? 1 : 0);
	writer_get_stats(s->writer, &stats);
	a.file_bytes = stats.file_bytes;
	*done = a;
	return err;
}

void segment_close(struct segment *s)
{
	writer_free(s->writer);
	recfile_close(&s->file);
	*s = (struct segment){ .file.fd = -1 };
}
