/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metric_format - the rows of an instrument's table, as a tracepoint of our own (FORMAT.md 7.1)
 *
 * A row is the raw data of a sample.  Its format text, which is in the capture, describes it
 * completely: the fields, and which of them identify the row (keys) and which were counted
 * (values).  So a reader shows tables of instruments that it does not know.  The name of a value
 * gives its meaning: hist_* are log2 histograms and add up element by element, max_* are maxima,
 * now_* are values of the moment and do not add up over time, is_* do not add up at all; all other
 * numbers do.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_METRIC_FORMAT_H
#define EBPREC_FORMAT_PAYLOAD_METRIC_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of the tables of a capture: from the first on, as many as it has. */
#define METRIC_FIRST_ID   65100
#define METRIC_TABLES_MAX 48

#define METRIC_FIELDS_MAX 48
#define METRIC_NAME_BYTES 24
#define METRIC_ROW_OFF    8    /* where the fields begin: behind the common ones */
#define METRIC_ROW_MAX    1024 /* bytes of a row, with the common fields */

/* The name of a log2 histogram begins with it; there are no more powers of two in 64 bits. */
#define METRIC_HISTOGRAM   "hist_"
#define METRIC_BUCKETS_MAX 64

/*
 * A value that an instrument cannot measure on a kernel is a line of the capture's notes: the
 * instrument's name in quotes, these words, and the reason.
 */
#define METRIC_NOTE_WORDS "measures less on this kernel: "

enum metric_kind { METRIC_UNSIGNED, METRIC_SIGNED, METRIC_TEXT };

struct metric_field {
	char name[METRIC_NAME_BYTES];
	uint32_t off_bytes;
	uint32_t size_bytes; /* of one element: 1, 2, 4 or 8 */
	uint32_t count;      /* elements; of a text its size */
	enum metric_kind kind;
	bool is_key;
};

struct metric_format {
	char name[METRIC_NAME_BYTES]; /* of the table */
	uint32_t id;
	uint32_t row_bytes; /* raw data without padding: the end of the last field */
	size_t field_count;
	struct metric_field fields[METRIC_FIELDS_MAX];
};

/* Copies the name that such a line begins with into out; false: it is another note. */
bool metric_format_note(const char *line, char out[METRIC_NAME_BYTES]);
/* Whether the name is valid for a table or a field: small letters, digits and _, not too many. */
bool metric_format_is_name(const char *name);
/* Adds a field behind the last one, aligned.  -EOVERFLOW: too many, or a row too long; -EINVAL. */
int metric_format_add(struct metric_format *f, const char *name, enum metric_kind kind,
		      uint32_t size_bytes, uint32_t count, bool is_key);
/*
 * The size of the raw data with padding: 4 + size is a multiple of 8.  The last STACK_RESULT_BYTES are
 * for how the stack of an event was found.
 */
size_t metric_format_raw_bytes(const struct metric_format *f);
/* The format text, owned (free()); NULL: no memory. */
char *metric_format_text(const struct metric_format *f);
/*
 * Reads a format text that metric_format_text() wrote.  Every field lies within METRIC_ROW_MAX bytes and
 * no byte is of two fields, so that all fields together have fewer than METRIC_ROW_MAX elements.
 * -EBADMSG: it is not one, or broken.
 */
int metric_format_parse(const char *text, struct metric_format *out);

/* NULL: there is none. */
const struct metric_field *metric_format_find(const struct metric_format *f, const char *name);
/* Whether a field is shown as a histogram. */
bool metric_format_is_histogram(const struct metric_field *f);
/* An element of a number field; 0 when the row is too short. */
uint64_t metric_format_number(const struct metric_field *f, const uint8_t *raw, size_t raw_bytes,
			      uint32_t element);

#endif
