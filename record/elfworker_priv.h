/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elfworker_priv - what the two sides of the room `elfworker` say to each other */
#ifndef EBPREC_RECORD_ELFWORKER_PRIV_H
#define EBPREC_RECORD_ELFWORKER_PRIV_H

#include <stdint.h>

#include "format/unwtable.h"

#define ELFWORKER_TABLE_MAX (256u << 20) /* bytes */

/*
 * A question is one byte with a descriptor, and of a symbol ELFSYMBOL_NAME_MAX bytes more, its name; the
 * answer about facts is a struct elffacts.
 */
#define ELFWORKER_ASK_TABLE  "t"
#define ELFWORKER_ASK_FACTS  "f"
#define ELFWORKER_ASK_SYMBOL "s"

/* The answer about a table, and behind it the bytes. */
struct elfworker_answer {
	int32_t err; /* 0, or negative errno */
	uint32_t size_bytes;
};

struct elfworker_place {
	int64_t err;
	uint64_t off_bytes;
};

/* Bytes name a file, and here both sides know which one. */
extern const struct unwtable_key elfworker_key;

#endif
