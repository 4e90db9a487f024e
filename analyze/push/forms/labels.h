/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * labels - what the user gives a host: its region, its role
 *
 * KEY=VALUE, a line each in a file, where empty lines and those that begin with # are skipped.  Each row that is sent has them.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_LABELS_H
#define EBPREC_ANALYZE_PUSH_FORMS_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define PUSH_LABELS_MAX      16
#define PUSH_LABEL_KEY_MAX   64 /* bytes */
#define PUSH_LABEL_VALUE_MAX 128

struct push_label {
	char *key, *value; /* owned */
};

/* Embedded by the owner; all zero has none. */
struct push_labels {
	struct push_label list[PUSH_LABELS_MAX];
	size_t count;
};

/* *problem: static, why it is none.  -EINVAL; -ENOMEM. */
int push_labels_add(struct push_labels *l, const char *text, const char **problem);
/* All lines, which are changed.  -EINVAL: *problem, and *line its number; -ENOMEM. */
int push_labels_read(struct push_labels *l, char *text, size_t *line, const char **problem);
void push_labels_done(struct push_labels *l);

#endif
