/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file_origin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/payload/file_facts.h"
#include "format/base/clock.h"
#include "record/process/fuse_overlayfs.h"
#include "record/process/mapped_files.h"
#include "format/base/slurp.h"

#define OWN_MOUNTS      0            /* the object number that no namespace has */
#define MOUNTS_NS       500000000ULL /* of a scan of /proc, or a burst */
#define NAMESPACES_MANY 1024         /* then all are forgotten, and told again */

void evidence_done(struct evidence *e)
{
	keymap_done(&e->namespaces);
	outbuf_done(&e->mounts);
	outbuf_done(&e->files);
	factkeep_done(&e->kept);
	*e = (struct evidence){ 0 };
}

/* Adds the mounts when they are others than those of this checksum; the new checksum. */
static uint32_t add_mounts(struct evidence *e, uint64_t object, const char *path, uint32_t was)
{
	struct outbuf text = { 0 };
	uint32_t crc = was;

	if (!slurp(path, &text) && text.size_bytes && text.size_bytes < UINT32_MAX)
		crc = crc32c(0, text.data, text.size_bytes);
	if (crc != was) {
		fuselayers_add(&text);
		outbuf_u64(&e->mounts, object);
		outbuf_u32(&e->mounts, (uint32_t)text.size_bytes);
		outbuf_add(&e->mounts, text.data, text.size_bytes);
		if (e->in_window)
			(void)factkeep_add_mounts(&e->kept, object, text.data, text.size_bytes);
		e->namespace_count++;
	}
	outbuf_done(&text);
	return crc;
}

/* The recorder's own mounts come first, and are not those of some chroot. */
static void begin(struct evidence *e)
{
	struct stat st;

	if (e->begun)
		return;
	e->begun = true;
	e->begun_ns = clock_ns(CLOCK_MONOTONIC);
	add_mounts(e, OWN_MOUNTS, "/proc/self/mountinfo", 0);
	if (stat("/proc/self/ns/mnt", &st))
		return;
	e->own_namespace = st.st_ino;
	add_mounts(e, st.st_ino, "/proc/self/mountinfo", 0);
}

/* Users can make namespaces of 100,000 mounts, and files in them: no more than a twentieth of the time. */
static bool may_read_mounts(const struct evidence *e)
{
	return e->mounts_ns < (clock_ns(CLOCK_MONOTONIC) - e->begun_ns) / 20 + MOUNTS_NS;
}

/* Of each namespace one process is known, and another only when that is gone. */
static void keep_peer(struct evidence *e, uint64_t mount_namespace, uint32_t pid)
{
	struct evidence_peer *p = NULL;
	char path[64];
	struct stat st;

	for (unsigned i = 0; !p && i < EVIDENCE_PEERS; i++)
		if (e->peers[i].mount_namespace == mount_namespace)
			p = &e->peers[i];
	if (p) {
		snprintf(path, sizeof(path), "/proc/%u/ns/mnt", p->pid);
		if (!stat(path, &st) && st.st_ino == mount_namespace)
			return;
	} else {
		p = &e->peers[e->next_peer++ % EVIDENCE_PEERS];
	}
	*p = (struct evidence_peer){ mount_namespace, pid };
}

/*
 * The process's mount namespace, 0 when it cannot be told.  Whoever makes a namespace mounts things
 * in it afterwards, so it is looked at again with each file that is new in it.
 */
static uint64_t see_namespace(struct evidence *e, uint32_t pid)
{
	uint32_t *was, crc;
	uint64_t start_ns;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	if (stat(path, &st))
		return 0;
	if (st.st_ino == e->own_namespace)
		return st.st_ino;
	keep_peer(e, st.st_ino, pid);
	if (!may_read_mounts(e))
		return st.st_ino;
	start_ns = clock_ns(CLOCK_MONOTONIC);
	was = keymap_get(&e->namespaces, st.st_ino, 0);
	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
	crc = add_mounts(e, st.st_ino, path, was ? *was : 0);
	if (e->namespaces.key_count >= NAMESPACES_MANY)
		keymap_done(&e->namespaces);
	(void)keymap_put(&e->namespaces, st.st_ino, 0, crc); /* without memory it is told again */
	e->mounts_ns += clock_ns(CLOCK_MONOTONIC) - start_ns;
	return st.st_ino;
}

/* The process's path of the unified hierarchy, else its first one. */
static struct filefacts_text cgroup_of(uint32_t pid, struct outbuf *text)
{
	char path[48], *line, *name, *end;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (slurp(path, text) || !text->size_bytes)
		return (struct filefacts_text){ "", 0 };
	line = strstr((char *)text->data, "0::");
	if (!line || (line != (char *)text->data && line[-1] != '\n'))
		line = (char *)text->data;
	name = strchr(line, ':');
	name = name ? strchr(name + 1, ':') : NULL;
	if (!name)
		return (struct filefacts_text){ "", 0 };
	name++;
	end = strchrnul(name, '\n');
	return (struct filefacts_text){
		name, (uint16_t)(end - name < FILEFACTS_TEXT_MAX ? end - name : FILEFACTS_TEXT_MAX)
	};
}

static struct filefacts_text root_of(uint32_t pid, char buf[FILEFACTS_TEXT_MAX])
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	n = readlink(path, buf, FILEFACTS_TEXT_MAX);
	if (n <= 1 || buf[0] != '/')
		n = 0;
	return (struct filefacts_text){ buf, (uint16_t)n };
}

void evidence_file(struct evidence *e, const struct siderec_map *m, uint32_t seen_by,
		   const struct stat *st, const struct elffacts *facts)
{
	uint8_t entry[FILEFACTS_MAX_BYTES];
	char root[FILEFACTS_TEXT_MAX];
	struct outbuf cgroup = { 0 };
	struct filefacts f = {
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.inode = m->inode,
		.inode_generation = m->inode_generation,
		.build_id = m->build_id,
		.path = { m->path, (uint16_t)strnlen(m->path, FILEFACTS_TEXT_MAX) },
	};
	struct factkeep_file kept = { .build_id = m->build_id };
	size_t size;

	f.size_bytes = (uint64_t)st->st_size;
	f.mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000ULL + (uint64_t)st->st_mtim.tv_nsec;
	f.sum = facts->sum;
	f.segment_count = facts->segment_count;
	memcpy(f.segments, facts->segments, sizeof(f.segments));
	begin(e);
	f.mount_namespace = seen_by ? see_namespace(e, seen_by) : e->own_namespace;
	f.root = root_of(seen_by, root);
	f.cgroup = cgroup_of(seen_by, &cgroup);
	size = filefacts_encode(&f, entry);
	outbuf_add(&e->files, entry, size);
	mapids_key(m, kept.key);
	kept.mount_namespace = f.mount_namespace;
	if (e->in_window)
		(void)factkeep_add(&e->kept, &kept, entry,
				   size); /* the file has a build-id all the same */
	e->file_count++;
	outbuf_done(&cgroup);
}

static int write_mounts(struct evidence *e)
{
	struct cursor c;
	int err = 0;

	if (!e->mounts.size_bytes || !outbuf_ok(&e->mounts))
		return 0;
	c = cursor_of(e->mounts.data, e->mounts.size_bytes);
	while (!err && cursor_left(&c)) {
		uint64_t object = cursor_u64(&c);
		uint32_t size = cursor_u32(&c);

		err = writer_object(e->writer, EBX_MOUNTS, object, cursor_bytes(&c, size), size);
	}
	outbuf_clear(&e->mounts);
	return err;
}

int evidence_flush(struct evidence *e)
{
	int err;

	if (!e->writer)
		return 0;
	begin(e);
	err = write_mounts(e);
	if (err || !e->files.size_bytes || !outbuf_ok(&e->files))
		return err;
	err = writer_object(e->writer, EBX_FACTS, e->next_object++, e->files.data,
			    e->files.size_bytes);
	outbuf_clear(&e->files);
	return err;
}

int evidence_copy(struct evidence *e, struct writer *to)
{
	return factkeep_put(&e->kept, to, &e->next_object);
}
