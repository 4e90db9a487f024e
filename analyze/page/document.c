/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/perf_features.h"
#include "analyze/page/columns.h"
#include "analyze/page/marks.h"
#include "analyze/page/samples.h"
#include "analyze/page/stacks.h"
#include "analyze/page/texts.h"
#include "analyze/page/viewer.h"
#include "analyze/page/waits.h"
#include "format/text/escape.h"
#include "format/text/json_writer.h"

#define PAGE_VERSION  1
#define EXACT_NUMBERS (UINT64_C(1) << 53)
#define NS_PER_SECOND 1000000000u

struct page {
	struct report *r;
	const struct page_ask *ask;
	struct page_texts texts;
	struct page_stacks stacks;
	struct page_waits *waits;
	struct page_marks marks;
	struct page_reports reports;
	struct page_samples samples;
	struct page_columns columns;
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

static void add_title(struct outbuf *out, const struct page *p)
{
	char *path = escape_copy(ESCAPE_TEXT, p->ask->path, strlen(p->ask->path));

	out->bad |= !path;
	add_text(out, "<title>");
	if (path)
		add_markup(out, path);
	add_text(out, " - ebprec</title></head><body>\n");
	free(path);
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

static void write_lines(struct json_writer *j, const char *key, const char *text)
{
	json_writer_begin_array(j, key);
	while (*text) {
		size_t size = strcspn(text, "\n");
		char *line = strndup(text, size);

		j->out->bad |= !line;
		if (line)
			write_string(j, NULL, line);
		free(line);
		text += size + (text[size] == '\n');
	}
	json_writer_end_array(j);
}

static void write_capture(struct json_writer *j, const struct page *p)
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
	write_string(j, "event", event_name(p->ask->attr));
	if (p->ask->attr->attr.freq && p->ask->attr->attr.sample_freq)
		json_writer_u64(j, "interval_ns", NS_PER_SECOND / p->ask->attr->attr.sample_freq);
	json_writer_u64(j, "samples", r->picked);
	json_writer_u64(j, "samples_in_file", r->stats.event_samples);
	json_writer_u64(j, "lost_samples", r->counts.lost_samples);
	json_writer_u64(j, "lost_events", r->counts.lost_events);
}

static void write_tables(struct json_writer *j, const struct page *p)
{
	json_writer_begin_array(j, "tables");
	for (size_t i = 0; i < p->columns.table_count; i++) {
		const struct page_table *t = &p->columns.tables[i];

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

static void write_head(struct outbuf *out, const struct page *p)
{
	struct outbuf json = { 0 };
	struct json_writer j = { .out = &json };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "format", "ebprec page");
	json_writer_u64(&j, "version", PAGE_VERSION);
	json_writer_string(&j, "program", EBPREC_VERSION);
	write_capture(&j, p);
	write_string(&j, "weight", p->ask->weight_name);
	json_writer_u64(&j, "base_us", p->samples.base_us);
	json_writer_u64(&j, "span_us", p->samples.span_us);
	write_lines(&j, "verdict", p->ask->verdict);
	json_writer_begin_array(&j, "options");
	for (size_t i = 0; i < p->ask->option_count; i++)
		write_string(&j, NULL, p->ask->options[i]);
	json_writer_end_array(&j);
	if (p->ask->view)
		write_string(&j, "view", p->ask->view + (*p->ask->view == '#'));
	write_tables(&j, p);
	json_writer_end(&j);
	out->bad |= json.bad;
	add_text(out, "<script type=\"application/x-ebprec\" id=\"head\">\n");
	add_json(out, &json);
	add_text(out, "</script>\n");
	outbuf_done(&json);
}

/* ---- the page ---- */

static int make_tables(struct page *p)
{
	int err = page_texts_init(&p->texts);

	if (!err)
		err = page_stacks_make(&p->reports, &p->texts, &p->stacks);
	if (!err)
		err = page_waits_make(p->waits, &p->stacks, &p->texts);
	if (!err)
		err = page_marks_make(p->r->capture, p->r->names, p->ask->filter, &p->texts,
				      &p->marks);
	if (!err)
		err = page_samples_make(p->r, p->ask->weight, &p->stacks, p->waits, &p->texts,
					&p->samples);
	if (!err && p->samples.sum > EXACT_NUMBERS)
		err = -ERANGE;
	if (!err)
		err = page_texts_write(&p->texts, &p->columns);
	if (err)
		return err;
	page_stacks_write(&p->stacks, &p->reports, &p->texts, &p->columns);
	err = page_samples_write(&p->samples, &p->stacks, &p->texts, &p->columns);
	if (!err)
		err = page_waits_write(p->waits, &p->stacks, p->samples.task_of_wait,
				       p->samples.base_us, &p->texts, &p->columns);
	if (!err)
		err = page_marks_write(&p->marks, p->samples.base_us, &p->texts, &p->columns);
	return err ? err : page_columns_ok(&p->columns) ? 0 : -ENOMEM;
}

static int write_page(const struct page *p, struct outbuf *out)
{
	add_part(out, page_viewer_head());
	add_title(out, p);
	add_text(out, "<pre id=\"summary\">\n");
	add_markup(out, p->ask->summary);
	add_text(out, "</pre>\n");
	write_head(out, p);
	for (size_t i = 0; i < p->columns.table_count; i++) {
		outbuf_printf(out, "<script type=\"application/x-ebprec\" id=\"d%zu\">", i);
		outbuf_add(out, p->columns.tables[i].block.data,
			   p->columns.tables[i].block.size_bytes);
		add_text(out, "</script>\n");
	}
	add_part(out, page_viewer_tail());
	return outbuf_ok(out) ? 0 : -ENOMEM;
}

int page_document_make(struct report *r, const struct page_ask *ask, struct outbuf *out)
{
	struct page_waits waits = { 0 };
	struct page p = { .r = r, .ask = ask, .waits = &waits };
	int err = ask->waits ? page_waits_read(r, ask->waits, &waits) : 0;

	p.reports = (struct page_reports){ { r, &waits.report }, waits.any ? 2 : 1 };
	if (!err)
		err = make_tables(&p);
	if (!err)
		err = write_page(&p, out);
	page_waits_done(&waits);
	page_columns_done(&p.columns);
	page_marks_done(&p.marks);
	page_samples_done(&p.samples);
	page_stacks_done(&p.stacks);
	page_texts_done(&p.texts);
	return err;
}
