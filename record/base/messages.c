/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of files and commands come from outside; what is said about them stays one line. */
static void one_line(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

static void keep(struct notes *n, const char *text)
{
	if (n->kept_count >= NOTES_MAX)
		return;
	if (++n->kept_count == NOTES_MAX)
		text = "further notes are left out";
	outbuf_add(&n->text, text, strlen(text));
	outbuf_add(&n->text, "\n", 1);
}

void note(struct notes *n, enum note_level level, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (err < 0)
		return;
	one_line(text);
	if (level >= NOTE_INFO)
		keep(n, text);
	if (n->show && level != NOTE_KEPT)
		n->show(n->show_arg, level, text);
	free(text);
}

int note_fail(struct notes *n, int err, const char *hint, const char *fmt, ...)
{
	char *what = NULL;
	va_list ap;

	if (n->failure[0])
		return err;
	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	snprintf(n->failure, sizeof(n->failure), "%s: %s%s%s%s", what ? what : fmt, strerror(-err),
		 hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
	one_line(n->failure);
	free(what);
	return err;
}

void notes_forgive(struct notes *n)
{
	n->failure[0] = '\0';
}

void notes_done(struct notes *n)
{
	outbuf_done(&n->text);
}
