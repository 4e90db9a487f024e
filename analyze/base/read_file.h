/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* read_file - reads a file into memory, up to a size */
#ifndef EBPREC_ANALYZE_BASE_READ_FILE_H
#define EBPREC_ANALYZE_BASE_READ_FILE_H

#include <stddef.h>
#include <stdint.h>

/* *out is owned (free()) and ends with a NUL.  -EFBIG: more than max_bytes; else errno. */
int read_file_text(const char *path, size_t max_bytes, char **out);
/* The same of any bytes. */
int read_file_bytes(const char *path, size_t max_bytes, uint8_t **out, size_t *size_bytes);

#endif
