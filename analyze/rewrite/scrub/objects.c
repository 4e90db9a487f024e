/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* scrub_objects - names in private objects (FORMAT.md 5) */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/rewrite/scrub/scrub_priv.h"
#include "format/payload/container_record.h"
#include "format/payload/context_record.h"
#include "format/base/cursor.h"
#include "format/payload/file_facts.h"
#include "format/perf/jitdump.h"
#include "format/payload/cmdline_record.h"

#define WORD_MIN_BYTES 3

/* ---- JSON ---- */

/* The end of the JSON value at `at`: of a string or of an array of strings; of others: at. */
static size_t value_end(const char *text, size_t at, size_t size_bytes)
{
	bool in_string = false, in_array = false;

	for (; at < size_bytes; at++) {
		char c = text[at];

		if (in_string) {
			at += c == '\\';
			in_string = c != '"';
			if (!in_string && !in_array)
				return at + 1;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' && !in_array) {
			in_array = true;
		} else if (c == ']' && in_array) {
			return at + 1;
		} else if (!in_array) {
			return at;
		}
	}
	return size_bytes;
}

/* Where the value of a key begins, behind its quoted name. */
static size_t value_begin(const char *text, size_t at, size_t size_bytes)
{
	while (at < size_bytes && (isspace((unsigned char)text[at]) || text[at] == ':'))
		at++;
	return at;
}

/* Moves a part of the text to *to, behind what stays of all before it. */
static void keep_part(char *text, size_t *to, size_t from, size_t end)
{
	memmove(text + *to, text + from, end - from);
	*to += end - from;
}

/* Empties the value of a key wherever it is. */
static void empty_value(struct scrub *s, const char *key, char *text, size_t *size_bytes)
{
	size_t from = 0, to = 0, at, end;
	char quoted[40], *found;
	int quoted_bytes = snprintf(quoted, sizeof(quoted), "\"%s\"", key);

	while ((found = memmem(text + from, *size_bytes - from, quoted, (size_t)quoted_bytes))) {
		at = value_begin(text, (size_t)(found - text) + (size_t)quoted_bytes, *size_bytes);
		end = value_end(text, at, *size_bytes);
		if (end < at + 3) {
			keep_part(text, &to, from, at);
			from = at;
			continue;
		}
		s->stats.command_line_count++;
		keep_part(text, &to, from, at + 1);
		from = end - 1;
	}
	keep_part(text, &to, from, *size_bytes);
	*size_bytes = to;
}

/* Puts 0 in the place of a number. */
static void zero_value(const char *key, char *text, size_t *size_bytes)
{
	size_t from = 0, to = 0, at, end;
	char quoted[40], *found;
	int quoted_bytes = snprintf(quoted, sizeof(quoted), "\"%s\"", key);

	while ((found = memmem(text + from, *size_bytes - from, quoted, (size_t)quoted_bytes))) {
		at = value_begin(text, (size_t)(found - text) + (size_t)quoted_bytes, *size_bytes);
		for (end = at; end < *size_bytes && isdigit((unsigned char)text[end]);)
			end++;
		keep_part(text, &to, from, at);
		from = at;
		if (end <= at + 1)
			continue;
		text[to++] = '0';
		from = end;
	}
	keep_part(text, &to, from, *size_bytes);
	*size_bytes = to;
}

/* Names of programs in the value of a key: other values are words of the recorder's. */
static void hide_programs(struct scrub *s, const char *key, char *text, size_t size_bytes)
{
	char quoted[40], *found = text, *end = text + size_bytes;
	int quoted_bytes = snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	size_t from, to;

	while ((found = memmem(found, (size_t)(end - found), quoted, (size_t)quoted_bytes))) {
		found += quoted_bytes;
		from = value_begin(text, (size_t)(found - text), size_bytes);
		to = value_end(text, from, size_bytes);
		scrub_program_words(s, text + from, to - from);
	}
}

static void hide_machine(struct scrub *s, char *text, size_t *size_bytes)
{
	static const char *const texts[] = { "kernel",    "kernel_version", "distribution",
					     "cpu_model", "virtualisation", "clocksource",
					     "node_bytes" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		empty_value(s, texts[i], text, size_bytes);
	zero_value("memory_bytes", text, size_bytes);
}

static void edit_meta(struct scrub *s, char *text, size_t *size_bytes)
{
	uint64_t command_lines;

	if (s->opts.command_lines && !s->learning) {
		empty_value(s, "command_line", text, size_bytes);
		empty_value(s, "kernel_cmdline", text, size_bytes);
	}
	command_lines = s->stats.command_line_count; /* the others are none */
	if ((s->opts.command_lines || s->opts.wanted[PSEUDONYM_CONTAINER]) && !s->learning)
		empty_value(s, "selection", text, size_bytes);
	if (s->opts.machine && !s->learning)
		hide_machine(s, text, size_bytes);
	if (s->opts.wanted[PSEUDONYM_CONTAINER] && !s->learning)
		empty_value(s, "cgroup", text,
			    size_bytes); /* the recorder's: an id of another form, maybe */
	if (s->opts.times && !s->learning) {
		empty_value(s, "started", text, size_bytes);
		zero_value("start_wall_ns", text, size_bytes);
		zero_value("boot_wall_ns", text, size_bytes);
	}
	s->stats.command_line_count = command_lines;
	scrub_text(s, SCRUB_TEXT_JSON, SCRUB_LEFT_NONE, text, *size_bytes);
	hide_programs(s, "command_line", text, *size_bytes);
}

/* ---- mounts ---- */

/* "server:/export", "me@server:/folder", "//server/share": the source of a mount. */
static void learn_source(struct scrub *s, const char *source, size_t size_bytes)
{
	const char *at = source, *end = source + size_bytes, *user;
	size_t bytes;

	if (size_bytes > 2 && !memcmp(at, "//", 2)) {
		at += 2;
		end = memchr(at, '/', (size_t)(end - at)) ?: end;
	} else {
		end = memmem(at, size_bytes, ":/", 2);
		if (!end)
			return;
		user = memchr(at, '@', (size_t)(end - at));
		if (user) {
			if (s->opts.wanted[PSEUDONYM_USER])
				scrub_learn_word(s, PSEUDONYM_USER, at, (size_t)(user - at));
			at = user + 1;
		}
	}
	bytes = (size_t)(end - at);
	if (s->opts.wanted[PSEUDONYM_HOST] && bytes)
		scrub_learn_word(s, PSEUDONYM_HOST, at, bytes);
}

/* Sizes of file systems in memory are half of the machine's. */
static void zero_sizes(char *text, size_t size_bytes)
{
	static const char *const keys[] = { "size=", "nr_inodes=", "nr_blocks=" };
	char *end = text + size_bytes, *at;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t key_bytes = strlen(keys[i]);

		for (at = text; (at = memmem(at, (size_t)(end - at), keys[i], key_bytes));)
			for (at += key_bytes; at < end && isdigit((unsigned char)*at); at++)
				*at = '0';
	}
}

static void edit_mounts(struct scrub *s, char *text, size_t size_bytes)
{
	char *at = text, *end = text + size_bytes, *line_end, *source;

	for (; s->learning && at < end; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(end - at)) ?: end;
		source = memmem(at, (size_t)(line_end - at), " - ", 3);
		source = source ? memchr(source + 3, ' ', (size_t)(line_end - source - 3)) : NULL;
		if (source) {
			char *blank = memchr(source + 1, ' ', (size_t)(line_end - source - 1))
					      ?: line_end;

			learn_source(s, source + 1, (size_t)(blank - source - 1));
		}
	}
	if (s->opts.machine && !s->learning)
		zero_sizes(text, size_bytes);
	scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, text, size_bytes);
	for (at = text; at < end; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(end - at)) ?: end;
		scrub_note_left(s, SCRUB_LEFT_MOUNT, at, (size_t)(line_end - at));
	}
}

/* ---- files ---- */

/* The address that a line begins with, in as many digits. */
static void move_hex(struct scrub *s, char *line, size_t digits)
{
	uint64_t address = 0;
	char hex[20];

	if (digits < 9 || digits > 16)
		return;
	for (size_t i = 0; i < digits; i++) {
		int c = tolower((unsigned char)line[i]);

		address = address << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	snprintf(hex, sizeof(hex), "%0*llx", (int)digits,
		 (unsigned long long)scrub_address(s, address));
	if (strlen(hex) == digits)
		memcpy(line, hex, digits);
}

/* A line of another form. */
static void blank_line(struct scrub *s, char *line, const char *end)
{
	if (s->learning || s->opts.unknown || line == end)
		return;
	memset(line, ' ', (size_t)(end - line));
	s->stats.dropped_count++;
}

/* Lines of /proc/kallsyms ("ADDRESS T NAME\t[MODULE]") and perf-PID.map ("ADDRESS SIZE NAME"). */
static void edit_symbol_lines(struct scrub *s, char *text, size_t size_bytes, bool is_kernel)
{
	char *end = text + size_bytes, *line_end, *name;
	size_t digits, name_bytes;

	for (char *line = text; line < end; line = line_end + 1) {
		line_end = memchr(line, '\n', (size_t)(end - line)) ?: end;
		for (digits = 0; line + digits < line_end && isxdigit((unsigned char)line[digits]);)
			digits++;
		move_hex(s, line, digits);
		name = memchr(line, ' ', (size_t)(line_end - line));
		name = name ? memchr(name + 1, ' ', (size_t)(line_end - name - 1)) : NULL;
		if (!name || !digits) {
			blank_line(s, line, line_end);
			continue;
		}
		name++;
		name_bytes = (size_t)(line_end - name);
		if (is_kernel && memchr(name, '\t', name_bytes))
			name_bytes = (size_t)((char *)memchr(name, '\t', name_bytes) - name);
		(void)scrub_symbol(s, name, name_bytes);
		if (!is_kernel)
			scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, name,
				   (size_t)(line_end - name));
	}
}

static void move_at(struct scrub *s, uint8_t *at)
{
	le64_store(at, scrub_address(s, le64_load(at)));
}

/*
 * jit-PID.dump: loads and moves of code are what is needed; the bodies of all other records, code, and
 * what follows a broken record are blanked.
 */
static bool edit_jitdump(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct jitdump_header header;

	if (jitdump_header(&c, &header))
		return false;
	while (cursor_left(&c) >= JITDUMP_RECORD_BYTES) {
		uint32_t id = cursor_u32(&c), record_bytes = cursor_u32(&c);
		uint8_t *body = data + c.off_bytes + 8, *rest = body;
		size_t left = record_bytes - JITDUMP_RECORD_BYTES, name_bytes;

		cursor_skip(&c, 8);
		if (record_bytes < JITDUMP_RECORD_BYTES || left > cursor_left(&c)) {
			c.off_bytes -= JITDUMP_RECORD_BYTES;
			break;
		}
		cursor_skip(&c, left);
		if (id == JITDUMP_LOAD && left >= JITDUMP_LOAD_BYTES) {
			char *name = (char *)body + JITDUMP_LOAD_BYTES;

			name_bytes = strnlen(name, left - JITDUMP_LOAD_BYTES);
			move_at(s, body + 8);
			move_at(s, body + 16);
			(void)scrub_symbol(s, name, name_bytes);
			scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, name, name_bytes);
			rest = (uint8_t *)name + name_bytes;
		} else if (id == JITDUMP_MOVE && left >= JITDUMP_LOAD_BYTES) {
			for (size_t at = 8; at <= 24; at += 8)
				move_at(s, body + at);
			rest = body + left;
		}
		if (!s->learning)
			memset(rest, 0, left - (size_t)(rest - body));
	}
	if (!s->learning)
		memset(data + c.off_bytes, 0, size_bytes - c.off_bytes);
	return true;
}

/*
 * The kernel's own bytes, which are needed for names and stacks; where its version and its release are in them (notes
 * of the owner Linux, and paths that it was built with), they are blanked.
 */
static void edit_vdso(struct scrub *s, char *image, size_t size_bytes)
{
	static const char owner[8] = "Linux";
	const size_t head = 12, release_bytes = s->release ? strlen(s->release) : 0;
	char *at, *end = image + size_bytes;

	if (!s->opts.machine || s->learning)
		return;
	for (at = image;
	     release_bytes && (at = memmem(at, (size_t)(end - at), s->release, release_bytes));
	     at += release_bytes)
		pseudonyms_put(s->p, PSEUDONYM_MACHINE, at, release_bytes);
	for (at = image; (at = memmem(at, (size_t)(end - at), owner, sizeof(owner)));) {
		uint32_t name_bytes, value_bytes;

		at += sizeof(owner);
		if ((size_t)(at - image) < sizeof(owner) + head)
			continue;
		name_bytes = le32_load((uint8_t *)at - sizeof(owner) - head);
		value_bytes = le32_load((uint8_t *)at - sizeof(owner) - head + 4);
		if (name_bytes == strlen(owner) + 1 && value_bytes <= (size_t)(end - at))
			memset(at, 0, value_bytes);
	}
}

/* Returns whether it stays. */
static bool edit_file(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	size_t name_bytes = cursor_u16(&c);
	const uint8_t *name_at = cursor_bytes(&c, name_bytes);
	char *name = (char *)data + 2, *bytes = name + name_bytes;
	size_t left = cursor_left(&c);

	if (!name_at)
		return false;
	if (name_bytes == 6 && !memcmp(name, "[vdso]", 6)) {
		edit_vdso(s, bytes, left);
		return true;
	}
	if (name_bytes == 14 && !memcmp(name, "/proc/kallsyms", 14)) {
		edit_symbol_lines(s, bytes, left, true);
		return true;
	}
	if (name_bytes > 4 && !memcmp(name, "jit-", 4))
		return edit_jitdump(s, (uint8_t *)bytes, left);
	if (name_bytes > 5 && !memcmp(name, "perf-", 5)) {
		edit_symbol_lines(s, bytes, left, false);
		return true;
	}
	if (!s->opts.unknown)
		return false;
	scrub_text(s, SCRUB_TEXT_PATH, SCRUB_LEFT_FILE, name, name_bytes);
	scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, bytes, left);
	return true;
}

/* ---- tables ---- */

/* Bytes after a malformed entry cannot be read. */
static void cut(struct scrub *s, size_t total_bytes, size_t *size_bytes)
{
	if (s->learning || s->opts.unknown || total_bytes == *size_bytes)
		return;
	*size_bytes = total_bytes;
	s->stats.dropped_count++;
}

static void edit_facts(struct scrub *s, uint8_t *data, size_t *size_bytes)
{
	struct cursor c = cursor_of(data, *size_bytes);
	size_t complete_bytes = 0;
	struct file_facts f;

	while (file_facts_next(&c, &f) > 0) {
		const struct file_facts_text *texts[] = { &f.path, &f.root, &f.cgroup };

		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			if (texts[i]->size_bytes)
				scrub_text(s, SCRUB_TEXT_PATH,
					   i == 2 ? SCRUB_LEFT_CGROUP : SCRUB_LEFT_FILE,
					   (char *)data + ((const uint8_t *)texts[i]->text - data),
					   texts[i]->size_bytes);
		complete_bytes = c.off_bytes;
	}
	cut(s, complete_bytes, size_bytes);
}

/*
 * namespace/pod/container: each may occur alone.  A very short one would be found by chance, and is
 * hidden here only.
 */
static void edit_container_name(struct scrub *s, char *name, size_t name_bytes)
{
	char *end = name + name_bytes, *next;
	size_t bytes;

	for (; name < end; name = next + 1) {
		next = memchr(name, '/', (size_t)(end - name)) ?: end;
		bytes = (size_t)(next - name);
		if (!s->learning)
			pseudonyms_put(s->p, PSEUDONYM_CONTAINER, name, bytes);
		else if (bytes >= WORD_MIN_BYTES)
			scrub_learn_word(s, PSEUDONYM_CONTAINER, name, bytes);
	}
}

static void edit_containers(struct scrub *s, uint8_t *data, size_t *size_bytes)
{
	struct cursor c = cursor_of(data, *size_bytes);
	size_t complete_bytes = 0;
	struct container_record_entry e;

	while (container_record_next(&c, &e) > 0) {
		char *name = (char *)data + ((const uint8_t *)e.name - data);

		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_CONTAINER,
			   (char *)data + ((const uint8_t *)e.id - data), e.id_bytes);
		if (!s->opts.wanted[PSEUDONYM_CONTAINER]) {
			scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_CONTAINER, name, e.name_bytes);
		} else {
			edit_container_name(s, name, e.name_bytes);
			scrub_note_left(s, SCRUB_LEFT_CONTAINER, name, e.name_bytes);
		}
		complete_bytes = c.off_bytes;
	}
	cut(s, complete_bytes, size_bytes);
}

static void hide_service(struct scrub *s, char *name, size_t name_bytes)
{
	if (s->opts.wanted[PSEUDONYM_CONTAINER])
		edit_container_name(s, name, name_bytes);
	else
		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_CONTAINER, name, name_bytes);
	scrub_note_left(s, SCRUB_LEFT_CONTAINER, name, name_bytes);
}

/* The names of services stay, and nothing else that processes published.  *size_bytes gets less. */
static void edit_contexts(struct scrub *s, uint8_t *data, size_t *size_bytes)
{
	struct cursor c = cursor_of(data, *size_bytes);
	size_t used = 0, complete_bytes = 0, name_bytes;
	struct context_record r;
	const char *name;

	while (context_record_next(&c, &r) > 0) {
		bool has = context_record_service(r.message, r.size_bytes, &name, &name_bytes);

		complete_bytes = c.off_bytes;
		if (has)
			hide_service(s, (char *)data + ((const uint8_t *)name - data), name_bytes);
		if (s->learning)
			continue;
		r.size_bytes = has ? (uint32_t)context_record_message(
					     name, name_bytes,
					     data + used + CONTEXT_RECORD_HEAD_BYTES)
				   : 0;
		context_record_encode(&r, data + used);
		used += CONTEXT_RECORD_HEAD_BYTES + r.size_bytes;
	}
	if (s->learning)
		return;
	s->stats.dropped_count += complete_bytes != *size_bytes;
	*size_bytes = used;
}

static void scrub_args(struct scrub *s, char *args, size_t size_bytes)
{
	size_t bytes;

	for (size_t at = 0; at < size_bytes; at += bytes + 1) {
		bytes = strnlen(args + at, size_bytes - at);
		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_ARGUMENT, args + at, bytes);
	}
}

/* A script is the first argument of its interpreter, and gives its name to the thread. */
static void learn_args(struct scrub *s, const char *args, size_t size_bytes)
{
	size_t bytes;

	for (size_t at = 0; at < size_bytes; at += bytes + 1) {
		bytes = strnlen(args + at, size_bytes - at);
		if (s->opts.wanted[PSEUDONYM_HOME] && memmem(args + at, bytes, "/home/", 6) &&
		    scrub_seen_add_hidden(&s->seen, args + at, bytes))
			s->err = -ENOMEM;
	}
}

/*
 * Command lines may hold anything, environments even more: these never stay.  *size_bytes gets less.
 * False: nothing stays.
 */
static bool edit_args(struct scrub *s, uint8_t *data, size_t *size_bytes)
{
	struct cursor c = cursor_of(data, *size_bytes);
	struct cmdline_record p;
	size_t used = 0, at;

	while (cmdline_record_next(&c, &p) > 0) {
		at = (size_t)((const uint8_t *)p.args - data);
		if (s->learning) {
			learn_args(s, (const char *)data + at, p.args_bytes);
			if (!s->opts.command_lines)
				scrub_args(s, (char *)data + at, p.args_bytes);
			continue;
		}
		s->stats.command_line_count++;
		if (s->opts.command_lines)
			continue;
		scrub_args(s, (char *)data + at, p.args_bytes);
		p.env_bytes = 0;
		p.flags &= ~(uint32_t)(CMDLINE_RECORD_ENV | CMDLINE_RECORD_ENV_CUT);
		memmove(data + used + CMDLINE_RECORD_HEAD_BYTES, data + at, p.args_bytes);
		cmdline_record_encode(&p, data + used);
		used += CMDLINE_RECORD_HEAD_BYTES + p.args_bytes;
	}
	if (s->learning)
		return true;
	*size_bytes = used;
	return used != 0;
}

bool scrub_object(void *ctx, const struct capture_object *o, uint8_t *data, size_t *size_bytes)
{
	struct scrub *s = ctx;
	bool keep = true;

	switch (o->kind) {
	case EBX_META:
		edit_meta(s, (char *)data, size_bytes);
		break;
	case EBX_MOUNTS:
		edit_mounts(s, (char *)data, *size_bytes);
		break;
	case EBX_NOTE:
		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, (char *)data, *size_bytes);
		scrub_program_words(s, (char *)data, *size_bytes);
		break;
	case EBX_FACTS:
		edit_facts(s, data, size_bytes);
		break;
	case EBX_CONTAINERS:
		edit_containers(s, data, size_bytes);
		break;
	case EBX_CONTEXTS:
		edit_contexts(s, data, size_bytes);
		break;
	case EBX_ARGS:
		return edit_args(s, data, size_bytes); /* no unknown kind: not among the dropped */
	case EBX_FILE:
		keep = edit_file(s, data, *size_bytes);
		break;
	case EBX_SYMTAB:
		keep = scrub_symtab(s, data, *size_bytes);
		break;
	default:
		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_NONE, (char *)data, *size_bytes);
		keep = s->opts.unknown;
		break;
	}
	s->stats.dropped_count += !keep && !s->learning;
	return keep;
}
