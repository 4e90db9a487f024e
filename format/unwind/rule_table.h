/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ruleset - each different unwind rule once, by a 16-bit id
 *
 * All programs of a machine together use some hundred different rules, so tables of all files
 * share one set, and a row of a table is only an id.  Ids are given in order of first use and
 * never change, so that a copy of the array (a BPF map) is brought up to date by appending.
 *
 * Id 0 is UNWIND_CFA_END and id 1 is UNWIND_CFA_UNSUP, always.  When the set is full, new rules
 * get id 1: the walk stops there with a reason, and ruleset_refused_count() says how often.
 *
 * One writer at a time; ids already handed out may be read by any thread.
 */
#ifndef EBPREC_FORMAT_UNWIND_RULE_TABLE_H
#define EBPREC_FORMAT_UNWIND_RULE_TABLE_H

#include <stdint.h>

#include "format/unwind/unwind.h"

enum {
	RULESET_MAX_RULES = 16384,
	RULESET_ID_END = 0,
	RULESET_ID_UNSUP = 1,
};

struct ruleset;

/* Creates a set that holds ids 0 and 1 in *out; free with ruleset_free().  -ENOMEM; no random key. */
int ruleset_new(struct ruleset **out);
void ruleset_free(struct ruleset *set); /* NULL is fine */

/* The id of *rule, which is added when it is new. */
uint16_t ruleset_intern(struct ruleset *set, const struct unwind_rule *rule);

/* The rules by id, ruleset_count() of them.  Borrowed; the address never changes. */
const struct unwind_rule *ruleset_rules(const struct ruleset *set);
uint32_t ruleset_count(const struct ruleset *set);

/* How many ruleset_intern() calls found the set full. */
uint64_t ruleset_refused_count(const struct ruleset *set);

#endif
