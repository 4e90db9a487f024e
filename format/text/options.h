/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * options - command lines from one table
 *
 * A command declares its options once; parsing, --help, and "unknown option, did you mean" read
 * that table.  Parsed values go into the command's own struct by offset, never into globals.
 * Rules: `-x VALUE`, `-xVALUE`, `--long VALUE`, `--long=VALUE`; every OPT_FLAG has a `--no-long`;
 * short flags may be bundled; a value whose value_name is "[N]" or "[a|b]" may be left out: then a number keeps
 * its default and a text is "", and the next word is taken for the value only if it is a number, or a list that
 * begins with a number or with one of these words, or a word near one; `--` ends the options; the first word that is no option ends
 * them too, unless the table's user asks for permutation.
 */
#ifndef EBPREC_FORMAT_TEXT_OPTIONS_H
#define EBPREC_FORMAT_TEXT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_type {
	OPT_END = 0, /* ends a table */
	OPT_FLAG,    /* bool */
	OPT_COUNT,   /* unsigned: times given (-v -v) */
	OPT_UINT,    /* unsigned, decimal, within [min, max] */
	OPT_SECONDS, /* uint64_t ns, not 0, from a number of seconds such as 2.5, or 300ms, 10m */
	OPT_SIZE,    /* uint64_t bytes, not 0; a suffix B, K, M or G; bare numbers are MiB */
	OPT_STRING,  /* const char *, borrowed from argv */
	OPT_LIST,    /* struct option_list: may be given several times */
	OPT_FORM,    /* const char *: NULL, not given; `--long` is "", `--long=FORM` is FORM */
	OPT_PAIR,    /* struct option_pair: two words, `--long A B` or `--long=A B` */
	/* Options as users of perf type them.  Help does not list them; OPT_IDLE and OPT_OTHER do
	 * not use the offset. */
	OPT_SAME, /* value_name is the long name of the option that it is; at the offset, but for 0, a
		   * const char * gets the long name that was used last of the two */
	OPT_IDLE,  /* a switch without effect: ebprec always behaves so */
	OPT_OTHER, /* refused; the help text names the option to use instead */
};

struct option {
	enum option_type type;
	char short_name;        /* 0: none */
	const char *long_name;  /* without dashes; never NULL */
	const char *value_name; /* "HZ"; NULL for flags */
	size_t offset;          /* into the struct given to options_parse() */
	unsigned min, max;      /* OPT_UINT only; max 0: no bound */
	const char *help;       /* one line, no full stop */
};

/* An entry of a macro that several tables have; the second one of a number within bounds. */
#define OPTION(type, short_name, long_name, value_name, offset, help) \
	OPTION_WITHIN(type, short_name, long_name, value_name, offset, 0, 0, help)
#define OPTION_WITHIN(type, short_name, long_name, value_name, offset, min, max, help) \
	{                                                                              \
		type, short_name, long_name, value_name, offset, min, max, help        \
	}

#define OPTION_LIST_MAX 64
struct option_list {
	const char *values[OPTION_LIST_MAX]; /* borrowed from argv */
	unsigned count;
};

struct option_pair {
	const char *first, *second; /* borrowed from argv */
};

struct option_error {
	char text
		[256]; /* one line, e.g. "unknown option '--freqency', did you mean '--frequency'?" */
};

/*
 * Parses argv[1..]; opts points to the struct of the offsets, already holding the defaults.  Words
 * that are not options are left in order at argv[*first_word] onwards.  permute: options may also
 * follow words.  0, or -EINVAL with *error filled, or -ECANCELED when --help (-h) was asked for; then
 * *first_word is untouched and the struct holds the values before the bad one.
 */
int options_parse(const struct option *table, void *opts, int argc, char **argv, bool permute,
		  int *first_word, struct option_error *error);

/* The message of a word that was refused, one line whatever the word has.  -EINVAL. */
int option_fail(struct option_error *error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the table as help text, aligned, within 80 columns. */
void options_print(const struct option *table, FILE *to);
/* The same without --help at the end. */
void options_print_bare(const struct option *table, FILE *to);

/*
 * The table as programs read it, for completion and manual pages: a line an option, of "-x" or nothing,
 * "--long", the value's name or nothing, what it is (flag; switch: with a --no-; value; form: a value
 * may follow behind '='), and the help, with a tab between them.  with_help: --help, too.
 */
void options_print_lines(const struct option *table, bool with_help, FILE *to);
/* Whether the -ECANCELED of options_parse() was for `--help=lines`. */
bool options_wants_lines(int argc, char **argv);

/*
 * The entry of names[] nearest to word: edit distance (a swap of neighbours is one edit) at most 2 (1 of words
 * with three letters) or a third of its length, or word is its beginning.  NULL: none.
 */
const char *options_nearest(const char *word, const char *const *names, size_t count);

#endif
