/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* interval - what one host counted in one interval, before it is put into a server's form */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_INTERVAL_H
#define EBPREC_ANALYZE_PUSH_FORMS_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/push/forms/ids.h"
#include "analyze/push/forms/labels.h"

struct push_frame {
	uint64_t id;
	enum push_kind kind;
	uint8_t reason; /* enum name_reason */
	uint8_t is_inlined;
	/* Borrowed from the report's strings. */
	const char *build_id, *file, *name;
};

struct push_stack {
	uint64_t id;
	uint32_t first, count; /* of its frames, in struct push_samples */
};

struct push_row {
	uint64_t time_ns; /* of the sample clock: where its interval begins */
	uint64_t weight,
		samples; /* weight: nanoseconds, or what the event counts; samples: or waits */
	uint32_t stack;  /* in struct push_samples */
	const char *service, *comm, *container; /* borrowed; container "": none */
};

/* All rows of a capture, by time.  Owned by push_samples_done(); texts are the report's. */
struct push_samples {
	struct push_row *rows;
	size_t row_count;
	struct push_stack *stacks;
	size_t stack_count, stack_capacity;
	uint32_t *frames; /* of all stacks: numbers in frame_list, innermost first */
	size_t frame_count, frame_capacity;
	struct push_frame *frame_list;
	size_t frame_list_count;
};

/* What is counted of a capture: samples of an event, or waits, which are the event PUSH_WAITS. */
struct push_counted {
	const char *event;
	const char *count_type;                /* "samples" */
	const char *weight_type, *weight_unit; /* "cpu" and "nanoseconds", "cycles" and "count" */
	uint64_t period_ns;                    /* between samples of a CPU; 0: not known */
	uint64_t lost;                         /* records that the recorder lost */
	struct push_samples samples;
};

#define PUSH_WAITS "off_cpu"

/* A row of a table of an instrument: names that distinguish it, and values. */
struct push_field {
	char *key;   /* owned */
	char *value; /* owned; of numbers their text */
};

struct push_point {
	char *table; /* owned: its measurement */
	struct push_field *tags, *values;
	size_t tag_count, tag_capacity, value_count, value_capacity;
	uint64_t time_ns; /* Unix time */
};

struct push_points {
	struct push_point *list; /* by time */
	size_t count, capacity;
};

/*
 * Receivers of profiles take two of one series and time for one that came twice, and drop the second.  An interval of very many rows
 * is several batches, so within so many nanoseconds their times differ by the number of the batch.
 */
#define PUSH_TIME_STEPS 1000

/* What a form encodes: either rows of samples or points. */
struct push_interval {
	const char *host;
	const struct push_labels *labels; /* of the host */
	uint64_t sender, seq;
	uint64_t from_s, to_s;
	const struct push_counted *counted;
	const struct push_row *rows; /* of its samples */
	size_t row_count;
	/* By number, whether an interval of this capture and hour had it: for forms that need each once.  Written by these. */
	uint8_t *sent_stacks, *sent_frames;
	const struct push_point *points;
	size_t point_count;
	uint64_t lost; /* records that the recorder lost; of a capture's last interval */
};

#endif
