/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* What rows have besides. */
static const char *const taken[] = {
	"host",  "host.name", "service", "service.name", "container",   "container.name", "comm",
	"table", "time",      "part",    "thread",       "thread.name", "event",
};

static bool is_taken(const struct push_labels *l, const char *key)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(taken[i], key))
			return true;
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].key, key))
			return true;
	return false;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static const char *problem_of(const struct push_labels *l, const char *key, const char *value)
{
	size_t key_bytes = strlen(key), value_bytes = strlen(value);

	if (!key_bytes || !strchr(LETTERS, *key) ||
	    strspn(key, LETTERS "0123456789.-") != key_bytes)
		return "a key is letters, digits, '_', '.' and '-', and begins with a letter";
	if (!value_bytes || !is_printable(value))
		return "a value is printable ASCII";
	if (key_bytes > PUSH_LABEL_KEY_MAX || value_bytes > PUSH_LABEL_VALUE_MAX)
		return "a key has at most 64 bytes, a value 128";
	if (is_taken(l, key))
		return "there is one of that name";
	return l->count == PUSH_LABELS_MAX ? "a host has at most 16" : NULL;
}

int push_labels_add(struct push_labels *l, const char *text, const char **problem)
{
	const char *equals = strchr(text, '=');
	struct push_label label;

	*problem = equals ? NULL : "KEY=VALUE was expected";
	if (!equals)
		return -EINVAL;
	label.key = strndup(text, (size_t)(equals - text));
	label.value = strdup(equals + 1);
	if (label.key && label.value)
		*problem = problem_of(l, label.key, label.value);
	if (!label.key || !label.value || *problem) {
		free(label.key);
		free(label.value);
		return *problem ? -EINVAL : -ENOMEM;
	}
	l->list[l->count++] = label;
	return 0;
}

int push_labels_read(struct push_labels *l, char *text, size_t *line, const char **problem)
{
	char *next = text, *at;
	int err = 0;

	for (*line = 0; !err && (at = strsep(&next, "\n"));) {
		++*line;
		if (*at && *at != '#')
			err = push_labels_add(l, at, problem);
	}
	return err;
}

void push_labels_done(struct push_labels *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->list[i].key);
		free(l->list[i].value);
	}
	*l = (struct push_labels){ .count = 0 };
}
