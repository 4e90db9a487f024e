/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/service.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "format/contract/service_unit.h"

enum field { FIELD_CONTEXT, FIELD_UNIT, FIELD_CONTAINER, FIELD_CGROUP, FIELD_COMM, FIELD_COUNT };

static const char *const field_names[FIELD_COUNT] = { "context", "unit", "container", "cgroup",
						      "comm" };

#define BLANKS       " \t\r"
#define PATTERNS_MAX 8

struct rule {
	char *line; /* owned; the others are in it */
	const char *service;
	const char *patterns[PATTERNS_MAX];
	enum field fields[PATTERNS_MAX];
	size_t count;
};

struct service_rules {
	struct rule *list;
	size_t count, capacity;
};

/* ---- rules ---- */

/* False: it is no "FIELD:PATTERN" of a field that there is. */
static bool read_pattern(struct rule *rule, char *word)
{
	char *colon = strchr(word, ':');

	if (!colon || rule->count == PATTERNS_MAX)
		return false;
	*colon = '\0';
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (strcmp(word, field_names[i]) != 0)
			continue;
		rule->fields[rule->count] = (enum field)i;
		rule->patterns[rule->count++] = colon + 1;
		return true;
	}
	return false;
}

/* Splits rule->line.  0: it is empty; 1: a rule; -EBADMSG. */
static int read_rule(struct rule *rule, const char **what)
{
	char *save = NULL, *word;

	rule->line[strcspn(rule->line, "#")] = '\0';
	rule->service = strtok_r(rule->line, BLANKS, &save);
	if (!rule->service)
		return 0;
	*what = "each word behind the service is context:PATTERN, unit:PATTERN, container:PATTERN, "
		"cgroup:PATTERN or comm:PATTERN, at most eight";
	for (word = strtok_r(NULL, BLANKS, &save); word; word = strtok_r(NULL, BLANKS, &save))
		if (!read_pattern(rule, word))
			return -EBADMSG;
	*what = "a rule is SERVICE FIELD:PATTERN...";
	if (!rule->count)
		return -EBADMSG;
	*what = "the name of the service is too long";
	return strlen(rule->service) < SERVICE_NAME_MAX ? 1 : -EBADMSG;
}

static int add_rule(struct service_rules *r, const char *text, size_t size_bytes, const char **what)
{
	struct rule rule = { .line = strndup(text, size_bytes) };
	int found = rule.line ? read_rule(&rule, what) : -ENOMEM;

	if (found > 0 && vec_reserve(&r->list, &r->capacity, r->count + 1))
		found = -ENOMEM;
	if (found > 0)
		r->list[r->count++] = rule;
	else
		free(rule.line);
	return found < 0 ? found : 0;
}

int service_rules_new(const char *text, struct service_rules **out, struct parse_err *err)
{
	struct service_rules *r = calloc(1, sizeof(*r));
	const char *what = NULL;
	uint64_t line = 1;
	int code = r ? 0 : -ENOMEM;
	size_t size;

	for (; !code && *text; text += size + (text[size] == '\n'), line++) {
		size = strcspn(text, "\n");
		code = add_rule(r, text, size, &what);
		if (code == -EBADMSG && err)
			*err = (struct parse_err){ .offset_bytes = line, .what = what };
	}
	if (code)
		service_rules_free(r);
	else
		*out = r;
	return code;
}

void service_rules_free(struct service_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		free(r->list[i].line);
	free(r->list);
	free(r);
}

static bool matches(const struct rule *rule, const char *const fields[FIELD_COUNT])
{
	for (size_t i = 0; i < rule->count; i++)
		if (fnmatch(rule->patterns[i], fields[rule->fields[i]], 0) != 0)
			return false;
	return true;
}

/* ---- from the path ---- */

static void name_by_comm(const char *comm, char out[SERVICE_NAME_MAX])
{
	const char *slash = *comm ? strchr(comm + 1, '/') : NULL;

	snprintf(out, SERVICE_NAME_MAX, "%.*s",
		 slash ? (int)(slash - comm) : (int)strnlen(comm, SERVICE_NAME_MAX), comm);
	if (!*out)
		strcpy(out, SERVICE_NAME_UNKNOWN);
}

void service_name(const struct service_rules *rules, const struct container_names *containers,
		  const struct service_facts *facts, char out[SERVICE_NAME_MAX])
{
	char container[CONTAINER_NAMES_TEXT_MAX] = "", unit[SERVICE_UNIT_MAX];
	const char *const fields[FIELD_COUNT] = { facts->context, unit, container, facts->cgroup,
						  facts->comm };

	if (*facts->cgroup == '/')
		container_names_text(containers, facts->cgroup, container);
	service_unit(facts->cgroup, *container, unit);
	for (size_t i = 0; rules && i < rules->count; i++) {
		if (!matches(&rules->list[i], fields))
			continue;
		strcpy(out, rules->list[i].service);
		return;
	}
	if (*facts->context)
		snprintf(out, SERVICE_NAME_MAX, "%s", facts->context);
	else if (*unit)
		snprintf(out, SERVICE_NAME_MAX, "%.*s", (int)strlen(unit) - 8, unit);
	else if (*container)
		snprintf(out, SERVICE_NAME_MAX, "%s", container);
	else
		name_by_comm(facts->comm, out);
}
