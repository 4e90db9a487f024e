/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * splice - native frames and those of the interpreted program, in one stack
 *
 * A native frame in the interpreter's loop is an entry of it: the frames of the program that ran in this entry
 * are put before it, towards the leaf, and the native frame stays.  So nothing changes for the native frames.
 *
 * Where both stacks are complete, they have to agree from the outermost entry on; the innermost one may have no
 * frame of the program yet, or no more.  Where the native one is not, they agree from the innermost on, and
 * what is left of the program's frames follows at the end.  Stacks that do not agree are left alone.
 */
#ifndef EBPREC_RECORD_RUNTIME_SPLICE_H
#define EBPREC_RECORD_RUNTIME_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime_maps.h"
#include "format/unwind/stack_result.h"

#define SPLICE_FRAMES_MAX (CPU_SAMPLE_MAX + RUNTIME_SAMPLE_MAX) /* SAMPLE_RECORD_USER_MAX */
/* Where the file of interpreted code is mapped, in each process: no program's address. */
#define SPLICE_BASE 0x6000000000000000ULL

struct splice_stack {
	const __u64 *user; /* native frames, leaf first */
	size_t user_count;
	bool ends_in_file;  /* which has no unwind table yet: no compiler made that code */
	bool is_complete;   /* to the outermost one */
	const __u64 *words; /* RUNTIME_HEAD_WORDS of them, and a frame each */
	size_t word_count;
};

/*
 * Puts the frames into out, room for SPLICE_FRAMES_MAX, and their count into *count.  Returns why frames are missing; then, and when
 * there are none, out has the native ones.
 */
enum runtime_why splice_frames(const struct splice_stack *s, const struct runtime_desc *d,
			       __u64 *out, size_t *count);

/*
 * The same for V8's functions and Java's methods, whose native frames are theirs: those of a frame take its place, or are put
 * behind it.  Where a frame is another one than BPF saw, all stay as they are.
 */
enum runtime_why splice_functions(const struct splice_stack *s, __u64 *out, size_t *count);

/* Whether a native frame is in the interpreter's loop. */
bool splice_has_entry(const struct splice_stack *s, const struct runtime_desc *d);

#endif
