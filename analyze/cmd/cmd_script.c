/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec script - every sample as text, as `perf script` prints it */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/cmd/common/empty_answer.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/message.h"
#include "analyze/report/script/sample_walk.h"
#include "analyze/report/script/script.h"

#define OUT_BYTES (256u << 10)

struct script_opts {
	const char *input, *event, *fields;
	struct time_options when;
	struct task_options tasks;
	struct group_options groups;
	struct option_list cpus;
	struct name_options names;
	bool ns, quiet;
};

#define AT(field) offsetof(struct script_opts, field)

static const struct option script_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_STRING, 'F', "fields", "FIELD,...", AT(fields), 0, 0,
	  "comm, pid, tid, cpu, time, period, event, trace, ip, sym, symoff, dso, cgroup, container, "
	  "build_id, origin; +FIELD: besides the event's own" },
	{ OPT_STRING, 'e', "event", "EVENT", AT(event), 0, 0, "only the samples of this event" },
	TIMEOPTS(AT(when)),
	TASK_OPTIONS(AT(tasks)),
	{ OPT_LIST, 'C', "cpu", "CPU,...", AT(cpus), 0, 0, "only these CPUs, as 0-3,8" },
	GROUPOPTS(AT(groups)),
	{ OPT_FLAG, 0, "ns", NULL, AT(ns), 0, 0, "times with nine decimals" },
	NAMEOPTS(AT(names)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "no progress, only errors and what is missing" },
	{ OPT_IDLE, 'f', "force", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 'a', "all-cpus", NULL, 0, 0, 0, NULL },
	{ OPT_IDLE, 0, "demangle-kernel", NULL, 0, 0, 0, NULL },
	{ OPT_OTHER, 0, "dump-unsorted-raw-trace", NULL, 0, 0, 0, "perf script -D reads the file" },
	{ OPT_OTHER, 'd', "debug-mode", NULL, 0, 0, 0, "'ebprec info' checks the file" },
	{ OPT_OTHER, 'g', "gen-script", NULL, 0, 0, 0,
	  "'ebprec export --to FORMAT', or pipe the text" },
	{ OPT_OTHER, 'l', "list", NULL, 0, 0, 0, "'ebprec export --list' names other forms" },
	{ OPT_OTHER, 'L', "Latency", NULL, 0, 0, 0, "perf script -L reads the file" },
	{ OPT_OTHER, 'k', "vmlinux", NULL, 0, 0, 0, "--symfs or --debug-dir DIR" },
	{ OPT_OTHER, 0, "kallsyms", NULL, 0, 0, 0, "the capture has what was hit" },
	{ OPT_OTHER, 0, "dsos", NULL, 0, 0, 0, "'ebprec report --dso REGEX'" },
	{ OPT_OTHER, 0, "addr-range", NULL, 0, 0, 0, "'ebprec report --symbol REGEX'" },
	{ OPT_OTHER, 0, "graph-function", NULL, 0, 0, 0, "'ebprec report --callees FUNCTION'" },
	{ OPT_OTHER, 0, "call-ret-trace", NULL, 0, 0, 0, "hardware traces are not recorded" },
	{ OPT_OTHER, 0, "call-trace", NULL, 0, 0, 0, "hardware traces are not recorded" },
	{ OPT_OTHER, 0, "insn-trace", NULL, 0, 0, 0, "hardware traces are not recorded" },
	{ OPT_OTHER, 0, "itrace", NULL, 0, 0, 0, "hardware traces are not recorded" },
	{ OPT_OTHER, 0, "xed", NULL, 0, 0, 0, "'ebprec report --annotate FUNCTION --asm'" },
	{ OPT_OTHER, 0, "max-blocks", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "stitch-lbr", NULL, 0, 0, 0, "branches are not recorded" },
	{ OPT_OTHER, 0, "deltatime", NULL, 0, 0, 0, "perf script --deltatime reads the file" },
	{ OPT_OTHER, 0, "reltime", NULL, 0, 0, 0, "perf script --reltime reads the file" },
	{ OPT_OTHER, 0, "dlarg", NULL, 0, 0, 0, "pipe the text to a filter" },
	{ OPT_OTHER, 0, "dlfilter", NULL, 0, 0, 0, "pipe the text to a filter" },
	{ OPT_OTHER, 0, "list-dlfilters", NULL, 0, 0, 0, "pipe the text to a filter" },
	{ OPT_OTHER, 0, "full-source-path", NULL, 0, 0, 0,
	  "'ebprec report --annotate FUNCTION' has paths" },
	{ OPT_OTHER, 0, "guest-code", NULL, 0, 0, 0, "code of guests has no names" },
	{ OPT_OTHER, 0, "guestkallsyms", NULL, 0, 0, 0, "code of guests has no names" },
	{ OPT_OTHER, 0, "guestmodules", NULL, 0, 0, 0, "code of guests has no names" },
	{ OPT_OTHER, 0, "guestmount", NULL, 0, 0, 0, "code of guests has no names" },
	{ OPT_OTHER, 0, "guestvmlinux", NULL, 0, 0, 0, "code of guests has no names" },
	{ OPT_OTHER, 0, "header-only", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 0, "show-kernel-path", NULL, 0, 0, 0, "-F +origin has the sources of names" },
	{ OPT_OTHER, 0, "show-bpf-events", NULL, 0, 0, 0, "perf script reads the file" },
	{ OPT_OTHER, 0, "show-cgroup-events", NULL, 0, 0, 0, "-F +cgroup" },
	{ OPT_OTHER, 0, "show-lost-events", NULL, 0, 0, 0, "'ebprec info' counts them" },
	{ OPT_OTHER, 0, "show-namespace-events", NULL, 0, 0, 0, "'ebprec report --process PID'" },
	{ OPT_OTHER, 0, "show-round-events", NULL, 0, 0, 0, "perf script reads the file" },
	{ OPT_OTHER, 0, "show-switch-events", NULL, 0, 0, 0, "-e sched:sched_switch" },
	{ OPT_OTHER, 0, "show-text-poke-events", NULL, 0, 0, 0, "they are not recorded" },
	{ OPT_OTHER, 0, "show-on-off-events", NULL, 0, 0, 0, "--during SPAN" },
	{ OPT_OTHER, 0, "switch-on", NULL, 0, 0, 0, "--between MARK MARK, or --during SPAN" },
	{ OPT_OTHER, 0, "switch-off", NULL, 0, 0, 0, "--between MARK MARK, or --during SPAN" },
	{ OPT_OTHER, 0, "stop-bt", NULL, 0, 0, 0, "'ebprec report --max-depth N'" },
	{ OPT_OTHER, 'D', "dump-raw-trace", NULL, 0, 0, 0, "perf script -D reads the file" },
	{ OPT_OTHER, 'G', "hide-call-graph", NULL, 0, 0, 0, "-F comm,pid,cpu,time,event" },
	{ OPT_OTHER, 0, "header", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 'I', "show-info", NULL, 0, 0, 0, "'ebprec info' shows it" },
	{ OPT_OTHER, 's', "script", NULL, 0, 0, 0, "pipe the text to it, or 'ebprec export'" },
	{ OPT_OTHER, 'S', "symbols", NULL, 0, 0, 0, "'ebprec report --symbol REGEX'" },
	{ OPT_OTHER, 'v', "verbose", NULL, 0, 0, 0, "-F +origin has the sources of names" },
	{ OPT_OTHER, 0, "max-stack", NULL, 0, 0, 0, "'ebprec report --max-depth N'" },
	{ OPT_OTHER, 0, "show-mmap-events", NULL, 0, 0, 0, "'ebprec report --process PID'" },
	{ OPT_OTHER, 0, "show-task-events", NULL, 0, 0, 0, "'ebprec summary' shows processes" },
	{ OPT_OTHER, 0, "per-event-dump", NULL, 0, 0, 0, "-e EVENT, for each" },
	{ 0 },
};

static const struct usage_word script_words[] = {
	{ "flamegraph", "'ebprec report --svg FILE'" },
	{ "record", "'ebprec record'" },
	{ "report", "'ebprec report', or 'ebprec export'" },
	{ NULL, NULL },
};

static const struct usage script_usage = {
	.command = "script",
	.words = "[OPTIONS] [[-i] FILE]",
	.about = "Prints every sample in the order of time: a line with thread, CPU and time,\n"
		 "a line for each frame of its stack, and an empty line, as 'perf script' does.\n",
	.options = script_options,
	.reads = USAGE_READS,
	.shows = true,
	.of_perf = script_words,
};

struct run {
	struct script script;
	const struct sample_walk *walk;
	const struct name_filter *pick; /* of cgroups and containers */
	/* The text of the last cgroup: most samples have that of the sample before. */
	uint64_t last_cgroup;
	bool asked_cgroup, last_passes;
	uint64_t shown;
};

static bool passes_cgroup(struct run *run, uint64_t id)
{
	uint32_t path = process_model_cgroup(run->walk->model, id);
	char unknown[40];

	if (!run->pick->count || (run->asked_cgroup && run->last_cgroup == id))
		return !run->pick->count || run->last_passes;
	snprintf(unknown, sizeof(unknown), id ? "cgroup:%" PRIu64 : "[unknown]", id);
	run->asked_cgroup = true;
	run->last_cgroup = id;
	run->last_passes = name_filter_passes_cgroup(
		run->pick, run->script.containers,
		path == PROCESS_MODEL_NONE ? unknown : string_table_text(run->script.names, path));
	return run->last_passes;
}

static int show(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	struct run *run = ctx;
	int err;

	if (!passes_cgroup(run, sample->cgroup))
		return 0;
	err = script_sample(&run->script, sample, attr, stdout);
	if (err)
		return err;
	run->shown++;
	return ferror(stdout) ? (errno ? -errno : -EIO) : 0;
}

static void prepare_events(const struct capture *c, struct script *s)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++) {
		int width = (int)strlen(event_name(&attrs[i]));

		if (s->event_width < width)
			s->event_width = width;
		s->any_chain |= attrs[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	}
}

static void explain_empty(const struct script_opts *o, const struct run *run,
			  const struct report *r)
{
	struct report_query query = { .filter = run->walk->filter, .pick = run->pick };

	if (!load_choose_event(r->capture, &r->scan, o->event, &query.attr))
		empty_answer_explain(r->capture, &query, !o->event);
}

static int print_result(const struct script_opts *o, const struct run *run, const struct report *r,
			int err)
{
	const struct samples_by_time_stats *stats = &run->walk->stats;
	uint64_t broken = run->walk->broken + stats->broken;

	if (!err && fflush(stdout))
		err = -errno;
	if (err == -EPIPE) {
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return MESSAGE_OK;
	}
	if (err == -ENOMEM)
		return message_error("cannot print '%s': %s", o->input, strerror(ENOMEM));
	if (err)
		return message_cannot_write("standard output", err);
	if (broken)
		message_note("%" PRIu64 " samples of '%s' do not fit their event, skipping", broken,
			     o->input);
	if (stats->damaged_blocks)
		message_note("'%s' is damaged: %" PRIu32 " parts of it are unreadable, skipping",
			     o->input, stats->damaged_blocks);
	if (!run->shown) {
		message_note("'%s' has no samples that were asked for", o->input);
		explain_empty(o, run, r);
	}
	return MESSAGE_OK;
}

/* The chosen fields: in place of the event's own, and besides; and the chosen samples. */
struct asked {
	unsigned fields, more;
	struct name_filter pick;
};

static int choose_event(const struct script_opts *o, const struct report *r,
			const struct capture_attr **out)
{
	size_t attr, count;

	if (!o->event)
		return MESSAGE_OK;
	if (load_choose_event(r->capture, &r->scan, o->event, &attr))
		return message_error("no event '%s' in '%s' (see 'ebprec info')", o->event,
				     o->input);
	*out = &capture_attrs(r->capture, &count)[attr];
	return MESSAGE_OK;
}

static int run_script(const struct script_opts *o, struct report *r, struct filter *filter,
		      const struct asked *asked)
{
	struct sample_walk walk = { 0 };
	struct run run = { .walk = &walk, .pick = &asked->pick };
	const struct capture_attr *only = NULL;
	struct name_root_options roots = { 0 };
	int status, err;

	if (choose_event(o, r, &only))
		return MESSAGE_FAILED;
	err = name_roots_make(&o->names, &roots, true);
	if (err && err != -ENOENT)
		return message_error("cannot print '%s': %s", o->input, strerror(-err));
	err = sample_walk_open(&walk, r->capture, &r->scan, r->model, r->names, &roots.roots,
			       o->names.demangle);
	if (!err) {
		run.script.resolver = walk.namer.resolver;
		run.script.model = r->model;
		run.script.names = r->names;
		run.script.ns = o->ns;
		run.script.containers = r->containers;
		run.script.chain = &walk.chain;
		run.script.trace = walk.trace;
		run.script.fields = asked->fields;
		run.script.more = asked->more;
		prepare_events(r->capture, &run.script);
		/* No other thread writes to it while samples are printed. */
		__fsetlocking(stdout, FSETLOCKING_BYCALLER);
		setvbuf(stdout, NULL, _IOFBF, OUT_BYTES);
		err = script_begin(&run.script);
	}
	if (!err)
		err = sample_walk_run(&walk, filter, only, show, &run);
	status = print_result(o, &run, r, err);
	script_end(&run.script);
	sample_walk_close(&walk);
	name_roots_done(&roots);
	return status;
}

static int open_and_print(const struct script_opts *o, struct filter *filter,
			  const struct asked *asked)
{
	struct cmd_open in;
	int status = cmd_open(o->input, "print", o->quiet, &in);

	if (status)
		return status;
	status = pick_options_time(&o->when, &script_usage, o->input, in.capture,
				   report_span(&in.report), filter);
	if (!status)
		progress_hide(in.progress);
	if (!status)
		status = run_script(o, &in.report, filter, asked);
	cmd_close(&in);
	return status;
}

static int no_field(const char *fields, const char *bad, size_t bad_bytes)
{
	const char *names[SCRIPT_FIELDS];
	char near[USAGE_CHOICES_BYTES];

	script_field_names(names);
	return usage_error(&script_usage,
			   "option '--fields' cannot be '%s': there is no field '%.*s'%s", fields,
			   (int)bad_bytes, bad,
			   usage_near_or_choices(bad, bad_bytes, names, SCRIPT_FIELDS, near));
}

int cmd_script(int argc, char **argv)
{
	struct script_opts opts = { .names = NAME_OPTIONS_DEFAULTS };
	struct filter filter;
	struct asked asked = { 0 };
	const char *bad;
	size_t bad_bytes;
	char **words;
	int status;

	opts.names.function_addresses = false; /* perf script prints [unknown] */
	if (!usage_parse(&script_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&script_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.fields &&
	    script_parse_fields(opts.fields, &asked.fields, &asked.more, &bad, &bad_bytes))
		return no_field(opts.fields, bad, bad_bytes);
	signal(SIGPIPE, SIG_IGN);
	filter_init(&filter);
	status = pick_options_tasks(&filter, &script_usage, &opts.tasks, &opts.cpus);
	if (!status)
		status = pick_options_groups(&asked.pick, &script_usage, &opts.groups);
	if (!status)
		status = open_and_print(&opts, &filter, &asked);
	filter_done(&filter);
	name_filter_done(&asked.pick);
	return status;
}
