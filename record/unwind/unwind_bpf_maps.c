/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/unwind_bpf_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "record/base/map_of_maps.h"

#define CHUNKS_FIRST 16 /* 4 MB: the tables of a small machine */

static int make(enum bpf_map_type type, const char *name, uint32_t value_bytes, uint32_t count,
		uint32_t flags, int inner_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd;

	if (inner_fd >= 0)
		opts.inner_map_fd = (uint32_t)inner_fd;
	fd = bpf_map_create(type, name, sizeof(uint32_t), value_bytes, count, &opts);
	return fd < 0 ? -errno : fd;
}

/*
 * An array that user space writes by stores; without BPF, memory that is taken as it is touched.
 * *fd stays with the caller also on failure.
 */
static int make_mapped(const struct unwind_bpf_maps *w, const char *name, uint32_t value_bytes,
		       uint32_t count, int *fd, void *out)
{
	void *p;

	if (!w->own)
		*fd = make(BPF_MAP_TYPE_ARRAY, name, value_bytes, count, BPF_F_MMAPABLE, -1);
	if (!w->own && *fd < 0)
		return *fd;
	p = mmap(NULL, (size_t)value_bytes * count, PROT_READ | PROT_WRITE,
		 w->own ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, *fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	memcpy(out, &p, sizeof(p));
	return 0;
}

static int make_own_chunk(struct unwind_bpf_maps *w)
{
	uint32_t number = w->chunk_count;
	int err;

	w->chunk[number].fd = -1;
	err = make_mapped(w, NULL, sizeof(struct walk_chunk), 1, &w->chunk[number].fd,
			  &w->chunk[number].own);
	if (err)
		return err;
	w->chunk_count++;
	return rangealloc_give(&w->chunk[number].free_rows, 0, WALK_CHUNK_ROWS);
}

int unwind_bpf_maps_publish(struct unwind_bpf_maps *w)
{
	uint32_t first = w->published_count, count = w->chunk_count - first;
	int fds[WALK_CHUNKS], err;

	if (w->own || !count)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		fds[i] = w->chunk[first + i].fd;
	err = map_of_maps_put(w->chunks_fd, first, fds, count);
	if (!err)
		w->published_count = w->chunk_count;
	return err;
}

/* Half as many again as there are, since that costs no more time than one. */
static int make_chunks(struct unwind_bpf_maps *w)
{
	uint32_t first = w->chunk_count,
		 count = first / 2 > CHUNKS_FIRST ? first / 2 : CHUNKS_FIRST;
	uint32_t i;
	int fd, err = 0;

	if (first == w->chunk_max)
		return -ENOSPC;
	if (w->own)
		return make_own_chunk(w);
	if (count > w->chunk_max - first)
		count = w->chunk_max - first;
	for (i = 0; i < count; i++) {
		fd = make(BPF_MAP_TYPE_ARRAY, "ebprec_rows", sizeof(struct walk_chunk), 1,
			  BPF_F_MMAPABLE, -1);
		if (fd < 0)
			return fd;
		w->chunk[first + i].fd = fd;
		w->chunk_count++; /* from here on it is closed with the others */
	}
	if (w->chunks_fd < 0)
		w->chunks_fd = make(BPF_MAP_TYPE_ARRAY_OF_MAPS, "ebprec_chunks", sizeof(uint32_t),
				    WALK_CHUNKS, 0, w->chunk[0].fd);
	if (w->chunks_fd < 0)
		return w->chunks_fd;
	for (i = 0; i < count && !err; i++)
		err = rangealloc_give(&w->chunk[first + i].free_rows, 0, WALK_CHUNK_ROWS);
	return err;
}

int unwind_bpf_maps_init(struct unwind_bpf_maps *w, uint64_t cap_bytes, bool bpf)
{
	uint64_t chunks = cap_bytes / sizeof(struct walk_chunk);
	int err;

	*w = (struct unwind_bpf_maps){ .chunks_fd = -1,
				       .pages_fd = -1,
				       .rules_fd = -1,
				       .maps_fd = -1,
				       .procs_fd = -1,
				       .execs_fd = -1,
				       .own = !bpf };
	w->chunk_max = chunks > WALK_CHUNKS ? WALK_CHUNKS : chunks ? (uint32_t)chunks : 1;
	err = make_mapped(w, "ebprec_pages", sizeof(*w->pages), WALK_PAGES, &w->pages_fd,
			  &w->pages);
	if (!err)
		err = make_mapped(w, "ebprec_rules", sizeof(*w->rules), WALK_RULES, &w->rules_fd,
				  &w->rules);
	if (!err)
		err = make_mapped(w, "ebprec_maps", sizeof(*w->maps), WALK_MAPS, &w->maps_fd,
				  &w->maps);
	if (!err)
		err = rangealloc_give(&w->free_pages, 0, WALK_PAGES);
	if (!err)
		err = rangealloc_give(&w->free_maps, 0, WALK_MAPS);
	if (!err)
		err = make_chunks(w);
	if (err || w->own)
		return err;
	w->procs_fd = make(BPF_MAP_TYPE_HASH, "ebprec_procs", sizeof(struct walk_proc), WALK_PROCS,
			   0, -1);
	w->execs_fd = make(BPF_MAP_TYPE_HASH, "ebprec_execs", sizeof(uint64_t), WALK_PROCS, 0, -1);
	return w->procs_fd < 0 ? w->procs_fd : w->execs_fd < 0 ? w->execs_fd : 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void unwind_bpf_maps_done(struct unwind_bpf_maps *w)
{
	size_t i;

	for (i = 0; i < UNWIND_BPF_MAPS_MAPPED; i++) {
		if (w->mapped[i].data)
			munmap(w->mapped[i].data, sizeof(struct walk_chunk));
	}
	if (w->pages)
		munmap(w->pages, WALK_PAGES * sizeof(*w->pages));
	if (w->rules)
		munmap(w->rules, WALK_RULES * sizeof(*w->rules));
	if (w->maps)
		munmap(w->maps, WALK_MAPS * sizeof(*w->maps));
	for (i = 0; i < w->chunk_count; i++) {
		close_fd(w->chunk[i].fd);
		if (w->chunk[i].own)
			munmap(w->chunk[i].own, sizeof(struct walk_chunk));
		rangealloc_done(&w->chunk[i].free_rows);
	}
	close_fd(w->chunks_fd);
	close_fd(w->pages_fd);
	close_fd(w->rules_fd);
	close_fd(w->maps_fd);
	close_fd(w->procs_fd);
	close_fd(w->execs_fd);
	rangealloc_done(&w->free_pages);
	rangealloc_done(&w->free_maps);
	free(w->retired);
}

/* ---- rows ---- */

int unwind_bpf_maps_take_rows(struct unwind_bpf_maps *w, uint32_t row_count, struct walk_page *out)
{
	uint32_t i, at;
	int err;

	if (!row_count || row_count > WALK_CHUNK_ROWS)
		return -EINVAL;
	for (i = 0;; i++) {
		err = i == w->chunk_count ? make_chunks(w) : 0;
		if (!err) /* a walk that finds no chunk takes code with a table for code without */
			err = unwind_bpf_maps_publish(w);
		if (err)
			return err;
		err = rangealloc_take(&w->chunk[i].free_rows, row_count, &at);
		if (!err)
			break;
	}
	*out = (struct walk_page){ .chunk = (uint16_t)i,
				   .first_row = (uint16_t)at,
				   .row_count = row_count };
	return 0;
}

void unwind_bpf_maps_give_rows(struct unwind_bpf_maps *w, const struct walk_page *page)
{
	(void)rangealloc_give(&w->chunk[page->chunk].free_rows, page->first_row, page->row_count);
}

struct walk_chunk *unwind_bpf_maps_chunk(struct unwind_bpf_maps *w, uint32_t number)
{
	uint32_t i;
	void *p;

	if (number >= w->chunk_count)
		return NULL;
	if (w->own)
		return w->chunk[number].own;
	for (i = 0; i < UNWIND_BPF_MAPS_MAPPED; i++) {
		if (w->mapped[i].data && w->mapped[i].number == number)
			return w->mapped[i].data;
	}
	p = mmap(NULL, sizeof(struct walk_chunk), PROT_READ | PROT_WRITE, MAP_SHARED,
		 w->chunk[number].fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	i = w->next_mapped++ % UNWIND_BPF_MAPS_MAPPED;
	if (w->mapped[i].data)
		munmap(w->mapped[i].data, sizeof(struct walk_chunk));
	w->mapped[i].data = p;
	w->mapped[i].number = number;
	return p;
}

uint64_t unwind_bpf_maps_table_bytes(const struct unwind_bpf_maps *w)
{
	uint64_t rows = 0;
	uint32_t i;

	for (i = 0; i < w->chunk_count; i++)
		rows += WALK_CHUNK_ROWS - w->chunk[i].free_rows.free_total;
	return rows * 4;
}

uint64_t unwind_bpf_maps_free_rows(const struct unwind_bpf_maps *w)
{
	uint64_t rows = (uint64_t)(w->chunk_max - w->chunk_count) * WALK_CHUNK_ROWS;
	uint32_t i;

	for (i = 0; i < w->chunk_count; i++)
		rows += w->chunk[i].free_rows.free_total;
	return rows;
}

uint64_t unwind_bpf_maps_retired_rows(const struct unwind_bpf_maps *w)
{
	return w->retired_rows;
}

/* ---- what is retired comes back later ---- */

int unwind_bpf_maps_take_maps(struct unwind_bpf_maps *w, uint32_t count, uint32_t *first)
{
	return rangealloc_take(&w->free_maps, count, first);
}

static bool retire(struct unwind_bpf_maps *w, const struct unwind_bpf_maps_retired *r)
{
	if (!r->places.count)
		return false;
	if (vec_reserve(&w->retired, &w->retired_room, w->retired_count + 1))
		return false; /* the places are lost: better than used twice */
	w->retired[w->retired_count++] = *r;
	return true;
}

void unwind_bpf_maps_retire_maps(struct unwind_bpf_maps *w, uint32_t first, uint32_t count,
				 uint64_t now_ns)
{
	struct unwind_bpf_maps_retired r = { .at_ns = now_ns, .places = { first, count } };

	(void)retire(w, &r);
}

static uint64_t rows_of(const struct unwind_bpf_maps *w, const struct extent *pages)
{
	uint64_t rows = 0;
	uint32_t i;

	for (i = 0; i < pages->count; i++)
		rows += w->pages[pages->at + i].row_count;
	return rows;
}

void unwind_bpf_maps_retire_pages(struct unwind_bpf_maps *w, uint32_t first, uint32_t count,
				  uint64_t now_ns)
{
	struct unwind_bpf_maps_retired r = { .at_ns = now_ns,
					     .places = { first, count },
					     .are_pages = true };

	if (retire(w, &r))
		w->retired_rows += rows_of(w, &r.places);
}

static void give_back(struct unwind_bpf_maps *w, const struct unwind_bpf_maps_retired *r)
{
	uint32_t i;

	if (!r->are_pages) {
		(void)rangealloc_give(&w->free_maps, r->places.at, r->places.count);
		return;
	}
	w->retired_rows -= rows_of(w, &r->places);
	for (i = 0; i < r->places.count; i++)
		unwind_bpf_maps_give_rows(w, &w->pages[r->places.at + i]);
	(void)rangealloc_give(&w->free_pages, r->places.at, r->places.count);
}

void unwind_bpf_maps_reclaim(struct unwind_bpf_maps *w, uint64_t now_ns)
{
	size_t i;

	for (i = 0;
	     i < w->retired_count && w->retired[i].at_ns + UNWIND_BPF_MAPS_QUIET_NS <= now_ns; i++)
		give_back(w, &w->retired[i]);
	if (!i)
		return;
	w->retired_count -= i;
	memmove(w->retired, w->retired + i, w->retired_count * sizeof(*w->retired));
}
