/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/retry.h"

#define ASKED_MAX_S 3600

enum push_outcome push_outcome_of(long status)
{
	if (status >= 200 && status < 300)
		return PUSH_TAKEN;
	switch (status) {
	case 0:
	case 408:
	case 429:
	case 502:
	case 503:
	case 504:
		return PUSH_SERVER_AWAY;
	case 413:
		return PUSH_TOO_LARGE;
	case 400:
	case 415:
	case 422:
		return PUSH_REFUSED;
	default:
		return status >= 500 ? PUSH_LATER : PUSH_MISDIRECTED;
	}
}

uint64_t push_wait_ms(unsigned tries, uint32_t random, uint64_t most_ms, uint64_t asked_s)
{
	uint64_t wait_ms = 1000;

	for (unsigned i = 1; i < tries && wait_ms < most_ms; i++)
		wait_ms *= 2;
	if (wait_ms > most_ms)
		wait_ms = most_ms;
	wait_ms = wait_ms / 2 + (wait_ms - wait_ms / 2) * random / UINT32_MAX;
	if (asked_s > ASKED_MAX_S)
		asked_s = ASKED_MAX_S;
	return asked_s * 1000 > wait_ms ? asked_s * 1000 : wait_ms;
}
