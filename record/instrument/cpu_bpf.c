/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cpu_bpf - where the CPUs are: a perf event on each CPU, whose BPF program takes the stacks */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bpf/core/cpu.skel.h"
#include "format/os/clock.h"
#include "record/events/perf_event.h"
#include "record/instrument/bpf_load.h"
#include "record/instrument/event_stack.h"
#include "record/instrument/instrument.h"
#include "record/instrument/sample_throttle.h"
#include "record/runtime/runtimes.h"

#define COPIES_A_SECOND 600 /* or half of the samples, if that is more */

enum { FOLLOW_COUNT = 3 }; /* programs that follow processes: fork, exec, free */

struct cpu_sampling {
	uint32_t cpu;
	int fd;
	struct bpf_link *link; /* NULL: none.  It owns the event. */
};

struct cpu_state {
	struct cpu_bpf *skel;
	struct bpf_load load;
	struct cpu_sampling *sampling;
	size_t count;
	int reopen_id; /* the event's number for reopener_take() */
	struct bpf_link *follow[FOLLOW_COUNT];
	struct cpu_cost *costs; /* one a possible CPU, to read them into */
	int cost_count;
	struct sample_throttle thinning;
};

/* Opens the event on the first CPU: as asked for, or what there is.  *attr is what worked. */
static int choose_event(struct instrument_ctx *c, struct perf_event_attr *attr)
{
	enum record_event want = c->opts->event;
	int fd;

	event_attrs_sample_kernel(attr, want != RECORD_CPU_CLOCK, c->opts->freq_hz);
	fd = perf_event_set_open_one(attr, 0, c->cpus->ids[0]);
	if (fd >= 0 && want == RECORD_CPU_CLOCK)
		instrument_note_cpu_clock(c);
	if (fd >= 0 || want == RECORD_CPU_CLOCK)
		return fd;
	if (want == RECORD_CYCLES) {
		note_fail(c->notes, fd, "no hardware counters here? use -e cpu-clock",
			  "cannot count cycles");
		return fd;
	}
	event_attrs_sample_kernel(attr, false, c->opts->freq_hz);
	fd = perf_event_set_open_one(attr, 0, c->cpus->ids[0]);
	if (fd >= 0)
		instrument_note_cpu_clock(c);
	return fd;
}

/* The rest of the events; each writes THROTTLE records into the side-band ring of its CPU. */
static int open_events(struct instrument_ctx *c, struct cpu_state *s)
{
	struct perf_event_attr attr;
	uint64_t id;
	size_t i;
	int err, fd;

	for (i = 0; i < c->cpus->count; i++) {
		fd = i ? perf_event_set_open_one(&attr, 0, c->cpus->ids[i])
		       : choose_event(c, &attr);
		if (fd < 0)
			return note_fail(c->notes, fd,
					 perf_event_set_hint(fd, perf_event_set_paranoid(), true),
					 "cannot sample CPU %u", c->cpus->ids[i]);
		s->sampling[s->count++] = (struct cpu_sampling){ .cpu = c->cpus->ids[i], .fd = fd };
		/* Without it throttling goes unseen, and that is all. */
		(void)ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, sideband_fd(c->sideband, i));
		if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
			return note_fail(c->notes, -errno, NULL, "cannot sample CPU %u",
					 c->cpus->ids[i]);
		err = event_attrs_add_id(c->attrs, ATTR_SAMPLE, id);
		if (err)
			return err;
	}
	event_attrs_set_sample(c->attrs, &attr);
	s->reopen_id = reopener_keep(c->reopener, &attr);
	return 0;
}

/*
 * Copies that may be made on a CPU.  Until user space knows what a new program maps, for 10 ms and more, each
 * of its samples needs one; a copy takes the kernel less than a walk, and user space about as much.
 */
static unsigned copies_a_second(unsigned freq_hz)
{
	return freq_hz / 2 > COPIES_A_SECOND ? freq_hz / 2 : COPIES_A_SECOND;
}

/* Maps that nothing looks into take no memory. */
static int give_budgets(const struct instrument_ctx *c, struct cpu_bpf *skel)
{
	int err;

	if (c->service_cgroups_fd >= 0) {
		skel->rodata->samples_an_hour = c->opts->samples_an_hour;
		return bpf_map__reuse_fd(skel->maps.service_cgroups, c->service_cgroups_fd);
	}
	err = bpf_map__set_max_entries(skel->maps.service_cgroups, 1);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.service_budgets, 1);
	return err ? err : bpf_map__set_max_entries(skel->maps.service_waiting, 1);
}

/*
 * The programs that follow processes begin at once: what is read of processes after this is never
 * taken for newer than an exec that happens meanwhile.
 */
static void list_follow(const struct cpu_bpf *skel, struct bpf_program *out[FOLLOW_COUNT])
{
	out[0] = skel->progs.cpu_fork;
	out[1] = skel->progs.cpu_exec;
	out[2] = skel->progs.cpu_free;
}

static int begin_load(struct instrument_ctx *c, struct cpu_state *s)
{
	struct bpf_program *follow[FOLLOW_COUNT];
	size_t i;
	int err;

	s->skel = cpu_bpf__open_opts(bpf_load_options(&s->load, c->types));
	if (!s->skel)
		return -errno;
	s->skel->rodata->stacks = instrument_stacks(c);
	s->skel->rodata->copy_bytes = c->opts->copy_bytes;
	s->skel->rodata->copies_a_second = copies_a_second(c->opts->freq_hz);
	s->skel->rodata->max_frames = c->opts->max_frames;
	if (c->opts->max_frames > RUNTIME_FRAMES_MAX)
		s->skel->rodata->runtime_max_frames = c->opts->max_frames;
	list_follow(s->skel, follow);
	err = give_budgets(c, s->skel);
	for (i = 0; i < FOLLOW_COUNT; i++)
		bpf_program__set_autoload(follow[i], c->walker != NULL);
	if (!err)
		err = instrument_share(c, s->skel);
	if (!err && c->walker)
		err = unwind_bpf_maps_share(unwinder_space(c->walker), s->skel);
	if (!err && c->runtimes)
		err = runtimes_share(c->runtimes, s->skel);
	if (!err)
		bpf_load_begin(&s->load, s->skel->skeleton);
	return err;
}

static int cpu_complete(struct instrument_ctx *c)
{
	struct cpu_state *s = c->state;
	struct bpf_program *follow[FOLLOW_COUNT];
	int err = bpf_load_end(&s->load);

	list_follow(s->skel, follow);
	for (size_t i = 0; !err && c->walker && i < FOLLOW_COUNT; i++) {
		s->follow[i] = bpf_program__attach(follow[i]);
		err = s->follow[i] ? 0 : -errno;
	}
	return err ? instrument_fail(c, err, "cannot load the CPU sampler") : 0;
}

static int cpu_prepare(struct instrument_ctx *c)
{
	struct cpu_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->sampling = calloc(c->cpus->count, sizeof(*s->sampling));
	s->cost_count = libbpf_num_possible_cpus();
	s->costs = s->cost_count > 0 ? calloc((size_t)s->cost_count, sizeof(*s->costs)) : NULL;
	if (!s->sampling || !s->costs)
		return -ENOMEM;
	err = begin_load(c, s);
	if (err)
		return instrument_fail(c, err, "cannot load the CPU sampler");
	return open_events(c, s);
}

/* Enables the event, too. */
static int attach_one(struct cpu_state *s, struct cpu_sampling *one)
{
	one->link = bpf_program__attach_perf_event(s->skel->progs.cpu_sample, one->fd);
	return one->link ? 0 : -errno;
}

static int cpu_attach(struct instrument_ctx *c)
{
	struct cpu_state *s = c->state;
	size_t i;
	int err;

	for (i = 0; i < s->count; i++) {
		err = attach_one(s, &s->sampling[i]);
		if (err)
			return note_fail(c->notes, err, instrument_hint(err),
					 "cannot sample CPU %u", s->sampling[i].cpu);
	}
	return 0;
}

static void end_one(struct cpu_sampling *one)
{
	if (one->link)
		bpf_link__destroy(one->link); /* closes the event */
	else
		close(one->fd);
}

/* The place of this CPU, perhaps a new one behind the others; NULL: no memory. */
static struct cpu_sampling *place_of(struct cpu_state *s, uint32_t cpu)
{
	struct cpu_sampling *more;

	for (size_t i = 0; i < s->count; i++) {
		if (s->sampling[i].cpu == cpu)
			return &s->sampling[i];
	}
	more = realloc(s->sampling, (s->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->sampling = more;
	return &more[s->count];
}

static int cpu_back(struct instrument_ctx *c, uint32_t cpu, int output_fd)
{
	struct cpu_state *s = c->state;
	struct cpu_sampling *place = place_of(s, cpu),
			    one = { .cpu = cpu, .fd = reopener_take(c->reopener, s->reopen_id) };
	uint64_t id;
	int err = place ? 0 : -ENOMEM;

	if (one.fd < 0)
		return one.fd;
	(void)ioctl(one.fd, PERF_EVENT_IOC_SET_OUTPUT, output_fd);
	if (!err && ioctl(one.fd, PERF_EVENT_IOC_ID, &id))
		err = -errno;
	if (!err)
		err = event_attrs_add_late_id(c->attrs, ATTR_SAMPLE, id);
	if (!err)
		err = attach_one(s, &one);
	if (err) {
		close(one.fd);
		return err;
	}
	if (place == &s->sampling[s->count])
		s->count++;
	else
		end_one(place);
	*place = one;
	return 0;
}

/* ---- what it costs ---- */

/* The time that sampling took in the kernel. */
static uint64_t count_costs(const struct instrument_ctx *c, struct cpu_state *s)
{
	uint64_t used_ns = 0, skipped = 0;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.costs), &zero, s->costs)) {
		note_failed_part(
			c->notes, -errno, "cannot read what sampling costs",
			"its time, and the samples left out, are as of when they could be read");
		return c->emit->account.sampling_ns;
	}
	for (int i = 0; i < s->cost_count; i++) {
		used_ns += s->costs[i].sampling_ns;
		skipped += s->costs[i].skipped_count;
	}
	c->emit->account.sampling_ns = used_ns;
	c->emit->account.thinned_count = skipped;
	return used_ns;
}

/* With --max-overhead: when the recorder costs more, it takes fewer samples, and notes it. */
static int cpu_tick(struct instrument_ctx *c, uint64_t now_ns)
{
	struct account *a = &c->emit->account;
	struct cpu_state *s = c->state;
	struct sample_throttle *t = &s->thinning;
	uint64_t used_ns, sampling_ns;

	if (!c->opts->max_overhead || now_ns < t->at_ns + 1000000000)
		return 0;
	account_own_cost(a);
	sampling_ns = count_costs(c, s);
	used_ns = a->own_user_ns + a->own_system_ns + sampling_ns;
	if (!t->at_ns) {
		sample_throttle_init(t, c->opts->stack_ns_a_second, c->opts->freq_hz, now_ns,
				     used_ns, sampling_ns);
		return 0;
	}
	if (!sample_throttle_look(t, now_ns, used_ns, sampling_ns))
		return 0;
	s->skel->data->one_of = t->one_of;
	if (t->one_of > a->thinned_most)
		a->thinned_most = t->one_of;
	note(c->notes, NOTE_INFO,
	     "recording took %.2f %% of a CPU, --max-overhead is %.2f: one of %u samples is taken "
	     "from now on, and stands for all",
	     (double)t->last_ns / 1e7, (double)t->allowed_ns / 1e7, t->one_of);
	return 0;
}

/* ---- events ---- */

static void touch(const struct instrument_ctx *c, const __u64 *kernel, size_t count)
{
	size_t i;

	for (i = 0; c->kallsyms && i < count; i++)
		kernel_symbols_index_touch(c->kallsyms, kernel[i]);
}

static int emit_copied(void *ctx, const struct event_header *h, const struct unwinder_found *found)
{
	const struct copy_event *ev = (const void *)h;
	const struct instrument_ctx *c = ctx;
	struct sample_record rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = h->cpu,
		.time_ns = h->time_ns,
		.period = ev->period,
		.kernel = ev->kernel,
		.kernel_count = ev->kernel_count,
		.cgroup_id = ev->cgroup_id,
	};
	struct event_stack_writer user = { 0 };

	event_stack_join_copy(h, ev->stack, ev->stack_bytes, found, c->runtimes, &user);
	rec.user = user.user;
	rec.user_count = user.user_count;
	rec.stack = user.info;
	sink_count_stack(c->emit, &rec.stack);
	return sink_sample(c->emit, ATTR_SAMPLE, &rec);
}

static int on_copy(struct instrument_ctx *c, const struct copy_event *ev)
{
	struct unwinder_stack stack = {
		.bytes = ev->stack,
		.size_bytes = ev->stack_bytes,
		.addr = ev->stack_addr,
		.regs = ev->regs,
	};

	if (!c->walker || ev->h.size_bytes < COPY_EVENT_HEAD_BYTES ||
	    ev->stack_bytes > (uint32_t)ev->h.size_bytes - COPY_EVENT_HEAD_BYTES ||
	    ev->kernel_count > CPU_KERNEL_MAX)
		return -EBADMSG;
	touch(c, ev->kernel, ev->kernel_count);
	return unwinder_defer(c->walker, &ev->h, ev->pid, &stack, emit_copied, c);
}

static int on_sample(struct instrument_ctx *c, const struct cpu_event *ev)
{
	const struct event_stack *stack = &ev->stack;
	struct event_stack_writer user = {
		.user = stack->frames + stack->kernel_count,
		.user_count = stack->user_count,
		.info = { .how = stack->how, .why = stack->why, .flags = stack->flags },
	};
	struct sample_record rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = ev->period,
		.kernel = stack->frames,
		.kernel_count = stack->kernel_count,
		.cgroup_id = ev->cgroup_id,
	};

	if (!event_stack_fits(&ev->h, EVENT_HEAD_BYTES(cpu_event), stack))
		return -EBADMSG;
	touch(c, stack->frames, stack->kernel_count);
	event_stack_join(stack, c->runtimes, &user);
	rec.user = user.user;
	rec.user_count = user.user_count;
	rec.stack = user.info;
	sink_count_stack(c->emit, &user.info);
	c->emit->account.copy_refused_count += !!(stack->flags & CPU_FLAG_COPY_REFUSED);
	return sink_sample(c->emit, ATTR_SAMPLE, &rec);
}

static int cpu_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	if (h->type == EBPREC_EV_COPY)
		return on_copy(c, (const void *)h);
	return on_sample(c, (const void *)h);
}

/* With kernel.bpf_stats_enabled the kernel knows how many samples there should be. */
static void cpu_stop(struct instrument_ctx *c)
{
	struct cpu_state *s = c->state;
	struct bpf_prog_info info = { 0 };
	__u32 bytes = sizeof(info);
	size_t i;

	for (i = 0; s && i < s->count; i++)
		(void)ioctl(s->sampling[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	if (s && !bpf_obj_get_info_by_fd(bpf_program__fd(s->skel->progs.cpu_sample), &info, &bytes))
		c->emit->account.hit_count = info.run_cnt;
	if (s && s->skel)
		(void)count_costs(c, s);
}

static void cpu_detach(struct instrument_ctx *c)
{
	struct cpu_state *s = c->state;
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->count; i++)
		end_one(&s->sampling[i]);
	for (i = 0; i < FOLLOW_COUNT; i++)
		bpf_link__destroy(s->follow[i]); /* NULL is fine */
	(void)bpf_load_end(&s->load);
	cpu_bpf__destroy(s->skel);
	free(s->costs);
	free(s->sampling);
	free(s);
	c->state = NULL;
}

const struct instrument inst_cpu = {
	.name = "cpu",
	.summary = "where the CPUs are",
	.costs = "3 to 12 us a sample",
	.needs = NEED_PERF | NEED_BPF,
	.events = 1u << EBPREC_EV_CPU | 1u << EBPREC_EV_COPY,
	.prepare = cpu_prepare,
	.complete = cpu_complete,
	.attach = cpu_attach,
	.cpu_back = cpu_back,
	.on_event = cpu_on_event,
	.tick = cpu_tick,
	.stop = cpu_stop,
	.detach = cpu_detach,
};
