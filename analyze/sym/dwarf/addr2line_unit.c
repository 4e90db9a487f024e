/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* addr2line_unit - the answers of one unit */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/addr2line_priv.h"
#include "format/base/vec.h"

#define ORIGINS_MAX 16 /* DIEs on the way to a name */

/* ---- one address ---- */

/* The name of a function, as in the file, mangled if it can be.  -ENOTSUP: unsupported. */
static int find_name(struct addr2line_worker *w, uint32_t off, const char **out)
{
	struct dw_value name = { 0 }, linkage = { 0 };
	struct scopes_die d;

	*out = NULL;
	for (unsigned n = 0; n < ORIGINS_MAX && !linkage.form; n++) {
		if (!scopes_die(w->die_unit, off, &d))
			return -ENOTSUP;
		linkage = d.linkage;
		if (!name.form)
			name = d.name;
		if (!d.origin.form)
			break;
		off = scopes_target(w->die_unit, &d.origin);
		if (off == SCOPES_NONE && !linkage.form)
			return -ENOTSUP;
	}
	if (linkage.form)
		name = linkage;
	return name.form ? line_strings_value(&w->texts, w->die_file, w->die_unit, &name, out) : 0;
}

/* DIR/FILE, as libdw puts it together. */
static int join_path(struct addr2line_worker *w, const struct dw_value *name,
		     const struct dw_value *dir, const char **out)
{
	const struct dw_file *f = &w->tab->file;
	const char *file, *folder = NULL, *base = NULL;
	char *path;
	int err;

	err = line_strings_value(&w->texts, f, &w->unit, name, &file);
	if (err || *file == '/') {
		*out = err ? NULL : file;
		return err;
	}
	if (dir)
		err = line_strings_value(&w->texts, f, &w->unit, dir, &folder);
	if (!err && w->unit.comp_dir.form && (!folder || *folder != '/'))
		err = line_strings_value(&w->texts, f, &w->unit, &w->unit.comp_dir, &base);
	if (err)
		return err;
	if (asprintf(&path, "%s%s%s%s%s", base ? base : "", base ? "/" : "", folder ? folder : "",
		     folder ? "/" : "", file) < 0)
		return -ENOMEM;
	err = line_strings_add(&w->texts, path, out);
	free(path);
	return err;
}

/* *out NULL: there is no such file. */
static int find_path(struct addr2line_worker *w, uint64_t number, const char **out)
{
	const struct dw_value *dir, *name = line_program_name(&w->line, number, &dir);
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

/* The inlined functions around wanted address i, outermost first: the hits from *at on. */
static size_t chain_of(const struct scopes *w, size_t i, size_t *at,
		       const struct scopes_inlined *chain[LINES_DEPTH_MAX])
{
	size_t count = 0;

	for (; *at < w->hit_count && w->hits[*at].wanted == i; (*at)++) {
		const struct scopes_inlined *it = &w->inlined[w->hits[*at].inlined];

		if (it->function != w->functions[i] || it->depth > count ||
		    it->depth >= LINES_DEPTH_MAX - 1)
			continue;
		chain[it->depth] = it;
		count = it->depth + 1;
	}
	return count;
}

static int add_frame(struct addr2line_worker *w, const struct source_frame *frame)
{
	int err = vec_reserve(&w->frames, &w->frame_room, w->frame_count + 1);

	if (!err)
		w->frames[w->frame_count++] = *frame;
	return err;
}

static int add_frames(struct addr2line_worker *w, size_t i, size_t depth,
		      const struct scopes_inlined *const *chain)
{
	const struct line_program_row *row = &w->rows[i];
	struct source_frame at = { 0 };
	int err = 0;

	if (row->known) {
		at.line = row->line;
		at.column = row->column;
		err = find_path(w, row->file, &at.file);
	}
	while (!err && depth) {
		const struct scopes_inlined *it = chain[--depth];

		err = find_name(w, it->die_off, &at.function);
		if (!err)
			err = add_frame(w, &at);
		at = (struct source_frame){ NULL, NULL, small(&it->call_line),
					    small(&it->call_column) };
		if (!err && it->call_file.form)
			err = find_path(w, it->call_file.number, &at.file);
	}
	if (!err && w->walk.functions[i] != SCOPES_NONE)
		err = find_name(w, w->walk.functions[i], &at.function);
	return err ? err : add_frame(w, &at);
}

/* ---- one unit ---- */

static int answer_unit(struct addr2line_worker *w, const struct addr2line_task *task)
{
	const struct scopes_inlined *chain[LINES_DEPTH_MAX];
	const struct addr2line_wish *wishes = &w->tab->wishes[task->first];
	struct scopes *walk = &w->walk;
	size_t at = 0, depth;
	int err;

	for (size_t i = 0; i < task->count; i++) {
		struct addr2line_answer *a = &w->tab->answers[wishes[i].vaddr];
		size_t first = w->frame_count;

		depth = chain_of(walk, i, &at, chain);
		err = add_frames(w, i, depth, chain);
		if (err == -ENOMEM)
			return err;
		if (err || w->frame_count >= UINT32_MAX) {
			w->frame_count = first; /* unsupported: left to libdw_lines.h */
			continue;
		}
		*a = (struct addr2line_answer){ true, (uint8_t)(w - w->tab->workers),
						(uint16_t)(w->frame_count - first),
						(uint32_t)first };
	}
	return 0;
}

static int prepare(struct addr2line_worker *w, const struct addr2line_task *task)
{
	const struct addr2line_wish *wishes = &w->tab->wishes[task->first];
	int err = vec_reserve(&w->vaddrs, &w->vaddrs_room, task->count);

	if (!err)
		err = vec_reserve(&w->lows, &w->lows_room, task->count);
	if (!err)
		err = vec_reserve(&w->rows, &w->rows_room, task->count);
	if (err)
		return err;
	memset(w->rows, 0, task->count * sizeof(*w->rows));
	for (size_t i = 0; i < task->count; i++) {
		w->vaddrs[i] = w->tab->vaddrs[wishes[i].vaddr];
		w->lows[i] = wishes[i].low;
	}
	w->line.file_count = 0;
	w->die_file = &w->tab->file;
	w->die_unit = &w->unit;
	w->walk.vaddrs = w->vaddrs;
	w->walk.count = task->count;
	w->unit.off = wishes->unit;
	w->unit.size_bytes = wishes->unit_bytes;
	return 0;
}

static int walk_unit(struct addr2line_worker *w)
{
	int err;

	w->walk.file = w->die_file;
	w->walk.unit = w->die_unit;
	err = scopes_run(&w->walk);
	if (err == -ENOTSUP && w->die_unit == &w->split)
		addr2line_note_gap(w, ADDR2LINE_BAD, w->split_name);
	return err;
}

static int answer_from(struct addr2line_worker *w, const struct addr2line_task *task)
{
	const struct dw_file *f = &w->tab->file;
	int err = 0;

	if (w->unit.line.form)
		err = line_program_load(f, &w->unit, &w->line);
	if (!err && w->unit.line.form)
		err = line_program_run(
			&w->line, &w->unit,
			&(struct line_program_wanted){ w->vaddrs, w->lows, task->count }, w->rows);
	if (!err)
		err = vec_reserve(&w->paths, &w->paths_room, w->line.file_count + 1);
	if (!err)
		err = walk_unit(w);
	if (!err) {
		memset(w->paths, 0, (w->line.file_count + 1) * sizeof(*w->paths));
		err = answer_unit(w, task);
	}
	return err;
}

int addr2line_run_unit(struct addr2line_worker *w, const struct addr2line_task *task)
{
	int err = prepare(w, task);

	if (!err)
		err = dw_unit_load(&w->tab->file, &w->unit);
	if (!err && w->unit.dwo_name.form)
		err = addr2line_open_split(w);
	if (!err && !w->tab->gaps_only)
		err = answer_from(w, task);
	addr2line_close_split(w);
	return err == -ENOMEM ? err : 0; /* else unsupported */
}

void addr2line_worker_done(struct addr2line_worker *w)
{
	dw_unit_done(&w->unit);
	dw_unit_done(&w->split);
	line_program_done(&w->line);
	scopes_done(&w->walk);
	free(w->vaddrs);
	free(w->lows);
	free(w->rows);
	free(w->paths);
}
