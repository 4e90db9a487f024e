/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_python - whether an ELF file contains CPython, and how its frames are read
 *
 * CPython is where _PyRuntime and _PyEval_EvalFrameDefault are defined, whatever the file is called.  From 3.13 on it
 * has a table of the offsets of its structs (_Py_DebugOffsets, cookie "xdebugpy"); those of 3.8 to 3.12 are in a
 * table here, as the DWARF of these versions has them.  Sizes that the file has of some types have to agree with
 * either, or the interpreter is one that is not understood: a frame that is missing is better than a wrong name.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_PYTHON_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_PYTHON_H

#include "bpf/runtime_maps.h"
#include "format/reader/source.h"

enum elf_python_state {
	ELF_PYTHON_NONE,       /* it is no CPython */
	ELF_PYTHON_UNDERSTOOD, /* the description is complete */
	ELF_PYTHON_VERSION,    /* of a version that is not known */
	ELF_PYTHON_LAYOUT,     /* its structs are not those of its version */
	ELF_PYTHON_THREADED,   /* built without the GIL, which has other objects */
};

struct elf_python {
	uint32_t state;   /* enum elf_python_state */
	uint32_t version; /* 0x030b: 3.11; 0: not known */
	struct runtime_desc
		desc; /* where that is not understood: of kind RUNTIME_OTHER, or of none */
	/* Where the eval loop is: an address in the file is that of a mapping + start - offset. */
	uint64_t code_vaddr, code_offset;
	uint64_t exec_vaddr; /* of the first code of the file */
};

/* All bytes of *out are set, as it is sent to another process. */
void elf_python_find(const struct source *file, struct elf_python *out);

#endif
