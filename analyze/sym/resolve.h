/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resolve - the name of the code at a place, or the reason it has none
 *
 * The place is (file, file offset) for user code and an address for the kernel; which file was
 * mapped where is the model's business.  Each distinct location is resolved once, for all processes
 * that map the file.  A missing name is data: the frame has the reason, and the report adds the
 * reasons up.  Return addresses are looked up one byte earlier, so that a call at the end of a
 * function is not blamed on the next one.
 */
#ifndef EBPREC_ANALYZE_SYM_RESOLVE_H
#define EBPREC_ANALYZE_SYM_RESOLVE_H

#include <stdbool.h>

#include "analyze/sym/dwarf/addr2line.h"
#include "analyze/sym/function_code.h"
#include "analyze/sym/locate/source_text.h"
#include "analyze/sym/locate/name_reason.h"

struct bundle;

struct resolver; /* opaque; used by one thread */

struct resolver_opts {
	struct name_roots roots;         /* what it points to: borrowed until resolver_free() */
	bool demangle;                   /* as `perf script` does: without parameters */
	const struct resolver_jit *jits; /* by pid */
	size_t jit_count;
	struct resolver_hints hints;   /* used until resolver_free() */
	struct bundle *const *bundles; /* names that the capture carries; borrowed */
	size_t bundle_count;
	unsigned
		thread_count; /* that load files at once; 0: as many as there are CPUs, at most 8 */
};

#define RESOLVED_INTO_UNKNOWN UINT64_MAX /* the capture carries names, not where they begin */

struct resolved {
	/*
	 * Demangled.  Where reason is not NAME_FOUND: NULL, or with roots.function_addresses "cc1+0x5a3f20"
	 * (function_label.h).
	 */
	const char *name;
	const char *
		dso; /* first path of the file; "[kernel.kallsyms]", "[module]", "[vdso]", "" when not known */
	uint64_t offset; /* of the place in the file (user), or the address */
	uint64_t
		into_bytes; /* where it is in the function, from its start; or RESOLVED_INTO_UNKNOWN */
	uint64_t label_start; /* where name is a label: the address in it */
	enum name_reason reason;
};

int resolver_new(const struct resolver_opts *opts, struct resolver **out);
void resolver_free(struct resolver *r); /* NULL is fine; all results go with it */

/*
 * Goes on with a later state of the same recording, of which jits and hints are replaced by these; what was made at run
 * time is read anew, the symbols of files stay, all results are forgotten.  No other file may have got an id of an earlier one.
 */
void resolver_renew(struct resolver *r, const struct resolver_jit *jits, size_t jit_count,
		    struct resolver_hints hints);
/* Forgets the symbols of files that the last so many calls of resolver_load() did not name, and all results. */
void resolver_trim(struct resolver *r, unsigned rounds);

/*
 * Names of the kernel: the text of /proc/kallsyms at record time, which is not needed afterwards.  Names that
 * are hidden, or no text at all, are no error.  To be called before a kernel address is asked for.  -ENOMEM.
 */
int resolver_take_kallsyms(struct resolver *r, const char *text, size_t size_bytes);

/* Makes a file known; equal files (build-id, or path and inode) get equal ids.  UINT32_MAX: no memory. */
uint32_t resolver_add_file(struct resolver *r, const struct resolver_file *file);

/*
 * Where the names of a file begin and end, as offsets in it, or for resolver_kernel_bounds() as addresses;
 * sorted, no two equal.  The resolver's answers for two locations between are the same, but for
 * their offset in the function.  To be asked before any place of the file.  *out is owned (free()).
 * -ENOENT, -EBADMSG: this is not known, and each place may have a name of its own; -ENOMEM.
 */
int resolver_bounds(struct resolver *r, uint32_t file, uint64_t **out, size_t *count);
int resolver_kernel_bounds(const struct resolver *r, uint64_t **out, size_t *count);

/*
 * Announces a location that will be asked for, before its file is loaded.  For a file with
 * announced locations only the symbols for these are stored; another location of it can still be
 * asked for, but then the entire file is read again.  -ENOMEM.
 */
int resolver_want(struct resolver *r, uint32_t file, uint64_t file_off_bytes, bool return_address);
/*
 * Loads the symbols of these files now, several at a time; where a fetcher may be asked, one after the
 * other, the most wanted first.  Else a file is loaded when an address in it is asked for.
 */
void resolver_load(struct resolver *r, const uint32_t *files, size_t count);

/* Both never return NULL; valid until resolver_renew(), _trim() or _free(), equal places give equal pointers. */
const struct resolved *resolver_user(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
				     bool return_address);
const struct resolved *resolver_kernel(struct resolver *r, uint64_t addr, bool return_address);
/*
 * The variable at a place of memory that a file was mapped to: off_bytes is as far from map_off_bytes, where a
 * mapping of the file's code begins, as the place is from that mapping.  So .bss has offsets, too.
 */
const struct resolved *resolver_variable(struct resolver *r, uint32_t file, uint64_t map_off_bytes,
					 uint64_t off_bytes);
/*
 * The answer of resolver_user() into *out, without caching it: for a caller that asks for each
 * location once.  Its texts live until resolver_free().
 */
void resolver_user_once(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			bool return_address, struct resolved *out);
/*
 * Has an answer about a file show this path of it, which is borrowed: programs with one build-id
 * are one file here, whatever a process called it.
 */
void resolver_set_path(struct resolver *r, uint32_t file, const char *path, struct resolved *x);
/*
 * The frames of source code at a place, innermost first: all but the last were inlined.  The last is
 * the function that resolver_user() names.  Returns how many, at most max; 0: there is no DWARF for
 * it.  Names are demangled as the resolver's are; texts live until resolver_free().  Not cached: ask once for each
 * place.
 */
size_t resolver_frames(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
		       bool return_address, struct source_frame *out, size_t max);

/* The code of the function that covers a place of a file.  NAME_FOUND, or why there is none. */
enum name_reason resolver_code(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			       bool return_address, struct function_code *out);
/* The text of a source file that resolver_frames() named for a place of this file; as source_text_read(). */
int resolver_text(const struct resolver *r, uint32_t file, const char *path,
		  struct source_text *out);
/* When the file, which is the recorded one, was last changed; 0: it is not here. */
uint64_t resolver_file_mtime_ns(const struct resolver *r, uint32_t file);

/* Where a file's names came from; strings live until resolver_free(). */
struct resolver_source {
	const char *path; /* as mapped */
	struct buildid build_id;
	bool asked;              /* an address in it was resolved */
	enum name_reason reason; /* NAME_FOUND: there are symbols */
	enum name_trust trust;
	const char *file;       /* that was read; "" for none */
	const char *debug_file; /* the same of separate symbols */
	bool mini, full;        /* has MiniDebugInfo; has local functions */
	bool go;                /* these are of Go's own table */
	/* When inlined functions, or these gaps, were asked for: whether some are missing, and the file
	 * that has them. */
	enum addr2line_gap gap;
	const char *part; /* "": none is missing */
};
/*
 * Which of the loaded files lack a part of their lines and inlined functions, if these were not
 * asked for.
 */
void resolver_find_gaps(struct resolver *r);
/* By the ids of resolver_add_file().  false: no such id. */
bool resolver_source(const struct resolver *r, uint32_t file, struct resolver_source *out);

/*
 * The names found so far in a file, as bytes that travel: bundle.h.  with_lines: the answers of
 * resolver_frames(), too; also where the capture has them.  *out is owned (free()).  -ENOENT: nothing was asked of it, or it is no
 * file; -ENOMEM, -EOVERFLOW.
 */
int resolver_bundle(struct resolver *r, uint32_t file, bool with_lines, uint8_t **out,
		    size_t *size_bytes);
uint32_t resolver_file_count(const struct resolver *r);

/* For an address that no mapping covers (NAME_NO_MAP). */
const struct resolved *resolver_unmapped(struct resolver *r, uint64_t addr);

#endif
