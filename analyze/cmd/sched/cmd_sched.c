/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec sched - how long threads ran, waited for a CPU, and slept */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/empty_answer.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/sched/cmd_sched_threads.h"
#include "format/base/saturate.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/sched/exits.h"
#include "analyze/fold/count_samples.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/aligned_table.h"
#include "analyze/out/histogram.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "analyze/sched/stats.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/text_table.h"

struct sched_opts {
	const char *input;
	struct time_options when;
	struct task_options tasks;
	bool json, latency, on_cpu, threads, exited;
	struct cmd_sched_shown shown;
};

#define AT(field) offsetof(struct sched_opts, field)

static const struct option sched_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "threads", NULL, AT(threads), 0, 0, "the table of threads" },
	{ OPT_FLAG, 0, "exited", NULL, AT(exited), 0, 0,
	  "a line for each process that ended, with all of its life" },
	{ OPT_FLAG, 0, "all", NULL, AT(shown.all), 0, 0,
	  "also threads that neither ran nor woke up" },
	{ OPT_FLAG, 0, "latency", NULL, AT(latency), 0, 0,
	  "how long threads waited in the run queue" },
	{ OPT_FLAG, 0, "on-cpu", NULL, AT(on_cpu), 0, 0, "how long they then ran" },
	TASK_OPTIONS(AT(tasks)),
	TIMEOPTS(AT(when)),
	{ OPT_UINT, 'n', "top", "N", AT(shown.top), 0, UINT32_MAX,
	  "no more threads than this (0: all)" },
	{ OPT_FLAG, 'j', "json", NULL, AT(json), 0, 0, "all of it, as JSON" },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage_word sched_words[] = {
	{ "latency", "--threads, or --latency" },
	{ "map", "'ebprec export --to chrome'" },
	{ "record", "'ebprec record'" },
	{ "replay", "perf sched replay reads the file" },
	{ "script", "'ebprec script'" },
	{ "timehist", "perf sched timehist reads the file" },
	{ NULL, NULL },
};

static const struct usage sched_usage = {
	.command = "sched",
	.words = "[OPTIONS] [[-i] FILE]",
	.about =
		"Shows for each thread how long it ran, was runnable and waited for a CPU, slept,\n"
		"or was blocked (uninterruptible); and as histograms how long threads waited in\n"
		"the run queue and then ran.  The times of a thread add up to its life within the\n"
		"recording; what missing events leave open is counted as unknown.\n",
	.options = sched_options,
	.reads = USAGE_READS,
	.shows = true,
	.of_perf = sched_words,
};

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* ---- for people ---- */

/* Slot n holds [2^n, 2^(n+1)) us, slot 0 also what is less. */
#define SLOTS 40

static void fill_slots(const struct percentiles *d, uint64_t slots[SLOTS], unsigned *used)
{
	uint64_t in_us;
	unsigned slot;

	*used = 0;
	memset(slots, 0, SLOTS * sizeof(slots[0]));
	for (size_t i = 0; i < d->count; i++) {
		in_us = d->ns[i] / 1000;
		slot = in_us ? 63 - (unsigned)__builtin_clzll(in_us) : 0;
		if (slot >= SLOTS)
			slot = SLOTS - 1;
		slots[slot]++;
		if (slot + 1 > *used)
			*used = slot + 1;
	}
}

static void put_dist(const char *title, const struct percentiles *d)
{
	uint64_t slots[SLOTS];
	unsigned used;

	printf("%s\n", title);
	if (!d->count) {
		puts("  none");
		return;
	}
	printf("  count %zu, mean %.3f us, p50 %.3f, p95 %.3f, p99 %.3f, max %.3f, total %.3f ms\n",
	       d->count, us(d->sum_ns) / (double)d->count, us(percentiles_quantile(d, 0.5)),
	       us(percentiles_quantile(d, 0.95)), us(percentiles_quantile(d, 0.99)),
	       us(d->ns[d->count - 1]), number_ms(d->sum_ns));
	fill_slots(d, slots, &used);
	histogram_print("usecs", slots, 0, used, stdout);
}

static void add_exited(struct aligned_table *t, const struct exited *p,
		       const struct string_table *names)
{
	aligned_table_text(t, string_table_text(names, p->comm));
	aligned_table_format(t, "%u", p->pid);
	aligned_table_format(t, "%u", p->ppid);
	aligned_table_format(t, "%u", p->cpu);
	aligned_table_format(t, "%d", p->prio);
	aligned_table_format(t, "%d", p->nice);
	aligned_table_text(t, exits_policy(p->policy));
	aligned_table_format(t, "%.3f", number_ms(p->runtime_ns));
	aligned_table_format(t, "%" PRIu64, p->voluntary);
	aligned_table_format(t, "%" PRIu64, p->involuntary);
	aligned_table_format(t, "%u", p->threads);
	if (p->code & 0x7f)
		aligned_table_format(t, "signal %d", p->code & 0x7f);
	else
		aligned_table_format(t, "%d", p->code >> 8 & 0xff);
}

static int put_exited(const struct exits *e, const struct string_table *names)
{
	static const struct aligned_column columns[] = {
		{ "COMM", ALIGNED_COMPLETE, 15 },  { "PID", ALIGNED_NUMBER, 7 },
		{ "PPID", ALIGNED_NUMBER, 7 },     { "CPU", ALIGNED_NUMBER, 3 },
		{ "PRIO", ALIGNED_NUMBER, 4 },     { "NICE", ALIGNED_NUMBER, 4 },
		{ "POLICY", ALIGNED_COMPLETE, 8 }, { "RUNTIME(ms)", ALIGNED_NUMBER, 11 },
		{ "VOL", ALIGNED_NUMBER, 8 },      { "NONVOL", ALIGNED_NUMBER, 8 },
		{ "THREADS", ALIGNED_NUMBER, 7 },  { "EXIT", ALIGNED_COMPLETE, 0 },
	};
	struct aligned_table t;
	int err = aligned_table_init(&t, 1);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		aligned_table_column(&t, &columns[i]);
	for (size_t i = 0; i < e->count; i++)
		add_exited(&t, &e->list[i], names);
	err = aligned_table_print(&t, 0, stdout);
	aligned_table_done(&t);
	return err;
}

static int put_text(const struct sched_stats *s, const struct exits *exited,
		    const struct string_table *names, const struct sched_opts *opts)
{
	bool all = !opts->threads && !opts->latency && !opts->on_cpu && !opts->exited;
	const char *between = "";
	int err = 0;

	if (all)
		printf("# %.6f s, %zu threads, %" PRIu64 " switches, %" PRIu64 " wakeups\n",
		       (double)s->elapsed_ns / 1e9, s->thread_count, s->switches, s->wakeups);
	if (all || opts->threads) {
		err = cmd_sched_threads(s, names, &opts->shown);
		between = "\n";
	}
	if (opts->exited && !err) {
		fputs(between, stdout);
		err = put_exited(exited, names);
		between = "\n";
	}
	if (all || opts->latency) {
		fputs(between, stdout);
		put_dist("Run queue latency: from runnable to running", &s->latency);
		between = "\n";
	}
	if (all || opts->on_cpu) {
		fputs(between, stdout);
		put_dist("On CPU: from switched in to switched out", &s->on_cpu);
	}
	return err;
}

/* ---- for programs ---- */

static void json_threads(struct text_table *v, const struct sched_stats *s,
			 const struct string_table *names)
{
	static const char *const columns[] = {
		"comm",    "pid",        "tid",  "start",   "elapsed", "run",       "wait",
		"sleep",   "block",      "stop", "unknown", "runs",    "voluntary", "involuntary",
		"wakeups", "migrations", "prio", "nice",    "policy",  "ended",
	};
	static const char *const states[THREAD_STATES_COUNT] = {
		[THREAD_STATES_RUN] = "run",     [THREAD_STATES_WAIT] = "wait",
		[THREAD_STATES_SLEEP] = "sleep", [THREAD_STATES_BLOCK] = "block",
		[THREAD_STATES_STOP] = "stop",   [THREAD_STATES_UNKNOWN] = "unknown",
	};
	char unknown[16];

	text_table_begin(v, "threads", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->thread_count; i++) {
		const struct sched_stats_thread *th = &s->threads[i];

		text_table_row(v);
		text_table_text(v, "comm", cmd_sched_comm_text(names, th, unknown));
		text_table_number(v, "pid", th->pid);
		text_table_number(v, "tid", th->tid);
		text_table_ns(v, "start", th->start_ns);
		text_table_ns(v, "elapsed", th->elapsed_ns);
		for (int k = 0; k < THREAD_STATES_COUNT; k++)
			text_table_ns(v, states[k], th->ns[k]);
		text_table_number(v, "runs", th->runs);
		text_table_number(v, "voluntary", th->voluntary);
		text_table_number(v, "involuntary", th->involuntary);
		text_table_number(v, "wakeups", th->wakeups);
		text_table_number(v, "migrations", th->migrations);
		text_table_signed(v, "prio", th->prio == INT16_MIN ? 0 : th->prio);
		text_table_signed(v, "nice", cmd_sched_has_nice(th) ? th->prio - 120 : 0);
		text_table_text(v, "policy", th->policy ? exits_policy(th->policy - 1u) : "?");
		text_table_bool(v, "ended", th->ended);
	}
	text_table_end(v);
}

static void json_dist(struct text_table *v, const char *section, const char *table,
		      const struct percentiles *d)
{
	static const char *const columns[] = { "low_us", "high_us", "count" };
	uint64_t slots[SLOTS];
	unsigned used;

	text_table_section(v, section);
	text_table_number(v, "count", d->count);
	text_table_ns(v, "total", d->sum_ns);
	text_table_ns(v, "mean", d->count ? d->sum_ns / d->count : 0);
	text_table_ns(v, "p50", percentiles_quantile(d, 0.5));
	text_table_ns(v, "p95", percentiles_quantile(d, 0.95));
	text_table_ns(v, "p99", percentiles_quantile(d, 0.99));
	text_table_ns(v, "max", d->count ? d->ns[d->count - 1] : 0);
	fill_slots(d, slots, &used);
	text_table_begin(v, table, columns, 3);
	for (unsigned i = 0; i < used; i++) {
		text_table_row(v);
		text_table_number(v, "low_us", histogram_low(i));
		text_table_number(v, "high_us", histogram_high(i));
		text_table_number(v, "count", slots[i]);
	}
	text_table_end(v);
}

static void json_exited(struct text_table *v, const struct exits *e,
			const struct string_table *names)
{
	static const char *const columns[] = { "time",      "comm",      "pid",         "ppid",
					       "cpu",       "prio",      "nice",        "policy",
					       "runtime",   "voluntary", "involuntary", "threads",
					       "exit_code", "signal" };

	text_table_begin(v, "exited", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < e->count; i++) {
		const struct exited *p = &e->list[i];

		text_table_row(v);
		text_table_ns(v, "time", p->time_ns);
		text_table_text(v, "comm", string_table_text(names, p->comm));
		text_table_number(v, "pid", p->pid);
		text_table_number(v, "ppid", p->ppid);
		text_table_number(v, "cpu", p->cpu);
		text_table_signed(v, "prio", p->prio);
		text_table_signed(v, "nice", p->nice);
		text_table_text(v, "policy", exits_policy(p->policy));
		text_table_ns(v, "runtime", p->runtime_ns);
		text_table_number(v, "voluntary", p->voluntary);
		text_table_number(v, "involuntary", p->involuntary);
		text_table_number(v, "threads", p->threads);
		text_table_number(v, "exit_code", (uint64_t)(p->code >> 8 & 0xff));
		text_table_number(v, "signal", (uint64_t)(p->code & 0x7f));
	}
	text_table_end(v);
}

static int put_json(const struct sched_stats *s, const struct exits *exited,
		    const struct string_table *names)
{
	struct text_table *v;
	int err = text_table_open(stdout, true, &v);

	if (err)
		return err;
	text_table_section(v, "sched");
	text_table_ns(v, "start", s->start_ns);
	text_table_ns(v, "elapsed", s->elapsed_ns);
	text_table_number(v, "switches", s->switches);
	text_table_number(v, "wakeups", s->wakeups);
	text_table_number(v, "lost", s->lost);
	text_table_number(v, "contradictions", s->gaps);
	json_threads(v, s, names);
	json_exited(v, exited, names);
	json_dist(v, "run_queue_latency", "run_queue_latency_histogram", &s->latency);
	json_dist(v, "on_cpu", "on_cpu_histogram", &s->on_cpu);
	return text_table_close(v);
}

/* ---- the command ---- */

enum { UNKNOWN_PROCESSES_SHOWN = 3 };

static void print_unknown(const struct sched_stats_unknown *u, uint64_t all_ns,
			  const struct string_table *names)
{
	const struct sched_stats_thread *t = u->most;
	const char *comm = t->comm == SCHED_EVENT_NONE ? "" : string_table_text(names, t->comm);
	double percent = 100.0 * (double)u->ns / (double)all_ns;

	if (u->thread_count == 1)
		message_note("  %.1f %% of it is of '%s', thread %" PRIu32, percent, comm, t->tid);
	else if (t->pid == SCHED_EVENT_NONE)
		message_note(
			"  %.1f %% of it is of %zu threads whose process is not known, most of it of "
			"'%s', thread %" PRIu32,
			percent, u->thread_count, comm, t->tid);
	else
		message_note("  %.1f %% of it is of %zu threads of process %" PRIu32
			     ", most of it of '%s', thread %" PRIu32,
			     percent, u->thread_count, t->pid, comm, t->tid);
}

/*
 * How much is unknown of the threads shown, of which most, and what is left for the others: the events
 * of a few need not be complete for times of all others to be right.
 */
static int print_contradictions(const struct sched_stats *s, const struct string_table *names)
{
	struct sched_stats_unknown *list, all, others = { 0 };
	size_t count, shown = 0;
	int err = sched_stats_unknown_time(s, &all, &list, &count);

	if (err)
		return err;
	if (all.ns)
		message_note(
			"%" PRIu64
			" events contradict each other, as the kernel did not report every "
			"switch: of %.6f s of the threads' %.6f s (%.2f %%) it is unknown what they did: "
			"no column but UNKNOWN has that time",
			s->gaps, (double)all.ns / 1e9, (double)all.all_ns / 1e9,
			100.0 * (double)all.ns / (double)all.all_ns);
	for (; shown < count && shown < UNKNOWN_PROCESSES_SHOWN && list[shown].ns; shown++)
		print_unknown(&list[shown], all.ns, names);
	for (size_t i = shown; i < count; i++) {
		others.ns = saturate_add(others.ns, list[i].ns);
		others.all_ns = saturate_add(others.all_ns, list[i].all_ns);
	}
	if (all.ns && others.all_ns)
		message_note("  of all other threads it is %.6f s (%.2f %% of their time)",
			     (double)others.ns / 1e9,
			     100.0 * (double)others.ns / (double)others.all_ns);
	free(list);
	return 0;
}

static void print_losses(const struct capture *c, const struct sched_stats *s,
			 const struct string_table *names)
{
	if (s->lost)
		message_note("%" PRIu64
			     " scheduler events are missing from the capture, so some times "
			     "are unknown (record with a larger -m)",
			     s->lost);
	else if (s->gaps && print_contradictions(s, names))
		message_note("%" PRIu64 " events contradict each other", s->gaps);
	if (s->broken)
		message_note("%" PRIu64 " scheduler events could not be read", s->broken);
	if (!s->has_wakeups)
		message_note("the capture has %s: time in the run queue counts as sleep%s",
			     s->wakeups ? "only the first wakeups of new threads" : "no wakeups",
			     capture_get_kind(c) == CAPTURE_EBX
				     ? ""
				     : " (record sched:sched_wakeup, too)");
}

static int show(const struct capture *c, const struct sched_opts *opts, const struct filter *f)
{
	const struct report_query waits = { .filter = f, .off_cpu = true };
	struct exits exited = { 0 };
	struct string_table *names;
	struct sched_stats s;
	int err, status = MESSAGE_OK;

	err = string_table_new(&names);
	if (err)
		return message_error("cannot read '%s': %s", opts->input, strerror(-err));
	err = sched_stats_make(c, names, f, &s);
	if (err == -ENODATA) {
		status = cmd_no_switches(c, opts->input);
	} else if (err) {
		status = message_error("cannot read '%s': %s", opts->input, strerror(-err));
	} else {
		err = exits_load(c, names, f, &exited);
		if (!err && opts->json)
			err = put_json(&s, &exited, names);
		else if (!err)
			err = put_text(&s, &exited, names, opts);
		print_losses(c, &s, names);
		if (!s.thread_count && !exited.count && !filter_is_empty(f)) {
			message_note("nothing of '%s' passes the filters", opts->input);
			empty_answer_explain(c, &waits, false);
		}
		exits_done(&exited);
		sched_stats_done(&s);
		if (err)
			status = message_error("cannot show '%s': %s", opts->input, strerror(-err));
	}
	string_table_free(names);
	return status;
}

int cmd_sched(int argc, char **argv)
{
	static const struct sched_opts defaults = { 0 };
	struct sched_opts opts = defaults;
	struct time_span recorded;
	struct filter filter;
	struct capture *c;
	char **words;
	int status;

	if (!usage_parse(&sched_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&sched_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.json &&
	    !usage_has_none(&sched_usage, &opts, &defaults, "top", "--json, which has all of it,"))
		return MESSAGE_USAGE;
	if (!opts.threads && (opts.exited || opts.latency || opts.on_cpu) &&
	    !usage_has_none(&sched_usage, &opts, &defaults, "all top",
			    "an answer without --threads"))
		return MESSAGE_USAGE;
	status = cmd_open_capture(opts.input, &c);
	if (status)
		return status;
	filter_init(&filter);
	status = pick_options_tasks(&filter, &sched_usage, &opts.tasks, NULL);
	if (!status)
		status = pick_options_time(&opts.when, &sched_usage, opts.input, c,
					   cmd_span(c, &recorded), &filter);
	if (!status)
		status = show(c, &opts, &filter);
	filter_done(&filter);
	capture_close(c);
	return status;
}
