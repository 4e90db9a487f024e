/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reader_process - starts a process for each capture that is to be read, by one that was started before there were secrets
 *
 * Captures are of strangers, and reading them is where a mistake of ours would be.  The process that sends has the network and the secrets,
 * and reads none; it asks, through a socket, for a process that reads one capture and is then over.  Three processes ask, start and read:
 * the second was forked before the first had its secrets and its sandbox, and only forks.  A reader that is not over
 * after READER_PROCESS_MOST_SECONDS is killed, and costs only its capture.
 */
#ifndef EBPREC_ANALYZE_CMD_PUSH_READER_PROCESS_H
#define EBPREC_ANALYZE_CMD_PUSH_READER_PROCESS_H

#define READER_PROCESS_MOST_SECONDS 3600
#define READER_PROCESS_PATH_BYTES   4096

/* Runs in a process of its own, which ends with what it returns: 0 to 127.  socket: to the one that asked. */
typedef int reader_process_read(void *arg, const char *path, unsigned flags, int socket);

/* The socket, which is the caller's, and with which all ends; or negative errno. */
int reader_process_start(reader_process_read *read, void *arg);
/* Has the capture read: *socket, the caller's, is to its reader.  flags: the reader's.  Negative errno. */
int reader_process_ask(int starter, const char *path, unsigned flags, int *socket);
/* The status of the reader that was asked for, as of wait(), once it is over.  Negative errno. */
int reader_process_wait(int starter, int *status);

#endif
