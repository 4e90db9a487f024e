/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/unwind/table/uncovered_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/insertion_sort.h"
#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define STEP_BYTES  (1u << 20)
#define CALL_BYTES  5u
#define START_ALIGN 16u
#define PAGE_BITS   12
#define PAGES_MAX   (1u << 20)
#define GAP_BYTES   64u /* smaller gaps are padding between functions */

/* mov $15,%rax; syscall: rt_sigreturn(). */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };

struct gap {
	uint64_t vaddr, end_vaddr;
	uint64_t off_bytes; /* in the file */
};

struct gaps {
	const struct elf_sections_source *source;
	struct gap *list; /* ascending */
	size_t count, capacity;
	uint64_t size_bytes;
	uint8_t *pages; /* whether there is a gap in each page from the first gap on */
	uint64_t *starts;
	size_t start_count, start_capacity;
	uint64_t *called; /* where functions of compilers mostly do not begin */
	size_t called_count, called_capacity;
	int err;
};

/* False: there are too many, or there is no memory for one more. */
#define reserve(g, list, count, capacity, most) \
	((count) < (most) &&                    \
	 (!vec_reserve((list), (capacity), (count) + 1) || ((g)->err = -ENOMEM, false)))

/* ---- what is not covered ---- */

static void add_gap(struct gaps *g, const struct elf_sections_segment *s, uint64_t vaddr,
		    uint64_t end_vaddr)
{
	if (end_vaddr < vaddr + GAP_BYTES ||
	    (g->count && g->list[g->count - 1].end_vaddr > vaddr) ||
	    !reserve(g, &g->list, g->count, &g->capacity, UNCOVERED_CODE_MAX_GAPS))
		return;
	g->list[g->count++] = (struct gap){ vaddr, end_vaddr, s->off_bytes + (vaddr - s->vaddr) };
	g->size_bytes += end_vaddr - vaddr;
}

static void find_gaps(struct gaps *g, const struct module_table_view *v,
		      const struct elf_sections_segment *s)
{
	uint64_t at = s->vaddr, end = s->vaddr + s->size_bytes;

	for (uint32_t page = 0; page < v->n_pages; page++) {
		uint64_t base = (v->first_page + page) << MODULE_TABLE_PAGE_BITS;
		uint32_t first = v->pages[page].first_row, count = v->pages[page].n_rows;

		for (uint32_t i = 0; i < count; i++) {
			uint64_t pc = base + v->pc_low[first + i];
			uint64_t next = i + 1 < count ? base + v->pc_low[first + i + 1]
						      : base + (1ULL << MODULE_TABLE_PAGE_BITS);

			if (v->rule_id[first + i] == RULE_TABLE_ID_END || next <= at || pc >= end)
				continue;
			add_gap(g, s, at, pc);
			at = next;
		}
	}
	add_gap(g, s, at, end);
}

/* ---- where functions begin ---- */

/* Most addresses are in none, and the page of an address decides that. */
static void mark_pages(struct gaps *g)
{
	uint64_t first = g->list[0].vaddr >> PAGE_BITS;
	uint64_t last = (g->list[g->count - 1].end_vaddr - 1) >> PAGE_BITS;

	if (last - first < PAGES_MAX)
		g->pages = calloc(last - first + 1, 1);
	for (size_t i = 0; g->pages && i < g->count; i++)
		memset(g->pages + ((g->list[i].vaddr >> PAGE_BITS) - first), 1,
		       ((g->list[i].end_vaddr - 1) >> PAGE_BITS) - (g->list[i].vaddr >> PAGE_BITS) +
			       1);
}

static bool is_in_gap(const struct gaps *g, uint64_t vaddr)
{
	size_t at;

	if (vaddr < g->list[0].vaddr || vaddr >= g->list[g->count - 1].end_vaddr ||
	    (g->pages && !g->pages[(vaddr >> PAGE_BITS) - (g->list[0].vaddr >> PAGE_BITS)]))
		return false;

	at = lower_bound(i, 0, g->count, g->list[i].end_vaddr <= vaddr);
	return at < g->count && g->list[at].vaddr <= vaddr;
}

static void add_start(void *ctx, uint64_t vaddr)
{
	struct gaps *g = ctx;

	if (is_in_gap(g, vaddr) &&
	    reserve(g, &g->starts, g->start_count, &g->start_capacity, UNCOVERED_CODE_MAX_STARTS))
		g->starts[g->start_count++] = vaddr;
}

static void add_called(struct gaps *g, uint64_t vaddr)
{
	if (is_in_gap(g, vaddr) &&
	    reserve(g, &g->called, g->called_count, &g->called_capacity, UNCOVERED_CODE_MAX_STARTS))
		g->called[g->called_count++] = vaddr;
}

/* Bytes that look like a call: with an aligned target, one in millions is none. */
static void find_calls(struct gaps *g, const uint8_t *code, size_t size_bytes, uint64_t vaddr)
{
	const uint8_t *at = code, *end = code + size_bytes - (CALL_BYTES - 1);

	for (; at < end && (at = memchr(at, 0xe8, (size_t)(end - at))); at++) {
		size_t i = (size_t)(at - code);
		uint64_t to;

		to = vaddr + i + CALL_BYTES + (uint64_t)(int64_t)(int32_t)le32_load(code + i + 1);
		if (to % START_ALIGN == 0)
			add_start(g, to);
		else
			add_called(g, to);
	}
}

static void scan_segment(struct gaps *g, const struct elf_sections_segment *s, uint8_t *step)
{
	for (uint64_t at = 0;
	     !g->err && s->size_bytes >= CALL_BYTES && at <= s->size_bytes - CALL_BYTES;
	     at += STEP_BYTES - CALL_BYTES + 1) {
		uint64_t left = s->size_bytes - at;
		size_t size = left < STEP_BYTES ? (size_t)left : STEP_BYTES;

		if (elf_sections_bytes(g->source, s->off_bytes + at, step, size))
			return; /* the file is shorter than its headers claim */
		find_calls(g, step, size, s->vaddr + at);
	}
}

/* A target that is called from two places is a function. */
static void add_called_again(struct gaps *g)
{
	addrsort(g->called, g->called_count);
	for (size_t i = 1; i < g->called_count; i++)
		if (g->called[i] == g->called[i - 1])
			add_start(g, g->called[i]);
}

static void find_starts(struct gaps *g, const struct elf_sections *elf)
{
	uint8_t *step = malloc(STEP_BYTES);

	mark_pages(g);

	if (!step) {
		g->err = -ENOMEM;
		return;
	}
	elf_sections_functions(g->source, add_start, g);
	for (uint32_t i = 0; i < elf->n_exec && !g->err; i++)
		scan_segment(g, &elf->exec[i], step);
	free(step);
	add_called_again(g);
	g->start_count = insertion_sort_unique(g->starts, g->start_count);
}

/* ---- rules ---- */

/* The byte before belongs to it: a return address is looked up one byte earlier. */
static int hand_out_sigreturn(uint64_t vaddr, insn_unwind_row_fn fn, void *ctx)
{
	const struct unwind_rule rule = { .cfa = UNWIND_CFA_SIGNAL };

	return fn(ctx, vaddr - 1, vaddr + sizeof(sigreturn), &rule);
}

static int read_rules(const struct gaps *g, const struct gap *gap, const uint8_t *code,
		      insn_unwind_row_fn fn, void *ctx)
{
	size_t size_bytes = (size_t)(gap->end_vaddr - gap->vaddr), at = 0, found_at;
	struct insn_unwind_code part;
	const uint8_t *found;
	int err = 0;

	while (!err && at + 1 < size_bytes &&
	       (found = memmem(code + at + 1, size_bytes - at - 1, sigreturn, sizeof(sigreturn)))) {
		found_at = (size_t)(found - code);
		part = (struct insn_unwind_code){ code + at, found_at - 1 - at, gap->vaddr + at };
		err = insn_unwind_rows(&part, g->starts, g->start_count, fn, ctx, NULL);
		if (!err)
			err = hand_out_sigreturn(gap->vaddr + found_at, fn, ctx);
		at = found_at + sizeof(sigreturn);
	}
	part = (struct insn_unwind_code){ code + at, size_bytes - at, gap->vaddr + at };
	return err ? err : insn_unwind_rows(&part, g->starts, g->start_count, fn, ctx, NULL);
}

static int fill_gap(const struct gaps *g, const struct gap *gap, insn_unwind_row_fn fn, void *ctx)
{
	uint64_t size_bytes = gap->end_vaddr - gap->vaddr;
	uint8_t *code;
	int err;

	if (size_bytes > INSN_UNWIND_MAX_BYTES)
		return 0;
	code = malloc(size_bytes);
	if (!code)
		return -ENOMEM;
	err = elf_sections_bytes(g->source, gap->off_bytes, code, size_bytes)
		      ? 0
		      : read_rules(g, gap, code, fn, ctx);
	free(code);
	return err;
}

/* Those that begin in it or behind it. */
static bool has_start(const struct gaps *g, const struct gap *gap, size_t *first)
{
	while (*first < g->start_count && g->starts[*first] < gap->vaddr)
		++*first;
	return *first < g->start_count && g->starts[*first] < gap->end_vaddr;
}

int uncovered_code_rows(const struct module_table *table, const struct elf_sections_source *source,
			const struct elf_sections *elf, insn_unwind_row_fn fn, void *ctx)
{
	struct gaps g = { .source = source };
	struct module_table_view view;
	size_t first = 0;

	module_table_view(table, &view);
	for (uint32_t i = 0; i < elf->n_exec && !g.err; i++)
		find_gaps(&g, &view, &elf->exec[i]);
	if (!g.err && g.size_bytes >= UNCOVERED_CODE_MIN_BYTES)
		find_starts(&g, elf);
	for (size_t i = 0; i < g.count && !g.err; i++)
		if (has_start(&g, &g.list[i], &first))
			g.err = fill_gap(&g, &g.list[i], fn, ctx);
	free(g.list);
	free(g.pages);
	free(g.starts);
	free(g.called);
	return g.err;
}
