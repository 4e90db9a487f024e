/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/name_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/out/message.h"

#define URLS_VARIABLE "DEBUGINFOD_URLS"
#define BLANK         "\r\033[K"

/* libdebuginfod knows its servers from the environment only. */
static bool wants_fetcher(const struct name_options *opts)
{
	const char *urls;

	if (opts->offline)
		return false;
	if (opts->debuginfod && setenv(URLS_VARIABLE, opts->debuginfod, 1))
		return false;
	urls = getenv(URLS_VARIABLE);
	return urls && *urls;
}

/* A line on the terminal that goes on; nothing where stderr is none. */
static void show_progress(void *arg, const struct fetch_progress *p)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (p->ended)
		fputs(BLANK, stderr);
	else if (p->total_bytes)
		fprintf(stderr, BLANK "debuginfod: %.12s %.1f of %.1f MB", p->build_id,
			(double)p->done_bytes / 1e6, (double)p->total_bytes / 1e6);
	else
		fprintf(stderr, BLANK "debuginfod: %.12s ...", p->build_id);
	fflush(stderr);
}

int name_roots_make(const struct name_options *opts, struct name_root_options *out, bool quiet)
{
	struct debuginfod_opts fetch = {
		.limit_ns = (uint64_t)opts->debuginfod_time_s * 1000000000ULL,
		.progress = quiet ? NULL : show_progress,
	};
	const char *home = getenv("HOME");
	char *cache = NULL;
	int err = 0;

	if (home && *home == '/' && asprintf(&cache, "%s/.debug", home) < 0)
		return -ENOMEM;
	*out = (struct name_root_options){
		.roots = {
			.symfs = opts->symfs,
			.debug_dirs = opts->debug_dirs.values,
			.debug_dir_count = opts->debug_dirs.count,
			.cache = cache,
			.function_addresses = opts->function_addresses,
			.opener = opts->opener,
		},
		.cache = cache,
	};
	if (wants_fetcher(opts))
		err = debuginfod_new(&fetch, &out->roots.fetcher);
	if (err == -ENOMEM)
		name_roots_done(out);
	return err;
}

void name_roots_done(struct name_root_options *r)
{
	debuginfod_free(r->roots.fetcher);
	free(r->cache);
	*r = (struct name_root_options){ 0 };
}

void name_roots_note_fetched(const struct name_root_options *r)
{
	const struct fetch_counts *c = r->roots.fetcher ? debuginfod_counts(r->roots.fetcher)
							: NULL;
	const char *urls = getenv(URLS_VARIABLE);

	if (!c || (!c->found && !c->missing && !c->refused && !c->not_asked))
		return;
	message_note("debuginfod: %" PRIu32 " files found (%.1f MB), %" PRIu32 " not there",
		     c->found, (double)c->bytes / 1e6, c->missing - (c->err ? 1 : 0));
	if (c->refused)
		message_note("debuginfod: %" PRIu32
			     " came with another build-id than was asked for, not "
			     "used (the server is wrong, or the cache is damaged)",
			     c->refused);
	if (c->err == -ETIMEDOUT || c->err == -ETIME)
		message_note("debuginfod: '%s' took too long, %" PRIu32
			     " files were not asked for (see --debuginfod-time, --offline)",
			     urls ? urls : "", c->not_asked);
	else if (c->err)
		message_note("debuginfod: cannot ask '%s': %s, %" PRIu32
			     " files were not asked for (see --offline)",
			     urls ? urls : "", strerror(-c->err), c->not_asked);
}
