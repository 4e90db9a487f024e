/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_load - loads the BPF programs of an instrument in a thread, beside those of others
 *
 * The kernel checks a program before it loads it, which takes most of the start of a recording, and checks those of
 * several threads at the same time.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_BPF_LOAD_H
#define EBPREC_RECORD_INSTRUMENT_BPF_LOAD_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>

/* All zero: nothing is loaded. */
struct bpf_load {
	struct bpf_object_skeleton *skeleton; /* borrowed until bpf_load_end() */
	pthread_t thread;
	int err;
	bool is_running;
};

void bpf_load_begin(struct bpf_load *l, struct bpf_object_skeleton *skeleton);
/* Waits until it is loaded; errno of bpf(2).  0 when nothing was begun, or its end was waited for before. */
int bpf_load_end(struct bpf_load *l);

#endif
