/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * user_unwinder - stacks out of the stack copies in other people's captures
 *
 * `perf record --call-graph dwarf` copies a piece of the user stack into each sample and leaves
 * the unwinding to the reader.  Here each copy is walked by the tables of the files that were
 * mapped, each file's table being made once.  It is found where names are found, as in perf's cache after the
 * program was built again.  A file that is not here, or not the one that was recorded, has no table: the walk
 * tries the frame pointer and else ends there, with UNWIND_NO_FILE.  Such captures
 * hold no file facts: a file without a build-id is known by device and inode, as it is for its names.
 *
 * The unwinder is shared; each thread unwinds with a context of its own.
 */
#ifndef EBPREC_ANALYZE_FOLD_USER_UNWINDER_H
#define EBPREC_ANALYZE_FOLD_USER_UNWINDER_H

#include <stdint.h>

#include "analyze/process/process_model.h"
#include "analyze/sym/locate/name_reason.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"
#include "format/unwind/stack_result.h"
#include "format/unwind/unwind.h"

enum { USER_UNWINDER_FRAME_MAX = 1024 };

struct user_unwinder;         /* opaque */
struct user_unwinder_context; /* opaque */

/* Whether samples of the event have copies of stacks of a machine that can be walked here: which. */
bool user_unwinder_can(const struct capture *c, const struct capture_attr *attr,
		       enum unwind_arch *arch);
/* model: sealed, borrowed.  roots: as the resolver's, what they name is borrowed; NULL: "/" alone.  -ENOMEM. */
int user_unwinder_new(const struct process_model *model, const struct name_roots *roots,
		      enum unwind_arch arch, struct user_unwinder **out);
void user_unwinder_free(struct user_unwinder *u); /* NULL is fine; after all its contexts */

int user_unwinder_context_new(struct user_unwinder *u,
			      struct user_unwinder_context **out);      /* -ENOMEM */
void user_unwinder_context_free(struct user_unwinder_context *context); /* NULL is fine */

/*
 * Puts the unwound frames behind the kernel part of the sample's chain; the new chain lives in the
 * context until its next use.  *info is the result.  False, and nothing changed: the sample has no
 * copy of a stack.  regs_mask: the attr's sample_regs_user.  space: where its thread was.
 */
bool user_unwinder_sample(struct user_unwinder_context *context, struct perf_sample *sample,
			  uint64_t regs_mask, uint32_t space, struct stack_result *info);

#endif
