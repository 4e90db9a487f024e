/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * markspec - `record --mark WHAT`: which probe is to be taken for a mark
 *
 *	usdt:FILE:PROVIDER:NAME		a probe that a program has (SystemTap's sys/sdt.h)
 *	uprobe:FILE:FUNCTION		each call of a function
 *	tp:SYSTEM:EVENT			a tracepoint of the kernel
 *
 * FILE is a path, or the name of a program or library that is looked for where these are.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_MARK_SPEC_H
#define EBPREC_RECORD_INSTRUMENT_MARK_SPEC_H

#define MARKSPEC_FILE_MAX 1024
#define MARKSPEC_NAME_MAX 128

enum markspec_kind { MARKSPEC_USDT, MARKSPEC_UPROBE, MARKSPEC_TP };

struct markspec {
	enum markspec_kind kind;
	char file[MARKSPEC_FILE_MAX];  /* "" for a tracepoint */
	char group[MARKSPEC_NAME_MAX]; /* provider, system; of a function: the file's own name */
	char name[MARKSPEC_NAME_MAX];
};

/* 0; -EINVAL: it is none of these. */
int markspec_parse(const char *text, struct markspec *out);

#endif
