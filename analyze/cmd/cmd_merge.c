/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec merge - captures of one machine as one */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/input/capture_meta.h"
#include "analyze/rewrite/merge.h"
#include "analyze/base/result_file.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"

#define INPUTS_MAX CAPTURE_META_PARTS_MAX

struct merge_opts {
	const char *output;
	bool any_boot, quiet;
};

static const struct option merge_options[] = {
	{ OPT_STRING, 'o', "output", "FILE", offsetof(struct merge_opts, output), 0, 0,
	  "the new capture" },
	{ OPT_FLAG, 0, "any-boot", NULL, offsetof(struct merge_opts, any_boot), 0, 0,
	  "merge also captures between which the machine was started, by its clock" },
	{ OPT_FLAG, 'q', "quiet", NULL, offsetof(struct merge_opts, quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage merge_usage = {
	.command = "merge",
	.words = "-o FILE CAPTURE CAPTURE...",
	.needs = "two captures or more",
	.about = "Joins captures of one machine, which may overlap in time or follow each other.\n"
		 "Reports of the result are the sums of theirs.\n",
	.options = merge_options,
	.reads = USAGE_READS,
};

static int fail(char **paths, const struct merge_opts *opts, int err,
		const struct merge_error *error)
{
	if (err == -EXDEV)
		return message_error("cannot merge '%s': %s", paths[error->input], error->text);
	return message_cannot_write(opts->output, err);
}

static void print_written(const struct merge_opts *opts, size_t count,
			  const struct rewrite_stats *s)
{
	if (s->bad_blocks)
		message_note("%" PRIu32 " parts of the captures are unreadable, skipping",
			     s->bad_blocks);
	if (s->skipped_count)
		message_note("%" PRIu64 " records have no place in the new file, skipping",
			     s->skipped_count);
	if (s->twin_count && !opts->quiet)
		message_note("%" PRIu64
			     " switches, wakeups and marks were in several captures: written once",
			     s->twin_count);
	if (!opts->quiet)
		message_note("wrote '%s': %" PRIu64 " samples and events of %zu captures, %" PRIu64
			     " KiB",
			     opts->output, s->sample_count, count, s->file_bytes >> 10);
}

static int merge(const struct capture *const *captures, size_t count, char **paths,
		 const struct merge_opts *opts)
{
	struct rewrite_stats stats;
	struct merge_error error = { 0 };
	struct result_file *to;
	int err, status = cmd_begin_capture(opts->output, false, &to);

	if (status)
		return status;
	err = merge_captures(captures, count, &(struct merge_how){ .any_boot = opts->any_boot },
			     result_file_fd(to), &stats, &error);
	if (err) {
		result_file_abort(to);
		return fail(paths, opts, err, &error);
	}
	status = cmd_place_capture(to, opts->output, false, opts->quiet);
	if (status)
		return status;
	print_written(opts, count, &stats);
	return MESSAGE_OK;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_opts opts = { 0 };
	struct capture *captures[INPUTS_MAX] = { NULL };
	size_t count = 0;
	char **words;
	int status;

	if (!usage_parse(&merge_usage, &opts, argc, argv, 2, INPUTS_MAX, &words, &status))
		return status;
	if (!opts.output)
		return usage_error(&merge_usage, "'ebprec merge' needs '--output FILE'");
	status = MESSAGE_OK;
	for (; words[count] && !status; count += captures[count] != NULL) {
		status = cmd_open_capture(words[count], &captures[count]);
		if (!status)
			status = cmd_new_capture(captures[count], words[count], opts.output);
	}
	if (!status)
		status = merge((const struct capture *const *)captures, count, words, &opts);
	while (count)
		capture_close(captures[--count]);
	return status;
}
