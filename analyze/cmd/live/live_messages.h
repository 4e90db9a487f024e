/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * live_messages - what the two processes of `ebprec live` send each other, a packet each
 *
 * One has started the recorder, may start programs and write files, and reads no capture; the other is confined, reads what
 * was recorded and shows it.  The first one checks each message as the word of a stranger.
 */
#ifndef EBPREC_ANALYZE_CMD_LIVE_LIVE_MESSAGES_H
#define EBPREC_ANALYZE_CMD_LIVE_LIVE_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_TEXT_MAX 240

enum live_kind {
	/* To the one that shows. */
	LIVE_COST, /* cpu_ns, memory_bytes: of all processes of this command, until now; second, runnable */
	LIVE_NOTE,  /* text: what became of a request */
	LIVE_ENDED, /* the recorder ended */
	/* From it. */
	LIVE_SAVE, /* from_ns, to_ns; first_part, last_part */
	LIVE_MARK, /* text */
};

struct live_message {
	uint32_t kind; /* enum live_kind */
	uint32_t first_part, last_part;
	uint64_t cpu_ns, memory_bytes;
	uint64_t from_ns, to_ns;
	uint64_t second; /* of CLOCK_MONOTONIC */
	double runnable; /* threads that ran or waited for a CPU in that second, on average */
	bool has_runnable;
	char text[LIVE_TEXT_MAX]; /* with a NUL */
};

#endif
