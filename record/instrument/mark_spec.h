/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mark_spec - `record --mark WHAT`: which probe is to be taken for a mark
 *
 *	usdt:FILE:PROVIDER:NAME		a probe that a program has (SystemTap's sys/sdt.h)
 *	uprobe:FILE:FUNCTION		each call of a function
 *	tp:SYSTEM:EVENT			a tracepoint of the kernel
 *
 * FILE is a path, or the name of a program or library that is looked for where these are.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_MARK_SPEC_H
#define EBPREC_RECORD_INSTRUMENT_MARK_SPEC_H

#define MARK_SPEC_FILE_MAX 1024
#define MARK_SPEC_NAME_MAX 128

enum mark_spec_kind { MARK_SPEC_USDT, MARK_SPEC_UPROBE, MARK_SPEC_TP };

struct mark_spec {
	enum mark_spec_kind kind;
	char file[MARK_SPEC_FILE_MAX];  /* "" for a tracepoint */
	char group[MARK_SPEC_NAME_MAX]; /* provider, system; of a function: the file's own name */
	char name[MARK_SPEC_NAME_MAX];
};

/* 0; -EINVAL: it is none of these. */
int mark_spec_parse(const char *text, struct mark_spec *out);

#endif
