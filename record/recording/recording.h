/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recording - one recording from the first file to the last flush
 *
 * Order, so that nothing falls between two chairs: the side-band first, then the programs are
 * loaded, the file's head is written, the processes that are there are read, and only then events
 * begin, the file takes its place, and the command runs.
 */
#ifndef EBPREC_RECORD_RECORDING_RECORDING_H
#define EBPREC_RECORD_RECORDING_RECORDING_H

#include "record/output/sink.h"
#include "record/base/messages.h"
#include "record/base/config.h"

struct recording; /* opaque */

/* The callbacks through which a recording shows its progress. */
struct recording_ui {
	void (*note)(void *arg, enum note_level level, const char *text);
	void (*tick)(void *arg, const struct account *a); /* once a second */
	/*
	 * The recording ends, what is left is written: signals are no longer read by the recording.
	 * The capture is complete up to the last flush, so that one more signal may end the
	 * process.
	 */
	void (*stopping)(void *arg);
	void *arg;
};

/*
 * Runs it; returns when it has ended.  0: there is a complete capture, also when it is marked with
 * losses; else *failure is one line with the reason why there is none, or why it ends early.
 * exit_status: what the process should exit with; account: filled as far as it went; last_file: the number of the last file
 * of several (rotated_file_path()), or 0.
 */
int recording_run(const struct record_opts *opts, const struct recording_ui *ui,
		  struct account *account, unsigned *last_file, int *exit_status,
		  char failure[1024]);

#endif
