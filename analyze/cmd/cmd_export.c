/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec export - a capture in a form that other tools read */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "format/base/mmap_array.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/cmd_export_perf_cache.h"
#include "analyze/cmd/cmd_slice.h"
#include "analyze/cmd/common/empty_answer.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/export/exporter.h"
#include "analyze/input/event/sample_time.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/out/message.h"

#define NS_PER_SECOND 1000000000u

struct export_opts {
	const char *input, *output, *to;
	struct pick_options pick;
	bool raw, list, quiet;
};

#define AT(field) offsetof(struct export_opts, field)
#define PICKED                                                                                        \
	"event weight time last during between comm pid tid cpu cgroup container service dso symbol " \
	"parent service-rules idle kernel-threads hide"

static const struct option export_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_STRING, 'o', "output", "FILE", AT(output), 0, 0,
	  "the new file (default, but for --raw: standard output)" },
	{ OPT_STRING, 0, "to", "FORM", AT(to), 0, 0,
	  "folded, pprof, speedscope, firefox, chrome, callgrind, csv, json or perf-cache" },
	{ OPT_FLAG, 0, "list", NULL, AT(list), 0, 0,
	  "list the forms, and the programs that read them" },
	{ OPT_FLAG, 0, "raw", NULL, AT(raw), 0, 0,
	  "as uncompressed perf.data, for tools that cannot read compressed ones" },
	PICKOPTS(AT(pick)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage export_usage = {
	.command = "export",
	.words = "--to FORM | --raw [OPTIONS] [-o FILE] [[-i] FILE]",
	.about = "Writes what is in a capture in another form.  perf reads captures as they are;\n"
		 "--raw is for tools that do not know compressed perf.data.\n",
	.options = export_options,
	.reads = USAGE_READS,
};

static int list_forms(void)
{
	size_t count;
	const struct exporter *list = exporters(&count);

	for (size_t i = 0; i < count; i++)
		printf("%-10s  %-32s  for %s\n", list[i].name, list[i].about, list[i].reader);
	return MESSAGE_OK;
}

static void fill_ask(const struct report *r, const struct export_opts *o, const struct picked *p,
		     struct export_ask *ask)
{
	uint64_t sample_ns, wall_ns;
	size_t count;

	ask->path = o->input;
	ask->attr = &capture_attrs(r->capture, &count)[p->query.attr];
	ask->weight = p->weight;
	ask->weight_name = p->weight_name;
	ask->unit = strcmp(p->weight_name, "time_ns") ? "count" : "nanoseconds";
	ask->interval_ns = sample_time_interval_ns(&ask->attr->attr);
	if (r->scan.span_known)
		ask->span = r->scan.span;
	if (r->scan.span_known && capture_clock(r->capture, &sample_ns, &wall_ns))
		ask->wall_ns = wall_ns - sample_ns + r->scan.span.from_ns;
}

struct export_job {
	const struct exporter *exporter;
	struct report *report;
	const struct export_ask *ask;
};

static int write_export(void *arg, FILE *to)
{
	const struct export_job *job = arg;

	return job->exporter->write(job->report, job->ask, to);
}

static int export(const struct exporter *e, const struct export_opts *o, struct report *r,
		  struct picked *p)
{
	struct export_ask ask = { 0 };
	int err, status;

	status = o->output ? cmd_new_file(r->capture, o->input, o->output) : 0;
	if (!status)
		status = pick_options_resolve(&o->pick, &export_usage, o->input, o->quiet, r, p);
	if (status)
		return status;
	fill_ask(r, o, p, &ask);
	p->query.fields |= e->fields; /* NOLINT: the caller found it */
	p->query.with_sources = e->with_sources;
	err = report_make(r, &p->query);
	if (!o->quiet)
		name_roots_note_fetched(&p->roots);
	if (err)
		return message_error("cannot export '%s': %s", o->input, strerror(-err));
	print_quality_losses(r, o->input);
	if (!r->picked) {
		message_note("'%s' has no samples that were asked for", o->input);
		empty_answer_explain(r->capture, &p->query, false);
	}
	err = cmd_write_output(o->output, write_export, &(struct export_job){ e, r, &ask });
	if (err == -EPIPE && !o->output) {
		clearerr(stdout); /* the reader has what it wants */
		return MESSAGE_OK;
	}
	if (err == -ENOMEM)
		return message_error("cannot export '%s': %s", o->input, strerror(ENOMEM));
	if (err)
		return message_cannot_write(o->output ? o->output : "standard output", err);
	if (!o->quiet)
		cmd_print_written(o->output, e->reader);
	return MESSAGE_OK;
}

static int open_and_export(const struct exporter *e, const struct export_opts *o, struct picked *p)
{
	struct cmd_open in;
	int status = cmd_open(o->input, "export", o->quiet, &in);

	if (status)
		return status;
	if (!strcmp(e->name, "csv") || !strcmp(e->name, "json"))
		container_names_complete_ids(in.report.containers);
	status = export(e, o, &in.report, p);
	cmd_close(&in);
	return status;
}

/* Forms that users ask for and that are none here, each with the command that writes it. */
static const struct usage_word other_forms[] = {
	{ "svg", "'ebprec report --svg FILE' draws it" },
	{ "flamegraph", "'ebprec report --svg FILE' draws it" },
	{ "flame", "'ebprec report --svg FILE' draws it" },
	{ "html", "'ebprec report --html FILE' writes it" },
	{ "text", "'ebprec report' and 'ebprec script' print it" },
	{ "txt", "'ebprec report' and 'ebprec script' print it" },
	{ "script", "'ebprec script' prints it" },
	{ "denet", "'ebprec report --off-cpu --json=denet' prints it" },
	{ "perf", "--raw" },
	{ "perf.data", "--raw" },
	{ "raw", "--raw" },
	{ "collapsed", "--to folded" },
	{ "perfetto", "--to chrome" },
	{ "trace", "--to chrome" },
	{ "ctf", "--to chrome" },
	{ "gecko", "--to firefox" },
	{ "kcachegrind", "--to callgrind" },
	{ "cachegrind", "--to callgrind" },
	{ "pb.gz", "--to pprof" },
	{ NULL, NULL },
};

static int no_form(const char *to)
{
	size_t count;
	const struct exporter *list = exporters(&count);
	const char *names[16];
	char near[USAGE_CHOICES_BYTES];

	for (const struct usage_word *w = other_forms; w->word; w++)
		if (!strcmp(w->word, to))
			return usage_error(&export_usage, "option '--to' cannot be '%s': %s", to,
					   w->instead);
	count = count < sizeof(names) / sizeof(names[0]) ? count : sizeof(names) / sizeof(names[0]);
	for (size_t i = 0; i < count; i++)
		names[i] = list[i].name;
	return usage_error(&export_usage, "option '--to' cannot be '%s'%s", to,
			   usage_near_or_choices(to, strlen(to), names, count, near));
}

static int choose(const struct export_opts *o, const struct exporter **out)
{
	if (o->raw && o->to)
		return usage_error(&export_usage, "'--raw' or '--to', not both");
	if (!o->to)
		return usage_error(&export_usage,
				   "'ebprec export' needs a form: '--to' or '--raw'");
	*out = exporter_find(o->to);
	if (!*out)
		return no_form(o->to);
	if (!(*out)->write && (!o->output || !strcmp(o->output, "-")))
		return usage_error(&export_usage, "'--to %s' writes a folder (--output DIR)",
				   o->to);
	if (!strcmp(o->to, "pprof") && !o->output && isatty(STDOUT_FILENO))
		return message_error("cannot write 'pprof' to a terminal (--output FILE)");
	return 0;
}

int cmd_export(int argc, char **argv)
{
	static const struct export_opts defaults = { .pick = PICK_OPTIONS_DEFAULTS };
	struct export_opts opts = defaults;
	const struct exporter *e = NULL;
	struct picked picked;
	char **words;
	int status;

	if (!usage_parse(&export_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&export_usage, words, &opts.input);
	if (status)
		return status;
	if (opts.list)
		return list_forms();
	if (opts.raw && !opts.to &&
	    !usage_has_none(&export_usage, &opts, &defaults, PICKED,
			    "--raw, which is the entire capture,"))
		return MESSAGE_USAGE;
	if (opts.raw && !opts.to)
		return cmd_slice_raw(&export_usage, opts.input, opts.output, opts.quiet);
	status = choose(&opts, &e);
	if (!status)
		status = pick_options_parse(&opts.pick, &export_usage, &picked);
	if (status)
		return status;
	if (!e->write) {
		pick_options_done(&picked);
		return cmd_export_perf_cache(opts.input, opts.output, opts.quiet);
	}
	signal(SIGPIPE, SIG_IGN);
	mmap_array_tune();
	status = open_and_export(e, &opts, &picked);
	pick_options_done(&picked);
	return status;
}
