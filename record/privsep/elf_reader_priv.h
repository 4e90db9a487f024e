/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elfworker_priv - what the two sides of the room `elfworker` say to each other */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_READER_PRIV_H
#define EBPREC_RECORD_PRIVSEP_ELF_READER_PRIV_H

#include <stdint.h>

#include "format/unwind/module_table.h"
#include "record/privsep/elf_usdt.h"

#define ELFWORKER_TABLE_MAX (256u << 20) /* bytes */

/*
 * A question is one byte with a descriptor, of a symbol ELFSYMBOL_NAME_MAX bytes more, its name, and of a
 * probe a struct elfworker_probe.  The answer about facts is a struct elffacts.
 */
#define ELFWORKER_ASK_TABLE  "t"
#define ELFWORKER_ASK_FACTS  "f"
#define ELFWORKER_ASK_SYMBOL "s"
#define ELFWORKER_ASK_PROBE  "p"

/* The answer about a table, and behind it the bytes. */
struct elfworker_answer {
	int32_t err; /* 0, or negative errno */
	uint32_t size_bytes;
};

struct elfworker_place {
	int64_t err;
	uint64_t off_bytes;
};

struct elfworker_probe {
	char provider[USDTELF_NAME_MAX], name[USDTELF_NAME_MAX];
};

/* Behind it the places, count of them, when err is 0. */
struct elfworker_found {
	int32_t err;
	uint32_t count;
};

/* Bytes name a file, and here both sides know which one. */
extern const struct unwtable_key elfworker_key;

#endif
