/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * name_options - the options with the places to look for names
 *
 * Every command that names code has them, so they are written once: a command embeds the struct and
 * puts NAMEOPTS(offset of it) among its options, or NAMEOPTS_PLACES() where it shows no names.
 */
#ifndef EBPREC_ANALYZE_CMD_COMMON_NAME_OPTIONS_H
#define EBPREC_ANALYZE_CMD_COMMON_NAME_OPTIONS_H

#include <stdbool.h>

#include "analyze/sym/locate/debuginfod.h"
#include "analyze/sym/resolve.h"
#include "format/text/options.h"

struct name_options {
	const char *symfs, *debuginfod;
	struct option_list debug_dirs;
	unsigned debuginfod_time_s;
	bool demangle, offline, with_inlined, function_addresses;
	int opener; /* set when the command enters the sandbox; 0: it is outside */
};

#define NAME_OPTIONS_DEFAULTS                                                         \
	{                                                                             \
		.demangle = true, .function_addresses = true, .debuginfod_time_s = 60 \
	}

/* Where names are looked for. */
#define NAMEOPTS_PLACES(at)                                                                      \
	OPTION(OPT_STRING, 0, "symfs", "DIR", (at) + offsetof(struct name_options, symfs),       \
	       "look for files below DIR"),                                                      \
		OPTION(OPT_LIST, 0, "debug-dir", "DIR",                                          \
		       (at) + offsetof(struct name_options, debug_dirs),                         \
		       "look for debug files in DIR, too (repeatable)"),                         \
		OPTION(OPT_STRING, 0, "debuginfod", "URLS",                                      \
		       (at) + offsetof(struct name_options, debuginfod),                         \
		       "fetch what is missing from these servers (default: $DEBUGINFOD_URLS)"),  \
		OPTION_WITHIN(OPT_UINT, 0, "debuginfod-time", "S",                               \
			      (at) + offsetof(struct name_options, debuginfod_time_s), 1, 86400, \
			      "give up fetching after S seconds (default: 60)"),                 \
		OPTION(OPT_FLAG, 0, "offline", NULL,                                             \
		       (at) + offsetof(struct name_options, offline),                            \
		       "ask no server, whatever the environment has")

#define NAMEOPTS(at)                                                                          \
	OPTION(OPT_FLAG, 0, "demangle", NULL, (at) + offsetof(struct name_options, demangle), \
	       "names as in the source; --no-demangle: as in the file"),                      \
		OPTION(OPT_FLAG, 0, "inline", NULL,                                           \
		       (at) + offsetof(struct name_options, with_inlined),                    \
		       "inlined functions are frames, too (needs debug information)"),        \
		OPTION(OPT_FLAG, 0, "function-addresses", NULL,                               \
		       (at) + offsetof(struct name_options, function_addresses),              \
		       "a function of a stripped file is FILE+0xADDRESS; "                    \
		       "--no-function-addresses: [FILE]"),                                    \
		NAMEOPTS_PLACES(at)

/* The arguments for resolver and report.  Embedded by the owner; name_roots_done(). */
struct name_root_options {
	struct name_roots roots; /* borrows from the options */
	char *cache;
};

/*
 * The fetcher is made when a server is named and not forbidden.  -ENOMEM; -ENOENT: servers are
 * named, but there is no libdebuginfod to ask them: *out is usable without.  quiet: no line on the terminal
 * while it fetches.
 */
int name_roots_make(const struct name_options *opts, struct name_root_options *out, bool quiet);
void name_roots_done(struct name_root_options *r);
/* Notes what was fetched, and what was not; nothing where nothing was to be fetched. */
void name_roots_note_fetched(const struct name_root_options *r);

#endif
