/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/seen.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rewrite/scrub/pseudonym.h"
#include "format/base/vec.h"

#define DELETED    " (deleted)"
#define SORT_LEAST 65536 /* names that repeat are let go of where so many are there */

void scrub_seen_done(struct scrub_seen *s)
{
	free(s->comms);
	free(s->hidden_bases);
	free(s->paths);
	free(s->hidden_paths);
	free(s->hidden_names);
	free(s->hidden_groups);
	free(s->hidden_example);
	*s = (struct scrub_seen){ .comms = NULL };
}

static int by_text(const void *a, const void *b)
{
	return memcmp(a, b, SCRUB_SEEN_COMM_BYTES);
}

static int by_number(const void *va, const void *vb)
{
	uint64_t a, b;

	memcpy(&a, va, sizeof(a));
	memcpy(&b, vb, sizeof(b));
	return a < b ? -1 : a > b;
}

/* Returns how many are left. */
static size_t sort_once(void *items, size_t count, size_t item_bytes,
			int (*compare)(const void *, const void *))
{
	char *all = items;
	size_t n = 0;

	if (count)
		qsort(all, count, item_bytes, compare);
	for (size_t i = 0; i < count; i++) {
		if (n && !compare(all + i * item_bytes, all + (n - 1) * item_bytes))
			continue;
		memmove(all + n++ * item_bytes, all + i * item_bytes, item_bytes);
	}
	return n;
}

/*
 * How many items a full list should have space for when it was sorted to count: where few repeated twice as many, as
 * each that follows would sort it again.
 */
static size_t space_after_sort(size_t count, size_t room)
{
	return count > room / 2 ? room + 1 : count + 1;
}

static int add_comm(struct scrub_seen_comm **list, size_t *room, size_t *count, const char *text,
		    size_t size_bytes)
{
	struct scrub_seen_comm one = { "" };
	size_t space = *count + 1;

	memcpy(one.text, text,
	       size_bytes < SCRUB_SEEN_COMM_BYTES ? size_bytes : SCRUB_SEEN_COMM_BYTES - 1);
	if (*count && !memcmp(&one, *list + *count - 1, sizeof(one)))
		return 0;
	if (*count == *room && *count >= SORT_LEAST) {
		*count = sort_once(*list, *count, sizeof(one), by_text);
		space = space_after_sort(*count, *room);
	}
	if (vec_reserve(list, room, space))
		return -ENOMEM;
	(*list)[(*count)++] = one;
	return 0;
}

int scrub_seen_add_comm(struct scrub_seen *s, const char *comm, size_t room_bytes)
{
	size_t size = strnlen(comm, room_bytes);

	return size ? add_comm(&s->comms, &s->comm_room, &s->comm_count, comm, size) : 0;
}

static int add_hash(uint64_t **list, size_t *room, size_t *count, uint64_t hash)
{
	size_t space = *count + 1;

	if (*count == *room && *count >= SORT_LEAST) {
		*count = sort_once(*list, *count, sizeof(hash), by_number);
		space = space_after_sort(*count, *room);
	}
	if (vec_reserve(list, room, space))
		return -ENOMEM;
	(*list)[(*count)++] = hash;
	return 0;
}

static uint64_t hash_of(const char *text, size_t size_bytes)
{
	static const uint8_t key[PSEUDONYM_KEY_BYTES] = "scrub_seen";

	return pseudonym_hash(key, text, size_bytes);
}

/* How much of a file's name perf probe takes for the group of its events. */
static size_t group_bytes(const char *name, size_t size_bytes)
{
	size_t bytes = 0;

	while (bytes < size_bytes && (isalnum((unsigned char)name[bytes]) || name[bytes] == '_'))
		bytes++;
	return bytes;
}

int scrub_seen_add_hidden(struct scrub_seen *s, const char *path, size_t size_bytes)
{
	size_t deleted = strlen(DELETED), from;
	int err;

	if (size_bytes > deleted && !memcmp(path + size_bytes - deleted, DELETED, deleted))
		size_bytes -= deleted;
	for (from = size_bytes; from && path[from - 1] != '/';)
		from--;
	if (from == size_bytes)
		return 0;
	path += from;
	size_bytes -= from;
	err = add_hash(&s->hidden_names, &s->name_room, &s->name_count, hash_of(path, size_bytes));
	if (!err)
		err = add_hash(&s->hidden_groups, &s->group_room, &s->group_count,
			       hash_of(path, group_bytes(path, size_bytes)));
	return err ? err
		   : add_comm(&s->hidden_bases, &s->base_room, &s->base_count, path, size_bytes);
}

int scrub_seen_add_path(struct scrub_seen *s, const char *path, size_t size_bytes, bool is_hidden)
{
	uint64_t hash = hash_of(path, size_bytes);
	int err;

	if (!is_hidden)
		return add_hash(&s->paths, &s->path_room, &s->path_count, hash);
	if (!s->hidden_example)
		s->hidden_example = strndup(path, size_bytes);
	err = s->hidden_example
		      ? add_hash(&s->hidden_paths, &s->hidden_room, &s->hidden_count, hash)
		      : -ENOMEM;
	return err ? err : scrub_seen_add_hidden(s, path, size_bytes);
}

void scrub_seen_seal(struct scrub_seen *s)
{
	s->comm_count = sort_once(s->comms, s->comm_count, sizeof(*s->comms), by_text);
	s->base_count = sort_once(s->hidden_bases, s->base_count, sizeof(*s->hidden_bases),
				  by_text);
	s->path_count = sort_once(s->paths, s->path_count, sizeof(*s->paths), by_number);
	s->hidden_count = sort_once(s->hidden_paths, s->hidden_count, sizeof(*s->hidden_paths),
				    by_number);
	s->name_count = sort_once(s->hidden_names, s->name_count, sizeof(*s->hidden_names),
				  by_number);
	s->group_count = sort_once(s->hidden_groups, s->group_count, sizeof(*s->hidden_groups),
				   by_number);
}

bool scrub_seen_is_program(const struct scrub_seen *s, const char *part, size_t size_bytes)
{
	struct scrub_seen_comm one = { "" };

	if (!size_bytes || !s->base_count || !s->comm_count)
		return false;
	memcpy(one.text, part, size_bytes < sizeof(one.text) ? size_bytes : sizeof(one.text) - 1);
	return bsearch(&one, s->hidden_bases, s->base_count, sizeof(one), by_text) &&
	       bsearch(&one, s->comms, s->comm_count, sizeof(one), by_text);
}

static bool is_among(const uint64_t *hashes, size_t count, const char *text, size_t size_bytes)
{
	uint64_t hash = hash_of(text, size_bytes);

	return count && bsearch(&hash, hashes, count, sizeof(hash), by_number);
}

static bool is_hidden_name(const struct scrub_seen *s, const char *name, size_t size_bytes)
{
	return is_among(s->hidden_names, s->name_count, name, size_bytes);
}

bool scrub_seen_is_group(const struct scrub_seen *s, const char *group, size_t size_bytes)
{
	return size_bytes && is_among(s->hidden_groups, s->group_count, group, size_bytes);
}

bool scrub_seen_is_program_word(const struct scrub_seen *s, const char *word, size_t size_bytes)
{
	return scrub_seen_is_program(s, word, size_bytes) &&
	       (size_bytes < SCRUB_SEEN_COMM_BYTES || is_hidden_name(s, word, size_bytes));
}

bool scrub_seen_hides(const struct scrub_seen *s, const char *comm, size_t room_bytes)
{
	struct scrub_seen_comm one = { "" };
	size_t size = strnlen(comm, room_bytes);

	if (!size || !s->base_count)
		return false;
	if (size >= sizeof(one.text))
		return is_hidden_name(s, comm, size);
	memcpy(one.text, comm, size);
	return bsearch(&one, s->hidden_bases, s->base_count, sizeof(one), by_text);
}
