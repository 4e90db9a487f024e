/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * python_lines - the source line of an instruction of CPython
 *
 * Code has a table of bytes in one of three forms: co_lnotab up to 3.9 (Objects/lnotab_notes.txt), co_linetable of
 * 3.10 (PEP 626), and the location table from 3.11 on (Objects/locations.md).
 */
#ifndef EBPREC_RECORD_RUNTIME_PYTHON_LINES_H
#define EBPREC_RECORD_RUNTIME_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * version: as in struct runtime_python_offsets.  at_bytes: of the instruction, from the first one on.  0: no line, or the table
 * does not reach that far.  The table may hold any bytes.
 */
uint32_t python_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes,
			   int32_t first_line, uint32_t at_bytes);

#endif
