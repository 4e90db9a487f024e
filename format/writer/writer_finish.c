/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The end of a file: the sections behind the feature table, and the head that points to them. */
#include "format/writer/writer_priv.h"

#include <stdlib.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"

/* The directory and its trailer, at the end of w->out, which will be written at post_off. */
static int add_directory(struct writer *w, uint64_t post_off_bytes)
{
	struct ebx_trailer t = { 0 };
	uint8_t encoded[EBX_TRAILER_BYTES];
	uint8_t *dir = NULL;
	size_t dir_bytes = 0;
	int err;

	err = directory_encoder_finish(&w->dir, w->spill_fd, &dir, &dir_bytes);
	if (err)
		return err;
	writer_spill_to(w, -1); /* a full disk may need its space */
	w->dir.items.size_bytes = w->dir.spilled_bytes = 0;
	t.dir_off_bytes = post_off_bytes + w->out.size_bytes;
	t.dir_size_bytes = dir_bytes;
	t.crc32c = crc32c(0, dir, dir_bytes);
	ebx_trailer_encode(&t, encoded);
	err = buf_add(&w->out, dir, dir_bytes);
	free(dir);
	if (!err)
		err = buf_add(&w->out, encoded, sizeof(encoded));
	if (err)
		return err;
	w->super.dir_off_bytes = t.dir_off_bytes;
	w->super.dir_size_bytes = t.dir_size_bytes;
	return 0;
}

/* Writes everything behind the table, and the table's pointers to it. */
static int write_post_area(struct writer *w, const struct writer_feature *build_id)
{
	uint8_t *entry = w->table.data + w->build_id_entry_off_bytes;
	uint64_t table_end = w->end_bytes + w->table.size_bytes;
	int err = 0;

	w->out.size_bytes = 0;
	if (build_id)
		err = buf_add(&w->out, build_id->data, build_id->size_bytes);
	if (!err)
		err = buf_pad(&w->out, 8);
	if (!err && !w->plain)
		err = add_directory(w, table_end);
	if (!err)
		err = writer_put_at(w, w->out.data, w->out.size_bytes, table_end);
	if (err)
		return err;
	w->stats.file_bytes = table_end + w->out.size_bytes;
	if (!build_id)
		return 0;
	le64_store(entry, table_end);
	le64_store(entry + 8, build_id->size_bytes);
	w->super.build_id_crc32c = crc32c(0, build_id->data, build_id->size_bytes);
	return writer_put_at(w, entry, 16, w->end_bytes + w->build_id_entry_off_bytes);
}

static void undo_post_area(struct writer *w)
{
	uint8_t *entry = w->table.data + w->build_id_entry_off_bytes;

	le64_store(entry, w->data_off_bytes);
	le64_store(entry + 8, 0);
	w->super.state = EBX_LIVE;
	w->super.dir_off_bytes = 0;
	w->super.dir_size_bytes = 0;
	w->super.build_id_crc32c = 0;
	writer_undo(w, w->end_bytes);
}

int writer_seal(struct writer *w, const struct writer_feature *build_id, enum ebx_state state)
{
	int err = write_post_area(w, build_id);

	if (!err) {
		w->super.state = state;
		writer_update_head(w);
		err = writer_put_at(w, w->head.data, w->head.size_bytes, 0);
	}
	if (err) {
		undo_post_area(w);
		w->err = err;
	}
	return err;
}

int writer_finish(struct writer *w, const struct writer_feature *features, size_t feature_count)
{
	int err;

	if (w->finished || feature_count > 1 ||
	    (feature_count && features[0].bit != PERFFILE_BUILD_ID))
		return -EINVAL;
	err = writer_flush(w, false);
	if (err)
		return err;
	w->finished = true;
	return writer_seal(w, feature_count ? features : NULL, EBX_CLEAN);
}
