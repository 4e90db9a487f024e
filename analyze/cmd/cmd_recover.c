/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec recover - completes a capture that was truncated, or is damaged inside */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/base/result_file.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"
#include "format/reader/source.h"
#include "format/writer/recover.h"

#define NS_PER_SECOND 1000000000U
#define COPY_BYTES    (1 << 20)

struct recover_opts {
	const char *input, *output;
	bool quiet;
};

static const struct option recover_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", offsetof(struct recover_opts, input), 0, 0,
	  "the capture" },
	{ OPT_STRING, 'o', "output", "FILE", offsetof(struct recover_opts, output), 0, 0,
	  "write the complete capture here and leave the broken one as it is" },
	{ OPT_FLAG, 'q', "quiet", NULL, offsetof(struct recover_opts, quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage recover_usage = {
	.command = "recover",
	.words = "[-o FILE] [-i] FILE",
	.about = "Completes a capture whose recorder was killed, that was truncated, or that is\n"
		 "damaged in some places: every part with a right checksum stays.  Works in\n"
		 "place, unless -o is given.  A capture that is complete stays as it is.\n",
	.options = recover_options,
	.reads = USAGE_REPLACES,
	.reads_output = true,
	.in_place = true,
};

static void print_recovered(const struct recover_opts *opts, const struct recover_report *r)
{
	const char *path = opts->output ? opts->output : opts->input;
	const char *where = opts->output ? "" : " in place";
	char broken[80] = "", lost[96] = "nothing at the end lost", others[48] = "";

	if (r->broken_places)
		snprintf(broken, sizeof(broken),
			 ", %" PRIu32 " broken places (%" PRIu64 " bytes) set aside",
			 r->broken_places, r->broken_bytes);
	if (r->head_mended)
		message_note("the file header of '%s' was broken and is mended", opts->input);
	if (r->lost_bytes)
		snprintf(lost, sizeof(lost), "%" PRIu64 " bytes %s", r->lost_bytes,
			 r->is_truncated ? "lost, of the file as it was before it was truncated"
					 : "at the end lost");
	if (r->other_count)
		snprintf(others, sizeof(others), " and %" PRIu64 " other events", r->other_count);
	if (!r->last_ns)
		message_note("recovered '%s'%s: no events%s, %s", path, where, broken, lost);
	else
		message_note("recovered '%s'%s: %" PRIu64 " samples%s, the last at %" PRIu64
			     ".%09" PRIu64 " s%s, %s",
			     path, where, r->sample_count, others, r->last_ns / NS_PER_SECOND,
			     r->last_ns % NS_PER_SECOND, broken, lost);
}

/*
 * A recorder that still writes would overwrite what we write.  The kernel grants a read lease only
 * when no process has the file open for writing; file systems without leases give another error.
 */
static bool is_being_written(int fd)
{
	bool busy = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;

	if (!busy)
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return busy;
}

static int apply_in_place(struct recovery *r, const struct recover_opts *opts)
{
	int err, fd = open(opts->input, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return message_cannot_write(opts->input, -errno);
	err = recovery_apply(r, fd);
	if (close(fd) && !err)
		err = -errno;
	return err ? message_cannot_write(opts->input, err) : MESSAGE_OK;
}

static int copy_bytes(int from, int to, uint64_t size_bytes)
{
	char *chunk = malloc(COPY_BYTES);
	uint64_t off = 0;
	int err = chunk ? 0 : -ENOMEM;
	ssize_t n;

	while (!err && off < size_bytes) {
		size_t want = size_bytes - off < COPY_BYTES ? size_bytes - off : COPY_BYTES;

		n = pread(from, chunk, want, (off_t)off);
		if (n > 0)
			n = pwrite(to, chunk, (size_t)n, (off_t)off);
		if (n > 0)
			off += (uint64_t)n;
		else if (!n || errno != EINTR)
			err = n ? -errno : -EIO;
	}
	free(chunk);
	return err;
}

static int apply_to_copy(struct recovery *r, int fd, const struct recover_report *report,
			 const struct recover_opts *opts)
{
	struct result_file *to;
	struct stat st;
	int err, status = cmd_begin_capture(opts->output, false, &to);

	if (status)
		return status;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err)
		err = copy_bytes(fd, result_file_fd(to),
				 report->is_complete ? (uint64_t)st.st_size : report->valid_bytes);
	if (!err && !report->is_complete)
		err = recovery_apply(r, result_file_fd(to));
	if (!err)
		return cmd_place_capture(to, opts->output, false, opts->quiet);
	result_file_abort(to);
	return message_cannot_write(opts->output, err);
}

/* The proof: what a reader thinks of the result.  Attrs and features are in the file only once. */
static int check_result(const char *path)
{
	const struct capture_damage *d;
	struct capture *c;
	int status = cmd_open_capture(path, &c);

	if (status)
		return status;
	d = capture_damage(c);
	if (d->bad_sections)
		status = message_error(
			"'%s' is still damaged, and cannot be mended: %s at byte %" PRIu64, path,
			d->first.what, d->first.offset_bytes);
	capture_close(c);
	return status;
}

/* perf refuses a file with tracepoints whose formats are lost; those go into the file at the end. */
static bool lacks_formats(const struct capture *c)
{
	size_t i, count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (i = 0; i < count; i++) {
		if (attrs[i].attr.type == PERF_TYPE_TRACEPOINT)
			return !capture_feature(c, PERFFILE_TRACING_DATA).data;
	}
	return false;
}

/* A file of perf's has no checksums: all records that are readable go into a new file. */
static int recover_foreign(const struct capture *c, const struct recover_opts *opts)
{
	const struct rewrite_opts how = { .plain = true };
	const struct capture_damage *d = capture_damage(c);
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status;

	if (!d->cut && !d->bad_blocks && !d->bad_sections) {
		if (!opts->quiet)
			message_note("'%s' is complete, nothing to do", opts->input);
		return MESSAGE_OK;
	}
	if (!opts->output)
		return message_error(
			"cannot recover '%s' in place: it was not written by ebprec (name "
			"a new file with -o)",
			opts->input);
	status = cmd_begin_capture(opts->output, false, &to);
	if (status)
		return status;
	err = rewrite_capture(c, result_file_fd(to), &how, &stats);
	if (err) {
		result_file_abort(to);
		return err == -ENOTSUP
			       ? message_error("cannot recover '%s': there are no events in it",
					       opts->input)
			       : message_cannot_write(opts->output, err);
	}
	status = cmd_place_capture(to, opts->output, false, opts->quiet);
	if (status)
		return status;
	if (!opts->quiet)
		message_note("recovered '%s': %" PRIu64 " events", opts->output,
			     stats.sample_count);
	if (lacks_formats(c))
		message_note(
			"the formats of its tracepoints are lost: ebprec reads it, perf does not");
	return MESSAGE_OK;
}

static int recover(const struct capture *c, int fd, const struct recover_opts *opts)
{
	struct recover_report report;
	struct parse_err where = { 0 };
	struct recovery *r;
	int status, err = recovery_plan(c, fd, &r, &where);

	if (err == -ENOTSUP)
		return recover_foreign(c, opts);
	if (err)
		return message_error("cannot recover '%s': %s", opts->input,
				     where.what ? where.what : strerror(-err));
	recovery_get_report(r, &report);
	if (opts->output)
		status = apply_to_copy(r, fd, &report, opts);
	else if (report.is_complete)
		status = MESSAGE_OK;
	else if (is_being_written(fd))
		status = message_error(
			"cannot recover '%s': it is being written (end the recording, "
			"or recover a copy with -o)",
			opts->input);
	else
		status = apply_in_place(r, opts);
	if (!status && !report.is_complete && !opts->quiet)
		print_recovered(opts, &report);
	if (!status)
		status = check_result(opts->output ? opts->output : opts->input);
	if (!status && report.is_complete && !opts->quiet)
		message_note("'%s' is complete, %s", opts->input,
			     opts->output ? "copied as it is" : "nothing to do");
	recovery_free(r);
	return status;
}

/* Whether the capture is not the file that was named: it was in a page, or came through a pipe. */
static bool is_copy(const struct capture *c)
{
	const struct source *s = capture_source(c);
	struct stat st;

	return fstat(s->fd, &st) || st.st_dev != s->dev || st.st_ino != s->ino;
}

int cmd_recover(int argc, char **argv)
{
	struct recover_opts opts = { 0 };
	struct capture *c;
	char **words;
	int fd, status;

	if (!usage_parse(&recover_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	if (!opts.input && !*words) /* it changes the file: none is taken unnamed */
		return usage_error(&recover_usage, "'ebprec recover' needs FILE, the capture");
	status = cmd_input(&recover_usage, words, &opts.input);
	if (status)
		return status;
	status = cmd_open_capture(opts.input, &c);
	if (status)
		return status;
	if (opts.output)
		status = cmd_new_capture(c, opts.input, opts.output);
	else if (is_copy(c))
		status = message_error(
			"cannot recover '%s' in place: it is a page, or came through a pipe "
			"(name a new file with -o)",
			opts.input);
	if (status) {
		capture_close(c);
		return status;
	}
	fd = fcntl(capture_source(c)->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		status = message_cannot_open(opts.input, -errno, NULL);
	} else {
		status = recover(c, fd, &opts);
		close(fd);
	}
	capture_close(c);
	return status;
}
