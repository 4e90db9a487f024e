/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/mount_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/container_layers.h"
#include "analyze/names/mount_paths.h"
#include "format/base/vec.h"
#include "format/payload/file_facts.h"

#define NESTING_MAX 8 /* overlays whose layers lie in overlays */

struct namespace
{
	uint64_t inode; /* 0: the recorder's */
	struct mount_paths *mounts;
};

struct fact {
	struct file_facts facts; /* texts are in objects */
	char *path, *root;
};

struct mount_hints {
	struct namespace *namespaces;
	size_t namespace_count, namespace_cap;
	struct fact *facts;
	size_t count, capacity;
};

/* ---- reading ---- */

static int add_mounts(struct mount_hints *h, uint64_t inode, const char *text, size_t size_bytes)
{
	struct mount_paths *m;
	int err;

	err = mount_paths_parse(text, size_bytes, &m);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = vec_reserve(&h->namespaces, &h->namespace_cap, h->namespace_count + 1);
	if (err)
		mount_paths_free(m);
	else
		h->namespaces[h->namespace_count++] = (struct namespace){ inode, m };
	return err;
}

static int add_facts(struct mount_hints *h, const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct fact f;
	int err = 0;

	while (!err && file_facts_next(&c, &f.facts) == 1) {
		f.path = strndup(f.facts.path.text, f.facts.path.size_bytes);
		f.root = strndup(f.facts.root.text, f.facts.root.size_bytes);
		err = f.path && f.root ? vec_reserve(&h->facts, &h->capacity, h->count + 1)
				       : -ENOMEM;
		if (!err) {
			h->facts[h->count++] = f;
		} else {
			free(f.path);
			free(f.root);
		}
	}
	return err;
}

int mount_hints_read(const struct capture *c, struct mount_hints **out)
{
	struct mount_hints *h = calloc(1, sizeof(*h));
	size_t count, size_bytes;
	const struct capture_object *objects = capture_objects(c, &count);
	uint8_t *data;
	int err = h ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		if (objects[i].kind != EBX_MOUNTS && objects[i].kind != EBX_FACTS)
			continue;
		err = capture_object_read(c, &objects[i], &data, &size_bytes);
		if (err) {
			err = err == -ENOMEM ? err : 0;
			continue;
		}
		err = objects[i].kind == EBX_FACTS
			      ? add_facts(h, data, size_bytes)
			      : add_mounts(h, objects[i].object, (const char *)data, size_bytes);
		free(data);
	}
	if (err)
		mount_hints_free(h);
	else
		*out = h;
	return err;
}

void mount_hints_free(struct mount_hints *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->namespace_count; i++)
		mount_paths_free(h->namespaces[i].mounts);
	for (size_t i = 0; i < h->count; i++) {
		free(h->facts[i].path);
		free(h->facts[i].root);
	}
	free(h->namespaces);
	free(h->facts);
	free(h);
}

/* ---- questions ---- */

/* The last record of that namespace is the newest. */
static const struct mount_paths *mounts_of(const struct mount_hints *h, uint64_t inode)
{
	for (size_t i = h->namespace_count; i--;)
		if (h->namespaces[i].inode == inode)
			return h->namespaces[i].mounts;
	return NULL;
}

static bool is_of(const struct file_facts *a, const struct resolver_file *f)
{
	if (f->id.build_id.size_bytes)
		return buildid_same(&a->id.build_id, &f->id.build_id);
	return f->id.inode && file_id_same_inode(&a->id, &f->id) &&
	       a->id.inode_generation == f->id.inode_generation && !a->id.build_id.size_bytes;
}

static void complete(const void *ctx, struct resolver_file *f)
{
	const struct mount_hints *h = ctx;

	for (size_t i = 0; i < h->count; i++) {
		const struct file_facts *a = &h->facts[i].facts;

		if (!is_of(a, f))
			continue;
		f->size_bytes = a->size_bytes;
		f->mtime_ns = a->mtime_ns;
		f->sum = a->sum;
		f->segments = a->segments;
		f->segment_count = a->segment_count;
		return;
	}
	f->not_read = h->count && f->id.inode && !f->id.build_id.size_bytes;
}

struct search {
	const struct mount_paths *host;
	resolver_path_fn fn;
	void *arg;
	unsigned group, nesting;
};

static int try_path(struct search *s, const struct mount_paths *ns, const char *path);

static int pass_path(void *ctx, const char *path)
{
	struct search *s = ctx;

	return s->fn(s->arg, path, s->group);
}

/* Layers are paths of the namespace in which the overlay was mounted: mostly the host's. */
static int pass_layer(void *ctx, const char *path)
{
	struct search *s = ctx;
	int stop = pass_path(s, path);

	if (stop || s->nesting >= NESTING_MAX)
		return stop;
	s->nesting++;
	stop = try_path(s, s->host, path);
	s->nesting--;
	return stop;
}

static int try_path(struct search *s, const struct mount_paths *ns, const char *path)
{
	const struct mount *mount;
	char *inside;
	int stop;

	mount = ns ? mount_paths_find(ns, path, &inside) : NULL;
	if (!mount)
		return 0;
	stop = mount_paths_seen(s->host, mount, inside, pass_path, s);
	if (!stop && mount_paths_is_overlay(mount)) {
		s->group++;
		stop = mount_paths_layers(mount, inside, pass_layer, s);
	}
	free(inside);
	return stop;
}

static int pass_alone(void *ctx, const char *path)
{
	struct search *s = ctx;

	s->group++; /* no layer hides another: they may be of different containers */
	return pass_path(s, path);
}

/*
 * Tries the layers that container engines mount without listing them; without a build-id or a
 * checksum any would do.
 */
static int try_stores(struct search *s, const struct mount_paths *ns, const struct fact *f)
{
	const struct mount *mount;
	bool hidden = false;
	char *inside;

	mount = f->facts.id.build_id.size_bytes || f->facts.sum.has_loaded
			? mount_paths_find(ns, f->path, &inside)
			: NULL;
	if (mount) {
		hidden = strstr(mount->type, "overlay") != NULL;
		free(inside);
	}
	return hidden ? container_layers_each(f->path, pass_alone, s) : 0;
}

/*
 * MMAP2 records of a process in a chroot have paths below its root, and /proc has the complete
 * ones.
 */
static int try_in(struct search *s, const struct mount_paths *ns, const struct fact *f)
{
	char *path;
	int stop = 0;

	if (*f->root && asprintf(&path, "%s%s", f->root, f->path) >= 0) {
		stop = try_path(s, ns, path);
		if (!stop)
			stop = pass_path(s, path);
		free(path);
	}
	if (!stop)
		stop = try_path(s, ns, f->path);
	s->group++;
	if (!stop)
		stop = mount_paths_any_layers(ns, f->path, pass_layer, s);
	return stop ? stop : try_stores(s, ns, f);
}

/* A namespace may have been recorded several times; its last state comes first. */
static int try_fact(struct search *s, const struct mount_hints *h, const struct fact *f)
{
	int stop = 0;

	for (size_t i = h->namespace_count; *f->path == '/' && !stop && i--;)
		if (h->namespaces[i].inode == f->facts.mount_namespace)
			stop = try_in(s, h->namespaces[i].mounts, f);
	return stop;
}

static int paths(const void *ctx, const struct resolver_file *f, resolver_path_fn fn, void *arg)
{
	const struct mount_hints *h = ctx;
	struct search s = { .host = mounts_of(h, 0), .fn = fn, .arg = arg };
	int stop = 0;

	for (size_t i = 0; !stop && s.host && i < h->count; i++)
		if (is_of(&h->facts[i].facts, f))
			stop = try_fact(&s, h, &h->facts[i]);
	return stop;
}

struct resolver_hints mount_hints_for_resolver(const struct mount_hints *h)
{
	return (struct resolver_hints){ .complete = complete, .paths = paths, .ctx = h };
}
