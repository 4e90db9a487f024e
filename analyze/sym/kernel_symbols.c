/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* kernel_symbols - names of kernel addresses, from the text of /proc/kallsyms */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"

#include "analyze/sym/kernel_symbols.h"

#define PAGE_BYTES 4096
/* "0 t x\n": a buffer of n bytes has no more lines than n / this. */
#define LINE_MIN_BYTES 6

struct entry {
	struct kernel_symbol sym;
	uint32_t order;
	bool text; /* names its range; the others only end the one before */
};

struct kernel_symbols {
	char *text; /* a copy, cut into strings */
	struct entry *entries;
	size_t count;
};

static const char kernel_module[] = "[kernel.kallsyms]";

/* The address in front of a line; NULL when there is none. */
static char *parse_addr(char *line, uint64_t *out)
{
	uint64_t v = 0;
	char *p = line;

	for (;; p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (p == line || p > line + 16 || *p != ' ')
		return NULL;
	*out = v;
	return p + 1;
}

/* Where text ends; the symbol itself names nothing. */
static bool is_end_mark(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext");
}

/* One line, "ffffffff81000000 T _stext" or "ffffffffc0000000 t f\t[ext4]", its end now a NUL. */
static bool parse_line(char *line, struct entry *out)
{
	uint64_t addr;
	char *p, *tab, type;

	p = parse_addr(line, &addr);
	if (!p || !p[0] || p[1] != ' ' || !p[2])
		return false;
	type = p[0];
	p += 2;
	tab = strchr(p, '\t');
	if (tab)
		*tab++ = '\0';
	if (!*p || (tab && !*tab))
		return false;
	*out = (struct entry){
		.sym = { .start = addr, .name = p, .module = tab ? tab : kernel_module },
		.text = (type == 't' || type == 'T' || type == 'w' || type == 'W') &&
			!is_end_mark(p),
	};
	return true;
}

/* ARM's marks of code and data are no symbols. */
static void parse(struct kernel_symbols *k)
{
	char *line, *next;

	for (line = k->text; line; line = next) {
		struct entry e;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!parse_line(line, &e) || e.sym.name[0] == '$')
			continue;
		e.order = (uint32_t)k->count;
		k->entries[k->count++] = e;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->sym.start != b->sym.start)
		return a->sym.start < b->sym.start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Behind the page that follows the one of addr. */
static uint64_t next_page_end(uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(PAGE_BYTES - 1);

	if (addr != page)
		page += PAGE_BYTES;
	return page > UINT64_MAX - PAGE_BYTES ? UINT64_MAX : page + PAGE_BYTES;
}

/*
 * Ends each symbol.  When several are at one address the last one stays: the others get no room, as
 * in perf, except that a symbol which is not text leaves the address to the text before it.
 */
static void seal(struct kernel_symbols *k)
{
	const struct kernel_symbol *next = NULL; /* the nearest that begins above */
	size_t i, n = 0;

	for (i = k->count; i--;) {
		struct entry *e = &k->entries[i];
		bool same;

		e->sym.end = next_page_end(e->sym.start);
		if (next && (next->start < e->sym.end || !strcmp(next->module, e->sym.module)))
			e->sym.end = next->start;
		same = i && k->entries[i - 1].sym.start == e->sym.start;
		if (!same)
			next = &e->sym;
	}
	for (i = 0; i < k->count; i++) {
		struct entry *e = &k->entries[i];

		if (!e->text)
			continue;
		if (n && k->entries[n - 1].sym.start == e->sym.start)
			n--;
		k->entries[n++] = *e;
	}
	k->count = n;
}

static int build(struct kernel_symbols *k)
{
	size_t i;

	parse(k);
	if (k->count > 1)
		qsort(k->entries, k->count, sizeof(*k->entries), by_start);
	seal(k);
	for (i = 0; i < k->count; i++)
		if (k->entries[i].sym.start)
			return 0;
	return k->count ? -EACCES : -ENOENT;
}

int kernel_symbols_new(const char *text, size_t size_bytes, struct kernel_symbols **out)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	if (!k)
		return -ENOMEM;
	k->text = malloc(size_bytes + 1);
	k->entries = reallocarray(NULL, size_bytes / LINE_MIN_BYTES + 1, sizeof(*k->entries));
	if (k->text && k->entries) {
		if (size_bytes)
			memcpy(k->text, text, size_bytes);
		k->text[size_bytes] = '\0'; /* a NUL in the text ends it early */
		err = build(k);
	}
	if (err) {
		kernel_symbols_free(k);
		return err;
	}
	*out = k;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->entries);
	free(k);
}

const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr)
{
	size_t low = lower_bound(i, 0, k->count, k->entries[i].sym.start <= addr);

	if (!low || k->entries[low - 1].sym.end <= addr)
		return NULL;
	return &k->entries[low - 1].sym;
}

static void add_bound(uint64_t *bounds, size_t *count, uint64_t addr)
{
	if (!*count || bounds[*count - 1] < addr)
		bounds[(*count)++] = addr;
}

int kernel_symbols_bounds(const struct kernel_symbols *k, uint64_t **out, size_t *count)
{
	uint64_t *bounds = reallocarray(NULL, k->count + 1, 2 * sizeof(*bounds));
	size_t n = 0;

	if (!bounds)
		return -ENOMEM;
	for (size_t i = 0; i < k->count; i++) {
		add_bound(bounds, &n, k->entries[i].sym.start);
		add_bound(bounds, &n, k->entries[i].sym.end);
	}
	*out = bounds;
	*count = n;
	return 0;
}
