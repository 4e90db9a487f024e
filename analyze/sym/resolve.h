/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resolve - the name of the code at a place, or the reason it has none
 *
 * The place is (file, file offset) for user code and an address for the kernel; which file was
 * mapped where is the model's business.  Each distinct place is resolved once, whoever maps the
 * file.  A missing name is data: the frame says why, and the report adds the reasons up.
 * Return addresses are looked up one byte earlier, so that a call at the end of a function is not
 * blamed on the next one.
 */
#ifndef EBPREC_ANALYZE_SYM_RESOLVE_H
#define EBPREC_ANALYZE_SYM_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buildid.h"
#include "format/filefacts.h"

enum name_reason {
	NAME_FOUND = 0,
	NAME_NO_MAP,           /* no file was known to be mapped there */
	NAME_ANONYMOUS,        /* mapped, but no file: JIT code, //anon, [heap], [stack] */
	NAME_FILE_GONE,        /* the file is not on this machine */
	NAME_NO_PERMISSION,    /* it is, but may not be read */
	NAME_BUILD_ID_DIFFERS, /* another version of the file is there now */
	NAME_FILE_CHANGED,     /* it has no build-id, and another size or time than recorded */
	NAME_STRIPPED,         /* the file has no symbols, or only its exports and this is none */
	NAME_DEBUG_STALE,      /* the same, and its debug file is of another build */
	NAME_BETWEEN,          /* no symbol covers this place */
	NAME_BAD_ELF,          /* the file is broken */
	NAME_KERNEL_HIDDEN, /* kernel addresses were hidden (kptr_restrict), or no kallsyms in the capture */
	NAME_REASONS,
};

/* What says that a file is the recorded one. */
enum name_trust {
	NAME_BY_NOTHING, /* there is no file */
	NAME_BY_BUILD_ID,
	NAME_BY_STAT,   /* size and time of change, or a checksum */
	NAME_BY_INODE,  /* a hint: inode numbers are used again */
	NAME_BY_PATH,   /* a guess */
	NAME_BY_BUNDLE, /* the names are in the capture */
	NAME_TRUSTS,
};
const char *name_trust_text(enum name_trust trust);

struct bundle;
struct fetcher;

/* Where names are looked for.  All borrowed; all zero is this machine's "/". */
struct name_roots {
	const char *symfs;             /* the root of recorded paths; "" or NULL: "/" */
	const char *const *debug_dirs; /* searched before SYMFS/usr/lib/debug */
	size_t debug_dir_count;
	const char *cache; /* perf's, as ~/.debug; NULL: none */
	const void *vdso;  /* the image that was mapped as [vdso]; NULL: not recorded */
	size_t vdso_bytes;
	struct fetcher *fetcher; /* asked last for what is not here; NULL: nobody */
};

/* One line for people, e.g. "the file is not on this machine". */
const char *name_reason_text(enum name_reason reason);
/* What would mend it, e.g. "install its debug symbols"; NULL when nothing would. */
const char *name_reason_remedy(enum name_reason reason);

struct resolver; /* opaque; used by one thread */

/* What a JIT compiler wrote of a process.  Borrowed until resolver_free(). */
struct resolver_jit {
	uint32_t pid;
	const char *text; /* of its perf-PID.map */
	size_t size_bytes;
};

struct resolver_file;
/* Not 0 ends the search.  group: paths of one group hide each other, as the layers of an overlay. */
typedef int (*resolver_path_fn)(void *arg, const char *path, unsigned group);

/* Who knows more of a file than its mapping says. */
struct resolver_hints {
	/* Fills in what is known of size, time and segments; NULL: nobody knows. */
	void (*complete)(const void *ctx, struct resolver_file *f);
	/* Tells other paths on the recorded machine that may lead to it.  What fn returned last. */
	int (*paths)(const void *ctx, const struct resolver_file *f, resolver_path_fn fn,
		     void *arg);
	const void *ctx;
};

struct resolver_opts {
	struct name_roots roots; /* what it points to: borrowed until resolver_free() */
	bool demangle;           /* as `perf script` does: without parameters */
	/* Text of /proc/kallsyms at record time; NULL: none.  Borrowed until resolver_free(). */
	const char *kallsyms;
	size_t kallsyms_bytes;
	const struct resolver_jit *jits;
	size_t jit_count;
	struct resolver_hints hints;   /* used until resolver_free() */
	struct bundle *const *bundles; /* names that the capture carries; borrowed */
	size_t bundle_count;
	unsigned
		thread_count; /* that load files at once; 0: as many as there are CPUs, at most 8 */
};

/* A file as the capture knows it. */
struct resolver_file {
	const char *path; /* as mapped; may end in " (deleted)" */
	struct buildid build_id;
	uint64_t inode; /* 0: not known */
	uint32_t dev_major, dev_minor;
	uint64_t size_bytes, mtime_ns;            /* when it was recorded; both 0: not known */
	const struct filefacts_segment *segments; /* executable ones; borrowed from hints */
	uint32_t segment_count;
	uint32_t
		jit_pid; /* not 0: no file, but the code that this process made; offsets are addresses */
};

struct resolved {
	const char *name; /* demangled; NULL when reason != NAME_FOUND */
	const char *
		dso; /* path of the file; "[kernel.kallsyms]", "[module]", "[vdso]", "" when not known */
	uint64_t offset;     /* of the place in the file (user), or the address */
	uint64_t into_bytes; /* where it is in the function, from its start */
	enum name_reason reason;
};

int resolver_new(const struct resolver_opts *opts, struct resolver **out);
void resolver_free(struct resolver *r); /* NULL is fine; all results go with it */

/* Makes a file known; equal files (build-id, or path and inode) get equal ids.  UINT32_MAX: no memory. */
uint32_t resolver_add_file(struct resolver *r, const struct resolver_file *file);

/*
 * Says that a place will be asked for, before its file is loaded.  Of a file of which places were told,
 * only what names these is kept; another place of it can still be asked for, but then the file is read
 * again, as a whole.  -ENOMEM.
 */
int resolver_want(struct resolver *r, uint32_t file, uint64_t file_off_bytes, bool return_address);
/*
 * Loads the symbols of these files now, several at a time; where a fetcher may be asked, one after the
 * other, the most wanted first.  Else a file is loaded when an address in it is asked for.
 */
void resolver_load(struct resolver *r, const uint32_t *files, size_t count);

/* Both never return NULL; valid until resolver_free(), equal places give equal pointers. */
const struct resolved *resolver_user(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
				     bool return_address);
const struct resolved *resolver_kernel(struct resolver *r, uint64_t addr, bool return_address);
/*
 * What resolver_user() says, into *out, and without keeping it: for who asks of each place once.  Its
 * texts live until resolver_free().
 */
void resolver_user_once(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			bool return_address, struct resolved *out);
/* A frame of source code; strings live until resolver_free(). */
struct resolver_frame {
	const char *function;  /* NULL: not known */
	const char *file;      /* source file; NULL: not known */
	uint32_t line, column; /* 0: not known */
};
/*
 * The frames of source code at a place, innermost first: all but the last were inlined.  The last is
 * the function that resolver_user() names.  Returns how many, at most max; 0: there is no DWARF for
 * it.  Not cached: ask once for each place.
 */
size_t resolver_frames(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
		       bool return_address, struct resolver_frame *out, size_t max);

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
};
/* By the ids of resolver_add_file().  false: no such id. */
bool resolver_source(const struct resolver *r, uint32_t file, struct resolver_source *out);

/*
 * The names found so far in a file, as bytes that travel: bundle.h.  with_lines: what resolver_frames()
 * says of its places, too.  *out is owned (free()).  -ENOENT: nothing was asked of it, or it is no file;
 * -ENOMEM, -EOVERFLOW.
 */
int resolver_bundle(struct resolver *r, uint32_t file, bool with_lines, uint8_t **out,
		    size_t *size_bytes);
uint32_t resolver_file_count(const struct resolver *r);

/* For an address that no mapping covers (NAME_NO_MAP). */
const struct resolved *resolver_unmapped(struct resolver *r, uint64_t addr);

#endif
