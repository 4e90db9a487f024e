/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec metrics - what the instruments of a capture counted */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/commands.h"
#include "analyze/load.h"
#include "analyze/metric/metricout.h"
#include "analyze/say.h"
#include "analyze/timespan.h"
#include "analyze/cmd/usage.h"
#include "analyze/vec.h"

struct metrics_opts {
	const char *input, *time, *by, *sort;
	struct option_list comms, pids, tids;
	bool json, csv, histogram, interval, list;
	unsigned top;
};

#define AT(field) offsetof(struct metrics_opts, field)

static const struct option metrics_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0,
	  "the capture, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 'l', "list", NULL, AT(list), 0, 0, "the tables that the capture has" },
	{ OPT_STRING, 0, "by", "WHAT[,WHAT]", AT(by), 0, 0,
	  "process, thread, comm, cgroup, container, or a key of the table" },
	{ OPT_STRING, 0, "sort", "COLUMN", AT(sort), 0, 0,
	  "largest first in this column, as --json names it" },
	{ OPT_UINT, 'n', "top", "N", AT(top), 0, UINT32_MAX,
	  "no more rows than this (default 10, 0: all; --json and --csv: all)" },
	{ OPT_FLAG, 0, "histogram", NULL, AT(histogram), 0, 0,
	  "how the times or sizes of each row are spread" },
	{ OPT_FLAG, 0, "interval", NULL, AT(interval), 0, 0,
	  "each interval of the recording by itself" },
	{ OPT_STRING, 't', "time", "FROM,TO", AT(time), 0, 0,
	  "only intervals and events that end within, as 'ebprec report' takes it" },
	{ OPT_LIST, 'c', "comm", "NAME,...", AT(comms), 0, 0, "only threads of these names" },
	{ OPT_LIST, 'p', "pid", "PID,...", AT(pids), 0, 0, "only these processes" },
	{ OPT_LIST, 0, "tid", "TID,...", AT(tids), 0, 0, "only these threads" },
	{ OPT_FLAG, 'j', "json", NULL, AT(json), 0, 0, "as JSON" },
	{ OPT_FLAG, 0, "csv", NULL, AT(csv), 0, 0, "as CSV" },
	{ 0 },
};

static const struct usage metrics_usage = {
	.command = "metrics",
	.words = "[NAME] [OPTIONS]",
	.about = "Shows the tables that the instruments of a recording filled ('ebprec record\n"
		 "--with syscalls'): all of them, or those of the instrument or table NAME.\n",
	.options = metrics_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* One table of the capture on its way to the reader. */
struct job {
	struct metric_view own_view;
	const struct metric_view *view;
	const struct metric_table *table;
	struct metric_dim own[METRIC_BY_MAX];
	const struct metric_dim *by[METRIC_BY_MAX];
	size_t by_count;
	uint32_t keys[METRICSUM_KEYS_MAX];
	size_t key_count, outer_key_count;
	struct metricsum *sums; /* one, or one an interval */
	size_t sum_count, sum_capacity;
	uint64_t first_interval;
};

struct metrics {
	const struct metrics_opts *opts;
	struct metricrows rows;
	struct strings *names;
	struct model *model; /* NULL: not needed */
	struct job jobs[METRIC_TABLES_MAX];
	size_t job_count;
	uint64_t start_ns;
};

/* ---- what is shown by what ---- */

static int add_dim(struct job *j, const char *name)
{
	const struct metric_dim *d;
	uint32_t slots[4];
	size_t count;

	if (j->by_count == METRIC_BY_MAX - 1)
		return -EOVERFLOW;
	d = metricview_dim(j->table, name, &j->own[j->by_count]);
	if (!d)
		return -ENOENT;
	count = metricview_dim_slots(j->table, d, slots);
	memcpy(j->keys + j->key_count, slots, count * sizeof(*slots));
	j->key_count += count;
	j->by[j->by_count++] = d;
	if (j->by_count == 1)
		j->outer_key_count = j->key_count;
	return 0;
}

/* --by A,B; --by A: with what the view has first below it, unless that is A itself. */
static int dims_asked_for(struct job *j, const char *by, const char **unknown)
{
	const char *below;
	char *words = strdup(by), *word, *save = NULL;
	int err = words ? 0 : -ENOMEM;

	for (word = words ? strtok_r(words, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		err = add_dim(j, word);
		if (err == -ENOENT || err == -EOVERFLOW)
			*unknown = by;
		if (!err && j->by[j->by_count - 1] == &j->own[j->by_count - 1]) {
			/* its name is the word, which is about to go: take the table's */
			const struct metric_field *f = metricfmt_find(&j->table->fmt, word);

			j->own[j->by_count - 1].name = j->own[j->by_count - 1].title =
				j->own[j->by_count - 1].fields[0] = f->name;
		}
	}
	free(words);
	if (err || j->by_count != 1 || strchr(by, ','))
		return err;
	below = j->view->by[0];
	if (below && !strcmp(below, j->by[0]->name))
		below = j->view->by[1];
	return below ? add_dim(j, below) : 0;
}

static int set_dims(struct job *j, const struct metrics_opts *opts, const char **unknown)
{
	int err = 0;

	if (opts->by)
		return dims_asked_for(j, opts->by, unknown);
	for (size_t i = 0; i < METRIC_BY_MAX && j->view->by[i] && !err; i++)
		err = add_dim(j, j->view->by[i]);
	return err;
}

static bool is_meant(const struct metric_view *v, const char *name)
{
	return !name || !strcmp(v->instrument, name) || !strcmp(v->table, name);
}

static int add_job(struct metrics *m, const struct metric_table *t, const char *name)
{
	struct job *j = &m->jobs[m->job_count];
	const char *unknown = NULL;
	int err;

	j->table = t;
	j->view = metricview_of(t, &j->own_view);
	if (!is_meant(j->view, name))
		return 0;
	err = set_dims(j, m->opts, &unknown);
	if (unknown && (name || m->rows.count == 1) && !strcmp(j->view->table, name ? name : ""))
		return usage_error(&metrics_usage, "option '--by': '%s' has no '%s'", t->fmt.name,
				   unknown);
	if (unknown) { /* of other tables it may be a key */
		*j = (struct job){ 0 };
		return 0;
	}
	if (err)
		return say_error("cannot show '%s': %s", t->fmt.name, strerror(-err));
	m->job_count++;
	return 0;
}

static int unknown_name(const struct metrics *m, const char *name)
{
	const char *names[2 * METRIC_TABLES_MAX], *near;
	struct metric_view own;
	size_t count = 0;

	for (size_t i = 0; i < m->rows.count; i++) {
		const struct metric_view *v = metricview_of(&m->rows.tables[i], &own);

		names[count++] = m->rows.tables[i].fmt.name;
		if (v != &own)
			names[count++] = v->instrument;
	}
	near = options_nearest(name, names, count);
	return say_error("'%s' has no table '%s'%s%s%s (--list names them)", m->opts->input, name,
			 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int make_jobs(struct metrics *m, const char *name)
{
	int status = 0;

	for (size_t i = 0; i < m->rows.count && !status; i++)
		status = add_job(m, &m->rows.tables[i], name);
	if (status || m->job_count)
		return status;
	if (!m->rows.count)
		return say_error("'%s' has no tables (record some: ebprec record --with syscalls)",
				 m->opts->input);
	if (m->opts->by && !name)
		return usage_error(&metrics_usage, "option '--by': no table has '%s'", m->opts->by);
	if (m->opts->by) {
		for (size_t i = 0; i < m->rows.count; i++) {
			struct metric_view own;

			if (is_meant(metricview_of(&m->rows.tables[i], &own), name))
				return usage_error(&metrics_usage,
						   "option '--by': '%s' has no '%s'", name,
						   m->opts->by);
		}
	}
	return unknown_name(m, name);
}

/* ---- rows ---- */

static int sum_of(const struct metrics *m, struct job *j, const struct metric_row *r,
		  struct metricsum **out)
{
	uint64_t number = 0;

	if (m->opts->interval && j->table->is_interval) {
		number = r->slots[j->table->interval];
		if (!j->sum_count)
			j->first_interval = number;
		if (number < j->first_interval || number - j->first_interval > 1000000)
			return -EOVERFLOW; /* not what a recorder writes */
		number -= j->first_interval;
	}
	if (vec_reserve(&j->sums, &j->sum_capacity, (size_t)number + 1))
		return -ENOMEM;
	for (; j->sum_count <= number; j->sum_count++)
		metricsum_init(&j->sums[j->sum_count], j->table, j->keys, j->key_count,
			       !j->by_count);
	*out = &j->sums[number];
	return 0;
}

static int on_row(void *ctx, const struct metric_row *r)
{
	struct metrics *m = ctx;
	struct metricsum *sum;
	int err = 0;

	for (size_t i = 0; i < m->job_count && !err; i++) {
		if (m->jobs[i].table != r->table)
			continue;
		err = sum_of(m, &m->jobs[i], r, &sum);
		if (!err)
			err = metricsum_add(sum, r);
	}
	return err;
}

/* ---- showing ---- */

static int put_sum(const struct metrics *m, const struct job *j, struct metricsum *sum, bool first)
{
	const struct metrics_opts *o = m->opts;
	struct metric_shown s = {
		.view = j->view,
		.by_count = j->by_count,
		.sort = o->sort ? o->sort : j->view->sort,
		.texts = { .names = m->names, .model = m->model },
		.histogram = o->histogram,
		.start_ns = m->start_ns,
	};
	int err = 0;

	metricsum_finish(sum);
	s.inner = *sum;
	memcpy(s.by, j->by, sizeof(s.by));
	s.top = o->top != UINT32_MAX ? o->top : o->json || o->csv ? 0 : 10;
	s.top_inner = s.top && s.top < 5 ? s.top : s.top ? 5 : 0;
	if (j->by_count > 1)
		err = metricsum_fold(sum, j->keys, j->outer_key_count, &s.outer);
	if (!err)
		err = metricout_put(&s,
				    o->json  ? METRIC_JSON_FORM
				    : o->csv ? METRIC_CSV_FORM
					     : METRIC_TEXT_FORM,
				    first, stdout);
	metricsum_done(&s.outer);
	return err;
}

static int show(const struct metrics *m)
{
	bool first = true;
	int err = 0;

	if (m->opts->json)
		printf("{\"schema\": 1, \"lost\": %" PRIu64 ", \"tables\": [", m->rows.lost);
	for (size_t i = 0; i < m->job_count && !err; i++) {
		const struct job *j = &m->jobs[i];

		if (m->opts->csv && i)
			putchar('\n');
		for (size_t k = 0; k < j->sum_count && !err; k++) {
			err = put_sum(m, j, &j->sums[k], m->opts->csv ? !k : first);
			first = false;
		}
	}
	if (m->opts->json)
		puts("\n]}");
	if (m->rows.lost)
		say_note("%" PRIu64 " events found no room in the tables and are missing",
			 m->rows.lost);
	return err ? say_error("cannot show '%s': %s", m->opts->input, strerror(-err)) : SAY_OK;
}

static void list_tables(const struct metrics *m)
{
	struct metric_view own;

	for (size_t i = 0; i < m->rows.count; i++) {
		const struct metric_view *v = metricview_of(&m->rows.tables[i], &own);

		printf("%-20s %-10s %s\n", m->rows.tables[i].fmt.name, v->instrument,
		       v == &own ? "" : v->title);
	}
}

/* ---- the command ---- */

typedef int (*add_fn)(struct filter *f, const char *text, struct filter_error *error);

static int add_list(struct filter *f, const char *option, const struct option_list *list,
		    add_fn add)
{
	struct filter_error error;
	int err;

	for (unsigned i = 0; i < list->count; i++) {
		err = add(f, list->values[i], &error);
		if (err == -EINVAL)
			return usage_error(&metrics_usage, "option '--%s': %s", option, error.text);
		if (err)
			return say_error("cannot read the options: %s", strerror(-err));
	}
	return 0;
}

static int make_filter(const struct metrics_opts *opts, const struct capture *c, struct filter *f)
{
	struct parse_err where = { 0 };
	struct timespan whole;
	int status, err;

	status = add_list(f, "comm", &opts->comms, filter_add_comms);
	if (!status)
		status = add_list(f, "pid", &opts->pids, filter_add_pids);
	if (!status)
		status = add_list(f, "tid", &opts->tids, filter_add_tids);
	if (status || !opts->time)
		return status;
	err = timespan_parse(opts->time, timespan_of_capture(c, &whole) ? NULL : &whole, &f->span,
			     &where);
	if (err)
		return usage_error(&metrics_usage, "option '--time' cannot be '%s': %s", opts->time,
				   where.what);
	return 0;
}

/* Cgroups have names in the side-band only. */
static int load_names(struct metrics *m, const struct capture *c)
{
	struct load_scan scan;
	bool needed = false;
	int err;

	for (size_t i = 0; i < m->job_count; i++) {
		for (size_t k = 0; k < m->jobs[i].by_count; k++)
			needed |= !strcmp(m->jobs[i].by[k]->fields[0], "cgroup");
	}
	if (!needed)
		return 0;
	err = load_model(c, m->names, &m->model, &scan);
	if (!err)
		load_scan_done(&scan);
	return err;
}

static int run(struct metrics *m, const struct capture *c, const struct filter *f, const char *name)
{
	struct timespan whole;
	int status, err;

	err = strings_new(&m->names);
	if (!err)
		err = metricrows_open(c, &m->rows);
	if (err)
		return say_error("cannot read '%s': %s", m->opts->input, strerror(-err));
	if (m->opts->list) {
		list_tables(m);
		return SAY_OK;
	}
	status = make_jobs(m, name);
	if (status)
		return status;
	m->start_ns = timespan_of_capture(c, &whole) ? 0 : whole.from_ns;
	err = load_names(m, c);
	if (!err)
		err = metricrows_walk(&m->rows, m->names, f, on_row, m);
	if (err)
		return say_error("cannot read '%s': %s", m->opts->input, strerror(-err));
	return show(m);
}

static void done(struct metrics *m)
{
	for (size_t i = 0; i < m->job_count; i++) {
		for (size_t k = 0; k < m->jobs[i].sum_count; k++)
			metricsum_done(&m->jobs[i].sums[k]);
		free(m->jobs[i].sums);
	}
	metricrows_done(&m->rows);
	model_free(m->model);
	strings_free(m->names);
	free(m);
}

int cmd_metrics(int argc, char **argv)
{
	struct metrics_opts opts = { .input = "ebprec.data", .top = UINT32_MAX };
	struct parse_err where = { 0 };
	struct filter filter;
	struct metrics *m;
	struct capture *c;
	char **words;
	int status, err;

	if (!usage_parse(&metrics_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	if (opts.json && opts.csv)
		return usage_error(&metrics_usage, "--csv or --json, not both");
	err = capture_open(opts.input, &c, &where);
	if (err)
		return say_cannot_open(opts.input, err, &where);
	m = calloc(1, sizeof(*m));
	if (!m) {
		capture_close(c);
		return say_error("cannot read '%s': %s", opts.input, strerror(ENOMEM));
	}
	m->opts = &opts;
	filter_init(&filter);
	status = make_filter(&opts, c, &filter);
	if (!status)
		status = run(m, c, &filter, words[0]);
	filter_done(&filter);
	done(m);
	capture_close(c);
	return status;
}
