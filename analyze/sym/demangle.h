/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * demangle - the name a programmer wrote
 *
 * C++ (Itanium), Rust (legacy and v0) and D, through libiberty, without parameters, which is what
 * `perf script` prints.  libiberty bounds its own recursion; names above 1024 characters, which it
 * refuses for C++, are refused for all.
 */
#ifndef EBPREC_ANALYZE_SYM_DEMANGLE_H
#define EBPREC_ANALYZE_SYM_DEMANGLE_H

/* Owned (free()); NULL when name is not mangled, or not in a way we know. */
char *demangle(const char *name);

#endif
