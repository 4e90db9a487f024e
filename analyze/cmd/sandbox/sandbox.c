/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/os/seccomp_filter.h"

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
/* The rights of a rule for a file that is no folder. */
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

/* Some words of the command line are no paths: no file of such a name could be opened later, either. */
static bool names_nothing(int code)
{
	return code == ENOENT || code == EACCES || code == ENOTDIR || code == ENAMETOOLONG;
}

static int allow(int ruleset, const char *path, uint64_t access)
{
	struct path_attr rule = { .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int err = 0;

	if (rule.parent_fd < 0)
		return names_nothing(errno) ? 0 : -errno;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		access &= FS_OF_FILE;
	rule.allowed = access;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

/* -ENOSYS: this kernel has none, or it was switched off at boot. */
static int enter_landlock(const struct sandbox_opts *o)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, RULESET_VERSION);
	struct ruleset_attr attr;
	size_t attr_bytes, i;
	int ruleset, err = 0;

	if (version < 1)
		return errno == EOPNOTSUPP ? -ENOSYS : -errno;
	attr = known_to(version, &attr_bytes);
	if (o->network)
		attr.net = 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_bytes, 0);
	if (ruleset < 0)
		return -errno;
	for (i = 0; i < o->read_count && !err; i++)
		err = allow(ruleset, o->read[i], FS_READ & attr.fs);
	for (i = 0; i < o->list_count && !err; i++)
		err = allow(ruleset, o->list[i], FS_READ_DIR & attr.fs);
	for (i = 0; i < o->write_count && !err; i++)
		err = allow(ruleset, o->write[i], (FS_READ_DIR | FS_WRITE) & attr.fs);
	if (!err && syscall(SYS_landlock_restrict_self, ruleset, 0))
		err = -errno;
	close(ruleset);
	return err;
}

/* ---- seccomp ---- */

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static const int allowed[] = {
	SECCOMP_CALLS_OF_BOTH,
	SYS_getitimer,
	SYS_setitimer,
#ifdef __SANITIZE_ADDRESS__ /* the leak sanitizer looks from a process of its own */
	SYS_clone,
	SYS_ptrace,
	SYS_prctl,
	SYS_mmap,
	SYS_mprotect,
	SYS_kill,
#endif
};
/* Calls that make files below the output's folder; landlock limits where. */
static const int allowed_writing[] = {
	SYS_renameat, SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_linkat, SYS_fchmod, SYS_fchown,
#ifdef SYS_open
	SYS_rename,   SYS_unlink,    SYS_mkdir,    SYS_rmdir,   SYS_link,
#endif
};
/* libcurl; and libdebuginfod marks in modes and times when its cache was last used. */
static const int allowed_network[] = {
	SYS_socket,     SYS_connect,    SYS_bind,     SYS_getsockname, SYS_getpeername,
	SYS_setsockopt, SYS_getsockopt, SYS_sendto,   SYS_recvfrom,    SYS_sendmmsg,
	SYS_recvmmsg,   SYS_shutdown,   SYS_fchmodat, SYS_utimensat,
#ifdef SYS_open
	SYS_chmod,      SYS_utime,      SYS_utimes,   SYS_futimesat,
#endif
};

/* libmicrohttpd, with a socket that listens. */
static const int allowed_accepting[] = {
	SYS_accept4,    SYS_getsockname, SYS_getpeername, SYS_setsockopt,
	SYS_getsockopt, SYS_sendto,      SYS_recvfrom,    SYS_shutdown,
#ifdef SYS_accept
	SYS_accept,
#endif
};

/* Only queries of terminals: nothing is typed into them for the shell to read. */
static const uint32_t allowed_ioctls[] = {
	TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX
};

/* Modes of a terminal that a screen sets, and sets back. */
static const uint32_t allowed_ioctls_drawing[] = { TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD,
						   FIONBIO, FIOCLEX,    TCSETS,    TCSETSW,
						   TCSETSF, TCFLSH };

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif
#ifndef PR_SET_VMA /* linux/prctl.h, from 5.17 on: the C library names memory by it */
#define PR_SET_VMA 0x53564d41
#endif

/* As on a kernel without it: libraries know what to do then. */
#define ANSWER_NO SECCOMP_FILTER_FAIL(ENOSYS)

/* Reading; where there is something to be written, files that this very call makes. */
static void allow_opening(struct seccomp_filter *f, const struct sandbox_opts *o)
{
	const bool all = o->writes_there || (o->network && o->write_count);
	const uint32_t bits = all ? 0 : O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

	if (o->write_count && !all) {
#ifdef SYS_open
		seccomp_filter_open(f, SYS_open, 1, EACCES);
#endif
		seccomp_filter_open(f, SYS_openat, 2, EACCES);
		return;
	}
#ifdef SYS_open
	seccomp_filter_without(f, SYS_open, 1, bits, EACCES);
#endif
	seccomp_filter_without(f, SYS_openat, 2, bits, EACCES);
}

/* The kernel signals the owner of a pipe, with any signal. */
static const uint32_t refused_fcntls[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG };

/* A sanitizer needs all of these. */
static void allow_but_sanitizers(struct seccomp_filter *f, bool network)
{
	const uint32_t names[] = { PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_SET_DUMPABLE };

	/* Without the network nothing is loaded that brings code. */
	seccomp_filter_without(f, SYS_mmap, 2, network ? 0 : PROT_EXEC, EACCES);
	seccomp_filter_without(f, SYS_mprotect, 2, PROT_EXEC, EACCES);
	/* The flags of clone3 are in memory: libraries then take clone. */
	seccomp_filter_threads(f);
	seccomp_filter_with(f, SYS_prctl, 0, names, COUNT_OF(names), EPERM);
}

static void allow_by_arguments(struct seccomp_filter *f, const struct sandbox_opts *o)
{
	const uint32_t own_pid = (uint32_t)getpid(), self = 0;

	allow_opening(f, o);
	if (!SANITIZED)
		allow_but_sanitizers(f, o->network);
	/* Calls that end a process by its own mistake. */
	seccomp_filter_with(f, SYS_tgkill, 0, &own_pid, 1, EPERM);
	seccomp_filter_with(f, SYS_prlimit64, 0, &self, 1, EPERM);
	seccomp_filter_except(f, SYS_fcntl, 1, refused_fcntls, COUNT_OF(refused_fcntls), EPERM);
	if (o->terminal)
		seccomp_filter_with(f, SYS_ioctl, 1, allowed_ioctls_drawing,
				    COUNT_OF(allowed_ioctls_drawing), EPERM);
	else
		seccomp_filter_with(f, SYS_ioctl, 1, allowed_ioctls, COUNT_OF(allowed_ioctls),
				    EPERM);
}

static int enter_seccomp(const struct sandbox_opts *o)
{
	const int in_roots = SYS_openat2;
	struct seccomp_filter f;

	seccomp_filter_begin(&f);
	allow_by_arguments(&f, o);
	seccomp_filter_calls(&f, allowed, COUNT_OF(allowed), SECCOMP_RET_ALLOW);
	if (o->write_count)
		seccomp_filter_calls(&f, allowed_writing, COUNT_OF(allowed_writing),
				     SECCOMP_RET_ALLOW);
	if (o->network)
		seccomp_filter_calls(&f, allowed_network, COUNT_OF(allowed_network),
				     SECCOMP_RET_ALLOW);
	if (o->accepts)
		seccomp_filter_calls(&f, allowed_accepting, COUNT_OF(allowed_accepting),
				     SECCOMP_RET_ALLOW);
	if (o->opens_in_roots)
		seccomp_filter_calls(&f, &in_roots, 1, SECCOMP_RET_ALLOW);
	return seccomp_filter_install(&f, ANSWER_NO, /* all_threads= */ false);
}

int sandbox_enter(const struct sandbox_opts *opts, struct sandbox_result *out)
{
	int err;

	*out = (struct sandbox_result){ .refused = "no_new_privs" };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	out->refused = "landlock";
	err = enter_landlock(opts);
	if (err && err != -ENOSYS)
		return err;
	out->has_landlock = !err;
	out->refused = "seccomp";
	return enter_seccomp(opts);
}
