/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * select - the captures of a spool that have a time and a service, and what is missing in that time
 *
 * Captures go together when they are of one start of the machine; the answer is of the newest one.  Times
 * are the wall clock's; captures convert them to the clock of their records, each by its own moment on both.
 */
#ifndef EBPREC_ANALYZE_SPOOL_SELECT_H
#define EBPREC_ANALYZE_SPOOL_SELECT_H

#include "analyze/input/event/time_span.h"
#include "analyze/spool/spool.h"

struct spool_wanted {
	struct time_span span; /* wall clock */
	/* Whether a service is asked for, by the index; NULL: all are. */
	bool (*wants_service)(const void *arg, const char *name);
	const void *arg;
};

/* What the answer does not have. */
struct spool_losses {
	uint64_t
		lost_count; /* events, while the selected captures were recorded; of entire captures */
	uint32_t damaged_count, cut_count, unreadable_count; /* captures */
	uint32_t older_count;     /* captures of an earlier start of the machine */
	struct time_span older;   /* from the first of them to the last */
	uint32_t removed_count;   /* captures of this time that are gone: at least so many, */
	uint64_t removed_samples; /* with so many samples */
	struct time_span removed;
	/* Of the time from the first to the last capture of it, of any service: without any. */
	uint64_t gap_ns;
	uint32_t gap_count;
};

/* Embedded by the owner; spool_selection_done(). */
struct spool_selection {
	const struct spool_capture **list; /* by their beginning; borrowed from the spool */
	size_t count;
	uint32_t without_service; /* captures of the time that do not have the service */
	struct spool_losses losses;
	/*
	 * The time that is asked for, on the clock of the records, both ends included; all where no capture reaches
	 * beyond it.
	 */
	struct time_span records;
};

/* errno. */
int spool_select(const struct spool *s, const struct spool_wanted *wanted,
		 struct spool_selection *out);
void spool_selection_done(struct spool_selection *s);
/* The i-th of the list was removed from the folder since: it is left out, and one of losses.removed_count. */
void spool_selection_leave_out(struct spool_selection *s, size_t i);

/*
 * A moment as people write it: "2h" (so long ago), "now", or by the clock in UTC: "13:05", "13:05:10" (the last time
 * that it was so late), "2026-11-21", "2026-11-21T13:05:10".  false: it is none.
 */
bool spool_read_time(const char *text, uint64_t now_ns, uint64_t *out_ns);

#endif
