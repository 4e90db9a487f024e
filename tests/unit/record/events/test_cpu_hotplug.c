/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>

#include "record/events/cpu_hotplug.h"
#include "tests/unit/fileroot.h"

/* Another folder in the place of the CPU's: the old one is there until the new one is. */
static void make_anew(const char *root, unsigned cpu)
{
	char command[256];

	snprintf(
		command, sizeof(command),
		"mkdir -p %s/cpu%u/new && rm -rf %s/cpu%u/topology && mv %s/cpu%u/new %s/cpu%u/topology",
		root, cpu, root, cpu, root, cpu, root, cpu);
	assert_int_equal(system(command), 0);
}

static size_t list(char *text, size_t room, char sign, const struct cpuset_list *ids)
{
	size_t at = 0;

	for (size_t i = 0; i < ids->count; i++)
		at += (size_t)snprintf(text + at, room - at, "%c%u ", sign, ids->ids[i]);
	return at;
}

/* Those that went and those that came, as "-1 +3 ". */
static const char *look(struct cpu_hotplug *w, const char *root, const char *online)
{
	static char text[64];
	struct cpu_hotplug_news news;
	size_t at;

	fileroot_put(root, "online", online);
	assert_int_equal(cpu_hotplug_look(w, root, &news), 0);
	text[0] = '\0';
	at = list(text, sizeof(text), '-', &news.went);
	(void)list(text + at, sizeof(text) - at, '+', &news.came);
	cpu_hotplug_news_done(&news);
	return text;
}

static void cpuwatch_reports_which_went_and_came(void **state)
{
	char root[FILEROOT_BYTES];
	struct cpu_hotplug w = { 0 };

	fileroot_make(root);
	assert_string_equal(look(&w, root, "0,2\n"), "");
	assert_string_equal(look(&w, root, "0,2\n"), "");
	assert_string_equal(look(&w, root, "0-3\n"), "+1 +3 ");
	assert_string_equal(look(&w, root, "0,3\n"), "-1 -2 ");
	assert_string_equal(look(&w, root, "1-3,70\n"), "-0 +1 +2 +70 ");
	assert_string_equal(look(&w, root, "0\n"), "-1 -2 -3 -70 +0 ");
	cpu_hotplug_done(&w);
	fileroot_done(root);
}

static void cpuwatch_knows_cpus_that_went_and_came_in_between(void **state)
{
	char root[FILEROOT_BYTES];
	struct cpu_hotplug w = { 0 };

	fileroot_make(root);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		make_anew(root, cpu);
	assert_string_equal(look(&w, root, "0-3\n"), ""); /* 3 has no folder */
	assert_string_equal(look(&w, root, "0-3\n"), "");
	make_anew(root, 1);
	make_anew(root, 2);
	assert_string_equal(look(&w, root, "0-3\n"), "-1 -2 +1 +2 ");
	assert_string_equal(look(&w, root, "0-3\n"), "");
	make_anew(root, 2);
	assert_string_equal(look(&w, root, "0-1,3\n"), "-2 "); /* still away */
	assert_string_equal(look(&w, root, "0-3\n"), "+2 ");
	cpu_hotplug_done(&w);
	fileroot_done(root);
}

static void cpuwatch_reports_when_it_has_to_look(void **state)
{
	char root[FILEROOT_BYTES];
	struct cpu_hotplug w = { 0 };

	fileroot_make(root);
	(void)look(&w, root, "0-3\n");
	assert_false(cpu_hotplug_is_stale(&w, root));
	assert_true(cpu_hotplug_has(&w, 3));
	assert_false(cpu_hotplug_has(&w, 4));
	fileroot_put(root, "online", "0-2\n");
	assert_true(cpu_hotplug_is_stale(&w, root));
	fileroot_put(root, "online", "0-2,4\n");
	assert_true(cpu_hotplug_is_stale(&w, root));
	assert_string_equal(look(&w, root, "0-2,4\n"), "-3 +4 ");
	assert_false(cpu_hotplug_is_stale(&w, root));
	fileroot_put(root, "online", "0-");
	assert_false(cpu_hotplug_is_stale(&w, root));
	cpu_hotplug_done(&w);
	fileroot_done(root);
}

static void cpuwatch_that_cannot_read_remembers(void **state)
{
	struct cpu_hotplug_news news = { .came.count = 42 };
	char root[FILEROOT_BYTES];
	struct cpu_hotplug w = { 0 };

	fileroot_make(root);
	assert_int_equal(cpu_hotplug_look(&w, root, &news), -ENOENT);
	assert_string_equal(look(&w, root, "0\n"), "");
	fileroot_put(root, "online", "0-");
	assert_int_equal(cpu_hotplug_look(&w, root, &news), -EBADMSG);
	assert_int_equal(news.came.count, 42);
	assert_string_equal(look(&w, root, "0-1\n"), "+1 ");
	cpu_hotplug_done(&w);
	cpu_hotplug_done(&w);
	fileroot_done(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpuwatch_reports_which_went_and_came),
		cmocka_unit_test(cpuwatch_knows_cpus_that_went_and_came_in_between),
		cmocka_unit_test(cpuwatch_reports_when_it_has_to_look),
		cmocka_unit_test(cpuwatch_that_cannot_read_remembers),
	};

	return cmocka_run_group_tests_name("cpuwatch", tests, NULL, NULL);
}
