/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * report_options - what a user asked a report for
 *
 * Choosing samples is asked for in the same words by every command that counts them, so these
 * options are written once: a command embeds struct pick_options and puts PICKOPTS(offset of it) among
 * its options.  Commands that do not count take parts of it: TIMEOPTS, TASK_OPTIONS, GROUPOPTS.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_REPORT_OPTIONS_H
#define EBPREC_ANALYZE_CMD_COMMON_REPORT_OPTIONS_H

#include "analyze/report/profile/calltree.h"
#include "analyze/cmd/common/name_options.h"
#include "analyze/report/report.h"
#include "analyze/cmd/common/usage.h"

struct marks;

struct time_options {
	const char *time, *last, *during;
	struct option_pair between;
};

#define TIMEOPTS(at)                                                                                        \
	OPTION(OPT_STRING, 't', "time", "FROM,TO", (at) + offsetof(struct time_options, time),              \
	       "970.25,971.5 as perf prints times; +1,+2 since the first sample; 10%-20%; 13:05:10,"        \
	       "13:05:11 by the clock (UTC)"),                                                              \
		OPTION(OPT_STRING, 0, "last", "SECONDS",                                                    \
		       (at) + offsetof(struct time_options, last),                                          \
		       "only the last seconds, as 2s or 500ms"),                                            \
		OPTION(OPT_STRING, 0, "during", "SPAN",                                                     \
		       (at) + offsetof(struct time_options, during),                                        \
		       "only while a span of that name was open ('ebprec marks' lists them); NAME#17: the " \
		       "17th; slowest:NAME"),                                                               \
		OPTION(OPT_PAIR, 0, "between", "MARK MARK",                                                 \
		       (at) + offsetof(struct time_options, between),                                       \
		       "only from a mark of the first name or text to the next one of the second")

struct task_options {
	struct option_list comms, pids, tids;
	const char *comm_name; /* of the option that gave comms: perf calls it otherwise */
};

#define TASK_OPTIONS(at)                                                                          \
	OPTION(OPT_LIST, 'c', "comm", "NAME,...", (at) + offsetof(struct task_options, comms),    \
	       "only threads of these names; '!NAME,...': all but these"),                        \
		OPTION(OPT_LIST, 'p', "pid", "PID,...",                                           \
		       (at) + offsetof(struct task_options, pids), "only these processes"),       \
		OPTION(OPT_LIST, 0, "tid", "TID,...", (at) + offsetof(struct task_options, tids), \
		       "only these threads"),                                                     \
		OPTION(OPT_SAME, 0, "comms", "comm",                                              \
		       (at) + offsetof(struct task_options, comm_name), NULL)

struct group_options {
	struct option_list cgroups, containers;
};

#define GROUPOPTS(at)                                                                          \
	OPTION(OPT_LIST, 0, "cgroup", "REGEX", (at) + offsetof(struct group_options, cgroups), \
	       "only threads in cgroups whose path matches; '!REGEX': in others"),             \
		OPTION(OPT_LIST, 0, "container", "REGEX",                                      \
		       (at) + offsetof(struct group_options, containers),                      \
		       "only threads in containers whose name or id matches")

struct pick_options {
	bool no_event_note; /* not an option: the answer is of all events, or of none */
	const char *event;
	struct time_options when;
	struct task_options tasks;
	struct group_options groups;
	struct option_list cpus, services, dsos, symbols, parents;
	const char *service_rules;
	bool idle, kernel_threads;
	const char *weight, *hide;
	unsigned jobs;
	struct name_options names;
};

#define PICK_OPTIONS_DEFAULTS                                                        \
	{                                                                            \
		.idle = true, .kernel_threads = true, .names = NAME_OPTIONS_DEFAULTS \
	}

#define PICKOPTS(at)                                                                              \
	OPTION(OPT_STRING, 'e', "event", "EVENT", (at) + offsetof(struct pick_options, event),    \
	       "count the samples of this event (default: the first)"),                           \
		OPTION(OPT_STRING, 0, "weight", "BY",                                             \
		       (at) + offsetof(struct pick_options, weight),                              \
		       "samples (the default), period, or time: nanoseconds"),                    \
		TIMEOPTS((at) + offsetof(struct pick_options, when)),                             \
		TASK_OPTIONS((at) + offsetof(struct pick_options, tasks)),                        \
		OPTION(OPT_LIST, 'C', "cpu", "CPU,...",                                           \
		       (at) + offsetof(struct pick_options, cpus), "only these CPUs, as 0-3,8"),  \
		GROUPOPTS((at) + offsetof(struct pick_options, groups)),                          \
		OPTION(OPT_LIST, 0, "service", "REGEX",                                           \
		       (at) + offsetof(struct pick_options, services),                            \
		       "only services (by context, systemd unit, container, comm) of such name"), \
		OPTION(OPT_STRING, 0, "service-rules", "FILE",                                    \
		       (at) + offsetof(struct pick_options, service_rules),                       \
		       "rules that name services: lines 'SERVICE unit:PATTERN ...'"),             \
		OPTION(OPT_LIST, 0, "dso", "REGEX", (at) + offsetof(struct pick_options, dsos),   \
		       "only what was spent in files whose path matches"),                        \
		OPTION(OPT_LIST, 'S', "symbol", "REGEX",                                          \
		       (at) + offsetof(struct pick_options, symbols),                             \
		       "only what was spent in functions whose name matches"),                    \
		OPTION(OPT_LIST, 0, "parent", "REGEX",                                            \
		       (at) + offsetof(struct pick_options, parents),                             \
		       "only what was called, however far, by a function that matches"),          \
		OPTION(OPT_FLAG, 0, "idle", NULL, (at) + offsetof(struct pick_options, idle),     \
		       "count the idle task, too; --no-idle: leave it out"),                      \
		OPTION(OPT_FLAG, 0, "kernel-threads", NULL,                                       \
		       (at) + offsetof(struct pick_options, kernel_threads),                      \
		       "count kernel threads, too; --no-kernel-threads: leave them out"),         \
		OPTION(OPT_STRING, 0, "hide", "FRAMES",                                           \
		       (at) + offsetof(struct pick_options, hide),                                \
		       "leave out frames: interpreter, its own between those of the program"),    \
		OPTION_WITHIN(OPT_UINT, 'j', "jobs", "N",                                         \
			      (at) + offsetof(struct pick_options, jobs), 1, 64,                  \
			      "count with N threads (default: as many as CPUs, at most 8)"),      \
		NAMEOPTS((at) + offsetof(struct pick_options, names))

/* The values of the options for one capture.  Embedded by the owner; pick_options_done(). */
struct picked {
	struct filter filter;
	struct name_filter pick;
	struct service_rules *services; /* owned; NULL: none */
	struct name_root_options roots;
	struct report_query query; /* fields: only those that the pick needs */
	enum calltree_weight weight;
	const char *weight_name; /* "samples", "period", "time_ns" */
};

/* Both: 0, or the exit status after an error was printed.  First what needs no capture ... */
int pick_options_parse(const struct pick_options *opts, const struct usage *usage,
		       struct picked *out);
/* ... then what does.  path: for messages. */
int pick_options_resolve(const struct pick_options *opts, const struct usage *usage,
			 const char *path, bool quiet, const struct report *r, struct picked *p);
void pick_options_done(struct picked *p);

/* Words of a command line; option_words_done(). */
struct option_words {
	char **list; /* owned */
	size_t count, capacity;
};

/*
 * The words that choose the same samples under the same names: what differs from the defaults, as --long=VALUE, and
 * of options with two values the second as a word of its own.  of: the instrument, or NULL.  -ENOMEM.
 */
int pick_options_words(const struct pick_options *opts, const char *of, struct option_words *out);
void option_words_done(struct option_words *w);

/*
 * The lists of a filter; cpus: NULL, there is no such option.  0, or the exit status after an error
 * was printed.
 */
int pick_options_tasks(struct filter *f, const struct usage *usage,
		       const struct task_options *tasks, const struct option_list *cpus);
/* Expressions over the cgroup of a sample. */
int pick_options_groups(struct name_filter *p, const struct usage *usage,
			const struct group_options *groups);
/* Whether any of its options is given. */
bool pick_options_has_time(const struct time_options *when);
/* The time of a filter.  path: for messages.  0, or the exit status after an error was printed. */
int pick_options_time(const struct time_options *when, const struct usage *usage, const char *path,
		      const struct capture *c, const struct time_span *recorded, struct filter *f);
/* ", did you mean 'NAME'?" of the span, or the mark, whose name is near; "": none is. */
void pick_options_near_mark(const struct marks *m, const struct string_table *names, bool spans,
			    const char *word, char room[USAGE_NEAR_BYTES]);
/* Rules for names of services; *out: service_rules_free().  0, or the exit status after an error was printed. */
int pick_options_service_rules(const char *path, struct service_rules **out);
/* A percentage.  0, or the exit status after an error was printed. */
int pick_options_percent(const char *text, const char *option, const struct usage *usage,
			 double *out);

/* Prints that a list of keys has no such key, and which is near; returns MESSAGE_USAGE. */
int reportopts_no_key(const struct usage *usage, const char *keys, const char *bad,
		      size_t bad_bytes);

#endif
