/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_stores - the files in which container engines say how their containers are called
 *
 * podman and CRI-O keep a list of all, docker a file for each, containerd the specification of each
 * that runs, with the names of kubernetes or nerdctl among its annotations.  No daemon is asked.  A
 * store may be that of any user, so it may hold anything: only regular files are opened, below the
 * root that was given, and no more than CONTAINER_STORES_FILE_MAX of them is read.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_STORES_H
#define EBPREC_RECORD_PROCESS_CONTAINER_STORES_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

#define CONTAINER_STORES_FILE_MAX (16u << 20)

enum container_stores_form {
	CONTAINER_STORES_LIST,   /* containers.json: an array of {id, names} */
	CONTAINER_STORES_DOCKER, /* config.v2.json: {ID, Name} */
	CONTAINER_STORES_OCI,    /* config.json of a bundle: {annotations} */
};

/* id has CONTAINER_RECORD_DIGITS bytes; name may be called by.  Both borrowed during the call. */
typedef void (*container_stores_fn)(void *ctx, const char *id, const char *name, size_t name_bytes);

/* Pure.  id: whose file it is, for those that hold but one.  -EBADMSG, -EOVERFLOW; what came before was told. */
int container_stores_parse(enum container_stores_form form, const char *data, size_t size_bytes,
			   const char *id, container_stores_fn fn, void *ctx);

enum container_stores_which {
	CONTAINER_STORES_ALL,
	CONTAINER_STORES_SINGLE, /* files of this container alone */
};

/*
 * Tells what the stores below the root say of the container; of lists, every container in them.
 * home: whose own stores are asked, too, a path below the root; NULL: only the system's.
 */
void container_stores_look(int root_fd, const char *home, const char *id,
			   enum container_stores_which which, container_stores_fn fn, void *ctx);

/* The home of a user in the text of a passwd file, owned; NULL: not there, or no memory. */
char *container_stores_home(const char *passwd, uint32_t uid);

/* Appends a regular file below the root, and a NUL that does not count.  errno, -EOVERFLOW: too large. */
int container_stores_read(int root_fd, const char *path, struct outbuf *out);

#endif
