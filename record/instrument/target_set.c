/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* target_set - follows processes, so that those which are to be recorded are in the set */
#include <errno.h>

#include "bpf/core/target_set.skel.h"
#include "record/instrument/instrument.h"

/* By what was asked for: children of targets, or what is selected. */
static void choose_programs(const struct instrument_ctx *c, struct target_set_bpf *skel)
{
	const struct record_opts *o = c->opts;
	bool selects = c->targets->selects,
	     by_cgroup = o->cgroups.count || o->units.count || o->containers.count;
	struct {
		struct bpf_program *program;
		bool wanted;
	} const programs[] = {
		{ skel->progs.target_fork, !selects },
		{ skel->progs.selected_fork, selects },
		{ skel->progs.selected_exec, selects },
		{ skel->progs.selected_rename, selects && o->comms.count },
		{ skel->progs.selected_attach, selects && by_cgroup },
		{ skel->progs.selected_mkdir, selects && by_cgroup },
		{ skel->progs.selected_rmdir, selects && by_cgroup },
	};

	skel->rodata->by_cgroup = by_cgroup;
	skel->rodata->by_comm = o->comms.count;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		(void)bpf_program__set_autoload(programs[i].program, programs[i].wanted);
}

static int share_selection(const struct instrument_ctx *c, struct target_set_bpf *skel)
{
	int err;

	if (!c->targets->selects)
		return 0;
	err = bpf_map__reuse_fd(skel->maps.target_cgroups, c->targets->cgroups_fd);
	return err ? err : bpf_map__reuse_fd(skel->maps.target_comms, c->targets->comms_fd);
}

static int target_prepare(struct instrument_ctx *c)
{
	struct target_set_bpf *skel = target_set_bpf__open();
	int err;

	if (!skel)
		return note_fail(c->notes, -errno, NULL, "cannot follow processes");
	c->state = skel;
	choose_programs(c, skel);
	err = instrument_share(c, skel);
	if (!err)
		err = share_selection(c, skel);
	return err ? instrument_fail(c, err, "cannot follow processes") : 0;
}

/* Selected processes are followed before /proc is looked at. */
static int target_complete(struct instrument_ctx *c)
{
	int err = target_set_bpf__load(c->state);

	if (!err && c->targets->selects)
		err = target_set_bpf__attach(c->state);
	return err ? instrument_fail(c, err, "cannot follow processes") : 0;
}

static int target_attach(struct instrument_ctx *c)
{
	int err = c->targets->selects ? 0 : target_set_bpf__attach(c->state);

	return err ? instrument_fail(c, err, "cannot follow processes") : 0;
}

static void target_stop(struct instrument_ctx *c)
{
	if (c->state)
		target_set_bpf__detach(c->state);
}

static void target_detach(struct instrument_ctx *c)
{
	target_set_bpf__destroy(c->state); /* NULL is fine */
	c->state = NULL;
}

const struct instrument inst_target = {
	.name = "target",
	.summary = "children of the recorded processes, and those that are selected",
	.prepare = target_prepare,
	.complete = target_complete,
	.attach = target_attach,
	.stop = target_stop,
	.detach = target_detach,
};
