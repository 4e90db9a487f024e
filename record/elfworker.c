/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/elfworker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/clock.h"
#include "record/elfworker_priv.h"

#define ANSWER_MAX_NS 10000000000ULL /* the largest table takes a second */
#define DEATHS_FREE   16             /* after so many it is started once a second at most */
#define REST_NS       1000000000ULL

struct elfworker {
	const char *program;
	pid_t pid; /* 0: none runs */
	int socket;
	uint32_t deaths;
	uint64_t died_ns, dead_cpu_ns;
	char death[48];
};

static uint64_t cpu_ns_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* ---- its life ---- */

static int start_at(struct elfworker *w, int socket)
{
	char name[] = "ebprec-record", option[] = ELFWORKER_OPTION;
	char *argv[] = { name, option, NULL }, *no_environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err) {
		posix_spawn_file_actions_destroy(&actions);
		return -err;
	}
	/* Ctrl-C on the terminal is for the recorder. */
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	err = posix_spawn_file_actions_adddup2(&actions, socket, ELFWORKER_FD);
	for (int fd = 0; fd < ELFWORKER_FD && !err; fd++)
		err = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&actions, ELFWORKER_FD + 1);
	if (!err)
		err = posix_spawn(&w->pid, w->program, &actions, &attr, argv, no_environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static int start(struct elfworker *w)
{
	int ends[2], err;

	if (w->pid)
		return 0;
	if (w->deaths >= DEATHS_FREE && clock_ns(CLOCK_MONOTONIC) - w->died_ns < REST_NS)
		return -ECHILD;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = start_at(w, ends[1]);
	close(ends[1]);
	if (err) {
		w->pid = 0;
		close(ends[0]);
		snprintf(w->death, sizeof(w->death), "cannot be started: %s", strerror(-err));
		return -ECHILD;
	}
	w->socket = ends[0];
	return 0;
}

static void end(struct elfworker *w, int *status)
{
	w->dead_cpu_ns += cpu_ns_of(w->pid);
	(void)kill(w->pid, SIGKILL);
	while (waitpid(w->pid, status, 0) < 0 && errno == EINTR)
		;
	close(w->socket);
	w->pid = 0;
}

static int died(struct elfworker *w, bool hangs)
{
	int status = 0;

	end(w, &status);
	w->deaths++;
	w->died_ns = clock_ns(CLOCK_MONOTONIC);
	if (hangs)
		snprintf(w->death, sizeof(w->death), "no answer in %u s",
			 (unsigned)(ANSWER_MAX_NS / 1000000000ULL));
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		snprintf(w->death, sizeof(w->death), "it did what it may not");
	else if (WIFSIGNALED(status))
		snprintf(w->death, sizeof(w->death), "killed by signal %d", WTERMSIG(status));
	else
		snprintf(w->death, sizeof(w->death), "exited with %d", WEXITSTATUS(status));
	return -ECHILD;
}

/* ---- questions and answers ---- */

static int ask(struct elfworker *w, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	char word = 't';
	struct iovec data = { .iov_base = &word, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(w->socket, &m, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* All of it, until the time is up: -ETIMEDOUT; -EPIPE: the other side is gone. */
static int hear(struct elfworker *w, void *to, size_t bytes, uint64_t until_ns)
{
	struct pollfd p = { .fd = w->socket, .events = POLLIN };
	size_t done = 0;
	uint64_t now_ns;
	ssize_t n;

	while (done < bytes) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= until_ns)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0)
			continue;
		n = read(w->socket, (char *)to + done, bytes - done);
		if (n <= 0 && errno != EINTR)
			return -EPIPE;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int answer(struct elfworker *w, struct ruleset *set, struct unwtable **out, uint64_t until)
{
	struct elfworker_answer head;
	int err = hear(w, &head, sizeof(head), until);
	uint8_t *bytes;

	if (err)
		return died(w, err == -ETIMEDOUT);
	if (head.err > 0 || head.err < -4095 || head.size_bytes > ELFWORKER_TABLE_MAX)
		return died(w, false);
	if (head.err || !head.size_bytes)
		return head.err;
	bytes = malloc(head.size_bytes);
	if (!bytes) {
		died(w, false);
		return -ENOMEM;
	}
	err = hear(w, bytes, head.size_bytes, until);
	if (err)
		err = died(w, err == -ETIMEDOUT);
	else
		err = unwtable_from_kept(bytes, head.size_bytes, &elfworker_key, set, out);
	free(bytes);
	return err;
}

int elfworker_table(struct elfworker *w, int fd, struct ruleset *set, struct unwtable **out)
{
	int err = start(w);

	if (err)
		return err;
	*out = NULL;
	if (ask(w, fd))
		return died(w, false);
	return answer(w, set, out, clock_ns(CLOCK_MONOTONIC) + ANSWER_MAX_NS);
}

uint64_t elfworker_cpu_ns(struct elfworker *w)
{
	return w->dead_cpu_ns + (w->pid ? cpu_ns_of(w->pid) : 0);
}

const char *elfworker_death(const struct elfworker *w)
{
	return w->death;
}

int elfworker_new(const char *program, struct elfworker **out)
{
	struct elfworker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->program = program;
	*out = w;
	return 0;
}

void elfworker_free(struct elfworker *w)
{
	int status;

	if (!w)
		return;
	if (w->pid)
		end(w, &status);
	free(w);
}
