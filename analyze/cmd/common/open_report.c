/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/open_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/input/capture_meta.h"
#include "analyze/out/message.h"

int cmd_input(const struct usage *usage, char *const *words, const char **input)
{
	if (*words && usage_is_of_perf(usage, *words))
		return MESSAGE_USAGE;
	if (*input && *words)
		return usage_error(usage, "two captures were named: '%s' and '%s'", *input, *words);
	if (!*input)
		*input = *words ? *words : "ebprec.data";
	return 0;
}

static uint64_t mib_of(uint64_t bytes)
{
	return (bytes >> 20) + (bytes % (1 << 20) != 0);
}

static int limit_unpacking(struct capture *c, const char *path)
{
	const char *limit = getenv(CMD_UNPACK_VARIABLE);

	if (limit && *limit)
		capture_set_unpack_limit(c, strtoull(limit, NULL, 10));
	if (capture_unpacked_bytes(c) <= capture_unpack_limit(c))
		return 0;
	return message_error("cannot read '%s': its private objects unpack to %" PRIu64
			     " MiB, more than %" PRIu64 " (--unpack-limit %" PRIu64 "M reads it)",
			     path, mib_of(capture_unpacked_bytes(c)), capture_unpack_limit(c) >> 20,
			     mib_of(capture_unpacked_bytes(c)));
}

/* Events lie behind the head: without all of that there are none here. */
static int check_head(const struct capture *c, const char *path)
{
	const struct ebx_super *super = capture_super(c);
	uint64_t start, end;

	capture_data_range(c, &start, &end);
	if (super)
		start = super->data_off_bytes;
	if (capture_file_bytes(c) >= start)
		return 0;
	return message_error("cannot read '%s': it ends inside its head, at byte %" PRIu64
			     ", and has no events (they were truncated, or its recorder ended "
			     "before it wrote any)",
			     path, capture_file_bytes(c));
}

static int open_capture(const char *path, bool may_be_gone, struct capture **out)
{
	struct parse_err where = { 0 };
	int status, err = capture_open(path, out, &where);

	if (err == -ENOENT && may_be_gone) {
		*out = NULL;
		return 0;
	}
	if (err)
		return message_cannot_open(path, err, &where);
	status = check_head(*out, path);
	if (!status)
		status = limit_unpacking(*out, path);
	if (status) {
		capture_close(*out);
		*out = NULL;
	}
	return status;
}

int cmd_open_capture(const char *path, struct capture **out)
{
	return open_capture(path, false, out);
}

int cmd_open_capture_if_there(const char *path, struct capture **out)
{
	return open_capture(path, true, out);
}

bool cmd_has_recorded_switches(const struct capture *c)
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_START), array, at;
	bool has = false;

	array = capture_meta_member(capture_meta_member(text, "options"), "instruments");
	for (at = capture_meta_first(array); at.text; at = capture_meta_next(array, at))
		has |= at.size_bytes == 7 && !memcmp(at.text, "\"sched\"", 7);
	capture_meta_free(text);
	return has;
}

int cmd_no_switches(const struct capture *c, const char *path)
{
	if (cmd_has_recorded_switches(c))
		return message_error(
			"'%s' has no context switches: each thread that was recorded waited, or ran, all of "
			"the time (record from before its wait began; /proc/PID/stack shows where it is)",
			path);
	return message_error(
		"'%s' has no context switches (%s)", path,
		capture_get_kind(c) == CAPTURE_EBX
			? "was it recorded --without sched, or without root?"
			: "record them with 'ebprec record', or with 'perf record -a -g -e "
			  "sched:sched_switch,sched:sched_wakeup'");
}

static int open_with(int (*open_report)(const struct capture *c, struct report *r),
		     const char *path, const char *verb, bool quiet, struct cmd_open *out)
{
	struct cmd_open fresh = { .progress = quiet ? NULL : progress_begin() };
	int err, status = cmd_open_capture(path, &fresh.capture);

	if (status) {
		progress_end(fresh.progress);
		return status;
	}
	progress_watch(fresh.progress, fresh.capture);
	err = open_report(fresh.capture, &fresh.report);
	if (err) {
		progress_end(fresh.progress);
		capture_close(fresh.capture);
		return message_error("cannot %s '%s': %s", verb, path, strerror(-err));
	}
	fresh.report.on_made = progress_hide;
	fresh.report.on_made_arg = fresh.progress;
	*out = fresh;
	return 0;
}

int cmd_open(const char *path, const char *verb, bool quiet, struct cmd_open *out)
{
	return open_with(report_open, path, verb, quiet, out);
}

int cmd_open_with_tasks(const char *path, const char *verb, bool quiet, struct cmd_open *out)
{
	return open_with(report_open_with_tasks, path, verb, quiet, out);
}

int cmd_open_later(const char *path, const char *verb, bool quiet, struct cmd_open *out)
{
	return open_with(report_open_later, path, verb, quiet, out);
}

void cmd_close(struct cmd_open *o)
{
	progress_end(o->progress);
	report_done(&o->report);
	capture_close(o->capture);
}

const struct time_span *cmd_span(const struct capture *c, struct time_span *room)
{
	struct report r;
	bool known;

	if (!time_span_of_capture(c, room)) {
		capture_meta_extend(c, room);
		return room;
	}
	if (report_open(c, &r))
		return NULL;
	known = r.scan.span_known;
	*room = r.scan.span;
	report_done(&r);
	return known ? room : NULL;
}

/* ---- what it writes ---- */

static int check_not_input(const struct capture *c, const char *input, const char *output)
{
	struct stat st;

	if (stat(output, &st) || !capture_is_file(c, st.st_dev, st.st_ino))
		return 0;
	return message_error(
		"cannot write '%s': it is the same file as '%s' (name another with -o)", output,
		input);
}

int cmd_new_file(const struct capture *c, const char *input, const char *output)
{
	int status, found;

	if (!strcmp(output, "-"))
		return 0;
	status = check_not_input(c, input, output);
	if (status)
		return status;
	found = capture_begins_at(output);
	if (found < 0)
		return message_cannot_write(output, found);
	return found ? message_error("cannot write '%s': a capture is there (remove it first, or "
				     "write another file)",
				     output)
		     : 0;
}

int cmd_new_capture(const struct capture *c, const char *input, const char *output)
{
	int status = check_not_input(c, input, output);
	struct stat st;
	char *older;

	if (status || stat(output, &st))
		return status;
	if (asprintf(&older, "%s.old", output) < 0)
		return message_cannot_write(output, -ENOMEM);
	if (!stat(older, &st) && capture_is_file(c, st.st_dev, st.st_ino))
		status = message_error(
			"cannot write '%s': the file that is there would become "
			"'%s', which is the same file as '%s' (name another with -o)",
			output, older, input);
	free(older);
	return status;
}

int cmd_begin_capture(const char *path, bool is_readable, struct result_file **to)
{
	int err = is_readable ? result_file_open_readable(path, to) : result_file_open(path, to);

	if (err == -EINVAL)
		return message_error("cannot write '%s': it is no regular file", path);
	return err ? message_cannot_write(path, err) : 0;
}

int cmd_place_capture(struct result_file *to, const char *path, bool replaces, bool quiet)
{
	bool replaced = false;
	int err;

	if (replaces)
		result_file_keep_owner(to);
	err = replaces ? result_file_commit(to) : result_file_commit_beside(to, &replaced);
	if (err == -EOPNOTSUPP)
		return message_error("cannot keep '%s' as '%s.old': %s (remove it first, or name "
				     "another with -o)",
				     path, path, strerror(-err));
	if (err)
		return message_cannot_write(path, err);
	if (replaced && !quiet)
		message_note("the file that was '%s' is '%s.old' now", path, path);
	return 0;
}

static int write_stream(int (*write)(void *arg, FILE *to), void *arg, FILE *to)
{
	int err = write(arg, to);

	errno = 0;
	if (!err && (fflush(to) || ferror(to)))
		err = errno ? -errno : -EIO;
	return err;
}

int cmd_write_output(const char *path, int (*write)(void *arg, FILE *to), void *arg)
{
	struct result_file *out;
	FILE *to;
	int err;

	if (!path || !strcmp(path, "-"))
		return write_stream(write, arg, stdout);
	err = result_file_open(path, &out);
	if (err)
		return err;
	to = fdopen(dup(result_file_fd(out)), "w");
	err = to ? write_stream(write, arg, to) : -errno;
	if (to)
		fclose(to);
	if (err)
		result_file_abort(out);
	return err ? err : result_file_commit(out);
}

void cmd_print_written(const char *path, const char *reader)
{
	struct stat st;

	if (path && strcmp(path, "-") != 0 && !stat(path, &st))
		message_note("wrote '%s': %" PRIu64 " KiB, for %s", path,
			     (uint64_t)st.st_size >> 10, reader);
}
