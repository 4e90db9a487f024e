/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * debuginfod - files by build-id from debuginfod servers
 *
 * libdebuginfod is loaded when first asked for, so that nothing else needs it; it keeps what it
 * fetched in a cache of its own.  All fetches together have one time limit.  A server that cannot be
 * reached is not asked again, and what a server sends is taken only with the right build-id.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_DEBUGINFOD_H
#define EBPREC_ANALYZE_SYM_LOCATE_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/buildid.h"

enum fetch_kind { FETCH_PROGRAM, FETCH_DEBUG, FETCH_SOURCE };

/* The progress of a fetch, for people. */
struct fetch_progress {
	const char *build_id; /* in hex */
	enum fetch_kind kind;
	uint64_t done_bytes, total_bytes; /* total_bytes 0: not known yet */
	bool ended;                       /* the last word of this fetch */
	int err;                          /* ended: as debuginfod_get() returns it */
};

struct fetch_counts {
	uint32_t found, missing; /* missing: no server has it */
	uint32_t refused;        /* came with another build-id */
	uint32_t not_asked;      /* after the time was up, or no server could be reached */
	uint64_t bytes;
	int err; /* what ended it all: -ETIMEDOUT, -ECONNREFUSED ...; 0: nothing */
};

struct debuginfod; /* opaque; one thread */

struct debuginfod_opts {
	uint64_t limit_ns;                                           /* for all fetches together */
	void (*progress)(void *arg, const struct fetch_progress *p); /* NULL: none */
	void *arg;
};

/* The servers are those of the environment, DEBUGINFOD_URLS.  -ENOENT: no libdebuginfod; -ENOMEM. */
int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **out);
void debuginfod_free(struct debuginfod *f); /* NULL is fine */

/*
 * Both are the caller's: *fd, and *path (free()), where it lies in the cache.  -ENOENT: no server
 * has it; -ESTALE: what came has another build-id; -ECANCELED: not asked; else errno.
 */
int debuginfod_get(struct debuginfod *f, const struct buildid *id, enum fetch_kind kind, int *fd,
		   char **path);

/* The same of a source file that the debug information of this build names by an absolute path. */
int debuginfod_get_source(struct debuginfod *f, const struct buildid *id, const char *source,
			  int *fd, char **path);

const struct fetch_counts *debuginfod_counts(const struct debuginfod *f);

#endif
