/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * snapshot_socket - where `ebprec snapshot` asks a running recorder
 *
 * A socket with the abstract name "ebprec-record/PID", so that nothing is left behind when the recorder
 * is killed.  A client that connects asks for a snapshot, and gets one message: '+' or '-', and a
 * line for people.  Only the recorder's own user and root are answered.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_SOCKET_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_SNAPSHOT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define SNAPSHOT_SOCKET_NAME    "ebprec-record/"
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
