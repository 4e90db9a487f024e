/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash.h"
#include "format/unwind/rule_table.h"

enum {
	SLOT_BITS = 15, /* twice as many slots as rules */
	SLOTS = 1 << SLOT_BITS,
	EMPTY = 0xffff, /* no id is as large */
};

struct ruleset {
	struct unwind_rule rules[RULESET_MAX_RULES];
	uint16_t slots[SLOTS]; /* ids by hash, linear probing */
	uint32_t n_rules;
	uint64_t refused;
	struct hash_key key;
};
_Static_assert((int)RULESET_MAX_RULES <= SLOTS / 2, "a probe always finds an empty slot");

static uint64_t rule_bytes(const struct unwind_rule *rule)
{
	uint64_t bytes;

	memcpy(&bytes, rule, sizeof(bytes));
	return bytes;
}

static uint32_t first_slot(const struct ruleset *set, uint64_t bytes)
{
	return (uint32_t)(hash_pair(&set->key, bytes, 0) >> (64 - SLOT_BITS));
}

int ruleset_new(struct ruleset **out)
{
	const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	const struct unwind_rule unsup = { .cfa = UNWIND_CFA_UNSUP };
	struct ruleset *set = calloc(1, sizeof(*set));
	int err = set ? hash_key_new(&set->key) : -ENOMEM;

	if (err) {
		free(set);
		return err;
	}
	memset(set->slots, 0xff, sizeof(set->slots));
	ruleset_intern(set, &end);
	ruleset_intern(set, &unsup);
	*out = set;
	return 0;
}

void ruleset_free(struct ruleset *set)
{
	free(set);
}

uint16_t ruleset_intern(struct ruleset *set, const struct unwind_rule *rule)
{
	uint64_t bytes = rule_bytes(rule);
	uint32_t slot = first_slot(set, bytes);
	uint16_t id;

	while ((id = set->slots[slot]) != EMPTY) {
		if (rule_bytes(&set->rules[id]) == bytes)
			return id;
		slot = (slot + 1) % SLOTS;
	}
	if (set->n_rules == RULESET_MAX_RULES) {
		set->refused++;
		return RULESET_ID_UNSUP;
	}
	id = (uint16_t)set->n_rules++;
	set->rules[id] = *rule;
	set->slots[slot] = id;
	return id;
}

const struct unwind_rule *ruleset_rules(const struct ruleset *set)
{
	return set->rules;
}

uint32_t ruleset_count(const struct ruleset *set)
{
	return set->n_rules;
}

uint64_t ruleset_refused_count(const struct ruleset *set)
{
	return set->refused;
}
