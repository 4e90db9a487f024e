/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff.h"

#include <string.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define SEED          0x6562707265630001u
#define MIN_BLOCKS    8 /* with fewer that have samples, drawing says nothing */
#define TAIL_OF_DRAWS 0.025

struct item {
	uint32_t key;
	uint64_t cost[DIFF_SIDES][DIFF_TABLE_BLOCKS];
};

struct diff_table {
	struct item *items;
	size_t count, capacity;
	struct hash_index index;
	uint64_t total[DIFF_SIDES][DIFF_TABLE_BLOCKS];
};

/* How often each block of each side is in a made-up recording. */
struct draw {
	uint32_t times[DIFF_SIDES][DIFF_TABLE_BLOCKS];
	double divisor[DIFF_SIDES];
};

int diff_table_new(struct diff_table **out)
{
	struct diff_table *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	*out = d;
	return 0;
}

void diff_table_free(struct diff_table *d)
{
	if (!d)
		return;
	hash_index_done(&d->index);
	free(d->items);
	free(d);
}

int diff_table_add(struct diff_table *d, int side, uint32_t key, unsigned block, uint64_t cost)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(&d->index);
	if (err)
		return err;
	hash = hash_index_pair(&d->index, key, 0);
	pos = hash_index_start(&d->index, hash);
	while ((id = hash_index_match(&d->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (d->items[id].key == key) {
			d->items[id].cost[side][block] += cost;
			return 0;
		}
	}
	err = vec_reserve(&d->items, &d->capacity, d->count + 1);
	if (err)
		return err;
	id = (uint32_t)d->count++;
	memset(&d->items[id], 0, sizeof(d->items[id]));
	d->items[id].key = key;
	d->items[id].cost[side][block] = cost;
	hash_index_put(&d->index, hash, pos, id);
	return 0;
}

void diff_table_add_total(struct diff_table *d, int side, unsigned block, uint64_t cost)
{
	d->total[side][block] += cost;
}

/* ---- draws ---- */

/* splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void set_divisors(const struct diff_table *d, const double *seconds, struct draw *draw)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		double sum = 0; /* a block may be drawn more than once */

		for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
			sum += draw->times[side][b] * (double)d->total[side][b];
		draw->divisor[side] = seconds ? seconds[side] : sum;
	}
}

static int make_draws(const struct diff_table *d, const double *seconds, struct draw **out)
{
	struct draw *draws = calloc(DIFF_TABLE_DRAWS, sizeof(*draws));
	uint64_t random = SEED;

	if (!draws)
		return -ENOMEM;
	for (int i = 0; i < DIFF_TABLE_DRAWS; i++) {
		for (int n = 0; n < DIFF_SIDES * DIFF_TABLE_BLOCKS; n++)
			draws[i].times[n % DIFF_SIDES][next_random(&random) % DIFF_TABLE_BLOCKS]++;
		set_divisors(d, seconds, &draws[i]);
	}
	*out = draws;
	return 0;
}

static double value_of(const struct item *item, const struct draw *draw, int side)
{
	double sum = 0;

	for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
		sum += draw->times[side][b] * (double)item->cost[side][b];
	return draw->divisor[side] > 0 ? sum / draw->divisor[side] : 0;
}

static int by_value(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

static void find_interval(const struct item *item, const struct draw *draws, double *changes,
			  struct diff_table_row *row)
{
	size_t tail = (size_t)(TAIL_OF_DRAWS * DIFF_TABLE_DRAWS);

	for (int i = 0; i < DIFF_TABLE_DRAWS; i++)
		changes[i] = value_of(item, &draws[i], DIFF_AFTER) -
			     value_of(item, &draws[i], DIFF_BEFORE);
	qsort(changes, DIFF_TABLE_DRAWS, sizeof(*changes), by_value);
	row->low = changes[tail];
	row->high = changes[DIFF_TABLE_DRAWS - 1 - tail];
	row->is_noise = row->low <= 0 && row->high >= 0;
}

/* Whether there is enough to draw from. */
static bool is_divided(const struct diff_table *d)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		int blocks = 0;

		for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
			blocks += !!d->total[side][b];
		if (blocks < MIN_BLOCKS)
			return false;
	}
	return true;
}

/* ---- rows ---- */

static int by_change(const void *va, const void *vb)
{
	const struct diff_table_row *a = va, *b = vb;
	double change_a = a->value[DIFF_AFTER] - a->value[DIFF_BEFORE];
	double change_b = b->value[DIFF_AFTER] - b->value[DIFF_BEFORE];

	if (change_a != change_b)
		return change_a > change_b ? -1 : 1;
	if (a->cost[DIFF_AFTER] != b->cost[DIFF_AFTER])
		return a->cost[DIFF_AFTER] > b->cost[DIFF_AFTER] ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static void fill_row(const struct item *item, const struct draw *whole, struct diff_table_row *row)
{
	*row = (struct diff_table_row){ .key = item->key };
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
			row->cost[side] += item->cost[side][b];
		row->value[side] = value_of(item, whole, side);
	}
	row->low = row->high = row->value[DIFF_AFTER] - row->value[DIFF_BEFORE];
	row->is_noise = true;
}

int diff_table_rows(const struct diff_table *d, const double *seconds, double min_value,
		    struct diff_table_row **rows, size_t *count)
{
	struct diff_table_row *list = calloc(d->count + 1, sizeof(*list));
	double *changes = calloc(DIFF_TABLE_DRAWS, sizeof(*changes));
	struct draw whole, *draws = NULL;
	bool divided = is_divided(d);
	size_t kept = 0;
	int err = list && changes ? make_draws(d, seconds, &draws) : -ENOMEM;

	if (err) {
		free(list);
		free(changes);
		return err;
	}
	for (int n = 0; n < DIFF_SIDES * DIFF_TABLE_BLOCKS; n++)
		whole.times[n / DIFF_TABLE_BLOCKS][n % DIFF_TABLE_BLOCKS] = 1;
	set_divisors(d, seconds, &whole);
	for (size_t i = 0; i < d->count; i++) {
		fill_row(&d->items[i], &whole, &list[kept]);
		if (list[kept].value[DIFF_BEFORE] < min_value &&
		    list[kept].value[DIFF_AFTER] < min_value)
			continue;
		if (divided)
			find_interval(&d->items[i], draws, changes, &list[kept]);
		kept++;
	}
	free(changes);
	free(draws);
	qsort(list, kept, sizeof(*list), by_change);
	*rows = list;
	*count = kept;
	return 0;
}
