/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dropreasons - why packets are dropped, in the words of the kernel that runs
 *
 * Their numbers differ from kernel to kernel.  The names are in the kernel's types; the instrument net
 * puts them into its rows, so that a capture is read anywhere.
 */
#ifndef EBPREC_RECORD_METRIC_DROP_REASONS_H
#define EBPREC_RECORD_METRIC_DROP_REASONS_H

#include <bpf/btf.h>
#include <stdint.h>

#define DROPREASONS_MAX  256
#define DROPREASON_BYTES 32 /* with the NUL */

/* As bpf/tables/net.bpf.c has them; "": no such reason. */
struct dropreasons {
	char names[DROPREASONS_MAX][DROPREASON_BYTES];
};

/* -ENOENT: these types have no reasons.  *out is untouched then. */
int dropreasons_from_btf(const struct btf *btf, struct dropreasons *out);

#endif
