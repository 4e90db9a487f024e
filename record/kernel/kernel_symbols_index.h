/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ksyms - the kernel's symbols, as far as the capture needs them
 *
 * The whole table is 5 MB of text, 1 MB compressed: more than many a capture.  So only the symbols
 * that sampled addresses hit are kept, each with all its aliases and with the symbol behind it,
 * which is where it ends.  They are written out as they come up, flush by flush, so that a capture
 * cut by a crash has the names of all its samples.
 *
 * To have the kernel print the table takes as long as all the rest of a recording's start.  So what
 * does not change before the next boot, or as long as the same modules are loaded, is kept in a
 * folder of root's: functions of the kernel and of modules.  What comes and goes (BPF programs,
 * trampolines, slots of probes) is not in there, but it lies elsewhere: an address that is not
 * between two functions of the kernel, or of one module, makes us read the real table after all; not at
 * once, because the record that names its code may come after the sample, and in a thread, because it
 * takes a tenth of a second, in which the rings have to be emptied.
 */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_H
#define EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

struct ksyms; /* opaque */

struct ksym {
	uint64_t addr;
	char type;        /* as nm has it */
	const char *name; /* not terminated; borrowed from the line */
	size_t name_bytes;
	const char *module; /* "bpf", "ext4"; NULL: the kernel itself.  Not terminated */
	size_t module_bytes;
	const char *line; /* the whole line, with its newline */
	size_t line_bytes;
};

/*
 * text is NUL-terminated and taken: freed by ksyms_free(), also on failure.  Lines that are
 * none are skipped.  -ENODATA: not one symbol; -EACCES: all addresses are 0 (kptr_restrict);
 * -ENOMEM.
 */
int ksyms_from_text(char *text, struct ksyms **out);
/* Where all this is read; borrowed, kallsyms as long as the ksyms live. */
struct ksyms_source {
	const char *folder; /* where it is kept; NULL or "": nowhere */
	const char *kallsyms, *modules, *boot_id;
};
/* Reads what was kept, or /proc/kallsyms.  folder as above; errno of the read, or as above. */
int ksyms_load(const char *folder, struct ksyms **out);
int ksyms_load_from(const struct ksyms_source *s, struct ksyms **out); /* the same for tests */
void ksyms_free(struct ksyms *k);                                      /* NULL is fine */

/* The address of the first symbol of that name outside of modules; false: there is none. */
bool ksyms_find(const struct ksyms *k, const char *name, uint64_t *addr);
/* Where the symbol at addr ends: the address of the next one; 0: there is none. */
uint64_t ksyms_next(const struct ksyms *k, uint64_t addr);
/* The name of a BPF program's function at exactly this address, as the kernel has it. */
bool ksyms_bpf_name(const struct ksyms *k, uint64_t addr, char *out, size_t out_bytes);

/*
 * How many of a stack's frames, leaf first, lie between the tracepoint and the BPF program that took
 * it, with the program's own; 0: it was not taken at a tracepoint.  Cheap when they were seen before.
 */
size_t ksyms_tracing_frames(struct ksyms *k, const uint64_t *frames, size_t count);

/* Code that a KSYMBOL record names, or no longer: it needs no symbol of ours. */
void ksyms_note(struct ksyms *k, uint64_t start, uint32_t size_bytes, bool gone);
/* An address was sampled.  Cheap when it was seen before. */
void ksyms_touch(struct ksyms *k, uint64_t addr);
/* No KSYMBOL record is still to come, and the next ksyms_take() is the last: it waits for the real table. */
void ksyms_all_is_told(struct ksyms *k);
/*
 * Appends the lines touched since the last call, in order of address; returns how many.  An address that
 * only the real table knows waits for one more call, in case a record names it, and until that has been read.
 */
size_t ksyms_take(struct ksyms *k, struct outbuf *out);

#endif
