/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash.h"
#include "format/unwind/table/rule_table.h"

enum {
	SLOT_BITS = 15, /* twice as many slots as rules */
	SLOTS = 1 << SLOT_BITS,
	EMPTY = 0xffff, /* no id is as large */
};

struct rule_table {
	struct unwind_rule rules[RULE_TABLE_MAX_RULES];
	uint16_t slots[SLOTS]; /* ids by hash, linear probing */
	uint32_t n_rules;
	struct hash_key key;
};
_Static_assert((int)RULE_TABLE_MAX_RULES <= SLOTS / 2, "a probe always finds an empty slot");

static uint64_t rule_bytes(const struct unwind_rule *rule)
{
	uint64_t bytes;

	memcpy(&bytes, rule, sizeof(bytes));
	return bytes;
}

static uint32_t first_slot(const struct rule_table *set, uint64_t bytes)
{
	return (uint32_t)(hash_pair(&set->key, bytes, 0) >> (64 - SLOT_BITS));
}

int rule_table_new(struct rule_table **out)
{
	const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	const struct unwind_rule unsup = { .cfa = UNWIND_CFA_UNSUP };
	struct rule_table *set = calloc(1, sizeof(*set));
	int err = set ? hash_key_new(&set->key) : -ENOMEM;

	if (err) {
		free(set);
		return err;
	}
	memset(set->slots, 0xff, sizeof(set->slots));
	rule_table_intern(set, &end);
	rule_table_intern(set, &unsup);
	*out = set;
	return 0;
}

void rule_table_free(struct rule_table *set)
{
	free(set);
}

uint16_t rule_table_intern(struct rule_table *set, const struct unwind_rule *rule)
{
	uint64_t bytes = rule_bytes(rule);
	uint32_t slot = first_slot(set, bytes);
	uint16_t id;

	while ((id = set->slots[slot]) != EMPTY) {
		if (rule_bytes(&set->rules[id]) == bytes)
			return id;
		slot = (slot + 1) % SLOTS;
	}
	if (set->n_rules == RULE_TABLE_MAX_RULES)
		return RULE_TABLE_ID_UNSUP;
	id = (uint16_t)set->n_rules++;
	set->rules[id] = *rule;
	set->slots[slot] = id;
	return id;
}

const struct unwind_rule *rule_table_rules(const struct rule_table *set)
{
	return set->rules;
}

uint32_t rule_table_count(const struct rule_table *set)
{
	return set->n_rules;
}
