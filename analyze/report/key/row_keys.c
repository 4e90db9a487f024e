/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/key/row_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/fold/stack_counter.h"
#include "analyze/sym/function_label.h"
#include "format/base/vec.h"

/* Whether code lies in a file that the system brought: a library or program below /usr or /lib. */
static bool is_system(const char *dso, bool is_kernel)
{
	static const char *const roots[] = { "/lib/",        "/lib32/",     "/lib64/",
					     "/usr/lib/",    "/usr/lib32/", "/usr/lib64/",
					     "/usr/libexec/" };

	if (is_kernel || !strcmp(dso, "[vdso]") || !strcmp(dso, "[vsyscall]"))
		return true;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!strncmp(dso, roots[i], strlen(roots[i])))
			return true;
	return false;
}

static int add_label(struct row_keys *t, const struct row_keys_label *label, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(&t->index);
	if (err)
		return err;
	hash = hash_index_bytes(&t->index, label->texts, sizeof(label->texts));
	hash = hash_index_pair(&t->index, hash, label->is_kernel);
	pos = hash_index_start(&t->index, hash);
	while ((id = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (t->labels[id].is_kernel == label->is_kernel &&
		    !memcmp(t->labels[id].texts, label->texts, sizeof(label->texts))) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&t->labels, &t->capacity, t->count + 1);
	if (err)
		return err;
	id = (uint32_t)t->count++;
	t->labels[id] = *label;
	hash_index_put(&t->index, hash, pos, id);
	*out = id;
	return 0;
}

/* ---- frames ---- */

static int base_name(struct string_table *names, uint32_t dso, uint32_t *out)
{
	size_t size;
	const char *base = function_label_base(string_table_text(names, dso), &size);

	return string_table_add(names, base, size, out);
}

/* line: "loop.c:12", 0: not known.  only_file: without the number. */
static int line_text(struct string_table *names, uint32_t line, bool only_file, uint32_t *out)
{
	const char *text = line ? string_table_text(names, line) : "[unknown]";
	const char *colon = only_file ? strrchr(text, ':') : NULL;

	return string_table_add(names, text, colon ? (size_t)(colon - text) : strlen(text), out);
}

static int label_function(struct row_keys *t, const struct sort_keys *keys,
			  const struct row_keys_source *from, size_t i, uint32_t *out)
{
	const struct function *f = &from->naming->functions[i];
	bool by_dso = sort_keys_has(keys, KEY_DSO), by_symbol = sort_keys_has(keys, KEY_SYMBOL);
	uint32_t category = from->categories ? from->categories[i] : 0;
	struct row_keys_label label = { 0 };
	int err = 0;

	*out = ROW_KEYS_NO_LABEL;
	if (from->hide_system && is_system(string_table_text(from->names, f->dso), f->is_kernel))
		return 0;
	if (sort_keys_has(keys, KEY_CATEGORY)) {
		/*
		 * A function without a category has its caller's, unless it is shown by its name.
		 */
		if (!category && !by_dso && !by_symbol)
			return 0;
		err = category ? 0 : string_table_add(from->names, "other", 5, &category);
		label.texts[KEY_CATEGORY] = category;
	}
	if (!err && by_dso)
		err = base_name(from->names, f->dso, &label.texts[KEY_DSO]);
	if (!err && sort_keys_has(keys, KEY_LINE))
		err = line_text(from->names, f->line, false, &label.texts[KEY_LINE]);
	if (!err && sort_keys_has(keys, KEY_SOURCE_FILE))
		err = line_text(from->names, f->line, true, &label.texts[KEY_SOURCE_FILE]);
	if (sort_keys_has(keys, KEY_BUILD_ID))
		label.texts[KEY_BUILD_ID] = name_sources_of(from->sources, i).build_id;
	if (sort_keys_has(keys, KEY_ORIGIN))
		label.texts[KEY_ORIGIN] = name_sources_of(from->sources, i).origin;
	if (by_symbol) {
		label.texts[KEY_SYMBOL] = f->name;
		label.is_kernel = f->is_kernel;
	}
	return err ? err : add_label(t, &label, out);
}

static int label_functions(struct row_keys *t, const struct sort_keys *keys,
			   const struct row_keys_source *from)
{
	int err = 0;

	t->by_function = calloc(from->naming->function_count + 1, sizeof(*t->by_function));
	if (!t->by_function)
		return -ENOMEM;
	for (size_t i = 0; !err && i < from->naming->function_count; i++)
		err = label_function(t, keys, from, i, &t->by_function[i]);
	return err;
}

/* ---- groups ---- */

static int number_text(struct string_table *names, int64_t number, uint32_t *out)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "%" PRId64, number);

	return string_table_add(names, text, (size_t)size, out);
}

static int comm_text(struct string_table *names, uint32_t comm, uint32_t *out)
{
	char text[16];
	int size;

	if (!(comm & STACK_COUNTER_TID_GROUP)) {
		*out = comm;
		return 0;
	}
	size = snprintf(text, sizeof(text), ":%d", (int)(comm << 1) >> 1);
	return string_table_add(names, text, (size_t)size, out);
}

static int service_text(const struct row_keys_source *from, const struct group *g, uint32_t *out)
{
	const struct service_facts facts = {
		.context = string_table_text(from->names, g->context),
		.cgroup = string_table_text(from->names, (uint32_t)g->cgroup),
		.comm = g->comm & STACK_COUNTER_TID_GROUP ? ""
							  : string_table_text(from->names, g->comm),
	};
	char text[SERVICE_NAME_MAX];

	service_name(from->services, from->containers, &facts, text);
	return string_table_add(from->names, text, strlen(text), out);
}

static int group_text(const struct row_keys_source *from, enum sort_key key, const struct group *g,
		      uint32_t *out)
{
	struct string_table *names = from->names;

	switch (key) {
	case KEY_COMM:
		return comm_text(names, g->comm, out);
	case KEY_PID:
		return number_text(names, (int32_t)g->pid, out);
	case KEY_TID:
		return number_text(names, (int32_t)g->tid, out);
	case KEY_CPU:
		return number_text(names, g->cpu, out);
	case KEY_CGROUP:
		*out = (uint32_t)g->cgroup;
		return 0;
	case KEY_CONTAINER:
		return container_names_name(from->containers, names, (uint32_t)g->cgroup, out);
	case KEY_SERVICE:
		return service_text(from, g, out);
	default:
		return 0;
	}
}

static int label_groups(struct row_keys *t, const struct sort_keys *keys,
			const struct row_keys_source *from)
{
	struct row_keys_label label;
	int err = 0;

	if (!sort_keys_fields(keys))
		return 0;
	t->by_group = calloc(from->group_count + 1, sizeof(*t->by_group));
	if (!t->by_group)
		return -ENOMEM;
	for (size_t i = 0; !err && i < from->group_count; i++) {
		memset(&label, 0, sizeof(label));
		for (size_t k = 0; !err && k < keys->count; k++)
			err = group_text(from, keys->list[k], &from->groups[i],
					 &label.texts[keys->list[k]]);
		if (!err)
			err = add_label(t, &label, &t->by_group[i]);
	}
	return err;
}

int row_keys_make(const struct sort_keys *keys, const struct row_keys_source *source,
		  struct row_keys *out)
{
	struct row_keys_label none = { 0 }, hidden = { 0 };
	struct row_keys fresh = { 0 };
	uint32_t text;
	int err;

	err = string_table_add(source->names, source->hide_system ? "[system]" : "other",
			       source->hide_system ? 8 : 5, &text);
	for (size_t i = 0; i < keys->count; i++)
		if (!sort_key_info(keys->list[i])->fields)
			hidden.texts[keys->list[i]] = text;
	if (!err)
		err = add_label(&fresh, &none, &fresh.no_group);
	if (!err)
		err = add_label(&fresh, &hidden, &fresh.hidden);
	if (!err)
		err = label_functions(&fresh, keys, source);
	if (!err)
		err = label_groups(&fresh, keys, source);
	if (err)
		row_keys_done(&fresh);
	else
		*out = fresh;
	return err;
}

int row_keys_part(struct row_keys *t, uint32_t label, enum sort_key key, uint32_t *out)
{
	struct row_keys_label part = { 0 };

	part.texts[key] = t->labels[label].texts[key];
	return add_label(t, &part, out);
}

void row_keys_done(struct row_keys *t)
{
	free(t->labels);
	free(t->by_function);
	free(t->by_group);
	hash_index_done(&t->index);
	*t = (struct row_keys){ 0 };
}
