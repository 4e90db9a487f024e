/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "analyze/vec.h"

/* What can follow a caller: lines that go on below a label, or the one line that ends in it. */
struct item {
	uint32_t node;
	bool is_end;
};

struct sorter {
	const struct calltree *tree;
	const struct strings *names;
	const uint32_t *ranks; /* by string: its place among the labels when ';' follows */
};

/* A level of the walk: items [next, end) are still to be written below this caller. */
struct level {
	size_t next, end;
	size_t line_bytes; /* of the line up to this caller */
};

struct walk {
	struct sorter s;
	struct item *items;
	size_t *first; /* by node: its items are [first[n], first[n + 1]) */
	struct level *levels;
	size_t level_count, level_capacity;
	char *line;
	size_t line_bytes, line_capacity;
	char *block; /* lines on their way: stdio's own blocks are small */
	size_t block_bytes, block_capacity;
};

#define BLOCK_BYTES ((size_t)256 << 10)

/* ---- order ---- */

/* The i-th byte of what the item puts into a line; -1 behind its end. */
static int byte_at(const struct sorter *s, const struct item *item, const char *count, size_t i)
{
	uint32_t label = s->tree->nodes[item->node].label;
	size_t size = strings_bytes(s->names, label);
	const char *tail = item->is_end ? count : ";";

	if (i < size)
		return (unsigned char)strings_text(s->names, label)[i];
	i -= size;
	return i < strlen(tail) ? (unsigned char)tail[i] : -1;
}

static void print_count(char out[24], uint64_t count)
{
	snprintf(out, 24, " %" PRIu64, count);
}

static int by_line(const void *va, const void *vb, void *ctx)
{
	const struct item *a = va, *b = vb;
	const struct sorter *s = ctx;
	const struct calltree_node *na = &s->tree->nodes[a->node], *nb = &s->tree->nodes[b->node];
	char count_a[24], count_b[24];
	int byte_a, byte_b;

	if (na->label == nb->label) /* ' ' comes before ';' */
		return (int)b->is_end - (int)a->is_end;
	if (!a->is_end && !b->is_end)
		return s->ranks[na->label] < s->ranks[nb->label] ? -1 : 1;
	print_count(count_a, na->self);
	print_count(count_b, nb->self);
	for (size_t i = 0;; i++) {
		byte_a = byte_at(s, a, count_a, i);
		byte_b = byte_at(s, b, count_b, i);
		if (byte_a != byte_b)
			return byte_a < byte_b ? -1 : 1;
		if (byte_a < 0)
			return 0;
	}
}

/* Labels hold no ';', so none is the beginning of another once ';' follows. */
static int by_label(const void *va, const void *vb, void *ctx)
{
	const struct strings *names = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	size_t size_a = strings_bytes(names, a), size_b = strings_bytes(names, b);
	const char *text_a = strings_text(names, a), *text_b = strings_text(names, b);
	int cmp = memcmp(text_a, text_b, size_a < size_b ? size_a : size_b);

	if (cmp || size_a == size_b)
		return cmp;
	if (size_a < size_b)
		return ';' < (unsigned char)text_b[size_a] ? -1 : 1;
	return (unsigned char)text_a[size_b] < ';' ? -1 : 1;
}

static int rank_labels(const struct calltree *t, const struct strings *names, uint32_t **out)
{
	uint32_t count = strings_count(names), used = 0;
	uint32_t *ranks = calloc((size_t)count + 1, sizeof(*ranks));
	uint32_t *labels = calloc((size_t)count + 1, sizeof(*labels));

	if (!ranks || !labels) {
		free(ranks);
		free(labels);
		return -ENOMEM;
	}
	for (size_t i = 1; i < t->count; i++) {
		if (!ranks[t->nodes[i].label])
			labels[used++] = t->nodes[i].label;
		ranks[t->nodes[i].label] = 1;
	}
	qsort_r(labels, used, sizeof(*labels), by_label, (void *)names);
	for (uint32_t i = 0; i < used; i++)
		ranks[labels[i]] = i;
	free(labels);
	*out = ranks;
	return 0;
}

/* Puts the items of each caller side by side, and in order. */
static int sort_items(struct walk *w)
{
	const struct calltree *t = w->s.tree;
	bool *has_child = calloc(t->count + 1, sizeof(*has_child));
	size_t sum = 0, n;

	w->first = calloc(t->count + 2, sizeof(*w->first));
	if (!w->first || !has_child) {
		free(has_child);
		return -ENOMEM;
	}
	for (size_t i = 1; i < t->count; i++)
		has_child[t->nodes[i].parent] = true;
	for (size_t i = 1; i < t->count; i++)
		w->first[t->nodes[i].parent] += (size_t)has_child[i] + !!t->nodes[i].self;
	for (size_t i = 0; i <= t->count; i++) {
		n = w->first[i];
		w->first[i] = sum;
		sum += n;
	}
	w->items = calloc(sum + 1, sizeof(*w->items));
	for (size_t i = 1; w->items && i < t->count; i++) {
		size_t *at = &w->first[t->nodes[i].parent];

		if (t->nodes[i].self)
			w->items[(*at)++] = (struct item){ (uint32_t)i, true };
		if (has_child[i])
			w->items[(*at)++] = (struct item){ (uint32_t)i, false };
	}
	free(has_child);
	if (!w->items)
		return -ENOMEM;
	/* Filling moved each start to its end: the start of the next one. */
	memmove(w->first + 1, w->first, (t->count + 1) * sizeof(*w->first));
	w->first[0] = 0;
	for (size_t i = 0; i < t->count; i++)
		qsort_r(w->items + w->first[i], w->first[i + 1] - w->first[i], sizeof(*w->items),
			by_line, &w->s);
	return 0;
}

/* ---- lines ---- */

static int put_text(struct walk *w, const char *text, size_t size_bytes)
{
	int err = vec_reserve(&w->line, &w->line_capacity, w->line_bytes + size_bytes);

	if (err)
		return err;
	memcpy(w->line + w->line_bytes, text, size_bytes);
	w->line_bytes += size_bytes;
	return 0;
}

static int push(struct walk *w, uint32_t node)
{
	int err = vec_reserve(&w->levels, &w->level_capacity, w->level_count + 1);

	if (err)
		return err;
	w->levels[w->level_count++] = (struct level){ w->first[node], w->first[node + 1],
						      w->line_bytes };
	return 0;
}

static int write_block(struct walk *w, FILE *to)
{
	size_t size = w->block_bytes;

	if (!size)
		return 0;
	w->block_bytes = 0;
	errno = 0;
	if (fwrite(w->block, 1, size, to) != size)
		return errno ? -errno : -EIO;
	return 0;
}

/* The line, its count and its end. */
static int write_line(struct walk *w, const char *count, FILE *to)
{
	size_t size = strlen(count);
	char *at;
	int err = 0;

	if (w->block_bytes > BLOCK_BYTES)
		err = write_block(w, to);
	if (!err)
		err = vec_reserve(&w->block, &w->block_capacity,
				  w->block_bytes + w->line_bytes + size + 1);
	if (err)
		return err;
	at = w->block + w->block_bytes;
	memcpy(at, w->line, w->line_bytes);
	memcpy(at + w->line_bytes, count, size);
	at[w->line_bytes + size] = '\n';
	w->block_bytes += w->line_bytes + size + 1;
	return 0;
}

static int write_item(struct walk *w, struct item item, FILE *to)
{
	const struct calltree_node *node = &w->s.tree->nodes[item.node];
	char count[24];
	int err;

	err = put_text(w, strings_text(w->s.names, node->label),
		       strings_bytes(w->s.names, node->label));
	if (err)
		return err;
	if (!item.is_end) {
		err = put_text(w, ";", 1);
		return err ? err : push(w, item.node);
	}
	print_count(count, node->self);
	return write_line(w, count, to);
}

static int write_lines(struct walk *w, FILE *to)
{
	int err = push(w, CALLTREE_ROOT);
	struct level *level;

	while (!err && w->level_count) {
		level = &w->levels[w->level_count - 1];
		w->line_bytes = level->line_bytes;
		if (level->next < level->end)
			err = write_item(w, w->items[level->next++], to);
		else
			w->level_count--;
	}
	return err ? err : write_block(w, to);
}

int folded_write(const struct calltree *t, const struct strings *names, FILE *to)
{
	struct walk w = { .s = { .tree = t, .names = names } };
	uint32_t *ranks = NULL;
	int err;

	err = rank_labels(t, names, &ranks);
	w.s.ranks = ranks;
	if (!err)
		err = sort_items(&w);
	if (!err)
		err = write_lines(&w, to);
	free(ranks);
	free(w.items);
	free(w.first);
	free(w.levels);
	free(w.line);
	free(w.block);
	return err;
}
