/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/query/query_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/input/capture_meta.h"
#include "analyze/out/message.h"
#include "analyze/rewrite/merge.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define TIME_BYTES    32

static const char *temp_folder(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : !access("/var/tmp", W_OK) ? "/var/tmp" : "/tmp";
}

static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0)
		return fd;
	if (asprintf(&path, "%s/ebprec-query.XXXXXX", dir) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return fd;
}

int query_source_prepare(struct query_source *q)
{
	const char *dir = temp_folder();

	*q = (struct query_source){ .room_fd = open_nameless(dir) };
	if (q->room_fd < 0)
		return message_cannot_write(dir, -errno);
	snprintf(q->room_path, sizeof(q->room_path), "/proc/self/fd/%d", q->room_fd);
	return 0;
}

void query_source_done(struct query_source *q)
{
	spool_selection_done(&q->selected);
	free(q->path);
	if (q->room_fd >= 0)
		close(q->room_fd);
	*q = (struct query_source){ .room_fd = -1 };
}

/* ---- merging ---- */

static int merge(struct query_source *q, const char *dir, const struct capture *const *captures)
{
	struct rewrite_stats stats;
	struct merge_error error = { 0 };
	int err = merge_captures(captures, q->selected.count,
				 &(struct merge_how){ .any_boot = true }, q->room_fd, &stats,
				 &error);

	if (err == -EXDEV)
		return message_error("cannot join '%s/%s' with the others: %s", dir,
				     q->selected.list[error.input]->name, error.text);
	if (err)
		return message_error(
			"cannot join captures of '%s' in '%s': %s (TMPDIR chooses another place)",
			dir, temp_folder(), strerror(-err));
	q->path = strdup(q->room_path);
	return q->path ? 0 : message_error("cannot read '%s': %s", dir, strerror(ENOMEM));
}

/* Those that an agent's keeper removed since they were selected are left out of the selection. */
static int open_selected(struct query_source *q, const char *dir, const struct spool *s,
			 struct capture **captures, size_t *count)
{
	int status = 0;

	for (*count = 0; !status && *count < q->selected.count;) {
		char *path = spool_path(s, q->selected.list[*count]);

		status = path ? cmd_open_capture_if_there(path, &captures[*count])
			      : message_error("cannot read '%s': %s", dir, strerror(ENOMEM));
		free(path);
		if (!status && !captures[*count])
			spool_selection_leave_out(&q->selected, *count);
		else
			*count += !status;
	}
	return status;
}

/* The rest of the selection, as one capture. */
static int join(struct query_source *q, const char *dir, const struct spool *s,
		const struct capture *const *captures)
{
	if (q->selected.count > 1)
		return merge(q, dir, captures);
	q->path = spool_path(s, q->selected.list[0]);
	return q->path ? 0 : message_error("cannot read '%s': %s", dir, strerror(ENOMEM));
}

static void set_time(struct query_source *q)
{
	const struct time_span *r = &q->selected.records;
	int used = 0;

	if (r->from_ns || r->to_ns != UINT64_MAX)
		used = snprintf(q->time, sizeof(q->time), "%" PRIu64 ".%09" PRIu64 ",",
				r->from_ns / NS_PER_SECOND, r->from_ns % NS_PER_SECOND);
	if (r->to_ns != UINT64_MAX)
		snprintf(q->time + used, sizeof(q->time) - (size_t)used, "%" PRIu64 ".%09" PRIu64,
			 r->to_ns / NS_PER_SECOND, r->to_ns % NS_PER_SECOND);
}

/* In UTC, as --since takes it. */
static const char *time_text(uint64_t ns, char room[TIME_BYTES])
{
	time_t seconds = (time_t)(ns / NS_PER_SECOND);
	struct tm utc;

	if (!gmtime_r(&seconds, &utc) || !strftime(room, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc))
		strcpy(room, "?");
	return room;
}

static int print_nothing(const struct query_source *q, const char *dir, const struct spool *s)
{
	char from[TIME_BYTES], to[TIME_BYTES];
	size_t count, first = 0;
	const struct spool_capture *all = spool_captures(s, &count);

	query_source_print_losses(q, false);
	if (q->selected.without_service)
		return message_error(
			"none of the %" PRIu32
			" captures of this time in '%s' has the service ('ebprec query --services' lists them)",
			q->selected.without_service, dir);
	while (first < count && all[first].state == SPOOL_UNREADABLE)
		first++;
	if (first == count)
		return message_error("there is no capture in '%s' ('ebprec agent' records into it)",
				     dir);
	return message_error(
		"there is no capture of this time in '%s': the first begins at %s, the last at %s",
		dir, time_text(all[first].facts.from_ns, from),
		time_text(all[count - 1].facts.from_ns, to));
}

static int open_and_join(struct query_source *q, const char *dir, const struct spool *s)
{
	struct capture **captures = calloc(q->selected.count, sizeof(struct capture *));
	size_t count = 0;
	int status = captures ? open_selected(q, dir, s, captures, &count)
			      : message_error("cannot read '%s': %s", dir, strerror(ENOMEM));

	if (!status)
		status = count ? join(q, dir, s, (const struct capture *const *)captures)
			       : print_nothing(q, dir, s);
	while (count)
		capture_close(captures[--count]);
	free(captures);
	return status;
}

int query_source_make(struct query_source *q, const char *dir, const struct spool *s,
		      const struct spool_wanted *wanted)
{
	int err = spool_select(s, wanted, &q->selected);

	if (err)
		return message_error("cannot read '%s': %s", dir, strerror(-err));
	if (!q->selected.count)
		return print_nothing(q, dir, s);
	if (q->selected.count > CAPTURE_META_PARTS_MAX)
		return message_error(
			"cannot join %zu captures of '%s': at most %d (ask for less time, or have 'ebprec agent' begin files less often)",
			q->selected.count, dir, CAPTURE_META_PARTS_MAX);
	set_time(q);
	return open_and_join(q, dir, s);
}

/* ---- losses ---- */

void query_source_print_losses(const struct query_source *q, bool with_lost)
{
	const struct spool_losses *l = &q->selected.losses;
	char from[TIME_BYTES], to[TIME_BYTES];

	if (with_lost && l->lost_count)
		message_note("%" PRIu64 " events were lost while these captures were recorded",
			     l->lost_count);
	if (l->gap_count)
		message_note("nothing was recorded for %.1f s of this time, in %" PRIu32 " gaps",
			     (double)l->gap_ns / 1e9, l->gap_count);
	if (l->removed_count)
		message_note("at least %" PRIu32 " captures from %s to %s, with %" PRIu64
			     " samples, are no longer in the spool ('ebprec spool list' has why)",
			     l->removed_count, time_text(l->removed.from_ns, from),
			     time_text(l->removed.to_ns, to), l->removed_samples);
	if (l->older_count)
		message_note(
			"%" PRIu32
			" captures from %s to %s are of an earlier start of the machine, and not in this answer (--until shows them)",
			l->older_count, time_text(l->older.from_ns, from),
			time_text(l->older.to_ns, to));
	if (l->damaged_count || l->unreadable_count)
		message_note("%" PRIu32 " captures are damaged, %" PRIu32
			     " cannot be read ('ebprec spool check' names them)",
			     l->damaged_count, l->unreadable_count);
	if (l->cut_count)
		message_note("%" PRIu32 " captures end early, as their recorder was killed",
			     l->cut_count);
}
