/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * category - what kind of thing a system call is about, by its name
 *
 * By name and not by number, which another machine or a 32-bit program has for another call.  The
 * categories are called as denet calls them.  read() and its like are file_io also on a socket: the
 * name is independent of the descriptor.
 */
#ifndef EBPREC_ANALYZE_METRIC_SYSCALL_CATEGORY_H
#define EBPREC_ANALYZE_METRIC_SYSCALL_CATEGORY_H

#include <stddef.h>

/* The i-th category; NULL: behind the last. */
const char *syscall_category_at(size_t i);
/*
 * The category of a name as the kernel's headers have it; those of 32 bits that end with _time64, 64
 * or 32 are as without.  "other" of one that is not known.
 */
const char *syscall_category_of(const char *name);

#endif
