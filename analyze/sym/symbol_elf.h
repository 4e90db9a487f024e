/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symbol_elf - the names of interpreted code as an ELF file, for tools that read names from such files alone
 *
 * It has a build-id and symbols, and no code.  All of its addresses are offsets in the file that a capture maps.
 * A run of places of one name is one symbol, since perf counts each symbol for itself.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMBOL_ELF_H
#define EBPREC_ANALYZE_SYM_SYMBOL_ELF_H

#include "analyze/sym/bundle.h"
#include "format/base/outbuf.h"

/* Adds the file to *out, which is empty: outbuf_ok(). */
void symbol_elf_encode(const struct bundle *b, struct outbuf *out);

#endif
