/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* build_names - names of functions of a build, of which nothing is known but its id: from debug folders and debuginfod servers */
#ifndef EBPREC_ANALYZE_SYM_BUILD_NAMES_H
#define EBPREC_ANALYZE_SYM_BUILD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/locate/name_reason.h"
#include "format/base/buildid.h"

/*
 * Calls name() for each of the addresses, as in the program headers, that a symbol covers; its error ends it.  The name is demangled, and borrowed
 * for the call.  -ENOENT: no file of that build has symbols; -EBADMSG, -ENOMEM.
 */
int build_names_find(const struct name_roots *roots, const struct buildid *id,
		     const uint64_t *vaddrs, size_t count,
		     int (*name)(void *arg, size_t i, const char *text), void *arg);

#endif
