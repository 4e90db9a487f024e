/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * oracle_codeflow - rules read from instructions, against .eh_frame
 *
 * oracle_codeflow FILE...	Reads the code of files that do have rules as if they had none, with the file's symbols
 *				alone, and compares at each byte.  Fails when more than one of 400 is another.
 *
 * A rule may find the same frame by rsp or by rbp: where one table has this and the other that, nothing is
 * compared.  Compilers' rules leave the caller's rbp where it was stored until the end; ours know when it is back.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/insertion_sort.h"
#include "format/unwind/insn_unwind.h"
#include "format/unwind/table/elf_sections.h"
#include "format/unwind/table/rule_table.h"
#include "format/unwind/table/module_table.h"

#define SHOWN_MAX 8u
#define WRONG_IN  400u

struct judge {
	const char *path;
	struct module_table *table;
	uint64_t *starts;
	size_t start_count, start_room;
	uint64_t same, wrong, other, wrong_fp, uncovered;
};

static void add_start(void *ctx, uint64_t vaddr)
{
	struct judge *j = ctx;

	if (j->start_count == j->start_room) {
		j->start_room = j->start_room ? 2 * j->start_room : 1024;
		j->starts = realloc(j->starts, j->start_room * sizeof(*j->starts));
		if (!j->starts)
			exit(1);
	}
	j->starts[j->start_count++] = vaddr;
}

static bool is_other_fp(const struct unwind_rule *ours, const struct unwind_rule *its)
{
	unsigned our = unwind_fp_how(ours), it = unwind_fp_how(its);

	if (our == UNWIND_FP_LOST || our == it)
		return our == UNWIND_FP_CFA && ours->fp_words != its->fp_words;
	return !(our == UNWIND_FP_SAME && it == UNWIND_FP_CFA) &&
	       !(our == UNWIND_FP_CFA && it == UNWIND_FP_SAME);
}

static int judge(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	struct judge *j = ctx;

	for (; pc < end_pc; pc++) {
		const struct unwind_rule *its = module_table_find(j->table, pc);

		if (its->cfa == UNWIND_CFA_END) {
			j->uncovered++;
		} else if (its->cfa != rule->cfa) {
			j->other++;
		} else if (its->cfa_off == rule->cfa_off) {
			j->same++;
			j->wrong_fp += is_other_fp(rule, its);
		} else if (j->wrong++ < SHOWN_MAX) {
			printf("%s %#" PRIx64 ": ours %d, .eh_frame %d\n", j->path, pc,
			       rule->cfa_off, its->cfa_off);
		}
	}
	return 0;
}

static void read_segment(struct judge *j, const struct elf_sections_source *source,
			 const struct elf_sections_segment *s)
{
	struct insn_unwind_code code = { .size_bytes = s->size_bytes, .vaddr = s->vaddr };
	uint8_t *data = malloc(s->size_bytes + 1);

	if (!data || elf_sections_bytes(source, s->off_bytes, data, s->size_bytes))
		exit(1);
	code.data = data;
	if (insn_unwind_rows(&code, j->starts, j->start_count, judge, j, NULL))
		fprintf(stderr, "%s: cannot be read\n", j->path);
	free(data);
}

static bool check_file(const char *path, struct rule_table *set)
{
	struct judge j = { .path = path };
	struct elf_sections_source source;
	struct elf_sections elf;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_sections_source_fd(fd, &source) ||
	    elf_sections_read(&source, &elf, NULL) ||
	    module_table_from_fd(fd, set, &j.table, NULL)) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return false;
	}
	elf_sections_functions(&source, add_start, &j);
	j.start_count = insertion_sort_unique(j.starts, j.start_count);
	for (uint32_t i = 0; i < elf.n_exec; i++)
		read_segment(&j, &source, &elf.exec[i]);
	printf("%s: %zu functions, %" PRIu64 " bytes the same, %" PRIu64 " wrong, %" PRIu64
	       " found in another way, %" PRIu64 " with another rbp, %" PRIu64 " uncovered\n",
	       path, j.start_count, j.same, j.wrong, j.other, j.wrong_fp, j.uncovered);
	module_table_free(j.table);
	elf_sections_done(&elf);
	close(fd);
	free(j.starts);
	return (j.wrong + j.wrong_fp) * WRONG_IN <= j.same;
}

int main(int argc, char **argv)
{
	struct rule_table *set = NULL;
	bool failed = argc < 2;

	if (rule_table_new(&set))
		return 1;
	for (int i = 1; i < argc; i++)
		failed |= !check_file(argv[i], set);
	rule_table_free(set);
	return failed;
}
