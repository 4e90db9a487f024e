/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* list - which instruments there are, what they need and cost, and whether they work here */
#ifndef EBPREC_RECORD_LIST_H
#define EBPREC_RECORD_LIST_H

#include <stdio.h>

/* `ebprec record --list`: each instrument once, from the table of the recording. */
void instrument_list_print(FILE *to);

#endif
