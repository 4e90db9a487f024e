/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec.h - libebprec: reads captures of ebprec and any perf.data, and gives stacks and call trees with names
 *
 *	struct ebprec *e;
 *	struct ebprec_stacks *s;
 *	struct ebprec_stack stack = { .size = sizeof(stack) };
 *
 *	if (ebprec_open("ebprec.data", NULL, &e) || ebprec_count(e, NULL, &s))
 *		errx(1, "%s", ebprec_error(e));
 *	for (size_t i = 0; !ebprec_get_stack(s, i, &stack); i++)
 *		...
 *	ebprec_stacks_free(s);
 *	ebprec_close(e);
 *
 * A handle is for one thread at a time; several handles are independent of each other, also of one
 * file.  Nothing is printed, of the environment only HOME is read (where this user's containers are), no signal is handled, and no
 * function ends the process.  A file is a stranger's: any contents are safe to read, and
 * names in it may have any bytes but NUL.
 *
 * Functions return 0 or a negative errno; ebprec_error() has the reason as a line of text.  A
 * structure begins with its size, which the caller sets: of a larger one than this library knows,
 * the rest has to be zero when it is given (-E2BIG), and is zero when it is returned; with a smaller one
 * the caller gets the fields that it knows.  -EINVAL: the size is no size of such a structure.
 */
#ifndef EBPREC_ANALYZE_LIB_EBPREC_H
#define EBPREC_ANALYZE_LIB_EBPREC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EBPREC_API __attribute__((visibility("default")))

struct ebprec;        /* an open capture */
struct ebprec_stacks; /* samples of it that were counted */

/* The version of the library, "0.1.0". */
EBPREC_API const char *ebprec_version(void);

/* ---- a capture ---- */

struct ebprec_open_opts {
	size_t size;
	/* Bytes that all private objects of the file may unpack to; 0: 64 MiB and 64 times their size in it. */
	uint64_t unpack_limit_bytes;
};

/*
 * Opens a capture, a perf.data file, one of a pipe, or a page that carries a capture.  opts NULL: all
 * zero.  *out is set even if it fails, so that ebprec_error() has the reason, and has to be closed in any case;
 * only if there is no memory for it, it is NULL.  -EBADMSG: it is no such file; -ENODATA: it is empty, or cut inside
 * its head; -ENOTSUP: it is from a machine of the other byte order, or of a version of the format that is not read; -EOVERFLOW:
 * it unpacks to more than the limit; else the errno of opening or reading it, -EINVAL, -E2BIG, -ENOMEM.
 */
EBPREC_API int ebprec_open(const char *path, const struct ebprec_open_opts *opts,
			   struct ebprec **out);
/* Stacks of it may outlive it.  NULL is fine. */
EBPREC_API void ebprec_close(struct ebprec *e);
/*
 * Why the last call with this handle failed, one line without an end; "" when it did not.  Valid until the next call
 * with the handle.  NULL: "Cannot allocate memory".
 */
EBPREC_API const char *ebprec_error(const struct ebprec *e);

enum ebprec_kind {
	EBPREC_KIND_EBPREC, /* a capture of ebprec */
	EBPREC_KIND_PERF,   /* a perf.data file of perf */
	EBPREC_KIND_PIPE,   /* the same as perf writes it to a pipe */
};

/* Texts are valid until ebprec_close(); NULL: the file does not have it. */
struct ebprec_info {
	size_t size;
	const char *hostname, *kernel_release, *arch, *cpu;
	uint64_t file_bytes;
	/* On the clock of the samples, which is CLOCK_MONOTONIC in captures of ebprec; both 0: no samples. */
	uint64_t first_sample_ns, last_sample_ns;
	uint64_t clock_ns,
		wall_ns;         /* one moment, on that clock and since 1970; both 0: not known */
	uint32_t kind;           /* enum ebprec_kind */
	uint32_t is_unfinished;  /* it is still being recorded, or its recorder was killed */
	uint32_t damaged_blocks; /* that could not be read */
	uint32_t event_count, process_count;
};

EBPREC_API int ebprec_get_info(struct ebprec *e, struct ebprec_info *out);

/* Valid until ebprec_close(). */
struct ebprec_event {
	size_t size;
	const char *name; /* "cpu-clock" */
	uint64_t config;  /* with type: as in struct perf_event_attr */
	uint64_t period;  /* events between samples; 0: by frequency */
	uint64_t freq_hz; /* samples a second; 0: by period */
	uint32_t type;
	uint32_t is_chosen;  /* the event that ebprec_count() counts when none is named */
	uint32_t has_stacks; /* its samples have call chains; else at most where the code was */
	uint32_t reserved;   /* 0 */
};

/* -ENOENT: there are no more. */
EBPREC_API int ebprec_get_event(struct ebprec *e, size_t index, struct ebprec_event *out);

/* Valid until ebprec_close().  A pid that was used again is another process. */
struct ebprec_process {
	size_t size;
	const char *comm; /* the last name of its first thread; NULL: not known */
	const char
		*args; /* its command line, words in quotes where they need some; NULL: not known */
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known, or not ended */
	uint32_t pid;
	uint32_t ppid;       /* UINT32_MAX: not known */
	uint32_t is_kernel;  /* a thread of the kernel */
	uint32_t was_before; /* it was there when the recording began */
};

/* In the order in which they were met.  -ENOENT: there are no more. */
EBPREC_API int ebprec_get_process(struct ebprec *e, size_t index, struct ebprec_process *out);

enum ebprec_mark_kind {
	EBPREC_MARK_POINT,     /* a moment */
	EBPREC_MARK_SPAN,      /* from a moment to another */
	EBPREC_MARK_OPEN_SPAN, /* that did not end: it is shown to the end of the recording */
	EBPREC_MARK_END,       /* of a span that began before the recording; a moment here */
};

/* A mark of ebprec-mark.h, ebprec-mark(1), a line of a journal, or a probe.  Valid until ebprec_close(). */
struct ebprec_mark {
	size_t size;
	const char *group, *name;  /* "" where an end with an id has none */
	const char *text;          /* NULL: none */
	const char *end_text;      /* with which a span ended; NULL: none */
	const char *comm;          /* of its thread at that time; NULL: not known */
	uint64_t start_ns, end_ns; /* on the clock of the samples; equal for a moment */
	uint64_t id;               /* that begin and end of a span had; 0: none */
	uint32_t kind;             /* enum ebprec_mark_kind */
	uint32_t pid, tid, cpu;    /* where it was set, a span began, or one record had all of it */
	uint32_t depth;            /* how many spans of its process contain this one */
	uint32_t number; /* of spans with this group and name, from 1 on; 0: it is no span */
};

/* By start.  -ENOENT: there are no more. */
EBPREC_API int ebprec_get_mark(struct ebprec *e, size_t index, struct ebprec_mark *out);

/* ---- stacks ---- */

enum ebprec_by {
	EBPREC_BY_COMM = 1,
	EBPREC_BY_PID = 2,
	EBPREC_BY_TID = 4,
	EBPREC_BY_CPU = 8,
	EBPREC_BY_CGROUP = 16,
};

enum ebprec_flags {
	EBPREC_INLINED =
		1, /* functions that the compiler inlined are frames, where debug information has them */
	EBPREC_LINES = 2,   /* frames have source files and lines */
	EBPREC_MANGLED = 4, /* names of C++ and Rust as in the files */
	EBPREC_NO_IDLE = 8, /* without samples of idle CPUs */
	EBPREC_NO_KERNEL_THREADS = 16,
	EBPREC_OFF_CPU =
		32, /* not samples but waits: a wait is a sample, its weight are microseconds */
	EBPREC_QUALITY_TEXT =
		64, /* struct ebprec_quality has its text; looks for packages with missing names, too */
};

/* Texts are borrowed during the call. */
struct ebprec_query {
	size_t size;
	const char *event; /* NULL: the one that is chosen */
	/* Only samples from the first time up to the last, both included; 0: from the start, to the end. */
	uint64_t from_ns, to_ns;
	/* Lists as the options of `ebprec report` have them: "12,13", "0-3,8", "!swapper"; NULL: all. */
	const char *comms, *pids, *tids, *cpus;
	/* Where programs and their symbols are: a folder in place of "/", and one searched before its usr/lib/debug. */
	const char *symfs, *debug_dir;
	uint32_t by;    /* enum ebprec_by: what samples are counted apart by; 0: EBPREC_BY_COMM */
	uint32_t flags; /* enum ebprec_flags */
	uint32_t thread_count; /* 0: as many as there are CPUs, at most 8 */
	uint32_t reserved;     /* 0 */
};

/*
 * Counts samples by stack, and finds the names of all frames.  query NULL: all zero.  *out is the caller's,
 * NULL if it fails: ebprec_stacks_free().  No samples are no error.  -ENOENT: there is no such event; -ENODATA: there
 * are no context switches; -EINVAL: a list or another field is wrong; -E2BIG, -EOVERFLOW, -ENOMEM, and errors of reading the file.
 */
EBPREC_API int ebprec_count(struct ebprec *e, const struct ebprec_query *query,
			    struct ebprec_stacks **out);
EBPREC_API void ebprec_stacks_free(struct ebprec_stacks *s); /* NULL is fine */

struct ebprec_stack {
	size_t size;
	/* Numbers for ebprec_get_frame(), innermost first; valid until the next call with these stacks. */
	const uint32_t *frames;
	size_t frame_count;
	uint64_t samples;
	uint64_t weight; /* the sum of the samples' periods; see ebprec_quality.weight_shift */
	uint32_t group;  /* for ebprec_get_group() */
};

/* In no order.  -ENOENT: there are no more; -ENOMEM. */
EBPREC_API int ebprec_get_stack(struct ebprec_stacks *s, size_t index, struct ebprec_stack *out);

/* Valid until ebprec_stacks_free().  Frames with equal contents have one number. */
struct ebprec_frame {
	size_t size;
	/* The function; where reason is not 0, where the code is: "libc.so.6+0x5a3f20", "[libc.so.6]" or "[unknown]". */
	const char *name;
	const char *
		file; /* the path that was mapped, "[kernel.kallsyms]", "[vdso]" ...; "" if not known */
	const char *source;      /* with EBPREC_LINES: "loop.c:12"; NULL: not known */
	const char *reason_text; /* why there is no name, for people; NULL: there is one */
	uint32_t reason;         /* 0: it has a name */
	uint32_t is_kernel;
	uint32_t is_inlined; /* into the frame behind it */
};

/* -ENOENT: there is no such frame. */
EBPREC_API int ebprec_get_frame(const struct ebprec_stacks *s, uint32_t frame,
				struct ebprec_frame *out);

/* What the query does not count apart is NULL, 0 or -1.  Valid until ebprec_stacks_free(). */
struct ebprec_group {
	size_t size;
	const char *comm;   /* ":12" for thread 12 whose name is not known */
	const char *cgroup; /* its path, or its number where the path is not known */
	uint32_t pid, tid;
	int32_t cpu; /* -1: not asked for, or not known */
};

/* -ENOENT: there is no such group. */
EBPREC_API int ebprec_get_group(const struct ebprec_stacks *s, uint32_t group,
				struct ebprec_group *out);

/* How far the answer can be trusted.  text is valid until ebprec_stacks_free(). */
struct ebprec_quality {
	size_t size;
	uint64_t samples;         /* in the stacks */
	uint64_t user_stacks;     /* of these, with a part in user space */
	uint64_t complete_stacks; /* of these, that reach where their thread began */
	uint64_t unnamed_samples; /* whose innermost frame has no name */
	uint64_t
		lost_samples; /* that the kernel or the recorder reported as lost, of the whole file */
	uint64_t broken_samples; /* that could not be read */
	uint32_t
		weight_shift; /* weights are divided by 2 to the power of this, as their sum was too large; else 0 */
	uint32_t reserved;
	/*
	 * With EBPREC_QUALITY_TEXT the same for people, as `ebprec report` ends: why stacks are not complete and names are missing, by
	 * file, with the remedy; losses, and damage of the file.  Lines that a terminal can take, each with its end.
	 */
	const char *text;
};

EBPREC_API int ebprec_get_quality(const struct ebprec_stacks *s, struct ebprec_quality *out);

/* ---- stacks as a tree of calls ---- */

struct ebprec_tree;

#define EBPREC_NONE UINT32_MAX /* of numbers of nodes, frames and groups: there is none */

enum ebprec_tree_flags {
	EBPREC_BOTTOM_UP =
		1, /* a node's children are its callers, and the root's the innermost frames */
	EBPREC_BY_GROUP = 2, /* the root's children are the groups of the stacks */
};

struct ebprec_tree_opts {
	size_t size;
	uint32_t
		flags; /* enum ebprec_tree_flags; 0: from the outermost frames down, of all groups */
	uint32_t reserved; /* 0 */
};

/*
 * opts NULL: all zero.  *out is the caller's, NULL if it fails: ebprec_tree_free(), before or behind
 * ebprec_stacks_free().  -EINVAL, -E2BIG, -EOVERFLOW (more nodes than can be numbered), -ENOMEM.
 */
EBPREC_API int ebprec_make_tree(struct ebprec_stacks *s, const struct ebprec_tree_opts *opts,
				struct ebprec_tree **out);
EBPREC_API void ebprec_tree_free(struct ebprec_tree *t); /* NULL is fine */

/* Node 0 is the root; a parent has a lower number than its children. */
struct ebprec_node {
	size_t size;
	/* Of the stacks that end at this node: at their innermost frame, bottom up at their outermost. */
	uint64_t self_samples, self_weight;
	/* Of these and those below; the sums of its children and its own. */
	uint64_t total_samples, total_weight;
	uint32_t parent;
	uint32_t first_child, next_sibling; /* of siblings the one with the largest weight first */
	uint32_t frame; /* for ebprec_get_frame(); EBPREC_NONE: it is the root, or a group */
	uint32_t group; /* for ebprec_get_group(); EBPREC_NONE: it is no group */
	uint32_t reserved;
};

/* -ENOENT: there is no such node. */
EBPREC_API int ebprec_get_node(const struct ebprec_tree *t, uint32_t node, struct ebprec_node *out);

/* ---- samples one by one ---- */

struct ebprec_cursor; /* one sample, while it is passed on */

/*
 * Calls on_sample for each sample in the order of time: for those of all events, or of the query's.  A sample of a group
 * of events is passed on once for each that counted something.  query NULL: all zero; by is 0, and of the flags
 * EBPREC_MANGLED, EBPREC_NO_IDLE and EBPREC_NO_KERNEL_THREADS are allowed.  A result of on_sample other than 0 ends it, and is
 * returned, without words; on_sample may not call with this handle.  -ENOENT: there is no such event; -EINVAL, -E2BIG, -ENOMEM.
 */
EBPREC_API int ebprec_each_sample(struct ebprec *e, const struct ebprec_query *query,
				  int (*on_sample)(void *arg, struct ebprec_cursor *at), void *arg);

/* Texts are valid until on_sample returns. */
struct ebprec_sample {
	size_t size;
	const char
		*comm; /* of its thread at that time; ":12" for thread 12 whose name is not known */
	const char *
		text; /* a tracepoint's fields, "pid=12 state=S"; of a mark, its words; NULL: none */
	const char *cgroup; /* its path; NULL: not known */
	uint64_t time_ns;   /* UINT64_MAX: not recorded */
	uint64_t period;    /* events that it stands for */
	uint32_t event;     /* for ebprec_get_event() */
	uint32_t pid, tid;
	int32_t cpu; /* -1: not recorded */
};

EBPREC_API int ebprec_get_sample(struct ebprec_cursor *at, struct ebprec_sample *out); /* -ENOMEM */

/* A frame of its stack.  Texts are valid until ebprec_each_sample() returns, but for file: until on_sample does. */
struct ebprec_location {
	size_t size;
	const char *name; /* the function; NULL: it has none */
	const char *file; /* the path that was mapped, "[kernel.kallsyms]" ...; NULL: not known */
	const char *reason_text; /* why there is no name, for people; NULL: there is one */
	/* In the file; of the kernel, and of code without a file, in memory. */
	uint64_t address;
	/* From the start of the function, as a signed number (a cold part may be before it); UINT64_MAX: not known. */
	uint64_t into_bytes;
	uint32_t reason; /* 0: it has a name */
	uint32_t is_kernel;
};

/* Innermost first, from index 0 on.  -ENOENT: there are no more; -ENOMEM. */
EBPREC_API int ebprec_get_location(struct ebprec_cursor *at, size_t index,
				   struct ebprec_location *out);

/* ---- recorders that run ---- */

/*
 * The process ids of the recorders of this network namespace.  *count may be more than capacity, of which no more are set.
 * The errno of reading /proc/net/unix.
 */
EBPREC_API int ebprec_list_recorders(uint32_t *pids, size_t capacity, size_t *count);

/*
 * Each asks a recorder, and waits for its answer, timeout_ms at most, or with -1 as long as it takes.
 * text: a line without an end, cut to text_bytes with its NUL: "4.0 s, 812 samples, 0.21 MiB in '/var/tmp/x.data'", or why it
 * failed.  -ECONNREFUSED: there is no such recorder; -EPERM: a process of another user has its name; -EACCES: it
 * answers its own user and root alone; -ECONNRESET: it ended, or too many ask it; -ETIMEDOUT; -EIO: it could not write the
 * capture, or ended; -EOPNOTSUPP: it cannot do that; else the errno of the socket.
 */

/* Waits until it records, and sets text to what it has so far. */
EBPREC_API int ebprec_ping(uint32_t pid, int timeout_ms, char *text, size_t text_bytes);
/*
 * Has it write what it has in memory as a capture, as ebprec-snapshot(1) does, and waits for that.
 * -EOPNOTSUPP: it was started without --ring.
 */
EBPREC_API int ebprec_snapshot(uint32_t pid, int timeout_ms, char *text, size_t text_bytes);
/* Ends the recording as SIGINT does, and waits until the capture is complete; COMMAND is ended after that. */
EBPREC_API int ebprec_stop(uint32_t pid, int timeout_ms, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif
