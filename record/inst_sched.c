/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* inst_sched - every context switch, as the tracepoint sched:sched_switch */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sched.skel.h"
#include "record/instrument.h"
#include "record/samplerec.h"

struct sched_state {
	struct sched_bpf *skel;
	struct switch_layout layout;
	struct keymap named; /* threads of others whose name is in the capture */
};

/* tp_btf reads the tasks directly; raw_tp by a helper, where tp_btf is not to be had. */
static int load(struct instrument_ctx *c, struct sched_state *s, bool btf)
{
	int err;

	s->skel = sched_bpf__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_autoload(s->skel->progs.switch_btf, btf);
	bpf_program__set_autoload(s->skel->progs.switch_raw, !btf);
	err = instrument_share(c, s->skel);
	if (!err)
		err = sched_bpf__load(s->skel);
	if (err) {
		sched_bpf__destroy(s->skel);
		s->skel = NULL;
	}
	return err;
}

static int sched_prepare(struct instrument_ctx *c)
{
	struct sched_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	err = c->switch_format ? switch_layout_from_format(c->switch_format, &s->layout) : -ENOENT;
	if (err)
		return note_fail(c->notes, err, "is tracefs mounted on /sys/kernel/tracing?",
				 "cannot read the format of sched:sched_switch");
	err = load(c, s, true);
	if (err && err != -EPERM)
		err = load(c, s, false);
	if (err)
		return instrument_fail(c, err, "cannot load the recorder of context switches");
	attrs_set_tracepoint(c->attrs, ATTR_SWITCH, "sched:sched_switch", s->layout.id);
	return 0;
}

static int sched_attach(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;
	int err = sched_bpf__attach(s->skel);

	return err ? instrument_fail(c, err, "cannot attach to sched:sched_switch") : 0;
}

/*
 * Who was on the CPU before a recorded thread may be of a process that is not recorded: its name
 * is known from here only.
 */
static int name_stranger(struct instrument_ctx *c, struct sched_state *s,
			 const struct switch_event *ev)
{
	struct siderec r = { .id = emit_side_id(c->emit), .time_ns = ev->h.time_ns };
	char comm[sizeof(ev->prev_comm) + 1] = "";
	int err;

	if (!ev->prev_tid || targets_has(c->targets, ev->prev_pid) ||
	    keymap_get(&s->named, ev->prev_tid, 0))
		return 0;
	err = keymap_put(&s->named, ev->prev_tid, 0, 0);
	if (err)
		return err;
	memcpy(comm, ev->prev_comm, sizeof(ev->prev_comm));
	return emit_side(c->emit, &r, siderec_comm(&r, ev->prev_pid, ev->prev_tid, comm));
}

static int sched_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	struct sched_state *s = c->state;
	const struct switch_event *ev = (const void *)h;
	uint8_t raw[SAMPLEREC_RAW_MAX];
	struct samplerec rec = {
		.pid = ev->prev_pid,
		.tid = ev->prev_tid,
		.cpu = h->cpu,
		.time_ns = h->time_ns,
		.period = 1,
		.raw = raw,
		.raw_bytes = s->layout.size_bytes,
	};
	int err;

	if (h->size_bytes < sizeof(*ev))
		return -EBADMSG;
	err = name_stranger(c, s, ev);
	if (err)
		return err;
	switch_encode(&s->layout, ev, raw);
	return emit_sample(c->emit, ATTR_SWITCH, &rec);
}

static void sched_stop(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;

	if (s && s->skel)
		sched_bpf__detach(s->skel);
}

static void sched_detach(struct instrument_ctx *c)
{
	struct sched_state *s = c->state;

	if (!s)
		return;
	sched_bpf__destroy(s->skel);
	keymap_done(&s->named);
	free(s);
	c->state = NULL;
}

const struct instrument inst_sched = {
	.name = "sched",
	.summary = "every context switch",
	.event = EBPREC_EV_SWITCH,
	.prepare = sched_prepare,
	.attach = sched_attach,
	.on_event = sched_on_event,
	.stop = sched_stop,
	.detach = sched_detach,
};
