/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_reader_priv - the messages between the recorder and the process that reads ELF files */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_READER_PRIV_H
#define EBPREC_RECORD_PRIVSEP_ELF_READER_PRIV_H

#include <stdint.h>

#include "format/payload/container_record.h"
#include "format/unwind/table/module_table.h"
#include "record/privsep/elf/elf_usdt.h"

#define ELF_READER_TABLE_MAX (256u << 20) /* bytes */

/*
 * A question is one byte with a descriptor, of a symbol ELF_SYMBOL_NAME_MAX bytes more, its name, and of a
 * probe a struct elf_reader_probe.  The answer about facts is a struct elf_facts.  When the file is closed, after the
 * answer, one byte more follows.
 */
#define ELF_READER_READY      "r"
#define ELF_READER_ASK_TABLE  "t"
#define ELF_READER_ASK_FACTS  "f"
#define ELF_READER_ASK_SYMBOL "s"
#define ELF_READER_ASK_PROBE  "p"
#define ELF_READER_ASK_JIT    "j" /* behind it a struct elf_reader_limit */
#define ELF_READER_ASK_STORE  "c" /* behind it a struct elf_reader_store */

/* The answer about a table, and behind it the bytes. */
struct elf_reader_answer {
	int32_t err; /* 0, or negative errno */
	uint32_t size_bytes;
};

struct elf_reader_place {
	int64_t err;
	uint64_t off_bytes;
};

struct elf_reader_probe {
	char provider[ELF_USDT_NAME_MAX], name[ELF_USDT_NAME_MAX];
};

/* Behind it the places, count of them, when err is 0. */
struct elf_reader_found {
	int32_t err;
	uint32_t count;
};

struct elf_reader_limit {
	uint64_t bytes;
};

/* The answer about a jitdump, and behind it the bytes. */
struct elf_reader_jit {
	uint32_t complete, size_bytes;
};

struct elf_reader_store {
	uint32_t form;
	char key[CONTAINER_RECORD_DIGITS + 1];
};

/* The answer about a store's file is a struct elf_reader_answer, and behind it these, each with its text. */
struct elf_reader_entry {
	char id[CONTAINER_RECORD_DIGITS + 1];
	uint32_t text_bytes;
};

#define ELF_READER_STORE_MAX (4u << 20) /* bytes of entries: of some 20,000 containers */

/* Bytes name a file, and here both sides know which one. */
extern const struct module_table_key elf_reader_key;

#endif
