/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * probe - does the kernel let us? asked by doing it once, in the smallest way
 *
 * Nothing stays: what was opened or loaded is closed again.  Each returns 0 or the kernel's negative
 * errno.
 */
#ifndef EBPREC_RECORD_PROBE_H
#define EBPREC_RECORD_PROBE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* An event of all that runs on a CPU, or of this process alone; with the kernel, or user space only. */
int probe_perf(uint32_t type, uint64_t config, bool everybody, bool kernel);
/* Maps a ring of data_bytes (a power of two) of an event of this process. */
int probe_perf_ring(uint64_t data_bytes);
/* A breakpoint at a function of this program. */
int probe_uprobe(void);

/* The kernel's types can be read and understood. */
int probe_btf(void);
/* A program at a perf event, loaded and attached. */
int probe_bpf_sampling(void);
/* A program at tp_btf/sched_switch, loaded. */
int probe_bpf_sched(void);
/* Maps as recordings use them: ring buffer, task storage. */
int probe_bpf_maps(void);

/* How many processes there are, and of how many the mappings may not be read. */
int probe_processes(unsigned *all, unsigned *refused);
/* The files behind mappings may be opened as such. */
int probe_map_files(void);

#endif
