/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* usage - how a command is called: its --help, and the message when it is called wrongly */
#ifndef EBPREC_ANALYZE_CMD_COMMON_USAGE_H
#define EBPREC_ANALYZE_CMD_COMMON_USAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "format/text/options.h"

enum usage_reads {
	USAGE_READS_NOTHING,
	USAGE_READS, /* files of strangers: from usage_parse() on it is confined (sandbox_policy.h) */
	USAGE_REPLACES, /* the same, and without --output it replaces what it reads */
};

/* The folder of --spool, or the default one. */
enum usage_spool {
	USAGE_SPOOL_NONE,
	USAGE_SPOOL_READS,
	USAGE_SPOOL_WRITES,
};

/* A word that perf knows behind a command of this name, and what does the same here. */
struct usage_word {
	const char *word, *instead;
};

struct usage {
	const char *command; /* "info" */
	const char *words;   /* what follows the name: "[-i FILE] [--json]" */
	const char *needs;   /* what the least words are: "two captures"; NULL: there may be none */
	const char *about;   /* a paragraph, each line within 80 columns and ended */
	const struct option *options;
	enum usage_reads reads;
	bool reads_output; /* and what it wrote */
	enum usage_spool spool;
	const char *const
		*reads_also; /* paths besides those that options name, ended by NULL; NULL: none */
	bool in_place; /* USAGE_REPLACES: it writes to the file that it reads, and makes no other */
	/* It uses sockets, and has files that it changes in the folder of this option (its long name); NULL: neither. */
	const char *sends;
	/* Starts a process that reads, or a server.  Called with the options before the command is confined: 0, or the exit status after an error was printed.  NULL: nothing is. */
	int (*starts)(void *opts);
	const char *looks; /* a flag with which it makes nothing there; NULL: none */
	const char *asks;  /* it uses sockets where this option was given; NULL: no */
	bool serves;       /* of sockets it only accepts connections */
	bool draws;        /* on a terminal, whose modes it sets */
	bool shows;        /* also takes common_options */
	/* The last one's word is NULL; NULL: there are none.  Also found before options that only perf has. */
	const struct usage_word *of_perf;
};

/*
 * Parses the options, permuted: they may follow words.  The words must be between least and most;
 * *words is the first of them.  false: the command ends with *status (--help was printed, or an
 * error was printed).
 */
bool usage_parse(const struct usage *u, void *opts, int argc, char **argv, int least, int most,
		 char ***words, int *status);

/*
 * Whether perf knows the word behind a command of this name, and no file has this name: a message
 * was printed.
 */
bool usage_is_of_perf(const struct usage *u, const char *word);

enum { USAGE_NEAR_BYTES = 64 };

/* ", did you mean 'NAME'?" of the name that is near a word, in room; "" where none is. */
const char *usage_near(const char *word, size_t word_bytes, const char *const *names, size_t count,
		       char room[USAGE_NEAR_BYTES]);

enum { USAGE_CHOICES_BYTES = 1024 };

/* ", did you mean ..." as above, or, where no name is near: ": A, B or C was expected", behind the room "..." */
const char *usage_near_or_choices(const char *word, size_t word_bytes, const char *const *names,
				  size_t count, char room[USAGE_CHOICES_BYTES]);

/* "ebprec: ..." and where the help is; returns MESSAGE_USAGE. */
int usage_error(const struct usage *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool usage_is_in_list(const char *list, const char *name);
/* The first option of such a list whose value is not that of the defaults, a struct as opts; NULL: none. */
const struct option *usage_given(const struct usage *u, const void *opts, const void *defaults,
				 const char *list);
/* The first that is not in the list. */
const struct option *usage_given_besides(const struct usage *u, const void *opts,
					 const void *defaults, const char *list);
/* "no-" of a flag that is set by default, else "". */
const char *usage_no(const struct option *o, const void *defaults);
/*
 * Whether no option of a list (long names with blanks between them) was given, as its value is that of the defaults,
 * which is a struct as opts.  false: a message was printed: "WHAT has no '--OPTION'".
 */
bool usage_has_none(const struct usage *u, const void *opts, const void *defaults, const char *list,
		    const char *what);

#endif
