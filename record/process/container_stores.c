/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container_stores.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/payload/container_record.h"
#include "format/contract/container_paths.h"
#include "format/base/json_reader.h"
#include "format/base/outbuf.h"
#include "format/base/slurp.h"

struct text {
	const char *data;
	size_t size_bytes;
};

/* ---- what the files say ---- */

static bool is_id(struct text t)
{
	if (t.size_bytes != CONTAINER_RECORD_DIGITS)
		return false;
	for (size_t i = 0; i < t.size_bytes; i++)
		if (!isxdigit((unsigned char)t.data[i]))
			return false;
	return true;
}

static void tell(struct text id, struct text name, container_stores_fn fn, void *ctx)
{
	if (name.size_bytes && *name.data == '/') { /* docker's */
		name.data++;
		name.size_bytes--;
	}
	if (is_id(id) && container_record_is_name(name.data, name.size_bytes))
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

static int parse_list(struct json_reader *j, container_stores_fn fn, void *ctx)
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
			tell(found[0], found[1], fn, ctx);
	}
	return err ? err : j->err;
}

static int parse_docker(struct json_reader *j, container_stores_fn fn, void *ctx)
{
	static const char *const keys[] = { "ID", "Name" };
	struct text found[2] = { 0 };
	int err;

	if (json_reader_next(j) != JSON_READER_OBJECT)
		return j->err ? j->err : -EBADMSG;
	err = take_members(j, keys, 2, found);
	if (!err)
		tell(found[0], found[1], fn, ctx);
	return err;
}

/* What is told of a pod is told as kubectl says it: namespace/pod/container. */
static void tell_annotations(const char *id, const struct text found[4], container_stores_fn fn,
			     void *ctx)
{
	char name[CONTAINER_RECORD_NAME_MAX + 1];
	size_t used = 0;

	for (size_t i = 1; i < 4; i++) {
		if (!found[i].size_bytes)
			continue;
		if (found[i].size_bytes > sizeof(name) - used - 2)
			return;
		if (used)
			name[used++] = '/';
		memcpy(name + used, found[i].data, found[i].size_bytes);
		used += found[i].size_bytes;
	}
	if (found[0].size_bytes)
		tell((struct text){ id, CONTAINER_RECORD_DIGITS }, found[0], fn, ctx);
	else if (found[2].size_bytes)
		tell((struct text){ id, CONTAINER_RECORD_DIGITS }, (struct text){ name, used }, fn,
		     ctx);
}

static int parse_oci(struct json_reader *j, const char *id, container_stores_fn fn, void *ctx)
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
		tell_annotations(id, found, fn, ctx);
	return err ? err : j->err;
}

int container_stores_parse(enum container_stores_form form, const char *data, size_t size_bytes,
			   const char *id, container_stores_fn fn, void *ctx)
{
	struct json_reader j = { .data = data, .size_bytes = size_bytes };

	switch (form) {
	case CONTAINER_STORES_LIST:
		return parse_list(&j, fn, ctx);
	case CONTAINER_STORES_DOCKER:
		return parse_docker(&j, fn, ctx);
	case CONTAINER_STORES_OCI:
		return parse_oci(&j, id, fn, ctx);
	}
	return -ENOTSUP;
}

/* ---- where they are ---- */

static const char *const oci_folders[] = {
	"/run/containerd/io.containerd.runtime.v2.task/k8s.io",
	"/run/containerd/io.containerd.runtime.v2.task/default",
	"/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io",
};

/* Of a list of containers, by how their layers are stored. */
static const char *const drivers[] = { "overlay", "vfs", "btrfs" };

struct look {
	int root_fd;
	const char *id;
	container_stores_fn fn;
	void *ctx;
	struct outbuf text; /* used again and again */
};

/* O_PATH first: a device may do anything when it is opened. */
int container_stores_read(int root_fd, const char *path, struct outbuf *out)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how)), err = -EPERM;
	char again[40];
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		err = -EOVERFLOW;
		snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
		if (st.st_size <= CONTAINER_STORES_FILE_MAX)
			err = slurp(again, out);
	}
	close(fd);
	if (!err && out->size_bytes > CONTAINER_STORES_FILE_MAX)
		err = -EOVERFLOW;
	return err;
}

static void look_at(struct look *l, enum container_stores_form form, const char *path)
{
	outbuf_clear(&l->text);
	if (!container_stores_read(l->root_fd, path, &l->text) && l->text.size_bytes)
		(void)container_stores_parse(form, (const char *)l->text.data, l->text.size_bytes,
					     l->id, l->fn, l->ctx);
}

static void __attribute__((format(printf, 3, 4)))
look_below(struct look *l, enum container_stores_form form, const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	if (path)
		look_at(l, form, path);
	free(path);
}

static void look_in_graphroot(struct look *l, const char *base, const char *root)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		look_below(l, CONTAINER_STORES_LIST, "%s%s/%s-containers/containers.json", base,
			   root, drivers[i]);
}

static void look_in_conf(struct look *l, const char *base, const char *path)
{
	struct outbuf text = { 0 };
	char *conf, *line, *rest, *root;

	if (asprintf(&conf, "%s%s", base, path) < 0)
		return;
	if (!container_stores_read(l->root_fd, conf, &text) && text.size_bytes) {
		rest = (char *)text.data;
		while ((line = strsep(&rest, "\n"))) {
			root = container_paths_graphroot(line);
			if (root)
				look_in_graphroot(l, "", root);
		}
	}
	outbuf_done(&text);
	free(conf);
}

/* {"data-root": "/srv/docker"} */
static void look_in_daemon_json(struct look *l)
{
	static const char *const keys[] = { "data-root" };
	struct outbuf text = { 0 };
	struct text found = { 0 };
	struct json_reader j = { 0 };

	if (!container_stores_read(l->root_fd, "/etc/docker/daemon.json", &text) &&
	    text.size_bytes) {
		j.data = (const char *)text.data;
		j.size_bytes = text.size_bytes;
		if (json_reader_next(&j) == JSON_READER_OBJECT &&
		    !take_members(&j, keys, 1, &found) && found.size_bytes &&
		    found.size_bytes < 4096 && *found.data == '/')
			look_below(l, CONTAINER_STORES_DOCKER,
				   "%.*s/containers/%.*s/config.v2.json", (int)found.size_bytes,
				   found.data, CONTAINER_RECORD_DIGITS, l->id);
	}
	outbuf_done(&text);
}

static void look_in_lists(struct look *l, const char *home)
{
	look_in_graphroot(l, "", "/var/lib/containers/storage");
	look_below(l, CONTAINER_STORES_LIST, "%s/%s", "/run/containers/storage",
		   "overlay-containers/volatile-containers.json");
	look_in_conf(l, "", "/etc/containers/storage.conf");
	look_in_conf(l, "", "/usr/share/containers/storage.conf");
	if (home) {
		look_in_graphroot(l, home, "/.local/share/containers/storage");
		look_in_conf(l, home, "/.config/containers/storage.conf");
	}
}

void container_stores_look(int root_fd, const char *home, const char *id,
			   enum container_stores_which which, container_stores_fn fn, void *ctx)
{
	struct look l = { .root_fd = root_fd, .id = id, .fn = fn, .ctx = ctx };

	if (which == CONTAINER_STORES_ALL)
		look_in_lists(&l, home);
	for (size_t i = 0; i < sizeof(oci_folders) / sizeof(oci_folders[0]); i++)
		look_below(&l, CONTAINER_STORES_OCI, "%s/%.*s/config.json", oci_folders[i],
			   CONTAINER_RECORD_DIGITS, id);
	look_below(&l, CONTAINER_STORES_DOCKER, "/var/lib/docker/containers/%.*s/config.v2.json",
		   CONTAINER_RECORD_DIGITS, id);
	look_in_daemon_json(&l);
	if (home)
		look_below(&l, CONTAINER_STORES_DOCKER,
			   "%s/.local/share/docker/containers/%.*s/config.v2.json", home,
			   CONTAINER_RECORD_DIGITS, id);
	outbuf_done(&l.text);
}

/* name:password:uid:gid:gecos:home:shell */
char *container_stores_home(const char *passwd, uint32_t uid)
{
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
		if (field && i == 5 && *field == '/')
			return strndup(field, strcspn(field, ":\n"));
	}
	return NULL;
}
