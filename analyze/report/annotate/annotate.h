/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * annotate - the source lines and instructions of a function, with what was spent in each
 *
 * A function is a name in a file.  Its code is where it was compiled to, and where it was inlined.
 * The cost of code that was inlined into it belongs to the line of this code, in whichever file;
 * the line of the call has it in its total, as lines have the cost of their calls.
 *
 * Two steps: annotate_look() while names are found (report_query.on_named), for facts that only
 * files have, and annotate_count() when the stacks are picked.
 */
#ifndef EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_H
#define EBPREC_ANALYZE_REPORT_ANNOTATE_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/stack_table.h"
#include "analyze/names/function_table.h"
#include "analyze/sym/disassemble.h"
#include "analyze/sym/resolve.h"

#define ANNOTATE_NONE UINT32_MAX

struct annotate_cost {
	uint64_t self, total;
	uint32_t stamp; /* of the stack that was added to the total last */
};

struct annotate_line {
	uint32_t function;     /* which of the annotated ones */
	uint32_t file, number; /* file: in the strings */
	uint32_t source;       /* of a place of it, as in struct function_location */
	bool is_own;           /* of its own text; else of what was inlined into it */
	bool is_start;         /* of its own text, the first of the compiled code */
	struct annotate_cost cost;
};

/* An instruction; or where code is not known, a location that samples are of. */
struct annotate_instruction {
	uint32_t function;
	uint32_t source; /* as in struct function_location */
	uint64_t offset; /* in the file, or the address */
	uint64_t vaddr;
	uint64_t into_bytes; /* the compiled function that it is in; or RESOLVED_INTO_UNKNOWN */
	uint32_t size_bytes;
	uint32_t file, number; /* its line; file 0: not known */
	char *text;            /* owned; NULL: not known */
	struct annotate_cost cost;
};

/* A source file. */
struct annotate_file {
	uint32_t path;                /* in the strings */
	uint32_t source;              /* the program, as in struct function_location */
	int err;                      /* 0, or why it has no text: resolver_text() */
	bool is_newer;                /* than the program */
	bool is_newer_than_recording; /* and interpreted code, for which there is no program */
	struct source_text text;
};

/* Why the lines of a function are not known. */
enum annotate_gap {
	ANNOTATE_COMPLETE,
	ANNOTATE_KERNEL, /* debug information of the kernel is not read */
	ANNOTATE_JIT,    /* made at run time */
	ANNOTATE_BUNDLE, /* the capture has its name, but not its lines, and the file is not here */
	ANNOTATE_FILE,   /* the file is not here: reason */
	ANNOTATE_NO_DWARF, /* it has no debug information */
};

struct annotated {
	uint32_t name, dso; /* in the strings */
	uint32_t source;    /* of its first place */
	enum annotate_gap gap;
	bool has_start;          /* where it begins was looked up */
	bool is_cut;             /* only the first FUNCTION_CODE_MAX_BYTES of it were read */
	enum name_reason reason; /* NAME_FOUND; or why its code or its file could not be read */
	bool other_machine;      /* its code is not x86 */
	struct annotate_cost cost;
	size_t first_line, line_count, first_instruction, instruction_count;
};

struct annotate_query {
	const char *function; /* a name, or a regular expression */
	bool with_code; /* its instructions; without, they are read where there are no lines */
	enum disassemble_style style;
	uint64_t recorded_ns; /* since the epoch; 0: not known */
};

/* Embedded by the owner; all zero is an empty one, annotate_done().  Read freely. */
struct annotate {
	struct annotated *functions; /* by name and file */
	size_t function_count, function_capacity;
	struct annotate_line *lines; /* by function, file and number */
	size_t line_count, line_capacity;
	struct annotate_instruction *instructions; /* by function, source and offset */
	size_t instruction_count, instruction_capacity;
	struct annotate_file *files; /* by path */
	size_t file_count, file_capacity;
	uint32_t *
		by_function; /* of the functions that were looked at; ANNOTATE_NONE: not asked for */
	size_t by_function_count; /* a label that was added to stacks since is none of them */
	uint64_t sum;             /* of all stacks */
};

/* -ENOENT: no function is called so; -ENOMEM, -EOVERFLOW. */
int annotate_look(struct annotate *a, const struct annotate_query *query,
		  const struct function_table *n, struct resolver *resolver,
		  struct string_table *names);
/* The stacks are of functions of n; by_period: periods are added up, not samples.  -ENOMEM. */
int annotate_count(struct annotate *a, const struct function_table *n, const struct stack_table *s,
		   bool by_period);
void annotate_done(struct annotate *a);

/* NULL: none of that path was looked for. */
const struct annotate_file *annotate_file_of(const struct annotate *a, uint32_t path);

#endif
