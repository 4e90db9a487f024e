/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel_symbols_index - the kernel's symbols, as far as the capture needs them
 *
 * The complete table is 5 MB of text, 1 MB compressed: more than many a capture.  So only the
 * symbols that sampled addresses hit are stored, each with all its aliases and with the symbol
 * behind it, which is where it ends.  They are written out as they come up, flush by flush, so that
 * a capture cut by a crash has the names of all its samples.
 *
 * To have the kernel print the table takes as long as all the rest of a recording's start.  So
 * symbols that do not change before the next boot, or as long as the same modules are loaded, are
 * cached in a folder of root's: functions of the kernel and of modules.  Code that comes and goes
 * (BPF programs, trampolines, slots of probes) is not in there, but it lies elsewhere: an address
 * that is not between two functions of the kernel, or of one module, makes us read the real table
 * after all; not at once, because the record that names its code may come after the sample, and in
 * a thread, because it takes a tenth of a second, in which the rings have to be emptied.
 */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_H
#define EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

struct kernel_symbols_index; /* opaque */

struct ksym {
	uint64_t addr;
	char type;        /* as nm has it */
	const char *name; /* not terminated; borrowed from the line */
	size_t name_bytes;
	const char *module; /* "bpf", "ext4"; NULL: the kernel itself.  Not terminated */
	size_t module_bytes;
	const char *line; /* the entire line, with its newline */
	size_t line_bytes;
};

/*
 * text is NUL-terminated and taken: freed by kernel_symbols_index_free(), also on failure.  Lines that are
 * none are skipped.  -ENODATA: not one symbol; -EACCES: all addresses are 0 (kptr_restrict);
 * -ENOMEM.
 */
int kernel_symbols_index_from_text(char *text, struct kernel_symbols_index **out);
/* Where all this is read; borrowed, kallsyms as long as the ksyms live. */
struct kernel_symbols_index_source {
	const char *folder; /* of the cache; NULL or "": none */
	const char *kallsyms, *modules, *boot_id;
};
/* Reads the cache, or /proc/kallsyms.  folder as above; errno of the read, or as above. */
int kernel_symbols_index_load(const char *folder, struct kernel_symbols_index **out);
int kernel_symbols_index_load_from(const struct kernel_symbols_index_source *s,
				   struct kernel_symbols_index **out); /* the same for tests */
void kernel_symbols_index_free(struct kernel_symbols_index *k);        /* NULL is fine */

/* The address of the first symbol of that name outside of modules; false: there is none. */
bool kernel_symbols_index_find(const struct kernel_symbols_index *k, const char *name,
			       uint64_t *addr);
/* The name of a BPF program's function at exactly this address, as the kernel has it. */
bool kernel_symbols_index_bpf_name(const struct kernel_symbols_index *k, uint64_t addr, char *out,
				   size_t out_bytes);

/*
 * How many of a stack's frames, leaf first, lie between the tracepoint and the BPF program that took
 * it, with the program's own; 0: it was not taken at a tracepoint.  Cheap when they were seen before.
 */
size_t kernel_symbols_index_tracing_frames(struct kernel_symbols_index *k, const uint64_t *frames,
					   size_t count);

/* Code that a KSYMBOL record names, or no longer: it needs no symbol of ours. */
void kernel_symbols_index_note(struct kernel_symbols_index *k, uint64_t start, uint32_t size_bytes,
			       bool gone);
/* An address was sampled.  Cheap when it was seen before. */
void kernel_symbols_index_touch(struct kernel_symbols_index *k, uint64_t addr);
/* No KSYMBOL record is still to come, and the next kernel_symbols_index_take() is the last: it waits for the real table. */
void kernel_symbols_index_end_records(struct kernel_symbols_index *k);
/*
 * Appends the lines touched since the last call, in order of address; returns how many.  An address that
 * only the real table knows waits for one more call, in case a record names it, and until that has been read.
 */
size_t kernel_symbols_index_take(struct kernel_symbols_index *k, struct outbuf *out);

#endif
