/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * demangle - the name a programmer wrote
 *
 * C++ (Itanium), Rust (legacy and v0) and D, through libiberty, without parameters, which is what
 * `perf script` prints (it leaves D as it is).
 *
 * A mangled name can refer back to its own parts, so that 150 characters become gigabytes.  A name
 * that would grow beyond 64 KiB is left mangled; libiberty itself bounds its recursion.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_DEMANGLE_H
#define EBPREC_ANALYZE_SYM_SYMTAB_DEMANGLE_H

/* Owned (free()); NULL when name is not mangled, not in a way we know, or too large. */
char *demangle(const char *name);

#endif
