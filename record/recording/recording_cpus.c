/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* CPUs that go offline and come back while a recording runs. */
#include <errno.h>
#include <string.h>

#include "format/os/clock.h"
#include "record/recording/recording_priv.h"

#define AWAIT_MS 10 /* the helper opens in less, where it need not wait */

static double since_start_s(const struct recording *r, uint64_t ns)
{
	return ns > r->start_ns ? (double)(ns - r->start_ns) / 1e9 : 0;
}

/*
 * One begins: when its event ended, as the kernel counted, but within what we saw ourselves.  A CPU that
 * was offline at the start was never sampled.
 */
static struct cpu_gap *begin_gap(struct recording *r, uint32_t cpu, uint64_t now_ns)
{
	uint64_t from_ns = sideband_counted_until_ns(r->sideband, cpu);

	if (!from_ns)
		from_ns = r->start_ns;
	else if (from_ns < r->cpus_looked_ns)
		from_ns = r->cpus_looked_ns;
	else if (from_ns > now_ns)
		from_ns = now_ns;
	return cpu_gaps_begin(&r->cpugaps, cpu, from_ns);
}

static void note_not_sampled(struct recording *r, uint32_t cpu, int err)
{
	note(&r->notes, NOTE_WARNING,
	     "CPU %u came online: what runs on it is not sampled, and what starts there has no name: %s (record anew)",
	     cpu, strerror(-err));
}

/*
 * Opens its events anew: the side-band's first, so that what is sampled has a name.  From now on it is one of
 * those on which instruments run their programs.
 */
static int open_again(struct recording *r, uint32_t cpu)
{
	size_t rings = sideband_count(r->sideband);
	int output_fd = -1;
	int err = sideband_reopen(r->sideband, r->reopener, cpu, &r->attrs, &output_fd);

	if (!err && sideband_count(r->sideband) > rings)
		err = recording_watch_side(r, rings);
	for (size_t i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		if (r->running[i] && recording_instruments[i]->cpu_back)
			err = recording_instruments[i]->cpu_back(&r->ctx[i], cpu, output_fd);
	}
	return err ? err : cpuset_list_add(&r->cpus, cpu);
}

/* Whether its events are there.  -EAGAIN: they, or the CPU, are not quite; the next look tries again. */
static int await_events(struct recording *r, uint32_t cpu)
{
	int err = reopener_await(r->reopener, cpu, 0);

	if (err == -ENOENT) {
		err = reopener_ask(r->reopener, cpu);
		if (!err)
			err = reopener_await(r->reopener, cpu, AWAIT_MS);
	}
	if (err != -ENODEV)
		return err;
	err = reopener_ask(r->reopener, cpu);
	return err ? err : -EAGAIN;
}

/* Tasks that started there since have no name, and mappings are read again. */
static void sample_again(struct recording *r, struct cpu_gap *gap)
{
	int err = await_events(r, gap->cpu);
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC); /* no sample is older */

	if (err == -EAGAIN) {
		r->cpus_wanted = true;
		return;
	}
	if (!err)
		err = open_again(r, gap->cpu);
	r->rescan = true;
	if (err) {
		gap->given_up = true;
		note_not_sampled(r, gap->cpu, err);
		return;
	}
	gap->to_ns = began_ns;
	note(&r->notes, NOTE_INFO,
	     "CPU %u came online: it is sampled again, after %.3f s without (%.3f s to %.3f s)",
	     gap->cpu, (double)(gap->to_ns - gap->from_ns) / 1e9, since_start_s(r, gap->from_ns),
	     since_start_s(r, gap->to_ns));
}

/*
 * Events of chosen processes alone are theirs, not the CPU's: they go on when it comes back.  One that
 * was offline at the start has none.
 */
static void note_late_cpus(struct recording *r, const struct cpuset_list *came)
{
	for (size_t i = 0; i < came->count; i++) {
		if (!sideband_has_cpu(r->sideband, came->ids[i]))
			note_not_sampled(r, came->ids[i], -ENODEV);
	}
}

static void take_news(struct recording *r, const struct cpu_hotplug_news *news, uint64_t now_ns)
{
	if (r->scope.pid_count) {
		note_late_cpus(r, &news->came);
		return;
	}
	for (size_t i = 0; i < news->went.count; i++) {
		uint32_t cpu = news->went.ids[i];

		reopener_forget(r->reopener, cpu);
		if (begin_gap(r, cpu, now_ns) && !cpu_hotplug_has(&r->cpuwatch, cpu))
			note(&r->notes, NOTE_INFO, "CPU %u went offline", cpu);
	}
	for (size_t i = 0; i < news->came.count; i++)
		(void)begin_gap(r, news->came.ids[i], now_ns);
}

void recording_look_at_cpus(struct recording *r, bool all)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct cpu_hotplug_news news;

	if (!all && !r->cpus_wanted && !cpu_hotplug_is_stale(&r->cpuwatch, CPUSET_LIST_DIR))
		return;
	if (cpu_hotplug_look(&r->cpuwatch, CPUSET_LIST_DIR, &news))
		return;
	take_news(r, &news, now_ns);
	r->cpus_wanted = false;
	/* One after the other: the reopener opens for one CPU at a time. */
	for (size_t i = 0; i < r->cpugaps.count && !r->cpus_wanted; i++) {
		struct cpu_gap *gap = &r->cpugaps.gap[i];

		if (!gap->to_ns && !gap->given_up && cpu_hotplug_has(&r->cpuwatch, gap->cpu))
			sample_again(r, gap);
	}
	r->cpus_looked_ns = now_ns;
	cpu_hotplug_news_done(&news);
}
