/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/mapids.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/mapfile.h"

int mapids_init(struct mapids *b, const char *program)
{
	int err = 0;

	*b = (struct mapids){ .kept_max = MAPIDS_KEPT };
	if (program)
		err = elfworker_new(program, ELFWORKER_FACTS_OPTION, &b->reader);
	return err ? err : buildidlist_new(&b->named);
}

static void forget(struct mapids_files *f)
{
	keymap_done(&f->by_file);
	free(f->ids);
	*f = (struct mapids_files){ 0 };
}

void mapids_done(struct mapids *b)
{
	elfworker_free(b->reader);
	forget(&b->fresh);
	forget(&b->old);
	buildidlist_free(b->named);
	*b = (struct mapids){ 0 };
}

/* An inode number may be given to another file; its generation then differs. */
void mapids_key(const struct siderec_map *m, uint64_t key[2])
{
	key[0] = ((uint64_t)m->dev_major << 32 | m->dev_minor) ^ m->inode_generation << 44 ^
		 m->inode_generation >> 20;
	key[1] = m->inode;
}

bool mapids_knows(const struct mapids *b, const uint64_t key[2])
{
	return keymap_get(&b->fresh.by_file, key[0], key[1]) ||
	       keymap_get(&b->old.by_file, key[0], key[1]);
}

static void remember(struct mapids *b, const uint64_t key[2], const struct buildid *id)
{
	struct mapids_files *f = &b->fresh;
	size_t room = f->room ? 2 * f->room : 64;
	struct buildid *ids = f->ids;

	if (f->count >= b->kept_max) {
		forget(&b->old);
		b->old = *f;
		*f = (struct mapids_files){ 0 };
		room = 64;
	}
	if (f->count == f->room) {
		ids = realloc(f->ids, room * sizeof(*ids));
		if (!ids)
			return;
		f->ids = ids;
		f->room = room;
	}
	if (!keymap_put(&f->by_file, key[0], key[1], (uint32_t)f->count))
		f->ids[f->count++] = *id;
}

/* False: it is not known, or not any more. */
static bool recall(struct mapids *b, const uint64_t key[2], struct buildid *out)
{
	const uint32_t *index = keymap_get(&b->fresh.by_file, key[0], key[1]);

	if (index) {
		*out = b->fresh.ids[*index];
		return true;
	}
	index = keymap_get(&b->old.by_file, key[0], key[1]);
	if (!index)
		return false;
	*out = b->old.ids[*index];
	remember(b, key, out); /* it is in use */
	return true;
}

void mapids_lookup(struct mapids *b, struct siderec_map *m)
{
	struct elffacts facts;
	uint64_t key[2];
	int fd;

	if (!m->inode || m->path[0] != '/')
		return;
	mapids_key(m, key);
	if (recall(b, key, &m->build_id))
		return;
	fd = mapfile_open(m);
	if (fd < 0)
		return; /* gone, or not ours to see: another process may still have it */
	b->read_count++;
	(void)elffacts_read_safely(fd, b->reader, &facts); /* then nothing is known of it */
	b->missing_count += !facts.build_id.size_bytes;
	remember(b, key, &facts.build_id);
	m->build_id = facts.build_id;
	if (b->evidence)
		evidence_file(b->evidence, m, fd, &facts);
	if (b->on_file)
		b->on_file(b->on_file_arg, m->path, fd, &facts);
	close(fd);
}

void mapids_name(struct mapids *b, const struct buildid *id, const char *path, bool kernel)
{
	if (id->size_bytes && buildidlist_count(b->named) >= MAPIDS_NAMED)
		b->unnamed_count++;
	else if (id->size_bytes)
		(void)buildidlist_add(b->named, id, path, kernel); /* the mapping has it, too */
}
