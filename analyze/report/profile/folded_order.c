/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/folded_order.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "format/os/threads.h"

#define SHARE_NODES 20000 /* fewer are not worth a thread */

struct sorter {
	const struct calltree *tree;
	const struct string_table *names;
	uint32_t *ranks; /* by string: its place among the labels when ';' follows */
	struct folded_order *order;
	pthread_t ranker;
	int rank_err;
};

/* ---- which comes first ---- */

/* The i-th byte of what the item puts into a line; -1 behind its end. */
static int byte_at(const struct sorter *s, const struct folded_item *item, const char *count,
		   size_t i)
{
	uint32_t label = s->tree->nodes[item->node].label;
	size_t size = string_table_bytes(s->names, label);
	const char *tail = item->is_end ? count : ";";

	if (i < size)
		return (unsigned char)string_table_text(s->names, label)[i];
	i -= size;
	return i < strlen(tail) ? (unsigned char)tail[i] : -1;
}

/* By hand: printf() took longer than putting the entire line together. */
size_t folded_order_print_count(char out[FOLDED_ORDER_COUNT_BYTES], uint64_t count)
{
	char digits[FOLDED_ORDER_COUNT_BYTES];
	size_t n = 0, at = 0;

	do
		digits[n++] = (char)('0' + count % 10);
	while (count /= 10);
	out[at++] = ' ';
	while (n)
		out[at++] = digits[--n];
	out[at] = '\0';
	return at;
}

/* Where one label is the beginning of the other, what follows decides. */
static int by_tail(const struct sorter *s, const struct folded_item *a, const struct folded_item *b)
{
	char count_a[FOLDED_ORDER_COUNT_BYTES], count_b[FOLDED_ORDER_COUNT_BYTES];
	int byte_a, byte_b;

	folded_order_print_count(count_a, s->tree->nodes[a->node].self);
	folded_order_print_count(count_b, s->tree->nodes[b->node].self);
	for (size_t i = 0;; i++) {
		byte_a = byte_at(s, a, count_a, i);
		byte_b = byte_at(s, b, count_b, i);
		if (byte_a != byte_b)
			return byte_a < byte_b ? -1 : 1;
		if (byte_a < 0)
			return 0;
	}
}

/* The common prefix of two labels decides nothing: 0. */
static int by_text(const struct string_table *names, uint32_t a, uint32_t b)
{
	size_t size_a = string_table_bytes(names, a), size_b = string_table_bytes(names, b);

	return memcmp(string_table_text(names, a), string_table_text(names, b),
		      size_a < size_b ? size_a : size_b);
}

static int by_line(const void *va, const void *vb, void *ctx)
{
	const struct folded_item *a = va, *b = vb;
	const struct sorter *s = ctx;
	uint32_t label_a = s->tree->nodes[a->node].label, label_b = s->tree->nodes[b->node].label;
	int cmp;

	if (label_a == label_b) /* ' ' comes before ';' */
		return (int)b->is_end - (int)a->is_end;
	if (!a->is_end && !b->is_end)
		return s->ranks[label_a] < s->ranks[label_b] ? -1 : 1;
	cmp = by_text(s->names, label_a, label_b);
	return cmp ? cmp : by_tail(s, a, b);
}

/* Labels hold no ';', so none is the beginning of another once ';' follows. */
static int by_label(const void *va, const void *vb, void *ctx)
{
	const struct string_table *names = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	size_t size_a = string_table_bytes(names, a), size_b = string_table_bytes(names, b);
	int cmp = by_text(names, a, b);

	if (cmp || size_a == size_b)
		return cmp;
	if (size_a < size_b)
		return ';' < (unsigned char)string_table_text(names, b)[size_a] ? -1 : 1;
	return (unsigned char)string_table_text(names, a)[size_b] < ';' ? -1 : 1;
}

static int rank_labels(const struct calltree *t, const struct string_table *names, uint32_t **out)
{
	uint32_t count = string_table_count(names), used = 0;
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

/* ---- items ---- */

/* Puts the items of each caller side by side. */
static int place_items(const struct calltree *t, struct folded_order *o)
{
	size_t sum = 0;
	uint32_t n;

	o->first = calloc(t->count + 2, sizeof(*o->first));
	o->lines = calloc(t->count + 1, sizeof(*o->lines));
	if (!o->first || !o->lines)
		return -ENOMEM;
	for (size_t i = t->count; i-- > 1;)
		o->lines[t->nodes[i].parent] += o->lines[i] + !!t->nodes[i].self;
	for (size_t i = 1; i < t->count; i++)
		o->first[t->nodes[i].parent] += !!o->lines[i] + !!t->nodes[i].self;
	for (size_t i = 0; i <= t->count; i++) {
		n = o->first[i];
		o->first[i] = (uint32_t)sum;
		sum += n;
	}
	if (sum > UINT32_MAX)
		return -EOVERFLOW;
	o->items = calloc(sum + 1, sizeof(*o->items));
	if (!o->items)
		return -ENOMEM;
	for (size_t i = 1; i < t->count; i++) {
		uint32_t *at = &o->first[t->nodes[i].parent];

		if (t->nodes[i].self)
			o->items[(*at)++] = (struct folded_item){ (uint32_t)i, true };
		if (o->lines[i])
			o->items[(*at)++] = (struct folded_item){ (uint32_t)i, false };
	}
	/* Filling moved each start to its end: the start of the next one. */
	memmove(o->first + 1, o->first, (t->count + 1) * sizeof(*o->first));
	o->first[0] = 0;
	return 0;
}

/* The callers [begin, end), of one thread. */
struct share {
	struct sorter *sorter;
	size_t begin, end;
	pthread_t thread;
};

static void *sort_share(void *arg)
{
	struct share *share = arg;
	const struct folded_order *o = share->sorter->order;

	/* NOLINTNEXTLINE: items are those of the order, and outlive this */
	for (size_t i = share->begin; i < share->end; i++) {
		struct folded_item *items = o->items + o->first[i], swap;
		size_t count = o->first[i + 1] - o->first[i];

		if (count > 2) {
			qsort_r(items, count, sizeof(*items), by_line, share->sorter);
		} else if (count == 2 && by_line(&items[0], &items[1], share->sorter) > 0) {
			swap = items[0];
			items[0] = items[1];
			items[1] = swap;
		}
	}
	return NULL;
}

/* The first caller of a share: shares have as many items, as those with many are not spread evenly. */
static size_t share_begin(const struct sorter *s, unsigned share, unsigned shares)
{
	const uint32_t *first = s->order->first;
	size_t count = s->tree->count;
	uint64_t items = (uint64_t)first[count] * share / shares;

	return lower_bound(i, 0, count, first[i] < items);
}

/* The calling thread takes what no other can be started for. */
static void sort_items(struct sorter *s, unsigned thread_count)
{
	struct share shares[THREADS_AT_ONCE];
	size_t count = s->tree->count;
	unsigned want = threads_choose(thread_count, count / SHARE_NODES), started = 0;

	while (started + 1 < want) {
		shares[started] = (struct share){ .sorter = s,
						  .begin = share_begin(s, started, want),
						  .end = share_begin(s, started + 1, want) };
		if (pthread_create(&shares[started].thread, NULL, sort_share, &shares[started]))
			break;
		started++;
	}
	sort_share(&(struct share){
		.sorter = s, .begin = share_begin(s, started, want), .end = count });
	while (started)
		pthread_join(shares[--started].thread, NULL);
}

static void *rank(void *arg)
{
	struct sorter *s = arg;

	s->rank_err = rank_labels(s->tree, s->names, &s->ranks);
	return NULL;
}

int folded_order_make(const struct calltree *t, const struct string_table *names,
		      unsigned thread_count, struct folded_order *out)
{
	struct folded_order order = { 0 };
	struct sorter s = { .tree = t, .names = names, .order = &order };
	bool apart = threads_choose(thread_count, t->count / SHARE_NODES) > 1 &&
		     !pthread_create(&s.ranker, NULL, rank, &s);
	int err = place_items(t, &order);

	if (apart)
		pthread_join(s.ranker, NULL);
	else
		rank(&s);
	if (!err)
		err = s.rank_err;
	if (!err)
		sort_items(&s, thread_count);
	free(s.ranks);
	if (err)
		folded_order_done(&order);
	else
		*out = order;
	return err;
}

void folded_order_done(struct folded_order *o)
{
	free(o->items);
	free(o->first);
	free(o->lines);
	*o = (struct folded_order){ 0 };
}
