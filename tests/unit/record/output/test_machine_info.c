/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/machine_info.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void same(char *got, const char *want)
{
	if (want)
		assert_string_equal(got ? got : "(none)", want);
	else
		assert_null(got);
	free(got);
}

static void hostinfo_reads_fields_of_cpuinfo(void **state)
{
	static const char text[] = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				   "model\t\t: 167\nmodel name\t: Intel(R) Xeon(R) Processor\n"
				   "stepping\t: 1\nempty\t:\nprocessor\t: 1\nmodel\t\t: 1\n";

	same(machine_info_field(text, "model"), "167");
	same(machine_info_field(text, "model name"), "Intel(R) Xeon(R) Processor");
	same(machine_info_field(text, "processor"), "0");
	same(machine_info_field(text, "empty"), "");
	same(machine_info_cpuid(text), "GenuineIntel,6,167,1");
}

static void hostinfo_misses_what_is_not_there(void **state)
{
	same(machine_info_field("", "model"), NULL);
	same(machine_info_field("model\n", "model"), NULL);
	same(machine_info_field("modelname: x\n", "model"), NULL);
	same(machine_info_field(" model: x\n", "model"), NULL);
	same(machine_info_cpuid("vendor_id\t: ARM\n"), NULL);
	same(machine_info_cpuid("vendor_id: a\ncpu family: 6\nmodel: 1\nstepping:\n"), NULL);
	same(machine_info_os_release("PRETTY=x\n", "PRETTY_NAME"), NULL);
	same(machine_info_os_release("", "PRETTY_NAME"), NULL);
	assert_int_equal(machine_info_memory("MemFree: 5 kB\n"), 0);
	assert_int_equal(machine_info_memory("MemTotal: much\n"), 0);
	assert_int_equal(machine_info_memory(""), 0);
}

static void hostinfo_reads_os_release_quoted_or_not(void **state)
{
	same(machine_info_os_release("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
				     "PRETTY_NAME"),
	     "Debian GNU/Linux 12 (bookworm)");
	same(machine_info_os_release("PRETTY_NAME='Void'\n", "PRETTY_NAME"), "Void");
	same(machine_info_os_release("PRETTY_NAME=Alpine", "PRETTY_NAME"), "Alpine");
	same(machine_info_os_release("PRETTY_NAME=\"half\n", "PRETTY_NAME"), "\"half");
	same(machine_info_os_release("PRETTY_NAME=\n", "PRETTY_NAME"), "");
	assert_int_equal(machine_info_memory("MemTotal:       24684096 kB\nMemFree: 1 kB\n"),
			 24684096ULL * 1024);
}

static void hostinfo_knows_this_machine(void **state)
{
	struct machine_info h;

	assert_int_equal(machine_info_read(&h), 0);
	assert_true(h.hostname[0] && h.kernel_release[0] && h.arch[0]);
	assert_true(h.cpus_online >= 1 && h.cpus_present >= h.cpus_online);
	assert_true(h.memory_bytes > 1 << 20);
	assert_true(h.boot_wall_ns > 0);
	machine_info_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostinfo_reads_fields_of_cpuinfo),
		cmocka_unit_test(hostinfo_misses_what_is_not_there),
		cmocka_unit_test(hostinfo_reads_os_release_quoted_or_not),
		cmocka_unit_test(hostinfo_knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
