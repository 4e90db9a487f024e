/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * buildids - which build-id a mapped file has, and which files the capture names
 *
 * A file is read once for each device and inode, not once a process.  It is opened in the order of
 * trust: the mapped file itself (/proc/PID/map_files, also when deleted or replaced), then its
 * path below /proc/PID/root, if device and inode are those of the mapping.
 */
#ifndef EBPREC_RECORD_BUILDIDS_H
#define EBPREC_RECORD_BUILDIDS_H

#include <stdint.h>

#include "format/buildid.h"
#include "format/buildidlist.h"
#include "record/keymap.h"
#include "record/siderec.h"

struct buildids {
	struct keymap by_file; /* device, inode -> index in ids */
	struct buildid *ids;
	size_t count, room;
	struct buildidlist *named;          /* the BUILD_ID section */
	uint64_t read_count, missing_count; /* files read, and those among them without an id */
};

int buildids_init(struct buildids *b); /* -ENOMEM */
void buildids_done(struct buildids *b);

/*
 * Fills m->build_id of a file-backed mapping of process m->pid, from the file when it is new.
 * Leaves it empty when there is none or the file cannot be read.
 */
void buildids_lookup(struct buildids *b, struct siderec_map *m);

/*
 * Remembers that file (dev_major:dev_minor, inode) has this id, so that it need not be read: the
 * kernel said so.
 */
void buildids_learn(struct buildids *b, const struct siderec_map *m);

/* Adds a file to the BUILD_ID section, when it has an id.  kernel: it is the kernel or a module. */
void buildids_name(struct buildids *b, const struct buildid *id, const char *path, bool kernel);

#endif
