/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * histogram - how often values were in each power of two, as a line of stars for each
 */
#ifndef EBPREC_ANALYZE_OUT_HISTOGRAM_H
#define EBPREC_ANALYZE_OUT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The lowest and the highest value of a slot. */
uint64_t histogram_low(size_t slot);
uint64_t histogram_high(size_t slot);

/* Prints the slots from the first that is to be shown up to end, below a line of titles; unit: of the
 * values.  Nothing where there are none. */
void histogram_print(const char *unit, const uint64_t *slots, size_t first, size_t end, FILE *to);

#endif
