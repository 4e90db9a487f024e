/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/bpf_load.h"

#include "record/base/thread_start.h"

static void *run(void *arg)
{
	struct bpf_load *l = arg;

	l->err = bpf_object__load_skeleton(l->skeleton);
	return NULL;
}

void bpf_load_begin(struct bpf_load *l, struct bpf_object_skeleton *skeleton)
{
	l->skeleton = skeleton;
	l->is_running = !thread_start(&l->thread, NULL, run, l);
	if (!l->is_running) /* there are as many threads as there may be */
		run(l);
}

int bpf_load_end(struct bpf_load *l)
{
	int err;

	if (l->is_running)
		pthread_join(l->thread, NULL);
	l->is_running = false;
	err = l->err;
	l->err = 0;
	return err;
}
