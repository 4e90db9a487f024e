/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/pseudonym.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/string_table.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

struct entry {
	uint32_t instead; /* string */
	uint64_t times;
};

#define ID_BYTES 64 /* of a container: a SHA-256 in hex */

struct table {
	struct string_table *words; /* number 0 is "", the entry of which is not used */
	struct entry *list;
	size_t capacity;
};

struct pseudonyms {
	uint8_t key[PSEUDONYM_KEY_BYTES];
	bool erase;
	int err;
	struct string_table *instead;
	struct table table[PSEUDONYM_KINDS];
};

const char *pseudonym_kind_name(enum pseudonym_kind kind)
{
	static const char *const names[PSEUDONYM_KINDS] = {
		[PSEUDONYM_HOME] = "home",       [PSEUDONYM_HOST] = "host",
		[PSEUDONYM_USER] = "user",       [PSEUDONYM_CONTAINER] = "container",
		[PSEUDONYM_NETWORK] = "network", [PSEUDONYM_COMM] = "comm",
		[PSEUDONYM_SYMBOL] = "symbol",   [PSEUDONYM_MACHINE] = "machine",
		[PSEUDONYM_WORD] = "word",
	};

	return kind < PSEUDONYM_KINDS ? names[kind] : "";
}

/* ---- the hash ---- */

static uint64_t rotl(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

uint64_t pseudonym_hash(const uint8_t key[PSEUDONYM_KEY_BYTES], const void *data, size_t size_bytes)
{
	uint64_t k0 = le64_load(key), k1 = le64_load(key + 8);
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
			  k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL };
	const uint8_t *at = data;
	uint8_t last[8] = { 0 };
	size_t left = size_bytes;

	for (; left >= 8; left -= 8, at += 8)
		sip_word(v, le64_load(at));
	if (left)
		memcpy(last, at, left);
	last[7] = (uint8_t)size_bytes;
	sip_word(v, le64_load(last));
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- words ---- */

int pseudonyms_new(const uint8_t key[PSEUDONYM_KEY_BYTES], bool erase, struct pseudonyms **out)
{
	struct pseudonyms *p = calloc(1, sizeof(*p));
	int err = p ? string_table_new(&p->instead) : -ENOMEM;

	for (unsigned i = 0; !err && i < PSEUDONYM_KINDS; i++)
		err = string_table_new(&p->table[i].words);
	if (err) {
		pseudonyms_free(p);
		return err;
	}
	memcpy(p->key, key, PSEUDONYM_KEY_BYTES);
	p->erase = erase;
	*out = p;
	return 0;
}

void pseudonyms_free(struct pseudonyms *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < PSEUDONYM_KINDS; i++) {
		string_table_free(p->table[i].words);
		free(p->table[i].list);
	}
	string_table_free(p->instead);
	free(p);
}

/* The id of a container stays one, so that its cgroup is still seen to be that of a container. */
static bool is_hex_id(enum pseudonym_kind kind, const char *word, size_t size_bytes)
{
	for (size_t i = 0; i < size_bytes; i++)
		if (!isxdigit((unsigned char)word[i]))
			return false;
	return kind == PSEUDONYM_CONTAINER && size_bytes == ID_BYTES;
}

/*
 * Consonants and digits, a letter first, so that no pseudonym is a word, or has one in it, by chance: what looks for
 * one finds the originals.  Eleven characters from each hash of the word.
 */
static void make(const struct pseudonyms *p, uint64_t hash, bool hex, char *out, size_t size_bytes)
{
	static const char all[] = "bcdfghjklmnpqrstvwxz0123456789", digits[] = "abcdef0123456789";
	const char *chars = hex ? digits : all;
	unsigned count = hex ? 16 : 30, first = hex ? 6 : 20;
	uint8_t block[16];
	uint64_t bits = hash;

	for (size_t i = 0; i < size_bytes; i++) {
		if (i && i % 11 == 0) {
			le64_store(block, hash);
			le64_store(block + 8, i);
			bits = pseudonym_hash(p->key, block, sizeof(block));
		}
		out[i] = chars[bits % (i ? count : first)];
		bits /= i ? count : first;
	}
}

static void remember(struct pseudonyms *p, struct table *t, uint32_t id, const char *instead,
		     size_t size_bytes)
{
	size_t had = t->capacity;

	if (vec_reserve(&t->list, &t->capacity, (size_t)id + 1)) {
		p->err = -ENOMEM;
		return;
	}
	if (t->capacity > had)
		memset(t->list + had, 0, (t->capacity - had) * sizeof(*t->list));
	/* NOLINTNEXTLINE: what vec_reserve() added was cleared just now */
	if (!t->list[id].times++ &&
	    string_table_add(p->instead, instead, size_bytes, &t->list[id].instead))
		p->err = -ENOMEM;
}

void pseudonyms_put(struct pseudonyms *p, enum pseudonym_kind kind, char *word, size_t size_bytes)
{
	bool hex = is_hex_id(kind, word, size_bytes);
	struct table *t = &p->table[kind];
	uint32_t id = 0;

	if (!size_bytes)
		return;
	if (string_table_add(t->words, word, size_bytes, &id))
		p->err = -ENOMEM;
	if (p->erase)
		memset(word, hex ? '0' : 'x', size_bytes);
	else
		make(p, pseudonym_hash(p->key, word, size_bytes), hex, word, size_bytes);
	if (id)
		remember(p, t, id, word, size_bytes);
}

int pseudonyms_error(const struct pseudonyms *p)
{
	return p->err;
}

bool pseudonyms_get(const struct pseudonyms *p, size_t index, struct pseudonym *out)
{
	for (unsigned kind = 0; kind < PSEUDONYM_KINDS; kind++) {
		const struct table *t = &p->table[kind];
		size_t count = string_table_count(t->words) - 1;

		if (index >= count) {
			index -= count;
			continue;
		}
		*out = (struct pseudonym){
			.kind = kind,
			.word = string_table_text(t->words, (uint32_t)index + 1),
			.instead = string_table_text(p->instead, t->list[index + 1].instead),
			.times = t->list[index + 1].times,
		};
		return true;
	}
	return false;
}
