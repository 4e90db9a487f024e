/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * uprobe_multi - breakpoints in files; many by one link, where the kernel can
 *
 * When a probe ends, the kernel waits until no thread can run its program any more: for perf events
 * one after the other, a tenth of a second each; for a link (BPF_TRACE_UPROBE_MULTI) a quarter of
 * that for all locations of a file, and for several links at the same time, which threads close.  A
 * link takes no right but those to load its program, a perf event of a uprobe takes CAP_SYS_ADMIN.
 *
 * Linux has such links since 6.6.  At first they chose one thread in the place of a process; those are not used, as
 * libbpf does not.  The libbpf of Debian 12 does not know them, hence the system call.
 */
#ifndef EBPREC_RECORD_EVENTS_UPROBE_MULTI_H
#define EBPREC_RECORD_EVENTS_UPROBE_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/events/prober.h"

#define UPROBE_MULTI_MAX   4096 /* links */
#define UPROBE_MULTI_END_S 2

struct uprobe_multi {
	bool by_links;         /* else by perf events */
	struct prober *prober; /* opens these; NULL: the recorder does. Borrowed */
	struct uprobe_multi_end *ends;
	size_t count, room;
};

struct uprobe_multi_place {
	uint64_t off_bytes;       /* in the file */
	uint64_t semaphore_bytes; /* the same; 0: none */
	uint64_t cookie;
};

struct uprobe_multi_file {
	int fd;         /* borrowed */
	int pid;        /* of this process alone; -1: of all.  With a prober always -1 */
	bool is_return; /* when the functions at the places return */
};

/* Whether the kernel has such links: tries it.  A fifth of a millisecond. */
bool uprobe_multi_have_links(void);

/* Before the load of each program that is to be attached. */
void uprobe_multi_mean(const struct uprobe_multi *u, struct bpf_program *prog);
/*
 * One link alone, for a thread: to make it may take as long as a process that maps the file holds its mmap lock.
 * A descriptor; errno of the kernel, -ENOMEM.
 */
int uprobe_multi_link(int prog_fd, const struct uprobe_multi_file *file,
		      const struct uprobe_multi_place *places, size_t count);
/* Takes the descriptor, which is still the caller's on -EOVERFLOW and -ENOMEM. */
int uprobe_multi_add(struct uprobe_multi *u, int link_fd);
/* -EOVERFLOW: UPROBE_MULTI_MAX; errno of the kernel, or of the prober.  Some may have been attached, then. */
int uprobe_multi_attach(struct uprobe_multi *u, const struct bpf_program *prog,
			const struct uprobe_multi_file *file,
			const struct uprobe_multi_place *places, size_t count);
/*
 * Ends all; no program runs any more.  A zeroed struct is fine.  How many did not end within UPROBE_MULTI_END_S: the
 * kernel waits for a process that maps a file of theirs and holds its mmap lock; threads are left with them, and this
 * process cannot end before these do.
 */
size_t uprobe_multi_end(struct uprobe_multi *u);

#endif
