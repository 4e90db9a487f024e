/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * side_record - makes perf's side-band records
 *
 * For state from before the recording, of which the kernel sends no records: processes, their names
 * and mappings, cgroups, BPF programs, the kernel itself.  And for events that the recorder's own
 * rings lost.  Each function writes one complete record with the sample_id tail all our events
 * share (SIDE_RECORD_TAIL_BYTES) and returns its size.  Source for the layouts: enum
 * perf_event_type in <linux/perf_event.h>.
 */
#ifndef EBPREC_RECORD_EVENTS_SIDE_RECORD_H
#define EBPREC_RECORD_EVENTS_SIDE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/mapping.h"

#define SIDE_RECORD_TAIL_BYTES 32   /* pid, tid, time, cpu, 0, id: IDENTIFIER|TID|TIME|CPU */
#define SIDE_RECORD_SPARE_OFF  12   /* of the 0 in the tail, from its end */
#define SIDE_RECORD_PATH_MAX   4096 /* longer paths are cut */
#define SIDE_RECORD_MAX_BYTES  (SIDE_RECORD_PATH_MAX + 256)

struct side_record {
	uint64_t id;      /* of the event that the record belongs to */
	uint64_t time_ns; /* 0: before the recording */
	_Alignas(8) uint8_t bytes[SIDE_RECORD_MAX_BYTES]; /* the record */
};

/* Without a build-id device and inode are written. */
size_t side_record_mmap2(struct side_record *r, const struct mapping *m);
size_t side_record_comm(struct side_record *r, uint32_t pid, uint32_t tid, const char *comm);
/* start_ns: when it happened; the record's own time is r->time_ns. */
size_t side_record_fork(struct side_record *r, uint32_t pid, uint32_t tid, uint32_t ppid,
			uint32_t ptid, uint64_t start_ns);

#define SIDE_RECORD_NAMESPACES 7 /* net, uts, ipc, pid, user, mnt, cgroup: perf's order */
struct side_record_namespace {
	uint64_t dev, inode;
};
/* host_tid: the thread's id in the initial pid namespace, where it differs; 0: not known. */
size_t side_record_namespaces(struct side_record *r, uint32_t pid, uint32_t tid,
			      const struct side_record_namespace ns[SIDE_RECORD_NAMESPACES],
			      uint32_t host_tid);
size_t side_record_cgroup(struct side_record *r, uint64_t cgroup_id, const char *path);
/* A BPF program's code. */
size_t side_record_ksymbol(struct side_record *r, uint64_t addr, uint32_t size_bytes,
			   const char *name);
size_t side_record_bpf_event(struct side_record *r, uint32_t prog_id, const uint8_t tag[8]);
/* lost_id: of the event that lost them. */
size_t side_record_lost(struct side_record *r, uint64_t lost_id, uint64_t count);

#endif
