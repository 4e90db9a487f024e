/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/kernel_symbols_index_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/os/slurp.h"

const char *const kernel_symbols_index_well_known[KERNEL_SYMBOLS_INDEX_NAMES] = {
	[KERNEL_SYMBOLS_INDEX_TEXT] = "_text",       [KERNEL_SYMBOLS_INDEX_STEXT] = "_stext",
	[KERNEL_SYMBOLS_INDEX_ETEXT] = "_etext",     [KERNEL_SYMBOLS_INDEX_SINIT] = "_sinittext",
	[KERNEL_SYMBOLS_INDEX_EINIT] = "_einittext",
};

/* 16 and more: no digit. */
static unsigned hex_digit(char c)
{
	unsigned digit = (unsigned char)c - '0';

	if (digit < 10)
		return digit;
	digit = (unsigned char)c - 'a';
	return digit < 6 ? digit + 10 : 16;
}

/* "ffffffff81000000 T _text" or, of a module, "... t name\t[module]".  false: not a symbol. */
static bool parse_line(const char *line, struct ksym *out)
{
	const char *p = line, *end;
	unsigned digit;

	out->addr = 0;
	for (; (digit = hex_digit(*p)) < 16; p++) {
		if (p - line >= 16)
			return false;
		out->addr = out->addr << 4 | digit;
	}
	if (p == line || p[0] != ' ' || !p[1] || p[1] == '\n' || p[2] != ' ')
		return false;
	out->type = p[1];
	out->name = p + 3;
	end = strchrnul(out->name, '\n');
	out->line = line;
	out->line_bytes = (size_t)(end - line) + (*end == '\n');
	out->module = NULL;
	out->module_bytes = 0;
	p = end > out->name && end[-1] == ']' ? memchr(out->name, '\t', (size_t)(end - out->name))
					      : NULL;
	out->name_bytes = (size_t)((p ? p : end) - out->name);
	if (p && end - p > 3 && p[1] == '[') {
		out->module = p + 2;
		out->module_bytes = (size_t)(end - 1 - out->module);
	}
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

static void note_name(struct kernel_symbols_index *k, const struct ksym *s)
{
	size_t i;

	for (i = 0; i < KERNEL_SYMBOLS_INDEX_NAMES; i++) {
		if (!k->named[i] && s->name[0] == kernel_symbols_index_well_known[i][0] &&
		    s->name_bytes == strlen(kernel_symbols_index_well_known[i]) && !s->module &&
		    !memcmp(s->name, kernel_symbols_index_well_known[i], s->name_bytes))
			k->named[i] = s->addr;
	}
}

static int index_text(struct kernel_symbols_index *k, const char *text, size_t size_bytes)
{
	size_t room = size_bytes / 40 + 64;
	bool sorted = true, nonzero = false;
	const char *line = text;
	struct ksym s;

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
		if (!is_code(s.type) || s.line_bytes >= KERNEL_SYMBOLS_INDEX_LINE_BYTES)
			continue;
		if (vec_reserve(&k->sym, &room, k->count + 1))
			return -ENOMEM;
		sorted &= !k->count || k->sym[k->count - 1].addr <= s.addr;
		k->sym[k->count++] = (struct sym){ .addr = s.addr,
						   .off_bytes = (uint32_t)(line - text) };
		note_name(k, &s);
	}
	if (!k->count)
		return -ENODATA;
	if (!nonzero)
		return -EACCES;
	if (!sorted)
		qsort(k->sym, k->count, sizeof(*k->sym), by_address);
	return 0;
}

int kernel_symbols_index_from_text(char *text, struct kernel_symbols_index **out)
{
	struct kernel_symbols_index *k = calloc(1, sizeof(*k));
	size_t size_bytes = strlen(text);
	int err = !k ? -ENOMEM : size_bytes > UINT32_MAX ? -EOVERFLOW : 0;

	if (k)
		k->fd = -1;
	if (!err)
		err = index_text(k, text, size_bytes);
	if (!err)
		err = packed_new(text, size_bytes, &k->text);
	free(text);
	if (err) {
		kernel_symbols_index_free(k);
		return err;
	}
	*out = k;
	return 0;
}

int kernel_symbols_index_read(const struct kernel_symbols_index_source *s,
			      struct kernel_symbols_index **out)
{
	struct outbuf text = { 0 };
	int err = slurp(s->kallsyms, &text);

	if (err) {
		outbuf_done(&text);
		return err;
	}
	return kernel_symbols_index_from_text((char *)text.data, out);
}

int kernel_symbols_index_load_from(const struct kernel_symbols_index_source *s,
				   struct kernel_symbols_index **out)
{
	bool keep = s->folder && *s->folder;
	int err;

	if (keep && !kernel_symbols_index_from_cache(s, out))
		return 0;
	err = kernel_symbols_index_read(s, out);
	if (!err && keep)
		kernel_symbols_index_keep(*out, s);
	return err;
}

int kernel_symbols_index_load(const char *folder, struct kernel_symbols_index **out)
{
	const struct kernel_symbols_index_source s = {
		.folder = geteuid() ? NULL : folder, /* others do not see all of it */
		.kallsyms = "/proc/kallsyms",
		.modules = "/proc/modules",
		.boot_id = "/proc/sys/kernel/random/boot_id",
	};

	return kernel_symbols_index_load_from(&s, out);
}

void kernel_symbols_index_free(struct kernel_symbols_index *k)
{
	struct kernel_symbols_index *real = NULL;

	if (!k)
		return;
	if (k->reading)
		(void)kernel_symbols_index_anew_take(k, true, &real);
	kernel_symbols_index_free(real);
	if (k->fd >= 0)
		close(k->fd);
	packed_free(k->text);
	free(k->sym);
	free(k);
}

bool kernel_symbols_index_line(const struct kernel_symbols_index *k, size_t i,
			       char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES], struct ksym *out)
{
	const struct sym *s = &k->sym[i];
	ssize_t n;

	n = k->text ? (ssize_t)packed_read(k->text, s->off_bytes, line,
					   KERNEL_SYMBOLS_INDEX_LINE_BYTES - 1)
		    : pread(k->fd, line, KERNEL_SYMBOLS_INDEX_LINE_BYTES - 1,
			    k->text_off + s->off_bytes);
	if (n <= 0)
		return false;
	line[n] = '\0';
	return parse_line(line, out) && out->addr == s->addr;
}

bool kernel_symbols_index_find(const struct kernel_symbols_index *k, const char *name,
			       uint64_t *addr)
{
	size_t i, bytes = strlen(name);
	char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	struct ksym s;

	for (i = 0; i < KERNEL_SYMBOLS_INDEX_NAMES; i++) {
		if (strcmp(name, kernel_symbols_index_well_known[i]))
			continue;
		if (k->named[i])
			*addr = k->named[i];
		return k->named[i] != 0;
	}
	for (i = 0; i < k->count; i++) {
		if (kernel_symbols_index_line(k, i, line, &s) && !s.module &&
		    s.name_bytes == bytes && !memcmp(s.name, name, bytes)) {
			*addr = s.addr;
			return true;
		}
	}
	return false;
}

/* The first symbol above addr. */
static size_t upper(const struct kernel_symbols_index *k, uint64_t addr)
{
	return lower_bound(i, 0, k->count, k->sym[i].addr <= addr);
}

static bool is_of(const struct ksym *s, const char *module, size_t bytes)
{
	return s->module && s->module_bytes == bytes && !memcmp(s->module, module, bytes);
}

bool kernel_symbols_index_bpf_name(const struct kernel_symbols_index *k, uint64_t addr, char *out,
				   size_t out_bytes)
{
	size_t i = upper(k, addr);
	char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	struct ksym s;

	for (; i > 0 && k->sym[i - 1].addr == addr; i--) {
		if (kernel_symbols_index_line(k, i - 1, line, &s) && is_of(&s, "bpf", 3) &&
		    s.name_bytes < out_bytes) {
			memcpy(out, s.name, s.name_bytes);
			out[s.name_bytes] = '\0';
			return true;
		}
	}
	return false;
}

/* ---- the way from a tracepoint to a program ---- */

static bool is_tracing_name(const struct ksym *s)
{
	static const char *const starts[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_" };
	size_t i, bytes;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		bytes = strlen(starts[i]);
		if (s->name_bytes > bytes && !memcmp(s->name, starts[i], bytes))
			return true;
	}
	return false;
}

static bool is_tracing(struct kernel_symbols_index *k, uint64_t addr)
{
	uint64_t *slot =
		&k->tracing[(addr ^ addr >> 11) & (KERNEL_SYMBOLS_INDEX_TRACING_SLOTS - 1)];
	char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	bool tracing = false;
	struct ksym s;
	size_t i;

	if (*slot == addr || *slot == ~addr)
		return *slot == ~addr;
	i = upper(k, addr);
	for (; i > 0 && !tracing && k->sym[i - 1].addr == k->sym[upper(k, addr) - 1].addr; i--)
		tracing = kernel_symbols_index_line(k, i - 1, line, &s) && is_tracing_name(&s);
	*slot = tracing ? ~addr : addr;
	return tracing;
}

static bool is_text(const struct kernel_symbols_index *k, uint64_t addr)
{
	return addr >= k->named[KERNEL_SYMBOLS_INDEX_STEXT] &&
	       addr < k->named[KERNEL_SYMBOLS_INDEX_ETEXT];
}

#define TRACING_FRAMES_MAX \
	8 /* the program's functions, bpf_trace_run, __bpf_trace_, __traceiter_ */

size_t kernel_symbols_index_tracing_frames(struct kernel_symbols_index *k, const uint64_t *frames,
					   size_t count)
{
	size_t own = 0, i;

	if (!count || is_text(k, frames[0]))
		return 0; /* the leaf would be a BPF program, which the kernel's text never has */
	for (i = 0; i < count && i < TRACING_FRAMES_MAX; i++) {
		if (is_text(k, frames[i]) && is_tracing(k, frames[i]))
			own = i + 1;
	}
	return own;
}

static bool is_noted(const struct kernel_symbols_index *k, uint64_t addr)
{
	size_t i;

	for (i = 0; i < k->note_count; i++) {
		if (addr - k->note[i].start < k->note[i].size_bytes)
			return true;
	}
	return false;
}

/* Those in code that is named. */
static void drop_doubts(struct kernel_symbols_index *k, uint64_t start, uint32_t size_bytes)
{
	size_t i, left = 0;

	for (i = 0; i < k->doubt_count; i++) {
		if (k->doubt[i].addr - start >= size_bytes)
			k->doubt[left++] = k->doubt[i];
	}
	k->doubt_count = left;
}

void kernel_symbols_index_note(struct kernel_symbols_index *k, uint64_t start, uint32_t size_bytes,
			       bool gone)
{
	size_t i;

	drop_doubts(k, start, size_bytes);
	for (i = 0; i < k->note_count && k->note[i].start != start; i++)
		;
	if (gone) {
		if (i < k->note_count)
			k->note[i] = k->note[--k->note_count];
	} else if (i < KERNEL_SYMBOLS_INDEX_NOTES) {
		k->note[i] = (struct noted){ start, size_bytes };
		k->note_count += i == k->note_count;
	}
}

/* Whether the cached table names this address for certain; next: the first symbol above it. */
static bool is_certain(const struct kernel_symbols_index *k, uint64_t addr, size_t next)
{
	char line[2][KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	struct ksym below, above;

	if (is_text(k, addr))
		return true;
	/* This code is freed after boot, but the idle thread's stack begins there. */
	if (addr >= k->named[KERNEL_SYMBOLS_INDEX_SINIT] &&
	    addr < k->named[KERNEL_SYMBOLS_INDEX_EINIT])
		return true;
	return next && next < k->count && kernel_symbols_index_line(k, next - 1, line[0], &below) &&
	       kernel_symbols_index_line(k, next, line[1], &above) && below.module &&
	       is_of(&above, below.module, below.module_bytes);
}

static void touch_sym(struct kernel_symbols_index *k, size_t i)
{
	if (!k->sym[i].touched) {
		k->sym[i].touched = 1;
		k->fresh = true;
	}
}

/* All symbols at an address. */
static void touch_at(struct kernel_symbols_index *k, uint64_t addr)
{
	size_t i;

	for (i = upper(k, addr); i > 0 && k->sym[i - 1].addr == addr; i--)
		touch_sym(k, i - 1);
}

/*
 * Replaces the cached table by the real one, which is taken.  Symbols that are not in the capture
 * yet stay touched.
 */
static void replace(struct kernel_symbols_index *k, struct kernel_symbols_index *real)
{
	struct sym *old = k->sym;
	size_t i, count = k->count;

	close(k->fd);
	k->fd = -1;
	k->text = real->text;
	k->sym = real->sym;
	k->count = real->count;
	free(real);
	memset(k->cache, 0, sizeof(k->cache));
	memset(k->tracing, 0, sizeof(k->tracing));
	for (i = 0; i < count; i++) {
		if (old[i].touched && !old[i].taken)
			touch_at(k, old[i].addr);
	}
	free(old);
}

/* False: it is being read. */
static bool read_anew(struct kernel_symbols_index *k, bool wait)
{
	struct kernel_symbols_index *real = NULL;

	kernel_symbols_index_anew_begin(k);
	if (!kernel_symbols_index_anew_take(k, wait, &real))
		return false;
	if (real)
		replace(k, real);
	else
		k->source.kallsyms = NULL;
	return true;
}

static bool can_read_anew(const struct kernel_symbols_index *k)
{
	return k->fd >= 0 && k->source.kallsyms;
}

/* The symbols at and below an address, and the one above, which is the `next`th. */
static void touch_around(struct kernel_symbols_index *k, size_t next)
{
	size_t i;

	if (next < k->count)
		touch_sym(k, next);
	for (i = next; i > 0 && k->sym[i - 1].addr == k->sym[next - 1].addr; i--)
		touch_sym(k, i - 1);
}

void kernel_symbols_index_touch(struct kernel_symbols_index *k, uint64_t addr)
{
	uint64_t *slot = &k->cache[(addr ^ addr >> 13) & (KERNEL_SYMBOLS_INDEX_CACHE_SLOTS - 1)];
	size_t next;

	if (*slot == addr)
		return;
	next = upper(k, addr);
	if (k->note_count && is_noted(k, addr))
		return;
	if (can_read_anew(k) && !is_certain(k, addr, next)) {
		if (k->doubt_count == KERNEL_SYMBOLS_INDEX_DOUBTS_MANY)
			kernel_symbols_index_anew_begin(k);
		if (k->doubt_count < KERNEL_SYMBOLS_INDEX_DOUBTS) {
			k->doubt[k->doubt_count++] = (struct doubt){ .addr = addr };
			*slot = addr;
			return;
		}
		(void)read_anew(k, true);
		next = upper(k, addr);
	}
	*slot = addr;
	touch_around(k, next);
}

/* Resolves addresses that no record has named by now, when the real table has been read. */
static void settle_doubts(struct kernel_symbols_index *k)
{
	size_t i, left = 0;
	bool due = false;

	for (i = 0; i < k->doubt_count; i++)
		due |= k->doubt[i].aged || k->no_more_records;
	if (due && can_read_anew(k))
		due = read_anew(k, k->no_more_records);
	for (i = 0; i < k->doubt_count; i++) {
		if (due && (k->doubt[i].aged || k->no_more_records)) {
			touch_around(k, upper(k, k->doubt[i].addr));
		} else {
			k->doubt[left] = k->doubt[i];
			k->doubt[left++].aged = true;
		}
	}
	k->doubt_count = left;
}

void kernel_symbols_index_end_records(struct kernel_symbols_index *k)
{
	k->no_more_records = true;
}

size_t kernel_symbols_index_take(struct kernel_symbols_index *k, struct outbuf *out)
{
	char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	struct ksym s;
	size_t i, count = 0;

	settle_doubts(k);
	if (!k->fresh)
		return 0;
	for (i = 0; i < k->count; i++) {
		if (!k->sym[i].touched || k->sym[i].taken)
			continue;
		k->sym[i].taken = 1;
		if (!kernel_symbols_index_line(k, i, line, &s))
			continue;
		outbuf_add(out, s.line, s.line_bytes);
		count++;
	}
	k->fresh = false;
	return count;
}
