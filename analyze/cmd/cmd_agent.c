/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec agent - records always, into a spool that stays within limits
 *
 * It becomes the recorder, which rotates its files in the spool: its parent (a service manager, a shell)
 * has the recorder's process, its readiness and its exit status.  Beside it runs a keeper without any right,
 * which ends with it.  Each of its passes is a process of its own, confined to the spool: it brings the index up
 * to date and removes the oldest captures; it runs when nothing else wants the CPU, but when the spool is over its
 * limits.  A pass that dies, or hangs, costs nothing but itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/message.h"
#include "analyze/spool/spool.h"
#include "format/os/clock.h"
#include "format/text/duration_text.h"

#define FREQ_DEFAULT     "19" /* not in step with what programs do each 10 or 100 ms */
#define ROTATE_DEFAULT   "10m"
#define OVERHEAD_DEFAULT "1"
#define LEVEL            "-z1" /* 15 % less CPU time than the recorder's default, 2 % more bytes */
#define AGE_DEFAULT      "7d"
#define SIZE_DEFAULT     (4ULL << 30)
#define FREE_DEFAULT     (1ULL << 30)

#define PASS_SECONDS       10
#define PASS_FAILED_WAIT   60
#define PASS_ALARM_SECONDS 120
#define PASS_CPU_SECONDS   60
#define PASS_DATA_BYTES    (512u << 20)
#define WORDS_MAX          64
#define SELECTION_WORDS    (2 * 4 * OPTION_LIST_MAX)
#define LOCK_NAME          ".agent"
#define LOCK_TRIES         20
#define LOCK_WAIT_NS       100000000

struct agent_opts {
	const char *spool, *freq, *rotate, *max_age, *overhead, *samples_an_hour;
	struct option_list cgroups, units, containers, comms; /* the recorder's options */
	uint64_t max_bytes, free_bytes, age_ns;
	bool quiet;
	int lock_fd; /* -1: none */
};

#define AT(field) offsetof(struct agent_opts, field)

static const struct option agent_options[] = {
	{ OPT_STRING, 0, "spool", "FOLDER", AT(spool), 0, 0,
	  "where captures go; it is made (default: $EBPREC_SPOOL, else " SPOOL_DEFAULT ")" },
	{ OPT_LIST, 'G', "cgroup", "PATH", AT(cgroups), 0, 0,
	  "record processes in this cgroup and those below (default: all processes)" },
	{ OPT_LIST, 0, "unit", "NAME", AT(units), 0, 0,
	  "record processes of this systemd unit, whenever it starts" },
	{ OPT_LIST, 0, "container", "NAME|ID", AT(containers), 0, 0,
	  "record processes of this container, whenever it starts" },
	{ OPT_LIST, 0, "comm", "NAME", AT(comms), 0, 0,
	  "record processes with a thread of this name" },
	{ OPT_STRING, 'F', "freq", "HZ", AT(freq), 0, 0,
	  "samples a second on each CPU (default: " FREQ_DEFAULT ")" },
	{ OPT_STRING, 0, "rotate", "TIME|SIZE", AT(rotate), 0, 0,
	  "begin the next file after so much (default: " ROTATE_DEFAULT ")" },
	{ OPT_SIZE, 0, "max-size", "SIZE", AT(max_bytes), 0, 0,
	  "all captures together are no larger (default: 4G)" },
	{ OPT_STRING, 0, "max-age", "TIME", AT(max_age), 0, 0,
	  "none is older (default: " AGE_DEFAULT ")" },
	{ OPT_SIZE, 0, "min-free", "SIZE", AT(free_bytes), 0, 0,
	  "remove captures before less of the disk is free (default: 1G)" },
	{ OPT_STRING, 0, "max-overhead", "PERCENT", AT(overhead), 0, 0,
	  "limit what recording costs to PERCENT of a CPU (default: " OVERHEAD_DEFAULT ")" },
	{ OPT_STRING, 0, "samples-per-hour", "N", AT(samples_an_hour), 0, 0,
	  "at most about N samples of each service; each stands for those that are left out" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "print only errors and losses" },
	{ 0 },
};

static const struct usage agent_usage = {
	.command = "agent",
	.words = "[OPTIONS] [-- OPTIONS OF 'ebprec record']",
	.about = "Records the machine, always, at a low rate and with waits, into a spool: a\n"
		 "folder of captures, of which the oldest are removed.  'ebprec query' asks it.\n",
	.options = agent_options,
	.spool = USAGE_SPOOL_WRITES,
};

/* ---- the keeper ---- */

/* The keeper has no use for the recorder's capabilities. */
static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)syscall(SYS_capset, &head, none);
}

static void run_when_idle(void)
{
	const struct sched_param idle = { .sched_priority = 0 };

	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)sched_setscheduler(0, SCHED_IDLE, &idle);
}

static void limit_pass(void)
{
	const struct rlimit cpu = { PASS_CPU_SECONDS, PASS_CPU_SECONDS },
			    data = { PASS_DATA_BYTES, PASS_DATA_BYTES };

	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_DATA, &data);
	(void)alarm(PASS_ALARM_SECONDS);
}

static int keep_spool(struct agent_opts *o)
{
	static char *const no_words[] = { NULL };
	const struct spool_limits limits = { .size_bytes = o->max_bytes,
					     .age_ns = o->age_ns,
					     .free_bytes = o->free_bytes,
					     .now_ns = clock_ns(CLOCK_REALTIME) };
	struct spool *s;
	size_t count;
	int err;

	limit_pass();
	if (!confine(&agent_usage, o, no_words))
		return MESSAGE_FAILED;
	err = spool_open(o->spool, SPOOL_WRITE, &s);
	if (err == -EBUSY)
		return MESSAGE_OK; /* 'ebprec spool check' has it */
	if (err)
		return message_error("cannot open the spool '%s': %s", o->spool, strerror(-err));
	err = spool_prune(s, &limits, &count);
	spool_close(s);
	return err ? message_error("cannot remove captures of '%s': %s", o->spool, strerror(-err))
		   : MESSAGE_OK;
}

/*
 * Whether captures have to go at once.  On a machine that is busy all the time what runs when nothing else does never
 * comes to it.
 */
static bool is_over_limit(const struct agent_opts *o)
{
	DIR *dir = opendir(o->spool);
	struct statvfs fs;
	struct dirent *d;
	struct stat st;
	uint64_t bytes = 0;

	if (!dir)
		return false;
	while ((d = readdir(dir)))
		if (!fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	closedir(dir);
	return bytes > o->max_bytes ||
	       (!statvfs(o->spool, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < o->free_bytes);
}

/* A pass waited for an idle CPU until the spool was over its limits; no program has this status. */
#define PASS_STARVED INT_MAX

/* Its status of waitpid(); PASS_STARVED, -1. */
static int await_pass(const struct agent_opts *o, pid_t pid, bool is_urgent)
{
	int status;

	for (;;) {
		pid_t ended = waitpid(pid, &status, is_urgent ? 0 : WNOHANG);

		if (ended == pid)
			return status;
		if (ended < 0 && errno != EINTR)
			return -1;
		if (!ended && is_over_limit(o)) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			return PASS_STARVED;
		}
		if (!ended)
			(void)sleep(1);
	}
}

/* 0: the pass went well. */
static int run_pass(struct agent_opts *o, bool is_urgent)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!is_urgent)
			run_when_idle();
		if (o->lock_fd >= 0)
			close(o->lock_fd); /* it may outlive the keeper */
		_exit(keep_spool(o));
	}
	status = pid < 0 ? -1 : await_pass(o, pid, is_urgent);
	if (status == -1)
		return MESSAGE_FAILED;
	if (status == PASS_STARVED)
		return run_pass(o, true);
	if (WIFSIGNALED(status))
		return message_error(
			"the spool '%s' was not looked after: a pass ended by signal %d, the next is in %d s",
			o->spool, WTERMSIG(status), PASS_FAILED_WAIT);
	return WEXITSTATUS(status);
}

static void keep(struct agent_opts *o, pid_t recorder)
{
	(void)prctl(PR_SET_NAME, "ebprec-keeper");
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	drop_rights();
	while (getppid() == recorder)
		(void)sleep(run_pass(o, is_over_limit(o)) ? PASS_FAILED_WAIT : PASS_SECONDS);
	_exit(0);
}

/*
 * One agent a spool: queries would count what two record twice.  The keeper has the lock, as it lives as long as the
 * recorder.  A full disk has no room for the file: that is no reason not to make room.
 */
static int lock_spool(struct agent_opts *o)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	char *path;

	if (asprintf(&path, "%s/" LOCK_NAME, o->spool) < 0)
		return message_error("cannot record: %s", strerror(ENOMEM));
	o->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	free(path);
	if (o->lock_fd < 0 && (errno == ENOSPC || errno == EDQUOT))
		return 0;
	if (o->lock_fd < 0)
		return message_error("cannot record into '%s': %s", o->spool, strerror(errno));
	for (int i = 0; flock(o->lock_fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK || i == LOCK_TRIES)
			return message_error(errno == EWOULDBLOCK
						     ? "cannot record into '%s': another agent does"
						     : "cannot lock '%s': %s",
					     o->spool, strerror(errno));
		(void)nanosleep(&wait, NULL);
	}
	return 0;
}

/* ---- the recorder ---- */

/* Each start has files of its own; owned, NULL: no memory. */
static char *capture_path(const char *spool)
{
	char name[40];
	time_t now = time(NULL);
	struct tm utc;
	char *path;

	if (!gmtime_r(&now, &utc) || !strftime(name, sizeof(name), "%Y%m%dT%H%M%SZ", &utc))
		return NULL;
	return asprintf(&path, "%s/%s.data", spool, name) < 0 ? NULL : path;
}

/* Its words at argv; returns how many. */
static size_t put_selection(const struct agent_opts *o, char **argv)
{
	static const char *const names[] = { "--cgroup", "--unit", "--container", "--comm" };
	const struct option_list *const lists[] = { &o->cgroups, &o->units, &o->containers,
						    &o->comms };
	size_t count = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (unsigned k = 0; k < lists[i]->count; k++) {
			argv[count++] = (char *)(uintptr_t)names[i];
			argv[count++] = (char *)(uintptr_t)lists[i]->values[k];
		}
	}
	return count;
}

static int become_recorder(const struct agent_opts *o, char **words)
{
	char freq[] = "-F", rotate[] = "--rotate", output[] = "-o", overhead[] = "--max-overhead",
	     level[] = LEVEL, budget[] = "--samples-per-hour", quiet[] = "-q",
	     *path = cmd_record_find(), *capture = capture_path(o->spool);
	char *argv[WORDS_MAX + SELECTION_WORDS + 16] = { NULL,
							 freq,
							 (char *)(uintptr_t)o->freq,
							 rotate,
							 (char *)(uintptr_t)o->rotate,
							 overhead,
							 (char *)(uintptr_t)o->overhead,
							 output,
							 capture,
							 level };
	size_t count = 10, given = 0;
	int status;

	if (!capture) {
		free(path);
		return message_error("cannot record: %s", strerror(ENOMEM));
	}
	if (o->quiet)
		argv[count++] = quiet;
	if (o->samples_an_hour) {
		argv[count++] = budget;
		argv[count++] = (char *)(uintptr_t)o->samples_an_hour;
	}
	count += put_selection(o, argv + count);
	while (words[given] && given < WORDS_MAX)
		argv[count++] = words[given++];
	status = cmd_record_become(path, argv);
	free(path);
	free(capture);
	return status;
}

static int read_age(struct agent_opts *o)
{
	const char *end;

	if (duration_read(o->max_age, false, &end, &o->age_ns) && !*end && o->age_ns)
		return 0;
	return usage_error(&agent_usage,
			   "option '--max-age' cannot be '%s': 7d or 12h was expected", o->max_age);
}

int cmd_agent(int argc, char **argv)
{
	struct agent_opts opts = { .freq = FREQ_DEFAULT,
				   .rotate = ROTATE_DEFAULT,
				   .max_age = AGE_DEFAULT,
				   .overhead = OVERHEAD_DEFAULT,
				   .max_bytes = SIZE_DEFAULT,
				   .free_bytes = FREE_DEFAULT };
	const pid_t recorder = getpid();
	char **words;
	pid_t keeper;
	int status;

	if (!usage_parse(&agent_usage, &opts, argc, argv, 0, WORDS_MAX, &words, &status))
		return status;
	if (!opts.spool)
		opts.spool = spool_default();
	status = read_age(&opts);
	if (status)
		return status;
	if (mkdir(opts.spool, 0750) && errno != EEXIST)
		return message_error("cannot make the spool '%s': %s", opts.spool, strerror(errno));
	status = lock_spool(&opts);
	if (status)
		return status;
	keeper = fork();
	if (!keeper)
		keep(&opts, recorder);
	if (keeper < 0)
		return message_error("cannot start the keeper of '%s': %s", opts.spool,
				     strerror(errno));
	status = become_recorder(&opts, words);
	(void)kill(keeper, SIGTERM);
	return status;
}
