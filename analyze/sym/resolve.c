/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resolve - the name of the code at a place, or the reason it has none
 *
 * Files are the business of symfile_cache.h, what is put into a bundle of resolve_bundle.c; here are the results by place.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/sym/symtab/perf_map.h"
#include "analyze/sym/resolve_priv.h"
#include "format/base/foreign.h"
#include "format/base/vec.h"
#include "format/os/clock.h"

/* Ids of sources that are no files: shares the key space of file ids. */
#define FILE_KERNEL   (SYMFILE_CACHE_MAX + 1)
#define FILE_UNMAPPED (SYMFILE_CACHE_MAX + 2)

/* ---- files ---- */

uint32_t resolver_add_file(struct resolver *r, const struct resolver_file *file)
{
	return symfile_cache_add(&r->files, file);
}

int resolver_bounds(struct resolver *r, uint32_t file, uint64_t **out, size_t *count)
{
	return symfile_cache_bounds(&r->files, file, out, count);
}

int resolver_kernel_bounds(const struct resolver *r, uint64_t **out, size_t *count)
{
	return r->kernel ? kernel_symbols_bounds(r->kernel, out, count) : -ENOENT;
}

int resolver_want(struct resolver *r, uint32_t file, uint64_t file_off_bytes, bool return_address)
{
	return symfile_cache_want(&r->files, file,
				  file_off_bytes - (return_address && file_off_bytes));
}

void resolver_load(struct resolver *r, const uint32_t *files, size_t count)
{
	symfile_cache_load(&r->files, files, count);
}

uint32_t resolver_file_count(const struct resolver *r)
{
	return (uint32_t)r->files.count;
}

/* ---- results ---- */

/* Room for one result more.  -ENOMEM. */
static int reserve_result(struct resolver *r)
{
	if (hash_index_reserve(&r->by_place))
		return -ENOMEM;
	if (r->result_count < r->chunk_count * RESOLVE_CHUNK_COUNT)
		return 0;
	if (vec_reserve(&r->chunks, &r->chunk_room, r->chunk_count + 1))
		return -ENOMEM;
	r->chunks[r->chunk_count] = malloc(sizeof(struct chunk));
	if (!r->chunks[r->chunk_count])
		return -ENOMEM;
	r->chunk_count++;
	return 0;
}

/* The result of the place, *fresh when it is to be filled; NULL: no memory. */
static struct resolved *result_of(struct resolver *r, uint32_t file, uint64_t offset,
				  bool return_address, bool *fresh)
{
	struct result *x;
	uint32_t pos, i;
	uint64_t hash;

	if (reserve_result(r))
		return NULL;
	hash = hash_index_pair(&r->by_place, offset, (uint64_t)file << 1 | return_address);
	pos = hash_index_start(&r->by_place, hash);
	*fresh = false;
	while ((i = hash_index_match(&r->by_place, hash, &pos)) != HASH_INDEX_NONE) {
		x = resolve_result(r, i);
		if (x->file == file && x->offset == offset && x->return_address == return_address)
			return &x->resolved;
	}
	*fresh = true;
	hash_index_put(&r->by_place, hash, pos, (uint32_t)r->result_count);
	x = resolve_result(r, r->result_count++);
	*x = (struct result){ file, return_address, offset, { .dso = "", .offset = offset } };
	return &x->resolved;
}

/* The bundle that has the place; NULL: none. */
const struct bundle *resolve_in_bundles(const struct known_file *f, uint64_t offset, bool is_return,
					struct bundle_place *out)
{
	for (size_t i = 0; i < f->bundle_count; i++)
		if (bundle_find(f->bundles[i], offset, is_return, out))
			return f->bundles[i];
	return NULL;
}

/* false: the bundle has no name.  *start: where the function begins, if that is known. */
static bool resolve_in_bundle(struct resolver *r, const struct known_file *f, bool is_return,
			      struct resolved *out, uint64_t *start)
{
	struct bundle_place place;

	if (!resolve_in_bundles(f, out->offset, is_return, &place))
		return false;
	out->dso = f->aliases->as.path;
	out->reason = (enum name_reason)place.reason;
	if (!place.name)
		return false;
	if (out->reason != NAME_FOUND) {
		*start = strtoull(place.name, NULL, 16);
		return false;
	}
	out->name = r->demangle ? demangle_cache_get(&r->inlined, place.name) : place.name;
	return true;
}

/*
 * Nothing called these, but something returns to their first byte: __restore_rt of a signal, the first
 * function of a context.  The byte before is in no function.  Exports alone would not show that.
 */
const char *resolve_returned_to(const struct known_file *f, uint64_t vaddr, bool demangle)
{
	uint64_t start = 0;
	const char *name = NULL;

	if (symtab_is_full(f->sym.symbols) && vaddr < UINT64_MAX)
		name = symtab_find(f->sym.symbols, vaddr + 1, demangle, &start);
	return name && start == vaddr + 1 ? name : NULL;
}

static void resolve_in_symbols(struct resolver *r, struct known_file *f, uint64_t off_bytes,
			       bool is_return, struct resolved *out)
{
	uint64_t vaddr = 0, start = 0;
	bool known;

	out->dso = f->aliases->as.path;
	out->reason = f->sym.reason;
	if (f->sym.reason == NAME_ANONYMOUS && !strcmp(out->dso, FOREIGN_COMM)) {
		out->name = FOREIGN_COMM;
		out->reason = NAME_FOUND;
	}
	if (f->sym.reason != NAME_FOUND)
		return;
	if (f->jit) {
		out->name = perf_map_find(f->jit, off_bytes);
		out->reason = out->name ? NAME_FOUND : NAME_BETWEEN;
		return;
	}
	known = symfile_vaddr(&f->sym, off_bytes, &vaddr);
	if (known)
		out->name = symtab_find(f->sym.symbols, vaddr, r->demangle, &start);
	if (out->name)
		out->into_bytes = vaddr + is_return - start;
	else if (known && is_return)
		out->name = resolve_returned_to(f, vaddr, r->demangle);
	if (!out->name)
		out->reason = symfile_miss(&f->sym);
}

/*
 * A file that is here may have a name for a location that the capture cannot name.  Where neither
 * has one, but one of them knows where the function begins, that is its name, and the reason stays.
 */
static void resolve_in_file(struct resolver *r, uint32_t file, uint64_t off_bytes, bool is_return,
			    struct resolved *out)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	uint64_t vaddr, start, bundled = UINT64_MAX;
	enum name_reason reason;

	if (resolve_in_bundle(r, f, is_return, out, &bundled)) {
		out->into_bytes = RESOLVED_INTO_UNKNOWN;
		return;
	}
	reason = out->reason;
	symfile_cache_load_for(&r->files, f, off_bytes);
	resolve_in_symbols(r, f, off_bytes, is_return, out);
	if (out->name || f->jit || !r->files.roots.function_addresses)
		return;
	if (symfile_vaddr(&f->sym, off_bytes, &vaddr) && symfile_function(&f->sym, vaddr, &start)) {
		out->into_bytes = vaddr + is_return - start;
	} else if (bundled != UINT64_MAX) {
		start = bundled;
		out->into_bytes = RESOLVED_INTO_UNKNOWN;
		out->reason = reason;
	} else {
		return;
	}
	out->label_start = start;
	out->name = function_labels_get(&r->labels, file, out->dso, start);
}

void resolver_set_path(struct resolver *r, uint32_t file, const char *path, struct resolved *x)
{
	x->dso = path;
	if (x->name && x->reason != NAME_FOUND)
		x->name = function_labels_get(&r->labels, file, path, x->label_start);
}

void resolver_user_once(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			bool return_address, struct resolved *out)
{
	struct known_file *f = symfile_cache_get(&r->files, file);

	*out = (struct resolved){ .dso = "", .offset = file_off_bytes, .reason = NAME_NO_MAP };
	if (!f)
		return;
	return_address = return_address && file_off_bytes;
	out->reason = NAME_FOUND;
	resolve_in_file(r, file, file_off_bytes - return_address, return_address, out);
}

const struct resolved *resolver_user(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
				     bool return_address)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	struct resolved *x;
	bool fresh;

	if (!f)
		return resolver_unmapped(r, file_off_bytes);
	return_address = return_address && file_off_bytes;
	x = result_of(r, file, file_off_bytes, return_address, &fresh);
	if (!x)
		return &r->no_memory;
	if (fresh)
		resolve_in_file(r, file, file_off_bytes - return_address, return_address, x);
	return x;
}

/* ---- variables ---- */

/* The variable of the place, *fresh when it is to be filled; NULL: no memory. */
static struct variable *variable_of(struct resolver *r, uint32_t file, uint64_t offset, bool *fresh)
{
	uint32_t pos, i;
	uint64_t hash;
	struct variable *v;

	if (hash_index_reserve(&r->variable_by_place) ||
	    vec_reserve(&r->variables, &r->variable_room, r->variable_count + 1))
		return NULL;
	hash = hash_index_pair(&r->variable_by_place, offset, file);
	pos = hash_index_start(&r->variable_by_place, hash);
	while ((i = hash_index_match(&r->variable_by_place, hash, &pos)) != HASH_INDEX_NONE) {
		v = r->variables[i];
		*fresh = false;
		if (v->file == file && v->answer.offset == offset)
			return v;
	}
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->file = file;
	v->answer = (struct resolved){ .dso = "", .offset = offset, .reason = NAME_BETWEEN };
	hash_index_put(&r->variable_by_place, hash, pos, (uint32_t)r->variable_count);
	r->variables[r->variable_count++] = v;
	*fresh = true;
	return v;
}

static bool variable_in_bundle(struct resolver *r, const struct known_file *f, struct variable *v)
{
	struct bundle_place place;
	const char *plus;

	if (!resolve_in_bundles(f, v->answer.offset, false, &place) || !place.name)
		return false;
	plus = strrchr(place.name, '+');
	if (!plus)
		return false;
	v->name = strndup(place.name, (size_t)(plus - place.name));
	v->travels = v->name ? strdup(place.name) : NULL;
	if (!v->travels)
		return false;
	v->answer.name = r->demangle ? demangle_cache_get(&r->inlined, v->name) : v->name;
	v->answer.into_bytes = strtoull(plus + 1, NULL, 16);
	return true;
}

static bool variable_in_file(struct resolver *r, struct known_file *f, uint64_t map_off_bytes,
			     struct variable *v)
{
	uint64_t vaddr, start = 0;
	struct symtab *t;
	const char *raw;

	symfile_cache_load_for(&r->files, f, map_off_bytes);
	if (f->jit || !symfile_vaddr(&f->sym, map_off_bytes, &vaddr))
		return false;
	vaddr += v->answer.offset - map_off_bytes;
	t = symfile_variables(&f->sym, &r->files.roots, &f->aliases->as);
	raw = t ? symtab_find(t, vaddr, false, &start) : NULL;
	if (!raw || asprintf(&v->travels, "%s+0x%" PRIx64, raw, vaddr - start) < 0) {
		v->travels = NULL;
		return false;
	}
	v->answer.name = r->demangle ? demangle_cache_get(&r->inlined, raw) : raw;
	v->answer.into_bytes = vaddr - start;
	return true;
}

const struct resolved *resolver_variable(struct resolver *r, uint32_t file, uint64_t map_off_bytes,
					 uint64_t off_bytes)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	struct variable *v;
	bool fresh;

	if (!f || off_bytes < map_off_bytes)
		return resolver_unmapped(r, off_bytes);
	v = variable_of(r, file, off_bytes, &fresh);
	if (!v)
		return &r->no_memory;
	if (!fresh)
		return &v->answer;
	v->answer.dso = f->aliases->as.path;
	if (variable_in_bundle(r, f, v) || variable_in_file(r, f, map_off_bytes, v))
		v->answer.reason = NAME_FOUND;
	return &v->answer;
}

/* ---- source code ---- */

/* For a bundle that has lines, *known becomes true, even when there are none for this place. */
static size_t frames_in_bundles(const struct known_file *f, uint64_t off_bytes, bool is_return,
				struct source_frame *out, size_t max, bool *known)
{
	struct bundle_place place;
	const struct bundle *b = resolve_in_bundles(f, off_bytes, is_return, &place);
	size_t i;

	*known = b && bundle_has_lines(b);
	if (!*known)
		return 0;
	for (i = 0; i < place.frame_count && i < max; i++)
		out[i] = bundle_frame(b, place.first_frame + i);
	return i;
}

/* As in the file, mangled. */
size_t resolve_raw_frames(struct resolver *r, struct known_file *f, uint64_t off_bytes,
			  bool is_return, struct source_frame *out, size_t max)
{
	const struct symfile_wanted wanted = { .off_bytes = f->wanted, .count = f->wanted_count };
	struct addr2line *tab = NULL;
	struct lines *lines;
	struct go_lines *go;
	uint64_t vaddr;
	bool known;
	size_t n;

	if (f->aliases->as.jit_pid)
		return 0;
	n = frames_in_bundles(f, off_bytes, is_return, out, max, &known);
	if (known)
		return n;
	symfile_cache_load_for(&r->files, f,
			       off_bytes - is_return); /* its name may have been in a bundle */
	if (!symfile_vaddr(&f->sym, off_bytes - is_return, &vaddr))
		return 0;
	if (f->wanted_count)
		tab = symfile_linetab(&f->sym, &r->files.roots, &f->aliases->as, &wanted,
				      r->files.thread_count);
	if (tab && addr2line_find(tab, vaddr, out, max, &n))
		return n;
	lines = symfile_lines(&f->sym, &r->files.roots, &f->aliases->as);
	if (lines || tab)
		return lines ? lines_find(lines, vaddr, out, max) : 0;
	go = symfile_golines(&f->sym, &r->files.roots, &f->aliases->as);
	return go ? go_lines_find(go, vaddr, out, max) : 0;
}

size_t resolver_frames(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
		       bool return_address, struct source_frame *out, size_t max)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	const struct resolved *x = resolver_user(r, file, file_off_bytes, return_address);
	size_t n = 0;

	if (f)
		n = resolve_raw_frames(r, f, file_off_bytes, return_address && file_off_bytes, out,
				       max);
	for (size_t i = 0; i < n && r->demangle; i++)
		if (out[i].function)
			out[i].function = demangle_cache_get(&r->inlined, out[i].function);
	if (n && x->name)
		out[n - 1].function = x->name;
	return n;
}

enum name_reason resolver_code(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			       bool return_address, struct function_code *out)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	uint64_t at = file_off_bytes - (return_address && file_off_bytes);

	if (!f || f->aliases->as.jit_pid)
		return NAME_ANONYMOUS;
	symfile_cache_load_for(&r->files, f, at);
	return function_code_read(&f->sym, &r->files.roots, &f->aliases->as, at, out);
}

int resolver_text(const struct resolver *r, uint32_t file, const char *path,
		  struct source_text *out)
{
	static const struct buildid none = { .size_bytes = 0 };
	const struct known_file *f = symfile_cache_get(&r->files, file);

	return source_text_read(&r->files.roots, f ? &f->aliases->as.id.build_id : &none, path,
				out);
}

uint64_t resolver_file_mtime_ns(const struct resolver *r, uint32_t file)
{
	const struct known_file *f = symfile_cache_get(&r->files, file);
	struct located l = { .fd = -1 };
	struct stat st;
	uint64_t ns = 0;

	if (!f || !symfile_reopen(r->files.roots.opener, &f->sym, &f->aliases->as, &l))
		return 0;
	if (!fstat(l.fd, &st))
		ns = clock_timespec_ns(st.st_mtim);
	located_done(&l);
	return ns;
}

const struct resolved *resolver_kernel(struct resolver *r, uint64_t addr, bool return_address)
{
	const struct kernel_symbol *sym;
	struct resolved *x;
	bool fresh;

	return_address = return_address && addr;
	x = result_of(r, FILE_KERNEL, addr, return_address, &fresh);
	if (!x)
		return &r->no_memory;
	if (!fresh)
		return x;
	sym = r->kernel ? kernel_symbols_find(r->kernel, addr - return_address) : NULL;
	x->dso = sym ? sym->module : "[kernel.kallsyms]";
	x->name = sym ? sym->name : NULL;
	x->into_bytes = sym ? addr - sym->start : 0;
	if (!sym)
		x->reason = r->kernel ? NAME_BETWEEN : NAME_KERNEL_HIDDEN;
	return x;
}

const struct resolved *resolver_unmapped(struct resolver *r, uint64_t addr)
{
	struct resolved *x;
	bool fresh;

	x = result_of(r, FILE_UNMAPPED, addr, false, &fresh);
	if (!x)
		return &r->no_memory;
	x->reason = NAME_NO_MAP;
	return x;
}

void resolver_find_gaps(struct resolver *r)
{
	for (size_t i = 0; i < r->files.count; i++) {
		struct known_file *f = r->files.files[i];
		const struct symfile_wanted wanted = { .off_bytes = f->wanted,
						       .count = f->wanted_count };

		if (f->loaded && f->wanted_count && !f->aliases->as.jit_pid)
			symfile_find_gap(&f->sym, &r->files.roots, &f->aliases->as, &wanted);
	}
}

bool resolver_source(const struct resolver *r, uint32_t file, struct resolver_source *out)
{
	struct known_file *f = symfile_cache_get(&r->files, file);
	const struct symfile *s;

	if (!f)
		return false;
	s = &f->sym;
	*out = (struct resolver_source){
		.path = f->aliases->as.path,
		.build_id = f->aliases->as.id.build_id,
		.asked = f->loaded,
		.reason = s->reason,
		/* The image of the vdso has no path. */
		.trust = s->file.path || s->file.trust == NAME_BY_BUILD_ID ? s->file.trust
									   : s->debug.trust,
		.file = located_shown(&s->file, &r->files.roots),
		.debug_file = located_shown(&s->debug, &r->files.roots),
		.mini = s->mini,
		.full = s->symbols && symtab_is_full(s->symbols),
		.go = s->symbols && symtab_is_go(s->symbols),
		.part = "",
	};
	out->gap = symfile_gap(s, &out->part);
	if (f->bundle_count && !s->file.path && !s->debug.path) {
		out->trust = NAME_BY_BUNDLE;
		out->file = bundle_head(f->bundles[0])->symbols;
	}
	return true;
}

/* ---- making ---- */

static int add_bundle(struct known_file *f, const struct bundle *b)
{
	if (f->bundle_count == SYMFILE_BUNDLES_MAX)
		return 0;
	if (vec_reserve(&f->bundles, &f->bundle_room, f->bundle_count + 1))
		return -ENOMEM;
	f->bundles[f->bundle_count++] = b;
	return 0;
}

int resolver_take_kallsyms(struct resolver *r, const char *text, size_t size_bytes)
{
	/* Hidden or empty kallsyms are a reason, no error. */
	return kernel_symbols_new(text, size_bytes, &r->kernel) == -ENOMEM ? -ENOMEM : 0;
}

int resolver_new(const struct resolver_opts *opts, struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->demangle = opts->demangle;
	r->files = (struct symfile_cache){ .roots = opts->roots,
					   .jits = opts->jits,
					   .jit_count = opts->jit_count,
					   .hints = opts->hints,
					   .thread_count = opts->thread_count };
	r->no_memory = (struct resolved){ .dso = "", .reason = NAME_BETWEEN };
	for (size_t i = 0; !err && i < opts->bundle_count; i++) {
		uint32_t id = resolver_add_file(r, &bundle_head(opts->bundles[i])->file);

		err = id == UINT32_MAX ? -ENOMEM : add_bundle(r->files.files[id], opts->bundles[i]);
	}
	if (err) {
		resolver_free(r);
		return err;
	}
	*out = r;
	return 0;
}

static void results_done(struct resolver *r)
{
	for (size_t i = 0; i < r->chunk_count; i++)
		free(r->chunks[i]);
	free(r->chunks);
	hash_index_done(&r->by_place);
	for (size_t i = 0; i < r->variable_count; i++) {
		free(r->variables[i]->name);
		free(r->variables[i]->travels);
		free(r->variables[i]);
	}
	free(r->variables);
	hash_index_done(&r->variable_by_place);
}

static void forget_results(struct resolver *r)
{
	results_done(r);
	r->chunks = NULL;
	r->variables = NULL;
	r->chunk_count = r->chunk_room = r->result_count = 0;
	r->variable_count = r->variable_room = 0;
	r->by_place = r->variable_by_place = (struct hash_index){ 0 };
}

void resolver_trim(struct resolver *r, unsigned rounds)
{
	forget_results(r);
	symfile_cache_trim(&r->files, rounds);
}

void resolver_renew(struct resolver *r, const struct resolver_jit *jits, size_t jit_count,
		    struct resolver_hints hints)
{
	r->files.jits = jits;
	r->files.jit_count = jit_count;
	r->files.hints = hints;
	forget_results(r); /* names of code made at run time are of its symbols */
	symfile_cache_forget_jits(&r->files);
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	symfile_cache_done(&r->files);
	results_done(r);
	demangle_cache_done(&r->inlined);
	function_labels_done(&r->labels);
	kernel_symbols_free(r->kernel);
	free(r);
}
