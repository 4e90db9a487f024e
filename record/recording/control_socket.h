/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * control_socket - the recorder's side of the socket by which it is asked for something (format/os/recorder_socket.h)
 *
 * Only the recorder's own user and root are answered.  A client that does not send its request makes room for the next.
 */
#ifndef EBPREC_RECORD_RECORDING_CONTROL_SOCKET_H
#define EBPREC_RECORD_RECORDING_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "format/os/recorder_socket.h"

#define CONTROL_SOCKET_CLIENTS 16

struct control_client {
	int fd;
	bool has_asked;
	enum recorder_request request; /* once it has */
};

struct control_socket {
	int fd;       /* owned; -1: there is none */
	int epoll_fd; /* owned; readable when there is something for control_socket_take() */
	struct control_client clients[CONTROL_SOCKET_CLIENTS];
	size_t count;
};

/* errno of the socket; *c is untouched then. */
int control_socket_open(struct control_socket *c);
/* All that still wait are answered that the recording ended.  fd -1 is fine. */
void control_socket_close(struct control_socket *c);
/* Takes clients and their requests.  Bits 1 << enum recorder_request: what was asked for since the last call. */
unsigned control_socket_take(struct control_socket *c);
/* To all that asked for this; the line is cut to RECORDER_SOCKET_ANSWER_BYTES. */
void control_socket_answer(struct control_socket *c, enum recorder_request request,
			   enum recorder_answer answer, const char *text);

#endif
