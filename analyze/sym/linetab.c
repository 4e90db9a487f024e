/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/linetab.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/sym/coderanges.h"
#include "analyze/sym/dwline.h"
#include "analyze/sym/dwvalue.h"
#include "analyze/sym/dwwalk.h"
#include "analyze/sym/linetexts.h"
#include "analyze/vec.h"

#define THREADS_MAX 8
#define PACKS_MAX   4  /* of a program; the right one is as a rule the first */
#define ORIGINS_MAX 16 /* DIEs on the way to a name */

struct answer {
	bool known;
	uint8_t worker; /* whose frames */
	uint16_t count;
	uint32_t first;
};

/* One wanted address of a unit. */
struct wish {
	uint32_t unit, vaddr; /* number of each */
};

struct task {
	size_t first, count; /* of wishes */
};

/* What one thread fills. */
struct worker {
	struct linetab *tab;
	struct linetexts texts;
	struct lines_frame *frames;
	size_t frame_count, frame_room;
	struct dw_unit unit;
	/* Where its DIEs are: itself, or what was split off. */
	const struct dw_file *die_file;
	struct dw_unit *die_unit;
	struct dw_file split_file;
	struct dw_unit split;
	int split_fd;
	const char *split_name;
	uint32_t split_count; /* so far */
	/* What was not found: of the first unit in the file. */
	enum linetab_gap gap;
	uint64_t gap_off;
	const char *gap_name;
	struct dwline line;
	struct dwwalk walk;
	uint64_t *vaddrs;
	struct dwline_row *rows;
	const char **paths; /* of the program's files, when asked for */
	size_t vaddrs_room, rows_room, paths_room;
	int err;
};

struct linetab {
	uint64_t *vaddrs; /* owned, sorted */
	size_t count;
	struct answer *answers;
	struct worker workers[THREADS_MAX];
	/* While it is made. */
	struct dw_file file;
	struct linetab_parts parts;
	struct dwpack packs[PACKS_MAX];
	int pack_fds[PACKS_MAX];
	unsigned pack_count;
	bool has_split_units;
	uint64_t *units; /* where in .debug_info */
	size_t unit_count, unit_room;
	struct coderanges ranges;
	bool has_odd_units;
	struct wish *wishes;
	size_t wish_count;
	struct task *tasks;
	size_t task_count, task_room;
	atomic_size_t next_task;
};

/* ---- one address ---- */

/* The name of a function, as in the file, mangled if it can be.  -ENOTSUP: odd. */
static int find_name(struct worker *w, uint32_t off, const char **out)
{
	struct dw_value name = { 0 }, linkage = { 0 };
	struct dwwalk_die d;

	*out = NULL;
	for (unsigned n = 0; n < ORIGINS_MAX && !linkage.form; n++) {
		if (!dwwalk_die(w->die_unit, off, &d))
			return -ENOTSUP;
		linkage = d.linkage;
		if (!name.form)
			name = d.name;
		if (!d.origin.form)
			break;
		off = dwwalk_target(w->die_unit, &d.origin);
		if (off == DWWALK_NONE && !linkage.form)
			return -ENOTSUP;
	}
	if (linkage.form)
		name = linkage;
	return name.form ? linetexts_value(&w->texts, w->die_file, w->die_unit, &name, out) : 0;
}

/* DIR/FILE, as libdw puts it together. */
static int join_path(struct worker *w, const struct dw_value *name, const struct dw_value *dir,
		     const char **out)
{
	const struct dw_file *f = &w->tab->file;
	const char *file, *folder = NULL, *base = NULL;
	char *path;
	int err;

	err = linetexts_value(&w->texts, f, &w->unit, name, &file);
	if (err || *file == '/') {
		*out = err ? NULL : file;
		return err;
	}
	if (dir)
		err = linetexts_value(&w->texts, f, &w->unit, dir, &folder);
	if (!err && w->unit.comp_dir.form && (!folder || *folder != '/'))
		err = linetexts_value(&w->texts, f, &w->unit, &w->unit.comp_dir, &base);
	if (err)
		return err;
	if (asprintf(&path, "%s%s%s%s%s", base ? base : "", base ? "/" : "", folder ? folder : "",
		     folder ? "/" : "", file) < 0)
		return -ENOMEM;
	err = linetexts_add(&w->texts, path, out);
	free(path);
	return err;
}

/* *out NULL: there is no such file. */
static int find_path(struct worker *w, uint64_t number, const char **out)
{
	const struct dw_value *dir, *name = dwline_name(&w->line, number, &dir);
	int err;

	*out = NULL;
	if (!name || number > w->line.file_count)
		return 0;
	if (!w->paths[number]) {
		err = join_path(w, name, dir, &w->paths[number]);
		if (err)
			return err;
	}
	*out = w->paths[number];
	return 0;
}

static uint32_t small(const struct dw_value *v)
{
	return v->form && v->number <= UINT32_MAX ? (uint32_t)v->number : 0;
}

/* What was inlined around wanted address i, outermost first: the hits from *at on. */
static size_t chain_of(const struct dwwalk *w, size_t i, size_t *at,
		       const struct dwwalk_inlined *chain[LINES_DEPTH_MAX])
{
	size_t count = 0;

	for (; *at < w->hit_count && w->hits[*at].wanted == i; (*at)++) {
		const struct dwwalk_inlined *it = &w->inlined[w->hits[*at].inlined];

		if (it->function != w->functions[i] || it->depth > count ||
		    it->depth >= LINES_DEPTH_MAX - 1)
			continue;
		chain[it->depth] = it;
		count = it->depth + 1;
	}
	return count;
}

static int add_frame(struct worker *w, const struct lines_frame *frame)
{
	int err = vec_reserve(&w->frames, &w->frame_room, w->frame_count + 1);

	if (!err)
		w->frames[w->frame_count++] = *frame;
	return err;
}

static int add_frames(struct worker *w, size_t i, size_t depth,
		      const struct dwwalk_inlined *const *chain)
{
	const struct dwline_row *row = &w->rows[i];
	struct lines_frame at = { 0 };
	int err = 0;

	if (row->known) {
		at.line = row->line;
		at.column = row->column;
		err = find_path(w, row->file, &at.file);
	}
	while (!err && depth) {
		const struct dwwalk_inlined *it = chain[--depth];

		err = find_name(w, it->die_off, &at.function);
		if (!err)
			err = add_frame(w, &at);
		at = (struct lines_frame){ NULL, NULL, small(&it->call_line),
					   small(&it->call_column) };
		if (!err && it->call_file.form)
			err = find_path(w, it->call_file.number, &at.file);
	}
	if (!err && w->walk.functions[i] != DWWALK_NONE)
		err = find_name(w, w->walk.functions[i], &at.function);
	return err ? err : add_frame(w, &at);
}

/* ---- one unit ---- */

static int by_wanted(const void *va, const void *vb)
{
	const struct dwwalk_hit *a = va, *b = vb;

	if (a->wanted != b->wanted)
		return a->wanted < b->wanted ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

static int answer_unit(struct worker *w, const struct task *task)
{
	const struct dwwalk_inlined *chain[LINES_DEPTH_MAX];
	const struct wish *wishes = &w->tab->wishes[task->first];
	struct dwwalk *walk = &w->walk;
	size_t at = 0, depth;
	int err;

	if (walk->hit_count)
		qsort(walk->hits, walk->hit_count, sizeof(*walk->hits), by_wanted);
	for (size_t i = 0; i < task->count; i++) {
		struct answer *a = &w->tab->answers[wishes[i].vaddr];
		size_t first = w->frame_count;

		depth = chain_of(walk, i, &at, chain);
		err = add_frames(w, i, depth, chain);
		if (err == -ENOMEM)
			return err;
		if (err || w->frame_count >= UINT32_MAX) {
			w->frame_count = first; /* odd: somebody else's business */
			continue;
		}
		*a = (struct answer){ true, (uint8_t)(w - w->tab->workers),
				      (uint16_t)(w->frame_count - first), (uint32_t)first };
	}
	return 0;
}

static int prepare(struct worker *w, const struct task *task)
{
	const struct wish *wishes = &w->tab->wishes[task->first];
	int err = vec_reserve(&w->vaddrs, &w->vaddrs_room, task->count);

	if (!err)
		err = vec_reserve(&w->rows, &w->rows_room, task->count);
	if (err)
		return err;
	memset(w->rows, 0, task->count * sizeof(*w->rows));
	for (size_t i = 0; i < task->count; i++)
		w->vaddrs[i] = w->tab->vaddrs[wishes[i].vaddr];
	w->line.file_count = 0;
	w->die_file = &w->tab->file;
	w->die_unit = &w->unit;
	w->walk.vaddrs = w->vaddrs;
	w->walk.count = task->count;
	w->unit.off = w->tab->units[wishes->unit];
	return 0;
}

/* ---- what was split off ---- */

static void note_gap(struct worker *w, enum linetab_gap gap, const char *name)
{
	if (w->gap && w->gap_off < w->unit.off)
		return;
	w->gap = gap;
	w->gap_off = w->unit.off;
	w->gap_name = name;
}

/* The i-th place of it.  -ERANGE: there is none; -ENOENT, -ESTALE, -ENOTSUP, -ENOMEM. */
static int try_split(struct worker *w, const char *folder, const char *name, unsigned i)
{
	const struct linetab_parts *parts = &w->tab->parts;
	int fd = parts->open ? parts->open(parts->ctx, folder, name, i) : -ERANGE;
	int err;

	if (fd < 0)
		return fd == -ERANGE || fd == -ENOMEM ? fd : -ENOENT;
	err = dw_file_open_split(fd, &w->tab->file, &w->unit, PACKS_MAX + w->split_count + 1,
				 &w->split_file, &w->split);
	if (!err) {
		w->split_count++;
		w->split_fd = fd;
		return 0;
	}
	close(fd);
	return err == -ESTALE || err == -ENOMEM ? err : -ENOTSUP;
}

/* As try_split(), of the packages. */
static int try_packs(struct worker *w)
{
	int err = -ENOENT;

	for (unsigned i = 0; err && err != -ENOMEM && i < w->tab->pack_count; i++) {
		int this_err = dw_file_open_packed(&w->tab->packs[i], &w->tab->file, &w->unit,
						   i + 1, &w->split_file, &w->split);

		if (!this_err || this_err == -ENOMEM || err == -ENOENT)
			err = this_err;
	}
	w->split_fd = -1;
	return err;
}

static void take_split(struct worker *w, const char *name)
{
	w->die_file = &w->split_file;
	w->die_unit = &w->split;
	w->split_name = name;
}

/* The first that has the unit's id is it; if none has, the skeleton still knows some. */
static int open_split(struct worker *w)
{
	const struct dw_file *f = &w->tab->file;
	const char *name = "", *folder = "";
	enum linetab_gap gap = LINETAB_GONE;
	int err = linetexts_value(&w->texts, f, &w->unit, &w->unit.dwo_name, &name);

	if (!err && w->unit.comp_dir.form)
		err = linetexts_value(&w->texts, f, &w->unit, &w->unit.comp_dir, &folder);
	if (!err) {
		int packed = try_packs(w);

		if (!packed)
			take_split(w, name);
		if (!packed || packed == -ENOMEM)
			return packed;
		gap = packed == -ENOENT ? LINETAB_GONE : LINETAB_BAD;
	}
	for (unsigned i = 0; !err; i++) {
		err = try_split(w, folder, name, i);
		if (!err) {
			take_split(w, name);
			return 0;
		}
		if (err == -ERANGE || err == -ENOMEM)
			break;
		if (gap == LINETAB_GONE && err != -ENOENT)
			gap = err == -ESTALE ? LINETAB_STALE : LINETAB_BAD;
		err = 0;
	}
	if (err == -ENOMEM)
		return err;
	note_gap(w, err == -ERANGE ? gap : LINETAB_BAD, name);
	return 0;
}

static void close_split(struct worker *w)
{
	if (w->die_file != &w->split_file)
		return;
	dw_file_close(&w->split_file);
	if (w->split_fd >= 0)
		close(w->split_fd);
	w->die_file = NULL;
}

static int walk_unit(struct worker *w)
{
	int err;

	w->walk.file = w->die_file;
	w->walk.unit = w->die_unit;
	err = dwwalk_run(&w->walk);
	if (err == -ENOTSUP && w->die_unit == &w->split)
		note_gap(w, LINETAB_BAD, w->split_name);
	return err;
}

static int run_unit(struct worker *w, const struct task *task)
{
	const struct dw_file *f = &w->tab->file;
	int err = prepare(w, task);

	if (!err)
		err = dw_unit_head(f, &w->unit);
	if (!err)
		err = dw_unit_load(f, &w->unit);
	if (!err && w->unit.dwo_name.form)
		err = open_split(w);
	if (!err && w->unit.line.form)
		err = dwline_load(f, &w->unit, &w->line);
	if (!err && w->unit.line.form)
		err = dwline_run(&w->line, &w->unit, w->vaddrs, task->count, w->rows);
	if (!err)
		err = vec_reserve(&w->paths, &w->paths_room, w->line.file_count + 1);
	if (!err)
		err = walk_unit(w);
	if (!err) {
		memset(w->paths, 0, (w->line.file_count + 1) * sizeof(*w->paths));
		err = answer_unit(w, task);
	}
	close_split(w);
	return err == -ENOMEM ? err : 0; /* else odd */
}

static void *work(void *arg)
{
	struct worker *w = arg;
	size_t i;

	w->unit.steps_left = w->split.steps_left = DW_STEPS_MAX;
	while (!w->err && (i = atomic_fetch_add(&w->tab->next_task, 1)) < w->tab->task_count)
		w->err = run_unit(w, &w->tab->tasks[i]);
	dw_unit_done(&w->unit);
	dw_unit_done(&w->split);
	dwline_done(&w->line);
	dwwalk_done(&w->walk);
	free(w->vaddrs);
	free(w->rows);
	free(w->paths);
	return NULL;
}

/* ---- all units ---- */

struct unit_ranges {
	struct coderanges *ranges;
	uint32_t owner;
};

static int add_range(void *arg, uint64_t low, uint64_t high)
{
	struct unit_ranges *u = arg;

	return coderanges_add(u->ranges, low, high, u->owner);
}

static int index_unit(struct linetab *t, struct dw_unit *u)
{
	struct unit_ranges to = { &t->ranges, (uint32_t)t->unit_count };
	int err = vec_reserve(&t->units, &t->unit_room, t->unit_count + 1);

	if (err)
		return err;
	t->units[t->unit_count++] = u->off;
	t->has_split_units |= u->dwo_name.form;
	return dw_ranges(&t->file, u, &u->low_pc, &u->high_pc, &u->ranges, add_range, &to);
}

static int index_units(struct linetab *t)
{
	struct dw_unit u = { .steps_left = DW_STEPS_MAX };
	int err;

	for (; (err = dw_unit_head(&t->file, &u)) != -ENODATA; u.off += u.size_bytes) {
		if (!err)
			err = index_unit(t, &u);
		t->has_odd_units |= err == -ENOTSUP;
		if (err && err != -ENOTSUP && err != -ENOENT)
			break;
	}
	dw_unit_done(&u);
	coderanges_seal(&t->ranges);
	if (err == -EBADMSG)
		t->has_odd_units = true;
	return err == -ENODATA || err == -EBADMSG ? 0 : err;
}

static int by_unit(const void *va, const void *vb)
{
	const struct wish *a = va, *b = vb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int share_out(struct linetab *t)
{
	int err = 0;

	t->wishes = calloc(t->count + 1, sizeof(*t->wishes));
	if (!t->wishes)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const struct coderange *r = coderanges_find(&t->ranges, t->vaddrs[i]);

		if (r)
			t->wishes[t->wish_count++] = (struct wish){ r->owner, (uint32_t)i };
		else
			t->answers[i].known = !t->has_odd_units;
	}
	if (t->wish_count)
		qsort(t->wishes, t->wish_count, sizeof(*t->wishes), by_unit);
	for (size_t i = 0; !err && i < t->wish_count; i++) {
		if (i && t->wishes[i].unit == t->wishes[i - 1].unit) {
			t->tasks[t->task_count - 1].count++;
			continue;
		}
		err = vec_reserve(&t->tasks, &t->task_room, t->task_count + 1);
		if (!err)
			t->tasks[t->task_count++] = (struct task){ i, 1 };
	}
	return err;
}

static unsigned choose_thread_count(const struct linetab *t, unsigned wanted)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = wanted ? wanted : cpus < 1 ? 1 : (size_t)cpus;

	if (count > THREADS_MAX)
		count = THREADS_MAX;
	return (unsigned)(count < t->task_count ? count : t->task_count);
}

/* The calling thread is one of them; where no more can be started, fewer do the work. */
static int run_all(struct linetab *t, unsigned wanted)
{
	unsigned started = 1, count = choose_thread_count(t, wanted);
	pthread_t threads[THREADS_MAX];
	int err = 0;

	for (unsigned i = 0; i < THREADS_MAX; i++)
		t->workers[i].tab = t;
	while (started < count &&
	       !pthread_create(&threads[started], NULL, work, &t->workers[started]))
		started++;
	work(&t->workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < started; i++)
		err = t->workers[i].err ? t->workers[i].err : err;
	return err;
}

static int open_packs(struct linetab *t)
{
	int fd, err;

	if (!t->has_split_units || !t->parts.open_package)
		return 0;
	for (unsigned i = 0; t->pack_count < PACKS_MAX; i++) {
		fd = t->parts.open_package(t->parts.ctx, i);
		if (fd == -ERANGE || fd == -ENOMEM)
			return fd == -ENOMEM ? fd : 0;
		if (fd < 0)
			continue;
		err = dwpack_open(fd, &t->packs[t->pack_count]);
		if (err)
			close(fd);
		else
			t->pack_fds[t->pack_count++] = fd;
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

static void drop_scaffold(struct linetab *t)
{
	while (t->pack_count) {
		dwpack_close(&t->packs[--t->pack_count]);
		close(t->pack_fds[t->pack_count]);
	}
	dw_file_close(&t->file);
	free(t->units);
	free(t->ranges.list);
	free(t->wishes);
	free(t->tasks);
	t->units = NULL;
	t->ranges = (struct coderanges){ 0 };
	t->wishes = NULL;
	t->tasks = NULL;
}

int linetab_new(int fd, const uint64_t *vaddrs, size_t count, unsigned thread_count,
		const struct linetab_parts *parts, struct linetab **out)
{
	struct linetab *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return err;
	if (parts)
		t->parts = *parts;
	t->vaddrs = reallocarray(NULL, count + 1, sizeof(*t->vaddrs));
	t->answers = calloc(count + 1, sizeof(*t->answers));
	if (t->vaddrs && t->answers && count < UINT32_MAX) {
		t->count = count;
		if (count)
			memcpy(t->vaddrs, vaddrs, count * sizeof(*vaddrs));
		err = dw_file_open(fd, &t->file);
	}
	if (!err)
		err = index_units(t);
	if (!err)
		err = open_packs(t);
	if (!err)
		err = share_out(t);
	if (!err)
		err = run_all(t, thread_count);
	drop_scaffold(t);
	if (err)
		linetab_free(t);
	else
		*out = t;
	return err;
}

void linetab_free(struct linetab *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		linetexts_done(&t->workers[i].texts);
		free(t->workers[i].frames);
	}
	free(t->vaddrs);
	free(t->answers);
	free(t);
}

bool linetab_find(const struct linetab *t, uint64_t vaddr, struct lines_frame *out, size_t max,
		  size_t *n)
{
	size_t low = 0, high = t->count;
	const struct answer *a;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->vaddrs[mid] < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low >= t->count || t->vaddrs[low] != vaddr || !t->answers[low].known)
		return false;
	a = &t->answers[low];
	for (*n = 0; *n < a->count && *n < max; (*n)++)
		out[*n] = t->workers[a->worker].frames[a->first + *n];
	return true;
}

enum linetab_gap linetab_gap(const struct linetab *t, const char **name)
{
	const struct worker *first = NULL;

	for (unsigned i = 0; i < THREADS_MAX; i++)
		if (t->workers[i].gap && (!first || t->workers[i].gap_off < first->gap_off))
			first = &t->workers[i];
	if (!first)
		return LINETAB_WHOLE;
	*name = first->gap_name;
	return first->gap;
}
