/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * trace_data - the HEADER_TRACING_DATA section: the formats of a capture's tracepoints
 *
 * perf writes the same section with more in it (printk formats, the kernel's symbols, saved
 * command lines); none of that is needed to print an event, so these parts are empty here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/perf/trace_data.h"

#define MARK_FIXED_BYTES      40 /* common header, duration, kind, three string descriptors, id */
#define MARK_OLD_FIXED_BYTES  32 /* before marks had ids */
#define MARK_STRING_MAX_BYTES 512
#define COMMON_PID_OFF        4

/* Every tracepoint begins with this. */
#define COMMON_FIELDS                                                                  \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char mark_format[] =
	"name: mark\n"
	"ID: 65000\n" COMMON_FIELDS "\tfield:u64 duration;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 kind;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] group;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] msg;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 id;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%s/%s%s dur=%llu ns: %s\", __get_str(group), __get_str(name), "
	"__print_symbolic(REC->kind, { 0, \"\" }, { 1, \" begin\" }, { 2, \" end\" }, "
	"{ 3, \" span\" }), REC->duration, __get_str(msg)\n";

static const char waker_format[] = "name: waker\n"
				   "ID: 65002\n" COMMON_FIELDS
				   "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield:u32 irq;\toffset:12;\tsize:4;\tsigned:0;\n"
				   "\tfield:u32 stack;\toffset:16;\tsize:4;\tsigned:0;\n\n"
				   "print fmt: \"pid=%d irq=%u\", REC->pid, REC->irq\n";

static const char exit_format[] =
	"name: exit\n"
	"ID: 65003\n" COMMON_FIELDS "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t tid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t ppid;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:int nice;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 policy;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 runtime;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 voluntary;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 involuntary;\toffset:64;\tsize:8;\tsigned:0;\n"
	"\tfield:int code;\toffset:72;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d tid=%d ppid=%d prio=%d nice=%d policy=%u runtime=%llu "
	"voluntary=%llu involuntary=%llu code=%d\", REC->comm, REC->pid, REC->tid, REC->ppid, "
	"REC->prio, REC->nice, REC->policy, REC->runtime, REC->voluntary, REC->involuntary, "
	"REC->code\n";

/* The page layout of the kernel's trace ring on a 64-bit machine; perf parses it and goes on. */
static const char standard_header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

const char *trace_data_mark_format(void)
{
	return mark_format;
}

const char *trace_data_exit_format(void)
{
	return exit_format;
}

const char *trace_data_waker_format(void)
{
	return waker_format;
}

const char *trace_data_common_fields(void)
{
	return COMMON_FIELDS;
}

/* ---- the section ---- */

/* A run of bytes that grows; with data NULL it only counts. */
struct sink {
	uint8_t *data;
	size_t size_bytes;
};

static void put(struct sink *s, const void *data, size_t size_bytes)
{
	if (s->data)
		memcpy(s->data + s->size_bytes, data, size_bytes);
	s->size_bytes += size_bytes;
}

static void put_u32(struct sink *s, uint32_t v)
{
	uint8_t bytes[4];

	le32_store(bytes, v);
	put(s, bytes, sizeof(bytes));
}

static void put_u64(struct sink *s, uint64_t v)
{
	uint8_t bytes[8];

	le64_store(bytes, v);
	put(s, bytes, sizeof(bytes));
}

static void put_text(struct sink *s, const char *text)
{
	size_t size_bytes = strlen(text);

	put_u64(s, size_bytes);
	put(s, text, size_bytes);
}

/* Whether events[i] is the first of its system; the others stand behind it. */
static int is_first(const struct trace_data_event *events, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(events[k].system, events[i].system))
			return 0;
	return 1;
}

static void put_system(struct sink *s, const struct trace_data_event *events, size_t event_count,
		       size_t first)
{
	const char *system = events[first].system;
	uint32_t count = 0;
	size_t i;

	for (i = first; i < event_count; i++)
		count += !strcmp(events[i].system, system);
	put(s, system, strlen(system) + 1);
	put_u32(s, count);
	for (i = first; i < event_count; i++)
		if (!strcmp(events[i].system, system))
			put_text(s, events[i].format);
}

static void put_section(struct sink *s, const struct trace_data_event *events, size_t event_count,
			const char *header_page)
{
	static const char magic[] = "\x17\x08\x44tracing0.6"; /* the last with its NUL */
	static const uint8_t little_endian_64[] = { 0, 8 };
	uint32_t system_count = 0;
	size_t i;

	put(s, magic, sizeof(magic));
	put(s, little_endian_64, sizeof(little_endian_64));
	put_u32(s, 4096);
	put(s, "header_page", sizeof("header_page"));
	put_text(s, header_page ? header_page : standard_header_page);
	put(s, "header_event", sizeof("header_event"));
	put_u64(s, 0);
	put_u32(s, 0); /* ftrace's own formats */
	for (i = 0; i < event_count; i++)
		system_count += (uint32_t)is_first(events, i);
	put_u32(s, system_count);
	for (i = 0; i < event_count; i++)
		if (is_first(events, i))
			put_system(s, events, event_count, i);
	put_u32(s, 0); /* kallsyms */
	put_u32(s, 0); /* printk formats */
	put_u64(s, 0); /* saved command lines */
}

int trace_data_build(const struct trace_data_event *events, size_t event_count,
		     const char *header_page, uint8_t **out, size_t *size_bytes)
{
	struct sink s = { 0 };
	size_t counted_bytes;

	put_section(&s, events, event_count, header_page);
	counted_bytes = s.size_bytes;
	s = (struct sink){ .data = malloc(counted_bytes) };
	if (!s.data)
		return -ENOMEM;
	put_section(&s, events, event_count, header_page);
	*out = s.data;
	*size_bytes = s.size_bytes;
	return 0;
}

/* ---- reading format texts ---- */

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

static int parse_u32(const char *digits, char end, uint32_t *out)
{
	uint64_t v = 0;
	const char *p;

	for (p = digits; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (uint64_t)(*p - '0');
		if (v > UINT32_MAX)
			return -EBADMSG;
	}
	if (p == digits || *p != end)
		return -EBADMSG;
	*out = (uint32_t)v;
	return 0;
}

int trace_data_format_id(const char *format, uint32_t *out)
{
	const char *line;

	for (line = format; line; line = next_line(line))
		if (!strncmp(line, "ID: ", 4))
			return parse_u32(line + 4, '\n', out);
	return -EBADMSG;
}

/* Whether the declaration [decl, end) declares `name`: its last word, leaving out "[16]". */
static int declares(const char *decl, const char *end, const char *name)
{
	size_t name_bytes = strlen(name);
	const char *p;

	if (end > decl && end[-1] == ']')
		while (end > decl && *--end != '[')
			;
	for (p = end; p > decl && p[-1] != ' '; p--)
		;
	return (size_t)(end - p) == name_bytes && !memcmp(p, name, name_bytes);
}

/* The number behind key in one line. */
static int line_number(const char *line, const char *line_end, const char *key, uint32_t *out)
{
	const char *p = strstr(line, key);

	if (!p || p >= line_end)
		return -EBADMSG;
	return parse_u32(p + strlen(key), ';', out);
}

int trace_data_format_field(const char *format, const char *name, struct trace_data_field *out)
{
	static const char start[] = "\tfield:";
	const char *line, *decl, *end;

	for (line = format; line; line = next_line(line)) {
		struct trace_data_field f;

		if (strncmp(line, start, strlen(start)))
			continue;
		decl = line + strlen(start);
		end = decl + strcspn(decl, ";\n");
		if (!declares(decl, end, name))
			continue;
		line = end;
		end = line + strcspn(line, "\n");
		if (line_number(line, end, "\toffset:", &f.off_bytes) ||
		    line_number(line, end, "\tsize:", &f.size_bytes) ||
		    f.off_bytes > UINT32_MAX - f.size_bytes)
			return -EBADMSG;
		*out = f;
		return 0;
	}
	return -ENOENT;
}

/* ---- marks ---- */

bool trace_data_mark_is_reserved(const char *group)
{
	static const char *const words[] = { "log", "dbus" };
	size_t bytes = strcspn(group, ":");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == bytes && !memcmp(words[i], group, bytes))
			return true;
	return false;
}

/* The bytes of text that fit: never a part of a character. */
static size_t fitting_bytes(const char *text)
{
	size_t n = strnlen(text, MARK_STRING_MAX_BYTES + 1), back = 0;

	if (n <= MARK_STRING_MAX_BYTES)
		return n;
	n = MARK_STRING_MAX_BYTES;
	while (back < 3 && ((uint8_t)text[n - back] & 0xc0) == 0x80)
		back++;
	return ((uint8_t)text[n - back] & 0xc0) == 0xc0 ? n - back : n;
}

size_t trace_data_mark_encode(uint8_t *out, size_t out_bytes, uint32_t tid,
			      const struct trace_data_mark *m)
{
	const char *strings[3] = { m->group, m->name, m->message };
	size_t i, size_bytes = MARK_FIXED_BYTES, at = MARK_FIXED_BYTES, lengths[3];

	for (i = 0; i < 3; i++) {
		lengths[i] = fitting_bytes(strings[i]);
		size_bytes += lengths[i] + 1;
	}
	size_bytes = ((size_bytes + 4 + 7) & ~(size_t)7) - 4;
	if (size_bytes > out_bytes)
		return 0;
	memset(out, 0, size_bytes);
	le16_store(out, TRACE_DATA_MARK_ID);
	le32_store(out + COMMON_PID_OFF, tid);
	le64_store(out + 8, m->duration_ns);
	le32_store(out + 16, m->kind);
	for (i = 0; i < 3; i++) {
		le32_store(out + 20 + 4 * i, (uint32_t)((lengths[i] + 1) << 16 | at));
		memcpy(out + at, strings[i], lengths[i]);
		at += lengths[i] + 1;
	}
	le64_store(out + 32, m->id);
	return size_bytes;
}

/* The string that the descriptor at off points to; NULL: it has no end within the record. */
static const char *string_at(const uint8_t *raw, size_t size_bytes, size_t off)
{
	uint32_t place = le32_load(raw + off);
	struct cursor c = cursor_of(raw, size_bytes);

	cursor_skip(&c, place & 0xffff);
	return (place & 0xffff) < MARK_OLD_FIXED_BYTES ? NULL : cursor_str(&c);
}

int trace_data_mark_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_mark *out)
{
	struct trace_data_mark m = { 0 };

	if (size_bytes < MARK_OLD_FIXED_BYTES || le16_load(raw) != TRACE_DATA_MARK_ID)
		return -EBADMSG;
	m.duration_ns = le64_load(raw + 8);
	m.kind = le32_load(raw + 16);
	m.group = string_at(raw, size_bytes, 20);
	m.name = string_at(raw, size_bytes, 24);
	m.message = string_at(raw, size_bytes, 28);
	if (!m.group || !m.name || !m.message)
		return -EBADMSG;
	/* The strings begin behind all other fields. */
	if (size_bytes >= MARK_FIXED_BYTES && le16_load(raw + 20) >= MARK_FIXED_BYTES)
		m.id = le64_load(raw + 32);
	*out = m;
	return 0;
}

/* ---- wakers ---- */

void trace_data_waker_encode(uint8_t out[TRACE_DATA_WAKER_BYTES], uint32_t by_tid,
			     const struct trace_data_waker *w)
{
	memset(out, 0, TRACE_DATA_WAKER_BYTES);
	le16_store(out, TRACE_DATA_WAKER_ID);
	le32_store(out + COMMON_PID_OFF, by_tid);
	le32_store(out + 8, w->tid);
	le32_store(out + 12, w->irq);
	memcpy(out + 16, w->stack, sizeof(w->stack));
}

int trace_data_waker_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_waker *out)
{
	if (size_bytes < TRACE_DATA_WAKER_BYTES || le16_load(raw) != TRACE_DATA_WAKER_ID)
		return -EBADMSG;
	out->tid = le32_load(raw + 8);
	out->irq = le32_load(raw + 12);
	memcpy(out->stack, raw + 16, sizeof(out->stack));
	return 0;
}

/* ---- exits ---- */

void trace_data_exit_encode(uint8_t out[TRACE_DATA_EXIT_BYTES], const struct trace_data_exit *e)
{
	memset(out, 0, TRACE_DATA_EXIT_BYTES);
	le16_store(out, TRACE_DATA_EXIT_ID);
	le32_store(out + COMMON_PID_OFF, e->tid);
	memcpy(out + 8, e->comm, strnlen(e->comm, sizeof(e->comm)));
	le32_store(out + 24, e->pid);
	le32_store(out + 28, e->tid);
	le32_store(out + 32, e->ppid);
	le32_store(out + 36, (uint32_t)e->prio);
	le32_store(out + 40, (uint32_t)e->nice);
	le32_store(out + 44, e->policy);
	le64_store(out + 48, e->runtime_ns);
	le64_store(out + 56, e->voluntary);
	le64_store(out + 64, e->involuntary);
	le32_store(out + 72, (uint32_t)e->code);
}

int trace_data_exit_decode(const uint8_t *raw, size_t size_bytes, struct trace_data_exit *out)
{
	if (size_bytes < TRACE_DATA_EXIT_BYTES || le16_load(raw) != TRACE_DATA_EXIT_ID)
		return -EBADMSG;
	memcpy(out->comm, raw + 8, sizeof(out->comm));
	out->pid = le32_load(raw + 24);
	out->tid = le32_load(raw + 28);
	out->ppid = le32_load(raw + 32);
	out->prio = (int32_t)le32_load(raw + 36);
	out->nice = (int32_t)le32_load(raw + 40);
	out->policy = le32_load(raw + 44);
	out->runtime_ns = le64_load(raw + 48);
	out->voluntary = le64_load(raw + 56);
	out->involuntary = le64_load(raw + 64);
	out->code = (int32_t)le32_load(raw + 72);
	return 0;
}
