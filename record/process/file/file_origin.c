/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/file_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/payload/file_facts.h"
#include "format/os/clock.h"
#include "record/process/file/fuse_overlayfs.h"
#include "record/process/file/mapped_files.h"
#include "format/os/slurp.h"

#define OWN_MOUNTS      0            /* the object number that no namespace has */
#define MOUNTS_NS       500000000ULL /* of a scan of /proc, or a burst */
#define LAYERS_NS       2000000000ULL
#define NAMESPACES_MANY 1024 /* then all are forgotten, and recorded again */

void file_origin_done(struct file_origin *e)
{
	u64map_done(&e->namespaces);
	outbuf_done(&e->mounts);
	outbuf_done(&e->files);
	file_origin_cache_done(&e->cache);
	*e = (struct file_origin){ 0 };
}

static void put_mounts(struct file_origin *e, uint64_t object, const struct outbuf *text)
{
	outbuf_u64(&e->mounts, object);
	outbuf_u32(&e->mounts, (uint32_t)text->size_bytes);
	outbuf_add(&e->mounts, text->data, text->size_bytes);
	if (e->in_window)
		(void)file_origin_cache_add_mounts(&e->cache, object, text->data, text->size_bytes);
}

/* ---- layers of a fuse-overlayfs, which the command line of its server has ---- */

struct layers {
	struct io_job base;
	struct file_origin *to;
	uint64_t object;
	struct outbuf text, with_layers;
};

static void find_layers(struct io_job *job)
{
	struct layers *l = (struct layers *)job;

	outbuf_add(&l->with_layers, l->text.data, l->text.size_bytes);
	outbuf_add(&l->with_layers, "", 1);
	if (!outbuf_ok(&l->with_layers))
		return;
	l->with_layers.size_bytes--;
	fuse_overlayfs_add(&l->with_layers);
}

static void drop_layers(struct io_job *job)
{
	struct layers *l = (struct layers *)job;

	outbuf_done(&l->text);
	outbuf_done(&l->with_layers);
	free(l);
}

static void put_layers(struct io_job *job)
{
	struct layers *l = (struct layers *)job;

	put_mounts(l->to, l->object, outbuf_ok(&l->with_layers) ? &l->with_layers : &l->text);
	drop_layers(job);
}

static void put_without_layers(struct io_job *job)
{
	struct layers *l = (struct layers *)job;

	put_mounts(l->to, l->object, &l->text);
	l->to->layers_missing_count++;
}

/* The mounts with the layers, as soon as they are there; takes the text. */
static void put_with_layers(struct file_origin *e, uint64_t object, struct outbuf *text)
{
	struct layers *l = e->io && fuse_overlayfs_are_in(text) ? calloc(1, sizeof(*l)) : NULL;

	if (!l) {
		put_mounts(e, object, text);
		outbuf_done(text);
		return;
	}
	*l = (struct layers){
		.base = { .work = find_layers,
			  .done = put_layers,
			  .given_up = put_without_layers,
			  .drop = drop_layers,
			  .key = io_key(IO_KIND_LAYERS, 0, 0) },
		.to = e,
		.object = object,
		.text = *text,
	};
	*text = (struct outbuf){ 0 };
	if (io_timeout_run(e->io, &l->base, false, LAYERS_NS) == -EBUSY) {
		put_without_layers(&l->base);
		drop_layers(&l->base);
	}
}

/* Adds the mounts when they are others than those of this checksum, and takes them; the new checksum. */
static uint32_t add_mounts(struct file_origin *e, uint64_t object, struct outbuf *text,
			   uint32_t was)
{
	uint32_t crc = was;

	if (outbuf_ok(text) && text->size_bytes && text->size_bytes < UINT32_MAX)
		crc = crc32c(0, text->data, text->size_bytes);
	if (crc != was)
		put_with_layers(e, object, text);
	outbuf_done(text);
	return crc;
}

static void add_own_mounts(struct file_origin *e, uint64_t object)
{
	struct outbuf text = { 0 };

	(void)slurp("/proc/self/mountinfo", &text);
	(void)add_mounts(e, object, &text, 0);
}

/* The recorder's own mounts come first, and are not those of some chroot. */
static void begin(struct file_origin *e)
{
	struct stat st;

	if (e->begun)
		return;
	e->begun = true;
	e->begun_ns = clock_ns(CLOCK_MONOTONIC);
	add_own_mounts(e, OWN_MOUNTS);
	if (stat("/proc/self/ns/mnt", &st))
		return;
	e->own_namespace = st.st_ino;
	add_own_mounts(e, st.st_ino);
}

/* Users can make namespaces of 100,000 mounts, and files in them: no more than a twentieth of the time. */
static bool may_read_mounts(const struct file_origin *e)
{
	return e->mounts_ns < (clock_ns(CLOCK_MONOTONIC) - e->begun_ns) / 20 + MOUNTS_NS;
}

/* One process of each namespace is known, and another replaces it only when it is gone. */
static void keep_peer(struct file_origin *e, uint64_t mount_namespace, uint32_t pid)
{
	struct file_origin_peer *p = NULL;
	char path[64];
	struct stat st;

	for (unsigned i = 0; !p && i < FILE_ORIGIN_PEERS; i++)
		if (e->peers[i].mount_namespace == mount_namespace)
			p = &e->peers[i];
	if (p) {
		snprintf(path, sizeof(path), "/proc/%u/ns/mnt", p->pid);
		if (!stat(path, &st) && st.st_ino == mount_namespace)
			return;
	} else {
		p = &e->peers[e->next_peer++ % FILE_ORIGIN_PEERS];
	}
	*p = (struct file_origin_peer){ mount_namespace, pid };
}

/*
 * A program that makes a namespace mounts file systems in it afterwards, so its mounts come with
 * each file that is new in it.
 */
static void see_namespace(struct file_origin *e, struct file_origin_seen *s)
{
	uint32_t *was, crc;

	if (!s->mount_namespace || s->mount_namespace == e->own_namespace)
		return;
	keep_peer(e, s->mount_namespace, s->pid);
	e->mounts_ns += s->mounts_ns;
	if (!s->mounts.size_bytes)
		return;
	was = u64map_get(&e->namespaces, s->mount_namespace, 0);
	crc = add_mounts(e, s->mount_namespace, &s->mounts, was ? *was : 0);
	if (e->namespaces.key_count >= NAMESPACES_MANY)
		u64map_done(&e->namespaces);
	(void)u64map_put(&e->namespaces, s->mount_namespace, 0,
			 crc); /* without memory it is added again */
}

/* ---- looking at a process ---- */

void file_origin_prepare(struct file_origin *e, struct file_origin_seen *out)
{
	begin(e);
	*out = (struct file_origin_seen){ .own_namespace = e->own_namespace,
					  .with_mounts = may_read_mounts(e) };
}

static void read_namespace(struct file_origin_seen *s)
{
	uint64_t start_ns;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", s->pid);
	if (stat(path, &st))
		return;
	s->mount_namespace = st.st_ino;
	if (!s->with_mounts || st.st_ino == s->own_namespace)
		return;
	start_ns = clock_ns(CLOCK_MONOTONIC);
	snprintf(path, sizeof(path), "/proc/%u/mountinfo", s->pid);
	if (slurp(path, &s->mounts))
		outbuf_clear(&s->mounts);
	s->mounts_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
}

void file_origin_look(struct file_origin_seen *s)
{
	char path[48];
	ssize_t n;

	if (s->pid)
		read_namespace(s);
	else
		s->mount_namespace = s->own_namespace;
	snprintf(path, sizeof(path), "/proc/%u/root", s->pid);
	n = readlink(path, s->root, sizeof(s->root));
	s->root_bytes = n > 1 && s->root[0] == '/' ? (uint16_t)n : 0;
	snprintf(path, sizeof(path), "/proc/%u/cgroup", s->pid);
	if (slurp(path, &s->cgroup))
		outbuf_clear(&s->cgroup);
}

void file_origin_seen_done(struct file_origin_seen *s)
{
	outbuf_done(&s->cgroup);
	outbuf_done(&s->mounts);
}

/* The path of the unified hierarchy in the text of a /proc/PID/cgroup, else the first one. */
static struct file_facts_text cgroup_in(const struct outbuf *text)
{
	const char *line, *name, *end;

	if (!text->size_bytes)
		return (struct file_facts_text){ "", 0 };
	line = strstr((const char *)text->data, "0::");
	if (!line || (line != (const char *)text->data && line[-1] != '\n'))
		line = (const char *)text->data;
	name = strchr(line, ':');
	name = name ? strchr(name + 1, ':') : NULL;
	if (!name)
		return (struct file_facts_text){ "", 0 };
	name++;
	end = strchrnul(name, '\n');
	return (struct file_facts_text){ name, (uint16_t)(end - name < FILE_FACTS_TEXT_MAX
								  ? end - name
								  : FILE_FACTS_TEXT_MAX) };
}

void file_origin_file(struct file_origin *e, const struct mapping *m, struct file_origin_seen *seen,
		      const struct stat *st, const struct elf_facts *facts)
{
	uint8_t entry[FILE_FACTS_MAX_BYTES];
	struct file_facts f = {
		.id = m->id,
		.path = { m->path, (uint16_t)strnlen(m->path, FILE_FACTS_TEXT_MAX) },
		.mount_namespace = seen->mount_namespace,
		.root = { seen->root, seen->root_bytes },
		.cgroup = cgroup_in(&seen->cgroup),
	};
	struct file_origin_cache_file cache = { .build_id = m->id.build_id };
	size_t size;

	f.size_bytes = (uint64_t)st->st_size;
	f.mtime_ns = clock_timespec_ns(st->st_mtim);
	f.sum = facts->sum;
	f.segment_count = facts->segment_count;
	memcpy(f.segments, facts->segments, sizeof(f.segments));
	see_namespace(e, seen);
	size = file_facts_encode(&f, entry);
	outbuf_add(&e->files, entry, size);
	mapped_files_key(&m->id, cache.key);
	cache.mount_namespace = f.mount_namespace;
	if (e->in_window)
		(void)file_origin_cache_add(&e->cache, &cache, entry,
					    size); /* the file has a build-id all the same */
}

static int write_mounts(struct file_origin *e)
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

int file_origin_flush(struct file_origin *e)
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

int file_origin_copy(struct file_origin *e, struct writer *to)
{
	return file_origin_cache_put(&e->cache, to, &e->next_object);
}
