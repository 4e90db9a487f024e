/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/sample_throttle.h"

#define LOOK_NS  1000000000ULL
#define STEP_MAX 8 /* a second may be an exception */
#define CALM     5

void sample_throttle_init(struct sample_throttle *t, uint64_t allowed_ns, unsigned freq_hz,
			  uint64_t now_ns, uint64_t used_ns, uint64_t sampling_ns)
{
	*t = (struct sample_throttle){
		.allowed_ns = allowed_ns,
		.most = freq_hz < SAMPLE_THROTTLE_MAX ? freq_hz : SAMPLE_THROTTLE_MAX,
		.one_of = 1,
		.at_ns = now_ns,
		.used_ns = used_ns,
		.sampling_ns = sampling_ns,
	};
}

static uint32_t more(const struct sample_throttle *t)
{
	uint64_t times = (t->last_ns + t->allowed_ns - 1) / t->allowed_ns, to;

	to = t->one_of * (times < STEP_MAX ? times : STEP_MAX);
	return to < t->most ? (uint32_t)to : t->most;
}

/* CPU time of a second. */
static uint64_t rate(uint64_t used_ns, uint64_t passed_ns)
{
	return (uint64_t)((double)used_ns * 1e9 / (double)passed_ns);
}

bool sample_throttle_look(struct sample_throttle *t, uint64_t now_ns, uint64_t used_ns,
			  uint64_t sampling_ns)
{
	uint64_t passed_ns = now_ns - t->at_ns, samples_ns;
	uint32_t before = t->one_of;

	if (!t->allowed_ns || passed_ns < LOOK_NS || used_ns < t->used_ns ||
	    sampling_ns < t->sampling_ns)
		return false;
	t->last_ns = rate(used_ns - t->used_ns, passed_ns);
	samples_ns = rate(sampling_ns - t->sampling_ns, passed_ns);
	t->at_ns = now_ns;
	t->used_ns = used_ns;
	t->sampling_ns = sampling_ns;
	t->calm = t->last_ns < t->allowed_ns / 3 || samples_ns < t->allowed_ns / 8 ? t->calm + 1
										   : 0;
	if (t->last_ns > t->allowed_ns && samples_ns >= t->allowed_ns / 4) {
		if (t->one_of < t->most)
			t->one_of = more(t);
	} else if (t->calm >= CALM && t->one_of > 1) {
		t->one_of /= 2;
		t->calm = 0;
	}
	return t->one_of != before;
}
