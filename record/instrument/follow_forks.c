/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* follow_forks - follows forks, so that the children of a recorded process are recorded */
#include <errno.h>

#include "bpf/core/follow_forks.skel.h"
#include "record/instrument/instrument.h"

static int target_prepare(struct instrument_ctx *c)
{
	struct follow_forks_bpf *skel = follow_forks_bpf__open();
	int err;

	if (!skel)
		return note_fail(c->notes, -errno, NULL, "cannot follow forks");
	c->state = skel;
	err = instrument_share(c, skel);
	if (!err)
		err = follow_forks_bpf__load(skel);
	if (err)
		return instrument_fail(c, err, "cannot follow forks");
	return 0;
}

static int target_attach(struct instrument_ctx *c)
{
	int err = follow_forks_bpf__attach(c->state);

	return err ? instrument_fail(c, err, "cannot follow forks") : 0;
}

static void target_stop(struct instrument_ctx *c)
{
	if (c->state)
		follow_forks_bpf__detach(c->state);
}

static void target_detach(struct instrument_ctx *c)
{
	follow_forks_bpf__destroy(c->state); /* NULL is fine */
	c->state = NULL;
}

const struct instrument inst_target = {
	.name = "target",
	.summary = "children of the recorded processes",
	.prepare = target_prepare,
	.attach = target_attach,
	.stop = target_stop,
	.detach = target_detach,
};
