/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * flame_svg - a tree of calls as a flame graph: a picture that needs no script and no other file
 *
 * Callers stand below their callees, as wide as their total; below each caller the functions are in
 * the order of their names, so that two pictures can be compared.  The colour shows the kind of a
 * frame, and so do the legend and the text that a browser shows for a frame.  The same tree gives
 * the same bytes.  Frames that would be narrower than a tenth of a pixel are left out, and the
 * picture has their number.
 */
#ifndef EBPREC_ANALYZE_REPORT_PROFILE_FLAME_SVG_H
#define EBPREC_ANALYZE_REPORT_PROFILE_FLAME_SVG_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/base/string_table.h"
#include "analyze/report/profile/calltree.h"

enum flame_kind {
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINED,
	FLAME_UNNAMED,
	FLAME_WAIT,    /* what a thread waited for */
	FLAME_PROCESS, /* the children of the root, whatever their kind */
	FLAME_KINDS,
};

struct flame_style {
	const char *title; /* above the picture */
	const char *unit;  /* of the weights */
	/* enum flame_kind by label; "_[k]" and "_[i]" at the end of a label are not shown. */
	const uint8_t *kinds;
};

/* Labels are numbers in names.  -ENOMEM, -EOVERFLOW; errors of the stream stay in it. */
int flame_svg_write(const struct calltree *t, const struct string_table *names,
		    const struct flame_style *style, FILE *to);

#endif
