/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * oracle_go - does our table of Go's code say what libdw reads in .debug_frame?
 *
 * Go's linker writes both from the same compiler, in forms of their own.  At each boundary of our
 * rows and the byte to both sides the CFA must be the same.  What we leave out, and where we say
 * that nothing called, is counted.  Exit status 1 on any difference.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/unwtable.h"

enum { MAX_SHOWN = 10 };

struct oracle {
	Dwarf_CFI *cfi;
	const struct unwtable *table;
	uint64_t same, left_out, outermost, unknown, differences;
};

/* How far libdw's CFA is above the stack pointer; -1: it says something else. */
static int64_t their_offset(Dwarf_Frame *frame)
{
	Dwarf_Op *ops = NULL;
	size_t n = 0;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return -1;
	if (ops->atom == DW_OP_bregx && ops->number == UNWIND_X86_SP)
		return (int64_t)ops->number2;
	return ops->atom == DW_OP_breg7 ? (int64_t)ops->number : -1;
}

static void check(struct oracle *o, uint64_t pc)
{
	const struct unwind_rule *r = unwtable_find(o->table, pc);
	Dwarf_Frame *frame;
	int64_t want;

	if (dwarf_cfi_addrframe(o->cfi, pc, &frame)) {
		o->unknown++;
		return;
	}
	want = their_offset(frame);
	free(frame);
	if (r->cfa == UNWIND_CFA_END)
		o->left_out++;
	else if (r->cfa == UNWIND_CFA_RA_UNDEF)
		o->outermost++;
	else if (r->cfa == UNWIND_CFA_SP && r->cfa_off == want)
		o->same++;
	else if (o->differences++ < MAX_SHOWN)
		printf("  DIFFERENCE at %#" PRIx64 ": ours %d, libdw's %" PRId64 "\n", pc,
		       r->cfa_off, want);
}

static void check_rows(struct oracle *o)
{
	struct unwtable_view v;

	unwtable_view(o->table, &v);
	for (uint32_t page = 0; page < v.n_pages; page++)
		for (uint32_t i = 0; i < v.pages[page].n_rows; i++) {
			uint64_t pc = ((v.first_page + page) << UNWTABLE_PAGE_BITS) +
				      v.pc_low[v.pages[page].first_row + i];

			check(o, pc - 1);
			check(o, pc);
			check(o, pc + 1);
		}
}

/* Sums are added to *sum. */
static int check_file(const char *path, struct ruleset *set, struct oracle *sum)
{
	struct unwtable *table = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	struct oracle o = { .cfi = dw ? dwarf_getcfi(dw) : NULL };
	int err = !o.cfi || unwtable_from_fd(fd, set, &table, NULL);

	if (!err) {
		o.table = table;
		check_rows(&o);
		printf("%s: %" PRIu64 " the same, %" PRIu64 " left out, %" PRIu64
		       " outermost, %" PRIu64 " not in .debug_frame, %" PRIu64 " differences\n",
		       path, o.same, o.left_out, o.outermost, o.unknown, o.differences);
		sum->same += o.same;
		sum->differences += o.differences;
	} else {
		fprintf(stderr, "%s: no .debug_frame, or no table\n", path);
	}
	unwtable_free(table);
	if (dw)
		dwarf_end(dw);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct oracle sum = { .same = 0 };
	struct ruleset *set = NULL;
	int failed = 0;

	if (ruleset_new(&set))
		return 1;
	for (int i = 1; i < argc; i++)
		failed |= check_file(argv[i], set, &sum);
	ruleset_free(set);
	return failed || sum.differences || !sum.same;
}
