/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/unwind/table/uncovered_code.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/unwind/go_pclntab.h"
#include "format/unwind/table/module_table_priv.h"

/* From add_row(): rbx is needed, begin again.  No errno is positive. */
enum { NEEDS_BX = 1 };

static int reserve_rows(struct module_table *t)
{
	uint32_t want = t->max_rows ? t->max_rows + t->max_rows / 2 : 1024;
	uint16_t *p;

	if (t->n_rows < t->max_rows)
		return 0;
	p = realloc(t->pc_low, want * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->pc_low = p;
	/* cppcheck-suppress memleak; the first p is in the table */
	p = realloc(t->rule_id, want * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->rule_id = p;
	t->max_rows = want;
	return 0;
}

static int push_row(struct module_table *t, uint16_t pc_low, uint16_t id)
{
	int err = reserve_rows(t);

	if (err)
		return err;
	t->pc_low[t->n_rows] = pc_low;
	t->rule_id[t->n_rows++] = id;
	t->pages[t->n_pages - 1].n_rows++;
	return 0;
}

static int push_page(struct module_table *t)
{
	if (t->n_pages == MODULE_TABLE_MAX_PAGES)
		return -EOVERFLOW;
	if (vec_reserve(&t->pages, &t->max_pages, t->n_pages + 1))
		return -ENOMEM;
	t->pages[t->n_pages++] = (struct module_table_page){ .first_row = t->n_rows };
	return 0;
}

/* Opens pages up to that of pc.  All but one that begins with a row of its own carry one in. */
static int open_pages(struct module_table *t, uint64_t pc)
{
	uint64_t page = pc >> MODULE_TABLE_PAGE_BITS;
	int err;

	if (!t->n_pages)
		t->first_page = page;
	if (page - t->first_page >= MODULE_TABLE_MAX_PAGES)
		return -EOVERFLOW;
	while (t->first_page + t->n_pages <= page) {
		err = push_page(t);
		if (err)
			return err;
		if (t->first_page + t->n_pages - 1 == page && !(uint16_t)pc)
			break;
		err = push_row(t, 0, t->last_id);
		if (err)
			return err;
	}
	return 0;
}

static int put_row(struct module_table *t, uint64_t pc, const struct unwind_rule *rule)
{
	int err = open_pages(t, pc);

	if (err)
		return err;
	t->last_id = rule_table_intern(t->set, rule);
	if (t->pages[t->n_pages - 1].n_rows && t->pc_low[t->n_rows - 1] == (uint16_t)pc) {
		t->rule_id[t->n_rows - 1] = t->last_id; /* "no rule" ended where this begins */
		return 0;
	}
	return push_row(t, (uint16_t)pc, t->last_id);
}

/*
 * Called before the row at next_pc: known code up to there without a row gets one.
 */
static int put_known(struct module_table *t, uint64_t next_pc)
{
	static const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	uint64_t joins_pc = 0; /* where the one before ends, and covers what follows */
	const struct known *k;
	int err = 0;

	for (; t->known_at < t->n_known && t->known[t->known_at].pc < next_pc && !err;
	     t->known_at++) {
		k = &t->known[t->known_at];
		if (t->last_id != RULE_TABLE_ID_END && k->pc != joins_pc)
			continue;
		err = put_row(t, k->pc, &k->rule);
		joins_pc = k->end_pc;
		if (!err && k->end_pc < next_pc &&
		    (t->known_at + 1 == t->n_known || k[1].pc != k->end_pc))
			err = put_row(t, k->end_pc, &end);
	}
	return err;
}

/* A range that overlaps a known one is left out. */
static int add_known(struct module_table *t, uint64_t pc, uint64_t end_pc, struct unwind_rule rule)
{
	uint32_t at = t->n_known;
	int err;

	while (at && t->known[at - 1].pc > pc)
		at--;
	if (end_pc <= pc || (at && t->known[at - 1].end_pc > pc) ||
	    (at < t->n_known && t->known[at].pc < end_pc))
		return 0;
	err = vec_reserve(&t->known, &t->max_known, t->n_known + 1);
	if (err)
		return err;
	memmove(&t->known[at + 1], &t->known[at], (t->n_known - at) * sizeof(t->known[0]));
	t->known[at] = (struct known){ .pc = pc, .end_pc = end_pc, .rule = rule };
	t->n_known++;
	return 0;
}

/* go_pclntab_row_fn: the code of Go in a program. */
static int add_go(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	struct module_table *t = ctx;
	struct known *last = t->n_known ? &t->known[t->n_known - 1] : NULL;

	if (last && last->end_pc == pc && !memcmp(&last->rule, rule, sizeof(*rule))) {
		last->end_pc = end_pc;
		return 0;
	}
	return add_known(t, pc, end_pc, *rule);
}

/* A table that is broken is of no use, and no reason to do without .eh_frame. */
static int find_go(struct module_table *t, const struct elf_sections *elf)
{
	struct go_pclntab table = { .data = elf->go_table,
				    .size_bytes = elf->go_bytes,
				    .text_vaddr = elf->go_text_vaddr };
	int err = elf->go_table ? go_pclntab_rows(&table, add_go, t) : 0;

	if (err == -ENOMEM)
		return err;
	if (err)
		t->n_known = 0;
	return 0;
}

/* A stub leaves the stack and the link register as they are, but for the first one, which calls the dynamic linker. */
static int find_plt(struct module_table *t, const struct elf_sections_plt *plt)
{
	const struct unwind_rule leaf = { .cfa = UNWIND_CFA_SP };
	const struct unwind_rule pushed = {
		.cfa = UNWIND_CFA_SP,
		.fp_ra = UNWIND_RA_SAME_WORD << UNWIND_RA_SHIFT,
		.fp_words = -1,
		.cfa_off = 16,
	};
	uint64_t push_end = plt->vaddr + plt->push_end_bytes,
		 head_end = plt->vaddr + MODULE_TABLE_PLT_HEAD_BYTES;
	int err;

	if (!plt->size_bytes)
		return 0;
	err = add_known(t, plt->vaddr, push_end, leaf);
	if (!err)
		err = add_known(t, push_end, head_end, pushed);
	return err ? err : add_known(t, head_end, plt->vaddr + plt->size_bytes, leaf);
}

/*
 * A program's first code often has no rule, as in glibc's dynamic linker, and stacks that reach it
 * are complete. .init and .fini have none either.
 */
static int find_known(struct module_table *t, const struct elf_sections *elf)
{
	const struct unwind_rule outermost = { .cfa = UNWIND_CFA_RA_UNDEF };
	const struct unwind_rule outside = { .cfa = UNWIND_CFA_SP, .cfa_off = 8 };
	const struct unwind_rule inside = { .cfa = UNWIND_CFA_SP, .cfa_off = 16 };
	uint64_t pc = elf->start_vaddr, end_pc;
	int err = find_go(t, elf);

	if (!err && pc && pc <= UINT64_MAX - MODULE_TABLE_START_BYTES)
		err = add_known(t, pc, pc + MODULE_TABLE_START_BYTES, outermost);
	for (uint32_t i = 0; i < elf->n_hooks && !err; i++) {
		pc = elf->hooks[i].vaddr;
		end_pc = pc + elf->hooks[i].size_bytes;
		if (elf->start_vaddr && elf->start_vaddr < end_pc &&
		    elf->start_vaddr + MODULE_TABLE_START_BYTES > pc)
			continue;
		err = add_known(t, pc, pc + elf->hooks[i].sub_end_bytes, outside);
		if (!err)
			err = add_known(t, pc + elf->hooks[i].sub_end_bytes, end_pc - 1, inside);
		if (!err)
			err = add_known(t, end_pc - 1, end_pc, outside);
	}
	return err ? err : find_plt(t, &elf->plt);
}

/* eh_frame_row_fn: rows come in ascending order. */
static int add_row(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct module_table *t = ctx;
	int err;

	if (rule->cfa == (UNWIND_CFA_REG | UNWIND_X86_BX) && t->arch == UNWIND_X86_64 &&
	    !t->tracks_bx)
		return NEEDS_BX;
	err = put_known(t, pc);
	return err ? err : put_row(t, pc, rule);
}

static int add_rows(struct module_table *t, const struct eh_frame_section *section,
		    struct parse_err *err)
{
	int ret;

	t->n_pages = 0;
	t->n_rows = 0;
	t->last_id = RULE_TABLE_ID_END;
	t->known_at = 0;
	t->tracks_bx = section->track_bx;
	ret = eh_frame_rows(section, add_row, t, &t->stats, err);
	return ret ? ret : put_known(t, UINT64_MAX);
}

/* .eh_frame, with rbx where its rules need that. */
static int add_all_rows(struct module_table *t, struct eh_frame_section *section,
			struct parse_err *err)
{
	int ret = add_rows(t, section, err);

	if (ret != NEEDS_BX)
		return ret;
	section->track_bx = true;
	return add_rows(t, section, err);
}

/* insn_unwind_row_fn */
static int add_code(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	return add_known(ctx, pc, end_pc, *rule);
}

/*
 * Code without any rules gets those that are read from its instructions.  Not in Go's programs: the
 * code that Go's table leaves out moves to other stacks.
 */
static int fill_gaps(struct module_table *t, const struct elf_sections_source *source,
		     const struct elf_sections *elf, struct eh_frame_section *section,
		     struct parse_err *err)
{
	uint32_t before = t->n_known;
	int ret;

	if (t->arch != UNWIND_X86_64 || elf->go_table)
		return 0;
	ret = uncovered_code_rows(t, source, elf, add_code, t);
	if (ret)
		return parse_fail(err, ret, 0, "cannot read the code");
	return t->n_known == before ? 0 : add_all_rows(t, section, err);
}

static void shrink(struct module_table *t)
{
	void *p;

	if (!t->n_rows)
		return;
	p = realloc(t->pc_low, t->n_rows * sizeof(*t->pc_low));
	t->pc_low = p ? p : t->pc_low;
	/* cppcheck-suppress memleak; the first p is in the table */
	p = realloc(t->rule_id, t->n_rows * sizeof(*t->rule_id));
	t->rule_id = p ? p : t->rule_id;
	/* cppcheck-suppress memleak; so is the second */
}

struct module_table *module_table_empty(struct rule_table *set, uint32_t exec_count)
{
	struct module_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->set = set;
	t->exec = calloc(exec_count + 1, sizeof(*t->exec));
	if (t->exec)
		return t;
	free(t);
	return NULL;
}

static int build(const struct elf_sections_source *source, struct rule_table *set,
		 struct module_table **out, struct parse_err *err)
{
	struct elf_sections elf = { .eh_frame = NULL };
	struct eh_frame_section section;
	struct module_table *t = NULL;
	int ret;

	ret = elf_sections_read(source, &elf, err);
	if (ret)
		goto out;
	t = module_table_empty(set, elf.n_exec);
	if (!t) {
		ret = -ENOMEM;
		goto out;
	}
	t->arch = elf.arch;
	t->n_exec = elf.n_exec;
	memcpy(t->exec, elf.exec, elf.n_exec * sizeof(*t->exec));
	section = (struct eh_frame_section){
		.data = elf.eh_frame,
		.size_bytes = elf.size_bytes,
		.vaddr = elf.vaddr,
		.arch = elf.arch,
		.ends_at_zero = elf.ends_at_zero,
	};
	ret = find_known(t, &elf);
	if (!ret)
		ret = add_all_rows(t, &section, err);
	if (!ret)
		ret = fill_gaps(t, source, &elf, &section, err);
	if (ret) {
		if (err)
			err->offset_bytes += elf.file_off_bytes;
		goto out;
	}
	shrink(t);
	free(t->known);
	t->known = NULL;
	*out = t;
	t = NULL;
out:
	elf_sections_done(&elf);
	module_table_free(t);
	return ret;
}

int module_table_from_fd(int fd, struct rule_table *set, struct module_table **out,
			 struct parse_err *err)
{
	struct elf_sections_source source;
	int ret;

	ret = elf_sections_source_fd(fd, &source);
	return ret ? ret : build(&source, set, out, err);
}

int module_table_from_bytes(const void *data, size_t size_bytes, struct rule_table *set,
			    struct module_table **out, struct parse_err *err)
{
	struct elf_sections_source source = { .data = data, .size_bytes = size_bytes, .fd = -1 };

	return build(&source, set, out, err);
}

void module_table_drop_rows(struct module_table *t)
{
	free(t->pages);
	free(t->pc_low);
	free(t->rule_id);
	t->pages = NULL;
	t->pc_low = t->rule_id = NULL;
	t->n_pages = t->n_rows = t->max_rows = 0;
	t->max_pages = 0;
}

void module_table_free(struct module_table *t)
{
	if (!t)
		return;
	module_table_drop_rows(t);
	free(t->known);
	free(t->exec);
	free(t);
}

const struct unwind_rule *module_table_find(const struct module_table *t, uint64_t vaddr)
{
	uint64_t page = (vaddr >> MODULE_TABLE_PAGE_BITS) - t->first_page;
	const struct unwind_rule *rules = rule_table_rules(t->set);
	uint16_t low = (uint16_t)vaddr;
	const uint16_t *pc_low;
	size_t row;

	if (!t->n_pages || vaddr >> MODULE_TABLE_PAGE_BITS < t->first_page)
		return &rules[RULE_TABLE_ID_END];
	if (page >= t->n_pages) /* the last row of all is an end */
		return &rules[RULE_TABLE_ID_END];
	pc_low = t->pc_low + t->pages[page].first_row;
	/* The first row of a page begins with it. */
	row = lower_bound(i, 1, t->pages[page].n_rows, pc_low[i] <= low) - 1;
	return &rules[t->rule_id[t->pages[page].first_row + row]];
}

int module_table_bias(const struct module_table *t, uint64_t map_start, uint64_t map_off_bytes,
		      uint64_t *bias)
{
	const struct elf_sections_segment *s;
	uint64_t page_off;
	uint32_t i;

	for (i = 0; i < t->n_exec; i++) {
		s = &t->exec[i];
		/* the kernel maps pages of memory, so the mapping may begin earlier */
		page_off = s->off_bytes & ~(uint64_t)(s->align_bytes - 1);
		if (map_off_bytes >= page_off && map_off_bytes < s->off_bytes + s->size_bytes) {
			*bias = map_start - (s->vaddr - s->off_bytes + map_off_bytes);
			return 0;
		}
	}
	return -EINVAL;
}

void module_table_view(const struct module_table *t, struct module_table_view *view)
{
	*view = (struct module_table_view){
		.arch = t->arch,
		.first_page = t->first_page,
		.pages = t->pages,
		.n_pages = t->n_pages,
		.pc_low = t->pc_low,
		.rule_id = t->rule_id,
		.n_rows = t->n_rows,
		.tracks_bx = t->tracks_bx,
		.stats = t->stats,
	};
}
