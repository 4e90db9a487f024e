/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec journal - the lines of the system's journal from the time of a capture, put into it as marks */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/result_file.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/marks.h"
#include "analyze/out/message.h"
#include "analyze/rewrite/journal.h"
#include "analyze/rewrite/mark_record.h"
#include "analyze/rewrite/rewrite.h"

#define LINES_MAX        100000 /* that a capture gets */
#define PRIORITY_DEFAULT 6      /* info */

struct journal_opts {
	const char *input, *output, *priority;
	struct option_list paths, units;
	bool quiet;
};

#define AT(field) offsetof(struct journal_opts, field)

static const struct option journal_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0, "the capture (default: ebprec.data)" },
	{ OPT_STRING, 'o', "output", "FILE", AT(output), 0, 0,
	  "the new capture (default: the old one is replaced)" },
	{ OPT_LIST, 0, "journal", "PATH", AT(paths), 0, 0,
	  "read this file of a journal, or folder of files (repeatable; default: the system's)" },
	{ OPT_LIST, 0, "units", "UNIT,...", AT(units), 0, 0, "only lines of these units" },
	{ OPT_STRING, 0, "priority", "LEVEL", AT(priority), 0, 0,
	  "only lines of this level and worse: emerg, alert, crit, err, warning, notice, info (the "
	  "default) or debug" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "print only errors, and what is missing" },
	{ 0 },
};

static const struct usage journal_usage = {
	.command = "journal",
	.words = "[OPTIONS] [[-i] FILE]",
	.about = "Puts the lines of the system's journal from the time of a capture into it, as\n"
		 "marks 'log:LEVEL' with the unit's name: 'ebprec marks' shows them, and\n"
		 "'--between log:/REGEX/ MARK' chooses times by them.\n",
	.options = journal_options,
	.reads = USAGE_REPLACES,
};

struct work {
	const struct capture_attr *attr;
	struct journal *journal;
	struct journal_ask ask;
	struct writer *w;
	uint64_t count, left_out_count;
	int journal_err, write_err; /* of reading the journal, and of the new capture */
};

static int add_line(void *arg, const struct journal_line *line)
{
	struct work *work = arg;
	char group[16], text[JOURNAL_NAME_MAX + JOURNAL_TEXT_MAX + 4];
	const struct mark_record m = {
		.time_ns = line->time_ns,
		.pid = line->pid,
		.tid = line->pid,
		.mark = { .kind = TRACE_DATA_MARK_POINT,
			  .group = group,
			  .name = *line->unit ? line->unit : "-",
			  .message = text },
	};
	_Alignas(8) uint8_t record[MARK_RECORD_BYTES_MAX];
	size_t bytes;

	if (work->count == LINES_MAX) {
		work->left_out_count++;
		return 0;
	}
	snprintf(group, sizeof(group), TRACE_DATA_MARK_LOG "%s",
		 journal_priority_name(line->priority));
	snprintf(text, sizeof(text), "%s%s%s", line->identifier, *line->identifier ? ": " : "",
		 line->text);
	bytes = mark_record_encode(work->attr, &m, record);
	work->count++;
	work->write_err = bytes ? writer_record(work->w, EBX_STREAM_MARK, record, bytes,
						line->time_ns, 0)
				: -ENOTSUP;
	return work->write_err;
}

static int add_lines(void *arg, struct writer *w)
{
	struct work *work = arg;
	int err;

	work->w = w;
	err = journal_read(work->journal, &work->ask, add_line, work);
	if (!work->write_err)
		work->journal_err = err;
	return err;
}

static int fail_journal(const struct journal_opts *o, int err)
{
	const char *path = o->paths.count ? o->paths.values[0] : NULL;

	return message_error("cannot read the journal%s%s%s: %s%s", path ? " '" : "",
			     path ? path : "", path ? "'" : "", strerror(-err),
			     err == -EACCES || err == -EPERM
				     ? " (readers are root and the group systemd-journal)"
				     : "");
}

static int write_capture(const struct journal_opts *o, const struct capture *c, struct work *work)
{
	const char *output = o->output ? o->output : o->input;
	struct rewrite_opts how = { .add = add_lines, .add_arg = work };
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status = cmd_begin_capture(output, false, &to);

	if (status)
		return status;
	err = rewrite_capture(c, result_file_fd(to), &how, &stats);
	if (err) {
		result_file_abort(to);
		return work->journal_err ? fail_journal(o, work->journal_err)
					 : message_cannot_write(output, err);
	}
	status = cmd_place_capture(to, output, !o->output, o->quiet);
	if (!status && work->left_out_count)
		message_note("%" PRIu64
			     " lines are left out: a capture gets at most %d (--priority, --units)",
			     work->left_out_count, LINES_MAX);
	if (!status && !o->quiet)
		message_note("%s '%s': %" PRIu64 " lines of the journal",
			     o->output ? "wrote" : "replaced", output, work->count);
	return status;
}

/* A second time, each line would be there twice. */
static int has_lines(const struct capture *c, bool *out)
{
	struct string_table *names;
	struct marks marks;
	int err = string_table_new(&names);

	*out = false;
	if (err)
		return err;
	err = marks_load(c, names, &marks);
	for (size_t i = 0; !err && i < marks.count; i++)
		*out |= !strncmp(string_table_text(names, marks.marks[i].group),
				 TRACE_DATA_MARK_LOG, strlen(TRACE_DATA_MARK_LOG));
	if (!err)
		marks_done(&marks);
	string_table_free(names);
	return err;
}

/* The times of the recording, and the event of the new records. */
static int find_times(const struct journal_opts *o, const struct capture *c, struct work *work)
{
	struct time_span room;
	const struct time_span *span = cmd_span(c, &room);
	bool has = false;
	int err = has_lines(c, &has);

	if (err)
		return message_error("cannot read '%s': %s", o->input, strerror(-err));
	if (has)
		return message_error("cannot add to '%s': it has lines of a journal already",
				     o->input);
	work->attr = event_iter_find(c, TRACE_DATA_MARK_ID);
	if (capture_get_kind(c) != CAPTURE_EBX || !work->attr)
		return message_error(
			"cannot add to '%s': it has no event for marks (was it recorded "
			"by perf, or --without mark?)",
			o->input);
	if (!span || !capture_clock(c, &work->ask.mono_ns, &work->ask.wall_ns))
		return message_error("cannot add to '%s': it does not have the time of day",
				     o->input);
	work->ask.span = *span;
	capture_meta_extend_back(c, &work->ask.span);
	capture_meta_extend(c, &work->ask.span);
	return 0;
}

static int read_asked(const struct journal_opts *o, struct work *work)
{
	unsigned level = PRIORITY_DEFAULT;

	for (level = 0; o->priority && journal_priority_name(level); level++)
		if (!strcmp(o->priority, journal_priority_name(level)))
			break;
	if (o->priority && !journal_priority_name(level))
		return usage_error(&journal_usage,
				   "option '--priority' cannot be '%s': emerg, alert, crit, err, "
				   "warning, notice, info or debug was expected",
				   o->priority);
	work->ask.most_priority = o->priority ? level : PRIORITY_DEFAULT;
	work->ask.paths = o->paths.values;
	work->ask.path_count = o->paths.count;
	work->ask.units = o->units.values;
	work->ask.unit_count = o->units.count;
	return 0;
}

static int run(const struct journal_opts *o, struct work *work)
{
	struct capture *c;
	int status = cmd_open_capture(o->input, &c);

	if (status)
		return status;
	status = o->output ? cmd_new_capture(c, o->input, o->output) : 0;
	if (!status)
		status = find_times(o, c, work);
	if (!status)
		status = write_capture(o, c, work);
	capture_close(c);
	return status;
}

static const char *library_why(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no libsystemd.so.0 (Debian: libsystemd0)";
	case -ENOTSUP:
		return "a static program cannot load libsystemd.so.0";
	default:
		return strerror(-err);
	}
}

int cmd_journal(int argc, char **argv)
{
	struct journal_opts opts = { 0 };
	struct work work = { 0 };
	char **words;
	int status, err = journal_new(&work.journal); /* before it is confined */

	if (!usage_parse(&journal_usage, &opts, argc, argv, 0, 1, &words, &status)) {
		journal_free(work.journal);
		return status;
	}
	status = cmd_input(&journal_usage, words, &opts.input);
	if (!status)
		status = read_asked(&opts, &work);
	if (!status && !strcmp(opts.input, "-") && !opts.output)
		status = usage_error(&journal_usage, "standard input needs '--output FILE'");
	if (!status && err)
		status = message_error("cannot read the journal: %s", library_why(err));
	if (!status)
		status = run(&opts, &work);
	journal_free(work.journal);
	return status;
}
