/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sideband - the kernel's own records: mappings, names, forks, exits, namespaces, cgroups, code
 *
 * One ring a CPU, of a dummy event.  A record is in the ring of the CPU where it happened, so only
 * all rings together, sorted by time, have the history of a process: a pass copies the rings out,
 * sideband_deliver() hands over what is older than a moment, in order.  Samples of other events may
 * go through the same rings (PERF_EVENT_IOC_SET_OUTPUT), and are delivered among the records.
 */
#ifndef EBPREC_RECORD_EVENTS_SIDEBAND_H
#define EBPREC_RECORD_EVENTS_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/events/event_attrs.h"
#include "record/base/cpuset_list.h"
#include "record/base/messages.h"
#include "record/events/perf_event.h"
#include "record/events/reopener.h"

struct sideband; /* opaque */

struct sideband_opts {
	const struct cpuset_list *cpus; /* borrowed during the call */
	struct perf_event_set_scope scope;
	size_t ring_bytes; /* of one CPU: a power of two; 0: the default.  Less, if that is too much */
	size_t wake_bytes;         /* that make a ring wake its reader; 0: the default */
	struct reopener *reopener; /* registers the event; NULL: CPUs do not come back */
};

/*
 * Opens the events; they record from here on.  Describes them in *attrs.  Parts that this kernel
 * lacks (cgroups, BPF programs, namespaces) are left out and noted, those that we have no right to
 * are left out.  On failure note_fail() has the reason.
 */
int sideband_open(const struct sideband_opts *o, struct event_attrs *attrs, struct notes *notes,
		  struct sideband **out);
void sideband_close(struct sideband *s); /* NULL is fine */

/* The kernel lets us see user space only. */
bool sideband_user_only(const struct sideband *s);
size_t sideband_ring_bytes(const struct sideband *s);
/* The bytes in the fullest ring. */
uint64_t sideband_fill_bytes(const struct sideband *s);
/*
 * Bytes of rings that were no records and were stepped over.  sideband_deliver() hands over a LOST record
 * in their place, which counts one event: how many they were is not known.
 */
uint64_t sideband_skipped_bytes(const struct sideband *s);

bool sideband_has_cpu(const struct sideband *s, uint32_t cpu);
size_t sideband_count(const struct sideband *s);
/* EPOLLIN | EPOLLET; SET_OUTPUT goes here.  -1: the CPU has none, all threads ended too early. */
int sideband_fd(const struct sideband *s, size_t ring);

/*
 * For a CPU that came online, perhaps back: opens its event anew, with a ring where it had none,
 * which is then the last one.  Its id joins *attrs.  *output_fd: where SET_OUTPUT goes.  Negative
 * errno of reopener_take(), of the mapping, or -ENOMEM.
 */
int sideband_reopen(struct sideband *s, struct reopener *reopener, uint32_t cpu,
		    struct event_attrs *attrs, int *output_fd);
/*
 * Until when the CPU's event counted: of one that went, when that was, else now; by the kernel's other
 * clock, which runs apart by some ms an hour.  0: it is not known.
 */
uint64_t sideband_counted_until_ns(const struct sideband *s, uint32_t cpu);

/* Copies all rings out.  -ENOMEM. */
int sideband_drain(struct sideband *s);

/*
 * Hands over the records copied out that are not newer than until_ns, oldest first.  record is
 * complete, may be changed in place, and is valid during the call.  A negative return ends it.
 */
int sideband_deliver(struct sideband *s, uint64_t until_ns,
		     int (*on_record)(void *arg, struct perf_event_header *record,
				      uint64_t time_ns),
		     void *arg);
/* Whether records were left that are newer than that moment. */
bool sideband_holds_back(const struct sideband *s);

#endif
