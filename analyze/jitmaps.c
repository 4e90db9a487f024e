/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/jitmaps.h"

#include <stdio.h>
#include <string.h>

#include "analyze/embedded.h"
#include "analyze/vec.h"

void jitmaps_done(struct jitmaps *j)
{
	for (size_t i = 0; i < j->count; i++)
		free((char *)(uintptr_t)j->list[i].text);
	free(j->list);
	*j = (struct jitmaps){ 0 };
}

/* "perf-123.map" */
static bool parse_name(const char *name, uint32_t *pid)
{
	int end = 0;

	return *name == 'p' && sscanf(name, "perf-%9u.map%n", pid, &end) == 1 && end && !name[end];
}

static int add(void *ctx, const char *name, const char *text, size_t size_bytes)
{
	struct jitmaps *j = ctx;
	struct resolver_jit jit;
	int err;

	if (!parse_name(name, &jit.pid))
		return 0;
	for (size_t i = 0; i < j->count; i++)
		if (j->list[i].pid == jit.pid)
			return 0; /* pieces come joined, and again with each piece */
	err = vec_reserve(&j->list, &j->capacity, j->count + 1);
	if (err)
		return err;
	jit.text = malloc(size_bytes + 1);
	if (!jit.text)
		return -ENOMEM;
	memcpy((char *)(uintptr_t)jit.text, text, size_bytes);
	jit.size_bytes = size_bytes;
	j->list[j->count++] = jit;
	return 0;
}

int jitmaps_read(const struct capture *c, struct jitmaps *out)
{
	struct jitmaps j = { 0 };
	int err = embedded_each(c, "perf-", add, &j);

	if (err)
		jitmaps_done(&j);
	else
		*out = j;
	return err;
}
