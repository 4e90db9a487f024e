/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* target_set - follows processes, so that those which are to be recorded are in the set */
#include <errno.h>
#include <stdlib.h>

#include "bpf/core/target_set.skel.h"
#include "record/instrument/bpf_load.h"
#include "record/instrument/instrument.h"

struct target_state {
	struct target_set_bpf *skel;
	struct bpf_load load;
};

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
	struct target_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->skel = target_set_bpf__open_opts(bpf_load_options(&s->load, c->types));
	if (!s->skel)
		return note_fail(c->notes, -errno, NULL, "cannot follow processes");
	choose_programs(c, s->skel);
	err = instrument_share(c, s->skel);
	if (!err)
		err = share_selection(c, s->skel);
	if (err)
		return instrument_fail(c, err, "cannot follow processes");
	bpf_load_begin(&s->load, s->skel->skeleton);
	return 0;
}

/* Selected processes are followed before /proc is looked at. */
static int target_complete(struct instrument_ctx *c)
{
	struct target_state *s = c->state;
	int err = bpf_load_end(&s->load);

	if (!err && c->targets->selects)
		err = target_set_bpf__attach(s->skel);
	return err ? instrument_fail(c, err, "cannot follow processes") : 0;
}

static int target_attach(struct instrument_ctx *c)
{
	struct target_state *s = c->state;
	int err = c->targets->selects ? 0 : target_set_bpf__attach(s->skel);

	return err ? instrument_fail(c, err, "cannot follow processes") : 0;
}

static void target_stop(struct instrument_ctx *c)
{
	struct target_state *s = c->state;

	if (s && s->skel)
		target_set_bpf__detach(s->skel);
}

static void target_detach(struct instrument_ctx *c)
{
	struct target_state *s = c->state;

	if (!s)
		return;
	(void)bpf_load_end(&s->load);
	target_set_bpf__destroy(s->skel); /* NULL is fine */
	free(s);
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
