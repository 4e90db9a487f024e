/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * name_reason - where names come from: what is known of a file, where it is looked for, why there is none
 *
 * The words that all rooms of this folder speak; no work is done here.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_NAME_REASON_H
#define EBPREC_ANALYZE_SYM_LOCATE_NAME_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/file_id.h"
#include "format/payload/file_facts.h"

struct debuginfod;

enum name_reason {
	NAME_FOUND = 0,
	NAME_NO_MAP,           /* no file was known to be mapped there */
	NAME_ANONYMOUS,        /* mapped, but no file: JIT code, //anon, [heap], [stack] */
	NAME_FILE_GONE,        /* the file is not on this machine */
	NAME_NO_PERMISSION,    /* it is, but may not be read */
	NAME_BUILD_ID_DIFFERS, /* another version of the file is there now */
	NAME_FILE_CHANGED, /* it has no build-id, and another size, time or checksum than recorded */
	NAME_STRIPPED,     /* the file has no symbols, or only its exports and this is none */
	NAME_DEBUG_STALE,  /* the same, and its debug file is of another build */
	NAME_BETWEEN,      /* no symbol covers this place */
	NAME_BAD_ELF,      /* the file is no ELF file (a memory image), or a broken one */
	NAME_KERNEL_HIDDEN, /* kernel addresses were hidden (kptr_restrict), or no kallsyms in the capture */
	NAME_NOT_READ, /* it was gone before the recorder saw it */
	NAME_IN_MEMORY, /* a program that no folder had (memfd), and no file of its build-id is here */
	NAME_REASONS,
};

/* How a file was matched with the recorded one. */
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

/* One line for people, e.g. "the file is not on this machine". */
const char *name_reason_text(enum name_reason reason);
/* The remedy, e.g. "install its debug symbols"; NULL when nothing would. */
const char *name_reason_remedy(enum name_reason reason);

/* Where names are looked for.  All borrowed; all zero is this machine's "/". */
struct name_roots {
	const char *symfs;             /* the root of recorded paths; "" or NULL: "/" */
	const char *const *debug_dirs; /* searched before SYMFS/usr/lib/debug */
	size_t debug_dir_count;
	const char *const *source_dirs; /* searched for source code before its own path */
	size_t source_dir_count;
	const char *cache; /* perf's, as ~/.debug; NULL: none */
	const void *vdso;  /* the image that was mapped as [vdso]; NULL: not recorded */
	size_t vdso_bytes;
	struct debuginfod *fetcher; /* asked last for files that are not here; NULL: none */
	bool all_symbols; /* those of all of a file are read at once: it will be asked for again */
	bool function_addresses; /* functions without a name are distinguished by their start */
	int opener; /* the socket of the process that opens files (file_opener.h); 0: this one does */
};

/* A file as the capture knows it. */
struct resolver_file {
	const char *path; /* as mapped; may end in " (deleted)" */
	struct file_id id;
	bool any_generation; /* it was not recorded: the file is one of whatever generation */
	uint64_t size_bytes, mtime_ns; /* when it was recorded; both 0: not known */
	struct file_facts_sum sum;     /* of one without a build-id, when it was recorded */
	bool not_read; /* the recorder listed the files that it saw, and this is not among them */
	const struct file_facts_segment *segments; /* executable ones; borrowed from hints */
	uint32_t segment_count;
	uint32_t jit_pid; /* not 0: no file, but the code of this process; offsets are addresses */
};

/* The symbols that a JIT compiler wrote for a process.  Borrowed until resolver_free(). */
struct resolver_jit {
	uint32_t pid;
	const char *text; /* of its perf-PID.map */
	size_t size_bytes;
};

/* The order of a list of them, each process once. */
static inline int resolver_jit_by_pid(const void *a, const void *b)
{
	const struct resolver_jit *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct resolver_file;
/* Not 0 ends the search.  group: paths of one group hide each other, as the layers of an overlay. */
typedef int (*resolver_path_fn)(void *arg, const char *path, unsigned group);

/* A source that knows more of a file than its mapping. */
struct resolver_hints {
	/* Fills in what is known of size, time and segments; NULL: not known. */
	void (*complete)(const void *ctx, struct resolver_file *f);
	/*
	 * Passes other paths on the recorded machine that may lead to it.  Returns the last result
	 * of fn.
	 */
	int (*paths)(const void *ctx, const struct resolver_file *f, resolver_path_fn fn,
		     void *arg);
	const void *ctx;
};

#endif
