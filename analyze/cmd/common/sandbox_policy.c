/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/sandbox_policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/cmd/common/name_options.h"
#include "analyze/cmd/sandbox/opener_process.h"
#include "analyze/cmd/sandbox/sandbox.h"
#include "analyze/names/container_layers.h"
#include "analyze/out/message.h"
#include "analyze/report/quality/debian_packages.h"
#include "analyze/spool/spool.h"
#include "analyze/sym/locate/open_in_root.h"

#define PATHS_MAX 512

/*
 * Paths that a program itself needs: libraries and their data, the time zone, the number of CPUs.
 */
static const char *const system_paths[] = {
	"/usr/lib",       "/usr/lib64",    "/usr/share",
	"/lib",           "/lib64",        "/etc/ld.so.cache",
	"/etc/localtime", "/etc/terminfo", "/proc/self",
	"/dev/null",      "/dev/urandom",  "/proc/stat",
	"/proc/meminfo",  "/proc/cpuinfo", "/sys/devices/system/cpu",
};
/*
 * Sources of names besides programs: the kernel's symbols, where engines keep containers'
 * layers, and which packages have which files.
 */
static const char *const naming_paths[] = {
	"/proc/kallsyms",
	"/sys/kernel/notes",
	"/etc/containers/storage.conf",
	"/usr/share/containers/storage.conf",
	DEBIAN_PACKAGES_FOLDER,
};
/* Where the system's journals are, and which of them are of this machine. */
static const char *const journal_paths[] = { "/var/log/journal", "/run/log/journal",
					     "/etc/machine-id" };
/* Names of hosts, certificates; and where libraries may lie that are loaded for it. */
static const char *const network_paths[] = { "/etc", "/run/systemd/resolve", "/run/nscd", "/usr",
					     "/opt", "/nix/store",           "/gnu/store" };

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

/* One that the command works in, owned, and there if it can be: the command itself finds out whether it is. */
static char *own_folder(const struct usage *u, const void *opts)
{
	const char *path = text_of(u, opts, u->sends);

	if (!u->looks || !flag_of(u, opts, u->looks))
		(void)mkdir(path, 0700);
	return strdup(path);
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

	if (u->starts || !find(u, "debuginfod") || flag_of(u, opts, "offline"))
		return false;
	return text_of(u, opts, "debuginfod") || (urls && *urls);
}

/* The file that the command will write; NULL: nothing but standard output. */
static const char *output_of(const struct usage *u, const void *opts, char *const *words)
{
	const char *output = text_of(u, opts, "output"), *svg = text_of(u, opts, "svg"),
		   *html = text_of(u, opts, "html"), *input = text_of(u, opts, "input");

	output = output ? output : svg ? svg : html;
	if (output)
		return strcmp(output, "-") != 0 ? output : NULL;
	if (u->reads != USAGE_REPLACES)
		return NULL;
	return input ? input : *words ? *words : "ebprec.data";
}

static void add_all(struct paths *p, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(p, paths[i]);
}

/* The result of strdup() lives as long as the process: rules are made of it once. */
static int add_folder(void *list, const char *folder)
{
	add(list, strdup(folder));
	return 0;
}

struct policy {
	struct paths read, list, write;
	struct paths programs;                             /* that the opener may open */
	char *output_folder, *fetch_folder, *conf, *cache; /* owned */
	bool network, accepts, terminal;
	bool writes_there; /* the output is a file that is there, and stays the same one */
	bool sources;      /* the opener opens source code, too */
};

static void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->list.count; i++)
		free((char *)(uintptr_t)p->list.list[i]);
	free(p->output_folder);
	free(p->fetch_folder);
	free(p->conf);
	free(p->cache);
	free(p);
}

static void add_naming(struct policy *p, const char *symfs)
{
	const char *home = getenv("HOME");

	if (!home || *home != '/')
		home = "";
	if (asprintf(&p->conf, "%s/.config/containers/storage.conf", home) < 0)
		p->conf = NULL;
	if (asprintf(&p->cache, "%s/.debug", home) < 0) /* perf's */
		p->cache = NULL;
	p->programs = p->read; /* what was named: --symfs, --debug-dir */
	add(&p->programs, roots_is_host(symfs) ? "/" : p->cache);
	add_all(&p->read, naming_paths, sizeof(naming_paths) / sizeof(naming_paths[0]));
	add(&p->read, p->conf);
	(void)container_layers_folders(add_folder, &p->list);
}

static void add_spool(struct policy *p, const struct usage *u, const void *opts)
{
	const char *named = text_of(u, opts, "spool"), *folder = named ? named : spool_default();

	if (u->spool == USAGE_SPOOL_NONE)
		return;
	add(&p->read, folder);
	if (u->spool != USAGE_SPOOL_WRITES)
		return;
	add(&p->write, folder);
	p->writes_there = true;
}

static struct policy *policy_of(const struct usage *u, const void *opts, char *const *words)
{
	struct policy *p = calloc(1, sizeof(*p));
	const char *output = u->sends ? NULL : output_of(u, opts, words);

	if (!p)
		return NULL;
	p->network = !u->serves &&
		     (u->sends || (u->asks && text_of(u, opts, u->asks)) || wants_network(u, opts));
	p->accepts = u->serves;
	p->terminal = u->draws;
	p->writes_there = u->sends || (u->in_place && !text_of(u, opts, "output"));
	p->sources = text_of(u, opts, "annotate");
	p->output_folder = u->sends ? own_folder(u, opts) : output ? folder_of(output) : NULL;
	p->fetch_folder = wants_network(u, opts) ? fetch_folder() : NULL;
	add_named(&p->read, u, opts, words);
	add(&p->read, "ebprec.data");
	add(&p->read, "ebprec.data.old");
	add_all(&p->read, system_paths, sizeof(system_paths) / sizeof(system_paths[0]));
	if (find(u, "journal"))
		add_all(&p->read, journal_paths, sizeof(journal_paths) / sizeof(journal_paths[0]));
	if (find(u, "symfs") && !u->starts) /* what starts a reader has that one name */
		add_naming(p, text_of(u, opts, "symfs"));
	if (p->network)
		add_all(&p->read, network_paths, sizeof(network_paths) / sizeof(network_paths[0]));
	add(&p->write, p->output_folder);
	add(&p->write, p->fetch_folder);
	add(&p->read, p->fetch_folder);
	add_spool(p, u, opts);
	for (size_t i = 0; u->reads_also && u->reads_also[i]; i++)
		add(&p->read, u->reads_also[i]);
	if (u->reads_output || u->sends)
		add(&p->read, p->output_folder);
	return p;
}

static int enter(const struct policy *p)
{
	struct sandbox_result result;
	int err = sandbox_enter(
		&(struct sandbox_opts){
			.read = p->read.list,
			.read_count = p->read.count,
			.list = p->list.list,
			.list_count = p->list.count,
			.write = p->write.list,
			.write_count = p->write.count,
			.writes_there = p->writes_there,
			.network = p->network,
			.accepts = p->accepts,
			.terminal = p->terminal,
		},
		&result);

	if (err)
		message_error(
			"cannot enter the sandbox: %s is refused: %s (--no-sandbox reads without it)",
			result.refused, strerror(-err));
	return err;
}

static struct name_options *nameopts_of(const struct usage *u, void *opts)
{
	const struct option *symfs = u->starts ? NULL : find(u, "symfs");

	return symfs ? (struct name_options *)(void *)((char *)opts + symfs->offset -
						       offsetof(struct name_options, symfs))
		     : NULL;
}

static int enter_with(const struct policy *p, struct name_options *names)
{
	int opener = names ? opener_process_start(p->programs.list, p->programs.count, p->sources)
			   : 0;

	if (opener < 0) {
		message_error(
			"cannot enter the sandbox: the process that opens files cannot be started: "
			"%s (--no-sandbox reads without it)",
			strerror(-opener));
		return opener;
	}
	if (names)
		names->opener = opener;
	return enter(p);
}

bool confine(const struct usage *u, void *opts, char *const *words)
{
	const char *off = getenv(SANDBOX_POLICY_VARIABLE);
	struct name_options *names = nameopts_of(u, opts);
	struct policy *p;
	int err = -ENOMEM;

	if (off && !strcmp(off, "0"))
		return true;
	p = policy_of(u, opts, words);
	if (!p)
		message_error("cannot enter the sandbox: %s", strerror(ENOMEM));
	else
		err = enter_with(p, names);
	policy_free(p);
	return !err;
}
