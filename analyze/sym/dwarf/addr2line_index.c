/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* addr2line_index - which unit covers which wanted address */
#include <errno.h>
#include <stdlib.h>

#include "analyze/sym/dwarf/attr.h"
#include "analyze/sym/dwarf/addr2line_priv.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define NO_UNIT UINT64_MAX

/*
 * The unit that covers an address: of several the one with the range that begins last, and then the
 * last in the file.
 */
struct claim {
	uint64_t low, unit, unit_bytes;
};

struct index {
	struct addr2line *tab;
	struct claim *claims; /* of each wanted address */
	struct dw_unit unit;
	bool has_unsupported_units;
};

static int claim(void *arg, uint64_t low, uint64_t high)
{
	struct index *x = arg;
	const struct addr2line *t = x->tab;

	for (size_t i = lower_bound(at, 0, t->count, t->vaddrs[at] < low);
	     i < t->count && t->vaddrs[i] < high; i++) {
		struct claim *c = &x->claims[i];

		if (!dw_take_steps(&x->unit, 1))
			return -ENOTSUP;
		if (c->unit == NO_UNIT || c->low <= low)
			*c = (struct claim){ low, x->unit.off, x->unit.size_bytes };
	}
	return 0;
}

static int index_units(struct index *x)
{
	struct addr2line *t = x->tab;
	struct dw_unit *u = &x->unit;
	int err;

	u->steps_left = DW_STEPS_MAX;
	for (; (err = dw_unit_head(&t->file, u)) != -ENODATA; u->off += u->size_bytes) {
		if (!err) {
			t->has_split_units |= u->dwo_name.form;
			err = dw_ranges(&t->file, u, &u->low_pc, &u->high_pc, &u->ranges, claim, x);
		}
		x->has_unsupported_units |= err == -ENOTSUP;
		if (err && err != -ENOTSUP && err != -ENOENT)
			break;
	}
	dw_unit_done(u);
	if (err == -EBADMSG)
		x->has_unsupported_units = true;
	return err == -ENODATA || err == -EBADMSG ? 0 : err;
}

static int by_unit(const void *va, const void *vb)
{
	const struct addr2line_wish *a = va, *b = vb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int make_tasks(struct addr2line *t)
{
	int err = 0;

	if (t->wish_count)
		qsort(t->wishes, t->wish_count, sizeof(*t->wishes), by_unit);
	for (size_t i = 0; !err && i < t->wish_count; i++) {
		if (i && t->wishes[i].unit == t->wishes[i - 1].unit) {
			t->tasks[t->task_count - 1].count++;
			continue;
		}
		err = vec_reserve(&t->tasks, &t->task_room, t->task_count + 1);
		if (!err)
			t->tasks[t->task_count++] = (struct addr2line_task){ i, 1 };
	}
	return err;
}

int addr2line_share_out(struct addr2line *t)
{
	struct index x = { .tab = t };
	int err = -ENOMEM;

	t->wishes = calloc(t->count + 1, sizeof(*t->wishes));
	x.claims = calloc(t->count + 1, sizeof(*x.claims));
	if (!t->wishes || !x.claims)
		goto out;
	for (size_t i = 0; i < t->count; i++)
		x.claims[i].unit = NO_UNIT;
	err = index_units(&x);
	for (size_t i = 0; !err && i < t->count; i++) {
		const struct claim *c = &x.claims[i];

		if (c->unit == NO_UNIT)
			t->answers[i].known = !x.has_unsupported_units;
		else
			t->wishes[t->wish_count++] = (struct addr2line_wish){ c->low, c->unit,
									      c->unit_bytes,
									      (uint32_t)i };
	}
	if (!err)
		err = make_tasks(t);
out:
	free(x.claims);
	return err;
}
