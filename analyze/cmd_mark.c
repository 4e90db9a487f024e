/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec mark - puts a mark into the recording that is running
 *
 * It fires the USDT probe ebprec:mark in this very executable: a nop that a recorder has turned
 * into a breakpoint.  The kernel counts listeners in the probe's semaphore, also for a process
 * that starts later, so that a mark nobody hears can be told.
 *
 * The recorder reads the strings from BPF, which cannot wait for a page that is not in memory: a
 * literal nobody touched is unreadable (23 of 23 reads failed; 0 of 23 once touched).
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdbool.h>
#include <stdint.h>
#include <sys/sdt.h>

#include "analyze/commands.h"
#include "analyze/say.h"
#include "analyze/usage.h"

/* The one variable outside of functions: its name and section are the probe's ABI, and the kernel
 * writes it. */
extern volatile unsigned short ebprec_mark_semaphore;
volatile unsigned short ebprec_mark_semaphore __attribute__((section(".probes")));

enum { MARK_POINT = 0 }; /* the probe's kind: a moment, not a span */

struct mark_opts {
	const char *group, *name;
	bool quiet;
};

static const struct option mark_options[] = {
	{ OPT_STRING, 'g', "group", "GROUP", offsetof(struct mark_opts, group), 0, 0,
	  "which marks it belongs to (default: shell)" },
	{ OPT_STRING, 'n', "name", "NAME", offsetof(struct mark_opts, name), 0, 0,
	  "what kind of mark in the group (default: mark)" },
	{ OPT_FLAG, 'q', "quiet", NULL, offsetof(struct mark_opts, quiet), 0, 0,
	  "do not say when no recording heard it" },
	{ 0 },
};

static const struct usage mark_usage = {
	.command = "mark",
	.words = "[--group GROUP] [--name NAME] TEXT",
	.about = "Puts a mark into the recording that is running on this machine: a moment with\n"
		 "a text, in the thread that ran 'ebprec mark'.  Without a recording it does\n"
		 "nothing, says so, and exits with 0, so that it may stay in a script.\n",
	.options = mark_options,
};

static void touch(const char *text)
{
	const volatile char *p = text;

	while (*p)
		p++;
}

int cmd_mark(int argc, char **argv)
{
	struct mark_opts opts = { .group = "shell", .name = "mark" };
	uint64_t duration_ns = 0;
	uint32_t kind = MARK_POINT;
	char **words;
	int status;

	if (!usage_parse(&mark_usage, &opts, argc, argv, 1, 1, &words, &status))
		return status;
	touch(opts.group);
	touch(opts.name);
	touch(words[0]);
	STAP_PROBE5(ebprec, mark, opts.group, opts.name, words[0], duration_ns, kind);
	if (!ebprec_mark_semaphore && !opts.quiet)
		say_note("no recording is listening, the mark is not kept (start 'ebprec record')");
	return SAY_OK;
}
