/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* source_frame - a frame of source code: a function, or one that was inlined into it */
#ifndef EBPREC_ANALYZE_SYM_DWARF_SOURCE_FRAME_H
#define EBPREC_ANALYZE_SYM_DWARF_SOURCE_FRAME_H

#include <stdint.h>

/* Texts are borrowed; the function is named as in the file, mangled, where nothing else is specified. */
struct source_frame {
	const char *function;  /* NULL: not known */
	const char *file;      /* source file; NULL: not known */
	uint32_t line, column; /* 0: not known */
};

#endif
