/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/diff/cmd_diff_html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/out/message.h"
#include "analyze/report/diff/diff.h"

/* A capture, what is asked of it, and its report. */
struct side {
	struct pick_options pick;
	struct picked picked;
	struct cmd_open in;
	bool is_open;
	struct report_ask view;
	struct report_html_ask how;
};

static int count_side(const struct diff_html_ask *ask, int number, const char *path,
		      struct side *side)
{
	struct picked *picked = &side->picked;
	int err;

	side->view = (struct report_ask){ .weight = picked->weight,
					  .weight_name = picked->weight_name };
	side->how = (struct report_html_ask){ .input = ask->names[number],
					      .output = ask->output,
					      .limit_bytes = ask->limit_bytes,
					      .pick = &side->pick,
					      .report = &side->view,
					      .filter = &picked->filter };
	/* The second has the names that all get. */
	if (number == DIFF_BEFORE)
		side->how.renames = ask->renames;
	report_html_query(&picked->query);
	/* Which groups waits are of is only known of samples. */
	if (!ask->pick->groups.cgroups.count && !ask->pick->groups.containers.count &&
	    !ask->pick->services.count)
		side->how.waits = &picked->query;
	picked->query.apart = true;
	side->how.attr = picked->query.attr;
	err = report_make(&side->in.report, &picked->query);
	return err ? message_error("cannot compare '%s': %s", path, strerror(-err)) : 0;
}

static int read_side(const struct diff_html_ask *ask, int number, const char *path,
		     struct side *side)
{
	int status;

	side->pick = *ask->pick;
	if (ask->times[number])
		side->pick.when.time = ask->times[number];
	status = pick_options_parse(&side->pick, ask->usage, &side->picked);
	if (status)
		return status;
	status = cmd_open(path, "compare", ask->quiet, &side->in);
	side->is_open = !status;
	if (!status)
		status = cmd_new_file(side->in.capture, path, ask->output);
	if (!status)
		status = pick_options_resolve(&side->pick, ask->usage, path, ask->quiet,
					      &side->in.report, &side->picked);
	return status ? status : count_side(ask, number, path, side);
}

static int write_page(const struct diff_html_ask *ask, struct side *sides)
{
	struct report *const reports[] = { &sides[DIFF_BEFORE].in.report,
					   &sides[DIFF_AFTER].in.report };
	const struct report_html_ask asks[] = { sides[DIFF_BEFORE].how, sides[DIFF_AFTER].how };
	char *title;
	int status;

	if (asprintf(&title, "%s and %s", ask->names[DIFF_BEFORE], ask->names[DIFF_AFTER]) < 0)
		return message_error("cannot compare: %s", strerror(ENOMEM));
	status = report_html_write_two(reports, asks, title, ask->summary);
	free(title);
	return status;
}

int diff_html_write(const struct diff_html_ask *ask, char *const *words)
{
	struct side sides[DIFF_SIDES] = { 0 };
	int status = 0;

	for (int i = 0; !status && i < DIFF_SIDES; i++)
		status = read_side(ask, i, words[i], &sides[i]);
	if (!status)
		status = write_page(ask, sides);
	if (!status && !ask->quiet)
		cmd_print_written(ask->output, "a browser");
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (sides[i].is_open)
			cmd_close(&sides[i].in);
		pick_options_done(&sides[i].picked);
	}
	return status;
}
