/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/proc_counters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "record/base/u64map.h"
#include "record/metric/sysfs_power.h"
#include "format/os/slurp.h"

#define VALUES_MAX 16
#define KEY_BYTES  16
#define NONE       UINT32_MAX

enum counter_table {
	OF_CPU,
	OF_MEMORY,
	OF_PRESSURE,
	OF_DISK,
	OF_INTERFACE,
	OF_PROCESS,
	OF_ENERGY,
	OF_BATTERY,
	TABLES
};

/* Places of values that not every machine has. */
enum { CPU_HZ = 8 };
enum { PROCESS_READ = 4, PROCESS_WRITE, PROCESS_CALL_READ, PROCESS_CALL_WRITE };
enum { BATTERY_PERCENT, BATTERY_ENERGY, BATTERY_POWER };

/* Keys are a text of KEY_BYTES, or a u32; of processes a comm comes before the values. */
static const struct {
	const char *name, *key;
	bool key_is_number, has_comm;
	const char *values[VALUES_MAX];
} kinds[TABLES] = {
	[OF_CPU] = { "counters_cpu",
		     "cpu",
		     true,
		     false,
		     { "user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns",
		       "softirq_ns", "steal_ns", "now_hz" } },
	[OF_MEMORY] = { "counters_memory",
			"memory",
			false,
			false,
			{ "now_total_bytes", "now_free_bytes", "now_available_bytes",
			  "now_buffers_bytes", "now_cached_bytes", "now_dirty_bytes",
			  "now_writeback_bytes", "now_slab_bytes", "now_swap_total_bytes",
			  "now_swap_free_bytes" } },
	[OF_PRESSURE] = { "counters_pressure", "resource", false, false, { "some_ns", "full_ns" } },
	[OF_DISK] = { "counters_disk",
		      "disk",
		      false,
		      false,
		      { "read_ios", "read_bytes", "read_ns", "write_ios", "write_bytes", "write_ns",
			"busy_ns" } },
	[OF_INTERFACE] = { "counters_net",
			   "device",
			   false,
			   false,
			   { "rx_bytes", "rx_packets", "rx_errors", "rx_drops", "tx_bytes",
			     "tx_packets", "tx_errors", "tx_drops" } },
	[OF_PROCESS] = { "counters_process",
			 "pid",
			 true,
			 true,
			 { "user_ns", "system_ns", "minor", "major", "read_bytes", "write_bytes",
			   "call_read_bytes", "call_write_bytes", "now_rss_bytes", "now_size_bytes",
			   "now_threads", "is_ppid" } },
	[OF_ENERGY] = { "counters_energy", "zone", false, false, { "energy_uj" } },
	[OF_BATTERY] = { "counters_battery",
			 "battery",
			 false,
			 false,
			 { "now_percent", "now_energy_uwh", "now_power_uw", "now_discharging" } },
};

struct earlier {
	uint64_t values[VALUES_MAX];
};

struct proc_counters {
	struct metric_tables *tabs;
	const struct targets *targets;
	int root_fd;
	uint32_t number[TABLES];  /* of each table; NONE: it is left out */
	uint32_t lacking[TABLES]; /* a bit for each value that this machine has not got */
	size_t value_count[TABLES];
	struct u64map index[TABLES]; /* key -> place in earlier */
	struct earlier *earlier[TABLES];
	size_t earlier_count[TABLES], earlier_room[TABLES];
	struct outbuf text;
	uint64_t ns_a_tick, page_bytes;
	/* While rows are written: */
	struct row_queue *rows; /* NULL: only remembers */
	uint32_t interval;
	uint64_t since_ns;
	int err;
};

/* ---- tables ---- */

static void no_zone(void *ctx, const struct sysfs_power_zone *z)
{
	(void)ctx;
	(void)z;
}

static void see_battery(void *ctx, const struct sysfs_power_battery *b)
{
	uint32_t *lacking = ctx;

	*lacking &= ~((uint32_t)b->has_percent << BATTERY_PERCENT |
		      (uint32_t)b->has_energy << BATTERY_ENERGY |
		      (uint32_t)b->has_power << BATTERY_POWER);
}

/* A counter that this machine lacks has no table and no column, rather than zeros. */
static void see_what_is_there(struct proc_counters *c)
{
	uint64_t hz;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int of = 0; of < TABLES; of++)
		c->number[of] = 0;
	c->lacking[OF_CPU] = 1u << CPU_HZ;
	for (long cpu = 0; cpu < cpus && c->lacking[OF_CPU]; cpu++) {
		if (!sysfs_power_frequency(c->root_fd, (unsigned)cpu, &hz))
			c->lacking[OF_CPU] = 0;
	}
	if (faccessat(c->root_fd, "proc/self/io", F_OK, 0))
		c->lacking[OF_PROCESS] = 1u << PROCESS_READ | 1u << PROCESS_WRITE |
					 1u << PROCESS_CALL_READ | 1u << PROCESS_CALL_WRITE;
	if (!sysfs_power_zones(c->root_fd, no_zone, NULL))
		c->number[OF_ENERGY] = NONE;
	c->lacking[OF_BATTERY] = 1u << BATTERY_PERCENT | 1u << BATTERY_ENERGY | 1u << BATTERY_POWER;
	if (!sysfs_power_batteries(c->root_fd, see_battery, &c->lacking[OF_BATTERY]))
		c->number[OF_BATTERY] = NONE;
}

static int add_table(struct proc_counters *c, enum counter_table of, struct event_attrs *attrs)
{
	struct metric_table *tab;
	int err = metric_tables_add(c->tabs, kinds[of].name, &tab);

	if (!err)
		err = metric_format_add(&tab->fmt, "since_ns", METRIC_UNSIGNED, 8, 1, true);
	if (!err)
		err = metric_format_add(&tab->fmt, "interval", METRIC_UNSIGNED, 4, 1, true);
	if (!err && kinds[of].key_is_number)
		err = metric_format_add(&tab->fmt, kinds[of].key, METRIC_UNSIGNED, 4, 1, true);
	else if (!err)
		err = metric_format_add(&tab->fmt, kinds[of].key, METRIC_TEXT, 1, KEY_BYTES, true);
	if (!err && kinds[of].has_comm)
		err = metric_format_add(&tab->fmt, "comm", METRIC_TEXT, 1, KEY_BYTES, false);
	for (size_t i = 0; i < VALUES_MAX && kinds[of].values[i] && !err; i++) {
		c->value_count[of]++;
		if (!(c->lacking[of] & 1u << i))
			err = metric_format_add(&tab->fmt, kinds[of].values[i], METRIC_UNSIGNED, 8,
						1, false);
	}
	if (!err)
		c->number[of] = (uint32_t)(tab - c->tabs->tab);
	return err ? err : metric_tables_describe(c->tabs, tab, attrs);
}

int proc_counters_new(struct metric_tables *tabs, struct event_attrs *attrs,
		      const struct targets *targets, const char *root, struct proc_counters **out)
{
	struct proc_counters *c = calloc(1, sizeof(*c));
	uint32_t first = tabs->count;
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->tabs = tabs;
	c->targets = targets;
	c->ns_a_tick = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
	c->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	c->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->root_fd < 0)
		err = -errno;
	else
		see_what_is_there(c);
	for (int of = 0; of < TABLES && !err; of++) {
		if (c->number[of] != NONE)
			err = add_table(c, (enum counter_table)of, attrs);
	}
	if (err) {
		metric_tables_cut(tabs, first, attrs);
		proc_counters_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void proc_counters_free(struct proc_counters *c)
{
	if (!c)
		return;
	for (int of = 0; of < TABLES; of++) {
		u64map_done(&c->index[of]);
		free(c->earlier[of]);
	}
	outbuf_done(&c->text);
	if (c->root_fd >= 0)
		close(c->root_fd);
	free(c);
}

/* ---- rows ---- */

/* The earlier values of a key; all zero for a new key.  NULL: no memory. */
static struct earlier *earlier_of(struct proc_counters *c, enum counter_table of, uint64_t a,
				  uint64_t b)
{
	uint32_t *at = u64map_get(&c->index[of], a, b);

	if (at)
		return &c->earlier[of][*at];
	if (vec_reserve(&c->earlier[of], &c->earlier_room[of], c->earlier_count[of] + 1) ||
	    u64map_put(&c->index[of], a, b, (uint32_t)c->earlier_count[of]))
		return NULL;
	c->earlier[of][c->earlier_count[of]] = (struct earlier){ 0 };
	return &c->earlier[of][c->earlier_count[of]++];
}

static void write_row(struct proc_counters *c, enum counter_table of, const char key[KEY_BYTES],
		      uint32_t number, const char *comm, const uint64_t *values)
{
	const struct metric_table *tab = &c->tabs->tab[c->number[of]];
	const struct metric_field *f = tab->fmt.fields;
	uint8_t raw[METRIC_ROW_MAX] = { 0 };

	le64_store(raw + f++->off_bytes, c->since_ns);
	le32_store(raw + f++->off_bytes, c->interval);
	if (kinds[of].key_is_number)
		le32_store(raw + f++->off_bytes, number);
	else
		memcpy(raw + f++->off_bytes, key, KEY_BYTES);
	if (kinds[of].has_comm)
		/* NOLINTNEXTLINE: whose rows have one gives it */
		memcpy(raw + f++->off_bytes, comm, KEY_BYTES);
	for (size_t i = 0; i < c->value_count[of]; i++) {
		if (!(c->lacking[of] & 1u << i))
			le64_store(raw + f++->off_bytes, values[i]);
	}
	row_queue_add(c->rows, c->number[of], raw + METRIC_ROW_OFF,
		      tab->fmt.row_bytes - METRIC_ROW_OFF);
}

/*
 * One thing that was read: key is a text, or a number; b distinguishes those with the same number.
 */
static void take(struct proc_counters *c, enum counter_table of, const char *text, uint32_t number,
		 uint64_t b, const char *comm, const uint64_t *values)
{
	char key[KEY_BYTES] = "";
	uint64_t grown[VALUES_MAX], a = number;
	struct earlier *earlier;

	if (text) {
		memcpy(key, text, strnlen(text, KEY_BYTES - 1));
		a = le64_load(key);
		b = le64_load(key + 8);
	}
	earlier = earlier_of(c, of, a, b);
	if (!earlier) {
		c->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < c->value_count[of]; i++) {
		if (!strncmp(kinds[of].values[i], "now_", 4) ||
		    !strncmp(kinds[of].values[i], "is_", 3))
			grown[i] = values[i];
		else /* some counts of the kernel go back a little */
			grown[i] = values[i] > earlier->values[i] ? values[i] - earlier->values[i]
								  : 0;
		earlier->values[i] = values[i];
	}
	if (c->rows && !c->err)
		write_row(c, of, key, number, comm, grown);
}

/* ---- what is read ---- */

static const char *read_file(struct proc_counters *c, int dir_fd, const char *path)
{
	outbuf_clear(&c->text);
	if (slurp_at(dir_fd, path, &c->text) || !c->text.size_bytes)
		return NULL;
	return (const char *)c->text.data;
}

/* Up to max numbers at text; returns how many. */
static size_t numbers(const char *text, uint64_t *out, size_t max)
{
	size_t count = 0;
	char *end;

	while (count < max) {
		while (*text == ' ')
			text++;
		if (*text < '0' || *text > '9')
			break;
		out[count++] = strtoull(text, &end, 10);
		text = end;
	}
	return count;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

static void take_cpus(struct proc_counters *c)
{
	const char *line = read_file(c, c->root_fd, "proc/stat");
	uint64_t values[VALUES_MAX];
	unsigned cpu;
	int used;

	for (; line && !strncmp(line, "cpu", 3); line = next_line(line)) {
		if (line[3] == ' ' || sscanf(line, "cpu%u%n", &cpu, &used) != 1 ||
		    numbers(line + used, values, 8) < 8)
			continue;
		for (int i = 0; i < 8; i++)
			values[i] *= c->ns_a_tick;
		values[CPU_HZ] = 0; /* of a CPU that has just gone */
		if (!c->lacking[OF_CPU])
			(void)sysfs_power_frequency(c->root_fd, cpu, &values[CPU_HZ]);
		take(c, OF_CPU, NULL, cpu, 0, NULL, values);
	}
}

static void take_memory(struct proc_counters *c)
{
	static const char *const names[] = { "MemTotal:",  "MemFree:", "MemAvailable:", "Buffers:",
					     "Cached:",    "Dirty:",   "Writeback:",    "Slab:",
					     "SwapTotal:", "SwapFree:" };
	const char *line = read_file(c, c->root_fd, "proc/meminfo");
	uint64_t values[VALUES_MAX] = { 0 };

	if (!line)
		return;
	for (; line; line = next_line(line)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (strncmp(line, names[i], strlen(names[i])) != 0)
				continue;
			numbers(line + strlen(names[i]), &values[i], 1);
			values[i] *= 1024;
		}
	}
	take(c, OF_MEMORY, "memory", 0, 0, NULL, values);
}

static void take_pressure(struct proc_counters *c)
{
	static const char *const names[] = { "cpu", "io", "memory", "irq" };
	char path[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t values[VALUES_MAX] = { 0 };
		const char *text, *total;

		snprintf(path, sizeof(path), "proc/pressure/%s", names[i]);
		text = read_file(c, c->root_fd, path);
		for (int which = 0; text && which < 2; which++) {
			const char *line = strstr(text, which ? "full " : "some ");

			total = line ? strstr(line, "total=") : NULL;
			if (total)
				values[which] = strtoull(total + 6, NULL, 10) * 1000;
		}
		if (text)
			take(c, OF_PRESSURE, names[i], 0, 0, NULL, values);
	}
}

/* Only disks: partitions are counted in them, too, but have no folder of their own. */
static void take_disks(struct proc_counters *c)
{
	const char *line = read_file(c, c->root_fd, "proc/diskstats");
	char name[32], path[64];
	uint64_t v[11];
	int used;

	for (; line; line = next_line(line)) {
		if (sscanf(line, " %*u %*u %31s%n", name, &used) != 1 ||
		    numbers(line + used, v, 11) < 11 || (!v[0] && !v[4]))
			continue;
		snprintf(path, sizeof(path), "sys/block/%s", name);
		if (faccessat(c->root_fd, path, F_OK, 0))
			continue;
		take(c, OF_DISK, name, 0, 0, NULL,
		     (uint64_t[VALUES_MAX]){ v[0], v[2] * 512, v[3] * 1000000, v[4], v[6] * 512,
					     v[7] * 1000000, v[9] * 1000000 });
	}
}

static void take_interfaces(struct proc_counters *c)
{
	const char *line = read_file(c, c->root_fd, "proc/net/dev");
	char name[32];
	uint64_t v[16];
	int used;

	for (; line; line = next_line(line)) {
		used = 0; /* and stays so without a colon: the lines above the table */
		if (sscanf(line, " %31[^:]:%n", name, &used) != 1 || !used ||
		    numbers(line + used, v, 16) < 16)
			continue;
		take(c, OF_INTERFACE, name, 0, 0, NULL,
		     (uint64_t[VALUES_MAX]){ v[0], v[1], v[2], v[3], v[8], v[9], v[10], v[11] });
	}
}

/* ---- power ---- */

/* The kernel's number goes back to 0 behind a range; ours grows on. */
static void take_zone(void *ctx, const struct sysfs_power_zone *z)
{
	enum { TOTAL, LAST }; /* of the earlier values */
	struct proc_counters *c = ctx;
	char key[KEY_BYTES] = "";
	uint64_t values[VALUES_MAX] = { 0 };
	struct earlier *earlier;

	memcpy(key, z->name, strnlen(z->name, KEY_BYTES - 1));
	earlier = earlier_of(c, OF_ENERGY, le64_load(key), le64_load(key + 8));
	if (!earlier) {
		c->err = -ENOMEM;
		return;
	}
	if (!earlier->values[TOTAL]) /* the first reading: the energy before it does not count */
		earlier->values[TOTAL] = 1;
	else if (z->energy_uj >= earlier->values[LAST])
		values[TOTAL] = z->energy_uj - earlier->values[LAST];
	else if (z->range_uj >= earlier->values[LAST])
		values[TOTAL] = z->range_uj - earlier->values[LAST] + z->energy_uj;
	earlier->values[LAST] = z->energy_uj;
	values[TOTAL] += earlier->values[TOTAL];
	take(c, OF_ENERGY, z->name, 0, 0, NULL, values);
}

static void take_battery(void *ctx, const struct sysfs_power_battery *b)
{
	take(ctx, OF_BATTERY, b->name, 0, 0, NULL,
	     (uint64_t[VALUES_MAX]){ b->percent, b->energy_uwh, b->power_uw, b->is_discharging });
}

static void take_power(struct proc_counters *c)
{
	if (c->number[OF_ENERGY] != NONE)
		sysfs_power_zones(c->root_fd, take_zone, c);
	if (c->number[OF_BATTERY] != NONE)
		sysfs_power_batteries(c->root_fd, take_battery, c);
}

/* ---- processes ---- */

/* The numbers of /proc/PID/stat from field first to last (3 is the state, which is none).  -EBADMSG. */
static int parse_stat(const char *text, char comm[16], unsigned first, unsigned last, uint64_t *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t bytes;
	char *end;

	/* The name may hold anything, also ") ": it ends at the last one. */
	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
		return -EBADMSG;
	bytes = (size_t)(close - open - 1);
	memset(comm, 0, 16);
	memcpy(comm, open + 1, bytes < 15 ? bytes : 15);
	text = close + 3;
	for (unsigned field = 4; field <= last; field++) {
		long long v;

		v = strtoll(text, &end, 10);
		if (end == text)
			return -EBADMSG;
		if (field >= first)
			*out++ = v > 0 ? (uint64_t)v : 0;
		text = end;
	}
	return 0;
}

static uint64_t io_number(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void take_process(struct proc_counters *c, int proc_fd, uint32_t pid)
{
	enum {
		PPID = 4,
		MINFLT = 10,
		MAJFLT = 12,
		UTIME = 14,
		STIME = 15,
		THREADS = 20,
		START = 22,
		SIZE = 23,
		RSS = 24
	};
	uint64_t v[RSS + 1] = { 0 };
	char path[32], comm[16];
	const char *text;

	snprintf(path, sizeof(path), "%u/stat", pid);
	text = read_file(c, proc_fd, path);
	if (!text || parse_stat(text, comm, PPID, RSS, v + PPID))
		return;
	snprintf(path, sizeof(path), "%u/io", pid);
	text = read_file(c, proc_fd, path);
	take(c, OF_PROCESS, NULL, pid, v[START], comm,
	     (uint64_t[VALUES_MAX]){ v[UTIME] * c->ns_a_tick, v[STIME] * c->ns_a_tick, v[MINFLT],
				     v[MAJFLT], io_number(text, "\nread_bytes: "),
				     io_number(text, "\nwrite_bytes: "), io_number(text, "rchar: "),
				     io_number(text, "\nwchar: "), v[RSS] * c->page_bytes, v[SIZE],
				     v[THREADS], v[PPID] });
}

/* This runs beside the thread that adds targets. */
static bool is_wanted(const struct targets *t, uint32_t pid)
{
	return t->map_fd >= 0 ? targets_has_now(t, pid) : targets_has(t, pid);
}

static void take_processes(struct proc_counters *c)
{
	int fd = openat(c->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *proc = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	unsigned long pid;
	char *end;

	if (!proc)
		return;
	while (!c->err && (d = readdir(proc))) {
		pid = strtoul(d->d_name, &end, 10);
		if (*d->d_name >= '1' && *d->d_name <= '9' && !*end && pid <= INT32_MAX &&
		    is_wanted(c->targets, (uint32_t)pid))
			take_process(c, dirfd(proc), (uint32_t)pid);
	}
	closedir(proc);
}

static int take_all(struct proc_counters *c)
{
	c->err = 0;
	take_cpus(c);
	take_memory(c);
	take_pressure(c);
	take_disks(c);
	take_interfaces(c);
	take_power(c);
	take_processes(c);
	return c->err;
}

int proc_counters_begin(struct proc_counters *c)
{
	c->rows = NULL;
	return take_all(c);
}

int proc_counters_take(struct proc_counters *c, uint32_t interval, uint64_t since_ns,
		       struct row_queue *q)
{
	c->rows = q;
	c->interval = interval;
	c->since_ns = since_ns;
	return take_all(c);
}
