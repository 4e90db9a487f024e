/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec live, or ebprec top - the tables of instruments as they fill, without a capture; without instruments
 * cmd_live_screen.h
 *
 * Starts the recorder with a pipe for its capture, and shows the rows of each interval when they are
 * all there.  Ctrl-C ends the recorder, which writes its last interval, and then us.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/cmd/live/cmd_live_screen.h"
#include "analyze/cmd/metrics/cmd_metric_tables.h"
#include "analyze/out/message.h"
#include "format/reader/pipe_reader.h"

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

struct live {
	const struct live_opts *opts;
	char *words[METRIC_TABLES_MAX]; /* owned */
	size_t word_count;
	struct metric_ask ask;
	struct metric_selection selection;
	struct metric_rows rows;
	struct string_table *names;
	struct filter all;
	uint64_t interval, end_ns; /* of the rows that wait to be shown; interval: and 1, 0: none */
	unsigned shown;
	int status;
	pid_t recorder;
	int from, signals; /* what the recorder writes; what is sent to us */
};

#define ENOUGH    (-ECANCELED)    /* what was asked for has been shown */
#define LIVE_FROM "the recording" /* for messages */

/* ---- what comes in ---- */

static int on_begin(void *arg, const struct capture *c)
{
	struct live *l = arg;
	struct time_span recorded;
	int err = metric_rows_open(c, &l->rows);

	if (err)
		return err;
	l->selection.rows = &l->rows;
	l->selection.start_ns = time_span_of_capture(c, &recorded) ? 0 : recorded.from_ns;
	for (size_t i = 0; i < l->word_count && !l->status; i++)
		l->status = metric_tables_choose(&l->selection, &live_usage, LIVE_FROM,
						 l->words[i]);
	return l->status ? ENOUGH : 0;
}

static int show(struct live *l)
{
	if (!l->ask.form && l->shown)
		putchar('\n');
	if (!l->selection.start_ns)
		l->selection.start_ns = l->end_ns;
	l->status = metric_tables_show(&l->selection, LIVE_FROM);
	metric_selection_clear(&l->selection);
	l->rows.lost = l->rows.broken = 0;
	l->interval = 0;
	l->shown++;
	l->ask.no_legend = true;
	if (fflush(stdout) || ferror(stdout)) {
		l->status = errno == EPIPE ? MESSAGE_OK
					   : message_cannot_write("standard output", -errno);
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return ENOUGH;
	}
	return l->status || (l->opts->count && l->shown >= l->opts->count) ? ENOUGH : 0;
}

static int on_row(void *arg, const struct metric_row *r)
{
	struct live *l = arg;
	uint64_t interval = r->table->is_interval ? r->slots[r->table->interval] + 1 : l->interval;
	int err = 0;

	if (l->interval && interval != l->interval)
		err = show(l);
	l->interval = interval;
	l->end_ns = r->time_ns;
	return err ? err : metric_selection_row(&l->selection, r);
}

static int on_record(void *arg, const struct perf_event_header *rec)
{
	struct live *l = arg;

	return metric_rows_record(&l->rows, l->names, &l->all, rec, on_row, l);
}

/* All rows of an interval are written in one go. */
static int on_round(void *arg)
{
	struct live *l = arg;

	return l->interval ? show(l) : 0;
}

/* Waits for bytes.  A signal ends the recorder, whose last rows are still taken. */
static ssize_t read_more(const struct live *l, char *bytes, size_t room)
{
	struct pollfd fds[] = { { .fd = l->from, .events = POLLIN },
				{ .fd = l->signals, .events = POLLIN } };
	struct signalfd_siginfo info;

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (fds[1].revents && read(l->signals, &info, sizeof(info)) > 0)
		kill(l->recorder, SIGINT);
	if (!fds[0].revents)
		return -EAGAIN;
	for (;;) {
		ssize_t n = read(l->from, bytes, room);

		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : n;
	}
}

static int feed(struct live *l)
{
	static const struct pipe_reader_calls calls = { on_begin, on_record, on_round };
	struct pipe_reader *feed = NULL;
	char bytes[65536];
	ssize_t n = 1;
	int err;

	err = pipe_reader_new(&calls, l, 1u << EBX_STREAM_METRIC | 1u << EBX_STREAM_SIDE, &feed);
	if (err)
		kill(l->recorder, SIGINT);
	/* To the end in any case: a recorder without a reader would never end. */
	while (n) {
		n = read_more(l, bytes, sizeof(bytes));
		if (n < 0 && n != -EAGAIN)
			break;
		if (n <= 0 || err)
			continue;
		err = pipe_reader_push(feed, bytes, (size_t)n);
		if (err)
			kill(l->recorder, SIGINT);
	}
	if (!err && n < 0)
		err = (int)n;
	if (!err && l->interval)
		err = on_round(l);
	metric_selection_done(&l->selection);
	metric_rows_done(&l->rows);
	pipe_reader_free(feed);
	return err;
}

/* ---- the recorder ---- */

#define ARGS_MAX 64

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

static void run_recorder(const struct live *l, const char *path, const char *with, int fd,
			 const sigset_t *mask)
{
	const struct live_opts *o = l->opts;
	const char *argv[ARGS_MAX] = { "ebprec-record", "--quiet",    "--output",     "-",
				       "--freq",        "1",          "--call-graph", "none",
				       "--without",     "sched,mark", "--with",       with };
	char *pids = o->pids.count ? joined((char **)(uintptr_t)o->pids.values, o->pids.count)
				   : NULL;
	size_t n = 12;

	argv[n++] = pids ? "--pid" : "-a";
	if (pids)
		argv[n++] = pids;
	if (o->every)
		argv[n++] = "--interval";
	if (o->every)
		argv[n++] = o->every;
	if (o->slower)
		argv[n++] = "--slower";
	if (o->slower)
		argv[n++] = o->slower;
	if (o->each)
		argv[n++] = "--each";
	dup2(fd, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(path, (char **)(uintptr_t)argv);
	_exit(127);
}

static int start_recorder(struct live *l, const sigset_t *mask)
{
	char *path = cmd_record_find(), *with = joined(l->words, l->word_count);
	int ends[2], err = !path ? -ENOENT : !with ? -ENOMEM : 0;

	if (!err && pipe2(ends, O_CLOEXEC))
		err = -errno;
	if (!err) {
		l->recorder = fork();
		if (!l->recorder)
			run_recorder(l, path, with, ends[1], mask);
		err = l->recorder < 0 ? -errno : 0;
		close(ends[1]);
		l->from = ends[0];
	}
	free(path);
	free(with);
	return err;
}

/* Its messages were on stderr. */
static int end_recorder(const struct live *l, int err)
{
	int status = 0;

	while (waitpid(l->recorder, &status, 0) < 0 && errno == EINTR)
		;
	if (err == ENOUGH)
		return l->status;
	if (err)
		return message_error("cannot read what the recorder writes: %s", strerror(-err));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return l->status;
}

/* Ctrl-C comes to the recorder, too; a signal to us alone is passed on. */
static int take_signals(struct live *l, sigset_t *was)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_DFL); /* shells ignore it for what is in the background */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, was);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? -errno : 0;
}

static int run(struct live *l)
{
	sigset_t mask;
	int err = take_signals(l, &mask);

	if (!err)
		err = start_recorder(l, &mask);
	if (err)
		return message_error("cannot start the recorder: %s", strerror(-err));
	err = feed(l);
	close(l->from);
	close(l->signals);
	return end_recorder(l, err);
}

static int add_name(struct live *l, const char *name, size_t bytes)
{
	if (l->word_count == METRIC_TABLES_MAX)
		return usage_error(&live_usage, "more than %d instruments", METRIC_TABLES_MAX);
	l->words[l->word_count] = strndup(name, bytes);
	if (!l->words[l->word_count])
		return message_error("cannot show instruments: %s", strerror(ENOMEM));
	return metric_tables_are_elsewhere(l->words[l->word_count++]) ? MESSAGE_FAILED : 0;
}

/* Words, and lists of --with. */
static int take_names(struct live *l, char **words)
{
	const struct option_list *with = &l->opts->with;
	int status = 0;

	for (; !status && *words; words++)
		status = add_name(l, *words, strlen(*words));
	for (unsigned i = 0; i < with->count; i++) {
		const char *name = with->values[i];

		for (size_t n; !status && *name; name += n + (name[n] == ',')) {
			n = strcspn(name, ",");
			status = n ? add_name(l, name, n) : 0;
		}
	}
	if (!status && with->count && !l->word_count)
		status = usage_error(
			&live_usage,
			"option '--with' needs an instrument, as in '--with syscalls'; "
			"'ebprec record --list' has their names");
	return status;
}

static void names_done(struct live *l)
{
	for (size_t i = 0; i < l->word_count; i++)
		free(l->words[i]);
}

static int ask_and_run(struct live *l)
{
	int status;

	l->ask = (struct metric_ask){
		.by = l->opts->by,
		.sort = l->opts->sort,
		.form = l->opts->json ? METRIC_JSON_FORM : METRIC_TEXT_FORM,
		.histogram = l->opts->histogram,
		.top = l->opts->top,
	};
	l->selection.ask = &l->ask;
	if (string_table_new(&l->names))
		return message_error("cannot show instruments: %s", strerror(ENOMEM));
	l->selection.names = l->names;
	filter_init(&l->all);
	status = run(l);
	filter_done(&l->all);
	string_table_free(l->names);
	return status;
}

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

/* Without instruments. */
static int show_stacks(const struct live_opts *o)
{
	static const struct live_opts defaults = LIVE_DEFAULTS;
	char *pids = o->pids.count ? joined((char **)(uintptr_t)o->pids.values, o->pids.count)
				   : NULL;
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
	free(pids);
	return status;
}

int cmd_live(int argc, char **argv)
{
	struct live_opts opts = LIVE_DEFAULTS;
	struct live l = { .opts = &opts };
	char **words;
	int status;

	if (!usage_parse(&live_usage, &opts, argc, argv, 0, METRIC_TABLES_MAX, &words, &status))
		return status;
	status = take_names(&l, words);
	if (!status && !l.word_count)
		status = show_stacks(&opts);
	else if (!status && !usage_has_none(&live_usage, &opts, &(struct live_opts)LIVE_DEFAULTS,
					    "show freq tid comm cpu hide-kernel hide-user",
					    "'ebprec live' with an instrument"))
		status = MESSAGE_USAGE;
	else if (!status)
		status = ask_and_run(&l);
	names_done(&l);
	return status;
}
