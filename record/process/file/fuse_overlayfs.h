/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuse_overlayfs - which folders a fuse-overlayfs shows
 *
 * The kernel lists the layers of its own overlayfs among the mounts; those of a fuse-overlayfs
 * stand in the command line of the program that serves it, as long as it runs.  They are put behind
 * the options of the mount, as the kernel would: "lowerdir=/a:/b,upperdir=/c".  Any user may run a
 * program of that name with any layers, so they are only candidates for a file's path.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_FUSE_OVERLAYFS_H
#define EBPREC_RECORD_PROCESS_FILE_FUSE_OVERLAYFS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/outbuf.h"

#define FUSE_OVERLAYFS_SERVERS_MAX 256         /* that are asked about one text */
#define FUSE_OVERLAYFS_WORDS_MAX   (64u << 10) /* bytes of a command line */

/*
 * Pure.  words: NUL-terminated words, one behind the other.  Appends ",lowerdir=...,upperdir=..." with
 * the escapes of mountinfo; *point is where it is mounted, borrowed from words.  -EBADMSG: no layers or
 * no mount point are among them, and nothing is appended.
 */
int fuse_overlayfs_parse(const char *words, size_t size_bytes, struct outbuf *out,
			 const char **point);

/* The id of the device that is mounted at a point, of the text of a mountinfo; "" when there is none. */
void fuse_overlayfs_device(const char *mounts, const char *point, char *out, size_t out_bytes);

/* A fuse-overlayfs is among the mounts. */
bool fuse_overlayfs_are_in(const struct outbuf *mounts);
/* The text of a /proc/PID/mountinfo with the layers of each fuse-overlayfs that can be found. */
void fuse_overlayfs_add(struct outbuf *mounts);

#endif
