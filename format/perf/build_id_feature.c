/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/perf/build_id_feature.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/buf.h"
#include "format/base/cursor.h"
#include "format/base/hash.h"
#include "format/perf/perffile.h"

#define MISC_BUILD_ID_SIZE (1U << 15) /* the size byte is valid: perf 5.10 and later */
#define ENTRY_HEAD_BYTES   36         /* event header, pid, 20 bytes of id, size, reserved */
#define PATH_ALIGN_BYTES   64
#define HOST_PID           0xffffffffU /* the host, as opposed to a guest */
#define SLOTS_MIN          256

/* The section itself is the list; the slots of a hash table point into it. */
struct build_id_list {
	struct buf section;
	uint64_t *slots; /* offset of an entry + 1; 0: free */
	size_t slot_count, used_count;
	struct hash_key key;
};

int build_id_list_new(struct build_id_list **out)
{
	struct build_id_list *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	err = hash_key_new(&l->key);
	l->slots = calloc(SLOTS_MIN, sizeof(*l->slots));
	if (!l->slots)
		err = -ENOMEM;
	if (err) {
		build_id_list_free(l);
		return err;
	}
	l->slot_count = SLOTS_MIN;
	*out = l;
	return 0;
}

void build_id_list_free(struct build_id_list *l)
{
	if (!l)
		return;
	buf_done(&l->section);
	free(l->slots);
	free(l);
}

const uint8_t *build_id_list_section(const struct build_id_list *l, size_t *size_bytes)
{
	*size_bytes = l->section.size_bytes;
	return l->section.data;
}

size_t build_id_list_count(const struct build_id_list *l)
{
	return l->used_count;
}

static size_t entry_bytes(const uint8_t *entry)
{
	return le16_load(entry + 6);
}

/* The slot of an equal entry, or the free one where it belongs. */
static uint64_t *find_slot(const struct build_id_list *l, uint64_t *slots, size_t slot_count,
			   const uint8_t *entry)
{
	size_t size = entry_bytes(entry), i = hash_bytes(&l->key, entry, size) & (slot_count - 1);

	for (; slots[i]; i = (i + 1) & (slot_count - 1)) {
		const uint8_t *there = l->section.data + (slots[i] - 1);

		if (entry_bytes(there) == size && !memcmp(there, entry, size))
			break;
	}
	return &slots[i];
}

static int grow(struct build_id_list *l)
{
	size_t count = 2 * l->slot_count, off;
	uint64_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (off = 0; off < l->section.size_bytes; off += entry_bytes(l->section.data + off))
		*find_slot(l, slots, count, l->section.data + off) = off + 1;
	free(l->slots);
	l->slots = slots;
	l->slot_count = count;
	return 0;
}

int build_id_list_add(struct build_id_list *l, const struct buildid *id, const char *path,
		      bool kernel)
{
	size_t path_bytes = strlen(path) + 1, off = l->section.size_bytes, size;
	uint8_t *entry;
	uint64_t *slot;
	int err;

	size = ENTRY_HEAD_BYTES + ((path_bytes + PATH_ALIGN_BYTES - 1) & ~(PATH_ALIGN_BYTES - 1UL));
	if (!id->size_bytes || id->size_bytes > BUILDID_MAX_BYTES || size > PERFFILE_RECORD_MAX)
		return -EINVAL;
	err = 4 * l->used_count >= 3 * l->slot_count ? grow(l) : 0;
	if (!err)
		err = buf_add(&l->section, NULL, size);
	if (err)
		return err;
	entry = l->section.data + off;
	le16_store(entry + 4,
		   (uint16_t)((kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
			      MISC_BUILD_ID_SIZE));
	le16_store(entry + 6, (uint16_t)size);
	le32_store(entry + 8, HOST_PID);
	memcpy(entry + 12, id->bytes, id->size_bytes);
	entry[32] = id->size_bytes;
	memcpy(entry + ENTRY_HEAD_BYTES, path, path_bytes);
	slot = find_slot(l, l->slots, l->slot_count, entry);
	if (*slot) {
		l->section.size_bytes = off; /* known already */
		return 0;
	}
	*slot = off + 1;
	l->used_count++;
	return 0;
}
