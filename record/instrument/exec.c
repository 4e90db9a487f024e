/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* exec - how each program that starts was called */
#include <errno.h>
#include <stdlib.h>

#include "bpf/core/exec.skel.h"
#include "record/process/cmdline_log.h"
#include "record/instrument/bpf_load.h"
#include "record/instrument/instrument.h"

struct exec_state {
	struct exec_bpf *skel;
	struct bpf_load load;
};

static int exec_prepare(struct instrument_ctx *c)
{
	struct exec_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->skel = exec_bpf__open_opts(bpf_load_options(&s->load, c->types));
	if (!s->skel)
		return note_fail(c->notes, -errno, NULL, "cannot read command lines");
	s->skel->rodata->with_environment = c->args->environment;
	err = instrument_share(c, s->skel);
	if (err)
		return instrument_fail(c, err, "cannot read command lines");
	bpf_load_begin(&s->load, s->skel->skeleton);
	return 0;
}

static int exec_complete(struct instrument_ctx *c)
{
	struct exec_state *s = c->state;
	int err = bpf_load_end(&s->load);

	/* From here on: a name that changes while /proc is read is recorded with its time. */
	if (!err)
		err = exec_bpf__attach(s->skel);
	return err ? instrument_fail(c, err, "cannot read command lines") : 0;
}

static int exec_attach(struct instrument_ctx *c)
{
	return 0;
}

static int exec_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	const struct exec_event *ev = (const void *)h;
	struct cmdline_record p;

	if (h->size_bytes < EXEC_EVENT_HEAD_BYTES ||
	    (uint64_t)EXEC_EVENT_HEAD_BYTES + ev->args_bytes + ev->env_bytes > h->size_bytes)
		return -EBADMSG;
	p = (struct cmdline_record){
		.pid = ev->pid,
		.flags = ev->flags,
		.time_ns = h->time_ns,
		.args = (const char *)ev->data,
		.env = (const char *)ev->data + ev->args_bytes,
		.args_bytes = ev->args_bytes,
		.env_bytes = ev->env_bytes,
	};
	return cmdline_log_add(c->args, &p);
}

static void exec_stop(struct instrument_ctx *c)
{
	struct exec_state *s = c->state;

	if (s && s->skel)
		exec_bpf__detach(s->skel);
}

static void exec_detach(struct instrument_ctx *c)
{
	struct exec_state *s = c->state;

	if (!s)
		return;
	(void)bpf_load_end(&s->load);
	exec_bpf__destroy(s->skel); /* NULL is fine */
	free(s);
	c->state = NULL;
}

const struct instrument inst_exec = {
	.name = "exec",
	.summary = "command lines of programs that start",
	.events = 1u << EBPREC_EV_EXEC,
	.prepare = exec_prepare,
	.complete = exec_complete,
	.attach = exec_attach,
	.on_event = exec_on_event,
	.stop = exec_stop,
	.detach = exec_detach,
};
