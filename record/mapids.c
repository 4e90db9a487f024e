/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/mapids.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/mapfile.h"

int mapids_init(struct mapids *b, const char *program)
{
	int err = 0;

	*b = (struct mapids){ 0 };
	if (program)
		err = elfworker_new(program, ELFWORKER_FACTS_OPTION, &b->reader);
	return err ? err : buildidlist_new(&b->named);
}

void mapids_done(struct mapids *b)
{
	elfworker_free(b->reader);
	keymap_done(&b->by_file);
	buildidlist_free(b->named);
	free(b->ids);
	*b = (struct mapids){ 0 };
}

/* An inode number may be given to another file; its generation then differs. */
static uint64_t dev_key(const struct siderec_map *m)
{
	return ((uint64_t)m->dev_major << 32 | m->dev_minor) ^ m->inode_generation << 44 ^
	       m->inode_generation >> 20;
}

static bool remember(struct mapids *b, const struct siderec_map *m, const struct buildid *id)
{
	struct buildid *ids = b->ids;

	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		ids = realloc(ids, b->room * sizeof(*ids));
		if (!ids) {
			b->room = b->count;
			return false;
		}
		b->ids = ids;
	}
	if (keymap_put(&b->by_file, dev_key(m), m->inode, (uint32_t)b->count))
		return false;
	ids[b->count++] = *id;
	return true;
}

void mapids_lookup(struct mapids *b, struct siderec_map *m)
{
	const uint32_t *index;
	struct elffacts facts;
	int fd;

	if (!m->inode || m->path[0] != '/')
		return;
	index = keymap_get(&b->by_file, dev_key(m), m->inode);
	if (index) {
		m->build_id = b->ids[*index];
		return;
	}
	fd = mapfile_open(m);
	if (fd < 0)
		return; /* gone, or not ours to see: another process may still have it */
	b->read_count++;
	(void)elffacts_read_safely(fd, b->reader, &facts); /* then nothing is known of it */
	b->missing_count += !facts.build_id.size_bytes;
	remember(b, m, &facts.build_id);
	m->build_id = facts.build_id;
	if (b->evidence)
		evidence_file(b->evidence, m, fd, &facts);
	if (b->on_file)
		b->on_file(b->on_file_arg, m->path, fd, &facts);
	close(fd);
}

void mapids_name(struct mapids *b, const struct buildid *id, const char *path, bool kernel)
{
	if (id->size_bytes)
		(void)buildidlist_add(b->named, id, path, kernel); /* the mapping has it, too */
}
