/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/bundle_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/vec.h"

/* Replaces the first by the join of both. */
static int join(struct bundle_merge_file *f, const struct bundle *b)
{
	struct bundle *both;
	size_t size_bytes;
	uint8_t *data;
	int err = bundle_join(f->bundle, b, &data, &size_bytes);

	if (err)
		return err;
	err = bundle_decode(data, size_bytes, &both);
	if (err) {
		free(data);
		return err;
	}
	bundle_free(f->bundle);
	f->bundle = both;
	return 0;
}

int bundle_merge_add(struct bundle_merge *j, struct bundle *b, uint64_t stored_bytes)
{
	size_t count = j->ids.count;
	int err = vec_reserve(&j->files, &j->room, count + 1);
	uint32_t id = err ? UINT32_MAX : symfile_cache_add(&j->ids, &bundle_head(b)->file);

	if (id == UINT32_MAX) {
		err = -ENOMEM;
	} else if (id == count) {
		j->files[id] = (struct bundle_merge_file){ b, stored_bytes };
		return 0;
	} else {
		err = join(&j->files[id], b);
		j->files[id].stored_bytes += err ? 0 : stored_bytes;
	}
	bundle_free(b);
	return err;
}

void bundle_merge_done(struct bundle_merge *j)
{
	for (size_t i = 0; i < j->ids.count; i++)
		bundle_free(j->files[i].bundle);
	free(j->files);
	symfile_cache_done(&j->ids);
	*j = (struct bundle_merge){ 0 };
}
