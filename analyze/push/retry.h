/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* retry - what an answer means for a batch, and when it is tried again */
#ifndef EBPREC_ANALYZE_PUSH_RETRY_H
#define EBPREC_ANALYZE_PUSH_RETRY_H

#include <stdint.h>

enum push_outcome {
	PUSH_TAKEN,
	PUSH_SERVER_AWAY, /* nothing can be sent now: no connection, 408, 429, 502, 503, 504 */
	PUSH_LATER,       /* this one cannot, others may: other answers of 500 and above */
	PUSH_TOO_LARGE,   /* 413: halves may be taken */
	PUSH_REFUSED,     /* never: 400, 415, 422 */
	PUSH_MISDIRECTED, /* the address or the secret is wrong: redirections, 401, 403, 404 and the others */
};

/* status: of HTTP; 0: there was no answer. */
enum push_outcome push_outcome_of(long status);
/*
 * How long to wait before the next try: 1 s, 2 s, 4 s ... up to most_ms, of which the second half is random, so that
 * hosts that lost a server at once do not return at once.  tries: that failed, from 1 on; random: any 32 bits;
 * asked_s: of Retry-After, which is obeyed up to an hour; 0: none.
 */
uint64_t push_wait_ms(unsigned tries, uint32_t random, uint64_t most_ms, uint64_t asked_s);

#endif
