/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * oracle_ehframe - compares our unwind table with libdw's rules
 *
 * For each file: at the first byte, the second byte and the last byte of every row that libdw sees
 * in every FDE, and at every row boundary of ours and the byte to both sides, the rule found in
 * our table must mean the same as libdw's answer.  Rules that we mark as unsupported are counted
 * and must be ones that 8 bytes cannot express.  Exit status 1 on any difference, and when a file
 * cannot be read; with -e first, files without a table (scripts, data) are passed over.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/unwind/table/elf_sections.h"
#include "format/unwind/table/module_table.h"
#include "tests/lib/rule_text.h"

enum { TEXT_BYTES = 64, MAX_SHOWN = 10 };

/* The three parts of a rule, in a form both sides can be brought to. */
struct meaning {
	char cfa[TEXT_BYTES], fp[TEXT_BYTES], ra[TEXT_BYTES], bx[TEXT_BYTES];
};

struct oracle {
	const char *path;
	Dwarf_CFI *cfi;
	const struct module_table *table;
	const struct elf_sections *elf;
	enum unwind_arch arch;
	uint64_t checks, differences, unsup, fp_lost, bx_known, padding, fdes;
};

static void op_text(const Dwarf_Op *ops, size_t n, char *out)
{
	const Dwarf_Op *o = ops;
	int64_t off = 0;

	if (n >= 1 && o->atom == DW_OP_bregx && n == 1) {
		snprintf(out, TEXT_BYTES, "r%d%+" PRId64, (int)o->number, (int64_t)o->number2);
		return;
	}
	if (n == 9 && o[0].atom == DW_OP_breg7 && o[0].number == 8 && o[1].atom == DW_OP_breg16 &&
	    o[2].atom == DW_OP_lit15 && o[3].atom == DW_OP_and && o[5].atom == DW_OP_ge &&
	    o[6].atom == DW_OP_lit3 && o[7].atom == DW_OP_shl && o[8].atom == DW_OP_plus) {
		snprintf(out, TEXT_BYTES, "plt%d", o[4].atom - DW_OP_lit0);
		return;
	}
	if (n >= 1 && o->atom >= DW_OP_breg0 && o->atom <= DW_OP_breg31) {
		if (n == 1) {
			snprintf(out, TEXT_BYTES, "r%d%+" PRId64, o->atom - DW_OP_breg0,
				 (int64_t)o->number);
			return;
		}
		if (n == 3 && o[2].atom == DW_OP_plus_uconst)
			off = (int64_t)o[2].number;
		if (o[1].atom == DW_OP_deref && (n == 2 || off)) {
			snprintf(out, TEXT_BYTES, "[r%d%+" PRId64 "]%+" PRId64,
				 o->atom - DW_OP_breg0, (int64_t)o->number, off);
			return;
		}
	}
	snprintf(out, TEXT_BYTES, "other");
}

static void reg_text(Dwarf_Frame *frame, int regno, char *out)
{
	Dwarf_Op mem[3], *ops;
	int64_t off = 0;
	char text[TEXT_BYTES];
	size_t n;

	if (dwarf_frame_register(frame, regno, mem, &ops, &n)) {
		snprintf(out, TEXT_BYTES, "error");
	} else if (!n) {
		snprintf(out, TEXT_BYTES, ops ? "undef" : "same");
	} else if (ops[0].atom == DW_OP_call_frame_cfa &&
		   (n == 1 || ops[1].atom == DW_OP_plus_uconst ||
		    ops[1].atom == DW_OP_stack_value)) {
		if (n > 1 && ops[1].atom == DW_OP_plus_uconst)
			off = (int64_t)ops[1].number;
		if (ops[n - 1].atom == DW_OP_stack_value)
			snprintf(out, TEXT_BYTES, "cfa%+" PRId64, off);
		else
			snprintf(out, TEXT_BYTES, "[cfa%+" PRId64 "]", off);
	} else if (ops[0].atom == DW_OP_regx && n == 1) {
		snprintf(out, TEXT_BYTES, "r%d", (int)ops[0].number);
	} else if (ops[n - 1].atom == DW_OP_stack_value) {
		snprintf(out, TEXT_BYTES, "other");
	} else {
		op_text(ops + 1, n - 1, text); /* an expression finds the CFA on its stack */
		snprintf(out, TEXT_BYTES, "[%.60s]", text);
	}
}

static void theirs(const struct oracle *o, Dwarf_Frame *frame, int ra, struct meaning *m)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		snprintf(m->cfa, TEXT_BYTES, "error");
	else
		op_text(ops, n, m->cfa);
	reg_text(frame, o->arch == UNWIND_AARCH64 ? UNWIND_ARM_FP : UNWIND_X86_FP, m->fp);
	reg_text(frame, ra, m->ra);
	reg_text(frame, UNWIND_X86_BX, m->bx);
}

static void ours(const struct oracle *o, const struct unwind_rule *r, struct meaning *m)
{
	int arm = o->arch == UNWIND_AARCH64, off = r->cfa_off;
	int fp = arm ? UNWIND_ARM_FP : UNWIND_X86_FP, sp = arm ? UNWIND_ARM_SP : UNWIND_X86_SP;
	int ra = (int)unwind_ra_how(r), words = 8 * r->fp_words;

	if (r->cfa == UNWIND_CFA_SP)
		snprintf(m->cfa, TEXT_BYTES, "r%d%+d", sp, off);
	else if (r->cfa == UNWIND_CFA_FP)
		snprintf(m->cfa, TEXT_BYTES, "r%d%+d", fp, off);
	else if (r->cfa == UNWIND_CFA_PLT)
		snprintf(m->cfa, TEXT_BYTES, "plt%d", off);
	else if (r->cfa == UNWIND_CFA_DEREF_SP || r->cfa == UNWIND_CFA_DEREF_FP)
		snprintf(m->cfa, TEXT_BYTES, "[r%d%+d]%+d", r->cfa == UNWIND_CFA_DEREF_SP ? sp : fp,
			 off >> 8, 8 * (int8_t)off);
	else
		snprintf(m->cfa, TEXT_BYTES, "r%d%+d", r->cfa - UNWIND_CFA_REG, off);

	if (unwind_fp_how(r) == UNWIND_FP_SAME)
		snprintf(m->fp, TEXT_BYTES, "same");
	else if (unwind_fp_how(r) == UNWIND_FP_CFA)
		snprintf(m->fp, TEXT_BYTES, "[cfa%+d]", words);
	else if (unwind_fp_how(r) == UNWIND_FP_LOST)
		snprintf(m->fp, TEXT_BYTES, "undef");
	else
		snprintf(m->fp, TEXT_BYTES, "[r%d%+d]", unwind_fp_how(r) == UNWIND_FP_FP ? fp : sp,
			 words);

	if (r->bx == UNWIND_BX_SAME)
		snprintf(m->bx, TEXT_BYTES, "same");
	else if (r->bx)
		snprintf(m->bx, TEXT_BYTES, "[cfa-%d]", 8 * r->bx);

	if (arm && !ra)
		snprintf(m->ra, TEXT_BYTES, "same");
	else if (arm)
		snprintf(m->ra, TEXT_BYTES, "[cfa%+d]", words + 8 * (ra - UNWIND_RA_SAME_WORD));
	else if (ra)
		snprintf(m->ra, TEXT_BYTES, "r%d", ra - 1);
	else
		snprintf(m->ra, TEXT_BYTES, "[cfa-8]");
}

static bool is_short_word(const char *reg)
{
	int n;

	return sscanf(reg, "[cfa%d]", &n) == 1 && !(n & 7) && n / 8 >= INT16_MIN && n / 8 <= 0;
}

/* Code that we know otherwise: where a program begins, .init and .fini, Go's (see oracle_go). */
static bool is_known(const struct oracle *o, uint64_t pc)
{
	const struct elf_sections *elf = o->elf;
	uint32_t i;

	if (elf->go_table)
		return true;
	if (elf->start_vaddr && pc - elf->start_vaddr < MODULE_TABLE_START_BYTES)
		return true;
	for (i = 0; i < elf->n_hooks; i++)
		if (pc - elf->hooks[i].vaddr < elf->hooks[i].size_bytes)
			return true;
	return false;
}

/* True when our rule and libdw's mean the same. */
static bool agree(struct oracle *o, const struct unwind_rule *r, bool signal_frame,
		  const struct meaning *us, const struct meaning *them)
{
	bool ra_known = !strcmp(them->ra, "same") || is_short_word(them->ra);

	switch (r->cfa) {
	case UNWIND_CFA_RA_UNDEF:
		return !strcmp(them->ra, "undef");
	case UNWIND_CFA_SIGNAL:
		return signal_frame && !strcmp(them->cfa, "[r7+160]+0") &&
		       !strcmp(them->ra, "[r7+168]") && !strcmp(them->fp, "[r7+120]");
	case UNWIND_CFA_UNSUP:
		o->unsup++;
		return signal_frame || !ra_known || !strcmp(them->cfa, "other") ||
		       !strncmp(them->cfa, "[r", 2) || !strcmp(them->cfa, "error") ||
		       (o->arch == UNWIND_X86_64 && strcmp(them->ra, "[cfa-8]") != 0);
	case UNWIND_CFA_END:
		return false;
	default:
		break;
	}
	if (strcmp(us->cfa, them->cfa) != 0 || strcmp(us->ra, them->ra) != 0 || signal_frame)
		return false;
	/* libdw 0.188 takes rbx, where .eh_frame has no rule for it, for a register that calls destroy */
	if (r->bx && strcmp(us->bx, them->bx) != 0 &&
	    !(r->bx == UNWIND_BX_SAME && !strcmp(them->bx, "undef")))
		return false;
	o->bx_known += r->bx != 0;
	if (!strcmp(us->fp, them->fp))
		return true;
	if (unwind_fp_how(r) != UNWIND_FP_LOST)
		return false;
	o->fp_lost++;
	return !is_short_word(them->fp) || o->arch == UNWIND_AARCH64;
}

/* True when libdw knows an address at most 15 bytes before pc: what we cover is padding. */
static bool is_padding(const struct oracle *o, uint64_t pc)
{
	Dwarf_Frame *frame;
	uint64_t back;

	for (back = 1; back <= EH_FRAME_MAX_PADDING_BYTES; back++)
		if (!dwarf_cfi_addrframe(o->cfi, pc - back, &frame)) {
			free(frame);
			return true;
		}
	return false;
}

/* Compares at pc.  Returns the end of libdw's row, or 0 when libdw knows nothing there. */
static uint64_t check(struct oracle *o, uint64_t pc)
{
	const struct unwind_rule *r = module_table_find(o->table, pc);
	struct meaning us = { .cfa = "" }, them;
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal_frame, same;
	char text[128];
	int ra;

	o->checks++;
	if (dwarf_cfi_addrframe(o->cfi, pc, &frame)) {
		if (r->cfa == UNWIND_CFA_END)
			return 0;
		o->padding++;
		if (!is_padding(o, pc) && !is_known(o, pc) && o->differences++ < MAX_SHOWN)
			printf("  DIFFERENCE at %#" PRIx64 ": only we cover it\n", pc);
		return 0;
	}
	ra = dwarf_frame_info(frame, &start, &end, &signal_frame);
	theirs(o, frame, ra, &them);
	if (r->cfa > UNWIND_CFA_SIGNAL)
		ours(o, r, &us);
	same = agree(o, r, signal_frame, &us, &them);
	if ((!same && o->differences++ < MAX_SHOWN) ||
	    (r->cfa == UNWIND_CFA_UNSUP && o->unsup <= 3)) {
		rule_text(o->arch, r, text, sizeof(text));
		printf("  %s at %#" PRIx64 ": ours %s; libdw cfa=%s fp=%s ra=%s bx=%s%s\n",
		       same ? "unsupported" : "DIFFERENCE", pc, text, them.cfa, them.fp, them.ra,
		       them.bx, signal_frame ? " signal" : "");
	}
	free(frame);
	return end;
}

/* Every row libdw sees in [begin, end). */
static void check_fde(struct oracle *o, uint64_t begin, uint64_t end)
{
	uint64_t pc = begin, row_end;

	o->fdes++;
	while (pc < end) {
		row_end = check(o, pc);
		if (!row_end) {
			printf("  libdw has no row at %#" PRIx64 " of its own FDE\n", pc);
			return;
		}
		if (row_end > end) /* overlapping FDEs */
			row_end = end;
		if (pc + 1 < row_end)
			check(o, pc + 1);
		if (row_end - 1 > pc + 1)
			check(o, row_end - 1);
		pc = row_end;
	}
}

/* All FDEs, found by libdw's own walk over the section. */
static int check_fdes(struct oracle *o, Elf *elf, const struct elf_sections *eh)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Elf_Data data = { .d_buf = eh->eh_frame, .d_size = eh->size_bytes, .d_type = ELF_T_BYTE };
	Dwarf_Off off = 0, next;
	Dwarf_CFI_Entry entry;
	struct cursor c;
	uint64_t pc, size;
	int ret;

	while (!(ret = dwarf_next_cfi(ident, &data, true, off, &next, &entry)) || ret == -1) {
		if (ret == -1)
			return fprintf(stderr, "dwarf_next_cfi: %s\n", dwarf_errmsg(-1)), -1;
		if (!dwarf_cfi_cie_p(&entry)) {
			c = cursor_of(eh->eh_frame, eh->size_bytes);
			c.off_bytes = (size_t)(entry.fde.start - eh->eh_frame);
			pc = eh->vaddr + c.off_bytes; /* all these files have pcrel | sdata4 */
			pc += (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
			size = cursor_u32(&c);
			if (size)
				check_fde(o, pc, pc + size);
		}
		if (next == (Dwarf_Off)-1)
			break;
		off = next;
	}
	return 0;
}

/* Every boundary of ours and its neighbours. */
static void check_rows(struct oracle *o)
{
	struct module_table_view v;
	uint32_t page, i;
	uint64_t pc;

	module_table_view(o->table, &v);
	for (page = 0; page < v.n_pages; page++)
		for (i = 0; i < v.pages[page].n_rows; i++) {
			pc = ((v.first_page + page) << MODULE_TABLE_PAGE_BITS) +
			     v.pc_low[v.pages[page].first_row + i];
			check(o, pc - 1);
			check(o, pc);
			check(o, pc + 1);
		}
}

static int check_file(const char *path, struct rule_table *set, bool easy, uint64_t *differences)
{
	struct oracle o = { .path = path };
	struct elf_sections eh = { .eh_frame = NULL };
	struct module_table *table = NULL;
	struct elf_sections_source source;
	struct parse_err perr = { .what = NULL };
	struct module_table_view v;
	Elf *elf = NULL;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = elf_sections_source_fd(fd, &source);
	if (!err)
		err = elf_sections_read(&source, &eh, &perr);
	if (!err)
		err = module_table_from_fd(fd, set, &table, &perr);
	if (err) {
		if (easy)
			err = 0;
		else
			fprintf(stderr, "%s: %s\n", path, perr.what ? perr.what : strerror(-err));
		goto out;
	}
	module_table_view(table, &v);
	if (!v.n_rows)
		goto out;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	o.cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	err = o.cfi ? 0 : -EINVAL;
	if (err)
		goto out;
	o.table = table;
	o.elf = &eh;
	o.arch = v.arch;
	err = check_fdes(&o, elf, &eh);
	check_rows(&o);
	printf("%s: %" PRIu64 " FDEs (%u parsed, %u dropped, %u broken), %u rows, %" PRIu64
	       " checks, %" PRIu64 " unsupported, %" PRIu64 " fp lost, %" PRIu64
	       " rbx known, %" PRIu64 " in padding, %" PRIu64 " differences\n",
	       path, o.fdes, v.stats.fdes, v.stats.fdes_dropped, v.stats.fdes_broken, v.stats.rows,
	       o.checks, o.unsup, o.fp_lost, o.bx_known, o.padding, o.differences);
	*differences += o.differences;
out:
	module_table_free(table);
	elf_sections_done(&eh);
	if (elf)
		elf_end(elf);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct rule_table *set = NULL;
	uint64_t differences = 0;
	int i, failed = 0;
	bool easy = argc > 1 && !strcmp(argv[1], "-e");

	elf_version(EV_CURRENT);
	if (rule_table_new(&set))
		return 1;
	for (i = 1 + easy; i < argc; i++)
		failed |= check_file(argv[i], set, easy, &differences) != 0;
	printf("%u different rules, %" PRIu64 " differences\n", rule_table_count(set), differences);
	rule_table_free(set);
	return failed || differences;
}
