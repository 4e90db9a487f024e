/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel - the few kernel types the programs read, kept by hand
 *
 * Only the fields that are used, in any order: preserve_access_index makes libbpf put in the
 * offsets of the running kernel at load.  A misspelt field shows at load, not here.
 */
#ifndef EBPREC_BPF_KERNEL_H
#define EBPREC_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads not yet in exit */
};

struct task_struct {
	unsigned int
		__state; /* "state" before 5.14; ebprec needs 5.18 (prev_state as an argument) */
	int exit_state;
	int prio;
	int pid;  /* the thread */
	int tgid; /* the process */
	char comm[16];
	struct signal_struct *signal;
};

#pragma clang attribute pop

#endif
