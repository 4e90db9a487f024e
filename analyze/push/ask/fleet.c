/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ask/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/function_table.h"
#include "analyze/push/ask/clickhouse_ask.h"
#include "analyze/push/forms/clickhouse.h"
#include "analyze/push/forms/ids.h"
#include "analyze/report/profile/flame_svg.h"
#include "format/base/vec.h"

struct stack {
	uint64_t id;
	size_t first, count; /* in frames */
};

struct frame {
	uint64_t id;
	uint32_t label;
};

struct work {
	struct push_http *http;
	const struct push_target *target;
	const struct push_fleet_ask *ask;
	const char *members; /* the table of the samples; may have a stack more than once */
	const char *table;   /* the same with what makes sums right */
	const char *time;    /* its column */
	char *where;         /* owned: the condition of the samples */
	struct push_fleet *out;
	struct stack *stacks; /* by id */
	size_t stack_count, stack_capacity;
	uint64_t *ids; /* of the stacks' frames */
	size_t id_count, id_capacity;
	struct frame *frames; /* by id */
	size_t frame_count, frame_capacity;
	char *words;
};

/* ---- what is asked ---- */

static int put_matches(FILE *to, const char *column, const char *const *list, size_t count,
		       const char *before, const char *after)
{
	for (size_t i = 0; i < count; i++) {
		bool takes_out = *list[i] == '!';
		char *text, *literal;

		if (asprintf(&text, "%s%s%s", before, list[i] + takes_out, after) < 0)
			return -ENOMEM;
		literal = push_clickhouse_quote(text);
		free(text);
		if (!literal)
			return -ENOMEM;
		fprintf(to, " AND %smatch(%s, %s)", takes_out ? "NOT " : "", column, literal);
		free(literal);
	}
	return 0;
}

/* An expression that is a name alone is compared, so that the order of the rows finds it. */
static int put_services(FILE *to, const char *const *list, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		char *literal;

		if (!*list[i] || list[i][strcspn(list[i], "\\^$.|?*+()[]{}!")]) {
			err = put_matches(to, "service", list + i, 1, "^(", ")$");
			continue;
		}
		literal = push_clickhouse_quote(list[i]);
		err = literal ? 0 : -ENOMEM;
		if (literal)
			fprintf(to, " AND service = %s", literal);
		free(literal);
	}
	return err;
}

/* KEY=EXPRESSION, or KEY=!EXPRESSION, which takes out. */
static int put_labels(FILE *to, const char *const *list, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const char *equals = strchrnul(list[i], '=');
		bool takes_out = equals[0] && equals[1] == '!';
		char *key = strndup(list[i], (size_t)(equals - list[i])), *value = NULL,
		     *key_literal = key ? push_clickhouse_quote(key) : NULL, *literal = NULL;

		if (asprintf(&value, "^(%s)$", *equals ? equals + 1 + takes_out : "") < 0)
			value = NULL;
		if (value)
			literal = push_clickhouse_quote(value);
		if (key_literal && literal)
			fprintf(to,
				" AND %sarrayExists((k, v) -> k = %s AND match(v, %s), labels.key, labels.value)",
				takes_out ? "NOT " : "", key_literal, literal);
		else
			err = -ENOMEM;
		free(key);
		free(value);
		free(key_literal);
		free(literal);
	}
	return err;
}

static int make_where(struct work *w)
{
	const struct push_fleet_ask *a = w->ask;
	char *event = push_clickhouse_quote(a->event ? a->event : "cpu");
	size_t bytes;
	FILE *to = open_memstream(&w->where, &bytes);
	int err = event && to ? 0 : -ENOMEM;

	if (!err)
		fprintf(to,
			"event = %s AND %s >= toDateTime(%" PRIu64 ") AND %s <= toDateTime(%" PRIu64
			")",
			event, w->time, a->from_s, w->time, a->to_s);
	if (!err)
		err = put_services(to, a->services, a->service_count);
	if (!err)
		err = put_matches(to, "host", a->hosts, a->host_count, "", "");
	if (!err)
		err = put_labels(to, a->labels, a->label_count);
	if (to && fclose(to))
		err = -ENOMEM;
	free(event);
	return err;
}

static int ask_rows(struct work *w, int (*row)(void *arg, char *line), const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int ask_rows(struct work *w, int (*row)(void *arg, char *line), const char *format, ...)
{
	va_list args;
	char *sql;
	int size, err;

	va_start(args, format);
	size = vasprintf(&sql, format, args);
	va_end(args);
	if (size < 0)
		return -ENOMEM;
	err = push_clickhouse_rows(w->http, w->target, sql, row, w, w->words);
	free(sql);
	return err;
}

/* ---- stacks and frames ---- */

static int add_stack(void *arg, char *line)
{
	struct work *w = arg;
	struct stack s = { .first = w->id_count };

	if (vec_reserve(&w->stacks, &w->stack_capacity, w->stack_count + 1))
		return -ENOMEM;
	s.id = push_clickhouse_number(&line);
	if (*line++ != '[')
		return -EBADMSG;
	while (*line >= '0' && *line <= '9') {
		if (vec_reserve(&w->ids, &w->id_capacity, w->id_count + 1))
			return -ENOMEM;
		w->ids[w->id_count++] = push_clickhouse_number(&line);
		s.count++;
	}
	w->stacks[w->stack_count++] = s;
	return 0;
}

static int set_kind(struct push_fleet *f, uint32_t label, enum flame_kind kind)
{
	size_t before = f->kind_count;

	if (label >= f->kind_count) {
		if (vec_reserve(&f->kinds, &f->kind_count, (size_t)label + 1))
			return -ENOMEM;
		memset(f->kinds + before, FLAME_USER, f->kind_count - before);
	}
	f->kinds[label] = (uint8_t)kind;
	return 0;
}

static int add_frame(void *arg, char *line)
{
	struct work *w = arg;
	struct frame f = { 0 };
	const char *name;
	uint64_t kind, is_inlined, reason;
	enum flame_kind shown;
	int err;

	if (vec_reserve(&w->frames, &w->frame_capacity, w->frame_count + 1))
		return -ENOMEM;
	f.id = push_clickhouse_number(&line);
	kind = push_clickhouse_number(&line);
	is_inlined = push_clickhouse_number(&line);
	reason = push_clickhouse_number(&line);
	name = push_clickhouse_text(&line);
	shown = reason                ? FLAME_UNNAMED
		: kind == PUSH_KERNEL ? FLAME_KERNEL
		: is_inlined          ? FLAME_INLINED
				      : FLAME_USER;
	err = function_table_label(w->out->names, name,
				   !w->ask->with_kinds   ? ""
				   : kind == PUSH_KERNEL ? "_[k]"
				   : is_inlined          ? "_[i]"
							 : "",
				   &f.label);
	if (!err)
		err = set_kind(w->out, f.label, shown);
	if (!err)
		w->frames[w->frame_count++] = f;
	return err;
}

static int by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b; /* the first member of both */

	return *x < *y ? -1 : *x > *y;
}

/* ---- the tree ---- */

static int add_child(struct work *w, uint32_t *node, const char *name)
{
	uint32_t label;
	int err = function_table_label(w->out->names, name, "", &label);

	return err ? err : calltree_child(&w->out->tree, *node, label, node);
}

static int add_path(struct work *w, uint32_t *node, const struct stack *s)
{
	int err = 0;

	for (size_t i = s->count; i-- > 0 && !err;) {
		const uint64_t id = w->ids[s->first + i];
		const struct frame *f = w->frame_count ? bsearch(&id, w->frames, w->frame_count,
								 sizeof(*f), by_id)
						       : NULL;

		err = f ? calltree_child(&w->out->tree, *node, f->label, node)
			: add_child(w, node, PUSH_FLEET_NO_FRAME);
	}
	return err;
}

/* A comm, a stack, and how much; as `ebprec report --folded` has comms. */
static int add_sum(void *arg, char *line)
{
	struct work *w = arg;
	uint64_t sum = push_clickhouse_number(&line), id = push_clickhouse_number(&line);
	char *comm = push_clickhouse_text(&line);
	const struct stack *s = w->stack_count
					? bsearch(&id, w->stacks, w->stack_count, sizeof(*s), by_id)
					: NULL;
	uint32_t node = CALLTREE_ROOT;
	int err;

	for (char *c = comm; *c; c++)
		if (*c == ' ')
			*c = '_';
	err = add_child(w, &node, comm);
	if (!err)
		err = s ? add_path(w, &node, s) : add_child(w, &node, PUSH_FLEET_NO_STACK);
	if (err)
		return err;
	w->out->tree.nodes[node].self += sum;
	w->out->sum += sum;
	w->out->unknown += s ? 0 : sum;
	return 0;
}

/* What the list of stacks left out. */
static int add_other(void *arg, char *line)
{
	struct work *w = arg;
	uint64_t all = push_clickhouse_number(&line);
	uint32_t node = CALLTREE_ROOT;
	int err;

	if (all <= w->out->sum)
		return 0;
	err = add_child(w, &node, PUSH_FLEET_OTHER);
	if (!err)
		w->out->tree.nodes[node].self += all - w->out->sum;
	w->out->sum = all;
	return err;
}

/* The sum is that of the stacks, as they are rounded. */
static void divide(struct push_fleet *f, uint64_t unit)
{
	f->sum = 0;
	for (size_t i = 0; i < f->tree.count; i++) {
		struct calltree_node *n = &f->tree.nodes[i];

		n->self = n->self / unit + (n->self % unit >= unit - unit / 2);
		f->sum += n->self;
	}
	f->unknown /= unit;
}

#define OF_STACKS "WHERE stack IN (SELECT stack FROM %s.%s WHERE %s)"

static int read_all(struct work *w)
{
	const char *db = w->target->database, *what = w->ask->by_weight ? "weight" : "samples";
	int err = make_where(w);

	if (!err)
		err = ask_rows(w, add_stack,
			       "SELECT stack, any(frames) FROM %s.ebprec_stacks " OF_STACKS
			       " GROUP BY stack FORMAT TSV",
			       db, db, w->members, w->where);
	if (!err)
		err = ask_rows(
			w, add_frame,
			"SELECT frame, toUInt8(any(kind)), any(is_inlined), argMax(why, ver), "
			"argMax(name, ver) FROM %s.ebprec_frames WHERE frame IN (SELECT arrayJoin(frames) FROM "
			"%s.ebprec_stacks " OF_STACKS ") GROUP BY frame FORMAT TSV",
			db, db, db, w->members, w->where);
	if (err)
		return err;
	if (w->stack_count)
		qsort(w->stacks, w->stack_count, sizeof(*w->stacks), by_id);
	if (w->frame_count)
		qsort(w->frames, w->frame_count, sizeof(*w->frames), by_id);
	err = ask_rows(w, add_sum,
		       "SELECT sum(%s) AS s, stack, comm FROM %s.%s WHERE %s "
		       "GROUP BY stack, comm ORDER BY s DESC, stack, comm LIMIT %zu FORMAT TSV",
		       what, db, w->table, w->where, w->ask->most_stacks);
	if (!err)
		err = ask_rows(w, add_other, "SELECT sum(%s) FROM %s.%s WHERE %s FORMAT TSV", what,
			       db, w->table, w->where);
	if (!err && w->ask->unit > 1)
		divide(w->out, w->ask->unit);
	/* Each label has a kind. */
	if (!err && string_table_count(w->out->names))
		err = w->out->kind_count < string_table_count(w->out->names)
			      ? set_kind(w->out, string_table_count(w->out->names) - 1,
					 FLAME_UNNAMED)
			      : 0;
	return err;
}

int push_fleet_read(struct push_http *h, const struct push_target *t,
		    const struct push_fleet_ask *ask, struct push_fleet *out,
		    char words[PUSH_WORDS_BYTES])
{
	struct push_fleet f = { 0 };
	struct work w = { .http = h,
			  .target = t,
			  .ask = ask,
			  .members = ask->hourly ? "ebprec_hour" : "ebprec_samples",
			  .table = ask->hourly ? "ebprec_hour FINAL" : "ebprec_samples",
			  .time = ask->hourly ? "hour" : "t",
			  .out = &f,
			  .words = words };
	int err = string_table_new(&f.names);

	if (!err)
		err = calltree_init(&f.tree);
	if (!err)
		err = read_all(&w);
	free(w.where);
	free(w.stacks);
	free(w.ids);
	free(w.frames);
	if (err)
		push_fleet_done(&f);
	else
		*out = f;
	return err;
}

void push_fleet_done(struct push_fleet *f)
{
	calltree_done(&f->tree);
	string_table_free(f->names);
	free(f->kinds);
	*f = (struct push_fleet){ 0 };
}
