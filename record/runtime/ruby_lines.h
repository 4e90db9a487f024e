/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ruby_lines - the line of an instruction, by the tables of Ruby 3.1's code (iseq.c, VM_INSN_INFO_TABLE_IMPL 2) */
#ifndef EBPREC_RECORD_RUNTIME_RUBY_LINES_H
#define EBPREC_RECORD_RUNTIME_RUBY_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * lines: as runtime_code_event has them.  instr: how many words of the code stand before the instruction that runs next;
 * the one before it runs.  0: not known, as the tables are not complete or contradict each other.
 */
uint32_t ruby_lines_find(const uint8_t *lines, size_t size_bytes, uint32_t instr);

#endif
