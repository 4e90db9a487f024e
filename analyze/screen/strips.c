/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/strips.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/saturate.h"

struct work {
	const struct history *history;
	uint32_t *labels; /* by task */
	uint64_t *sums; /* by label: the samples of the seconds that choose, then the strip and 1 */
	size_t label_count;
};

static int find_labels(struct work *w, struct history *h, enum history_by by)
{
	int err = 0;

	w->history = h;
	w->labels = calloc(h->task_count + 1, sizeof(*w->labels));
	if (!w->labels)
		return -ENOMEM;
	for (size_t i = 0; !err && i < h->task_count; i++)
		err = history_label(h, by, (uint32_t)i, &w->labels[i]);
	w->label_count = string_table_count(h->names);
	w->sums = calloc(w->label_count + 1, sizeof(*w->sums));
	return err ? err : w->sums ? 0 : -ENOMEM;
}

static void add_up(const struct work *w, const struct stack_table *t)
{
	for (size_t i = 0; i < t->entry_count; i++) {
		uint64_t *sum = &w->sums[w->labels[t->entries[i].key.group]];

		*sum = saturate_add(*sum, t->entries[i].sample_count);
	}
}

/* Puts the label where it belongs among the largest ones. */
static void choose_label(const struct work *w, struct strips *s, uint32_t label)
{
	unsigned at = s->count;

	while (at && w->sums[s->labels[at - 1]] < w->sums[label])
		at--;
	if (at == STRIPS_MAX)
		return;
	s->count += s->count < STRIPS_MAX;
	for (unsigned i = s->count - 1; i > at; i--)
		s->labels[i] = s->labels[i - 1];
	s->labels[at] = label;
}

static void choose_labels(const struct work *w, struct strips *s)
{
	for (uint32_t i = 0; i < w->label_count; i++)
		if (w->sums[i])
			choose_label(w, s, i);
	for (uint32_t i = 0; i < w->label_count; i++)
		w->sums[i] = 0;
	for (unsigned i = 0; i < s->count; i++)
		w->sums[s->labels[i]] = i + 1;
}

static void fill_second(const struct work *w, const struct strips *s, size_t position)
{
	const struct stack_table *t = &w->history->seconds[s->from + position].samples;

	for (size_t i = 0; i < t->entry_count; i++) {
		uint64_t strip = w->sums[w->labels[t->entries[i].key.group]], *to;

		if (!strip)
			continue;
		to = &s->samples[(strip - 1) * s->second_count + position];
		*to = saturate_add(*to, t->entries[i].sample_count);
	}
}

static int fill(const struct work *w, struct strips *s)
{
	s->samples = calloc(s->count * s->second_count + 1, sizeof(*s->samples));
	if (!s->samples)
		return -ENOMEM;
	for (size_t i = 0; i < s->second_count; i++)
		fill_second(w, s, i);
	return 0;
}

int strips_make(struct history *h, enum history_by by, size_t first, size_t count, size_t from,
		size_t to, struct strips *out)
{
	struct work w = { .history = NULL };
	int err = find_labels(&w, h, by);

	*out = (struct strips){ .from = from, .second_count = to > from ? to - from : 0 };
	for (size_t i = first; !err && i < first + count; i++)
		add_up(&w, &h->seconds[i].samples);
	if (!err) {
		choose_labels(&w, out);
		err = fill(&w, out);
	}
	free(w.labels);
	free(w.sums);
	if (err)
		*out = (struct strips){ .from = 0 };
	return err;
}

void strips_done(struct strips *s)
{
	free(s->samples);
	*s = (struct strips){ .from = 0 };
}

uint64_t strips_samples(const struct strips *s, unsigned i, size_t position)
{
	return position >= s->from && position - s->from < s->second_count
		       ? s->samples[i * s->second_count + (position - s->from)]
		       : 0;
}
