/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * drop_reasons - why packets are dropped, in the words of the kernel that runs
 *
 * Their numbers differ from kernel to kernel.  The names are in the kernel's types; the instrument net
 * puts them into its rows, so that a capture is read anywhere.
 */
#ifndef EBPREC_RECORD_METRIC_DROP_REASONS_H
#define EBPREC_RECORD_METRIC_DROP_REASONS_H

#include <bpf/btf.h>
#include <stdint.h>

#define DROP_REASONS_MAX  256
#define DROP_REASON_BYTES 32 /* with the NUL */

/* As bpf/tables/net.bpf.c has them; "": no such reason. */
struct drop_reasons {
	char names[DROP_REASONS_MAX][DROP_REASON_BYTES];
};

/* -ENOENT: these types have no reasons.  *out is untouched then. */
int drop_reasons_from_btf(const struct btf *btf, struct drop_reasons *out);

#endif
