/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_BYTES_MAX (1u << 30) /* as for --sample-bytes */

int instrument_options_add_lib(struct record_opts *o, const char *name, size_t bytes,
			       struct option_error *error)
{
	if (o->heap_lib_count == OPTION_LIST_MAX) {
		snprintf(error->text, sizeof(error->text),
			 "option '--with heap' takes at most %d files", OPTION_LIST_MAX);
		return -EINVAL;
	}
	o->heap_libs[o->heap_lib_count++] = (struct record_file){ name, bytes };
	return 0;
}

void instrument_options_names(const struct catalogue_option *list, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (; list->kind && at < size; list++)
		at += (size_t)snprintf(out + at, size - at, "%s%s%s%s", at ? "," : "",
				       list->name ? list->name : "",
				       list->name && list->value_name ? "=" : "",
				       list->value_name ? list->value_name : "");
}

static int refuse_word(size_t place, const char *word, size_t bytes, const char *want,
		       struct option_error *error)
{
	snprintf(error->text, sizeof(error->text), "option '--with %s' takes %s, not '%.*s'",
		 metriclist[place].name, want, bytes < 60 ? (int)bytes : 60, word);
	for (char *c = error->text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return -EINVAL;
}

static bool read_number(const char *text, size_t bytes, unsigned *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (unsigned)(text[i] - '0');
		if (n > SAMPLE_BYTES_MAX)
			return false;
	}
	*out = (unsigned)n;
	return n > 0;
}

/* Puts "NAME" or "NAME=VALUE" of these bytes into o. */
static int read_word(struct record_opts *o, size_t place, const char *word, size_t bytes,
		     struct option_error *error)
{
	const char *equals = memchr(word, '=', bytes), *value = equals ? equals + 1 : NULL;
	size_t name_bytes = equals ? (size_t)(equals - word) : bytes;
	size_t value_bytes = equals ? bytes - name_bytes - 1 : 0;
	const struct catalogue_option *option = metriclist[place].options;
	char names[128];
	bool taken = false;

	while (option->kind &&
	       (strlen(option->name) != name_bytes || strncmp(option->name, word, name_bytes) != 0))
		option++;
	if (option->kind == CATALOGUE_FLAG && !value)
		taken = *(bool *)((char *)o + option->offset) = true;
	else if (option->kind == CATALOGUE_UINT && value)
		taken = read_number(value, value_bytes,
				    (unsigned *)((char *)o + option->offset) + place);
	else if (option->kind == CATALOGUE_TEXT && value_bytes) {
		*(struct record_file *)((char *)o + option->offset) =
			(struct record_file){ value, value_bytes };
		return 0;
	} else if (option->kind == CATALOGUE_FILE && value_bytes)
		return instrument_options_add_lib(o, value, value_bytes, error);
	if (taken)
		return 0;
	instrument_options_names(metriclist[place].options, names, sizeof(names));
	return refuse_word(place, word, bytes, names, error);
}

int instrument_options_read(struct record_opts *o, size_t place, const char *text,
			    struct option_error *error)
{
	const struct catalogue_option *options = metriclist[place].options;
	size_t bytes;
	int err;

	if (!options)
		return refuse_word(place, text, strlen(text), "no options", error);
	if (options->kind == CATALOGUE_REST && *text) {
		*(const char **)((char *)o + options->offset) = text;
		return 0;
	}
	if (options->kind == CATALOGUE_REST)
		return refuse_word(place, text, 0, options->value_name, error);
	for (;; text += bytes + 1) {
		bytes = strcspn(text, ",");
		err = read_word(o, place, text, bytes, error);
		if (err || !text[bytes])
			return err;
	}
}
