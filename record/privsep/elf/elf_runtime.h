/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_runtime - the interpreter that an ELF file contains
 *
 * Found by symbols and sections, whatever the file is called: elf_NAME.c has each.  Where facts of the file contradict each other the interpreter is one that is not understood: a name that is missing is better than a wrong one.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_RUNTIME_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_RUNTIME_H

#include <stdint.h>

#include "bpf/runtime_maps.h"

struct elf_parts;

enum elf_runtime_state {
	ELF_RUNTIME_NONE,       /* there is none */
	ELF_RUNTIME_UNDERSTOOD, /* the description is complete */
	ELF_RUNTIME_VERSION,    /* of a version that is not known */
	ELF_RUNTIME_LAYOUT,     /* its structs are not those that are known of it */
	/* CPython built without the GIL, PHP with threads, or Perl without them, which have other objects. */
	ELF_RUNTIME_THREADED,
};

struct elf_runtime {
	uint32_t state;   /* enum elf_runtime_state */
	uint32_t kind;    /* enum runtime_kind: what it is, understood or not */
	uint32_t version; /* 0x030b: 3.11; 0: not known; V8 has none */
	uint32_t zero;
	struct runtime_desc desc; /* where it is not understood, by kind: runtime_maps.h */
	/* Where its code is: an address in the file is that of a mapping + start - offset. */
	uint64_t code_vaddr, code_offset;
	uint64_t exec_vaddr; /* of the first code of the file */
};

/* All bytes of *out are set, as it is sent to another process; state ELF_RUNTIME_NONE: the file contains none. */
void elf_python_find(const struct elf_parts *parts, struct elf_runtime *out);
void elf_v8_find(const struct elf_parts *parts, struct elf_runtime *out);
void elf_jvm_find(const struct elf_parts *parts, struct elf_runtime *out);
void elf_listed_find(const struct elf_parts *parts, struct elf_runtime *out); /* Ruby, PHP */
void elf_perl_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
