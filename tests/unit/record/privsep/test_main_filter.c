/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/main_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char dir[32], file[48], fresh[48];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/mainfil-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/there", p->dir);
	snprintf(p->fresh, sizeof(p->fresh), "%s/fresh", p->dir);
	close(open(p->file, O_WRONLY | O_CREAT | O_EXCL, 0600));
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	unlink(p->file);
	unlink(p->fresh);
	assert_int_equal(rmdir(p->dir), 0);
	free(p);
	return 0;
}

/* ---- what is tried; 0 or errno ---- */

static int opened(int fd)
{
	return fd < 0 ? errno : close(fd);
}

static int called(long result)
{
	return result < 0 ? errno : 0;
}

static int read_file(const struct place *p)
{
	return opened(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
}

static int write_there(const struct place *p)
{
	return opened(open(p->file, O_WRONLY | O_CLOEXEC));
}

static int create_there(const struct place *p)
{
	return opened(open(p->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

static int write_memory(const struct place *p)
{
	return opened(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
}

static int make_fresh(const struct place *p)
{
	int err = opened(open(p->fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	return err ? err : called(unlink(p->fresh));
}

static int make_nameless(const struct place *p)
{
	return opened(open(p->dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
}

static int openat2_there(const struct place *p)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC };

	return opened((int)syscall(SYS_openat2, AT_FDCWD, p->file, &how, sizeof(how)));
}

static int write_by_handle(const struct place *p)
{
	return called(syscall(SYS_open_by_handle_at, -1, NULL, O_RDWR));
}

#ifndef __SANITIZE_ADDRESS__
static int trace_child(const struct place *p)
{
	return called(ptrace(PTRACE_SEIZE, 0, NULL, NULL)) == ENOSYS ? ENOSYS : 0;
}
#endif

static int write_into_process(const struct place *p)
{
	char from = 1, to = 0;
	struct iovec here = { &from, 1 }, there = { &to, 1 };

	return called(process_vm_writev(getpid(), &here, 1, &there, 1, 0));
}

static int load_program(const struct place *p)
{
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	return called(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr))) == EPERM ? EPERM : 0;
}

static int connect_somewhere(const struct place *p)
{
	return opened(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int pair_sockets(const struct place *p)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return errno;
	close(ends[0]);
	return close(ends[1]);
}

static int change_user(const struct place *p)
{
	return called(setresuid(getuid(), (uid_t)-1, (uid_t)-1));
}

static int mount_something(const struct place *p)
{
	return called(mount("x", "/nowhere", "tmpfs", 0, NULL)) == ENOSYS ? ENOSYS : 0;
}

static int ring_around(const struct place *p)
{
	return called(syscall(SYS_io_uring_setup, 0, NULL)) == ENOSYS ? ENOSYS : 0;
}

static int type_for_the_shell(const struct place *p)
{
	return ioctl(-1, TIOCSTI, "x") && errno == EPERM ? EPERM : 0;
}

static int run_program(const struct place *p)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (pid < 0)
		return errno;
	return waitpid(pid, &status, 0) == pid && !status ? 0 : EIO;
}

static int program_writes_memory(const struct place *p)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exec 2>&- 3<>/proc/self/mem", (char *)NULL);
		_exit(1);
	}
	if (pid < 0)
		return errno;
	return waitpid(pid, &status, 0) == pid && !status ? 0 : EACCES;
}

struct deed {
	const char *name;
	int (*try)(const struct place *p);
	int want; /* in the filter; outside all are 0 */
};

static const struct deed deeds[] = {
	{ "reading", read_file, 0 },
	{ "a new file", make_fresh, 0 },
	{ "a file without a name", make_nameless, 0 },
	{ "a pair of sockets", pair_sockets, 0 },
	{ "a program", run_program, 0 },
	{ "writing a file that is there", write_there, EACCES },
	{ "O_CREAT of a file that is there", create_there, EACCES },
	{ "/proc/self/mem for writing", write_memory, EACCES },
	{ "the same by a program that was started", program_writes_memory, EACCES },
	{ "openat2", openat2_there, ENOSYS },
#ifndef __SANITIZE_ADDRESS__ /* which traces itself for leaks */
	{ "ptrace", trace_child, ENOSYS },
#endif
	{ "process_vm_writev", write_into_process, ENOSYS },
	{ "loading BPF", load_program, EPERM },
	{ "an IP socket", connect_somewhere, ENOSYS },
	{ "another user", change_user, ENOSYS },
	{ "mount", mount_something, ENOSYS },
	{ "io_uring", ring_around, ENOSYS },
	{ "TIOCSTI", type_for_the_shell, EPERM },
};

static int try_all(const struct place *p, bool inside)
{
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		int got, want = inside ? deeds[i].want : 0;

		if (!inside && deeds[i].try == load_program && geteuid())
			continue; /* takes a right */
		got = deeds[i].try(p);
		if (got != want) {
			fprintf(stderr, "%s: %s, not %s\n", deeds[i].name, strerror(got),
				strerror(want));
			return 1 + (int)i;
		}
	}
	if (inside && write_by_handle(p) != EACCES)
		return 100;
	return 0;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void enter_or_exit(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || main_filter_enter())
		_exit(200);
}

static void outside_all_of_it_succeeds(void **state)
{
	pid_t pid = fork();

	if (!pid)
		_exit(try_all(*state, false));
	assert_int_equal(status_of(pid), 0);
}

static void inside_nothing_that_changes_others_succeeds(void **state)
{
	pid_t pid = fork();

	if (!pid) {
		enter_or_exit();
		_exit(try_all(*state, true));
	}
	assert_int_equal(status_of(pid), 0);
}

struct earlier {
	sem_t entered;
	const struct place *place;
};

static void *try_later(void *arg)
{
	struct earlier *e = arg;

	sem_wait(&e->entered);
	return (void *)(intptr_t)try_all(e->place, true);
}

static void threads_that_run_already_are_inside_too(void **state)
{
	pid_t pid = fork();

	if (!pid) {
		struct earlier e = { .place = *state };
		pthread_t thread;
		void *result;

		sem_init(&e.entered, 0, 0);
		if (pthread_create(&thread, NULL, try_later, &e))
			_exit(201);
		enter_or_exit();
		sem_post(&e.entered);
		pthread_join(thread, &result);
		_exit((int)(intptr_t)result);
	}
	assert_int_equal(status_of(pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outside_all_of_it_succeeds),
		cmocka_unit_test(inside_nothing_that_changes_others_succeeds),
		cmocka_unit_test(threads_that_run_already_are_inside_too),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
