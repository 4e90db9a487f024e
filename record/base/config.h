/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* config - what a recording was asked to do: plain values, that the command line fills */
#ifndef EBPREC_RECORD_BASE_CONFIG_H
#define EBPREC_RECORD_BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "format/text/options.h"

enum record_event { RECORD_AUTO, RECORD_CYCLES, RECORD_CPU_CLOCK };

#define RECORD_PIDS_MAX 256

#define RECORD_LIMIT_MIN_BYTES (512 << 10) /* of a file, and of the backlog of --ring */

#define RECORD_INSTRUMENTS_MAX 16 /* with tables */

/* A file's name within a longer word: borrowed, and not ended by a NUL. */
struct record_file {
	const char *name;
	size_t bytes;
};

struct deleted_files;

struct record_opts {
	/* As given; the defaults are cli_parse()'s.  table_cache NULL: where it is by default. */
	bool all, quiet, version, list, doctor, bpf, ask_jvm, bundle, command_lines, environment,
		priority, each, /* packet is a row */
		end_with_parent;
	unsigned verbose;
	const char *freq, *event_name, *output, *call_graph, *max_overhead, *table_cache;
	const char *ring, *rotate, *slower, *pmu;
	bool journal; /* --with journal: its lines are put into the file at the end */
	bool dbus;    /* --with dbus: the same of its messages */
	struct record_file dbus_bus; /* as given: "system" (the default), "session" */
	struct record_file journal_priority,
		journal_units;   /* as given; units with '+' between them */
	const char *html;        /* a page that is written at the end; NULL: none */
	const char *rotate_name; /* of the option that gave rotate: perf calls it otherwise */
	uint64_t duration_ns;    /* 0: until it is stopped */
	uint64_t ring_bytes;     /* of all CPUs together; 0: the default */
	unsigned level;          /* zstd */
	unsigned max_frames;
	unsigned sample_bytes;    /* of allocations, per sample; 0: the instrument's default */
	unsigned samples_an_hour; /* of a service; 0: all */
	struct option_list cgroups, units, containers, comms; /* --cgroup ...: what is recorded */
	struct option_list pid_list, with, without, bpf_objects, heap_lib_list, triggers,
		marks; /* mark_spec.h */
	/* Derived from the options. */
	unsigned freq_hz;
	enum record_event event;
	enum cpu_stacks stacks;
	unsigned copy_bytes;  /* of a stack; a multiple of 8 */
	uint64_t table_bytes; /* of unwind tables, at most */
	uint64_t
		stack_ns_a_second; /* the time that stacks of switches may take, on all CPUs; 0: none */
	bool sched, mark, kallsyms;
	/* --ring, in memory; --rotate, into the next file: 0, 0: not asked for. */
	struct record_limit {
		uint64_t ns, bytes;
	} keep, turn;
	unsigned keep_files;                               /* of those that were rotated; 0: all */
	uint64_t max_file_bytes;                           /* 0: no limit */
	uint32_t metrics;                                  /* bits 1 << place in metriclist */
	unsigned own_sample_bytes[RECORD_INSTRUMENTS_MAX]; /* by that place; 0: sample_bytes */
	struct record_file heap_libs[OPTION_LIST_MAX];
	unsigned heap_lib_count;
	uint64_t interval_ns; /* of their tables */
	uint64_t late_ns;     /* of --trigger runq; 0: there is none */
	uint64_t slower_ns;   /* single events that took as long are rows; 0: none */
	uint32_t pids[RECORD_PIDS_MAX];
	unsigned pid_count;
	char **command; /* NULL: none; borrowed from argv */
	bool system_wide;
	bool selects; /* by cgroups, units, containers or comms */
	bool to_pipe; /* -o -: output is only its name */
	/* This program, for helpers that do one thing alone (subprocess.h); main.c's.  NULL: no helpers. */
	const char *self_program;
	struct deleted_files *gone; /* main.c's; keeps nothing unless it has a folder */
	/* For the capture. */
	int argc;
	char **argv;
};

#endif
