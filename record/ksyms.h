/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ksyms - the kernel's symbols, as far as the capture needs them
 *
 * The whole table is 5 MB of text, 1 MB compressed: more than many a capture.  So only the symbols
 * that sampled addresses hit are kept, each with all its aliases and with the symbol behind it,
 * which is where it ends.  They are written out as they come up, flush by flush, so that a capture
 * cut by a crash has the names of all its samples.
 */
#ifndef EBPREC_RECORD_KSYMS_H
#define EBPREC_RECORD_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/outbuf.h"

struct ksyms; /* opaque */

struct ksym {
	uint64_t addr;
	char type;        /* as nm has it */
	const char *name; /* not terminated; borrowed from the text */
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
/* Reads /proc/kallsyms.  errno of the read, or as above. */
int ksyms_load(struct ksyms **out);
void ksyms_free(struct ksyms *k); /* NULL is fine */

/* The address of the first symbol of that name outside of modules; false: there is none. */
bool ksyms_find(const struct ksyms *k, const char *name, uint64_t *addr);
/* Where the symbol at addr ends: the address of the next one; 0: there is none. */
uint64_t ksyms_next(const struct ksyms *k, uint64_t addr);
/* A symbol at exactly this address, in that module (NULL: in any). */
bool ksyms_at(const struct ksyms *k, uint64_t addr, const char *module, struct ksym *out);

/* An address was sampled.  Cheap when it was seen before. */
void ksyms_touch(struct ksyms *k, uint64_t addr);
/* Appends the lines touched since the last call, in order of address; returns how many. */
size_t ksyms_take(struct ksyms *k, struct outbuf *out);

#endif
