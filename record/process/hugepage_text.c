/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/hugepage_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/process/map_file.h"
#include "format/base/slurp.h"

#define ANON        "//anon" /* the kernel's name for it */
#define PAGE        4096u
#define PAGES_MAX   64u /* that are compared */
#define ODD_ONES_IN 16u /* one of so many may differ */

void movedtext_done(struct movedtext *t)
{
	outbuf_done(&t->maps);
}

static bool is_candidate(const struct siderec_map *m)
{
	return !m->inode && (m->prot & PROT_EXEC) && m->size_bytes >= MOVEDTEXT_MIN_BYTES &&
	       !strcmp(m->path, ANON);
}

static bool is_same_file(const struct procmap *a, const struct procmap *b)
{
	return a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

/*
 * Whether the nearest mappings of files below and above are of one file: t->below and t->above.  The range must still be
 * one without a file.
 */
static bool find_neighbours(struct movedtext *t, const struct siderec_map *m, const char *maps)
{
	uint64_t end = m->start + m->size_bytes;
	int more;

	t->below.inode = t->above.inode = 0;
	while (!t->above.inode && (more = procmaps_next(&maps, &t->line)) != 0) {
		if (more < 0 || !t->line.inode)
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
static struct siderec_map as_of_file(const struct siderec_map *m, const struct procmap *beside)
{
	struct siderec_map of = *m;

	of.file_off_bytes = beside->file_off_bytes + (m->start - beside->start);
	of.dev_major = beside->dev_major;
	of.dev_minor = beside->dev_minor;
	of.inode = beside->inode;
	of.inode_generation = 0;
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
	uint64_t count = pages < PAGES_MAX ? pages : PAGES_MAX, odd = 0, empty = 0;
	uint8_t here[PAGE], there[PAGE];

	for (uint64_t i = 0; i < count; i++) {
		step = i * (pages - 1) / (count - 1) * PAGE;
		if (pread(mem, here, PAGE, (off_t)(addr + step)) != PAGE)
			return false;
		if (pread(file, there, PAGE, (off_t)(offset + step)) != PAGE ||
		    memcmp(here, there, PAGE) != 0)
			odd++;
		else
			empty += is_zero(here);
	}
	return odd * ODD_ONES_IN <= count && empty * 2 <= count;
}

/* A file to compare with; the neighbour itself is mapped, and so tells which inode it is. */
static int open_file(struct movedtext *t, const struct siderec_map *m, const struct procmap *beside)
{
	struct siderec_map of = as_of_file(m, beside);

	of.start = beside->start;
	of.size_bytes = beside->end - beside->start;
	mapids_lookup(t->ids, &of);
	return of.is_stuck ? -ETIMEDOUT : mapfile_open(&of);
}

/* With both neighbours' distance to the file: segments need not be as far apart there as in memory. */
static bool compare(struct movedtext *t, struct siderec_map *m)
{
	const struct procmap *beside[] = { &t->below, &t->above };
	struct siderec_map of;
	bool found = false;
	char path[48];
	int mem, file;

	file = open_file(t, m, &t->below);
	if (file < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/mem", m->pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; mem >= 0 && !found && i < 2; i++) {
		of = as_of_file(m, beside[i]);
		found = has_code_of(mem, file, of.start, of.file_off_bytes, of.size_bytes);
	}
	if (mem >= 0)
		close(mem);
	close(file);
	if (found)
		*m = of;
	return found;
}

/* 1: *m is of a file; 0: it never will be; -EAGAIN. */
static int look(struct movedtext *t, struct siderec_map *m, const char *maps)
{
	char path[48];

	if (!maps) {
		outbuf_clear(&t->maps);
		snprintf(path, sizeof(path), "/proc/%u/maps", m->pid);
		if (slurp(path, &t->maps) || !t->maps.size_bytes)
			return 0;
		maps = (const char *)t->maps.data;
	}
	if (!find_neighbours(t, m, maps))
		return 0;
	return compare(t, m) ? 1 : -EAGAIN;
}

/* Of this mapping among those that wait, or behind them. */
static unsigned place_of(const struct movedtext *t, const struct siderec_map *m)
{
	unsigned i = 0;

	while (i < t->waiting_count &&
	       (t->waiting[i].map.pid != m->pid || t->waiting[i].map.start != m->start))
		i++;
	return i;
}

static void wait_for(struct movedtext *t, unsigned at, const struct siderec_map *m, uint64_t now_ns)
{
	if (at == MOVEDTEXT_WAITING)
		return;
	t->waiting_count += at == t->waiting_count;
	t->waiting[at] = (struct movedtext_waiting){ .map = *m,
						     .due_ns = now_ns + MOVEDTEXT_AGAIN_NS };
	t->waiting[at].map.path = ANON;
}

static void forget(struct movedtext *t, unsigned i)
{
	t->waiting[i] = t->waiting[--t->waiting_count];
}

bool movedtext_look(struct movedtext *t, struct siderec_map *m, const char *maps, uint64_t now_ns)
{
	unsigned at;
	int what;

	if (!is_candidate(m))
		return false;
	at = place_of(t, m);
	what = look(t, m, maps);
	if (what == -EAGAIN)
		wait_for(t, at, m, now_ns);
	else if (at < t->waiting_count)
		forget(t, at);
	return what == 1;
}

bool movedtext_again(struct movedtext *t, struct siderec_map *m, uint64_t now_ns)
{
	for (unsigned i = t->waiting_count; i-- > 0;) {
		struct movedtext_waiting *w = &t->waiting[i];
		int what;

		if (w->due_ns > now_ns)
			continue;
		w->due_ns = now_ns + (MOVEDTEXT_AGAIN_NS << ++w->turns);
		*m = w->map;
		what = look(t, m, NULL);
		if (what != -EAGAIN || w->turns == MOVEDTEXT_TURNS)
			forget(t, i);
		if (what == 1)
			return true;
	}
	return false;
}
