/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff/command_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_meta.h"
#include "analyze/input/cmdlines.h"
#include "format/reader/ebx_records.h"

/* The process that the recorder started; 0: none, or others were recorded, too. */
static uint32_t command_pid(const struct capture *c)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	uint64_t pid;

	if (!capture_meta_number(meta, "command_pid", &pid) || pid > UINT32_MAX ||
	    !capture_meta_is(meta, "system_wide", "false"))
		pid = 0;
	capture_meta_free(meta);
	return (uint32_t)pid;
}

static bool has_ended(const struct capture *c)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_ACCOUNT);
	bool ended = capture_meta_is(meta, "ended", "\"command ended\"") &&
		     !capture_meta_member(meta, "segment").text;

	capture_meta_free(meta);
	return ended;
}

/* The words of its first exec; before that, the process is a copy of the recorder.  NULL: not known. */
static const struct cmdline_record *find_first(const struct cmdlines *all, uint32_t pid)
{
	const struct cmdline_record *first = NULL;

	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].pid != pid)
			continue;
		first = &all->list[i];
		if (first->time_ns)
			break;
	}
	return first;
}

int command_run_read(const struct capture *c, struct command_run *out)
{
	const struct cmdline_record *first;
	struct cmdlines all;
	uint32_t pid = command_pid(c);
	int err;

	*out = (struct command_run){ 0 };
	if (!pid || !has_ended(c))
		return 0;
	err = cmdlines_load(c, &all);
	if (err)
		return err;
	first = find_first(&all, pid);
	if (first && first->args_bytes && !(first->flags & CMDLINE_RECORD_ARGS_CUT)) {
		out->words = malloc((size_t)first->args_bytes + 1);
		err = out->words ? 0 : -ENOMEM;
	}
	if (out->words) {
		memcpy(out->words, first->args, first->args_bytes);
		out->size_bytes = first->args_bytes;
		out->words[out->size_bytes] = '\0';
	}
	cmdlines_done(&all);
	return err;
}

void command_run_done(struct command_run *r)
{
	free(r->words);
	*r = (struct command_run){ 0 };
}

static const char *base_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash && slash[1] ? slash + 1 : word;
}

bool command_run_same(const struct command_run *before, const struct command_run *after,
		      const struct renames *renames)
{
	const char *a = before->words, *b = after->words;
	const char *a_end, *b_end;

	if (!a || !b)
		return false;
	a_end = a + before->size_bytes;
	b_end = b + after->size_bytes;
	for (;;) {
		a += strlen(a) + 1;
		b += strlen(b) + 1;
		if (a >= a_end || b >= b_end)
			return a >= a_end && b >= b_end;
		if (strcmp(a, b) && !renames_match(renames, base_of(a), base_of(b)))
			return false;
	}
}
