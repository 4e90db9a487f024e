/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/nameopts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int nameroots_make(const struct nameopts *opts, struct nameroots *out)
{
	const char *home = getenv("HOME");
	char *cache = NULL;

	if (home && *home == '/' && asprintf(&cache, "%s/.debug", home) < 0)
		return -ENOMEM;
	*out = (struct nameroots){
		.roots = {
			.symfs = opts->symfs,
			.debug_dirs = opts->debug_dirs.values,
			.debug_dir_count = opts->debug_dirs.count,
			.cache = cache,
		},
		.cache = cache,
	};
	return 0;
}

void nameroots_done(struct nameroots *r)
{
	free(r->cache);
	*r = (struct nameroots){ 0 };
}
