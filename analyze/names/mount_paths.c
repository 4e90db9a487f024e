/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/mount_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

#define CROSSINGS_MAX 256 /* mounts on the way to a path */

struct mount_paths {
	char *text; /* a copy, cut into strings */
	struct mount *mounts;
	size_t count, capacity;
};

/* ---- reading ---- */

/* \040 and the like, in place. */
static void decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Cuts the next field off *line; NULL at the end. */
static char *field(char **line)
{
	char *f = *line;

	if (!f || !*f)
		return NULL;
	*line = strchr(f, ' ');
	if (*line)
		*(*line)++ = '\0';
	return f;
}

static bool number(const char *text, uint32_t *out)
{
	unsigned long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	v = strtoul(text, &end, 10);
	if (*end || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool device(char *text, struct mount *out)
{
	char *colon = text ? strchr(text, ':') : NULL;

	if (!colon)
		return false;
	*colon = '\0';
	return number(text, &out->dev_major) && number(colon + 1, &out->dev_minor);
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static bool parse_line(char *line, struct mount *out)
{
	char *root, *point, *source, *options, *f;

	if (!number(field(&line), &out->id) || !number(field(&line), &out->parent) ||
	    !device(field(&line), out))
		return false;
	root = field(&line);
	point = field(&line);
	if (!root || !point || *root != '/' || *point != '/' || !field(&line))
		return false; /* some, as nsfs, have a root that is no path */
	do
		f = field(&line);
	while (f && strcmp(f, "-") != 0);
	out->type = f ? field(&line) : NULL;
	source = out->type ? field(&line) : NULL;
	if (!source)
		return false;
	options = field(&line);
	decode(root);
	decode(point);
	decode(source);
	out->root = root;
	out->point = point;
	out->source = source;
	out->options = options ? options : "";
	return true;
}

static int parse(struct mount_paths *m)
{
	char *line = m->text, *next;
	struct mount mount;
	int err = 0;

	for (; !err && line && *line && m->count < MOUNT_PATHS_MOUNTS_MAX; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!parse_line(line, &mount))
			continue;
		err = vec_reserve(&m->mounts, &m->capacity, m->count + 1);
		if (!err)
			m->mounts[m->count++] = mount;
	}
	return err ? err : m->count ? 0 : -ENOENT;
}

int mount_paths_parse(const char *text, size_t size_bytes, struct mount_paths **out)
{
	struct mount_paths *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return -ENOMEM;
	m->text = malloc(size_bytes + 1);
	if (m->text) {
		if (size_bytes)
			memcpy(m->text, text, size_bytes);
		m->text[size_bytes] = '\0';
		err = parse(m);
	}
	if (err) {
		mount_paths_free(m);
		return err;
	}
	*out = m;
	return 0;
}

void mount_paths_free(struct mount_paths *m)
{
	if (!m)
		return;
	free(m->text);
	free(m->mounts);
	free(m);
}

/* ---- following a path ---- */

/* The rest of path below folder, "" or "/..."; NULL when it is not below. */
static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (n == 1) /* "/" */
		return strcmp(path, "/") ? path : "";
	if (strncmp(path, folder, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

static bool has_id(const struct mount_paths *m, uint32_t id)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->mounts[i].id == id)
			return true;
	return false;
}

/* The mount at "/" that the others hang on: its own parent is outside, or itself. */
static const struct mount *root_mount(const struct mount_paths *m)
{
	const struct mount *any = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const struct mount *mount = &m->mounts[i];

		if (strcmp(mount->point, "/") != 0)
			continue;
		if (mount->parent == mount->id || !has_id(m, mount->parent))
			return mount;
		any = mount;
	}
	return any;
}

/* The mount on `on` that the way to path meets first; of several on one point the last. */
static const struct mount *first_crossing(const struct mount_paths *m, const struct mount *on,
					  const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->count; i++) {
		const struct mount *mount = &m->mounts[i];

		if (mount->parent != on->id || mount->id == on->id || !below(path, mount->point))
			continue;
		if (!best || strlen(mount->point) <= strlen(best->point))
			best = mount;
	}
	return best;
}

/* In a chroot no mount may be at "/": then the longest point is taken. */
static const struct mount *longest_point(const struct mount_paths *m, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->count; i++)
		if (below(path, m->mounts[i].point) &&
		    (!best || strlen(m->mounts[i].point) >= strlen(best->point)))
			best = &m->mounts[i];
	return best;
}

static const struct mount *follow(const struct mount_paths *m, const char *path)
{
	const struct mount *at = root_mount(m), *next = at;

	if (!at)
		return longest_point(m, path);
	for (int n = 0; next && n < CROSSINGS_MAX; n++) {
		at = next;
		next = first_crossing(m, at, path);
	}
	return at;
}

static char *join(const char *folder, const char *rest)
{
	char *path;

	if (!strcmp(folder, "/"))
		folder = "";
	if (asprintf(&path, "%s%s", folder, *folder || *rest ? rest : "/") < 0)
		return NULL;
	return path;
}

const struct mount *mount_paths_find(const struct mount_paths *m, const char *path, char **inside)
{
	const struct mount *mount = *path == '/' ? follow(m, path) : NULL;
	const char *rest = mount ? below(path, mount->point) : NULL;
	char *is = rest ? join(mount->root, rest) : NULL;

	if (!is)
		return NULL;
	*inside = is;
	return mount;
}

/* ---- and back ---- */

int mount_paths_seen(const struct mount_paths *m, const struct mount *of, const char *inside,
		     mount_paths_fn fn, void *ctx)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < m->count; i++) {
		const struct mount *mount = &m->mounts[i];
		const char *rest = mount->dev_major == of->dev_major &&
						   mount->dev_minor == of->dev_minor
					   ? below(inside, mount->root)
					   : NULL;
		char *path = rest ? join(mount->point, rest) : NULL;

		if (rest && !path)
			return -ENOMEM;
		if (path && follow(m, path) == mount)
			stop = fn(ctx, path);
		free(path);
	}
	return stop;
}

/* ---- overlayfs ---- */

/* The end of a layer in a list: a colon without a backslash. */
static const char *layer_end(const char *s)
{
	for (; *s && *s != ':'; s++)
		if (s[0] == '\\' && s[1])
			s++;
	return s;
}

/* [from, to) without the backslashes; owned. */
static char *layer_of(const char *from, const char *to)
{
	char *layer = strndup(from, (size_t)(to - from)), *in = layer, *out = layer;

	if (!layer)
		return NULL;
	for (; *in; in++) {
		if (in[0] == '\\' && in[1])
			in++;
		*out++ = *in;
	}
	*out = '\0';
	return layer;
}

/* A relative layer was named from the folder that holds the layers, as "l/ABCD". */
static char *in_storage(const char *upper, const char *layer)
{
	const char *end = upper ? strrchr(upper, '/') : NULL;
	char *path;

	while (end && end > upper && *--end != '/')
		;
	if (!end || asprintf(&path, "%.*s/%s", (int)(end - upper), upper, layer) < 0)
		return NULL;
	return path;
}

static int pass_layer(const char *from, const char *to, const char *upper, const char *inside,
		      mount_paths_fn fn, void *ctx)
{
	char *layer = layer_of(from, to), *absolute = NULL, *path;
	int stop;

	if (layer && *layer && *layer != '/') {
		absolute = in_storage(upper, layer);
		free(layer);
		layer = absolute;
	}
	path = layer && *layer ? join(layer, inside) : NULL;
	stop = path ? fn(ctx, path) : 0;
	free(path);
	free(layer);
	return stop;
}

/* The layers of one value, [from, to) as mountinfo has it. */
static int pass_value(const char *from, const char *to, const char *upper, const char *inside,
		      mount_paths_fn fn, void *ctx)
{
	char *value = strndup(from, (size_t)(to - from)), *s = value, *end;
	int stop = 0;

	if (!value)
		return -ENOMEM;
	decode(value);
	for (; !stop && *s; s = *end ? end + 1 : end) {
		end = (char *)(uintptr_t)layer_end(s);
		if (end > s) /* "::" stands before layers of data only */
			stop = pass_layer(s, end, upper, inside, fn, ctx);
	}
	free(value);
	return stop;
}

/* All values of an option: "lowerdir=a:b", "lowerdir+=c", "datadir+=d".  Commas in them are \054. */
static int pass_layers(const char *options, const char *name, const char *upper, const char *inside,
		       mount_paths_fn fn, void *ctx)
{
	size_t n = strlen(name);
	const char *s, *end;
	int stop = 0;

	for (s = options; !stop && *s; s = *end ? end + 1 : end) {
		end = strchrnul(s, ',');
		if (!strncmp(s, name, n))
			stop = pass_value(s + n, end, upper, inside, fn, ctx);
	}
	return stop;
}

static int take(void *ctx, const char *path)
{
	char **out = ctx;

	*out = strdup(path);
	return 1;
}

bool mount_paths_is_overlay(const struct mount *mount)
{
	return !strcmp(mount->type, "overlay") || !strcmp(mount->type, "fuse.fuse-overlayfs");
}

int mount_paths_layers(const struct mount *overlay, const char *inside, mount_paths_fn fn,
		       void *ctx)
{
	static const char *const lower[] = { "lowerdir=", "lowerdir+=", "datadir+=" };
	char *upper = NULL;
	int stop;

	if (!mount_paths_is_overlay(overlay))
		return 0;
	pass_layers(overlay->options, "upperdir=", NULL, "", take, &upper);
	stop = pass_layers(overlay->options, "upperdir=", NULL, inside, fn, ctx);
	for (size_t i = 0; !stop && i < sizeof(lower) / sizeof(lower[0]); i++)
		stop = pass_layers(overlay->options, lower[i], upper, inside, fn, ctx);
	free(upper);
	return stop;
}

int mount_paths_any_layers(const struct mount_paths *m, const char *inside, mount_paths_fn fn,
			   void *ctx)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < m->count; i++)
		stop = mount_paths_layers(&m->mounts[i], inside, fn, ctx);
	return stop;
}
