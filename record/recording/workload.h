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
	int status;  /* as waitpid() has it */
};

/*
 * argv and signals are borrowed during the call.  Negative errno: also where there is no such
 * command, or it may not be run; then there is no child.
 */
int workload_fork(struct workload *w, char *const *argv, const struct signal_state *signals);
/* The advice on a command that fails so; NULL: none. */
const char *workload_remedy(const char *name, int err);
/*
 * Lets it run.  Negative errno of its exec, when it fails for a reason that workload_fork() could
 * not see (the interpreter of a script is missing): then the child is gone.
 */
int workload_start(struct workload *w);
/* Takes note of its end, if it has ended. */
void workload_reap(struct workload *w);

#define WORKLOAD_TERM_WAIT_NS 5000000000ULL

enum workload_end {
	WORKLOAD_ENDED,  /* there is none, it has ended by itself, or it ended after SIGTERM */
	WORKLOAD_KILLED, /* SIGTERM did not end it within WORKLOAD_TERM_WAIT_NS: SIGKILL did */
	WORKLOAD_LEFT,   /* SIGKILL did not end it within a second either: it is left running */
};
/* Ends a command that runs; takes 6 s at most. */
enum workload_end workload_end(struct workload *w);
/*
 * The exit status to pass on: its own, or 128 + signal; 0 when we ended it, or there is no command.
 */
int workload_exit_status(const struct workload *w);
/* Ends and forgets a command that never ran.  A zeroed struct is fine. */
void workload_done(struct workload *w);

#endif
