/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/jvm_asker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/base/outbuf.h"
#include "format/os/clock.h"
#include "format/os/slurp.h"
#include "record/privsep/caps.h"
#include "record/privsep/path_below.h"
#include "record/privsep/subprocess.h"

#define RIGHTS \
	(RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID) | RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH))
#define STEP_NS      20000000L     /* between two looks for the socket */
#define LISTEN_NS    2500000000ULL /* a JVM in a long pause takes the signal after it */
#define ANSWER_BYTES 4096
#define NAME_BYTES   40

/* The attach protocol, version 1: the command and three arguments. */
static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

struct jvm_asker {
	pid_t pid;
	int socket;
	pthread_mutex_t lock; /* of the socket */
};

struct question {
	uint32_t pid;
};

struct answer {
	uint32_t result; /* enum jvm_asker_result */
};

/* ---- the recorder's side ---- */

int jvm_asker_new(const char *program, struct jvm_asker **out)
{
	struct jvm_asker *a = calloc(1, sizeof(*a));
	int err = a ? subprocess_start(program, JVM_ASKER_OPTION, &a->pid, &a->socket) : -ENOMEM;

	if (err) {
		free(a);
		return err;
	}
	pthread_mutex_init(&a->lock, NULL);
	*out = a;
	return 0;
}

void jvm_asker_free(struct jvm_asker *a)
{
	if (!a)
		return;
	close(a->socket);
	(void)kill(a->pid, SIGKILL);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static int send_question(struct jvm_asker *a, int fd, uint32_t pid)
{
	const struct question q = { pid };
	int err;

	pthread_mutex_lock(&a->lock);
	err = subprocess_send(a->socket, fd, &q, sizeof(q));
	pthread_mutex_unlock(&a->lock);
	return err;
}

/* The process that was started for it ends its own alarm, and closes the socket; so this is an upper limit. */
static enum jvm_asker_result await_answer(int socket)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	struct answer a;

	if (poll(&p, 1, (JVM_ASKER_SECONDS + 1) * 1000) != 1)
		return JVM_ASKER_SILENT;
	if (recv(socket, &a, sizeof(a), MSG_WAITALL) != (ssize_t)sizeof(a))
		return JVM_ASKER_SILENT;
	return a.result < JVM_ASKER_RESULTS ? a.result : JVM_ASKER_FAILED;
}

enum jvm_asker_result jvm_asker_ask(struct jvm_asker *a, uint32_t pid)
{
	enum jvm_asker_result result = JVM_ASKER_FAILED;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return JVM_ASKER_FAILED;
	if (!send_question(a, ends[1], pid)) {
		close(ends[1]);
		ends[1] = -1;
		result = await_answer(ends[0]);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	close(ends[0]);
	return result;
}

const char *jvm_asker_text(enum jvm_asker_result result)
{
	switch (result) {
	case JVM_ASKER_OTHER_USER:
		return "it is another user's (run as root, or as that user)";
	case JVM_ASKER_NO_SIGNAL:
		return "it does not catch SIGQUIT (run it without -Xrs)";
	case JVM_ASKER_STOPPED:
		return "it is stopped (kill -CONT)";
	case JVM_ASKER_DISABLED:
		return "it opened no socket in 2.5 s (run it without -XX:+DisableAttachMechanism)";
	case JVM_ASKER_SILENT:
		return "it gave no answer in time";
	case JVM_ASKER_REFUSED:
		return "it refused (Java has Compiler.perfmap from 17 on)";
	case JVM_ASKER_STRANGE:
		return "the socket in its /tmp is not its own";
	case JVM_ASKER_FAILED:
		return "the process that asks has ended";
	default:
		return "it has ended";
	}
}

/* ---- pure ---- */

/* The number at the nth place of a line of /proc/PID/status, by base; false: there is none.  Negative n: the last one. */
static bool status_number(const char *text, const char *label, int n, int base, uint64_t *out)
{
	const char *line = strstr(text, label);
	bool found = false;
	char *end;

	if (!line)
		return false;
	line += strlen(label);
	for (int i = 0; n < 0 || i <= n; i++) {
		while (*line == ' ' || *line == '\t')
			line++;
		if (*line == '\n' || !*line)
			break;
		*out = strtoull(line, &end, base);
		if (end == line)
			return false;
		found = n < 0 || i == n;
		line = end;
	}
	return found;
}

int jvm_asker_parse_status(const char *text, struct jvm_asker_target *out)
{
	uint64_t user, group, inner, caught;

	if (!status_number(text, "\nUid:", 1, 10, &user) ||
	    !status_number(text, "\nGid:", 1, 10, &group) ||
	    !status_number(text, "\nNSpid:", -1, 10, &inner) ||
	    !status_number(text, "\nSigCgt:", 0, 16, &caught) || user >= UINT32_MAX ||
	    group >= UINT32_MAX || !inner || inner > INT32_MAX)
		return -EBADMSG;
	*out = (struct jvm_asker_target){
		.user = (uint32_t)user,
		.group = (uint32_t)group,
		.inner_pid = (uint32_t)inner,
		.catches_quit = caught >> (SIGQUIT - 1) & 1,
		.is_stopped = strstr(text, "\nState:\tT") || strstr(text, "\nState:\tt"),
	};
	return 0;
}

enum jvm_asker_result jvm_asker_parse_answer(const char *bytes, size_t size_bytes)
{
	/* A line with the result of the operation, 0, then what the command prints. */
	if (!size_bytes)
		return JVM_ASKER_SILENT;
	return size_bytes >= 2 && bytes[0] == '0' && bytes[1] == '\n' ? JVM_ASKER_DONE
								      : JVM_ASKER_REFUSED;
}

/* ---- the process that asks one JVM ---- */

struct asking {
	struct jvm_asker_target target;
	uint32_t pid;
	int pid_fd, tmp_fd;
	char socket[NAME_BYTES], trigger[NAME_BYTES];
};

static bool look_at_target(struct asking *a)
{
	struct outbuf status = { 0 };
	char path[48];
	int root_fd, err;

	a->pid_fd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pid_fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/status", a->pid);
	err = slurp(path, &status);
	outbuf_add(&status, "", 1);
	err = err || !outbuf_ok(&status) ||
	      jvm_asker_parse_status((const char *)status.data, &a->target);
	outbuf_done(&status);
	if (err)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/root", a->pid);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	a->tmp_fd = root_fd < 0 ? -1 : path_below(root_fd, "/tmp", true);
	if (root_fd >= 0)
		close(root_fd);
	snprintf(a->socket, sizeof(a->socket), ".java_pid%u", a->target.inner_pid);
	snprintf(a->trigger, sizeof(a->trigger), ".attach_pid%u", a->target.inner_pid);
	return a->tmp_fd >= 0;
}

/* With the user of the JVM, and no right that this user has not. */
static bool become_user(const struct jvm_asker_target *t)
{
	static const int allowed[] = {
		SYS_openat,
		SYS_unlinkat,
		SYS_newfstatat,
		SYS_fstat,
		SYS_socket,
		SYS_connect,
		SYS_getsockopt,
		SYS_sendto,
		SYS_recvfrom,
		SYS_read,
		SYS_write,
		SYS_close,
		SYS_ppoll,
		SYS_clock_nanosleep,
		SYS_pidfd_send_signal,
		SYS_clock_gettime,
		SYS_exit_group,
		SYS_brk,
		SYS_mmap,
		SYS_munmap,
		SYS_rt_sigreturn,
		SYS_restart_syscall,
#ifdef SYS_poll
		SYS_poll,
#endif
	};

	if ((geteuid() != t->user || getegid() != t->group) &&
	    (setgroups(0, NULL) || setresgid(t->group, t->group, t->group) ||
	     setresuid(t->user, t->user, t->user)))
		return false;
	if (caps_drop(0))
		return false;
	return !subprocess_confine(allowed, sizeof(allowed) / sizeof(allowed[0]));
}

/* Whether the JVM listens, and the socket is of its user or root. */
static enum jvm_asker_result see_socket(const struct asking *a, bool *there)
{
	struct stat st;

	*there = !fstatat(a->tmp_fd, a->socket, &st, AT_SYMLINK_NOFOLLOW);
	if (*there && (!S_ISSOCK(st.st_mode) || (st.st_uid && st.st_uid != a->target.user)))
		return JVM_ASKER_STRANGE;
	return JVM_ASKER_DONE;
}

/* Makes the JVM listen. */
static enum jvm_asker_result trigger_listening(const struct asking *a)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LISTEN_NS;
	const struct timespec step = { .tv_nsec = STEP_NS };
	enum jvm_asker_result result;
	bool there, is_ours;
	int fd;

	result = see_socket(a, &there);
	if (there || result != JVM_ASKER_DONE)
		return result;
	if (!a->target.catches_quit)
		return JVM_ASKER_NO_SIGNAL;
	if (a->target.is_stopped)
		return JVM_ASKER_STOPPED;
	fd = openat(a->tmp_fd, a->trigger, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	is_ours = fd >= 0;
	if (!is_ours && errno != EEXIST)
		return JVM_ASKER_STRANGE;
	if (is_ours)
		close(fd);
	if (syscall(SYS_pidfd_send_signal, a->pid_fd, SIGQUIT, NULL, 0))
		result = errno == ESRCH ? JVM_ASKER_GONE : JVM_ASKER_OTHER_USER;
	while (!there && result == JVM_ASKER_DONE && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
		result = see_socket(a, &there);
	}
	if (is_ours)
		(void)unlinkat(a->tmp_fd, a->trigger, 0);
	return result == JVM_ASKER_DONE && !there ? JVM_ASKER_DISABLED : result;
}

/* Connected to the JVM, and to no other process.  Negative: it is not. */
static int connect_to(const struct asking *a)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	int at, fd;

	/* By a descriptor, as another file may have the name by now. */
	at = openat(a->tmp_fd, a->socket, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	fd = at < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (at < 0 || fd < 0)
		return -1;
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || (uint32_t)peer.pid != a->pid)
		return -1;
	return fd;
}

static enum jvm_asker_result send_command(const struct asking *a)
{
	char answer[ANSWER_BYTES];
	size_t have = 0;
	ssize_t n = 1;
	int fd = connect_to(a);

	if (fd < 0)
		return JVM_ASKER_STRANGE;
	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return JVM_ASKER_REFUSED;
	while (n > 0 && have < sizeof(answer)) {
		n = recv(fd, answer + have, sizeof(answer) - have, 0);
		have += n > 0 ? (size_t)n : 0;
	}
	return jvm_asker_parse_answer(answer, have);
}

static enum jvm_asker_result ask_jvm(uint32_t pid)
{
	struct asking a = { .pid = pid, .pid_fd = -1, .tmp_fd = -1 };
	enum jvm_asker_result result;

	if (!look_at_target(&a))
		return a.pid_fd < 0 ? JVM_ASKER_GONE : JVM_ASKER_OTHER_USER;
	if (!become_user(&a.target))
		return JVM_ASKER_OTHER_USER;
	result = trigger_listening(&a);
	return result == JVM_ASKER_DONE ? send_command(&a) : result;
}

/* ---- the helper ---- */

static int serve_one(uint32_t pid, int fd)
{
	struct answer a;

	close(SUBPROCESS_FD);
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(JVM_ASKER_SECONDS);
	a.result = ask_jvm(pid);
	return write(fd, &a, sizeof(a)) != (ssize_t)sizeof(a);
}

int jvm_asker_serve(void)
{
	struct question q;
	int fd;

	(void)caps_drop(RIGHTS);
	(void)signal(SIGCHLD, SIG_IGN); /* no process of its own is waited for */
	while (!subprocess_receive(SUBPROCESS_FD, &fd, &q, sizeof(q))) {
		if (fd >= 0 && !fork())
			return serve_one(q.pid, fd);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
