/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_load - loads the BPF programs of an instrument in a thread, beside those of others
 *
 * The kernel checks a program before it loads it, which takes most of the start of a recording, and checks those of
 * several threads at the same time.  The programs get only the types of the kernel that they read (kernel_types.h).
 */
#ifndef EBPREC_RECORD_INSTRUMENT_BPF_LOAD_H
#define EBPREC_RECORD_INSTRUMENT_BPF_LOAD_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>

#include "record/kernel/kernel_types.h"

/* All zero: nothing is loaded. */
struct bpf_load {
	struct bpf_object_skeleton *skeleton; /* borrowed until bpf_load_end() */
	struct kernel_types *types;           /* a share; NULL: libbpf reads them all */
	int types_fd;                         /* with types: a file for those that are read, */
	char types_path[32];                  /* and its name */
	struct bpf_object_open_opts options;
	pthread_t thread;
	int err;
	bool is_running;
};

/* For opening the skeleton that will be loaded; NULL: the standard ones.  *l needs bpf_load_end() from here on. */
const struct bpf_object_open_opts *bpf_load_options(struct bpf_load *l, struct kernel_types *types);
void bpf_load_begin(struct bpf_load *l, struct bpf_object_skeleton *skeleton);
/* Waits until it is loaded; errno of bpf(2).  0 when nothing was begun, or its end was waited for before. */
int bpf_load_end(struct bpf_load *l);

#endif
