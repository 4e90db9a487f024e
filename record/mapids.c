/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/mapids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int mapids_init(struct mapids *b)
{
	*b = (struct mapids){ 0 };
	return buildidlist_new(&b->named);
}

void mapids_done(struct mapids *b)
{
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

/* The file that is mapped, whatever its path says now. */
static int open_mapped(const struct siderec_map *m)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", m->pid,
		 (unsigned long long)m->start,
		 (unsigned long long)m->start + (unsigned long long)m->size_bytes);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Its path below a root, in which symbolic links stay; only if it is the mapped file. */
static int open_below(const char *root, const struct siderec_map *m)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	struct stat st;
	long fd;
	int dir;

	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, m->path, &how, sizeof(how));
	close(dir);
	if (fd < 0)
		return -1;
	if (fstat((int)fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != m->inode ||
	    major(st.st_dev) != m->dev_major || minor(st.st_dev) != m->dev_minor) {
		close((int)fd);
		return -1;
	}
	return (int)fd;
}

static int open_file(const struct siderec_map *m)
{
	char root[48];
	int fd = open_mapped(m);

	if (fd >= 0)
		return fd;
	snprintf(root, sizeof(root), "/proc/%u/root", m->pid);
	fd = open_below(root, m);
	return fd >= 0 ? fd : open_below("/", m);
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
	struct buildid id = { 0 };
	int fd;

	if (!m->inode || m->path[0] != '/')
		return;
	index = keymap_get(&b->by_file, dev_key(m), m->inode);
	if (index) {
		m->build_id = b->ids[*index];
		return;
	}
	fd = open_file(m);
	if (fd < 0)
		return; /* gone, or not ours to see: another process may still have it */
	b->read_count++;
	if (buildid_from_fd(fd, &id)) {
		id.size_bytes = 0;
		b->missing_count++;
	}
	close(fd);
	remember(b, m, &id);
	m->build_id = id;
}

void mapids_name(struct mapids *b, const struct buildid *id, const char *path, bool kernel)
{
	if (id->size_bytes)
		(void)buildidlist_add(b->named, id, path, kernel); /* the mapping has it, too */
}
