/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/recorder_rights.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/contract/capability_sets.h"

#define PATH "/x/ebprec-record"
#define ALL  0x1ffffffffffULL
/* The usual bounding set in podman and docker: neither BPF nor PERFMON. */
#define USUAL 0xa80425fbULL

/* As the kernel prints it, with the lines between left out. */
static struct process_rights process(unsigned euid, uint64_t bounding, unsigned no_new_privs,
				     unsigned seccomp)
{
	struct process_rights p;
	char text[400];

	snprintf(text, sizeof(text),
		 "Name:\tUid:\nUid:\t1000\t%u\t1000\t1000\nCapInh:\t0000000000000000\n"
		 "CapEff:\t0000000000000000\nCapBnd:\t%016llx\nCapAmb:\t0000000000000000\n"
		 "NoNewPrivs:\t%u\nSeccomp:\t%u\nSeccomp_filters:\t1\n",
		 euid, (unsigned long long)bounding, no_new_privs, seccomp);
	assert_int_equal(process_rights_parse(text, &p), 0);
	return p;
}

static void report(const struct process_rights *p, const struct file_rights *file,
		   struct finding *out)
{
	*out = (struct finding){ 0 };
	recorder_rights_report(p, file, PATH, out);
	assert_string_equal(out->name, "capabilities");
}

static const struct file_rights none = { 0 };
static const struct file_rights set = { .permitted = CAPS_RECORDING, .is_effective = true };

static void status_fields_are_read(void **state)
{
	struct process_rights p = process(0, ALL, 1, 2);

	assert_true(p.is_root && p.no_new_privs && p.filtered);
	assert_true(p.bounding == ALL && !p.ambient);
	p = process(1000, USUAL, 0, 0);
	assert_false(p.is_root || p.no_new_privs || p.filtered);
	assert_true(p.bounding == USUAL);
}

static void status_of_a_kernel_without_seccomp_has_no_filter(void **state)
{
	struct process_rights p;

	assert_int_equal(
		process_rights_parse("Uid:\t0 0 0 0\nCapBnd:\t1ff\nCapAmb:\t4\nNoNewPrivs:\t0", &p),
		0);
	assert_true(p.is_root && !p.filtered && p.bounding == 0x1ff && p.ambient == 4);
}

static void broken_status_is_refused(void **state)
{
	static const char *const broken[] = {
		"",
		"\n\n",
		"CapBnd:",
		"Uid:\t0\nCapBnd:\t0\nCapAmb:\t0\nNoNewPrivs:\t0\n", /* one id */
		"Uid:\t0\t0\nCapBnd:\t\nCapAmb:\t0\nNoNewPrivs:\t0\n",
		"Uid:\t0\t0\nCapBnd:\t-1\nCapAmb:\t0\nNoNewPrivs:\t0\n",
		"Uid:\t0\t0\nCapBnd:\t11111111111111111\nCapAmb:\t0\nNoNewPrivs:\t0\n",
		"Uid:\t0\t0\nxCapBnd:\t0\nCapAmb:\t0\nNoNewPrivs:\t0\n",
		"Uid:\t0\t0\nCapBnd:\t0\nCapAmb:\t0\nNoNewPrivs:",
	};
	struct process_rights p;

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_int_equal(process_rights_parse(broken[i], &p), -EBADMSG);
}

/* As getxattr() returns it of a file that setcap gave CAPS_RECORDING_SETCAP. */
static const uint8_t attr2[20] = { 0x01, 0, 0,    0x02, 0x04, 0, 0x08, 0, 0, 0,
				   0,    0, 0xc4, 0x01, 0,    0, 0,    0, 0, 0 };

static void file_capabilities_are_read(void **state)
{
	uint8_t attr3[24] = { 0 };
	struct file_rights f;

	assert_int_equal(file_rights_parse(attr2, sizeof(attr2), &f), 0);
	assert_true(f.permitted == CAPS_RECORDING && f.is_effective);
	memcpy(attr3, attr2, sizeof(attr2));
	attr3[3] = 3;
	assert_int_equal(file_rights_parse(attr3, sizeof(attr3), &f), 0);
	assert_true(f.permitted == CAPS_RECORDING && f.is_effective);
	attr3[20] = 1; /* of another user namespace */
	assert_int_equal(file_rights_parse(attr3, sizeof(attr3), &f), 0);
	assert_true(!f.permitted && !f.is_effective);
	assert_int_equal(file_rights_parse(NULL, 0, &f), 0);
	assert_false(f.permitted);
}

static void broken_file_capabilities_are_refused(void **state)
{
	uint8_t bytes[32] = { 0 };
	struct file_rights f;

	memcpy(bytes, attr2, sizeof(attr2));
	for (size_t n = 1; n <= sizeof(bytes); n++)
		assert_int_equal(file_rights_parse(bytes, n, &f),
				 n == sizeof(attr2) ? 0 : -EBADMSG);
	bytes[3] = 4; /* a version to come */
	assert_int_equal(file_rights_parse(bytes, sizeof(attr2), &f), -EBADMSG);
}

static void root_of_the_machine_has_all(void **state)
{
	struct process_rights p = process(0, ALL, 0, 0);
	struct finding f;

	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_WORKS);
	report(&p, &set, &f);
	assert_int_equal(f.state, FINDING_WORKS);
}

static void root_of_a_container_lacks_what_the_bounding_set_lacks(void **state)
{
	struct process_rights p = process(0, USUAL, 0, 2);
	struct finding f;

	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_MISSING);
	assert_non_null(strstr(f.why, "bounding set"));
	assert_non_null(strstr(f.why, "CAP_PERFMON"));
	assert_non_null(strstr(f.mend, "--cap-add=CAP_PERFMON --cap-add=CAP_BPF"));

	p = process(0, USUAL | RIGHT(CAP_SYS_ADMIN) | CAPS_READING, 0,
		    2); /* SYS_ADMIN is BPF and more */
	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_WORKS);

	p = process(0, USUAL | CAPS_BPF, 0, 2);
	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_DEGRADED);
	assert_non_null(strstr(f.mend, "--cap-add=CAP_SYS_PTRACE"));
	assert_null(strstr(f.mend, "PERFMON"));
}

static void file_with_more_than_the_bounding_set_cannot_be_started(void **state)
{
	static const unsigned users[] = { 0, 1000 };
	struct file_rights nosuid = set;
	struct finding f;

	for (size_t i = 0; i < 2; i++) {
		struct process_rights p = process(users[i], ALL & ~RIGHT(CAP_SYSLOG), 0, 0);

		report(&p, &set, &f);
		assert_int_equal(f.state, FINDING_MISSING);
		assert_non_null(strstr(f.why, "cannot be started: its file has CAP_SYSLOG,"));
		assert_non_null(
			strstr(f.mend, "--cap-add=CAP_SYSLOG, or in its image: setcap -r " PATH));
		nosuid.is_nosuid = true;
		report(&p, &nosuid, &f);
		assert_null(strstr(f.why, "started"));
	}
}

static void user_of_a_container_needs_them_on_the_file(void **state)
{
	struct process_rights p = process(1000, ALL, 0, 0);
	struct file_rights f0 = set;
	struct finding f;

	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_MISSING);
	assert_non_null(strstr(f.why, "not of the recorder's file"));
	assert_non_null(strstr(f.mend, "setcap cap_bpf,cap_perfmon,"));
	assert_non_null(strstr(f.mend, PATH));

	report(&p, &set, &f);
	assert_int_equal(f.state, FINDING_WORKS);
	assert_non_null(strstr(f.why, "file"));

	f0.is_effective = false; /* setcap ...=p: the recorder would have to raise them */
	report(&p, &f0, &f);
	assert_int_equal(f.state, FINDING_MISSING);

	f0 = set;
	f0.permitted &= ~RIGHT(CAP_SYSLOG);
	report(&p, &f0, &f);
	assert_int_equal(f.state, FINDING_DEGRADED);
	assert_non_null(strstr(f.why, "CAP_SYSLOG"));
	assert_null(strstr(f.why, "CAP_BPF"));

	p.ambient = CAPS_RECORDING; /* as a unit of systemd gives them */
	report(&p, &none, &f);
	assert_int_equal(f.state, FINDING_WORKS);
	assert_non_null(strstr(f.why, "ambient"));
}

static void file_capabilities_that_do_not_count_are_explained(void **state)
{
	struct process_rights p = process(1000, ALL, 1, 0);
	struct file_rights nosuid = set;
	struct finding f;

	report(&p, &set, &f);
	assert_int_equal(f.state, FINDING_MISSING);
	assert_non_null(strstr(f.why, "no_new_privs"));
	assert_non_null(strstr(f.mend, "allowPrivilegeEscalation"));
	p.ambient = CAPS_RECORDING; /* nothing is gained */
	report(&p, &set, &f);
	assert_int_equal(f.state, FINDING_WORKS);

	p = process(1000, ALL, 0, 0);
	nosuid.is_nosuid = true;
	report(&p, &nosuid, &f);
	assert_int_equal(f.state, FINDING_MISSING);
	assert_non_null(strstr(f.why, "nosuid"));
}

static void filter_is_reported_with_what_it_refuses(void **state)
{
	struct process_rights p = process(0, USUAL, 0, 2);
	struct finding f = { 0 };

	recorder_filter_report(&p, CALL_REFUSED, CALL_REFUSED, &f);
	assert_string_equal(f.name, "seccomp filter");
	assert_int_equal(f.state, FINDING_MISSING);
	assert_string_equal(f.why, "it refuses bpf() and perf_event_open()");
	assert_non_null(strstr(f.mend, "--cap-add=CAP_PERFMON --cap-add=CAP_BPF, for which"));
	assert_non_null(strstr(f.mend, "seccomp=PROFILE"));

	p = process(0, ALL, 0, 2);
	recorder_filter_report(&p, CALL_ALLOWED, CALL_KILLED, &f);
	assert_int_equal(f.state, FINDING_MISSING);
	assert_string_equal(f.why, "it kills programs that call perf_event_open()");
	assert_null(strstr(f.mend, "--cap-add"));
	recorder_filter_report(&p, CALL_REFUSED, CALL_ALLOWED, &f);
	assert_string_equal(f.why, "it refuses bpf()");
	recorder_filter_report(&p, CALL_ALLOWED, CALL_ALLOWED, &f);
	assert_int_equal(f.state, FINDING_WORKS);

	p = process(0, ALL, 0, 0); /* an old kernel refuses bpf() by itself */
	recorder_filter_report(&p, CALL_REFUSED, CALL_ALLOWED, &f);
	assert_int_equal(f.state, FINDING_WORKS);
	assert_string_equal(f.mend, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_fields_are_read),
		cmocka_unit_test(status_of_a_kernel_without_seccomp_has_no_filter),
		cmocka_unit_test(broken_status_is_refused),
		cmocka_unit_test(file_capabilities_are_read),
		cmocka_unit_test(broken_file_capabilities_are_refused),
		cmocka_unit_test(root_of_the_machine_has_all),
		cmocka_unit_test(root_of_a_container_lacks_what_the_bounding_set_lacks),
		cmocka_unit_test(file_with_more_than_the_bounding_set_cannot_be_started),
		cmocka_unit_test(user_of_a_container_needs_them_on_the_file),
		cmocka_unit_test(file_capabilities_that_do_not_count_are_explained),
		cmocka_unit_test(filter_is_reported_with_what_it_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
