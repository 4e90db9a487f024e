/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec doctor - what works on this machine, what does not, why, and what mends it
 *
 * The recorder is run for its half, as `ebprec record` would run it: with its file capabilities, if
 * it has some.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/sandbox/recorder_rights.h"
#include "analyze/cmd/sandbox/sandbox.h"
#include "analyze/out/message.h"
#include "analyze/cmd/sandbox/selfcheck.h"
#include "analyze/cmd/common/usage.h"
#include "format/contract/finding.h"
#include "format/text/json_writer.h"

#define RECORDERS_MAX 64 /* findings: it has some fifteen */

struct doctor_opts {
	bool json;
};

static const struct option doctor_options[] = {
	{ OPT_FLAG, 0, "json", NULL, offsetof(struct doctor_opts, json), 0, 0,
	  "the findings as JSON" },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage doctor_usage = {
	.command = "doctor",
	.words = "[--json]",
	.about = "Tries what recording and reading need, and prints for each whether it works,\n"
		 "why not, and what mends it.  Nothing is changed.  Run it as the user that will\n"
		 "record.  Exit status: 0; 1: something is missing; 2: wrong usage.\n",
	.options = doctor_options,
};

struct findings {
	struct finding *list; /* owned */
	size_t count;
};

static struct finding *add(struct findings *all)
{
	struct finding *list = reallocarray(all->list, all->count + 1, sizeof(*list));

	if (!list)
		return NULL;
	all->list = list;
	list[all->count] = (struct finding){ 0 };
	return &list[all->count++];
}

/* Starts `PATH --doctor`; where its words can be read, and its process. */
static int start(const char *path, FILE **words, pid_t *pid)
{
	char name[] = "ebprec-record", option[] = "--doctor", *argv[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = posix_spawn_file_actions_init(&actions);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*words = err ? NULL : fdopen(ends[0], "r");
	if (!*words)
		close(ends[0]);
	return -err;
}

/* Gets the findings of the recorder; 0, or the error. */
static int ask_recorder(const char *path, struct findings *all)
{
	char line[FINDING_LINE_BYTES];
	struct finding found, *f;
	size_t before = all->count;
	int err, status = 0;
	FILE *words = NULL;
	pid_t pid = 0;

	err = start(path, &words, &pid);
	if (err)
		return err;
	while (words && all->count < RECORDERS_MAX && fgets(line, sizeof(line), words)) {
		if (finding_parse(line, &found))
			continue;
		f = add(all);
		if (f)
			*f = found;
	}
	if (words)
		fclose(words);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) && all->count > before ? 0 : -EIO;
}

static void look_rights(const char *path, struct findings *all)
{
	struct finding found[RECORDER_RIGHTS_FINDINGS], *to;

	recorder_rights_look(path, found);
	for (size_t i = 0; i < RECORDER_RIGHTS_FINDINGS; i++) {
		to = add(all);
		if (to)
			*to = found[i];
	}
}

static void look_recorder(struct findings *all)
{
	char *path = cmd_record_find();
	struct finding f = { .name = "recorder" }, *to;
	int err = path ? ask_recorder(path, all) : -ENOENT;
	char cure[200];

	if (!path) {
		finding_set(&f, FINDING_MISSING,
			    "install the package ebprec-record, or build it with 'make'",
			    "there is no ebprec-record: this is the analyzer alone");
	} else if (!err) {
		finding_set(&f, FINDING_WORKS, NULL, "%s", path);
	} else if (err == -EACCES) {
		cmd_record_cure(path, cure, sizeof(cure));
		finding_set(&f, FINDING_MISSING, cure, "'%s': %s", path, strerror(-err));
	} else if (err == -EPERM) {
		finding_set(&f, FINDING_MISSING, "see 'capabilities'", "'%s' cannot be started: %s",
			    path, strerror(-err));
	} else {
		finding_set(&f, FINDING_MISSING, "install it again",
			    "'%s' does not report what it found: %s", path, strerror(-err));
	}
	to = add(all);
	if (to)
		*to = f;
	if (path)
		look_rights(path, all);
	free(path);
}

/* Entered for good: the last that is tried. */
static void look_sandbox(struct finding *f)
{
	const struct sandbox_opts opts = { 0 };
	struct sandbox_result result;
	int err = sandbox_enter(&opts, &result);

	snprintf(f->name, sizeof(f->name), "sandbox");
	if (err)
		finding_set(f, FINDING_MISSING,
			    "a container may forbid it: allow the system calls of landlock and "
			    "seccomp, or --no-sandbox",
			    "%s is refused (%s): commands that read captures do not start",
			    result.refused, strerror(-err));
	else if (result.has_landlock)
		finding_set(f, FINDING_WORKS, NULL,
			    "commands that read captures read and write what was named alone, "
			    "execute nothing and send nothing");
	else
		finding_set(f, FINDING_DEGRADED, "see 'landlock'",
			    "seccomp alone: nothing is executed, sent or written, but all files "
			    "of the user could be read, and with --output written");
}

static bool is_there(const struct findings *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++) {
		if (!strcmp(all->list[i].name, name))
			return all->list[i].state == FINDING_WORKS;
	}
	return false;
}

/* The result in one sentence. */
static const char *result(const struct findings *all)
{
	bool perf_missing = true;

	for (size_t i = 0; i < all->count; i++) {
		if (!strcmp(all->list[i].name, "perf events"))
			perf_missing = all->list[i].state == FINDING_MISSING;
	}
	if (is_there(all, "BPF") && is_there(all, "BTF") && is_there(all, "perf events"))
		return "all processes can be recorded here";
	if (is_there(all, "perf events"))
		return "all processes can be recorded here, without BPF: samples cost more, no "
		       "marks";
	return perf_missing ? "nothing can be recorded here"
			    : "processes of your own can be recorded here: samples of user space";
}

static void print_text(const struct findings *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		printf("%-8s  %-16s  ", finding_state_text(f->state), f->name);
		message_escaped(stdout, f->why, strlen(f->why));
		if (f->mend[0]) {
			printf("\n%28s> ", "");
			message_escaped(stdout, f->mend, strlen(f->mend));
		}
		putchar('\n');
	}
	printf("\n%s\n", result(all));
}

static void print_json(const struct findings *all)
{
	struct json_writer j = { .to = stdout };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "version", EBPREC_VERSION);
	json_writer_string(&j, "result", result(all));
	json_writer_begin_array(&j, "findings");
	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		json_writer_begin(&j, NULL);
		json_writer_string(&j, "name", f->name);
		json_writer_string(&j, "state", finding_state_text(f->state));
		json_writer_string(&j, "why", f->why);
		if (f->mend[0])
			json_writer_string(&j, "mend", f->mend);
		json_writer_end(&j);
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_opts opts = { 0 };
	struct findings all = { 0 };
	int status = MESSAGE_OK;
	struct finding *f;

	if (!usage_parse(&doctor_usage, &opts, argc, argv, 0, 0, NULL, &status))
		return status;
	look_recorder(&all);
	for (size_t i = 0; i < selfcheck_count(); i++) {
		f = add(&all);
		if (f)
			selfcheck(i, f);
	}
	f = add(&all);
	if (f)
		look_sandbox(f);
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].state == FINDING_MISSING)
			status = MESSAGE_FAILED;
	}
	if (opts.json)
		print_json(&all);
	else
		print_text(&all);
	free(all.list);
	return status;
}
