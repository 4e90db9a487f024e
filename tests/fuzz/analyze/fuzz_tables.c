/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_tables - tables that look like an instrument's and are none, shown in each way
 *
 * The bytes choose tables by the names that ebprec knows, and for each its fields: names that mean
 * something, of any kind, size and count, now and then over one another; events that share an id, and
 * rows that are too short.  A capture is made of them, which one command shows.
 */
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "format/payload/metric_format.h"
#include "format/perf/trace_data.h"
#include "format/writer/writer.h"
#include "tests/fuzz/draw.h"

#define TABLES_MOST 6
#define EVENTS_MOST 80
#define ROWS_MOST   64
#define TEXT_MOST   8192
#define NAME_BYTES  64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Tables that are shown in a way of their own, those that denet's document is made from, and others. */
static const char *const table_names[] = {
	"own",
	"syscalls",
	"faults",
	"irq",
	"tcp_life",
	"counters_process",
	"counters_net",
	"counters_pressure",
	"counters_cpu",
	"counters_disk",
	"pmu",
	"exits",
	"block_slow",
	"runq",
	"runq_cpus",
	"syscall_errors",
	"tcp_connects",
	"net_sockets",
	"locks",
	"futex_holders",
	"counters_energy",
	"heap_held",
	"cache",
	"other",
};

/* The names that dimensions, views and denet's document ask for. */
static const char *const field_names[] = {
	"since_ns",
	"interval",
	"pid",
	"tid",
	"comm",
	"cgroup",
	"container",
	"category",
	"nr",
	"abi",
	"count",
	"errors",
	"total_ns",
	"max_ns",
	"hist_ns",
	"hist_bytes",
	"now_blocked",
	"now_threads",
	"is_ppid",
	"is_cpu",
	"is_policy",
	"is_exit_ns",
	"is_exit_code",
	"exited",
	"start_ns",
	"error",
	"family",
	"saddr_hi",
	"saddr_lo",
	"daddr_hi",
	"daddr_lo",
	"protocol",
	"kind",
	"memory",
	"zone",
	"battery",
	"resource",
	"device",
	"reason",
	"netns",
	"holder",
	"holder_comm",
	"disk",
	"op",
	"sync",
	"cpu",
	"irq_kind",
	"irq",
	"name",
	"address",
	"major",
	"minor",
	"read_ios",
	"write_ios",
	"other_ios",
	"unseen",
	"rx_bytes",
	"tx_bytes",
	"user_ns",
	"system_ns",
	"some_ns",
	"full_ns",
	"cycles",
	"instructions",
	"busy_ns",
	"idle_ns",
	"wait_ns",
	"took_ns",
	"now_rss_bytes",
	"now_size_bytes",
	"of_pid",
	"energy_uj",
	"a",
	"b",
	"max_",
	"now_",
};

struct field {
	char text[96]; /* its line in the format */
	uint32_t off, bytes;
	bool is_key;
	const char *name;
};

struct table {
	const char *name;
	uint32_t id, row_bytes;
	struct field fields[METRIC_FIELDS_MAX + 2];
	size_t field_count;
	char format[TEXT_MOST];
};

struct made {
	struct cursor in;
	struct table tables[TABLES_MOST];
	size_t table_count;
	size_t event_table[EVENTS_MOST];
	size_t event_count;
};

/* ---- formats ---- */

static void draw_field(struct made *m, struct table *t)
{
	static const uint16_t counts[] = { 1,  1,  1,  1,  1,   2,   4,    16,
					   40, 63, 64, 65, 200, 500, 1000, 1016 };
	struct field *f = &t->fields[t->field_count++];
	uint8_t how = cursor_u8(&m->in);
	uint32_t size = 1u << (how & 3), count, offset_bytes;
	char type = "uuuuussc"[how >> 2 & 7], array[16] = "";

	f->name = DRAW_OF(&m->in, field_names);
	f->is_key = how & 0x20;
	if ((how & 0xc0) ==
	    0xc0) /* one over others is as large as a row, so that together they are more */
		count = (METRIC_ROW_MAX - 2 * METRIC_ROW_OFF) / size - draw_below(&m->in, 4);
	else
		count = DRAW_OF(&m->in, counts);
	if (type == 'c')
		size = 1;
	f->off = (t->row_bytes + size - 1) & ~(size - 1);
	f->bytes = size * count;
	if ((how & 0xc0) == 0xc0)
		f->off = draw_rarely(&m->in, 8) ? (uint32_t)draw_number(&m->in)
						: METRIC_ROW_OFF + draw_below(&m->in, 16);
	offset_bytes = draw_rarely(&m->in, 32) ? (uint32_t)draw_number(&m->in) : f->bytes;
	if (count > 1 || type == 'c')
		snprintf(array, sizeof(array), "[%u]", count);
	if (type == 'c')
		snprintf(f->text, sizeof(f->text),
			 "\tfield:char %s%s;\toffset:%u;\tsize:%u;\tsigned:0;\n", f->name, array,
			 f->off, offset_bytes);
	else
		snprintf(f->text, sizeof(f->text),
			 "\tfield:%c%u %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, 8 * size,
			 f->name, array, f->off, offset_bytes, type == 's');
	if (f->off < METRIC_ROW_MAX && f->off + f->bytes <= METRIC_ROW_MAX &&
	    f->off + f->bytes > t->row_bytes)
		t->row_bytes = f->off + f->bytes;
}

/* The two fields that give rows an interval; most tables have them as they should be. */
static void add_interval(struct table *t)
{
	static const char *const names[] = { "since_ns", "interval" };

	for (uint32_t i = 0; i < 2; i++) {
		struct field *f = &t->fields[t->field_count++];

		*f = (struct field){
			.off = METRIC_ROW_OFF + 8 * i, .bytes = 8, .is_key = true, .name = names[i]
		};
		snprintf(f->text, sizeof(f->text),
			 "\tfield:u64 %s;\toffset:%u;\tsize:8;\tsigned:0;\n", f->name, f->off);
	}
	t->row_bytes = METRIC_ROW_OFF + 16;
}

static void put_words(FILE *to, const struct table *t, bool keys)
{
	for (size_t i = 0; i < t->field_count; i++) {
		if (t->fields[i].is_key == keys)
			fprintf(to, " %s=%%u", t->fields[i].name);
	}
}

static void draw_table(struct made *m)
{
	struct table *t = &m->tables[m->table_count];
	FILE *to = fmemopen(t->format, sizeof(t->format), "w");
	uint32_t count;

	*t = (struct table){ .name = DRAW_OF(&m->in, table_names), .row_bytes = METRIC_ROW_OFF };
	t->id = METRIC_FIRST_ID +
		(draw_rarely(&m->in, 16) ? draw_below(&m->in, 60) : (uint32_t)m->table_count);
	if (!draw_rarely(&m->in, 6))
		add_interval(t);
	count = draw_rarely(&m->in, 16) ? METRIC_FIELDS_MAX : 1 + draw_below(&m->in, 8);
	while (count-- && t->field_count < METRIC_FIELDS_MAX + 2)
		draw_field(m, t);
	if (!to)
		abort();
	fprintf(to, "name: %s\nID: %u\n%s", t->name, t->id, trace_data_common_fields());
	for (size_t i = 0; i < t->field_count; i++)
		fputs(t->fields[i].text, to);
	fputs("\nprint fmt: \"", to);
	put_words(to, t, true);
	fputs(" :", to);
	put_words(to, t, false);
	fputs("\"\n", to);
	fclose(to);
	m->event_table[m->event_count++] = m->table_count++;
}

/* ---- the capture ---- */

/* EVENT_DESC: each event with its name. */
static uint8_t *describe(const struct made *m, const struct writer_attr *attrs, size_t *bytes)
{
	const size_t each = sizeof(struct perf_event_attr) + 8 + NAME_BYTES + 8;
	uint8_t *out = calloc(1, 8 + m->event_count * each), *p = out + 8;

	if (!out)
		abort();
	le32_store(out, (uint32_t)m->event_count);
	le32_store(out + 4, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < m->event_count; i++, p += each) {
		struct perf_event_attr attr = attrs[i].attr;

		attr.size = sizeof(attr);
		memcpy(p, &attr, sizeof(attr));
		le32_store(p + sizeof(attr), 1);
		le32_store(p + sizeof(attr) + 4, NAME_BYTES);
		snprintf((char *)p + sizeof(attr) + 8, NAME_BYTES, "ebprec:%s",
			 m->tables[m->event_table[i]].name);
		le64_store(p + sizeof(attr) + 8 + NAME_BYTES, 1 + i);
	}
	*bytes = 8 + m->event_count * each;
	return out;
}

static void begin(const struct made *m, int fd, struct writer **w)
{
	struct writer_attr attrs[EVENTS_MOST];
	struct trace_data_event events[TABLES_MOST];
	uint64_t ids[EVENTS_MOST];
	struct writer_feature features[] = { { .bit = PERFFILE_TRACING_DATA },
					     { .bit = PERFFILE_EVENT_DESC } };
	const struct writer_opts opts = { .attrs = attrs,
					  .attr_count = m->event_count,
					  .features = features,
					  .feature_count = 2,
					  .clock_mono_ns = 1000,
					  .clock_wall_ns = 2000,
					  .level = 1 };
	uint8_t *section = NULL, *desc;

	for (size_t i = 0; i < m->event_count; i++) {
		ids[i] = 1 + i;
		attrs[i] = (struct writer_attr){
			.attr = { .type = PERF_TYPE_TRACEPOINT,
				  .config = m->tables[m->event_table[i]].id,
				  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
						 PERF_SAMPLE_TIME | PERF_SAMPLE_RAW },
			.ids = &ids[i],
			.id_count = 1,
		};
	}
	for (size_t i = 0; i < m->table_count; i++)
		events[i] = (struct trace_data_event){ "ebprec", m->tables[i].format };
	if (trace_data_build(events, m->table_count, "", &section, &features[0].size_bytes))
		abort();
	features[0].data = section;
	features[1].data = desc = describe(m, attrs, &features[1].size_bytes);
	if (writer_new(fd, &opts, w))
		abort();
	free(section);
	free(desc);
}

static void draw_row(struct made *m, struct writer *w)
{
	uint64_t record[(METRIC_ROW_MAX + 64) / 8] = { 0 };
	uint8_t *p = (uint8_t *)record, *raw = p + 36;
	size_t event = draw_below(&m->in, (uint32_t)m->event_count), size;
	const struct table *t = &m->tables[m->event_table[event]];
	uint64_t time_ns = 1000 + draw_number(&m->in), v;
	size_t raw_bytes = draw_rarely(&m->in, 16) ? draw_below(&m->in, t->row_bytes + 1)
						   : t->row_bytes;

	le64_store(p + 8, 1 + event);
	le32_store(p + 16, (uint32_t)draw_number(&m->in)); /* pid */
	le32_store(p + 20, (uint32_t)draw_number(&m->in)); /* tid */
	le64_store(p + 24, time_ns);
	le32_store(p + 32, (uint32_t)raw_bytes);
	le16_store(raw, (uint16_t)t->id);
	for (size_t i = 0; i < t->field_count; i++) {
		const struct field *f = &t->fields[i];

		v = draw_number(&m->in);
		if (f->off <= t->row_bytes && f->bytes <= t->row_bytes - f->off)
			memcpy(raw + f->off, &v, f->bytes < 8 ? f->bytes : 8);
	}
	size = (36 + raw_bytes + 7) & ~(size_t)7;
	le32_store(p, PERF_RECORD_SAMPLE);
	le16_store(p + 6, (uint16_t)size);
	if (writer_record(w, EBX_STREAM_METRIC, record, size, time_ns, 0))
		abort();
}

/* ---- what is shown ---- */

static void show(struct made *m, const char *path)
{
	static const char *const forms[] = { "--list", "--csv", "--json", "--json=denet",
					     "--histogram" };
	static const char *const bys[] = { "container",
					   "cgroup",
					   "comm",
					   "process",
					   "thread",
					   "exit",
					   "irq",
					   "syscall",
					   "category",
					   "error",
					   "op",
					   "ip",
					   "saddr",
					   "protocol",
					   "lock",
					   "ended",
					   "policy",
					   "result",
					   "process,container",
					   "comm,cgroup",
					   "cgroup,syscall",
					   "holder,irq" };
	const char *words[16] = { "metrics", "-i", path };
	uint8_t how = cursor_u8(&m->in);
	size_t count = 3;
	bool json = false;

	if (how >= 250) {
		draw_run(cmd_summary, (const char *[]){ "summary", "--json", "-i", path, NULL },
			 true);
		return;
	}
	if (how & 1) {
		words[count++] = DRAW_OF(&m->in, forms);
		json = !strncmp(words[count - 1], "--json", 6);
	}
	if ((how & 6) == 6) {
		words[count++] = "--by";
		words[count++] = how & 8 ? DRAW_OF(&m->in, bys) : DRAW_OF(&m->in, field_names);
	}
	if ((how & 0x30) == 0x30)
		words[count++] = "--interval";
	if ((how & 0x40) && json && !strchr(words[3], '='))
		words[count++] = "--histogram";
	if ((how & 0xc0) == 0xc0) {
		words[count++] = "--sort";
		words[count++] = DRAW_OF(&m->in, field_names);
	}
	if ((how & 0x18) == 0x18) {
		words[count++] = "--comm";
		words[count++] = "a";
	}
	words[count] = NULL;
	draw_run(cmd_metrics, words, json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct made *m = calloc(1, sizeof(*m));
	int fd = memfd_create("tables", MFD_CLOEXEC);
	struct writer *w = NULL;
	struct cursor shown;
	uint32_t count, again;
	char path[48];

	if (!m || fd < 0)
		abort();
	m->in = cursor_of(data, size_bytes);
	shown = cursor_of(cursor_bytes(&m->in, 4),
			  4); /* first, so that more rows change nothing else */
	if (!cursor_ok(&m->in))
		goto out;
	count = 1 + draw_below(&m->in, TABLES_MOST);
	while (m->table_count < count)
		draw_table(m);
	again = draw_rarely(&m->in, 8) ? draw_below(&m->in, EVENTS_MOST - TABLES_MOST) : 0;
	while (again--)
		m->event_table[m->event_count++] = draw_below(&m->in, (uint32_t)m->table_count);
	begin(m, fd, &w);
	for (int i = 0; i < ROWS_MOST && cursor_left(&m->in); i++)
		draw_row(m, w);
	if (writer_finish(w, NULL, 0))
		abort();
	writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	m->in = shown;
	show(m, path);
out:
	close(fd);
	free(m);
	return 0;
}
