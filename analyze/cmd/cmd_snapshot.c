/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec snapshot - asks recorders with --ring to write what they have in memory */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/message.h"
#include "format/os/recorder_socket.h"

#define ANSWER_MS 120000 /* a slow disk may take a while */
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

static int cannot_ask(int pid, int err)
{
	const char *hint;

	if (err == -EPERM)
		return message_error("cannot ask recorder %d: another user's process has its name",
				     pid);
	if (err == -EACCES)
		return message_error(
			"cannot ask recorder %d: it answers its own user and root alone", pid);
	if (err == -ETIMEDOUT)
		return message_error("cannot ask recorder %d: it does not answer", pid);
	hint = kill(pid, 0) && errno == ESRCH ? "there is no such process"
					      : "was it started with --ring?";
	return message_error("cannot ask recorder %d: %s (%s)", pid, strerror(-err), hint);
}

static int ask(int pid)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];
	int err = recorder_socket_ask(pid, ANSWER_MS, text);

	if (err == -EIO)
		return message_error("%s", text);
	if (err)
		return cannot_ask(pid, err);
	message_escaped(stdout, text, strlen(text));
	putchar('\n');
	return MESSAGE_OK;
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
	if (!count && (recorder_socket_list(pids, PIDS_MAX, &count) || !count))
		return message_error(
			"no recording with --ring is running (start 'ebprec record --ring 60s')");
	for (i = 0; i < count && i < PIDS_MAX; i++) {
		status = ask(pids[i]);
		if (status > worst)
			worst = status;
	}
	return worst;
}
