/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec snapshot - asks recorders with --ring to write what they have in memory */
#include <errno.h>
#include <signal.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"

#define NAME      "ebprec-record/" /* with the pid: the abstract socket of a recorder */
#define ANSWER_MS 120000           /* a slow disk may take a while */
#define PIDS_MAX  64

static const struct option snapshot_options[] = {
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage snapshot_usage = {
	.command = "snapshot",
	.words = "[PID...]",
	.about = "Asks the recordings that run with --ring, or those of these recorders, to write\n"
		 "what they have in memory into a capture, and prints its path.  They go on.\n",
	.options = snapshot_options,
};

/* The recorders that listen, as /proc/net/unix lists them. */
static size_t find_recorders(int pids[PIDS_MAX])
{
	FILE *f = fopen("/proc/net/unix", "re");
	size_t count = 0, room = 0;
	char *line = NULL, *name;

	while (f && count < PIDS_MAX && getline(&line, &room, f) > 0) {
		name = strstr(line, " @" NAME);
		/* Flags 00010000: it listens. */
		if (name && strstr(line, " 00010000 "))
			pids[count++] = atoi(name + strlen(" @" NAME));
	}
	free(line);
	if (f)
		fclose(f);
	return count;
}

/* Any process may take such a name: the answer of a stranger is not believed. */
static bool is_recorder(int fd, int pid)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.pid == pid &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static int read_answer(int fd, int pid)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char answer[1024];
	ssize_t n;

	if (poll(&ready, 1, ANSWER_MS) <= 0)
		return message_error("cannot ask recorder %d: it does not answer", pid);
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	if (n <= 0)
		return message_error(
			"cannot ask recorder %d: it answers its own user and root alone", pid);
	answer[n] = '\0';
	if (answer[0] != '+')
		return message_error("%s", answer + 1);
	message_escaped(stdout, answer + 1, (size_t)n - 1);
	putchar('\n');
	return MESSAGE_OK;
}

static int cannot_ask(int pid, int code)
{
	bool gone = kill(pid, 0) && errno == ESRCH;

	return message_error("cannot ask recorder %d: %s (%s)", pid, strerror(code),
			     gone ? "there is no such process" : "was it started with --ring?");
}

static int ask(int pid)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, NAME "%d", pid);
	int status;

	if (fd < 0 || connect(fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)))
		status = cannot_ask(pid, errno);
	else if (!is_recorder(fd, pid))
		status = message_error(
			"cannot ask recorder %d: another user's process has its name", pid);
	else
		status = read_answer(fd, pid);
	if (fd >= 0)
		close(fd);
	return status;
}

int cmd_snapshot(int argc, char **argv)
{
	int pids[PIDS_MAX], status, worst = MESSAGE_OK;
	struct snapshot_opts {
		int none;
	} opts;
	size_t i, count = 0;
	char **words, *end;
	long pid;

	if (!usage_parse(&snapshot_usage, &opts, argc, argv, 0, PIDS_MAX, &words, &status))
		return status;
	for (; words && *words && count < PIDS_MAX; words++) {
		pid = strtol(*words, &end, 10);
		if (end == *words || *end || pid <= 0 || pid > INT32_MAX)
			return usage_error(&snapshot_usage, "'%.60s' is no process id", *words);
		pids[count++] = (int)pid;
	}
	if (!count)
		count = find_recorders(pids);
	if (!count)
		return message_error(
			"no recording with --ring is running (start 'ebprec record --ring 60s')");
	for (i = 0; i < count; i++) {
		status = ask(pids[i]);
		if (status > worst)
			worst = status;
	}
	return worst;
}
