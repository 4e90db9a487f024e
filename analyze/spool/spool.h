/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * spool - a folder of captures: what it has of which time and service, and what was removed from it
 *
 * Each file of the folder that begins as a capture is one: those of `ebprec agent`, and others that somebody
 * puts there; each can be read with -i.  Links, folders, and names with control characters are passed over.
 * Besides there are two files of the spool's own.  `index.sqlite` has the facts and services of complete
 * captures, so that they are not opened again: it follows from the captures and may be deleted.  `removed`
 * has a line for each capture that is gone, with what it had: that is not to be had again.
 *
 * Opening it reads the folder, and opens the captures that are new or changed.  One that is being recorded is read
 * each time.  With SPOOL_WRITE the index is brought up to date, and captures that are gone without being in
 * `removed` get a line; then one process at a time has the spool (-EBUSY).  Without it nothing is written, and an
 * index that cannot be read is as none.
 *
 * A capture that is removed gets its line first, on the disk (behind it when the disk is full); a line of a file that is
 * there says nothing.
 */
#ifndef EBPREC_ANALYZE_SPOOL_SPOOL_H
#define EBPREC_ANALYZE_SPOOL_SPOOL_H

#include "analyze/spool/capture_facts.h"

#define SPOOL_DEFAULT  "/var/lib/ebprec"
#define SPOOL_VARIABLE "EBPREC_SPOOL" /* the folder, in place of the default */

struct spool; /* opaque */

enum spool_access {
	SPOOL_READ,
	SPOOL_WRITE,
	SPOOL_CHECK, /* as SPOOL_WRITE, and all captures are opened anew: spool_get_check() */
};

enum spool_state {
	SPOOL_COMPLETE, /* complete, and stays as it is */
	SPOOL_RECORDING, /* being recorded: was written to in the last minute; complete up to its last second */
	SPOOL_CUT,        /* its recorder was killed; the same */
	SPOOL_DAMAGED,    /* parts of it cannot be read */
	SPOOL_UNREADABLE, /* it is none, or has no wall clock: it has no facts */
};

struct spool_capture {
	const char *name; /* in the folder */
	uint64_t file_bytes, mtime_ns, inode;
	enum spool_state state;
	int error; /* SPOOL_UNREADABLE: negative errno, 0: no clock */
	struct capture_facts facts;
	int64_t row; /* in the index; 0: none */
};

/* What is gone from the folder. */
struct spool_removed {
	uint64_t from_ns, to_ns, sample_count, lost_count, file_bytes;
	char why[16]; /* "size", "age", "disk", "user", "missing" */
	char *name;   /* owned by the list; "": several */
};

/* What was found by SPOOL_CHECK. */
struct spool_check {
	bool index_was_damaged;
	uint32_t wrong_rows;    /* of the index, and made right */
	uint32_t missing_rows;  /* of captures that are there */
	uint32_t gone_captures; /* in the index, and neither there nor in `removed` */
};

/* dir: copied.  errno; -EBUSY: another process writes; *out: spool_close(). */
int spool_open(const char *dir, enum spool_access access, struct spool **out);
void spool_close(struct spool *s); /* NULL is fine */

/* The folder: $EBPREC_SPOOL, else the default. */
const char *spool_default(void);

/* All captures, by their beginning, unreadable ones first.  Borrowed until spool_close() or spool_prune(). */
const struct spool_capture *spool_captures(const struct spool *s, size_t *count);
/* DIR/NAME, owned; NULL: no memory. */
char *spool_path(const struct spool *s, const struct spool_capture *c);
/*
 * Appends the services of a capture: of the index, or the capture is read.  rules not NULL: it is read.
 * errno.
 */
int spool_services(const struct spool *s, const struct spool_capture *c,
		   const struct service_rules *rules, struct service_counts *to);
/* What is gone, oldest first.  Borrowed until spool_close() or spool_prune(). */
const struct spool_removed *spool_removals(const struct spool *s, size_t *count);
/* Of SPOOL_CHECK. */
const struct spool_check *spool_get_check(const struct spool *s);
/* Names that are passed over for what they are. */
uint32_t spool_strange_names(const struct spool *s);

struct spool_limits {
	uint64_t size_bytes; /* all captures together; 0: no limit */
	uint64_t age_ns;     /* since the end of a capture; 0: no limit */
	uint64_t free_bytes; /* what the file system must have left; 0: any */
	uint64_t now_ns;     /* wall clock */
};

/*
 * Removes captures, oldest first, until the spool is within its limits; never one that is being recorded.
 * SPOOL_WRITE.  *count: how many were removed, also on failure.  errno.
 */
int spool_prune(struct spool *s, const struct spool_limits *limits, size_t *count);

#endif
