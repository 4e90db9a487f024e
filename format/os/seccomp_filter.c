/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp_filter: which AUDIT_ARCH is this?"
#endif

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)

static void put(struct seccomp_filter *f, struct sock_filter one)
{
	if (f->count < SECCOMP_FILTER_MAX)
		f->code[f->count] = one;
	f->count++;
}

static void load(struct seccomp_filter *f, size_t offset)
{
	put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void load_arg(struct seccomp_filter *f, unsigned index)
{
	load(f, offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

/* Skips the next `count` instructions unless the loaded word is this value. */
static void unless_equal_skip(struct seccomp_filter *f, uint32_t value, size_t count)
{
	put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)count));
}

/* Skips them unless the loaded word has one of these bits. */
static void if_bits_skip(struct seccomp_filter *f, uint32_t bits, size_t count)
{
	put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, (uint8_t)count, 0));
}

static void answer(struct seccomp_filter *f, uint32_t action)
{
	put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

void seccomp_filter_begin(struct seccomp_filter *f)
{
#ifdef __x86_64__
	/*
	 * uretprobe, since Linux 6.11: filters were applied to it, and a refused process crashed at the probed return, until
	 * 6.14 (kernel commit cf6cb56ef244; 6.12 and 6.13 got it later).  uprobe (6.18) never asks a filter.
	 */
	static const int of_probes[] = { 335 };
#endif

	f->count = 0;
	load(f, offsetof(struct seccomp_data, arch));
	unless_equal_skip(f, OUR_ARCH, 1);
	put(f, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	answer(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	seccomp_filter_calls(f, of_probes, 1, SECCOMP_RET_ALLOW);
#endif
}

void seccomp_filter_calls(struct seccomp_filter *f, const int *calls, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++) {
		unless_equal_skip(f, (uint32_t)calls[i], 1);
		answer(f, action);
	}
}

static void by_values(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
		      size_t count, uint32_t listed, uint32_t others)
{
	unless_equal_skip(f, (uint32_t)call, 2 * count + 2);
	load_arg(f, arg);
	for (size_t i = 0; i < count; i++) {
		unless_equal_skip(f, values[i], 1);
		answer(f, listed);
	}
	answer(f, others);
}

void seccomp_filter_with(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			 size_t count, int err)
{
	by_values(f, call, arg, values, count, SECCOMP_RET_ALLOW, SECCOMP_FILTER_FAIL(err));
}

void seccomp_filter_except(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			   size_t count, int err)
{
	by_values(f, call, arg, values, count, SECCOMP_FILTER_FAIL(err), SECCOMP_RET_ALLOW);
}

void seccomp_filter_without(struct seccomp_filter *f, int call, unsigned arg, uint32_t bits,
			    int err)
{
	unless_equal_skip(f, (uint32_t)call, 4);
	load_arg(f, arg);
	if_bits_skip(f, bits, 1);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_FILTER_FAIL(err));
}

void seccomp_filter_threads(struct seccomp_filter *f)
{
	unless_equal_skip(f, SYS_clone, 4);
	load_arg(f, 0);
	if_bits_skip(f, CLONE_THREAD, 1);
	answer(f, SECCOMP_FILTER_FAIL(EPERM));
	answer(f, SECCOMP_RET_ALLOW);
}

void seccomp_filter_open(struct seccomp_filter *f, int call, unsigned arg, int err)
{
	unless_equal_skip(f, (uint32_t)call, 8);
	load_arg(f, arg);
	if_bits_skip(f, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 1);
	answer(f, SECCOMP_RET_ALLOW);
	if_bits_skip(f, TMPFILE_BIT, 2); /* a new file without a name */
	put(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_CREAT | O_EXCL));
	unless_equal_skip(f, O_CREAT | O_EXCL, 1);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_FILTER_FAIL(err));
}

int seccomp_filter_install(struct seccomp_filter *f, uint32_t otherwise, bool all_threads)
{
	struct sock_fprog program = { .filter = f->code };
	long result;

	answer(f, otherwise);
	if (f->count > SECCOMP_FILTER_MAX)
		return -E2BIG;
	program.len = (unsigned short)f->count;
	if (!all_threads)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	/* Positive: a thread that has another filter. */
	return result < 0 ? -errno : result ? -EBUSY : 0;
}
