/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * store_files - what container engines' files contain: names of containers, and where the engines keep more
 *
 * podman and CRI-O keep a list of all containers, docker a file for each, containerd the specification
 * of each that runs, with the names of kubernetes or nerdctl among its annotations.  Any user may have
 * such files, and they may hold anything, so all this is read in the process of elf_reader.h.
 */
#ifndef EBPREC_RECORD_PRIVSEP_STORE_FILES_H
#define EBPREC_RECORD_PRIVSEP_STORE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#define STORE_FILE_MAX (16u << 20) /* bytes that are read of one */
#define STORE_PATH_MAX 4096

enum store_file {
	STORE_FILE_LIST,   /* containers.json: an array of {id, names} */
	STORE_FILE_DOCKER, /* config.v2.json: {ID, Name} */
	STORE_FILE_OCI,    /* config.json of a bundle: {annotations} */
	/* These contain absolute paths. */
	STORE_FILE_CONF,   /* storage.conf: where the stores are */
	STORE_FILE_DAEMON, /* docker's daemon.json: {data-root} */
	STORE_FILE_PASSWD, /* the home of a user */
	STORE_FILE_FORMS,
};

/*
 * For a container, id has CONTAINER_RECORD_DIGITS bytes, and text is its name; for a path, id is
 * "".  Borrowed during the call.
 */
typedef void (*store_file_fn)(void *ctx, const char *id, const char *text, size_t text_bytes);

/* CONTAINER_RECORD_DIGITS hex digits. */
bool store_file_is_id(const char *id, size_t id_bytes);

/*
 * Pure; a NUL stands behind the data.  key: of OCI the container's id, of PASSWD the user's number as text.
 * -EBADMSG, -EOVERFLOW; earlier entries were reported.
 */
int store_file_parse(enum store_file form, const char *data, size_t size_bytes, const char *key,
		     store_file_fn fn, void *ctx);

#endif
