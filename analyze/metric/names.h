/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* metricname - names for numbers that instruments count by: system calls, errors, devices ... */
#ifndef EBPREC_ANALYZE_METRIC_NAMES_H
#define EBPREC_ANALYZE_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICNAME_BYTES 64

/* As the kernel's headers have it; NULL: nobody has named that number. */
const char *metricname_call(uint32_t nr, bool compat);
/* Each writes a text that ends, also for a number that nobody has named. */
void metricname_syscall(uint32_t nr, bool compat, char out[METRICNAME_BYTES]);
void metricname_errno(uint32_t number, char out[METRICNAME_BYTES]);

#endif
