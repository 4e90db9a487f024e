/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * query_source - the captures of a spool that answer a question, as one that commands can read
 *
 * Several captures are merged into a file without a name, which is gone with the process.  A single one is read
 * where it is.
 */
#ifndef EBPREC_ANALYZE_CMD_QUERY_QUERY_SOURCE_H
#define EBPREC_ANALYZE_CMD_QUERY_QUERY_SOURCE_H

#include "analyze/spool/select.h"

#define QUERY_SOURCE_PATH_BYTES 32
#define QUERY_SOURCE_TIME_BYTES 64

/* Embedded by the owner: query_source_prepare(), query_source_done(). */
struct query_source {
	char room_path
		[QUERY_SOURCE_PATH_BYTES]; /* of the file without a name, as it is opened again */
	int room_fd;
	char *path;                         /* of the capture to be read; owned */
	char time[QUERY_SOURCE_TIME_BYTES]; /* --time of it; "": all */
	struct spool_selection selected;
};

/* Before the process is confined: makes the file.  0, or the exit status after an error was printed. */
int query_source_prepare(struct query_source *q);
/*
 * Selects and merges.  0, or the exit status after an error was printed; where nothing was selected a message
 * has why, and it is MESSAGE_FAILED.
 */
int query_source_make(struct query_source *q, const char *dir, const struct spool *s,
		      const struct spool_wanted *wanted);
/* Prints what the answer lacks.  with_lost: also events, which reports print themselves. */
void query_source_print_losses(const struct query_source *q, bool with_lost);
void query_source_done(struct query_source *q);

#endif
