/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cmd/common/common_options.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/out/message.h"
#include "format/reader/capture.h"

int usage_error(const struct usage *u, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (length >= 0) {
		message_error("%s (see 'ebprec %s --help')", text, u->command);
		free(text);
	}
	return MESSAGE_USAGE;
}

const char *usage_near(const char *word, size_t word_bytes, const char *const *names, size_t count,
		       char room[USAGE_NEAR_BYTES])
{
	char text[USAGE_NEAR_BYTES];
	const char *near;

	snprintf(text, sizeof(text), "%.*s", (int)(word_bytes < 60 ? word_bytes : 60), word);
	near = options_nearest(text, names, count);
	*room = '\0';
	if (near)
		snprintf(room, USAGE_NEAR_BYTES, ", did you mean '%s'?", near);
	return room;
}

static bool is_before(const char *const *names, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(names[k], names[i]))
			return true;
	return false;
}

/* ": A, B or C was expected", each name once; behind the room "..." */
static const char *usage_choices(const char *const *names, size_t count,
				 char room[USAGE_CHOICES_BYTES])
{
	FILE *to = fmemopen(room, USAGE_CHOICES_BYTES, "w");
	const char *before = NULL;
	long left = USAGE_CHOICES_BYTES - 64;

	*room = '\0';
	if (!to)
		return room;
	for (size_t i = 0; i < count; i++) {
		if (is_before(names, i))
			continue;
		if (before)
			fprintf(to, "%s%s", left < USAGE_CHOICES_BYTES - 64 ? ", " : ": ", before);
		left -= before ? (long)strlen(before) + 2 : 0;
		before = names[i];
		if (left < (long)strlen(before)) {
			before = "...";
			break;
		}
	}
	if (before)
		fprintf(to, "%s%s was expected", left < USAGE_CHOICES_BYTES - 64 ? " or " : ": ",
			before);
	fclose(to);
	return room;
}

const char *usage_near_or_choices(const char *word, size_t word_bytes, const char *const *names,
				  size_t count, char room[USAGE_CHOICES_BYTES])
{
	usage_near(word, word_bytes, names, count, room);
	return *room ? room : usage_choices(names, count, room);
}

static bool has_default(const struct option *o, const void *opts, const void *defaults)
{
	const char *a = (const char *)opts + o->offset, *b = (const char *)defaults + o->offset;

	switch (o->type) {
	case OPT_FLAG:
		return *(const bool *)a == *(const bool *)b;
	case OPT_UINT:
	case OPT_COUNT:
		return *(const unsigned *)a == *(const unsigned *)b;
	case OPT_SIZE:
	case OPT_SECONDS:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	case OPT_LIST:
		return !((const struct option_list *)a)->count;
	case OPT_PAIR:
		return !((const struct option_pair *)a)->first;
	case OPT_STRING:
	case OPT_FORM:
		return *(const char *const *)a == *(const char *const *)b;
	default:
		return true;
	}
}

bool usage_is_in_list(const char *list, const char *name)
{
	size_t bytes;

	for (; *list; list += bytes + strspn(list + bytes, " ")) {
		bytes = strcspn(list, " ");
		if (strlen(name) == bytes && !memcmp(list, name, bytes))
			return true;
	}
	return false;
}

static const struct option *find_given(const struct usage *u, const void *opts,
				       const void *defaults, const char *list, bool in_list)
{
	for (const struct option *o = u->options; o->type != OPT_END; o++)
		if (usage_is_in_list(list, o->long_name) == in_list &&
		    !has_default(o, opts, defaults))
			return o;
	return NULL;
}

const struct option *usage_given(const struct usage *u, const void *opts, const void *defaults,
				 const char *list)
{
	return find_given(u, opts, defaults, list, true);
}

const struct option *usage_given_besides(const struct usage *u, const void *opts,
					 const void *defaults, const char *list)
{
	return find_given(u, opts, defaults, list, false);
}

const char *usage_no(const struct option *o, const void *defaults)
{
	return o->type == OPT_FLAG && *((const bool *)((const char *)defaults + o->offset)) ? "no-"
											    : "";
}

bool usage_has_none(const struct usage *u, const void *opts, const void *defaults, const char *list,
		    const char *what)
{
	const struct option *o = usage_given(u, opts, defaults, list);

	if (o)
		usage_error(u, "%s has no '--%s%s'", what, usage_no(o, defaults), o->long_name);
	return !o;
}

bool usage_is_of_perf(const struct usage *u, const char *word)
{
	for (const struct usage_word *w = u->of_perf; w && w->word; w++) {
		if (strcmp(word, w->word) != 0 || !access(word, F_OK))
			continue;
		usage_error(u, "'%s %s' of perf is not known here: %s", u->command, w->word,
			    w->instead);
		return true;
	}
	return false;
}

static void print_lines(const struct usage *u)
{
	options_print_lines(u->options, true, stdout);
	if (u->reads)
		options_print_lines(common_options_table(u->shows), false, stdout);
}

static void print(const struct usage *u)
{
	printf("usage: ebprec %s %s\n\n%s\n", u->command, u->words, u->about);
	options_print(u->options, stdout);
	if (u->reads)
		options_print_bare(common_options_table(u->shows), stdout);
}

static bool is_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

/* Whether all folders that options name to look in are there.  false: a message was printed. */
static bool has_folders(const struct usage *u, const void *opts)
{
	for (const struct option *o = u->options; o->type != OPT_END; o++) {
		const void *at = (const char *)opts + o->offset;
		const struct option_list *list = at;
		const char *const *one = at;
		bool is_list = o->type == OPT_LIST;
		unsigned count = is_list ? list->count : o->type == OPT_STRING && *one;

		if ((!is_list && o->type != OPT_STRING) || strcmp(o->value_name, "DIR") != 0)
			continue;
		if (u->sends && !strcmp(o->long_name, u->sends))
			continue; /* it is made */
		for (unsigned i = 0; i < count; i++) {
			const char *path = is_list ? list->values[i] : *one;

			if (is_folder(path))
				continue;
			usage_error(u, "option '--%s': no folder '%s': %s", o->long_name, path,
				    strerror(errno));
			return false;
		}
	}
	return true;
}

/* The first value of an option that a capture of the folder has as its name; NULL: none. */
static const char *capture_in(const struct option *o, const void *opts)
{
	const void *at = (const char *)opts + o->offset;
	const struct option_list *list = at;
	const char *const *text = at;

	if (o->type == OPT_STRING && *text)
		return capture_begins_at(*text) == 1 ? *text : NULL;
	for (unsigned i = 0; o->type == OPT_LIST && i < list->count; i++)
		if (capture_begins_at(list->values[i]) == 1)
			return list->values[i];
	return NULL;
}

/* `report --svg x.data`: the capture was taken for the value of the option before it.  A message was printed. */
static bool swallows_capture(const struct usage *u, const void *opts)
{
	const struct option *found = NULL, *o;
	const char *path = NULL, *const * input;

	for (o = u->options; o->type != OPT_END; o++) {
		input = (const void *)((const char *)opts + o->offset);
		if (!strcmp(o->long_name, "input") && *input)
			return false;
		if (!path && strcmp(o->long_name, "output") != 0) {
			path = capture_in(o, opts);
			found = o;
		}
	}
	if (!path)
		return false;
	usage_error(u, "option '--%s': %s is missing, '%s' is a capture", found->long_name,
		    found->value_name, path);
	return true;
}

bool usage_parse(const struct usage *u, void *opts, int argc, char **argv, int least, int most,
		 char ***words, int *status)
{
	struct option_error error;
	int first, count, rc;

	if (argc > 1 && usage_is_of_perf(u, argv[1])) {
		*status = MESSAGE_USAGE;
		return false;
	}
	rc = options_parse(u->options, opts, argc, argv, /* permute= */ true, &first, &error);

	if (rc == -ECANCELED) {
		if (options_wants_lines(argc, argv))
			print_lines(u);
		else
			print(u);
		*status = MESSAGE_OK;
		return false;
	}
	if (rc) {
		*status = usage_error(u, "%s", error.text);
		return false;
	}
	count = argc - first;
	if (count > most) {
		const char *word = argv[first + most];
		bool is_second = u->reads && most == 1 && !access(word, F_OK);

		*status = usage_error(u, "'%s' is one word too many%s", word,
				      is_second ? ": 'ebprec diff' compares two captures, 'ebprec "
						  "merge' joins them"
						: "");
		return false;
	}
	if (count < least) {
		*status = usage_error(u, "'ebprec %s' needs %s", u->command, u->needs);
		return false;
	}
	if (words)
		*words = argv + first;
	if ((u->reads && !count && swallows_capture(u, opts)) || !has_folders(u, opts)) {
		*status = MESSAGE_USAGE;
		return false;
	}
	*status = u->starts ? u->starts(opts) : MESSAGE_OK;
	if (*status)
		return false;
	if (!u->reads || confine(u, opts, argv + first))
		return true;
	*status = MESSAGE_FAILED;
	return false;
}
