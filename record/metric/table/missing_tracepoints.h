/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * missing_tracepoints - the tracepoints of an instrument that this kernel lacks, and what is then
 * not measured
 *
 * A program whose name ends with _maybe is left out where its tracepoint is missing, and a member with
 * the tag needs:TRACEPOINT is no column there; any other program that is missing makes the object fail.
 * A tag instead:TEXT of a program describes what holds without it (bpf/lib/table.bpf.h).
 *
 * kernel: its types, by btf__load_vmlinux_btf(), which takes 2 to 8 ms; NULL: nothing is missing.
 */
#ifndef EBPREC_RECORD_METRIC_TABLE_MISSING_TRACEPOINTS_H
#define EBPREC_RECORD_METRIC_TABLE_MISSING_TRACEPOINTS_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/base/outbuf.h"

/* A tracepoint that a program cannot be without, in out; false: none is missing. */
bool missing_tracepoints_fails(const struct bpf_object *obj, const struct btf *kernel,
			       char out[64]);
/* Before the load: the others are not loaded where theirs is missing. */
void missing_tracepoints_leave_out(const struct bpf_object *obj, const struct btf *kernel);
/* Whether that member of a struct is no column here. */
bool missing_tracepoints_column(const struct btf *btf, const struct btf *kernel,
				const struct btf_type *of, uint32_t member);
/*
 * Appends "no tracepoint A, B: no column c, d; TEXT", all in one line, with a NUL behind; false: nothing
 * is missing, and nothing was appended.
 */
bool missing_tracepoints_text(const struct bpf_object *obj, const struct btf *kernel,
			      struct outbuf *out);

#endif
