/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec diff - what two captures have in common, and what changed */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/mmap_array.h"
#include "analyze/cmd/open_report.h"
#include "analyze/cmd/cmd_report.h"
#include "analyze/cmd/commands.h"
#include "analyze/report/diff.h"
#include "analyze/report/row_keys.h"
#include "analyze/input/marks.h"
#include "analyze/cmd/report_options.h"
#include "analyze/report/views.h"
#include "analyze/out/message.h"
#include "analyze/report/stack_path.h"
#include "format/base/vec.h"

#define MIN_PERCENT_DEFAULT 0.5
#define NS_PER_SECOND       1e9

struct diff_opts {
	const char *sort, *min_percent, *fail_above, *normalize;
	struct pick_options pick;
	bool folded, total, json, quiet;
};

#define AT(field) offsetof(struct diff_opts, field)

static const struct option diff_options[] = {
	{ OPT_FLAG, 0, "folded", NULL, AT(folded), 0, 0,
	  "one line a stack, with both counts: for flamegraph.pl" },
	{ OPT_STRING, 's', "sort", "KEY,...", AT(sort), 0, 0,
	  "compare by comm, dso, symbol, category ... (default: dso,symbol)" },
	{ OPT_FLAG, 0, "total", NULL, AT(total), 0, 0,
	  "compare what was spent in functions and below, not in them alone" },
	{ OPT_STRING, 0, "normalize", "BY", AT(normalize), 0, 0,
	  "share: of all samples (the default); time: costs a second; mark:NAME: costs a mark (or "
	  "span) of that name" },
	{ OPT_STRING, 0, "min-percent", "P", AT(min_percent), 0, 0,
	  "leave out what is less on both sides (default: 0.5)" },
	{ OPT_STRING, 0, "fail-above", "P%", AT(fail_above), 0, 0,
	  "exit with 1 when something grew by more, and it is no noise" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "as JSON" },
	PICKOPTS(AT(pick)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "no notes, only errors" },
	{ 0 },
};

static const struct usage diff_usage = {
	.command = "diff",
	.words = "[OPTIONS] [BEFORE AFTER]",
	.about = "Compares two captures by function; without words, ebprec.data.old and\n"
		 "ebprec.data.  The interval is where 95 % of the changes are when the blocks of\n"
		 "both recordings are drawn again; where 0 is inside, the change is noise.\n",
	.options = diff_options,
	.reads = USAGE_READS,
	.shows = true,
};

struct diff {
	const struct diff_opts *opts;
	struct sort_keys keys;
	struct string_table
		*texts; /* of both sides: what stands in the columns, KEY_END between them */
	struct diff_table *table;
	double divisor[DIFF_SIDES]; /* seconds, or marks */
	uint64_t samples[DIFF_SIDES];
	/* Folded: counts of both sides by text. */
	uint64_t (*counts)[DIFF_SIDES];
	size_t count_room;
	enum calltree_weight weight;
	const char *weight_name;
};

/* The mark that costs are divided by; NULL: they are not. */
static const char *mark_of(const struct diff_opts *o)
{
	const char *n = o->normalize;

	return n && !strncmp(n, "mark:", 5) && n[5] ? n + 5 : NULL;
}

static bool is_share(const struct diff_opts *o)
{
	return !o->normalize || !strcmp(o->normalize, "share");
}

/* ---- one side ---- */

/* What no UTF-8 has ends a key; in a name it is written as it is shown: "\xff". */
#define KEY_END ((char)0xff)

static void put_key(const char *name, FILE *to)
{
	for (; *name; name++) {
		if (*name == KEY_END)
			fputs("\\xff", to);
		else
			putc(*name, to);
	}
}

static int label_text(struct diff *d, const struct report *r, const struct row_keys_label *group,
		      const struct row_keys_label *frame, uint32_t *out)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	for (size_t k = 0; k < d->keys.count; k++) {
		enum sort_key key = d->keys.list[k];
		const struct row_keys_label *l = sort_key_info(key)->fields ? group : frame;

		if (k)
			putc(KEY_END, to);
		put_key(string_table_text(r->names, l->texts[key]), to);
	}
	fclose(to);
	err = text ? string_table_add(d->texts, text, strlen(text), out) : -ENOMEM;
	free(text);
	return err;
}

/* The number of a pair of labels among the texts; looked up once a pair of neighbours. */
static int add_stack(struct diff *d, int side, const struct report *r, const struct row_keys *t,
		     const struct stack_table_entry *e, const struct stack_path *path,
		     unsigned block, uint32_t *seen)
{
	uint64_t cost = d->weight == CALLTREE_PERIOD ? e->period_sum : e->sample_count;
	uint32_t group = t->by_group ? t->by_group[e->key.group] : t->no_group, key;
	size_t frames = d->opts->total ? path->count : 1;
	uint32_t stack = (uint32_t)(e - r->stacks.entries) + 1;
	int err = 0;

	diff_table_add_total(d->table, side, block, cost);
	d->samples[side] += e->sample_count;
	for (size_t i = 0; !err && i < frames; i++) {
		if (seen[path->labels[i]] == stack)
			continue;
		seen[path->labels[i]] = stack;
		err = label_text(d, r, &t->labels[group], &t->labels[path->labels[i]], &key);
		if (!err)
			err = diff_table_add(d->table, side, key, block, cost);
	}
	return err;
}

static int add_stacks(struct diff *d, int side, struct report *r, const struct row_keys *t,
		      uint64_t quantum_ns)
{
	struct stack_path_rule rule = { .labels = t->by_function, .empty = t->hidden };
	uint32_t *seen = calloc(t->count + 1, sizeof(*seen));
	struct stack_path path = { 0 };
	const struct group *groups;
	uint64_t block, first_ns;
	size_t count;
	int err = seen ? 0 : -ENOMEM;

	groups = groups_list(r->groups, &count);
	first_ns = r->scan.span_known ? r->scan.span.from_ns - r->scan.span.from_ns % quantum_ns
				      : 0;
	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];

		block = groups[e->key.group].time_ns;
		block = block > first_ns ? (block - first_ns) / quantum_ns : 0;
		err = stack_path_read(&path, &r->stacks, e, &rule);
		if (!err)
			err = add_stack(d, side, r, t, e, &path,
					block < DIFF_TABLE_BLOCKS ? (unsigned)block
								  : DIFF_TABLE_BLOCKS - 1,
					seen);
	}
	free(seen);
	stack_path_done(&path);
	return err;
}

static int add_functions(struct diff *d, int side, struct report *r, uint64_t quantum_ns)
{
	struct row_keys_source source = { .naming = &r->naming,
					  .names = r->names,
					  .containers = r->containers,
					  .sources = &r->sources };
	struct categories *rules = NULL;
	uint32_t *categories = NULL;
	struct row_keys t;
	int err = 0;

	source.groups = groups_list(r->groups, &source.group_count);
	if (sort_keys_has(&d->keys, KEY_CATEGORY)) {
		err = categories_new(NULL, &rules, NULL);
		if (!err)
			err = categories_run(rules, &r->naming, r->names, &categories);
		categories_free(rules);
		source.categories = categories;
	}
	if (!err)
		err = row_keys_make(&d->keys, &source, &t);
	free(categories);
	if (err)
		return err;
	err = add_stacks(d, side, r, &t, quantum_ns);
	row_keys_done(&t);
	return err;
}

static int add_line(struct diff *d, int side, char *line)
{
	char *blank = strrchr(line, ' ');
	size_t old = d->count_room;
	uint32_t text;
	int err;

	if (!blank)
		return 0;
	err = string_table_add(d->texts, line, (size_t)(blank - line), &text);
	if (!err)
		err = vec_reserve(&d->counts, &d->count_room, (size_t)text + 1);
	if (err)
		return err;
	if (d->count_room > old)
		memset(d->counts + old, 0, (d->count_room - old) * sizeof(*d->counts));
	d->counts[text][side] += strtoull(blank + 1, NULL, 10);
	d->samples[side]++;
	return 0;
}

static int add_folded(struct diff *d, int side, struct report *r)
{
	struct report_ask ask = { .weight = d->weight, .weight_name = d->weight_name, .head = "" };
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return -ENOMEM;
	err = report_view("folded")->write(r, &ask, to);
	fclose(to);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		err = add_line(d, side, line);
	free(text);
	return err;
}

/* What costs are divided by when they are no shares. */
static int find_divisor(struct diff *d, int side, const char *path, struct report *r,
			const struct filter *filter)
{
	const char *mark = mark_of(d->opts);
	struct marks marks;
	uint64_t count;
	int err;

	if (r->scan.span_known)
		d->divisor[side] = (double)filter_overlap_ns(filter, r->scan.span.from_ns,
							     r->scan.span.to_ns) /
				   NS_PER_SECOND;
	if (!mark)
		return 0;
	err = marks_load(r->capture, r->names, &marks);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	count = marks_count(&marks, r->names, mark, filter);
	marks_done(&marks);
	if (!count)
		return message_error("'%s' has no mark '%s' ('ebprec marks' lists them)", path,
				     mark);
	d->divisor[side] = (double)count;
	return 0;
}

static int make_side(struct diff *d, int side, const char *path, struct report *r, struct picked *p)
{
	uint64_t quantum_ns, length_ns = 0;
	int status, err;

	status = pick_options_resolve(&d->opts->pick, &diff_usage, path, d->opts->quiet, r, p);
	if (status)
		return status;
	if (r->scan.span_known)
		length_ns = r->scan.span.to_ns - r->scan.span.from_ns;
	quantum_ns = length_ns / DIFF_TABLE_BLOCKS + 1;
	status = find_divisor(d, side, path, r, &p->filter);
	if (status)
		return status;
	d->weight = p->weight;
	d->weight_name = p->weight_name;
	if (!d->opts->folded) {
		p->query.fields |= GROUP_TIME | sort_keys_fields(&d->keys);
		p->query.with_lines = sort_keys_has(&d->keys, KEY_LINE);
		p->query.with_sources = sort_keys_want_sources(&d->keys);
		p->query.quantum_ns = quantum_ns;
	}
	err = report_make(r, &p->query);
	if (!err)
		err = d->opts->folded ? add_folded(d, side, r)
				      : add_functions(d, side, r, quantum_ns);
	if (err)
		return message_error("cannot compare '%s': %s", path, strerror(-err));
	if (!d->opts->quiet)
		cmd_report_periods(r, path);
	if (!d->samples[side] && !d->opts->quiet)
		message_note("'%s' has no samples that were asked for", path);
	return 0;
}

static int read_side(struct diff *d, int side, const char *path)
{
	struct picked picked;
	struct cmd_open in;
	int status;

	status = pick_options_parse(&d->opts->pick, &diff_usage, &picked);
	if (status)
		return status;
	status = cmd_open(path, "compare", d->opts->quiet, &in);
	if (!status) {
		status = make_side(d, side, path, &in.report, &picked);
		cmd_close(&in);
	}
	pick_options_done(&picked);
	return status;
}

/* ---- the answer ---- */

static int by_text(const void *va, const void *vb, void *ctx)
{
	const struct string_table *texts = ctx;

	return strcmp(string_table_text(texts, *(const uint32_t *)va),
		      string_table_text(texts, *(const uint32_t *)vb));
}

static int write_folded(const struct diff *d)
{
	uint32_t count = string_table_count(d->texts), used = 0;
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && i < d->count_room; i++)
		if (d->counts[i][DIFF_BEFORE] || d->counts[i][DIFF_AFTER])
			order[used++] = i;
	qsort_r(order, used, sizeof(*order), by_text, d->texts);
	for (uint32_t i = 0; i < used; i++)
		printf("%s %" PRIu64 " %" PRIu64 "\n", string_table_text(d->texts, order[i]),
		       d->counts[order[i]][DIFF_BEFORE], d->counts[order[i]][DIFF_AFTER]);
	free(order);
	return 0;
}

static void write_columns(const struct diff *d, uint32_t key)
{
	const char *text = string_table_text(d->texts, key);
	size_t size;

	for (; *text; text += size + !!text[size]) {
		size = strcspn(text, (char[]){ KEY_END, '\0' });
		message_escaped(stdout, text, size);
		fputs(text[size] ? "  " : "", stdout);
	}
}

static void write_row(const struct diff *d, const struct diff_table_row *row, bool shares)
{
	double scale = shares ? 100 : 1;
	const char *unit = shares ? "%" : mark_of(d->opts) ? "/mark" : "/s";

	printf("%8.2f%s %8.2f%s %+9.2f%s  %+8.2f .. %+8.2f  %s  ", scale * row->value[DIFF_BEFORE],
	       unit, scale * row->value[DIFF_AFTER], unit,
	       scale * (row->value[DIFF_AFTER] - row->value[DIFF_BEFORE]), unit, scale * row->low,
	       scale * row->high, row->is_noise ? "noise" : "     ");
	write_columns(d, row->key);
	putchar('\n');
}

static void write_json_row(const struct diff *d, const struct diff_table_row *row)
{
	const char *text = string_table_text(d->texts, row->key);
	size_t size;

	printf("{\"before\": %.9g, \"after\": %.9g, \"low\": %.9g, \"high\": %.9g, \"noise\": %s",
	       row->value[DIFF_BEFORE], row->value[DIFF_AFTER], row->low, row->high,
	       row->is_noise ? "true" : "false");
	for (size_t k = 0; k < d->keys.count; k++, text += size + !!text[size]) {
		size = strcspn(text, (char[]){ KEY_END, '\0' });
		printf(", \"%s\": ", sort_key_info(d->keys.list[k])->name);
		message_json(stdout, text, size);
	}
	putchar('}');
}

static void write_rows(const struct diff *d, const struct diff_table_row *rows, size_t count,
		       bool shares)
{
	if (d->opts->json) {
		printf("{\"schema\": 1,\n \"unit\": \"%s\",\n \"rows\": [", shares ? "share"
									    : mark_of(d->opts)
										    ? "per_mark"
										    : "per_second");
		for (size_t i = 0; i < count; i++) {
			fputs(i ? ",\n  " : "\n  ", stdout);
			write_json_row(d, &rows[i]);
		}
		puts("\n ]\n}");
		return;
	}
	printf("# %" PRIu64 " samples before, %" PRIu64 " after\n#\n", d->samples[DIFF_BEFORE],
	       d->samples[DIFF_AFTER]);
	printf("#  before     after     change        95 %% interval           ");
	for (size_t k = 0; k < d->keys.count; k++)
		printf("%s%s", k ? "  " : "", sort_key_info(d->keys.list[k])->heading);
	putchar('\n');
	for (size_t i = 0; i < count; i++)
		write_row(d, &rows[i], shares);
}

static int judge(const struct diff *d, const struct diff_table_row *rows, size_t count,
		 double limit)
{
	size_t grown = 0;

	for (size_t i = 0; i < count; i++)
		grown += !rows[i].is_noise &&
			 rows[i].value[DIFF_AFTER] - rows[i].value[DIFF_BEFORE] > limit;
	if (!grown)
		return MESSAGE_OK;
	return message_error("%zu rows grew by more than %s of all, which is no noise", grown,
			     d->opts->fail_above);
}

static int compare(struct diff *d, double min_percent, double limit)
{
	bool shares = is_share(d->opts);
	struct diff_table_row *rows;
	size_t count;
	int err, status;

	err = diff_table_rows(d->table, shares ? NULL : d->divisor, shares ? min_percent / 100 : 0,
			      &rows, &count);
	if (err)
		return message_error("cannot compare: %s", strerror(-err));
	write_rows(d, rows, count, shares);
	status = d->opts->fail_above ? judge(d, rows, count, limit / 100) : MESSAGE_OK;
	free(rows);
	return status;
}

static int read_options(const struct diff_opts *o, struct diff *d, double *min_percent,
			double *limit)
{
	const char *sort = o->sort ? o->sort : "dso,symbol", *bad, *n = o->normalize;
	char *percent;
	size_t bad_bytes;
	int status = 0;

	if (sort_keys_parse(&d->keys, sort, &bad, &bad_bytes))
		return reportopts_no_key(&diff_usage, sort, bad, bad_bytes);
	if (n && strcmp(n, "share") != 0 && strcmp(n, "time") != 0 && !mark_of(o))
		return usage_error(
			&diff_usage,
			"option '--normalize' cannot be '%s': 'share', 'time' or 'mark:NAME'", n);
	if (o->fail_above && !is_share(o))
		return usage_error(&diff_usage, "'--fail-above' is of shares, not of '%s'", n);
	if (o->folded && (o->fail_above || o->json))
		return usage_error(&diff_usage, "'--folded' goes with none of the others");
	*min_percent = MIN_PERCENT_DEFAULT;
	if (o->min_percent)
		status = pick_options_percent(o->min_percent, "min-percent", &diff_usage,
					      min_percent);
	if (!status && o->fail_above) {
		percent = strndup(o->fail_above, strcspn(o->fail_above, "%"));
		if (!percent)
			return message_error("cannot compare: %s", strerror(ENOMEM));
		status = pick_options_percent(percent, "fail-above", &diff_usage, limit);
		free(percent);
	}
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_opts opts = { .pick = PICK_OPTIONS_DEFAULTS };
	struct diff d = { .opts = &opts };
	double min_percent, limit = 0;
	char *usual[] = { "ebprec.data.old", "ebprec.data", NULL };
	char **words;
	int status, err;

	if (!usage_parse(&diff_usage, &opts, argc, argv, 0, 2, &words, &status))
		return status;
	if (!*words)
		words = usual;
	if (!words[1])
		return usage_error(&diff_usage, "'ebprec diff' needs more words: %s",
				   diff_usage.words);
	status = read_options(&opts, &d, &min_percent, &limit);
	if (status)
		return status;
	mmap_array_tune();
	err = string_table_new(&d.texts);
	if (!err)
		err = diff_table_new(&d.table);
	if (err)
		status = message_error("cannot compare: %s", strerror(-err));
	for (int side = 0; !status && side < DIFF_SIDES; side++)
		status = read_side(&d, side, words[side]);
	if (!status && opts.folded)
		status = write_folded(&d) ? message_error("cannot compare: %s", strerror(ENOMEM))
					  : MESSAGE_OK;
	else if (!status)
		status = compare(&d, min_percent, limit);
	diff_table_free(d.table);
	string_table_free(d.texts);
	free(d.counts);
	return status;
}
