/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The lines of the chosen functions, and the source files that they are in. */
#include <stdlib.h>
#include <string.h>

#include "format/base/interpreted_code.h"
#include "format/base/vec.h"
#include "analyze/report/annotate/annotate_priv.h"

#define NO_RESOLVER_FILE UINT32_MAX
#define TEXT_MAX_BYTES   (256u << 20) /* of all source files */

static int add_line(struct annotate *a, const struct annotate_line *line)
{
	int err;

	if (!line->file)
		return 0;
	err = vec_reserve(&a->lines, &a->line_capacity, a->line_count + 1);
	if (!err)
		a->lines[a->line_count++] = *line;
	return err;
}

static uint32_t resolver_file_of(const struct function_location *at)
{
	return at->source ? at->source - 1 : NO_RESOLVER_FILE;
}

/* Where the compiled function begins, for the head of its text. */
static int add_start(struct annotate_look *l, uint32_t function, const struct function_location *at)
{
	struct annotate_line line = {
		.function = function, .source = at->source, .is_own = true, .is_start = true
	};
	struct source_frame frames[ANNOTATE_FRAMES_MAX];
	size_t count;
	int err;

	if (!at->source || at->into_bytes > at->offset)
		return 0;
	count = resolver_frames(l->resolver, resolver_file_of(at), at->offset - at->into_bytes,
				false, frames, ANNOTATE_FRAMES_MAX);
	if (!count || !frames[count - 1].file || !frames[count - 1].line)
		return 0;
	line.number = frames[count - 1].line;
	err = string_table_add(l->names, frames[count - 1].file, strlen(frames[count - 1].file),
			       &line.file);
	return err ? err : add_line(l->a, &line);
}

/* Those of the chain from the function on; lines are of what it is, or was inlined into it. */
static int add_lines(struct annotate_look *l, const struct annotate_chain *chain, size_t from,
		     const struct function_location *at)
{
	uint32_t function = annotate_number_of(l->a, chain->functions[from]);
	int err = 0;

	for (size_t i = from; !err && i < chain->count; i++) {
		const struct function *f = &l->n->functions[chain->functions[i]];
		const struct annotate_line line = { .function = function,
						    .file = f->file,
						    .number = f->line_number,
						    .source = at->source,
						    .is_own = i == from };

		err = add_line(l->a, &line);
	}
	return err;
}

int annotate_lines_add(struct annotate_look *l, const struct annotate_chain *chain, size_t from,
		       const struct function_location *at)
{
	uint32_t function = annotate_number_of(l->a, chain->functions[from]);
	struct annotated *f = &l->a->functions[function];
	int err = 0;

	if (!from && !f->has_start && at->into_bytes != RESOLVED_INTO_UNKNOWN) {
		f->has_start = true;
		err = add_start(l, function, at);
	}
	f->source = at->source;
	return err ? err : add_lines(l, chain, from, at);
}

int annotate_compare_lines(const void *x, const void *y)
{
	const struct annotate_line *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void annotate_lines_unite(struct annotate *a)
{
	size_t used = 0;

	if (a->line_count)
		qsort(a->lines, a->line_count, sizeof(*a->lines), annotate_compare_lines);
	for (size_t i = 0; i < a->line_count; i++) {
		struct annotate_line *line = used ? &a->lines[used - 1] : NULL;

		if (!line || annotate_compare_lines(line, &a->lines[i]) != 0) {
			a->lines[used++] = a->lines[i];
			continue;
		}
		line->is_own |= a->lines[i].is_own;
		line->is_start |= a->lines[i].is_start;
	}
	a->line_count = used;
	for (size_t i = 0; i < used; i++) {
		struct annotated *f = &a->functions[a->lines[i].function];

		if (!f->line_count++)
			f->first_line = i;
	}
}

/* ---- source files ---- */

static int compare_files(const void *x, const void *y)
{
	const struct annotate_file *a = x, *b = y;

	return a->path < b->path ? -1 : a->path > b->path;
}

const struct annotate_file *annotate_file_of(const struct annotate *a, uint32_t path)
{
	const struct annotate_file key = { .path = path };

	return a->file_count ? bsearch(&key, a->files, a->file_count, sizeof(key), compare_files)
			     : NULL;
}

static void read_file(struct annotate_look *l, struct annotate_file *f)
{
	const uint32_t program = f->source ? f->source - 1 : NO_RESOLVER_FILE;
	struct resolver_source code;
	uint64_t made_ns;

	f->err = l->text_bytes > TEXT_MAX_BYTES
			 ? -EFBIG
			 : resolver_text(l->resolver, program, string_table_text(l->names, f->path),
					 &f->text);
	if (f->err)
		return;
	l->text_bytes += f->text.size_bytes;
	made_ns = resolver_file_mtime_ns(l->resolver, program);
	f->is_newer = made_ns && f->text.mtime_ns > made_ns;
	f->is_newer_than_recording = resolver_source(l->resolver, program, &code) &&
				     interpreted_code_is_file(code.path) && l->query->recorded_ns &&
				     f->text.mtime_ns > l->query->recorded_ns;
}

int annotate_sources_read(struct annotate_look *l)
{
	struct annotate *a = l->a;
	size_t used = 0;
	int err = 0;

	for (size_t i = 0; !err && i < a->line_count; i++) {
		err = vec_reserve(&a->files, &a->file_capacity, a->file_count + 1);
		if (!err)
			a->files[a->file_count++] = (struct annotate_file){
				.path = a->lines[i].file, .source = a->lines[i].source
			};
	}
	if (a->file_count)
		qsort(a->files, a->file_count, sizeof(*a->files), compare_files);
	for (size_t i = 0; i < a->file_count; i++)
		if (!used || a->files[used - 1].path != a->files[i].path)
			a->files[used++] = a->files[i];
	a->file_count = used;
	for (size_t i = 0; !err && i < used; i++) {
		read_file(l, &a->files[i]);
		err = a->files[i].err == -ENOMEM ? -ENOMEM : 0;
	}
	return err;
}
