/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* linetab_split - the DIEs that a compiler took out of a program (-gsplit-dwarf) */
#include <errno.h>
#include <unistd.h>

#include "analyze/sym/dwarf/addr2line_priv.h"

int linetab_open_packs(struct linetab *t)
{
	int fd, err;

	if (!t->has_split_units || !t->parts.open_package)
		return 0;
	for (unsigned i = 0; t->pack_count < LINETAB_PACKS_MAX; i++) {
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

void linetab_close_packs(struct linetab *t)
{
	while (t->pack_count) {
		dwpack_close(&t->packs[--t->pack_count]);
		close(t->pack_fds[t->pack_count]);
	}
}

void linetab_note_gap(struct linetab_worker *w, enum linetab_gap gap, const char *name)
{
	if (w->gap && w->gap_off < w->unit.off)
		return;
	w->gap = gap;
	w->gap_off = w->unit.off;
	w->gap_name = name;
}

/* The i-th place of it.  -ERANGE: there is none; -ENOENT, -ESTALE, -ENOTSUP, -ENOMEM. */
static int try_split(struct linetab_worker *w, const char *folder, const char *name, unsigned i)
{
	const struct linetab_parts *parts = &w->tab->parts;
	int fd = parts->open ? parts->open(parts->ctx, folder, name, i) : -ERANGE;
	int err;

	if (fd < 0)
		return fd == -ERANGE || fd == -ENOMEM ? fd : -ENOENT;
	err = dw_file_open_split(fd, &w->tab->file, &w->unit,
				 LINETAB_PACKS_MAX + w->split_count + 1, &w->split_file, &w->split);
	if (!err) {
		w->split_count++;
		w->split_fd = fd;
		return 0;
	}
	close(fd);
	return err == -ESTALE || err == -ENOMEM ? err : -ENOTSUP;
}

/* As try_split(), of the packages. */
static int try_packs(struct linetab_worker *w)
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

static void take_split(struct linetab_worker *w, const char *name)
{
	w->die_file = &w->split_file;
	w->die_unit = &w->split;
	w->split_name = name;
}

int linetab_open_split(struct linetab_worker *w)
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
	linetab_note_gap(w, err == -ERANGE ? gap : LINETAB_BAD, name);
	return 0;
}

void linetab_close_split(struct linetab_worker *w)
{
	if (w->die_file != &w->split_file)
		return;
	dw_file_close(&w->split_file);
	if (w->split_fd >= 0)
		close(w->split_fd);
	w->die_file = NULL;
}
