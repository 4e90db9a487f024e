/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* process_facts - what a capture has about one process: its programs, threads, mappings, namespaces, samples */
#ifndef EBPREC_ANALYZE_REPORT_PROCESS_PROCESS_FACTS_H
#define EBPREC_ANALYZE_REPORT_PROCESS_PROCESS_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/report/process/summary_processes.h"
#include "format/base/buildid.h"

struct process_program { /* from a fork or exec to the next */
	uint64_t since_ns;
	uint32_t comm; /* its last one, in the report's names; PROCESS_MODEL_NONE: not known */
};

struct process_program_map {
	struct process_model_map map;
	uint32_t program; /* in programs */
	char build_id[BUILDID_HEX_BYTES];
	char *path; /* owned */
};

struct process_thread {
	uint32_t tid;
	struct group group;  /* of its samples; comm as they have it */
	uint64_t started_ns; /* 0: before the recording */
	uint32_t comm; /* its last name, in the report's names; PROCESS_MODEL_NONE: not known */
	uint64_t samples;
};

/* Embedded by the owner; process_facts_done().  Read freely. */
struct process_facts {
	uint32_t pid;
	struct process_program *programs;
	size_t program_count, program_capacity;
	struct process_program_map *maps;
	size_t map_count, map_capacity;
	struct process_thread *threads; /* most samples first */
	size_t thread_count, thread_capacity;
	struct summary_processes processes;
	uint32_t ppid, cgroup; /* UINT32_MAX: not known; cgroup: in the report's names */
	uint64_t mount_ns;     /* 0: not recorded */
	uint32_t host_pid;     /* the same */
	uint64_t samples, period, run_ns;
};

/*
 * Makes the report, which has the lives of tasks (report_open_with_tasks()) and was not made: q gets the fields that it
 * needs.  -ENOMEM, -EOVERFLOW.  *p: process_facts_done(), also after an error.
 */
int process_facts_make(struct report *r, uint32_t pid, struct report_query *q,
		       struct process_facts *p);
void process_facts_done(struct process_facts *p);
/* The command line of the process as that program; NULL: not recorded. */
const struct cmdline_record *process_facts_cmdline(const struct process_facts *p, size_t program);
/* The last complete record of its mount namespace; *data: owned (free()).  -ENOENT: none; -ENOMEM. */
int process_facts_mounts(const struct process_facts *p, const struct capture *c, uint8_t **data,
			 size_t *size_bytes);

#endif
