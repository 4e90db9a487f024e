/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmdline_record - the command lines of processes
 *
 * The recorder writes an entry for each process that exists at the beginning, and for each exec
 * afterwards; a process that forked without an exec has its parent's command line.  The bytes are
 * FORMAT.md 5.4.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_CMDLINE_RECORD_H
#define EBPREC_FORMAT_PAYLOAD_CMDLINE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"

#define CMDLINE_RECORD_HEAD_BYTES 32
#define CMDLINE_RECORD_TIME_OFF   8 /* of time_ns, in the head */

enum cmdline_record_flags {
	CMDLINE_RECORD_ARGS_CUT = 1, /* truncated by the recorder's limit, or not all readable */
	CMDLINE_RECORD_ENV_CUT = 2,
	CMDLINE_RECORD_ENV = 4, /* the environment was asked for */
};

struct cmdline_record {
	uint32_t pid;
	uint32_t flags;         /* enum cmdline_record_flags */
	uint64_t time_ns;       /* since when; 0: since before the recording */
	const char *args, *env; /* texts, each ended by a NUL, the last one maybe not */
	uint32_t args_bytes, env_bytes;
};

/* The part in front of args and env. */
void cmdline_record_encode(const struct cmdline_record *p, uint8_t out[CMDLINE_RECORD_HEAD_BYTES]);
/*
 * Reads the entry at c and moves behind it.  Texts are borrowed from c.  1; 0: the end; -EBADMSG:
 * broken, and what follows cannot be found.
 */
int cmdline_record_next(struct cursor *c, struct cmdline_record *out);

#endif
