/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/live/cmd_live_save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PARTS_MAX 64
#define SECOND_NS ((uint64_t)1000000000)
#define LOG       "/save.log"

/* Runs ebprec with these words, its messages in the log.  Whether it succeeded. */
static int run(char *const *words, const char *log)
{
	pid_t pid = fork();
	int status = -1, fd;

	if (!pid) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd >= 0) {
			dup2(fd, STDOUT_FILENO);
			dup2(fd, STDERR_FILENO);
		}
		execv("/proc/self/exe", words);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The second names of the files, in names; returns how many there are. */
static size_t link_parts(const struct live_save *s, char *names[PARTS_MAX])
{
	size_t count = 0;

	/* The numbers are those that the process sent which reads captures: any. */
	for (unsigned i = 0; i < PARTS_MAX && i <= s->last_part - s->first_part; i++) {
		unsigned part = s->first_part + i;
		char *from = NULL, *to = NULL;
		int bytes = part ? asprintf(&from, "%s.%u", s->path, part)
				 : asprintf(&from, "%s", s->path);

		if (bytes < 0 || asprintf(&to, "%s/save.%u", s->folder, part) < 0)
			break;
		unlink(to);
		if (!link(from, to))
			names[count++] = to;
	}
	return count;
}

static char *printed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *printed(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		_exit(1);
	va_end(ap);
	return text;
}

static int merge(const struct live_save *s, char **parts, size_t count, char *log, char **out)
{
	char *words[PARTS_MAX + 6] = { (char *)(uintptr_t) "ebprec", (char *)(uintptr_t) "merge",
				       (char *)(uintptr_t) "-q", (char *)(uintptr_t) "-o" };
	size_t n = 4;

	*out = parts[0];
	if (count == 1)
		return 1;
	*out = printed("%s/save.merged", s->folder);
	unlink(*out);
	words[n++] = *out;
	for (size_t i = 0; i < count; i++)
		words[n++] = parts[i];
	words[n] = NULL;
	return run(words, log);
}

#define TIME_FORMAT "%" PRIu64 ".%09" PRIu64

static int slice(const struct live_save *s, char *from, char *log)
{
	char *time = printed(TIME_FORMAT "," TIME_FORMAT, s->from_ns / SECOND_NS,
			     s->from_ns % SECOND_NS, s->to_ns / SECOND_NS, s->to_ns % SECOND_NS);
	char *words[] = { printed("ebprec"),
			  printed("slice"),
			  printed("-q"),
			  printed("--time"),
			  time,
			  printed("-o"),
			  printed("%s", s->capture),
			  from,
			  NULL };

	return run(words, log);
}

static int make_page(const struct live_save *s, char *log)
{
	char *words[] = {
		printed("ebprec"),      printed("report"),         printed("-q"), printed("--html"),
		printed("%s", s->page), printed("%s", s->capture), NULL
	};

	return run(words, log);
}

static void write_log(const char *log, const char *text)
{
	FILE *to = fopen(log, "we");

	if (!to)
		return;
	fputs(text, to);
	fclose(to);
}

/* Exit statuses: what could not be done. */
enum { DONE, NO_CAPTURE, NO_PAGE };

static int save(const struct live_save *s)
{
	char *parts[PARTS_MAX], *log = printed("%s" LOG, s->folder), *from;
	size_t count = link_parts(s, parts);
	int ok;

	if (!count)
		write_log(log, "the files of these seconds were deleted by now");
	ok = count && merge(s, parts, count, log, &from) && slice(s, from, log);
	for (size_t i = 0; i < count; i++)
		unlink(parts[i]);
	if (count > 1)
		unlink(printed("%s/save.merged", s->folder));
	if (!ok)
		return NO_CAPTURE;
	return make_page(s, log) ? DONE : NO_PAGE;
}

int cmd_live_save_begin(struct live_save *s, const sigset_t *mask, pid_t *out)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;
	pid_t pid;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(s->capture, sizeof(s->capture), "ebprec-live-%s.data", stamp);
	snprintf(s->page, sizeof(s->page), "ebprec-live-%s.html", stamp);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		_exit(save(s));
	}
	if (pid < 0)
		return -errno;
	*out = pid;
	return 0;
}

/* The last line of the log, without its end. */
static void last_line(const struct live_save *s, char *line, size_t room)
{
	char *path = NULL;
	FILE *from;

	*line = '\0';
	if (asprintf(&path, "%s" LOG, s->folder) < 0)
		return;
	from = fopen(path, "re");
	while (from && fgets(line, (int)room, from))
		;
	line[strcspn(line, "\n")] = '\0';
	if (from)
		fclose(from);
	free(path);
}

void cmd_live_save_result(const struct live_save *s, int status, char *text, size_t room)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	char why[160];
	struct stat st;

	last_line(s, why, sizeof(why));
	if (code == DONE)
		snprintf(text, room, "wrote %s (%" PRIu64 " KiB) and .html", s->capture,
			 stat(s->capture, &st) ? 0 : (uint64_t)st.st_size >> 10);
	else if (code == NO_PAGE)
		snprintf(text, room, "wrote %s, but no page: %s", s->capture, why);
	else
		snprintf(text, room, "the capture was not written: %s", why);
}
