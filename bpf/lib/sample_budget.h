/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_budget - which samples of a service are taken, so that an hour has no more than so many
 *
 * One of one_of samples is taken, and stands for those since the one before: sums of weights are sums of all hits, but for
 * the last ones that wait for a sample to stand for them.  The distance to the next is drawn from 1 to 2 * one_of - 1, so that
 * no rhythm of the program is met.  one_of follows the rate of hits and what is left of the hour's budget.  At least one
 * sample a minute is taken, where there is a hit: the most are the budget, and 60.
 *
 * All CPUs share a budget without a lock, so distances are right but for two hits at once.  The weight that waits for a sample is
 * each CPU's own, so sums are exact.
 */
#ifndef EBPREC_BPF_LIB_SAMPLE_BUDGET_H
#define EBPREC_BPF_LIB_SAMPLE_BUDGET_H

#include <linux/types.h>

#define BUDGET_HOUR_NS    3600000000000ULL
#define BUDGET_MINUTE_NS  60000000000ULL
#define BUDGET_WINDOW_NS  10000000000ULL /* the rate is looked at so often, */
#define BUDGET_SOON_NS    1000000000ULL  /* and as soon as this, */
#define BUDGET_SOON_HITS  16             /* with so many hits */
#define BUDGET_ONE_OF_MAX (1u << 20)

struct sample_budget {
	__u64 hour_ns, window_ns, taken_ns; /* when they began; when the last was taken; 0: never */
	__u32 count, after;                 /* hits since the last that was taken, of so many */
	__u32 one_of, window_hits;
	__u32 taken; /* in this hour */
	__u32 pad;
};

/* The next one_of, by the hits of a window that lasted window_ns. */
static inline __u32 budget_one_of(__u64 hits, __u64 window_ns, __u64 left_ns, __u32 left)
{
	/* In ms: no product is beyond 64 bits. */
	__u64 expected = hits * (left_ns / 1000000) / (window_ns / 1000000 + 1);

	if (!left || expected / left >= BUDGET_ONE_OF_MAX)
		return BUDGET_ONE_OF_MAX;
	return expected / left + 1;
}

static inline void budget_look(struct sample_budget *b, __u32 samples_an_hour, __u64 now_ns)
{
	__u64 passed_ns = now_ns - b->window_ns, hour_ns = now_ns - b->hour_ns;

	if (passed_ns < BUDGET_SOON_NS ||
	    (passed_ns < BUDGET_WINDOW_NS && b->window_hits < BUDGET_SOON_HITS))
		return;
	if (hour_ns >= BUDGET_HOUR_NS) {
		b->hour_ns = now_ns;
		b->taken = 0;
		hour_ns = 0;
	}
	b->one_of = budget_one_of(b->window_hits, passed_ns, BUDGET_HOUR_NS - hour_ns,
				  b->taken < samples_an_hour ? samples_an_hour - b->taken : 0);
	/* A rate that has risen waits for no distance that was drawn before. */
	if (b->after > 2 * b->one_of)
		b->after = 2 * b->one_of;
	b->window_ns = now_ns;
	b->window_hits = 0;
}

/*
 * A hit, which stands for `weight` hits already; random: 32 bits.  Returns the weight of its sample; 0: it is not
 * taken.  b: zeroed before its first hit; waiting: this CPU's, which is 0 before.
 */
static inline __u64 budget_take(struct sample_budget *b, __u64 *waiting, __u32 samples_an_hour,
				__u64 weight, __u64 now_ns, __u32 random)
{
	if (!b->hour_ns) {
		b->hour_ns = b->window_ns = b->taken_ns = now_ns;
		b->one_of = b->after = 1;
	}
	weight += *waiting;
	*waiting = weight;
	__sync_fetch_and_add(&b->window_hits, 1);
	__sync_fetch_and_add(&b->count, 1);
	budget_look(b, samples_an_hour, now_ns);
	if (b->count < b->after && now_ns - b->taken_ns < BUDGET_MINUTE_NS)
		return 0;
	b->count = 0;
	b->after = 1 + random % (2 * b->one_of - 1);
	b->taken_ns = now_ns;
	__sync_fetch_and_add(&b->taken, 1);
	*waiting = 0;
	return weight;
}

#endif
