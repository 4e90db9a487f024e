/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * interrupted - frames that a signal interrupted are at their address, not one byte before
 *
 * All frames but the innermost are taken for return addresses, which are in the call before them.
 * The caller of a signal's trampoline (__restore_rt) called nothing: it was at this address when
 * the signal came, maybe at the first byte of a function.  A chain does not mark that; the name of
 * the trampoline does, so this can be corrected only when locations have names.  Limits: where
 * nothing names the trampoline (a libc without symbols) all stays as it was; so does a location
 * that calls were seen to return to, too.
 */
#ifndef EBPREC_ANALYZE_NAMES_INTERRUPTED_H
#define EBPREC_ANALYZE_NAMES_INTERRUPTED_H

#include <stdbool.h>

#include "analyze/names/function_table.h"
#include "analyze/fold/stack_counter.h"

/* Whether a function of this name is what the handler of a signal returns to: it was called by nothing. */
bool interrupted_is_trampoline(const char *name);

/*
 * In a finished sampler whose places n names: makes those that only signals interrupted exact.  They are to
 * be named again when *changed becomes true.  -ENOMEM.
 */
int interrupted_find(struct stack_counter *s, const struct function_table *n,
		     const struct string_table *names, bool *changed);

#endif
