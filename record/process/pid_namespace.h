/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pid_namespace - recording inside a pid namespace
 *
 * /proc, perf's side-band and all that users type have the ids of the recorder's own namespace, and so
 * has the capture.  BPF programs see the kernel's and translate (bpf/lib/ids.bpf.h), by what is found out
 * here before they are loaded.  Processes without an id here are foreign: one process with a thread for
 * each CPU (format/base/foreign.h).  The host's id of a thread goes into its NAMESPACES record.
 */
#ifndef EBPREC_RECORD_PROCESS_PID_NAMESPACE_H
#define EBPREC_RECORD_PROCESS_PID_NAMESPACE_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/output/sink.h"

struct pidns_bpf;

/* The advice when pid_namespace_look() fails. */
#define PID_NAMESPACE_MOUNT_PROC "mount -t proc proc /proc, in a mount namespace of its own"

struct pid_namespace {
	bool inside; /* not in the initial one */
	uint64_t inode;
	/* For the BPF programs: */
	uint32_t level;     /* 0: the programs need not translate */
	uint64_t namespace; /* in the kernel's memory */
	int ending_fd;      /* the map pidns_ending; -1: none */
	struct pidns_bpf *skel;
};

/* Looks where we are.  -ENOTSUP: /proc is another namespace's. */
int pid_namespace_look(struct pid_namespace *p);
/* Before any BPF program is loaded: what they translate by.  Inside a namespace threads are followed. */
int pid_namespace_start_bpf(struct pid_namespace *p);
void pid_namespace_stop_bpf(struct pid_namespace *p);
/* Gives a program the map, before its load; map NULL: it needs none. */
int pid_namespace_share(const struct pid_namespace *p, struct bpf_map *map);
/* The host's id of a thread; 0: not known, or the same. */
uint32_t pid_namespace_host_tid(const struct pid_namespace *p, uint32_t tid);
/*
 * A record of the kernel's side-band, as perf makes it for a namespace: false when it is of a foreign
 * process.  A foreign parent gets the foreign id; NAMESPACES get the host's.
 */
bool pid_namespace_wants(const struct pid_namespace *p, struct perf_event_header *record);
/* A sample of perf's: 0 and -1 are foreign. */
void pid_namespace_name_sample(const struct pid_namespace *p, uint32_t cpu, uint32_t *pid,
			       uint32_t *tid);
/* The side-band of foreign processes, as of before the recording. */
int pid_namespace_emit_foreign(const struct pid_namespace *p, struct sink *e);
#endif
