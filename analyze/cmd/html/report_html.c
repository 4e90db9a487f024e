/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/html/report_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/out/message.h"
#include "analyze/page/document.h"
#include "analyze/page/samples.h"
#include "analyze/page/view_state.h"
#include "analyze/report/quality_text.h"

int report_html_check_view(const char *state, const struct usage *usage)
{
	size_t bytes;
	const char *may, *unknown = state ? view_state_unknown(state, &bytes, &may) : NULL;

	if (!unknown)
		return 0;
	return usage_error(
		usage, "option '--html-view' cannot have '%.*s': %sone of %s was expected",
		(int)bytes, unknown, memchr(unknown, '=', bytes) ? "" : "KEY=VALUE&..., KEY ", may);
}

void report_html_query(struct report_query *query)
{
	query->fields |= PAGE_SAMPLES_FIELDS;
	query->keep_samples = true;
	query->with_sources = true;
	query->no_quality = true; /* it is made of what make_page() adds up */
}

static int write_view(struct report *r, const struct report_html_ask *ask, struct sort_keys keys,
		      bool no_children, const char *head, FILE *to)
{
	struct report_ask view = *ask->report;

	view.keys = keys;
	view.form = FLAT_TEXT;
	view.no_children = no_children;
	view.head = head;
	return report_view("functions")->write(r, &view, to);
}

/*
 * The text of the page where scripts do not run: stack quality, programs, functions.  Owned; NULL:
 * no memory.
 */
static char *make_summary(struct report *r, const struct report_html_ask *ask, const char *quality)
{
	const struct sort_keys programs = { { KEY_COMM }, 1 },
			       functions = { { KEY_DSO, KEY_SYMBOL }, 2 };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return NULL;
	fprintf(to, "%s\n", quality);
	err = write_view(r, ask, programs, true, ask->report->head, to);
	if (!err)
		err = write_view(r, ask, functions, false, "#\n", to);
	fclose(to);
	if (err) {
		free(text);
		return NULL;
	}
	return text;
}

static char *make_quality_text(const struct report *r, const char *input)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	quality_text_write(r, input, to);
	fclose(to);
	return text;
}

/* The parts of a page that are of one capture. */
struct side {
	struct page_ask ask;
	char *quality;
	struct option_words words;
};

static void side_done(struct side *side)
{
	option_words_done(&side->words);
	free(side->quality);
}

static int make_side(struct report *r, const struct report_html_ask *ask, struct side *out)
{
	const struct report_ask *how = ask->report;
	size_t count;
	int err = stack_quality_make(&r->stacks, &r->naming, r->names, r->compilers, &r->quality);

	*out = (struct side){ .quality = err ? NULL : make_quality_text(r, ask->input) };
	out->ask = (struct page_ask){
		.path = ask->input,
		.attr = &capture_attrs(r->capture, &count)[ask->attr],
		.weight = how->weight,
		.weight_name = how->weight_name,
		.quality = out->quality,
		.waits = ask->waits,
		.filter = ask->filter,
		.marks = ask->marks,
		.processes = ask->processes,
		.counters = ask->counters,
		.view = ask->view,
		.renames = ask->renames,
		.of = ask->of,
		.all = ask->all,
	};
	if (!err)
		err = out->quality ? pick_options_words(ask->pick, ask->of, &out->words) : -ENOMEM;
	out->ask.options = (const char *const *)out->words.list;
	out->ask.option_count = out->words.count;
	return err;
}

/* summary: owned; NULL: it is not asked for. */
static int make_part(struct report *r, const struct report_html_ask *ask, struct page_part *out,
		     char **summary)
{
	struct side side;
	int err = make_side(r, ask, &side);

	if (!err && summary) {
		*summary = make_summary(r, ask, side.quality);
		err = *summary ? 0 : -ENOMEM;
	}
	if (!err)
		err = page_part_make(&(struct page_side){ r, &side.ask }, 1, out);
	side_done(&side);
	return err;
}

static int write_bytes(void *arg, FILE *to)
{
	const struct outbuf *page = arg;

	errno = 0;
	if (fwrite(page->data, 1, page->size_bytes, to) != page->size_bytes)
		return errno ? -errno : -EIO;
	return 0;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static int fail(const struct report_html_ask *ask, int err)
{
	if (err == -ERANGE)
		return message_error(
			"cannot write '%s': the weights add up to more than 2^53 (--weight samples)",
			ask->output);
	return message_error("cannot write '%s': %s", ask->output, strerror(-err));
}

static int refuse_size(const struct report_html_ask *ask, uint64_t bytes)
{
	return message_error(
		"cannot write '%s': it would have %.1f MiB, more than %.1f (--last 10s or "
		"--time chooses less%s%s%s, --html-limit %.0f allows it)",
		ask->output, mib(bytes), mib(ask->limit_bytes),
		ask->waits ? ", --no-html-waits leaves waits out" : "",
		ask->instruments && ask->instruments->count
			? ", --no-html-instruments leaves stacks of instruments out"
			: "",
		ask->carried ? ", a page --with-capture has all of the capture" : "",
		mib(bytes) + 1);
}

static int write_page(const struct report_html_ask *ask, const char *title, const char *summary,
		      const struct page_parts *parts)
{
	struct outbuf page = { 0 };
	int err = page_document_write(title, summary, parts, ask->carried, &page),
	    status = MESSAGE_OK;

	if (err)
		status = fail(ask, err);
	else if (page.size_bytes > ask->limit_bytes)
		status = refuse_size(ask, page.size_bytes);
	else
		err = cmd_write_output(ask->output, write_bytes, &page);
	outbuf_done(&page);
	if (status || !err)
		return status;
	return message_cannot_write(strcmp(ask->output, "-") ? ask->output : "standard output",
				    err);
}

int report_html_write_two(struct report *const *reports, const struct report_html_ask *asks,
			  const char *title, const char *summary)
{
	struct side sides[PAGE_SIDES] = { 0 };
	struct page_side list[PAGE_SIDES];
	struct page_part part = { 0 };
	int err = 0, status;

	for (size_t i = 0; !err && i < PAGE_SIDES; i++) {
		err = make_side(reports[i], &asks[i], &sides[i]);
		list[i] = (struct page_side){ reports[i], &sides[i].ask };
	}
	if (!err)
		err = page_part_make(list, PAGE_SIDES, &part);
	status = err ? fail(&asks[1], err)
		     : write_page(&asks[1], title, summary, &(struct page_parts){ &part, 1 });
	page_part_done(&part);
	for (size_t i = 0; i < PAGE_SIDES; i++)
		side_done(&sides[i]);
	return status;
}

/* The part of an instrument: of samples alone. */
static int make_instrument(struct html_instrument *one, const struct report_html_ask *page,
			   struct page_part *out)
{
	const struct report_ask view = { .weight = CALLTREE_PERIOD, .weight_name = one->unit };
	const struct report_html_ask ask = { .input = page->input,
					     .pick = page->pick,
					     .of = one->name,
					     .report = &view,
					     .attr = one->attr,
					     .filter = page->filter,
					     .all = page->all };

	return make_part(&one->report, &ask, out, NULL);
}

int report_html_write(struct report *r, const struct report_html_ask *ask)
{
	struct html_instrument *others = ask->instruments ? ask->instruments->list : NULL;
	size_t count = 1 + (ask->instruments ? ask->instruments->count : 0);
	struct page_part *parts = calloc(count, sizeof(*parts));
	struct time_span all = { UINT64_MAX, 0 };
	struct report_html_ask own = *ask;
	char *summary = NULL;
	int err = parts ? 0 : -ENOMEM, status;

	page_samples_extend(r, &all);
	for (size_t i = 1; i < count; i++)
		page_samples_extend(&others[i - 1].report, &all);
	own.all = &all;
	if (!err)
		err = make_part(r, &own, &parts[0], &summary);
	for (size_t i = 1; !err && i < count; i++)
		err = make_instrument(&others[i - 1], &own, &parts[i]);
	status = err ? fail(ask, err)
		     : write_page(ask, ask->input, summary, &(struct page_parts){ parts, count });
	for (size_t i = 0; parts && i < count; i++)
		page_part_done(&parts[i]);
	free(parts);
	free(summary);
	return status;
}
