/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* function_code - the bytes of the function that covers a place of a file, from the file as it was recorded */
#ifndef EBPREC_ANALYZE_SYM_FUNCTION_CODE_H
#define EBPREC_ANALYZE_SYM_FUNCTION_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/symfile.h"

#define FUNCTION_CODE_MAX_BYTES (1u << 20) /* of a longer function only so much is read */

struct function_code {
	uint8_t *bytes; /* owned (free()) */
	size_t size_bytes;
	uint64_t offset, vaddr; /* of the first: in the file, and as in its program headers */
	uint64_t total_bytes;   /* of the function */
	uint16_t machine;       /* EM_* */
};

/*
 * s has the symbols of this place.  NAME_FOUND; else why there is no code: NAME_FILE_GONE also when all that is here is
 * its debug file.
 */
enum name_reason function_code_read(const struct symfile *s, const struct name_roots *roots,
				    const struct resolver_file *as, uint64_t off_bytes,
				    struct function_code *out);

#endif
