/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The process under test publishes contexts itself, and looks at its own memory. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/base/vec.h"
#include "record/events/side_record.h"
#include "record/process/context_watch.h"

#define S 1000000000ULL

struct header {
	char signature[8];
	uint32_t version, size_bytes;
	uint64_t published_ns;
	const void *message;
};

static struct header *mapping;
static uint8_t message[CONTEXT_RECORD_NAME_MAX + 64];

static void publish(const char *name)
{
	int fd;

	if (!mapping) {
		fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
		assert_int_equal(ftruncate(fd, sizeof(*mapping)), 0);
		mapping = mmap(NULL, sizeof(*mapping), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		assert_ptr_not_equal(mapping, MAP_FAILED);
		close(fd);
	}
	*mapping = (struct header){ .version = 2, .published_ns = 1, .message = message };
	memcpy(mapping->signature, "OTEL_CTX", 8);
	mapping->size_bytes = (uint32_t)context_record_message(name, strlen(name), message);
}

static void withdraw(void)
{
	munmap(mapping, sizeof(*mapping));
	mapping = NULL;
}

static struct context_watch new_watch(void)
{
	struct context_watch w = { .wanted = true };

	assert_int_equal(io_timeout_new(IO_WAIT_NS, &w.io), 0);
	return w;
}

static void done(struct context_watch *w)
{
	struct io_timeout *io = w->io;

	io_timeout_finish(io, 60 * S);
	context_watch_done(w);
	io_timeout_free(io);
}

static void look(struct context_watch *w, uint64_t now_ns)
{
	assert_int_equal(context_watch_look(w, now_ns), 0);
	io_timeout_finish(w->io, 60 * S);
	assert_int_equal(w->late_err, 0);
}

static int record(struct context_watch *w, struct side_record *r, uint64_t time_ns)
{
	return context_watch_record(w, (const void *)r->bytes, time_ns);
}

static void fork_of(struct context_watch *w, uint32_t pid, uint64_t time_ns)
{
	struct side_record r = { 0 };

	side_record_fork(&r, pid, pid, pid + 1, pid + 1, time_ns);
	assert_int_equal(record(w, &r, time_ns), 0);
}

static void exec_of(struct context_watch *w, uint32_t pid, uint64_t time_ns)
{
	struct side_record r = { 0 };

	side_record_comm(&r, pid, pid, "x");
	((struct perf_event_header *)r.bytes)->misc |= PERF_RECORD_MISC_COMM_EXEC;
	assert_int_equal(record(w, &r, time_ns), 0);
}

static void exit_of(struct context_watch *w, uint32_t pid, uint64_t time_ns)
{
	struct side_record r = { 0 };

	side_record_fork(&r, pid, pid, pid + 1, pid + 1, time_ns);
	((struct perf_event_header *)r.bytes)->type = PERF_RECORD_EXIT;
	assert_int_equal(record(w, &r, time_ns), 0);
}

/* The entries as "SECOND:NAME SECOND: ..." of this process; "-" where a message has no name. */
static const char *entries_of(const struct outbuf *entries, char room[256])
{
	struct cursor c = cursor_of(entries->data, entries->size_bytes);
	struct context_record r;
	const char *name;
	size_t used = 0, name_bytes;

	room[0] = '\0';
	while (context_record_next(&c, &r) > 0) {
		if (!r.size_bytes)
			name_bytes = 0;
		else if (!context_record_service(r.message, r.size_bytes, &name, &name_bytes))
			name = "-", name_bytes = 1;
		used += (size_t)snprintf(room + used, 256 - used, "%s%d:%.*s", used ? " " : "",
					 (int)(r.since_ns / S), (int)name_bytes, name);
	}
	return room;
}

#define assert_entries(w, want)                                                  \
	do {                                                                     \
		char room__[256];                                                \
		assert_string_equal(entries_of(&(w).log.pending, room__), want); \
	} while (0)

static void context_holds_since_the_process_began_and_until_it_execs_or_ends(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct context_watch w = new_watch();

	(void)state;
	fork_of(&w, self, 100 * S);
	publish("checkout");
	look(&w, 100 * S + S / 2);
	assert_entries(w, "");
	look(&w, 101 * S);
	assert_entries(w, "100:checkout");
	publish("cart");
	look(&w, 109 * S);
	assert_entries(w, "100:checkout");
	look(&w, 110 * S);
	assert_entries(w, "100:checkout 110:cart");
	look(&w, 200 * S); /* nothing is new */
	exec_of(&w, self, 203 * S);
	assert_entries(w, "100:checkout 110:cart 203:");
	look(&w, 204 * S);
	assert_entries(w, "100:checkout 110:cart 203: 203:cart");
	exit_of(&w, self, 205 * S);
	exit_of(&w, self, 206 * S);
	assert_entries(w, "100:checkout 110:cart 203: 203:cart 205:");
	look(&w, 300 * S);
	assert_int_equal(w.count, 0);
	withdraw();
	done(&w);
}

static void what_is_no_context_is_none(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct context_watch w = new_watch();

	(void)state;
	for (int i = 0; i < 7; i++) {
		publish("checkout");
		if (i == 0)
			mapping->signature[7] = 'Y';
		else if (i == 1)
			mapping->version = 3;
		else if (i == 2)
			mapping->published_ns = 0;
		else if (i == 3)
			mapping->size_bytes = 0;
		else if (i == 4)
			mapping->size_bytes = CONTEXT_RECORD_BYTES_MAX + 1;
		else if (i == 5)
			mapping->message = (const void *)1;
		else
			mapping->message = (const void *)-1;
		exec_of(&w, self, 100 * S);
		look(&w, 101 * S);
	}
	withdraw();
	exec_of(&w, self, 100 * S);
	look(&w, 101 * S);
	assert_entries(w, "");
	done(&w);
}

static void mapping_is_found_by_each_of_its_names(void **state)
{
	static const struct {
		const char *name;
		bool is_found;
	} cases[] = {
		{ "/memfd:OTEL_CTX (deleted)", true }, { "[anon_shmem:OTEL_CTX]", true },
		{ "[anon:OTEL_CTX]", true },           { "/tmp/OTEL_CTX", false },
		{ "[anon:x OTEL_CTX]", false },        { "", false },
	};
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	publish("a");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outbuf out = { 0 };
		char maps[256];

		snprintf(maps, sizeof(maps),
			 "1000-2000 rw-p 00000000 00:01 1 /memfd:OTEL_CTX (deleted)\nOTEL_CTX\n"
			 "%lx-%lx rw-p 00000000 00:01 1 %s\n",
			 (unsigned long)mapping, (unsigned long)mapping + 4096, cases[i].name);
		context_log_read(self, maps, &out);
		assert_int_equal(out.size_bytes, cases[i].is_found ? mapping->size_bytes : 0);
		outbuf_done(&out);
	}
	withdraw();
	close(self);
}

static void answer_about_a_process_that_has_execed_since_is_not_taken(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct context_watch w = new_watch();

	(void)state;
	publish("checkout");
	fork_of(&w, self, 100 * S);
	assert_int_equal(context_watch_look(&w, 101 * S), 0);
	exec_of(&w, self, 101 * S);
	io_timeout_finish(w.io, 60 * S);
	assert_entries(w, "");
	withdraw();
	done(&w);
}

static void window_has_what_may_matter_to_it(void **state)
{
	struct context_watch w = { .wanted = true, .log.in_window = true };
	struct outbuf context = { 0 };

	(void)state;
	context.size_bytes = context_record_message("a", 1, message);
	context.data = message;
	for (uint32_t pid = 1; pid <= 4; pid++)
		assert_int_equal(context_watch_saw(&w, pid, 0, 10 * S, &context), 0);
	exit_of(&w, 1, 20 * S);
	exit_of(&w, 2, 30 * S);
	exit_of(&w, 3, 40 * S);
	context_log_drop(&w.log, 35 * S);
	assert_int_equal(w.log.count, 2);
	assert_int_equal(w.log.message_bytes, 2 * context.size_bytes);
	assert_true(context_log_has(&w.log, 4));
	exit_of(&w, 4, 50 * S);
	assert_false(context_log_has(&w.log, 4));
	assert_int_equal(w.log.pending.size_bytes, 0);
	context_watch_done(&w);
}

static void what_processes_publish_has_limits(void **state)
{
	static uint8_t large[CONTEXT_RECORD_BYTES_MAX + 1];
	struct context_watch w = { .wanted = true };
	uint32_t pid;

	(void)state;
	assert_int_equal(context_log_add(&w.log, 1, 0, large, sizeof(large)), 0);
	assert_int_equal(w.log.refused_count, 1);
	for (pid = 1; pid <= 2 * CONTEXT_LOG_BYTES_MAX / CONTEXT_RECORD_BYTES_MAX; pid++)
		assert_int_equal(context_log_add(&w.log, pid, 0, large, CONTEXT_RECORD_BYTES_MAX),
				 0);
	assert_true(w.log.message_bytes <= CONTEXT_LOG_BYTES_MAX);
	for (pid = 1; pid <= CONTEXT_WATCH_MAX + 1000; pid++)
		fork_of(&w, pid, S);
	assert_int_equal(w.count, CONTEXT_WATCH_MAX);
	/* One was too large, half of the others found no room, and 1000 processes were not watched. */
	assert_int_equal(w.log.refused_count,
			 1 + CONTEXT_LOG_BYTES_MAX / CONTEXT_RECORD_BYTES_MAX + 1000);
	for (pid = 1; pid <= CONTEXT_WATCH_MAX; pid += 2)
		exit_of(&w, pid, 2 * S);
	assert_int_equal(w.count, CONTEXT_WATCH_MAX / 2);
	context_watch_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_holds_since_the_process_began_and_until_it_execs_or_ends),
		cmocka_unit_test(what_is_no_context_is_none),
		cmocka_unit_test(mapping_is_found_by_each_of_its_names),
		cmocka_unit_test(answer_about_a_process_that_has_execed_since_is_not_taken),
		cmocka_unit_test(window_has_what_may_matter_to_it),
		cmocka_unit_test(what_processes_publish_has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
