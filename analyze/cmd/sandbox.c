/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- landlock; the numbers of linux/landlock.h, of which older headers have only the first ---- */

#define FS_EXECUTE     (1ULL << 0)
#define FS_WRITE_FILE  (1ULL << 1)
#define FS_READ_FILE   (1ULL << 2)
#define FS_READ_DIR    (1ULL << 3)
#define FS_REMOVE_DIR  (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR    (1ULL << 7)
#define FS_MAKE_REG    (1ULL << 8)
#define FS_TRUNCATE    (1ULL << 14)

#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_WRITE \
	(FS_WRITE_FILE | FS_REMOVE_FILE | FS_REMOVE_DIR | FS_MAKE_DIR | FS_MAKE_REG | FS_TRUNCATE)
/* What a rule may say of a file that is no folder. */
#define FS_OF_FILE (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

#define NET_ALL    3ULL /* bind and connect of TCP */
#define SCOPED_ALL 3ULL /* abstract sockets of others, signals to others */

#define RULESET_VERSION 1U
#define RULE_PATH       1

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

/* How many bits of fs there are, from version 1 on; and how much of the struct. */
static struct ruleset_attr known_to(long version, size_t *attr_bytes)
{
	static const unsigned bits[] = { 13, 14, 15, 15, 16 };
	size_t last = sizeof(bits) / sizeof(bits[0]);
	unsigned count = bits[(size_t)version < last ? (size_t)version - 1 : last - 1];

	*attr_bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
	return (struct ruleset_attr){
		.fs = (1ULL << count) - 1,
		.net = version >= 4 ? NET_ALL : 0,
		.scoped = version >= 6 ? SCOPED_ALL : 0,
	};
}

static int allow(int ruleset, const char *path, uint64_t access)
{
	struct path_attr rule = { .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int err = 0;

	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		access &= FS_OF_FILE;
	rule.allowed = access;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

static int enter_landlock(const struct sandbox_opts *o)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, RULESET_VERSION);
	struct ruleset_attr attr;
	size_t attr_bytes, i;
	int ruleset, err = 0;

	if (version < 1)
		return -ENOSYS;
	attr = known_to(version, &attr_bytes);
	if (o->network)
		attr.net = 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_bytes, 0);
	if (ruleset < 0)
		return -errno;
	for (i = 0; i < o->read_count && !err; i++)
		err = allow(ruleset, o->read[i], FS_READ & attr.fs);
	for (i = 0; i < o->write_count && !err; i++)
		err = allow(ruleset, o->write[i], (FS_READ | FS_WRITE) & attr.fs);
	if (!err && syscall(SYS_landlock_restrict_self, ruleset, 0))
		err = -errno;
	close(ruleset);
	return err;
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "sandbox: which AUDIT_ARCH is this?"
#endif

#define X32_BIT 0x40000000U

/* Programs, processes, the kernel, owners and modes by path, and what gets around a filter. */
static const int refused[] = {
	SYS_execve,
	SYS_execveat,
	SYS_unshare,
	SYS_setns,
#ifndef __SANITIZE_ADDRESS__
	SYS_ptrace,
#endif
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_pidfd_open,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_kill,
	SYS_tkill,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_io_uring_setup,
	SYS_userfaultfd,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsmount,
	SYS_mount_setattr,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_open_by_handle_at,
	SYS_quotactl,
	SYS_acct,
	SYS_syslog,
	SYS_personality,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_truncate,
	SYS_mknodat,
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_capset,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
	SYS_chown,
	SYS_lchown,
	SYS_mknod,
#endif
};
/* libdebuginfod tells its cache by these when it was last used. */
static const int refused_offline[] = {
	SYS_socket, SYS_socketpair, SYS_connect,  SYS_bind,      SYS_listen,
	SYS_accept, SYS_accept4,    SYS_fchmodat, SYS_utimensat,
#ifdef SYS_chmod
	SYS_chmod,  SYS_utime,      SYS_utimes,   SYS_futimesat,
#endif
};

#define FILTER_MAX 256

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short count;
};

static void put(struct filter *f, struct sock_filter one)
{
	if (f->count < FILTER_MAX)
		f->code[f->count] = one;
	f->count++;
}

static void load(struct filter *f, size_t offset)
{
	put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Where the loaded word is not this value, the next `count` instructions are passed over. */
static void unless_equal_skip(struct filter *f, uint32_t value, uint8_t count)
{
	put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
}

static void answer(struct filter *f, uint32_t action)
{
	put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void refuse(struct filter *f, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unless_equal_skip(f, (uint32_t)calls[i], 1);
		answer(f, SECCOMP_RET_ERRNO | EPERM);
	}
}

/* Threads, yes; processes, no.  The leak sanitizer looks from a process of its own. */
#ifndef __SANITIZE_ADDRESS__
static void only_threads(struct filter *f)
{
	unless_equal_skip(f, SYS_clone3,
			  1); /* its flags are in memory: the library then takes clone */
	answer(f, SECCOMP_RET_ERRNO | ENOSYS);
	unless_equal_skip(f, SYS_clone, 4);
	load(f, offsetof(struct seccomp_data, args[0]));
	put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
	answer(f, SECCOMP_RET_ERRNO | EPERM);
	answer(f, SECCOMP_RET_ALLOW);
}
#endif

/* abort() and pthread_kill() signal their own process. */
static void only_own_signals(struct filter *f)
{
	unless_equal_skip(f, SYS_tgkill, 4);
	load(f, offsetof(struct seccomp_data, args[0]));
	unless_equal_skip(f, (uint32_t)getpid(), 1);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Nothing is typed into the terminal for the shell to read. */
static void no_typing(struct filter *f)
{
	unless_equal_skip(f, SYS_ioctl, 6);
	load(f, offsetof(struct seccomp_data, args[1]));
	unless_equal_skip(f, TIOCSTI, 1);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
	unless_equal_skip(f, TIOCLINUX, 1);
	answer(f, SECCOMP_RET_ERRNO | EPERM);
	answer(f, SECCOMP_RET_ALLOW);
}

static int enter_seccomp(const struct sandbox_opts *o)
{
	struct filter f = { .count = 0 };
	struct sock_fprog program = { .filter = f.code };

	load(&f, offsetof(struct seccomp_data, arch));
	put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0));
	answer(&f, SECCOMP_RET_KILL_PROCESS);
	load(&f, offsetof(struct seccomp_data, nr));
	put(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
	answer(&f, SECCOMP_RET_ERRNO | ENOSYS);
	refuse(&f, refused, sizeof(refused) / sizeof(refused[0]));
	if (!o->network)
		refuse(&f, refused_offline, sizeof(refused_offline) / sizeof(refused_offline[0]));
#ifndef __SANITIZE_ADDRESS__
	only_threads(&f);
#endif
	only_own_signals(&f);
	no_typing(&f);
	answer(&f, SECCOMP_RET_ALLOW);
	if (f.count > FILTER_MAX)
		return -E2BIG;
	program.len = f.count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

unsigned sandbox_enter(const struct sandbox_opts *opts)
{
	unsigned parts = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	if (!enter_landlock(opts))
		parts |= SANDBOX_LANDLOCK;
	if (!enter_seccomp(opts))
		parts |= SANDBOX_SECCOMP;
	return parts;
}
