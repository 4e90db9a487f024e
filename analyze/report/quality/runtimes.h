/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runtimes - programs that run code in which names and stacks need their help, and what to ask them for
 *
 * A compiler at run time (node, java ...) is known by a file that its process maps.  It must write down the
 * names of its code, and some keep frame pointers only when asked to.  An interpreter (python, perl ...) is
 * known by the function that runs the program: without help all functions of the program look like that one.
 */
#ifndef EBPREC_ANALYZE_REPORT_QUALITY_RUNTIMES_H
#define EBPREC_ANALYZE_REPORT_QUALITY_RUNTIMES_H

#include <stdint.h>

#define RUNTIMES_COMPILERS    9
#define RUNTIMES_INTERPRETERS 7
#define RUNTIMES_READ         6 /* the first ones, whose functions the recorder reads */

/* A set with the compiler of that file; 0: the file is none's. */
uint16_t runtimes_of_file(const char *path);
/* Those that make code without names unless they are asked for them. */
uint16_t runtimes_unnamed(void);
const char *runtimes_compiler(unsigned number);
/* How it is run so that its code has names, or complete stacks; NULL: nothing is known. */
const char *runtimes_names_cure(unsigned number);
const char *runtimes_stacks_cure(unsigned number);

struct runtimes_interpreter {
	const char *language;
	const char *function; /* that runs the program */
	const char *
		prefix; /* of the names that functions of the program have with its help; NULL: none */
	const char *cure;       /* NULL: there is none */
	const char *understood; /* those that the recorder reads; NULL: none */
};

const struct runtimes_interpreter *runtimes_interpreter(unsigned number);
/*
 * The interpreter of the first of these compilers that has one: node's and java's make code of what they also interpret.
 * RUNTIMES_INTERPRETERS: none has.
 */
unsigned runtimes_interpreter_of(uint16_t compilers);
/* Sets with the interpreter whose function this is, and with the one that names functions so. */
uint8_t runtimes_of_function(const char *name);
uint8_t runtimes_of_named(const char *name);

#endif
