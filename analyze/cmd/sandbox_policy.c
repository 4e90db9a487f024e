/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/cmd/sandbox.h"
#include "analyze/sym/locate/open_in_root.h"

#define PATHS_MAX 512

/* Where a program finds its libraries, the time zone, the number of CPUs. */
static const char *const system_paths[] = {
	"/usr",        "/lib",          "/lib64",       "/etc/ld.so.cache",
	"/proc/self",  "/dev/null",     "/dev/urandom", "/sys/devices/system/cpu",
	"/etc/passwd", "/etc/terminfo",
};

struct paths {
	const char *list[PATHS_MAX];
	size_t count;
};

static void add(struct paths *p, const char *path)
{
	if (path && *path && p->count < PATHS_MAX)
		p->list[p->count++] = path;
}

static const struct option *find(const struct usage *u, const char *name)
{
	for (const struct option *o = u->options; o->type != OPT_END; o++) {
		if (!strcmp(o->long_name, name))
			return o;
	}
	return NULL;
}

/* NULL: not given, or no such option. */
static const char *text_of(const struct usage *u, const void *opts, const char *name)
{
	const struct option *o = find(u, name);

	return o && o->type == OPT_STRING
		       ? *(const char *const *)(const void *)((const char *)opts + o->offset)
		       : NULL;
}

static bool flag_of(const struct usage *u, const void *opts, const char *name)
{
	const struct option *o = find(u, name);

	return o && o->type == OPT_FLAG &&
	       *(const bool *)(const void *)((const char *)opts + o->offset);
}

/* All that was given: what of it is no path is not there. */
static void add_named(struct paths *p, const struct usage *u, const void *opts, char *const *words)
{
	for (const struct option *o = u->options; o->type != OPT_END; o++) {
		const void *at = (const char *)opts + o->offset;
		const struct option_list *list = at;

		if (o->type == OPT_STRING)
			add(p, *(const char *const *)at);
		for (unsigned i = 0; o->type == OPT_LIST && i < list->count; i++)
			add(p, list->values[i]);
	}
	for (; *words; words++)
		add(p, *words);
}

/* The folder that a file is in, owned; NULL: no memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* libdebuginfod's cache, owned and there; NULL: it has none. */
static char *fetch_folder(void)
{
	const char *named = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	char *path = NULL, *end;

	const char *parent = cache && *cache ? cache : home;

	if (named && *named)
		path = strdup(named);
	else if (parent && asprintf(&path, "%s%s/debuginfod_client", parent,
				    parent == home ? "/.cache" : "") < 0)
		path = NULL;
	for (end = path ? strchr(path + 1, '/') : NULL; end; end = strchr(end + 1, '/')) {
		*end = '\0';
		(void)mkdir(path, 0700);
		*end = '/';
	}
	if (path)
		(void)mkdir(path, 0700);
	return path;
}

static bool wants_network(const struct usage *u, const void *opts)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!find(u, "debuginfod") || flag_of(u, opts, "offline"))
		return false;
	return text_of(u, opts, "debuginfod") || (urls && *urls);
}

/* What the command will write; NULL: nothing but standard output. */
static const char *output_of(const struct usage *u, const void *opts, char *const *words)
{
	const char *output = text_of(u, opts, "output"), *input = text_of(u, opts, "input");

	if (output)
		return strcmp(output, "-") != 0 ? output : NULL;
	if (u->reads != USAGE_REPLACES)
		return NULL;
	return input ? input : *words ? *words : "ebprec.data";
}

static void add_roots(struct paths *p, const struct usage *u, const void *opts, char *const *words)
{
	const char *home = getenv("HOME");

	if (roots_is_host(text_of(u, opts, "symfs"))) {
		add(p, "/");
		return;
	}
	add_named(p, u, opts, words);
	add(p, "ebprec.data");
	add(p, "ebprec.data.old");
	add(p, home); /* perf's cache of files */
	for (size_t i = 0; i < sizeof(system_paths) / sizeof(system_paths[0]); i++)
		add(p, system_paths[i]);
}

void confine(const struct usage *u, const void *opts, char *const *words)
{
	const char *off = getenv(CONFINE_VARIABLE), *output = output_of(u, opts, words);
	bool network = wants_network(u, opts);
	char *folder = output ? folder_of(output) : NULL,
	     *fetched = network ? fetch_folder() : NULL;
	struct paths *read = calloc(2, sizeof(*read)), *write = read ? read + 1 : NULL;

	if (read && !(off && !strcmp(off, "0"))) {
		add_roots(read, u, opts, words);
		add(write, folder);
		add(write, fetched);
		if (network)
			add(read, "/etc"); /* names of hosts, certificates */
		/* What the kernel cannot do, `ebprec doctor` says. */
		(void)sandbox_enter(&(struct sandbox_opts){
			.read = read->list,
			.read_count = read->count,
			.write = write->list,
			.write_count = write->count,
			.network = network,
		});
	}
	free(read);
	free(folder);
	free(fetched);
}
