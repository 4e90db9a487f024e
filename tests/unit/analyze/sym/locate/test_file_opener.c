/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/file_opener.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct served {
	pid_t pid;
	int socket;
	char dir[32];
};

static void make_file(const struct served *s, const char *name, const void *bytes,
		      size_t size_bytes)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size_bytes), size_bytes);
	close(fd);
}

static void make_elf(const struct served *s, const char *name, uint16_t type)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			 .e_type = type };

	make_file(s, name, &e, sizeof(e));
}

static int serve_with(void **state, bool with_sources)
{
	struct served *s = calloc(1, sizeof(*s));
	char path[80];
	int ends[2];

	strcpy(s->dir, "/tmp/opener-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	make_elf(s, "program", ET_EXEC);
	make_elf(s, "library", ET_DYN);
	make_elf(s, "object", ET_REL);
	make_elf(s, "core", ET_CORE);
	make_file(s, "secret", "-----BEGIN PRIVATE KEY-----\n", 28);
	make_file(s, "short", ELFMAG, SELFMAG);
	make_file(s, "main.c", "int main(void);\n", 16);
	make_file(s, "binary.c", "int\0", 4);
	snprintf(path, sizeof(path), "%s/link", s->dir);
	assert_int_equal(symlink("/program", path), 0);
	snprintf(path, sizeof(path), "%s/fifo", s->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/fifo.c", s->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/secret.c", s->dir);
	assert_int_equal(symlink("/secret", path), 0);
	snprintf(path, sizeof(path), "%s/link.c", s->dir);
	assert_int_equal(symlink("/main.c", path), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	s->pid = fork();
	if (!s->pid) {
		close(ends[0]);
		file_opener_serve(ends[1], with_sources);
		_exit(0);
	}
	close(ends[1]);
	s->socket = ends[0];
	*state = s;
	return 0;
}

static int serve(void **state)
{
	return serve_with(state, false);
}

static int serve_sources(void **state)
{
	return serve_with(state, true);
}

static int end(void **state)
{
	static const char *const names[] = { "program",  "library",  "object", "core",   "secret",
					     "short",    "link",     "fifo",   "main.c", "link.c",
					     "binary.c", "secret.c", "fifo.c" };
	struct served *s = *state;
	char path[80];
	int status;

	close(s->socket);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", s->dir, names[i]);
		unlink(path);
	}
	rmdir(s->dir);
	free(s);
	return 0;
}

/* 0: it was opened, and is what it should be. */
static int try_open(const struct served *s, const char *path, bool follow)
{
	struct stat st, opened;
	int fd = file_opener_open(s->socket, s->dir, path, follow, &st);
	uint8_t head[SELFMAG];

	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(opened.st_ino, st.st_ino);
	assert_int_equal(read(fd, head, sizeof(head)), sizeof(head));
	assert_memory_equal(head, ELFMAG, SELFMAG);
	assert_int_equal(write(fd, head, 1), -1);
	close(fd);
	return 0;
}

static void programs_libraries_and_objects_are_opened_for_reading(void **state)
{
	assert_int_equal(try_open(*state, "/program", true), 0);
	assert_int_equal(try_open(*state, "/library", false), 0);
	assert_int_equal(try_open(*state, "/object", true), 0);
}

static void what_holds_secrets_is_not_opened(void **state)
{
	assert_int_equal(try_open(*state, "/secret", true), -ENOEXEC);
	assert_int_equal(try_open(*state, "/core", true), -ENOEXEC);
	assert_int_equal(try_open(*state, "/short", true), -ENOEXEC);
	assert_int_equal(try_open(*state, "/fifo", true), -ENOENT);
	assert_int_equal(try_open(*state, "/missing", true), -ENOENT);
	assert_int_equal(try_open(*state, "/../../../../etc/passwd", true), -ENOENT);
}

static void a_last_link_is_followed_below_the_root_where_that_is_asked_for(void **state)
{
	assert_int_equal(try_open(*state, "/link", true), 0);
	assert_int_equal(try_open(*state, "/link", false), -ENOENT);
}

static int try_source(const struct served *s, const char *path)
{
	struct stat st;
	int fd = file_opener_open_source(s->socket, s->dir, path, &st);

	if (fd < 0)
		return fd;
	assert_int_equal(write(fd, "x", 1), -1);
	close(fd);
	return 0;
}

static void source_code_is_opened_by_the_name_that_the_file_itself_has(void **state)
{
	assert_int_equal(try_source(*state, "/main.c"), 0);
	assert_int_equal(try_source(*state, "/link.c"), 0);
	assert_int_equal(try_source(*state, "/secret.c"), -ENOEXEC);
	assert_int_equal(try_source(*state, "/secret"), -ENOEXEC);
	assert_int_equal(try_source(*state, "/program"), -ENOEXEC);
	assert_int_equal(try_source(*state, "/binary.c"), -ENOEXEC);
	assert_int_equal(try_source(*state, "/fifo.c"), -ENOENT);
	assert_int_equal(try_source(*state, "/missing.c"), -ENOENT);
	assert_int_equal(try_open(*state, "/main.c", true), -ENOEXEC);
}

static void source_code_is_not_opened_unless_asked_for(void **state)
{
	assert_int_equal(try_source(*state, "/main.c"), -EACCES);
	assert_int_equal(try_open(*state, "/program", true), 0);
}

static void files_that_the_kernel_makes_are_not_opened(void **state)
{
	const struct served *s = *state;
	struct stat st;

	assert_int_equal(file_opener_open(s->socket, "", "/proc/self/status", true, &st), -ENOENT);
	assert_int_equal(file_opener_open(s->socket, "/proc", "/self/status", true, &st), -ENOENT);
	assert_int_equal(file_opener_open(s->socket, "", "/sys/kernel/notes", true, &st), -ENOENT);
}

struct swapper {
	char program[80], fifo[80];
	atomic_bool ends;
};

static void *swap_often(void *arg)
{
	struct swapper *w = arg;

	while (!atomic_load(&w->ends))
		if (renameat2(AT_FDCWD, w->program, AT_FDCWD, w->fifo, RENAME_EXCHANGE))
			return arg;
	return NULL;
}

/* As the owner of a folder can do it, with a link to a device: to open one may have effects. */
static void what_takes_the_place_of_a_program_meanwhile_is_not_opened(void **state)
{
	const struct served *s = *state;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	struct swapper w = { .ends = false };
	pthread_t thread;
	unsigned opened = 0;
	void *failed;

	snprintf(w.program, sizeof(w.program), "%s/program", s->dir);
	snprintf(w.fifo, sizeof(w.fifo), "%s/fifo", s->dir);
	assert_true(inotify_add_watch(watch, w.fifo, IN_OPEN) >= 0);
	assert_int_equal(pthread_create(&thread, NULL, swap_often, &w), 0);
	for (int i = 0; i < 5000; i++) {
		int err = try_open(s, "/program", false);

		assert_true(!err || err == -ENOENT);
		opened += !err;
	}
	atomic_store(&w.ends, true);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(read(watch, &event, sizeof(event)), -1); /* the FIFO never was */
	assert_true(opened > 0);
	close(watch);
}

static void stat_answers_what_is_there_and_opens_nothing(void **state)
{
	const struct served *s = *state;
	struct stat st;

	assert_int_equal(file_opener_stat(s->socket, s->dir, "/fifo", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(file_opener_stat(s->socket, s->dir, "/link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(file_opener_stat(s->socket, s->dir, "/missing", &st), -ENOENT);
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
	const struct served *s = *state;
	char path[5000];
	struct stat st;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(file_opener_open(s->socket, "", path, true, &st), -ENAMETOOLONG);
}

/* As a process would that was taken over: each with a socket for the answer, of which none may come. */
static void what_is_no_question_gets_no_answer(void **state)
{
	static const struct {
		const char *bytes;
		size_t size_bytes;
	} cases[] = {
		{ "x", 1 },
		{ "\0\0\0\0", 4 },            /* no paths */
		{ "\1\0\0\0/program", 12 },   /* no end of the root */
		{ "\1\0\0\0\0/program", 13 }, /* no end of the path */
		{ "\1\0\0\0\0", 5 },          /* no path */
		{ "\7\0\0\0\0/program", 14 }, /* no such operation */
		{ "\377\377\377\377\0/program", 14 },
	};
	const struct served *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control = { .bytes = { 0 } };
		struct iovec data = { (void *)(uintptr_t)cases[i].bytes, cases[i].size_bytes };
		struct msghdr m = { .msg_iov = &data,
				    .msg_iovlen = 1,
				    .msg_control = control.bytes,
				    .msg_controllen = sizeof(control.bytes) };
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		char answer[8];
		int ends[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &ends[1], sizeof(int));
		assert_int_equal(sendmsg(s->socket, &m, 0), cases[i].size_bytes);
		close(ends[1]);
		assert_int_equal(recv(ends[0], answer, sizeof(answer), 0), 0);
		close(ends[0]);
	}
	/* Without a socket there is no process to answer. */
	assert_int_equal(send(s->socket, "x", 1, 0), 1);
	assert_int_equal(try_open(s, "/program", true), 0);
}

static void *ask_often(void *arg)
{
	const struct served *s = arg;

	for (int i = 0; i < 500; i++) {
		struct stat st;
		int fd = file_opener_open(s->socket, s->dir, i % 2 ? "/program" : "/secret", true,
					  &st);

		if ((i % 2 && fd < 0) || (i % 2 == 0 && fd != -ENOEXEC))
			return arg;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

static void each_of_many_threads_gets_its_own_answer(void **state)
{
	pthread_t threads[8];
	void *failed;

	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, *state), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

static void when_it_is_gone_nothing_may_be_read(void **state)
{
	const struct served *s = *state;

	assert_int_equal(try_open(s, "/program", true), 0);
	kill(s->pid, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(try_open(s, "/program", true), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			programs_libraries_and_objects_are_opened_for_reading, serve, end),
		cmocka_unit_test_setup_teardown(what_holds_secrets_is_not_opened, serve, end),
		cmocka_unit_test_setup_teardown(
			a_last_link_is_followed_below_the_root_where_that_is_asked_for, serve, end),
		cmocka_unit_test_setup_teardown(
			source_code_is_opened_by_the_name_that_the_file_itself_has, serve_sources,
			end),
		cmocka_unit_test_setup_teardown(source_code_is_not_opened_unless_asked_for, serve,
						end),
		cmocka_unit_test_setup_teardown(files_that_the_kernel_makes_are_not_opened, serve,
						end),
		cmocka_unit_test_setup_teardown(
			what_takes_the_place_of_a_program_meanwhile_is_not_opened, serve, end),
		cmocka_unit_test_setup_teardown(stat_answers_what_is_there_and_opens_nothing, serve,
						end),
		cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_an_error, serve, end),
		cmocka_unit_test_setup_teardown(what_is_no_question_gets_no_answer, serve, end),
		cmocka_unit_test_setup_teardown(each_of_many_threads_gets_its_own_answer, serve,
						end),
		cmocka_unit_test_setup_teardown(when_it_is_gone_nothing_may_be_read, serve, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
