/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* line_strings - the names and paths of an addr2line, each read and stored once */
#ifndef EBPREC_ANALYZE_SYM_DWARF_LINE_STRINGS_H
#define EBPREC_ANALYZE_SYM_DWARF_LINE_STRINGS_H

#include "format/base/hash_index.h"
#include "analyze/sym/dwarf/die.h"

struct linetext {
	uint32_t section; /* of all files; DW_SECTIONS: by its letters */
	uint64_t off;
	char *text;
};

/* Embedded by the owner; all zero is an empty one. */
struct line_strings {
	struct hash_index index;
	struct linetext *list;
	size_t count, room;
};

void line_strings_done(struct line_strings *t);
/* A copy that lives as long as t.  -ENOMEM. */
int line_strings_add(struct line_strings *t, const char *text, const char **out);
/* The text that v stands for.  -ENOTSUP: none, or unsupported; -ENOMEM, errno. */
int line_strings_value(struct line_strings *t, const struct dw_file *f, const struct dw_unit *u,
		       const struct dw_value *v, const char **out);

#endif
