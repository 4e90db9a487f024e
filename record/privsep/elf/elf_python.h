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

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* All bytes of *out are set, as it is sent to another process. */
void elf_python_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
