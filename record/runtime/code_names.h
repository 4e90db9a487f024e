/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * code_names - what interpreted code is called, and which places of it samples hit
 *
 * All code of one language in a recording is one file that does not exist, [python] or [javascript], with a build-id
 * of its own: code number n begins at n << RUNTIME_INSTR_BITS, and 1 is added to the distance of an instruction: the byte
 * before a return address is still of that instruction.  The names of the places that samples hit go into
 * the capture as those of any other file (FORMAT.md 5.3).
 *
 * Bounded, and shared by processes and users (fair_share.h): one that makes code without end leaves room for the names of
 * others.  Code and places for which there is no room have no names.
 */
#ifndef EBPREC_RECORD_RUNTIME_CODE_NAMES_H
#define EBPREC_RECORD_RUNTIME_CODE_NAMES_H

#include <stdbool.h>

#include "bpf/runtime_maps.h"
#include "format/base/buildid.h"
#include "format/base/outbuf.h"
#include "record/base/fair_share.h"
#include "record/base/u64map.h"
#include "record/runtime/source_lines.h"

struct code_name; /* in code_names.c */

/* Zero but for path and build-id: empty. */
struct code_names {
	const char *path; /* of that file; a literal */
	struct buildid build_id;
	struct code_name **by_id;
	uint32_t room;
	struct fair_share held, placed; /* bytes of names; places */
	uint64_t refused_count;   /* code for which there was no room, or that is not understood */
	uint64_t placeless_count; /* frames at places for which there was no room */
	struct u64map places;
	uint64_t *
		list; /* of all places, offset << 1 | is_return, in the order of their first samples */
	size_t count, list_room, written;
	struct source_lines sources; /* of JavaScript */
	bool is_put_off; /* to the next time names are written: scripts were being read */
};

void code_names_done(struct code_names *c);
/*
 * The names of code of an interpreter of that kind (enum runtime_kind) and, of CPython, Java and V8, that version.  -EBADMSG: the
 * event is broken, -ENOMEM.
 */
int code_names_add(struct code_names *c, const struct runtime_code_event *ev, uint32_t kind,
		   uint32_t version);
/* A sample hit this offset in the file, or returns to it.  -ENOMEM. */
int code_names_hit(struct code_names *c, uint64_t offset, bool is_return);
/* The bytes of a SYMTAB object with the names of the places list[from..count).  outbuf_ok(). */
void code_names_encode(const struct code_names *c, size_t from, struct outbuf *out);

#endif
