/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* crc32c - the checksum of blocks, private records and the directory (Castagnoli, RFC 3720 B.4) */
#ifndef EBPREC_FORMAT_BASE_CRC32C_H
#define EBPREC_FORMAT_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of a range; crc: 0, or the result for the bytes in front of it. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes);

#endif
