/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm_lines - the source line of a bytecode of Java
 *
 * A method has a table of pairs, the index of a bytecode and its line, as HotSpot compresses it
 * (src/hotspot/share/code/compressedStream.hpp, oops/method.cpp): each is the distance to the pair before, in one byte or as two
 * numbers behind a 255, and a zero is the end.
 */
#ifndef EBPREC_RECORD_RUNTIME_JVM_LINES_H
#define EBPREC_RECORD_RUNTIME_JVM_LINES_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes the table has, with its end; 0: it does not end in size_bytes, and is of no use.  It may hold any bytes. */
size_t jvm_lines_size(uint32_t version, const uint8_t *table, size_t size_bytes);
/* The line of the bytecode at that index, as a stack trace of Java has it.  0: none, or the table has no end. */
uint32_t jvm_lines_find(uint32_t version, const uint8_t *table, size_t size_bytes,
			uint32_t bytecode);

#endif
