/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/code_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "record/runtime/jvm_lines.h"
#include "record/runtime/python_lines.h"
#include "record/runtime/ruby_lines.h"
#include "record/runtime/v8_lines.h"

#define HELD_MAX_BYTES  (64u << 20)
#define PLACES_MAX      (1u << 20)
#define ANONYMOUS_BYTES 1024 /* a file's name in UTF-8 is shorter */
#define NO_OWNER        0    /* the process and the user of code whose names are not there */

struct code_name {
	char *name, *file; /* owned; without a name it is an anonymous function of JavaScript */
	uint32_t pid, user;
	int32_t first_line;  /* of V8: the place in the text of the script; negative: none */
	uint32_t unit_count; /* of that text */
	uint32_t kind;       /* enum runtime_kind */
	uint32_t version;    /* of CPython, Java or V8 */
	uint32_t line_bytes;
	uint8_t lines[];
};

static void free_name(struct code_name *n)
{
	if (!n)
		return;
	free(n->name);
	free(n->file);
	free(n);
}

void code_names_done(struct code_names *c)
{
	for (uint32_t i = 0; i < c->room; i++)
		free_name(c->by_id[i]);
	free(c->by_id);
	free(c->list);
	u64map_done(&c->places);
	fair_share_done(&c->held);
	fair_share_done(&c->placed);
	source_lines_done(&c->sources);
	*c = (struct code_names){ .path = c->path, .build_id = c->build_id };
}

/* ---- texts ---- */

static size_t put_char(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	c = c - 0xd800 < 0x800 ? 0xfffd : c; /* a half of a pair of UTF-16 */
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

static uint32_t char_at(const uint8_t *text, size_t i, uint8_t char_bytes)
{
	return char_bytes == 1   ? text[i]
	       : char_bytes == 2 ? le16_load(text + 2 * i)
				 : le32_load(text + 4 * i);
}

/* UTF-8 of what an event has of a text, where room_bytes hold the first or the last of it.  Owned; NULL: no memory. */
static char *text_of(const struct runtime_text *head, const uint8_t *text, size_t room_bytes,
		     bool has_end)
{
	size_t have = room_bytes / head->char_bytes, n = 0;
	bool cut = head->char_count > have;
	char *out;

	have = cut ? have : head->char_count;
	out = malloc(4 * have + 4);
	if (!out)
		return NULL;
	if (cut && has_end)
		n += (size_t)sprintf(out, "...");
	for (size_t i = 0; i < have; i++)
		if (head->is_utf8)
			out[n++] = (char)text[i];
		else
			n += put_char(out + n, char_at(text, i, head->char_bytes));
	if (cut && !has_end)
		n += (size_t)sprintf(out + n, "...");
	out[n] = '\0';
	return out;
}

static bool is_text(const struct runtime_text *t)
{
	return t->char_bytes == 1 || t->char_bytes == 2 || t->char_bytes == 4;
}

/* Whether what is there of a text may be one: read at a wrong offset it has bytes of numbers, or the NUL behind it. */
static bool is_readable(const struct runtime_text *head, const uint8_t *text, size_t room_bytes)
{
	size_t have = room_bytes / head->char_bytes;

	have = head->char_count < have ? head->char_count : have;
	for (size_t i = 0; i < have; i++) {
		uint32_t c = char_at(text, i, head->char_bytes);

		if (c < ' ' || c == 0x7f || c > (head->is_ascii ? 0x7fu : 0x10ffffu))
			return false;
	}
	return true;
}

/* A name is no path: that of the file stands beside it. */
static bool is_name(const struct runtime_text *head, const uint8_t *text, size_t room_bytes)
{
	size_t have = head->char_count < room_bytes ? head->char_count : room_bytes;

	return head->char_count && is_readable(head, text, room_bytes) &&
	       (head->char_bytes != 1 || !memchr(text, '/', have));
}

static bool are_readable(const struct runtime_code_event *ev)
{
	return is_readable(&ev->name, ev->name_text, sizeof(ev->name_text)) &&
	       is_readable(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text)) &&
	       is_readable(&ev->file, ev->file_text, sizeof(ev->file_text));
}

static bool are_names(const struct runtime_code_event *ev)
{
	return is_name(&ev->name, ev->name_text, sizeof(ev->name_text)) &&
	       is_name(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text)) &&
	       is_readable(&ev->file, ev->file_text, sizeof(ev->file_text));
}

/* Whether the texts of a method and its class, as far as they are there, may be such; their characters are bytes. */
static bool are_readable_bytes(const struct runtime_code_event *ev)
{
	return ev->name.char_bytes == 1 && ev->qualname.char_bytes == 1 &&
	       ev->file.char_bytes == 1 &&
	       is_name(&ev->name, ev->name_text, sizeof(ev->name_text)) &&
	       ev->qualname.char_count && are_readable(ev);
}

/* A qualified name ends with the name, behind a dot, or is it.  Names that were cut are not looked at. */
static bool agree(const char *qualname, const char *name)
{
	size_t q = strlen(qualname), n = strlen(name);

	if ((q > 3 && !strcmp(qualname + q - 3, "...")) || (n > 3 && !strcmp(name + n - 3, "...")))
		return true;
	return q >= n && !strcmp(qualname + q - n, name) && (q == n || qualname[q - n - 1] == '.');
}

/* The last part of a path; of one that each package has, with the folder.  Scripts in node and Ruby themselves have no paths. */
static const char *short_file(const char *path)
{
	const char *base = strrchr(path, '/'), *at = base;

	if (!base || !strncmp(path, "node:", 5) || *path == '<')
		return path;
	if (strcmp(base, "/__init__.py") != 0 && strcmp(base, "/__main__.py") != 0)
		return base + 1;
	while (at > path && at[-1] != '/')
		at--;
	return at;
}

/* ---- code ---- */

static int grow(struct code_names *c, uint32_t id)
{
	uint32_t room = c->room ? c->room : 1024;
	struct code_name **p;

	if (id < c->room)
		return 0;
	while (room <= id)
		room *= 2;
	p = realloc(c->by_id, room * sizeof(struct code_name *));
	if (!p)
		return -ENOMEM;
	memset(p + c->room, 0, (room - c->room) * sizeof(struct code_name *));
	c->by_id = p;
	c->room = room;
	return 0;
}

static bool is_complete(const struct runtime_code_event *ev)
{
	return ev->h.size_bytes >= RUNTIME_CODE_EVENT_HEAD_BYTES &&
	       ev->line_bytes <= ev->h.size_bytes - RUNTIME_CODE_EVENT_HEAD_BYTES && ev->id &&
	       ev->id <= RUNTIME_CODE_MAX && is_text(&ev->name) && is_text(&ev->qualname) &&
	       is_text(&ev->file);
}

/* The line in which a function of JavaScript begins; 0: not known. */
static uint32_t line_of_function(const struct code_names *c, const struct code_name *n,
				 uint32_t *column)
{
	return n->first_line < 0 || !n->unit_count
		       ? 0
		       : source_lines_find(&c->sources, n->pid, n->file, n->unit_count,
					   (uint32_t)n->first_line, column);
}

/*
 * The line that runs in a function of JavaScript: at the place in the script, or where its table has a position for the bytecode, and that
 * is in the function.  Else that in which it begins.
 */
static uint32_t line_in_function(const struct code_names *c, const struct code_name *n, uint32_t at)
{
	uint32_t column, place = at & (RUNTIME_IN_SCRIPT - 1);

	if (at > RUNTIME_NO_BYTECODE && n->unit_count &&
	    (at & RUNTIME_IN_SCRIPT || v8_lines_find(n->version, n->lines, n->line_bytes,
						     n->line_bytes >= RUNTIME_LINES_BYTES,
						     at - RUNTIME_NO_BYTECODE - 1, &place)) &&
	    (n->first_line < 0 || place >= (uint32_t)n->first_line))
		return source_lines_find(&c->sources, n->pid, n->file, n->unit_count, place,
					 &column);
	return line_of_function(c, n, &column);
}

/* The name of a function without one: the line and the column where it begins, else the offset in the text. */
static void name_anonymous(const struct code_names *c, const struct code_name *n, char *to,
			   size_t room_bytes)
{
	const char *file = short_file(n->file);
	uint32_t column, line = line_of_function(c, n, &column);

	if (line)
		snprintf(to, room_bytes, "js::(anonymous at %u:%u) (%s)", line, column, file);
	else if (n->first_line >= 0)
		snprintf(to, room_bytes, "js::(anonymous at %d) (%s)", n->first_line, file);
	else
		snprintf(to, room_bytes, "js::(anonymous) (%s)", file);
}

/* Fills in the texts of a function of JavaScript: it may have any name, or none. */
static int take_function(struct code_names *c, struct code_name *n,
			 const struct runtime_code_event *ev)
{
	char *name = text_of(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text), false);
	int err = -ENOMEM;

	n->file = text_of(&ev->file, ev->file_text, sizeof(ev->file_text), true);
	n->unit_count = ev->name.char_count;
	if (name && n->file) {
		if (n->unit_count)
			source_lines_see(&c->sources, n->pid, n->user, n->file);
		err = is_readable(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text)) &&
				      is_readable(&ev->file, ev->file_text, sizeof(ev->file_text))
			      ? 0
			      : -EBADMSG;
		if (!err && *name &&
		    asprintf(&n->name, "js::%s (%s)", name, short_file(n->file)) < 0) {
			n->name = NULL;
			err = -ENOMEM;
		}
	}
	free(name);
	return err;
}

/* Bytes of an event's text, of which those behind do not fit.  Owned; NULL: no memory. */
static char *bytes_of(const struct runtime_text *head, const uint8_t *text, size_t room_bytes)
{
	bool cut = head->char_count > room_bytes;
	size_t have = cut ? room_bytes : head->char_count;
	char *out = NULL;

	while (cut && have && text[have - 1] & 0x80) /* no part of a character */
		have--;
	if (asprintf(&out, "%.*s%s", (int)have, (const char *)text, cut ? "..." : "") < 0)
		return NULL;
	return out;
}

/*
 * The file of a class, in the folder of its package, where compilers and debuggers look for it: two packages may have files of one
 * name.  Owned; NULL: no memory.
 */
static char *file_of_class(const struct runtime_text *head, const char *class_name,
			   const char *file)
{
	size_t own = strcspn(class_name, "+"), folder = 0; /* behind the '+' an address follows */
	char *out = NULL;

	if (head->char_count <= RUNTIME_QUALNAME_BYTES && *file)
		for (size_t i = 0; i < own; i++)
			folder = class_name[i] == '/' ? i + 1 : folder;
	return asprintf(&out, "%.*s%s", (int)folder, class_name, file) < 0 ? NULL : out;
}

/*
 * Fills in the texts of a method: name, qualname has its class as the JVM calls it (java/util/List), and file is without folders.
 * A hidden class has an address behind a '+'.  They are UTF-8 but for characters above 0xffff, and NUL.
 */
static int take_method(struct code_name *n, const struct runtime_code_event *ev)
{
	char *name = bytes_of(&ev->name, ev->name_text, sizeof(ev->name_text));
	char *class_name = bytes_of(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text));
	char *file = bytes_of(&ev->file, ev->file_text, sizeof(ev->file_text));
	bool has_file = ev->file.char_count;
	int err = -ENOMEM;

	n->file = class_name && file ? file_of_class(&ev->qualname, class_name, file) : NULL;
	for (char *c = class_name; c && *c; c++) /* as the JVM's own tools show it */
		*c = *c == '/' ? '.' : !strncmp(c, "+0x", 3) ? '/' : *c;
	if (name && class_name && n->file) {
		err = are_readable_bytes(ev) ? 0 : -EBADMSG;
		if (!err && asprintf(&n->name, "java::%s.%s%s%s%s", class_name, name,
				     has_file ? " (" : "", file, has_file ? ")" : "") < 0) {
			n->name = NULL;
			err = -ENOMEM;
		}
	}
	free(file);
	free(name);
	free(class_name);
	return err;
}

/* Whether a text of Ruby is the end of another one, behind a blank, or is it: "block in run" and "run". */
static bool is_label_of(const char *label, const char *base)
{
	size_t n = strlen(label), b = strlen(base);

	if (n > 3 && !strcmp(label + n - 3, "..."))
		return true;
	return b && n >= b && !strcmp(label + n - b, base) && (n == b || label[n - b - 1] == ' ');
}

/* The path of a class or module: "Net::HTTP". */
static bool is_constant_path(const char *text, size_t size_bytes)
{
	bool is_first = true;

	for (size_t i = 0; i < size_bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (is_first ? c < 0x80 && !isupper(c)
			     : c < 0x80 && !isalnum(c) && c != '_' && c != ':')
			return false;
		is_first = false;
		if (c != ':')
			continue;
		if (++i >= size_bytes || text[i] != ':')
			return false;
		is_first = true;
	}
	return !is_first;
}

/*
 * The label of Ruby's code with what owns the method that it is of, as Ruby 3.4 has it: "block in Server#handle".  Without where that
 * is not known, or one of the texts is not complete.  Owned; NULL: no memory.
 */
static char *ruby_label(const struct runtime_code_event *ev, const char *label, const char *base)
{
	size_t n = strlen(label), b = strlen(base), in = n > b ? n - b : 0;
	bool has_owner = ev->first_line > RUNTIME_RUBY_NO_OWNER &&
			 ev->first_line < RUNTIME_RUBY_OWNERS && is_text(&ev->owner) &&
			 ev->owner.char_count <= sizeof(ev->owner_text) &&
			 ev->name.char_count <= sizeof(ev->name_text) &&
			 !strcmp(label + in, base) &&
			 is_constant_path((const char *)ev->owner_text, ev->owner.char_count);
	char *out = NULL;

	if (!has_owner)
		return strdup(label);
	return asprintf(&out, "%.*s%.*s%c%s", (int)in, label, (int)ev->owner.char_count,
			(const char *)ev->owner_text,
			ev->first_line == RUNTIME_RUBY_OF_ITSELF ? '.' : '#', base) < 0
		       ? NULL
		       : out;
}

/* The name of code of Ruby or PHP, owned; NULL: its texts contradict each other, or no memory. */
static char *listed_name(const struct runtime_code_event *ev, uint32_t kind, const char *name,
			 const char *qualname, const char *file)
{
	const char *in = *file ? short_file(file) : "internal";
	char *out = NULL, *label;
	int n = -1;

	/* It is no file; but what is in Ruby itself has one name for both: <internal:gem_prelude>. */
	if (*file && *file != '<' && (!strcmp(file, name) || !strcmp(file, qualname)))
		return NULL;
	if (kind == RUNTIME_RUBY) {
		label = is_label_of(name, qualname) && *file ? ruby_label(ev, name, qualname)
							     : NULL;
		n = label ? asprintf(&out, "rb::%s (%s)", label, in) : -1;
		free(label);
	} else if (*name || *file)
		n = asprintf(&out, "php::%s%s%s (%s)", qualname, *qualname ? "::" : "",
			     *name ? name : "{main}", in);
	return n < 0 ? NULL : out;
}

/* The name of a frame of Perl, owned; NULL: it has none, or no memory. */
static char *perl_name(int32_t kind, const char *name, const char *package, const char *file)
{
	static const char *const frames[RUNTIME_PERL_FRAMES] = {
		[RUNTIME_PERL_MAIN] = "(main)",
		[RUNTIME_PERL_EVAL] = "(eval)",
		[RUNTIME_PERL_REQUIRE] = "(require)",
		[RUNTIME_PERL_BLOCK] = "(block)",
	};
	/* Texts are numbered: "(eval 7)". */
	const char *in = kind == RUNTIME_PERL_EVAL     ? ""
			 : !strncmp(file, "(eval ", 6) ? "eval"
						       : short_file(file);
	const char *open = *in ? " (" : "", *close = *in ? ")" : "";
	char *out = NULL;

	if (kind < 0 || kind >= RUNTIME_PERL_FRAMES)
		return NULL;
	if (kind != RUNTIME_PERL_SUB)
		return asprintf(&out, "perl::%s%s%s%s", frames[kind], open, in, close) < 0 ? NULL
											   : out;
	return asprintf(&out, "perl::%s%s%s%s%s%s", package, *package ? "::" : "", name, open, in,
			close) < 0
		       ? NULL
		       : out;
}

/* The name of a function of Python, owned; NULL: its texts contradict each other, or no memory. */
static char *python_name(const char *name, const char *qualname, const char *file)
{
	char *out = NULL;

	return !agree(qualname, name) ||
			       asprintf(&out, "py::%s (%s)", qualname, short_file(file)) < 0
		       ? NULL
		       : out;
}

static char *name_by_texts(const struct runtime_code_event *ev, uint32_t kind, const char *name,
			   const char *qualname, const char *file)
{
	return kind == RUNTIME_PYTHON ? python_name(name, qualname, file)
	       : kind == RUNTIME_PERL ? perl_name(ev->first_line, name, qualname, file)
				      : listed_name(ev, kind, name, qualname, file);
}

/* Fills in the texts.  -EBADMSG: they are none, or contradict each other. */
static int take_texts(struct code_name *n, const struct runtime_code_event *ev, uint32_t kind)
{
	char *name = text_of(&ev->name, ev->name_text, sizeof(ev->name_text), false);
	char *qualname = text_of(&ev->qualname, ev->qualname_text, sizeof(ev->qualname_text),
				 false);
	int err = -ENOMEM;

	n->file = text_of(&ev->file, ev->file_text, sizeof(ev->file_text), true);
	if (name && qualname && n->file) {
		if (kind == RUNTIME_PYTHON ? are_names(ev) : are_readable(ev))
			n->name = name_by_texts(ev, kind, name, qualname, n->file);
		err = n->name ? 0 : -EBADMSG;
	}
	free(name);
	free(qualname);
	return err;
}

static int take(struct code_names *c, struct code_name *n, const struct runtime_code_event *ev)
{
	switch (n->kind) {
	case RUNTIME_V8:
		return take_function(c, n, ev);
	case RUNTIME_JVM:
		return take_method(n, ev);
	default:
		return take_texts(n, ev, n->kind);
	}
}

int code_names_add(struct code_names *c, const struct runtime_code_event *ev, uint32_t kind,
		   uint32_t version)
{
	struct code_name *n;
	size_t bytes, line_bytes;
	int err;

	if (!is_complete(ev))
		return -EBADMSG;
	line_bytes = kind == RUNTIME_JVM ? jvm_lines_size(version, ev->lines, ev->line_bytes)
					 : ev->line_bytes;
	bytes = sizeof(*n) + line_bytes + 512;
	if (fair_share_left(&c->held, HELD_MAX_BYTES, ev->pid, ev->user) < bytes) {
		c->refused_count++;
		return 0;
	}
	err = grow(c, ev->id);
	n = err ? NULL : calloc(1, sizeof(*n) + line_bytes);
	if (!n)
		return -ENOMEM;
	n->pid = ev->pid;
	n->user = ev->user;
	n->first_line = ev->first_line;
	n->kind = kind;
	n->version = version;
	n->line_bytes = (uint32_t)line_bytes;
	memcpy(n->lines, ev->lines, line_bytes);
	err = take(c, n, ev);
	if (!err)
		err = fair_share_take(&c->held, HELD_MAX_BYTES, ev->pid, ev->user, bytes);
	if (err) {
		free_name(n);
		c->refused_count += err == -EBADMSG;
		return err == -EBADMSG ? 0 : err;
	}
	free_name(c->by_id[ev->id]);
	c->by_id[ev->id] = n;
	return 0;
}

/* ---- places ---- */

static const struct code_name *name_of(const struct code_names *c, uint64_t offset)
{
	uint64_t id = offset >> RUNTIME_INSTR_BITS;

	return id < c->room ? c->by_id[id] : NULL;
}

int code_names_hit(struct code_names *c, uint64_t offset, bool is_return)
{
	const struct code_name *n = name_of(c, offset);
	uint64_t place = offset << 1 | is_return;
	int err;

	if (u64map_get(&c->places, place, 0))
		return 0;
	err = vec_reserve(&c->list, &c->list_room, c->count + 1) ? -ENOMEM : 0;
	if (!err)
		err = fair_share_take(&c->placed, PLACES_MAX, n ? n->pid : NO_OWNER,
				      n ? n->user : NO_OWNER, 1);
	if (err == -ENOSPC) {
		c->placeless_count++;
		return 0;
	}
	if (!err)
		err = u64map_put(&c->places, place, 0, 0);
	if (err)
		return -ENOMEM;
	c->list[c->count++] = place;
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t line_of(const struct code_names *c, const struct code_name *n, uint64_t offset)
{
	uint32_t at = (uint32_t)offset & RUNTIME_INSTR_MASK;

	if (n->kind == RUNTIME_V8)
		return line_in_function(c, n, at);
	if (n->kind == RUNTIME_JVM)
		return at <= RUNTIME_NO_BYTECODE
			       ? 0
			       : jvm_lines_find(n->version, n->lines, n->line_bytes,
						at - RUNTIME_NO_BYTECODE - 1);
	if (!at)
		return 0;
	if (n->kind == RUNTIME_PHP || n->kind == RUNTIME_PERL)
		return at - 1;
	return n->kind == RUNTIME_RUBY ? ruby_lines_find(n->lines, n->line_bytes, at - 1)
				       : python_lines_find(n->version, n->lines, n->line_bytes,
							   n->first_line, at - 1);
}

/* FORMAT.md 5.3. */
enum { SYMTAB_LINES = 2, SYMTAB_BY_BUILD_ID = 1, SYMTAB_IS_RETURN = 1 };

struct symtab {
	struct outbuf places, frames, texts;
	uint32_t count;
	uint32_t name_off, file_off; /* of the code before */
};

static void put_place(const struct code_names *c, struct symtab *t, const struct code_name *n,
		      uint64_t place, bool is_new)
{
	uint64_t offset = place >> 1;
	bool is_return = place & 1;
	char name[ANONYMOUS_BYTES];

	if (is_new) {
		if (!n->name)
			name_anonymous(c, n, name, sizeof(name));
		t->name_off = (uint32_t)t->texts.size_bytes;
		outbuf_add(&t->texts, n->name ? n->name : name,
			   strlen(n->name ? n->name : name) + 1);
		t->file_off = (uint32_t)t->texts.size_bytes;
		outbuf_add(&t->texts, n->file, strlen(n->file) + 1);
	}
	outbuf_u64(&t->places, offset);
	outbuf_u32(&t->places, t->name_off);
	outbuf_u16(&t->places,
		   is_return ? SYMTAB_IS_RETURN << 8 : 0); /* below it: a name is there */
	outbuf_u16(&t->places, 1);
	outbuf_u32(&t->places, t->count);
	outbuf_u32(&t->places, 0);
	outbuf_u32(&t->frames, t->name_off);
	outbuf_u32(&t->frames, t->file_off);
	outbuf_u32(&t->frames, line_of(c, n, offset));
	outbuf_u32(&t->frames, 0);
	t->count++;
}

static void put_head(const struct code_names *c, const struct symtab *t, struct outbuf *out)
{
	outbuf_u16(out, SYMTAB_LINES);
	outbuf_u16(out, (uint16_t)(SYMTAB_BY_BUILD_ID | c->build_id.size_bytes << 8));
	outbuf_u32(out, t->count);
	outbuf_u32(out, (uint32_t)t->texts.size_bytes);
	outbuf_zeros(out, 20); /* no device, generation, inode */
	outbuf_add(out, c->build_id.bytes, BUILDID_MAX_BYTES);
	outbuf_u32(out, t->count); /* frames */
	outbuf_u64(out, 0);
}

void code_names_encode(const struct code_names *c, size_t from, struct outbuf *out)
{
	size_t count = c->count - from;
	uint64_t *sorted = malloc(count * sizeof(*sorted) + 1);
	const struct code_name *n, *before = NULL;
	struct symtab t = { 0 };

	out->bad |= !sorted;
	outbuf_add(&t.texts, c->path, strlen(c->path) + 1); /* the file, */
	outbuf_add(&t.texts, c->path, strlen(c->path) + 1); /* and the file that had its symbols */
	if (sorted && count) {
		memcpy(sorted, c->list + from, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), by_offset);
	}
	for (size_t i = 0; sorted && i < count; i++) {
		n = name_of(c, sorted[i] >> 1);
		if (!n)
			continue;
		put_place(c, &t, n, sorted[i], n != before);
		before = n;
	}
	if (t.count) {
		put_head(c, &t, out);
		outbuf_add(out, t.places.data, t.places.size_bytes);
		outbuf_add(out, t.frames.data, t.frames.size_bytes);
		outbuf_add(out, t.texts.data, t.texts.size_bytes);
	}
	out->bad |= t.places.bad | t.frames.bad | t.texts.bad;
	outbuf_done(&t.places);
	outbuf_done(&t.frames);
	outbuf_done(&t.texts);
	free(sorted);
}
