/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/tracepoint/tracepoint_check.h"

#include <errno.h>
#include <string.h>

#include "format/base/cursor.h"

#define NESTING_MAX 64    /* of expressions: libtraceevent recurses */
#define OFFSET_MAX  65535 /* of a field, and its size */
#define WIDTH_MAX   4     /* digits of a width */
#define TEXT_MAX    (1 << 20)

/* ---- a text, from front to back ---- */

struct text {
	const char *at, *end;
	unsigned nesting;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char peek(const struct text *t)
{
	return t->at < t->end ? *t->at : '\0';
}

static bool take(struct text *t, const char *literal)
{
	size_t n = strlen(literal);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, literal, n) != 0)
		return false;
	t->at += n;
	return true;
}

static void skip_spaces(struct text *t)
{
	while (peek(t) == ' ')
		t->at++;
}

static bool take_number(struct text *t, uint32_t max, uint32_t *out)
{
	uint64_t n = 0;
	const char *was = t->at;

	for (; is_digit(peek(t)) && n <= max; t->at++)
		n = n * 10 + (uint64_t)(*t->at - '0');
	if (t->at == was || n > max || is_digit(peek(t)))
		return false;
	*out = (uint32_t)n;
	return true;
}

/* How many bytes of a word are taken; 0: there is none. */
static size_t take_word(struct text *t, const char **word)
{
	*word = t->at;
	while (is_word(peek(t)))
		t->at++;
	return (size_t)(t->at - *word);
}

static bool is(const char *word, size_t bytes, const char *what)
{
	return bytes == strlen(what) && !memcmp(word, what, bytes);
}

/* ---- fields ---- */

/* "char comm[16]", "__data_loc char[] name", "const struct iovec * vec". */
static bool take_declaration(struct text *t, struct tracepoint_check_field *f)
{
	const char *word;
	size_t bytes, words = 0;

	for (;;) {
		skip_spaces(t);
		if (peek(t) == '*') {
			t->at++;
			continue;
		}
		bytes = take_word(t, &word);
		if (!bytes)
			break;
		f->elsewhere |= !words && is(word, bytes, "__data_loc");
		f->text |= is(word, bytes, "char");
		f->name = word;
		f->name_bytes = (uint32_t)bytes;
		words++;
		if (f->elsewhere && words == 2 && !take(t, "[]"))
			return false;
		if (is(word, bytes, "__rel_loc"))
			return false;
	}
	if (words < 2 || is_digit(*f->name) || (f->elsewhere && words != 3))
		return false;
	if (!f->elsewhere && take(t, "[")) {
		if (is_digit(peek(t)) ? !take_number(t, OFFSET_MAX, &f->count)
				      : !take_word(t, &word))
			return false;
		return take(t, "]");
	}
	return true;
}

static bool take_field(struct text *t, struct tracepoint_check_field *f)
{
	uint32_t is_signed;

	*f = (struct tracepoint_check_field){ 0 };
	if (!take(t, "\tfield:") || !take_declaration(t, f) || !take(t, ";\toffset:") ||
	    !take_number(t, OFFSET_MAX, &f->off_bytes) || !take(t, ";\tsize:") ||
	    !take_number(t, OFFSET_MAX, &f->size_bytes) || !take(t, ";\tsigned:") ||
	    !take_number(t, 1, &is_signed) || !take(t, ";\n"))
		return false;
	/* A flexible array at the end has the size 0. */
	return f->elsewhere ? f->size_bytes == 4 : f->size_bytes || f->count == 0;
}

/* The number of the event, which libtraceevent looks for where the first of all events has it. */
static bool begins_with_id(const struct tracepoint_check *c)
{
	const struct tracepoint_check_field *f = &c->fields[0];

	return c->field_count && is(f->name, f->name_bytes, "common_type") && !f->off_bytes &&
	       f->size_bytes == 2 && !f->elsewhere && !f->count;
}

static const struct tracepoint_check_field *find_field(const struct tracepoint_check *c,
						       const char *name, size_t bytes)
{
	for (size_t i = 0; i < c->field_count; i++) {
		const struct tracepoint_check_field *f = &c->fields[i];

		if (f->name_bytes == bytes && !memcmp(f->name, name, bytes))
			return f;
	}
	return NULL;
}

/* ---- what is printed: conversions ---- */

/* Behind %p: what the kernel would print of a pointer. */
static bool take_pointer(struct text *t)
{
	static const char known[] = "SsFfBxK";

	if (!is_word(peek(t)))
		return true;
	if (!strchr(known, *t->at))
		return false;
	t->at++;
	return !is_word(peek(t));
}

static bool take_conversion(struct text *t)
{
	const char *digits;

	while (peek(t) && strchr("-+ #0", *t->at))
		t->at++;
	for (digits = t->at; is_digit(peek(t));)
		t->at++;
	if (t->at - digits > WIDTH_MAX)
		return false;
	if (take(t, ".")) {
		/* A text ends at its end, however many bytes of it are asked for. */
		if (take(t, "*"))
			return take(t, "s");
		for (digits = t->at; is_digit(peek(t));)
			t->at++;
		if (t->at - digits > WIDTH_MAX)
			return false;
	}
	for (digits = t->at; peek(t) && strchr("hlzL", *t->at) && t->at - digits < 2;)
		t->at++;
	if (!peek(t) || !strchr("dioxXucsp%", *t->at))
		return false;
	return *t->at++ != 'p' || take_pointer(t);
}

/* A text in quotes; formats: with conversions in it. */
static bool take_string(struct text *t, bool formats)
{
	if (!take(t, "\""))
		return false;
	while (t->at < t->end && *t->at != '"') {
		char c = *t->at++;

		if (!c || (c == '\\' && (t->at == t->end || !peek(t))))
			return false;
		if (c == '\\')
			t->at++;
		else if (c == '%' && formats && !take_conversion(t))
			return false;
	}
	return take(t, "\"");
}

/* One, or several that follow each other. */
static bool take_strings(struct text *t, bool formats)
{
	if (!take_string(t, formats))
		return false;
	for (skip_spaces(t); peek(t) == '"'; skip_spaces(t))
		if (!take_string(t, formats))
			return false;
	return true;
}

/* ---- what is printed: expressions ---- */

static bool take_expression(struct text *t, const struct tracepoint_check *c);

static bool take_sign(struct text *t, const char *sign)
{
	skip_spaces(t);
	return take(t, sign);
}

/* 0x10, 16, 16UL; *nought: it is 0, or may be. */
static bool take_constant(struct text *t, bool *nought)
{
	const char *word;
	size_t bytes;

	if (!is_digit(peek(t)))
		return false;
	bytes = take_word(t, &word);
	*nought = true;
	for (size_t i = 0; i < bytes && bytes <= 24; i++)
		*nought &= word[i] < '1' || word[i] > '9';
	return bytes <= 24;
}

/* ", { VALUE, "text" }" any number of times, and the closing bracket. */
static bool take_pairs(struct text *t, const struct tracepoint_check *c)
{
	while (take_sign(t, ",")) {
		if (!take_sign(t, "{"))
			return false;
		if (!take_expression(t, c) || !take_sign(t, ","))
			return false;
		skip_spaces(t);
		if (!take(t, "((void *)0)") && !take_strings(t, false))
			return false;
		if (!take_sign(t, "}"))
			return false;
	}
	return take_sign(t, ")");
}

static bool take_call(struct text *t, const struct tracepoint_check *c, const char *name,
		      size_t bytes)
{
	const struct tracepoint_check_field *f;
	const char *word;

	if (is(name, bytes, "__get_str")) {
		skip_spaces(t);
		bytes = take_word(t, &word);
		f = find_field(c, word, bytes);
		return f && f->elsewhere && f->text && take_sign(t, ")");
	}
	if (is(name, bytes, "__print_symbolic"))
		return take_expression(t, c) && take_pairs(t, c);
	if (!is(name, bytes, "__print_flags") || !take_expression(t, c) || !take_sign(t, ","))
		return false;
	skip_spaces(t);
	return take_strings(t, false) && take_pairs(t, c);
}

/* REC->name, or REC->name[2] */
static bool take_member(struct text *t, const struct tracepoint_check *c)
{
	const struct tracepoint_check_field *f;
	const char *word;
	uint32_t index;
	size_t bytes;

	bytes = take_word(t, &word);
	f = find_field(c, word, bytes);
	if (!f)
		return false;
	if (take(t, "["))
		return take_number(t, OFFSET_MAX, &index) && index < f->count && take(t, "]");
	return true;
}

/* Only of types: "(unsigned long)", "(void *)".  false: nothing was taken. */
static bool take_cast(struct text *t)
{
	const char *was = t->at, *word;
	size_t words = 0;

	for (skip_spaces(t); take_word(t, &word); skip_spaces(t)) {
		if (is_digit(*word) || is(word, (size_t)(t->at - word), "REC"))
			break;
		words++;
	}
	while (words && take_sign(t, "*"))
		;
	if (words && take_sign(t, ")")) {
		skip_spaces(t);
		if (is_word(peek(t)) || peek(t) == '(' || peek(t) == '"')
			return true;
	}
	t->at = was;
	return false;
}

static bool take_operand(struct text *t, const struct tracepoint_check *c)
{
	const char *word;
	bool nought;
	size_t bytes;

	for (skip_spaces(t); peek(t) && strchr("!~-+", *t->at); skip_spaces(t))
		t->at++;
	if (peek(t) == '"')
		return take_strings(t, false);
	if (take(t, "(")) {
		if (take_cast(t))
			return take_operand(t, c);
		return take_expression(t, c) && take_sign(t, ")");
	}
	if (is_digit(peek(t)))
		return take_constant(t, &nought);
	bytes = take_word(t, &word);
	if (is(word, bytes, "REC"))
		return take(t, "->") && take_member(t, c);
	if (bytes && take(t, "("))
		return take_call(t, c, word, bytes);
	return bytes && t->nesting > 1; /* a name of the kernel's: in lists of flags */
}

/* An operator between two operands; dividing is only done by a number. */
static bool take_operator(struct text *t, bool *divides)
{
	static const char *const operators[] = { "<<", ">>", "<=", ">=", "==", "!=",
						 "&&", "||", "<",  ">",  "&",  "|",
						 "^",  "+",  "-",  "*",  "/",  "%" };

	skip_spaces(t);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		*divides = operators[i][0] == '/' || operators[i][0] == '%';
		if (take(t, operators[i]))
			return true;
	}
	return false;
}

static bool take_terms(struct text *t, const struct tracepoint_check *c)
{
	bool divides, nought = false;

	if (!take_operand(t, c))
		return false;
	while (take_operator(t, &divides)) {
		skip_spaces(t);
		if (divides ? !take_constant(t, &nought) || nought : !take_operand(t, c))
			return false;
	}
	return true;
}

static bool take_expression(struct text *t, const struct tracepoint_check *c)
{
	bool fine;

	if (++t->nesting > NESTING_MAX)
		return false;
	fine = take_terms(t, c);
	if (fine && take_sign(t, "?"))
		fine = take_expression(t, c) && take_sign(t, ":") && take_expression(t, c);
	t->nesting--;
	return fine;
}

static bool take_print_fmt(struct text *t, const struct tracepoint_check *c)
{
	if (!take(t, "\nprint fmt: ") || !take_strings(t, true))
		return false;
	while (take_sign(t, ","))
		if (!take_expression(t, c))
			return false;
	skip_spaces(t);
	(void)take(t, "\n");
	return t->at == t->end;
}

/* ---- all of it ---- */

int tracepoint_check_format(const char *text, size_t size_bytes, struct tracepoint_check *out)
{
	struct text t = { .at = text, .end = text + size_bytes };
	struct tracepoint_check_field *f;
	const char *name;

	*out = (struct tracepoint_check){ 0 };
	if (size_bytes > TEXT_MAX || !take(&t, "name: ") || !take_word(&t, &name) ||
	    !take(&t, "\nID: ") || !take_number(&t, TRACEPOINT_CHECK_ID_MAX, &out->id) ||
	    !take(&t, "\nformat:\n"))
		return -EBADMSG;
	while (peek(&t) == '\t') {
		f = &out->fields[out->field_count];
		if (out->field_count == TRACEPOINT_CHECK_FIELDS_MAX || !take_field(&t, f))
			return -ENOTSUP;
		out->field_count++;
		if (f->off_bytes + f->size_bytes > out->end_bytes)
			out->end_bytes = f->off_bytes + f->size_bytes;
		if (peek(&t) == '\n' && t.end - t.at > 1 && t.at[1] == '\t')
			t.at++; /* behind those that all have */
	}
	if (!begins_with_id(out))
		return -EBADMSG;
	out->fields_bytes = (size_t)(t.at - text);
	out->print_fmt = take_print_fmt(&t, out);
	return 0;
}

/* Where the value is, and its size, in a field of four bytes. */
static bool is_inside(const struct tracepoint_check_field *f, const uint8_t *raw, size_t raw_bytes)
{
	uint32_t where = le32_load(raw + f->off_bytes), size = where >> 16;

	where &= 0xffff;
	if (where > raw_bytes || size > raw_bytes - where)
		return false;
	return !f->text || (size && !raw[where + size - 1]);
}

bool tracepoint_check_event(const struct tracepoint_check *c, const uint8_t *raw, size_t raw_bytes)
{
	if (raw_bytes < c->end_bytes || le16_load(raw) != c->id)
		return false;
	for (size_t i = 0; i < c->field_count; i++)
		if (c->fields[i].elsewhere && !is_inside(&c->fields[i], raw, raw_bytes))
			return false;
	return true;
}
