/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_programs - the BPF programs loaded before the recording
 *
 * Later ones the side-band reports.  KSYMBOL for each piece of JITed code, BPF_EVENT for each
 * program, of time 0.  Names are the kernel's own, from kallsyms, where it has them.
 */
#ifndef EBPREC_RECORD_KERNEL_BPF_PROGRAMS_H
#define EBPREC_RECORD_KERNEL_BPF_PROGRAMS_H

#include "record/output/sink.h"
#include "record/kernel/kernel_symbols_index.h"

/* below_id: programs with this id or above are our own, reported by the side-band; 0: take all. */
int bpf_programs_emit(struct sink *e, struct kernel_symbols_index *k, uint32_t below_id);
/*
 * The run time of the programs with ids from from_id to last_id, where kernel.bpf_stats_enabled is
 * on.
 */
uint64_t bpf_programs_run_ns(uint32_t from_id, uint32_t last_id);
/* The highest program id in use, 0: none. */
uint32_t bpf_programs_last_id(void);

#endif
