/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/bundle_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/vec.h"

/* Puts what both say in place of the first. */
static int join(struct bundlejoin_file *f, const struct bundle *b)
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

int bundlejoin_add(struct bundlejoin *j, struct bundle *b, uint64_t stored_bytes)
{
	size_t count = j->ids.count;
	int err = vec_reserve(&j->files, &j->room, count + 1);
	uint32_t id = err ? UINT32_MAX : symfiles_add(&j->ids, &bundle_head(b)->file);

	if (id == UINT32_MAX) {
		err = -ENOMEM;
	} else if (id == count) {
		j->files[id] = (struct bundlejoin_file){ b, stored_bytes };
		return 0;
	} else {
		err = join(&j->files[id], b);
		j->files[id].stored_bytes += err ? 0 : stored_bytes;
	}
	bundle_free(b);
	return err;
}

void bundlejoin_done(struct bundlejoin *j)
{
	for (size_t i = 0; i < j->ids.count; i++)
		bundle_free(j->files[i].bundle);
	free(j->files);
	symfiles_done(&j->ids);
	*j = (struct bundlejoin){ 0 };
}
