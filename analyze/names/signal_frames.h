/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* signal_frames - what the handler of a signal returns to; what stands below it called nothing */
#ifndef EBPREC_ANALYZE_NAMES_SIGNAL_FRAMES_H
#define EBPREC_ANALYZE_NAMES_SIGNAL_FRAMES_H

#include <stdbool.h>

/* Whether a function of this name returns from a signal. */
bool trampoline_is(const char *name);

#endif
