/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sched_bpf - every switch, wakeup, migration, fork and exit, as the tracepoints sched:*
 *
 * The file has the kernel's own format texts, so the records are laid out as the running kernel
 * would; a tracepoint that cannot be described is left out of the file, but for the switch, without
 * which the others mean nothing.
 *
 * And the run time of each thread, which follows from the switches, written once a second as
 * sched:sched_stat_runtime, from which `perf sched latency` has its run times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/core/sched.skel.h"
#include "format/perf/trace_data.h"
#include "format/os/clock.h"
#include "record/instrument/bpf_load.h"
#include "record/instrument/event_stack.h"
#include "record/instrument/instrument.h"
#include "record/instrument/stack_allowance.h"
#include "record/instrument/thread_runtime.h"
#include "record/runtime/runtimes.h"
#include "record/output/sample_record.h"
#include "record/events/tracepoint/layout.h"
#include "record/events/tracepoint/tracefs.h"

/* Fields as task_raw() puts them. */
enum { F_COMM, F_PID, F_PRIO, F_A, F_B };

static const struct task_kind {
	enum event_attrs_event event;
	const char *name; /* of the tracepoint, in sched */
	const char *fields[TRACEPOINT_LAYOUT_FIELDS_MAX];
} kinds[TASK_WHATS] = {
	[TASK_WAKEUP] = { ATTR_WAKEUP, "sched_wakeup", { "comm", "pid", "prio", "target_cpu" } },
	[TASK_WAKEUP_NEW] = { ATTR_WAKEUP_NEW,
			      "sched_wakeup_new",
			      { "comm", "pid", "prio", "target_cpu" } },
	[TASK_MIGRATE] = { ATTR_MIGRATE,
			   "sched_migrate_task",
			   { "comm", "pid", "prio", "orig_cpu", "dest_cpu" } },
	[TASK_FORK] = { ATTR_FORK,
			"sched_process_fork",
			{ "parent_comm", "parent_pid", "child_comm", "child_pid" } },
	[TASK_EXIT] = { ATTR_EXIT, "sched_process_exit", { "comm", "pid", "prio" } },
};

#define EMIT_NS         1000000000ULL /* run times are emitted this often */
#define COPIES_A_SECOND 200           /* of stacks, and CPU: those of programs that just began */

/* Fields as emit_runtimes() puts them.  vruntime, which is not known, is there up to Linux 6.7. */
enum { R_COMM, R_PID, R_RUNTIME };
static const char *const runtime_fields[] = { "comm", "pid", "runtime", "vruntime", NULL };
static const char *const runtime_fields_6_8[] = { "comm", "pid", "runtime", NULL };

struct sched_state {
	struct sched_bpf *skel;
	struct bpf_load load;
	struct switch_layout layout;
	struct tracepoint_layout task[TASK_WHATS];
	bool has_group_dead;
	struct tracepoint_layout runtime;
	struct thread_runtimes *runtimes; /* NULL: the kernel has no such tracepoint */
	uint64_t emitted_ns, stopped_ns;
	struct u64map named; /* threads of others whose name is in the capture */
	struct stack_allowance allowance;
	bool noted_low; /* few stacks are taken, and a note has it */
};

static int begin_load(struct instrument_ctx *c, struct sched_state *s)
{
	int err;

	s->skel = sched_bpf__open_opts(bpf_load_options(&s->load, c->types));
	if (!s->skel)
		return -errno;
	s->skel->bss->stack_ns_a_second = (uint32_t)(c->opts->stack_ns_a_second / c->cpus->count);
	s->skel->rodata->late_ns = c->opts->late_ns;
	s->skel->rodata->user_stacks = c->walker != NULL;
	s->skel->rodata->copy_bytes = SWITCH_COPY_BYTES - COPY_BELOW_SP;
	s->skel->rodata->copies_a_second = instrument_stacks(c) == CPU_STACKS_AUTO ? COPIES_A_SECOND
										   : 0;
	s->skel->rodata->max_frames = instrument_max_frames(c->opts);
	err = instrument_share(c, s->skel);
	if (!err && c->walker)
		err = unwind_bpf_maps_share(unwinder_space(c->walker), s->skel);
	if (!err && c->runtimes)
		err = runtimes_share(c->runtimes, s->skel);
	if (!err)
		bpf_load_begin(&s->load, s->skel->skeleton);
	return err;
}

/* Describes sched:sched_switch in the file. */
static int describe_switch(struct instrument_ctx *c, struct sched_state *s)
{
	char *format = tracefs_format("sched", "sched_switch");
	int err = format ? switch_layout_from_format(format, &s->layout) : -ENOENT;

	if (err) {
		free(format);
		return note_fail(c->notes, err, "is tracefs mounted on /sys/kernel/tracing?",
				 "cannot read the format of sched:sched_switch");
	}
	event_attrs_set_tracepoint(c->attrs, ATTR_SWITCH, "sched:sched_switch", s->layout.id);
	event_attrs_set_format(c->attrs, ATTR_SWITCH, format);
	return 0;
}

static void describe_task(struct instrument_ctx *c, struct sched_state *s, enum task_what what)
{
	static const char *const with_group[] = { "comm", "pid", "prio", "group_dead", NULL };
	const struct task_kind *kind = &kinds[what];
	char name[32], *format = tracefs_format("sched", kind->name);
	int err = format ? tracepoint_layout_from_format(format, kind->fields, &s->task[what])
			 : -ENOENT;

	if (err) {
		note(c->notes, NOTE_WARNING, "cannot read the format of sched:%s: %s, skipping",
		     kind->name, strerror(-err));
		free(format);
		return;
	}
	if (what == TASK_EXIT) /* group_dead is as young as Linux 6.17 */
		s->has_group_dead = !tracepoint_layout_from_format(format, with_group,
								   &s->task[what]);
	snprintf(name, sizeof(name), "sched:%s", kind->name);
	event_attrs_set_tracepoint(c->attrs, kind->event, name, s->task[what].id);
	event_attrs_set_format(c->attrs, kind->event, format);
}

static void describe_runtime(struct instrument_ctx *c, struct sched_state *s)
{
	char *format = tracefs_format("sched", "sched_stat_runtime");

	if (!format || (tracepoint_layout_from_format(format, runtime_fields, &s->runtime) &&
			tracepoint_layout_from_format(format, runtime_fields_6_8, &s->runtime))) {
		note(c->notes, NOTE_WARNING,
		     "cannot read the format of sched:sched_stat_runtime, skipping");
		free(format);
		return;
	}
	event_attrs_set_tracepoint(c->attrs, ATTR_RUNTIME, "sched:sched_stat_runtime",
				   s->runtime.id);
	event_attrs_set_format(c->attrs, ATTR_RUNTIME, format);
}

static int sched_prepare(struct instrument_ctx *c)
{
	struct sched_state *s = calloc(1, sizeof(*s));
	int what, err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	err = begin_load(c, s);
	if (err)
		return instrument_fail(c, err, "cannot load the recorder of context switches");
	err = describe_switch(c, s);
	for (what = 0; !err && what < TASK_WHATS; what++)
		describe_task(c, s, (enum task_what)what);
	if (!err)
		describe_runtime(c, s);
	event_attrs_set_tracepoint(c->attrs, ATTR_WAKER, "ebprec:waker", TRACE_DATA_WAKER_ID);
	event_attrs_set_tracepoint(c->attrs, ATTR_EXITED, "ebprec:exit", TRACE_DATA_EXIT_ID);
	return err;
}

/* Above all CPUs, also those that are offline now. */
static uint32_t cpu_end(const struct cpuset_list *cpus)
{
	uint32_t end = cpus->ids[cpus->count - 1] + 1;
	int possible = libbpf_num_possible_cpus();

	return possible > 0 && (uint32_t)possible > end ? (uint32_t)possible : end;
}

static int sched_attach(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;
	int err = bpf_load_end(&s->load); /* processes were read meanwhile */

	if (err)
		return instrument_fail(c, err, "cannot load the recorder of context switches");
	err = sched_bpf__attach(s->skel);
	if (err)
		return instrument_fail(c, err, "cannot attach to sched:sched_switch");
	s->emitted_ns = clock_ns(CLOCK_MONOTONIC);
	if (!c->attrs->entry[ATTR_RUNTIME].present)
		return 0;
	return thread_runtimes_new(cpu_end(c->cpus), s->emitted_ns, &s->runtimes);
}

static int emit_runtimes(struct instrument_ctx *c, struct sched_state *s)
{
	const struct runtime *t;
	struct sample_record rec;
	struct tracepoint_raw raw;
	size_t i, count;
	int err = thread_runtimes_take(s->runtimes, &t, &count);

	for (i = 0; i < count && !err; i++, t++) {
		tracepoint_raw_begin(&raw, &s->runtime, 0, t->tid);
		tracepoint_raw_comm(&raw, R_COMM, t->comm);
		tracepoint_raw_number(&raw, R_PID, t->tid);
		tracepoint_raw_number(&raw, R_RUNTIME, t->sum_ns);
		/*
		 * At a moment when the thread was alive, for perf to know it: not after its EXIT; and
		 * not before what perf has already put in order.
		 */
		rec = (struct sample_record){
			.pid = t->pid,
			.tid = t->tid,
			.cpu = t->cpu,
			.time_ns = t->from_ns > c->emit->floor_ns ? t->from_ns : c->emit->floor_ns,
			.period = 1,
			.raw = raw.bytes,
			.raw_bytes = tracepoint_raw_end(&raw),
		};
		err = sink_sample(c->emit, ATTR_RUNTIME, &rec);
	}
	return err;
}

static int count_runtime(struct instrument_ctx *c, struct sched_state *s,
			 const struct switch_event *ev)
{
	int err = thread_runtimes_switch(s->runtimes, ev);

	if (err || ev->h.time_ns < s->emitted_ns + EMIT_NS)
		return err;
	s->emitted_ns = ev->h.time_ns;
	return emit_runtimes(c, s);
}

/* A thread that is on a CPU at the end has no switch to count its time by. */
static int sched_augment(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;
	int err;

	if (!s->runtimes)
		return 0;
	err = thread_runtimes_until(s->runtimes, s->stopped_ns);
	return err ? err : emit_runtimes(c, s);
}

/*
 * The thread on the CPU before a recorded one may be of a process that is not recorded: its name is
 * known from here only.
 */
static int name_stranger(struct instrument_ctx *c, struct sched_state *s,
			 const struct switch_event *ev)
{
	char comm[sizeof(ev->prev_comm) + 1] = "";
	struct side_record r; /* large, and hardly ever needed */
	int err;

	if (!ev->prev_tid || targets_has(c->targets, ev->prev_pid) ||
	    u64map_get(&s->named, ev->prev_tid, 0))
		return 0;
	err = u64map_put(&s->named, ev->prev_tid, 0, 0);
	if (err)
		return err;
	r = (struct side_record){ .id = sink_side_id(c->emit), .time_ns = ev->h.time_ns };
	memcpy(comm, ev->prev_comm, sizeof(ev->prev_comm));
	return sink_side(c->emit, &r, side_record_comm(&r, ev->prev_pid, ev->prev_tid, comm));
}

/* found: NULL: the frames that came with the event. */
static int emit_switch(struct instrument_ctx *c, const struct switch_event *ev,
		       const struct unwinder_found *found)
{
	const struct switch_copy_event *copy = (const void *)ev; /* with found */
	struct sched_state *s = c->state;
	uint8_t raw[SAMPLE_RECORD_RAW_MAX];
	struct sample_record rec = {
		.pid = ev->prev_pid,
		.tid = ev->prev_tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = 1,
		.raw = raw,
		.raw_bytes = s->layout.size_bytes,
	};
	struct event_stack_writer stack = { 0 };

	if (ev->weight) {
		event_stack_read(&ev->stack, c->kallsyms, &stack);
		if (found)
			event_stack_join_copy(&ev->h, copy->stack, copy->stack_bytes, found,
					      c->runtimes, &stack);
		else
			event_stack_join(&ev->stack, c->runtimes, &stack);
		rec.kernel = stack.kernel;
		rec.kernel_count = stack.kernel_count;
		rec.user = stack.user;
		rec.user_count = stack.user_count;
	}
	switch_encode(&s->layout, ev, &stack.info, raw);
	return sink_sample(c->emit, ATTR_SWITCH, &rec);
}

/* Takes what the walker made of a copy, unless it is less than was known before. */
static int emit_copied(void *ctx, const struct event_header *h, const struct unwinder_found *found)
{
	const struct switch_event *ev = &((const struct switch_copy_event *)h)->sw;

	return emit_switch(ctx, ev, found->count < ev->stack.user_count ? NULL : found);
}

static int defer_switch(struct instrument_ctx *c, const struct switch_copy_event *ev)
{
	struct unwinder_stack stack = {
		.bytes = ev->stack,
		.size_bytes = ev->stack_bytes,
		.addr = ev->stack_addr,
		.regs = ev->regs,
	};

	return unwinder_defer(c->walker, &ev->sw.h, ev->sw.prev_pid, &stack, emit_copied, c);
}

static bool is_complete(const struct instrument_ctx *c, const struct switch_event *ev)
{
	const struct switch_copy_event *copy = (const void *)ev;

	if (!ev->weight)
		return ev->h.type == EBPREC_EV_SWITCH;
	if (ev->h.type == EBPREC_EV_SWITCH_COPY)
		return c->walker && ev->h.size_bytes >= SWITCH_COPY_HEAD_BYTES &&
		       ev->stack.kernel_count <= CPU_KERNEL_MAX &&
		       ev->stack.user_count <= CPU_USER_MAX &&
		       copy->stack_bytes <= (uint32_t)ev->h.size_bytes - SWITCH_COPY_HEAD_BYTES;
	return event_stack_fits(&ev->h, EVENT_HEAD_BYTES(switch_event), &ev->stack);
}

static int on_switch(struct instrument_ctx *c, const struct switch_event *ev)
{
	struct sched_state *s = c->state;
	int err;

	if (ev->h.size_bytes < SWITCH_EVENT_SHORT_BYTES || !is_complete(c, ev))
		return -EBADMSG;
	if (ev->wanted & SWITCH_NEXT_LATE)
		snapshot_triggers_late(c->triggers, ev->h.time_ns);
	err = name_stranger(c, s, ev);
	if (err)
		return err;
	c->emit->account.switch_stack_count += !!ev->weight;
	if (ev->h.type == EBPREC_EV_SWITCH_COPY)
		err = defer_switch(c, (const void *)ev);
	else
		err = emit_switch(c, ev, NULL);
	return err || !s->runtimes ? err : count_runtime(c, s, ev);
}

static void task_raw(const struct sched_state *s, const struct task_event *ev,
		     struct tracepoint_raw *raw)
{
	tracepoint_raw_begin(raw, &s->task[ev->what], ev->irq, ev->by_tid);
	if (ev->what == TASK_FORK) {
		tracepoint_raw_comm(raw, 0, ev->by_comm);
		tracepoint_raw_number(raw, 1, ev->by_tid);
		tracepoint_raw_comm(raw, 2, ev->comm);
		tracepoint_raw_number(raw, 3, ev->tid);
		return;
	}
	tracepoint_raw_comm(raw, F_COMM, ev->comm);
	tracepoint_raw_number(raw, F_PID, ev->tid);
	tracepoint_raw_number(raw, F_PRIO, (uint64_t)(int64_t)ev->prio);
	if (ev->what != TASK_EXIT || s->has_group_dead)
		tracepoint_raw_number(raw, F_A, (uint64_t)(int64_t)ev->a);
	if (ev->what == TASK_MIGRATE)
		tracepoint_raw_number(raw, F_B, (uint64_t)(int64_t)ev->b);
}

static int on_task(struct instrument_ctx *c, const struct task_event *ev)
{
	struct sched_state *s = c->state;
	struct tracepoint_raw raw;
	struct sample_record rec = {
		.pid = ev->by_pid,
		.tid = ev->by_tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = 1,
		.raw = raw.bytes,
	};

	if (ev->h.size_bytes < TASK_EVENT_SHORT_BYTES || ev->what >= TASK_WHATS ||
	    (ev->what == TASK_FORK && ev->h.size_bytes < sizeof(*ev)))
		return -EBADMSG;
	if (!c->attrs->entry[kinds[ev->what].event].present)
		return 0;
	task_raw(s, ev, &raw);
	rec.raw_bytes = tracepoint_raw_end(&raw);
	return sink_sample(c->emit, kinds[ev->what].event, &rec);
}

static int on_waker(struct instrument_ctx *c, const struct waker_event *ev)
{
	struct trace_data_waker waker = { .tid = ev->wakee_tid, .irq = (uint8_t)ev->irq };
	uint8_t raw[TRACE_DATA_WAKER_BYTES];
	struct sample_record rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = 1,
		.raw = raw,
		.raw_bytes = sizeof(raw),
	};
	struct event_stack_writer stack;

	if (!event_stack_fits(&ev->h, EVENT_HEAD_BYTES(waker_event), &ev->stack))
		return -EBADMSG;
	event_stack_read(&ev->stack, c->kallsyms, &stack);
	event_stack_join(&ev->stack, c->runtimes, &stack);
	rec.kernel = stack.kernel;
	rec.kernel_count = stack.kernel_count;
	rec.user = stack.user;
	rec.user_count = stack.user_count;
	stack_result_encode(&stack.info, waker.stack);
	trace_data_waker_encode(raw, ev->tid, &waker);
	return sink_sample(c->emit, ATTR_WAKER, &rec);
}

static int on_exit_event(struct instrument_ctx *c, const struct exit_event *ev)
{
	struct trace_data_exit e = {
		.pid = ev->pid,
		.tid = ev->tid,
		.ppid = ev->ppid,
		.prio = ev->prio,
		.nice = ev->nice,
		.policy = ev->policy,
		.runtime_ns = ev->runtime_ns,
		.voluntary = ev->voluntary,
		.involuntary = ev->involuntary,
		.code = ev->code,
	};
	uint8_t raw[TRACE_DATA_EXIT_BYTES];
	struct sample_record rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = 1,
		.raw = raw,
		.raw_bytes = sizeof(raw),
	};

	if (ev->h.size_bytes < sizeof(*ev))
		return -EBADMSG;
	memcpy(e.comm, ev->comm, sizeof(e.comm));
	trace_data_exit_encode(raw, &e);
	return sink_sample(c->emit, ATTR_EXITED, &rec);
}

static int sched_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	if (h->type == EBPREC_EV_SWITCH || h->type == EBPREC_EV_SWITCH_COPY)
		return on_switch(c, (const void *)h);
	if (h->type == EBPREC_EV_WAKER)
		return on_waker(c, (const void *)h);
	if (h->type == EBPREC_EV_EXIT)
		return on_exit_event(c, (const void *)h);
	return on_task(c, (const void *)h);
}

/* ---- what it costs ---- */

/* The time that stacks took in the kernel; where it cannot be read, as of when it could be. */
static void count_stacks(struct instrument_ctx *c, const struct sched_state *s)
{
	int cpus = libbpf_num_possible_cpus();
	struct stack_budget *budgets = cpus > 0 ? calloc((size_t)cpus, sizeof(*budgets)) : NULL;
	uint32_t zero = 0;
	uint64_t sum_ns = 0;

	if (budgets && c->emit &&
	    !bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.stack_budgets), &zero, budgets)) {
		for (int i = 0; i < cpus; i++)
			sum_ns += budgets[i].spent_ns;
		c->emit->account.switch_stack_ns = sum_ns;
	}
	free(budgets);
}

static void note_allowance(struct instrument_ctx *c, struct sched_state *s)
{
	const struct stack_allowance *w = &s->allowance;

	if (w->is_low && !s->noted_low)
		note(c->notes, NOTE_INFO,
		     "recording took %.2f %% of a CPU besides stacks of switches, --max-overhead is %.2f: these may take %.2f from now on, and stand for all",
		     (double)w->last_ns / 1e7, (double)w->limit_ns / 1e7,
		     (double)w->allowed_ns / 1e7);
	s->noted_low = w->is_low || (s->noted_low && w->allowed_ns < w->limit_ns / 2);
}

/* With --max-overhead: when the recorder costs more, it takes fewer stacks of switches. */
static int sched_tick(struct instrument_ctx *c, uint64_t now_ns)
{
	struct account *a = &c->emit->account;
	struct sched_state *s = c->state;
	uint64_t used_ns;

	if (!c->opts->max_overhead || !c->opts->stack_ns_a_second ||
	    now_ns < s->allowance.at_ns + 1000000000)
		return 0;
	account_own_cost(a);
	count_stacks(c, s);
	used_ns = a->own_user_ns + a->own_system_ns + a->sampling_ns;
	if (!s->allowance.at_ns) {
		stack_allowance_init(&s->allowance, c->opts->stack_ns_a_second, now_ns, used_ns);
	} else if (stack_allowance_look(&s->allowance, now_ns, used_ns)) {
		s->skel->bss->stack_ns_a_second = (uint32_t)(s->allowance.allowed_ns /
							     c->cpus->count);
		note_allowance(c, s);
	}
	a->switch_stack_least_ns = s->allowance.least_ns;
	return 0;
}

/* Switches were attached last and end first: between any two of them, nothing else is missing. */
static void sched_stop(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;

	if (!s || !s->skel)
		return;
	bpf_link__destroy(s->skel->links.on_switch); /* NULL is fine */
	s->skel->links.on_switch = NULL;
	count_stacks(c, s);
	s->stopped_ns = clock_ns(CLOCK_MONOTONIC);
	sched_bpf__detach(s->skel);
}

static void sched_detach(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;

	if (!s)
		return;
	(void)bpf_load_end(&s->load);
	sched_bpf__destroy(s->skel);
	u64map_done(&s->named);
	thread_runtimes_free(s->runtimes);
	free(s);
	c->state = NULL;
}

const struct instrument inst_sched = {
	.name = "sched",
	.summary = "when threads run and wait, and where",
	.costs = "0.3 us a switch with its wakeup, and --max-overhead for stacks",
	.needs = NEED_BPF | NEED_SCHED,
	.events = 1u << EBPREC_EV_SWITCH | 1u << EBPREC_EV_SWITCH_COPY | 1u << EBPREC_EV_TASK |
		  1u << EBPREC_EV_WAKER | 1u << EBPREC_EV_EXIT,
	.prepare = sched_prepare,
	.attach = sched_attach,
	.on_event = sched_on_event,
	.tick = sched_tick,
	.augment = sched_augment,
	.stop = sched_stop,
	.detach = sched_detach,
};
