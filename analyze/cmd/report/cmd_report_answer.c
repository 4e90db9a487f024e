/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_meta.h"
#include "analyze/cmd/report/cmd_report_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/empty_answer.h"
#include "analyze/cmd/html/html_instruments.h"
#include "analyze/cmd/html/report_html.h"
#include "analyze/page/counters/counters_read.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/input/event/event_of.h"
#include "analyze/out/message.h"
#include "analyze/report/quality/runtimes.h"
#include "analyze/report/quality_text.h"

/* The first lines of a report of waits. */
static void write_head_waits(const struct report *r, FILE *to)
{
	const struct offcpu_facts *f = &r->waits.facts;

	if (f->on_ns)
		fprintf(to, "# %.6f s on a CPU, by %" PRIu64 " samples\n", (double)f->on_ns / 1e9,
			f->on_samples);
	fprintf(to,
		"# %.6f s off the CPU in %" PRIu64 " waits, %" PRIu64 " of them with a stack\n#\n",
		(double)f->total_ns / 1e9, f->switches, f->stacks);
}

static void write_head(const struct report *r, size_t attr, FILE *to)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);
	const char *host = capture_feature_string(r->capture, PERFFILE_HOSTNAME);
	const char *event = event_name(&attrs[attr]);
	char *selected = capture_meta_selection(r->capture);

	fprintf(to, "# %" PRIu64 " samples of '", r->picked);
	message_escaped(to, event, strlen(event));
	putc('\'', to);
	if (r->picked != r->stats.event_samples)
		fprintf(to, ", of %" PRIu64 " in the file", r->stats.event_samples);
	if (host && *host) {
		fputs(", on ", to);
		message_escaped(to, host, strlen(host));
	}
	if (selected) {
		fputs(", of ", to);
		message_escaped(to, selected, strlen(selected));
		free(selected);
	}
	fputs("\n#\n", to);
}

/* Whether stacks have functions of an interpreted program, and so those of the interpreter between them. */
static bool has_interpreter(const struct report *r)
{
	for (size_t i = 0; i < r->naming.function_count; i++)
		if (!r->naming.functions[i].reason &&
		    runtimes_of_named(string_table_text(r->names, r->naming.functions[i].name)))
			return true;
	return false;
}

/* Whether samples are in an interpreter's loop rather than in functions of the program that it runs. */
static bool is_in_interpreter(const struct report *r)
{
	uint64_t program = 0, loop = 0;
	bool named = has_interpreter(r);

	for (size_t i = 0; named && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];
		const struct function *f;
		const char *name;

		if (e->key.user == STACK_TABLE_USER_ROOT)
			continue;
		f = &r->naming.functions[r->stacks.nodes[e->key.user].frame];
		name = string_table_text(r->names, f->name);
		if (!f->reason && runtimes_of_named(name))
			program += e->sample_count;
		else if (!f->reason && runtimes_of_function(name))
			loop += e->sample_count;
	}
	return named && loop > program;
}

/* A line of advice above some tables: on where samples skid to, and on another order of rows. */
static void write_remark(const struct report *r, const struct report_view *view,
			 const struct report_ask *ask, const struct report_query *query, FILE *to)
{
	size_t count;
	const struct perf_event_attr *attr = &capture_attrs(r->capture, &count)[query->attr].attr;

	if (!strcmp(view->name, "annotate") && !query->off_cpu &&
	    (attr->type == PERF_TYPE_SOFTWARE || !attr->precise_ip))
		fputs("# samples come late: what is hottest may be a line or some instructions "
		      "before the one that has them\n#\n",
		      to);
	if (!strcmp(view->name, "functions") && !ask->by_total && !ask->no_children &&
	    !query->without_interpreter && is_in_interpreter(r))
		fputs("# functions of an interpreted program, as py::NAME, have the rest of their time in "
		      "the interpreter's own:\n# --children sorts by total, --hide interpreter leaves "
		      "these out\n#\n",
		      to);
}

/* Owned; NULL: no memory. */
static char *make_head(const struct report *r, const struct report_view *view,
		       const struct report_ask *ask, const struct report_query *query)
{
	char *head = NULL;
	size_t size;
	FILE *to = open_memstream(&head, &size);

	if (!to)
		return NULL;
	if (!view->bare && ask->form == FLAT_TEXT) {
		if (query->off_cpu)
			write_head_waits(r, to);
		else
			write_head(r, query->attr, to);
		write_remark(r, view, ask, query, to);
	}
	fclose(to);
	return head;
}

struct answer {
	struct report *report;
	const struct report_view *view;
	const struct report_ask *ask;
};

static int write_view(void *arg, FILE *to)
{
	const struct answer *a = arg;

	return a->view->write(a->report, a->ask, to); /* NOLINT: cmd_report_ask_view() succeeded */
}

static int write_page(struct report *r, const struct report_opts *opts,
		      const struct report_ask *ask, const struct report_query *query)
{
	/* Which groups waits are of is only known of samples. */
	const bool of_groups = opts->pick.groups.cgroups.count ||
			       opts->pick.groups.containers.count || opts->pick.services.count;
	bool no_waits = !opts->html_waits || opts->of || of_groups;
	/* Samples of one event, or by one weight, are not those of other events. */
	bool all_events = opts->html_instruments && !opts->of && !opts->pick.event &&
			  !opts->pick.weight;
	struct page_counters counters = { 0 };
	struct html_instruments instruments = { 0 };
	const struct report_html_ask page = { .input = opts->input,
					      .output = opts->html,
					      .limit_bytes = opts->html_limit_bytes,
					      .pick = &opts->pick,
					      .of = opts->of,
					      .report = ask,
					      .attr = query->attr,
					      .filter = query->filter,
					      .marks = true,
					      .processes = true,
					      .counters = &counters,
					      .instruments = &instruments,
					      .view = opts->html_view,
					      .carried = opts->with_capture ? r->capture : NULL,
					      .waits = no_waits ? NULL : query };

	int err = 0, status;

	if (!of_groups)
		err = page_counters_read(r, query->filter, &counters);
	if (!err && all_events)
		err = html_instruments_read(r, query, &instruments);
	status = err ? message_error("cannot read the tables of '%s': %s", opts->input,
				     strerror(-err))
		     : report_html_write(r, &page);
	html_instruments_done(&instruments);
	page_counters_done(&counters);
	return status;
}

/* Whether the function that was asked for may be among what has no name. */
static bool has_unnamed(const struct report *r)
{
	for (size_t i = 0; i < r->naming.function_count; i++)
		if (r->naming.functions[i].reason)
			return true;
	return false;
}

static int fail_function(const struct report *r, const char *word, const char *input)
{
	char *others = empty_answer_functions(r, word);

	message_error("no function '%s' in the samples of '%s' that were asked for%s%s", word,
		      input, others ? others : "",
		      has_unnamed(r) ? " (--symbols-report shows which files have no "
				       "names, and why)"
				     : "");
	free(others);
	return MESSAGE_FAILED;
}

int cmd_report_answer_write(struct report *r, const struct report_opts *opts,
			    const struct report_view *view, struct report_ask *ask,
			    const struct report_query *query)
{
	const char *picture = opts->svg && strcmp(opts->svg, "-") != 0 ? opts->svg : NULL;
	char *head = make_head(r, view, ask, query);
	int err = -ENOMEM, status;

	ask->head = head;
	if (head && opts->html) {
		status = write_page(r, opts, ask, query);
		free(head);
		if (!status && !opts->quiet)
			cmd_print_written(opts->html, "a browser");
		return status;
	}
	if (head)
		err = cmd_write_output(picture, write_view, &(struct answer){ r, view, ask });
	free(head);
	if (err && err != -ENOMEM && picture)
		return message_cannot_write(picture, err);
	if (!err && picture && !opts->quiet)
		cmd_print_written(picture, "a browser");
	if (!err && opts->svg && !opts->quiet && !query->without_interpreter && has_interpreter(r))
		message_note("  each function of an interpreted program has functions of the "
			     "interpreter below it (--hide interpreter leaves these out)");
	if (err == -ENOENT)
		return fail_function(r, ask->around, opts->input);
	if (err == -ENOMEM)
		return message_error("cannot report '%s': %s", opts->input, strerror(ENOMEM));
	if (err == -EPIPE) {
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return MESSAGE_OK;
	}
	return err ? message_cannot_write("standard output", err) : MESSAGE_OK;
}

void cmd_report_answer_empty(const struct report *r, const struct report_opts *opts,
			     const struct report_query *query)
{
	size_t count;
	const struct capture_attr *attr = &capture_attrs(r->capture, &count)[query->attr];
	const char *event = event_name(attr);
	bool is_slow = opts->of && strlen(event) > 5 && !strcmp(event + strlen(event) - 5, "_slow");

	if (quality_text_ends_early(r->capture))
		return; /* and that message comes last */
	if (!r->stats.event_samples &&
	    capture_feature(r->capture, PERFFILE_DIR_FORMAT).size_bytes) {
		message_note(
			"'%s' has no samples: those of 'perf record --threads' are in files beside it, which are not read (record without it)",
			opts->input);
		return;
	}
	if (query->off_cpu) {
		message_note("none of the waits in '%s' passes the filters", opts->input);
		empty_answer_explain(r->capture, query, false);
		return;
	}
	if (!r->stats.event_samples && attr->attr.type == PERF_TYPE_TRACEPOINT) {
		message_note(
			"'%s' has no samples of '%s': it did not happen while it was recorded%s",
			opts->input, event,
			is_slow ? " (stacks are taken of what lasts longer than 'ebprec record --slower TIME')"
				: "");
		return;
	}
	if (!r->stats.event_samples) {
		char *selected = capture_meta_selection(r->capture);

		if (selected) {
			message_note(
				"'%s' has no samples of '%s': nothing of %s ran, or there was none",
				opts->input, event, selected);
			free(selected);
			return;
		}
		message_note(
			"'%s' has no samples of '%s': nothing ran for an entire period while it was "
			"recorded (%srecord longer, or with a higher -F)",
			opts->input, event,
			cmd_has_recorded_switches(r->capture)
				? "--wall shows what was waited for, and 'ebprec summary' each thread's time; or "
				: "");
		return;
	}
	message_note("none of the %" PRIu64 " samples in '%s' passes the filters",
		     r->stats.event_samples, opts->input);
	empty_answer_explain(r->capture, query, false);
}
