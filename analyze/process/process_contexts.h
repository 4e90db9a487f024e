/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* process_contexts - the names of services that processes published, by process and time */
#ifndef EBPREC_ANALYZE_PROCESS_PROCESS_CONTEXTS_H
#define EBPREC_ANALYZE_PROCESS_PROCESS_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

struct process_context {
	uint64_t since_ns;
	uint32_t pid;
	uint32_t service; /* in the names; 0: none from then on */
	size_t order;     /* in which it came */
};

/* Embedded by the owner; all zero is an empty one. */
struct process_contexts {
	struct process_context *list; /* by process, then by time */
	size_t count, capacity;
};

/* Malformed entries are left out; messages without a name are one of none.  -ENOMEM, -EOVERFLOW. */
int process_contexts_read(const struct capture *c, struct string_table *names,
			  struct process_contexts *out);
void process_contexts_done(struct process_contexts *p);
/* The number of the service's name; 0: none. */
uint32_t process_contexts_at(const struct process_contexts *p, uint32_t pid, uint64_t time_ns);

#endif
