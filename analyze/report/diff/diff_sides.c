/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff/diff_sides.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/sample_time.h"
#include "analyze/report/diff/diff_text.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/report/profile/stack_path.h"
#include "analyze/report/views.h"
#include "analyze/sym/function_label.h"
#include "format/base/vec.h"

#define NS_PER_SECOND 1e9
#define NS_PER_US     1000

static unsigned block_of(const struct diff_blocks *b, uint64_t time_ns)
{
	uint64_t block = time_ns > b->first_ns ? (time_ns - b->first_ns) / b->quantum_ns : 0;

	return block < DIFF_TABLE_BLOCKS ? (unsigned)block : DIFF_TABLE_BLOCKS - 1;
}

struct diff_blocks diff_blocks_make(const struct report *r, const struct filter *filter)
{
	struct diff_blocks b = { .quantum_ns = 1, .filter = filter };

	if (!r->scan.span_known)
		return b;
	b.asked = r->scan.span;
	if (filter->span.from_ns > b.asked.from_ns)
		b.asked.from_ns = filter->span.from_ns;
	if (filter->span.to_ns < b.asked.to_ns)
		b.asked.to_ns = filter->span.to_ns;
	if (b.asked.to_ns < b.asked.from_ns)
		b.asked.to_ns = b.asked.from_ns;
	b.quantum_ns = (b.asked.to_ns - b.asked.from_ns) / DIFF_TABLE_BLOCKS + 1;
	/* A page has times in microseconds, and the same blocks. */
	if (b.quantum_ns > NS_PER_US)
		b.quantum_ns += NS_PER_US - 1 - (b.quantum_ns - 1) % NS_PER_US;
	/* Groups of samples have times that are rounded down so. */
	b.first_ns = b.asked.from_ns - b.asked.from_ns % b.quantum_ns;
	return b;
}

static int label_text(struct diff_sides *d, const struct report *r,
		      const struct row_keys_label *group, const struct row_keys_label *frame,
		      uint32_t *out)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	for (size_t k = 0; k < d->keys->count; k++) {
		enum sort_key key = d->keys->list[k];
		const struct row_keys_label *l = sort_key_info(key)->fields ? group : frame;

		if (k)
			putc(DIFF_TEXT_KEY_END, to);
		diff_text_put_column(string_table_text(r->names, l->texts[key]), to);
	}
	fclose(to);
	err = text ? string_table_add(d->texts, text, strlen(text), out) : -ENOMEM;
	free(text);
	return err;
}

/* The number of a pair of labels among the texts; looked up once a pair of neighbours. */
static int add_stack(struct diff_sides *d, int side, const struct report *r,
		     const struct row_keys *t, const struct stack_table_entry *e,
		     const struct stack_path *path, unsigned block, uint32_t *seen)
{
	struct diff_cost cost = { .samples = e->sample_count,
				  .cost = d->weight == CALLTREE_PERIOD ? e->period_sum
								       : e->sample_count };
	uint32_t group = t->by_group ? t->by_group[e->key.group] : t->no_group, key;
	size_t frames = d->with_callers ? path->count : 1;
	uint32_t stack = (uint32_t)(e - r->stacks.entries) + 1;
	int err = 0;

	diff_table_add_total(d->table, side, block, &cost);
	d->samples[side] += e->sample_count;
	d->period_sum[side] += e->period_sum;
	for (size_t i = 0; !err && i < frames; i++) {
		if (seen[path->labels[i]] == stack)
			continue;
		seen[path->labels[i]] = stack;
		err = label_text(d, r, &t->labels[group], &t->labels[path->labels[i]], &key);
		if (!err)
			err = diff_table_add(d->table, side, key, block, &cost);
	}
	return err;
}

/* The function of its innermost user frame, for files that have another name on the other side. */
static int add_use(struct diff_sides *d, int side, const struct report *r,
		   const struct stack_table_entry *e, const struct group *groups)
{
	const struct function *f;
	uint32_t comm = groups[e->key.group].comm;
	const char *base;
	char name[NAME_MAX + 1];
	size_t bytes;

	if (e->key.user == STACK_TABLE_USER_ROOT || comm & STACK_COUNTER_TID_GROUP)
		return 0;
	f = &r->naming.functions[r->stacks.nodes[e->key.user].frame];
	base = function_label_base(string_table_text(r->names, f->dso), &bytes);
	snprintf(name, sizeof(name), "%.*s", (int)bytes, base);
	return renames_add(d->renames, side, name, string_table_text(r->names, f->name),
			   string_table_text(r->names, comm), e->sample_count);
}

static int add_stacks(struct diff_sides *d, int side, struct report *r, const struct row_keys *t,
		      const struct diff_blocks *blocks)
{
	struct stack_path_rule rule = { .labels = t->by_function, .empty = t->hidden };
	uint32_t *seen = calloc(t->count + 1, sizeof(*seen));
	struct stack_path path = { 0 };
	const struct group *groups;
	size_t count;
	int err = seen ? 0 : -ENOMEM;

	groups = groups_list(r->groups, &count);
	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];
		unsigned block = block_of(blocks, groups[e->key.group].time_ns);

		err = stack_path_read(&path, &r->stacks, e, &rule);
		if (!err)
			err = add_stack(d, side, r, t, e, &path, block, seen);
		if (!err)
			err = add_use(d, side, r, e, groups);
	}
	free(seen);
	stack_path_done(&path);
	return err;
}

int diff_sides_add_functions(struct diff_sides *d, int side, struct report *r,
			     const struct diff_blocks *blocks)
{
	struct row_keys_source source = { .naming = &r->naming,
					  .names = r->names,
					  .containers = r->containers,
					  .services = r->services,
					  .sources = &r->sources };
	struct categories *rules = NULL;
	uint32_t *categories = NULL;
	struct row_keys t;
	int err = 0;

	source.groups = groups_list(r->groups, &source.group_count);
	if (sort_keys_has(d->keys, KEY_CATEGORY)) {
		err = categories_new(NULL, &rules, NULL);
		if (!err)
			err = categories_run(rules, &r->naming, r->names, &categories);
		categories_free(rules);
		source.categories = categories;
	}
	if (!err)
		err = row_keys_make(d->keys, &source, &t);
	free(categories);
	if (err)
		return err;
	err = add_stacks(d, side, r, &t, blocks);
	row_keys_done(&t);
	return err;
}

static int add_line(struct diff_sides *d, int side, char *line)
{
	char *blank = strrchr(line, ' ');
	size_t old = d->count_room;
	uint32_t text;
	int err;

	if (!blank)
		return 0;
	err = string_table_add(d->texts, line, (size_t)(blank - line), &text);
	if (!err)
		err = vec_reserve(&d->counts, &d->count_room, (size_t)text + 1);
	if (err)
		return err;
	if (d->count_room > old)
		memset(d->counts + old, 0, (d->count_room - old) * sizeof(*d->counts));
	d->counts[text][side] += strtoull(blank + 1, NULL, 10);
	d->samples[side]++;
	return 0;
}

int diff_sides_add_folded(struct diff_sides *d, int side, struct report *r)
{
	struct report_ask ask = { .weight = d->weight, .weight_name = "", .head = "" };
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	err = report_view("folded")->write(r, &ask, to);
	fclose(to);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		err = add_line(d, side, line);
	free(text);
	return err;
}

/* An amount of one for each span, in the blocks in which it was open. */
static void add_span(struct diff_sides *d, int side, const struct diff_blocks *b,
		     const struct time_span *span)
{
	uint64_t from_ns = span->from_ns > b->first_ns ? span->from_ns : b->first_ns;
	uint64_t to_ns = span->to_ns < b->asked.to_ns ? span->to_ns : b->asked.to_ns;
	unsigned first = block_of(b, from_ns), last = block_of(b, to_ns);

	if (to_ns <= from_ns || first == last) {
		diff_table_add_amount(d->table, side, first, 1);
		return;
	}
	for (unsigned block = first; block <= last; block++) {
		uint64_t start_ns = b->first_ns + block * b->quantum_ns;
		uint64_t end_ns = block < last ? start_ns + b->quantum_ns : to_ns;

		start_ns = start_ns > from_ns ? start_ns : from_ns;
		diff_table_add_amount(d->table, side, block,
				      (double)(end_ns - start_ns) / (double)(to_ns - from_ns));
	}
}

void diff_sides_add_spans(struct diff_sides *d, int side, const struct diff_blocks *b,
			  const struct time_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_span(d, side, b, &spans[i]);
}

void diff_sides_add_seconds(struct diff_sides *d, int side, const struct diff_blocks *b)
{
	for (unsigned block = 0; block < DIFF_TABLE_BLOCKS; block++) {
		uint64_t from_ns = b->first_ns + block * b->quantum_ns;
		uint64_t to_ns = from_ns + b->quantum_ns;

		from_ns = from_ns > b->asked.from_ns ? from_ns : b->asked.from_ns;
		/* The last one has what rounding leaves beyond it, or there are fewer. */
		if (block + 1 == DIFF_TABLE_BLOCKS || to_ns > b->asked.to_ns)
			to_ns = b->asked.to_ns;
		if (to_ns > from_ns)
			diff_table_add_amount(d->table, side, block,
					      (double)filter_overlap_ns(b->filter, from_ns, to_ns) /
						      NS_PER_SECOND);
	}
}

static int by_text(const void *va, const void *vb, void *ctx)
{
	const struct string_table *texts = ctx;

	return strcmp(string_table_text(texts, *(const uint32_t *)va),
		      string_table_text(texts, *(const uint32_t *)vb));
}

int diff_sides_write_folded(const struct diff_sides *d, FILE *to)
{
	uint32_t count = string_table_count(d->texts), used = 0;
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && i < d->count_room; i++)
		if (d->counts[i][DIFF_BEFORE] || d->counts[i][DIFF_AFTER])
			order[used++] = i;
	qsort_r(order, used, sizeof(*order), by_text, d->texts);
	for (uint32_t i = 0; i < used; i++)
		fprintf(to, "%s %" PRIu64 " %" PRIu64 "\n", string_table_text(d->texts, order[i]),
			d->counts[order[i]][DIFF_BEFORE], d->counts[order[i]][DIFF_AFTER]);
	free(order);
	return 0;
}

void diff_sides_done(struct diff_sides *d)
{
	free(d->counts);
	*d = (struct diff_sides){ 0 };
}

void diff_sides_find_times(const struct diff_sides *d, int side, const struct report *r,
			   const struct report_query *q, const struct diff_blocks *b,
			   struct diff_text_side *s)
{
	size_t count;
	const struct perf_event_attr *a = &capture_attrs(r->capture, &count)[q->attr].attr;
	double period_ns = exp2(r->period_shift);
	uint64_t sample_ns;

	s->event = r->event;
	if (r->scan.span_known)
		s->elapsed_ns = filter_overlap_ns(b->filter, b->asked.from_ns, b->asked.to_ns);
	if (q->sample_ns)
		s->ns_per_cost = period_ns; /* --weight time: it was made so */
	if (!d->samples[side] || !sample_time_is_of_cpu(a) || !sample_time_is_known(a, &sample_ns))
		return;
	s->ns_per_sample = sample_ns ? (double)sample_ns
				     : (double)d->period_sum[side] * period_ns /
					       (double)d->samples[side];
	if (d->weight == CALLTREE_SAMPLES)
		s->ns_per_cost = s->ns_per_sample;
	else if (!sample_ns)
		s->ns_per_cost = period_ns;
}
