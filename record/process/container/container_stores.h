/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_stores - the files in which container engines store the names of their containers
 *
 * No daemon is asked.  A store may be that of any user, so it may hold anything: only regular files
 * are opened, below the root that was given, and what is in them is read by a process that can do
 * nothing else (elf_reader.h, store_files.h).
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CONTAINER_STORES_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CONTAINER_STORES_H

#include <stdint.h>

#include "record/privsep/elf_reader.h"
#include "record/privsep/store_files.h"

#define CONTAINERSTORES_NO_HOME UINT32_MAX

enum container_stores_which {
	CONTAINER_STORES_ALL,
	CONTAINER_STORES_SINGLE, /* files of this container alone */
};

/*
 * Reports what the stores below the root contain of the container; of lists, every container in them.
 * home_of_uid: whose own stores are asked, too, in the home that the root's /etc/passwd gives;
 * CONTAINERSTORES_NO_HOME: only the system's.
 */
void container_stores_look(struct elf_reader *reader, int root_fd, uint32_t home_of_uid,
			   const char *id, enum container_stores_which which, store_file_fn fn,
			   void *ctx);

#endif
