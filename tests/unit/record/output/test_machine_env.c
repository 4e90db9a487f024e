/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/machine_env.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fileroot.h"

struct machine {
	char root[FILEROOT_BYTES];
	struct machine_env env;
};

static void put(const struct machine *m, const char *path, const char *text)
{
	fileroot_put(m->root, path, text);
}

static void machine_make(struct machine *m)
{
	*m = (struct machine){ .root = "" };
	fileroot_make(m->root);
}

static void machine_done(struct machine *m)
{
	machine_env_done(&m->env);
	fileroot_done(m->root);
}

static void hostenv_reads_a_machine_of_two_nodes(void **state)
{
	struct machine m;
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };

	machine_make(&m);
	put(&m, "proc/70001/status", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-1,3\n");
	put(&m, "proc/70001/cgroup", "0::/a\\x2db\n");
	put(&m, "proc/self/status", "Cpus_allowed_list:\t7\n");
	put(&m, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put(&m, "sys/devices/system/cpu/smt/active", "1\n");
	put(&m, "sys/devices/system/node/node10/meminfo", "Node 10 MemTotal:  32768 kB\n");
	put(&m, "sys/devices/system/node/node10/distance", "21 10\n");
	put(&m, "sys/devices/system/node/node0/meminfo",
	    "\nNode 0 MemTotal:       65536 kB\nNode 0 MemFree: 1 kB\n");
	put(&m, "sys/devices/system/node/node0/distance", "10 21\n");
	put(&m, "sys/devices/system/node/online", "0,10\n");
	put(&m, "sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "powersave\n");
	put(&m, "sys/devices/system/cpu/cpu11/cpufreq/scaling_cur_freq", "800000\n");
	put(&m, "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
	put(&m, "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2400000\n");
	put(&m, "sys/devices/system/cpu/cpu3/online", "1\n");
	put(&m, "sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	assert_int_equal(machine_env_read(m.root, 70001, &m.env), 0);
	assert_string_equal(m.env.affinity, "0-1,3");
	assert_string_equal(m.env.cgroup, "0::/a\\x2db");
	assert_string_equal(m.env.thp, "always [madvise] never");
	assert_string_equal(m.env.smt_active, "1");
	assert_int_equal(m.env.node_count, 2);
	assert_int_equal(m.env.node[0].memory_bytes, 65536 << 10);
	assert_int_equal(m.env.node[1].id, 10);
	assert_string_equal(m.env.node[1].distances, "21 10");
	assert_int_equal(m.env.freq_count, 2);
	assert_int_equal(m.env.freq[0].cpu, 2);
	assert_int_equal(m.env.freq[1].khz, 800000);
	json_writer_begin(&j, NULL);
	machine_env_json(&m.env, &j);
	json_writer_end(&j);
	assert_true(outbuf_ok(&out));
	assert_non_null(strstr((char *)out.data, "\"affinity\": \"0-1,3\""));
	outbuf_done(&out);
	machine_env_done(&m.env);
	assert_int_equal(machine_env_read(m.root, 0, &m.env), 0);
	assert_string_equal(m.env.affinity, "7");
	machine_done(&m);
}

static void hostenv_of_an_empty_machine_is_empty(void **state)
{
	struct machine m;

	machine_make(&m);
	assert_int_equal(machine_env_read(m.root, 1, &m.env), 0);
	assert_string_equal(m.env.affinity, "");
	assert_string_equal(m.env.cgroup, "");
	assert_string_equal(m.env.thp, "");
	assert_string_equal(m.env.smt_active, "");
	assert_int_equal(m.env.node_count, 0);
	assert_int_equal(m.env.freq_count, 0);
	machine_done(&m);
}

static void hostenv_of_broken_files_has_no_numbers(void **state)
{
	struct machine m;

	machine_make(&m);
	put(&m, "proc/self/status", "Cpus_allowed_list");
	put(&m, "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: much");
	put(&m, "sys/devices/system/node/node/meminfo", "");
	put(&m, "sys/devices/system/node/node99999999999/meminfo", "");
	put(&m, "sys/devices/system/node/node1x/meminfo", "");
	put(&m, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
	put(&m, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000\n");
	assert_int_equal(machine_env_read(m.root, 0, &m.env), 0);
	assert_string_equal(m.env.affinity, "");
	assert_int_equal(m.env.node_count, 1);
	assert_int_equal(m.env.node[0].memory_bytes, 0);
	assert_string_equal(m.env.node[0].distances, "");
	for (size_t i = 0; i < m.env.freq_count; i++)
		assert_int_equal(m.env.freq[i].khz, 0);
	machine_done(&m);
}

static void hostenv_knows_this_machine(void **state)
{
	struct machine_env h;

	assert_int_equal(machine_env_read("", 0, &h), 0);
	assert_true(h.affinity[0]);
	machine_env_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostenv_reads_a_machine_of_two_nodes),
		cmocka_unit_test(hostenv_of_an_empty_machine_is_empty),
		cmocka_unit_test(hostenv_of_broken_files_has_no_numbers),
		cmocka_unit_test(hostenv_knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
