/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/mark_times.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "format/perf/trace_data.h"

/* How a mark is called: by a word, or as "GROUP:/REGEX/" by its text. */
struct call {
	const char *word;
	size_t group_bytes; /* of the word; 0: it has no expression */
	regex_t regex;
};

/* A word that is no expression calls marks by itself. */
static void call_init(struct call *c, const char *word)
{
	const char *colon = strstr(word, ":/");
	size_t bytes = colon ? (size_t)(colon - word) : 0, size = strlen(word);
	char *text;

	*c = (struct call){ .word = word };
	if (!bytes || size < bytes + 4 || word[size - 1] != '/')
		return;
	text = strndup(colon + 2, size - bytes - 3);
	if (text && !regcomp(&c->regex, text, REG_EXTENDED | REG_NOSUB))
		c->group_bytes = bytes;
	free(text);
}

static void call_done(struct call *c)
{
	if (c->group_bytes)
		regfree(&c->regex);
}

/* Whether its group is the word's, or begins with "GROUP:", and its text matches. */
static bool matches(const struct call *c, const char *group, const char *text)
{
	size_t bytes = c->group_bytes;

	return bytes && !strncmp(group, c->word, bytes) && (!group[bytes] || group[bytes] == ':') &&
	       !regexec(&c->regex, text, 0, NULL, 0);
}

static bool is_called(const struct string_table *names, const struct mark *m, const struct call *c)
{
	const char *group = string_table_text(names, m->group),
		   *name = string_table_text(names, m->name),
		   *text = string_table_text(names, m->text), *word = c->word;
	size_t bytes = strlen(group);

	return !strcmp(name, word) || !strcmp(text, word) ||
	       (!strncmp(word, group, bytes) && word[bytes] == '/' &&
		!strcmp(word + bytes + 1, name)) ||
	       matches(c, group, text);
}

struct parts {
	struct time_span *list;
	size_t count, capacity;
};

/* Behind the others, which start earlier; joined with the last where they touch. */
static int add_part(struct parts *p, uint64_t from_ns, uint64_t to_ns)
{
	if (p->count && from_ns <= p->list[p->count - 1].to_ns) {
		if (p->list[p->count - 1].to_ns < to_ns)
			p->list[p->count - 1].to_ns = to_ns;
		return 0;
	}
	if (vec_reserve(&p->list, &p->capacity, p->count + 1))
		return -ENOMEM;
	p->list[p->count++] = (struct time_span){ from_ns, to_ns };
	return 0;
}

static int hand_over(struct parts *p, int err, struct time_span **out, size_t *count)
{
	if (!err && !p->count)
		err = -ENOENT;
	if (err) {
		free(p->list);
		return err;
	}
	*out = p->list;
	*count = p->count;
	return 0;
}

int mark_times_called(const struct marks *m, const struct string_table *names, const char *what,
		      const struct filter *filter, struct time_span **out, size_t *count)
{
	struct parts p = { 0 };
	struct call call;
	int err = 0;

	call_init(&call, what);
	for (size_t i = 0; !err && i < m->count; i++) {
		const struct mark *mark = &m->marks[i];
		struct time_span when = { mark->time_ns, mark->time_ns };

		if (mark->kind == TRACE_DATA_MARK_END || !is_called(names, mark, &call))
			continue;
		if (mark->span != MARKS_NONE)
			when = (struct time_span){ m->spans[mark->span].start_ns,
						   m->spans[mark->span].end_ns };
		if (!filter_has_time(filter, when.from_ns))
			continue;
		err = vec_reserve(&p.list, &p.capacity, p.count + 1);
		if (!err)
			p.list[p.count++] = when;
	}
	call_done(&call);
	return hand_over(&p, err, out, count);
}

static bool is_span_called(const struct marks *m, const struct string_table *names, size_t span,
			   const struct call *call)
{
	return is_called(names, &m->marks[m->spans[span].begin], call);
}

/*
 * The span that a word selects: its number among those of its name, from 1 on; 0: the slowest one.
 */
struct one_span {
	char *name;
	uint64_t which;
};

static int read_one_span(const char *word, struct one_span *out)
{
	static const char slowest[] = "slowest:";
	const char *sign = strrchr(word, '#');
	char *end;

	if (!strncmp(word, slowest, strlen(slowest)) && word[strlen(slowest)]) {
		out->name = strdup(word + strlen(slowest));
		out->which = 0;
		return out->name ? 0 : -ENOMEM;
	}
	if (!sign || sign == word || sign[1] < '1' || sign[1] > '9')
		return -ENOENT;
	errno = 0;
	out->which = strtoull(sign + 1, &end, 10);
	if (*end || errno)
		return -ENOENT;
	out->name = strndup(word, (size_t)(sign - word));
	return out->name ? 0 : -ENOMEM;
}

static bool is_slower(const struct markspan *a, const struct markspan *b)
{
	return a->end != MARKS_NONE && (!b || a->end_ns - a->start_ns > b->end_ns - b->start_ns);
}

/* The one span that the word chooses; *count: how many have its name. */
static int find_one_span(const struct marks *m, const struct string_table *names, const char *word,
			 const struct markspan **out, size_t *count)
{
	const struct markspan *found = NULL;
	struct one_span one;
	struct call call;
	int err = read_one_span(word, &one);

	*count = 0;
	if (err)
		return err;
	call_init(&call, one.name);
	for (size_t i = 0; i < m->span_count; i++) {
		if (!is_span_called(m, names, i, &call))
			continue;
		++*count;
		if (one.which ? *count == one.which : is_slower(&m->spans[i], found))
			found = &m->spans[i];
	}
	call_done(&call);
	free(one.name);
	if (!found)
		return *count ? -ERANGE : -ENOENT;
	*out = found;
	return 0;
}

/* The thread that had a span, and those before: 0 when they are of several. */
static void join_thread(const struct marks *m, const struct markspan *span, bool is_first,
			uint32_t *tid)
{
	uint32_t of = m->marks[span->begin].tid;

	*tid = is_first || *tid == of ? of : 0;
}

int mark_times_during(const struct marks *m, const struct string_table *names, const char *span,
		      struct time_span **out, size_t *count, const char **missing, uint32_t *tid)
{
	const struct markspan *one;
	struct parts p = { 0 };
	struct call call;
	int err = 0;

	*missing = span;
	*tid = 0;
	call_init(&call, span);
	for (size_t i = 0; !err && i < m->span_count; i++) {
		if (!is_span_called(m, names, i, &call))
			continue;
		join_thread(m, &m->spans[i], !p.count, tid);
		err = add_part(&p, m->spans[i].start_ns, m->spans[i].end_ns);
	}
	call_done(&call);
	if (!err && !p.count) {
		err = find_one_span(m, names, span, &one, count);
		if (!err)
			join_thread(m, one, true, tid);
		if (!err)
			err = add_part(&p, one->start_ns, one->end_ns);
	}
	return hand_over(&p, err, out, count);
}

int mark_times_between(const struct marks *m, const struct string_table *names, const char *from,
		       const char *to, struct time_span **out, size_t *count, const char **missing)
{
	bool begun = false, seen = false;
	uint64_t since_ns = 0;
	struct parts p = { 0 };
	struct call begin, end;
	int err = 0;

	call_init(&begin, from);
	call_init(&end, to);
	for (size_t i = 0; !err && i < m->count; i++) {
		if (begun && is_called(names, &m->marks[i], &end)) {
			err = add_part(&p, since_ns, m->marks[i].time_ns);
			begun = false;
		} else if (!begun && is_called(names, &m->marks[i], &begin)) {
			begun = seen = true;
			since_ns = m->marks[i].time_ns;
		}
	}
	call_done(&begin);
	call_done(&end);
	*missing = seen ? to : from;
	return hand_over(&p, err, out, count);
}
