/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec journal - the lines of the system's journal from the time of a capture, put into it as marks */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/marks/added_marks.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/message.h"
#include "analyze/rewrite/journal.h"

#define PRIORITY_DEFAULT 6 /* info */

struct journal_opts {
	struct added_marks_options capture;
	const char *priority;
	struct option_list paths, units;
};

#define AT(field) offsetof(struct journal_opts, field)

static const struct option journal_options[] = {
	ADDED_MARKS_OPTIONS(AT(capture)),
	{ OPT_LIST, 0, "journal", "PATH", AT(paths), 0, 0,
	  "read this file of a journal, or folder of files (repeatable; default: the system's)" },
	{ OPT_LIST, 0, "units", "UNIT,...", AT(units), 0, 0, "only lines of these units" },
	{ OPT_STRING, 0, "priority", "LEVEL", AT(priority), 0, 0,
	  "only lines of this level and worse: emerg, alert, crit, err, warning, notice, info (the "
	  "default) or debug" },
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
	struct added_marks marks;
	struct journal *journal;
	struct journal_ask ask;
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

	snprintf(group, sizeof(group), TRACE_DATA_MARK_LOG "%s",
		 journal_priority_name(line->priority));
	snprintf(text, sizeof(text), "%s%s%s", line->identifier, *line->identifier ? ": " : "",
		 line->text);
	return added_marks_put(&work->marks, &m);
}

static int add_lines(void *arg)
{
	struct work *work = arg;

	return journal_read(work->journal, &work->ask, add_line, work);
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
	struct added_marks *a = &work->marks;
	int err, status;

	*a = (struct added_marks){ .options = &o->capture,
				   .group = "log",
				   .what = "lines of the journal",
				   .fewer = " (--priority, --units)" };
	status = added_marks_open(a);
	if (!status) {
		work->ask.span = a->span;
		work->ask.mono_ns = a->mono_ns;
		work->ask.wall_ns = a->wall_ns;
		status = added_marks_write(a, add_lines, work, &err);
		if (err)
			status = fail_journal(o, err);
	}
	added_marks_close(a);
	return status;
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
	status = added_marks_input(&opts.capture, &journal_usage, words);
	if (!status)
		status = read_asked(&opts, &work);
	if (!status && err)
		status = message_error("cannot read the journal: %s", added_marks_library_why(err));
	if (!status)
		status = run(&opts, &work);
	journal_free(work.journal);
	return status;
}
