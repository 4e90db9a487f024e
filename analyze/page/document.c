/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/event/sample_time.h"
#include "analyze/input/perf_features.h"
#include "analyze/page/table/columns.h"
#include "analyze/page/marks.h"
#include "analyze/page/processes.h"
#include "analyze/page/samples.h"
#include "analyze/page/stacks.h"
#include "analyze/page/table/texts.h"
#include "analyze/page/viewer.h"
#include "analyze/page/wait_stacks.h"
#include "analyze/page/wait_tables.h"
#include "analyze/page/waits.h"
#include "format/reader/page_spool.h"
#include "format/text/escape.h"
#include "format/text/json_writer.h"

#define PAGE_VERSION  2
#define EXACT_NUMBERS 9007199254740992.0 /* 2^53 */

/* A capture on the axis of the page: from the first that is known of it to the last. */
struct place {
	uint64_t from_us, to_us; /* of the axis; to_us is not included */
	uint64_t base_us;        /* from_us on the clock of the capture */
};

struct builder {
	const struct page_side *sides;
	size_t count;
	struct page_texts texts;
	struct page_stacks stacks;
	struct page_waits waits[PAGE_SIDES];
	bool has_waits;
	struct page_marks marks;
	struct page_reports reports;
	struct page_samples samples[PAGE_SIDES];
	struct place places[PAGE_SIDES]; /* of two captures */
	struct page_processes processes;
	struct page_part *out;
};

static void add_text(struct outbuf *out, const char *text)
{
	outbuf_add(out, text, strlen(text));
}

static void add_part(struct outbuf *out, struct page_viewer_part part)
{
	outbuf_add(out, part.text, part.bytes);
}

/* ---- text in HTML ---- */

/* Lines that were printed as ESCAPE_TEXT has it. */
static void add_markup(struct outbuf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			add_text(out, "&lt;");
			break;
		case '>':
			add_text(out, "&gt;");
			break;
		case '&':
			add_text(out, "&amp;");
			break;
		default:
			outbuf_add(out, text, 1);
		}
	}
}

/* In a script, no text of JSON may look like markup. */
static void add_json(struct outbuf *out, const struct outbuf *json)
{
	for (size_t i = 0; i < json->size_bytes; i++) {
		uint8_t c = json->data[i];

		if (c == '<' || c == '>' || c == '&')
			outbuf_printf(out, "\\u%04x", c);
		else
			outbuf_add(out, &c, 1);
	}
}

static void add_title(struct outbuf *out, const char *title)
{
	char *escaped = escape_copy(ESCAPE_TEXT, title, strlen(title));

	out->bad |= !escaped;
	add_text(out, "<title>");
	if (escaped)
		add_markup(out, escaped);
	add_text(out, " - ebprec</title></head><body>\n");
	free(escaped);
}

/* ---- the head ---- */

/* A foreign text as the command line prints it. */
static void write_string(struct json_writer *j, const char *key, const char *text)
{
	char *escaped = escape_copy(ESCAPE_TEXT, text ? text : "", text ? strlen(text) : 0);

	j->out->bad |= !escaped;
	if (escaped)
		json_writer_string(j, key, escaped);
	free(escaped);
}

/* Each line of the text behind the prefix. */
static void write_lines(struct json_writer *j, const char *prefix, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line;

		if (asprintf(&line, "%s%.*s", prefix, (int)size, text) < 0)
			line = NULL;
		j->out->bad |= !line;
		if (line)
			write_string(j, NULL, line);
		free(line);
		text += size + (text[size] == '\n');
	}
}

/* How far stacks and names can be trusted, and what was lost. */
static void write_quality(struct json_writer *j, const char *prefix, const struct page_side *side)
{
	uint64_t samples = side->report->counts.lost_samples,
		 events = side->report->counts.lost_events;
	char line[256];

	write_lines(j, prefix, side->ask->quality);
	if (!side->report->picked) {
		snprintf(line, sizeof(line),
			 "no samples of '%s': record longer, or choose more of the capture",
			 event_name(side->ask->attr));
		write_lines(j, prefix, line);
	}
	if (!samples && !events)
		return;
	snprintf(line, sizeof(line),
		 "lost by the recorder: %" PRIu64 " samples and %" PRIu64 " events", samples,
		 events);
	write_lines(j, prefix, line);
}

static void write_list(struct json_writer *j, const char *key, const char *const *list,
		       size_t count)
{
	json_writer_begin_array(j, key);
	for (size_t i = 0; i < count; i++)
		write_string(j, NULL, list[i]);
	json_writer_end_array(j);
}

/* From the first sample of the file to the last, within the time that was asked for; false: it is not known. */
static bool find_recorded(const struct page_side *side, struct time_span *out)
{
	const struct time_span *all = report_span(side->report), *asked = &side->ask->filter->span;

	if (!all)
		return false;
	*out = *all;
	if (out->from_ns < asked->from_ns)
		out->from_ns = asked->from_ns;
	if (out->to_ns > asked->to_ns)
		out->to_ns = asked->to_ns;
	if (out->to_ns < out->from_ns)
		out->to_ns = out->from_ns;
	return true;
}

static void write_recorded(struct json_writer *j, const struct page_side *side)
{
	struct time_span recorded;

	if (!find_recorded(side, &recorded))
		return;
	json_writer_begin_array(j, "recorded_ns");
	json_writer_u64(j, NULL, recorded.from_ns);
	json_writer_u64(j, NULL, recorded.to_ns);
	json_writer_end_array(j);
}

/* In a line, with "between" behind each but the last. */
static void write_facts(struct json_writer *j, const struct page_side *side, uint64_t samples,
			uint64_t span_us)
{
	static const char between[] = " \302\267 ";
	const struct report *r = side->report;
	const char *host = capture_feature_string(r->capture, PERFFILE_HOSTNAME),
		   *kernel = capture_feature_string(r->capture, PERFFILE_OSRELEASE);
	uint32_t available, online;
	struct outbuf text = { 0 };

	if (host)
		outbuf_printf(&text, "%s%s", host, between);
	if (kernel)
		outbuf_printf(&text, "%s%s", kernel, between);
	if (!feature_cpus(r->capture, &available, &online))
		outbuf_printf(&text, "%" PRIu32 " CPU%s%s", online, online == 1 ? "" : "s",
			      between);
	outbuf_printf(&text, "%s%s%.6g s%s%" PRIu64 " sample%s", event_name(side->ask->attr),
		      between, (double)span_us / 1e6, between, samples, samples == 1 ? "" : "s");
	outbuf_add(&text, "", 1);
	j->out->bad |= !outbuf_ok(&text);
	if (outbuf_ok(&text))
		write_string(j, "facts", (const char *)text.data);
	outbuf_done(&text);
}

/* The machine, the event and the options. */
static void write_capture(struct json_writer *j, const struct page_side *side, uint64_t base_us)
{
	const struct report *r = side->report;
	const struct page_ask *ask = side->ask;
	uint32_t available, online;
	uint64_t interval_ns = sample_time_interval_ns(&ask->attr->attr), sample_ns, wall_ns;
	char *command;

	write_string(j, "host", capture_feature_string(r->capture, PERFFILE_HOSTNAME));
	write_string(j, "kernel", capture_feature_string(r->capture, PERFFILE_OSRELEASE));
	if (!feature_cpus(r->capture, &available, &online))
		json_writer_u64(j, "cpus", online);
	if (!feature_command_line(r->capture, &command)) {
		write_string(j, "command", command);
		free(command);
	}
	if (capture_clock(r->capture, &sample_ns, &wall_ns))
		json_writer_u64(j, "wall_us", (wall_ns - sample_ns) / 1000 + base_us);
	if (ask->of)
		write_string(j, "of", ask->of);
	write_string(j, "event", event_name(ask->attr));
	if (interval_ns)
		json_writer_u64(j, "interval_ns", interval_ns);
	json_writer_u64(j, "samples_in_file", r->stats.event_samples);
	write_recorded(j, side);
	json_writer_u64(j, "lost_samples", r->counts.lost_samples);
	json_writer_u64(j, "lost_events", r->counts.lost_events);
	write_string(j, "weight", ask->weight_name);
	json_writer_u64(j, "base_us", base_us);
	write_list(j, "options", ask->options, ask->option_count);
	if (ask->renames.count)
		write_list(j, "renames", ask->renames.list, 2 * ask->renames.count);
}

static void write_tables(struct json_writer *j, const struct builder *p)
{
	json_writer_begin_array(j, "tables");
	for (size_t i = 0; i < p->out->columns.table_count; i++) {
		const struct page_table *t = &p->out->columns.tables[i];

		json_writer_begin(j, NULL);
		json_writer_string(j, "name", t->name);
		json_writer_u64(j, "rows", t->rows);
		json_writer_u64(j, "bytes", t->raw_bytes);
		json_writer_begin_array(j, "columns");
		for (size_t c = 0; c < t->column_count; c++) {
			json_writer_begin(j, NULL);
			json_writer_string(j, "name", t->columns[c].name);
			json_writer_string(j, "kind", t->columns[c].kind);
			json_writer_u64(j, "bytes", t->columns[c].bytes);
			json_writer_end(j);
		}
		json_writer_end_array(j);
		json_writer_end(j);
	}
	json_writer_end_array(j);
}

static void write_one(struct json_writer *j, const struct builder *p)
{
	const struct page_side *side = &p->sides[0];

	write_string(j, "file", side->ask->path);
	json_writer_u64(j, "samples", side->report->picked);
	json_writer_u64(j, "span_us", p->samples[0].span_us);
	write_facts(j, side, side->report->picked, p->samples[0].span_us);
	write_capture(j, side, p->samples[0].base_us);
	json_writer_begin_array(j, "verdict");
	write_quality(j, "", side);
	json_writer_end_array(j);
	if (side->ask->view)
		write_string(j, "view", side->ask->view + (*side->ask->view == '#'));
}

/* One of two captures. */
static void write_part(struct json_writer *j, const struct builder *p, size_t i)
{
	json_writer_begin(j, NULL);
	json_writer_u64(j, "from_us", p->places[i].from_us);
	json_writer_u64(j, "to_us", p->places[i].to_us);
	json_writer_begin(j, "head");
	write_string(j, "file", p->sides[i].ask->path);
	json_writer_u64(j, "samples", p->sides[i].report->picked);
	write_capture(j, &p->sides[i], p->places[i].base_us);
	json_writer_end(j);
	json_writer_end(j);
}

/* All of the one is compared with all of the other. */
static void write_two_view(struct json_writer *j, const struct builder *p)
{
	const struct place *after = &p->places[1];
	char view[160];

	snprintf(view, sizeof(view),
		 "baseline=0-%" PRIu64 "&time=%" PRIu64 "-%" PRIu64 "&side=both", after->from_us,
		 after->from_us, after->to_us);
	write_string(j, "view", view);
}

/* The name of each, and indented what is known of it. */
static void write_two_quality(struct json_writer *j, const struct builder *p)
{
	json_writer_begin_array(j, "verdict");
	for (size_t i = 0; i < p->count; i++) {
		write_lines(j, p->sides[i].ask->path, ":");
		write_quality(j, " ", &p->sides[i]);
	}
	json_writer_end_array(j);
}

/* A page of two has the machine, the event and the options of the capture after. */
static void write_two(struct json_writer *j, const struct builder *p)
{
	const struct page_side *sides = p->sides;
	char *file = NULL;

	if (asprintf(&file, "%s and %s", sides[0].ask->path, sides[1].ask->path) < 0)
		file = NULL;
	j->out->bad |= !file;
	if (file)
		write_string(j, "file", file);
	free(file);
	json_writer_u64(j, "samples", sides[0].report->picked + sides[1].report->picked);
	json_writer_u64(j, "span_us", p->places[1].to_us - 1);
	write_facts(j, &sides[1], sides[0].report->picked + sides[1].report->picked,
		    p->places[1].to_us);
	write_capture(j, &sides[1], p->places[1].base_us);
	write_two_quality(j, p);
	write_two_view(j, p);
	json_writer_begin_array(j, "parts");
	for (size_t i = 0; i < p->count; i++)
		write_part(j, p, i);
	json_writer_end_array(j);
}

static void write_head(const struct builder *p)
{
	struct json_writer j = { .out = &p->out->head };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "format", "ebprec page");
	json_writer_u64(&j, "version", PAGE_VERSION);
	json_writer_string(&j, "program", EBPREC_VERSION);
	if (p->count > 1)
		write_two(&j, p);
	else
		write_one(&j, p);
	write_tables(&j, p);
	json_writer_end(&j);
}

/* ---- where captures are on the axis ---- */

/* The time of the samples, of the recording, and of the threads, which may have been there before. */
static void find_extent(const struct builder *p, size_t i, uint64_t *from_us, uint64_t *to_us)
{
	const struct page_samples *s = &p->samples[i];
	const struct page_waits *w = &p->waits[i];
	struct time_span recorded;

	*from_us = s->base_us;
	*to_us = s->base_us + s->span_us + 1;
	if (s->row_count && find_recorded(&p->sides[i], &recorded)) {
		*from_us = recorded.from_ns / 1000 < *from_us ? recorded.from_ns / 1000 : *from_us;
		*to_us = recorded.to_ns / 1000 + 1 > *to_us ? recorded.to_ns / 1000 + 1 : *to_us;
	}
	for (size_t n = 0; p->has_waits && n < w->piece_count; n++) {
		uint64_t begin_us = w->pieces[n].from_ns / 1000,
			 end_us = w->pieces[n].to_ns / 1000 + 1;

		*from_us = begin_us < *from_us ? begin_us : *from_us;
		*to_us = end_us > *to_us ? end_us : *to_us;
	}
}

/* Each stands behind the one before. */
static void place_captures(struct builder *p)
{
	uint64_t at_us = 0, from_us, to_us;

	for (size_t i = 0; i < p->count; i++) {
		find_extent(p, i, &from_us, &to_us);
		p->places[i] = (struct place){ at_us, at_us + to_us - from_us, from_us };
		p->samples[i].shift_us = at_us + p->samples[i].base_us - from_us;
		at_us = p->places[i].to_us;
	}
	page_samples_number(p->samples, p->count);
}

/* ---- the tables ---- */

/* The tables that each capture has for itself. */
static int make_side(struct builder *p, size_t i)
{
	const struct page_side *side = &p->sides[i];
	const struct page_samples_ask samples = { .report = side->report,
						  .number = i,
						  .weight = side->ask->weight,
						  .all = side->ask->all,
						  .waits = &p->waits[i] };
	int err = 0;

	p->texts.renames = side->ask->renames;
	if (p->has_waits)
		err = page_wait_stacks_make(&p->waits[i], &p->stacks, &p->texts);
	if (!err && side->ask->marks)
		err = page_marks_make(side->report->capture, side->report->names, side->ask->filter,
				      &p->texts, &p->marks);
	if (!err)
		err = page_samples_make(&samples, &p->stacks, &p->texts, &p->samples[i]);
	if (!err && side->ask->processes)
		err = page_processes_make(side->report, &p->samples[i], &p->texts, &p->processes);
	if (!err && side->ask->counters)
		err = page_counters_make(side->ask->counters, &p->texts);
	return err;
}

static int make_tables(struct builder *p)
{
	double sum = 0;
	int err = page_texts_init(&p->texts);

	if (!err)
		err = page_stacks_make(&p->reports, &p->texts, &p->stacks);
	for (size_t i = 0; !err && i < p->count; i++) {
		err = make_side(p, i);
		sum += (double)p->samples[i].sum;
	}
	if (!err && sum > EXACT_NUMBERS)
		err = -ERANGE;
	if (!err && p->count > 1)
		place_captures(p);
	return err ? err : page_texts_write(&p->texts, &p->out->columns);
}

static int write_waits(const struct builder *p)
{
	struct page_wait_source sources[PAGE_SIDES];

	for (size_t i = 0; i < p->count; i++)
		sources[i] = (struct page_wait_source){ &p->waits[i], &p->samples[i] };
	return page_wait_tables_write(sources, p->count, &p->stacks, &p->texts, &p->out->columns);
}

static int write_columns(const struct builder *p)
{
	struct page_counters *counters = p->sides[0].ask->counters;
	uint64_t base_us = p->samples[0].base_us;
	struct page_columns *columns = &p->out->columns;
	int err = 0;

	page_stacks_write(&p->stacks, &p->texts, columns);
	page_samples_write(p->samples, p->count, &p->texts, columns);
	if (p->has_waits)
		err = write_waits(p);
	if (err)
		return err;
	page_processes_write(&p->processes, base_us, &p->texts, columns);
	err = page_marks_write(&p->marks, base_us, &p->texts, columns);
	if (!err && counters)
		page_counters_write(counters, base_us, &p->texts, columns);
	return err ? err : page_columns_ok(columns) ? 0 : -ENOMEM;
}

/* Waits of two captures are only compared where both have some. */
static int read_waits(struct builder *p)
{
	int err = 0;

	p->has_waits = true;
	for (size_t i = 0; !err && i < p->count; i++) {
		if (p->sides[i].ask->waits)
			err = page_waits_read(p->sides[i].report, p->sides[i].ask->waits,
					      &p->waits[i]);
		p->has_waits &= p->waits[i].any;
	}
	return err;
}

/* Those of samples, then those of waits. */
static void list_reports(struct builder *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->reports.list[p->reports.count++] =
			(struct page_report){ p->sides[i].report, p->sides[i].ask->renames };
	for (size_t i = 0; p->has_waits && i < p->count; i++) {
		p->waits[i].number = p->reports.count;
		p->reports.list[p->reports.count++] =
			(struct page_report){ &p->waits[i].report, p->sides[i].ask->renames };
	}
}

int page_part_make(const struct page_side *sides, size_t count, struct page_part *out)
{
	struct page_part fresh = { .of = sides[0].ask->of };
	struct builder p = { .sides = sides, .count = count, .out = &fresh };
	int err = read_waits(&p);

	list_reports(&p);
	for (size_t i = 0; i < count; i++)
		fresh.has_host |= capture_feature_string(sides[i].report->capture,
							 PERFFILE_HOSTNAME) != NULL;
	if (!err)
		err = make_tables(&p);
	if (!err)
		err = write_columns(&p);
	if (!err)
		write_head(&p);
	if (!err && !outbuf_ok(&fresh.head))
		err = -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		page_waits_done(&p.waits[i]);
		page_samples_done(&p.samples[i]);
	}
	page_marks_done(&p.marks);
	page_processes_done(&p.processes);
	page_stacks_done(&p.stacks);
	page_texts_done(&p.texts);
	if (err)
		page_part_done(&fresh);
	else
		*out = fresh;
	return err;
}

void page_part_done(struct page_part *part)
{
	outbuf_done(&part->head);
	page_columns_done(&part->columns);
}

/* ---- the page ---- */

/* head, data: names of its blocks. */
static void add_data(struct outbuf *out, const struct page_part *part, const char *head,
		     const char *data)
{
	outbuf_printf(out, "<script type=\"application/x-ebprec\" id=\"%s\">\n", head);
	add_json(out, &part->head);
	add_text(out, "</script>\n");
	for (size_t i = 0; i < part->columns.table_count; i++) {
		const struct outbuf *block = &part->columns.tables[i].block;

		outbuf_printf(out, "<script type=\"application/x-ebprec\" id=\"%s%zu\">", data, i);
		outbuf_add(out, block->data, block->size_bytes);
		add_text(out, "</script>\n");
	}
}

/* The line that lists which names of the recorded machine are in the page. */
static void add_given(struct outbuf *out, const struct page_parts *parts,
		      const struct capture *capture)
{
	static const struct {
		const char *table, *one, *many;
	} given[] = {
		{ "tasks", "thread and its control group", "threads and their control groups" },
		{ "processes", "process and its command line",
		  "processes and their command lines" },
		{ "frames", "function", "functions" },
		{ "objects", "file", "files" },
		{ "counters", "table of counters", "tables of counters" },
	};
	const struct page_columns *columns = &parts->list[0].columns;
	const char *between = "";

	add_text(out, "<p class=\"quiet given\" id=\"given\">This page names ");
	if (parts->list[0].has_host)
		add_text(out, "the host, ");
	for (size_t g = 0; g < sizeof(given) / sizeof(given[0]); g++)
		for (size_t i = 0; i < columns->table_count; i++)
			if (!strcmp(columns->tables[i].name, given[g].table)) {
				uint64_t rows = columns->tables[i].rows;

				outbuf_printf(out, "%s%" PRIu64 " %s", between, rows,
					      rows == 1 ? given[g].one : given[g].many);
				between = ", ";
			}
	for (size_t i = 1; i < parts->count; i++)
		outbuf_printf(out, "%s%s", i == 1 ? ", and stacks of " : ", ", parts->list[i].of);
	if (capture)
		add_text(out, ", and has all of the capture");
	add_text(out, ". ebprec scrub makes a capture without these names.</p>\n");
}

int page_document_write(const char *title, const char *summary, const struct page_parts *parts,
			const struct capture *capture, struct outbuf *out)
{
	char head[32], data[32];
	bool complete = true;

	add_part(out, page_viewer_head());
	add_title(out, title);
	add_text(out, "<pre id=\"summary\">\n");
	add_markup(out, summary);
	add_text(out, "</pre>\n");
	add_given(out, parts, capture);
	add_data(out, &parts->list[0], "head", "d");
	for (size_t i = 1; i < parts->count; i++) {
		snprintf(head, sizeof(head), "of%zu", i);
		snprintf(data, sizeof(data), "of%zu-", i);
		add_data(out, &parts->list[i], head, data);
	}
	if (capture)
		complete = page_spool_add(out, capture_source(capture));
	add_part(out, page_viewer_tail());
	return !outbuf_ok(out) ? -ENOMEM : complete ? 0 : -EIO;
}
