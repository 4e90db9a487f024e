/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symfile_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/insertion_sort.h"
#include "analyze/sym/symtab/perf_map.h"
#include "format/base/vec.h"
#include "format/os/threads.h"

static bool has_id(const struct resolver_file *f)
{
	return f->id.build_id.size_bytes;
}

/* A build-id alone, or else path and inode. */
static uint64_t file_hash(const struct hash_index *x, const struct resolver_file *f)
{
	uint64_t hash;

	if (has_id(f))
		return hash_index_bytes(x, f->id.build_id.bytes, f->id.build_id.size_bytes);
	hash = hash_index_pair(x, hash_index_bytes(x, f->path, strlen(f->path)), f->id.inode);
	hash = hash_index_pair(x, hash, file_id_device(&f->id));
	return hash_index_pair(x, hash, f->jit_pid);
}

static bool file_equal(const struct resolver_file *a, const struct resolver_file *b)
{
	if (has_id(a) || has_id(b))
		return buildid_same(&a->id.build_id, &b->id.build_id);
	return file_id_same_inode(&a->id, &b->id) && a->jit_pid == b->jit_pid &&
	       (a->any_generation || b->any_generation ||
		a->id.inode_generation == b->id.inode_generation) &&
	       !strcmp(a->path, b->path);
}

static struct file_alias *alias_new(const struct resolver_file *f)
{
	size_t n = strlen(f->path) + 1;
	struct file_alias *a = malloc(sizeof(*a) + n);

	if (!a)
		return NULL;
	a->next = NULL;
	a->as = *f;
	memcpy(a->path, f->path, n);
	a->as.path = a->path;
	return a;
}

/* The same file by another path: worth a try when the first is gone. */
static void add_alias(struct known_file *f, const struct resolver_file *as)
{
	struct file_alias **p;
	unsigned count = 0;

	for (p = &f->aliases; *p; p = &(*p)->next, count++)
		if (!strcmp((*p)->as.path, as->path))
			return;
	if (!f->loaded && count < SYMFILE_ALIASES_MAX)
		*p = alias_new(as); /* without memory there is one path less */
}

static struct known_file *file_new(const struct resolver_file *as)
{
	struct known_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	symfile_init(&f->sym);
	f->aliases = alias_new(as);
	if (!f->aliases) {
		free(f);
		return NULL;
	}
	return f;
}

uint32_t symfile_cache_add(struct symfile_cache *s, const struct resolver_file *file)
{
	uint32_t pos, id;
	uint64_t hash;

	if (s->count >= SYMFILE_CACHE_MAX || hash_index_reserve(&s->by_identity) ||
	    vec_reserve(&s->files, &s->room, s->count + 1))
		return UINT32_MAX;
	hash = file_hash(&s->by_identity, file);
	pos = hash_index_start(&s->by_identity, hash);
	while ((id = hash_index_match(&s->by_identity, hash, &pos)) != HASH_INDEX_NONE) {
		if (file_equal(&s->files[id]->aliases->as, file)) {
			add_alias(s->files[id], file);
			return id;
		}
	}
	s->files[s->count] = file_new(file);
	if (!s->files[s->count])
		return UINT32_MAX;
	hash_index_put(&s->by_identity, hash, pos, (uint32_t)s->count);
	return (uint32_t)s->count++;
}

static void forget_symbols(struct known_file *f)
{
	symfile_done(&f->sym);
	if (f->partial)
		symfile_done(f->partial);
	free(f->partial);
	free(f->wanted);
	perf_map_free(f->jit);
}

static void file_free(struct known_file *f)
{
	struct file_alias *a;

	while ((a = f->aliases)) {
		f->aliases = a->next;
		free(a);
	}
	forget_symbols(f);
	free(f->bundles);
	free(f);
}

void symfile_cache_trim(struct symfile_cache *s, unsigned rounds)
{
	for (size_t i = 0; i < s->count; i++) {
		struct known_file *f = s->files[i];

		if (!f->loaded || s->round - f->round < rounds)
			continue;
		forget_symbols(f);
		symfile_init(&f->sym);
		f->partial = NULL;
		f->jit = NULL;
		f->wanted = NULL;
		f->wanted_count = f->wanted_room = f->wanted_at = 0;
		f->loaded = false;
		atomic_store(&f->taken, false);
	}
}

/* ---- loading ---- */

static void load_jit(const struct symfile_cache *s, struct known_file *f)
{
	const struct resolver_jit key = { .pid = f->aliases->as.jit_pid };
	const struct resolver_jit *jit = s->jit_count ? bsearch(&key, s->jits, s->jit_count,
								sizeof(key), resolver_jit_by_pid)
						      : NULL;

	f->sym.reason = jit && !perf_map_new(jit->text, jit->size_bytes, &f->jit) ? NAME_FOUND
										  : NAME_ANONYMOUS;
}

/* A path that may lead to the file. */
struct attempt {
	struct symfile_cache *s;
	struct known_file *f;
	struct resolver_file as;
	const struct symfile_wanted *wanted;
	unsigned hidden_group; /* of the paths behind a whiteout */
};

static int try_path(void *arg, const char *path, unsigned group)
{
	struct attempt *a = arg;

	if (group && group == a->hidden_group)
		return 0;
	a->as.path = path;
	if (symfile_load(&a->f->sym, &a->s->roots, &a->as, a->wanted))
		return 1;
	if (group && file_search_is_whiteout(&a->s->roots, path))
		a->hidden_group = group;
	return 0;
}

static bool load_by_hints(struct symfile_cache *s, struct known_file *f,
			  const struct symfile_wanted *wanted)
{
	struct attempt a = { .s = s, .f = f, .as = f->aliases->as, .wanted = wanted };

	return s->hints.paths && s->hints.paths(s->hints.ctx, &f->aliases->as, try_path, &a) == 1;
}

/* By the first path that still leads to the file; the reason is that of the first. */
static void load(struct symfile_cache *s, struct known_file *f, const struct symfile_wanted *wanted)
{
	enum name_reason first = NAME_FOUND;
	struct file_alias *a;

	f->loaded = true;
	if (f->aliases->as.jit_pid) {
		load_jit(s, f);
		return;
	}
	for (a = f->aliases; a; a = a->next) {
		if (s->hints.complete)
			s->hints.complete(s->hints.ctx, &a->as);
		if (symfile_load(&f->sym, &s->roots, &a->as, wanted))
			return;
		if (a == f->aliases)
			first = f->sym.reason;
	}
	if (first == NAME_ANONYMOUS || load_by_hints(s, f, wanted) ||
	    symfile_load_debug(&f->sym, &s->roots, &f->aliases->as, wanted))
		return;
	f->sym.reason = first;
}

int symfile_cache_bounds(struct symfile_cache *s, uint32_t id, uint64_t **out, size_t *count)
{
	const struct symfile_wanted wanted = { .only_bounds = true };
	struct known_file *f = symfile_cache_get(s, id);
	int err = -ENOENT;

	if (!f || f->loaded || f->bundle_count || f->aliases->as.jit_pid)
		return -ENOENT;
	load(s, f, &wanted);
	if (f->sym.reason == NAME_FOUND) {
		err = 0;
		*out = f->sym.bounds;
		*count = f->sym.bound_count;
		f->sym.bounds = NULL;
	} else if (f->sym.reason == NAME_BAD_ELF) {
		err = -EBADMSG;
	}
	symfile_done(&f->sym);
	f->loaded = false;
	return err;
}

int symfile_cache_want(struct symfile_cache *s, uint32_t id, uint64_t off_bytes)
{
	struct known_file *f = symfile_cache_get(s, id);

	if (!f || f->loaded || s->roots.all_symbols)
		return 0;
	if (vec_reserve(&f->wanted, &f->wanted_room, f->wanted_count + 1))
		return -ENOMEM;
	f->wanted[f->wanted_count++] = off_bytes;
	return 0;
}

static void load_wanted(struct symfile_cache *s, struct known_file *f)
{
	struct symfile_wanted wanted = { .off_bytes = f->wanted, .count = f->wanted_count };

	if (f->wanted)
		addrsort(f->wanted, f->wanted_count);
	load(s, f, f->wanted ? &wanted : NULL);
}

/*
 * Callers go through the locations in order: it is mostly the next one, or the one asked for last.
 */
static bool is_wanted(struct known_file *f, uint64_t off_bytes)
{
	size_t at = f->wanted_at;
	const uint64_t *found;

	while (at < f->wanted_count && at < f->wanted_at + 2 && f->wanted[at] != off_bytes)
		at++;
	if (at == f->wanted_count || at == f->wanted_at + 2) {
		found = bsearch(&off_bytes, f->wanted, f->wanted_count, sizeof(off_bytes),
				insertion_sort_compare);
		if (!found)
			return false;
		at = (size_t)(found - f->wanted);
	}
	f->wanted_at = at;
	return true;
}

void symfile_cache_load_for(struct symfile_cache *s, struct known_file *f, uint64_t off_bytes)
{
	if (!f->loaded) {
		f->round = s->round;
		load_wanted(s, f);
	} else if (f->wanted && !f->partial && !f->aliases->as.jit_pid &&
		   !is_wanted(f, off_bytes)) {
		f->partial = malloc(sizeof(*f->partial));
		if (!f->partial)
			return; /* NAME_BETWEEN */
		*f->partial = f->sym;
		symfile_init(&f->sym);
		load(s, f, NULL);
	}
}

void symfile_cache_forget_jits(struct symfile_cache *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct known_file *f = s->files[i];

		if (!f->aliases->as.jit_pid)
			continue;
		perf_map_free(f->jit);
		f->jit = NULL;
		f->loaded = false;
		atomic_store(&f->taken, false);
	}
}

/* ---- several at a time ---- */

struct queue {
	struct symfile_cache *s;
	const uint32_t *ids;
	size_t count;
	atomic_size_t next;
};

/* Shared data is only read: roots, hints, the texts of JIT compilers. */
static void *load_queue(void *arg)
{
	struct queue *q = arg;
	size_t i;

	while ((i = atomic_fetch_add(&q->next, 1)) < q->count) {
		struct known_file *f = symfile_cache_get(q->s, q->ids[i]);

		if (f && !atomic_exchange(&f->taken, true) && !f->loaded && !f->bundle_count)
			load_wanted(q->s, f);
	}
	return NULL;
}

static unsigned choose_thread_count(const struct symfile_cache *s, size_t file_count)
{
	/* The time of what is fetched is short, and goes to the most wanted. */
	return s->roots.fetcher ? 1 : threads_choose(s->thread_count, file_count);
}

/* The calling thread is one of them; where no more can be started, fewer do the work. */
void symfile_cache_load(struct symfile_cache *s, const uint32_t *ids, size_t count)
{
	struct queue q = { .s = s, .ids = ids, .count = count };
	unsigned started = 0, want = choose_thread_count(s, count);
	pthread_t threads[THREADS_AT_ONCE];

	s->round++;
	for (size_t i = 0; i < count; i++)
		if (symfile_cache_get(s, ids[i]))
			s->files[ids[i]]->round = s->round;
	while (started + 1 < want && !pthread_create(&threads[started], NULL, load_queue, &q))
		started++;
	load_queue(&q);
	while (started)
		pthread_join(threads[--started], NULL);
}

void symfile_cache_done(struct symfile_cache *s)
{
	for (size_t i = 0; i < s->count; i++)
		file_free(s->files[i]);
	free(s->files);
	hash_index_done(&s->by_identity);
}
