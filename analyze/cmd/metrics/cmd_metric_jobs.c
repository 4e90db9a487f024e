/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/metrics/cmd_metric_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/message.h"
#include "format/base/vec.h"

#define DIMS_MAX 256 /* candidates for "did you mean" */

/* ---- what is shown by what ---- */

static int add_dim(struct job *j, const char *name)
{
	const struct metric_dim *d;
	uint32_t slots[4];
	size_t count;

	if (j->by_count == METRIC_BY_MAX - 1)
		return -EOVERFLOW;
	d = metric_dimension_find(j->table, name, &j->own[j->by_count]);
	if (!d)
		return -ENOENT;
	count = metric_dimension_slots(j->table, d, slots);
	memcpy(j->keys + j->key_count, slots, count * sizeof(*slots));
	j->key_count += count;
	j->by[j->by_count++] = d;
	if (j->by_count == 1)
		j->outer_key_count = j->key_count;
	return 0;
}

/* --by A,B; --by A: with what the view has first below it, unless that is A itself. */
static int dims_asked_for(struct job *j, const char *by, const char **unknown)
{
	const char *below;
	char *words = strdup(by), *word, *save = NULL;
	int err = words ? 0 : -ENOMEM;

	for (word = words ? strtok_r(words, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		err = add_dim(j, word);
		if (err == -ENOENT || err == -EOVERFLOW)
			*unknown = by;
		if (!err && j->by[j->by_count - 1] == &j->own[j->by_count - 1]) {
			/* its name is the word, which is about to go: take the table's */
			const struct metric_field *f = metric_format_find(&j->table->fmt, word);

			j->own[j->by_count - 1].name = j->own[j->by_count - 1].title =
				j->own[j->by_count - 1].fields[0] = f->name;
		}
	}
	free(words);
	if (err || j->by_count != 1 || strchr(by, ','))
		return err;
	below = j->view->by[0];
	if (below && !strcmp(below, j->by[0]->name))
		below = j->view->by[1];
	return below ? add_dim(j, below) : 0;
}

/* Rows that are events by themselves are a list: their values cannot be added up. */
static bool is_list(const struct metric_table *t, const struct metric_view *v)
{
	return !t->is_interval && !v->by[0];
}

static int set_dims(struct job *j, const struct metric_jobs_ask *ask, const char **unknown)
{
	int err = 0;

	if (ask->by && is_list(j->table, j->view)) {
		*unknown = ask->by;
		return -ENOENT;
	}
	if (ask->by)
		return dims_asked_for(j, ask->by, unknown);
	for (size_t i = 0; i < METRIC_BY_MAX && j->view->by[i] && !err; i++)
		err = add_dim(j, j->view->by[i]);
	return err;
}

static bool is_meant(const struct metric_view *v, const char *name)
{
	return !name || !strcmp(v->instrument, name) || !strcmp(v->table, name);
}

static bool has_job(const struct metric_jobs *m, const struct metric_table *t)
{
	for (size_t i = 0; i < m->job_count; i++) {
		if (m->jobs[i].table == t)
			return true;
	}
	return false;
}

/* Whether some of what the name means is shown. */
static bool has_jobs_of(const struct metric_jobs *m, const char *name)
{
	for (size_t i = 0; i < m->job_count; i++) {
		if (is_meant(m->jobs[i].view, name))
			return true;
	}
	return false;
}

/* A table is shown once, however often it is named: there is a job for each table, and no more. */
static int add_job(struct metric_jobs *m, const struct metric_table *t, const char *name)
{
	struct job *j = &m->jobs[m->job_count];
	const char *unknown = NULL;
	int err;

	if (has_job(m, t))
		return 0;
	j->table = t;
	j->view = metric_view_of(t, &j->own_view);
	if (!is_meant(j->view, name))
		return 0;
	err = set_dims(j, m->ask, &unknown);
	for (size_t i = 0; i < j->by_count; i++)
		j->by_container |= metric_dimension_is_container(j->by[i]);
	if (unknown) { /* of other tables it may be a key */
		*j = (struct job){ 0 };
		return 0;
	}
	if (err)
		return message_error("cannot show '%s': %s", t->fmt.name, strerror(-err));
	m->job_count++;
	return 0;
}

/*
 * Prints the recorder's note if it could not record that: "cannot record 'pmu', ..."; 0: there is
 * none.
 */
static int print_reason(const struct metric_jobs *m, const char *name)
{
	const char *line = m->notes ? m->notes : "", *begin;
	size_t bytes, name_bytes = strlen(name);

	for (; *line; line += bytes + (line[bytes] == '\n')) {
		bytes = strcspn(line, "\n");
		begin = memchr(line, '\'', bytes);
		if (strncmp(line, "cannot ", 7) != 0 || !begin ||
		    begin + name_bytes + 1 >= line + bytes ||
		    strncmp(begin + 1, name, name_bytes) != 0 || begin[name_bytes + 1] != '\'')
			continue;
		return message_error("'%s' has no table '%s', its recorder printed: %.*s",
				     m->ask->from, name, (int)bytes, line);
	}
	return 0;
}

static int unknown_name(const struct metric_jobs *m, const char *name)
{
	const char *names[2 * METRIC_TABLES_MAX], *near;
	struct metric_view own;
	const struct metric_view *known = metric_view_named(name, false);
	size_t count = 0;

	if (known)
		return message_error(
			"'%s' has no table '%s' (record some: ebprec record --with %s)",
			m->ask->from, name, known->instrument);
	for (size_t i = 0; i < m->rows->count; i++) {
		const struct metric_view *v = metric_view_of(&m->rows->tables[i], &own);

		names[count++] = m->rows->tables[i].fmt.name;
		if (v != &own)
			names[count++] = v->instrument;
	}
	near = options_nearest(name, names, count);
	return message_error("'%s' has no table '%s'%s%s%s (--list names them)", m->ask->from, name,
			     near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool names_table(const struct metric_jobs *m, const char *name)
{
	struct metric_view own;

	for (size_t i = 0; i < m->rows->count; i++) {
		if (is_meant(metric_view_of(&m->rows->tables[i], &own), name))
			return true;
	}
	return false;
}

/* The keys that the tables that are meant can be grouped by: the one near the word, or all. */
static const char *near_dim(const struct metric_jobs *m, const char *name,
			    char near[USAGE_CHOICES_BYTES])
{
	const char *names[DIMS_MAX];
	struct metric_view own;
	size_t count = 0;

	for (size_t i = 0; i < m->rows->count; i++) {
		const struct metric_table *t = &m->rows->tables[i];
		const struct metric_view *v = metric_view_of(t, &own);

		if (is_meant(v, name) && !is_list(t, v))
			count += metric_dimension_names(t, names + count, DIMS_MAX - count);
	}
	return usage_near_or_choices(m->ask->by, strlen(m->ask->by), names, count, near);
}

static int no_such_by(const struct metric_jobs *m, const char *name)
{
	const struct metric_table *t = metric_rows_find(m->rows, name);
	struct metric_view own;
	char near[USAGE_CHOICES_BYTES];

	if (t && is_list(t, metric_view_of(t, &own)))
		return usage_error(m->ask->usage,
				   "option '--by': '%s' is a list of events, which do not add up",
				   name);
	return usage_error(m->ask->usage, "option '--by': '%s' has no '%s'%s", name, m->ask->by,
			   near_dim(m, name, near));
}

bool metric_jobs_is_elsewhere(const char *name)
{
	static const struct usage_word parts[] = {
		{ "cpu", "'ebprec report' shows its samples" },
		{ "sched", "'ebprec sched' shows it" },
		{ "mark", "'ebprec marks' shows them" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].word, name) != 0)
			continue;
		message_error("'%s' has no tables: %s", name, parts[i].instead);
		return true;
	}
	return false;
}

/* A column with numbers, which rows can be sorted by. */
static bool has_column(const struct metric_view *v, const char *key)
{
	for (const struct metric_column *c = v->columns; c->op; c++) {
		if (c->op != METRIC_DIM && !strcmp(c->key, key + (key[0] == '-')))
			return true;
	}
	return false;
}

static int check_sort(const struct metric_jobs *m)
{
	const char *names[METRIC_COLUMNS_MAX * METRIC_TABLES_MAX], *key = m->ask->sort;
	char near[USAGE_CHOICES_BYTES];
	size_t count = 0;

	for (size_t i = 0; key && i < m->job_count; i++) {
		if (has_column(m->jobs[i].view, key))
			return 0;
		for (const struct metric_column *c = m->jobs[i].view->columns; c->op; c++)
			if (c->op != METRIC_DIM)
				names[count++] = c->key;
	}
	if (!key)
		return 0;
	return usage_error(m->ask->usage,
			   "option '--sort': no table that is shown has numbers in a column '%s'%s",
			   key, usage_near_or_choices(key, strlen(key), names, count, near));
}

int metric_jobs_make(struct metric_jobs *m, const char *name)
{
	const struct metric_view *known = name ? metric_view_named(name, false) : NULL;
	char near[USAGE_CHOICES_BYTES];
	int status = 0;

	for (size_t i = 0; i < m->rows->count && !status; i++)
		status = add_job(m, &m->rows->tables[i], name);
	if (status || has_jobs_of(m, name))
		return status ? status : check_sort(m);
	if (name)
		status = print_reason(m, name);
	if (status)
		return status;
	if (name && metric_jobs_is_elsewhere(name))
		return MESSAGE_FAILED;
	if (!m->rows->count)
		return message_error("'%s' has no tables (record some: ebprec record --with %s)",
				     m->ask->from, known ? known->instrument : "syscalls");
	if (m->ask->by && !name)
		return usage_error(m->ask->usage, "option '--by': no table has '%s'%s", m->ask->by,
				   near_dim(m, NULL, near));
	if (m->ask->by && names_table(m, name))
		return no_such_by(m, name);
	return unknown_name(m, name);
}

/* ---- rows ---- */

/* The sum of that interval, or NULL with *pos for a new one. */
static struct metric_aggregate *find_interval(const struct job *j, uint64_t interval, uint64_t hash,
					      uint32_t *pos)
{
	uint32_t id;

	while ((id = hash_index_match(&j->by_interval, hash, pos)) != HASH_INDEX_NONE) {
		if (j->sums[id].last_interval == interval + 1)
			return &j->sums[id];
	}
	return NULL;
}

static int add_sum(struct job *j, struct metric_aggregate **out)
{
	if (vec_reserve(&j->sums, &j->sum_capacity, j->sum_count + 1))
		return -ENOMEM;
	*out = &j->sums[j->sum_count++];
	metric_aggregate_init(*out, j->table, j->keys, j->key_count, !j->by_count);
	return 0;
}

/* The capture may have intervals with large gaps: only those that have rows take memory. */
static int sum_of(const struct metric_jobs *m, struct job *j, const struct metric_row *r,
		  struct metric_aggregate **out)
{
	uint64_t interval, hash;
	uint32_t pos;
	int err;

	if (!m->ask->interval || !j->table->is_interval) {
		*out = j->sums;
		return j->sum_count ? 0 : add_sum(j, out);
	}
	interval = r->slots[j->table->interval];
	if (hash_index_reserve(&j->by_interval))
		return -ENOMEM;
	hash = hash_index_pair(&j->by_interval, interval, 0);
	pos = hash_index_start(&j->by_interval, hash);
	*out = find_interval(j, interval, hash, &pos);
	if (*out)
		return 0;
	err = add_sum(j, out);
	if (!err)
		hash_index_put(&j->by_interval, hash, pos, (uint32_t)(j->sum_count - 1));
	return err;
}

/* All cgroups of a container are one of them, so that their rows are one. */
static int of_container(struct metric_jobs *m, const struct metric_row *r,
			uint64_t slots[METRIC_ROWS_SLOTS_MAX])
{
	uint32_t slot = metric_rows_number_slot(r->table, "cgroup");

	memcpy(slots, r->slots, r->table->slot_count * sizeof(*slots));
	return containers_first(&m->containers, m->model, m->names, slots[slot], &slots[slot]);
}

int metric_jobs_row(void *ctx, const struct metric_row *r)
{
	uint64_t slots[METRIC_ROWS_SLOTS_MAX];
	struct metric_jobs *m = ctx;
	struct metric_row row = *r;
	struct metric_aggregate *sum;
	int err = 0;

	for (size_t i = 0; i < m->job_count && !err; i++) {
		if (m->jobs[i].table != r->table)
			continue;
		row.slots = r->slots;
		if (m->jobs[i].by_container) {
			err = of_container(m, r, slots);
			row.slots = slots;
		}
		if (!err)
			err = sum_of(m, &m->jobs[i], &row, &sum);
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

void metric_jobs_end(struct metric_jobs *m)
{
	for (size_t i = 0; i < m->job_count && m->ask->interval; i++) {
		hash_index_done(&m->jobs[i].by_interval);
		if (m->jobs[i].sum_count)
			qsort(m->jobs[i].sums, m->jobs[i].sum_count, sizeof(*m->jobs[i].sums),
			      by_interval);
	}
	for (size_t i = 0; i < m->job_count && !m->ask->interval; i++) {
		if (!m->jobs[i].table->is_interval || !m->jobs[i].sum_count)
			continue;
		m->jobs[i].sums[0].from_ns = m->rows->from_ns;
		m->jobs[i].sums[0].to_ns = m->rows->to_ns;
	}
}

bool metric_jobs_is_empty(const struct metric_jobs *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->job_count; i++)
		count += m->jobs[i].sum_count;
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

bool metric_jobs_want_tasks(const struct metric_jobs *m)
{
	for (size_t i = 0; i < m->job_count; i++) {
		const struct job *j = &m->jobs[i];

		if (!is_by_process(j->table, j->keys, j->key_count) &&
		    !is_by_process(j->table, j->keys, j->outer_key_count))
			continue;
		for (size_t k = 0; k < j->sum_count; k++)
			if (lacks_leader(&j->sums[k]))
				return true;
	}
	return false;
}

/* The comm that its first thread had when the last row of the process was written. */
static void name_processes(const struct metric_jobs *m, struct metric_aggregate *sum)
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

static int put_sum(const struct metric_jobs *m, const struct job *j, struct metric_aggregate *sum,
		   bool first, struct json_writer *json)
{
	const struct metric_jobs_ask *o = m->ask;
	struct metric_shown s = {
		.view = j->view,
		.by_count = j->by_count,
		.sort = o->sort && has_column(j->view, o->sort) ? o->sort : j->view->sort,
		.texts = { .names = m->names,
			   .model = m->model,
			   .containers = m->containers.known },
		.histogram = o->histogram,
		.with_legend = sum == j->sums && !o->no_legend,
		.start_ns = m->start_ns,
	};
	int err = 0;

	metric_aggregate_finish(sum);
	name_processes(m, sum);
	s.inner = *sum;
	memcpy(s.by, j->by, sizeof(s.by));
	s.top = o->top != UINT32_MAX ? o->top : o->form != METRIC_TEXT_FORM ? 0 : 10;
	s.top_inner = s.top && s.top < 5 ? s.top : s.top ? 5 : 0;
	if (j->by_count > 1)
		err = metric_aggregate_fold(sum, j->keys, j->outer_key_count, &s.outer);
	if (!err && j->by_count > 1)
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
static bool is_shown(const struct metric_jobs *m, const char *instrument)
{
	const struct metric_view *v;
	bool own = true;

	for (size_t i = 0; (v = metric_view_at(i)); i++)
		own = own && strcmp(v->instrument, instrument) != 0;
	for (size_t i = 0; i < m->job_count; i++) {
		v = m->jobs[i].view;
		if (own ? v == &m->jobs[i].own_view : !strcmp(v->instrument, instrument))
			return true;
	}
	return false;
}

/* Notes about the parts that these instruments could not measure; json NULL: to stderr. */
static void show_notes(const struct metric_jobs *m, struct json_writer *json)
{
	const char *line = m->notes ? m->notes : "";
	char name[METRIC_NAME_BYTES];
	size_t bytes;

	for (; *line; line += bytes + (line[bytes] == '\n')) {
		bytes = strcspn(line, "\n");
		if (!metric_format_note(line, name) || !is_shown(m, name))
			continue;
		if (json)
			json_writer_text(json, NULL, line, bytes);
		else
			message_note("%.*s", (int)bytes, line);
	}
}

static void begin_json(const struct metric_jobs *m, struct json_writer *json)
{
	json_writer_begin(json, NULL);
	json_writer_u64(json, "schema", 1);
	json_writer_u64(json, "lost", m->rows->lost);
	json_writer_begin_array(json, "notes");
	show_notes(m, json);
	json_writer_end_array(json);
	json_writer_begin_array(json, "tables");
}

static void end_json(struct json_writer *json)
{
	json_writer_line(json, 0);
	json_writer_end_array(json);
	json_writer_end(json);
}

int metric_jobs_show(const struct metric_jobs *m)
{
	struct json_writer json = { .to = stdout, .layout = JSON_WRITER_SPACED };
	enum metric_form form = m->ask->form;
	bool first = true;
	int err = 0;

	if (form == METRIC_JSON_FORM)
		begin_json(m, &json);
	else
		show_notes(m, NULL);
	for (size_t i = 0; i < m->job_count && !err; i++) {
		const struct job *j = &m->jobs[i];

		if (form == METRIC_CSV_FORM && i)
			putchar('\n');
		for (size_t k = 0; k < j->sum_count && !err; k++) {
			err = put_sum(m, j, &j->sums[k], form == METRIC_CSV_FORM ? !k : first,
				      &json);
			first = false;
		}
	}
	if (form == METRIC_JSON_FORM)
		end_json(&json);
	if (m->rows->lost)
		message_note("%" PRIu64 " events found no room in the tables and are missing",
			     m->rows->lost);
	if (m->rows->broken)
		message_note("%" PRIu64 " rows of the tables could not be read", m->rows->broken);
	return err ? message_error("cannot show '%s': %s", m->ask->from, strerror(-err))
		   : MESSAGE_OK;
}

bool metric_jobs_want_symbols(const struct metric_jobs *m)
{
	for (size_t i = 0; i < m->job_count; i++) {
		if (m->jobs[i].table->has_symbol || m->jobs[i].table->has_function)
			return true;
	}
	return false;
}

bool metric_jobs_want_cgroups(const struct metric_jobs *m)
{
	bool wanted = false;

	for (size_t i = 0; i < m->job_count; i++) {
		for (size_t k = 0; k < m->jobs[i].by_count; k++)
			wanted |= !strcmp(m->jobs[i].by[k]->fields[0], "cgroup");
	}
	return wanted;
}

void metric_jobs_clear(struct metric_jobs *m)
{
	for (size_t i = 0; i < m->job_count; i++) {
		for (size_t k = 0; k < m->jobs[i].sum_count; k++)
			metric_aggregate_done(&m->jobs[i].sums[k]);
		m->jobs[i].sum_count = 0;
	}
}

void metric_jobs_done(struct metric_jobs *m)
{
	metric_jobs_clear(m);
	for (size_t i = 0; i < m->job_count; i++) {
		hash_index_done(&m->jobs[i].by_interval);
		free(m->jobs[i].sums);
	}
	m->job_count = 0;
	containers_done(&m->containers);
}
