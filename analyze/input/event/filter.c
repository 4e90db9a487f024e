/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"

void filter_init(struct filter *f)
{
	*f = (struct filter){ .span = TIME_SPAN_ALL };
}

void filter_done(struct filter *f)
{
	for (size_t i = 0; i < f->comm_count; i++)
		free(f->comms[i]);
	free(f->comms);
	free(f->pids);
	free(f->tids);
	free(f->cpus);
	free(f->parts);
	filter_init(f);
}

static int __attribute__((format(printf, 2, 3)))
fail(struct filter_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* The next word of a comma-separated list, without blanks around it; false: the list is done. */
static bool next_word(const char **text, const char **word, size_t *size_bytes)
{
	const char *end;

	if (!*text)
		return false;
	end = strchrnul(*text, ',');
	*word = *text;
	*size_bytes = (size_t)(end - *text);
	*text = *end ? end + 1 : NULL;
	while (*size_bytes && isblank((unsigned char)**word))
		++*word, --*size_bytes;
	while (*size_bytes && isblank((unsigned char)(*word)[*size_bytes - 1]))
		--*size_bytes;
	return true;
}

/* Decimal digits only, and not more than fit. */
static int number(const char *word, size_t size_bytes, uint32_t *out)
{
	uint64_t value = 0;

	if (!size_bytes)
		return -EINVAL;
	for (size_t i = 0; i < size_bytes; i++) {
		if (!isdigit((unsigned char)word[i]))
			return -EINVAL;
		value = value * 10 + (uint64_t)(word[i] - '0');
		if (value >= UINT32_MAX)
			return -EINVAL;
	}
	*out = (uint32_t)value;
	return 0;
}

static int append(uint32_t **list, size_t *count, uint32_t value)
{
	uint32_t *grown = reallocarray(*list, *count + 1, sizeof(**list));

	if (!grown)
		return -ENOMEM;
	grown[(*count)++] = value;
	*list = grown;
	return 0;
}

static int add_ids(uint32_t **list, size_t *count, const char *what, const char *text,
		   struct filter_error *error)
{
	const char *word;
	uint32_t value;
	size_t n;
	int err;

	while (next_word(&text, &word, &n)) {
		if (number(word, n, &value))
			return fail(error, "'%.*s' is not a %s", (int)(n > 60 ? 60 : n), word,
				    what);
		err = append(list, count, value);
		if (err)
			return err;
	}
	return 0;
}

/* Steps over the '!' of a list. */
static const char *negation(const char *text, bool *negated)
{
	*negated |= *text == '!';
	return text + (*text == '!');
}

int filter_add_pids(struct filter *f, const char *text, struct filter_error *error)
{
	text = negation(text, &f->not_pids);
	return add_ids(&f->pids, &f->pid_count, "process id", text, error);
}

int filter_add_tids(struct filter *f, const char *text, struct filter_error *error)
{
	text = negation(text, &f->not_tids);
	return add_ids(&f->tids, &f->tid_count, "thread id", text, error);
}

int filter_add_cpus(struct filter *f, const char *text, struct filter_error *error)
{
	size_t n, first_n, count = 2 * f->cpu_pair_count;
	uint32_t first, last;
	const char *word, *dash;
	int err;

	text = negation(text, &f->not_cpus);
	while (next_word(&text, &word, &n)) {
		dash = memchr(word, '-', n);
		first_n = dash ? (size_t)(dash - word) : n;
		if (number(word, first_n, &first) ||
		    (dash && number(dash + 1, n - first_n - 1, &last)))
			return fail(error, "'%.*s' is not a CPU, nor a range as 0-3",
				    (int)(n > 60 ? 60 : n), word);
		if (!dash)
			last = first;
		if (last < first)
			return fail(error, "the range '%.*s' runs backwards",
				    (int)(n > 60 ? 60 : n), word);
		err = append(&f->cpus, &count, first);
		if (!err)
			err = append(&f->cpus, &count, last);
		if (err)
			return err;
		f->cpu_pair_count++;
	}
	return 0;
}

int filter_add_comms(struct filter *f, const char *text, struct filter_error *error)
{
	char **grown, *copy;
	const char *word;
	size_t n;

	text = negation(text, &f->not_comms);
	while (next_word(&text, &word, &n)) {
		if (!n)
			return fail(error, "an empty comm");
		grown = reallocarray(f->comms, f->comm_count + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		f->comms = grown;
		copy = strndup(word, n);
		if (!copy)
			return -ENOMEM;
		f->comms[f->comm_count++] = copy;
	}
	return 0;
}

/* ---- time ---- */

int filter_set_parts(struct filter *f, struct time_span *parts, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct time_span p = parts[i];

		if (p.to_ns < f->span.from_ns || p.from_ns > f->span.to_ns)
			continue;
		p.from_ns = p.from_ns < f->span.from_ns ? f->span.from_ns : p.from_ns;
		p.to_ns = p.to_ns > f->span.to_ns ? f->span.to_ns : p.to_ns;
		parts[n++] = p;
	}
	free(f->parts);
	f->parts = parts;
	f->part_count = n;
	if (!n)
		return -ENOENT;
	f->span = (struct time_span){ parts[0].from_ns, parts[n - 1].to_ns };
	return 0;
}

/* The first part that does not end before time_ns; part_count: none. */
static size_t part_at(const struct filter *f, uint64_t time_ns)
{
	return lower_bound(i, 0, f->part_count, f->parts[i].to_ns < time_ns);
}

bool filter_has_time(const struct filter *f, uint64_t time_ns)
{
	size_t at;

	if (!f->part_count)
		return time_span_has(&f->span, time_ns);
	at = part_at(f, time_ns);
	return at < f->part_count && f->parts[at].from_ns <= time_ns;
}

static uint64_t overlap(const struct time_span *s, uint64_t from_ns, uint64_t to_ns)
{
	from_ns = from_ns < s->from_ns ? s->from_ns : from_ns;
	to_ns = to_ns > s->to_ns ? s->to_ns : to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

uint64_t filter_overlap_ns(const struct filter *f, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	if (!f->part_count)
		return overlap(&f->span, from_ns, to_ns);
	for (size_t i = part_at(f, from_ns); i < f->part_count && f->parts[i].from_ns < to_ns; i++)
		sum += overlap(&f->parts[i], from_ns, to_ns);
	return sum;
}

/* ---- samples ---- */

static bool in_list(const uint32_t *list, size_t count, uint32_t value, bool negated)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == value)
			return !negated;
	return !count || negated;
}

static bool in_pairs(const uint32_t *pairs, size_t pair_count, int32_t cpu, bool negated)
{
	for (size_t i = 0; i < pair_count; i++)
		if (cpu >= 0 && (uint32_t)cpu >= pairs[2 * i] && (uint32_t)cpu <= pairs[2 * i + 1])
			return !negated;
	return !pair_count || negated;
}

bool filter_has_window(const struct filter *f)
{
	return f->span.from_ns || f->span.to_ns != UINT64_MAX || f->part_count;
}

bool filter_is_empty(const struct filter *f)
{
	return !f->pid_count && !f->tid_count && !f->cpu_pair_count && !f->comm_count &&
	       !f->not_pids && !f->not_tids && !f->not_cpus && !f->not_comms && !f->no_idle &&
	       !f->no_kernel_threads && !filter_has_window(f);
}

bool filter_passes(const struct filter *f, uint32_t pid, uint32_t tid, int32_t cpu,
		   uint64_t time_ns)
{
	return filter_has_time(f, time_ns) && !(f->no_idle && !pid) &&
	       in_list(f->pids, f->pid_count, pid, f->not_pids) &&
	       in_list(f->tids, f->tid_count, tid, f->not_tids) &&
	       in_pairs(f->cpus, f->cpu_pair_count, cpu, f->not_cpus);
}

bool filter_passes_comm(const struct filter *f, const char *comm)
{
	for (size_t i = 0; i < f->comm_count; i++)
		if (!strcmp(f->comms[i], comm))
			return !f->not_comms;
	return !f->comm_count || f->not_comms;
}
