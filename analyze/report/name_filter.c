/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/name_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/fold/stack_counter.h"
#include "format/base/saturate.h"

/* The answers for each function and group: by rule kind, whether its text passes. */
struct answers {
	bool *by_function[NAME_FILTER_KINDS];
	bool *by_group;
};

/* The expression that a complete text must match; owned. */
static char *anchored(const char *text)
{
	char *out;

	return asprintf(&out, "^(%s)$", text) < 0 ? NULL : out;
}

int name_filter_add(struct name_filter *p, enum name_filter_what what, const char *text,
		    char *error, size_t error_bytes)
{
	struct name_filter_rule *rule = &p->rules[p->count];
	char *complete = NULL;
	int code;

	if (p->count == NAME_FILTER_MAX)
		return -E2BIG;
	rule->what = what;
	rule->text = text;
	rule->negated = *text == '!';
	text += rule->negated;
	if (what == NAME_FILTER_SERVICE) {
		complete = anchored(text);
		if (!complete)
			return -ENOMEM;
	}
	/* A container has two lines, of its name and of its id. */
	code = regcomp(&rule->regex, complete ? complete : text,
		       REG_EXTENDED | REG_NOSUB |
			       (what == NAME_FILTER_CONTAINER ? REG_NEWLINE : 0));
	free(complete);
	if (code) {
		regerror(code, &rule->regex, error, error_bytes);
		return -EINVAL;
	}
	p->count++;
	return 0;
}

void name_filter_done(struct name_filter *p)
{
	for (size_t i = 0; i < p->count; i++)
		regfree(&p->rules[i].regex);
	p->count = 0;
}

bool name_filter_has(const struct name_filter *p, enum name_filter_what what)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->rules[i].what == what)
			return true;
	return false;
}

unsigned name_filter_fields(const struct name_filter *p)
{
	if (name_filter_has(p, NAME_FILTER_SERVICE))
		return GROUP_SERVICE;
	return name_filter_has(p, NAME_FILTER_CGROUP) || name_filter_has(p, NAME_FILTER_CONTAINER)
		       ? GROUP_CGROUP
		       : 0;
}

/* All negated rules of the kind must agree, and one of the others. */
static bool passes(const struct name_filter *p, enum name_filter_what what, const char *text)
{
	bool wanted = false, found = false, hit;

	for (size_t i = 0; i < p->count; i++) {
		if (p->rules[i].what != what)
			continue;
		hit = !regexec(&p->rules[i].regex, text, 0, NULL, 0);
		if (p->rules[i].negated && hit)
			return false;
		wanted |= !p->rules[i].negated;
		found |= !p->rules[i].negated && hit;
	}
	return !wanted || found;
}

/* A stack has a parent that matches, or for a negated rule none: asked rule by rule. */
static bool passes_parents(const struct name_filter *p, const struct stack_table *s,
			   const struct stack_table_entry *e, const bool *matches, size_t stride)
{
	uint32_t starts[2] = { e->key.kernel, e->key.user };
	bool wanted = false, found = false;

	for (size_t r = 0; r < p->count; r++) {
		bool leaf = true, hit = false;

		if (p->rules[r].what != NAME_FILTER_PARENT)
			continue;
		for (int part = 0; part < 2; part++)
			for (uint32_t at = starts[part]; at >= STACK_TABLE_FIRST_NODE;
			     at = s->nodes[at].parent) {
				hit |= !leaf && matches[r * stride + s->nodes[at].frame];
				leaf = false;
			}
		if (p->rules[r].negated && hit)
			return false;
		wanted |= !p->rules[r].negated;
		found |= !p->rules[r].negated && hit;
	}
	return !wanted || found;
}

static void answers_done(struct answers *a)
{
	for (size_t i = 0; i < NAME_FILTER_KINDS; i++)
		free(a->by_function[i]);
	free(a->by_group);
}

bool name_filter_passes_cgroup(const struct name_filter *p,
			       const struct container_names *containers, const char *cgroup)
{
	char lines[CONTAINER_NAMES_TEXT_MAX] = "";

	if (!passes(p, NAME_FILTER_CGROUP, cgroup))
		return false;
	if (!name_filter_has(p, NAME_FILTER_CONTAINER))
		return true;
	if (*cgroup == '/')
		container_names_lines(containers, cgroup, lines);
	return passes(p, NAME_FILTER_CONTAINER, *lines ? lines : CONTAINER_NAMES_HOST);
}

bool name_filter_passes_service(const struct name_filter *p, const char *service)
{
	return passes(p, NAME_FILTER_SERVICE, service);
}

static bool passes_group(const struct name_filter *p, const struct string_table *names,
			 const struct container_names *containers, const struct group *g)
{
	const struct service_facts facts = {
		.context = string_table_text(names, g->context),
		.cgroup = string_table_text(names, (uint32_t)g->cgroup),
		.comm = g->comm & STACK_COUNTER_TID_GROUP ? "" : string_table_text(names, g->comm),
	};
	char service[SERVICE_NAME_MAX];

	if (!name_filter_passes_cgroup(p, containers, facts.cgroup))
		return false;
	if (!name_filter_has(p, NAME_FILTER_SERVICE))
		return true;
	service_name(p->services, containers, &facts, service);
	return name_filter_passes_service(p, service);
}

static int ask(const struct name_filter *p, const struct function_table *n,
	       const struct string_table *names, const struct container_names *containers,
	       const struct group *groups, size_t group_count, struct answers *out)
{
	struct answers a = { 0 };

	a.by_function[NAME_FILTER_DSO] = calloc(n->function_count + 1, sizeof(bool));
	a.by_function[NAME_FILTER_SYMBOL] = calloc(n->function_count + 1, sizeof(bool));
	a.by_function[NAME_FILTER_PARENT] = calloc((n->function_count + 1) * NAME_FILTER_MAX,
						   sizeof(bool));
	a.by_group = calloc(group_count + 1, sizeof(bool));
	if (!a.by_function[NAME_FILTER_DSO] || !a.by_function[NAME_FILTER_SYMBOL] ||
	    !a.by_function[NAME_FILTER_PARENT] || !a.by_group) {
		answers_done(&a);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n->function_count; i++) {
		const char *name = string_table_text(names, n->functions[i].name);

		a.by_function[NAME_FILTER_DSO][i] = passes(
			p, NAME_FILTER_DSO, string_table_text(names, n->functions[i].dso));
		a.by_function[NAME_FILTER_SYMBOL][i] = passes(p, NAME_FILTER_SYMBOL, name);
		for (size_t r = 0; r < p->count; r++)
			a.by_function[NAME_FILTER_PARENT][r * (n->function_count + 1) + i] =
				p->rules[r].what == NAME_FILTER_PARENT &&
				!regexec(&p->rules[r].regex, name, 0, NULL, 0);
	}
	for (size_t i = 0; name_filter_fields(p) && i < group_count; i++)
		a.by_group[i] = passes_group(p, names, containers, &groups[i]);
	*out = a;
	return 0;
}

struct question {
	const struct name_filter *filter;
	const struct answers *answers;
	const struct stack_table *stacks;
	size_t stride;
};

static bool takes(const void *arg, const struct stack_table_entry *e)
{
	const struct question *q = arg;
	const struct answers *a = q->answers;
	const struct stack_table *s = q->stacks;
	uint32_t leaf = e->key.kernel >= STACK_TABLE_FIRST_NODE ? e->key.kernel : e->key.user;
	uint32_t frame = s->nodes[leaf].frame;

	if (name_filter_fields(q->filter) && !a->by_group[e->key.group])
		return false;
	if (leaf < STACK_TABLE_FIRST_NODE)
		return true;
	return a->by_function[NAME_FILTER_DSO][frame] &&
	       a->by_function[NAME_FILTER_SYMBOL][frame] &&
	       passes_parents(q->filter, s, e, a->by_function[NAME_FILTER_PARENT], q->stride);
}

int name_filter_run(const struct name_filter *p, struct stack_table *s,
		    const struct function_table *n, const struct string_table *names,
		    const struct container_names *containers, const struct group *groups,
		    size_t group_count)
{
	struct answers a;
	int err;

	if (!p->count)
		return 0;
	err = ask(p, n, names, containers, groups, group_count, &a);
	if (err)
		return err;
	err = stack_table_keep(s, takes, &(struct question){ p, &a, s, n->function_count + 1 });
	answers_done(&a);
	return err;
}

int name_filter_sum(const struct name_filter *p, const struct stack_table *s,
		    const struct function_table *n, const struct string_table *names,
		    struct name_filter_sum *out)
{
	struct name_filter_sum sum = { 0 };
	struct answers a;
	int err = ask(p, n, names, NULL, NULL, 0, &a);
	const struct question question = { p, &a, s, n->function_count + 1 };

	if (err)
		return err;
	for (size_t i = 0; i < s->entry_count; i++) {
		if (!takes(&question, &s->entries[i]))
			continue;
		sum.samples += s->entries[i].sample_count;
		sum.period = saturate_add(sum.period, s->entries[i].period_sum);
	}
	answers_done(&a);
	*out = sum;
	return 0;
}
