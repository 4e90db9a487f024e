/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_unwtable - how fast tables are built, and what is in them
 *
 * bench_unwtable [-r] FILE...	builds each table; -r also prints each different rule
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/unwind/table/module_table.h"
#include "tests/lib/rule_text.h"
#include "tests/lib/table_of_file.h"

static const char *const unsup_texts[CFI_UNSUP_COUNT] = {
	[CFI_SUPPORTED] = "supported",
	[CFI_UNSUP_BROKEN] = "broken instructions",
	[CFI_UNSUP_CFA_EXPR] = "unknown CFA expression",
	[CFI_UNSUP_CFA_RANGE] = "CFA register or offset out of range",
	[CFI_UNSUP_RA] = "unknown return address rule",
	[CFI_UNSUP_SP] = "stack pointer is not the CFA",
	[CFI_UNSUP_SIGNAL] = "unknown signal frame",
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t find_ns(const struct module_table *t, const struct module_table_view *v)
{
	uint64_t span = (uint64_t)v->n_pages << MODULE_TABLE_PAGE_BITS, start, x = 1, sum = 0;
	int i;

	if (!span)
		return 0;
	start = now_ns();
	for (i = 0; i < 1000000; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		sum += module_table_find(t, (v->first_page << MODULE_TABLE_PAGE_BITS) +
						    (x >> 20) % span)
			       ->cfa;
	}
	__asm__ volatile("" ::"r"(sum));
	return (now_ns() - start) / 1000000;
}

int main(int argc, char **argv)
{
	uint64_t start, took, all_ns = 0, all_rows = 0, unsup = 0, lost = 0, broken = 0;
	struct parse_err err = { .what = NULL };
	int i, why, rules = argc > 1 && !strcmp(argv[1], "-r"), files = 0;
	struct rule_table *set = NULL;
	struct module_table_view v;
	struct module_table *t;
	char text[128];
	int ret;

	if (rule_table_new(&set))
		return 1;
	for (i = 1 + rules; i < argc; i++) {
		t = NULL;
		start = now_ns();
		ret = table_of_file(argv[i], set, &t, &err);
		took = now_ns() - start;
		if (ret) {
			printf("%s: %s (%s)\n", argv[i], err.what ? err.what : "-", strerror(-ret));
			continue;
		}
		module_table_view(t, &v);
		printf("%s: %u FDEs %u raw %u merged rows, %u columns, %.1f ms, %.2f M rows/s, find %" PRIu64
		       " ns%s\n",
		       argv[i], v.stats.fdes, v.stats.raw_rows, v.stats.rows, v.n_rows,
		       (double)took / 1e6, (double)v.stats.rows * 1e3 / (double)(took ? took : 1),
		       find_ns(t, &v), v.tracks_bx ? ", rbx" : "");
		for (why = 1; why < CFI_UNSUP_COUNT; why++) {
			unsup += v.stats.unsup_rows[why];
			if (v.stats.unsup_rows[why])
				printf("    %u rows: %s\n", v.stats.unsup_rows[why],
				       unsup_texts[why]);
		}
		lost += v.stats.fp_lost_rows;
		broken += v.stats.fdes_broken;
		all_ns += took;
		all_rows += v.stats.rows;
		files++;
		module_table_free(t);
	}
	for (i = 0; rules && i < (int)rule_table_count(set); i++) {
		rule_text(UNWIND_X86_64, &rule_table_rules(set)[i], text, sizeof(text));
		printf("  rule %d: %s\n", i, text);
	}
	printf("%d files, %" PRIu64 " rows, %.1f ms, %.2f M rows/s, %u rules, %" PRIu64
	       " unsupported, %" PRIu64 " fp lost, %" PRIu64 " FDEs without a range\n",
	       files, all_rows, (double)all_ns / 1e6, (double)all_rows * 1e3 / (double)(all_ns + 1),
	       rule_table_count(set), unsup, lost, broken);
	rule_table_free(set);
	return 0;
}
