/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rule_table - each different unwind rule once, by a 16-bit id
 *
 * All programs of a machine together use some hundred different rules, so tables of all files
 * share one set, and a row of a table is only an id.  Ids are given in order of first use and
 * never change, so that a copy of the array (a BPF map) is brought up to date by appending.
 *
 * Id 0 is UNWIND_CFA_END and id 1 is UNWIND_CFA_UNSUP, always.  When the set is full, new rules
 * get id 1: the walk stops there with a reason.
 *
 * One writer at a time; ids already handed out may be read by any thread.
 */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_RULE_TABLE_H
#define EBPREC_FORMAT_UNWIND_TABLE_RULE_TABLE_H

#include <stdint.h>

#include "format/unwind/unwind.h"

enum {
	RULE_TABLE_MAX_RULES = 16384,
	RULE_TABLE_ID_END = 0,
	RULE_TABLE_ID_UNSUP = 1,
};

struct rule_table;

/* Creates a set that holds ids 0 and 1 in *out; free with rule_table_free().  -ENOMEM; no random key. */
int rule_table_new(struct rule_table **out);
void rule_table_free(struct rule_table *set); /* NULL is fine */

/* The id of *rule, which is added when it is new. */
uint16_t rule_table_intern(struct rule_table *set, const struct unwind_rule *rule);

/* The rules by id, rule_table_count() of them.  Borrowed; the address never changes. */
const struct unwind_rule *rule_table_rules(const struct rule_table *set);
uint32_t rule_table_count(const struct rule_table *set);

#endif
