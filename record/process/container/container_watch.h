/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_watch - what the containers of a recording are called
 *
 * A cgroup's path has the id of its container; the name is in the engine's files, which go when the
 * container does.  So it is looked up when a cgroup is seen, and a few times more: first in the
 * stores of the host's root, then with the process that supervises the container: conmon has the
 * name on its command line; for others it is in the stores below the supervisor's root and in its
 * user's home, which finds containers in containers and those of users.  A list of root's may name
 * all containers, one of a user's only the user's own.  Files are read by threads (io_timeout.h):
 * those of the system's stores for all containers, those of each supervisor's for its own, so that
 * a home which does not answer costs the names of its user's containers.  Limits: 4096 containers
 * are looked for at a time; those that come meanwhile have no name, and are counted.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CONTAINER_WATCH_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CONTAINER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/writer/writer.h"
#include "record/privsep/elf_reader.h"
#include "record/privsep/io_timeout.h"
#include "record/base/u64map.h"
#include "format/base/outbuf.h"

struct container_watch_one; /* in container_watch.c */

/* All zero: none; a writer is set before the first of them. */
struct container_watch {
	struct writer *writer;     /* borrowed */
	struct elf_reader *reader; /* of the engines' files; borrowed */
	struct io_timeout *io;     /* borrowed: what strangers can make slow is read there */
	/* A container's name was found; the name has a length.  May be NULL. */
	void (*on_name)(void *arg, const char *id, const char *name, size_t name_bytes);
	void *on_name_arg;
	struct container_watch_one *list;
	size_t count, room, unnamed_count;
	uint64_t missed_count;     /* that are not looked for */
	uint64_t unanswered_count; /* whose engine's files were not read in time */
	struct u64map by_id;
	struct outbuf fresh; /* entries that are not yet written */
	uint64_t next_object;
	size_t at;         /* the one that has waited longest, in list */
	uint64_t next_ns;  /* no look-up before that time */
	bool is_searching; /* in the stores of the system */
	char *mount;       /* of the cgroups; NULL until it was asked for, "" for none */
};

void container_watch_done(struct container_watch *c);
/* A cgroup was seen.  Without space for it, it has no name, and is counted. */
void container_watch_saw(struct container_watch *c, const char *cgroup);
/* Begins to look for the names that lack; does nothing most of the time. */
void container_watch_look(struct container_watch *c, uint64_t now_ns);
/* Writes the names that were found.  errno of the writer. */
int container_watch_flush(struct container_watch *c);

/* Pure.  The name in the arguments (each ended by a NUL) of the conmon of this container; NULL: none. */
const char *container_watch_conmon_name(const char *args, size_t size_bytes, const char *id);

#endif
