/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/rotated_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "format/os/clock.h"

char *rotated_file_path(const char *path, unsigned number)
{
	char *out = NULL;

	if (!number)
		return strdup(path);
	return asprintf(&out, "%s.%u", path, number) < 0 ? NULL : out;
}

int rotated_file_open(struct rotated_file *s, const char *path, const struct writer *like,
		      struct backlog *w, struct file_origin *file_origin, struct notes *notes)
{
	struct rotated_file fresh = { .file = OUTPUT_FILE_NONE };
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	uint8_t uuid[16] = { 0 };
	int err = output_file_open(&fresh.file, path, notes);

	if (err)
		return err;
	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
		memcpy(uuid, &now_ns, sizeof(now_ns));
	err = writer_like(fresh.file.file.fd, like, uuid, &fresh.writer);
	if (!err)
		writer_spill_to(fresh.writer, output_file_spill(&fresh.file));
	if (!err)
		err = backlog_begin(w, fresh.writer, &fresh.begin_records);
	if (!err)
		err = file_origin_copy(file_origin, fresh.writer);
	if (!err)
		err = writer_flush(fresh.writer, false);
	if (err) {
		rotated_file_close(&fresh);
		return note_fail(notes, err, NULL, "cannot write '%s'", path);
	}
	fresh.before = fresh.written = *backlog_before(w);
	*s = fresh;
	return 0;
}

int rotated_file_place(struct rotated_file *s, struct notes *notes)
{
	return output_file_place(&s->file, notes);
}

int rotated_file_flush(struct rotated_file *s, const struct account *upto)
{
	int err = writer_flush(s->writer, true);

	if (!err)
		s->written = *upto;
	return err;
}

int rotated_file_finish(struct rotated_file *s, const struct rotated_file_end *end,
			struct account *done)
{
	struct writer_feature build_ids = { .bit = PERFFILE_BUILD_ID };
	struct sink e = {
		.writer = s->writer,
		.attrs = end->attrs,
		.account = account_since(end->all, &s->before),
		.written = account_since(&s->written, &s->before),
	};
	struct writer_stats stats;
	struct outbuf meta = { 0 };
	int err;

	/* Those of a window are written when its file ends well. */
	e.written.args_count = e.written.args_cut_count = 0;
	e.written.jit_file_count = e.written.jit_bytes = e.written.jit_cut_count = 0;
	err = end->failed ? sink_give_up(&e, clock_ns(CLOCK_MONOTONIC)) : 0;
	e.account.side_count += s->begin_records;
	meta_account(&meta, &e.account, &end->meta);
	if (!err)
		err = outbuf_ok(&meta) ? writer_object(s->writer, EBX_META, EBX_META_ACCOUNT,
						       meta.data, meta.size_bytes)
				       : -ENOMEM;
	outbuf_done(&meta);
	build_ids.data = build_id_list_section(end->build_ids, &build_ids.size_bytes);
	if (!err)
		err = writer_finish(s->writer, &build_ids, build_ids.size_bytes ? 1 : 0);
	writer_get_stats(s->writer, &stats);
	e.account.file_bytes = stats.file_bytes;
	*done = e.account;
	return err;
}

void rotated_file_close(struct rotated_file *s)
{
	writer_free(s->writer);
	output_file_close(&s->file);
	*s = (struct rotated_file){ .file = OUTPUT_FILE_NONE };
}
