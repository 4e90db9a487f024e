/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recorder_socket - where a running recorder is asked for something
 *
 * A socket with the abstract name "ebprec-record/PID" (unix(7), SOCK_SEQPACKET), so that nothing is left behind when the
 * recorder is killed.  A client connects, sends one message with the word of its request, and gets one message: a sign (enum
 * recorder_answer), and a line for people.  Any process may take such a name, so a client believes the process PID alone, and
 * only if it is of its own user or root.
 */
#ifndef EBPREC_FORMAT_OS_RECORDER_SOCKET_H
#define EBPREC_FORMAT_OS_RECORDER_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RECORDER_SOCKET_NAME         "ebprec-record/" /* with the pid */
#define RECORDER_SOCKET_ANSWER_BYTES 1024             /* a message, at most */

enum recorder_request {
	RECORDER_PING,     /* "ping": answers when it records, with what it has so far */
	RECORDER_SNAPSHOT, /* "snapshot": writes what it has in memory; only with --ring */
	RECORDER_STOP,     /* "stop": ends the recording; answers when the capture is complete */
	RECORDER_REQUEST_COUNT
};

enum recorder_answer {
	RECORDER_DONE = '+',
	RECORDER_FAILED = '-',
	RECORDER_CANNOT = '?' /* this recorder never does that */
};

const char *recorder_socket_word(enum recorder_request request);

/* The address of that recorder; returns its size. */
socklen_t recorder_socket_address(int pid, struct sockaddr_un *out);

/*
 * Asks and waits for the answer: timeout_ms at most, or without end (-1).  text: the line, NUL-terminated; "" where none came.
 * -EIO: the recorder failed; -EOPNOTSUPP: it cannot do that; -EPERM: the name is another user's process's; -ECONNREFUSED: none has
 * the name; -EACCES: it hung up, as it answers its own user and root alone; -ECONNRESET: it hung up all the same: it ended, or too
 * many ask it; -ETIMEDOUT; errno of the socket.
 */
int recorder_socket_ask(int pid, enum recorder_request request, int timeout_ms,
			char text[RECORDER_SOCKET_ANSWER_BYTES]);

/*
 * The recorders that listen, as /proc/net/unix lists them.  *count may be more than capacity, of which no more are set.
 * The errno of opening it.
 */
int recorder_socket_list(int *pids, size_t capacity, size_t *count);

#endif
