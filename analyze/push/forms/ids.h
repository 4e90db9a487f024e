/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ids - numbers of frames and stacks that are the same on every host
 *
 * A database joins the rows of many hosts by them, so they depend on what a frame is (its kind, build and name)
 * and on nothing of the machine.  64 bits: two of a billion distinct stacks are equal by chance in one of 37 stores.
 * No secret is in them: who can record programs of his own can make two of their frames one.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_IDS_H
#define EBPREC_ANALYZE_PUSH_FORMS_IDS_H

#include <stddef.h>
#include <stdint.h>

enum push_kind { PUSH_NATIVE = 1, PUSH_KERNEL = 2, PUSH_OTHER = 3 };

/* name: as reports show it; build_id: hex, or "" and the file's path distinguishes. */
uint64_t push_frame_id(enum push_kind kind, const char *build_id, const char *file,
		       const char *name);
/* Of the frames' ids, innermost first. */
uint64_t push_stack_id(const uint64_t *frames, size_t count);

#endif
