/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/name_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define URLS_VARIABLE "DEBUGINFOD_URLS"

/* libdebuginfod knows its servers from the environment only. */
static bool wants_fetcher(const struct nameopts *opts)
{
	const char *urls;

	if (opts->offline)
		return false;
	if (opts->debuginfod && setenv(URLS_VARIABLE, opts->debuginfod, 1))
		return false;
	urls = getenv(URLS_VARIABLE);
	return urls && *urls;
}

int nameroots_make(const struct nameopts *opts, struct nameroots *out,
		   void (*progress)(void *arg, const struct fetch_progress *p), void *arg)
{
	struct fetcher_opts fetch = {
		.limit_ns = (uint64_t)opts->debuginfod_time_s * 1000000000ULL,
		.progress = progress,
		.arg = arg,
	};
	const char *home = getenv("HOME");
	char *cache = NULL;
	int err = 0;

	if (home && *home == '/' && asprintf(&cache, "%s/.debug", home) < 0)
		return -ENOMEM;
	*out = (struct nameroots){
		.roots = {
			.symfs = opts->symfs,
			.debug_dirs = opts->debug_dirs.values,
			.debug_dir_count = opts->debug_dirs.count,
			.cache = cache,
			.opener = opts->opener,
		},
		.cache = cache,
	};
	if (wants_fetcher(opts))
		err = fetcher_new(&fetch, &out->roots.fetcher);
	if (err == -ENOMEM)
		nameroots_done(out);
	return err;
}

void nameroots_done(struct nameroots *r)
{
	fetcher_free(r->roots.fetcher);
	free(r->cache);
	*r = (struct nameroots){ 0 };
}
