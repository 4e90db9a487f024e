/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * byte_sampling - which allocations are taken, of all, and what each of these stands for
 *
 * One of sample_bytes bytes is drawn: an allocation of n bytes with the chance n / sample_bytes,
 * and then it stands for sample_bytes bytes; one of as many or more is always taken and stands for
 * itself.  So the bytes that are expected of each allocation are its own, and those of all
 * together, too.  How many allocations it stands for, sample_bytes / n, is rounded up or down by
 * chance, so that it is right on average.  random is a number of 32 bits, all equally likely, which
 * the caller has from the kernel, or from a test.
 */
#ifndef EBPREC_BPF_LIB_BYTE_SAMPLING_H
#define EBPREC_BPF_LIB_BYTE_SAMPLING_H

#include <linux/types.h>
#include <stdbool.h>

/* sample_bytes: 1 to 2^31. */
static inline bool draw_is(__u64 bytes, __u64 sample_bytes, __u32 random)
{
	return bytes >= sample_bytes || random * sample_bytes >> 32 < bytes;
}

/* The weight of a drawn allocation, in bytes. */
static inline __u64 draw_bytes(__u64 bytes, __u64 sample_bytes)
{
	return bytes >= sample_bytes ? bytes : sample_bytes;
}

/* The same in allocations; random: another number than that by which it was drawn. */
static inline __u32 draw_count(__u64 bytes, __u64 sample_bytes, __u32 random)
{
	if (bytes >= sample_bytes || !bytes)
		return 1;
	return (sample_bytes + random % bytes) / bytes;
}

#endif
