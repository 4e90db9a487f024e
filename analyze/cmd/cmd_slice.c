/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec slice - a part of a capture's time as a file of its own; and an entire one, uncompressed
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/cmd/cmd_slice.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/base/result_file.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/input/marks.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/sched/border.h"
#include "analyze/out/message.h"

#define NS_PER_SECOND 1e9

struct copy_opts {
	const char *input, *output;
	struct time_options when;
	bool raw, quiet;
};

static const struct option slice_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", offsetof(struct copy_opts, input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_STRING, 'o', "output", "FILE", offsetof(struct copy_opts, output), 0, 0,
	  "the new capture" },
	TIMEOPTS(offsetof(struct copy_opts, when)),
	{ OPT_FLAG, 'q', "quiet", NULL, offsetof(struct copy_opts, quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage slice_usage = {
	.command = "slice",
	.words = "--time FROM,TO | --last SECONDS | ... -o FILE [[-i] FILE]",
	.about = "Copies a part of a capture's time into a capture of its own: the samples from\n"
		 "FROM to TO, both included, all the mappings and names they need, and the\n"
		 "spans of marks that reach into this time.\n",
	.options = slice_options,
	.reads = USAGE_READS,
};

/* The times of the samples, of which none is in the slice, but where a time outside of these was noted; span NULL: not known. */
static void print_empty(const struct copy_opts *opts, const struct time_span *span,
			const struct time_span *asked)
{
	if (!span || opts->raw ||
	    (opts->when.time && (asked->to_ns < span->from_ns || asked->from_ns > span->to_ns)))
		message_note("'%s' has no samples", opts->output);
	else
		message_note(
			"'%s' has no samples: those of '%s' are from %.6f s to %.6f s, which is +0,+%.6f",
			opts->output, opts->input, (double)span->from_ns / NS_PER_SECOND,
			(double)span->to_ns / NS_PER_SECOND,
			(double)(span->to_ns - span->from_ns) / NS_PER_SECOND);
}

static void print_written(const struct copy_opts *opts, const struct time_span *span,
			  const struct time_span *asked, const struct rewrite_stats *s)
{
	if (s->bad_blocks)
		message_note("'%s' is damaged: %" PRIu32 " parts of it are unreadable, skipping",
			     opts->input, s->bad_blocks);
	if (s->skipped_count)
		message_note("%" PRIu64 " records of '%s' have no place in the new file, skipping",
			     s->skipped_count, opts->input);
	if (!s->sample_count)
		print_empty(opts, span, asked);
	if (!opts->quiet)
		message_note("wrote '%s': %" PRIu64 " events, %" PRIu64 " KiB", opts->output,
			     s->sample_count, s->file_bytes >> 10);
}

/* Events around the span, so that waits and spans across its borders are known; several spans have none. */
static int make_border(const struct capture *c, const struct copy_opts *opts,
		       const struct filter *filter, struct buf *border, struct rewrite_opts *how)
{
	int err;

	if (opts->raw || !filter_has_window(filter) || filter->part_count)
		return 0;
	err = sched_border_make(c, &filter->span, border);
	if (!err)
		err = marks_add_border(c, &filter->span, border);
	if (err)
		return message_error("cannot read '%s': %s", opts->input, strerror(-err));
	how->border = border;
	return 0;
}

static int copy(const struct capture *c, const struct copy_opts *opts,
		const struct time_span *recorded, const struct rewrite_opts *how)
{
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status = cmd_begin_capture(opts->output, false, &to);

	if (status)
		return status;
	err = rewrite_capture(c, result_file_fd(to), how, &stats);
	if (err) {
		result_file_abort(to);
		if (err == -ENOTSUP)
			return message_error("cannot rewrite '%s': there are no events in it",
					     opts->input);
		return message_cannot_write(opts->output, err);
	}
	status = cmd_place_capture(to, opts->output, false, opts->quiet);
	if (status)
		return status;
	print_written(opts, recorded, &how->filter->span, &stats);
	return MESSAGE_OK;
}

static int run(const struct usage *u, const struct copy_opts *opts)
{
	struct rewrite_opts how = { .plain = opts->raw };
	struct buf border = { .data = NULL };
	const struct time_span *span;
	struct time_span recorded;
	struct filter filter;
	struct capture *c;
	int status;

	if (!opts->output)
		return usage_error(u, "'ebprec %s' needs '--output FILE'", u->command);
	status = cmd_open_capture(opts->input, &c);
	if (status)
		return status;
	filter_init(&filter);
	status = cmd_new_capture(c, opts->input, opts->output);
	span = status ? NULL : cmd_span(c, &recorded);
	if (!status)
		status = pick_options_time(&opts->when, u, opts->input, c, span, &filter);
	how.filter = &filter;
	if (!status)
		status = make_border(c, opts, &filter, &border, &how);
	if (!status)
		status = copy(c, opts, span, &how);
	buf_done(&border);
	filter_done(&filter);
	capture_close(c);
	return status;
}

int cmd_slice(int argc, char **argv)
{
	struct copy_opts opts = { 0 };
	char **words;
	int status;

	if (!usage_parse(&slice_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&slice_usage, words, &opts.input);
	if (status)
		return status;
	if (!pick_options_has_time(&opts.when))
		return usage_error(
			&slice_usage,
			"'ebprec slice' needs a time: '--time FROM,TO', '--last SECONDS', '--during' or '--between'");
	return run(&slice_usage, &opts);
}

int cmd_slice_raw(const struct usage *u, const char *input, const char *output, bool quiet)
{
	struct copy_opts opts = { .input = input, .output = output, .raw = true, .quiet = quiet };

	return run(u, &opts);
}
