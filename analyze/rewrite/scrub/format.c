/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/format.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/tracepoint/tracepoint_format.h"
#include "analyze/rewrite/scrub/seen.h"
#include "format/base/vec.h"
#include "format/perf/trace_data.h"

#define FIELDS_MAX 192

/* Fields that kernel, perf and our own tables have for addresses of memory and code. */
static bool is_address_name(const char *name, size_t bytes)
{
	static const char *const names[] = { "address",   "addr",   "ip",        "ptr",
					     "call_site", "caller", "func",      "function",
					     "vaddr",     "args",   "arg0",      "arg1",
					     "arg2",      "arg3",   "arg4",      "arg5",
					     "sp",        "regs",   "parent_ip", "is_map_start" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == bytes && !memcmp(name, names[i], bytes))
			return true;
	return false;
}

/* "char map_name[32]": of a file whose folder is not recorded, which may be below /home. */
static bool is_file_name(const char *decl, size_t bytes)
{
	return memmem(decl, bytes, " map_name[", 10);
}

/* "char prev_comm[16]", "__data_loc char[] comm": a thread's, which newer kernels give no fixed size. */
static bool is_comm(const char *decl, size_t bytes, const struct scrub_field *f)
{
	if (f->how == SCRUB_FIXED)
		return f->size_bytes == SCRUB_SEEN_COMM_BYTES;
	return bytes > 5 && !memcmp(decl + bytes - 4, "comm", 4) &&
	       (decl[bytes - 5] == ' ' || decl[bytes - 5] == '_');
}

/* "void * ptr", "unsigned long args[6]": whether it may be an address. */
static bool is_address(const char *decl, size_t bytes)
{
	const char *array = memchr(decl, '[', bytes);
	size_t end = array ? (size_t)(array - decl) : bytes, from;

	for (from = end; from && (isalnum((unsigned char)decl[from - 1]) || decl[from - 1] == '_');)
		from--;
	return memchr(decl, '*', bytes) || is_address_name(decl + from, end - from);
}

/* A line of a format text: "	field:char comm[16];	offset:8;	size:16;	signed:0;" */
static int add_field(struct scrub_format *format, const char *line, size_t size_bytes)
{
	const char *decl = memmem(line, size_bytes, "field:", 6),
		   *off = memmem(line, size_bytes, "offset:", 7),
		   *size = memmem(line, size_bytes, "size:", 5), *text;
	struct scrub_field f = { .how = SCRUB_FIXED };
	size_t decl_bytes;

	if (!decl || !off || !size || decl > off)
		return 0;
	if (format->field_count == FIELDS_MAX) {
		format->are_known = false;
		return 0;
	}
	if (vec_reserve(&format->fields, &format->field_capacity, format->field_count + 1))
		return -ENOMEM;
	decl += 6;
	decl_bytes = strcspn(decl, ";\n");
	text = memmem(decl, decl_bytes, "char ", 5);
	if (!text)
		text = memmem(decl, decl_bytes, "char[]", 6);
	f.is_text = text && memchr(decl, '[', decl_bytes);
	f.is_file_name = f.is_text && is_file_name(decl, decl_bytes);
	f.is_address = !f.is_text && is_address(decl, decl_bytes);
	if (memmem(decl, decl_bytes, "__data_loc", 10))
		f.how = SCRUB_DATA_LOC;
	else if (memmem(decl, decl_bytes, "__rel_loc", 9))
		f.how = SCRUB_REL_LOC;
	f.off_bytes = (uint32_t)strtoul(off + 7, NULL, 10);
	f.size_bytes = (uint32_t)strtoul(size + 5, NULL, 10);
	f.is_comm = f.is_text && is_comm(decl, decl_bytes, &f);
	format->fields[format->field_count++] = f;
	return 0;
}

bool scrub_format_is_probe(const char *text, size_t size_bytes)
{
	/* trace_kprobe.c, trace_uprobe.c: one address at an entry, two at a return */
	return memmem(text, size_bytes, " __probe_ip;", 12) ||
	       memmem(text, size_bytes, " __probe_func;", 14);
}

static int read_fields(struct scrub_format *f, const char *text)
{
	static const char ours[] = "name: sched_switch\n";
	int err = 0;

	f->are_known = true;
	f->is_probe = scrub_format_is_probe(text, strlen(text));
	f->is_switch = !strncmp(text, ours, sizeof(ours) - 1);
	while (*text && !err) {
		size_t size = strcspn(text, "\n");

		err = add_field(f, text, size);
		text += size + (text[size] == '\n');
	}
	return err;
}

/* *pos: where it would be put. */
static uint32_t look_up(const struct scrub_formats *f, uint64_t id, uint64_t hash, uint32_t *pos)
{
	uint32_t found;

	*pos = hash_index_start(&f->by_id, hash);
	while ((found = hash_index_match(&f->by_id, hash, pos)) != HASH_INDEX_NONE)
		if (f->list[found].id == id)
			break;
	return found;
}

/* Where two have one number, the first one is the format of its events. */
static int add_format(struct scrub_formats *f, const char *text)
{
	struct scrub_format one = { .fields = NULL };
	uint32_t id, pos;
	uint64_t hash;
	int err;

	if (trace_data_format_id(text, &id))
		return 0;
	one.id = id;
	if (hash_index_reserve(&f->by_id))
		return -ENOMEM;
	hash = hash_index_pair(&f->by_id, id, 0);
	if (look_up(f, id, hash, &pos) != HASH_INDEX_NONE)
		return 0;
	if (f->count >= HASH_INDEX_NONE - 1 || vec_reserve(&f->list, &f->capacity, f->count + 1))
		return -ENOMEM;
	err = read_fields(&one, text);
	hash_index_put(&f->by_id, hash, pos, (uint32_t)f->count);
	f->list[f->count++] = one;
	return err;
}

static int copy_and_add(void *ctx, const char *system, const char *text, size_t size_bytes)
{
	char *copy = strndup(text, size_bytes);
	int err = copy ? add_format(ctx, copy) : -ENOMEM;

	(void)system;
	free(copy);
	return err;
}

int scrub_formats_read(struct scrub_formats *f, const uint8_t *section, size_t section_bytes)
{
	int err = tracepoint_format_each(section, section_bytes, copy_and_add, f);

	return err == -ENOMEM ? err : 0;
}

void scrub_formats_done(struct scrub_formats *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->list[i].fields);
	free(f->list);
	hash_index_done(&f->by_id);
	*f = (struct scrub_formats){ 0 };
}

const struct scrub_format *scrub_formats_find(const struct scrub_formats *f, uint64_t id)
{
	uint32_t pos, found;

	if (!f->count)
		return NULL;
	found = look_up(f, id, hash_index_pair(&f->by_id, id, 0), &pos);
	return found != HASH_INDEX_NONE ? &f->list[found] : NULL;
}
