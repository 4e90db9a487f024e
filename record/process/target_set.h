/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * target_set - which processes are recorded
 *
 * With -a all are.  Otherwise the set exists twice: a BPF map that bpf/core/follow_forks.bpf.c changes as
 * processes fork and end, for the samples; and a set in user space that follows the FORK records,
 * for the side-band, which is seen later than it happens.
 */
#ifndef EBPREC_RECORD_PROCESS_TARGET_SET_H
#define EBPREC_RECORD_PROCESS_TARGET_SET_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/base/u64map.h"

#define TARGETS_MAX 65536 /* processes alive at once */

struct targets {
	bool all;
	int map_fd; /* -1 without BPF */
	struct u64map pids;
};

/* all: no set at all.  bpf: with the map; else the kernel filters the processes. */
int targets_init(struct targets *t, bool all, bool bpf);
void targets_done(struct targets *t);
int targets_add(struct targets *t, uint32_t pid);
/* Gives a skeleton the map `targets`, before load. */
int targets_share(const struct targets *t, struct bpf_map *map);
bool targets_has(const struct targets *t, uint32_t pid);
/* The same as the BPF programs see it, for any thread.  Needs BPF. */
bool targets_has_now(const struct targets *t, uint32_t pid);
/* Whether a side-band record belongs into the capture; FORK records must come in order of time. */
bool targets_want(struct targets *t, const struct perf_event_header *record);

#endif
