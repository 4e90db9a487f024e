/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symfile - the symbols of one file that was mapped, from wherever they are
 *
 * Joins what locate finds: the file, its separate debug file, and the MiniDebugInfo inside of it.
 * When only the debug file is left, it has the names; where the program's bytes were mapped is then
 * known if it was recorded, or the debug file has its program headers.  Afterwards all files are
 * closed.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMFILE_H
#define EBPREC_ANALYZE_SYM_SYMFILE_H

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/symtab/function_ranges.h"
#include "analyze/sym/symtab/go_symbols.h"
#include "analyze/sym/dwarf/libdw_lines.h"
#include "analyze/sym/dwarf/addr2line.h"
#include "analyze/sym/locate/file_search.h"
#include "analyze/sym/symtab/symtab.h"

/* Places of a file that will be asked for, as offsets in it; in any order. */
struct symfile_wanted {
	const uint64_t *off_bytes;
	size_t count;
	bool only_bounds; /* not names, but where they begin and end */
};

/* Embedded by the owner; symfile_init() first.  Read freely. */
struct symfile {
	enum name_reason reason; /* NAME_FOUND: symbols is there */
	struct symtab *symbols;
	/*
	 * Where functions begin that no symbol names; NULL: all have one, or they were not asked
	 * for, or it is not known.
	 */
	struct function_ranges *ranges;
	struct elf_file_segment *segments;
	size_t segment_count;
	struct located file, debug; /* where they were; closed; path NULL: none */
	bool mini;
	/* With only_bounds, in place of symbols: as offsets in the file, sorted, no two equal. */
	uint64_t *bounds;
	size_t bound_count;
	bool debug_stale; /* a debug file of another build is in the way */
	/* Source lines, when they were asked for. */
	bool lines_loaded;
	struct lines *lines; /* NULL: there are none */
	bool linetab_tried;
	struct addr2line *linetab; /* NULL: none */
	bool golines_tried;
	struct go_lines *golines; /* NULL: none */
	/* The name of dwz's file, if that is missing; NULL: it is not.  Owned. */
	char *alt_name;
	enum addr2line_gap alt_gap;
	bool variables_tried;
	struct symtab *variables; /* NULL: not asked for, or none */
	/* When only what they lack was asked for. */
	bool gaps_tried;
	struct addr2line *gaps; /* NULL: nothing */
};

void symfile_init(struct symfile *s);
void symfile_done(struct symfile *s);

/*
 * Loads the file as it was recorded; once it returned true, not again.  false: it is not here,
 * s->reason is set, and another path of the same file may be tried.  wanted: only names of these
 * are stored, and no others may be asked for; NULL: all.
 */
bool symfile_load(struct symfile *s, const struct name_roots *roots, const struct resolver_file *as,
		  const struct symfile_wanted *wanted);
/* The same without the file itself, by the build-id of its debug file.  s->reason stays on failure. */
bool symfile_load_debug(struct symfile *s, const struct name_roots *roots,
			const struct resolver_file *as, const struct symfile_wanted *wanted);

/* Opens the file itself anew; *out is the caller's, located_done().  false: it is not here, or not the same any more. */
bool symfile_reopen(int opener, const struct symfile *s, const struct resolver_file *as,
		    struct located *out);
/* Where the byte of the file is in its own address space. */
bool symfile_vaddr(const struct symfile *s, uint64_t off_bytes, uint64_t *out);
/* The variables of the file, which must be loaded, or its debug file; NULL: none. */
struct symtab *symfile_variables(struct symfile *s, const struct name_roots *roots,
				 const struct resolver_file *as);
/* The DWARF of the file or its debug file; NULL: none.  as: one of the paths it was recorded by. */
struct lines *symfile_lines(struct symfile *s, const struct name_roots *roots,
			    const struct resolver_file *as);
/* The same of all these places at once, the first time; NULL: none, or unsupported DWARF. */
struct addr2line *symfile_linetab(struct symfile *s, const struct name_roots *roots,
				  const struct resolver_file *as,
				  const struct symfile_wanted *wanted, unsigned thread_count);
/* The lines that Go's runtime knows; NULL: none. */
struct go_lines *symfile_golines(struct symfile *s, const struct name_roots *roots,
				 const struct resolver_file *as);
/*
 * Finds the DWARF that lines and inlined functions of these locations lack, whether or not they are
 * asked for: no server is asked for a file for it.
 */
void symfile_find_gap(struct symfile *s, const struct name_roots *roots,
		      const struct resolver_file *as, const struct symfile_wanted *wanted);
enum addr2line_gap symfile_gap(const struct symfile *s, const char **name);
/* Where the function of an address begins that no symbol covers.  false: not known. */
bool symfile_function(const struct symfile *s, uint64_t vaddr, uint64_t *start);
/* The reason of an address that has no name, though the file has symbols. */
enum name_reason symfile_miss(const struct symfile *s);

#endif
