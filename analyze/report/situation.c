/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/situation.h"

#define NS_PER_SECOND 1e9

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

static bool is_incomplete(const struct situation_facts *f)
{
	double all = (double)f->samples + (double)f->lost_samples;
	double waits = (double)f->wait_ns + (double)f->unknown_ns;

	return f->is_damaged || (f->lost_samples && (double)f->lost_samples >= 0.1 * all) ||
	       (f->unknown_ns && (double)f->unknown_ns >= 0.1 * waits);
}

static bool is_empty(const struct situation_facts *f)
{
	return !f->samples && !f->wait_ns && !f->run_ns;
}

static bool is_swapping(const struct situation_facts *f)
{
	return f->swap_ns && seconds(f->swap_ns) >= 0.1 * seconds(f->elapsed_ns);
}

static bool is_fork_storm(const struct situation_facts *f)
{
	double rate = f->elapsed_ns ? (double)f->started / seconds(f->elapsed_ns) : 0;

	/* A program that starts a few at once is no storm. */
	if (f->started < 20)
		return false;
	return rate >= 100 || (rate >= 20 && seconds(f->short_run_ns) >= seconds(f->run_ns) / 3);
}

static bool is_collecting(const struct situation_facts *f)
{
	return f->collecting && f->collecting >= f->samples / 4;
}

static bool has_waited(const struct situation_facts *f, uint64_t ns)
{
	return ns && seconds(ns) >= 0.3 * seconds(f->elapsed_ns) &&
	       seconds(ns) >= 0.5 * seconds(f->run_ns);
}

static bool is_locked(const struct situation_facts *f)
{
	return has_waited(f, f->lock_ns);
}

static bool is_disk_bound(const struct situation_facts *f)
{
	return has_waited(f, f->disk_ns);
}

static bool is_overloaded(const struct situation_facts *f)
{
	return f->queue_ns && f->queue_ns >= f->run_ns &&
	       seconds(f->queue_ns) >= 0.5 * seconds(f->elapsed_ns);
}

static bool is_cpu_bound(const struct situation_facts *f)
{
	double elapsed = seconds(f->elapsed_ns);

	return f->run_ns && (seconds(f->top_run_ns) >= 0.5 * elapsed ||
			     (f->cpus && seconds(f->run_ns) >= 0.5 * elapsed * (double)f->cpus));
}

static bool is_waiting(const struct situation_facts *f)
{
	return !f->is_system_wide;
}

static bool is_idle(const struct situation_facts *f)
{
	return f->cpus && seconds(f->run_ns) < 0.1 * seconds(f->elapsed_ns) * (double)f->cpus;
}

static bool is_any(const struct situation_facts *f)
{
	(void)f;
	return true;
}

static const struct {
	const char *title;
	bool (*applies)(const struct situation_facts *f);
} situations[SITUATION_COUNT] = {
	[SITUATION_INCOMPLETE] = { "Incomplete recording", is_incomplete },
	[SITUATION_EMPTY] = { "Empty recording", is_empty },
	[SITUATION_SWAPPING] = { "Swapping", is_swapping },
	[SITUATION_FORK_STORM] = { "Fork storm", is_fork_storm },
	[SITUATION_COLLECTING] = { "Garbage collection", is_collecting },
	[SITUATION_LOCKS] = { "Lock contention", is_locked },
	[SITUATION_DISK] = { "Waiting for disks", is_disk_bound },
	[SITUATION_OVERLOAD] = { "More runnable threads than CPUs", is_overloaded },
	[SITUATION_CPU] = { "CPU-bound", is_cpu_bound },
	[SITUATION_WAITING] = { "Mostly waiting", is_waiting },
	[SITUATION_IDLE] = { "Idle machine", is_idle },
	[SITUATION_PARTLY] = { "Partly busy", is_any },
};

enum situation situation_find(const struct situation_facts *f)
{
	unsigned i = 0;

	while (!situations[i].applies(f))
		i++;
	return (enum situation)i;
}

const char *situation_title(enum situation s)
{
	return situations[s].title;
}
