/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/spool/capture_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/count_samples.h"
#include "analyze/input/capture_meta.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

/* From the records' clock to the wall's. */
static uint64_t to_wall(const struct capture_facts *f, uint64_t ns)
{
	if (ns >= f->clock_ns)
		return saturate_add(f->clock_wall_ns, ns - f->clock_ns);
	return f->clock_wall_ns > f->clock_ns - ns ? f->clock_wall_ns - (f->clock_ns - ns) : 0;
}

/* Without samples: from the first record with a time to the last. */
static struct time_span span_of_blocks(const struct capture *c, uint64_t otherwise_ns)
{
	size_t count;
	const struct capture_block *b = capture_blocks(c, &count);
	struct time_span span = { UINT64_MAX, 0 };

	for (size_t i = 0; i < count; i++) {
		if (!b[i].t_min_ns || b[i].t_max_ns == UINT64_MAX)
			continue;
		if (b[i].t_min_ns < span.from_ns)
			span.from_ns = b[i].t_min_ns;
		if (b[i].t_max_ns > span.to_ns)
			span.to_ns = b[i].t_max_ns;
	}
	return span.from_ns <= span.to_ns ? span : (struct time_span){ otherwise_ns, otherwise_ns };
}

static void read_span(const struct capture *c, struct capture_facts *f)
{
	struct time_span span;

	if (!capture_clock(c, &f->clock_ns, &f->clock_wall_ns))
		return;
	if (time_span_of_capture(c, &span))
		span = span_of_blocks(c, f->clock_ns);
	capture_meta_extend(c, &span);
	capture_meta_extend_back(c, &span);
	f->from_ns = to_wall(f, span.from_ns);
	f->to_ns = to_wall(f, span.to_ns);
}

static void read_blocks(const struct capture *c, struct capture_facts *f)
{
	size_t count;
	const struct capture_block *blocks = capture_blocks(c, &count);

	for (size_t i = 0; i < count; i++) {
		if (blocks[i].stream == EBX_STREAM_CPU)
			f->sample_count += blocks[i].sample_count;
		f->lost_count = saturate_add(f->lost_count, blocks[i].lost_count);
	}
}

void capture_facts_read(const struct capture *c, struct capture_facts *out)
{
	const struct capture_damage *d = capture_damage(c);
	struct capture_meta_value start = capture_meta_read(c, EBX_META_START);

	*out = (struct capture_facts){
		.is_finished = !d->unfinished,
		.is_damaged = d->cut || d->bad_blocks || d->bad_sections || d->missing_seq,
	};
	read_span(c, out);
	read_blocks(c, out);
	if (!capture_meta_number(start, "boot_wall_ns", &out->boot_wall_ns) || !out->boot_wall_ns)
		out->boot_wall_ns = out->clock_wall_ns > out->clock_ns
					    ? out->clock_wall_ns - out->clock_ns
					    : 0;
	capture_meta_free(start);
}

/* ---- services ---- */

int service_counts_put(struct service_counts *to, const char *name, uint64_t sample_count)
{
	if (vec_reserve(&to->list, &to->capacity, to->count + 1))
		return -ENOMEM;
	to->list[to->count].sample_count = sample_count;
	strncpy(to->list[to->count].name, name, SERVICE_NAME_MAX - 1);
	to->list[to->count++].name[SERVICE_NAME_MAX - 1] = '\0';
	return 0;
}

struct counting {
	const struct service_rules *rules;
	struct container_names *containers;
	struct string_table *names;
	struct process_model *model;
	struct service_counts *to;
};

static int put_group(const struct counting *k, const struct group *g, uint64_t sample_count)
{
	uint32_t cgroup = process_model_cgroup(k->model, g->cgroup);
	const struct service_facts facts = {
		.context = string_table_text(k->names, g->context),
		.cgroup = cgroup == PROCESS_MODEL_NONE ? "" : string_table_text(k->names, cgroup),
		.comm = g->comm & STACK_COUNTER_TID_GROUP ? ""
							  : string_table_text(k->names, g->comm),
	};
	char name[SERVICE_NAME_MAX];

	service_name(k->rules, k->containers, &facts, name);
	return service_counts_put(k->to, name, sample_count);
}

static int put_groups(const struct counting *k, struct groups *groups,
		      const struct stack_counter *counted)
{
	size_t count, sum_count;
	const struct group *list = groups_list(groups, &count);
	const struct stack_counter_sum *sums = stack_counter_sums(counted, &sum_count);
	int err = 0;

	for (size_t i = 0; !err && i < count && i < sum_count; i++)
		if (sums[i].sample_count)
			err = put_group(k, &list[i], sums[i].sample_count);
	return err;
}

static int count_groups(const struct capture *c, const struct counting *k,
			const struct load_scan *scan)
{
	struct load_query query = { .sum_groups = true,
				    .names = k->names,
				    .later = scan->later.key_count ? &scan->later : NULL,
				    .thread_count = 1 };
	struct stack_counter *counted = NULL;
	struct load_stats stats;
	int err = load_choose_event(c, scan, NULL, &query.attr);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = groups_new(GROUP_SERVICE, 1, &query.groups);
	if (!err)
		err = load_samples(c, k->model, &query, &counted, &stats);
	if (!err)
		err = put_groups(k, query.groups, counted);
	stack_counter_free(counted);
	groups_free(query.groups);
	return err;
}

int service_counts_add(const struct capture *c, const struct service_rules *rules,
		       struct service_counts *to)
{
	struct counting k = { .rules = rules, .to = to };
	struct load_scan scan = { 0 };
	int err = string_table_new(&k.names);

	if (!err)
		err = container_names_read(c, &k.containers);
	if (!err)
		err = load_model(c, k.names, NULL, &k.model, &scan);
	if (!err) {
		err = count_groups(c, &k, &scan);
		load_scan_done(&scan);
	}
	process_model_free(k.model);
	container_names_free(k.containers);
	string_table_free(k.names);
	return err;
}

static int by_samples(const void *a, const void *b)
{
	const struct service_count *x = a, *y = b;

	if (x->sample_count != y->sample_count)
		return x->sample_count < y->sample_count ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct service_count *)a)->name,
		      ((const struct service_count *)b)->name);
}

void service_counts_settle(struct service_counts *s)
{
	struct service_count *l = s->list;
	size_t used = 0;

	if (!s->count)
		return;
	qsort(l, s->count, sizeof(*l), by_name);
	for (size_t i = 1; i < s->count; i++) {
		if (!strcmp(l[used].name, l[i].name))
			l[used].sample_count = saturate_add(l[used].sample_count,
							    l[i].sample_count);
		else
			l[++used] = l[i];
	}
	s->count = used + 1;
	qsort(l, s->count, sizeof(*l), by_samples);
}

void service_counts_done(struct service_counts *s)
{
	free(s->list);
	*s = (struct service_counts){ 0 };
}
