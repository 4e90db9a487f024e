/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_jvm - the HotSpot JVM in an ELF file, Java 17 to 25
 *
 * libjvm.so exports gHotSpotVMStructs and gHotSpotVMTypes, tables of the fields and sizes of its structs for debuggers
 * (src/hotspot/share/runtime/vmStructs.cpp).  Their texts, and the addresses of static fields, are pointers that the
 * relocations have; sizes are in the file; the offsets of fields the JVM fills in as it starts, so the description has which
 * entry is of which field (bpf/runtime_maps.h), and BPF reads the offsets in the process.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_JVM_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_JVM_H

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#define ELF_JVM_FIRST 17
#define ELF_JVM_LAST  25

/* The JVM in a file; state ELF_RUNTIME_NONE: it has none. */
void elf_jvm_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
