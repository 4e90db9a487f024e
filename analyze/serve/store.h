/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * store - which batches were received, which are missing, and what they count
 *
 * An SQLite file.  A batch and what it counts are one transaction, on the disk before it is answered for: one that comes twice counts once,
 * and one whose answer was lost is not lost.  Of each source and sender, ranges of numbers between the first and the last that did not come are
 * kept; a number that comes late leaves them.
 */
#ifndef EBPREC_ANALYZE_SERVE_STORE_H
#define EBPREC_ANALYZE_SERVE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/serve/received.h"
#include "format/base/outbuf.h"

#define SERVE_SENDERS_MAX 10000
#define SERVE_GAPS_MAX    100000

struct serve_store; /* opaque */

struct serve_limits {
	uint64_t most_series; /* more are left out, and counted */
	uint64_t forget_s;    /* series that no batch had for so long are forgotten; 0: never */
};

/* Of a sender. */
struct serve_sender {
	const char *source, *sender; /* borrowed */
	uint64_t first, last, received, twice, missing;
};

/* path: made if need be.  *problem: owned by the caller, NULL or why it failed.  -EAGAIN, -EIO, -ENOMEM. */
int serve_store_open(const char *path, const struct serve_limits *limits, struct serve_store **out,
		     char **problem);
void serve_store_close(struct serve_store *s); /* NULL is fine */
const char *serve_store_problem(const struct serve_store *s);

/*
 * *is_new: it did not come before.  -EBADMSG (*problem, static): it is not one; -EDQUOT: there are too many senders or gaps;
 * -EAGAIN: the disk is full and the like; -EIO, -ENOMEM.  On failure nothing of it stays.
 */
int serve_store_add(struct serve_store *s, const struct received *r, uint64_t now_s, bool *is_new,
		    const char **problem);
/* All series in Prometheus' text format.  The errors of the file; -ENOMEM. */
int serve_store_put_metrics(struct serve_store *s, struct outbuf *out);
/* How many counts found no room, as of the file. */
uint64_t serve_store_left_out(struct serve_store *s);
/* By source and sender; ends with the first error of each(). */
int serve_store_each_sender(struct serve_store *s,
			    int (*each)(void *arg, const struct serve_sender *sender), void *arg);
/* The missing numbers of one, from low to high. */
int serve_store_each_gap(struct serve_store *s, const struct serve_sender *sender,
			 int (*each)(void *arg, uint64_t from, uint64_t to), void *arg);

#endif
