/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/ksyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/slurp.h"

#define CACHE_SLOTS 8192 /* addresses touched before; a kernel has some hundred hot ones */

struct sym {
	uint64_t addr;
	uint32_t off_bytes; /* of the line in text */
	uint8_t touched, taken;
};

struct ksyms {
	char *text;
	struct sym *sym; /* by address, then as in the text */
	size_t count;
	bool fresh; /* something was touched since the last take */
	uint64_t cache[CACHE_SLOTS];
};

static bool is_hex(char c, unsigned *digit)
{
	if (c >= '0' && c <= '9')
		*digit = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*digit = (unsigned)(c - 'a') + 10;
	else
		return false;
	return true;
}

/* "ffffffff81000000 T _text" or, of a module, "... t name\t[module]".  false: not a symbol. */
static bool parse_line(const char *line, struct ksym *out)
{
	const char *p = line, *end = strchrnul(line, '\n');
	unsigned digit;

	out->addr = 0;
	for (; p < end && is_hex(*p, &digit); p++) {
		if (p - line >= 16)
			return false;
		out->addr = out->addr << 4 | digit;
	}
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	out->type = p[1];
	out->name = p + 3;
	p = memchr(out->name, '\t', (size_t)(end - out->name));
	out->name_bytes = (size_t)((p ? p : end) - out->name);
	out->module = NULL;
	out->module_bytes = 0;
	if (p && end - p > 3 && p[1] == '[' && end[-1] == ']') {
		out->module = p + 2;
		out->module_bytes = (size_t)(end - 1 - out->module);
	}
	out->line = line;
	out->line_bytes = (size_t)(end - line) + (*end == '\n');
	return out->name_bytes > 0;
}

static int by_address(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->off_bytes < y->off_bytes ? -1 : x->off_bytes > y->off_bytes;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W' || type == 'i';
}

static int index_text(struct ksyms *k, size_t size_bytes)
{
	size_t room = size_bytes / 40 + 64;
	bool sorted = true, nonzero = false;
	const char *line = k->text;
	struct ksym s;
	struct sym *more;

	k->sym = malloc(room * sizeof(*k->sym));
	if (!k->sym)
		return -ENOMEM;
	for (; *line; line += s.line_bytes) {
		if (!parse_line(line, &s)) {
			s.line_bytes = (size_t)(strchrnul(line, '\n') - line);
			s.line_bytes += line[s.line_bytes] == '\n';
			continue;
		}
		nonzero |= s.addr != 0;
		if (!is_code(s.type))
			continue;
		if (k->count == room) {
			room *= 2;
			more = realloc(k->sym, room * sizeof(*k->sym));
			if (!more)
				return -ENOMEM;
			k->sym = more;
		}
		sorted &= !k->count || k->sym[k->count - 1].addr <= s.addr;
		k->sym[k->count++] = (struct sym){ .addr = s.addr,
						   .off_bytes = (uint32_t)(line - k->text) };
	}
	if (!k->count)
		return -ENODATA;
	if (!nonzero)
		return -EACCES;
	if (!sorted)
		qsort(k->sym, k->count, sizeof(*k->sym), by_address);
	return 0;
}

int ksyms_from_text(char *text, struct ksyms **out)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	size_t size_bytes = strlen(text);
	int err;

	if (!k) {
		free(text);
		return -ENOMEM;
	}
	k->text = text;
	err = size_bytes > UINT32_MAX ? -EOVERFLOW : index_text(k, size_bytes);
	if (err) {
		ksyms_free(k);
		return err;
	}
	*out = k;
	return 0;
}

int ksyms_load(struct ksyms **out)
{
	struct outbuf text = { 0 };
	int err = slurp("/proc/kallsyms", &text);

	if (err) {
		outbuf_done(&text);
		return err;
	}
	return ksyms_from_text((char *)text.data, out);
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->sym);
	free(k);
}

bool ksyms_find(const struct ksyms *k, const char *name, uint64_t *addr)
{
	size_t i, bytes = strlen(name);
	struct ksym s;

	for (i = 0; i < k->count; i++) {
		if (parse_line(k->text + k->sym[i].off_bytes, &s) && !s.module &&
		    s.name_bytes == bytes && !memcmp(s.name, name, bytes)) {
			*addr = s.addr;
			return true;
		}
	}
	return false;
}

/* The first symbol above addr. */
static size_t upper(const struct ksyms *k, uint64_t addr)
{
	size_t low = 0, high = k->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (k->sym[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint64_t ksyms_next(const struct ksyms *k, uint64_t addr)
{
	size_t i = upper(k, addr);

	return i < k->count ? k->sym[i].addr : 0;
}

bool ksyms_at(const struct ksyms *k, uint64_t addr, const char *module, struct ksym *out)
{
	size_t i = upper(k, addr);
	struct ksym s;

	for (; i > 0 && k->sym[i - 1].addr == addr; i--) {
		if (!parse_line(k->text + k->sym[i - 1].off_bytes, &s))
			continue;
		if (module && (!s.module || s.module_bytes != strlen(module) ||
			       memcmp(s.module, module, s.module_bytes)))
			continue;
		*out = s;
		return true;
	}
	return false;
}

static void touch_sym(struct ksyms *k, size_t i)
{
	if (!k->sym[i].touched) {
		k->sym[i].touched = 1;
		k->fresh = true;
	}
}

void ksyms_touch(struct ksyms *k, uint64_t addr)
{
	uint64_t *slot = &k->cache[(addr ^ addr >> 13) & (CACHE_SLOTS - 1)];
	size_t i, next;

	if (*slot == addr)
		return;
	*slot = addr;
	next = upper(k, addr);
	if (next < k->count)
		touch_sym(k, next);
	for (i = next; i > 0 && k->sym[i - 1].addr == k->sym[next - 1].addr; i--)
		touch_sym(k, i - 1);
}

size_t ksyms_take(struct ksyms *k, struct outbuf *out)
{
	struct ksym s;
	size_t i, count = 0;

	if (!k->fresh)
		return 0;
	for (i = 0; i < k->count; i++) {
		if (!k->sym[i].touched || k->sym[i].taken)
			continue;
		k->sym[i].taken = 1;
		if (!parse_line(k->text + k->sym[i].off_bytes, &s))
			continue;
		outbuf_add(out, s.line, s.line_bytes);
		count++;
	}
	k->fresh = false;
	return count;
}
