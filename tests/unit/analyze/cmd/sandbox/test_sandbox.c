/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Before the sandbox each of the deeds succeeds, or fails for another reason: see the first test. */
struct location {
	char dir[32], inside[64], outside[64], other[64];
};

static int make_place(void **state)
{
	struct location *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/sandbox-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->inside, sizeof(p->inside), "%s/in", p->dir);
	snprintf(p->outside, sizeof(p->outside), "%s/out", p->dir);
	snprintf(p->other, sizeof(p->other), "%s/out/there", p->dir);
	if (mkdir(p->inside, 0700) || mkdir(p->outside, 0700))
		return -1;
	close(open(p->other, O_WRONLY | O_CREAT, 0600));
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct location *p = *state;

	unlink(p->other);
	if (rmdir(p->inside) || rmdir(p->outside) || rmdir(p->dir))
		return -1;
	free(p);
	return 0;
}

/* ---- what is tried; 0 or errno ---- */

static int make_file(const char *dir)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/made", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	return unlink(path) ? errno : 0;
}

static int make_inside(const struct location *p)
{
	return make_file(p->inside);
}

static int make_outside(const struct location *p)
{
	return make_file(p->outside);
}

static int write_there(const struct location *p)
{
	int fd = open(p->other, O_WRONLY);

	return fd < 0 ? errno : close(fd);
}

static int make_over(const struct location *p)
{
	int fd = open(p->other, O_WRONLY | O_CREAT | O_APPEND, 0600);

	return fd < 0 ? errno : close(fd);
}

/* Not each file system has such files. */
static int make_nameless(const struct location *p)
{
	int fd = open(p->outside, O_WRONLY | O_TMPFILE, 0600);

	return fd >= 0 ? close(fd) : errno == EACCES ? EACCES : 0;
}

static int read_there(const struct location *p)
{
	int fd = open(p->other, O_RDONLY);

	return fd < 0 ? errno : close(fd);
}

static int rename_there(const struct location *p)
{
	char to[80];

	snprintf(to, sizeof(to), "%s2", p->other);
	if (rename(p->other, to))
		return errno;
	return rename(to, p->other) ? errno : 0;
}

static int link_there(const struct location *p)
{
	char to[80];

	snprintf(to, sizeof(to), "%s/link", p->outside);
	if (symlink("x", to))
		return errno;
	return unlink(to) ? errno : 0;
}

static int change_mode(const struct location *p)
{
	return chmod(p->other, 0644) ? errno : 0;
}

static int cut_there(const struct location *p)
{
	return truncate(p->other, 0) ? errno : 0;
}

static int run_program(const struct location *p)
{
	char *argv[] = { NULL };

	execve(p->other, argv, argv); /* no program: else we would be gone */
	return errno == EACCES ? 0 : errno;
}

static int make_process(const struct location *p)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	if (child < 0)
		return errno;
	waitpid(child, NULL, 0);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static int make_thread(const struct location *p)
{
	pthread_t t;
	int err = pthread_create(&t, NULL, nothing, NULL);

	return err ? err : pthread_join(t, NULL);
}

static int make_socket(const struct location *p)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? errno : close(fd);
}

static int make_unix_socket(const struct location *p)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return errno;
	close(ends[0]);
	return close(ends[1]);
}

static int signal_parent(const struct location *p)
{
	return kill(getppid(), 0) ? errno : 0;
}

static int signal_self(const struct location *p)
{
	return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0) ? errno : 0;
}

static int signal_parents_thread(const struct location *p)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) ? errno : 0;
}

static int type_for_the_shell(const struct location *p)
{
	/* Without a terminal that is the error; in the sandbox it is not even asked. */
	return ioctl(0, TIOCSTI, "x") && errno == EPERM ? EPERM : 0;
}

#ifndef __SANITIZE_ADDRESS__
static int trace(const struct location *p)
{
	return ptrace(PTRACE_CONT, 999999999, NULL, NULL) && errno == ENOSYS ? ENOSYS : 0;
}
#endif

static int load_bpf(const struct location *p)
{
	return syscall(SYS_bpf, 9999, NULL, 0) < 0 && errno == ENOSYS ? ENOSYS : 0;
}

static int ring_around(const struct location *p)
{
	return syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno == ENOSYS ? ENOSYS : 0;
}

/* No list of forbidden calls would have it: it came with Linux 5.14. */
static int call_of_no_list(const struct location *p)
{
	return syscall(SYS_quotactl_fd, -1, 0, 0, NULL) < 0 && errno == ENOSYS ? ENOSYS : 0;
}

static int signal_by_a_pipe(const struct location *p)
{
	int ends[2], err;

	if (pipe(ends))
		return errno;
	err = fcntl(ends[0], F_SETOWN, getppid()) ? errno : 0;
	close(ends[0]);
	close(ends[1]);
	return err;
}

static int list_names(const struct location *p)
{
	DIR *dir = opendir(p->outside);

	return dir ? closedir(dir) : errno;
}

#ifndef __SANITIZE_ADDRESS__
static int make_code(const struct location *p)
{
	void *m = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return m == MAP_FAILED ? errno : munmap(m, 4096);
}

static int turn_to_code(const struct location *p)
{
	void *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = m == MAP_FAILED ? EBADF : mprotect(m, 4096, PROT_READ | PROT_EXEC) ? errno : 0;

	munmap(m, 4096);
	return err;
}
#endif

static int limit_parent(const struct location *p)
{
	return syscall(SYS_prlimit64, getppid(), 0, NULL, NULL) ? errno : 0;
}

struct deed {
	const char *name;
	int (*try)(const struct location *p);
	int want; /* in the sandbox */
};

static const struct deed offline[] = {
	{ "a file in the named folder", make_inside, 0 },
	{ "a file elsewhere", make_outside, EACCES },
	{ "writing elsewhere", write_there, EACCES },
	{ "reading", read_there, 0 },
	{ "renaming elsewhere", rename_there, EACCES },
	{ "a link elsewhere", link_there, ENOSYS },
	{ "chmod", change_mode, ENOSYS },
	{ "truncate", cut_there, ENOSYS },
	{ "execve", run_program, ENOSYS },
	{ "fork", make_process, EPERM },
	{ "a thread", make_thread, 0 },
	{ "an IP socket", make_socket, ENOSYS },
	{ "a pair of sockets", make_unix_socket, 0 },
	{ "kill", signal_parent, ENOSYS },
	{ "tgkill of itself", signal_self, 0 },
	{ "tgkill of another", signal_parents_thread, EPERM },
	{ "TIOCSTI", type_for_the_shell, EPERM },
	{ "io_uring", ring_around, ENOSYS },
	{ "bpf", load_bpf, ENOSYS },
	{ "a call of Linux 5.14", call_of_no_list, ENOSYS },
	{ "limits of another", limit_parent, EPERM },
	{ "a pipe whose owner is another", signal_by_a_pipe, EPERM },
#ifndef __SANITIZE_ADDRESS__
	{ "ptrace", trace, ENOSYS },
	{ "memory of code", make_code, EACCES },
	{ "data that becomes code", turn_to_code, EACCES },
#endif
};

#define OFFLINE_COUNT (sizeof(offline) / sizeof(offline[0]))

/* A call that a container forbids: it fails with err.  first: only where this is its first argument; -1: always. */
struct forbidden {
	int call, first, err;
};

static void forbid(const struct forbidden *what)
{
	const uint32_t first = offsetof(struct seccomp_data, args);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)what->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)what->first, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)what->err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .filter = code, .len = sizeof(code) / sizeof(code[0]) };

	if (what->first < 0) /* any */
		code[3] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(201);
}

/* The call that is tried after the sandbox was entered, and where. */
struct attempt {
	const struct sandbox_opts *opts; /* NULL: it is not */
	const struct forbidden *forbidden;
	int want_err;
	bool no_landlock;
	const char *refused;
	const struct deed *deeds;
	size_t count;
};

static void enter(const struct attempt *a)
{
	struct sandbox_result result;
	int err;

	if (a->forbidden)
		forbid(a->forbidden);
	err = sandbox_enter(a->opts, &result);
	if (err != a->want_err || (err && strcmp(result.refused, a->refused) != 0) ||
	    (!err && result.has_landlock == a->no_landlock)) {
		fprintf(stderr, "%s, landlock %d, refused %s\n", strerror(-err),
			result.has_landlock, result.refused);
		_exit(200);
	}
}

/* Exit status of a child that tries: 0, or 1 + the index of what came out otherwise. */
static int try_in_child(const struct location *p, const struct attempt *a)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		if (a->opts)
			enter(a);
		for (size_t i = 0; i < a->count; i++) {
			int got = a->deeds[i].try(p), want = a->opts ? a->deeds[i].want : 0;

#ifdef __SANITIZE_ADDRESS__
			if (a->deeds[i].try == make_process || a->deeds[i].try == signal_parent)
				continue;
#endif
			if (got != want) {
				fprintf(stderr, "%s: %s, not %s\n", a->deeds[i].name, strerror(got),
					strerror(want));
				_exit(1 + (int)i);
			}
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int in_child(const struct location *p, const struct sandbox_opts *opts,
		    const struct deed *deeds, size_t count)
{
	return try_in_child(p, &(struct attempt){ .opts = opts, .deeds = deeds, .count = count });
}

static void outside_all_of_it_succeeds(void **state)
{
	assert_int_equal(in_child(*state, NULL, offline, OFFLINE_COUNT), 0);
}

static void inside_what_was_named_succeeds_and_nothing_else(void **state)
{
	const struct location *p = *state;
	const char *read[] = { "/" }, *write[] = { p->inside, "/nowhere/at/all" };
	const struct sandbox_opts opts = {
		.read = read, .read_count = 1, .write = write, .write_count = 2
	};

	assert_int_equal(in_child(p, &opts, offline, OFFLINE_COUNT), 0);
}

static void with_the_network_sockets_are_made(void **state)
{
	static const struct deed deeds[] = {
		{ "an IP socket", make_socket, 0 },
		{ "a Unix socket", make_unix_socket, 0 },
		{ "execve", run_program, ENOSYS },
		{ "a file", make_inside, EACCES },
	};
	const char *read[] = { "/" };
	const struct sandbox_opts opts = { .read = read, .read_count = 1, .network = true };

	assert_int_equal(in_child(*state, &opts, deeds, 4), 0);
}

static void without_a_name_nothing_is_read(void **state)
{
	const struct location *p = *state;
	static const struct deed deeds[] = { { "reading", read_there, EACCES } };
	const struct sandbox_opts none = { 0 };
	const char *read[] = { p->other };
	const struct sandbox_opts file = { .read = read, .read_count = 1 };
	static const struct deed may[] = { { "reading a named file", read_there, 0 } };

	assert_int_equal(in_child(p, &none, deeds, 1), 0);
	assert_int_equal(in_child(p, &file, may, 1), 0);
}

static void of_a_listed_folder_names_are_read_and_no_file(void **state)
{
	const struct location *p = *state;
	static const struct deed deeds[] = { { "names", list_names, 0 },
					     { "reading", read_there, EACCES } };
	static const struct deed neither[] = { { "names", list_names, EACCES } };
	const char *list[] = { p->outside };
	const struct sandbox_opts opts = { .list = list, .list_count = 1 }, none = { 0 };

	assert_int_equal(in_child(p, &opts, deeds, 2), 0);
	assert_int_equal(in_child(p, &none, neither, 1), 0);
}

static void of_a_folder_of_output_no_file_is_read(void **state)
{
	const struct location *p = *state;
	static const struct deed deeds[] = { { "making", make_outside, 0 },
					     { "names", list_names, 0 },
					     { "reading", read_there, EACCES } };
	const char *write[] = { p->outside };
	const struct sandbox_opts opts = { .write = write, .write_count = 1 };

	assert_int_equal(in_child(p, &opts, deeds, 3), 0);
}

static void of_a_folder_of_output_no_file_that_is_there_is_written_to(void **state)
{
	const struct location *p = *state;
	static const struct deed deeds[] = { { "writing", write_there, EACCES },
					     { "making over it", make_over, EACCES },
					     { "making", make_outside, 0 },
					     { "making without a name", make_nameless, 0 } };
	static const struct deed in_place[] = { { "writing", write_there, 0 } };
	const char *write[] = { p->outside };
	struct sandbox_opts opts = { .write = write, .write_count = 1 };

	assert_int_equal(in_child(p, &opts, deeds, 4), 0);
	opts.writes_there = true;
	assert_int_equal(in_child(p, &opts, in_place, 1), 0);
}

static void a_kernel_without_landlock_leaves_reading_alone(void **state)
{
	static const struct deed deeds[] = {
		{ "reading", read_there, 0 },      { "writing", write_there, EACCES },
		{ "making", make_inside, EACCES }, { "renaming", rename_there, ENOSYS },
		{ "execve", run_program, ENOSYS }, { "an IP socket", make_socket, ENOSYS },
	};
	static const struct forbidden missing = { SYS_landlock_create_ruleset, -1, ENOSYS },
				      off = { SYS_landlock_create_ruleset, -1, EOPNOTSUPP };
	const struct sandbox_opts opts = { 0 };
	struct attempt a = { .opts = &opts, .no_landlock = true, .deeds = deeds, .count = 6 };

	a.forbidden = &missing;
	assert_int_equal(try_in_child(*state, &a), 0);
	a.forbidden = &off;
	assert_int_equal(try_in_child(*state, &a), 0);
}

static void what_is_refused_is_an_error_with_its_name(void **state)
{
	static const struct forbidden landlock = { SYS_landlock_create_ruleset, -1, EPERM },
				      rule = { SYS_landlock_add_rule, -1, EPERM },
				      restrict_self = { SYS_landlock_restrict_self, -1, E2BIG },
				      seccomp = { SYS_prctl, PR_SET_SECCOMP, EINVAL },
				      privileges = { SYS_prctl, PR_SET_NO_NEW_PRIVS, EPERM };
	const char *read[] = { "/" };
	const struct sandbox_opts opts = { .read = read, .read_count = 1 };
	const struct attempt attempts[] = {
		{ &opts, &landlock, -EPERM, false, "landlock", NULL, 0 },
		{ &opts, &rule, -EPERM, false, "landlock", NULL, 0 },
		{ &opts, &restrict_self, -E2BIG, false, "landlock", NULL, 0 },
		{ &opts, &seccomp, -EINVAL, false, "seccomp", NULL, 0 },
		{ &opts, &privileges, -EPERM, false, "no_new_privs", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		assert_int_equal(try_in_child(*state, &attempts[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outside_all_of_it_succeeds),
		cmocka_unit_test(inside_what_was_named_succeeds_and_nothing_else),
		cmocka_unit_test(with_the_network_sockets_are_made),
		cmocka_unit_test(without_a_name_nothing_is_read),
		cmocka_unit_test(of_a_listed_folder_names_are_read_and_no_file),
		cmocka_unit_test(of_a_folder_of_output_no_file_is_read),
		cmocka_unit_test(of_a_folder_of_output_no_file_that_is_there_is_written_to),
		cmocka_unit_test(a_kernel_without_landlock_leaves_reading_alone),
		cmocka_unit_test(what_is_refused_is_an_error_with_its_name),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
