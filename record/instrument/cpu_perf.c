/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cpu_perf - where the CPUs are, without BPF: the kernel copies a piece of each stack into the
 * sample, and it is walked here, as soon as the unwind tables for it are there
 *
 * The events write into the side-band's rings, so that a user with a low limit of locked memory
 * needs one ring a CPU, and a sample comes in its place among the mappings.  The copies end here:
 * what reaches the file are addresses.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "format/base/cursor.h"
#include "format/perf/perfregs.h"
#include "record/instrument/instrument.h"
#include "format/base/foreign.h"

#define COVERAGE_MIN 20 /* samples; fewer are no measure */

struct copy_state {
	struct perf_event_set events;
	struct perf_event_attr attr; /* of what the kernel writes */
	int reopen_id;               /* the event's number for reopener_take() */
	bool on_exec;                /* the events begin with the command */
	__u64 kernel[CPU_KERNEL_MAX], user[CPU_SAMPLE_MAX];
};

/* ---- opening ---- */

static void describe(const struct instrument_ctx *c, struct copy_state *s, bool cycles)
{
	struct perf_event_attr *attr = &s->attr;
	bool kernel = !sideband_user_only(c->sideband);

	event_attrs_sample_kernel(attr, cycles, c->opts->freq_hz);
	attr->exclude_kernel = attr->exclude_hv = !kernel;
	attr->enable_on_exec = s->on_exec;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CGROUP;
	if (kernel || instrument_stacks(c) == CPU_STACKS_FP)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = instrument_stacks(c) != CPU_STACKS_FP;
	if (c->walker) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = UNWIND_HERE == UNWIND_AARCH64 ? PERFREGS_ARM_MASK
								       : PERFREGS_X86_MASK;
		attr->sample_stack_user = c->opts->copy_bytes;
	}
}

static int open_event(struct instrument_ctx *c, struct copy_state *s, bool cycles)
{
	int err;

	describe(c, s, cycles);
	err = perf_event_set_open(&s->events, &s->attr, c->cpus, c->scope);
	if (err == -EINVAL) { /* before 5.7 */
		s->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
		err = perf_event_set_open(&s->events, &s->attr, c->cpus, c->scope);
	}
	return err;
}

static int choose_event(struct instrument_ctx *c, struct copy_state *s)
{
	enum record_event want = c->opts->event;
	int err = open_event(c, s, want != RECORD_CPU_CLOCK);

	if (!err && want == RECORD_CPU_CLOCK)
		instrument_note_cpu_clock(c);
	if (!err || want == RECORD_CPU_CLOCK)
		return err;
	if (want == RECORD_CYCLES)
		return note_fail(c->notes, err, "no hardware counters here? use -e cpu-clock",
				 "cannot count cycles");
	err = open_event(c, s, false);
	if (!err)
		instrument_note_cpu_clock(c);
	return err;
}

static int copy_prepare(struct instrument_ctx *c)
{
	struct copy_state *s = calloc(1, sizeof(*s));
	uint64_t id;
	size_t i;
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->on_exec = c->opts->command && c->scope->pid_count && !c->opts->pid_count;
	err = choose_event(c, s);
	if (err)
		return note_fail(
			c->notes, err,
			perf_event_set_hint(err, perf_event_set_paranoid(), !c->scope->pid_count),
			"cannot sample by perf_event_open");
	for (i = 0; i < s->events.count && !err; i++) {
		int fd = s->events.event[i].fd;

		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
			  sideband_fd(c->sideband, s->events.event[i].cpu)) ||
		    ioctl(fd, PERF_EVENT_IOC_ID, &id))
			return note_fail(c->notes, -errno, NULL, "cannot sample CPU %u",
					 c->cpus->ids[s->events.event[i].cpu]);
		err = event_attrs_add_id(c->attrs, ATTR_SAMPLE, id);
	}
	event_attrs_set_sample(c->attrs, &s->attr);
	s->reopen_id = reopener_keep(c->reopener, &s->attr);
	return err;
}

static int copy_cpu_back(struct instrument_ctx *c, uint32_t cpu, int output_fd)
{
	struct copy_state *s = c->state;
	int fd = reopener_take(c->reopener, s->reopen_id);
	uint64_t id;
	int err = fd < 0 ? fd : perf_event_set_replace(&s->events, fd, cpu, output_fd, &id);

	return err ? err : event_attrs_add_late_id(c->attrs, ATTR_SAMPLE, id);
}

static int copy_attach(struct instrument_ctx *c)
{
	struct copy_state *s = c->state;
	int err = s->on_exec ? 0 : perf_event_set_control(&s->events, PERF_EVENT_IOC_ENABLE);

	return err ? note_fail(c->notes, err, NULL, "cannot begin to sample") : 0;
}

static void copy_stop(struct instrument_ctx *c)
{
	struct copy_state *s = c->state;

	if (s)
		(void)perf_event_set_control(&s->events, PERF_EVENT_IOC_DISABLE);
}

static void copy_detach(struct instrument_ctx *c)
{
	struct copy_state *s = c->state;

	if (!s)
		return;
	perf_event_set_close(&s->events);
	free(s);
	c->state = NULL;
}

/* ---- samples ---- */

/* One context's part of a chain: at most max frames; returns how many. */
static size_t take_chain(const struct perf_sample *sample, uint64_t context, __u64 *out, size_t max)
{
	bool inside = false;
	uint64_t addr;
	size_t i, n = 0;

	for (i = 0; i < sample->chain_count && n < max; i++) {
		addr = le64_load(sample->chain + 8 * i);
		if (addr >= (uint64_t)PERF_CONTEXT_MAX)
			inside = addr == context;
		else if (inside)
			out[n++] = addr;
	}
	return n;
}

static void take_kernel(const struct instrument_ctx *c, struct copy_state *s,
			const struct perf_sample *sample, struct sample_record *rec)
{
	size_t i;

	rec->kernel = s->kernel;
	rec->kernel_count = take_chain(sample, (uint64_t)PERF_CONTEXT_KERNEL, s->kernel,
				       CPU_KERNEL_MAX);
	if (!rec->kernel_count && sample->cpumode == PERF_RECORD_MISC_KERNEL)
		s->kernel[rec->kernel_count++] = sample->ip;
	for (i = 0; c->kallsyms && i < rec->kernel_count; i++)
		kernel_symbols_index_touch(c->kallsyms, s->kernel[i]);
}

/* The kernel's own walk by frame pointers, or, when no stacks were asked for, the address alone. */
static void take_user(const struct instrument_ctx *c, struct copy_state *s,
		      const struct perf_sample *sample, struct sample_record *rec)
{
	bool user_mode = sample->cpumode == PERF_RECORD_MISC_USER;

	rec->user = s->user;
	rec->user_count = take_chain(sample, (uint64_t)PERF_CONTEXT_USER, s->user,
				     c->opts->max_frames);
	if (!rec->user_count && user_mode)
		s->user[rec->user_count++] = sample->ip;
	if (!rec->user_count)
		return;
	if (instrument_stacks(c) == CPU_STACKS_FP && sample->chain_count < PERF_MAX_STACK_DEPTH &&
	    rec->user_count < c->opts->max_frames)
		rec->stack = (struct stack_result){
			.how = rec->user_count > 1 ? STACK_RESULT_FP : STACK_RESULT_PC,
			.why = UNWIND_NOT_A_FRAME,
		};
	else
		rec->stack = (struct stack_result){
			.how = rec->user_count > 1 ? STACK_RESULT_FP : STACK_RESULT_PC,
			.why = UNWIND_MAX_FRAMES,
			.flags = STACK_RESULT_CUT,
		};
}

/* True, and *out: there is a stack to unwind.  False: rec is complete without it. */
static bool take_copy(struct copy_state *s, const struct perf_sample *sample,
		      __u64 regs[PERFREGS_MAX], struct sample_record *rec,
		      struct unwinder_stack *out)
{
	if (!perfregs_load(UNWIND_HERE, sample, s->attr.sample_regs_user, regs))
		return false; /* a kernel thread */
	if (sample->user_regs_abi != PERF_SAMPLE_REGS_ABI_64) {
		s->user[0] = regs[unwind_pc_regno(UNWIND_HERE)];
		rec->user = s->user;
		rec->user_count = 1;
		rec->stack = (struct stack_result){ .how = STACK_RESULT_PC,
						    .why = UNWIND_UNSUPPORTED,
						    .flags = STACK_RESULT_COMPAT };
		return false;
	}
	/* In exec, between two programs: registers of the one, memory of the other. */
	if (!sample->user_stack_bytes && sample->cpumode == PERF_RECORD_MISC_KERNEL)
		return false;
	*out = (struct unwinder_stack){
		.bytes = sample->user_stack,
		.size_bytes = sample->user_stack_bytes,
		.addr = regs[unwind_sp_regno(UNWIND_HERE)],
		.regs = regs,
	};
	return true;
}

/* A sample whose stack is walked: all but its user frames. */
struct copied_sample {
	struct event_header h;
	uint32_t pid, tid, kernel_count;
	uint64_t period, cgroup_id;
	__u64 kernel[CPU_KERNEL_MAX]; /* as many as there are */
};

static int emit_walked(void *ctx, const struct event_header *ev, const struct unwinder_found *found)
{
	const struct copied_sample *copied = (const struct copied_sample *)ev;
	const struct instrument_ctx *c = ctx;
	struct sample_record rec = {
		.pid = copied->pid,
		.tid = copied->tid,
		.cpu = ev->cpu,
		.time_ns = ev->time_ns,
		.period = copied->period,
		.cgroup_id = copied->cgroup_id,
		.kernel = copied->kernel,
		.kernel_count = copied->kernel_count,
		.user = found->frames,
		.user_count = found->count,
		.stack = found->info,
	};

	sink_count_stack(c->emit, &rec.stack);
	return sink_sample(c->emit, ATTR_SAMPLE, &rec);
}

static int walk_copy(struct instrument_ctx *c, const struct sample_record *rec,
		     const struct unwinder_stack *stack)
{
	struct copied_sample copied = {
		.h = { .size_bytes = (uint16_t)(offsetof(struct copied_sample, kernel) +
						rec->kernel_count * sizeof(*rec->kernel)),
		       .cpu = rec->cpu,
		       .time_ns = rec->time_ns },
		.pid = rec->pid,
		.tid = rec->tid,
		.kernel_count = (uint32_t)rec->kernel_count,
		.period = rec->period,
		.cgroup_id = rec->cgroup_id,
	};

	memcpy(copied.kernel, rec->kernel, rec->kernel_count * sizeof(*rec->kernel));
	return unwinder_walk(c->walker, &copied.h, rec->pid, stack, emit_walked, c);
}

/* The mappings of a foreign process cannot be read: one frame stands for its user stack. */
static void name_foreign(struct copy_state *s, const struct perf_sample *sample,
			 struct sample_record *rec)
{
	if (sample->cpumode != PERF_RECORD_MISC_USER && !sample->user_regs_abi)
		return; /* a kernel thread, or the idle task */
	s->user[0] = FOREIGN_ADDR;
	rec->user = s->user;
	rec->user_count = 1;
	rec->stack = (struct stack_result){ .how = STACK_RESULT_PC, .why = UNWIND_COMPLETE };
}

static int copy_on_sample(struct instrument_ctx *c, const struct perf_event_header *record)
{
	struct copy_state *s = c->state;
	__u64 regs[PERFREGS_MAX] = { 0 };
	struct unwinder_stack stack;
	struct perf_sample sample;
	struct sample_record rec;

	if (perfrec_sample(record, record->size, &s->attr, &sample, NULL))
		return -EBADMSG;
	pid_namespace_name_sample(c->pidns, (uint32_t)sample.cpu, &sample.pid, &sample.tid);
	if (!targets_has(c->targets, sample.pid))
		return 0;
	rec = (struct sample_record){
		.pid = sample.pid,
		.tid = sample.tid,
		.cpu = (uint32_t)sample.cpu,
		.time_ns = sample.time_ns,
		.period = sample.period,
		.cgroup_id = sample.cgroup,
	};
	take_kernel(c, s, &sample, &rec);
	if (sample.pid == FOREIGN_PID)
		name_foreign(s, &sample, &rec);
	else if (!c->walker)
		take_user(c, s, &sample, &rec);
	else if (take_copy(s, &sample, regs, &rec, &stack))
		return walk_copy(c, &rec, &stack);
	sink_count_stack(c->emit, &rec.stack);
	return sink_sample(c->emit, ATTR_SAMPLE, &rec);
}

/*
 * A child that starts and ends within a period is not sampled: each child begins its events anew.
 * Noted when more than half of the CPU time is missing.
 */
static int copy_augment(struct instrument_ctx *c)
{
	const struct copy_state *s = c->state;
	const struct account *a = &c->emit->account;
	uint64_t seen = a->sample_count + a->lost_count[EBPREC_EV_CPU], want;
	struct rusage used;

	if (!s->on_exec || getrusage(RUSAGE_CHILDREN, &used))
		return 0;
	want = (uint64_t)used.ru_utime.tv_sec * 1000000 + (uint64_t)used.ru_utime.tv_usec;
	if (!s->attr.exclude_kernel)
		want += (uint64_t)used.ru_stime.tv_sec * 1000000 + (uint64_t)used.ru_stime.tv_usec;
	want = want * s->attr.sample_freq / 1000000;
	if (want >= COVERAGE_MIN && seen < want / 2)
		note(c->notes, NOTE_WARNING,
		     "only %llu of about %llu samples: without root, processes that end within %.3g ms "
		     "are not seen (a higher -F sees shorter ones)",
		     (unsigned long long)seen, (unsigned long long)want,
		     1000.0 / (double)s->attr.sample_freq);
	return 0;
}

const struct instrument inst_copy = {
	.name = "cpu",
	.summary = "where the CPUs are, without BPF",
	.costs = "a copy of the stack a sample",
	.needs = NEED_PERF,
	.prepare = copy_prepare,
	.attach = copy_attach,
	.on_sample = copy_on_sample,
	.cpu_back = copy_cpu_back,
	.augment = copy_augment,
	.stop = copy_stop,
	.detach = copy_detach,
};
