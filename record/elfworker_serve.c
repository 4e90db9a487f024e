/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The side of the room `elfworker` that reads files, and may do nothing else. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/elfworker.h"
#include "record/elfworker_priv.h"
#include "record/rights.h"

#define MEMORY_MAX (2ULL << 30) /* a file's .eh_frame, and its table, several times */

const struct unwtable_key elfworker_key = { .build_id = { .bytes = { 1 }, .size_bytes = 1 } };

/* ---- the filter ---- */

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* Reading what is open, memory, and the end. */
static const int allowed[] = {
	SYS_read,       SYS_pread64,    SYS_write,         SYS_recvmsg,        SYS_fstat,
	SYS_lseek,      SYS_close,      SYS_mmap,          SYS_munmap,         SYS_mremap,
	SYS_mprotect,   SYS_madvise,    SYS_brk,           SYS_futex,          SYS_getrandom,
	SYS_exit,       SYS_exit_group, SYS_rt_sigreturn,  SYS_rt_sigprocmask, SYS_restart_syscall,
	SYS_getpid,     SYS_gettid,     SYS_clock_gettime, SYS_sysinfo,
#ifdef SYS_newfstatat /* how the library does fstat() */
	SYS_newfstatat,
#endif
};

/* What no library does by itself here: somebody else is at the wheel. */
static const int deadly[] = {
	SYS_openat, SYS_execve, SYS_execveat, SYS_socket, SYS_ptrace, SYS_bpf
};

#define DEADLY_COUNT  (sizeof(deadly) / sizeof(deadly[0]))
#define ALLOWED_COUNT (sizeof(allowed) / sizeof(allowed[0]))

static unsigned short answer(struct sock_filter *code, unsigned short n, int call, uint32_t action)
{
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	return n;
}

static int filter(void)
{
	struct sock_filter code[2 * (ALLOWED_COUNT + DEADLY_COUNT) + 8];
	struct sock_fprog program = { .filter = code };
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED_COUNT; i++)
		n = answer(code, n, allowed[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < DEADLY_COUNT; i++)
		n = answer(code, n, deadly[i], SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	program.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* Where a kernel has no seccomp the rest still holds. */
static int give_up_all(void)
{
	const struct rlimit none = { 0, 0 };
	int err = rights_drop(0);

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)setrlimit(RLIMIT_NPROC, &none);
#ifndef __SANITIZE_ADDRESS__ /* which needs more of both */
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };

	(void)setrlimit(RLIMIT_AS, &memory);
	if (!err)
		err = filter();
	if (err == -EINVAL || err == -ENOSYS)
		err = 0;
#endif
	return err;
}

/* ---- serving ---- */

/* The next file, or negative errno: the other side is gone. */
static int next_file(void)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char word;
	struct iovec data = { .iov_base = &word, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;
	int fd;

	do {
		n = recvmsg(ELFWORKER_FD, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

static int say(const void *bytes, size_t count)
{
	ssize_t n;

	for (size_t done = 0; done<count; done += n> 0 ? (size_t)n : 0) {
		n = write(ELFWORKER_FD, (const char *)bytes + done, count - done);
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static int read_table(int fd, struct buf *out)
{
	struct unwtable_view view;
	struct unwtable *t = NULL;
	struct ruleset *set = NULL;
	int err = ruleset_new(&set);

	if (!err)
		err = unwtable_from_fd(fd, set, &t, NULL);
	if (!err)
		unwtable_view(t, &view);
	if (!err && view.n_rows)
		err = unwtable_to_bytes(t, &elfworker_key, out);
	if (!err && out->size_bytes > ELFWORKER_TABLE_MAX)
		err = -EOVERFLOW;
	unwtable_free(t);
	ruleset_free(set);
	return err;
}

int elfworker_serve(void)
{
	struct elfworker_answer head;
	int fd, err = give_up_all();

	if (err)
		return 1;
	while ((fd = next_file()) >= 0) {
		struct buf table = { 0 };

		head.err = read_table(fd, &table);
		head.size_bytes = head.err ? 0 : (uint32_t)table.size_bytes;
		close(fd);
		err = say(&head, sizeof(head));
		if (!err)
			err = say(table.data, head.size_bytes);
		buf_done(&table);
		if (err)
			return 1;
	}
	return 0;
}
