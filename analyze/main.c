/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec - finds the command and runs it */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/common_options.h"
#include "analyze/out/message.h"
#include "format/text/options.h"

static int run_help(int argc, char **argv);
static int run_version(int argc, char **argv);

#define COMMAND_ROW(name, kind, summary) { #name, cmd_##name, summary, kind },
static const struct command commands[] = {
	COMMANDS(COMMAND_ROW){ "top", cmd_live, "the same as live", COMMAND_ACTS },
	{ "help", run_help, "this list, or the help of a command", COMMAND_ACTS },
	{ "version", run_version, "the version, and what it was built with", COMMAND_ACTS },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

#define LOCKS "'ebprec record --with locks' and 'ebprec metrics locks', or 'ebprec report --waits'"

/* The names of others for it: perf's commands, and words to look for. */
static const struct {
	const char *name, *instead;
} elsewhere[] = {
	{ "annotate", "'ebprec report --annotate FUNCTION'" },
	{ "archive", "'ebprec bundle' puts the names into the capture" },
	{ "bench", "perf bench measures a machine, nothing here does" },
	{ "buildid-cache", "'ebprec bundle' puts the names into the capture" },
	{ "buildid-list", "'ebprec report --symbols-report', or perf buildid-list" },
	{ "c2c", "memory accesses are not sampled" },
	{ "config",
	  "there are no settings: options, and EBPREC_PAGER and EBPREC_COLOR of the environment" },
	{ "daemon",
	  "'ebprec record --ring 60s', or 'ebprec record --rotate 10m,6', run by your init" },
	{ "data", "'ebprec export' has other forms" },
	{ "evlist", "'ebprec info' shows the events" },
	{ "flamegraph", "'ebprec report --svg FILE'" },
	{ "ftrace", "calls in the kernel are not traced: 'ebprec record --mark PROBE' marks some" },
	{ "inject", "nothing is to be added: code of JITs and build-ids are recorded" },
	{ "iostat", "'ebprec record --with block' and 'ebprec metrics block'" },
	{ "kallsyms", "names of the kernel are in the capture" },
	{ "kmem", "'ebprec record --with kmem' and 'ebprec metrics kmem'" },
	{ "kvm", "guests are recorded by an ebprec inside of them" },
	{ "kwork", "'ebprec record --with irq' and 'ebprec metrics irq'" },
	{ "list", "'ebprec record --list'" },
	{ "lock", LOCKS },
	{ "locks", LOCKS },
	{ "mem", "memory accesses are not sampled" },
	{ "probe", "'ebprec record --mark PROBE'" },
	{ "stat",
	  "'ebprec record' and 'ebprec summary'; of a CPU's counters, where 'ebprec doctor' finds some, 'ebprec record --with pmu'" },
	{ "syscalls", "'ebprec record --with syscalls' and 'ebprec metrics syscalls'" },
	{ "test", "'ebprec doctor' tries what can be recorded" },
	{ "timechart", "'ebprec export --to chrome'" },
	{ "trace", "'ebprec record --with syscalls' and 'ebprec metrics syscalls'" },
	{ "waits", "'ebprec report --waits'" },
};

static int unknown(const char *name)
{
	const char *names[COMMAND_COUNT], *near;

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (!strcmp(elsewhere[i].name, name)) {
			message_error("there is no command '%s': %s (see 'ebprec help')", name,
				      elsewhere[i].instead);
			return MESSAGE_USAGE;
		}
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	near = options_nearest(name, names, COMMAND_COUNT);
	if (near)
		message_error("unknown command '%s', did you mean '%s'? (see 'ebprec help')", name,
			      near);
	else
		message_error("unknown command '%s' (see 'ebprec help')", name);
	return MESSAGE_USAGE;
}

static void list(FILE *to)
{
	fputs("usage: ebprec COMMAND [OPTIONS]\n\n", to);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\nCommands that show something also take:\n", to);
	options_print_bare(common_options_table(true), to);
	fputs("\n'ebprec help COMMAND' and 'man ebprec-COMMAND' have more.  Exit status: 0; 1: it failed; 2: wrong usage.\n",
	      to);
}

static int run_help(int argc, char **argv)
{
	char option[] = "--help", *of_command[] = { NULL, option, NULL };
	const struct command *c;

	if (argc == 2 && options_wants_lines(argc, argv)) {
		options_print_lines(common_options_table(true), false, stdout);
		return MESSAGE_OK;
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		argc = 1;
	if (argc == 1) {
		list(stdout);
		return MESSAGE_OK;
	}
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	if (c->run == run_help || c->run == run_version) {
		printf("usage: ebprec %s\n\n%s\n", c->name, c->summary);
		return MESSAGE_OK;
	}
	of_command[0] = argv[1];
	return c->run(2, of_command);
}

static void print_build(void)
{
	char *recorder = cmd_record_find();

	printf("compiler: %s\n", __VERSION__);
	printf("zstd: %s (built with %s)\n", ZSTD_versionString(), ZSTD_VERSION_STRING);
	printf("recorder: %s\n", recorder ? recorder : "none (analyzer only)");
	free(recorder);
}

static int run_version(int argc, char **argv)
{
	bool build = false, help = false;

	for (int i = 1; i < argc; i++) {
		build |= !strcmp(argv[i], "--build-options");
		help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
		if (!build && !help) {
			message_error("unknown word '%s' (ebprec --version [--build-options])",
				      argv[i]);
			return MESSAGE_USAGE;
		}
	}
	if (help) {
		puts("usage: ebprec --version [--build-options]");
		return MESSAGE_OK;
	}
	puts("ebprec " EBPREC_VERSION);
	if (build)
		print_build();
	return MESSAGE_OK;
}

/*
 * Output that a full disk did not take must not pass for success.  A reader that went away, as head
 * does, has what it wants.
 */
static int close_output(int status)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE || status)
		return status;
	return message_error("cannot write to standard output: %s",
			     errno ? strerror(errno) : "earlier output was lost");
}

static int run(const struct command *c, struct common_options *h, int argc, char **argv)
{
	int status;

	common_options_begin(h, c->kind == COMMAND_SHOWS);
	status = close_output(c->run(argc - 1, argv + 1));
	common_options_end(h);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *c = argc > 1 ? find(argv[1]) : NULL;
	struct common_options options = { .color = "auto", .sandbox = true };
	struct option_error error;

	/* The words behind `record` may be of another command's. */
	if ((!c || c->kind != COMMAND_ACTS) &&
	    common_options_take(&argc, argv, !c || c->kind == COMMAND_SHOWS, &options, &error)) {
		message_error("%s (see 'ebprec help')", error.text);
		return MESSAGE_USAGE;
	}
	if (argc < 2) {
		list(stderr);
		return MESSAGE_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		c = find("help");
	else if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v") || !strcmp(argv[1], "-V"))
		c = find("version");
	else
		c = find(argv[1]);
	if (!c && argv[1][0] == '-') {
		static const char *const usual[] = { "--help", "--version" };
		const char *near = options_nearest(argv[1], usual, 2);

		if (near)
			message_error("unknown option '%s', did you mean '%s'? (see 'ebprec help')",
				      argv[1], near);
		else
			message_error(
				"unknown option '%s', a command was expected (see 'ebprec help')",
				argv[1]);
		return MESSAGE_USAGE;
	}
	if (!c)
		return unknown(argv[1]);
	return run(c, &options, argc, argv);
}
