/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"

/* "0 1 x\n": a text of n bytes has no more lines than n / this. */
#define LINE_MIN_BYTES 6
/* How many entries a look-up passes on its way out to one that covers it. */
#define PASSED_MAX 4096

struct entry {
	uint64_t start, end;
	uint64_t reach; /* the largest end of this and all entries before */
	const char *name;
	uint32_t order;
};

struct perf_map {
	char *text;            /* a copy, cut into strings */
	struct entry *entries; /* by start, then order */
	size_t count;
};

/* A number in hex, perhaps with 0x, and the blank behind it. */
static char *parse_hex(char *p, uint64_t *out)
{
	uint64_t v = 0;
	char *first;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (first = p;; p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else if (*p >= 'A' && *p <= 'F')
			v = v << 4 | (uint64_t)(*p - 'A' + 10);
		else
			break;
	}
	if (p == first || p > first + 16 || *p != ' ')
		return NULL;
	*out = v;
	return p + 1;
}

static bool parse_line(char *line, struct entry *out)
{
	uint64_t start, size;
	char *p = parse_hex(line, &start);

	p = p ? parse_hex(p, &size) : NULL;
	if (!p || !*p || !size || size > UINT64_MAX - start)
		return false;
	*out = (struct entry){ .start = start, .end = start + size, .name = p };
	return true;
}

/* The last line is left out when it is cut: its name may be. */
static void parse(struct perf_map *m)
{
	char *line = m->text, *end;
	struct entry e;

	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		if (end > line && end[-1] == '\r')
			end[-1] = '\0';
		if (parse_line(line, &e)) {
			e.order = (uint32_t)m->count;
			m->entries[m->count++] = e;
		}
		line = end + 1;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void seal(struct perf_map *m)
{
	uint64_t reach = 0;
	size_t i;

	if (m->count > 1)
		qsort(m->entries, m->count, sizeof(*m->entries), by_start);
	for (i = 0; i < m->count; i++) {
		if (m->entries[i].end > reach)
			reach = m->entries[i].end;
		m->entries[i].reach = reach;
	}
}

int perf_map_new(const char *text, size_t size_bytes, struct perf_map **out)
{
	struct perf_map *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return -ENOMEM;
	m->text = malloc(size_bytes + 1);
	m->entries = reallocarray(NULL, size_bytes / LINE_MIN_BYTES + 1, sizeof(*m->entries));
	if (m->text && m->entries && size_bytes / LINE_MIN_BYTES < UINT32_MAX) {
		if (size_bytes)
			memcpy(m->text, text, size_bytes);
		m->text[size_bytes] = '\0'; /* a NUL in the text ends it early */
		parse(m);
		seal(m);
		err = m->count ? 0 : -ENOENT;
	}
	if (err) {
		perf_map_free(m);
		return err;
	}
	*out = m;
	return 0;
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	free(m->text);
	free(m->entries);
	free(m);
}

const char *perf_map_find(const struct perf_map *m, uint64_t addr)
{
	const struct entry *best = NULL;
	size_t low = lower_bound(i, 0, m->count, m->entries[i].start <= addr), passed = 0;

	for (; low && m->entries[low - 1].reach > addr && passed < PASSED_MAX; low--, passed++) {
		const struct entry *e = &m->entries[low - 1];

		if (e->end > addr && (!best || e->order > best->order))
			best = e;
	}
	return best ? best->name : NULL;
}
