/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/wait_reason.h"

#include <stddef.h>
#include <string.h>

const char *wait_reason_text(enum wait_reason reason)
{
	static const char *const texts[WAIT_REASON_COUNT] = {
		[WAIT_REASON_OTHER] = "other",
		[WAIT_REASON_FUTEX] = "futex",
		[WAIT_REASON_EPOLL] = "epoll",
		[WAIT_REASON_POLL] = "poll",
		[WAIT_REASON_SELECT] = "select",
		[WAIT_REASON_NANOSLEEP] = "nanosleep",
		[WAIT_REASON_PIPE] = "pipe",
		[WAIT_REASON_SOCKET] = "socket",
		[WAIT_REASON_FILE] = "file",
		[WAIT_REASON_PAGE_FAULT] = "page fault",
		[WAIT_REASON_BLOCK_IO] = "block I/O",
		[WAIT_REASON_LOCK] = "lock",
		[WAIT_REASON_CHILD] = "child",
		[WAIT_REASON_TIMER] = "timer",
		[WAIT_REASON_SIGNAL] = "signal",
		[WAIT_REASON_EVENTFD] = "eventfd",
		[WAIT_REASON_IO_URING] = "io_uring",
		[WAIT_REASON_TTY] = "tty",
		[WAIT_REASON_READ] = "read",
		[WAIT_REASON_WRITE] = "write",
		[WAIT_REASON_KTHREAD] = "kernel thread",
		[WAIT_REASON_STOPPED] = "stopped",
		[WAIT_REASON_UNINTERRUPTIBLE] = "uninterruptible",
		[WAIT_REASON_PREEMPTED] = "preempted",
		[WAIT_REASON_RUN_QUEUE] = "run queue",
		[WAIT_REASON_ON_CPU] = "on CPU",
		[WAIT_REASON_BEFORE] = "since before the recording",
		[WAIT_REASON_UNKNOWN] = "unknown",
	};

	return texts[reason];
}

/* By the beginning of the name; the first that fits.  As of Linux 6.1 to 6.18. */
static const struct {
	const char *prefix;
	enum wait_reason reason;
} functions[] = {
	{ "futex_", WAIT_REASON_FUTEX },
	{ "__futex_", WAIT_REASON_FUTEX },
	{ "do_futex", WAIT_REASON_FUTEX },
	{ "ep_poll", WAIT_REASON_EPOLL },
	{ "do_epoll_", WAIT_REASON_EPOLL },
	{ "do_sys_poll", WAIT_REASON_POLL },
	{ "do_poll", WAIT_REASON_POLL },
	{ "do_select", WAIT_REASON_SELECT },
	{ "core_sys_select", WAIT_REASON_SELECT },
	{ "do_nanosleep", WAIT_REASON_NANOSLEEP },
	{ "hrtimer_nanosleep", WAIT_REASON_NANOSLEEP },
	{ "common_nsleep", WAIT_REASON_NANOSLEEP },
	{ "pipe_", WAIT_REASON_PIPE },
	{ "anon_pipe_", WAIT_REASON_PIPE },
	{ "fifo_", WAIT_REASON_PIPE },
	{ "wait_for_partner", WAIT_REASON_PIPE },
	{ "eventfd_", WAIT_REASON_EVENTFD },
	{ "timerfd_", WAIT_REASON_TIMER },
	{ "signalfd_", WAIT_REASON_SIGNAL },
	{ "n_tty_", WAIT_REASON_TTY },
	{ "tty_", WAIT_REASON_TTY },
	{ "io_cqring_", WAIT_REASON_IO_URING },
	{ "io_wq_", WAIT_REASON_IO_URING },
	{ "__do_sys_io_uring", WAIT_REASON_IO_URING },
	{ "sk_wait_", WAIT_REASON_SOCKET },
	{ "sk_stream_", WAIT_REASON_SOCKET },
	{ "sock_", WAIT_REASON_SOCKET },
	{ "__sock_", WAIT_REASON_SOCKET },
	{ "unix_", WAIT_REASON_SOCKET },
	{ "__unix_", WAIT_REASON_SOCKET },
	{ "tcp_", WAIT_REASON_SOCKET },
	{ "udp_", WAIT_REASON_SOCKET },
	{ "inet_", WAIT_REASON_SOCKET },
	{ "__skb_", WAIT_REASON_SOCKET },
	{ "netlink_", WAIT_REASON_SOCKET },
	{ "vsock_", WAIT_REASON_SOCKET },
	{ "do_wait_",
	  WAIT_REASON_OTHER }, /* _intr_irq, _for_common: the caller decides the reason */
	{ "do_wait", WAIT_REASON_CHILD },
	{ "kernel_wait", WAIT_REASON_CHILD },
	{ "wait_for_vfork", WAIT_REASON_CHILD },
	{ "do_sigtimedwait", WAIT_REASON_SIGNAL },
	{ "sigsuspend", WAIT_REASON_SIGNAL },
	{ "do_signal_stop", WAIT_REASON_STOPPED },
	{ "ptrace_stop", WAIT_REASON_STOPPED },
	{ "rwsem_", WAIT_REASON_LOCK },
	{ "down_read", WAIT_REASON_LOCK },
	{ "down_write", WAIT_REASON_LOCK },
	{ "__mutex_lock", WAIT_REASON_LOCK },
	{ "mutex_lock", WAIT_REASON_LOCK },
	{ "percpu_rwsem", WAIT_REASON_LOCK },
	{ "__percpu_down", WAIT_REASON_LOCK },
	{ "__down_", WAIT_REASON_LOCK },
	{ "rt_mutex_", WAIT_REASON_LOCK },
	{ "locks_lock_inode_wait", WAIT_REASON_LOCK }, /* of files */
	{ "flock_lock_inode_wait", WAIT_REASON_LOCK },
	{ "posix_lock_inode_wait", WAIT_REASON_LOCK },
	{ "fcntl_setlk", WAIT_REASON_LOCK },
	{ "do_lock_file_wait", WAIT_REASON_LOCK },
	{ "io_schedule", WAIT_REASON_BLOCK_IO },
	{ "submit_bio_wait", WAIT_REASON_BLOCK_IO },
	{ "wait_for_completion_io", WAIT_REASON_BLOCK_IO },
	{ "__wait_on_buffer", WAIT_REASON_BLOCK_IO },
	{ "folio_wait_bit", WAIT_REASON_BLOCK_IO },
	{ "blk_", WAIT_REASON_BLOCK_IO },
	{ "jbd2_log_wait", WAIT_REASON_BLOCK_IO },
	{ "handle_mm_fault", WAIT_REASON_PAGE_FAULT },
	{ "do_user_addr_fault", WAIT_REASON_PAGE_FAULT },
	{ "exc_page_fault", WAIT_REASON_PAGE_FAULT },
	{ "asm_exc_page_fault", WAIT_REASON_PAGE_FAULT },
	{ "filemap_fault", WAIT_REASON_PAGE_FAULT },
	{ "vfs_fsync", WAIT_REASON_FILE },
	{ "ext4_", WAIT_REASON_FILE },
	{ "xfs_", WAIT_REASON_FILE },
	{ "btrfs_", WAIT_REASON_FILE },
	{ "generic_file_", WAIT_REASON_FILE },
	{ "filemap_", WAIT_REASON_FILE },
	{ "fuse_", WAIT_REASON_FILE },
	{ "nfs_", WAIT_REASON_FILE },
};

/* The reason of a function on the kernel stack; WAIT_REASON_OTHER: none. */
static enum wait_reason reason_of_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strncmp(name, functions[i].prefix, strlen(functions[i].prefix)))
			return functions[i].reason;
	return WAIT_REASON_OTHER;
}

bool wait_reason_is_scheduler(const char *name)
{
	/* kernel/sched/core.c, kernel/time/sleep_timeout.c */
	static const char *const starts[] = { "__schedule", "schedule", "io_schedule",
					      "preempt_schedule", "__cond_resched" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

struct call_reason {
	uint16_t number;
	enum wait_reason reason;
};

/* arch/x86/entry/syscalls/syscall_64.tbl */
static const struct call_reason calls_x86_64[] = {
	{ 0, WAIT_REASON_READ },       { 1, WAIT_REASON_WRITE },    { 7, WAIT_REASON_POLL },
	{ 17, WAIT_REASON_READ },      { 18, WAIT_REASON_WRITE },   { 19, WAIT_REASON_READ },
	{ 20, WAIT_REASON_WRITE },     { 23, WAIT_REASON_SELECT },  { 34, WAIT_REASON_SIGNAL },
	{ 35, WAIT_REASON_NANOSLEEP }, { 42, WAIT_REASON_SOCKET },  { 43, WAIT_REASON_SOCKET },
	{ 44, WAIT_REASON_SOCKET },    { 45, WAIT_REASON_SOCKET },  { 46, WAIT_REASON_SOCKET },
	{ 47, WAIT_REASON_SOCKET },    { 58, WAIT_REASON_CHILD },   { 61, WAIT_REASON_CHILD },
	{ 74, WAIT_REASON_FILE },      { 75, WAIT_REASON_FILE },    { 128, WAIT_REASON_SIGNAL },
	{ 130, WAIT_REASON_SIGNAL },   { 202, WAIT_REASON_FUTEX },  { 230, WAIT_REASON_NANOSLEEP },
	{ 232, WAIT_REASON_EPOLL },    { 247, WAIT_REASON_CHILD },  { 270, WAIT_REASON_SELECT },
	{ 271, WAIT_REASON_POLL },     { 281, WAIT_REASON_EPOLL },  { 288, WAIT_REASON_SOCKET },
	{ 299, WAIT_REASON_SOCKET },   { 307, WAIT_REASON_SOCKET }, { 426, WAIT_REASON_IO_URING },
	{ 441, WAIT_REASON_EPOLL },    { 449, WAIT_REASON_FUTEX },  { 455, WAIT_REASON_FUTEX },
};

/* include/uapi/asm-generic/unistd.h */
static const struct call_reason calls_aarch64[] = {
	{ 22, WAIT_REASON_EPOLL },      { 63, WAIT_REASON_READ },
	{ 64, WAIT_REASON_WRITE },      { 65, WAIT_REASON_READ },
	{ 66, WAIT_REASON_WRITE },      { 67, WAIT_REASON_READ },
	{ 68, WAIT_REASON_WRITE },      { 72, WAIT_REASON_SELECT },
	{ 73, WAIT_REASON_POLL },       { 82, WAIT_REASON_FILE },
	{ 83, WAIT_REASON_FILE },       { 95, WAIT_REASON_CHILD },
	{ 98, WAIT_REASON_FUTEX },      { 101, WAIT_REASON_NANOSLEEP },
	{ 115, WAIT_REASON_NANOSLEEP }, { 133, WAIT_REASON_SIGNAL },
	{ 137, WAIT_REASON_SIGNAL },    { 202, WAIT_REASON_SOCKET },
	{ 203, WAIT_REASON_SOCKET },    { 206, WAIT_REASON_SOCKET },
	{ 207, WAIT_REASON_SOCKET },    { 211, WAIT_REASON_SOCKET },
	{ 212, WAIT_REASON_SOCKET },    { 242, WAIT_REASON_SOCKET },
	{ 243, WAIT_REASON_SOCKET },    { 260, WAIT_REASON_CHILD },
	{ 269, WAIT_REASON_SOCKET },    { 426, WAIT_REASON_IO_URING },
	{ 441, WAIT_REASON_EPOLL },     { 449, WAIT_REASON_FUTEX },
	{ 455, WAIT_REASON_FUTEX },
};

/* The reason of a system call, by its number and 1 (0: none). */
static enum wait_reason reason_of_syscall(enum call_abi abi, uint16_t syscall)
{
	const struct call_reason *calls = abi == CALL_ABI_AARCH64 ? calls_aarch64 : calls_x86_64;
	size_t count = abi == CALL_ABI_AARCH64 ? sizeof(calls_aarch64) : sizeof(calls_x86_64);

	for (size_t i = 0; syscall && i < count / sizeof(*calls); i++)
		if (calls[i].number == syscall - 1)
			return calls[i].reason;
	return WAIT_REASON_OTHER;
}

void wait_reason_begin(struct wait_reasons *w, enum wait_kind kind)
{
	*w = (struct wait_reasons){ .kind = kind };
}

void wait_reason_function(struct wait_reasons *w, const char *name)
{
	enum wait_reason reason = reason_of_function(name);

	w->is_kthread |= !strncmp(name, "kthread", 7) || !strncmp(name, "ret_from_fork", 13);
	/* A wait for a disk has a cause: a page fault names it better than the disk does. */
	if (w->found == WAIT_REASON_OTHER ||
	    (w->found == WAIT_REASON_BLOCK_IO && reason == WAIT_REASON_PAGE_FAULT))
		w->found = reason;
}

enum wait_reason wait_reason_end(const struct wait_reasons *w, enum call_abi abi, uint16_t syscall)
{
	static const enum wait_reason plain[WAIT_KINDS] = {
		[WAIT_PREEMPTED] = WAIT_REASON_PREEMPTED, [WAIT_RUN_QUEUE] = WAIT_REASON_RUN_QUEUE,
		[WAIT_ON_CPU] = WAIT_REASON_ON_CPU,       [WAIT_BEFORE] = WAIT_REASON_BEFORE,
		[WAIT_UNKNOWN] = WAIT_REASON_UNKNOWN,
	};
	enum wait_reason by_call = reason_of_syscall(abi, syscall);

	if (plain[w->kind] != WAIT_REASON_OTHER)
		return plain[w->kind];
	if (w->found != WAIT_REASON_OTHER)
		return w->found;
	if (w->kind == WAIT_STOP)
		return WAIT_REASON_STOPPED;
	if (by_call != WAIT_REASON_OTHER)
		return by_call;
	if (w->is_kthread)
		return WAIT_REASON_KTHREAD;
	return w->kind == WAIT_BLOCK ? WAIT_REASON_UNINTERRUPTIBLE : WAIT_REASON_OTHER;
}
