/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The table of names that travels with a capture: of a file, all places that were resolved */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/resolve_priv.h"
#include "format/base/vec.h"

/* The name as it stands in the file, where that is known; "+0x5a3f20" of a function that has none. */
static const char *raw_name(struct known_file *f, const struct result *x)
{
	struct bundle_place place;
	const char *name = NULL;
	uint64_t vaddr;

	if (!x->resolved.name)
		return NULL;
	if (x->resolved.reason != NAME_FOUND)
		return strrchr(x->resolved.name, '+');
	if (resolve_in_bundles(f, x->offset, x->return_address, &place) && place.name)
		return place.name;
	if (!f->jit && symfile_vaddr(&f->sym, x->offset - x->return_address, &vaddr)) {
		name = symtab_find(f->sym.symbols, vaddr, false, NULL);
		if (!name && x->return_address)
			name = resolve_returned_to(f, vaddr, false);
	}
	return name ? name : x->resolved.name; /* a location with a name keeps one */
}

/* The content for the bundle of one file. */
struct packing {
	struct bundle_place *places;
	size_t count;
	struct source_frame *frames;
	size_t frame_count, frame_room;
};

static int pack_frames(struct resolver *r, struct known_file *f, struct packing *p,
		       struct bundle_place *place)
{
	int err = vec_reserve(&p->frames, &p->frame_room, p->frame_count + LINES_DEPTH_MAX);
	size_t n;

	if (err)
		return err;
	n = resolve_raw_frames(r, f, place->offset, place->is_return, p->frames + p->frame_count,
			       LINES_DEPTH_MAX);
	if (p->frame_count + n >= UINT32_MAX)
		return -EOVERFLOW;
	place->first_frame = (uint32_t)p->frame_count;
	place->frame_count = (uint16_t)n;
	p->frame_count += n;
	return 0;
}

/* Variables have no lines. */
static void pack_variables(const struct resolver *r, uint32_t file, struct packing *p)
{
	for (size_t i = 0; i < r->variable_count; i++) {
		const struct variable *v = r->variables[i];

		if (v->file == file && v->travels)
			p->places[p->count++] = (struct bundle_place){ .offset = v->answer.offset,
								       .name = v->travels };
	}
}

static int pack(struct resolver *r, struct known_file *f, uint32_t file, bool with_lines,
		struct packing *p)
{
	int err = 0;

	p->places = calloc(r->result_count + r->variable_count + 1, sizeof(*p->places));
	if (!p->places)
		return -ENOMEM;
	for (size_t i = 0; !err && i < r->result_count; i++) {
		const struct result *x = resolve_result(r, i);

		if (x->file != file)
			continue;
		p->places[p->count] = (struct bundle_place){
			.offset = x->offset,
			.name = raw_name(f, x),
			.is_return = x->return_address,
			.reason = (uint8_t)x->resolved.reason,
		};
		if (with_lines)
			err = pack_frames(r, f, p, &p->places[p->count]);
		p->count++;
	}
	if (!err)
		pack_variables(r, file, p);
	return err;
}

int resolver_bundle(struct resolver *r, uint32_t file, bool with_lines, uint8_t **out,
		    size_t *size_bytes)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	struct packing p = { 0 };
	struct resolver_source source;
	struct bundle_head head;
	int err;

	if (!f || !resolver_source(r, file, &source) || f->aliases->as.jit_pid)
		return -ENOENT;
	head = (struct bundle_head){
		.file = f->aliases->as,
		.symbols = *source.debug_file ? source.debug_file : source.file,
		.trust = (uint8_t)source.trust,
	};
	for (size_t i = 0; i < f->bundle_count; i++)
		with_lines |= bundle_has_lines(
			f->bundles[i]); /* those of interpreted code are nowhere else */
	err = pack(r, f, file, with_lines, &p);
	if (!err && !p.count)
		err = -ENOENT;
	if (!err) {
		struct bundle_frames frames = { p.frames, p.frame_count };

		err = bundle_encode(&head, p.places, p.count, with_lines ? &frames : NULL, out,
				    size_bytes);
	}
	free(p.places);
	free(p.frames);
	return err;
}
