/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/wait_reason.h"

#include <stddef.h>
#include <string.h>

const char *waitreason_text(enum wait_reason reason)
{
	static const char *const texts[WAITREASON_COUNT] = {
		[WAITREASON_OTHER] = "other",
		[WAITREASON_FUTEX] = "futex",
		[WAITREASON_EPOLL] = "epoll",
		[WAITREASON_POLL] = "poll",
		[WAITREASON_SELECT] = "select",
		[WAITREASON_NANOSLEEP] = "nanosleep",
		[WAITREASON_PIPE] = "pipe",
		[WAITREASON_SOCKET] = "socket",
		[WAITREASON_FILE] = "file",
		[WAITREASON_PAGE_FAULT] = "page fault",
		[WAITREASON_BLOCK_IO] = "block I/O",
		[WAITREASON_LOCK] = "lock",
		[WAITREASON_CHILD] = "child",
		[WAITREASON_TIMER] = "timer",
		[WAITREASON_SIGNAL] = "signal",
		[WAITREASON_EVENTFD] = "eventfd",
		[WAITREASON_IO_URING] = "io_uring",
		[WAITREASON_TTY] = "tty",
		[WAITREASON_READ] = "read",
		[WAITREASON_WRITE] = "write",
		[WAITREASON_KTHREAD] = "kernel thread",
		[WAITREASON_STOPPED] = "stopped",
		[WAITREASON_UNINTERRUPTIBLE] = "uninterruptible",
		[WAITREASON_PREEMPTED] = "preempted",
		[WAITREASON_RUN_QUEUE] = "run queue",
		[WAITREASON_ON_CPU] = "on CPU",
		[WAITREASON_BEFORE] = "since before the recording",
		[WAITREASON_UNKNOWN] = "unknown",
	};

	return texts[reason];
}

/* By the beginning of the name; the first that fits.  As of Linux 6.1 to 6.18. */
static const struct {
	const char *prefix;
	enum wait_reason reason;
} functions[] = {
	{ "futex_", WAITREASON_FUTEX },
	{ "__futex_", WAITREASON_FUTEX },
	{ "do_futex", WAITREASON_FUTEX },
	{ "ep_poll", WAITREASON_EPOLL },
	{ "do_epoll_", WAITREASON_EPOLL },
	{ "do_sys_poll", WAITREASON_POLL },
	{ "do_poll", WAITREASON_POLL },
	{ "do_select", WAITREASON_SELECT },
	{ "core_sys_select", WAITREASON_SELECT },
	{ "do_nanosleep", WAITREASON_NANOSLEEP },
	{ "hrtimer_nanosleep", WAITREASON_NANOSLEEP },
	{ "common_nsleep", WAITREASON_NANOSLEEP },
	{ "pipe_", WAITREASON_PIPE },
	{ "anon_pipe_", WAITREASON_PIPE },
	{ "fifo_", WAITREASON_PIPE },
	{ "wait_for_partner", WAITREASON_PIPE },
	{ "eventfd_", WAITREASON_EVENTFD },
	{ "timerfd_", WAITREASON_TIMER },
	{ "signalfd_", WAITREASON_SIGNAL },
	{ "n_tty_", WAITREASON_TTY },
	{ "tty_", WAITREASON_TTY },
	{ "io_cqring_", WAITREASON_IO_URING },
	{ "io_wq_", WAITREASON_IO_URING },
	{ "__do_sys_io_uring", WAITREASON_IO_URING },
	{ "sk_wait_", WAITREASON_SOCKET },
	{ "sk_stream_", WAITREASON_SOCKET },
	{ "sock_", WAITREASON_SOCKET },
	{ "__sock_", WAITREASON_SOCKET },
	{ "unix_", WAITREASON_SOCKET },
	{ "__unix_", WAITREASON_SOCKET },
	{ "tcp_", WAITREASON_SOCKET },
	{ "udp_", WAITREASON_SOCKET },
	{ "inet_", WAITREASON_SOCKET },
	{ "__skb_", WAITREASON_SOCKET },
	{ "netlink_", WAITREASON_SOCKET },
	{ "vsock_", WAITREASON_SOCKET },
	{ "do_wait_", WAITREASON_OTHER }, /* _intr_irq, _for_common: for whatever the caller says */
	{ "do_wait", WAITREASON_CHILD },
	{ "kernel_wait", WAITREASON_CHILD },
	{ "wait_for_vfork", WAITREASON_CHILD },
	{ "do_sigtimedwait", WAITREASON_SIGNAL },
	{ "sigsuspend", WAITREASON_SIGNAL },
	{ "do_signal_stop", WAITREASON_STOPPED },
	{ "ptrace_stop", WAITREASON_STOPPED },
	{ "rwsem_", WAITREASON_LOCK },
	{ "down_read", WAITREASON_LOCK },
	{ "down_write", WAITREASON_LOCK },
	{ "__mutex_lock", WAITREASON_LOCK },
	{ "mutex_lock", WAITREASON_LOCK },
	{ "percpu_rwsem", WAITREASON_LOCK },
	{ "__percpu_down", WAITREASON_LOCK },
	{ "__down_", WAITREASON_LOCK },
	{ "rt_mutex_", WAITREASON_LOCK },
	{ "locks_lock_inode_wait", WAITREASON_LOCK }, /* of files */
	{ "flock_lock_inode_wait", WAITREASON_LOCK },
	{ "posix_lock_inode_wait", WAITREASON_LOCK },
	{ "fcntl_setlk", WAITREASON_LOCK },
	{ "do_lock_file_wait", WAITREASON_LOCK },
	{ "io_schedule", WAITREASON_BLOCK_IO },
	{ "submit_bio_wait", WAITREASON_BLOCK_IO },
	{ "wait_for_completion_io", WAITREASON_BLOCK_IO },
	{ "__wait_on_buffer", WAITREASON_BLOCK_IO },
	{ "folio_wait_bit", WAITREASON_BLOCK_IO },
	{ "blk_", WAITREASON_BLOCK_IO },
	{ "jbd2_log_wait", WAITREASON_BLOCK_IO },
	{ "handle_mm_fault", WAITREASON_PAGE_FAULT },
	{ "do_user_addr_fault", WAITREASON_PAGE_FAULT },
	{ "exc_page_fault", WAITREASON_PAGE_FAULT },
	{ "asm_exc_page_fault", WAITREASON_PAGE_FAULT },
	{ "filemap_fault", WAITREASON_PAGE_FAULT },
	{ "vfs_fsync", WAITREASON_FILE },
	{ "ext4_", WAITREASON_FILE },
	{ "xfs_", WAITREASON_FILE },
	{ "btrfs_", WAITREASON_FILE },
	{ "generic_file_", WAITREASON_FILE },
	{ "filemap_", WAITREASON_FILE },
	{ "fuse_", WAITREASON_FILE },
	{ "nfs_", WAITREASON_FILE },
};

enum wait_reason waitreason_of_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strncmp(name, functions[i].prefix, strlen(functions[i].prefix)))
			return functions[i].reason;
	return WAITREASON_OTHER;
}

enum wait_reason waitreason_of_syscall(uint16_t syscall)
{
	static const struct {
		uint16_t number;
		enum wait_reason reason;
	} calls[] = {
		/* arch/x86/entry/syscalls/syscall_64.tbl */
		{ 0, WAITREASON_READ },       { 1, WAITREASON_WRITE },
		{ 7, WAITREASON_POLL },       { 17, WAITREASON_READ },
		{ 18, WAITREASON_WRITE },     { 19, WAITREASON_READ },
		{ 20, WAITREASON_WRITE },     { 23, WAITREASON_SELECT },
		{ 34, WAITREASON_SIGNAL },    { 35, WAITREASON_NANOSLEEP },
		{ 42, WAITREASON_SOCKET },    { 43, WAITREASON_SOCKET },
		{ 44, WAITREASON_SOCKET },    { 45, WAITREASON_SOCKET },
		{ 46, WAITREASON_SOCKET },    { 47, WAITREASON_SOCKET },
		{ 58, WAITREASON_CHILD },     { 61, WAITREASON_CHILD },
		{ 74, WAITREASON_FILE },      { 75, WAITREASON_FILE },
		{ 128, WAITREASON_SIGNAL },   { 130, WAITREASON_SIGNAL },
		{ 202, WAITREASON_FUTEX },    { 230, WAITREASON_NANOSLEEP },
		{ 232, WAITREASON_EPOLL },    { 247, WAITREASON_CHILD },
		{ 270, WAITREASON_SELECT },   { 271, WAITREASON_POLL },
		{ 281, WAITREASON_EPOLL },    { 288, WAITREASON_SOCKET },
		{ 299, WAITREASON_SOCKET },   { 307, WAITREASON_SOCKET },
		{ 426, WAITREASON_IO_URING }, { 441, WAITREASON_EPOLL },
		{ 449, WAITREASON_FUTEX },    { 455, WAITREASON_FUTEX },
	};

	for (size_t i = 0; syscall && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == syscall - 1)
			return calls[i].reason;
	return WAITREASON_OTHER;
}

void waitreason_begin(struct waitreason *w, enum wait_kind kind)
{
	*w = (struct waitreason){ .kind = kind };
}

void waitreason_function(struct waitreason *w, const char *name)
{
	enum wait_reason says = waitreason_of_function(name);

	w->is_kthread |= !strncmp(name, "kthread", 7) || !strncmp(name, "ret_from_fork", 13);
	/* A disk is waited for in the name of somebody: of a page fault it says more than of itself. */
	if (w->found == WAITREASON_OTHER ||
	    (w->found == WAITREASON_BLOCK_IO && says == WAITREASON_PAGE_FAULT))
		w->found = says;
}

enum wait_reason waitreason_end(const struct waitreason *w, uint16_t syscall)
{
	static const enum wait_reason plain[WAIT_KINDS] = {
		[WAIT_PREEMPTED] = WAITREASON_PREEMPTED, [WAIT_RUN_QUEUE] = WAITREASON_RUN_QUEUE,
		[WAIT_ON_CPU] = WAITREASON_ON_CPU,       [WAIT_BEFORE] = WAITREASON_BEFORE,
		[WAIT_UNKNOWN] = WAITREASON_UNKNOWN,
	};
	enum wait_reason by_call = waitreason_of_syscall(syscall);

	if (plain[w->kind] != WAITREASON_OTHER)
		return plain[w->kind];
	if (w->found != WAITREASON_OTHER)
		return w->found;
	if (w->kind == WAIT_STOP)
		return WAITREASON_STOPPED;
	if (by_call != WAITREASON_OTHER)
		return by_call;
	if (w->is_kthread)
		return WAITREASON_KTHREAD;
	return w->kind == WAIT_BLOCK ? WAITREASON_UNINTERRUPTIBLE : WAITREASON_OTHER;
}
