/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/main_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/os/seccomp_filter.h"

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static const int allowed[] = {
	SECCOMP_CALLS_OF_BOTH,
	/* rings, files and memory */
	SYS_fcntl,
	SYS_syncfs,
	SYS_name_to_handle_at,
	SYS_inotify_add_watch,
	SYS_inotify_rm_watch,
	SYS_mmap,
	SYS_mprotect,
	SYS_mlock,
	SYS_mlock2,
	SYS_munlock,
	/* its own files: the capture, the next ones, caches, copies of deleted programs */
	SYS_mkdirat,
	SYS_unlinkat,
	SYS_renameat,
	SYS_renameat2,
	SYS_linkat,
	SYS_fchmod,
	SYS_fchown,
	SYS_utimensat,
	/* events */
	SYS_perf_event_open,
	SYS_signalfd4,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_timerfd_gettime,
	/* sockets that are there already, and pairs of them */
	SYS_accept4,
	SYS_sendto,
	SYS_recvfrom,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_shutdown,
	/* threads, COMMAND, and processes of ours, which are in the filter and give up more */
	SYS_clone,
	SYS_clone3,
	SYS_execve,
	SYS_kill,
	SYS_tgkill,
	SYS_pidfd_open,
	SYS_pidfd_send_signal,
	SYS_setpgid,
	SYS_prctl,
	SYS_seccomp,
	SYS_capset,
	SYS_prlimit64,
	SYS_sched_setaffinity,
	SYS_sched_setscheduler,
	SYS_sched_getattr,
	SYS_sched_setattr,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_setpriority,
#ifdef SYS_open /* older forms, which an older C library still calls */
	SYS_eventfd,
	SYS_signalfd,
	SYS_mkdir,
	SYS_rmdir,
	SYS_unlink,
	SYS_rename,
	SYS_link,
	SYS_vfork,
	SYS_setrlimit,
#endif
#ifdef __SANITIZE_ADDRESS__
	SYS_ptrace,
#endif
};

/* Maps, links to programs that were loaded at the start, and what is asked of either. */
static const uint32_t allowed_bpf[] = {
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_MAP_CREATE,
	BPF_MAP_FREEZE,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_PROG_GET_NEXT_ID,
	BPF_PROG_GET_FD_BY_ID,
	BPF_BTF_GET_FD_BY_ID,
	BPF_PROG_TEST_RUN,
	BPF_LINK_CREATE,
	BPF_LINK_DETACH,
	BPF_ITER_CREATE,
};

/* Nothing is typed into a terminal for the shell to read. */
static const uint32_t refused_ioctls[] = { TIOCSTI, TIOCLINUX };

int main_filter_enter(void)
{
	struct seccomp_filter f;

	seccomp_filter_begin(&f);
	seccomp_filter_with(&f, SYS_bpf, 0, allowed_bpf, COUNT_OF(allowed_bpf), EPERM);
	seccomp_filter_except(&f, SYS_ioctl, 1, refused_ioctls, COUNT_OF(refused_ioctls), EPERM);
#ifdef SYS_open
	seccomp_filter_open(&f, SYS_open, 1, EACCES);
#endif
	seccomp_filter_open(&f, SYS_openat, 2, EACCES);
	seccomp_filter_without(&f, SYS_open_by_handle_at, 2, O_WRONLY | O_RDWR | O_TRUNC, EACCES);
	seccomp_filter_calls(&f, allowed, COUNT_OF(allowed), SECCOMP_RET_ALLOW);
	return seccomp_filter_install(&f, SECCOMP_FILTER_FAIL(ENOSYS), /* all_threads= */ true);
}
