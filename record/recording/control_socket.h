/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * control_socket - the recorder's side of the socket by which it is asked for snapshots (format/os/recorder_socket.h)
 *
 * Only the recorder's own user and root are answered.
 */
#ifndef EBPREC_RECORD_RECORDING_CONTROL_SOCKET_H
#define EBPREC_RECORD_RECORDING_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_SOCKET_WAITING 16

struct control_socket {
	int fd; /* owned; -1: there is none */
	int waiting[CONTROL_SOCKET_WAITING];
	size_t waiting_count;
};

/* errno of the socket; *c is untouched then. */
int control_socket_open(struct control_socket *c);
void control_socket_close(struct control_socket *c); /* fd -1 is fine */
/* fd is readable: accepts the clients.  True: at least one may have an answer. */
bool control_socket_accept(struct control_socket *c);
/* To all that wait. */
void control_socket_answer(struct control_socket *c, bool done, const char *text);

#endif
