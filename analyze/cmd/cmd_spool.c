/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec spool - what is in a folder of captures, whether it is good, and its limits */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"
#include "analyze/spool/spool.h"
#include "format/os/clock.h"
#include "format/text/duration_text.h"

struct spool_opts {
	const char *spool, *max_age;
	uint64_t max_bytes, free_bytes;
	bool json, quiet;
};

#define AT(field) offsetof(struct spool_opts, field)

static const struct option spool_options[] = {
	{ OPT_STRING, 0, "spool", "DIR", AT(spool), 0, 0,
	  "the folder (default: $EBPREC_SPOOL, else " SPOOL_DEFAULT ")" },
	{ OPT_SIZE, 0, "max-size", "SIZE", AT(max_bytes), 0, 0,
	  "prune: all captures together are no larger, as 2G" },
	{ OPT_STRING, 0, "max-age", "TIME", AT(max_age), 0, 0, "prune: none is older, as 7d" },
	{ OPT_SIZE, 0, "min-free", "SIZE", AT(free_bytes), 0, 0,
	  "prune: leave so much of the disk free" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "the same as JSON" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "print only errors, and what is wrong" },
	{ 0 },
};

static const struct usage spool_usage = {
	.command = "spool",
	.words = "[list | check | prune] [OPTIONS]",
	.about = "Lists the captures of a spool, the folder that 'ebprec agent' records into;\n"
		 "checks each of them and makes the index anew; or removes the oldest until the\n"
		 "spool is within limits.\n",
	.options = spool_options,
	.reads = USAGE_READS,
	.spool = USAGE_SPOOL_WRITES,
	.shows = true,
};

static const char *state_text(enum spool_state state)
{
	static const char *const texts[] = {
		[SPOOL_COMPLETE] = "complete",
		[SPOOL_RECORDING] = "recording",
		[SPOOL_CUT] = "cut",
		[SPOOL_DAMAGED] = "damaged",
		[SPOOL_UNREADABLE] = "unreadable",
	};

	return texts[state];
}

static void show_capture(struct text_table *v, const struct spool_capture *c)
{
	text_table_row(v);
	text_table_text(v, "name", c->name);
	text_table_text(v, "state", state_text(c->state));
	text_table_wall_ns(v, "from", c->facts.from_ns);
	text_table_wall_ns(v, "to", c->facts.to_ns);
	text_table_number(v, "samples", c->facts.sample_count);
	text_table_number(v, "lost", c->facts.lost_count);
	text_table_size(v, "size", c->file_bytes);
}

static void show_removal(struct text_table *v, const struct spool_removed *e)
{
	text_table_row(v);
	text_table_text(v, "name", *e->name ? e->name : "[several]");
	text_table_text(v, "why", e->why);
	text_table_wall_ns(v, "from", e->from_ns);
	text_table_wall_ns(v, "to", e->to_ns);
	text_table_number(v, "samples", e->sample_count);
	text_table_number(v, "lost", e->lost_count);
	text_table_size(v, "size", e->file_bytes);
}

static int list(const struct spool *s, const char *path, bool json)
{
	static const char *const captures[] = { "name",    "state", "from", "to",
						"samples", "lost",  "size" };
	static const char *const removed[] = { "name",    "why",  "from", "to",
					       "samples", "lost", "size" };
	size_t count, removal_count;
	const struct spool_capture *all = spool_captures(s, &count);
	const struct spool_removed *gone = spool_removals(s, &removal_count);
	struct text_table *v;

	if (text_table_open(stdout, json, &v))
		return message_error("cannot list the spool '%s': %s", path, strerror(ENOMEM));
	text_table_begin(v, "captures", captures, 7);
	for (size_t i = 0; i < count; i++)
		show_capture(v, &all[i]);
	text_table_end(v);
	text_table_begin(v, "removed", removed, 7);
	for (size_t i = 0; i < removal_count; i++)
		show_removal(v, &gone[i]);
	text_table_end(v);
	if (text_table_close(v))
		return message_error("cannot list the spool '%s': %s", path, strerror(ENOMEM));
	return MESSAGE_OK;
}

/* Prints a line about a capture that is damaged, unreadable or cut.  Whether answers lack some of it. */
static bool print_wrong(const char *dir, const struct spool_capture *c)
{
	switch (c->state) {
	case SPOOL_DAMAGED:
		message_note(
			"'%s/%s' is damaged: parts of it are unreadable, and left out of answers",
			dir, c->name);
		return true;
	case SPOOL_UNREADABLE:
		message_note("'%s/%s' is in no answer: %s", dir, c->name,
			     c->error ? strerror(-c->error) : "it has no time of day");
		return true;
	case SPOOL_CUT:
		message_note("'%s/%s' ends early: its recorder was killed", dir, c->name);
		return false;
	default:
		return false;
	}
}

static int check(const struct spool *s, const struct spool_opts *o)
{
	const struct spool_check *found = spool_get_check(s);
	size_t count, wrong = 0;
	const struct spool_capture *all = spool_captures(s, &count);

	for (size_t i = 0; i < count; i++)
		wrong += print_wrong(o->spool, &all[i]);
	if (spool_strange_names(s))
		message_note("%" PRIu32
			     " captures in '%s' have names with control characters, skipping",
			     spool_strange_names(s), o->spool);
	if (found->index_was_damaged)
		message_note(
			"the index of '%s' was damaged or of another version: it was made anew",
			o->spool);
	if (found->wrong_rows)
		message_note("%" PRIu32 " rows of the index of '%s' were wrong: corrected",
			     found->wrong_rows, o->spool);
	if (found->missing_rows && !o->quiet)
		message_note("%" PRIu32 " captures in '%s' were not in its index",
			     found->missing_rows, o->spool);
	if (found->gone_captures)
		message_note("%" PRIu32
			     " captures are missing in '%s': they were removed by others",
			     found->gone_captures, o->spool);
	if (!o->quiet)
		message_note("checked %zu captures in '%s'", count, o->spool);
	return wrong || found->gone_captures || found->index_was_damaged || found->wrong_rows
		       ? MESSAGE_FAILED
		       : MESSAGE_OK;
}

static int read_age(const char *text, uint64_t *out)
{
	if (!text || (duration_read(text, false, &text, out) && !*text && *out))
		return 0;
	return usage_error(&spool_usage,
			   "option '--max-age' cannot be '%s': 7d or 12h was expected", text);
}

static int prune(struct spool *s, const struct spool_opts *o, uint64_t age_ns)
{
	const struct spool_limits limits = { .size_bytes = o->max_bytes,
					     .age_ns = age_ns,
					     .free_bytes = o->free_bytes,
					     .now_ns = clock_ns(CLOCK_REALTIME) };
	size_t count;
	int err = spool_prune(s, &limits, &count);

	if (err)
		return message_error("cannot remove captures of '%s': %s", o->spool,
				     strerror(-err));
	if (!o->quiet)
		message_note("removed %zu captures of '%s'", count, o->spool);
	return MESSAGE_OK;
}

static int fail_open(const char *dir, int err)
{
	return message_error(
		err == -EBUSY ? "cannot open the spool '%s': another process writes to it"
		: err == -ENOENT
			? "cannot open the spool '%s': %s (--spool DIR, or start 'ebprec agent')"
			: "cannot open the spool '%s': %s",
		dir, strerror(-err));
}

int cmd_spool(int argc, char **argv)
{
	struct spool_opts opts = { .spool = NULL };
	enum spool_access access = SPOOL_READ;
	const char *verb;
	struct spool *s;
	uint64_t age_ns = 0;
	char **words;
	int status, err;

	if (!usage_parse(&spool_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	verb = *words ? *words : "list";
	if (!strcmp(verb, "check"))
		access = SPOOL_CHECK;
	else if (!strcmp(verb, "prune"))
		access = SPOOL_WRITE;
	else if (strcmp(verb, "list") != 0)
		return usage_error(&spool_usage, "'%s': list, check or prune was expected", verb);
	if (access == SPOOL_WRITE && !opts.max_bytes && !opts.max_age && !opts.free_bytes)
		return usage_error(
			&spool_usage,
			"'ebprec spool prune' needs '--max-size', '--max-age' or '--min-free'");
	status = read_age(opts.max_age, &age_ns);
	if (status)
		return status;
	if (!opts.spool)
		opts.spool = spool_default();
	err = spool_open(opts.spool, access, &s);
	if (err)
		return fail_open(opts.spool, err);
	status = access == SPOOL_CHECK   ? check(s, &opts)
		 : access == SPOOL_WRITE ? prune(s, &opts, age_ns)
					 : list(s, opts.spool, opts.json);
	spool_close(s);
	return status;
}
