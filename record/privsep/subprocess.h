/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * subprocess - a process of the recorder for one job, with no other rights
 *
 * It is this program executed again, with a word for the job, so that it shares no memory with the
 * recorder; it has no environment, and no descriptor but SUBPROCESS_FD, a socket to the recorder.
 */
#ifndef EBPREC_RECORD_PRIVSEP_SUBPROCESS_H
#define EBPREC_RECORD_PRIVSEP_SUBPROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBPROCESS_FD 3

/* Starts it; *pid is to be waited for, *socket_fd is the caller's.  A stream of bytes. */
int subprocess_start(const char *program, const char *word, pid_t *pid, int *socket_fd);

/* Bytes (at least one), and a descriptor with them; fd -1: none.  errno. */
int subprocess_send(int socket, int fd, const void *bytes, size_t count);
/* The same; *fd -1: there came none.  -EPIPE: the other side ended, or sent another message. */
int subprocess_receive(int socket, int *fd, void *bytes, size_t count);

/*
 * In the helper: from here on other system calls than these fail with EPERM, and those that no
 * library does by itself (opening, executing, sockets, tracing) kill it.  0 also where there is no
 * seccomp, and under the address sanitizer.
 */
int subprocess_confine(const int *allowed, size_t count);
/* The same for one that opens perf events, gets no memory of others, and keeps these rights (caps.h) alone. */
int subprocess_confine_opening(uint64_t rights);

#endif
