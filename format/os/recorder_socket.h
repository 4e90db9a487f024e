/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recorder_socket - where a running recorder is asked for a snapshot
 *
 * A socket with the abstract name "ebprec-record/PID" (unix(7), SOCK_SEQPACKET), so that nothing is left behind when the
 * recorder is killed.  A client that connects asks for a snapshot, and gets one message: '+' or '-', and a line for people.
 * Any process may take such a name, so a client believes the process PID alone, and only if it is of its own user or root.
 */
#ifndef EBPREC_FORMAT_OS_RECORDER_SOCKET_H
#define EBPREC_FORMAT_OS_RECORDER_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RECORDER_SOCKET_NAME         "ebprec-record/" /* with the pid */
#define RECORDER_SOCKET_ANSWER_BYTES 1024             /* a message, at most */

/* The address of that recorder; returns its size. */
socklen_t recorder_socket_address(int pid, struct sockaddr_un *out);

/*
 * Asks and waits for the answer: timeout_ms at most, or without end (-1).  text: the line, NUL-terminated; "" where none came.
 * -EIO: the recorder answered '-'; -EPERM: the name is another user's process's; -ECONNREFUSED: none has the name; -EACCES: it hung
 * up, as it answers its own user and root alone; -ETIMEDOUT; errno of the socket.
 */
int recorder_socket_ask(int pid, int timeout_ms, char text[RECORDER_SOCKET_ANSWER_BYTES]);

/*
 * The recorders that listen, as /proc/net/unix lists them.  *count may be more than capacity, of which no more are set.
 * The errno of opening it.
 */
int recorder_socket_list(int *pids, size_t capacity, size_t *count);

#endif
