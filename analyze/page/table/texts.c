/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/table/texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/escape.h"

int page_texts_init(struct page_texts *t)
{
	*t = (struct page_texts){ 0 };
	return string_table_new(&t->table);
}

void page_texts_done(struct page_texts *t)
{
	string_table_free(t->table);
	free(t->numbers);
	*t = (struct page_texts){ 0 };
}

int page_texts_add(struct page_texts *t, const char *text, uint32_t *out)
{
	size_t size = strlen(text);
	char *escaped;
	int err;

	if (escape_plain(ESCAPE_TEXT, text, size) == size)
		return string_table_add(t->table, text, size, out);
	escaped = escape_copy(ESCAPE_TEXT, text, size);
	if (!escaped)
		return -ENOMEM;
	err = string_table_add(t->table, escaped, strlen(escaped), out);
	free(escaped);
	return err;
}

/* Whether name is this one in brackets. */
static bool is_bracketed(const char *name, const char *inside)
{
	size_t size = strlen(inside);

	return *name == '[' && !strncmp(name + 1, inside, size) && !strcmp(name + 1 + size, "]");
}

const char *page_texts_rename(const struct page_renames *renames, const char *name, char **room)
{
	*room = NULL;
	for (size_t i = renames->count; i-- > 0;) {
		const char *const *pair = &renames->list[2 * i];

		if (!strcmp(name, pair[0]))
			return pair[1];
		if (!is_bracketed(name, pair[0]))
			continue;
		if (asprintf(room, "[%s]", pair[1]) < 0)
			*room = NULL;
		return *room;
	}
	return name;
}

int page_texts_add_name(struct page_texts *t, const char *name, uint32_t *out)
{
	char *room;
	const char *text = page_texts_rename(&t->renames, name, &room);
	int err = text ? page_texts_add(t, text, out) : -ENOMEM;

	free(room);
	return err;
}

static int by_bytes(const void *va, const void *vb, void *table)
{
	return strcmp(string_table_text(table, *(const uint32_t *)va),
		      string_table_text(table, *(const uint32_t *)vb));
}

int page_texts_write(struct page_texts *t, struct page_columns *p)
{
	uint32_t count = string_table_count(t->table);
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));

	t->numbers = calloc((size_t)count + 1, sizeof(*t->numbers));
	if (!order || !t->numbers) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_bytes, t->table);
	page_columns_begin_table(p, "strings", count);
	page_columns_begin_text(p, "text");
	for (uint32_t i = 0; i < count; i++) {
		t->numbers[order[i]] = i;
		page_columns_put_text(p, string_table_text(t->table, order[i]),
				      string_table_bytes(t->table, order[i]));
	}
	page_columns_end_table(p);
	free(order);
	return 0;
}
