/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * control - where `ebprec snapshot` asks a running recorder
 *
 * A socket with the abstract name "ebprec-record/PID", so that nothing is left behind when the recorder
 * is killed.  Who connects asks for a snapshot, and is answered with one message: '+' or '-', and a
 * line for people.  Only the recorder's own user and root are answered.
 */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_SOCKET_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_NAME    "ebprec-record/"
#define CONTROL_WAITING 16

struct control {
	int fd; /* owned; -1: there is none */
	int waiting[CONTROL_WAITING];
	size_t waiting_count;
};

/* errno of the socket; *c is untouched then. */
int control_open(struct control *c);
void control_close(struct control *c); /* fd -1 is fine */
/* fd is readable: takes who waits.  Whether anybody may have an answer. */
bool control_accept(struct control *c);
/* To all that wait. */
void control_answer(struct control *c, bool done, const char *text);

#endif
