/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * oracle_go - compares our table of Go's code with .debug_frame as libdw reads it, and our names with .symtab
 *
 * Go's linker writes all of them from the same compiler, in forms of their own.  At each boundary of our
 * rows and the byte to both sides the CFA must be the same.  Rows that we leave out, and those where
 * we have no caller, are counted.  Each function must have a symbol of its name and address, and each
 * symbol of Go's code a function.  Exit status 1 on any difference.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/unwind/table/elf_sections.h"
#include "format/unwind/go_pclntab.h"
#include "format/unwind/table/module_table.h"

enum { MAX_SHOWN = 10 };

struct oracle {
	Dwarf_CFI *cfi;
	const struct module_table *table;
	uint64_t same, left_out, outermost, unknown, differences;
};

/* How far libdw's CFA is above the stack pointer; -1: it is found in another way. */
static int64_t their_offset(Dwarf_Frame *frame, uint32_t sp)
{
	Dwarf_Op *ops = NULL;
	size_t n = 0;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return -1;
	if (ops->atom == DW_OP_bregx && ops->number == sp)
		return (int64_t)ops->number2;
	return ops->atom == DW_OP_breg0 + sp ? (int64_t)ops->number : -1;
}

static void check(struct oracle *o, uint64_t pc)
{
	const struct unwind_rule *r = module_table_find(o->table, pc);
	struct module_table_view view;
	Dwarf_Frame *frame;
	int64_t want;

	if (dwarf_cfi_addrframe(o->cfi, pc, &frame)) {
		o->unknown++;
		return;
	}
	module_table_view(o->table, &view);
	want = their_offset(frame, unwind_sp_regno(view.arch));
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
	struct module_table_view v;

	module_table_view(o->table, &v);
	for (uint32_t page = 0; page < v.n_pages; page++)
		for (uint32_t i = 0; i < v.pages[page].n_rows; i++) {
			uint64_t pc = ((v.first_page + page) << MODULE_TABLE_PAGE_BITS) +
				      v.pc_low[v.pages[page].first_row + i];

			check(o, pc - 1);
			check(o, pc);
			check(o, pc + 1);
		}
}

/* ---- names ---- */

struct names {
	Elf *elf;
	Elf_Data *symbols;
	size_t count;
	Elf64_Word strings;
	uint64_t first_pc, end_pc;
	uint64_t same, differences;
};

/* Where the symbol has type arguments the table has "...", and only the symbol has the calling convention. */
static bool is_same_name(const char *ours, const char *theirs)
{
	while (*ours && *ours == *theirs && *ours != '[') {
		ours++;
		theirs++;
	}
	return *ours == *theirs || (!*ours && !strcmp(theirs, ".abi0"));
}

static bool has_symbol(const struct names *n, uint64_t pc, const char *name)
{
	GElf_Sym sym;

	for (size_t i = 0; i < n->count; i++) {
		if (!gelf_getsym(n->symbols, (int)i, &sym) || sym.st_value != pc ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		if (is_same_name(name, elf_strptr(n->elf, n->strings, sym.st_name)))
			return true;
	}
	return false;
}

/* go_pclntab_function_fn */
static int check_name(void *ctx, uint64_t pc, uint64_t end_pc, const char *name)
{
	struct names *n = ctx;

	if (!n->first_pc)
		n->first_pc = pc;
	n->end_pc = end_pc;
	if (has_symbol(n, pc, name))
		n->same++;
	else if (n->differences++ < MAX_SHOWN)
		printf("  DIFFERENCE at %#" PRIx64 ": no symbol %s\n", pc, name);
	return 0;
}

static bool find_symbols(struct names *n)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(n->elf, scn))) {
		if (!gelf_getshdr(scn, &s) || s.sh_type != SHT_SYMTAB)
			continue;
		n->symbols = elf_getdata(scn, NULL);
		n->count = (size_t)(s.sh_size / s.sh_entsize);
		n->strings = s.sh_link;
		return n->symbols;
	}
	return false;
}

/* How many symbols with a size lie in Go's code. */
static uint64_t count_symbols(const struct names *n)
{
	uint64_t count = 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n->count; i++)
		count += gelf_getsym(n->symbols, (int)i, &sym) && sym.st_size &&
			 GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_value >= n->first_pc &&
			 sym.st_value < n->end_pc;
	return count;
}

static int check_names(const char *path, int fd, Elf *elf, struct oracle *o)
{
	struct names n = { .elf = elf };
	struct elf_sections_source source;
	struct elf_sections unwind;
	struct go_pclntab table;
	int err = elf_sections_source_fd(fd, &source);

	if (!err)
		err = elf_sections_read(&source, &unwind, NULL);
	if (err)
		return err;
	table = (struct go_pclntab){ unwind.go_table, unwind.go_bytes, unwind.go_text_vaddr };
	err = !table.data || !find_symbols(&n) || go_pclntab_functions(&table, check_name, &n);
	elf_sections_done(&unwind);
	if (err)
		return err;
	printf("%s: %" PRIu64 " functions have their symbol, %" PRIu64 " symbols, %" PRIu64
	       " differences\n",
	       path, n.same, count_symbols(&n), n.differences);
	o->differences += n.differences + (!n.same || count_symbols(&n) > n.same);
	return 0;
}

/* Sums are added to *sum. */
static int check_file(const char *path, struct rule_table *set, struct oracle *sum)
{
	struct module_table *table = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	struct oracle o = { .cfi = dw ? dwarf_getcfi(dw) : NULL };
	int err = !o.cfi || module_table_from_fd(fd, set, &table, NULL);

	if (!err) {
		o.table = table;
		check_rows(&o);
		err = check_names(path, fd, dwarf_getelf(dw), &o);
		printf("%s: %" PRIu64 " the same, %" PRIu64 " left out, %" PRIu64
		       " outermost, %" PRIu64 " not in .debug_frame, %" PRIu64 " differences\n",
		       path, o.same, o.left_out, o.outermost, o.unknown, o.differences);
		sum->same += o.same;
		sum->differences += o.differences;
	} else {
		fprintf(stderr, "%s: no .debug_frame, no .symtab, or no table\n", path);
	}
	module_table_free(table);
	if (dw)
		dwarf_end(dw);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct oracle sum = { .same = 0 };
	struct rule_table *set = NULL;
	int failed = 0;

	if (rule_table_new(&set))
		return 1;
	for (int i = 1; i < argc; i++)
		failed |= check_file(argv[i], set, &sum);
	rule_table_free(set);
	return failed || sum.differences || !sum.same;
}
