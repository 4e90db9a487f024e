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

void line_strings_done(struct line_strings *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i].text);
	free(t->list);
	hash_index_done(&t->index);
	*t = (struct line_strings){ 0 };
}

/* Takes text, also on failure. */
static int put(struct line_strings *t, uint64_t hash, uint32_t pos, uint32_t section, uint64_t off,
	       char *text)
{
	int err = text ? vec_reserve(&t->list, &t->room, t->count + 1) : -ENOMEM;

	if (err) {
		free(text);
		return err;
	}
	hash_index_put(&t->index, hash, pos, (uint32_t)t->count);
	t->list[t->count++] = (struct linetext){ section, off, text };
	return 0;
}

int line_strings_add(struct line_strings *t, const char *text, const char **out)
{
	uint32_t id, pos;
	uint64_t hash;
	int err;

	err = t->count < UINT32_MAX - 1 ? hash_index_reserve(&t->index) : -ENOMEM;
	if (err)
		return err;
	hash = hash_index_bytes(&t->index, text, strlen(text));
	pos = hash_index_start(&t->index, hash);
	while ((id = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE)
		if (t->list[id].section == DW_SECTIONS && !strcmp(t->list[id].text, text))
			break;
	if (id == HASH_INDEX_NONE) {
		err = put(t, hash, pos, DW_SECTIONS, 0, strdup(text));
		id = (uint32_t)t->count - 1;
	}
	if (!err)
		*out = t->list[id].text;
	return err;
}

/* A section is read in pieces; a text without an end within bounds is unsupported. */
static int read_text(const struct dw_file *f, enum dw_section section, uint64_t off, char **out)
{
	const struct elf_file_section *s = f->sections[section];
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
			err = elf_file_read_part(f->elf, s, off, (uint8_t *)text, have);
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

int line_strings_value(struct line_strings *t, const struct dw_file *f, const struct dw_unit *u,
		       const struct dw_value *v, const char **out)
{
	enum dw_section section;
	uint32_t id, pos, place;
	uint64_t hash, off;
	char *text;
	int err;

	if (v->form == DW_FORM_string && v->text)
		return line_strings_add(t, v->text, out);
	if (!dw_text_place(f, u, v, &section, &off))
		return -ENOTSUP;
	place = f->number * (DW_SECTIONS + 1) + section; /* bounded by the steps of a reader */
	err = t->count < UINT32_MAX - 1 ? hash_index_reserve(&t->index) : -ENOMEM;
	if (err)
		return err;
	hash = hash_index_pair(&t->index, place, off);
	pos = hash_index_start(&t->index, hash);
	while ((id = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE)
		if (t->list[id].section == place && t->list[id].off == off)
			break;
	if (id == HASH_INDEX_NONE) {
		err = read_text(f, section, off, &text);
		if (!err)
			err = put(t, hash, pos, place, off, text);
		id = (uint32_t)t->count - 1;
	}
	if (!err)
		*out = t->list[id].text;
	return err;
}
