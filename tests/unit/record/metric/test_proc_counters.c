/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Counters of a machine that is made of files: what this one has not got is there, too. */
#include "record/metric/proc_counters.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "record/metric/sysfs_power.h"
#include "tests/unit/fileroot.h"

struct machine {
	char root[FILEROOT_BYTES];
	struct metric_tables tabs;
	struct event_attrs attrs;
	struct targets targets;
	struct proc_counters *counters;
	struct row_queue rows;
	int err;
};

static void put(const struct machine *m, const char *path, const char *text)
{
	fileroot_put(m->root, path, text);
}

static void machine_make(struct machine *m)
{
	*m = (struct machine){ .root = "" };
	m->targets.all = true;
	m->targets.map_fd = -1;
	fileroot_make(m->root);
	put(m, "proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 1\n");
}

static void machine_begin(struct machine *m)
{
	m->err = proc_counters_new(&m->tabs, &m->attrs, &m->targets, m->root, &m->counters);
	assert_int_equal(m->err, 0);
	assert_int_equal(proc_counters_begin(m->counters), 0);
}

static void machine_take(struct machine *m, uint32_t interval)
{
	row_queue_clear(&m->rows);
	assert_int_equal(proc_counters_take(m->counters, interval, 1000, &m->rows), 0);
}

static void machine_done(struct machine *m)
{
	proc_counters_free(m->counters);
	row_queue_done(&m->rows);
	metric_tables_done(&m->tabs);
	event_attrs_done(&m->attrs);
	fileroot_done(m->root);
}

static const struct metric_table *table(const struct machine *m, const char *name)
{
	for (uint32_t i = 0; i < m->tabs.count; i++) {
		if (!strcmp(m->tabs.tab[i].fmt.name, name))
			return &m->tabs.tab[i];
	}
	return NULL;
}

/* How many rows the table has; *sum: of the field, of rows whose key begins with key. */
static unsigned rows_of(const struct machine *m, const char *name, const char *key,
			const char *field, uint64_t *sum)
{
	const struct metric_table *tab = table(m, name);
	const struct metric_field *f = tab ? metric_format_find(&tab->fmt, field) : NULL;
	const uint8_t *p = m->rows.rows.data, *end = p + m->rows.rows.size_bytes;
	uint8_t raw[METRIC_ROW_MAX];
	unsigned count = 0;

	*sum = 0;
	for (; tab && p && p < end; p += 8 + le32_load(p + 4)) {
		if (le32_load(p) != (uint32_t)(tab - m->tabs.tab))
			continue;
		memcpy(raw + METRIC_ROW_OFF, p + 8, le32_load(p + 4));
		if (strncmp((const char *)raw + tab->fmt.fields[2].off_bytes, key, strlen(key)) !=
		    0)
			continue;
		count++;
		if (f)
			*sum += metric_format_number(f, raw, sizeof(raw), 0);
	}
	return count;
}

static uint64_t value(const struct machine *m, const char *name, const char *key, const char *field)
{
	uint64_t sum;

	assert_non_null(table(m, name));
	assert_non_null(metric_format_find(&table(m, name)->fmt, field));
	assert_int_equal(rows_of(m, name, key, field, &sum), 1);
	return sum;
}

static void counters_of_a_machine_without_power_have_no_such_tables(void **state)
{
	struct machine m;

	machine_make(&m);
	put(&m, "sys/class/power_supply/AC/type", "Mains\n");
	put(&m, "sys/class/power_supply/mouse/type", "Battery\n");
	put(&m, "sys/class/power_supply/mouse/scope", "Device\n");
	put(&m, "sys/class/power_supply/mouse/capacity", "50\n");
	put(&m, "sys/class/powercap/intel-rapl/enabled", "1\n");
	put(&m, "sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
	put(&m, "sys/class/powercap/intel-rapl-mmio:0/energy_uj", "7\n");
	machine_begin(&m);
	assert_null(table(&m, "counters_energy"));
	assert_null(table(&m, "counters_battery"));
	assert_null(metric_format_find(&table(&m, "counters_cpu")->fmt, "now_hz"));
	assert_null(metric_format_find(&table(&m, "counters_process")->fmt, "read_bytes"));
	assert_non_null(metric_format_find(&table(&m, "counters_process")->fmt, "now_rss_bytes"));
	machine_take(&m, 0);
	machine_done(&m);
}

static void counters_have_the_frequency_of_each_cpu(void **state)
{
	struct machine m;
	uint64_t sum;

	machine_make(&m);
	put(&m, "proc/stat", "cpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 8\n");
	put(&m, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2700123\n");
	put(&m, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000\n");
	machine_begin(&m);
	put(&m, "proc/stat", "cpu0 11 2 3 4 5 6 7 8\ncpu1 1 2 3 9 5 6 7 8\n");
	machine_take(&m, 0);
	assert_int_equal(rows_of(&m, "counters_cpu", "", "now_hz", &sum), 2);
	assert_int_equal(sum, 3500123000);
	assert_int_equal(rows_of(&m, "counters_cpu", "", "user_ns", &sum), 2);
	assert_int_equal(sum, 10 * (1000000000 / sysconf(_SC_CLK_TCK)));
	put(&m, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unsupported>\n");
	machine_take(&m, 1);
	assert_int_equal(rows_of(&m, "counters_cpu", "", "now_hz", &sum), 2);
	assert_int_equal(sum, 2700123000);
	machine_done(&m);
}

static void counters_of_energy_go_on_where_the_kernels_wrap(void **state)
{
	struct machine m;

	machine_make(&m);
	put(&m, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "999990\n");
	put(&m, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000\n");
	put(&m, "sys/class/powercap/intel-rapl:0:2/name", "dram\n");
	put(&m, "sys/class/powercap/intel-rapl:0:2/energy_uj", "5\n");
	put(&m, "sys/class/powercap/intel-rapl:1/name", "psys\n"); /* root's alone, or gone */
	machine_begin(&m);
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "999997\n");
	machine_take(&m, 0);
	assert_int_equal(value(&m, "counters_energy", "package-0", "energy_uj"), 7);
	assert_int_equal(value(&m, "counters_energy", "dram-0", "energy_uj"), 0);
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "20\n");
	put(&m, "sys/class/powercap/intel-rapl:0:2/energy_uj", "18\n");
	put(&m, "sys/class/powercap/intel-rapl:1/energy_uj", "123456789\n");
	machine_take(&m, 1);
	assert_int_equal(value(&m, "counters_energy", "package-0", "energy_uj"), 23);
	assert_int_equal(value(&m, "counters_energy", "dram-0", "energy_uj"), 13);
	/* The time that it had used before the first look is not of this interval. */
	assert_int_equal(value(&m, "counters_energy", "psys", "energy_uj"), 0);
	put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "garbage\n");
	put(&m, "sys/class/powercap/intel-rapl:1/energy_uj", "123456799\n");
	machine_take(&m, 2);
	assert_int_equal(value(&m, "counters_energy", "psys", "energy_uj"), 10);
	machine_done(&m);
}

static void counters_of_batteries_have_the_values_of_the_driver(void **state)
{
	struct machine m;

	machine_make(&m);
	put(&m, "sys/class/power_supply/BAT0/type", "Battery\n");
	put(&m, "sys/class/power_supply/BAT0/status", "Discharging\n");
	put(&m, "sys/class/power_supply/BAT0/capacity", "83\n");
	put(&m, "sys/class/power_supply/BAT0/charge_now", "3000000\n");
	put(&m, "sys/class/power_supply/BAT0/voltage_now", "12000000\n");
	machine_begin(&m);
	machine_take(&m, 0);
	assert_int_equal(value(&m, "counters_battery", "BAT0", "now_percent"), 83);
	assert_int_equal(value(&m, "counters_battery", "BAT0", "now_energy_uwh"), 36000000);
	assert_int_equal(value(&m, "counters_battery", "BAT0", "now_discharging"), 1);
	assert_null(metric_format_find(&table(&m, "counters_battery")->fmt, "now_power_uw"));
	machine_done(&m);

	machine_make(&m);
	put(&m, "sys/class/power_supply/BAT1/type", "Battery\n");
	put(&m, "sys/class/power_supply/BAT1/energy_now", "50000000\n");
	put(&m, "sys/class/power_supply/BAT1/current_now", "-500000\n");
	put(&m, "sys/class/power_supply/BAT1/voltage_now", "10000000\n");
	machine_begin(&m);
	machine_take(&m, 0);
	assert_int_equal(value(&m, "counters_battery", "BAT1", "now_energy_uwh"), 50000000);
	assert_int_equal(value(&m, "counters_battery", "BAT1", "now_power_uw"), 5000000);
	assert_null(metric_format_find(&table(&m, "counters_battery")->fmt, "now_percent"));
	machine_done(&m);
}

static void counters_grow_by_what_was_added_in_the_interval(void **state)
{
	struct machine m;
	uint64_t sum;

	machine_make(&m);
	put(&m, "proc/self/io", "");
	put(&m, "proc/net/dev",
	    "Inter-|   Receive  | Transmit\n face |bytes packets\n"
	    "    lo: 100 2 0 0 0 0 0 0 100 2 0 0 0 0 0 0\n  eth0:7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n");
	put(&m, "proc/pressure/memory",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\nfull avg10=0 avg60=0 avg300=0 total=50\n");
	put(&m, "proc/diskstats",
	    " 254 0 vda 10 0 80 5 20 0 160 7 0 9 12\n 254 1 vda1 10 0 80 5 20 0 160 7 0 9 12\n");
	put(&m, "sys/block/vda/size", "1\n");
	put(&m, "proc/4711/stat",
	    "4711 (a) b) S 1 2 3 4 5 6 11 0 13 0 100 50 0 0 20 0 3 0 77 8192 5\n");
	put(&m, "proc/4711/io",
	    "rchar: 1000\nwchar: 2000\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n"
	    "cancelled_write_bytes: 0\n");
	machine_begin(&m);
	put(&m, "proc/net/dev",
	    "    lo: 103 3 0 0 0 0 0 0 103 3 0 0 0 0 0 0\n  eth0:1007 6 1 2 0 0 0 0 29 4 0 1 0 0 0 0\n");
	put(&m, "proc/pressure/memory", "some avg10=0 total=123\nfull avg10=0 total=50\n");
	put(&m, "proc/diskstats",
	    " 254 0 vda 13 0 104 8 21 0 176 9 0 10 12\n 254 1 vda1 13 0 104 8 21 0 176 9 0 10 12\n");
	put(&m, "proc/4711/stat",
	    "4711 (a) b) S 1 2 3 4 5 6 34 0 14 0 107 50 0 0 20 0 4 0 77 16384 6\n");
	put(&m, "proc/4711/io", "rchar: 1017\nwchar: 2000\nread_bytes: 8192\nwrite_bytes: 4096\n");
	machine_take(&m, 0);
	assert_int_equal(value(&m, "counters_net", "eth0", "rx_bytes"), 1000);
	assert_int_equal(value(&m, "counters_net", "eth0", "tx_drops"), 1);
	assert_int_equal(value(&m, "counters_net", "lo", "tx_packets"), 1);
	assert_int_equal(value(&m, "counters_pressure", "memory", "some_ns"), 23000);
	assert_int_equal(value(&m, "counters_pressure", "memory", "full_ns"), 0);
	assert_int_equal(rows_of(&m, "counters_disk", "", "read_bytes", &sum),
			 1); /* no partition */
	assert_int_equal(sum, 24 * 512);
	assert_int_equal(value(&m, "counters_disk", "vda", "write_ios"), 1);
	assert_int_equal(value(&m, "counters_process", "", "minor"), 23);
	assert_int_equal(value(&m, "counters_process", "", "major"), 1);
	assert_int_equal(value(&m, "counters_process", "", "user_ns"),
			 7 * (1000000000 / sysconf(_SC_CLK_TCK)));
	assert_int_equal(value(&m, "counters_process", "", "read_bytes"), 4096);
	assert_int_equal(value(&m, "counters_process", "", "call_read_bytes"), 17);
	assert_int_equal(value(&m, "counters_process", "", "now_size_bytes"), 16384);
	assert_int_equal(value(&m, "counters_process", "", "now_rss_bytes"),
			 6 * sysconf(_SC_PAGESIZE));
	assert_int_equal(value(&m, "counters_process", "", "now_threads"), 4);
	assert_int_equal(value(&m, "counters_process", "", "is_ppid"), 1);
	machine_done(&m);
}

static void counters_of_broken_files_are_none(void **state)
{
	static const char *const broken[] = {
		"",     "\n",          "cpu",  "cpu0",  "cpu0 1 2\n",  "4711 (", "4711 () S",
		"some", "some total=", "eth0", ": : :", "vda vda vda", "-1"
	};
	static const char *const paths[] = {
		"proc/stat",
		"proc/meminfo",
		"proc/diskstats",
		"proc/net/dev",
		"proc/pressure/io",
		"proc/4711/stat",
		"proc/4711/io",
		"sys/class/powercap/intel-rapl:0/name",
		"sys/class/powercap/intel-rapl:0/energy_uj",
		"sys/class/power_supply/BAT0/type",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"
	};
	struct machine m;

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		machine_make(&m);
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++)
			put(&m, paths[k], broken[i]);
		machine_begin(&m);
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++)
			put(&m, paths[k], k % 2 ? NULL : broken[(i + k) % 13]);
		machine_take(&m, 0);
		machine_done(&m);
	}
}

static void counters_need_a_root(void **state)
{
	struct metric_tables tabs = { 0 };
	struct event_attrs attrs = { 0 };
	struct targets targets = { .all = true, .map_fd = -1 };
	struct proc_counters *c = NULL;

	assert_int_equal(proc_counters_new(&tabs, &attrs, &targets, "/no/such/folder", &c),
			 -ENOENT);
	assert_null(c);
	assert_int_equal(tabs.count, 0);
	metric_tables_done(&tabs);
	event_attrs_done(&attrs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_a_machine_without_power_have_no_such_tables),
		cmocka_unit_test(counters_have_the_frequency_of_each_cpu),
		cmocka_unit_test(counters_of_energy_go_on_where_the_kernels_wrap),
		cmocka_unit_test(counters_of_batteries_have_the_values_of_the_driver),
		cmocka_unit_test(counters_grow_by_what_was_added_in_the_interval),
		cmocka_unit_test(counters_of_broken_files_are_none),
		cmocka_unit_test(counters_need_a_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
