/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * doctor - which parts of a recording work on this machine for this user, and how to enable the
 * rest
 *
 * `ebprec doctor` runs `ebprec-record --doctor` for this half: what needs libbpf and the recorder's
 * own rights.  Each thing is tried, not looked up; what a setting forbids is explained by it.
 */
#ifndef EBPREC_RECORD_DOCTOR_H
#define EBPREC_RECORD_DOCTOR_H

#include <stdio.h>

/* A line of format/contract/finding.h for each thing. */
void doctor_print(FILE *to);

#endif
