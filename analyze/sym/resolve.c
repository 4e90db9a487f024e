/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resolve - the name of the code at a place, or the reason it has none
 *
 * Three caches: files by identity, a file's symbols when first asked for, and results by place.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/sym/bundle.h"
#include "analyze/sym/kernsyms.h"
#include "analyze/sym/namecache.h"
#include "analyze/sym/perfmap.h"
#include "analyze/sym/resolve.h"
#include "analyze/sym/symfile.h"
#include "analyze/vec.h"

#define CHUNK_COUNT 512
#define BUNDLES_MAX 8 /* of one file: each event of a capture may have one */
/* Of what is not a file: shares the key space of file ids. */
#define FILE_KERNEL   (UINT32_MAX - 1)
#define FILE_UNMAPPED (UINT32_MAX - 2)
#define FILE_MAX      (UINT32_MAX - 3)

#define THREADS_MAX 8

/* Another path under which the same file was mapped. */
struct alias {
	struct alias *next;
	struct resolver_file as;
	char path[];
};

struct file {
	struct alias *aliases; /* in the order they were added; the first gives the name */
	bool loaded;
	atomic_bool taken; /* by one of the threads that load files */
	struct symfile sym;
	/* Places that were told before loading, and then sorted; sym then names only these. */
	uint64_t *wanted;
	size_t wanted_count, wanted_room;
	struct symfile
		*partial;    /* what named these, when all of the file had to be loaded after all */
	struct perfmap *jit; /* in place of sym: names of code that a process made */
	const struct bundle *bundles[BUNDLES_MAX]; /* asked before sym */
	uint32_t bundle_count;
};

struct slot {
	uint32_t file;
	bool return_address;
	uint64_t offset;
	struct resolved *result; /* NULL: free */
};

/* Results live in chunks, so that pointers to them stay. */
struct chunk {
	struct chunk *next;
	size_t count;
	struct resolved items[CHUNK_COUNT];
};

struct resolver {
	bool demangle;
	struct name_roots roots;
	const struct resolver_jit *jits; /* borrowed */
	size_t jit_count;
	struct resolver_hints hints;
	unsigned thread_count;
	struct kernsyms *kernel; /* NULL: kernel addresses are hidden */
	struct file **files;
	size_t file_count;
	uint32_t *file_slots; /* hash of files: id + 1, 0 is free */
	size_t file_slot_count;
	struct slot *slots;
	size_t slot_count, result_count;
	struct chunk *chunks;
	struct namecache inlined; /* names from DWARF, and from bundles */
	struct resolved no_memory;
};

static const struct {
	const char *text, *remedy;
} reasons[NAME_REASONS] = {
	[NAME_FOUND] = { "found", NULL },
	[NAME_NO_MAP] = { "no file was known to be mapped there", NULL },
	[NAME_ANONYMOUS] = { "memory without a file, such as code made at run time",
			     "have its compiler write a perf-PID.map, as node --perf-basic-prof" },
	[NAME_FILE_GONE] = { "the file is not on this machine",
			     "analyze where it was recorded, or give its files with --symfs" },
	[NAME_NO_PERMISSION] = { "the file may not be read", "run as a user who may read it" },
	[NAME_BUILD_ID_DIFFERS] = { "another version of the file is there now",
				    "restart the program and record again" },
	[NAME_FILE_CHANGED] = { "another file is there now",
				"restart the program and record again" },
	[NAME_DEBUG_STALE] = { "its symbols were stripped, and its debug file is of another build",
			       "install the debug symbols of this version" },
	[NAME_STRIPPED] = { "its symbols were stripped", "install its debug symbols" },
	[NAME_BETWEEN] = { "no symbol covers this place", NULL },
	[NAME_BAD_ELF] = { "the file is broken", NULL },
	[NAME_KERNEL_HIDDEN] = { "kernel addresses were hidden",
				 "record as root, or set kernel.kptr_restrict to 0" },
};

const char *name_reason_text(enum name_reason reason)
{
	return (unsigned)reason < NAME_REASONS ? reasons[reason].text : "unknown";
}

const char *name_reason_remedy(enum name_reason reason)
{
	return (unsigned)reason < NAME_REASONS ? reasons[reason].remedy : NULL;
}

static const char *const trusts[NAME_TRUSTS] = {
	[NAME_BY_NOTHING] = "not found",
	[NAME_BY_BUILD_ID] = "build-id",
	[NAME_BY_STAT] = "size and time, or checksum",
	[NAME_BY_INODE] = "inode",
	[NAME_BY_PATH] = "path alone: a guess",
	[NAME_BY_BUNDLE] = "names in the capture",
};

const char *name_trust_text(enum name_trust trust)
{
	return (unsigned)trust < NAME_TRUSTS ? trusts[trust] : "unknown";
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* ---- files ---- */

static bool has_id(const struct resolver_file *f)
{
	return f->build_id.size_bytes;
}

/* A build-id alone, or else path and inode. */
static uint64_t file_hash(const struct resolver_file *f)
{
	uint64_t h = 0;
	const char *p;
	size_t i;

	if (has_id(f)) {
		for (i = 0; i < f->build_id.size_bytes; i++)
			h = mix(h, f->build_id.bytes[i]);
		return h;
	}
	for (p = f->path; *p; p++)
		h = mix(h, (uint8_t)*p);
	return mix(mix(h, f->inode), f->jit_pid);
}

static bool file_equal(const struct resolver_file *a, const struct resolver_file *b)
{
	if (has_id(a) || has_id(b))
		return a->build_id.size_bytes == b->build_id.size_bytes &&
		       !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.size_bytes);
	return a->inode == b->inode && a->jit_pid == b->jit_pid && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && !strcmp(a->path, b->path);
}

static struct alias *alias_new(const struct resolver_file *f)
{
	size_t n = strlen(f->path) + 1;
	struct alias *a = malloc(sizeof(*a) + n);

	if (!a)
		return NULL;
	a->next = NULL;
	a->as = *f;
	memcpy(a->path, f->path, n);
	a->as.path = a->path;
	return a;
}

/* The slot of the file, or the free one where it belongs. */
static uint32_t *file_slot(const struct resolver *r, const struct resolver_file *f)
{
	size_t i = file_hash(f) & (r->file_slot_count - 1);

	while (r->file_slots[i] && !file_equal(&r->files[r->file_slots[i] - 1]->aliases->as, f))
		i = (i + 1) & (r->file_slot_count - 1);
	return &r->file_slots[i];
}

static int grow_files(struct resolver *r)
{
	size_t i, room = r->file_slot_count ? 2 * r->file_slot_count : 256;
	struct file **files;
	uint32_t *slots;

	files = reallocarray(r->files, room / 2, sizeof(struct file *));
	if (!files)
		return -ENOMEM;
	r->files = files;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(r->file_slots);
	r->file_slots = slots;
	r->file_slot_count = room;
	for (i = 0; i < r->file_count; i++)
		*file_slot(r, &r->files[i]->aliases->as) = (uint32_t)i + 1;
	return 0;
}

/* The same file by another path: worth a try when the first is gone. */
static void add_alias(struct file *f, const struct resolver_file *as)
{
	struct alias **p;

	for (p = &f->aliases; *p; p = &(*p)->next)
		if (!strcmp((*p)->as.path, as->path))
			return;
	if (!f->loaded)
		*p = alias_new(as); /* without memory there is one path less */
}

uint32_t resolver_add_file(struct resolver *r, const struct resolver_file *file)
{
	struct file *f;
	uint32_t *slot;

	if (r->file_count >= r->file_slot_count / 2 && grow_files(r))
		return UINT32_MAX;
	slot = file_slot(r, file);
	if (*slot) {
		add_alias(r->files[*slot - 1], file);
		return *slot - 1;
	}
	if (r->file_count >= FILE_MAX)
		return UINT32_MAX;
	f = calloc(1, sizeof(*f));
	if (!f)
		return UINT32_MAX;
	symfile_init(&f->sym);
	f->aliases = alias_new(file);
	if (!f->aliases) {
		free(f);
		return UINT32_MAX;
	}
	r->files[r->file_count++] = f;
	*slot = (uint32_t)r->file_count;
	return *slot - 1;
}

static void file_free(struct file *f)
{
	struct alias *a;

	while ((a = f->aliases)) {
		f->aliases = a->next;
		free(a);
	}
	symfile_done(&f->sym);
	if (f->partial)
		symfile_done(f->partial);
	free(f->partial);
	free(f->wanted);
	perfmap_free(f->jit);
	free(f);
}

/* ---- loading ---- */

static void load_jit(const struct resolver *r, struct file *f)
{
	uint32_t pid = f->aliases->as.jit_pid;
	size_t i;

	f->sym.reason = NAME_ANONYMOUS;
	for (i = 0; i < r->jit_count; i++)
		if (r->jits[i].pid == pid &&
		    !perfmap_new(r->jits[i].text, r->jits[i].size_bytes, &f->jit)) {
			f->sym.reason = NAME_FOUND;
			return;
		}
}

/* A path that somebody thinks may lead to the file. */
struct attempt {
	struct resolver *r;
	struct file *f;
	struct resolver_file as;
	const struct symfile_wanted *wanted;
	unsigned hidden_group; /* of the paths behind a whiteout */
};

static int try_path(void *arg, const char *path, unsigned group)
{
	struct attempt *a = arg;

	if (group && group == a->hidden_group)
		return 0;
	a->as.path = path;
	if (symfile_load(&a->f->sym, &a->r->roots, &a->as, a->wanted))
		return 1;
	if (group && locate_is_whiteout(&a->r->roots, path))
		a->hidden_group = group;
	return 0;
}

static bool load_by_hints(struct resolver *r, struct file *f, const struct symfile_wanted *wanted)
{
	struct attempt a = { .r = r, .f = f, .as = f->aliases->as, .wanted = wanted };

	return r->hints.paths && r->hints.paths(r->hints.ctx, &f->aliases->as, try_path, &a) == 1;
}

/* By the first path that still leads to the file; the reason is that of the first. */
static void load(struct resolver *r, struct file *f, const struct symfile_wanted *wanted)
{
	enum name_reason first = NAME_FOUND;
	struct alias *a;

	f->loaded = true;
	if (f->aliases->as.jit_pid) {
		load_jit(r, f);
		return;
	}
	for (a = f->aliases; a; a = a->next) {
		if (r->hints.complete)
			r->hints.complete(r->hints.ctx, &a->as);
		if (symfile_load(&f->sym, &r->roots, &a->as, wanted))
			return;
		if (a == f->aliases)
			first = f->sym.reason;
	}
	if (first == NAME_ANONYMOUS || load_by_hints(r, f, wanted) ||
	    symfile_load_debug(&f->sym, &r->roots, &f->aliases->as, wanted))
		return;
	f->sym.reason = first;
}

int resolver_want(struct resolver *r, uint32_t file, uint64_t file_off_bytes, bool return_address)
{
	struct file *f = file < r->file_count ? r->files[file] : NULL;

	if (!f || f->loaded)
		return 0;
	if (f->wanted_count == f->wanted_room) {
		size_t room = f->wanted_room ? f->wanted_room + f->wanted_room / 2 : 64;
		uint64_t *wanted = reallocarray(f->wanted, room, sizeof(*wanted));

		if (!wanted)
			return -ENOMEM;
		f->wanted = wanted;
		f->wanted_room = room;
	}
	f->wanted[f->wanted_count++] = file_off_bytes - (return_address && file_off_bytes);
	return 0;
}

static int by_value(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static void load_wanted(struct resolver *r, struct file *f)
{
	struct symfile_wanted wanted = { f->wanted, f->wanted_count };

	if (f->wanted)
		qsort(f->wanted, f->wanted_count, sizeof(*f->wanted), by_value);
	load(r, f, f->wanted ? &wanted : NULL);
}

/* Loads all of a file when something else of it is asked for; the names that were given stay. */
static void load_for(struct resolver *r, struct file *f, uint64_t off_bytes)
{
	if (!f->loaded) {
		load_wanted(r, f);
	} else if (f->wanted && !f->partial &&
		   !bsearch(&off_bytes, f->wanted, f->wanted_count, sizeof(off_bytes), by_value)) {
		f->partial = malloc(sizeof(*f->partial));
		if (!f->partial)
			return; /* NAME_BETWEEN */
		*f->partial = f->sym;
		symfile_init(&f->sym);
		load(r, f, NULL);
	}
}

/* ---- several at a time ---- */

struct queue {
	struct resolver *r;
	const uint32_t *files;
	size_t count;
	atomic_size_t next;
};

/* What is shared is only read: roots, hints, the texts of JIT compilers. */
static void *load_queue(void *arg)
{
	struct queue *q = arg;
	size_t i;

	while ((i = atomic_fetch_add(&q->next, 1)) < q->count) {
		struct file *f = q->files[i] < q->r->file_count ? q->r->files[q->files[i]] : NULL;

		if (f && !atomic_exchange(&f->taken, true) && !f->loaded && !f->bundle_count)
			load_wanted(q->r, f);
	}
	return NULL;
}

static unsigned choose_thread_count(const struct resolver *r, size_t file_count)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = r->thread_count;

	if (r->roots.fetcher)
		return 1; /* its time is short, and goes to the most wanted */
	if (!count)
		count = cpus < 1 ? 1 : (size_t)cpus;
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	return (unsigned)(count < file_count ? count : file_count);
}

/* The calling thread is one of them; where no more can be started, fewer do the work. */
void resolver_load(struct resolver *r, const uint32_t *files, size_t count)
{
	struct queue q = { .r = r, .files = files, .count = count };
	unsigned started = 0, want = choose_thread_count(r, count);
	pthread_t threads[THREADS_MAX];

	while (started + 1 < want && !pthread_create(&threads[started], NULL, load_queue, &q))
		started++;
	load_queue(&q);
	while (started)
		pthread_join(threads[--started], NULL);
}

/* ---- results ---- */

static uint64_t place_hash(uint32_t file, uint64_t offset, bool return_address)
{
	return mix(mix(file, return_address), offset);
}

static struct slot *find_slot(const struct resolver *r, uint32_t file, uint64_t offset,
			      bool return_address)
{
	size_t i = place_hash(file, offset, return_address) & (r->slot_count - 1);
	struct slot *s;

	for (;; i = (i + 1) & (r->slot_count - 1)) {
		s = &r->slots[i];
		if (!s->result ||
		    (s->file == file && s->offset == offset && s->return_address == return_address))
			return s;
	}
}

static int grow_results(struct resolver *r)
{
	size_t i, old_count = r->slot_count, room = old_count ? 2 * old_count : 4096;
	struct slot *old = r->slots, *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	r->slots = slots;
	r->slot_count = room;
	for (i = 0; i < old_count; i++)
		if (old[i].result)
			*find_slot(r, old[i].file, old[i].offset, old[i].return_address) = old[i];
	free(old);
	return 0;
}

/* The result of the place, *fresh when it is to be filled; NULL: no memory. */
static struct resolved *result_of(struct resolver *r, uint32_t file, uint64_t offset,
				  bool return_address, bool *fresh)
{
	struct resolved *result;
	struct slot *s;

	if (r->result_count >= r->slot_count / 2 && grow_results(r))
		return NULL;
	s = find_slot(r, file, offset, return_address);
	*fresh = !s->result;
	if (s->result)
		return s->result;
	if (!r->chunks || r->chunks->count == CHUNK_COUNT) {
		struct chunk *c = malloc(sizeof(*c));

		if (!c)
			return NULL;
		c->count = 0;
		c->next = r->chunks;
		r->chunks = c;
	}
	result = &r->chunks->items[r->chunks->count++];
	*result = (struct resolved){ .dso = "", .offset = offset };
	*s = (struct slot){ file, return_address, offset, result };
	r->result_count++;
	return result;
}

/* The bundle that has the place; NULL: none. */
static const struct bundle *find_in_bundles(const struct file *f, uint64_t offset, bool is_return,
					    struct bundle_place *out)
{
	uint32_t i;

	for (i = 0; i < f->bundle_count; i++)
		if (bundle_find(f->bundles[i], offset, is_return, out))
			return f->bundles[i];
	return NULL;
}

static bool resolve_in_bundle(struct resolver *r, const struct file *f, bool is_return,
			      struct resolved *out)
{
	struct bundle_place place;

	if (!find_in_bundles(f, out->offset, is_return, &place))
		return false;
	out->dso = f->aliases->as.path;
	out->reason = (enum name_reason)place.reason;
	if (place.name)
		out->name = r->demangle ? namecache_get(&r->inlined, place.name) : place.name;
	return place.name;
}

/* What the capture has no name for, a file that is here may have. */
static void resolve_in_file(struct resolver *r, struct file *f, uint64_t off_bytes, bool is_return,
			    struct resolved *out)
{
	uint64_t vaddr = 0;

	if (resolve_in_bundle(r, f, is_return, out))
		return;
	load_for(r, f, off_bytes);
	out->dso = f->aliases->as.path;
	out->reason = f->sym.reason;
	if (f->sym.reason != NAME_FOUND)
		return;
	if (f->jit) {
		out->name = perfmap_find(f->jit, off_bytes);
		out->reason = out->name ? NAME_FOUND : NAME_BETWEEN;
		return;
	}
	if (symfile_vaddr(&f->sym, off_bytes, &vaddr))
		out->name = symtab_find(f->sym.symbols, vaddr, r->demangle);
	if (out->name)
		out->into_bytes = vaddr - symtab_start(f->sym.symbols, vaddr);
	if (!out->name)
		out->reason = symfile_miss(&f->sym);
}

void resolver_user_once(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
			bool return_address, struct resolved *out)
{
	*out = (struct resolved){ .dso = "", .offset = file_off_bytes, .reason = NAME_NO_MAP };
	if (file >= r->file_count)
		return;
	return_address = return_address && file_off_bytes;
	out->reason = NAME_FOUND;
	resolve_in_file(r, r->files[file], file_off_bytes - return_address, return_address, out);
	out->into_bytes += out->name ? return_address : 0;
}

const struct resolved *resolver_user(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
				     bool return_address)
{
	struct resolved *x;
	bool fresh;

	if (file >= r->file_count)
		return resolver_unmapped(r, file_off_bytes);
	return_address = return_address && file_off_bytes;
	x = result_of(r, file, file_off_bytes, return_address, &fresh);
	if (!x)
		return &r->no_memory;
	if (fresh) {
		resolve_in_file(r, r->files[file], file_off_bytes - return_address, return_address,
				x);
		x->into_bytes += x->name ? return_address : 0;
	}
	return x;
}

/* Of a bundle that has lines, *known becomes true, even when there are none for this place. */
static size_t frames_in_bundles(const struct file *f, uint64_t off_bytes, bool is_return,
				struct lines_frame *out, size_t max, bool *known)
{
	struct bundle_place place;
	const struct bundle *b = find_in_bundles(f, off_bytes, is_return, &place);
	size_t i;

	*known = b && bundle_has_lines(b);
	if (!*known)
		return 0;
	for (i = 0; i < place.frame_count && i < max; i++) {
		struct bundle_frame at = bundle_frame(b, place.first_frame + i);

		out[i] = (struct lines_frame){ at.function, at.file, at.line, at.column };
	}
	return i;
}

/* As in the file, mangled. */
static size_t raw_frames(struct resolver *r, struct file *f, uint64_t off_bytes, bool is_return,
			 struct lines_frame *out, size_t max)
{
	const struct symfile_wanted wanted = { f->wanted, f->wanted_count };
	struct linetab *tab = NULL;
	struct lines *lines;
	uint64_t vaddr;
	bool known;
	size_t n;

	if (f->aliases->as.jit_pid)
		return 0;
	n = frames_in_bundles(f, off_bytes, is_return, out, max, &known);
	if (known)
		return n;
	load_for(r, f, off_bytes - is_return); /* its name may have been in a bundle */
	if (!symfile_vaddr(&f->sym, off_bytes - is_return, &vaddr))
		return 0;
	if (f->wanted_count)
		tab = symfile_linetab(&f->sym, &r->roots, &f->aliases->as, &wanted,
				      r->thread_count);
	if (tab && linetab_find(tab, vaddr, out, max, &n))
		return n;
	lines = symfile_lines(&f->sym, &r->roots, &f->aliases->as);
	return lines ? lines_find(lines, vaddr, out, max) : 0;
}

size_t resolver_frames(struct resolver *r, uint32_t file, uint64_t file_off_bytes,
		       bool return_address, struct resolver_frame *out, size_t max)
{
	const struct resolved *x = resolver_user(r, file, file_off_bytes, return_address);
	struct lines_frame frames[LINES_DEPTH_MAX];
	size_t i, n = 0;

	if (file < r->file_count)
		n = raw_frames(r, r->files[file], file_off_bytes, return_address && file_off_bytes,
			       frames, max < LINES_DEPTH_MAX ? max : LINES_DEPTH_MAX);
	for (i = 0; i < n; i++) {
		const char *name = frames[i].function;

		if (name && r->demangle)
			name = namecache_get(&r->inlined, name);
		out[i] = (struct resolver_frame){ name, frames[i].file, frames[i].line,
						  frames[i].column };
	}
	if (n && x->name)
		out[n - 1].function = x->name;
	return n;
}

const struct resolved *resolver_kernel(struct resolver *r, uint64_t addr, bool return_address)
{
	const struct kernsym *sym;
	struct resolved *x;
	bool fresh;

	return_address = return_address && addr;
	x = result_of(r, FILE_KERNEL, addr, return_address, &fresh);
	if (!x)
		return &r->no_memory;
	if (!fresh)
		return x;
	sym = r->kernel ? kernsyms_find(r->kernel, addr - return_address) : NULL;
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

/* ---- what travels ---- */

uint32_t resolver_file_count(const struct resolver *r)
{
	return (uint32_t)r->file_count;
}

/* The name as it stands in the file, where that is known. */
static const char *raw_name(struct file *f, const struct slot *s)
{
	struct bundle_place place;
	uint64_t vaddr;

	if (!s->result->name)
		return NULL;
	if (find_in_bundles(f, s->offset, s->return_address, &place) && place.name)
		return place.name;
	if (!f->jit && symfile_vaddr(&f->sym, s->offset - s->return_address, &vaddr))
		return symtab_find(f->sym.symbols, vaddr, false);
	return s->result->name;
}

/* What is put into the bundle of one file. */
struct packing {
	struct bundle_place *places;
	size_t count;
	struct bundle_frame *frames;
	size_t frame_count, frame_room;
};

static int pack_frames(struct resolver *r, struct file *f, struct packing *p,
		       struct bundle_place *place)
{
	struct lines_frame frames[LINES_DEPTH_MAX];
	size_t n = raw_frames(r, f, place->offset, place->is_return, frames, LINES_DEPTH_MAX);
	int err = vec_reserve(&p->frames, &p->frame_room, p->frame_count + n);

	if (err)
		return err;
	if (p->frame_count + n >= UINT32_MAX)
		return -EOVERFLOW;
	place->first_frame = (uint32_t)p->frame_count;
	place->frame_count = (uint16_t)n;
	for (size_t i = 0; i < n; i++)
		p->frames[p->frame_count++] = (struct bundle_frame){ frames[i].function,
								     frames[i].file, frames[i].line,
								     frames[i].column };
	return 0;
}

static int pack(struct resolver *r, uint32_t file, bool with_lines, struct packing *p)
{
	struct file *f = r->files[file];
	int err = 0;

	p->places = calloc(r->result_count + 1, sizeof(*p->places));
	if (!p->places)
		return -ENOMEM;
	for (size_t i = 0; !err && i < r->slot_count; i++) {
		const struct slot *s = &r->slots[i];

		if (!s->result || s->file != file)
			continue;
		p->places[p->count] = (struct bundle_place){
			.offset = s->offset,
			.name = raw_name(f, s),
			.is_return = s->return_address,
			.reason = (uint8_t)s->result->reason,
		};
		if (with_lines)
			err = pack_frames(r, f, p, &p->places[p->count]);
		p->count++;
	}
	return err;
}

int resolver_bundle(struct resolver *r, uint32_t file, bool with_lines, uint8_t **out,
		    size_t *size_bytes)
{
	struct packing p = { 0 };
	struct resolver_source source;
	struct bundle_head head;
	int err;

	if (!resolver_source(r, file, &source) || r->files[file]->aliases->as.jit_pid)
		return -ENOENT;
	head = (struct bundle_head){
		.file = r->files[file]->aliases->as,
		.symbols = *source.debug_file ? source.debug_file : source.file,
		.trust = (uint8_t)source.trust,
	};
	err = pack(r, file, with_lines, &p);
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

bool resolver_source(const struct resolver *r, uint32_t file, struct resolver_source *out)
{
	const struct symfile *s;

	if (file >= r->file_count)
		return false;
	s = &r->files[file]->sym;
	*out = (struct resolver_source){
		.path = r->files[file]->aliases->as.path,
		.build_id = r->files[file]->aliases->as.build_id,
		.asked = r->files[file]->loaded,
		.reason = s->reason,
		.trust = s->file.path ? s->file.trust : s->debug.trust,
		.file = s->file.path ? s->file.path : "",
		.debug_file = s->debug.path ? s->debug.path : "",
		.mini = s->mini,
		.full = s->symbols && symtab_is_full(s->symbols),
	};
	if (r->files[file]->bundle_count && !s->file.path && !s->debug.path) {
		out->trust = NAME_BY_BUNDLE;
		out->file = bundle_head(r->files[file]->bundles[0])->symbols;
	}
	return true;
}

/* ---- making ---- */

static void add_bundle(struct file *f, const struct bundle *b)
{
	if (f->bundle_count < BUNDLES_MAX)
		f->bundles[f->bundle_count++] = b;
}

int resolver_new(const struct resolver_opts *opts, struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->demangle = opts->demangle;
	r->roots = opts->roots;
	r->jits = opts->jits;
	r->jit_count = opts->jit_count;
	r->hints = opts->hints;
	r->thread_count = opts->thread_count;
	r->no_memory = (struct resolved){ .dso = "", .reason = NAME_BETWEEN };
	if (opts->kallsyms)
		err = kernsyms_new(opts->kallsyms, opts->kallsyms_bytes, &r->kernel);
	for (size_t i = 0; err != -ENOMEM && i < opts->bundle_count; i++) {
		uint32_t id = resolver_add_file(r, &bundle_head(opts->bundles[i])->file);

		if (id == UINT32_MAX)
			err = -ENOMEM;
		else
			add_bundle(r->files[id], opts->bundles[i]);
	}
	if (err == -ENOMEM) {
		resolver_free(r);
		return err;
	}
	*out = r; /* hidden or empty kallsyms are a reason, no error */
	return 0;
}

void resolver_free(struct resolver *r)
{
	struct chunk *c;
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->file_count; i++)
		file_free(r->files[i]);
	while ((c = r->chunks)) {
		r->chunks = c->next;
		free(c);
	}
	namecache_done(&r->inlined);
	kernsyms_free(r->kernel);
	free(r->files);
	free(r->file_slots);
	free(r->slots);
	free(r);
}
