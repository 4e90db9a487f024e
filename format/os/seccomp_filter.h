/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seccomp_filter - a list of the system calls that a process may still make
 *
 * begin() adds the check of the architecture: calls of another one end the process.  Then come
 * rules, of which the first that matches a call decides; a call without a rule gets the answer that
 * install() is given.  Rules beyond the capacity are counted, and install() fails with -E2BIG.
 */
#ifndef EBPREC_FORMAT_OS_SECCOMP_FILTER_H
#define EBPREC_FORMAT_OS_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define SECCOMP_FILTER_MAX 640

/*
 * Calls that both the analyzer and the recorder may make, for their lists; what is added here is allowed to both.  Open
 * files, memory, waiting, threads, signals to itself, time, and what process, machine and user this is.  Those that are
 * called most come first: a kernel before 5.11 compares one after the other.
 */
#ifdef SYS_open /* older forms, which an older C library still calls */
#define SECCOMP_OLD_CALLS                                                                        \
	, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_dup2, SYS_pipe,       \
		SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_time, SYS_getrlimit, \
		SYS_getpgrp, SYS_arch_prctl
#else
#define SECCOMP_OLD_CALLS
#endif
#define SECCOMP_CALLS_OF_BOTH                                                                      \
	SYS_read, SYS_write, SYS_futex, SYS_pread64, SYS_epoll_pwait, SYS_munmap, SYS_mremap,      \
		SYS_madvise, SYS_brk, SYS_close, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_readv,  \
		SYS_preadv, SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_statx, SYS_fstatfs,         \
		SYS_statfs, SYS_dup, SYS_dup3, SYS_close_range, SYS_fadvise64, SYS_readahead,      \
		SYS_getdents64, SYS_readlinkat, SYS_faccessat, SYS_faccessat2, SYS_getcwd,         \
		SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_sync_file_range,       \
		SYS_flock, SYS_memfd_create, SYS_sendfile, SYS_copy_file_range, SYS_splice,        \
		SYS_mincore, SYS_msync, SYS_socketpair, SYS_sendmsg, SYS_recvmsg, SYS_ppoll,       \
		SYS_pselect6, SYS_pipe2, SYS_epoll_create1, SYS_epoll_ctl, SYS_eventfd2, SYS_rseq, \
		SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_sched_yield,    \
		SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_getcpu,     \
		SYS_membarrier, SYS_getpriority, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,  \
		SYS_rt_sigreturn, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigpending,         \
		SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,      \
		SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,           \
		SYS_gettimeofday, SYS_times, SYS_getrusage, SYS_getpid, SYS_gettid, SYS_getppid,   \
		SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,         \
		SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_uname, SYS_sysinfo,               \
		SYS_getrandom, SYS_umask, SYS_capget SECCOMP_OLD_CALLS

/* An answer is SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, or the errno that a call fails with. */
#define SECCOMP_FILTER_FAIL(err) (SECCOMP_RET_ERRNO | (uint32_t)(err))

struct seccomp_filter {
	struct sock_filter code[SECCOMP_FILTER_MAX];
	unsigned count;
};

/* Also allows what the kernel itself makes a program call at the return from a probed function. */
void seccomp_filter_begin(struct seccomp_filter *f);
void seccomp_filter_calls(struct seccomp_filter *f, const int *calls, size_t count,
			  uint32_t action);
/*
 * Rules compare the lower 32 bits of an argument; the kernel uses no more of the arguments that
 * have rules here. with: allowed with one of these values (at most 100), else it fails.  except:
 * fails with one of them, else it is allowed.  without: allowed with none of these bits.
 */
void seccomp_filter_with(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			 size_t count, int err);
void seccomp_filter_except(struct seccomp_filter *f, int call, unsigned arg, const uint32_t *values,
			   size_t count, int err);
void seccomp_filter_without(struct seccomp_filter *f, int call, unsigned arg, uint32_t bits,
			    int err);
/* clone() that makes threads; processes fail with EPERM. */
void seccomp_filter_threads(struct seccomp_filter *f);
/* open() by flags in this argument: for reading, or of a file that is made anew; else it fails. */
void seccomp_filter_open(struct seccomp_filter *f, int call, unsigned arg, int err);

/*
 * Installs the filter; needs no_new_privs. all_threads: for all threads of the process, else for
 * the calling thread and those that it starts. errno; -E2BIG: too many rules.
 */
int seccomp_filter_install(struct seccomp_filter *f, uint32_t otherwise, bool all_threads);

#endif
