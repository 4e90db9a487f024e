// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// The interface of bigdwarf's sources: each has one entry, called with a number, that works a little.
#ifndef EBPREC_TESTS_BIGDWARF_WORK_H
#define EBPREC_TESTS_BIGDWARF_WORK_H

extern "C" unsigned long ENTRY(unsigned long n);

#endif
