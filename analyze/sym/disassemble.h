/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * disassemble - the text of x86 instructions
 *
 * Bytes of any kind go in: what is no instruction is one byte long and has no text.
 */
#ifndef EBPREC_ANALYZE_SYM_DISASSEMBLE_H
#define EBPREC_ANALYZE_SYM_DISASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISASSEMBLE_TEXT_BYTES 128

enum disassemble_style { DISASSEMBLE_ATT, DISASSEMBLE_INTEL };

/* Whether code of this machine (EM_*) has a text. */
bool disassemble_knows(uint16_t machine);
/*
 * The instruction at vaddr, of which bytes are the first; its text into `text`, "" for none.  Returns how long it is, at
 * least 1; size_bytes is not 0.
 */
size_t disassemble(uint16_t machine, enum disassemble_style style, uint64_t vaddr,
		   const uint8_t *bytes, size_t size_bytes, char text[DISASSEMBLE_TEXT_BYTES]);

#endif
