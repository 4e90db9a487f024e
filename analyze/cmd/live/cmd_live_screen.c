/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The process that the user started: it starts the recorder, which writes files into a private folder, and a confined process that
 * reads and shows them (cmd_live_reader.h); for that one it sets marks and writes captures and pages.  It reads no capture
 * itself.  However the other ends, the terminal is as it was.
 */
#include "analyze/cmd/live/cmd_live_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/live/cmd_live_reader.h"
#include "analyze/cmd/live/live_files.h"
#include "analyze/cmd/live/live_messages.h"
#include "analyze/cmd/live/cmd_live_save.h"
#include "analyze/metric/layouts.h"
#include "analyze/out/message.h"
#include "format/os/clock.h"

#define SHOWS_MAX 32
#define LOOK_MS   100 /* between two looks at how many threads are runnable */
#define SECOND_NS ((uint64_t)1000000000)
#define ROTATE    "10s,61" /* ten minutes, and the file that is written */
/* The rings of a CPU take so much, all together no more than that: few samples come, and `record` takes 8 MiB. */
#define RING_MIB      2
#define RINGS_MIB_MAX 256

struct session {
	const struct live_ask *ask;
	struct live_reader_ask reader_ask;
	char *folder, *path, *log;     /* owned */
	pid_t recorder, reader, saver; /* 0: none, or it has ended */
	struct live_save save;
	int recorder_status, reader_status;
	int socket, signals;
	int lock; /* of the folder */
	struct {
		uint64_t second, sum;
		unsigned count;
	} runnable;    /* threads, as often as they were counted in this second */
	sigset_t mask; /* from before */
	struct termios modes;
};

/* ---- the recorder ---- */

static _Noreturn void run_recorder(const struct session *s, const char *path)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), mib = cpus > 0 ? cpus * RING_MIB : RING_MIB;
	char freq[16], buffer[24];
	const char *pids = s->ask->pids;
	const char *event = s->reader_ask.event;
	const char *argv[] = { "ebprec-record",
			       "--quiet",
			       "--end-with-parent",
			       "--output",
			       s->path,
			       "--rotate",
			       ROTATE,
			       "--compression-level",
			       "1", /* the files are read at once, and deleted soon */
			       "--freq",
			       freq,
			       "--buffer",
			       buffer,
			       pids ? "--pid" : "-a",
			       NULL,
			       NULL,
			       NULL,
			       NULL,
			       NULL,
			       NULL };
	size_t n = 14;
	int log = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (pids)
		argv[n++] = pids;
	if (event) {
		argv[n++] = "--with";
		argv[n++] = event;
	}
	if (event && s->ask->slower) {
		argv[n++] = "--slower";
		argv[n] = s->ask->slower;
	}
	snprintf(freq, sizeof(freq), "%u", s->ask->freq);
	snprintf(buffer, sizeof(buffer), "%ldM", mib < RINGS_MIB_MAX ? mib : RINGS_MIB_MAX);
	setpgid(0, 0); /* keys of the terminal are not for it */
	if (log >= 0)
		dup2(log, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	execv(path, (char **)(uintptr_t)argv);
	_exit(127);
}

static int start_recorder(struct session *s)
{
	char *path = cmd_record_find();
	int err = path ? 0 : -ENOENT;

	if (!err) {
		s->recorder = fork();
		if (!s->recorder)
			run_recorder(s, path);
		err = s->recorder < 0 ? -errno : 0;
	}
	free(path);
	return err ? message_error("cannot start the recorder: %s", strerror(-err)) : 0;
}

/* The messages of the recorder, which were not printed on the screen. */
static void print_log(const struct session *s)
{
	FILE *from = fopen(s->log, "re");
	char line[1024];

	while (from && fgets(line, sizeof(line), from))
		fputs(line, stderr);
	if (from)
		fclose(from);
}

static bool has_ended(pid_t *pid, int *status)
{
	if (*pid <= 0 || waitpid(*pid, status, WNOHANG) != *pid)
		return false;
	*pid = 0;
	return true;
}

/* Until there is a file: what keeps a recording from being made is reported as `ebprec record` does. */
static int await_recording(struct session *s)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct signalfd_siginfo info;

	while (access(s->path, F_OK)) {
		if (has_ended(&s->recorder, &s->recorder_status)) {
			print_log(s);
			return WIFEXITED(s->recorder_status) && WEXITSTATUS(s->recorder_status)
				       ? WEXITSTATUS(s->recorder_status)
				       : message_error("the recorder ended before it recorded");
		}
		nanosleep(&pause, NULL);
		if (read(s->signals, &info, sizeof(info)) > 0 && info.ssi_signo != SIGCHLD)
			return MESSAGE_FAILED;
	}
	return 0;
}

static void end_recorder(struct session *s)
{
	if (s->recorder <= 0)
		return;
	kill(s->recorder, SIGINT);
	while (waitpid(s->recorder, &s->recorder_status, 0) < 0 && errno == EINTR)
		;
	s->recorder = 0;
}

/* ---- the one that shows ---- */

static int start_reader(struct session *s)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return message_error("cannot start the screen: %s", strerror(errno));
	s->reader = fork();
	if (!s->reader) {
		close(ends[0]);
		close(s->signals);
		/* Signals stay blocked: a terminal sends them to both, and this one ends when the socket is closed. */
		s->reader_ask.socket = ends[1];
		_exit(cmd_live_reader(&s->reader_ask));
	}
	close(ends[1]);
	s->socket = ends[0];
	return s->reader < 0 ? message_error("cannot start the screen: %s", strerror(errno)) : 0;
}

static void send_note(const struct session *s, const char *text)
{
	struct live_message m = { .kind = LIVE_NOTE };

	snprintf(m.text, sizeof(m.text), "%s", text);
	(void)!send(s->socket, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Adds how many threads of the machine are runnable now, but for this one. */
static void count_runnable(struct session *s)
{
	FILE *from = fopen("/proc/loadavg", "re");
	unsigned runnable;

	if (from && fscanf(from, "%*f %*f %*f %u/", &runnable) == 1 && runnable) {
		s->runnable.sum += runnable - 1;
		s->runnable.count++;
	}
	if (from)
		fclose(from);
}

/* The cost until now, and the runnable threads of the second that has ended. */
static void send_cost(struct session *s)
{
	struct live_message m = { .kind = LIVE_COST,
				  .second = s->runnable.second,
				  .has_runnable = s->runnable.count };

	if (s->runnable.count)
		m.runnable = (double)s->runnable.sum / s->runnable.count;
	live_files_cost(getpid(), &m.cpu_ns, &m.memory_bytes);
	(void)!send(s->socket, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void begin_save(struct session *s, const struct live_message *m)
{
	int err;

	if (s->saver) {
		send_note(s, "the last capture is still being written");
		return;
	}
	s->save = (struct live_save){ .folder = s->folder,
				      .path = s->path,
				      .first_part = m->first_part,
				      .last_part = m->last_part,
				      .from_ns = m->from_ns,
				      .to_ns = m->to_ns };
	err = cmd_live_save_begin(&s->save, &s->mask, &s->saver);
	if (err)
		send_note(s, "the capture cannot be written: no process can be started");
}

static void end_save(struct session *s, int status)
{
	char text[LIVE_TEXT_MAX];

	cmd_live_save_result(&s->save, status, text, sizeof(text));
	send_note(s, text);
}

/* false: the other one is gone. */
static bool take_request(struct session *s)
{
	struct live_message m;
	ssize_t n = recv(s->socket, &m, sizeof(m), MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n != (ssize_t)sizeof(m))
		return false;
	m.text[sizeof(m.text) - 1] = '\0';
	if (m.kind == LIVE_SAVE)
		begin_save(s, &m);
	else if (m.kind == LIVE_MARK)
		cmd_mark_point("live", "mark", m.text);
	return true;
}

static void reap(struct session *s)
{
	struct live_message ended = { .kind = LIVE_ENDED };
	int status;

	if (has_ended(&s->recorder, &s->recorder_status))
		(void)!send(s->socket, &ended, sizeof(ended), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->saver && has_ended(&s->saver, &status))
		end_save(s, status);
}

/* Until the one that shows has ended. */
static void serve(struct session *s)
{
	struct pollfd fds[] = { { .fd = s->socket, .events = POLLIN },
				{ .fd = s->signals, .events = POLLIN } };
	struct signalfd_siginfo info;
	uint64_t second;

	for (;;) {
		poll(fds, 2, LOOK_MS);
		second = clock_ns(CLOCK_MONOTONIC) / SECOND_NS;
		if (second != s->runnable.second) {
			send_cost(s);
			s->runnable.second = second;
			s->runnable.sum = s->runnable.count = 0;
		}
		count_runnable(s);
		while (read(s->signals, &info, sizeof(info)) > 0)
			if (info.ssi_signo != SIGCHLD)
				shutdown(s->socket, SHUT_RDWR); /* it ends, as after 'q' */
		reap(s);
		if (!take_request(s))
			break;
	}
	while (s->reader > 0 && waitpid(s->reader, &s->reader_status, 0) < 0 && errno == EINTR)
		;
}

/* The other one restores the terminal itself, unless it was killed. */
static void restore_terminal(const struct session *s)
{
	static const char normal[] = "\033[0m\033[?25h\033[?1l\033>\033[?1049l";

	if (!s->reader_ask.on_screen || !WIFSIGNALED(s->reader_status))
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &s->modes);
	(void)!write(STDOUT_FILENO, normal, sizeof(normal) - 1);
}

/* The recorder ended by itself, or could not write all of it. */
static int failure_of_recorder(const struct session *s)
{
	int status = s->recorder_status;

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	print_log(s);
	return WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : message_error("the recorder was ended by signal %d", WTERMSIG(status));
}

/* A capture that was asked for is complete before the command ends. */
static int finish_save(struct session *s)
{
	char text[LIVE_TEXT_MAX];
	int status;

	if (s->saver <= 0)
		return 0;
	while (waitpid(s->saver, &status, 0) < 0 && errno == EINTR)
		;
	cmd_live_save_result(&s->save, status, text, sizeof(text));
	if (status)
		return message_error("%s", text);
	message_note("%s", text);
	return 0;
}

static int end_of(const struct session *s)
{
	if (WIFSIGNALED(s->reader_status))
		return message_error("the process that shows was ended by signal %d",
				     WTERMSIG(s->reader_status));
	return WEXITSTATUS(s->reader_status);
}

/* ---- all ---- */

static int take_signals(struct session *s)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? message_error("cannot start the screen: %s", strerror(errno)) : 0;
}

static int run(struct session *s)
{
	int saved, status = take_signals(s);

	if (!status)
		status = start_recorder(s);
	if (!status)
		status = await_recording(s);
	if (!status)
		status = start_reader(s);
	if (!status) {
		serve(s);
		restore_terminal(s);
	}
	end_recorder(s);
	saved = finish_save(s);
	if (!status)
		status = end_of(s);
	if (!status)
		status = failure_of_recorder(s);
	return status ? status : saved;
}

/* The names for --show: what is always recorded, then instruments with stacks.  Returns how many; of those the first are shows. */
static size_t list_shows(const char *out[SHOWS_MAX])
{
	static const char *const shows[] = { "cpu", "off-cpu", "wall", "wakers" };
	const struct metric_view *v;
	size_t count;

	_Static_assert(sizeof(shows) / sizeof(shows[0]) == HISTORY_EVENT, "a name for each");
	for (count = 0; count < HISTORY_EVENT; count++)
		out[count] = shows[count];
	for (size_t i = 0; count < SHOWS_MAX && (v = metric_view_at(i)); i++)
		if (v->weight && strcmp(v->instrument, out[count - 1]) != 0)
			out[count++] = v->instrument;
	return count;
}

/* These have stacks only of what is slow. */
static bool needs_slower(const char *instrument)
{
	static const char *const names[] = { "syscalls", "block", "locks", "net" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], instrument))
			return true;
	return false;
}

static int choose_show(struct live_ask *ask, struct live_reader_ask *out)
{
	const char *shows[SHOWS_MAX];
	char room[USAGE_CHOICES_BYTES];
	size_t i, count = list_shows(shows);

	if (!ask->show)
		return 0;
	for (i = 0; i < count && strcmp(shows[i], ask->show) != 0; i++)
		;
	if (i == count)
		return usage_error(
			ask->usage, "option '--show' cannot be '%s'%s", ask->show,
			usage_near_or_choices(ask->show, strlen(ask->show), shows, count, room));
	out->measure = i < HISTORY_EVENT ? (enum history_measure)i : HISTORY_EVENT;
	if (i < HISTORY_EVENT)
		return ask->slower ? usage_error(ask->usage,
						 "option '--slower' goes with an instrument, not "
						 "'--show %s'",
						 ask->show)
				   : 0;
	out->event = shows[i];
	out->event_unit = metric_view_named(shows[i], true)->weight;
	if (!ask->slower && needs_slower(shows[i]))
		ask->slower = "1ms";
	return 0;
}

static int choose(struct live_ask *ask, struct live_reader_ask *out)
{
	static const char *const bys[] = { "program",   "process", "thread",
					   "container", "unit",    "function" };
	char room[USAGE_CHOICES_BYTES];
	size_t i;
	int status;

	*out = (struct live_reader_ask){ .live = ask, .groups = true, .measure = HISTORY_CPU };
	status = choose_show(ask, out);
	if (status)
		return status;
	for (i = 0; ask->by && i <= HISTORY_BYS && strcmp(bys[i], ask->by) != 0; i++)
		;
	if (i > HISTORY_BYS)
		return usage_error(ask->usage, "option '--by' cannot be '%s'%s", ask->by,
				   usage_near_or_choices(ask->by, strlen(ask->by), bys,
							 HISTORY_BYS + 1, room));
	out->groups = i < HISTORY_BYS;
	out->by = i < HISTORY_BYS ? (enum history_by)i : HISTORY_BY_PROGRAM;
	return 0;
}

int cmd_live_screen(struct live_ask *ask)
{
	struct session s = { .ask = ask };
	int err, status = choose(ask, &s.reader_ask);

	if (status)
		return status;
	s.reader_ask.on_screen = !ask->json && !ask->tables && !ask->count &&
				 isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (s.reader_ask.on_screen)
		tcgetattr(STDIN_FILENO, &s.modes);
	err = live_files_make(&s.folder, &s.lock);
	if (err)
		return message_error("cannot make a folder in /var/tmp, or TMPDIR: %s",
				     strerror(-err));
	if (asprintf(&s.path, "%s/live.data", s.folder) < 0 ||
	    asprintf(&s.log, "%s/messages", s.folder) < 0)
		status = message_error("cannot start the screen: %s", strerror(ENOMEM));
	s.reader_ask.folder = s.folder;
	s.reader_ask.path = s.path;
	if (!status)
		status = run(&s);
	live_files_remove(s.folder);
	close(s.lock);
	free(s.folder);
	free(s.path);
	free(s.log);
	return status;
}
