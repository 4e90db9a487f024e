/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * machine_env - what else of a machine decides how fast a program is: nodes of memory, frequencies, huge pages,
 * two threads a core, and to which CPUs and which cgroup the program is bound
 *
 * Read once at start.  A value that is absent, or cannot be read, is "" or none, never an error.
 */
#ifndef EBPREC_RECORD_OUTPUT_MACHINE_ENV_H
#define EBPREC_RECORD_OUTPUT_MACHINE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "format/text/json_writer.h"

struct machine_env {
	char *affinity;   /* CPUs that the process may run on: "0-3"; owned, as are all here */
	char *cgroup;     /* its /proc/PID/cgroup: "0::/user.slice" */
	char *thp;        /* "always [madvise] never" */
	char *smt_active; /* "0", "1" */
	struct {
		uint32_t cpu;
		char *governor;
		uint64_t khz; /* at that moment */
	} * freq;             /* of CPUs with frequency scaling */
	size_t freq_count;
	struct {
		uint32_t id;
		uint64_t memory_bytes;
		char *distances; /* to each node: "10 21" */
	} * node;
	size_t node_count;
};

/* pid: whose affinity and cgroup, 0: our own.  root: in the place of /, for tests.  -ENOMEM. */
int machine_env_read(const char *root, uint32_t pid, struct machine_env *out);
void machine_env_done(struct machine_env *h);
/* The members of an object (docs/FORMAT.md 5.1). */
void machine_env_json(const struct machine_env *h, struct json_writer *j);

#endif
