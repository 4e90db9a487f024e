/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * workload - the command whose run is recorded
 *
 * Forked before the recording is set up, so that its id is known; held at a pipe until all is
 * ready, so that nothing of it is missed; then it becomes the command.
 */
#ifndef EBPREC_RECORD_RECORDING_WORKLOAD_H
#define EBPREC_RECORD_RECORDING_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* How signals were before the recorder took them: the command gets them so. */
struct signal_state {
	sigset_t mask;
	struct sigaction interrupt, terminate;
};

struct workload {
	pid_t pid;    /* 0: none */
	int pidfd;    /* readable when it has ended */
	int go_fd;    /* written to: run */
	int error_fd; /* read from: errno of a failed exec */
	bool reaped;
	bool killed; /* by us */
	int status;  /* as waitpid() says */
};

/* argv and signals are borrowed during the call.  errno. */
int workload_fork(struct workload *w, char *const *argv, const struct signal_state *signals);
/* Lets it run.  0, or the errno of its exec: then it is gone. */
int workload_start(struct workload *w);
/* Takes note of its end, if it has ended. */
void workload_reap(struct workload *w);
/* Waits for its end.  kill_it: asks it to end first (SIGTERM). */
void workload_finish(struct workload *w, bool kill_it);
/* What to pass on: its exit status, 128 + signal; 0 when we ended it, or there is no command. */
int workload_exit_status(const struct workload *w);
/* Ends and forgets a command that never ran.  A zeroed struct is fine. */
void workload_done(struct workload *w);

#endif
