/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/function_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/function_label.h"
#include "format/text/escape.h"
#include "format/base/vec.h"

#define INLINED_MAX 64 /* frames of one place */

static const char unknown[] = "[unknown]";

/* The last blank, when nothing but a number follows it; else size_bytes. */
static size_t number_at_end(const char *text, size_t size_bytes)
{
	size_t at = size_bytes;

	while (at && (isdigit((unsigned char)text[at - 1]) || text[at - 1] == '.'))
		at--;
	return at && at < size_bytes && text[at - 1] == ' ' ? at - 1 : size_bytes;
}

int function_table_label(struct string_table *names, const char *text, const char *suffix,
			 uint32_t *out)
{
	size_t n = strlen(text), suffix_bytes = strlen(suffix), at, blank;
	size_t room = 4 * n + suffix_bytes + 4;
	char fixed[512], *label = fixed;
	int err;

	if (room > sizeof(fixed)) {
		label = malloc(room);
		if (!label)
			return -ENOMEM;
	}
	/* A reader of the lines would take the number for a second count. */
	blank = *suffix ? n : number_at_end(text, n);
	at = escape_into(ESCAPE_FOLDED, text, blank, label, room);
	if (blank < n) {
		memcpy(label + at, "\\x20", 4);
		memcpy(label + at + 4, text + blank + 1, n - blank - 1);
		at += 4 + n - blank - 1;
	}
	memcpy(label + at, suffix, suffix_bytes);
	err = string_table_add(names, label, at + suffix_bytes, out);
	if (label != fixed)
		free(label);
	return err;
}

static uint64_t hash_function(const struct function_table *n, const struct function *f)
{
	uint64_t hash = hash_index_pair(&n->index, (uint64_t)f->name << 32 | f->dso,
					(uint64_t)f->line << 32 | f->source);

	if (f->location || f->file)
		hash = hash_index_pair(&n->index, hash,
				       hash_index_pair(&n->index,
						       (uint64_t)f->file << 32 | f->line_number,
						       f->location));
	return hash_index_pair(&n->index, hash,
			       (uint64_t)f->reason << 2 | (uint64_t)f->is_inlined << 1 |
				       f->is_kernel);
}

static int add_function(struct function_table *n, const struct function *function, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(&n->index);
	if (err)
		return err;
	hash = hash_function(n, function);
	pos = hash_index_start(&n->index, hash);
	while ((id = hash_index_match(&n->index, hash, &pos)) != HASH_INDEX_NONE) {
		const struct function *f = &n->functions[id];

		if (f->name == function->name && f->dso == function->dso &&
		    f->reason == function->reason && f->is_kernel == function->is_kernel &&
		    f->is_inlined == function->is_inlined && f->line == function->line &&
		    f->source == function->source && f->location == function->location &&
		    f->file == function->file && f->line_number == function->line_number) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&n->functions, &n->function_capacity, n->function_count + 1);
	if (err)
		return err;
	id = (uint32_t)n->function_count++;
	n->functions[id] = *function;
	hash_index_put(&n->index, hash, pos, id);
	*out = id;
	return 0;
}

int function_table_add_label(struct function_table *n, struct string_table *names, const char *name,
			     const char *dso, uint32_t *out)
{
	struct function function = { .is_kernel = true };
	int err = string_table_add(names, name, strlen(name), &function.name);

	if (!err)
		err = string_table_add(names, dso, strlen(dso), &function.dso);
	return err ? err : add_function(n, &function, out);
}

/*
 * The resolver gives the same pointers for the same function, and most places are in few functions:
 * the last answer for a pointer saves hashing its text.
 */
struct recent {
	const char *name, *dso;
	uint32_t function, source;
	uint8_t reason;
	bool is_kernel;
};

#define RECENT_SLOTS 4096

static struct recent *recent_of(struct recent *slots, const struct resolved *r)
{
	return &slots[hash_fold((uintptr_t)r->name, (uintptr_t)r->dso) % RECENT_SLOTS];
}

static bool is_recent(const struct recent *recent, const struct resolved *r, bool is_kernel,
		      uint32_t source)
{
	return recent->dso && recent->name == r->name && recent->dso == r->dso &&
	       recent->reason == r->reason && recent->is_kernel == is_kernel &&
	       recent->source == source;
}

/* A function for the resolver's answer about a location. */
static int from_resolved(struct function_table *n, const struct resolved *r, bool is_kernel,
			 uint32_t source, uint32_t location, struct string_table *names,
			 uint32_t *out)
{
	struct function f = { .reason = (uint8_t)r->reason,
			      .is_kernel = is_kernel,
			      .source = source,
			      .location = location };
	const char *dso = r->dso && *r->dso ? r->dso : unknown, *base;
	char *bracketed;
	size_t size;
	int err, printed;

	err = string_table_add(names, dso, strlen(dso), &f.dso);
	if (err)
		return err;
	if (r->name) {
		err = string_table_add(names, r->name, strlen(r->name), &f.name);
		return err ? err : add_function(n, &f, out);
	}
	base = function_label_base(dso, &size);
	if (*base == '[' || !size)
		printed = asprintf(&bracketed, "%.*s", (int)size, size ? base : unknown);
	else
		printed = asprintf(&bracketed, "[%.*s]", (int)size, base);
	if (printed < 0)
		return -ENOMEM;
	err = string_table_add(names, bracketed, strlen(bracketed), &f.name);
	free(bracketed);
	return err ? err : add_function(n, &f, out);
}

struct files {
	const struct process_model *model;
	struct resolver *resolver;
	uint32_t *ids; /* of the resolver by number of the model, + 1; 0: not made yet */
	struct recent *recent;
	const struct function_table_query *query;
	bool keep;
};

uint32_t function_table_file(const struct process_model *model, uint32_t file,
			     struct resolver *resolver)
{
	const struct process_model_file *m = process_model_file(model, file);
	struct resolver_file add = {
		.path = m->path,
		.id = m->id,
		.jit_pid = m->jit_pid,
	};

	return resolver_add_file(resolver, &add);
}

static int resolver_file(struct files *f, uint32_t file, uint32_t *out)
{
	uint32_t id;

	if (!f->ids[file]) {
		id = function_table_file(f->model, file, f->resolver);
		if (id == UINT32_MAX)
			return -ENOMEM;
		f->ids[file] = id + 1;
	}
	*out = f->ids[file] - 1;
	return 0;
}

/* Where place number i is.  0, or with locations its number + 1. */
static uint32_t note_location(struct function_table *n, const struct location *p, size_t i,
			      const struct resolved *r, uint32_t file)
{
	if (!n->locations)
		return 0;
	n->locations[i] = (struct function_location){
		.offset = p->offset,
		.into_bytes = r->name && p->kind != LOCATION_KSYMBOL ? r->into_bytes
								     : RESOLVED_INTO_UNKNOWN,
		.source = p->kind == LOCATION_FILE ? file + 1 : 0,
		.is_return = p->is_return,
	};
	return (uint32_t)i + 1;
}

static int name_place(struct function_table *n, const struct location *p, size_t i,
		      struct files *files, struct string_table *names)
{
	struct resolved fixed = { .dso = "[guest]", .reason = NAME_NO_MAP };
	const struct resolved *r = &fixed;
	bool is_kernel = p->kind == LOCATION_KERNEL || p->kind == LOCATION_KSYMBOL;
	uint32_t file = 0, source = 0, location, *out = &n->by_place[i];
	struct recent *recent;
	int err;

	switch (p->kind) {
	case LOCATION_FILE:
		err = resolver_file(files, p->file, &file);
		if (err)
			return err;
		source = files->query->with_sources ? file + 1 : 0;
		if (files->keep)
			fixed = *resolver_user(files->resolver, file, p->offset, p->is_return);
		else
			resolver_user_once(files->resolver, file, p->offset, p->is_return, &fixed);
		resolver_set_path(files->resolver, file,
				  process_model_file(files->model, p->file)->path, &fixed);
		break;
	case LOCATION_KERNEL:
		r = resolver_kernel(files->resolver, p->offset, p->is_return);
		break;
	case LOCATION_KSYMBOL:
		fixed.name = process_model_file(files->model, p->file)->path;
		fixed.dso = strncmp(fixed.name, "bpf_", 4) ? "[kernel.kallsyms]" : "[bpf]";
		fixed.reason = NAME_FOUND;
		break;
	case LOCATION_UNMAPPED:
		r = resolver_unmapped(files->resolver, p->offset);
		break;
	case LOCATION_HYPERVISOR:
		fixed.dso = "[hypervisor]";
		break;
	default:
		break;
	}
	location = note_location(n, p, i, r, file);
	recent = recent_of(files->recent, r);
	if (!location && is_recent(recent, r, is_kernel, source)) {
		*out = recent->function;
		return 0;
	}
	err = from_resolved(n, r, is_kernel, source, location, names, out);
	if (!err)
		*recent = (struct recent){ r->name,  r->dso, *out, source, (uint8_t)r->reason,
					   is_kernel };
	return err;
}

/* ---- source lines and inlined functions ---- */

static int line_text(const struct source_frame *frame, struct string_table *names, uint32_t *out)
{
	const char *base = frame->file ? strrchr(frame->file, '/') : NULL;
	char *text;
	int err, size;

	if (!frame->file || !frame->line)
		return 0;
	size = asprintf(&text, "%s:%u", base ? base + 1 : frame->file, frame->line);
	if (size < 0)
		return -ENOMEM;
	err = string_table_add(names, text, (size_t)size, out);
	free(text);
	return err;
}

/* The line as reports show it, and where locations are asked for, in which file it is. */
static int note_line(const struct function_table *n, const struct source_frame *frame,
		     struct string_table *names, struct function *f)
{
	int err = line_text(frame, names, &f->line);

	if (err || !n->locations || !f->line)
		return err;
	f->line_number = frame->line;
	return string_table_add(names, frame->file, strlen(frame->file), &f->file);
}

static int add_inlined(struct function_table *n, const struct source_frame *frame, uint32_t into,
		       bool with_lines, struct string_table *names)
{
	const char *name = frame->function ? frame->function : unknown;
	struct function f = { .dso = n->functions[into].dso,
			      .source = n->functions[into].source,
			      .is_inlined = true };
	int err;

	err = string_table_add(names, name, strlen(name), &f.name);
	if (!err && with_lines)
		err = note_line(n, frame, names, &f);
	if (!err)
		err = vec_reserve(&n->inlined, &n->inlined_capacity, n->inlined_count + 1);
	if (!err)
		err = add_function(n, &f, &n->inlined[n->inlined_count]);
	if (!err)
		n->inlined_count++;
	return err;
}

/* The line in the function itself; where inlined functions are not frames, the innermost. */
static int add_line(struct function_table *n, const struct source_frame *frame,
		    struct string_table *names, uint32_t *function)
{
	struct function f = n->functions[*function];
	int err = note_line(n, frame, names, &f);

	return err || !f.line ? err : add_function(n, &f, function);
}

static int frames_of_place(struct function_table *n, const struct location *p, uint32_t *function,
			   struct files *files, struct string_table *names)
{
	struct source_frame frames[INLINED_MAX];
	uint32_t file;
	size_t count;
	int err;

	if (p->kind != LOCATION_FILE)
		return 0;
	err = resolver_file(files, p->file, &file);
	if (err)
		return err;
	count = resolver_frames(files->resolver, file, p->offset, p->is_return, frames,
				INLINED_MAX);
	if (count && files->query->with_lines)
		err = add_line(n, &frames[files->query->with_inlined ? count - 1 : 0], names,
			       function);
	for (size_t i = count && files->query->with_inlined ? count - 1 : 0; !err && i--;)
		err = add_inlined(n, &frames[i], *function, files->query->with_lines, names);
	return err;
}

static int find_frames(struct function_table *n, const struct locations *places,
		       struct files *files, struct string_table *names)
{
	int err = 0;

	n->inlined_first = calloc(places->count + 1, sizeof(*n->inlined_first));
	if (!n->inlined_first)
		return -ENOMEM;
	for (size_t i = 0; !err && i < places->count; i++) {
		err = frames_of_place(n, &places->list[i], &n->by_place[i], files, names);
		if (n->inlined_count >= UINT32_MAX)
			err = -EOVERFLOW;
		n->inlined_first[i + 1] = (uint32_t)n->inlined_count;
	}
	return err;
}

int function_table_run(struct function_table *n, const struct process_model *model,
		       const struct locations *places, struct resolver *resolver,
		       struct string_table *names, const struct function_table_query *query)
{
	struct files files = {
		.model = model,
		.resolver = resolver,
		.query = query,
		.keep = query->keep_resolved || query->with_inlined || query->with_lines,
	};
	int err = 0;

	files.ids = calloc((size_t)process_model_file_count(model) + 1, sizeof(*files.ids));
	files.recent = calloc(RECENT_SLOTS, sizeof(*files.recent));
	n->by_place = calloc(places->count + 1, sizeof(*n->by_place));
	if (query->with_locations)
		n->locations = calloc(places->count + 1, sizeof(*n->locations));
	if (!files.ids || !files.recent || !n->by_place || (query->with_locations && !n->locations))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < places->count; i++)
		err = name_place(n, &places->list[i], i, &files, names);
	if (!err && (query->with_inlined || query->with_lines))
		err = find_frames(n, places, &files, names);
	free(files.ids);
	free(files.recent);
	return err;
}

void function_table_done(struct function_table *n)
{
	free(n->functions);
	free(n->by_place);
	free(n->inlined);
	free(n->inlined_first);
	free(n->locations);
	hash_index_done(&n->index);
	*n = (struct function_table){ 0 };
}
