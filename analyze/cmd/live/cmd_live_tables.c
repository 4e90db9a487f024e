/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Starts the recorder with a pipe for its capture, and shows the rows of each interval when they are
 * all there.  Ctrl-C ends the recorder, which writes its last interval, and then us.
 */
#include "analyze/cmd/live/cmd_live_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/metrics/cmd_metric_tables.h"
#include "analyze/out/message.h"
#include "format/reader/pipe_reader.h"

struct live {
	const struct live_tables_ask *asked;
	struct metric_ask ask; /* of the next table */
	struct metric_selection selection;
	struct metric_rows rows;
	struct string_table *names;
	struct filter all;
	uint64_t interval, end_ns; /* of the rows that wait to be shown; interval: and 1, 0: none */
	unsigned shown;
	int status;
	pid_t recorder;
	int from, signals; /* what the recorder writes; what is sent to us */
};

#define ENOUGH    (-ECANCELED)    /* what was asked for has been shown */
#define LIVE_FROM "the recording" /* for messages */

/* ---- what comes in ---- */

static int on_begin(void *arg, const struct capture *c)
{
	struct live *l = arg;
	struct time_span recorded;
	int err = metric_rows_open(c, &l->rows);

	if (err)
		return err;
	l->selection.rows = &l->rows;
	l->selection.start_ns = time_span_of_capture(c, &recorded) ? 0 : recorded.from_ns;
	for (size_t i = 0; i < l->asked->name_count && !l->status; i++)
		l->status = metric_tables_choose(&l->selection, l->asked->usage, LIVE_FROM,
						 l->asked->names[i]);
	return l->status ? ENOUGH : 0;
}

static int show(struct live *l)
{
	if (!l->ask.form && l->shown)
		putchar('\n');
	if (!l->selection.start_ns)
		l->selection.start_ns = l->end_ns;
	l->status = metric_tables_show(&l->selection, LIVE_FROM);
	metric_selection_clear(&l->selection);
	l->rows.lost = l->rows.broken = 0;
	l->interval = 0;
	l->shown++;
	l->ask.no_legend = true;
	if (fflush(stdout) || ferror(stdout)) {
		l->status = errno == EPIPE ? MESSAGE_OK
					   : message_cannot_write("standard output", -errno);
		clearerr(stdout); /* as with `| head`: the reader has what it wants */
		return ENOUGH;
	}
	return l->status || (l->asked->count && l->shown >= l->asked->count) ? ENOUGH : 0;
}

static int on_row(void *arg, const struct metric_row *r)
{
	struct live *l = arg;
	uint64_t interval = r->table->is_interval ? r->slots[r->table->interval] + 1 : l->interval;
	int err = 0;

	if (l->interval && interval != l->interval)
		err = show(l);
	l->interval = interval;
	l->end_ns = r->time_ns;
	return err ? err : metric_selection_row(&l->selection, r);
}

static int on_record(void *arg, const struct perf_event_header *rec)
{
	struct live *l = arg;

	return metric_rows_record(&l->rows, l->names, &l->all, rec, on_row, l);
}

/* All rows of an interval are written in one go. */
static int on_round(void *arg)
{
	struct live *l = arg;

	return l->interval ? show(l) : 0;
}

/* Waits for bytes.  A signal ends the recorder, whose last rows are still taken. */
static ssize_t read_more(const struct live *l, char *bytes, size_t room)
{
	struct pollfd fds[] = { { .fd = l->from, .events = POLLIN },
				{ .fd = l->signals, .events = POLLIN } };
	struct signalfd_siginfo info;

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (fds[1].revents && read(l->signals, &info, sizeof(info)) > 0)
		kill(l->recorder, SIGINT);
	if (!fds[0].revents)
		return -EAGAIN;
	for (;;) {
		ssize_t n = read(l->from, bytes, room);

		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : n;
	}
}

static int feed(struct live *l)
{
	static const struct pipe_reader_calls calls = { on_begin, on_record, on_round };
	struct pipe_reader *feed = NULL;
	char bytes[65536];
	ssize_t n = 1;
	int err;

	err = pipe_reader_new(&calls, l, 1u << EBX_STREAM_METRIC | 1u << EBX_STREAM_SIDE, &feed);
	if (err)
		kill(l->recorder, SIGINT);
	/* To the end in any case: a recorder without a reader would never end. */
	while (n) {
		n = read_more(l, bytes, sizeof(bytes));
		if (n < 0 && n != -EAGAIN)
			break;
		if (n <= 0 || err)
			continue;
		err = pipe_reader_push(feed, bytes, (size_t)n);
		if (err)
			kill(l->recorder, SIGINT);
	}
	if (!err && n < 0)
		err = (int)n;
	if (!err && l->interval)
		err = on_round(l);
	metric_selection_done(&l->selection);
	metric_rows_done(&l->rows);
	pipe_reader_free(feed);
	return err;
}

/* ---- the recorder ---- */

#define ARGS_MAX 64

static void run_recorder(const struct live_tables_ask *o, const char *path, int fd,
			 const sigset_t *mask)
{
	const char *argv[ARGS_MAX] = { "ebprec-record", "--quiet",    "--output",     "-",
				       "--freq",        "1",          "--call-graph", "none",
				       "--without",     "sched,mark", "--with",       o->with };
	size_t n = 12;

	argv[n++] = o->pids ? "--pid" : "-a";
	if (o->pids)
		argv[n++] = o->pids;
	if (o->interval_s)
		argv[n++] = "--interval";
	if (o->interval_s)
		argv[n++] = o->interval_s;
	if (o->slower)
		argv[n++] = "--slower";
	if (o->slower)
		argv[n++] = o->slower;
	if (o->each)
		argv[n++] = "--each";
	dup2(fd, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(path, (char **)(uintptr_t)argv);
	_exit(127);
}

static int start_recorder(struct live *l, const sigset_t *mask)
{
	char *path = cmd_record_find();
	int ends[2], err = path ? 0 : -ENOENT;

	if (!err && pipe2(ends, O_CLOEXEC))
		err = -errno;
	if (!err) {
		l->recorder = fork();
		if (!l->recorder)
			run_recorder(l->asked, path, ends[1], mask);
		err = l->recorder < 0 ? -errno : 0;
		close(ends[1]);
		l->from = ends[0];
	}
	free(path);
	return err;
}

/* Its messages were on stderr. */
static int end_recorder(const struct live *l, int err)
{
	int status = 0;

	while (waitpid(l->recorder, &status, 0) < 0 && errno == EINTR)
		;
	if (err == ENOUGH)
		return l->status;
	if (err)
		return message_error("cannot read what the recorder writes: %s", strerror(-err));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return l->status;
}

/* Ctrl-C comes to the recorder, too; a signal to us alone is passed on. */
static int take_signals(struct live *l, sigset_t *was)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_DFL); /* shells ignore it for what is in the background */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, was);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? -errno : 0;
}

static int run(struct live *l)
{
	sigset_t mask;
	int err = take_signals(l, &mask);

	if (!err)
		err = start_recorder(l, &mask);
	if (err)
		return message_error("cannot start the recorder: %s", strerror(-err));
	err = feed(l);
	close(l->from);
	close(l->signals);
	return end_recorder(l, err);
}

int cmd_live_tables(const struct live_tables_ask *ask)
{
	struct live l = { .asked = ask, .ask = ask->view };
	int status;

	l.selection.ask = &l.ask;
	if (string_table_new(&l.names))
		return message_error("cannot show instruments: %s", strerror(ENOMEM));
	l.selection.names = l.names;
	filter_init(&l.all);
	status = run(&l);
	filter_done(&l.all);
	string_table_free(l.names);
	return status;
}
