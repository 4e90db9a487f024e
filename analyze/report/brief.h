/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * brief - a recording in at most 4 KB of Markdown, for issue trackers, language models and the first look
 *
 * The first line is the situation and its numbers; below it are the first rows of the tables that other commands
 * print, each with that command.  Nothing is counted here.  Names are strangers' bytes: they are written as code, each
 * of bounded length (analyze/out/markdown.h).  Rows that do not fit are left out.
 */
#ifndef EBPREC_ANALYZE_REPORT_BRIEF_H
#define EBPREC_ANALYZE_REPORT_BRIEF_H

#include <stddef.h>
#include <stdio.h>

#include "analyze/report/situation.h"

#define BRIEF_BYTES_MAX 4096
#define BRIEF_ROWS      5

/* All texts are borrowed. */
struct brief_process {
	const char *comm;
	uint64_t run_ns, processes;
};

struct brief_function {
	const char *name, *object;
	uint64_t self, total;
};

struct brief_wait {
	const char *waiter, *where; /* "": not known */
	char reason[32];
	uint64_t count, total_ns, longest_ns;
};

struct brief_change {
	const char *name, *object;
	double share_before, share_after;
	double ratio, low, high; /* ratio INFINITY: it is new */
};

struct brief {
	struct situation_facts facts;
	const char *host, *event, *command; /* NULL: not known */
	const char *scope;                  /* "all processes"; NULL: not known */
	/*
	 * Behind each command: the file, and options that choose; in front of them for diff the other file.  Each not
	 * longer than BRIEF_WORDS_MAX and of printable characters, else "FILE" and "BASELINE".  file: without options.
	 */
	const char *words, *file, *baseline;
	struct brief_process processes[BRIEF_ROWS];
	struct brief_function functions[BRIEF_ROWS];
	struct brief_wait waits[BRIEF_ROWS];
	struct brief_change changes[BRIEF_ROWS];
	struct brief_process most; /* of the short ones of a name: the most processes; 0: none */
	size_t process_count, function_count, wait_count, change_count;
	uint64_t all; /* of which functions have shares: samples, or their weight */
	bool has_switches;
	uint64_t left_out_ns; /* waits of a kind that is no row: for events, timers, children */
	const struct brief_wait *cause; /* the longest of the situation's kind; NULL: none */
	/* The expressions by which collecting, swap_ns and lock_ns were counted. */
	const char *collecting, *swap, *locks;
	const char *unlike;  /* why the two were not compared; NULL: they were, or need not be */
	size_t more_changes; /* real ones without a row */
	const char *quality; /* lines */
};

#define BRIEF_WORDS_MAX 64

/* At most BRIEF_BYTES_MAX bytes.  -ENOMEM, or the errno of the write. */
int brief_write(const struct brief *b, FILE *to);

#endif
