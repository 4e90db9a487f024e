/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trace_data - the HEADER_TRACING_DATA section: the formats of a capture's tracepoints
 *
 * perf needs the kernel's `format` text of every tracepoint in the file, in the layout trace-cmd
 * invented (version 0.6; FORMAT.md 7).  The writing half is here; analyzers read the section with
 * libtraceevent.  Besides, the texts of our synthetic events (ebprec:mark, ebprec:waker), and
 * where a field lies according to a format text.
 */
#ifndef EBPREC_FORMAT_PERF_TRACE_DATA_H
#define EBPREC_FORMAT_PERF_TRACE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of our synthetic tracepoints: above any the kernel hands out (u16, allocated upwards). */
#define TRACE_DATA_MARK_ID  65000
#define TRACE_DATA_WAKER_ID 65002
#define TRACE_DATA_EXIT_ID  65003

struct trace_data_event {
	const char *system; /* "sched" */
	const char *format; /* text of events/SYSTEM/NAME/format */
};

/* The section, owned (free()).  header_page: text of events/header_page, NULL for a standard one. */
int trace_data_build(const struct trace_data_event *events, size_t event_count,
		     const char *header_page, uint8_t **out, size_t *size_bytes);

/* The format text of ebprec:mark, static. */
const char *trace_data_mark_format(void);
/* ebprec:waker: the sample is of the thread that wakes another one up, with its stack as callchain. */
const char *trace_data_waker_format(void);
/* The common fields with which every format text begins; static. */
const char *trace_data_common_fields(void);

/* ebprec:exit: a thread has left the CPU for the last time. */
const char *trace_data_exit_format(void);

/* The "ID:" of a format text; -EBADMSG when it has none. */
int trace_data_format_id(const char *format, uint32_t *out);

struct trace_data_field {
	uint32_t off_bytes, size_bytes;
};

/* Where field `name` lies in the raw data.  -ENOENT, -EBADMSG. */
int trace_data_format_field(const char *format, const char *name, struct trace_data_field *out);

enum trace_data_mark_kind {
	TRACE_DATA_MARK_POINT,
	TRACE_DATA_MARK_BEGIN, /* of a span */
	TRACE_DATA_MARK_END,   /* the span that began with the same id ends */
	TRACE_DATA_MARK_SPAN,  /* a complete span, recorded at its end: duration_ns */
};

struct trace_data_mark {
	uint64_t duration_ns;
	uint64_t id;   /* of a span, in its process; 0: the span is found by group and name */
	uint32_t kind; /* enum trace_data_mark_kind; others are treated as points */
	const char *group, *name, *message; /* never NULL */
};

/* The beginning of the groups of the journal's lines, before the level. */
#define TRACE_DATA_MARK_LOG "log:"
/*
 * Whether only ebprec itself fills a group, so that no mark of a program is taken for one of these: "log" (lines of the journal),
 * "dbus", or one that begins with these and a colon, as "log:err".
 */
bool trace_data_mark_is_reserved(const char *group);

/*
 * Fills the raw bytes of one ebprec:mark.  Returns the size written (4 + size is a multiple of 8, as
 * PERF_SAMPLE_RAW wants it), or 0 when out_bytes is too small.  Strings are cut at 512 bytes, never
 * inside a UTF-8 character.
 */
size_t trace_data_mark_encode(uint8_t *out, size_t out_bytes, uint32_t tid,
			      const struct trace_data_mark *m);
/* 0, the strings borrowed from raw; -EBADMSG: too short, of another event, a string without end. */
int trace_data_mark_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_mark *out);

#define TRACE_DATA_WAKER_BYTES 20

struct trace_data_waker {
	uint32_t tid;     /* the thread that is woken */
	uint32_t irq;     /* an interrupt woke it, on top of the sample's thread: 8 */
	uint8_t stack[4]; /* struct stack_result of the user part, encoded */
};

/* Raw bytes of one ebprec:waker: 4 + TRACE_DATA_WAKER_BYTES is a multiple of 8.  by_tid: the waker. */
void trace_data_waker_encode(uint8_t out[TRACE_DATA_WAKER_BYTES], uint32_t by_tid,
			     const struct trace_data_waker *w);
/* 0; -EBADMSG: too short, or of another event. */
int trace_data_waker_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_waker *out);

#define TRACE_DATA_EXIT_BYTES 76

struct trace_data_exit {
	char comm[16]; /* without a NUL when it has 16 characters */
	uint32_t pid, tid, ppid;
	int32_t prio, nice;
	uint32_t policy;                             /* SCHED_* */
	uint64_t runtime_ns, voluntary, involuntary; /* in all of its life; of switches */
	int32_t code;                                /* as wait() has it */
};

/* 4 + TRACE_DATA_EXIT_BYTES is a multiple of 8. */
void trace_data_exit_encode(uint8_t out[TRACE_DATA_EXIT_BYTES], const struct trace_data_exit *e);
/* 0; -EBADMSG: too short, or of another event. */
int trace_data_exit_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_exit *out);

#endif
