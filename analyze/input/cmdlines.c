/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/cmdlines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"

static int by_pid_and_time(const void *va, const void *vb)
{
	const struct cmdline_record *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Takes data. */
static int add_object(struct cmdlines *a, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct cmdline_record next;
	int err = vec_reserve(&a->blobs, &a->blob_capacity, a->blob_count + 1), more = 0;

	if (err) {
		free(data);
		return err;
	}
	a->blobs[a->blob_count++] = data;
	while (!err && (more = cmdline_record_next(&c, &next)) > 0) {
		err = vec_reserve(&a->list, &a->capacity, a->count + 1);
		if (!err)
			a->list[a->count++] = next;
	}
	a->broken |= more < 0;
	return err;
}

int cmdlines_load(const struct capture *c, struct cmdlines *out)
{
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	struct cmdlines a = { 0 };
	uint8_t *data;
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		if (o[i].kind != EBX_ARGS)
			continue;
		err = capture_object_read(c, &o[i], &data, &size_bytes);
		a.broken |= err && err != -ENOMEM;
		if (!err)
			err = add_object(&a, data, size_bytes);
		else if (err != -ENOMEM)
			err = 0;
	}
	if (err) {
		cmdlines_done(&a);
		return err;
	}
	if (a.count)
		qsort(a.list, a.count, sizeof(*a.list), by_pid_and_time);
	*out = a;
	return 0;
}

void cmdlines_done(struct cmdlines *a)
{
	for (size_t i = 0; i < a->blob_count; i++)
		free(a->blobs[i]);
	free(a->blobs);
	free(a->list);
	*a = (struct cmdlines){ 0 };
}

const struct cmdline_record *cmdlines_find(const struct cmdlines *a, uint32_t pid, uint64_t time_ns)
{
	const struct cmdline_record key = { .pid = pid, .time_ns = time_ns };
	size_t low = lower_bound(i, 0, a->count, by_pid_and_time(&a->list[i], &key) <= 0);

	return low && a->list[low - 1].pid == pid ? &a->list[low - 1] : NULL;
}

void cmdlines_put_word(FILE *to, const char *word, size_t bytes)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "@%_-+=:,./";
	bool quoted = !bytes;

	for (size_t i = 0; i < bytes && !quoted; i++)
		quoted = (unsigned char)word[i] < 0x80 && !strchr(plain, word[i]);
	if (quoted)
		fputc('\'', to);
	for (size_t i = 0; i < bytes; i++) {
		if (word[i] == '\'')
			fputs("'\\''", to);
		else
			fputc(word[i], to);
	}
	if (quoted)
		fputc('\'', to);
}

char *cmdlines_line(const struct cmdline_record *p)
{
	char *text = NULL;
	size_t bytes, at = 0, size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	while (at < p->args_bytes) {
		bytes = strnlen(p->args + at, p->args_bytes - at);
		if (at)
			fputc(' ', to);
		cmdlines_put_word(to, p->args + at, bytes);
		at += bytes + 1;
	}
	if (p->flags & CMDLINE_RECORD_ARGS_CUT)
		fputs("...", to);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}
