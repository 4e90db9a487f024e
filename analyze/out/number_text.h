/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* number_text - shares and times as reports for people have them */
#ifndef EBPREC_ANALYZE_OUT_NUMBER_TEXT_H
#define EBPREC_ANALYZE_OUT_NUMBER_TEXT_H

#include <stdint.h>

#define NUMBER_TEXT_BYTES 32

/* In percent; 0 of nothing. */
static inline double number_percent(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0;
}

static inline double number_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* Three digits in the unit that suits: "1.50 s", "25.0 ms", "300 us". */
void number_time(double ns, char out[NUMBER_TEXT_BYTES]);

#endif
