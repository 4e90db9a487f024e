/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * interpreter_frames - stacks without the interpreter's own functions, which stand between those of the program
 *
 * On a stack with functions of an interpreted program (py::main) these go: the loop that runs the program, and functions
 * of the same file that lie between two functions of the program.  Their cost is their caller's.  The function that
 * called the interpreter stays, what the innermost function of the program called stays, too, and a stack
 * without any function of the program stays as it is.  So no other function's counts change.
 */
#ifndef EBPREC_ANALYZE_REPORT_INTERPRETER_FRAMES_H
#define EBPREC_ANALYZE_REPORT_INTERPRETER_FRAMES_H

#include "analyze/base/string_table.h"
#include "analyze/fold/stack_table.h"
#include "analyze/names/function_table.h"

/* s: its frames are functions of n; entries and sums stay, stacks that are equal by then become one.  -ENOMEM. */
int interpreter_frames_drop(struct stack_table *s, const struct function_table *n,
			    const struct string_table *names);

#endif
