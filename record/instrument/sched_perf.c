/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sched_perf - switches, wakeups, migrations, forks and exits of the machine, without BPF
 *
 * perf events of the tracepoints themselves, through the side-band's rings; their bytes go to the
 * file as the kernel wrote them.  Only with -a: a record does not have the process of the next
 * thread.  Without sched_stat_runtime, which perf events get once for each nanosecond that it
 * counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"
#include "record/instrument/instrument.h"
#include "record/events/tracepoint/tracefs.h"

static const struct trace_kind {
	enum event_attrs_event event;
	const char *name; /* of the tracepoint, in sched */
} kinds[] = {
	{ ATTR_SWITCH, "sched_switch" },         { ATTR_WAKEUP, "sched_wakeup" },
	{ ATTR_WAKEUP_NEW, "sched_wakeup_new" }, { ATTR_MIGRATE, "sched_migrate_task" },
	{ ATTR_FORK, "sched_process_fork" },     { ATTR_EXIT, "sched_process_exit" },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct trace_state {
	struct perf_event_set events[KINDS];
	struct perf_event_attr attr; /* of all, but for the tracepoint's number */
	int reopen_id[KINDS];        /* numbers of reopener_take() */
	struct u64map kind_of;       /* id -> place in kinds[] */
};

static int open_kind(struct instrument_ctx *c, struct trace_state *s, uint32_t k)
{
	struct perf_event_attr attr = s->attr;
	struct perf_event_set *set = &s->events[k];
	uint32_t number;
	uint64_t id = 0;
	size_t i;
	char name[32], *format = tracefs_format("sched", kinds[k].name);
	int err = format ? trace_data_format_id(format, &number) : -ENOENT;

	attr.config = err ? 0 : number;
	if (!err)
		err = perf_event_set_open(set, &attr, c->cpus, c->scope);
	for (i = 0; i < set->count && !err; i++) {
		int fd = set->event[i].fd;

		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
			  sideband_fd(c->sideband, set->event[i].cpu)) ||
		    ioctl(fd, PERF_EVENT_IOC_ID, &id))
			err = -errno;
		else
			err = u64map_put(&s->kind_of, id, 0, k);
		if (!err)
			err = event_attrs_add_id(c->attrs, kinds[k].event, id);
	}
	if (err) {
		free(format);
		perf_event_set_close(set);
		return note_fail(c->notes, err, NULL, "cannot record sched:%s", kinds[k].name);
	}
	snprintf(name, sizeof(name), "sched:%s", kinds[k].name);
	s->reopen_id[k] = reopener_keep(c->reopener, &attr);
	event_attrs_set_tracepoint(c->attrs, kinds[k].event, name, number);
	event_attrs_set_format(c->attrs, kinds[k].event, format);
	return 0;
}

static int trace_prepare(struct instrument_ctx *c)
{
	struct trace_state *s = calloc(1, sizeof(*s));
	uint32_t k;
	int err = 0;

	if (!s)
		return -ENOMEM;
	c->state = s;
	event_attrs_trace_kernel(&s->attr);
	for (k = 0; k < KINDS; k++) {
		err = open_kind(c, s, k);
		if (err && kinds[k].event == ATTR_SWITCH)
			return err; /* without it the others mean nothing */
		if (err) {
			note(c->notes, NOTE_WARNING, "%s, skipping", c->notes->failure);
			notes_forgive(c->notes);
		}
	}
	return 0;
}

static int trace_cpu_back(struct instrument_ctx *c, uint32_t cpu, int output_fd)
{
	struct trace_state *s = c->state;
	uint64_t id = 0;
	int err = 0, fd;

	for (uint32_t k = 0; k < KINDS && !err; k++) {
		if (!s->events[k].count)
			continue;
		fd = reopener_take(c->reopener, s->reopen_id[k]);
		err = fd < 0 ? fd : perf_event_set_replace(&s->events[k], fd, cpu, output_fd, &id);
		if (!err)
			err = u64map_put(&s->kind_of, id, 0, k);
		if (!err) /* a LOST record may name it */
			err = event_attrs_add_late_id(c->attrs, kinds[k].event, id);
	}
	return err;
}

static int control(struct instrument_ctx *c, unsigned long request)
{
	struct trace_state *s = c->state;
	uint32_t k;
	int err = 0;

	for (k = 0; s && k < KINDS && !err; k++)
		err = perf_event_set_control(&s->events[k], request);
	return err;
}

static int trace_attach(struct instrument_ctx *c)
{
	int err = control(c, PERF_EVENT_IOC_ENABLE);

	return err ? note_fail(c->notes, err, NULL, "cannot record context switches") : 0;
}

static void trace_stop(struct instrument_ctx *c)
{
	(void)control(c, PERF_EVENT_IOC_DISABLE);
}

static void trace_detach(struct instrument_ctx *c)
{
	struct trace_state *s = c->state;
	uint32_t k;

	if (!s)
		return;
	for (k = 0; k < KINDS; k++)
		perf_event_set_close(&s->events[k]);
	u64map_done(&s->kind_of);
	free(s);
	c->state = NULL;
}

static int trace_on_sample(struct instrument_ctx *c, const struct perf_event_header *record)
{
	struct trace_state *s = c->state;
	const uint32_t *kind = u64map_get(&s->kind_of,
					  perfrec_identifier(record, record->size, &s->attr), 0);
	struct perf_sample sample;
	struct sample_record rec;

	if (!kind)
		return -ENOENT;
	if (perfrec_sample(record, record->size, &s->attr, &sample, NULL) || !sample.raw ||
	    (sample.raw_bytes + 4) % 8)
		return -EBADMSG;
	rec = (struct sample_record){
		.pid = sample.pid,
		.tid = sample.tid,
		.cpu = (uint32_t)sample.cpu,
		.time_ns = sample.time_ns,
		.period = 1,
		.raw = sample.raw,
		.raw_bytes = sample.raw_bytes,
	};
	return sink_sample(c->emit, kinds[*kind].event, &rec);
}

const struct instrument inst_trace = {
	.name = "sched",
	.summary = "context switches, without BPF",
	.costs = "a record of 128 bytes a switch",
	.needs = NEED_PERF | NEED_SCHED,
	.prepare = trace_prepare,
	.attach = trace_attach,
	.on_sample = trace_on_sample,
	.cpu_back = trace_cpu_back,
	.stop = trace_stop,
	.detach = trace_detach,
};
