/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec bundle - the names that a capture needs, put into it so that they travel with it */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/bundle_sources.h"
#include "analyze/cmd/bundle_names.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/name_options.h"
#include "analyze/base/result_file.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/text_table.h"

struct bundle_opts {
	const char *input, *output;
	struct name_options names;
	bool list, lines, json, quiet;
};

#define AT(field) offsetof(struct bundle_opts, field)

static const struct option bundle_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0, "the capture (default: ebprec.data)" },
	{ OPT_STRING, 'o', "output", "FILE", AT(output), 0, 0,
	  "the new capture (default: the old one is replaced)" },
	{ OPT_FLAG, 0, "lines", NULL, AT(lines), 0, 0,
	  "source lines and inlined functions, too (needs debug information)" },
	{ OPT_FLAG, 0, "list", NULL, AT(list), 0, 0,
	  "only print what is inside, and what it costs" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "with --list: as JSON" },
	NAMEOPTS(AT(names)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage bundle_usage = {
	.command = "bundle",
	.words = "[OPTIONS] [[-i] FILE]",
	.about = "Looks up every place that a sample was in and puts the names into the capture.\n"
		 "After that its reports are the same on any machine, without any other file.\n",
	.options = bundle_options,
	.reads = USAGE_REPLACES,
};

/* ---- the new file ---- */

static int write_capture(const struct bundle_opts *opts, const struct capture *c,
			 struct bundle_names *o)
{
	const char *output = opts->output ? opts->output : opts->input;
	struct rewrite_opts how = { .add = bundle_names_write,
				    .add_arg = o,
				    .replaces_symbols = true };
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status = cmd_begin_capture(output, false, &to);

	if (status)
		return status;
	err = rewrite_capture(c, result_file_fd(to), &how, &stats);
	if (err) {
		result_file_abort(to);
		return message_cannot_write(output, err);
	}
	status = cmd_place_capture(to, output, !opts->output, opts->quiet);
	if (status)
		return status;
	if (stats.bad_blocks)
		message_note("'%s' is damaged: %" PRIu32 " parts of it are unreadable, skipping",
			     opts->input, stats.bad_blocks);
	if (!opts->quiet)
		message_note("%s '%s'%s names of %zu files, %" PRIu64 " KiB (was %" PRIu64 " KiB)",
			     opts->output ? "wrote" : "replaced", output,
			     opts->output ? ":" : " by one with", o->files.ids.count,
			     stats.file_bytes >> 10, capture_file_bytes(c) >> 10);
	return MESSAGE_OK;
}

static int bundle(const struct bundle_opts *opts, const struct capture *c)
{
	struct bundle_names o = { .with_lines = opts->lines };
	int err, status;

	if (capture_get_kind(c) != CAPTURE_EBX)
		return message_error(
			"cannot bundle '%s': it is perf's file, which has no room for names "
			"(perf archive)",
			opts->input);
	if (!bundle_names_can(c))
		return message_error("cannot bundle '%s': it is not complete ('ebprec recover')",
				     opts->input);
	err = bundle_names_find(c, &opts->names, opts->quiet, &o);
	status = err ? message_error("cannot bundle '%s': %s", opts->input, strerror(-err))
		     : write_capture(opts, c, &o);
	bundle_merge_done(&o.files);
	return status;
}

/* ---- what is inside ---- */

static void list_row(struct text_table *v, const struct bundle *b, uint64_t stored_bytes)
{
	const struct bundle_head *head = bundle_head(b);
	char hex[BUILDID_HEX_BYTES];

	buildid_hex(&head->file.id.build_id, hex);
	text_table_row(v);
	text_table_number(v, "places", bundle_count(b));
	text_table_number(v, "lines", bundle_frame_count(b));
	text_table_size(v, "stored", stored_bytes);
	text_table_text(v, "file", head->file.path);
	text_table_text(v, "build_id", hex);
	text_table_text(v, "known_by", name_trust_text((enum name_trust)head->trust));
	text_table_text(v, "symbols", head->symbols);
}

static int list(const struct bundle_opts *opts, const struct capture *c)
{
	static const char *const columns[] = { "places",   "lines",    "stored", "file",
					       "build_id", "known_by", "symbols" };
	struct bundle_merge files = { 0 };
	struct text_table *v = NULL;
	size_t broken;
	int err;

	err = bundle_sources_merge(c, &files, &broken);
	if (!err)
		err = text_table_open(stdout, opts->json, &v);
	if (err) {
		bundle_merge_done(&files);
		return message_error("cannot list '%s': %s", opts->input, strerror(-err));
	}
	text_table_begin(v, "files", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < files.ids.count; i++)
		list_row(v, files.files[i].bundle, files.files[i].stored_bytes);
	text_table_end(v);
	err = text_table_close(v);
	if (!files.ids.count && !opts->quiet)
		message_note("no names are bundled in '%s'", opts->input);
	if (broken)
		message_note("%zu tables of '%s' are broken, or of a later version, skipping",
			     broken, opts->input);
	bundle_merge_done(&files);
	return err ? message_error("cannot list '%s': %s", opts->input, strerror(-err))
		   : MESSAGE_OK;
}

int cmd_bundle(int argc, char **argv)
{
	struct bundle_opts opts = { .names = NAME_OPTIONS_DEFAULTS };
	struct capture *c;
	char **words;
	int status;

	if (!usage_parse(&bundle_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&bundle_usage, words, &opts.input);
	if (status)
		return status;
	if (!strcmp(opts.input, "-") && !opts.list && !opts.output)
		return usage_error(&bundle_usage, "standard input needs '--output FILE'");
	status = cmd_open_capture(opts.input, &c);
	if (status)
		return status;
	status = opts.list || !opts.output ? 0 : cmd_new_capture(c, opts.input, opts.output);
	if (!status)
		status = opts.list ? list(&opts, c) : bundle(&opts, c);
	capture_close(c);
	return status;
}
