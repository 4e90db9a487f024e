/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/bpf_load.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/base/thread_start.h"

const struct bpf_object_open_opts *bpf_load_options(struct bpf_load *l, struct kernel_types *types)
{
	int fd = types ? memfd_create("types", MFD_CLOEXEC) : -1;

	if (fd < 0)
		return NULL;
	l->types = kernel_types_share(types);
	l->types_fd = fd;
	snprintf(l->types_path, sizeof(l->types_path), "/proc/self/fd/%d", fd);
	l->options = (struct bpf_object_open_opts){ .sz = sizeof(l->options),
						    .btf_custom_path = l->types_path };
	return &l->options;
}

static void *run(void *arg)
{
	struct bpf_load *l = arg;

	if (l->types)
		l->err = kernel_types_write(l->types, bpf_object__btf(*l->skeleton->obj),
					    l->types_fd);
	if (!l->err)
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
	if (l->types) {
		close(l->types_fd);
		kernel_types_free(l->types);
		l->types = NULL;
	}
	err = l->err;
	l->err = 0;
	return err;
}
