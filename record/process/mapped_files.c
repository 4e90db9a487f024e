/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/clock.h"
#include "record/process/inode_file.h"
#include "record/process/map_copy.h"
#include "record/process/map_file.h"

#define READING_MAX_NS 2000000000ULL  /* a few reads, of a disk that has much to do */
#define STUCK_REST_NS  30000000000ULL /* before it is asked again */

int mapids_init(struct mapids *b, const char *program)
{
	int err = 0;

	*b = (struct mapids){ .kept_max = MAPIDS_KEPT };
	if (program)
		err = elfworker_new(program, ELFWORKER_FACTS_OPTION, &b->reader);
	if (!err)
		err = aside_new(&b->aside);
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
	aside_free(b->aside);
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
	struct buildid *ids;

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

/* ---- reading ---- */

struct reading {
	struct aside_job base;
	struct siderec_map map;                     /* path is owned */
	bool by_process;                            /* files of others are */
	struct evidence_peer peers[EVIDENCE_PEERS]; /* by whose roots it is opened; none: its own */
	unsigned peer_count;
	uint32_t seen_by; /* the process by which it was opened; 0: the recorder, at `found` */
	char *found;      /* owned, or NULL */
	int fd;           /* owned; or negative errno */
	bool is_copy;     /* nobody may open the file: it is what the process has of it */
	bool is_read;
	struct stat st;
	struct elffacts facts;
};

static void reading_free(struct reading *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free((char *)r->map.path);
	free(r->found);
	free(r);
}

static void drop(struct aside_job *job)
{
	reading_free((struct reading *)job);
}

static void work(struct aside_job *job)
{
	struct reading *r = (struct reading *)job;

	if (!r->peer_count)
		r->fd = mapfile_open(&r->map);
	if (r->fd < 0 && !r->peer_count) {
		r->fd = inodefile_open(&r->map, &r->found);
		r->seen_by = r->found ? 0 : r->seen_by;
	}
	if (r->fd < 0 && !r->peer_count) {
		r->fd = mapcopy_open(&r->map, MAPCOPY_HEADS);
		r->is_copy = r->fd >= 0;
	}
	for (unsigned i = 0; r->fd < 0 && i < r->peer_count; i++) {
		r->fd = mapfile_open_by(&r->map, r->peers[i].pid);
		r->seen_by = r->peers[i].pid;
	}
	if (r->fd < 0 || fstat(r->fd, &r->st))
		return;
	r->is_read = !r->by_process || !elffacts_is_of_others(&r->st);
	if (r->is_copy)
		r->st = (struct stat){ 0 }; /* those of the file are not known */
	if (r->is_read)
		elffacts_read(r->fd, &r->facts);
}

static struct mapids_stuck *stuck_on(struct mapids *b, const struct siderec_map *m)
{
	for (unsigned i = 0; i < b->stuck_count; i++)
		if (b->stuck[i].dev_major == m->dev_major && b->stuck[i].dev_minor == m->dev_minor)
			return &b->stuck[i];
	return NULL;
}

static void is_stuck(struct mapids *b, const struct siderec_map *m)
{
	struct mapids_stuck *s = stuck_on(b, m);

	if (!s && b->notes)
		note(b->notes, NOTE_WARNING,
		     "the file system of '%s' does not answer: its files have no build-ids and no unwind tables, skipping",
		     m->path);
	if (!s)
		s = &b->stuck[b->stuck_count < ASIDE_STUCK_MAX ? b->stuck_count++ : 0];
	*s = (struct mapids_stuck){ m->dev_major, m->dev_minor, clock_ns(CLOCK_MONOTONIC) };
}

/* By the process itself, or by peers. */
static struct reading *reading_new(const struct mapids *b, const struct siderec_map *m)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct reading){ .base = { work, drop },
			       .map = *m,
			       .by_process = b->reader,
			       .seen_by = m->pid,
			       .fd = -ENOENT };
	r->map.path = strdup(m->path);
	if (r->map.path)
		return r;
	free(r);
	return NULL;
}

/* 0, and the reading in *r; else it is gone, and *r is NULL. */
static int run(struct mapids *b, struct reading **r)
{
	int err = aside_run(b->aside, &(*r)->base, READING_MAX_NS);

	if (!err && (*r)->fd >= 0)
		return 0;
	if (!err)
		reading_free(*r); /* gone, or not ours to see: another process may still have it */
	*r = NULL;
	return err ? err : -ENOENT;
}

/*
 * A program of a container that has ended already: others of its mount namespace may still see its files.
 * The inode says whether they are the same.
 */
static struct reading *read_by_peers(struct mapids *b, const struct siderec_map *m)
{
	const struct evidence *e = b->evidence;
	struct reading *r;

	if (!e || !e->next_peer ||
	    (b->peers_stuck_ns && clock_ns(CLOCK_MONOTONIC) - b->peers_stuck_ns < STUCK_REST_NS))
		return NULL;
	r = reading_new(b, m);
	if (!r)
		return NULL;
	for (unsigned i = 0; i < EVIDENCE_PEERS; i++)
		if (e->peers[i].pid)
			r->peers[r->peer_count++] = e->peers[i];
	if (run(b, &r) == -ETIMEDOUT)
		b->peers_stuck_ns = clock_ns(CLOCK_MONOTONIC);
	return r;
}

/* The file, and what is in it; NULL: not to be had, at the moment at least. */
static struct reading *read_file(struct mapids *b, const struct siderec_map *m)
{
	const struct mapids_stuck *s = stuck_on(b, m);
	struct reading *r;
	int err;

	if (s && clock_ns(CLOCK_MONOTONIC) - s->since_ns < STUCK_REST_NS)
		return NULL;
	r = reading_new(b, m);
	if (!r)
		return NULL;
	err = run(b, &r);
	if (err == -ETIMEDOUT)
		is_stuck(b, m);
	return err == -ENOENT ? read_by_peers(b, m) : r;
}

/* By the path that led to it. */
static void tell_evidence(struct evidence *e, const struct siderec_map *m, const struct reading *r)
{
	struct siderec_map as = *m;

	if (r->found)
		as.path = r->found;
	evidence_file(e, &as, r->seen_by, &r->st, &r->facts);
}

void mapids_lookup(struct mapids *b, struct siderec_map *m)
{
	struct reading *r;
	uint64_t key[2];

	if (!m->inode || m->path[0] != '/')
		return;
	mapids_key(m, key);
	if (recall(b, key, &m->build_id))
		return;
	r = read_file(b, m);
	m->is_stuck = !r && stuck_on(b, m);
	if (!r)
		return;
	b->read_count++;
	if (!r->is_read && elfworker_facts(b->reader, r->fd, &r->facts))
		r->facts = (struct elffacts){ 0 }; /* then nothing is known of it */
	if (r->is_copy)
		r->facts.sum.has_spread = false; /* there are holes in it */
	b->missing_count += !r->facts.build_id.size_bytes;
	remember(b, key, &r->facts.build_id);
	m->build_id = r->facts.build_id;
	m->seen_by = r->seen_by != m->pid ? r->seen_by : 0;
	if (b->evidence)
		tell_evidence(b->evidence, m, r);
	if (b->on_file && !r->is_copy)
		b->on_file(b->on_file_arg, m->path, r->fd, &r->facts);
	reading_free(r);
}

void mapids_name(struct mapids *b, const struct buildid *id, const char *path, bool kernel)
{
	if (id->size_bytes && buildidlist_count(b->named) >= MAPIDS_NAMED)
		b->unnamed_count++;
	else if (id->size_bytes)
		(void)buildidlist_add(b->named, id, path, kernel); /* the mapping has it, too */
}
