/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/process/service.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void assert_service(const struct service_rules *rules, const char *cgroup, const char *comm,
			   const char *want)
{
	char got[SERVICE_NAME_MAX];

	service_name(rules, NULL,
		     &(struct service_facts){ .context = "", .cgroup = cgroup, .comm = comm }, got);
	assert_string_equal(got, want);
}

static void unit_container_or_comm_names_the_service(void **state)
{
	static const char *const cases[][3] = {
		{ "/system.slice/nginx.service", "worker", "nginx" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "agetty", "getty@tty1" },
		{ "/system.slice/my\\x2dapp.service", "x", "my-app" },
		{ "/system.slice/outer.service/inner.service/worker", "x", "inner" },
		/* A unit that has a container is the service; an engine's unit is not. */
		{ "/system.slice/app.service/libpod-payload-" ID, "x", "app" },
		{ "/system.slice/containerd.service/kubepods/" ID, "x", "0123456789ab" },
		{ "/system.slice/containerd.service", "containerd", "containerd" },
		{ "/system.slice/docker-" ID ".scope", "x", "0123456789ab" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
		  "x", "0123456789ab" },
		{ "/machine.slice/machine-web.scope/payload", "x", "web" },
		/* Sessions have neither. */
		{ "/user.slice/user-1000.slice/session-3.scope", "bash", "bash" },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "systemd",
		  "systemd" },
		{ "/system.slice/run-u17.service", "stress", "stress" },
		{ "/system.slice/run-parts.service", "x", "run-parts" },
		{ "/", "kworker/0:1-events", "kworker" },
		{ "[unknown]", "/strange", "/strange" },
		{ "", "", SERVICE_NAME_UNKNOWN },
		{ "/.service", "c", "c" },
		{ "//a.service//", "c", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_service(NULL, cases[i][0], cases[i][1], cases[i][2]);
}

static void first_rule_that_matches_decides(void **state)
{
	struct service_rules *rules;

	(void)state;
	assert_int_equal(service_rules_new("# comment\n\n"
					   "web unit:nginx*   # behind it, too\n"
					   "batch comm:python3 cgroup:/batch.slice/*\n"
					   "python comm:python3\n"
					   "none unit: container: comm:bash",
					   &rules, NULL),
			 0);
	assert_service(rules, "/system.slice/nginx@a.service", "x", "web");
	assert_service(rules, "/batch.slice/a/b", "python3", "batch");
	assert_service(rules, "/other", "python3", "python");
	assert_service(rules, "/other", "bash", "none");
	assert_service(rules, "/system.slice/a.service", "bash", "a");
	service_rules_free(rules);
}

static void name_that_the_process_published_is_before_all_but_rules(void **state)
{
	struct service_facts facts = { .context = "checkout",
				       .cgroup = "/system.slice/nginx.service",
				       .comm = "worker" };
	struct service_rules *rules;
	char got[SERVICE_NAME_MAX];

	(void)state;
	service_name(NULL, NULL, &facts, got);
	assert_string_equal(got, "checkout");
	assert_int_equal(service_rules_new("shop context:check* unit:nginx.service\n"
					   "none context: unit:nginx.service\n",
					   &rules, NULL),
			 0);
	service_name(rules, NULL, &facts, got);
	assert_string_equal(got, "shop");
	facts.context = "";
	service_name(rules, NULL, &facts, got);
	assert_string_equal(got, "none");
	service_rules_free(rules);
}

static void rule_that_is_none_is_refused_with_its_line(void **state)
{
	static const char *const bad[] = { "a unit:x\nlonely", "a unit:x\nb thread:y",
					   "a unit:x\nb unit",
					   "a unit:x\nb comm:1 comm:2 comm:3 comm:4 comm:5 comm:6 "
					   "comm:7 comm:8 comm:9" };
	struct service_rules *rules = NULL;
	struct parse_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(service_rules_new(bad[i], &rules, &err), -EBADMSG);
		assert_int_equal(err.offset_bytes, 2);
		assert_non_null(err.what);
		assert_null(rules);
	}
}

static void long_names_are_cut(void **state)
{
	char path[2000] = "/", got[SERVICE_NAME_MAX];

	(void)state;
	memset(path + 1, 'a', 1900);
	strcpy(path + 1901, ".service");
	service_name(NULL, NULL,
		     &(struct service_facts){ .context = "", .cgroup = path, .comm = "comm" }, got);
	assert_true(strlen(got) < SERVICE_NAME_MAX && *got);
	memset(path, 'b', 1900);
	service_name(NULL, NULL,
		     &(struct service_facts){ .context = "", .cgroup = "/", .comm = path }, got);
	assert_int_equal(strlen(got), SERVICE_NAME_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unit_container_or_comm_names_the_service),
		cmocka_unit_test(first_rule_that_matches_decides),
		cmocka_unit_test(name_that_the_process_published_is_before_all_but_rules),
		cmocka_unit_test(rule_that_is_none_is_refused_with_its_line),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
