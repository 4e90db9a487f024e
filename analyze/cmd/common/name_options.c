/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/name_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define URLS_VARIABLE "DEBUGINFOD_URLS"

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

int name_roots_make(const struct name_options *opts, struct name_root_options *out,
		    void (*progress)(void *arg, const struct fetch_progress *p), void *arg)
{
	struct debuginfod_opts fetch = {
		.limit_ns = (uint64_t)opts->debuginfod_time_s * 1000000000ULL,
		.progress = progress,
		.arg = arg,
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
