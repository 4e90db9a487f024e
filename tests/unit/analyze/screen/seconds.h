/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* seconds - a history whose stacks a test writes down */
#ifndef EBPREC_TESTS_SECONDS_H
#define EBPREC_TESTS_SECONDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/screen/history.h"

static inline uint32_t text_of(struct history *h, const char *text)
{
	uint32_t id;

	assert_int_equal(string_table_add(h->names, text, strlen(text), &id), 0);
	return id;
}

/* "[x]" is a wait, "k_x" a function of the kernel, and others are of a program. */
static inline uint32_t frame_of(struct history *h, const char *name)
{
	struct history_frame f = { .name = text_of(h, name) };
	uint32_t id;

	f.is_wait = *name == '[';
	f.is_kernel = *name == '[' || !strncmp(name, "k_", 2);
	f.dso = text_of(h, f.is_wait ? "[off-cpu]" : f.is_kernel ? "[kernel.kallsyms]" : "/bin/p");
	assert_int_equal(history_add_frame(h, &f, &id), 0);
	return id;
}

static inline uint32_t task_of(struct history *h, const char *comm, uint32_t pid)
{
	struct history_task t = { .comm = text_of(h, comm),
				  .pid = pid,
				  .tid = pid,
				  .container = text_of(h, "[host]"),
				  .unit = text_of(h, "cron.service") };
	uint32_t id;

	assert_int_equal(history_add_task(h, &t, &id), 0);
	return id;
}

/* stack: functions from the outermost on, with blanks between them.  time_us: in the times; else so many samples. */
static inline void put_stack(struct history *h, struct history_second *s, const char *comm,
			     uint32_t pid, const char *stack, uint64_t samples, uint64_t time_us)
{
	struct stack_table *t = time_us ? &s->times : &s->samples;
	struct stack_table_key key = { .group = task_of(h, comm, pid),
				       .kernel = STACK_TABLE_KERNEL_ROOT };
	char text[200], *word, *at = text;

	snprintf(text, sizeof(text), "%s", stack);
	while ((word = strsep(&at, " "))) {
		uint32_t frame = frame_of(h, word), *node = &key.user;

		if (h->frames[frame].is_kernel)
			node = &key.kernel;
		assert_int_equal(stack_table_child(t, *node, frame, node), 0);
	}
	assert_int_equal(stack_table_count(t, &key, samples, time_us), 0);
	s->sample_count += samples;
}

static inline struct history_second *begin_second(struct history *h, uint64_t second)
{
	struct history_second *s = history_second_of(h, second);

	assert_non_null(s);
	return s;
}

#endif
