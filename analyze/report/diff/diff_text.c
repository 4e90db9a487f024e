/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/diff/diff_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "format/text/json_writer.h"

#define OFTEN_HZ   997 /* the frequency that is recommended for more samples */
#define MORE_TIMES 10  /* as many samples, where the frequency is high already */
#define ALL        0.9999
#define DIFFERS    0.05 /* the logarithm of a ratio: 5 % */
#define VARIES     2    /* more than so much is not the chance of single samples */

static const char *const side_names[DIFF_SIDES] = { "before", "after" };

static const char *const result_names[] = {
	[DIFF_NOISE] = "noise",
	[DIFF_UNSURE] = "unsure",
	[DIFF_REAL] = "real",
};

void diff_text_put_column(const char *name, FILE *to)
{
	for (; *name; name++) {
		if ((unsigned char)*name == DIFF_TEXT_KEY_END)
			fputs("\\xff", to);
		else
			putc(*name, to);
	}
}

size_t diff_text_column_bytes(const char *text)
{
	return strcspn(text, (char[]){ (char)DIFF_TEXT_KEY_END, '\0' });
}

/* ---- amounts ---- */

/* A cost, or a cost by an amount. */
static void put_cost(const struct diff_text *t, int side, double cost, char out[NUMBER_TEXT_BYTES])
{
	double ns = t->sides[side].ns_per_cost;

	if (ns > 0)
		number_time(cost * ns, out);
	else
		snprintf(out, NUMBER_TEXT_BYTES,
			 cost < 100   ? "%.2f"
			 : cost < 1e9 ? "%.0f"
				      : "%.4g",
			 cost);
}

static void put_ratio(double ratio, char out[NUMBER_TEXT_BYTES])
{
	if (isinf(ratio))
		out[0] = '\0';
	else if (ratio >= 1e6)
		snprintf(out, NUMBER_TEXT_BYTES, "x%.1e", ratio);
	else
		snprintf(out, NUMBER_TEXT_BYTES, "x%.*f",
			 ratio < 0.1   ? 3
			 : ratio < 100 ? 2
				       : 0,
			 ratio);
}

/* ---- the text ---- */

static void write_side(const struct diff_text *t, const struct diff_table_result *r, int side,
		       FILE *to)
{
	const struct diff_text_side *s = &t->sides[side];
	char text[NUMBER_TEXT_BYTES];

	fprintf(to, "# %-6s  %" PRIu64 " samples", side_names[side], r->total[side].samples);
	if (s->ns_per_cost > 0) {
		number_time((double)r->total[side].cost * s->ns_per_cost, text);
		fprintf(to, ", %s of CPU time", text);
	}
	if (s->elapsed_ns) {
		number_time((double)s->elapsed_ns, text);
		fprintf(to, " in %s", text);
	}
	if (t->span && r->amount[side] > 0) {
		put_cost(t, side, (double)r->total[side].cost / r->amount[side], text);
		fprintf(to, ", %.0f of ", r->amount[side]);
		message_escaped(to, t->span, strlen(t->span));
		fprintf(to, ": %s each", text);
	}
	putc('\n', to);
}

/* The ratio of all that was compared; where shares hide a change, with the option that shows it. */
static void write_ratio(const struct diff_text *t, const struct diff_table_result *r, FILE *to)
{
	const struct diff_text_side *before = &t->sides[DIFF_BEFORE],
				    *after = &t->sides[DIFF_AFTER];
	double from = (double)r->total[DIFF_BEFORE].cost * before->ns_per_cost;
	double ratio = (double)r->total[DIFF_AFTER].cost * after->ns_per_cost / from;
	char text[NUMBER_TEXT_BYTES];

	if (!(from > 0) || !(ratio > 0))
		return;
	put_ratio(ratio, text);
	fprintf(to, "# ratio   %s of CPU time", text);
	if (before->elapsed_ns && after->elapsed_ns) {
		put_ratio((double)after->elapsed_ns / (double)before->elapsed_ns, text);
		fprintf(to, ", %s of elapsed time", text);
	}
	if (t->basis == DIFF_SHARE && fabs(log(ratio)) >= DIFFERS)
		fputs("; below, of shares (--normalize run: of times)", to);
	putc('\n', to);
	if (t->same_command)
		fputs("# below, ratios of times: both ran the same command to its end (--normalize share: of shares)\n",
		      to);
}

static void write_name(const struct diff_text *t, uint32_t name, FILE *to)
{
	putc('\'', to);
	message_escaped(to, string_table_text(t->texts, name), string_table_bytes(t->texts, name));
	putc('\'', to);
}

static void write_rename(const struct diff_text *t, const struct rename *r, FILE *to)
{
	if (r->source == RENAME_ASKED)
		return;
	fputs(r->source == RENAME_HINT ? "# gone: " : "# matched ", to);
	write_name(t, r->from, to);
	fputs(r->source == RENAME_HINT ? ", new: " : " with ", to);
	write_name(t, r->to, to);
	if (r->alike > 0)
		fprintf(to, ": %.0f %% of their samples are in functions of the same names",
			100 * r->alike);
	else if (r->source == RENAME_HINT)
		fputs(": functions of one or both have no names, which would show whether it is one program",
		      to);
	else
		fputs(": their names differ by a version", to);
	fputs(r->source == RENAME_HINT ? " (--rename " : " (--rename none: not)\n", to);
	if (r->source != RENAME_HINT)
		return;
	message_escaped(to, string_table_text(t->texts, r->from),
			string_table_bytes(t->texts, r->from));
	putc('=', to);
	message_escaped(to, string_table_text(t->texts, r->to),
			string_table_bytes(t->texts, r->to));
	fputs(" compares them)\n", to);
}

static const char *cost_heading(const struct diff_text *t)
{
	if (t->sides[DIFF_BEFORE].ns_per_cost > 0)
		return t->basis != DIFF_RATE ? "time" : t->span ? "time each" : "time a s";
	return t->basis != DIFF_RATE ? t->weight : t->span ? "each" : "a second";
}

static void write_heading(const struct diff_text *t, FILE *to)
{
	const char *cost = cost_heading(t);

	fprintf(to, "#\n#          before              after        ratio of\n");
	fprintf(to, "#  share %9s   share %9s  %9s  95 %% interval            ", cost, cost,
		t->basis == DIFF_SHARE ? "shares" : cost);
	for (size_t k = 0; k < t->keys->count; k++)
		fprintf(to, "%s%s", k ? "  " : "", sort_key_info(t->keys->list[k])->heading);
	putc('\n', to);
}

static void write_columns(const struct diff_text *t, uint32_t key, FILE *to)
{
	const char *text = string_table_text(t->texts, key);
	size_t size;

	for (; *text; text += size + !!text[size]) {
		size = diff_text_column_bytes(text);
		message_escaped(to, text, size);
		fputs(text[size] ? "  " : "", to);
	}
}

static void write_row(const struct diff_text *t, const struct diff_table_row *row, bool known,
		      FILE *to)
{
	char cost[DIFF_SIDES][NUMBER_TEXT_BYTES], ratio[NUMBER_TEXT_BYTES], low[NUMBER_TEXT_BYTES],
		high[NUMBER_TEXT_BYTES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (t->basis == DIFF_RATE)
			put_cost(t, DIFF_BEFORE, row->value[side], cost[side]);
		else
			put_cost(t, side, (double)row->sum[side].cost, cost[side]);
	}
	put_ratio(row->ratio, ratio);
	put_ratio(row->low, low);
	put_ratio(row->high, high);
	fprintf(to, " %6.2f%% %9s %6.2f%% %9s  %9s  ", 100 * row->share[DIFF_BEFORE],
		cost[DIFF_BEFORE], 100 * row->share[DIFF_AFTER], cost[DIFF_AFTER],
		isinf(row->ratio)                              ? "new"
		: row->ratio > 0 || row->share[DIFF_AFTER] > 0 ? ratio
							       : "gone");
	if (known)
		fprintf(to, "%7s .. %-7s  %-6s  ", low, high, result_names[row->result]);
	else
		fprintf(to, "%18s  %-6s  ", "", result_names[row->result]);
	write_columns(t, row->key, to);
	putc('\n', to);
}

/* How many times the samples are recommended, and whether a higher frequency gives them. */
static double more_samples(const struct diff_text *t, bool *by_frequency)
{
	double ns = fmin(t->sides[DIFF_BEFORE].ns_per_sample, t->sides[DIFF_AFTER].ns_per_sample);
	double times = ns > 0 ? OFTEN_HZ * ns / 1e9 : 0;

	*by_frequency = times >= 2;
	return *by_frequency ? round(times) : MORE_TIMES;
}

static const struct diff_table_row *largest_row(const struct diff_table_result *r)
{
	const struct diff_table_row *largest = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t cost = r->rows[i].sum[DIFF_BEFORE].cost + r->rows[i].sum[DIFF_AFTER].cost;

		if (cost > most) {
			most = cost;
			largest = &r->rows[i];
		}
	}
	return largest;
}

/* The visible growth of the largest row and of one of 1 %, if the variance were so much less. */
static void write_visible(const struct diff_table_row *largest, double percent, double times,
			  FILE *to)
{
	char one[NUMBER_TEXT_BYTES], other[NUMBER_TEXT_BYTES];

	put_ratio(exp(log(largest->visible) / sqrt(times)), one);
	put_ratio(exp(log(percent) / sqrt(times)), other);
	fprintf(to, "%s in the largest row, %s in one of 1 %%", *one ? one : "nothing",
		*other ? other : "nothing");
}

static void write_what_would_show(const struct diff_text *t, const struct diff_table_result *r,
				  FILE *to)
{
	const struct diff_table_row *largest = largest_row(r);
	bool by_frequency;
	double times = more_samples(t, &by_frequency);

	if (!largest)
		return;
	if (t->basis == DIFF_SHARE && largest->share[DIFF_BEFORE] > ALL &&
	    largest->share[DIFF_AFTER] > ALL) {
		fputs("#\n# one row is all of both, and its share cannot change: --normalize run and "
		      "--per compare what it cost\n",
		      to);
		return;
	}
	fprintf(to, "#\n# nothing is real; a change that could have been seen: ");
	write_visible(largest, r->visible_percent, 1, to);
	if (r->varied > VARIES)
		fprintf(to,
			"\n# the largest row varies %.0f times as much as independent samples "
			"would:\n# a higher frequency shows no more, recordings %.0f times as "
			"long ",
			r->varied, times);
	else
		fprintf(to, "\n# recordings %.0f times as long%s ", times,
			by_frequency ? ", or by 'ebprec record -F 997 ...'," : "");
	fputs("would show: ", to);
	write_visible(largest, r->visible_percent, times, to);
	putc('\n', to);
}

static void write_remarks(const struct diff_text *t, const struct diff_table_result *r, FILE *to)
{
	size_t results[DIFF_REAL + 1] = { 0 };

	for (size_t i = 0; i < r->count; i++)
		results[r->rows[i].result]++;
	if (r->too_short && r->count)
		fprintf(to,
			"#\n# too short: samples are in %u and %u of %d blocks of time; with fewer "
			"than %d nothing is real\n",
			r->blocks[DIFF_BEFORE], r->blocks[DIFF_AFTER], DIFF_TABLE_BLOCKS,
			DIFF_TABLE_MIN_BLOCKS);
	if (r->too_short)
		return;
	if (r->unconfirmed)
		fputs("#\n# unsure: changed by time, but shares do not show that it is this function: a slower "
		      "machine\n# makes all of them slower (record both again, or compare only times with "
		      "--normalize run)\n",
		      to);
	if (results[DIFF_UNSURE] > r->unconfirmed)
		fprintf(to,
			"#\n# unsure: real if it were the only row, but %zu rows, shown or not, have samples "
			"enough to compare,\n# and one of 20 is outside by chance\n",
			r->tested);
	if (r->count && !results[DIFF_REAL])
		write_what_would_show(t, r, to);
}

void diff_text_write(const struct diff_text *t, const struct diff_table_result *r, FILE *to)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		write_side(t, r, side, to);
	write_ratio(t, r, to);
	for (size_t i = 0; i < t->renames->count; i++)
		write_rename(t, &t->renames->list[i], to);
	write_heading(t, to);
	for (size_t i = 0; i < r->count; i++)
		write_row(t, &r->rows[i], !r->too_short, to);
	write_remarks(t, r, to);
}

/* ---- JSON ---- */

/* JSON has no infinity: what is not known, or not bounded, is null. */
static void json_number(struct json_writer *j, const char *key, double value)
{
	if (isfinite(value))
		json_writer_number(j, key, "%.9g", value);
	else
		json_writer_null(j, key);
}

static void json_side(const struct diff_text *t, const struct diff_table_result *r, int side,
		      struct json_writer *j)
{
	const struct diff_text_side *s = &t->sides[side];

	json_writer_begin(j, side_names[side]);
	if (s->event)
		json_writer_string(j, "event", s->event);
	json_writer_u64(j, "samples", r->total[side].samples);
	json_writer_u64(j, "cost", r->total[side].cost);
	json_number(j, "time_ns",
		    s->ns_per_cost > 0 ? (double)r->total[side].cost * s->ns_per_cost : INFINITY);
	json_writer_u64(j, "elapsed_ns", s->elapsed_ns);
	json_number(j, "spans", t->span ? r->amount[side] : INFINITY);
	json_writer_end(j);
}

static void json_row(const struct diff_text *t, const struct diff_table_result *r,
		     const struct diff_table_row *row, struct json_writer *j)
{
	static const char *const share_keys[] = { "share_before", "share_after" };
	static const char *const samples_keys[] = { "samples_before", "samples_after" };
	static const char *const time_keys[] = { "time_before_ns", "time_after_ns" };
	const char *text = string_table_text(t->texts, row->key);
	size_t size;

	json_writer_begin(j, NULL);
	for (int side = 0; side < DIFF_SIDES; side++) {
		double ns = t->sides[side].ns_per_cost;

		json_number(j, side_names[side], row->value[side]);
		json_writer_number(j, share_keys[side], "%.9g", row->share[side]);
		json_writer_u64(j, samples_keys[side], row->sum[side].samples);
		json_number(j, time_keys[side],
			    ns > 0 ? (double)row->sum[side].cost * ns : INFINITY);
	}
	json_number(j, "ratio", row->ratio);
	json_number(j, "low", r->too_short ? INFINITY : row->low);
	json_number(j, "high", row->high);
	json_writer_string(j, "verdict", result_names[row->result]);
	for (size_t k = 0; k < t->keys->count; k++, text += size + !!text[size]) {
		size = diff_text_column_bytes(text);
		json_writer_text(j, sort_key_info(t->keys->list[k])->name, text, size);
	}
	json_writer_end(j);
}

static void json_renames(const struct diff_text *t, struct json_writer *j)
{
	static const char *const sources[] = {
		[RENAME_ASKED] = "option",    [RENAME_COMM] = "comm",
		[RENAME_VERSION] = "version", [RENAME_FUNCTIONS] = "functions",
		[RENAME_HINT] = "hint",
	};

	json_writer_begin_array(j, "renames");
	for (size_t i = 0; i < t->renames->count; i++) {
		const struct rename *r = &t->renames->list[i];

		json_writer_begin(j, NULL);
		json_writer_text(j, "from", string_table_text(t->texts, r->from),
				 string_table_bytes(t->texts, r->from));
		json_writer_text(j, "to", string_table_text(t->texts, r->to),
				 string_table_bytes(t->texts, r->to));
		json_writer_string(j, "by", sources[r->source]);
		json_writer_end(j);
	}
	json_writer_end_array(j);
}

static const char *unit_of(const struct diff_text *t)
{
	if (t->basis == DIFF_RATE)
		return t->span ? "per_span" : "per_second";
	return t->basis == DIFF_RUN ? "per_run" : "share";
}

void diff_text_json(const struct diff_text *t, const struct diff_table_result *r, FILE *to)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_SPACED, .line_depth = 1 };
	const struct diff_table_row *largest = largest_row(r);

	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "schema", 2);
	json_writer_string(&j, "unit", unit_of(t));
	json_writer_string(&j, "weight", t->weight);
	for (int side = 0; side < DIFF_SIDES; side++)
		json_side(t, r, side, &j);
	json_writer_u64(&j, "tested", r->tested);
	json_writer_begin(&j, "visible");
	json_number(&j, "largest", largest && !r->too_short ? largest->visible : INFINITY);
	json_number(&j, "percent", r->too_short ? INFINITY : r->visible_percent);
	json_writer_end(&j);
	json_renames(t, &j);
	json_writer_begin_array(&j, "rows");
	j.line_depth = 2;
	for (size_t i = 0; i < r->count; i++)
		json_row(t, r, &r->rows[i], &j);
	json_writer_end_array(&j);
	json_writer_end(&j);
}
