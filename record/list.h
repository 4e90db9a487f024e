/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* instlist - which instruments there are, what they need and cost, and whether they work here */
#ifndef EBPREC_RECORD_LIST_H
#define EBPREC_RECORD_LIST_H

#include <stdio.h>

#include "record/instrument/instrument.h"

/* What of these needs is not to be had, as one text; NULL: nothing. */
const char *instlist_lacks(enum instrument_need needs);
/* `ebprec record --list`: each instrument once, from the table of the recording. */
void instlist_print(FILE *to);

#endif
