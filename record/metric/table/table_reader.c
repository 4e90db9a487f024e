/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/table/table_reader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "record/metric/table/table_schema.h"
#include "format/base/foreign.h"

/* Entries at a time.  A bucket of a hash map is not divided: it has to fit. */
#define BATCH_ENTRIES 4096u

void metric_tables_done(struct metric_tables *t)
{
	free(t->keys);
	free(t->values);
	outbuf_done(&t->old);
	*t = (struct metric_tables){ 0 };
}

int metric_tables_add(struct metric_tables *t, const char *name, struct metric_table **out)
{
	struct metric_table *tab;

	if (t->count == METRIC_TABLES_MAX)
		return -EOVERFLOW;
	if (!metric_format_is_name(name))
		return -EINVAL;
	for (uint32_t i = 0; i < t->count; i++) {
		if (!strcmp(t->tab[i].fmt.name, name))
			return -EEXIST;
	}
	tab = &t->tab[t->count];
	*tab = (struct metric_table){ .map_fd = -1, .fmt.id = METRIC_FIRST_ID + t->count };
	memcpy(tab->fmt.name, name, strlen(name));
	t->count++;
	*out = tab;
	return 0;
}

int metric_tables_add_map(struct metric_tables *t, const struct bpf_object *obj,
			  const struct bpf_map *map, struct metric_table **out)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct metric_table *tab;
	int err;

	if (!btf || bpf_map__type(map) != BPF_MAP_TYPE_HASH || bpf_map__key_size(map) % 8 ||
	    bpf_map__value_size(map) % 8)
		return -EINVAL;
	err = metric_tables_add(t, bpf_map__name(map) + strlen("table_"), &tab);
	if (err)
		return err;
	tab->key_bytes = bpf_map__key_size(map);
	tab->value_bytes = bpf_map__value_size(map);
	err = metric_format_add(&tab->fmt, "since_ns", METRIC_UNSIGNED, 8, 1, true);
	if (!err)
		err = table_schema_fields(btf, t->kernel, bpf_map__btf_key_type_id(map),
					  METRIC_TABLE_HEAD_BYTES, true, &tab->fmt);
	if (!err)
		err = table_schema_fields(btf, t->kernel, bpf_map__btf_value_type_id(map),
					  METRIC_TABLE_HEAD_BYTES + tab->key_bytes, false,
					  &tab->fmt);
	if (!err && (tab->fmt.field_count < 2 || strcmp(tab->fmt.fields[1].name, "interval") != 0))
		err = -EINVAL;
	if (err) {
		t->count--;
		return err;
	}
	*out = tab;
	return 0;
}

int metric_tables_describe(struct metric_tables *t, struct metric_table *tab,
			   struct event_attrs *attrs)
{
	enum event_attrs_event event = (enum event_attrs_event)(ATTR_METRIC + (tab - t->tab));
	char name[METRIC_NAME_BYTES + 8], *format = metric_format_text(&tab->fmt);

	if (!format)
		return -ENOMEM;
	tab->pid = metric_format_find(&tab->fmt, "pid");
	tab->tid = metric_format_find(&tab->fmt, "tid");
	tab->cpu = metric_format_find(&tab->fmt, "cpu");
	tab->comm = metric_format_find(&tab->fmt, "comm");
	snprintf(name, sizeof(name), "ebprec:%s", tab->fmt.name);
	event_attrs_set_tracepoint(attrs, event, name, tab->fmt.id);
	event_attrs_set_format(attrs, event, format);
	return 0;
}

void metric_tables_cut(struct metric_tables *t, uint32_t count, struct event_attrs *attrs)
{
	for (; t->count > count; t->count--)
		event_attrs_unset(attrs, (enum event_attrs_event)(ATTR_METRIC + t->count - 1));
}

static uint32_t field_or(const struct metric_field *f, const uint8_t *raw, size_t raw_bytes,
			 uint32_t otherwise)
{
	return f ? (uint32_t)metric_format_number(f, raw, raw_bytes, 0) : otherwise;
}

/* The row may be of several processes: none of their names is that of all. */
static void name_foreign(const struct metric_table *tab, uint8_t *raw)
{
	if (!tab->comm || tab->comm->count < sizeof(FOREIGN_COMM))
		return;
	memset(raw + tab->comm->off_bytes, 0, tab->comm->count);
	memcpy(raw + tab->comm->off_bytes, FOREIGN_COMM, sizeof(FOREIGN_COMM));
}

int metric_tables_row(const struct metric_tables *t, uint32_t number, const void *fields,
		      const struct table_row *r, struct sink *e)
{
	const struct metric_table *tab = &t->tab[number];
	uint8_t raw[METRIC_ROW_MAX + 2 * STACK_RESULT_BYTES] = { 0 };
	struct sample_record rec = {
		.time_ns = r->time_ns,
		.period = r->weight,
		.raw = raw,
		.raw_bytes = metric_format_raw_bytes(&tab->fmt),
	};

	le16_store(raw, (uint16_t)tab->fmt.id);
	memcpy(raw + METRIC_ROW_OFF, fields, tab->fmt.row_bytes - METRIC_ROW_OFF);
	rec.pid = field_or(tab->pid, raw, sizeof(raw), r->pid);
	rec.tid = field_or(tab->tid, raw, sizeof(raw), tab->pid ? rec.pid : r->tid);
	rec.cpu = field_or(tab->cpu, raw, sizeof(raw), r->cpu);
	le32_store(raw + 4, rec.tid); /* common_pid */
	if (rec.pid == FOREIGN_PID)
		name_foreign(tab, raw);
	if (r->stack) {
		rec.kernel = r->stack->kernel;
		rec.kernel_count = r->stack->kernel_count;
		rec.user = r->stack->user;
		rec.user_count = r->stack->user_count;
		stack_result_encode(&r->stack->info, raw + rec.raw_bytes - STACK_RESULT_BYTES);
	}
	return sink_sample(e, (enum event_attrs_event)(ATTR_METRIC + number), &rec);
}

static int grow(uint8_t **buffer, size_t *room, size_t need)
{
	uint8_t *grown;

	if (*room >= need)
		return 0;
	grown = realloc(*buffer, need);
	if (!grown)
		return -ENOMEM;
	*buffer = grown;
	*room = need;
	return 0;
}

/* ---- rows that wait ---- */

enum { QUEUED_HEAD_BYTES = 8 };

void row_queue_clear(struct row_queue *q)
{
	outbuf_clear(&q->rows);
	q->at_bytes = 0;
}

void row_queue_done(struct row_queue *q)
{
	outbuf_done(&q->rows);
	q->at_bytes = 0;
}

void row_queue_add(struct row_queue *q, uint32_t table, const void *fields, uint32_t fields_bytes)
{
	outbuf_u32(&q->rows, table);
	outbuf_u32(&q->rows, fields_bytes);
	outbuf_add(&q->rows, fields, fields_bytes);
}

bool row_queue_is_empty(const struct row_queue *q)
{
	return q->at_bytes == q->rows.size_bytes;
}

int metric_tables_write(const struct metric_tables *t, struct row_queue *q, size_t most,
			uint64_t time_ns, struct sink *e)
{
	const struct table_row r = { .time_ns = time_ns, .weight = 1 };
	const uint8_t *row;
	int err = 0;

	for (; most && !err && !row_queue_is_empty(q); most--) {
		row = q->rows.data + q->at_bytes;
		err = metric_tables_row(t, le32_load(row), row + QUEUED_HEAD_BYTES, &r, e);
		q->at_bytes += QUEUED_HEAD_BYTES + le32_load(row + 4);
	}
	return err;
}

static void queue_entry(const struct metric_table *tab, uint32_t number, const uint8_t *key,
			const uint8_t *value, uint64_t since_ns, struct row_queue *q)
{
	uint8_t fields[METRIC_ROW_MAX];

	le64_store(fields, since_ns);
	memcpy(fields + 8, key, tab->key_bytes);
	memcpy(fields + 8 + tab->key_bytes, value, tab->value_bytes);
	row_queue_add(q, number, fields, tab->fmt.row_bytes - METRIC_ROW_OFF);
}

/* ---- intervals ---- */

/* A batch at a time: what was deleted one by one would cost a call each. */
static int delete_old(struct metric_tables *t, const struct metric_table *tab)
{
	size_t total = t->old.size_bytes / tab->key_bytes, done = 0;
	uint32_t count;

	while (done < total) {
		count = total - done < BATCH_ENTRIES ? (uint32_t)(total - done) : BATCH_ENTRIES;
		if (bpf_map_delete_batch(tab->map_fd, t->old.data + done * tab->key_bytes, &count,
					 NULL))
			return -errno;
		done += count;
	}
	return 0;
}

/* Queues an entry that was not read before, and has it taken out. */
static void take_entry(struct metric_tables *t, uint32_t number, const uint8_t *key,
		       const uint8_t *value, uint32_t interval, uint64_t since_ns,
		       struct row_queue *q)
{
	const struct metric_table *tab = &t->tab[number];
	uint32_t of = le32_load(key);

	if (of > interval)
		return;
	outbuf_add(&t->old, key, tab->key_bytes);
	if (of < tab->next_interval)
		return; /* read before, when it could not be taken out */
	if (of < interval && tab->next_since_ns)
		since_ns = tab->next_since_ns;
	queue_entry(tab, number, key, value, since_ns, q);
}

static int read_entries(struct metric_tables *t, uint32_t number, uint32_t interval,
			uint64_t since_ns, struct row_queue *q)
{
	const struct metric_table *tab = &t->tab[number];
	uint32_t token, count, *from = NULL;
	int err = 0;

	outbuf_clear(&t->old);
	while (!err) {
		count = BATCH_ENTRIES;
		if (bpf_map_lookup_batch(tab->map_fd, from, &token, t->keys, t->values, &count,
					 NULL))
			err = -errno;
		if (err && err != -ENOENT) /* ENOENT: the last batch */
			return err;
		from = &token;
		for (uint32_t i = 0; i < count; i++)
			take_entry(t, number, t->keys + (size_t)i * tab->key_bytes,
				   t->values + (size_t)i * tab->value_bytes, interval, since_ns, q);
	}
	return outbuf_ok(&t->old) ? 0 : -ENOMEM;
}

void metric_tables_postpone(struct metric_tables *t, uint32_t number, uint64_t since_ns, int err)
{
	struct metric_table *tab = &t->tab[number];

	tab->next_since_ns = tab->next_since_ns ? tab->next_since_ns : since_ns;
	tab->err = err;
}

int metric_tables_drain(struct metric_tables *t, uint32_t number, uint32_t interval,
			uint64_t since_ns, struct row_queue *q)
{
	struct metric_table *tab = &t->tab[number];
	size_t before_bytes = q->rows.size_bytes;
	int err;

	err = grow(&t->keys, &t->keys_room, (size_t)BATCH_ENTRIES * tab->key_bytes);
	if (!err)
		err = grow(&t->values, &t->values_room, (size_t)BATCH_ENTRIES * tab->value_bytes);
	if (!err)
		err = read_entries(t, number, interval, since_ns, q);
	if (err) {
		q->rows.size_bytes = before_bytes;
		metric_tables_postpone(t, number, since_ns, err);
		return err;
	}
	tab->next_interval = interval + 1;
	tab->next_since_ns = 0;
	tab->err = 0;
	return delete_old(t, tab);
}

uint64_t metric_tables_count_unread(const struct metric_tables *t, uint32_t number)
{
	const struct metric_table *tab = &t->tab[number];
	uint8_t key[METRIC_ROW_MAX], *from = NULL;
	uint64_t count = 0;

	while (!bpf_map_get_next_key(tab->map_fd, from, key)) {
		count += le32_load(key) >= tab->next_interval;
		from = key;
	}
	return count;
}
