/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec snapshot - asks recorders with --ring to write what they have in memory */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
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
	hint = kill(pid, 0) && errno == ESRCH ? "there is no such process" : "is it a recorder?";
	return message_error("cannot ask recorder %d: %s (%s)", pid, strerror(-err), hint);
}

/* A recorder that was not named is only asked if it answers the caller, and can write a snapshot. */
static bool is_passed_over(int err)
{
	return err == -EOPNOTSUPP || err == -EACCES || err == -EPERM || err == -ECONNREFUSED;
}

static int show_answer(int pid, int err, const char *text)
{
	if (err == -EIO)
		return message_error("%s", text);
	if (err == -EOPNOTSUPP)
		return message_error("cannot ask recorder %d: %s", pid, text);
	if (err)
		return cannot_ask(pid, err);
	message_escaped(stdout, text, strlen(text));
	putchar('\n');
	return MESSAGE_OK;
}

static int ask_all(const int *pids, size_t count, bool are_named)
{
	char text[RECORDER_SOCKET_ANSWER_BYTES];
	int worst = MESSAGE_OK, status, err;
	size_t asked = 0;

	for (size_t i = 0; i < count; i++) {
		err = recorder_socket_ask(pids[i], RECORDER_SNAPSHOT, ANSWER_MS, text);
		if (!are_named && is_passed_over(err))
			continue;
		asked++;
		status = show_answer(pids[i], err, text);
		if (status > worst)
			worst = status;
	}
	return asked ? worst
		     : message_error(
			       "no recording with --ring is running (start 'ebprec record --ring 60s')");
}

int cmd_snapshot(int argc, char **argv)
{
	int pids[PIDS_MAX], status;
	struct snapshot_opts {
		int none;
	} opts;
	size_t count = 0;
	bool are_named;
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
	are_named = count;
	if (!are_named)
		(void)recorder_socket_list(pids, PIDS_MAX, &count);
	return ask_all(pids, count < PIDS_MAX ? count : PIDS_MAX, are_named);
}
