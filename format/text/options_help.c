/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* options_help: the table as help text, for people and for programs */
#include <string.h>

#include "format/text/options_priv.h"

#define HELP_WIDTH      80
#define HELP_COLUMN_MAX 30

static int print_name(const struct option *o, char *out, size_t out_bytes)
{
	char letter[8] = "    ";

	if (o->short_name)
		snprintf(letter, sizeof(letter), "-%c, ", o->short_name);
	return snprintf(out, out_bytes, "  %s--%s%s%s%s", letter, o->long_name,
			option_takes_value(o) ? " "
			: o->type == OPT_FORM ? "[="
					      : "",
			option_takes_value(o) || o->type == OPT_FORM ? o->value_name : "",
			o->type == OPT_FORM ? "]" : "");
}

/* text from column on, in lines of at most HELP_WIDTH columns; the cursor stands at `at`. */
static void print_wrapped(const char *text, int at, int column, FILE *to)
{
	int left = HELP_WIDTH - column;

	if (at + 2 > column) {
		fputc('\n', to);
		at = 0;
	}
	while (*text) {
		int length = (int)strlen(text), cut = length;

		if (length > left) {
			for (cut = left; cut > 0 && text[cut] != ' '; cut--)
				;
			if (!cut)
				cut = (int)strcspn(text, " ");
		}
		fprintf(to, "%*s%.*s\n", column - at, "", cut, text);
		text += cut;
		text += strspn(text, " ");
		at = 0;
	}
}

static int help_column(const struct option *table, int column)
{
	char name[HELP_WIDTH];
	int width;

	for (const struct option *o = table; o->type != OPT_END; o++) {
		if (option_of_perf(o))
			continue;
		width = print_name(o, name, sizeof(name)) + 2;
		if (width > column && width <= HELP_COLUMN_MAX)
			column = width;
	}
	return column;
}

static void print_table(const struct option *table, int column, FILE *to)
{
	char name[HELP_WIDTH];
	int width;

	for (const struct option *o = table; o->type != OPT_END; o++) {
		if (option_of_perf(o))
			continue;
		width = print_name(o, name, sizeof(name));
		fputs(name, to);
		print_wrapped(o->help, width, column, to);
	}
}

void options_print_bare(const struct option *table, FILE *to)
{
	print_table(table, help_column(table, 0), to);
}

void options_print(const struct option *table, FILE *to)
{
	static const struct option help[] = {
		{ OPT_FLAG, 'h', "help", NULL, 0, 0, 0, "show this help" },
		{ 0 },
	};
	int column = help_column(table, help_column(help, 0));

	print_table(table, column, to);
	print_table(help, column, to);
}

static const char *kind_of(const struct option *o)
{
	char no[64];

	if (o->type == OPT_FORM)
		return "form";
	if (option_takes_value(o))
		return "value";
	snprintf(no, sizeof(no), "--no-%s", o->long_name);
	return o->type == OPT_FLAG && strstr(o->help, no) ? "switch" : "flag";
}

void options_print_lines(const struct option *table, bool with_help, FILE *to)
{
	for (const struct option *o = table; o->type != OPT_END; o++) {
		if (option_of_perf(o))
			continue;
		fprintf(to, "%s%.1s\t--%s\t%s\t%s\t", o->short_name ? "-" : "",
			o->short_name ? &o->short_name : "", o->long_name,
			o->value_name ? o->value_name : "", kind_of(o));
		for (const char *c = o->help; *c; c++)
			fputc(*c == '\n' ? ' ' : *c, to);
		fputc('\n', to);
	}
	if (with_help)
		fputs("-h\t--help\t\tflag\tshow this help\n", to);
}

bool options_wants_lines(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help=lines"))
			return true;
	return false;
}
