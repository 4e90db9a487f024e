/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mapids - which build-id a mapped file has, and which files the capture names
 *
 * The kernel could put build-ids into the MMAP2 records itself (attr.build_id).  We do not ask it
 * to: as of 6.18 it then marks the records of every other listener as well, which do not hold one
 * (perf_event_mmap_output() sets header.misc and never takes it back), and perf 6.1 dies of that.
 *
 * A file is read once for each device, inode and generation, not once a process.
 */
#ifndef EBPREC_RECORD_MAPIDS_H
#define EBPREC_RECORD_MAPIDS_H

#include <stdint.h>

#include "format/buildid.h"
#include "format/buildidlist.h"
#include "record/elfworker.h"
#include "record/evidence.h"
#include "record/keymap.h"
#include "record/siderec.h"

struct mapids {
	struct keymap by_file; /* device and generation, inode -> index in ids */
	struct buildid *ids;
	size_t count, room;
	struct buildidlist *named; /* the BUILD_ID section */
	struct evidence *evidence; /* borrowed: told of each file; NULL: nobody */
	struct elfworker *reader;  /* of files of others; NULL: without a process */
	/* Told of each file, too; or NULL. */
	void (*on_file)(void *arg, const char *path, int fd, const struct elffacts *facts);
	void *on_file_arg;
	uint64_t read_count, missing_count; /* files read, and those among them without an id */
};

/* program: what reads files of others in a process of its own (elfworker.h), or NULL.  -ENOMEM. */
int mapids_init(struct mapids *b, const char *program);
void mapids_done(struct mapids *b);

/*
 * Fills m->build_id of a file-backed mapping of process m->pid, from the file when it is new.
 * Leaves it empty when there is none or the file cannot be read.
 */
void mapids_lookup(struct mapids *b, struct siderec_map *m);

/* Adds a file to the BUILD_ID section, when it has an id.  kernel: it is the kernel or a module. */
void mapids_name(struct mapids *b, const struct buildid *id, const char *path, bool kernel);

#endif
