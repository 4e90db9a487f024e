/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/diff/cmd_diff_html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/out/message.h"
#include "analyze/report/diff/diff.h"

static int make_part(const struct diff_html_ask *ask, int side, const char *path, struct report *r,
		     struct picked *picked, struct page_part *out)
{
	const struct report_ask view = { .weight = picked->weight,
					 .weight_name = picked->weight_name };
	struct report_html_ask how = { .input = path,
				       .output = ask->output,
				       .pick = ask->pick,
				       .report = &view,
				       .filter = &picked->filter,
				       .renames = ask->renames };
	int err;

	/* The second has the names that all get. */
	how.rename_count = side == DIFF_BEFORE ? ask->rename_count : 0;
	report_html_query(&picked->query);
	/* Which groups waits are of is only known of samples. */
	if (!ask->pick->groups.cgroups.count && !ask->pick->groups.containers.count &&
	    !ask->pick->services.count)
		how.waits = &picked->query;
	picked->query.apart = true;
	how.attr = picked->query.attr;
	err = report_make(r, &picked->query);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	return report_html_part(r, &how, out);
}

static int read_part(const struct diff_html_ask *ask, int side, const char *path,
		     struct page_part *out)
{
	struct picked picked;
	struct cmd_open in;
	int status = pick_options_parse(ask->pick, ask->usage, &picked);

	if (status)
		return status;
	status = cmd_open(path, "compare", ask->quiet, &in);
	if (!status) {
		status = cmd_new_file(in.capture, path, ask->output);
		if (!status)
			status = pick_options_resolve(ask->pick, ask->usage, path, ask->quiet,
						      &in.report, &picked);
		if (!status)
			status = make_part(ask, side, path, &in.report, &picked, out);
		cmd_close(&in);
	}
	pick_options_done(&picked);
	return status;
}

int diff_html_write(const struct diff_html_ask *ask, char *const *words)
{
	const struct report_html_ask page = { .output = ask->output,
					      .limit_bytes = ask->limit_bytes };
	struct page_part parts[DIFF_SIDES] = { 0 };
	char *title = NULL;
	int status = 0;

	for (int side = 0; !status && side < DIFF_SIDES; side++)
		status = read_part(ask, side, words[side], &parts[side]);
	if (!status && asprintf(&title, "%s and %s", words[0], words[1]) < 0) {
		title = NULL;
		status = message_error("cannot compare: %s", strerror(ENOMEM));
	}
	if (!status)
		status = report_html_page(
			&page, title, ask->summary,
			&(struct page_parts){ &parts[DIFF_BEFORE], &parts[DIFF_AFTER], 1 });
	if (!status && !ask->quiet)
		cmd_print_written(ask->output, "a browser");
	free(title);
	for (int side = 0; side < DIFF_SIDES; side++)
		page_part_done(&parts[side]);
	return status;
}
