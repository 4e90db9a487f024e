/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

#define ID_BYTES   64 /* of a container: a SHA-256 in hex */
#define UUID_BYTES 36
#define HOME       "/home/"
#define HIDDEN     "/anon/" /* as long: what looks for paths below /home finds none */
#define DELETED    " (deleted)"

struct word {
	char *text; /* owned */
	size_t size_bytes;
	enum pseudonym_kind kind;
};

struct scrub_text {
	struct pseudonyms *p;
	bool wanted[PSEUDONYM_KINDS];
	struct word *words; /* long ones first: "build-7" before "build" */
	size_t count, capacity;
};

int scrub_text_new(struct pseudonyms *p, const bool wanted[PSEUDONYM_KINDS],
		   struct scrub_text **out)
{
	struct scrub_text *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->p = p;
	memcpy(s->wanted, wanted, sizeof(s->wanted));
	*out = s;
	return 0;
}

void scrub_text_free(struct scrub_text *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		free(s->words[i].text);
	if (s)
		free(s->words);
	free(s);
}

/* ---- words ---- */

int scrub_text_word(struct scrub_text *s, enum pseudonym_kind kind, const char *word,
		    size_t size_bytes)
{
	size_t i;
	char *text;

	if (!size_bytes)
		return 0;
	for (i = 0; i < s->count && s->words[i].size_bytes >= size_bytes; i++)
		if (s->words[i].size_bytes == size_bytes &&
		    !memcmp(s->words[i].text, word, size_bytes))
			return 0;
	if (s->count == SCRUB_TEXT_WORDS_MAX ||
	    (kind != PSEUDONYM_WORD && size_bytes > SCRUB_TEXT_WORD_BYTES_MAX))
		return -EOVERFLOW;
	text = malloc(size_bytes);
	if (text)
		memcpy(text, word, size_bytes); /* it may hold a NUL */
	if (!text || vec_reserve(&s->words, &s->capacity, s->count + 1)) {
		free(text);
		return -ENOMEM;
	}
	memmove(s->words + i + 1, s->words + i, (s->count - i) * sizeof(*s->words));
	s->words[i] = (struct word){ text, size_bytes, kind };
	s->count++;
	return 0;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool scrub_text_is_border(const char *text, size_t size_bytes, size_t at)
{
	return !at || at >= size_bytes || !is_word_char(text[at - 1]) || !is_word_char(text[at]);
}

/* Whether the part [from, to) of the text is not the inside of a longer word. */
static bool is_complete_word(const char *text, size_t size_bytes, size_t from, size_t to)
{
	return scrub_text_is_border(text, size_bytes, from) &&
	       scrub_text_is_border(text, size_bytes, to);
}

/* The first place behind from where a word that begins like text[from] may begin. */
static size_t next_begin(const char *text, size_t size_bytes, size_t from)
{
	size_t at = from + 1;

	while (is_word_char(text[from]) && at < size_bytes && is_word_char(text[at - 1]))
		at++;
	return at;
}

static void put_word(struct scrub_text *s, const struct word *w, char *text, size_t size_bytes)
{
	size_t from = 0;
	char *at;

	while ((at = memmem(text + from, size_bytes - from, w->text, w->size_bytes))) {
		from = (size_t)(at - text);
		if (is_complete_word(text, size_bytes, from, from + w->size_bytes)) {
			pseudonyms_put(s->p, w->kind, at, w->size_bytes);
			from += w->size_bytes;
		} else {
			from = next_begin(text, size_bytes, from);
		}
	}
}

static void put_words(struct scrub_text *s, char *text, size_t size_bytes)
{
	for (size_t i = 0; i < s->count; i++)
		put_word(s, &s->words[i], text, size_bytes);
}

/* ---- shapes ---- */

/* How many bytes of an id of a container begin here; 0: none do. */
static size_t id_bytes(const char *text, size_t left)
{
	static const size_t dashes[] = { 8, 13, 18, 23 };
	size_t i, dash = 0;

	for (i = 0; i < left && isxdigit((unsigned char)text[i]); i++)
		;
	if (i == ID_BYTES)
		return i;
	if (i != dashes[0])
		return 0;
	/* A UUID, as kubelet names pods by; systemd has it with '_'. */
	for (i = 0; i < UUID_BYTES && i < left; i++) {
		if (dash < 4 && i == dashes[dash]) {
			if (text[i] != '-' && text[i] != '_')
				return 0;
			dash++;
		} else if (!isxdigit((unsigned char)text[i])) {
			return 0;
		}
	}
	return i == UUID_BYTES && (i == left || !isxdigit((unsigned char)text[i])) ? i : 0;
}

static size_t ipv4_bytes(const char *text, size_t left)
{
	size_t i = 0;

	for (unsigned part = 0; part < 4; part++) {
		unsigned value = 0, digits = 0;

		if (part && (i >= left || text[i++] != '.'))
			return 0;
		for (; i < left && isdigit((unsigned char)text[i]) && digits < 4; i++, digits++)
			value = value * 10 + (unsigned)(text[i] - '0');
		if (!digits || digits > 3 || value > 255)
			return 0;
	}
	return i < left && (is_word_char(text[i]) || text[i] == '.' || text[i] == '-') ? 0 : i;
}

/* IPv6 and hardware addresses: groups of up to four hex digits, colons between. */
static size_t colons_bytes(const char *text, size_t left)
{
	size_t i, run = 0, colons = 0, digits = 0;
	bool twice = false;

	for (i = 0; i < left && (isxdigit((unsigned char)text[i]) || text[i] == ':'); i++) {
		bool is_colon = text[i] == ':';

		twice = twice || (is_colon && i && text[i - 1] == ':');
		colons += is_colon;
		run = is_colon ? 0 : run + 1;
		digits += isdigit((unsigned char)text[i]) != 0;
		if (run > 4)
			return 0;
	}
	if (i < left && is_word_char(text[i]))
		return 0;
	return digits && (colons == 5 || colons == 7 || (twice && colons >= 2)) ? i : 0;
}

/* In the place of what begins at text[at] and has a shape; returns its size, 0: nothing does. */
static size_t put_shape(struct scrub_text *s, char *text, size_t at, size_t size_bytes)
{
	char before = at ? text[at - 1] : ' ';
	size_t bytes = 0;

	bool in_hex = isxdigit((unsigned char)before) &&
		      !(at >= 3 && !memcmp(text + at - 3, "pod", 3)); /* kubepods-pod<uuid> */

	if (s->wanted[PSEUDONYM_CONTAINER] && !in_hex) {
		bytes = id_bytes(text + at, size_bytes - at);
		if (bytes) {
			pseudonyms_put(s->p, PSEUDONYM_CONTAINER, text + at, bytes);
			return bytes;
		}
	}
	if (s->wanted[PSEUDONYM_NETWORK] && !isalnum((unsigned char)before) &&
	    !(before && strchr(".-:", before))) {
		bytes = ipv4_bytes(text + at, size_bytes - at);
		if (!bytes)
			bytes = colons_bytes(text + at, size_bytes - at);
		if (bytes)
			pseudonyms_put(s->p, PSEUDONYM_NETWORK, text + at, bytes);
	}
	return bytes;
}

static bool ends_path(char c)
{
	return isspace((unsigned char)c) || strchr("\"'`,:;=|<>()[]{}", c) || c == '\0';
}

size_t scrub_text_path_bytes(const char *text, size_t size_bytes)
{
	size_t at = 0;

	while (at < size_bytes && !ends_path(text[at]))
		at++;
	return at;
}

/* Each part of the path behind the folder of users; returns where it ends. */
static size_t put_home(struct scrub_text *s, enum scrub_text_form form, char *text, size_t at,
		       size_t size_bytes)
{
	size_t from = at;

	for (; at <= size_bytes; at++) {
		bool end = at == size_bytes || (form != SCRUB_TEXT_PATH && ends_path(text[at]));

		if (!end && text[at] != '/')
			continue;
		pseudonyms_put(s->p, PSEUDONYM_HOME, text + from, at - from);
		if (end)
			return at;
		from = at + 1;
	}
	return size_bytes;
}

static void apply(struct scrub_text *s, enum scrub_text_form form, char *text, size_t size_bytes)
{
	size_t home = strlen(HOME), deleted = strlen(DELETED), bytes;

	if (form == SCRUB_TEXT_PATH && size_bytes > deleted &&
	    !memcmp(text + size_bytes - deleted, DELETED, deleted))
		size_bytes -= deleted;
	for (size_t at = 0; at < size_bytes;) {
		if (s->wanted[PSEUDONYM_HOME] && size_bytes - at >= home &&
		    !memcmp(text + at, HOME, home)) {
			memcpy(text + at, HIDDEN, home);
			at = put_home(s, form, text, at + home, size_bytes);
			continue;
		}
		bytes = put_shape(s, text, at, size_bytes);
		at += bytes ? bytes : 1;
	}
	put_words(s, text, size_bytes);
}

/* The values of JSON: strings that no colon follows. */
static void apply_json(struct scrub_text *s, char *text, size_t size_bytes)
{
	size_t from, at = 0, next;

	while (at < size_bytes) {
		if (text[at++] != '"')
			continue;
		for (from = at; at < size_bytes && text[at] != '"'; at++)
			at += text[at] == '\\' && at + 1 < size_bytes;
		for (next = at + 1; next < size_bytes && isspace((unsigned char)text[next]); next++)
			;
		if (next >= size_bytes || text[next] != ':')
			apply(s, SCRUB_TEXT_FREE, text + from, at - from);
		at++;
	}
}

void scrub_text_apply(struct scrub_text *s, enum scrub_text_form form, char *text,
		      size_t size_bytes)
{
	if (form == SCRUB_TEXT_JSON)
		apply_json(s, text, size_bytes);
	else
		apply(s, form, text, size_bytes);
}

/* ---- learning ---- */

/* The name behind a prefix, up to what ends it. */
static int learn_behind(struct scrub_text *s, enum pseudonym_kind kind, const char *prefix,
			const char *text, size_t size_bytes)
{
	const char *at = text, *end = text + size_bytes;
	size_t bytes;
	int err = 0;

	while (!err && (at = memmem(at, (size_t)(end - at), prefix, strlen(prefix)))) {
		at += strlen(prefix);
		for (bytes = 0; at + bytes < end && at[bytes] != '/' && !ends_path(at[bytes]);)
			bytes++;
		if (bytes > 6 && !memcmp(at + bytes - 6, ".scope", 6))
			bytes -= 6;
		/* No file has a longer name; where it stands it is hidden as a path. */
		if (bytes <= SCRUB_TEXT_WORD_BYTES_MAX && !(bytes == 4 && !memcmp(at, "root", 4)))
			err = scrub_text_word(s, kind, at, bytes);
	}
	return err;
}

int scrub_text_learn(struct scrub_text *s, const char *text, size_t size_bytes)
{
	static const char *const containers[] = { "lxc.payload.", "lxc.monitor.", "/machine-",
						  "/lxc/", "systemd-nspawn@" };
	int err = 0;

	if (s->wanted[PSEUDONYM_USER])
		err = learn_behind(s, PSEUDONYM_USER, HOME, text, size_bytes);
	for (size_t i = 0; !err && s->wanted[PSEUDONYM_CONTAINER] &&
			   i < sizeof(containers) / sizeof(containers[0]);
	     i++)
		err = learn_behind(s, PSEUDONYM_CONTAINER, containers[i], text, size_bytes);
	return err;
}
