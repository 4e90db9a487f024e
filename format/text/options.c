/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "format/text/duration_text.h"
#include "format/text/options_priv.h"

#define NEAREST_WORD_MAX 40  /* longer words get no suggestion */
#define NAMES_MAX        256 /* candidates for "did you mean": more than any table has */
#define LIST_WORDS_MAX   16  /* words of "[a|b]" */

struct parse {
	const struct option *table;
	char *opts;
	int argc;
	char **argv;
	int next;          /* the next word, which may be a value */
	const char *given; /* the long name of the option at hand, as it was called */
	struct option_error *error;
};

int option_fail(struct option_error *error, const char *fmt, ...)
{
	va_list ap;
	char *c;

	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	/* Words of the command line may hold any bytes; the message about them stays one line. */
	for (c = error->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
	return -EINVAL;
}

/* ---- values ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits only; *end is behind them.  false: none, or too large. */
static bool read_u64(const char *text, const char **end, uint64_t *out)
{
	uint64_t v = 0;

	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return false;
	}
	*end = text;
	*out = v;
	return true;
}

static bool read_seconds(const char *text, uint64_t *out_ns)
{
	uint64_t ns;

	if (!duration_read(text, true, &text, &ns) || *text || !ns)
		return false;
	*out_ns = ns;
	return true;
}

static bool read_size(const char *text, uint64_t *out_bytes)
{
	unsigned shift = 20;
	uint64_t v;

	if (!read_u64(text, &text, &v))
		return false;
	switch (*text) {
	case 'b':
	case 'B':
		shift = 0;
		text++;
		break;
	case 'k':
	case 'K':
		shift = 10;
		text++;
		break;
	case 'm':
	case 'M':
		text++;
		break;
	case 'g':
	case 'G':
		shift = 30;
		text++;
		break;
	}
	if (*text || !v || v > UINT64_MAX >> shift)
		return false;
	*out_bytes = v << shift;
	return true;
}

static int store_uint(const struct parse *p, const struct option *o, const char *value)
{
	unsigned max = o->max ? o->max : UINT_MAX;
	const char *end;
	uint64_t v;

	if (!read_u64(value, &end, &v) || *end || v < o->min || v > max) {
		if (!o->max)
			return option_fail(p->error,
					   "option '--%s' needs a number from %u on, not '%.60s'",
					   p->given, o->min, value);
		return option_fail(p->error,
				   "option '--%s' needs a number from %u to %u, not '%.60s'",
				   p->given, o->min, o->max, value);
	}
	*(unsigned *)(void *)(p->opts + o->offset) = (unsigned)v;
	return 0;
}

static int store_list(const struct parse *p, const struct option *o, const char *value)
{
	struct option_list *list = (struct option_list *)(void *)(p->opts + o->offset);

	if (list->count >= OPTION_LIST_MAX)
		return option_fail(p->error, "option '--%s' was given more than %d times", p->given,
				   OPTION_LIST_MAX);
	list->values[list->count++] = value;
	return 0;
}

/* The second word is the next one. */
static int store_pair(struct parse *p, const struct option *o, const char *value)
{
	struct option_pair *pair = (struct option_pair *)(void *)(p->opts + o->offset);

	if (p->next >= p->argc)
		return option_fail(p->error, "option '--%s' needs two values (%s)", p->given,
				   o->value_name);
	pair->first = value;
	pair->second = p->argv[p->next++];
	return 0;
}

static int store_value(struct parse *p, const struct option *o, const char *value)
{
	void *to = p->opts + o->offset;

	switch (o->type) {
	case OPT_UINT:
		return store_uint(p, o, value);
	case OPT_SECONDS:
		if (!read_seconds(value, to))
			return option_fail(
				p->error,
				"option '--%s' needs a time such as 2.5, 300ms or 10m, not '%.60s'",
				p->given, value);
		return 0;
	case OPT_SIZE:
		if (!read_size(value, to))
			return option_fail(
				p->error,
				"option '--%s' needs a size such as 64M or 2G, not '%.60s'",
				p->given, value);
		return 0;
	case OPT_STRING:
	case OPT_FORM:
		*(const char **)to = value;
		return 0;
	case OPT_LIST:
		return store_list(p, o, value);
	case OPT_PAIR:
		return store_pair(p, o, value);
	case OPT_FLAG:
	case OPT_COUNT:
	case OPT_SAME:
	case OPT_IDLE:
	case OPT_OTHER:
	case OPT_END:
		break;
	}
	return option_fail(p->error, "option '--%s' has no type", o->long_name);
}

static void store_switch(const struct parse *p, const struct option *o, bool on)
{
	if (o->type == OPT_FORM)
		*(const char **)(void *)(p->opts + o->offset) = "";
	else if (o->type == OPT_COUNT)
		++*(unsigned *)(void *)(p->opts + o->offset);
	else if (o->type == OPT_FLAG)
		*(bool *)(p->opts + o->offset) = on;
}

/* ---- words ---- */

static const struct option *find_long(const struct option *table, const char *name, size_t length)
{
	for (; table->type != OPT_END; table++) {
		if (!strncmp(table->long_name, name, length) && !table->long_name[length])
			return table;
	}
	return NULL;
}

/* The option of ours that an option of perf stands for; another option stands for itself. */
static const struct option *meant(struct parse *p, const struct option *o)
{
	p->given = o ? o->long_name : NULL;
	return o && o->type == OPT_SAME ? find_long(p->table, o->value_name, strlen(o->value_name))
					: o;
}

/* Stores by which of its names the option was called, for the commands that ask. */
static void store_name(const struct parse *p, const struct option *o)
{
	for (const struct option *same = p->table; same->type != OPT_END; same++)
		if (same->type == OPT_SAME && same->offset &&
		    !strcmp(same->value_name, o->long_name))
			*(const char **)(void *)(p->opts + same->offset) = p->given;
}

static int refuse(const struct parse *p, const struct option *o)
{
	return option_fail(p->error, "option '--%s' of perf is not known here: %s", o->long_name,
			   o->help);
}

static const struct option *find_short(const struct option *table, char name)
{
	for (; table->type != OPT_END; table++) {
		if (table->short_name && table->short_name == name)
			return table;
	}
	return NULL;
}

/* The name of an option, or of a flag alone, that is near the word; NULL: none is. */
static const char *near_option(const struct parse *p, const char *word, bool flags)
{
	const char *names[NAMES_MAX];
	const struct option *o;
	size_t count = 0;

	/* Ours before perf's, which are as near and not listed by the help; those that are refused, never. */
	for (int perf = 0; perf < 2; perf++)
		for (o = p->table; o->type != OPT_END && count < NAMES_MAX - 1; o++)
			if (option_of_perf(o) == perf && o->type != OPT_OTHER &&
			    (!flags || o->type == OPT_FLAG))
				names[count++] = o->long_name;
	if (!flags)
		names[count++] = "help";
	return options_nearest(word, names, count);
}

/* Words that tools have for one wish, and the long names that it has here, the first one that a table has is meant. */
static const struct {
	const char *words, *names;
} alike[] = {
	{ " limit max head rows count number lines entries top ", " top min-percent " },
	{ " from to start end begin since until after before range window time ",
	  " time since last " },
	{ " time seconds length ", " duration " },
	{ " flamegraph flame flame-graph chart picture image ", " svg " },
	{ " lock locks contention mutex ", " of " },
	{ " sort sort-by order order-by keys group-by ", " sort by weight " },
	{ " format form type ", " to json " },
	{ " out outfile save write file ", " output " },
	{ " frequency rate hz ", " freq " },
	{ " filter grep match function ", " symbol comm " },
	{ " process processes ", " pid " },
	{ " thread threads ", " tid " },
	{ " program command ", " comm " },
	{ " url server ", " to from " },
};

static bool has_word(const char *words, const char *word)
{
	char text[NEAREST_WORD_MAX + 3];

	snprintf(text, sizeof(text), " %s ", word);
	return strstr(words, text) != NULL;
}

/* The option that does what the word asks for; NULL: none is known. */
static const struct option *like_word(const struct option *table, const char *word)
{
	const struct option *o;
	size_t bytes;

	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		if (!*word || !has_word(alike[i].words, word))
			continue;
		for (const char *name = alike[i].names + 1; *name; name += bytes + 1) {
			bytes = strcspn(name, " ");
			o = find_long(table, name, bytes);
			if (o && !option_of_perf(o))
				return o;
		}
	}
	return NULL;
}

static int unknown_long(const struct parse *p, const char *name, size_t length)
{
	char word[NEAREST_WORD_MAX + 1];
	const struct option *like;
	const char *near, *no = "";

	snprintf(word, sizeof(word), "%.*s",
		 (int)(length < NEAREST_WORD_MAX ? length : NEAREST_WORD_MAX), name);
	like = like_word(p->table, word);
	if (like)
		return option_fail(p->error, "unknown option '--%s', try '--%s%s%s'", word,
				   like->long_name, like->value_name ? " " : "",
				   like->value_name ? like->value_name : "");
	near = near_option(p, word, false);
	if (!near && !strncmp(word, "no-", 3)) {
		near = near_option(p, word + 3, true);
		no = "no-";
	}
	if (near)
		return option_fail(p->error, "unknown option '--%s', did you mean '--%s%s'?", word,
				   no, near);
	return option_fail(p->error, "unknown option '--%s'", word);
}

static bool may_lack(const struct option *o)
{
	return o->value_name[0] == '[';
}

/* Whether a list of words, as "[a|b]", has one that is the word, or near it: that is then a wrong value. */
static bool has_near_word(const char *list, const char *word, size_t bytes)
{
	char text[160], part[NEAREST_WORD_MAX + 1], *rest = text;
	const char *names[LIST_WORDS_MAX];
	size_t count = 0;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(list + 1, "]"), list + 1);
	snprintf(part, sizeof(part), "%.*s", (int)bytes, word);
	while (rest && count < LIST_WORDS_MAX)
		names[count++] = strsep(&rest, "|");
	return options_nearest(part, names, count);
}

/* Whether the word is the value of an option whose value may be left out. */
static bool is_value(const struct option *o, const char *word)
{
	size_t bytes = strcspn(word, ",");

	if (o->type == OPT_UINT)
		return *word && !word[strspn(word, "0123456789")];
	return bytes && *word != '-' &&
	       (strspn(word, "0123456789.%") == bytes || has_near_word(o->value_name, word, bytes));
}

/* The word behind the option is its value; NULL: there is none, as before the "--" that ends options. */
static const char *next_value(struct parse *p, const struct option *o)
{
	const char *word = p->next < p->argc ? p->argv[p->next] : NULL;

	if (!word || !strcmp(word, "--") || (may_lack(o) && !is_value(o, word)))
		return NULL;
	p->next++;
	return word;
}

/* An option without the value that it may lack. */
static void store_lacking(const struct parse *p, const struct option *o)
{
	if (o->type == OPT_STRING)
		*(const char **)(void *)(p->opts + o->offset) = "";
}

static int parse_long(struct parse *p, const char *name)
{
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	const struct option *o = meant(p, find_long(p->table, name, length));
	bool on = true;

	if (!o && length == 4 && !strncmp(name, "help", 4))
		return -ECANCELED;
	if (!o && length > 3 && !strncmp(name, "no-", 3)) {
		o = meant(p, find_long(p->table, name + 3, length - 3));
		if (o && o->type != OPT_FLAG)
			o = NULL;
		on = false;
	}
	if (!o)
		return unknown_long(p, name, length);
	if (o->type == OPT_OTHER)
		return refuse(p, o);
	if (!option_takes_value(o)) {
		if (value && o->type == OPT_FORM)
			return store_value(p, o, value);
		if (value)
			return option_fail(p->error, "option '--%.*s' takes no value", (int)length,
					   name);
		store_switch(p, o, on);
		return 0;
	}
	if (!value)
		value = next_value(p, o);
	if (!value && may_lack(o)) {
		store_lacking(p, o);
		return 0;
	}
	if (!value)
		return option_fail(p->error, "option '--%s' needs a value (%s)", p->given,
				   o->value_name);
	store_name(p, o);
	return store_value(p, o, value);
}

/* A bundle: switches, of which the last may be an option with a value. */
static int parse_short(struct parse *p, const char *letters)
{
	const struct option *o;
	const char *value;

	for (; *letters; letters++) {
		o = meant(p, find_short(p->table, *letters));
		if (!o && *letters == 'h')
			return -ECANCELED;
		if (!o)
			return option_fail(p->error, "unknown option '-%c'", *letters);
		if (o->type == OPT_OTHER)
			return refuse(p, o);
		if (!option_takes_value(o)) {
			store_switch(p, o, true);
			continue;
		}
		if (may_lack(o) && letters[1] && !is_digit(letters[1]) &&
		    !is_value(o, letters + 1)) {
			store_lacking(p, o);
			continue;
		}
		value = letters[1] ? letters + 1 : next_value(p, o);
		if (!value && may_lack(o)) {
			store_lacking(p, o);
			return 0;
		}
		if (!value)
			return option_fail(p->error, "option '-%c' needs a value (%s)", *letters,
					   o->value_name);
		store_name(p, o);
		return store_value(p, o, value);
	}
	return 0;
}

/* Moves the word_count words in front of argv[from..to) behind them; both keep their order. */
static void move_words(char **argv, int from, int to, int word_count)
{
	char *option;
	int i;

	for (; word_count && from < to; from++) {
		option = argv[from];
		for (i = from; i > from - word_count; i--)
			argv[i] = argv[i - 1];
		argv[from - word_count] = option;
	}
}

int options_parse(const struct option *table, void *opts, int argc, char **argv, bool permute,
		  int *first_word, struct option_error *error)
{
	struct parse p = {
		.table = table, .opts = opts, .argc = argc, .argv = argv, .error = error
	};
	bool ended = false;
	int i, err, words = 0;

	for (i = 1; i < argc && !ended; i = p.next) {
		const char *word = argv[i];

		p.next = i + 1;
		if (word[0] != '-' || !word[1]) {
			if (!permute)
				break;
			words++;
			continue;
		}
		ended = !strcmp(word, "--");
		if (!ended) {
			err = word[1] == '-' ? parse_long(&p, word + 2) : parse_short(&p, word + 1);
			if (err)
				return err;
		}
		move_words(argv, i, p.next, words);
	}
	*first_word = i - words;
	return 0;
}

/* ---- the nearest name ---- */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, delete, change or swap with their neighbour to make a into b. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NEAREST_WORD_MAX + 1], *two = rows[0], *one = rows[1], *now = rows[2];
	size_t i, j;

	for (j = 0; j <= b_length; j++)
		one[j] = (unsigned)j;
	for (i = 1; i <= a_length; i++) {
		unsigned *spare = two;

		now[0] = (unsigned)i;
		for (j = 1; j <= b_length; j++) {
			now[j] = min3(one[j] + 1, now[j - 1] + 1,
				      one[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two[j - 2] + 1 < now[j])
				now[j] = two[j - 2] + 1;
		}
		two = one;
		one = now;
		now = spare;
	}
	return one[b_length];
}

const char *options_nearest(const char *word, const char *const *names, size_t count)
{
	size_t i, length = strlen(word), name_length;
	bool is_prefix, found_prefix = false;
	unsigned most = length < 4 ? 1 : 2;
	unsigned limit = length / 3 > most ? (unsigned)(length / 3) : most, best = limit + 1;
	unsigned distance;
	const char *found = NULL;

	if (length < 2 || length > NEAREST_WORD_MAX)
		return NULL;
	for (i = 0; i < count; i++) {
		name_length = strlen(names[i]);
		if (name_length > NEAREST_WORD_MAX)
			continue;
		distance = edit_distance(word, length, names[i], name_length);
		/* A prefix of a name is near, however much is missing. */
		is_prefix = length < name_length && !strncmp(word, names[i], length);
		if (distance > 1 && is_prefix)
			distance = 1;
		/* A name that shares no letter with the word is not near. */
		if ((distance < best && distance < length) ||
		    (found && distance == best && is_prefix && !found_prefix)) {
			best = distance;
			found = names[i];
			found_prefix = is_prefix;
		}
	}
	return found;
}
