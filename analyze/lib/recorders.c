/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/lib/ebprec.h"
#include "format/os/recorder_socket.h"

_Static_assert(sizeof(int) == sizeof(uint32_t), "process ids are set as they are read");

int ebprec_list_recorders(uint32_t *pids, size_t capacity, size_t *count)
{
	return recorder_socket_list((int *)pids, capacity, count);
}

static int ask(uint32_t pid, enum recorder_request request, int timeout_ms, char *text,
	       size_t text_bytes)
{
	char answer[RECORDER_SOCKET_ANSWER_BYTES];
	int err = recorder_socket_ask((int)pid, request, timeout_ms, answer);

	snprintf(text, text_bytes, "%s", *answer ? answer : strerror(-err));
	return err;
}

int ebprec_ping(uint32_t pid, int timeout_ms, char *text, size_t text_bytes)
{
	return ask(pid, RECORDER_PING, timeout_ms, text, text_bytes);
}

int ebprec_snapshot(uint32_t pid, int timeout_ms, char *text, size_t text_bytes)
{
	return ask(pid, RECORDER_SNAPSHOT, timeout_ms, text, text_bytes);
}

int ebprec_stop(uint32_t pid, int timeout_ms, char *text, size_t text_bytes)
{
	return ask(pid, RECORDER_STOP, timeout_ms, text, text_bytes);
}
