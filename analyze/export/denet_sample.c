/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/denet_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/denet.h"
#include "analyze/export/denet_env.h"
#include "analyze/input/capture_meta.h"
#include "analyze/metric/syscall/names.h"
#include "analyze/metric/aggregate.h"
#include "analyze/metric/syscall/category.h"
#include "format/base/vec.h"

#define TOP_CALLS  10
#define CATEGORIES 16

enum of { OF_CALLS, OF_PROCESSES, OF_INTERFACES, OF_CPUS, OF_PRESSURE, OF_COUNT };

/* By what the rows of each table are added up. */
static const struct {
	const char *table, *keys[2];
	bool keys_are_texts;
} tables[OF_COUNT] = {
	[OF_CALLS] = { "syscalls", { "nr", "abi" }, false },
	[OF_PROCESSES] = { "counters_process", { "pid", NULL }, false },
	[OF_INTERFACES] = { "counters_net", { "device", NULL }, true },
	[OF_CPUS] = { "pmu", { NULL, NULL }, false },
	[OF_PRESSURE] = { "counters_pressure", { "resource", NULL }, true },
};

struct sample {
	struct metric_aggregate sums[OF_COUNT]; /* table NULL: the capture has none */
	uint64_t interval;                      /* by intervals: which one */
	uint64_t from_ns, to_ns;
};

struct maker {
	const struct capture *c;
	struct string_table *names;
	struct metric_rows rows;
	const struct metric_table *has[OF_COUNT];
	bool intervals;
	struct sample *samples;
	size_t count, capacity;
	struct hash_index by_interval; /* interval -> its sample */
	uint64_t start_ns;
	uint32_t pid; /* of the process that is asked for, or was recorded; 0: there are several */
};

/* ---- rows ---- */

static uint32_t key_slot(const struct metric_table *t, enum of of, size_t key)
{
	return tables[of].keys_are_texts ? metric_rows_text_slot(t, tables[of].keys[key])
					 : metric_rows_number_slot(t, tables[of].keys[key]);
}

static void begin_sample(const struct maker *m, struct sample *s)
{
	uint32_t keys[2];
	size_t count;

	*s = (struct sample){ 0 };
	for (int i = 0; i < OF_COUNT; i++) {
		if (!m->has[i])
			continue;
		for (count = 0; count < 2 && tables[i].keys[count]; count++)
			keys[count] = key_slot(m->has[i], (enum of)i, count);
		metric_aggregate_init(&s->sums[i], m->has[i], keys, count, false);
	}
}

static int add_sample(struct maker *m, uint64_t interval, struct sample **out)
{
	if (vec_reserve(&m->samples, &m->capacity, m->count + 1))
		return -ENOMEM;
	*out = &m->samples[m->count++];
	begin_sample(m, *out);
	(*out)->interval = interval;
	return 0;
}

/* The capture may have intervals with large gaps: only those that have rows take memory. */
static int sample_of(struct maker *m, const struct metric_row *r, struct sample **out)
{
	uint64_t interval = m->intervals ? r->slots[r->table->interval] : 0, hash;
	uint32_t pos, id;
	int err;

	if (hash_index_reserve(&m->by_interval))
		return -ENOMEM;
	hash = hash_index_pair(&m->by_interval, interval, 0);
	pos = hash_index_start(&m->by_interval, hash);
	while ((id = hash_index_match(&m->by_interval, hash, &pos)) != HASH_INDEX_NONE) {
		*out = &m->samples[id];
		if ((*out)->interval == interval)
			return 0;
	}
	err = add_sample(m, interval, out);
	if (!err)
		hash_index_put(&m->by_interval, hash, pos, (uint32_t)(m->count - 1));
	return err;
}

static int on_row(void *ctx, const struct metric_row *r)
{
	struct maker *m = ctx;
	struct sample *s;
	int err;

	for (int i = 0; i < OF_COUNT; i++) {
		if (r->table != m->has[i])
			continue;
		err = sample_of(m, r, &s);
		if (err)
			return err;
		/* NOLINTNEXTLINE: sample_of() began it, now or before */
		if (!s->to_ns || r->since_ns < s->from_ns)
			s->from_ns = r->since_ns;
		if (r->time_ns > s->to_ns)
			s->to_ns = r->time_ns;
		if (!m->start_ns || r->since_ns < m->start_ns)
			m->start_ns = r->since_ns;
		return metric_aggregate_add(&s->sums[i], r);
	}
	return 0;
}

#define ALL  SIZE_MAX
#define NONE SIZE_MAX

/* One group of a table, or ALL together; false: it has no such field. */
static bool total(const struct metric_aggregate *s, size_t group, const char *field, uint64_t *out)
{
	uint32_t slot = s->table ? metric_rows_number_slot(s->table, field) : METRIC_ROWS_NONE;
	uint64_t sum = 0;

	if (slot == METRIC_ROWS_NONE)
		return false;
	for (size_t i = group == ALL ? 0 : group; i < s->count && (group == ALL || i == group); i++)
		sum += metric_aggregate_slots(s, i)[slot];
	*out = sum;
	return true;
}

static uint64_t number_of(const struct metric_aggregate *s, size_t group, const char *field)
{
	uint64_t n = 0;

	(void)total(s, group, field, &n);
	return n;
}

static const char *text_of(const struct maker *m, const struct metric_aggregate *s, size_t group,
			   const char *field)
{
	uint32_t slot = metric_rows_text_slot(s->table, field);

	return slot == METRIC_ROWS_NONE
		       ? ""
		       : string_table_text(m->names,
					   (uint32_t)metric_aggregate_slots(s, group)[slot]);
}

/* ---- counters ---- */

/* Writes the usage of one process, or of ALL. */
static void put_usage(struct json_writer *j, const struct sample *s, size_t process)
{
	static const struct {
		const char *name, *field;
		uint64_t divide_by;
	} numbers[] = {
		{ "mem_rss_kb", "now_rss_bytes", 1024 },
		{ "mem_vms_kb", "now_size_bytes", 1024 },
		{ "disk_read_bytes", "read_bytes", 1 },
		{ "disk_write_bytes", "write_bytes", 1 },
		{ "syscall_read_bytes", "call_read_bytes", 1 },
		{ "syscall_write_bytes", "call_write_bytes", 1 },
		{ "page_faults_cached", "minor", 1 },
		{ "page_faults_disk", "major", 1 },
	};
	const struct metric_aggregate *p = &s->sums[OF_PROCESSES];
	uint64_t user = 0, system = 0, elapsed = s->to_ns - s->from_ns, n;

	(void)total(p, process, "user_ns", &user);
	(void)total(p, process, "system_ns", &system);
	json_writer_number(j, "cpu_usage", "%.2f",
			   elapsed ? 100.0 * (double)(user + system) / (double)elapsed : 0.0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (total(p, process, numbers[i].field, &n))
			json_writer_u64(j, numbers[i].name, n / numbers[i].divide_by);
	}
}

/* Percent of the time in which some, or all, waited for memory; the kernel's avg10 is of 10 s. */
static void put_pressure(struct json_writer *j, const struct maker *m, const struct sample *s)
{
	const struct metric_aggregate *p = &s->sums[OF_PRESSURE];
	double elapsed = (double)(s->to_ns - s->from_ns);
	uint64_t some, full;

	for (size_t i = 0; p->table && elapsed > 0 && i < p->count; i++) {
		if (strcmp(text_of(m, p, i, "resource"), "memory") != 0 ||
		    !total(p, i, "some_ns", &some) || !total(p, i, "full_ns", &full))
			continue;
		json_writer_begin(j, "psi_mem");
		json_writer_number(j, "some_avg10", "%.2f", 100.0 * (double)some / elapsed);
		json_writer_number(j, "full_avg10", "%.2f", 100.0 * (double)full / elapsed);
		json_writer_end(j);
	}
}

/* Interfaces but the one that talks to itself. */
static void put_net(struct json_writer *j, const struct maker *m, const struct metric_aggregate *s)
{
	uint32_t rx, tx;
	uint64_t rx_bytes = 0, tx_bytes = 0;
	const uint64_t *slots;

	if (!s->table)
		return;
	rx = metric_rows_number_slot(s->table, "rx_bytes");
	tx = metric_rows_number_slot(s->table, "tx_bytes");
	for (size_t i = 0; i < s->count && rx != METRIC_ROWS_NONE && tx != METRIC_ROWS_NONE; i++) {
		slots = metric_aggregate_slots(s, i);
		if (!strcmp(text_of(m, s, i, "device"), "lo"))
			continue;
		rx_bytes += slots[rx];
		tx_bytes += slots[tx];
	}
	json_writer_u64(j, "sys_net_rx_bytes", rx_bytes);
	json_writer_u64(j, "sys_net_tx_bytes", tx_bytes);
}

static void put_uptime(struct json_writer *j, const struct maker *m, const struct sample *s)
{
	json_writer_u64(j, "uptime_secs", (s->to_ns - m->start_ns) / 1000000000);
}

/* A process is there when it has threads at the end of the interval. */
static void put_processes(struct json_writer *j, const struct maker *m, const struct sample *s)
{
	const struct metric_aggregate *p = &s->sums[OF_PROCESSES];
	uint64_t threads = 0, processes = 0, n;

	for (size_t i = 0; i < p->count && total(p, i, "now_threads", &n); i++) {
		threads += n;
		processes += n != 0;
	}
	json_writer_u64(j, "thread_count", threads);
	json_writer_u64(j, "process_count", processes);
	put_uptime(j, m, s);
}

static void put_perf(struct json_writer *j, const struct metric_aggregate *s)
{
	static const char *const names[][2] = { { "cycles", "cycles" },
						{ "instructions", "instructions" },
						{ "cache_refs", "cache_references" },
						{ "cache_misses", "cache_misses" },
						{ "stalled_backend", "stalled_cycles_backend" } };
	uint64_t n;

	if (!total(s, ALL, "cycles", &n))
		return;
	json_writer_begin(j, "perf");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (total(s, ALL, names[i][1], &n))
			json_writer_u64(j, names[i][0], n);
	json_writer_end(j);
}

/* ---- system calls ---- */

struct call {
	uint64_t count;
	uint32_t nr;
	uint64_t abi;
};

static int by_count(const void *va, const void *vb)
{
	const struct call *a = va, *b = vb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->abi != b->abi)
		return a->abi < b->abi ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static void put_categories(struct json_writer *j, const struct call *calls, size_t count,
			   uint64_t sums[CATEGORIES])
{
	const char *name;
	size_t k;

	for (size_t i = 0; i < count; i++) {
		name = metric_names_call(calls[i].nr, calls[i].abi);
		name = syscall_category_of(name ? name : "");
		for (k = 0; k + 1 < CATEGORIES && strcmp(syscall_category_at(k), name) != 0; k++)
			;
		sums[k] += calls[i].count;
	}
	json_writer_begin(j, "by_category");
	for (k = 0; syscall_category_at(k); k++)
		if (sums[k])
			json_writer_u64(j, syscall_category_at(k), sums[k]);
	json_writer_end(j);
}

static double share(const uint64_t sums[CATEGORIES], const char *category, uint64_t all)
{
	for (size_t k = 0; all && syscall_category_at(k); k++) {
		if (!strcmp(syscall_category_at(k), category))
			return (double)sums[k] / (double)all;
	}
	return 0;
}

static void put_top_calls(struct json_writer *j, const struct call *calls, size_t count)
{
	char name[METRIC_NAMES_BYTES];

	json_writer_begin_array(j, "top_syscalls");
	for (size_t i = 0; i < count && i < TOP_CALLS && calls[i].count; i++) {
		metric_names_syscall(calls[i].nr, calls[i].abi, name);
		json_writer_begin(j, NULL);
		json_writer_string(j, "name", name);
		json_writer_u64(j, "count", calls[i].count);
		json_writer_end(j);
	}
	json_writer_end_array(j);
}

static void put_calls(struct json_writer *j, const struct call *calls, size_t count,
		      uint64_t elapsed_ns)
{
	uint64_t sums[CATEGORIES] = { 0 }, all = 0;

	for (size_t i = 0; i < count; i++)
		all += calls[i].count;
	json_writer_begin(j, "syscalls");
	json_writer_u64(j, "total", all);
	put_categories(j, calls, count, sums);
	put_top_calls(j, calls, count);
	json_writer_begin(j, "analysis");
	json_writer_number(j, "syscall_rate_per_sec", "%.3f",
			   elapsed_ns ? (double)all * 1e9 / (double)elapsed_ns : 0.0);
	json_writer_number(j, "io_intensity", "%.6f", share(sums, "file_io", all));
	json_writer_number(j, "memory_intensity", "%.6f", share(sums, "memory", all));
	json_writer_number(j, "cpu_intensity", "%.6f",
			   share(sums, "process", all) + share(sums, "time", all));
	json_writer_number(j, "network_intensity", "%.6f", share(sums, "network", all));
	json_writer_end(j);
	json_writer_end(j);
}

static int put_syscalls(struct json_writer *j, const struct sample *s)
{
	const struct metric_aggregate *sum = &s->sums[OF_CALLS];
	uint32_t nr = metric_rows_number_slot(sum->table, "nr"),
		 abi = metric_rows_number_slot(sum->table, "abi");
	uint32_t count = metric_rows_number_slot(sum->table, "count");
	struct call *calls = calloc(sum->count + 1, sizeof(*calls));
	const uint64_t *slots;

	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < sum->count; i++) {
		slots = metric_aggregate_slots(sum, i);
		calls[i].abi = slots[abi];
		calls[i].nr = (uint32_t)slots[nr];
		calls[i].count = slots[count];
	}
	qsort(calls, sum->count, sizeof(*calls), by_count);
	put_calls(j, calls, sum->count, s->to_ns - s->from_ns);
	free(calls);
	return 0;
}

/* ---- the document ---- */

/* On the wall clock, where the capture has it. */
static uint64_t milliseconds(const struct maker *m, uint64_t time_ns)
{
	uint64_t sample_ns, wall_ns;

	if (capture_clock(m->c, &sample_ns, &wall_ns))
		time_ns = time_ns - sample_ns + wall_ns;
	return time_ns / 1000000;
}

/* All that is asked for, together.  filter: of the off-CPU part; NULL: without. */
static int put_together(struct json_writer *j, const char *key, const struct maker *m,
			const struct sample *s, const struct filter *filter)
{
	int err = 0;

	json_writer_begin(j, key);
	json_writer_string(j, "kind", "aggregated");
	json_writer_u64(j, "ts_ms", milliseconds(m, s->to_ns));
	if (s->sums[OF_PROCESSES].table) {
		put_usage(j, s, ALL);
		put_net(j, m, &s->sums[OF_INTERFACES]);
		put_processes(j, m, s);
	}
	put_pressure(j, m, s);
	put_perf(j, &s->sums[OF_CPUS]);
	json_writer_begin(j, "ebpf");
	if (s->sums[OF_CALLS].table)
		err = put_syscalls(j, s);
	if (!err && filter)
		err = denet_put_offcpu(m->c, m->names, filter, j);
	json_writer_end(j);
	json_writer_end(j);
	return err == -ENODATA ? 0 : err;
}

static void put_metrics(struct json_writer *j, const char *key, const struct maker *m,
			const struct sample *s, size_t process)
{
	uint64_t threads = 0;

	(void)total(&s->sums[OF_PROCESSES], process, "now_threads", &threads);
	json_writer_begin(j, key);
	json_writer_u64(j, "ts_ms", milliseconds(m, s->to_ns));
	put_usage(j, s, process);
	put_net(j, m, &s->sums[OF_INTERFACES]);
	put_uptime(j, m, s);
	json_writer_u64(j, "thread_count", threads);
	json_writer_end(j);
}

/* One process of the tree. */
static void put_child(struct json_writer *j, const struct maker *m, const struct sample *s,
		      size_t process)
{
	const struct metric_aggregate *p = &s->sums[OF_PROCESSES];

	json_writer_begin(j, NULL);
	json_writer_u64(j, "pid", number_of(p, process, "pid"));
	json_writer_string(j, "command", text_of(m, p, process, "comm"));
	put_metrics(j, "metrics", m, s, process);
	json_writer_end(j);
}

/* The process that all others come from: the one that was recorded, else the only one without a parent here. */
static size_t root_of(const struct maker *m, const struct metric_aggregate *p)
{
	uint32_t pid = p->table ? metric_rows_number_slot(p->table, "pid") : METRIC_ROWS_NONE;
	uint32_t ppid = p->table ? metric_rows_number_slot(p->table, "is_ppid") : METRIC_ROWS_NONE;
	size_t root = NONE, k;

	for (size_t i = 0; pid != METRIC_ROWS_NONE && m->pid && i < p->count; i++) {
		if (metric_aggregate_slots(p, i)[pid] == m->pid)
			return i;
	}
	for (size_t i = 0; ppid != METRIC_ROWS_NONE && !m->pid && i < p->count; i++) {
		for (k = 0; k < p->count; k++) {
			if (metric_aggregate_slots(p, k)[pid] == metric_aggregate_slots(p, i)[ppid])
				break;
		}
		if (k < p->count)
			continue;
		if (root != NONE)
			return NONE;
		root = i;
	}
	return root;
}

static int put_tree(struct json_writer *j, const struct maker *m, const struct sample *s)
{
	const struct metric_aggregate *p = &s->sums[OF_PROCESSES];
	size_t root = root_of(m, p);
	int err;

	json_writer_begin(j, NULL);
	json_writer_string(j, "kind", "tree");
	json_writer_u64(j, "ts_ms", milliseconds(m, s->to_ns));
	if (root == NONE)
		json_writer_null(j, "parent");
	else
		put_metrics(j, "parent", m, s, root);
	json_writer_begin_array(j, "children");
	for (size_t i = 0; p->table && i < p->count; i++)
		if (i != root)
			put_child(j, m, s, i);
	json_writer_end_array(j);
	err = put_together(j, "aggregated", m, s, NULL);
	json_writer_end(j);
	return err;
}

static void finish(struct sample *s)
{
	for (int i = 0; i < OF_COUNT; i++) {
		if (s->sums[i].table)
			metric_aggregate_finish(&s->sums[i]);
	}
}

static int by_interval(const void *va, const void *vb)
{
	const struct sample *a = va, *b = vb;

	return a->interval < b->interval ? -1 : a->interval > b->interval;
}

/* A line for the machine, one for what was recorded, and one an interval. */
static int put_stream(struct json_writer *j, struct maker *m)
{
	struct denet_env env = {
		.pid = m->pid,
		.start_ms = milliseconds(m, m->start_ns),
		.has_pressure = m->has[OF_PRESSURE],
		.has_counters = m->has[OF_CPUS],
	};
	int err = 0;

	denet_env_write(m->c, &env, j);
	if (m->count)
		qsort(m->samples, m->count, sizeof(*m->samples), by_interval);
	for (size_t i = 0; i < m->count && !err; i++) {
		if (!m->samples[i].to_ns)
			continue;
		finish(&m->samples[i]);
		err = put_tree(j, m, &m->samples[i]);
	}
	return err;
}

static int put_all(struct maker *m, const struct filter *filter, FILE *to)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_SPACED };
	struct sample none, *s = &none;
	int err;

	if (m->intervals) {
		err = put_stream(&j, m);
	} else {
		if (m->count)
			s = m->samples;
		else
			begin_sample(m, &none);
		finish(s);
		err = put_together(&j, NULL, m, s, filter);
	}
	return err ? err : ferror(to) ? -EIO : 0;
}

static void done(struct maker *m)
{
	for (size_t i = 0; i < m->count; i++) {
		for (int k = 0; k < OF_COUNT; k++)
			metric_aggregate_done(&m->samples[i].sums[k]);
	}
	free(m->samples);
	hash_index_done(&m->by_interval);
	metric_rows_done(&m->rows);
}

/* A table that lacks a key of ours is none of ours. */
static const struct metric_table *known(const struct metric_rows *rows, enum of of)
{
	const struct metric_table *t = metric_rows_find(rows, tables[of].table);

	if (!t || !t->is_interval)
		return NULL;
	for (size_t i = 0; i < 2 && tables[of].keys[i]; i++) {
		if (key_slot(t, of, i) == METRIC_ROWS_NONE)
			return NULL;
	}
	return of == OF_CALLS && metric_rows_number_slot(t, "count") == METRIC_ROWS_NONE ? NULL : t;
}

/* The only process that is asked for, or that --pid of the recorder named, or its command. */
static uint32_t process_of(const struct capture *c, const struct filter *f)
{
	struct capture_meta_value meta, pids, first;
	uint64_t pid = 0;

	if (f->pid_count && !f->not_pids)
		return f->pid_count == 1 ? f->pids[0] : 0;
	meta = capture_meta_read(c, EBX_META_START);
	pids = capture_meta_member(meta, "pids");
	first = capture_meta_first(pids);
	if (!capture_meta_is(meta, "system_wide", "false"))
		pid = 0;
	else if (!first.text)
		(void)capture_meta_number(meta, "command_pid", &pid);
	else if (capture_meta_number(first, NULL, &pid) && capture_meta_next(pids, first).text)
		pid = 0;
	capture_meta_free(meta);
	return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

int denet_sample_write(const struct capture *c, struct string_table *names,
		       const struct filter *filter, bool intervals, FILE *to)
{
	struct maker m = {
		.c = c, .names = names, .intervals = intervals, .pid = process_of(c, filter)
	};
	bool any = false;
	int err = metric_rows_open(c, &m.rows);

	if (err)
		return err;
	for (int i = 0; i < OF_COUNT; i++) {
		m.has[i] = known(&m.rows, (enum of)i);
		any |= m.has[i] != NULL;
	}
	err = any ? metric_rows_walk(&m.rows, names, filter, on_row, &m) : -ENODATA;
	if (!err && !intervals &&
	    m.count) { /* also intervals without a row of the chosen processes */
		m.samples[0].from_ns = m.rows.from_ns;
		m.samples[0].to_ns = m.rows.to_ns;
	}
	if (!err)
		err = put_all(&m, filter, to);
	done(&m);
	return err;
}
