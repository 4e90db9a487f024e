/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * snapshot_socket - the recorder's side of the socket by which it is asked for snapshots (format/os/recorder_socket.h)
 *
 * Only the recorder's own user and root are answered.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_SOCKET_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define SNAPSHOT_SOCKET_WAITING 16

struct snapshot_socket {
	int fd; /* owned; -1: there is none */
	int waiting[SNAPSHOT_SOCKET_WAITING];
	size_t waiting_count;
};

/* errno of the socket; *c is untouched then. */
int snapshot_socket_open(struct snapshot_socket *c);
void snapshot_socket_close(struct snapshot_socket *c); /* fd -1 is fine */
/* fd is readable: accepts the clients.  True: at least one may have an answer. */
bool snapshot_socket_accept(struct snapshot_socket *c);
/* To all that wait. */
void snapshot_socket_answer(struct snapshot_socket *c, bool done, const char *text);

#endif
