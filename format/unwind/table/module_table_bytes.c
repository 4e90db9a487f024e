/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * A table as bytes, little-endian:
 *
 *	0	"EBUNWTAB"
 *	8	u32 MODULE_TABLE_VERSION
 *	12	u32 crc32c of all that follows
 *	16	u64 size of the file, u8 build_id[24], of which byte 20 is its length
 *	48	u64 first page; u32 pages, rows, rules, executable segments; u8 arch, tracks_bx, 0[6]
 *	80	segments: u64 offset, size, address, alignment
 *		rules: 8 bytes each, as in memory
 *		pages: u32 rows each
 *		u16 pc_low[rows], u16 rule[rows]: an index among the rules above
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/unwind/table/module_table_priv.h"

#define MAGIC         "EBUNWTAB"
#define CRC_AT        12
#define SUMMED_AT     16
#define HEAD_BYTES    80
#define SEGMENT_BYTES 32

/* The fields of the head that describe the rest. */
struct counts {
	uint32_t pages, rows, rules, exec;
};

static uint64_t body_bytes(const struct counts *n)
{
	return (uint64_t)n->exec * SEGMENT_BYTES + (uint64_t)n->rules * sizeof(struct unwind_rule) +
	       (uint64_t)n->pages * 4 + (uint64_t)n->rows * 4;
}

/* ---- to bytes ---- */

/* Numbers the rules that a table uses, in the order of their ids; own[id] is the number. */
static uint32_t number_rules(const struct module_table *t, uint16_t *own)
{
	uint32_t i, count = 0;

	for (i = 0; i < t->n_rows; i++)
		own[t->rule_id[i]] = 1;
	for (i = 0; i < RULE_TABLE_MAX_RULES; i++) {
		if (own[i])
			own[i] = (uint16_t)count++;
		else
			own[i] = UINT16_MAX;
	}
	return count;
}

static void put_head(uint8_t *p, const struct module_table *t, const struct module_table_key *key,
		     const struct counts *n)
{
	memset(p, 0, HEAD_BYTES);
	memcpy(p, MAGIC, 8);
	le32_store(p + 8, MODULE_TABLE_VERSION);
	le64_store(p + 16, key->size_bytes);
	memcpy(p + 24, key->build_id.bytes, key->build_id.size_bytes);
	p[44] = key->build_id.size_bytes;
	le64_store(p + 48, t->first_page);
	le32_store(p + 56, n->pages);
	le32_store(p + 60, n->rows);
	le32_store(p + 64, n->rules);
	le32_store(p + 68, n->exec);
	p[72] = (uint8_t)t->arch;
	p[73] = t->tracks_bx;
}

static uint8_t *put_exec(uint8_t *p, const struct module_table *t)
{
	uint32_t i;

	for (i = 0; i < t->n_exec; i++, p += SEGMENT_BYTES) {
		le64_store(p, t->exec[i].off_bytes);
		le64_store(p + 8, t->exec[i].size_bytes);
		le64_store(p + 16, t->exec[i].vaddr);
		le64_store(p + 24, t->exec[i].align_bytes);
	}
	return p;
}

static void put_body(uint8_t *p, const struct module_table *t, const uint16_t *own)
{
	const struct unwind_rule *rules = rule_table_rules(t->set);
	uint32_t i;

	p = put_exec(p, t);
	for (i = 0; i < RULE_TABLE_MAX_RULES; i++) {
		if (own[i] == UINT16_MAX)
			continue;
		memcpy(p, &rules[i], sizeof(rules[i]));
		p += sizeof(rules[i]);
	}
	for (i = 0; i < t->n_pages; i++, p += 4)
		le32_store(p, t->pages[i].n_rows);
	for (i = 0; i < t->n_rows; i++, p += 2)
		le16_store(p, t->pc_low[i]);
	for (i = 0; i < t->n_rows; i++, p += 2)
		le16_store(p, own[t->rule_id[i]]);
}

int module_table_to_bytes(const struct module_table *t, const struct module_table_key *key,
			  struct buf *out)
{
	struct counts n = { .pages = t->n_pages, .rows = t->n_rows, .exec = t->n_exec };
	uint16_t *own;
	uint8_t *p;
	size_t all;
	int err;

	if (!t->n_rows || !key->build_id.size_bytes || key->build_id.size_bytes > BUILDID_MAX_BYTES)
		return -EINVAL;
	own = calloc(RULE_TABLE_MAX_RULES, sizeof(*own));
	if (!own)
		return -ENOMEM;
	n.rules = number_rules(t, own);
	all = HEAD_BYTES + body_bytes(&n);
	err = buf_reserve(out, all);
	if (!err) {
		p = out->data + out->size_bytes;
		put_head(p, t, key, &n);
		put_body(p + HEAD_BYTES, t, own);
		le32_store(p + CRC_AT, crc32c(0, p + SUMMED_AT, all - SUMMED_AT));
		out->size_bytes += all;
	}
	free(own);
	return err;
}

/* ---- from bytes ---- */

static int check_head(const uint8_t *p, size_t size_bytes, const struct module_table_key *key,
		      struct counts *n)
{
	if (size_bytes < HEAD_BYTES)
		return -ENODATA;
	if (memcmp(p, MAGIC, 8))
		return -EBADMSG;
	if (le32_load(p + 8) != MODULE_TABLE_VERSION)
		return -ESTALE;
	if (le64_load(p + 16) != key->size_bytes || p[44] != key->build_id.size_bytes ||
	    memcmp(p + 24, key->build_id.bytes, key->build_id.size_bytes))
		return -ESTALE;
	*n = (struct counts){ .pages = le32_load(p + 56),
			      .rows = le32_load(p + 60),
			      .rules = le32_load(p + 64),
			      .exec = le32_load(p + 68) };
	if (!n->rows || !n->pages || n->pages > MODULE_TABLE_MAX_PAGES ||
	    n->rules > RULE_TABLE_MAX_RULES || !n->rules || n->exec > MODULE_TABLE_MAX_EXEC ||
	    n->rows > EH_FRAME_MAX_ROWS + n->pages || p[72] > UNWIND_AARCH64 || p[73] > 1)
		return -EBADMSG;
	if (size_bytes - HEAD_BYTES != body_bytes(n))
		return size_bytes - HEAD_BYTES < body_bytes(n) ? -ENODATA : -EBADMSG;
	if (le32_load(p + CRC_AT) != crc32c(0, p + SUMMED_AT, size_bytes - SUMMED_AT))
		return -EBADMSG;
	return 0;
}

static int take_exec(struct module_table *t, struct cursor *c, uint32_t count)
{
	struct elf_sections_segment *s;

	for (; t->n_exec < count; t->n_exec++) {
		s = &t->exec[t->n_exec];
		s->off_bytes = cursor_u64(c);
		s->size_bytes = cursor_u64(c);
		s->vaddr = cursor_u64(c);
		s->align_bytes = cursor_u64(c);
		if (s->align_bytes < 4096 || s->align_bytes > 65536 ||
		    s->align_bytes & (s->align_bytes - 1) ||
		    s->off_bytes + s->size_bytes < s->off_bytes)
			return -EBADMSG;
	}
	return 0;
}

/* Where the rules of the bytes are in the set: id[number]. */
static void take_rules(struct module_table *t, struct cursor *c, uint32_t count, uint16_t *id)
{
	struct unwind_rule rule;
	const uint8_t *p;
	uint32_t i;

	for (i = 0; i < count; i++) {
		p = cursor_bytes(c, sizeof(rule));
		if (!p)
			return;
		memcpy(&rule, p, sizeof(rule));
		id[i] = rule_table_intern(t->set, &rule);
	}
}

static int take_pages(struct module_table *t, struct cursor *c, const struct counts *n)
{
	uint32_t rows = 0, more;

	t->pages = malloc(n->pages * sizeof(*t->pages));
	if (!t->pages)
		return -ENOMEM;
	t->max_pages = n->pages;
	for (; t->n_pages < n->pages; t->n_pages++) {
		more = cursor_u32(c);
		if (!more || more > 1u << MODULE_TABLE_PAGE_BITS || more > n->rows - rows)
			return -EBADMSG;
		t->pages[t->n_pages] = (struct module_table_page){ rows, more };
		rows += more;
	}
	return rows == n->rows ? 0 : -EBADMSG;
}

/* The first row of a page begins with it, the others ascend. */
static bool page_is_sound(const struct module_table *t, const struct module_table_page *page)
{
	const uint16_t *low = t->pc_low + page->first_row;
	uint32_t i;

	if (low[0])
		return false;
	for (i = 1; i < page->n_rows; i++) {
		if (low[i] <= low[i - 1])
			return false;
	}
	return true;
}

static int take_rows(struct module_table *t, struct cursor *c, const struct counts *n,
		     const uint16_t *id)
{
	const uint8_t *low = cursor_bytes(c, 2 * (size_t)n->rows);
	const uint8_t *rule = cursor_bytes(c, 2 * (size_t)n->rows);
	uint32_t i, number;

	if (!low || !rule)
		return -ENODATA;
	t->pc_low = malloc(n->rows * sizeof(*t->pc_low));
	t->rule_id = malloc(n->rows * sizeof(*t->rule_id));
	if (!t->pc_low || !t->rule_id)
		return -ENOMEM;
	t->n_rows = t->max_rows = n->rows;
	for (i = 0; i < n->rows; i++) {
		number = le16_load(rule + 2 * (size_t)i);
		if (number >= n->rules)
			return -EBADMSG;
		t->rule_id[i] = id[number];
		t->pc_low[i] = le16_load(low + 2 * (size_t)i);
	}
	for (i = 0; i < t->n_pages; i++) {
		if (!page_is_sound(t, &t->pages[i]))
			return -EBADMSG;
	}
	return 0;
}

int module_table_from_cache(const void *data, size_t size_bytes, const struct module_table_key *key,
			    struct rule_table *set, struct module_table **out)
{
	struct cursor c = cursor_of(data, size_bytes);
	const uint8_t *p = data;
	struct module_table *t;
	struct counts n;
	uint16_t *id;
	int err = check_head(p, size_bytes, key, &n);

	if (err)
		return err;
	cursor_skip(&c, HEAD_BYTES);
	t = module_table_empty(set, n.exec);
	id = calloc(n.rules, sizeof(*id));
	err = t && id ? 0 : -ENOMEM;
	if (!err) {
		t->arch = p[72];
		t->tracks_bx = p[73];
		t->first_page = le64_load(p + 48);
		err = take_exec(t, &c, n.exec);
	}
	if (!err) {
		take_rules(t, &c, n.rules, id);
		err = take_pages(t, &c, &n);
	}
	if (!err)
		err = take_rows(t, &c, &n, id);
	free(id);
	if (err) {
		module_table_free(t);
		return err;
	}
	*out = t;
	return 0;
}
