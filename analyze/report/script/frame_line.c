/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/script/frame_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/location/callchain.h"
#include "analyze/names/function_table.h"
#include "format/base/cursor.h"

int frame_lines_init(struct frame_lines *f, const struct process_model *model,
		     struct resolver *resolver)
{
	*f = (struct frame_lines){
		.model = model,
		.resolver = resolver,
		.files = calloc((size_t)process_model_file_count(model) + 1, sizeof(*f->files)),
	};
	return f->files ? 0 : -ENOMEM;
}

void frame_lines_done(struct frame_lines *f)
{
	free(f->files);
	f->files = NULL;
}

/* ---- locations ---- */

/* perf calls memory without a file after where a JIT compiler would put its names. */
static bool is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/anon_hugepage", 14);
}

struct frame_location frame_location_find(const struct frame_lines *f,
					  const struct frame_space *space, unsigned mode,
					  uint64_t addr, bool is_return)
{
	uint64_t look = addr - (is_return && addr);
	struct frame_location location = { .kind = LOC_UNMAPPED,
					   .addr = addr,
					   .is_return = is_return };
	const struct process_model_file *file;

	if (mode == PERF_RECORD_MISC_KERNEL) {
		location.mapped = process_model_place(f->model, space->kernel, look, &location.at);
		location.kind =
			location.mapped &&
					process_model_file(f->model, location.at.file)->is_ksymbol
				? LOC_KSYMBOL
				: LOC_KERNEL;
	} else if (mode == PERF_RECORD_MISC_USER) {
		location.mapped = process_model_place(f->model, space->user, look, &location.at);
		if (location.mapped) {
			file = process_model_file(f->model, location.at.file);
			location.kind = is_anonymous(file->path) ? LOC_ANONYMOUS : LOC_FILE;
		}
	}
	return location;
}

/* ---- lines ---- */

static uint32_t file_of(const struct frame_lines *f, uint32_t model_number)
{
	uint32_t *file = &f->files[model_number];

	if (!*file) /* without memory UINT32_MAX, and asked again */
		*file = function_table_file(f->model, model_number, f->resolver) + 1;
	return *file - 1;
}

static void make_user_line(const struct frame_lines *f, const struct frame_space *space,
			   const struct frame_location *location, struct frame_line *out)
{
	uint64_t off = location->at.file_off_bytes + (location->is_return && location->addr);
	struct resolved r;

	/* The line will be remembered: what it is made of need not be. */
	out->file = file_of(f, location->at.file);
	resolver_user_once(f->resolver, out->file, off, location->is_return, &r);
	resolver_set_path(f->resolver, out->file,
			  process_model_file(f->model, location->at.file)->path, &r);
	out->reason = r.reason;
	out->dso = r.dso;
	out->name = r.name;
	out->into_bytes = r.into_bytes;
	if (location->kind == LOC_FILE) {
		out->addr = off;
		return;
	}
	snprintf(out->made_dso, sizeof(out->made_dso), "/tmp/perf-%" PRIu32 ".map", space->pid);
	out->dso = out->made_dso;
}

void frame_line_make(const struct frame_lines *f, const struct frame_space *space,
		     const struct frame_location *location, struct frame_line *out)
{
	const struct resolved *r;

	*out = (struct frame_line){ .addr = location->addr,
				    .file = UINT32_MAX,
				    .reason = NAME_NO_MAP };
	switch (location->kind) {
	case LOC_FILE:
	case LOC_ANONYMOUS:
		make_user_line(f, space, location, out);
		break;
	case LOC_KSYMBOL:
		out->reason = NAME_FOUND;
		out->name = out->dso = process_model_file(f->model, location->at.file)->path;
		out->into_bytes = location->at.file_off_bytes +
				  (location->is_return && location->addr);
		break;
	case LOC_KERNEL:
		r = resolver_kernel(f->resolver, location->addr, location->is_return);
		out->reason = r->reason;
		out->name = r->name;
		out->dso = r->name || location->mapped ? r->dso : NULL;
		out->into_bytes = r->into_bytes;
		break;
	default:
		break;
	}
}

/* ---- chains ---- */

/*
 * The innermost frame of each context is an address, and so is the code that a signal interrupted;
 * the others are return addresses.  For those that were unwound from a copy perf prints the address
 * before, which is in the call.
 */
int frame_chain_each(const struct perf_sample *sample, bool copied, frame_chain_fn fn, void *ctx)
{
	unsigned mode = sample->cpumode;
	bool is_return = false;
	int result = 0;

	for (size_t i = 0; result >= 0 && i < sample->chain_count; i++) {
		uint64_t addr = le64_load(sample->chain + 8 * i);

		if (addr >= PERF_CONTEXT_MAX) {
			mode = addr == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL
			       : addr == PERF_CONTEXT_USER ? PERF_RECORD_MISC_USER
							   : PERF_RECORD_MISC_CPUMODE_UNKNOWN;
			is_return = false;
			i += addr == CALLCHAIN_USER_DEFERRED; /* the cookie is no address */
			continue;
		}
		if (is_return && copied && mode == PERF_RECORD_MISC_USER)
			result = fn(ctx, mode, addr - !!addr, false);
		else
			result = fn(ctx, mode, addr, is_return);
		is_return = result != 1;
	}
	return result < 0 ? result : 0;
}
