/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/common_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/cmd/common/progress.h"

/*
 * F: quit when it fits; R: colours; X: leave the text there; K: end by Ctrl-C.  Not S (cut long lines):
 * less does not quit when it has cut one.
 */
#define LESS_DEFAULTS "FRXK"

static const struct option options[] = {
	{ OPT_FLAG, 0, "pager", NULL, offsetof(struct common_options, pager), 0, 0,
	  "show it in $EBPREC_PAGER, $PAGER or less; --no-pager: as it is" },
	{ OPT_STRING, 0, "color", "WHEN", offsetof(struct common_options, color), 0, 0,
	  "auto (on a terminal, unless NO_COLOR is set), always or never" },
	{ OPT_FLAG, 0, "utf8", NULL, offsetof(struct common_options, utf8), 0, 0,
	  "draw with lines (default: as the locale of the terminal is); --no-utf8: not" },
	{ OPT_FLAG, 0, "sandbox", NULL, offsetof(struct common_options, sandbox), 0, 0,
	  "--no-sandbox: read without landlock and seccomp" },
	{ OPT_SIZE, 0, "unpack-limit", "SIZE", offsetof(struct common_options, unpack_limit), 0, 0,
	  "memory for private objects (default: 64M and 64 times theirs) and for rows of tables (64M and 256 times the file)" },
	{ 0 },
};

#define SHOWING_COUNT 3 /* those of a command that shows something; the others all have */

const struct option *common_options_table(bool shows)
{
	return options + (shows ? 0 : SHOWING_COUNT);
}

/* ---- the options ---- */

/* How many words at argv[i] are of an option of the table: 0, 1, or 2 with its value. */
static int words_of(const struct option *table, int argc, char **argv, int i)
{
	const struct option *o;
	const char *name = argv[i] + 2;
	size_t length;

	if (strncmp(argv[i], "--", 2) != 0)
		return 0;
	length = strcspn(name, "=");
	for (o = table; o->type != OPT_END; o++) {
		if (strlen(o->long_name) == length && !strncmp(o->long_name, name, length))
			return o->type == OPT_FLAG || name[length] || i + 1 == argc ? 1 : 2;
		if (o->type == OPT_FLAG && !strncmp(name, "no-", 3) &&
		    !strcmp(o->long_name, name + 3))
			return 1;
	}
	return 0;
}

static bool is_color(const char *word)
{
	return !strcmp(word, "auto") || !strcmp(word, "always") || !strcmp(word, "never");
}

/* The words themselves are parsed by the one parser, each on its own. */
static int take(struct common_options *h, char **words, int count, struct option_error *error)
{
	char *argv[] = { NULL, words[0], count > 1 ? words[1] : NULL, NULL };
	int first, err;

	err = options_parse(options, h, 1 + count, argv, /* permute= */ false, &first, error);
	if (err)
		return err;
	h->utf8_given |= !!strstr(words[0], "utf8");
	if (is_color(h->color))
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "option '--color' cannot be '%.40s': 'auto', 'always' or 'never'", h->color);
	return -EINVAL;
}

int common_options_take(int *argc, char **argv, bool shows, struct common_options *out,
			struct option_error *error)
{
	struct common_options h = { .pager = true, .color = "auto", .sandbox = true };
	int from, count, to = 1, err;

	for (from = 1; from < *argc && strcmp(argv[from], "--") != 0; from += count) {
		count = words_of(common_options_table(shows), *argc, argv, from);
		if (!count) {
			argv[to++] = argv[from];
			count = 1;
			continue;
		}
		err = take(&h, &argv[from], count, error);
		if (err)
			return err;
	}
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
	*out = h;
	return 0;
}

/* ---- the pager ---- */

static const char *pager_command(void)
{
	const char *command = getenv("EBPREC_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		return "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static void run_pager(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	setenv("LESS", LESS_DEFAULTS, /* overwrite= */ 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Whether the shell would find it: one that fails would swallow the answer. */
static bool is_there(const char *command)
{
	char *words = strdup(command), *rest, *word, *path, *name, *dir;
	const char *dirs = getenv("PATH");
	bool found = false;

	word = words ? strtok_r(words, " \t", &rest) : NULL;
	if (word && strpbrk(word, "/;|&<>()$`'\"=*?")) {
		found = word[0] != '/' || !access(word, X_OK);
	} else if (word) {
		path = strdup(dirs ? dirs : "/bin:/usr/bin");
		for (dir = path ? strtok_r(path, ":", &rest) : NULL; dir && !found;
		     dir = strtok_r(NULL, ":", &rest)) {
			if (asprintf(&name, "%s/%s", dir, word) < 0)
				break;
			found = !access(name, X_OK);
			free(name);
		}
		free(path);
	}
	free(words);
	return found;
}

/* Until there is something to page, progress is shown there. */
static void keep_terminal(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	if (fd >= 0)
		setenv(PROGRESS_VARIABLE, number, 1);
}

static void start_pager(struct common_options *h)
{
	const char *command = pager_command();
	int ends[2];
	pid_t pid;

	if (!command || !is_there(command) || pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		run_pager(command, ends[0]);
	close(ends[0]);
	if (pid > 0) {
		h->pager_pid = pid;
		setenv("EBPREC_PAGER_IN_USE", "1", 1);
		dup2(ends[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO)) {
			keep_terminal();
			dup2(ends[1], STDERR_FILENO);
		}
	}
	close(ends[1]);
}

void common_options_begin(struct common_options *h, bool paged)
{
	char number[24];

	unsetenv("EBPREC_PAGER_IN_USE");
	unsetenv(PROGRESS_VARIABLE);
	if (strcmp(h->color, "auto") != 0)
		setenv("EBPREC_COLOR", h->color, 1);
	if (h->utf8_given)
		setenv("EBPREC_UTF8", h->utf8 ? "1" : "0", 1);
	if (!h->sandbox)
		setenv(SANDBOX_POLICY_VARIABLE, "0", 1);
	if (h->unpack_limit) {
		snprintf(number, sizeof(number), "%" PRIu64, h->unpack_limit);
		setenv(CMD_UNPACK_VARIABLE, number, 1);
	}
	if (paged && h->pager && isatty(STDOUT_FILENO))
		start_pager(h);
}

void common_options_end(struct common_options *h)
{
	int status;

	if (!h->pager_pid)
		return;
	fclose(stdout);
	fclose(stderr);
	/* Before the pager no reader of the terminal may come. */
	while (waitpid(h->pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	h->pager_pid = 0;
}
