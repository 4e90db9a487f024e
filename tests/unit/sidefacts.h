/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sidefacts - events that tests put into a model, in a line each */
#ifndef EBPREC_TESTS_SIDEFACTS_H
#define EBPREC_TESTS_SIDEFACTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/process/process_model.h"

static inline void sidefacts_map(struct process_model *m, uint32_t pid, uint64_t start,
				 uint64_t end, const char *path)
{
	struct perfrec_side side = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.mmap = { .pid = pid, .start = start, .size_bytes = end - start, .path = path },
	};

	assert_int_equal(process_model_add(m, &side), 0);
}

/* A BPF program at 0xffff0000, of 0x100 bytes. */
static inline void sidefacts_bpf(struct process_model *m)
{
	struct perfrec_side bpf = {
		.type = PERF_RECORD_KSYMBOL,
		.ksymbol = { .addr = 0xffff0000, .size_bytes = 0x100, .name = "bpf_prog_x" },
	};

	assert_int_equal(process_model_add(m, &bpf), 0);
}

#endif
