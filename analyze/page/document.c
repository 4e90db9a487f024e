/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/perf_features.h"
#include "analyze/page/columns.h"
#include "analyze/page/marks.h"
#include "analyze/page/processes.h"
#include "analyze/page/samples.h"
#include "analyze/page/stacks.h"
#include "analyze/page/texts.h"
#include "analyze/page/viewer.h"
#include "analyze/page/waits.h"
#include "format/reader/page_spool.h"
#include "format/text/escape.h"
#include "format/text/json_writer.h"

#define PAGE_VERSION  1
#define EXACT_NUMBERS (UINT64_C(1) << 53)
#define NS_PER_SECOND 1000000000u

struct builder {
	struct report *r;
	const struct page_ask *ask;
	struct page_texts texts;
	struct page_stacks stacks;
	struct page_waits *waits;
	struct page_marks marks;
	struct page_reports reports;
	struct page_samples samples;
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

static void write_lines(struct json_writer *j, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line = strndup(text, size);

		j->out->bad |= !line;
		if (line)
			write_string(j, NULL, line);
		free(line);
		text += size + (text[size] == '\n');
	}
}

/* How far stacks and names can be trusted, and what was lost. */
static void write_quality(struct json_writer *j, const struct builder *p)
{
	uint64_t samples = p->r->counts.lost_samples, events = p->r->counts.lost_events;
	char line[96];

	json_writer_begin_array(j, "verdict");
	write_lines(j, p->ask->quality);
	if (samples || events) {
		snprintf(line, sizeof(line),
			 "lost by the recorder: %" PRIu64 " samples and %" PRIu64 " events",
			 samples, events);
		write_string(j, NULL, line);
	}
	json_writer_end_array(j);
}

static void write_list(struct json_writer *j, const char *key, const char *const *list,
		       size_t count)
{
	json_writer_begin_array(j, key);
	for (size_t i = 0; i < count; i++)
		write_string(j, NULL, list[i]);
	json_writer_end_array(j);
}

/* From the first sample of the file to the last, within the time that was asked for. */
static void write_recorded(struct json_writer *j, const struct builder *p)
{
	const struct time_span *all = report_span(p->r), *asked = &p->ask->filter->span;
	uint64_t from_ns, to_ns;

	if (!all)
		return;
	from_ns = all->from_ns > asked->from_ns ? all->from_ns : asked->from_ns;
	to_ns = all->to_ns < asked->to_ns ? all->to_ns : asked->to_ns;
	json_writer_begin_array(j, "recorded_ns");
	json_writer_u64(j, NULL, from_ns);
	json_writer_u64(j, NULL, to_ns < from_ns ? from_ns : to_ns);
	json_writer_end_array(j);
}

static void write_capture(struct json_writer *j, const struct builder *p)
{
	const struct report *r = p->r;
	uint32_t available, online;
	uint64_t sample_ns, wall_ns;
	char *command;

	write_string(j, "file", p->ask->path);
	write_string(j, "host", capture_feature_string(r->capture, PERFFILE_HOSTNAME));
	write_string(j, "kernel", capture_feature_string(r->capture, PERFFILE_OSRELEASE));
	if (!feature_cpus(r->capture, &available, &online))
		json_writer_u64(j, "cpus", online);
	if (!feature_command_line(r->capture, &command)) {
		write_string(j, "command", command);
		free(command);
	}
	if (capture_clock(r->capture, &sample_ns, &wall_ns))
		json_writer_u64(j, "wall_us", (wall_ns - sample_ns) / 1000 + p->samples.base_us);
	if (p->ask->of)
		write_string(j, "of", p->ask->of);
	write_string(j, "event", event_name(p->ask->attr));
	if (p->ask->attr->attr.freq && p->ask->attr->attr.sample_freq)
		json_writer_u64(j, "interval_ns", NS_PER_SECOND / p->ask->attr->attr.sample_freq);
	json_writer_u64(j, "samples", r->picked);
	json_writer_u64(j, "samples_in_file", r->stats.event_samples);
	write_recorded(j, p);
	json_writer_u64(j, "lost_samples", r->counts.lost_samples);
	json_writer_u64(j, "lost_events", r->counts.lost_events);
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

static void write_head(const struct builder *p)
{
	struct json_writer j = { .out = &p->out->head };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "format", "ebprec page");
	json_writer_u64(&j, "version", PAGE_VERSION);
	json_writer_string(&j, "program", EBPREC_VERSION);
	write_capture(&j, p);
	write_string(&j, "weight", p->ask->weight_name);
	json_writer_u64(&j, "base_us", p->samples.base_us);
	json_writer_u64(&j, "span_us", p->samples.span_us);
	write_quality(&j, p);
	write_list(&j, "options", p->ask->options, p->ask->option_count);
	if (p->ask->rename_count)
		write_list(&j, "renames", p->ask->renames, 2 * p->ask->rename_count);
	if (p->ask->view)
		write_string(&j, "view", p->ask->view + (*p->ask->view == '#'));
	write_tables(&j, p);
	json_writer_end(&j);
}

/* ---- the tables ---- */

static int make_tables(struct builder *p)
{
	int err = page_texts_init(&p->texts);

	p->texts.renames = p->ask->renames;
	p->texts.rename_count = p->ask->rename_count;
	if (!err)
		err = page_stacks_make(&p->reports, &p->texts, &p->stacks);
	if (!err)
		err = page_waits_make(p->waits, &p->stacks, &p->texts);
	if (!err && p->ask->marks)
		err = page_marks_make(p->r->capture, p->r->names, p->ask->filter, &p->texts,
				      &p->marks);
	if (!err)
		err = page_samples_make(p->r, p->ask->weight, p->ask->all, &p->stacks, p->waits,
					&p->texts, &p->samples);
	if (!err && p->ask->processes)
		err = page_processes_make(p->r, &p->samples, &p->texts, &p->processes);
	if (!err && p->ask->counters)
		err = page_counters_make(p->ask->counters, &p->texts);
	if (!err && p->samples.sum > EXACT_NUMBERS)
		err = -ERANGE;
	if (!err)
		err = page_texts_write(&p->texts, &p->out->columns);
	if (err)
		return err;
	page_stacks_write(&p->stacks, &p->reports, &p->texts, &p->out->columns);
	page_samples_write(&p->samples, &p->texts, &p->out->columns);
	err = page_waits_write(p->waits, &p->stacks, p->samples.task_of_wait, p->samples.base_us,
			       &p->texts, &p->out->columns);
	if (!err)
		page_processes_write(&p->processes, p->samples.base_us, &p->texts,
				     &p->out->columns);
	if (!err)
		err = page_marks_write(&p->marks, p->samples.base_us, &p->texts, &p->out->columns);
	if (!err && p->ask->counters)
		page_counters_write(p->ask->counters, p->samples.base_us, &p->texts,
				    &p->out->columns);
	return err ? err : page_columns_ok(&p->out->columns) ? 0 : -ENOMEM;
}

int page_part_make(struct report *r, const struct page_ask *ask, struct page_part *out)
{
	struct page_waits waits = { 0 };
	struct page_part fresh = { 0 };
	struct builder p = { .r = r, .ask = ask, .waits = &waits, .out = &fresh };
	int err = ask->waits ? page_waits_read(r, ask->waits, &waits) : 0;

	p.reports = (struct page_reports){ { r, &waits.report }, waits.any ? 2 : 1 };
	if (!err)
		err = make_tables(&p);
	if (!err)
		write_head(&p);
	if (!err && !outbuf_ok(&fresh.head))
		err = -ENOMEM;
	page_waits_done(&waits);
	page_marks_done(&p.marks);
	page_processes_done(&p.processes);
	page_samples_done(&p.samples);
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
	add_data(out, &parts->list[0], "head", "d");
	if (parts->before)
		add_data(out, parts->before, "before", "b");
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
