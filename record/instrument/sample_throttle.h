/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_throttle - how many samples are left out, so that a recording costs no more than it may
 *
 * Looks at what was spent once a second.  Above the allowance, one of more samples is taken at once as
 * many more as it was too dear, below a third of it for some seconds, one of half as many again.  Each
 * sample that is taken stands for those that were not, so sums stay what they are.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_SAMPLE_THROTTLE_H
#define EBPREC_RECORD_INSTRUMENT_SAMPLE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_THROTTLE_MAX 256

struct sample_throttle {
	uint64_t allowed_ns; /* a second; 0: whatever it costs */
	uint32_t most;       /* one of so many is the least that is taken */
	uint32_t one_of;
	/* As of the last look. */
	uint64_t at_ns, spent_ns;
	unsigned calm;    /* looks in a row that found less than a third spent */
	uint64_t last_ns; /* what was spent in the second before it */
};

/* freq_hz: at least about one sample a second is left. */
void sample_throttle_init(struct sample_throttle *t, uint64_t allowed_ns, unsigned freq_hz,
			  uint64_t now_ns, uint64_t spent_ns);
/* spent_ns: all that was spent so far.  True: one_of has changed. */
bool sample_throttle_look(struct sample_throttle *t, uint64_t now_ns, uint64_t spent_ns);

#endif
