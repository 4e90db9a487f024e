/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/cpuset_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/os/slurp.h"

void cpuset_list_done(struct cpuset_list *l)
{
	free(l->ids);
	*l = (struct cpuset_list){ 0 };
}

/* A number at *text, moved behind it.  -EBADMSG: none there, or larger than any CPU. */
static int read_id(const char **text, uint32_t *out)
{
	uint32_t v = 0;

	if (**text < '0' || **text > '9')
		return -EBADMSG;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		v = v * 10 + (uint32_t)(**text - '0');
		if (v > CPUSET_LIST_ID_MAX)
			return -EBADMSG;
	}
	*out = v;
	return 0;
}

static int add_range(struct cpuset_list *l, uint32_t from, uint32_t to)
{
	uint32_t *ids;

	if (from > to || (l->count && from <= l->ids[l->count - 1]))
		return -EBADMSG;
	ids = realloc(l->ids, (l->count + (to - from) + 1) * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	l->ids = ids;
	for (; from <= to; from++)
		l->ids[l->count++] = from;
	return 0;
}

int cpuset_list_parse(const char *text, struct cpuset_list *out)
{
	struct cpuset_list l = { 0 };
	uint32_t from = 0, to;
	int err;

	for (;;) {
		err = read_id(&text, &from);
		to = from;
		if (!err && *text == '-') {
			text++;
			err = read_id(&text, &to);
		}
		if (!err)
			err = add_range(&l, from, to);
		if (err || *text != ',')
			break;
		text++;
	}
	if (*text == '\n')
		text++;
	if (!err && *text)
		err = -EBADMSG;
	if (err) {
		cpuset_list_done(&l);
		return err;
	}
	*out = l;
	return 0;
}

int cpuset_list_add(struct cpuset_list *l, uint32_t id)
{
	uint32_t *ids;
	size_t at = 0;

	while (at < l->count && l->ids[at] < id)
		at++;
	if (at < l->count && l->ids[at] == id)
		return 0;
	ids = realloc(l->ids, (l->count + 1) * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	memmove(ids + at + 1, ids + at, (l->count - at) * sizeof(*ids));
	ids[at] = id;
	l->ids = ids;
	l->count++;
	return 0;
}

int cpuset_list_read(const char *dir, const char *name, struct cpuset_list *out)
{
	struct outbuf text = { 0 };
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = slurp(path, &text);
	free(path);
	if (!err)
		err = cpuset_list_parse((const char *)text.data, out);
	outbuf_done(&text);
	return err;
}
