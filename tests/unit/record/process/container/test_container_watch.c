/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/payload/container_record.h"
#include "record/process/container/container_watch.h"
#include "record/process/container/container_stores.h"
#include "format/text/json_reader.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

/* ---- jsonpull ---- */

/* The tokens as letters, at the end '.' or '!' (broken) or '^' (too deep). */
static void tokens(const char *text, char *out)
{
	static const char letters[] = ".{[)ks1";
	struct json_reader j = { .data = text, .size_bytes = strlen(text) };
	int token;

	do {
		token = json_reader_next(&j);
		*out++ = token >= 0 ? letters[token] : token == -EOVERFLOW ? '^' : '!';
	} while (token > 0);
	*out = '\0';
	assert_int_equal(json_reader_next(&j), token);
}

static void jsonpull_gives_the_tokens_of_json_and_of_nothing_else(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{}", "{)." },
		{ " [ ] ", "[)." },
		{ "1", "1." },
		{ "\"a\"", "s." },
		{ "{\"a\":1,\"b\":[true,null,\"x\\\"y\"],\"c\":{\"d\":-1.5e3}}",
		  "{k1k[11s)k{k1))." },
		{ "[[],{},[{}]]", "[[){)[{)))." },
		{ "\"\\\\\"", "s." },
		{ "", "!" },
		{ "{", "{!" },
		{ "[1", "[1!" },
		{ "[1,", "[1!" },
		{ "[,1]", "[!" },
		{ "[1 2]", "[1!" },
		{ "[1]]", "[1)!" },
		{ "{\"a\"}", "{!" },
		{ "{\"a\":}", "{k!" },
		{ "{\"a\":1,}", "{k1!" },
		{ "{a:1}", "{!" },
		{ "{1:1}", "{!" },
		{ "[}", "[!" },
		{ "{]", "{!" },
		{ "\"a", "!" },
		{ "\"a\\", "!" },
		{ "\"a\\\"", "!" },
		{ "{} {}", "{)!" },
	};
	char got[200], deep[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tokens(cases[i].text, got);
		assert_string_equal(got, cases[i].want);
	}
	memset(deep, '[', sizeof(deep));
	deep[JSON_READER_DEPTH_MAX] = '\0';
	tokens(deep, got);
	assert_int_equal(got[JSON_READER_DEPTH_MAX], '!');
	deep[JSON_READER_DEPTH_MAX] = '[';
	deep[JSON_READER_DEPTH_MAX + 1] = '\0';
	tokens(deep, got);
	assert_int_equal(got[JSON_READER_DEPTH_MAX], '^');
}

/* ---- stores ---- */

struct reported {
	char text[400];
	size_t used;
};

static void note(void *ctx, const char *id, const char *name, size_t name_bytes)
{
	struct reported *t = ctx;

	t->used += (size_t)snprintf(t->text + t->used, sizeof(t->text) - t->used, "%.2s=%.*s ", id,
				    (int)name_bytes, name);
}

static void store_file_parse_finds_names_that_are_names(void **state)
{
	static const struct {
		enum store_file form;
		const char *text, *want;
		int err;
	} cases[] = {
		{ STORE_FILE_LIST, "[]", "", 0 },
		{ STORE_FILE_LIST,
		  "[{\"id\":\"" ID "\",\"names\":[\"web\",\"other\"],\"layer\":\"x\",\"metadata\":"
		  "\"{\\\"name\\\":\\\"web\\\"}\"},{\"names\":[\"db\"],\"id\":\"" ID2 "\"}]",
		  "01=web fe=db ", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":null}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[[\"x\"]]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":{\"x\":[\"y\"]}}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "0\",\"names\":[\"x\"]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"x\",\"names\":[\"x\"]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[\"\\u001b[31m\"]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[\"a\nb\"]}]", "", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[\"\"]}]", "", 0 },
		{ STORE_FILE_LIST, "[1,[{\"id\":\"" ID "\",\"names\":[\"x\"]}]]", "01=x ", 0 },
		{ STORE_FILE_LIST, "[{\"id\":\"" ID "\",\"names\":[\"x\"]},{", "01=x ", -EBADMSG },
		{ STORE_FILE_LIST, "{}", "", -EBADMSG },
		{ STORE_FILE_LIST, "", "", -EBADMSG },
		{ STORE_FILE_DOCKER,
		  "{\"State\":{\"Name\":\"no\"},\"ID\":\"" ID "\",\"Name\":\"/quiet_ada\"}",
		  "01=quiet_ada ", 0 },
		{ STORE_FILE_DOCKER, "{\"ID\":\"" ID "\"}", "", 0 },
		{ STORE_FILE_DOCKER, "{\"ID\":\"" ID "\",\"Name\":\"/\"}", "", 0 },
		{ STORE_FILE_DOCKER, "[\"" ID "\"]", "", -EBADMSG },
		{ STORE_FILE_OCI,
		  "{\"a\":[1],\"annotations\":{\"x\":\"y\","
		  "\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
		  "\"io.kubernetes.cri.sandbox-name\":\"web-0\","
		  "\"io.kubernetes.cri.container-name\":\"nginx\"},\"b\":{}}",
		  "01=shop/web-0/nginx ", 0 },
		{ STORE_FILE_OCI,
		  "{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
		  "\"io.kubernetes.cri.sandbox-name\":\"web-0\"}}",
		  "01=shop/web-0 ", 0 },
		{ STORE_FILE_OCI, "{\"annotations\":{\"nerdctl/name\":\"db\"}}", "01=db ", 0 },
		{ STORE_FILE_OCI, "{\"annotations\":{}}", "", 0 },
		{ STORE_FILE_OCI, "{\"annotations\":[]}", "", -EBADMSG },
		{ STORE_FILE_OCI, "{\"annotations\":{\"nerdctl/name\":\"db\"}", "", -EBADMSG },
		{ STORE_FILE_CONF, "[storage]\ngraphroot = \"/srv/one\"\n", "=/srv/one ", 0 },
		{ STORE_FILE_CONF, "graphroot = \"srv\"\n#graphroot = \"/no\"", "", 0 },
		{ STORE_FILE_DAEMON, "{\"debug\":true,\"data-root\":\"/srv/two\"}", "=/srv/two ",
		  0 },
		{ STORE_FILE_DAEMON, "{\"data-root\":\"srv\"}", "", 0 },
		{ STORE_FILE_DAEMON, "[]", "", -EBADMSG },
		{ STORE_FILE_FORMS, "[]", "", -ENOTSUP },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reported t = { { 0 }, 0 };
		int err = store_file_parse(cases[i].form, cases[i].text, strlen(cases[i].text), ID,
					   note, &t);

		assert_string_equal(t.text, cases[i].want);
		assert_int_equal(err, cases[i].err);
	}
}

/* 10 and 244 bytes leave one of the 256 that a name may have, with the slash between them none. */
static void a_pod_name_that_is_too_long_is_no_name(void **state)
{
	char pod[245], container[5000], text[6000];
	struct reported t = { { 0 }, 0 };

	memset(pod, 'p', sizeof(pod));
	pod[244] = '\0';
	memset(container, 'c', sizeof(container));
	container[4999] = '\0';
	snprintf(text, sizeof(text),
		 "{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"0123456789\","
		 "\"io.kubernetes.cri.sandbox-name\":\"%s\","
		 "\"io.kubernetes.cri.container-name\":\"%s\"}}",
		 pod, container);
	assert_int_equal(store_file_parse(STORE_FILE_OCI, text, strlen(text), ID, note, &t), 0);
	assert_string_equal(t.text, "");
}

static void shell(const char *format, const char *folder)
{
	char command[1200];

	snprintf(command, sizeof(command), format, folder);
	assert_int_equal(system(command), 0);
}

static void containerstores_look_stays_below_its_root(void **state)
{
	char root[] = "/tmp/stores-XXXXXX";
	struct reported t = { { 0 }, 0 };
	struct elf_reader *reader;
	int fd;

	assert_int_equal(elf_reader_new("/proc/self/exe", ELF_READER_TEXTS_OPTION, &reader), 0);
	assert_non_null(mkdtemp(root));
	shell("cd %s && mkdir -p srv/one/overlay-containers srv/two/containers/" ID
	      " etc/containers etc/docker home/ann/.local/share/containers/storage/vfs-containers && "
	      "echo 'graphroot = \"/srv/one\"' >etc/containers/storage.conf && "
	      "echo '[{\"id\":\"" ID "\",\"names\":[\"one\"]}]' >outside.json && "
	      "ln -s /outside.json srv/one/overlay-containers/containers.json && "
	      "echo '{\"debug\":true,\"data-root\":\"/srv/two\"}' >etc/docker/daemon.json && "
	      "echo 'ann:x:1000:1000:Ann:/home/ann:/bin/sh' >etc/passwd && "
	      "mkfifo srv/two/containers/" ID "/config.v2.json",
	      root);
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* A link leads to where it does below the root; no call waits for a pipe. */
	container_stores_look(reader, fd, 1000, ID, CONTAINER_STORES_ALL, note, &t);
	assert_string_equal(t.text, "01=one ");
	shell("cd %s/srv/two/containers/" ID " && rm config.v2.json && "
	      "echo '{\"ID\":\"" ID "\",\"Name\":\"/two\"}' >config.v2.json && cd %1$s && "
	      "echo '[{\"id\":\"" ID2 "\",\"names\":[\"ann\"]}]' "
	      ">home/ann/.local/share/containers/storage/vfs-containers/containers.json",
	      root);
	t = (struct reported){ { 0 }, 0 };
	container_stores_look(reader, fd, 1000, ID, CONTAINER_STORES_ALL, note, &t);
	assert_string_equal(t.text, "01=one fe=ann 01=two ");
	t = (struct reported){ { 0 }, 0 };
	container_stores_look(reader, fd, CONTAINERSTORES_NO_HOME, ID, CONTAINER_STORES_SINGLE,
			      note, &t);
	assert_string_equal(t.text, "01=two ");
	shell("truncate -s 17M %s/outside.json", root);
	t = (struct reported){ { 0 }, 0 };
	container_stores_look(reader, fd, CONTAINERSTORES_NO_HOME, ID, CONTAINER_STORES_ALL, note,
			      &t);
	assert_string_equal(t.text, "01=two ");
	close(fd);
	elf_reader_free(reader);
	shell("rm -rf %s", root);
}

static void store_file_parse_finds_the_home_of_a_user(void **state)
{
	static const char passwd[] =
		"root:x:0:0:root:/root:/bin/sh\nbroken\nx:x::0:::\n"
		"ann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\nno:x:7:7::relative:\n"
		"last:x:8:8::/l";
	static const struct {
		const char *uid, *want;
	} cases[] = { { "1000", "=/home/ann " }, { "8", "=/l " }, { "7", "" }, { "100", "" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reported t = { { 0 }, 0 };

		assert_int_equal(store_file_parse(STORE_FILE_PASSWD, passwd, sizeof(passwd) - 1,
						  cases[i].uid, note, &t),
				 0);
		assert_string_equal(t.text, cases[i].want);
	}
}

static void a_reader_that_dies_costs_the_names(void **state)
{
	static const char *const programs[] = { "/nowhere", "/bin/true" };
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct reported t = { { 0 }, 0 };
	struct elf_reader *reader;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		assert_int_equal(elf_reader_new(programs[i], ELF_READER_TEXTS_OPTION, &reader), 0);
		assert_int_equal(elf_reader_store_file(reader, fd, STORE_FILE_LIST, "", note, &t),
				 -ECHILD);
		assert_string_equal(t.text, "");
		elf_reader_free(reader);
	}
	close(fd);
}

static void containerwatch_conmon_is_believed_of_its_own_container(void **state)
{
	static const char args[] = "/usr/bin/conmon\0-c\0" ID "\0-u\0x\0-n\0web\0--full";
	static const char nameless[] = "conmon\0-c\0" ID "\0-n";
	static const char other[] = "/tmp/conmon2\0-c\0" ID "\0-n\0web";
	static const char with_tab[] = "conmon\0-c\0" ID "\0-n\0we\tb";

	assert_string_equal(container_watch_conmon_name(args, sizeof(args), ID), "web");
	assert_null(container_watch_conmon_name(args, sizeof(args), ID2));
	assert_null(container_watch_conmon_name(args, sizeof(args) - 1, ID));
	assert_null(container_watch_conmon_name(args, 0, ID));
	assert_null(container_watch_conmon_name(nameless, sizeof(nameless), ID));
	assert_null(container_watch_conmon_name(other, sizeof(other), ID));
	assert_null(container_watch_conmon_name(with_tab, sizeof(with_tab), ID));
}

/* ---- ids ---- */

static void containerid_is_the_innermost_and_not_its_watcher(void **state)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/docker/" ID, ID },
		{ "/machine.slice/libpod-" ID ".scope/container", ID ".scope/container" },
		{ "/libpod-" ID "/libpod-" ID2, ID2 },
		{ "/libpod-" ID "/libpod-conmon-" ID2 ".scope", ID "/libpod-conmon-" ID2 ".scope" },
		{ "/libpod-conmon-" ID ".scope", NULL },
		{ "/x" ID "0", NULL },
		{ "/user.slice", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = container_record_in(cases[i].path);

		if (cases[i].want)
			assert_string_equal(got, cases[i].want);
		else
			assert_null(got);
	}
}

static void containerid_entries_come_back_and_broken_ones_do_not(void **state)
{
	struct container_record_entry e = { ID, "web", 64, 3 }, got;
	uint8_t bytes[2 * CONTAINER_RECORD_ENTRY_MAX];
	size_t size = container_record_encode(&e, bytes);
	struct cursor c;

	size += container_record_encode(&(struct container_record_entry){ ID2, "db", 64, 2 },
					bytes + size);
	c = cursor_of(bytes, size);
	assert_int_equal(container_record_next(&c, &got), 1);
	assert_int_equal(got.name_bytes, 3);
	assert_memory_equal(got.name, "web", 3);
	assert_int_equal(container_record_next(&c, &got), 1);
	assert_memory_equal(got.id, ID2, 64);
	assert_int_equal(container_record_next(&c, &got), 0);
	for (size_t cut = 1; cut < 71; cut++) {
		c = cursor_of(bytes, cut);
		assert_int_equal(container_record_next(&c, &got), -EBADMSG);
	}
}

static struct io_timeout *io;

static void look(struct container_watch *c, uint64_t now_ns)
{
	container_watch_look(c, now_ns);
	io_timeout_finish(io, 60000000000ULL);
}

/* Users can make cgroups that look like containers', and each would be looked for ten times. */
static void containerwatch_takes_its_time_for_many(void **state)
{
	struct container_watch c = { .reader = *state, .io = io };
	uint64_t now_ns = 1;
	unsigned turns = 0;
	char cgroup[96];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(cgroup, sizeof(cgroup), "/nowhere/%064x", i + 1);
		container_watch_saw(&c, cgroup);
	}
	assert_int_equal(c.unnamed_count, 100);
	/* 1000 tries, 8 in a turn; and none before the pause is over. */
	for (; c.unnamed_count && turns < 1000; turns++) {
		look(&c, now_ns);
		look(&c, now_ns + 1);
		now_ns += 1000000000;
	}
	assert_int_equal(turns, 125);
	container_watch_done(&c);
}

enum { MANY = 9000, AT_ONCE = 4096 };

static void saw(struct container_watch *c, unsigned number)
{
	char cgroup[96];

	snprintf(cgroup, sizeof(cgroup), "/nowhere/%08x%056x", number, number);
	container_watch_saw(c, cgroup);
}

/* In a recording of a week there may be more than are remembered: those with names are forgotten. */
static void containerwatch_looks_for_the_last_of_many(void **state)
{
	struct container_watch c = { .reader = *state, .io = io };
	uint64_t now_ns = 1;

	for (unsigned i = 0; i < MANY; i++) {
		saw(&c, i);
		saw(&c, i);
		/* Each has all its tries before the next ones come. */
		for (unsigned k = 0; i % 8 == 7 && c.unnamed_count && k < 20; k++)
			look(&c, now_ns += 1000000000);
	}
	assert_int_equal(c.missed_count, 0);
	assert_int_equal(c.unnamed_count, 0);
	assert_true(c.count < MANY);
	saw(&c, MANY);
	assert_int_equal(c.unnamed_count, 1);
	container_watch_done(&c);
}

static void containerwatch_counts_containers_it_does_not_look_for(void **state)
{
	struct container_watch c = { .reader = *state, .io = io };
	uint64_t now_ns = 1;

	for (unsigned i = 0; i < AT_ONCE + 7; i++)
		saw(&c, i);
	assert_int_equal(c.unnamed_count, AT_ONCE);
	assert_int_equal(c.missed_count, 7);
	saw(&c, 0); /* it is looked for */
	assert_int_equal(c.missed_count, 7);
	/* When there is room again. */
	while (c.unnamed_count == AT_ONCE)
		look(&c, now_ns += 1000000000);
	saw(&c, AT_ONCE + 7);
	assert_int_equal(c.missed_count, 7);
	container_watch_done(&c);
}

/* Holds up the searches in the stores of the system, which have the same key. */
struct blocker {
	struct io_job base;
	int fd;
};

static void blocker_work(struct io_job *job)
{
	char byte;

	(void)!read(((struct blocker *)job)->fd, &byte, 1);
}

static void blocker_drop(struct io_job *job)
{
	close(((struct blocker *)job)->fd);
	free(job);
}

static void containerwatch_counts_apart_whose_files_are_not_read_in_time(void **state)
{
	struct blocker *b = calloc(1, sizeof(*b));
	struct container_watch c = { .reader = *state };
	int ends[2];

	assert_non_null(b);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(io_timeout_new(0, &c.io), 0);
	b->fd = ends[0];
	b->base = (struct io_job){ .work = blocker_work,
				   .done = blocker_drop,
				   .drop = blocker_drop,
				   .key = io_key(IO_KIND_STORE, 0, 0) };
	assert_int_equal(io_timeout_run(c.io, &b->base, false, 60000000000ULL), -EINPROGRESS);
	saw(&c, 1);
	saw(&c, 2);
	container_watch_look(&c, 1);
	io_timeout_finish(c.io, 0); /* the recording ends */
	assert_int_equal(c.unanswered_count, 2);
	assert_int_equal(c.missed_count, 0);
	assert_int_equal(c.unnamed_count, 0);
	close(ends[1]);
	io_timeout_free(c.io);
	container_watch_done(&c);
}

static int make_reader(void **state)
{
	struct elf_reader *reader = NULL;
	int err = elf_reader_new("/proc/self/exe", ELF_READER_TEXTS_OPTION, &reader);

	*state = reader;
	return err ? err : io_timeout_new(60000000000ULL, &io);
}

static int free_reader(void **state)
{
	io_timeout_free(io);
	elf_reader_free(*state);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], ELF_READER_TEXTS_OPTION))
		return elf_reader_serve();

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jsonpull_gives_the_tokens_of_json_and_of_nothing_else),
		cmocka_unit_test(store_file_parse_finds_names_that_are_names),
		cmocka_unit_test(a_pod_name_that_is_too_long_is_no_name),
		cmocka_unit_test(containerstores_look_stays_below_its_root),
		cmocka_unit_test(store_file_parse_finds_the_home_of_a_user),
		cmocka_unit_test(a_reader_that_dies_costs_the_names),
		cmocka_unit_test(containerwatch_conmon_is_believed_of_its_own_container),
		cmocka_unit_test(containerid_is_the_innermost_and_not_its_watcher),
		cmocka_unit_test(containerid_entries_come_back_and_broken_ones_do_not),
		cmocka_unit_test(containerwatch_takes_its_time_for_many),
		cmocka_unit_test(containerwatch_looks_for_the_last_of_many),
		cmocka_unit_test(containerwatch_counts_containers_it_does_not_look_for),
		cmocka_unit_test(containerwatch_counts_apart_whose_files_are_not_read_in_time),
	};

	return cmocka_run_group_tests(tests, make_reader, free_reader);
}
