/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * v8_lines - the place in the source text of a bytecode of V8's
 *
 * A function's bytecode has a table of pairs, the offset of a bytecode and a position, each the distance to the pair before
 * (src/codegen/source-position-table.cc).  How they are encoded is in no symbol of V8's, and has changed: of a version that was
 * not seen there is no place.
 */
#ifndef EBPREC_RECORD_RUNTIME_V8_LINES_H
#define EBPREC_RECORD_RUNTIME_V8_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The place for the bytecode at that offset, in units of UTF-16 from where the script's text begins, as a stack trace of V8 has
 * it.  version: 0x0d06 is 13.6.  is_cut: the table goes on behind size_bytes.  False: there is none, or the table, which may hold any bytes, is broken.
 */
bool v8_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes, bool is_cut,
		   uint32_t bytecode, uint32_t *place);

#endif
