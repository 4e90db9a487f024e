/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/syscall/category.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 40

/* Names between spaces. */
static const struct {
	const char *category, *names;
} categories[] = {
	{ "file_io",
	  " read write open close stat fstat lstat newfstatat fstatat statx lseek _llseek ioctl pread64"
	  " pwrite64 readv writev preadv pwritev preadv2 pwritev2 access faccessat faccessat2 dup dup2"
	  " dup3 sendfile splice tee vmsplice copy_file_range fcntl flock lock fsync fdatasync sync"
	  " syncfs sync_file_range truncate ftruncate getdents readdir getcwd chdir fchdir rename renameat"
	  " renameat2 mkdir mkdirat rmdir creat link linkat unlink unlinkat symlink symlinkat readlink"
	  " readlinkat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask utime utimes"
	  " futimesat utimensat mknod mknodat openat openat2 close_range readahead fadvise64 fallocate"
	  " setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"
	  " removexattr lremovexattr fremovexattr setxattrat getxattrat listxattrat removexattrat"
	  " file_getattr file_setattr statfs fstatfs ustat oldstat oldlstat oldfstat name_to_handle_at"
	  " open_by_handle_at inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init"
	  " fanotify_mark poll ppoll select _newselect pselect6 epoll_create epoll_create1 epoll_ctl"
	  " epoll_wait epoll_pwait epoll_pwait2 epoll_ctl_old epoll_wait_old io_setup io_destroy"
	  " io_getevents io_pgetevents io_submit io_cancel io_uring_setup io_uring_enter"
	  " io_uring_register cachestat bdflush lookup_dcookie " },
	{ "memory",
	  " mmap mmap2 munmap mremap mprotect pkey_mprotect pkey_alloc pkey_free brk msync mincore"
	  " madvise process_madvise mlock mlock2 munlock mlockall munlockall remap_file_pages mbind"
	  " set_mempolicy get_mempolicy set_mempolicy_home_node migrate_pages move_pages"
	  " memfd_create memfd_secret userfaultfd map_shadow_stack mseal process_mrelease"
	  " process_vm_readv process_vm_writev swapon swapoff " },
	{ "process",
	  " clone clone3 fork vfork execve execveat exit exit_group wait4 waitpid waitid getpid"
	  " getppid gettid getpgid getpgrp setpgid getsid setsid set_tid_address personality prctl"
	  " arch_prctl set_thread_area get_thread_area modify_ldt rseq membarrier unshare setns"
	  " kcmp ptrace pidfd_open pidfd_getfd getpriority setpriority nice ioprio_set ioprio_get"
	  " sched_yield sched_setparam sched_getparam sched_setscheduler sched_getscheduler"
	  " sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_setaffinity"
	  " sched_getaffinity sched_setattr sched_getattr getcpu getrlimit ugetrlimit setrlimit"
	  " prlimit64 ulimit getrusage times acct vm86 vm86old profil prof uselib " },
	{ "network",
	  " socket socketpair connect accept accept4 bind listen sendto recvfrom sendmsg recvmsg"
	  " sendmmsg recvmmsg shutdown getsockname getpeername setsockopt getsockopt socketcall"
	  " getpmsg putpmsg " },
	{ "time",
	  " nanosleep clock_nanosleep gettimeofday settimeofday time stime ftime clock_gettime"
	  " clock_settime clock_getres clock_adjtime adjtimex timer_create timer_settime"
	  " timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime"
	  " timerfd_gettime getitimer setitimer alarm " },
	{ "ipc",
	  " pipe pipe2 futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list"
	  " get_robust_list eventfd eventfd2 ipc shmget shmat shmctl shmdt semget semop semctl"
	  " semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive"
	  " mq_notify mq_getsetattr " },
	{ "security",
	  " getuid setuid geteuid getgid setgid getegid setreuid setregid setresuid getresuid"
	  " setresgid getresgid setfsuid setfsgid getgroups setgroups capget capset seccomp"
	  " landlock_create_ruleset landlock_add_rule landlock_restrict_self keyctl add_key"
	  " request_key lsm_get_self_attr lsm_set_self_attr lsm_list_modules security " },
	{ "signal",
	  " rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo"
	  " rt_sigsuspend rt_tgsigqueueinfo sigaltstack sigaction sigprocmask sigpending"
	  " sigsuspend sigreturn signal sgetmask ssetmask kill tkill tgkill pause signalfd"
	  " signalfd4 pidfd_send_signal " },
	{ "system",
	  " uname olduname oldolduname sysinfo syslog sethostname setdomainname reboot kexec_load"
	  " kexec_file_load init_module finit_module delete_module create_module query_module"
	  " get_kernel_syms mount umount umount2 mount_setattr move_mount open_tree open_tree_attr"
	  " fsopen fsconfig fsmount fspick statmount listmount pivot_root chroot sysfs _sysctl"
	  " quotactl quotactl_fd nfsservctl iopl ioperm vhangup idle bpf perf_event_open"
	  " getrandom " },
	{ "other", " restart_syscall afs_syscall tuxcall vserver break gtty stty mpx " },
};

#define COUNT     (sizeof(categories) / sizeof(categories[0]))
#define OF_OTHERS (COUNT - 1)

const char *syscall_category_at(size_t i)
{
	return i < COUNT ? categories[i].category : NULL;
}

/* NULL: in none. */
static const char *find(const char *name, size_t bytes)
{
	char word[NAME_BYTES + 2];

	if (!bytes || bytes >= NAME_BYTES)
		return NULL;
	snprintf(word, sizeof(word), " %.*s ", (int)bytes, name);
	for (size_t i = 0; i < COUNT; i++) {
		if (strstr(categories[i].names, word))
			return categories[i].category;
	}
	return NULL;
}

const char *syscall_category_of(const char *name)
{
	static const char *const endings[] = { "", "_time64", "64", "32", "_64" };
	size_t bytes = strlen(name), end;
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && !found; i++) {
		end = strlen(endings[i]);
		if (bytes > end && !strcmp(name + bytes - end, endings[i]))
			found = find(name, bytes - end);
	}
	return found ? found : categories[OF_OTHERS].category;
}
