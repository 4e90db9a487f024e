/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * function_table - from places to functions
 *
 * Each place is resolved once and becomes a function: a name in a file.  Places without a name
 * become a function called after their file and its start ("cc1+0x5a3f20"), or where this is not known after
 * their file ("[libc.so.6]"), one for each reason, so that what is not known is counted like what is.
 */
#ifndef EBPREC_ANALYZE_NAMES_FUNCTION_TABLE_H
#define EBPREC_ANALYZE_NAMES_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"
#include "analyze/process/process_model.h"
#include "analyze/fold/location/locations.h"
#include "analyze/base/string_table.h"
#include "analyze/sym/resolve.h"

struct function {
	uint32_t name; /* in the strings; "FILE+0xADDRESS", "[FILE]" or "[unknown]" with a reason */
	uint32_t dso;  /* in the strings: path, "[kernel.kallsyms]", "[bpf]", "[unknown]" ... */
	uint32_t line; /* in the strings, "loop.c:12"; 0: not asked for, or not known */
	uint32_t source; /* when files were asked for: its number in the resolver + 1; 0: none */
	/* When locations were asked for: that in the table + 1, of what is not inlined; 0: none. */
	uint32_t location;
	uint32_t file;        /* likewise: the source file, in the strings; 0: not known */
	uint32_t line_number; /* in it; 0: not known */
	uint8_t reason;       /* enum name_reason */
	bool is_kernel;
	bool is_inlined; /* into the function that called it */
};

/* Where the code of a function is that locations were asked for of. */
struct function_location {
	uint64_t offset;     /* in the file, or the address */
	uint64_t into_bytes; /* the function; or RESOLVED_INTO_UNKNOWN */
	uint32_t source;     /* the file: its number in the resolver + 1; 0: none */
	bool is_return;
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct function_table {
	struct function *functions;
	size_t function_count, function_capacity;
	uint32_t *by_place;                  /* the function of each place */
	struct function_location *locations; /* by place, when they were asked for */
	/*
	 * When inlined functions were asked for: those of place i are inlined[inlined_first[i]] up to
	 * inlined[inlined_first[i + 1]], each called by the one before it, the first by by_place[i].
	 */
	uint32_t *inlined, *inlined_first;
	size_t inlined_count, inlined_capacity;
	struct hash_index index;
};

/* The number that the resolver gives to a file of the model; UINT32_MAX: no memory. */
uint32_t function_table_file(const struct process_model *model, uint32_t file,
			     struct resolver *resolver);

struct function_table_query {
	bool with_inlined; /* also what was inlined there */
	bool with_lines;   /* the lines of a function are distinguished: each is one of its own */
	bool with_sources; /* functions of one name and path, but of two files, are distinguished */
	bool with_locations; /* each place is a function of its own; with with_lines and with_inlined */
	bool keep_resolved; /* the resolver is asked for the same locations again */
};

/* Names all places.  -ENOMEM, -EOVERFLOW. */
int function_table_run(struct function_table *n, const struct process_model *model,
		       const struct locations *places, struct resolver *resolver,
		       struct string_table *names, const struct function_table_query *query);
/* A function that no place is of, for what is to stand on stacks besides.  -ENOMEM, -EOVERFLOW. */
int function_table_add_label(struct function_table *n, struct string_table *names, const char *name,
			     const char *dso, uint32_t *out);
void function_table_done(struct function_table *n);

/*
 * A text as it may stand in a line of folded stacks: as ESCAPE_FOLDED has it (format/text/escape.h), and no blank
 * and number at its end.
 * The number of the new text in the strings.  -ENOMEM, -EOVERFLOW.
 */
int function_table_label(struct string_table *names, const char *text, const char *suffix,
			 uint32_t *out);

#endif
