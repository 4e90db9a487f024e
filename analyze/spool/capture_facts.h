/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capture_facts - of one capture what is asked for without opening it again
 *
 * When it was recorded, by the wall clock; how many samples it has and how many events were lost; the
 * samples of each service.  The first two cost no more than opening it, the services a pass over its
 * samples, without names of functions.
 */
#ifndef EBPREC_ANALYZE_SPOOL_CAPTURE_FACTS_H
#define EBPREC_ANALYZE_SPOOL_CAPTURE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/process/service.h"
#include "format/reader/capture.h"

struct capture_facts {
	uint64_t from_ns, to_ns; /* wall clock; 0, 0: not known */
	uint64_t clock_ns,
		clock_wall_ns; /* one moment on both clocks: the records' and the wall's; 0: not known */
	uint64_t
		boot_wall_ns; /* when the machine was started; captures of one start differ by seconds */
	uint64_t sample_count; /* of CPUs */
	uint64_t lost_count;   /* events of all kinds */
	bool is_finished;      /* it is not being recorded, and its recorder was not killed */
	bool is_damaged;       /* parts cannot be read */
};

struct service_count {
	char name[SERVICE_NAME_MAX];
	uint64_t sample_count;
};

/* Of one capture, or several.  Embedded by the owner; service_counts_done(). */
struct service_counts {
	struct service_count *list;
	size_t count, capacity;
};

void capture_facts_read(const struct capture *c, struct capture_facts *out);

/*
 * Appends the services of the samples of CPUs; rules may be NULL.  A capture without samples has none.  -ENOMEM, -EOVERFLOW.
 */
int service_counts_add(const struct capture *c, const struct service_rules *rules,
		       struct service_counts *to);
/* Appends samples of the service of that name.  -ENOMEM. */
int service_counts_put(struct service_counts *to, const char *name, uint64_t sample_count);
/* Makes entries of one name one; most samples first, equal ones by name. */
void service_counts_settle(struct service_counts *s);
void service_counts_done(struct service_counts *s);

#endif
