/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/name_bundler.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/output/output_file.h"
#include "record/privsep/caps.h"
#include "record/recording/rotated_file.h"

/*
 * The rights that `ebprec` is run with: it reads programs and journals of others, and puts its result in the place of a
 * capture that belongs to the user of sudo, in this user's folder.
 */
#define RUN_RIGHTS (RIGHT(CAP_DAC_READ_SEARCH) | CAPS_WRITING)
/* To become that user. */
#define BECOME_RIGHTS (RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID))

enum { LISTEN_WAIT_MS = 5000 }; /* a bus that does not answer by then is not listened to */
enum { PATH_WORD = 4 };         /* of each job: ebprec COMMAND -q -i PATH */

/* The request to a process that waits. */
struct go {
	unsigned first, last; /* of the files of the recording */
	unsigned with_dir;
};

static bool find_analyzer(char path[PATH_MAX])
{
	static const char *const places[] = { "ebprec", "../../bin/ebprec" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
	}
	return false;
}

/* argv[word] and the rest are left out when it is to go without a folder. */
struct job {
	const char *argv[10];
	size_t word;
	bool as_invoker; /* as the user that called sudo */
};

static void become_invoker(void)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() || !output_file_invoker(getenv("SUDO_UID"), getenv("SUDO_GID"), &uid, &gid))
		return;
	if (setgroups(0, NULL) || setgid(gid) || setuid(uid))
		_exit(127);
}

/* A page replaces a file, and nothing else. */
static int check_place(const char *html)
{
	const char *slash = strrchr(html, '/');
	char *folder = !slash ? strdup(".")
			      : strndup(html, slash == html ? 1 : (size_t)(slash - html));
	struct stat st;
	int err = folder ? 0 : -ENOMEM;

	if (!err && !stat(html, &st) && !S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (!err && access(folder, W_OK | X_OK))
		err = -errno;
	free(folder);
	return err;
}

int name_bundler_check_page(const char *html)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		become_invoker();
		_exit(-check_place(html));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/* No program is run with more than that. */
static void keep_rights(uint64_t rights)
{
	int err = caps_drop_for_exec(rights);

	if (!err)
		return;
	fprintf(stderr, "ebprec: cannot give up capabilities: %s\n", strerror(-err));
	_exit(127);
}

static _Noreturn void run_analyzer(const char *analyzer, const struct job *job)
{
	keep_rights(RUN_RIGHTS);
	execv(analyzer, (char *const *)(uintptr_t)job->argv);
	fprintf(stderr, "ebprec: cannot run '%s': %s%s\n", analyzer, strerror(errno),
		geteuid() ? " (it runs as the user of sudo)" : "");
	_exit(127);
}

static bool run_for(const char *analyzer, struct job *job, unsigned number)
{
	char *path = rotated_file_path(job->argv[PATH_WORD], number);
	bool is_there = path && !access(path, F_OK);
	pid_t pid = is_there ? fork() : 0;
	int status = 0;

	if (is_there && !pid) {
		job->argv[PATH_WORD] = path;
		run_analyzer(analyzer, job);
	}
	while (is_there && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(path);
	return pid >= 0 && path && WIFEXITED(status) && !WEXITSTATUS(status);
}

static _Noreturn void run_each(const char *analyzer, struct job *job, const struct go *go)
{
	bool succeeded = true;

	for (uint64_t i = go->first; i <= go->last; i++)
		succeeded &= run_for(analyzer, job, (unsigned)i);
	_exit(!succeeded);
}

/* Ctrl-C ends the recording, not what comes after it. */
static _Noreturn void child(const char *analyzer, struct job *job, int go_fd)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was[3];
	struct go go;
	size_t i;

	for (i = 0; i < 3; i++)
		sigaction(signals[i], &ignore, &was[i]);
	keep_rights(RUN_RIGHTS | (job->as_invoker ? BECOME_RIGHTS : 0));
	while (read(go_fd, &go, sizeof(go)) != sizeof(go)) {
		if (errno != EINTR)
			_exit(0);
		errno = 0;
	}
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &was[i], NULL);
	if (!go.with_dir)
		job->argv[job->word] = NULL;
	if (job->as_invoker)
		become_invoker();
	if (go.last)
		run_each(analyzer, job, &go);
	run_analyzer(analyzer, job);
}

static int fork_job(struct name_bundler *b, struct job *job)
{
	char analyzer[PATH_MAX];
	int go[2];

	*b = (struct name_bundler){ .go_fd = -1 };
	if (!find_analyzer(analyzer))
		return -ENOENT;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	b->pid = fork();
	if (!b->pid) {
		close(go[1]);
		errno = 0;
		child(analyzer, job, go[0]);
	}
	close(go[0]);
	if (b->pid < 0) {
		b->pid = 0;
		close(go[1]);
		return -EAGAIN;
	}
	b->go_fd = go[1];
	return 0;
}

int name_bundler_fork(struct name_bundler *b, const char *path, const char *dir)
{
	struct job job = { { "ebprec", "bundle", "-q", "-i", path, "--debug-dir", dir, NULL },
			   5,
			   false };

	return fork_job(b, &job);
}

int name_bundler_fork_page(struct name_bundler *b, const char *path, const char *html)
{
	struct job job = { { "ebprec", "report", "-q", "-i", path, "--html", html, NULL },
			   7,
			   true };

	return fork_job(b, &job);
}

int name_bundler_fork_journal(struct name_bundler *b, const char *path, const char *priority,
			      const char *units)
{
	struct job job = { { "ebprec", "journal", "-q", "-i", path }, 9, false };
	size_t count = 5;

	if (priority) {
		job.argv[count++] = "--priority";
		job.argv[count++] = priority;
	}
	if (units) {
		job.argv[count++] = "--units";
		job.argv[count++] = units;
	}
	return fork_job(b, &job);
}

/* It hears the end of the recording from standard input, and prints on standard output that it listens. */
static _Noreturn void listening_child(const char *analyzer, const struct job *job, int in_fd,
				      int out_fd)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (dup2(in_fd, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0)
		_exit(127);
	run_analyzer(analyzer, job);
}

/* fd: of its standard output, which ends when it does. */
static int wait_until_it_listens(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char byte;
	int n;

	do
		n = poll(&ready, 1, LISTEN_WAIT_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	return read(fd, &byte, 1) == 1 ? 0 : -EIO;
}

int name_bundler_fork_dbus(struct name_bundler *b, const char *path, const char *bus)
{
	const struct job job = { { "ebprec", "dbus", "-q", "-i", path, "--bus", bus, NULL },
				 7,
				 false };
	char analyzer[PATH_MAX];
	int in[2], out[2], err;

	*b = (struct name_bundler){ .go_fd = -1, .listens = true };
	if (!find_analyzer(analyzer))
		return -ENOENT;
	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		err = -errno;
		close(in[0]);
		close(in[1]);
		return err;
	}
	b->pid = fork();
	if (!b->pid)
		listening_child(analyzer, &job, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	b->go_fd = in[1];
	err = b->pid < 0 ? -EAGAIN : wait_until_it_listens(out[0]);
	close(out[0]);
	if (b->pid < 0) {
		b->pid = 0;
		close(b->go_fd);
	}
	if (err)
		name_bundler_done(b);
	return err;
}

int name_bundler_run(struct name_bundler *b, unsigned first, unsigned last, bool has_dir)
{
	const struct go go = { .first = first, .last = last, .with_dir = has_dir };
	int status;

	/* A bus hears it in the form that people can type. */
	if (b->listens ? dprintf(b->go_fd, "%u %u\n", first, last) < 0
		       : write(b->go_fd, &go, sizeof(go)) != sizeof(go))
		return -EIO;
	while (waitpid(b->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -EIO;
	}
	b->pid = 0;
	close(b->go_fd);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

void name_bundler_done(struct name_bundler *b)
{
	if (!b->pid)
		return;
	close(b->go_fd);
	(void)waitpid(b->pid, NULL, 0);
	b->pid = 0;
}
