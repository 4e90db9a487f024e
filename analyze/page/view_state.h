/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * view_state - what a page shows first: the part behind # of its address, KEY=VALUE&...
 *
 * analyze/web/data/link.mjs reads it, and ignores what makes no sense, as an address may be a stranger's.  Behind
 * --html-view it is a mistake.
 */
#ifndef EBPREC_ANALYZE_PAGE_VIEW_STATE_H
#define EBPREC_ANALYZE_PAGE_VIEW_STATE_H

#include <stddef.h>

/* NULL: the page knows all of it.  Else what it does not know, a part of the state, of *bytes; *may: its values or the keys. */
const char *view_state_unknown(const char *state, size_t *bytes, const char **may);

#endif
