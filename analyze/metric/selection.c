/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

/* ---- what is shown by what ---- */

static int add_dim(struct metric_sums *one, const char *name)
{
	const struct metric_dim *d;
	uint32_t slots[4];
	size_t count;

	if (one->by_count == METRIC_BY_MAX - 1)
		return -EOVERFLOW;
	d = metric_dimension_find(one->table, name, &one->own[one->by_count]);
	if (!d)
		return -ENOENT;
	count = metric_dimension_slots(one->table, d, slots);
	memcpy(one->keys + one->key_count, slots, count * sizeof(*slots));
	one->key_count += count;
	one->by[one->by_count++] = d;
	if (one->by_count == 1)
		one->outer_key_count = one->key_count;
	return 0;
}

/* --by A,B; --by A: with what the view has first below it, unless that is A itself. */
static int dims_asked_for(struct metric_sums *one, const char *by, const char **unknown)
{
	const char *below;
	char *words = strdup(by), *word, *save = NULL;
	int err = words ? 0 : -ENOMEM;

	for (word = words ? strtok_r(words, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		err = add_dim(one, word);
		if (err == -ENOENT || err == -EOVERFLOW)
			*unknown = by;
		if (!err && one->by[one->by_count - 1] == &one->own[one->by_count - 1]) {
			/* its name is the word, which is about to go: take the table's */
			const struct metric_field *f = metric_format_find(&one->table->fmt, word);

			one->own[one->by_count - 1].name = one->own[one->by_count - 1].title =
				one->own[one->by_count - 1].fields[0] = f->name;
		}
	}
	free(words);
	if (err || one->by_count != 1 || strchr(by, ','))
		return err;
	below = one->view->by[0];
	if (below && !strcmp(below, one->by[0]->name))
		below = one->view->by[1];
	return below ? add_dim(one, below) : 0;
}

bool metric_selection_is_list(const struct metric_table *t, const struct metric_view *v)
{
	return !t->is_interval && !v->by[0];
}

static int set_dims(struct metric_sums *one, const struct metric_ask *ask, const char **unknown)
{
	int err = 0;

	if (ask->by && metric_selection_is_list(one->table, one->view)) {
		*unknown = ask->by;
		return -ENOENT;
	}
	if (ask->by)
		return dims_asked_for(one, ask->by, unknown);
	for (size_t i = 0; i < METRIC_BY_MAX && one->view->by[i] && !err; i++)
		err = add_dim(one, one->view->by[i]);
	return err;
}

bool metric_selection_is_meant(const struct metric_view *v, const char *name)
{
	return !name || !strcmp(v->instrument, name) || !strcmp(v->table, name);
}

static bool has_table(const struct metric_selection *m, const struct metric_table *t)
{
	for (size_t i = 0; i < m->table_count; i++) {
		if (m->tables[i].table == t)
			return true;
	}
	return false;
}

static int add_table(struct metric_selection *m, const struct metric_table *t, const char *name)
{
	struct metric_sums *one = &m->tables[m->table_count];
	const char *unknown = NULL;
	int err;

	if (has_table(m, t) || (m->ask->no_moments && !t->is_interval))
		return 0;
	one->table = t;
	one->view = metric_view_of(t, &one->own_view);
	if (!metric_selection_is_meant(one->view, name))
		return 0;
	err = set_dims(one, m->ask, &unknown);
	for (size_t i = 0; i < one->by_count; i++)
		one->by_container |= metric_dimension_is_container(one->by[i]);
	if (unknown) { /* of other tables it may be a key */
		*one = (struct metric_sums){ 0 };
		return 0;
	}
	if (!err)
		m->table_count++;
	return err;
}

int metric_selection_add(struct metric_selection *m, const char *name)
{
	int err = 0;

	for (size_t i = 0; i < m->rows->count && !err; i++)
		err = add_table(m, &m->rows->tables[i], name);
	for (size_t i = 0; i < m->table_count && !err; i++)
		if (metric_selection_is_meant(m->tables[i].view, name))
			return 0;
	return err ? err : -ENOENT;
}

bool metric_selection_has_column(const struct metric_view *v, const char *key)
{
	for (const struct metric_column *c = v->columns; c->op; c++) {
		if (c->op != METRIC_DIM && !strcmp(c->key, key + (key[0] == '-')))
			return true;
	}
	return false;
}

/* ---- rows ---- */

/* The sum of that interval, or NULL with *pos for a new one. */
static struct metric_aggregate *find_interval(const struct metric_sums *one, uint64_t interval,
					      uint64_t hash, uint32_t *pos)
{
	uint32_t id;

	while ((id = hash_index_match(&one->by_interval, hash, pos)) != HASH_INDEX_NONE) {
		if (one->sums[id].last_interval == interval + 1)
			return &one->sums[id];
	}
	return NULL;
}

static int add_sum(struct metric_sums *one, struct metric_aggregate **out)
{
	if (vec_reserve(&one->sums, &one->sum_capacity, one->sum_count + 1))
		return -ENOMEM;
	*out = &one->sums[one->sum_count++];
	metric_aggregate_init(*out, one->table, one->keys, one->key_count, !one->by_count);
	return 0;
}

/* The capture may have intervals with large gaps: only those that have rows take memory. */
static int sum_of(const struct metric_selection *m, struct metric_sums *one,
		  const struct metric_row *r, struct metric_aggregate **out)
{
	uint64_t interval, hash;
	uint32_t pos;
	int err;

	if (!m->ask->interval || !one->table->is_interval) {
		*out = one->sums;
		return one->sum_count ? 0 : add_sum(one, out);
	}
	interval = r->slots[one->table->interval];
	if (hash_index_reserve(&one->by_interval))
		return -ENOMEM;
	hash = hash_index_pair(&one->by_interval, interval, 0);
	pos = hash_index_start(&one->by_interval, hash);
	*out = find_interval(one, interval, hash, &pos);
	if (*out)
		return 0;
	err = add_sum(one, out);
	if (!err)
		hash_index_put(&one->by_interval, hash, pos, (uint32_t)(one->sum_count - 1));
	return err;
}

/* All cgroups of a container are one of them, so that their rows are one. */
static int of_container(struct metric_selection *m, const struct metric_row *r,
			uint64_t slots[METRIC_ROWS_SLOTS_MAX])
{
	uint32_t slot = metric_rows_number_slot(r->table, "cgroup");

	memcpy(slots, r->slots, r->table->slot_count * sizeof(*slots));
	return containers_first(&m->containers, m->model, m->names, slots[slot], &slots[slot]);
}

int metric_selection_row(void *ctx, const struct metric_row *r)
{
	uint64_t slots[METRIC_ROWS_SLOTS_MAX];
	struct metric_selection *m = ctx;
	struct metric_row row = *r;
	struct metric_aggregate *sum;
	int err = 0;

	for (size_t i = 0; i < m->table_count && !err; i++) {
		if (m->tables[i].table != r->table)
			continue;
		row.slots = r->slots;
		if (m->tables[i].by_container) {
			err = of_container(m, r, slots);
			row.slots = slots;
		}
		if (!err)
			err = sum_of(m, &m->tables[i], &row, &sum);
		if (!err)
			err = metric_aggregate_add(sum, &row);
	}
	return err;
}

static int by_interval(const void *va, const void *vb)
{
	const struct metric_aggregate *a = va, *b = vb;

	return a->last_interval < b->last_interval ? -1 : a->last_interval > b->last_interval;
}

void metric_selection_end(struct metric_selection *m)
{
	for (size_t i = 0; i < m->table_count && m->ask->interval; i++) {
		hash_index_done(&m->tables[i].by_interval);
		if (m->tables[i].sum_count)
			qsort(m->tables[i].sums, m->tables[i].sum_count, sizeof(*m->tables[i].sums),
			      by_interval);
	}
	for (size_t i = 0; i < m->table_count && !m->ask->interval; i++) {
		if (!m->tables[i].table->is_interval || !m->tables[i].sum_count)
			continue;
		m->tables[i].sums[0].from_ns = m->rows->from_ns;
		m->tables[i].sums[0].to_ns = m->rows->to_ns;
	}
}

bool metric_selection_is_empty(const struct metric_selection *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->table_count; i++)
		count += m->tables[i].sum_count;
	return !count;
}

/* ---- comms of processes ---- */

/* Whether groups by these keys are processes, and not their threads, exits or comms. */
static bool is_by_process(const struct metric_table *t, const uint32_t *keys, size_t key_count)
{
	const uint32_t others[] = { t->tid, metric_rows_slot(t, "start_ns"), t->comm };
	bool by_pid = false;

	if (t->comm == METRIC_ROWS_NONE || t->pid == METRIC_ROWS_NONE)
		return false;
	for (size_t i = 0; i < key_count; i++) {
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			if (keys[i] == others[k])
				return false;
		by_pid |= keys[i] == t->pid;
	}
	return by_pid;
}

/* The rows of a table without threads have the comm of any. */
static bool has_leaders_comm(const struct metric_aggregate *sum, size_t group)
{
	return sum->table->tid != METRIC_ROWS_NONE && sum->groups[group].comm_is_leaders;
}

static bool lacks_leader(const struct metric_aggregate *sum)
{
	for (size_t i = 0; i < sum->count; i++)
		if (!has_leaders_comm(sum, i))
			return true;
	return false;
}

bool metric_selection_want_tasks(const struct metric_selection *m)
{
	for (size_t i = 0; i < m->table_count; i++) {
		const struct metric_sums *one = &m->tables[i];

		if (!is_by_process(one->table, one->keys, one->key_count) &&
		    !is_by_process(one->table, one->keys, one->outer_key_count))
			continue;
		for (size_t k = 0; k < one->sum_count; k++)
			if (lacks_leader(&one->sums[k]))
				return true;
	}
	return false;
}

/* The comm that its first thread had when the last row of the process was written. */
static void name_processes(const struct metric_selection *m, struct metric_aggregate *sum)
{
	const struct metric_table *t = sum->table;
	struct process_model_where where;

	if (!m->tasks || !is_by_process(t, sum->keys, sum->key_count))
		return;
	for (size_t i = 0; i < sum->count; i++) {
		uint64_t *slots = sum->slots + i * t->slot_count;
		uint32_t pid = (uint32_t)slots[t->pid];

		if (has_leaders_comm(sum, i))
			continue;
		process_model_thread(m->tasks, pid, pid, sum->groups[i].time_ns, &where);
		if (where.comm != PROCESS_MODEL_NONE)
			slots[t->comm] = where.comm;
	}
}

/* ---- showing ---- */

static int put_sum(const struct metric_selection *m, const struct metric_sums *one,
		   struct metric_aggregate *sum, bool first, struct json_writer *json)
{
	const struct metric_ask *o = m->ask;
	struct metric_shown s = {
		.view = one->view,
		.by_count = one->by_count,
		.sort = o->sort && metric_selection_has_column(one->view, o->sort)
				? o->sort
				: one->view->sort,
		.texts = { .names = m->names,
			   .model = m->model,
			   .containers = m->containers.known },
		.histogram = o->histogram,
		.with_legend = sum == one->sums && !o->no_legend,
		.start_ns = m->start_ns,
	};
	int err = 0;

	metric_aggregate_finish(sum);
	name_processes(m, sum);
	s.inner = *sum;
	memcpy(s.by, one->by, sizeof(s.by));
	s.top = o->top != UINT32_MAX ? o->top : o->form != METRIC_TEXT_FORM ? 0 : 10;
	s.top_inner = s.top && s.top < 5 ? s.top : s.top ? 5 : 0;
	if (one->by_count > 1)
		err = metric_aggregate_fold(sum, one->keys, one->outer_key_count, &s.outer);
	if (!err && one->by_count > 1)
		name_processes(m, &s.outer);
	if (!err)
		err = metric_out_put(&s, o->form, first, json);
	metric_aggregate_done(&s.outer);
	return err;
}

/*
 * Whether a view belongs to the instrument; a user's view has the name of its object, which is not
 * known here.
 */
static bool is_shown(const struct metric_selection *m, const char *instrument)
{
	const struct metric_view *v;
	bool own = true;

	for (size_t i = 0; (v = metric_view_at(i)); i++)
		own = own && strcmp(v->instrument, instrument) != 0;
	for (size_t i = 0; i < m->table_count; i++) {
		v = m->tables[i].view;
		if (own ? v == &m->tables[i].own_view : !strcmp(v->instrument, instrument))
			return true;
	}
	return false;
}

const char *metric_selection_next_note(const struct metric_selection *m, const char **at,
				       size_t *bytes)
{
	char name[METRIC_NAME_BYTES];
	const char *line;

	while (*at && **at) {
		line = *at;
		*bytes = strcspn(line, "\n");
		*at = line + *bytes + (line[*bytes] == '\n');
		if (metric_format_note(line, name) && is_shown(m, name))
			return line;
	}
	return NULL;
}

static void begin_json(const struct metric_selection *m, struct json_writer *json)
{
	const char *at = m->notes, *line;
	size_t bytes;

	json_writer_begin(json, NULL);
	json_writer_u64(json, "schema", 1);
	json_writer_u64(json, "lost", m->rows->lost);
	json_writer_begin_array(json, "notes");
	while ((line = metric_selection_next_note(m, &at, &bytes)))
		json_writer_text(json, NULL, line, bytes);
	json_writer_end_array(json);
	json_writer_begin_array(json, "tables");
}

static void end_json(struct json_writer *json)
{
	json_writer_line(json, 0);
	json_writer_end_array(json);
	json_writer_end(json);
}

int metric_selection_put(const struct metric_selection *m, struct json_writer *to)
{
	enum metric_form form = m->ask->form;
	bool first = true;
	int err = 0;

	if (form == METRIC_JSON_FORM)
		begin_json(m, to);
	for (size_t i = 0; i < m->table_count && !err; i++) {
		const struct metric_sums *one = &m->tables[i];

		if (form == METRIC_CSV_FORM && i)
			putc('\n', to->to);
		for (size_t k = 0; k < one->sum_count && !err; k++) {
			err = put_sum(m, one, &one->sums[k], form == METRIC_CSV_FORM ? !k : first,
				      to);
			first = false;
		}
	}
	if (form == METRIC_JSON_FORM)
		end_json(to);
	return err;
}

bool metric_selection_has_intervals(const struct metric_selection *m)
{
	for (size_t i = 0; i < m->table_count; i++)
		if (m->tables[i].table->is_interval)
			return true;
	return false;
}

bool metric_selection_want_symbols(const struct metric_selection *m)
{
	for (size_t i = 0; i < m->table_count; i++) {
		if (m->tables[i].table->has_symbol || m->tables[i].table->has_function)
			return true;
	}
	return false;
}

bool metric_selection_want_cgroups(const struct metric_selection *m)
{
	bool wanted = false;

	for (size_t i = 0; i < m->table_count; i++) {
		for (size_t k = 0; k < m->tables[i].by_count; k++)
			wanted |= !strcmp(m->tables[i].by[k]->fields[0], "cgroup");
	}
	return wanted;
}

void metric_selection_clear(struct metric_selection *m)
{
	for (size_t i = 0; i < m->table_count; i++) {
		for (size_t k = 0; k < m->tables[i].sum_count; k++)
			metric_aggregate_done(&m->tables[i].sums[k]);
		m->tables[i].sum_count = 0;
	}
}

void metric_selection_done(struct metric_selection *m)
{
	metric_selection_clear(m);
	for (size_t i = 0; i < m->table_count; i++) {
		hash_index_done(&m->tables[i].by_interval);
		free(m->tables[i].sums);
	}
	m->table_count = 0;
	containers_done(&m->containers);
}
