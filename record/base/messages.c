/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "format/os/clock.h"
#include "format/text/escape.h"

static void keep(struct notes *n, const char *text)
{
	if (n->line_count >= NOTES_MAX)
		return;
	if (++n->line_count == NOTES_MAX)
		text = "further notes are left out";
	outbuf_add(&n->text, text, strlen(text));
	outbuf_add(&n->text, "\n", 1);
}

static void pass_on(struct notes *n, enum note_level level, const char *text)
{
	if (level >= NOTE_INFO)
		keep(n, text);
	if (n->show && level != NOTE_STORED)
		n->show(n->show_arg, level, text);
}

void note(struct notes *n, enum note_level level, const char *fmt, ...)
{
	char *words = NULL, *text;
	va_list ap;
	int bytes;

	va_start(ap, fmt);
	bytes = vasprintf(&words, fmt, ap);
	va_end(ap);
	if (bytes < 0)
		return;
	text = escape_copy(ESCAPE_TEXT, words, (size_t)bytes);
	free(words);
	if (!text)
		return;
	if (n->holds && !vec_reserve(&n->held, &n->held_capacity, n->held_count + 1)) {
		n->held[n->held_count++] = (struct held_note){ level, text };
		return;
	}
	pass_on(n, level, text);
	free(text);
}

void notes_hold(struct notes *n)
{
	n->holds = true;
}

static void end_holding(struct notes *n, bool pass)
{
	n->holds = false;
	for (size_t i = 0; i < n->held_count; i++) {
		if (pass)
			pass_on(n, n->held[i].level, n->held[i].text);
		free(n->held[i].text);
	}
	n->held_count = 0;
}

void notes_release(struct notes *n)
{
	end_holding(n, true);
}

void notes_forget(struct notes *n)
{
	end_holding(n, false);
}

int note_fail(struct notes *n, int err, const char *hint, const char *fmt, ...)
{
	char *what = NULL, *words = NULL;
	va_list ap;
	int bytes;

	if (n->failure[0])
		return err;
	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	bytes = asprintf(&words, "%s: %s%s%s%s", what ? what : fmt, strerror(-err),
			 hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
	if (bytes >= 0)
		escape_into(ESCAPE_TEXT, words, (size_t)bytes, n->failure, sizeof(n->failure));
	else
		snprintf(n->failure, sizeof(n->failure), "%s", strerror(ENOMEM));
	if (bytes >= 0)
		free(words);
	free(what);
	return err;
}

static struct failed_part *find_failed(struct notes *n, const char *what)
{
	for (size_t i = 0; i < n->failed_count; i++) {
		if (!strncmp(n->failed[i].what, what, sizeof(n->failed[i].what) - 1))
			return &n->failed[i];
	}
	return NULL;
}

static void note_part(struct notes *n, int err, const char *what, const char *costs, bool harmless)
{
	struct failed_part *part = find_failed(n, what);

	if (!part && n->failed_count == FAILED_PARTS_MAX)
		part = &n->failed[FAILED_PARTS_MAX - 1];
	if (part) {
		part->count++;
		part->is_harmless &= harmless;
		return;
	}
	part = &n->failed[n->failed_count++];
	*part = (struct failed_part){ .err = err,
				      .count = 1,
				      .is_harmless = harmless,
				      .first_ns = clock_ns(CLOCK_MONOTONIC) };
	snprintf(part->what, sizeof(part->what), "%s", what);
	note(n, NOTE_WARNING, "%s: %s (%s)", what, strerror(-err), costs);
}

void note_failed_part(struct notes *n, int err, const char *what, const char *costs)
{
	note_part(n, err, what, costs, false);
}

void note_delayed_part(struct notes *n, int err, const char *what, const char *instead)
{
	note_part(n, err, what, instead, true);
}

size_t notes_harmed(const struct notes *n)
{
	size_t count = 0;

	for (size_t i = 0; i < n->failed_count; i++)
		count += !n->failed[i].is_harmless;
	return count;
}

void notes_json(const struct notes *n, struct json_writer *j)
{
	if (!n->failed_count)
		return;
	json_writer_begin_array(j, "failures");
	for (size_t i = 0; i < n->failed_count; i++) {
		json_writer_begin(j, NULL);
		json_writer_string(j, "what", n->failed[i].what);
		json_writer_string(j, "error", strerror(-n->failed[i].err));
		json_writer_u64(j, "times", n->failed[i].count);
		json_writer_u64(j, "first_mono_ns", n->failed[i].first_ns);
		json_writer_end(j);
	}
	json_writer_end_array(j);
}

void notes_forgive(struct notes *n)
{
	n->failure[0] = '\0';
}

void notes_done(struct notes *n)
{
	notes_forget(n);
	free(n->held);
	n->held = NULL;
	n->held_capacity = 0;
	outbuf_done(&n->text);
}
