/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/perf/perfregs.h"

#include "format/base/cursor.h"

/* DWARF's number of perf's x86 register n (enum perf_event_x86_regs); PERFREGS_MAX: no interest. */
static unsigned x86_regno(unsigned n)
{
	static const uint8_t numbers[] = {
		0, 3, 2, 1, 4, 5, 6, 7, 16
	}; /* ax bx cx dx si di bp sp ip */

	if (n < sizeof(numbers))
		return numbers[n];
	return n >= 16 && n < 24 ? n - 8 : PERFREGS_MAX; /* r8 to r15 */
}

bool perfregs_load(enum unwind_arch arch, const struct perf_sample *sample, uint64_t mask,
		   __u64 gprs[PERFREGS_MAX])
{
	unsigned pc = unwind_pc_regno(arch), sp = unwind_sp_regno(arch);
	const uint8_t *at = sample->user_regs;
	uint64_t seen = 0;

	if (!at || sample->user_regs_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	for (unsigned n = 0; n < 64; n++) {
		unsigned to = arch == UNWIND_X86_64 ? x86_regno(n) : n;

		if (!(mask >> n & 1))
			continue;
		if (to < PERFREGS_MAX) {
			gprs[to] = le64_load(at);
			seen |= 1ULL << to;
		}
		at += 8;
	}
	return seen >> pc & seen >> sp & 1;
}
