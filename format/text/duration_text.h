/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* duration_text - how long something is to take, as people write it: 2.5, .5, 300ms, 1.5h */
#ifndef EBPREC_FORMAT_TEXT_DURATION_TEXT_H
#define EBPREC_FORMAT_TEXT_DURATION_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A decimal number and ns, us, ms, s, m, h or d; bare: none of these means seconds.  *end is behind
 * it.  false: it is none, or longer than 584 years; then nothing is written.
 */
bool duration_read(const char *text, bool bare, const char **end, uint64_t *out_ns);

#endif
