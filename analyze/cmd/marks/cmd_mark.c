/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec mark - puts a mark into the recording that is running
 *
 * It does what any program does with format/include/ebprec-mark.h: it fires a probe in this very executable,
 * a nop that a recorder has turned into a breakpoint.  The kernel counts listeners in a variable of
 * the program, also of one that starts later, so that a mark without a listener is noticed.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/out/message.h"
#include "analyze/cmd/common/usage.h"
#include "format/include/ebprec-mark.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct mark_opts {
	const char *group, *name, *begin, *end;
	bool quiet;
};

static const struct option mark_options[] = {
	{ OPT_STRING, 'g', "group", "GROUP", offsetof(struct mark_opts, group), 0, 0,
	  "which marks it belongs to (default: shell)" },
	{ OPT_STRING, 'n', "name", "NAME", offsetof(struct mark_opts, name), 0, 0,
	  "what kind of mark in the group (default: mark; of a command its own name)" },
	{ OPT_STRING, 0, "begin", "NAME", offsetof(struct mark_opts, begin), 0, 0, "begin a span" },
	{ OPT_STRING, 0, "end", "NAME", offsetof(struct mark_opts, end), 0, 0,
	  "end the last span of the group that began with this name" },
	{ OPT_FLAG, 'q', "quiet", NULL, offsetof(struct mark_opts, quiet), 0, 0,
	  "no message when no recording received it" },
	{ 0 },
};

static const struct usage mark_usage = {
	.command = "mark",
	.words = "[OPTIONS] TEXT | --begin NAME | --end NAME | -- COMMAND ARGS",
	.about = "Puts a mark into the recording that is running on this machine: a moment with\n"
		 "a text, in the thread that ran 'ebprec mark'; the beginning or the end of a\n"
		 "span, which may have a text, too; or a span for as long as COMMAND runs,\n"
		 "whose exit status is passed on.\n"
		 "Without a recording it only runs COMMAND, prints that, and exits with 0,\n"
		 "so that it may stay in a script.\n"
		 "Programs in C and C++ make marks by #include <ebprec-mark.h>, which\n"
		 "'pkg-config --cflags ebprec-mark' finds; there is nothing to link.\n",
	.options = mark_options,
};

static void fire(const struct mark_opts *o, const char *name, const char *text,
		 enum ebprec_mark_kind kind)
{
	ebprec_mark_fire(o->group, name, text, 0, 0, kind);
}

void cmd_mark_point(const char *group, const char *name, const char *text)
{
	ebprec_mark_fire(group, name, text, 0, 0, EBPREC_MARK_POINT);
}

/* ---- a command ---- */

static _Noreturn void run_child(char **argv)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(argv[0], argv);
	message_error("cannot run '%s': %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* All words in one line.  Owned; NULL: no memory. */
static char *join(char **argv)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	for (char **word = argv; *word; word++)
		fprintf(to, "%s%s", word == argv ? "" : " ", *word);
	fclose(to);
	return text;
}

static int mark_command(const struct mark_opts *o, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	char *line = join(argv), result[32];
	uint64_t id;
	int status = 0;
	pid_t pid;

	if (!line)
		return message_error("cannot run '%s': %s", argv[0], strerror(ENOMEM));
	/* Ctrl-C is for the command; its end is still to be marked. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	id = ebprec_span_begin(o->group, o->name ? o->name : name, line);
	free(line);
	pid = fork();
	if (!pid)
		run_child(argv);
	if (pid < 0)
		return message_error("cannot run '%s': %s", argv[0], strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	snprintf(result, sizeof(result), WIFSIGNALED(status) ? "signal %d" : "exit %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (id)
		ebprec_mark_fire("", "", result, id, 0, EBPREC_MARK_END);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- all ---- */

/* Everything behind "--" is a command, also what looks like options. */
static char **find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argv + i + 1;
	return NULL;
}

static int send_mark(const struct mark_opts *o, const char *text)
{
	if (o->begin && o->end)
		return usage_error(&mark_usage, "--begin or --end, not both");
	if ((o->begin || o->end) && o->name)
		return usage_error(&mark_usage, "--%s has the name, --name is too much",
				   o->begin ? "begin" : "end");
	if (!o->begin && !o->end && !text)
		return usage_error(
			&mark_usage,
			"'ebprec mark' needs TEXT, '--begin NAME', '--end NAME' or '-- COMMAND'");
	if (o->begin)
		fire(o, o->begin, text ? text : "", EBPREC_MARK_BEGIN);
	else if (o->end)
		fire(o, o->end, text ? text : "", EBPREC_MARK_END);
	else
		fire(o, o->name ? o->name : "mark", text, EBPREC_MARK_POINT);
	return MESSAGE_OK;
}

int cmd_mark(int argc, char **argv)
{
	struct mark_opts opts = { .group = "shell" };
	char **words, **command = find_command(argc, argv);
	int status;

	if (command)
		argc = (int)(command - argv) - 1;
	if (!usage_parse(&mark_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	words = words < argv + argc ? words : NULL;
	if (command && (!*command || words || opts.begin || opts.end))
		return usage_error(&mark_usage, *command ? "a command is a mark of its own"
							 : "a command was expected behind '--'");
	if (!command) {
		status = send_mark(&opts, words ? words[0] : NULL);
		if (status)
			return status;
	}
	if (!ebprec_mark_heard() && !opts.quiet)
		message_note(
			"no recording is listening, the mark is not recorded (start 'ebprec record')");
	return command ? mark_command(&opts, command) : MESSAGE_OK;
}
