/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* addr2line_split - the DIEs that a compiler took out of a program (-gsplit-dwarf) */
#include <errno.h>
#include <unistd.h>

#include "analyze/sym/dwarf/addr2line_priv.h"

int addr2line_open_packs(struct addr2line *t)
{
	int fd, err;

	if (!t->has_split_units || !t->parts.open_package)
		return 0;
	for (unsigned i = 0; t->pack_count < ADDR2LINE_PACKS_MAX; i++) {
		fd = t->parts.open_package(t->parts.ctx, i);
		if (fd == -ERANGE || fd == -ENOMEM)
			return fd == -ENOMEM ? fd : 0;
		if (fd < 0)
			continue;
		err = dwp_index_open(fd, &t->packs[t->pack_count]);
		if (err)
			close(fd);
		else
			t->pack_fds[t->pack_count++] = fd;
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

void addr2line_close_packs(struct addr2line *t)
{
	while (t->pack_count) {
		dwp_index_close(&t->packs[--t->pack_count]);
		close(t->pack_fds[t->pack_count]);
	}
}

void addr2line_note_gap(struct addr2line_worker *w, enum addr2line_gap gap, const char *name)
{
	if (w->gap && w->gap_off < w->unit.off)
		return;
	w->gap = gap;
	w->gap_off = w->unit.off;
	w->gap_name = name;
}

/* The i-th place of it.  -ERANGE: there is none; -ENOENT, -ESTALE, -ENOTSUP, -ENOMEM. */
static int try_split(struct addr2line_worker *w, const char *folder, const char *name, unsigned i)
{
	const struct addr2line_parts *parts = &w->tab->parts;
	int fd = parts->open ? parts->open(parts->ctx, folder, name, i) : -ERANGE;
	int err;

	if (fd < 0)
		return fd == -ERANGE || fd == -ENOMEM ? fd : -ENOENT;
	err = dw_file_open_split(fd, &w->tab->file, &w->unit,
				 ADDR2LINE_PACKS_MAX + w->split_count + 1, &w->split_file,
				 &w->split);
	if (!err) {
		w->split_count++;
		w->split_fd = fd;
		return 0;
	}
	close(fd);
	return err == -ESTALE || err == -ENOMEM ? err : -ENOTSUP;
}

/* As try_split(), of the packages. */
static int try_packs(struct addr2line_worker *w)
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

static void take_split(struct addr2line_worker *w, const char *name)
{
	w->die_file = &w->split_file;
	w->die_unit = &w->split;
	w->split_name = name;
}

int addr2line_open_split(struct addr2line_worker *w)
{
	const struct dw_file *f = &w->tab->file;
	const char *name = "", *folder = "";
	enum addr2line_gap gap = ADDR2LINE_GONE;
	int err = line_strings_value(&w->texts, f, &w->unit, &w->unit.dwo_name, &name);

	if (!err && w->unit.comp_dir.form)
		err = line_strings_value(&w->texts, f, &w->unit, &w->unit.comp_dir, &folder);
	if (!err) {
		int packed = try_packs(w);

		if (!packed)
			take_split(w, name);
		if (!packed || packed == -ENOMEM)
			return packed;
		gap = packed == -ENOENT ? ADDR2LINE_GONE : ADDR2LINE_BAD;
	}
	for (unsigned i = 0; !err; i++) {
		err = try_split(w, folder, name, i);
		if (!err) {
			take_split(w, name);
			return 0;
		}
		if (err == -ERANGE || err == -ENOMEM)
			break;
		if (gap == ADDR2LINE_GONE && err != -ENOENT)
			gap = err == -ESTALE ? ADDR2LINE_STALE : ADDR2LINE_BAD;
		err = 0;
	}
	if (err == -ENOMEM)
		return err;
	addr2line_note_gap(w, err == -ERANGE ? gap : ADDR2LINE_BAD, name);
	return 0;
}

void addr2line_close_split(struct addr2line_worker *w)
{
	if (w->die_file != &w->split_file)
		return;
	dw_file_close(&w->split_file);
	if (w->split_fd >= 0)
		close(w->split_fd);
	w->die_file = NULL;
}
