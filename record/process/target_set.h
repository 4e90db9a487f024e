/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * target_set - which processes are recorded
 *
 * With -a all are.  Otherwise the set exists twice: a BPF map that bpf/core/target_set.bpf.c changes as
 * processes fork and end, for the samples; and a set in user space, for the side-band, which is seen later than it
 * happens.  That follows the FORK records; or, where processes are selected by cgroup or name, the events of
 * these programs.
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
	bool selects; /* by cgroup or name; needs BPF */
	int map_fd;   /* -1 without BPF */
	int cgroups_fd, comms_fd;
	struct u64map pids; /* selects: since when, in ticks of 16.8 ms */
};

/* No set, and no map. */
#define TARGETS_NONE ((struct targets){ .map_fd = -1, .cgroups_fd = -1, .comms_fd = -1 })

/* all: no set at all.  bpf: with the maps; else the kernel filters the processes. */
int targets_init(struct targets *t, bool all, bool selects, bool bpf);
void targets_done(struct targets *t);
int targets_add(struct targets *t, uint32_t pid);
/* A process that is there, or was selected by an event; for targets that select. */
int targets_add_running(struct targets *t, uint32_t pid, uint64_t time_ns);
int targets_note_selected(struct targets *t, uint32_t pid, uint64_t time_ns);
/* The programs select by these. */
int targets_add_cgroup(const struct targets *t, uint64_t id);
int targets_add_comm(const struct targets *t, const char *comm);
/* Gives a skeleton the map `targets`, before load. */
int targets_share(const struct targets *t, struct bpf_map *map);
bool targets_has(const struct targets *t, uint32_t pid);
/* The same as the BPF programs see it, for any thread.  Needs BPF. */
bool targets_has_now(const struct targets *t, uint32_t pid);
/* Whether a side-band record belongs into the capture; FORK records must come in order of time. */
bool targets_want(struct targets *t, const struct perf_event_header *record, uint64_t time_ns);

#endif
