/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/metrics/cmd_metric_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/out/message.h"

#define DIMS_MAX 256 /* candidates for "did you mean" */

/* Prints the recorder's note if it could not record that: "cannot record 'pmu', ..."; 0: there is none. */
static int print_reason(const struct metric_selection *m, const char *from, const char *name)
{
	const char *line = m->notes ? m->notes : "", *begin;
	size_t bytes, name_bytes = strlen(name);

	for (; *line; line += bytes + (line[bytes] == '\n')) {
		bytes = strcspn(line, "\n");
		begin = memchr(line, '\'', bytes);
		if (strncmp(line, "cannot ", 7) != 0 || !begin ||
		    begin + name_bytes + 1 >= line + bytes ||
		    strncmp(begin + 1, name, name_bytes) != 0 || begin[name_bytes + 1] != '\'')
			continue;
		return message_error("'%s' has no table '%s', its recorder printed: %.*s", from,
				     name, (int)bytes, line);
	}
	return 0;
}

static int unknown_name(const struct metric_selection *m, const char *from, const char *name)
{
	const char *names[2 * METRIC_TABLES_MAX], *near;
	struct metric_view own;
	const struct metric_view *known = metric_view_named(name, false);
	size_t count = 0;

	if (known)
		return message_error(
			"'%s' has no table '%s' (record some: ebprec record --with %s)", from, name,
			known->instrument);
	for (size_t i = 0; i < m->rows->count; i++) {
		const struct metric_view *v = metric_view_of(&m->rows->tables[i], &own);

		names[count++] = m->rows->tables[i].fmt.name;
		if (v != &own)
			names[count++] = v->instrument;
	}
	near = options_nearest(name, names, count);
	return message_error("'%s' has no table '%s'%s%s%s (--list names them)", from, name,
			     near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool names_table(const struct metric_selection *m, const char *name)
{
	struct metric_view own;

	for (size_t i = 0; i < m->rows->count; i++) {
		if (metric_selection_is_meant(metric_view_of(&m->rows->tables[i], &own), name))
			return true;
	}
	return false;
}

/* The keys that the tables that are meant can be grouped by: the one near the word, or all. */
static const char *near_dim(const struct metric_selection *m, const char *name,
			    char near[USAGE_CHOICES_BYTES])
{
	const char *names[DIMS_MAX];
	struct metric_view own;
	size_t count = 0;

	for (size_t i = 0; i < m->rows->count; i++) {
		const struct metric_table *t = &m->rows->tables[i];
		const struct metric_view *v = metric_view_of(t, &own);

		if (metric_selection_is_meant(v, name) && !metric_selection_is_list(t, v))
			count += metric_dimension_names(t, names + count, DIMS_MAX - count);
	}
	return usage_near_or_choices(m->ask->by, strlen(m->ask->by), names, count, near);
}

static int no_such_by(const struct metric_selection *m, const struct usage *usage, const char *name)
{
	const struct metric_table *t = metric_rows_find(m->rows, name);
	struct metric_view own;
	char near[USAGE_CHOICES_BYTES];

	if (t && metric_selection_is_list(t, metric_view_of(t, &own)))
		return usage_error(usage,
				   "option '--by': '%s' is a list of events, which do not add up",
				   name);
	return usage_error(usage, "option '--by': '%s' has no '%s'%s", name, m->ask->by,
			   near_dim(m, name, near));
}

bool metric_tables_are_elsewhere(const char *name)
{
	static const struct usage_word parts[] = {
		{ "cpu", "'ebprec report' shows its samples" },
		{ "sched", "'ebprec sched' shows it" },
		{ "mark", "'ebprec marks' shows them" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].word, name) != 0)
			continue;
		message_error("'%s' has no tables: %s", name, parts[i].instead);
		return true;
	}
	return false;
}

static int check_sort(const struct metric_selection *m, const struct usage *usage)
{
	const char *names[METRIC_COLUMNS_MAX * METRIC_TABLES_MAX], *key = m->ask->sort;
	char near[USAGE_CHOICES_BYTES];
	size_t count = 0;

	for (size_t i = 0; key && i < m->table_count; i++) {
		if (metric_selection_has_column(m->tables[i].view, key))
			return 0;
		for (const struct metric_column *c = m->tables[i].view->columns; c->op; c++)
			if (c->op != METRIC_DIM)
				names[count++] = c->key;
	}
	if (!key)
		return 0;
	return usage_error(usage,
			   "option '--sort': no table that is shown has numbers in a column '%s'%s",
			   key, usage_near_or_choices(key, strlen(key), names, count, near));
}

/* Nothing is shown of what the name means. */
static int report_none(const struct metric_selection *m, const struct usage *usage,
		       const char *from, const char *name)
{
	const struct metric_view *known = name ? metric_view_named(name, false) : NULL;
	char near[USAGE_CHOICES_BYTES];
	int status = name ? print_reason(m, from, name) : 0;

	if (status)
		return status;
	if (name && metric_tables_are_elsewhere(name))
		return MESSAGE_FAILED;
	if (!m->rows->count)
		return message_error("'%s' has no tables (record some: ebprec record --with %s)",
				     from, known ? known->instrument : "syscalls");
	if (m->ask->by && !name)
		return usage_error(usage, "option '--by': no table has '%s'%s", m->ask->by,
				   near_dim(m, NULL, near));
	if (m->ask->by && names_table(m, name))
		return no_such_by(m, usage, name);
	return unknown_name(m, from, name);
}

int metric_tables_choose(struct metric_selection *m, const struct usage *usage, const char *from,
			 const char *name)
{
	int err = metric_selection_add(m, name);

	if (err == -ENOENT)
		return report_none(m, usage, from, name);
	return err ? message_error("cannot show '%s': %s", from, strerror(-err))
		   : check_sort(m, usage);
}

/* Notes about the parts that these instruments could not measure. */
static void print_notes(const struct metric_selection *m)
{
	const char *at = m->notes, *line;
	size_t bytes;

	while ((line = metric_selection_next_note(m, &at, &bytes)))
		message_note("%.*s", (int)bytes, line);
}

int metric_tables_show(const struct metric_selection *m, const char *from)
{
	struct json_writer json = { .to = stdout, .layout = JSON_WRITER_SPACED };
	int err;

	if (m->ask->form != METRIC_JSON_FORM)
		print_notes(m);
	err = metric_selection_put(m, &json);
	if (m->rows->lost)
		message_note("%" PRIu64 " events found no room in the tables and are missing",
			     m->rows->lost);
	if (m->rows->broken)
		message_note("%" PRIu64 " rows of the tables could not be read", m->rows->broken);
	return err ? message_error("cannot show '%s': %s", from, strerror(-err)) : MESSAGE_OK;
}
