/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* names - names for numbers that instruments count by: system calls, errors, devices ... */
#ifndef EBPREC_ANALYZE_METRIC_SYSCALL_NAMES_H
#define EBPREC_ANALYZE_METRIC_SYSCALL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define METRIC_NAMES_BYTES 64

/* As the kernel's headers have it, on any machine; abi: enum call_abi.  NULL: that number has no name. */
const char *metric_names_call(uint32_t nr, uint64_t abi);
/* Each writes a NUL-terminated text, also for a number without a name. */
void metric_names_syscall(uint32_t nr, uint64_t abi, char out[METRIC_NAMES_BYTES]);
void metric_names_errno(uint32_t number, char out[METRIC_NAMES_BYTES]);

#endif
