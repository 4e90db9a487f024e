/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/hugepage_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/process/file/map_file.h"
#include "record/process/proc/proc_maps.h"
#include "record/process/proc/process_user.h"
#include "format/os/slurp.h"

#define ANON              "//anon" /* the kernel's name for it */
#define LOOK_NS           2000000000ULL
#define PAGE              4096u
#define PAGES_MAX         64u /* that are compared */
#define DIFFERING_ONES_IN 16u /* one of so many may differ */

/* A look at one mapping, in a thread. */
struct look {
	struct io_job base;
	struct hugepage_text *owner;
	struct mapping *now; /* the mapping that is waited for; NULL: it is late */
	struct mapping map;
	uint64_t now_ns;
	bool has_maps; /* their text came with it */
	struct outbuf maps;
	struct proc_map line, below, above;
	int result; /* 1: map is of a file; 0: it never will be; -EAGAIN */
};

void hugepage_text_done(struct hugepage_text *t)
{
	for (unsigned i = 0; i < t->found_count; i++)
		free((char *)t->found[i].map.path);
	t->found_count = 0;
	free(t->path);
	t->path = NULL;
}

static bool is_candidate(const struct mapping *m)
{
	return !m->id.inode && (m->prot & PROT_EXEC) && m->size_bytes >= HUGEPAGE_TEXT_MIN_BYTES &&
	       !strcmp(m->path, ANON);
}

static bool is_same_file(const struct proc_map *a, const struct proc_map *b)
{
	return a->id.inode && file_id_same_inode(&a->id, &b->id);
}

/*
 * Whether the nearest mappings of files below and above are of one file: t->below and t->above.  The range must still be
 * one without a file.
 */
static bool find_neighbours(struct look *t, const struct mapping *m, const char *maps)
{
	uint64_t end = m->start + m->size_bytes;
	int more;

	t->below.id.inode = t->above.id.inode = 0;
	while (!t->above.id.inode && (more = proc_maps_next(&maps, &t->line)) != 0) {
		if (more < 0 || !t->line.id.inode)
			continue;
		if (t->line.end <= m->start)
			t->below = t->line;
		else if (t->line.start >= end)
			t->above = t->line;
		else
			return false;
	}
	return is_same_file(&t->below, &t->above);
}

/* The mapping, as if it were of the file beside it, so many bytes away. */
static struct mapping as_of_file(const struct mapping *m, const struct proc_map *beside)
{
	struct mapping of = *m;

	of.file_off_bytes = beside->file_off_bytes + (m->start - beside->start);
	of.id = beside->id;
	of.path = beside->path;
	return of;
}

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* Whether memory from addr on has what the file has from offset on. */
static bool has_code_of(int mem, int file, uint64_t addr, uint64_t offset, uint64_t size_bytes)
{
	uint64_t pages = size_bytes / PAGE, step;
	uint64_t count = pages < PAGES_MAX ? pages : PAGES_MAX, differing = 0, empty = 0;
	uint8_t here[PAGE], there[PAGE];

	for (uint64_t i = 0; i < count; i++) {
		step = i * (pages - 1) / (count - 1) * PAGE;
		if (pread(mem, here, PAGE, (off_t)(addr + step)) != PAGE)
			return false;
		if (pread(file, there, PAGE, (off_t)(offset + step)) != PAGE ||
		    memcmp(here, there, PAGE) != 0)
			differing++;
		else
			empty += is_zero(here);
	}
	return differing * DIFFERING_ONES_IN <= count && empty * 2 <= count;
}

/* A file to compare with: the neighbour is mapped, so its inode is known. */
static int open_file(const struct mapping *m, const struct proc_map *beside)
{
	struct mapping of = as_of_file(m, beside);

	of.start = beside->start;
	of.size_bytes = beside->end - beside->start;
	return map_file_open(&of);
}

/* With both neighbours' distance to the file: segments need not be as far apart there as in memory. */
static bool compare(struct look *l)
{
	const struct proc_map *beside[] = { &l->below, &l->above };
	struct mapping of;
	bool found = false;
	char path[48];
	int mem, file;

	file = open_file(&l->map, &l->below);
	if (file < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/mem", l->map.pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; mem >= 0 && !found && i < 2; i++) {
		of = as_of_file(&l->map, beside[i]);
		found = has_code_of(mem, file, of.start, of.file_off_bytes, of.size_bytes);
	}
	if (mem >= 0)
		close(mem);
	close(file);
	if (found)
		l->map = of;
	return found;
}

static void work(struct io_job *job)
{
	struct look *l = (struct look *)job;
	char path[48];

	if (!l->has_maps) {
		snprintf(path, sizeof(path), "/proc/%u/maps", l->map.pid);
		if (slurp_some(AT_FDCWD, path, PROC_MAPS_TEXT_MAX, &l->maps) || !l->maps.size_bytes)
			return;
	}
	if (find_neighbours(l, &l->map, (const char *)l->maps.data))
		l->result = compare(l) ? 1 : -EAGAIN;
}

/* The index of this mapping among those that wait, or their end. */
static unsigned place_of(const struct hugepage_text *t, const struct mapping *m)
{
	unsigned i = 0;

	while (i < t->waiting_count &&
	       (t->waiting[i].map.pid != m->pid || t->waiting[i].map.start != m->start))
		i++;
	return i;
}

/* One that waits already keeps its turns. */
static void wait_for(struct hugepage_text *t, unsigned at, const struct mapping *m, uint64_t now_ns)
{
	if (at == HUGEPAGE_TEXT_WAITING || at < t->waiting_count)
		return;
	t->waiting_count++;
	t->waiting[at] = (struct hugepage_text_waiting){
		.map = *m, .due_ns = now_ns + HUGEPAGE_TEXT_AGAIN_NS
	};
	t->waiting[at].map.path = ANON;
}

static void forget(struct hugepage_text *t, unsigned i)
{
	t->waiting[i] = t->waiting[--t->waiting_count];
}

static void drop(struct io_job *job)
{
	struct look *l = (struct look *)job;

	outbuf_done(&l->maps);
	free(l);
}

/* *out is the mapping, with a path of its own; false: no memory. */
static bool copy_map(const struct mapping *m, struct mapping *out)
{
	char *path = strdup(m->path);

	if (!path)
		return false;
	*out = *m;
	out->path = path;
	return true;
}

static void done(struct io_job *job)
{
	struct look *l = (struct look *)job;
	struct hugepage_text *t = l->owner;
	unsigned at = place_of(t, &l->map);

	if (l->result == -EAGAIN &&
	    (at == t->waiting_count || t->waiting[at].turns < HUGEPAGE_TEXT_TURNS))
		wait_for(t, at, &l->map, l->now_ns);
	else if (at < t->waiting_count)
		forget(t, at);
	if (l->result == 1 && l->now) {
		free(t->path);
		t->path = NULL;
		if (copy_map(&l->map, l->now))
			t->path = (char *)l->now->path;
	} else if (l->result == 1 && t->found_count < HUGEPAGE_TEXT_WAITING) {
		t->found_count += copy_map(&l->map, &t->found[t->found_count].map);
	}
	drop(job);
}

/* Its process, or the file beside it, does not answer. */
static void given_up(struct io_job *job)
{
	struct look *l = (struct look *)job;
	unsigned at = place_of(l->owner, &l->map);

	if (at < l->owner->waiting_count)
		forget(l->owner, at);
}

/* True: *m is now a mapping of a file. */
static bool look(struct hugepage_text *t, struct mapping *m, const char *maps, uint64_t now_ns)
{
	struct look *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return false;
	*l = (struct look){ .base = { .work = work,
				      .done = done,
				      .given_up = given_up,
				      .drop = drop,
				      .key = io_key(IO_KIND_PROCESS, m->pid, 0),
				      .user = process_user(m->pid) },
			    .owner = t,
			    .now = m,
			    .map = *m,
			    .now_ns = now_ns,
			    .has_maps = maps };
	l->map.path = ANON;
	if (maps)
		outbuf_add(&l->maps, maps, strlen(maps) + 1);
	err = outbuf_ok(&l->maps) ? io_timeout_run(t->io, &l->base, true, LOOK_NS) : -ENOMEM;
	if (err == -EINPROGRESS)
		l->now = NULL;
	else if (err)
		drop(&l->base);
	return !err && m->id.inode;
}

bool hugepage_text_look(struct hugepage_text *t, struct mapping *m, const char *maps,
			uint64_t now_ns)
{
	return is_candidate(m) && look(t, m, maps, now_ns);
}

bool hugepage_text_again(struct hugepage_text *t, struct mapping *m, uint64_t now_ns)
{
	if (t->found_count) {
		free(t->path);
		*m = t->found[--t->found_count].map;
		t->path = (char *)m->path;
		return true;
	}
	for (unsigned i = t->waiting_count; i-- > 0;) {
		struct hugepage_text_waiting *w = &t->waiting[i];

		if (w->due_ns > now_ns)
			continue;
		if (w->turns == HUGEPAGE_TEXT_TURNS) { /* its last look was not begun */
			forget(t, i);
			continue;
		}
		w->due_ns = now_ns + (HUGEPAGE_TEXT_AGAIN_NS << ++w->turns);
		*m = w->map;
		if (look(t, m, NULL, now_ns))
			return true;
	}
	return false;
}
