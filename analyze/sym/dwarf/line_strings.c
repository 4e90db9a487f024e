/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/line_strings.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/attr.h"
#include "format/base/vec.h"

#define TEXT_BYTES      256
#define TEXT_MOST_BYTES 65536

void linetexts_done(struct linetexts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i].text);
	free(t->list);
	hashidx_done(&t->index);
	*t = (struct linetexts){ 0 };
}

/* Takes text, also on failure. */
static int put(struct linetexts *t, uint64_t hash, uint32_t pos, uint32_t section, uint64_t off,
	       char *text)
{
	int err = text ? vec_reserve(&t->list, &t->room, t->count + 1) : -ENOMEM;

	if (err) {
		free(text);
		return err;
	}
	hashidx_put(&t->index, hash, pos, (uint32_t)t->count);
	t->list[t->count++] = (struct linetext){ section, off, text };
	return 0;
}

int linetexts_add(struct linetexts *t, const char *text, const char **out)
{
	uint32_t id, pos;
	uint64_t hash;
	int err;

	err = t->count < UINT32_MAX - 1 ? hashidx_reserve(&t->index) : -ENOMEM;
	if (err)
		return err;
	hash = hashidx_bytes(&t->index, text, strlen(text));
	pos = hashidx_start(&t->index, hash);
	while ((id = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE)
		if (t->list[id].section == DW_SECTIONS && !strcmp(t->list[id].text, text))
			break;
	if (id == HASHIDX_NONE) {
		err = put(t, hash, pos, DW_SECTIONS, 0, strdup(text));
		id = (uint32_t)t->count - 1;
	}
	if (!err)
		*out = t->list[id].text;
	return err;
}

/* A section is read in pieces; a text without an end within bounds is odd. */
static int read_text(const struct dw_file *f, enum dw_section section, uint64_t off, char **out)
{
	const struct elffile_section *s = f->sections[section];
	size_t have = TEXT_BYTES;
	char *text = NULL;
	int err;

	if (!s || off >= s->size_bytes)
		return -ENOTSUP;
	for (;; have *= 4) {
		char *grown = realloc(text, have);

		if (have > s->size_bytes - off)
			have = (size_t)(s->size_bytes - off);
		err = grown ? 0 : -ENOMEM;
		text = grown ? grown : text;
		if (!err)
			err = elffile_read_part(f->elf, s, off, (uint8_t *)text, have);
		if (err || memchr(text, 0, have))
			break;
		if (have >= TEXT_MOST_BYTES || have == s->size_bytes - off) {
			err = -ENOTSUP;
			break;
		}
	}
	if (err)
		free(text);
	else
		*out = realloc(text, strlen(text) + 1);
	return err;
}

int linetexts_value(struct linetexts *t, const struct dw_file *f, const struct dw_unit *u,
		    const struct dw_value *v, const char **out)
{
	enum dw_section section;
	uint32_t id, pos, place;
	uint64_t hash, off;
	char *text;
	int err;

	if (v->form == DW_FORM_string && v->text)
		return linetexts_add(t, v->text, out);
	if (!dw_text_place(f, u, v, &section, &off))
		return -ENOTSUP;
	place = f->number * (DW_SECTIONS + 1) + section; /* bounded by the steps of a reader */
	err = t->count < UINT32_MAX - 1 ? hashidx_reserve(&t->index) : -ENOMEM;
	if (err)
		return err;
	hash = hashidx_pair(&t->index, place, off);
	pos = hashidx_start(&t->index, hash);
	while ((id = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE)
		if (t->list[id].section == place && t->list[id].off == off)
			break;
	if (id == HASHIDX_NONE) {
		err = read_text(f, section, off, &text);
		if (!err)
			err = put(t, hash, pos, place, off, text);
		id = (uint32_t)t->count - 1;
	}
	if (!err)
		*out = t->list[id].text;
	return err;
}
