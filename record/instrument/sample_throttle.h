/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_throttle - how many samples are left out, so that a recording costs no more than it may
 *
 * Compares the recorder's CPU time with the allowance once a second.  Above the allowance, one of
 * more samples is taken at once, in proportion to the excess; below a third of it for some seconds,
 * one of half as many again.  Where samples take less than a quarter of the allowance in the kernel, something
 * else costs (a storm of switches, programs that start), and fewer of them would only be a worse
 * answer: then none more is left out, and below an eighth of it more are taken again.  Each sample that is taken stands for those that were not, so sums
 * stay right.
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
	uint64_t at_ns, used_ns, sampling_ns;
	unsigned calm;    /* checks in a row that found less than a third used */
	uint64_t last_ns; /* the CPU time of the second before it */
};

/* freq_hz: at least about one sample a second is left. */
void sample_throttle_init(struct sample_throttle *t, uint64_t allowed_ns, unsigned freq_hz,
			  uint64_t now_ns, uint64_t used_ns, uint64_t sampling_ns);
/* used_ns: the CPU time so far; sampling_ns: the part of it that samples took in the kernel.  True: one_of has changed. */
bool sample_throttle_look(struct sample_throttle *t, uint64_t now_ns, uint64_t used_ns,
			  uint64_t sampling_ns);

#endif
