/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * frame_line - the contents of a frame's line: address, function, offset in it, file, or why there is no name
 *
 * frame_chain_each() goes through a sample's callchain, frame_location_find() finds the mapping of an address, and
 * frame_line_make() its name.  The two last are apart, as a caller may know the line of a location already.
 */
#ifndef EBPREC_ANALYZE_REPORT_SCRIPT_FRAME_LINE_H
#define EBPREC_ANALYZE_REPORT_SCRIPT_FRAME_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/process/process_model.h"
#include "analyze/sym/resolve.h"
#include "format/perf/perfrec.h"

struct frame_line {
	/* In the file; of the kernel, and of code without a file, in memory. */
	uint64_t addr;
	uint64_t
		into_bytes; /* RESOLVED_INTO_UNKNOWN; negative: a cold part before the start of its function */
	const char *name,
		*dso; /* NULL: not known.  Valid as long as the resolver and the model, but for made_dso */
	char made_dso[32];
	uint32_t file; /* of the resolver; UINT32_MAX: none */
	enum name_reason reason;
};

/* Embedded by the owner; all zero is an empty one. */
struct frame_lines {
	const struct process_model *model; /* both are borrowed */
	struct resolver *resolver;
	uint32_t *files; /* of the resolver, by number of the model, + 1; 0: not asked yet */
};

int frame_lines_init(struct frame_lines *f, const struct process_model *model,
		     struct resolver *resolver); /* -ENOMEM */
void frame_lines_done(struct frame_lines *f);

/* The spaces in which addresses are looked up. */
struct frame_space {
	uint32_t user, kernel; /* spaces of the model */
	uint32_t pid;
};

enum frame_location_kind {
	LOC_UNMAPPED,  /* address */
	LOC_FILE,      /* file of the model, offset in it */
	LOC_ANONYMOUS, /* address in the space of a process */
	LOC_KERNEL,    /* whether it is mapped, address */
	LOC_KSYMBOL,   /* file of the model, offset in it */
};

struct frame_location {
	enum frame_location_kind kind;
	bool mapped;
	struct process_model_place at;
	uint64_t addr;
	bool is_return;
};

/* mode: PERF_RECORD_MISC_KERNEL, _USER, or another, of which nothing is known. */
struct frame_location frame_location_find(const struct frame_lines *f,
					  const struct frame_space *space, unsigned mode,
					  uint64_t addr, bool is_return);
/* Always fills *out.  A name that a signal interrupts at is recognized by interrupted_is_trampoline(). */
void frame_line_make(const struct frame_lines *f, const struct frame_space *space,
		     const struct frame_location *location, struct frame_line *out);

/*
 * 1: the code of the next frame was interrupted, so that its address is no return address; 0; or a negative
 * error, which ends it.
 */
typedef int (*frame_chain_fn)(void *ctx, unsigned mode, uint64_t addr, bool is_return);
/* Calls fn for each frame, innermost first.  copied: user frames were unwound from a copy of the stack. */
int frame_chain_each(const struct perf_sample *sample, bool copied, frame_chain_fn fn, void *ctx);

#endif
