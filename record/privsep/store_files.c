/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/store_files.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/json_reader.h"
#include "format/contract/container_paths.h"
#include "format/payload/container_record.h"

struct text {
	const char *data;
	size_t size_bytes;
};

/* ---- contents of the files ---- */

bool store_file_is_id(const char *id, size_t id_bytes)
{
	if (id_bytes != CONTAINER_RECORD_DIGITS)
		return false;
	for (size_t i = 0; i < id_bytes; i++)
		if (!isxdigit((unsigned char)id[i]))
			return false;
	return true;
}

static void report_container(struct text id, struct text name, store_file_fn fn, void *ctx)
{
	if (name.size_bytes && *name.data == '/') { /* docker's */
		name.data++;
		name.size_bytes--;
	}
	if (store_file_is_id(id.data, id.size_bytes) &&
	    container_record_is_name(name.data, name.size_bytes))
		fn(ctx, id.data, name.data, name.size_bytes);
}

/* The value that is next, when it is a string, or the first string of an array. */
static int take_text(struct json_reader *j, struct text *out)
{
	unsigned depth = j->depth;
	bool taken = false;
	int token;

	do {
		token = json_reader_next(j);
		if (token == JSON_READER_STRING && j->depth <= depth + 1 && !taken) {
			*out = (struct text){ j->raw, j->raw_bytes };
			taken = true;
		}
	} while (token > 0 && j->depth > depth);
	return token < 0 ? token : 0;
}

/* An object has begun: its members of these names. */
static int take_members(struct json_reader *j, const char *const *keys, size_t key_count,
			struct text *out)
{
	unsigned depth = j->depth;
	size_t i;
	int token, err = 0;

	while (!err && j->depth >= depth) {
		token = json_reader_next(j);
		if (token != JSON_READER_KEY)
			return token < 0 ? token : 0;
		for (i = 0; i < key_count && !json_reader_is(j, keys[i]); i++)
			;
		err = i < key_count ? take_text(j, &out[i]) : json_reader_skip(j);
	}
	return err;
}

static int parse_list(struct json_reader *j, store_file_fn fn, void *ctx)
{
	static const char *const keys[] = { "id", "names" };
	int token, err = 0;

	if (json_reader_next(j) != JSON_READER_ARRAY)
		return j->err ? j->err : -EBADMSG;
	while (!err && (token = json_reader_next(j)) > 0 && j->depth) {
		struct text found[2] = { 0 };

		if (token != JSON_READER_OBJECT)
			continue;
		err = take_members(j, keys, 2, found);
		if (!err)
			report_container(found[0], found[1], fn, ctx);
	}
	return err ? err : j->err;
}

static int parse_docker(struct json_reader *j, store_file_fn fn, void *ctx)
{
	static const char *const keys[] = { "ID", "Name" };
	struct text found[2] = { 0 };
	int err;

	if (json_reader_next(j) != JSON_READER_OBJECT)
		return j->err ? j->err : -EBADMSG;
	err = take_members(j, keys, 2, found);
	if (!err)
		report_container(found[0], found[1], fn, ctx);
	return err;
}

/* The name of a pod's container has kubectl's form: namespace/pod/container. */
static void report_annotations(const char *id, const struct text found[4], store_file_fn fn,
			       void *ctx)
{
	char name[CONTAINER_RECORD_NAME_MAX + 1];
	size_t used = 0;

	for (size_t i = 1; i < 4; i++) {
		if (!found[i].size_bytes)
			continue;
		if (used + found[i].size_bytes + 2 > sizeof(name)) /* of the file: no sum wraps */
			return;
		if (used)
			name[used++] = '/';
		memcpy(name + used, found[i].data, found[i].size_bytes);
		used += found[i].size_bytes;
	}
	if (found[0].size_bytes)
		report_container((struct text){ id, CONTAINER_RECORD_DIGITS }, found[0], fn, ctx);
	else if (found[2].size_bytes)
		report_container((struct text){ id, CONTAINER_RECORD_DIGITS },
				 (struct text){ name, used }, fn, ctx);
}

static int parse_oci(struct json_reader *j, const char *id, store_file_fn fn, void *ctx)
{
	static const char *const keys[] = { "nerdctl/name", "io.kubernetes.cri.sandbox-namespace",
					    "io.kubernetes.cri.sandbox-name",
					    "io.kubernetes.cri.container-name" };
	struct text found[4] = { 0 };
	int err = 0;

	if (json_reader_next(j) != JSON_READER_OBJECT)
		return j->err ? j->err : -EBADMSG;
	while (!err && json_reader_next(j) == JSON_READER_KEY) {
		bool wanted = json_reader_is(j, "annotations");

		if (!wanted)
			err = json_reader_skip(j);
		else if (json_reader_next(j) != JSON_READER_OBJECT)
			return j->err ? j->err : -EBADMSG;
		else
			err = take_members(j, keys, 4, found);
	}
	if (!err && !j->err)
		report_annotations(id, found, fn, ctx);
	return err ? err : j->err;
}

static void report_path(struct text path, store_file_fn fn, void *ctx)
{
	if (path.size_bytes && *path.data == '/' && path.size_bytes < STORE_PATH_MAX &&
	    !memchr(path.data, '\0', path.size_bytes))
		fn(ctx, "", path.data, path.size_bytes);
}

static int parse_conf(const char *data, size_t size_bytes, store_file_fn fn, void *ctx)
{
	char *copy = strndup(data, size_bytes), *rest = copy, *line, *root;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		root = container_paths_graphroot(line);
		if (root)
			report_path((struct text){ root, strlen(root) }, fn, ctx);
	}
	free(copy);
	return 0;
}

/* {"data-root": "/srv/docker"} */
static int parse_daemon(struct json_reader *j, store_file_fn fn, void *ctx)
{
	static const char *const keys[] = { "data-root" };
	struct text found = { 0 };
	int err;

	if (json_reader_next(j) != JSON_READER_OBJECT)
		return j->err ? j->err : -EBADMSG;
	err = take_members(j, keys, 1, &found);
	if (!err)
		report_path(found, fn, ctx);
	return err;
}

/* name:password:uid:gid:gecos:home:shell */
static void parse_passwd(const char *passwd, const char *key, store_file_fn fn, void *ctx)
{
	const unsigned long long uid = strtoull(key, NULL, 10);
	const char *line, *end, *field;
	char *after;
	int i;

	for (line = passwd; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		for (i = 0, field = line; field && i < 5; i++) {
			if (i == 2 &&
			    (strtoull(field, &after, 10) != uid || after == field || *after != ':'))
				break;
			field = memchr(field, ':', (size_t)(end - field));
			field = field ? field + 1 : NULL;
		}
		if (field && i == 5 && *field == '/') {
			report_path((struct text){ field, strcspn(field, ":\n") }, fn, ctx);
			return;
		}
	}
}

int store_file_parse(enum store_file form, const char *data, size_t size_bytes, const char *key,
		     store_file_fn fn, void *ctx)
{
	struct json_reader j = { .data = data, .size_bytes = size_bytes };

	switch (form) {
	case STORE_FILE_LIST:
		return parse_list(&j, fn, ctx);
	case STORE_FILE_DOCKER:
		return parse_docker(&j, fn, ctx);
	case STORE_FILE_OCI:
		return parse_oci(&j, key, fn, ctx);
	case STORE_FILE_CONF:
		return parse_conf(data, size_bytes, fn, ctx);
	case STORE_FILE_DAEMON:
		return parse_daemon(&j, fn, ctx);
	case STORE_FILE_PASSWD:
		parse_passwd(data, key, fn, ctx);
		return 0;
	case STORE_FILE_FORMS:
		break;
	}
	return -ENOTSUP;
}
