/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff/diff.h"

#include <math.h>
#include <string.h>

#include "analyze/base/distributions.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define LEVEL      0.05
#define VARIED_MIN 1e-9 /* a share of all of its side does not vary */

struct item {
	uint32_t key;
	uint64_t samples[DIFF_SIDES];
	uint64_t cost[DIFF_SIDES][DIFF_TABLE_BLOCKS];
};

struct diff_table {
	struct item *items;
	size_t count, capacity;
	struct hash_index index;
	uint64_t samples[DIFF_SIDES];
	uint64_t total[DIFF_SIDES][DIFF_TABLE_BLOCKS];
	double amount[DIFF_SIDES][DIFF_TABLE_BLOCKS];
	double scale; /* of after's costs, to before's */
};

int diff_table_new(struct diff_table **out)
{
	struct diff_table *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->scale = 1;
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

void diff_table_set_scale(struct diff_table *d, double scale)
{
	d->scale = scale;
}

static int find_item(struct diff_table *d, uint32_t key, struct item **out)
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
			*out = &d->items[id];
			return 0;
		}
	}
	err = vec_reserve(&d->items, &d->capacity, d->count + 1);
	if (err)
		return err;
	id = (uint32_t)d->count++;
	d->items[id] = (struct item){ .key = key };
	hash_index_put(&d->index, hash, pos, id);
	*out = &d->items[id];
	return 0;
}

int diff_table_add(struct diff_table *d, int side, uint32_t key, unsigned block,
		   const struct diff_cost *cost)
{
	struct item *item;
	int err = find_item(d, key, &item);

	if (err)
		return err;
	item->samples[side] += cost->samples;
	item->cost[side][block] += cost->cost;
	return 0;
}

void diff_table_add_total(struct diff_table *d, int side, unsigned block,
			  const struct diff_cost *cost)
{
	d->samples[side] += cost->samples;
	d->total[side][block] += cost->cost;
}

void diff_table_add_amount(struct diff_table *d, int side, unsigned block, double amount)
{
	d->amount[side][block] += amount;
}

int diff_table_keys(const struct diff_table *d, uint32_t **out, size_t *count)
{
	uint32_t *list = calloc(d->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		list[i] = d->items[i].key;
	*out = list;
	*count = d->count;
	return 0;
}

int diff_table_move(struct diff_table *d, int side, uint32_t from, uint32_t to)
{
	struct item *source = NULL, *target = NULL;
	int err = find_item(d, to, &target);

	/* Finding one may move the others. */
	if (!err)
		err = find_item(d, from, &source);
	if (!err)
		err = find_item(d, to, &target);
	if (err || source == target)
		return err;
	target->samples[side] += source->samples[side];
	source->samples[side] = 0;
	for (int b = 0; b < DIFF_TABLE_BLOCKS; b++) {
		target->cost[side][b] += source->cost[side][b];
		source->cost[side][b] = 0;
	}
	return 0;
}

/* ---- how much blocks vary ---- */

/* All of one side. */
struct side {
	double total, amount, samples;
	double exposure;                    /* what values are divided by */
	double expected[DIFF_TABLE_BLOCKS]; /* which part of a key is to be expected in a block */
	unsigned blocks[DIFF_TABLE_BLOCKS]; /* that are not empty, rising */
	unsigned block_count;
	/*
	 * The least of half of the functions: variance beyond independent samples, by the square of
	 * the cost.
	 */
	double drift;
};

static void sum_side(const struct diff_table *d, int side, enum diff_basis basis, struct side *s)
{
	*s = (struct side){ .samples = (double)d->samples[side] };
	for (unsigned b = 0; b < DIFF_TABLE_BLOCKS; b++) {
		s->total += (double)d->total[side][b];
		s->amount += d->amount[side][b];
		if (d->total[side][b] || (basis == DIFF_RATE && d->amount[side][b] > 0))
			s->blocks[s->block_count++] = b;
	}
	for (unsigned b = 0; b < DIFF_TABLE_BLOCKS; b++) {
		if (basis == DIFF_RATE)
			s->expected[b] = s->amount > 0 ? d->amount[side][b] / s->amount : 0;
		else
			s->expected[b] = s->total > 0 ? (double)d->total[side][b] / s->total : 0;
	}
	s->exposure = basis == DIFF_RUN ? 1 : basis == DIFF_RATE ? s->amount : s->total;
	if (basis != DIFF_SHARE && side == DIFF_AFTER)
		s->exposure /= d->scale;
}

static double cost_of(const struct item *item, int side)
{
	double sum = 0;

	for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
		sum += (double)item->cost[side][b];
	return sum;
}

/* The variance of the cost as so many blocks at a time show it, and of how many such groups. */
static double variance_by(const struct item *item, int side, const struct side *s, double cost,
			  unsigned width, unsigned *groups)
{
	double squares = 0, off = 0;

	*groups = (s->block_count + width - 1) / width;
	for (unsigned i = 0; i < s->block_count; i++) {
		unsigned b = s->blocks[i];

		off += (double)item->cost[side][b] - cost * s->expected[b];
		if ((i + 1) % width && i + 1 < s->block_count)
			continue;
		squares += off * off;
		off = 0;
	}
	return *groups > 1 ? squares * *groups / (*groups - 1) : 0;
}

/* By how much the cost of a key varies more than that of independent samples of Poisson. */
struct variation {
	double times;   /* 1: as much */
	double least;   /* of it, what independent samples would; the rest was estimated, ... */
	double freedom; /* ... with so many degrees of freedom */
};

/* In blocks: how many are looked at together. */
static const unsigned widths[] = { 1, 2, 5, 10 };

#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

static struct variation find_variation(const struct item *item, int side, const struct side *s,
				       enum diff_basis basis)
{
	double cost = cost_of(item, side), samples = (double)item->samples[side];
	double share = s->total > 0 ? cost / s->total : 0;
	struct variation v = { .freedom = s->block_count - 1 };

	v.least = v.times = basis == DIFF_SHARE ? fmax(1 - share, VARIED_MIN) : 1;
	for (size_t w = 0; cost > 0 && w < WIDTHS; w++) {
		unsigned groups;
		double times = variance_by(item, side, s, cost, widths[w], &groups);

		times *= samples / (cost * cost);
		/* A run is as long as it is; only how its time is divided shows in the blocks. */
		times += basis == DIFF_RUN ? share : 0;
		if (groups < 2 || times <= v.times)
			continue;
		v.times = times;
		v.freedom = groups - 1;
	}
	if (v.times < v.least + s->drift * samples) {
		v.times = v.least + s->drift * samples;
		v.freedom = INFINITY;
	}
	return v;
}

static int by_number(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

/* The variance of a row beyond independent samples, by the square of its cost. */
struct beyond {
	double relative, cost;
};

static int by_relative(const void *va, const void *vb)
{
	const struct beyond *a = va, *b = vb;

	return by_number(&a->relative, &b->relative);
}

/* The least that rows of half of the cost have.  Sorts them. */
static double median_beyond(struct beyond *rows, size_t count)
{
	double total = 0, sum = 0;

	qsort(rows, count, sizeof(*rows), by_relative);
	for (size_t i = 0; i < count; i++)
		total += rows[i].cost;
	for (size_t i = 0; i < count; i++) {
		sum += rows[i].cost;
		if (2 * sum >= total)
			return rows[i].relative;
	}
	return 0;
}

/*
 * One row's variation is a guess of few blocks, and of many guesses some are too low.  The rows of
 * half of the cost give a better estimate of how much functions drift.  room: for each row.
 */
static double find_drift(const struct diff_table *d, int side, const struct side *s,
			 enum diff_basis basis, struct beyond *room)
{
	double most = 0;

	for (size_t w = 0; w < WIDTHS; w++) {
		size_t count = 0;

		for (size_t i = 0; i < d->count; i++) {
			const struct item *item = &d->items[i];
			double cost = cost_of(item, side), independent;
			unsigned groups;

			if (!(cost > 0))
				continue;
			independent = (basis == DIFF_RATE ? 1 : 1 - cost / s->total) /
				      (double)item->samples[side];
			room[count].cost = cost;
			room[count++].relative = variance_by(item, side, s, cost, widths[w],
							     &groups) /
							 (cost * cost) -
						 independent;
		}
		if (count)
			most = fmax(most, median_beyond(room, count));
	}
	return most;
}

/* ---- intervals ---- */

/* The input of an interval: counts as of independent samples, and their exposure. */
struct interval_input {
	double count[DIFF_SIDES], exposure[DIFF_SIDES];
	double freedom; /* degrees of it in what is known of the variation */
	double varied;  /* times as much as independent samples */
};

/* Satterthwaite's: only what is beyond independent samples was estimated. */
static double join_freedom(const struct item *item, const struct variation *v)
{
	double total = 0, estimated = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double samples = (double)item->samples[side], beyond;

		if (!(samples > 0))
			continue;
		beyond = (v[side].times - v[side].least) / samples;
		total += v[side].times / samples;
		estimated += beyond * beyond / v[side].freedom;
	}
	return estimated > 0 ? total * total / estimated : INFINITY;
}

static struct interval_input find_input(const struct item *item, const struct side *sides,
					enum diff_basis basis)
{
	double both = 0,
	       samples = (double)item->samples[DIFF_BEFORE] + (double)item->samples[DIFF_AFTER];
	struct variation v[DIFF_SIDES];
	struct interval_input e = { 0 };

	for (int side = 0; side < DIFF_SIDES; side++) {
		v[side] = find_variation(item, side, &sides[side], basis);
		both += v[side].times * (double)item->samples[side];
	}
	e.freedom = join_freedom(item, v);
	for (int side = 0; side < DIFF_SIDES; side++) {
		/* A side of few samples hardly shows how it varies: as the other one does, at least. */
		double times = fmax(v[side].times, samples > 0 ? both / samples : 1);
		/* The weight of a sample is known from the other side where this one has none. */
		int weighed = item->samples[side] ? side : !side;

		e.count[side] = (double)item->samples[side] / times;
		e.exposure[side] = sides[side].exposure / times;
		if (item->samples[weighed])
			e.exposure[side] *= (double)item->samples[weighed] / cost_of(item, weighed);
		e.varied = fmax(e.varied, times);
	}
	return e;
}

/* level: of Student's distribution. */
static void find_interval(const struct interval_input *e, double level, double *low, double *high)
{
	double odds = e->exposure[DIFF_BEFORE] / e->exposure[DIFF_AFTER];

	if (isfinite(e->freedom))
		level = student_to_normal_level(level, e->freedom);
	binomial_odds(e->count[DIFF_AFTER], e->count[DIFF_BEFORE], level, low, high);
	*low *= odds;
	*high *= odds;
}

/* How many standard deviations a normal variable is out at a two-sided level. */
static double deviations_of(double level)
{
	double low = 0, high = 40;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) > level)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The growth whose interval at that level would begin at 1, by the normal distribution of its logarithm. */
static double visible_growth(const struct interval_input *e, double level)
{
	double variance = 1 / e->count[DIFF_BEFORE] + 1 / e->count[DIFF_AFTER];

	if (!(e->count[DIFF_BEFORE] > 0 && e->count[DIFF_AFTER] > 0))
		return INFINITY;
	if (isfinite(e->freedom))
		level = student_to_normal_level(level, e->freedom);
	return exp(deviations_of(level) * sqrt(variance));
}

/* ---- how many rows could have been real ---- */

/* The lowest level at which so many samples could be outside, all of them on the rarer side. */
static double lowest_level(const struct interval_input *e, const struct item *item)
{
	double part = fmin(e->exposure[DIFF_BEFORE], e->exposure[DIFF_AFTER]) /
		      (e->exposure[DIFF_BEFORE] + e->exposure[DIFF_AFTER]);
	double samples = (double)(item->samples[DIFF_BEFORE] + item->samples[DIFF_AFTER]);

	return 2 * pow(part, fmax(samples, e->count[DIFF_BEFORE] + e->count[DIFF_AFTER]));
}

/* Tarone: the smallest k so that at most k rows could be outside at LEVEL / k.  Sorts levels. */
static size_t count_testable(double *levels, size_t count)
{
	size_t within = count;

	if (count)
		qsort(levels, count, sizeof(*levels), by_number);
	for (size_t k = 1; k <= count; k++) {
		while (within && levels[within - 1] > LEVEL / (double)k)
			within--;
		if (within <= k)
			return k;
	}
	return count ? count : 1;
}

/* ---- rows ---- */

struct comparison {
	const struct diff_table *d;
	enum diff_basis basis;
	struct side sides[DIFF_SIDES];
	struct interval_input *inputs; /* by item */
	double *levels;
	double level_all; /* so that all rows together are at LEVEL */
};

static int by_change(const void *va, const void *vb)
{
	const struct diff_table_row *a = va, *b = vb;
	double change_a = a->value[DIFF_AFTER] - a->value[DIFF_BEFORE];
	double change_b = b->value[DIFF_AFTER] - b->value[DIFF_BEFORE];

	if (change_a != change_b)
		return change_a > change_b ? -1 : 1;
	if (a->sum[DIFF_AFTER].cost != b->sum[DIFF_AFTER].cost)
		return a->sum[DIFF_AFTER].cost > b->sum[DIFF_AFTER].cost ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static void fill_row(const struct comparison *c, const struct item *item,
		     struct diff_table_row *row)
{
	*row = (struct diff_table_row){ .key = item->key, .high = INFINITY };
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct side *s = &c->sides[side];
		double cost = cost_of(item, side);

		for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
			row->sum[side].cost += item->cost[side][b];
		row->sum[side].samples = item->samples[side];
		row->share[side] = s->total > 0 ? cost / s->total : 0;
		row->value[side] = s->exposure > 0 ? cost / s->exposure : 0;
	}
	row->ratio = row->value[DIFF_BEFORE] > 0  ? row->value[DIFF_AFTER] / row->value[DIFF_BEFORE]
		     : row->value[DIFF_AFTER] > 0 ? INFINITY
						  : 1;
}

static bool is_outside(double low, double high)
{
	return low > 1 || high < 1;
}

static void judge_row(const struct comparison *c, size_t i, struct diff_table_row *row)
{
	double low, high;

	if (!(c->inputs[i].exposure[DIFF_BEFORE] > 0 && c->inputs[i].exposure[DIFF_AFTER] > 0))
		return;
	find_interval(&c->inputs[i], LEVEL, &row->low, &row->high);
	row->visible = visible_growth(&c->inputs[i], c->level_all);
	if (!is_outside(row->low, row->high))
		return;
	find_interval(&c->inputs[i], c->level_all, &low, &high);
	row->result = is_outside(low, high) ? DIFF_REAL : DIFF_UNSURE;
}

static void find_levels(struct comparison *c, struct diff_table_result *r)
{
	struct interval_input percent = { .freedom = INFINITY };

	for (size_t i = 0; i < c->d->count; i++) {
		c->inputs[i] = find_input(&c->d->items[i], c->sides, c->basis);
		c->levels[i] = lowest_level(&c->inputs[i], &c->d->items[i]);
	}
	r->tested = count_testable(c->levels, c->d->count);
	c->level_all = LEVEL / (double)r->tested;
	for (int side = 0; side < DIFF_SIDES; side++)
		percent.count[side] = c->sides[side].samples / 100;
	r->visible_percent = visible_growth(&percent, c->level_all);
}

static int make_rows(struct comparison *c, double min_share, struct diff_table_result *r)
{
	uint64_t largest = 0;

	r->rows = calloc(c->d->count + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; i < c->d->count; i++) {
		struct diff_table_row *row = &r->rows[r->count];
		uint64_t cost;

		if (!c->d->items[i].samples[DIFF_BEFORE] && !c->d->items[i].samples[DIFF_AFTER])
			continue; /* it was moved */
		fill_row(c, &c->d->items[i], row);
		if (row->share[DIFF_BEFORE] < min_share && row->share[DIFF_AFTER] < min_share)
			continue;
		if (!r->too_short)
			judge_row(c, i, row);
		cost = row->sum[DIFF_BEFORE].cost + row->sum[DIFF_AFTER].cost;
		if (cost > largest) {
			largest = cost;
			r->varied = c->inputs[i].varied;
		}
		r->count++;
	}
	qsort(r->rows, r->count, sizeof(*r->rows), by_change);
	return 0;
}

int diff_table_compare(const struct diff_table *d, enum diff_basis basis, double min_share,
		       struct diff_table_result *out)
{
	struct comparison c = { .d = d, .basis = basis };
	struct diff_table_result r = { 0 };
	struct beyond *room;
	int err = -ENOMEM;

	c.inputs = calloc(d->count + 1, sizeof(*c.inputs));
	c.levels = calloc(d->count + 1, sizeof(*c.levels));
	room = calloc(d->count + 1, sizeof(*room));
	for (int side = 0; side < DIFF_SIDES; side++) {
		sum_side(d, side, basis, &c.sides[side]);
		if (room)
			c.sides[side].drift = find_drift(d, side, &c.sides[side], basis, room);
		r.blocks[side] = c.sides[side].block_count;
		r.amount[side] = c.sides[side].amount;
		r.total[side].samples = d->samples[side];
		for (int b = 0; b < DIFF_TABLE_BLOCKS; b++)
			r.total[side].cost += d->total[side][b];
		r.too_short |= r.blocks[side] < DIFF_TABLE_MIN_BLOCKS;
	}
	if (c.inputs && c.levels && room) {
		if (!r.too_short)
			find_levels(&c, &r);
		err = make_rows(&c, min_share, &r);
	}
	free(c.inputs);
	free(c.levels);
	free(room);
	if (!err)
		*out = r;
	return err;
}

/* ---- what shares confirm ---- */

static int by_key(const void *va, const void *vb)
{
	const struct diff_table_row *const *a = va, *const *b = vb;

	return (*a)->key < (*b)->key ? -1 : (*a)->key > (*b)->key;
}

static bool changed_alike(const struct diff_table_row *a, const struct diff_table_row *b)
{
	return b->result != DIFF_NOISE && (a->ratio > 1) == (b->ratio > 1);
}

/*
 * Makes rows of DIFF_RUN unsure where the same table by shares does not show that they changed, too: another machine,
 * or the same one under another load, makes all of them slower.  A row stays real when some share did change, and
 * its own share did in the same direction.  -ENOMEM.
 */
static int confirm(struct diff_table_result *run, const struct diff_table_result *shares)
{
	const struct diff_table_row **list = calloc(shares->count + 1, sizeof(*list));
	bool changed = false;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < shares->count; i++) {
		list[i] = &shares->rows[i];
		changed |= list[i]->result == DIFF_REAL;
	}
	qsort(list, shares->count, sizeof(*list), by_key);
	for (size_t i = 0; i < run->count; i++) {
		struct diff_table_row *row = &run->rows[i];
		const struct diff_table_row *key = row, **share;

		if (row->result != DIFF_REAL)
			continue;
		share = bsearch(&key, list, shares->count, sizeof(*list), by_key);
		if (changed && share && changed_alike(row, *share))
			continue;
		row->result = DIFF_UNSURE;
		run->unconfirmed++;
	}
	free(list);
	return 0;
}

int diff_table_compare_run(const struct diff_table *d, double min_share,
			   struct diff_table_result *out)
{
	struct diff_table_result shares;
	int err = diff_table_compare(d, DIFF_RUN, min_share, out);

	if (err)
		return err;
	err = diff_table_compare(d, DIFF_SHARE, min_share, &shares);
	if (!err) {
		err = confirm(out, &shares);
		diff_table_result_done(&shares);
	}
	if (err)
		diff_table_result_done(out);
	return err;
}

size_t diff_table_count_grown(const struct diff_table_result *r, enum diff_basis basis,
			      double limit)
{
	double all = 1;
	size_t grown = 0;

	if (basis == DIFF_RUN)
		all = (double)r->total[DIFF_BEFORE].cost;
	else if (basis == DIFF_RATE && r->amount[DIFF_BEFORE] > 0)
		all = (double)r->total[DIFF_BEFORE].cost / r->amount[DIFF_BEFORE];
	for (size_t i = 0; i < r->count; i++)
		grown += r->rows[i].result == DIFF_REAL &&
			 r->rows[i].value[DIFF_AFTER] - r->rows[i].value[DIFF_BEFORE] > limit * all;
	return grown;
}

void diff_table_result_done(struct diff_table_result *r)
{
	free(r->rows);
	*r = (struct diff_table_result){ 0 };
}
