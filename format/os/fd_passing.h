/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fd_passing - bytes and one descriptor through a socket between two processes of ours (unix(7), SCM_RIGHTS) */
#ifndef EBPREC_FORMAT_OS_FD_PASSING_H
#define EBPREC_FORMAT_OS_FD_PASSING_H

#include <stddef.h>
#include <sys/types.h>

/* At least one byte; fd -1: no descriptor.  -EPIPE: not all bytes were taken; errno of sendmsg(). */
int fd_passing_send(int socket, const void *bytes, size_t size_bytes, int fd);
/*
 * How many bytes came, at most size_bytes; 0: the other end is closed; errno of recvmsg().  *fd -1: no descriptor
 * came; else it is the caller's, and closed by exec.  flags: of recvmsg(), as MSG_WAITALL.
 */
ssize_t fd_passing_receive(int socket, void *bytes, size_t size_bytes, int *fd, int flags);

#endif
