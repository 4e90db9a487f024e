/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/location/callchain.h"

#include <linux/perf_event.h>

#include "analyze/process/process_model.h"
#include "format/base/cursor.h"

/* The cpumode a marker switches to; 0: a marker of the future. */
static unsigned marker_mode(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return 0;
	}
}

static void set_context(const struct callchain_context *context, struct callchain_run *run,
			unsigned cpumode)
{
	run->space = PROCESS_MODEL_NONE;
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		run->kind = LOCATION_KERNEL;
		run->space = context->kernel_space;
		break;
	case PERF_RECORD_MISC_HYPERVISOR:
		run->kind = LOCATION_HYPERVISOR;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		run->kind = LOCATION_GUEST;
		break;
	default:
		run->kind = LOCATION_FILE;
		run->space = context->user_space;
		break;
	}
}

static void add_run(const struct callchain_context *context, struct callchain *cut,
		    const uint8_t *frames, size_t count, unsigned cpumode)
{
	struct callchain_run *run;

	if (!count)
		return;
	if (cut->run_count == CALLCHAIN_RUNS) {
		cut->frames_left_out += count;
		return;
	}
	run = &cut->runs[cut->run_count++];
	run->frames = frames;
	run->count = count;
	set_context(context, run, cpumode);
}

/* Whether four addresses are all of user space, as most are: no marker is. */
static bool are_low(const uint8_t *chain)
{
	return !((le64_load(chain) | le64_load(chain + 8) | le64_load(chain + 16) |
		  le64_load(chain + 24)) >>
		 63);
}

void callchain_do(const uint8_t *chain, size_t count, const struct callchain_context *context,
		  struct callchain *out)
{
	unsigned mode = context->cpumode, next;
	size_t begin = 0, i;

	out->run_count = 0;
	out->deferred = out->frames_left_out = out->unknown_contexts = 0;
	for (i = 0; i < count; i++) {
		uint64_t addr;

		while (count - i > 4 && are_low(chain + 8 * i))
			i += 4;
		addr = le64_load(chain + 8 * i);
		if (addr < PERF_CONTEXT_MAX)
			continue;
		add_run(context, out, chain + 8 * begin, i - begin, mode);
		begin = i + 1;
		next = marker_mode(addr);
		if (next) {
			mode = next;
		} else if (addr == CALLCHAIN_USER_DEFERRED) {
			out->deferred++;
			begin = ++i + 1; /* the cookie is no address */
		} else {
			out->unknown_contexts++;
		}
	}
	if (begin < count)
		add_run(context, out, chain + 8 * begin, count - begin, mode);
}

void callchain_ip(const uint8_t *ip, const struct callchain_context *context, struct callchain *out)
{
	out->run_count = 0;
	out->deferred = out->frames_left_out = out->unknown_contexts = 0;
	add_run(context, out, ip, 1, context->cpumode);
}
