/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec live, or ebprec top - the options: with instruments their tables, without where the time goes
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/cmd/live/cmd_live_screen.h"
#include "analyze/cmd/live/cmd_live_tables.h"
#include "analyze/cmd/metrics/cmd_metric_tables.h"
#include "analyze/out/message.h"

struct live_opts {
	const char *by, *sort, *every, *slower, *show;
	struct option_list pids, with, cpus;
	struct task_options tasks; /* those that are shown; what is recorded: pids */
	bool json, histogram, each, stdio, no_kernel, no_user;
	unsigned top, count, freq;
};

#define LIVE_DEFAULTS                         \
	{                                     \
		.top = UINT32_MAX, .freq = 99 \
	}

#define AT(field)    offsetof(struct live_opts, field)
#define SAVED(words) "'ebprec report " words "' of the capture that the key s writes"

static const struct option live_options[] = {
	{ OPT_STRING, 0, "interval", "SECONDS", AT(every), 0, 0,
	  "how often the tables are shown (default: 1); on the screen: how many seconds it "
	  "shows" },
	{ OPT_UINT, 0, "count", "N", AT(count), 1, UINT32_MAX, "end after N intervals" },
	{ OPT_STRING, 0, "by", "WHAT[,WHAT]", AT(by), 0, 0,
	  "process, thread, comm, cgroup, or a key of the table; without an instrument: "
	  "program, process, thread, container, unit or function" },
	{ OPT_STRING, 's', "sort", "COLUMN", AT(sort), 0, 0,
	  "largest first in this column, as --json names it; without an instrument comm, pid, "
	  "tid or symbol, as perf top has them" },
	{ OPT_UINT, 'n', "top", "N", AT(top), 0, UINT32_MAX,
	  "no more rows than this (default: 10, 0: all; --json: all)" },
	{ OPT_FLAG, 0, "histogram", NULL, AT(histogram), 0, 0,
	  "how the times or sizes of each row are spread" },
	{ OPT_STRING, 0, "slower", "TIME", AT(slower), 0, 0,
	  "a row of its own for each event that takes so long, as 10ms" },
	{ OPT_FLAG, 0, "each", NULL, AT(each), 0, 0, "net: a row for each packet that is sent" },
	{ OPT_LIST, 0, "with", "NAME,...", AT(with), 0, 0,
	  "show these instruments, too, as words do" },
	{ OPT_LIST, 'p', "pid", "PID,...", AT(pids), 0, 0,
	  "only these processes, and those that they start" },
	{ OPT_LIST, 't', "tid", "TID,...", AT(tasks.tids), 0, 0,
	  "without an instrument: only these threads" },
	{ OPT_LIST, 0, "comm", "NAME,...", AT(tasks.comms), 0, 0,
	  "without an instrument: only threads of these names; '!NAME,...': all but these" },
	{ OPT_LIST, 'C', "cpu", "CPU,...", AT(cpus), 0, 0,
	  "without an instrument: only what ran on these CPUs, as 0-3,8" },
	{ OPT_FLAG, 'K', "hide-kernel", NULL, AT(no_kernel), 0, 0,
	  "without an instrument: only CPU time outside of the kernel" },
	{ OPT_FLAG, 'U', "hide-user", NULL, AT(no_user), 0, 0,
	  "without an instrument: only CPU time in the kernel" },
	{ OPT_STRING, 0, "show", "WHAT", AT(show), 0, 0,
	  "without an instrument: cpu, off-cpu (waits by reason), wall (both), wakers (waits with "
	  "what ended them), or stacks of an instrument" },
	{ OPT_UINT, 'F', "freq", "HZ", AT(freq), 1, 10000,
	  "without an instrument: samples a second on each CPU (default: 99)" },
	{ OPT_FLAG, 0, "stdio", NULL, AT(stdio), 0, 0, "tables, on a terminal, too" },
	{ OPT_FLAG, 'j', "json", NULL, AT(json), 0, 0, "as JSON, a document each interval" },
	{ OPT_SAME, 'd', "delay", "interval", 0, 0, 0, NULL },
	{ OPT_SAME, 'E', "entries", "top", 0, 0, 0, NULL },
	{ OPT_SAME, 0, "hide_kernel_symbols", "hide-kernel", 0, 0, 0, NULL },
	{ OPT_SAME, 0, "hide_user_symbols", "hide-user", 0, 0, 0, NULL },
	{ OPT_SAME, 0, "comms", "comm", AT(tasks.comm_name), 0, 0, NULL },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'a', "all-cpus", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'g', "graph", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "all-cgroups", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "children", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "demangle-kernel", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "force", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "ignore-vmlinux", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "namespaces", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "show-nr-samples", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "tui", NULL, 0, 0, 0, NULL },
	{ OPT_OTHER, 0, "asm-raw", NULL, 0, 0, 0, SAVED("--annotate FUNCTION --asm") },
	{ OPT_OTHER, 'b', "branch-any", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "branch-filter", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "call-graph", NULL, 0, 0, 0,
	  "stacks are always taken, 'ebprec record --call-graph HOW' chooses how" },
	{ OPT_OTHER, 'G', "cgroup", NULL, 0, 0, 0, "--by unit or --by container, and Enter" },
	{ OPT_OTHER, 'w', "column-widths", NULL, 0, 0, 0, "tables are as wide as the terminal" },
	{ OPT_OTHER, 'c', "count", NULL, 0, 0, 0, "samples are taken by time, see -F" },
	{ OPT_OTHER, 'f', "count-filter", NULL, 0, 0, 0, "--top N has the largest" },
	{ OPT_OTHER, 'M', "disassembler-style", NULL, 0, 0, 0,
	  SAVED("--annotate FUNCTION --asm=intel") },
	{ OPT_OTHER, 0, "dsos", NULL, 0, 0, 0, SAVED("--dso REGEX") },
	{ OPT_OTHER, 'D', "dump-symtab", NULL, 0, 0, 0, SAVED("--symbols-report") },
	{ OPT_OTHER, 'e', "event", NULL, 0, 0, 0,
	  "it samples CPU time; --show off-cpu has waits, 'ebprec live NAME' an instrument of "
	  "'ebprec record --list'" },
	{ OPT_OTHER, 0, "fields", NULL, 0, 0, 0, "--json has all columns" },
	{ OPT_OTHER, 0, "group", NULL, 0, 0, 0, "one event is sampled" },
	{ OPT_OTHER, 0, "group-sort-idx", NULL, 0, 0, 0, "one event is sampled" },
	{ OPT_OTHER, 0, "hierarchy", NULL, 0, 0, 0,
	  "the key v shows a tree below what --by names" },
	{ OPT_OTHER, 0, "ignore-callees", NULL, 0, 0, 0, SAVED("--callers FUNCTION") },
	{ OPT_OTHER, 0, "kallsyms", NULL, 0, 0, 0, "names of the running kernel are read" },
	{ OPT_OTHER, 0, "max-stack", NULL, 0, 0, 0, "'ebprec record --max-frames N'" },
	{ OPT_OTHER, 'm', "mmap-pages", NULL, 0, 0, 0, "'ebprec record --buffer MIB'" },
	{ OPT_OTHER, 0, "no-bpf-event", NULL, 0, 0, 0,
	  "names of BPF programs are always recorded" },
	{ OPT_OTHER, 'i', "no-inherit", NULL, 0, 0, 0, "-t TID,... shows threads alone" },
	{ OPT_OTHER, 0, "num-thread-synthesize", NULL, 0, 0, 0,
	  "-p PID,... reads these processes alone" },
	{ OPT_OTHER, 0, "objdump", NULL, 0, 0, 0, SAVED("--annotate FUNCTION --asm") },
	{ OPT_OTHER, 0, "overwrite", NULL, 0, 0, 0, "the last ten minutes stay" },
	{ OPT_OTHER, 0, "percent-limit", NULL, 0, 0, 0, "--top N has the largest" },
	{ OPT_OTHER, 0, "percentage", NULL, 0, 0, 0, "100 % is what was chosen" },
	{ OPT_OTHER, 0, "prefix", NULL, 0, 0, 0, SAVED("--source-dir DIR") },
	{ OPT_OTHER, 0, "prefix-strip", NULL, 0, 0, 0, SAVED("--source-dir DIR") },
	{ OPT_OTHER, 0, "proc-map-timeout", NULL, 0, 0, 0,
	  "what hangs is given up after two seconds" },
	{ OPT_OTHER, 0, "raw-trace", NULL, 0, 0, 0, "'ebprec script' of a capture shows it" },
	{ OPT_OTHER, 'r', "realtime", NULL, 0, 0, 0, "the recorder is real-time while rings fill" },
	{ OPT_OTHER, 0, "show-on-off-events", NULL, 0, 0, 0, SAVED("--during SPAN") },
	{ OPT_OTHER, 0, "show-total-period", NULL, 0, 0, 0, "--show wall has microseconds" },
	{ OPT_OTHER, 0, "source", NULL, 0, 0, 0, SAVED("--annotate FUNCTION") },
	{ OPT_OTHER, 0, "stitch-lbr", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "switch-off", NULL, 0, 0, 0, SAVED("--between MARK MARK") },
	{ OPT_OTHER, 0, "switch-on", NULL, 0, 0, 0, SAVED("--between MARK MARK") },
	{ OPT_OTHER, 0, "sym-annotate", NULL, 0, 0, 0, SAVED("--annotate FUNCTION") },
	{ OPT_OTHER, 0, "symbols", NULL, 0, 0, 0,
	  "the key / chooses by name; " SAVED("--symbol REGEX") },
	{ OPT_OTHER, 'u', "uid", NULL, 0, 0, 0, "-p PID,... with those of pgrep -d, -U UID" },
	{ OPT_OTHER, 'v', "verbose", NULL, 0, 0, 0, "'ebprec doctor' prints what can be recorded" },
	{ OPT_OTHER, 'k', "vmlinux", NULL, 0, 0, 0, "names of the running kernel are read" },
	{ OPT_OTHER, 'z', "zero", NULL, 0, 0, 0,
	  "each table is of its own seconds; [ and ] choose how many" },
	{ 0 },
};

static const struct usage live_usage = {
	.command = "live",
	.words = "[NAME...] [OPTIONS]",
	.about = "Shows where the time of the machine goes, with the stacks, on a screen that can\n"
		 "go back in time; '?' shows its keys.  Without a terminal, with --json or\n"
		 "--count: a table each second (--interval).\n"
		 "With instruments: shows what they count every interval, until Ctrl-C, the\n"
		 "tables of 'ebprec metrics', without a capture.  'ebprec record --list' names\n"
		 "the instruments; cpu, sched and mark have no tables.\n"
		 "'ebprec top' is the same.\n",
	.options = live_options,
};

/* ---- what was asked for ---- */

/* Owned; NULL: no memory. */
static char *joined(char *const *words, size_t count)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%s", i ? "," : "", words[i]);
	fclose(to);
	return text;
}

struct names {
	char *list[METRIC_TABLES_MAX]; /* owned */
	size_t count;
};

static int add_name(struct names *n, const char *name, size_t bytes)
{
	if (n->count == METRIC_TABLES_MAX)
		return usage_error(&live_usage, "more than %d instruments", METRIC_TABLES_MAX);
	n->list[n->count] = strndup(name, bytes);
	if (!n->list[n->count])
		return message_error("cannot show instruments: %s", strerror(ENOMEM));
	return metric_tables_are_elsewhere(n->list[n->count++]) ? MESSAGE_FAILED : 0;
}

/* Words, and lists of --with. */
static int take_names(struct names *n, const struct option_list *with, char **words)
{
	int status = 0;

	for (; !status && *words; words++)
		status = add_name(n, *words, strlen(*words));
	for (unsigned i = 0; i < with->count; i++) {
		const char *name = with->values[i];

		for (size_t bytes; !status && *name; name += bytes + (name[bytes] == ',')) {
			bytes = strcspn(name, ",");
			status = bytes ? add_name(n, name, bytes) : 0;
		}
	}
	if (!status && with->count && !n->count)
		status = usage_error(
			&live_usage,
			"option '--with' needs an instrument, as in '--with syscalls'; "
			"'ebprec record --list' has their names");
	return status;
}

static void names_done(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->list[i]);
}

static int show_tables(const struct live_opts *o, const struct names *names, const char *pids)
{
	char *with = joined(names->list, names->count);
	const struct live_tables_ask ask = {
		.usage = &live_usage,
		.names = names->list,
		.name_count = names->count,
		.with = with,
		.pids = pids,
		.interval_s = o->every,
		.slower = o->slower,
		.each = o->each,
		.count = o->count,
		.view = { .by = o->by,
			  .sort = o->sort,
			  .form = o->json ? METRIC_JSON_FORM : METRIC_TEXT_FORM,
			  .histogram = o->histogram,
			  .top = o->top },
	};
	int status = MESSAGE_USAGE;

	if (!with)
		status = message_error("cannot show instruments: %s", strerror(ENOMEM));
	else if (usage_has_none(&live_usage, o, &(struct live_opts)LIVE_DEFAULTS,
				"show freq tid comm cpu hide-kernel hide-user",
				"'ebprec live' with an instrument"))
		status = cmd_live_tables(&ask);
	free(with);
	return status;
}

/* ---- without instruments ---- */

/* The grouping that the first of perf's keys stands for; the others are in the tree below it.  NULL: there is no such key. */
static const char *grouping_of(const char *keys)
{
	static const struct {
		const char *key, *by;
	} all[] = {
		{ "comm", "program" }, { "pid", "process" },     { "tid", "thread" },
		{ "sym", "function" }, { "symbol", "function" }, { "dso", "function" },
		{ "cgroup", "unit" },
	};
	size_t bytes = strcspn(keys, ",");

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strlen(all[i].key) == bytes && !memcmp(all[i].key, keys, bytes))
			return all[i].by;
	return NULL;
}

/* *by: NULL, the default.  0, or the exit status after an error was printed. */
static int choose_grouping(const struct live_opts *o, const char **by)
{
	*by = o->by;
	if (!o->sort)
		return 0;
	if (o->by)
		return usage_error(&live_usage, "options '--sort' and '--by' exclude each other "
						"without an instrument");
	*by = grouping_of(o->sort);
	return *by ? 0
		   : usage_error(&live_usage,
				 "option '--sort' cannot be '%s' without an instrument: comm, "
				 "pid, tid, symbol, dso or cgroup was expected, or '--by'",
				 o->sort);
}

/* 0, or the exit status after an error was printed. */
static int choose_seconds(const struct live_opts *o, struct live_ask *ask)
{
	unsigned long seconds;
	char *end;

	if (!o->every)
		return 0;
	seconds = strtoul(o->every, &end, 10);
	if (*end || seconds < 1 || seconds > 600)
		return usage_error(&live_usage, "option '--interval' is 1 to 600 s here, not '%s'",
				   o->every);
	ask->seconds = ask->window = (unsigned)seconds;
	return 0;
}

/* 0, or the exit status after an error was printed. */
static int choose_samples(const struct live_opts *o, struct filter *out)
{
	static const struct live_opts defaults = LIVE_DEFAULTS;
	const struct option *of_cpu = usage_given(&live_usage, o, &defaults,
						  "cpu hide-kernel hide-user");

	/* A waiting thread is on no CPU. */
	if (of_cpu && o->show && strcmp(o->show, "cpu") != 0)
		return usage_error(&live_usage, "option '--%s' has CPU time alone, not '--show %s'",
				   of_cpu->long_name, o->show);
	return pick_options_tasks(out, &live_usage, &o->tasks, &o->cpus);
}

static int show_stacks(const struct live_opts *o, const char *pids)
{
	static const struct live_opts defaults = LIVE_DEFAULTS;
	struct filter filter;
	struct live_ask ask = {
		.usage = &live_usage,
		.show = o->show,
		.slower = o->slower,
		.pids = pids,
		.filter = &filter,
		.freq = o->freq,
		.top = o->top == UINT32_MAX ? (o->json ? 0 : 10) : o->top,
		.count = o->count,
		.seconds = 1,
		.json = o->json,
		.tables = o->stdio,
		.no_kernel = o->no_kernel,
		.no_user = o->no_user,
	};
	int status = usage_has_none(&live_usage, o, &defaults, "histogram each",
				    "'ebprec live' without an instrument")
			     ? 0
			     : MESSAGE_USAGE;

	filter_init(&filter);
	if (!status)
		status = choose_grouping(o, &ask.by);
	if (!status)
		status = choose_seconds(o, &ask);
	if (!status)
		status = choose_samples(o, &filter);
	if (!status)
		status = cmd_live_screen(&ask);
	filter_done(&filter);
	return status;
}

int cmd_live(int argc, char **argv)
{
	struct live_opts opts = LIVE_DEFAULTS;
	struct names names = { .count = 0 };
	char **words, *pids = NULL;
	int status;

	if (!usage_parse(&live_usage, &opts, argc, argv, 0, METRIC_TABLES_MAX, &words, &status))
		return status;
	status = take_names(&names, &opts.with, words);
	if (opts.pids.count) {
		pids = joined((char **)(uintptr_t)opts.pids.values, opts.pids.count);
		if (!status && !pids)
			status = message_error("cannot choose processes: %s", strerror(ENOMEM));
	}
	if (!status)
		status = names.count ? show_tables(&opts, &names, pids) : show_stacks(&opts, pids);
	free(pids);
	names_done(&names);
	return status;
}
