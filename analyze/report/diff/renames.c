/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff/renames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/diff/diff_text.h"
#include "format/base/vec.h"

#define LEAST_ALIKE 0.5
#define SURE_ALIKE  0.8  /* names of functions alone prove it */
#define LEAST_SHARE 0.01 /* of its side: smaller files are no matter */
#define MAIN_SHARE  0.1  /* of its side: a program that the recording may be about */
#define COMM_BYTES  15   /* that a comm has at most: TASK_COMM_LEN - 1 */
#define STEM_LEAST  2    /* letters that a name has without its version */

struct rename_use {
	uint32_t dso, symbol, comm;
	uint64_t samples[DIFF_SIDES];
};

/* The uses of one file, which follow each other once they are sorted. */
struct object {
	const struct rename_use *uses;
	size_t count;
	uint64_t samples[DIFF_SIDES];
	bool is_matched;
};

void renames_done(struct renames *n)
{
	free(n->list);
	free(n->uses);
	hash_index_done(&n->index);
	*n = (struct renames){ 0 };
}

static int add_rename(struct renames *n, const struct rename *r)
{
	if (vec_reserve(&n->list, &n->capacity, n->count + 1))
		return -ENOMEM;
	n->list[n->count++] = *r;
	return 0;
}

int renames_ask(struct renames *n, const char *text)
{
	const char *sign = strchr(text, '=');
	struct rename r = { .source = RENAME_ASKED };
	int err;

	if (!sign || sign == text || !sign[1] || strchr(sign + 1, '='))
		return -EINVAL;
	err = string_table_add(n->texts, text, (size_t)(sign - text), &r.from);
	if (!err)
		err = string_table_add(n->texts, sign + 1, strlen(sign + 1), &r.to);
	return err ? err : add_rename(n, &r);
}

int renames_add(struct renames *n, int side, const char *dso, const char *symbol, const char *comm,
		uint64_t samples)
{
	struct rename_use use = { 0 };
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = string_table_add(n->texts, dso, strlen(dso), &use.dso);
	if (!err)
		err = string_table_add(n->texts, symbol, strlen(symbol), &use.symbol);
	if (!err)
		err = string_table_add(n->texts, comm, strlen(comm), &use.comm);
	if (!err)
		err = hash_index_reserve(&n->index);
	if (err)
		return err;
	n->samples[side] += samples;
	hash = hash_index_pair(&n->index, (uint64_t)use.dso << 32 | use.symbol, use.comm);
	pos = hash_index_start(&n->index, hash);
	while ((id = hash_index_match(&n->index, hash, &pos)) != HASH_INDEX_NONE) {
		struct rename_use *u = &n->uses[id];

		if (u->dso == use.dso && u->symbol == use.symbol && u->comm == use.comm) {
			u->samples[side] += samples;
			return 0;
		}
	}
	if (vec_reserve(&n->uses, &n->use_capacity, n->use_count + 1))
		return -ENOMEM;
	use.samples[side] = samples;
	hash_index_put(&n->index, hash, pos, (uint32_t)n->use_count);
	n->uses[n->use_count++] = use;
	return 0;
}

/* A comm has the first bytes of the name of its program. */
static bool is_comm_of(const struct renames *n, uint32_t comm, uint32_t name)
{
	return !strncmp(string_table_text(n->texts, comm), string_table_text(n->texts, name),
			COMM_BYTES);
}

bool renames_met(const struct renames *n, int side, uint32_t name)
{
	for (size_t i = 0; i < n->use_count; i++)
		if (n->uses[i].samples[side] &&
		    (n->uses[i].dso == name || is_comm_of(n, n->uses[i].comm, name)))
			return true;
	return false;
}

/* ---- what looks renamed ---- */

static int by_file(const void *va, const void *vb)
{
	const struct rename_use *a = va, *b = vb;

	if (a->dso != b->dso)
		return a->dso < b->dso ? -1 : 1;
	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	return a->comm < b->comm ? -1 : a->comm > b->comm;
}

static int list_objects(struct renames *n, struct object **out, size_t *count)
{
	size_t capacity = 0;

	*out = NULL;
	*count = 0;
	if (n->use_count)
		qsort(n->uses, n->use_count, sizeof(*n->uses), by_file);
	for (size_t i = 0; i < n->use_count; i++) {
		const struct rename_use *u = &n->uses[i];

		if (!i || u->dso != u[-1].dso) {
			if (vec_reserve(out, &capacity, *count + 1)) {
				free(*out);
				return -ENOMEM;
			}
			(*out)[(*count)++] = (struct object){ .uses = u };
		}
		(*out)[*count - 1].count++;
		for (int side = 0; side < DIFF_SIDES; side++)
			(*out)[*count - 1].samples[side] += u->samples[side];
	}
	return 0;
}

static bool has_share(const struct renames *n, const struct object *o, int side, double share)
{
	return (double)o->samples[side] >= share * (double)n->samples[side];
}

static bool is_only_of(const struct renames *n, const struct object *o, int side)
{
	return !o->samples[!side] && has_share(n, o, side, LEAST_SHARE) && o->samples[side];
}

/* Every program has a main(). */
static bool is_named(const struct renames *n, const struct rename_use *u, bool without_main)
{
	const char *symbol = string_table_text(n->texts, u->symbol);

	return *symbol != '[' && !(without_main && !strcmp(symbol, "main"));
}

/* Which part of one's samples in functions that have names is in functions of the other's. */
static double part_in(const struct renames *n, const struct object *one, int side,
		      const struct object *other, bool without_main)
{
	uint64_t named = 0, common = 0;
	size_t k = 0;

	for (size_t i = 0; i < one->count; i++) {
		const struct rename_use *u = &one->uses[i];

		if (!is_named(n, u, without_main))
			continue;
		named += u->samples[side];
		while (k < other->count && other->uses[k].symbol < u->symbol)
			k++;
		if (k < other->count && other->uses[k].symbol == u->symbol)
			common += u->samples[side];
	}
	return named ? (double)common / (double)named : 0;
}

/* The lesser part of the two. */
static double find_alike(const struct renames *n, const struct object *from,
			 const struct object *to, bool without_main)
{
	double one = part_in(n, from, DIFF_BEFORE, to, without_main);
	double other = part_in(n, to, DIFF_AFTER, from, without_main);

	return one < other ? one : other;
}

static bool has_names(const struct renames *n, const struct object *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (is_named(n, &o->uses[i], false))
			return true;
	return false;
}

/* The next letter that is no part of a version: of digits, a v before them, and what divides them. */
static char next_of_stem(const char **at)
{
	const char *p = *at;

	while (*p && (strchr("0123456789.-_+~", *p) ||
		      ((*p == 'v' || *p == 'V') && p[1] >= '0' && p[1] <= '9')))
		p++;
	*at = *p ? p + 1 : p;
	return *p;
}

/* app-1.2 and app-1.3, libx.so.4 and libx.so.5 */
static bool differ_by_version(const char *a, const char *b)
{
	unsigned letters = 0;
	char one, other;

	do {
		one = next_of_stem(&a);
		other = next_of_stem(&b);
		letters++;
	} while (one && one == other);
	return !one && !other && letters > STEM_LEAST;
}

static bool differ_by_version_only(const struct renames *n, const struct object *from,
				   const struct object *to)
{
	return differ_by_version(string_table_text(n->texts, from->uses->dso),
				 string_table_text(n->texts, to->uses->dso));
}

/* seen: a zero for each text, and so it is again. */
static bool share_comm(const struct object *a, const struct object *b, bool *seen)
{
	bool share = false;

	for (size_t i = 0; i < a->count; i++)
		seen[a->uses[i].comm] = true;
	for (size_t i = 0; i < b->count; i++)
		share |= seen[b->uses[i].comm];
	for (size_t i = 0; i < a->count; i++)
		seen[a->uses[i].comm] = false;
	return share;
}

static bool is_asked_for(const struct renames *n, uint32_t dso)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->list[i].source == RENAME_ASKED &&
		    (n->list[i].from == dso || n->list[i].to == dso))
			return true;
	return false;
}

struct candidates {
	struct object *objects;
	size_t count;
	bool *seen; /* of share_comm() */
};

static bool can_be(const struct renames *n, const struct object *o, int side)
{
	return !o->is_matched && is_only_of(n, o, side) && !is_asked_for(n, o->uses->dso);
}

/* A program calls its threads by its name, unless they choose another; a library does not. */
static bool is_program(const struct renames *n, const struct object *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (is_comm_of(n, o->uses[i].comm, o->uses->dso))
			return true;
	return false;
}

/*
 * How much speaks for a file as the successor of another where one of them has no names of functions: it may be
 * another version of it, threads of the same comm ran both, or both are programs of a good part of the samples: of
 * machines that run many, most that are gone and new have nothing to do with each other.
 */
static unsigned rank_unnamed(const struct renames *n, const struct object *from,
			     const struct object *to, const struct candidates *c)
{
	if (differ_by_version_only(n, from, to))
		return 3;
	if (is_program(n, from) != is_program(n, to))
		return 0;
	if (share_comm(from, to, c->seen))
		return 2;
	return is_program(n, from) && has_share(n, from, DIFF_BEFORE, MAIN_SHARE) &&
	       has_share(n, to, DIFF_AFTER, MAIN_SHARE);
}

/* The new file that is most alike by names of functions, else by what is known without them. */
static struct object *find_successor(const struct renames *n, const struct object *from,
				     const struct candidates *c, double *alike)
{
	struct object *best = NULL, *unnamed = NULL;
	const bool named = has_names(n, from);
	unsigned best_rank = 0;

	*alike = 0;
	for (size_t i = 0; i < c->count; i++) {
		struct object *to = &c->objects[i];
		double part;
		unsigned rank;

		if (!can_be(n, to, DIFF_AFTER))
			continue;
		part = find_alike(n, from, to, false);
		if (part >= LEAST_ALIKE && part > *alike) {
			*alike = part;
			best = to;
		}
		rank = named && has_names(n, to) ? 0 : rank_unnamed(n, from, to, c);
		if (!rank || rank < best_rank ||
		    (rank == best_rank && to->samples[DIFF_AFTER] <= unnamed->samples[DIFF_AFTER]))
			continue;
		best_rank = rank;
		unnamed = to;
	}
	return best ? best : unnamed;
}

/* Whether no other file that is gone or new could be the other's counterpart. */
static bool is_only_pair(const struct renames *n, const struct object *from,
			 const struct object *to, const struct candidates *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct object *o = &c->objects[i];

		if ((o != to && can_be(n, o, DIFF_AFTER) &&
		     find_alike(n, from, o, false) >= LEAST_ALIKE) ||
		    (o != from && can_be(n, o, DIFF_BEFORE) &&
		     find_alike(n, o, to, false) >= LEAST_ALIKE))
			return false;
	}
	return true;
}

static enum rename_source source_of(const struct renames *n, const struct object *from,
				    const struct object *to, const struct candidates *c)
{
	const bool named = has_names(n, from);

	if (named == has_names(n, to) && differ_by_version_only(n, from, to))
		return RENAME_VERSION;
	if (!named || !has_names(n, to)) /* a comm alone proves nothing */
		return RENAME_HINT;
	if (share_comm(from, to, c->seen))
		return RENAME_COMM;
	if (find_alike(n, from, to, true) >= SURE_ALIKE && is_only_pair(n, from, to, c))
		return RENAME_FUNCTIONS;
	return RENAME_HINT;
}

static int find_pairs(struct renames *n, struct candidates *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->count; i++) {
		struct object *from = &c->objects[i], *to;
		struct rename r = { 0 };

		if (!can_be(n, from, DIFF_BEFORE))
			continue;
		to = find_successor(n, from, c, &r.alike);
		if (!to)
			continue;
		r.from = from->uses->dso;
		r.to = to->uses->dso;
		r.source = source_of(n, from, to, c);
		from->is_matched = to->is_matched = true;
		err = add_rename(n, &r);
	}
	return err;
}

int renames_find(struct renames *n)
{
	struct candidates c = { 0 };
	int err;

	c.seen = calloc((size_t)string_table_count(n->texts) + 1, sizeof(*c.seen));
	err = c.seen ? list_objects(n, &c.objects, &c.count) : -ENOMEM;
	if (!err)
		err = find_pairs(n, &c);
	free(c.objects);
	free(c.seen);
	return err;
}

bool renames_match(const struct renames *n, const char *from, const char *to)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->list[i].source != RENAME_HINT &&
		    !strcmp(string_table_text(n->texts, n->list[i].from), from) &&
		    !strcmp(string_table_text(n->texts, n->list[i].to), to))
			return true;
	return false;
}

/* ---- what is done about it ---- */

/* Whether a column is the name, or what is made of it: a comm, and "[FILE]" for functions without a name. */
static bool is_name(enum sort_key key, const char *column, size_t bytes, const char *name)
{
	size_t name_bytes = strlen(name);

	if (key == KEY_COMM && name_bytes > COMM_BYTES)
		name_bytes = COMM_BYTES;
	if (key == KEY_SYMBOL) {
		if (bytes < 2 || *column != '[' || column[bytes - 1] != ']')
			return false;
		column++;
		bytes -= 2;
	}
	return bytes == name_bytes && !memcmp(column, name, bytes);
}

static void put_name(enum sort_key key, const char *name, FILE *to)
{
	if (key == KEY_SYMBOL)
		fprintf(to, "[%s]", name);
	else
		fprintf(to, "%.*s", key == KEY_COMM ? COMM_BYTES : (int)strlen(name), name);
}

/* One column under its new name; whether it has one. */
static bool put_column(const struct renames *n, enum sort_key key, const char *column, size_t bytes,
		       FILE *to)
{
	bool can = key == KEY_DSO || key == KEY_COMM || key == KEY_SYMBOL;

	for (size_t i = 0; can && i < n->count; i++) {
		const struct rename *r = &n->list[i];

		if (r->source == RENAME_HINT ||
		    !is_name(key, column, bytes, string_table_text(n->texts, r->from)))
			continue;
		put_name(key, string_table_text(n->texts, r->to), to);
		return true;
	}
	fwrite(column, 1, bytes, to);
	return false;
}

static int apply_to(const struct renames *n, const struct sort_keys *keys, struct diff_table *table,
		    uint32_t key)
{
	const char *text = string_table_text(n->texts, key);
	bool renamed = false;
	char *fresh = NULL;
	size_t size;
	FILE *to = open_memstream(&fresh, &size);
	uint32_t other;
	int err = 0;

	if (!to)
		return -ENOMEM;
	for (size_t k = 0; k < keys->count; k++) {
		size_t bytes = diff_text_column_bytes(text);

		if (k)
			putc(DIFF_TEXT_KEY_END, to);
		renamed |= put_column(n, keys->list[k], text, bytes, to);
		text += bytes + !!text[bytes];
	}
	fclose(to);
	if (!fresh)
		return -ENOMEM;
	if (renamed)
		err = string_table_add(n->texts, fresh, strlen(fresh), &other);
	if (renamed && !err)
		err = diff_table_move(table, DIFF_BEFORE, key, other);
	free(fresh);
	return err;
}

int renames_apply(const struct renames *n, const struct sort_keys *keys, struct diff_table *table)
{
	size_t count;
	uint32_t *list;
	int err = diff_table_keys(table, &list, &count);

	if (err)
		return err;
	for (size_t i = 0; !err && i < count; i++)
		err = apply_to(n, keys, table, list[i]);
	free(list);
	return err;
}
