/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symfile.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/insertion_sort.h"
#include "analyze/sym/locate/debuglink.h"
#include "analyze/sym/locate/dwo_search.h"
#include "analyze/sym/locate/file_search_priv.h"
#include "analyze/sym/locate/open_in_root.h"
#include "format/base/vec.h"

#define PAGE_BYTES 4096

void symfile_init(struct symfile *s)
{
	*s = (struct symfile){
		.reason = NAME_FILE_GONE,
		.file.fd = -1,
		.debug.fd = -1,
	};
}

void symfile_done(struct symfile *s)
{
	symtab_free(s->symbols);
	symtab_free(s->variables);
	function_ranges_free(s->ranges);
	free(s->bounds);
	lines_free(s->lines);
	addr2line_free(s->linetab);
	addr2line_free(s->gaps);
	go_lines_free(s->golines);
	free(s->alt_name);
	free(s->segments);
	located_done(&s->file);
	located_done(&s->debug);
	symfile_init(s);
}

static void close_fd(struct located *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* ---- segments ---- */

static int keep_segments(struct symfile *s, const struct elf_file *e)
{
	size_t count;
	const struct elf_file_segment *segments = elf_file_segments(e, &count);

	free(s->segments);
	s->segment_count = 0;
	s->segments = reallocarray(NULL, count + 1, sizeof(*segments));
	if (!s->segments)
		return -ENOMEM;
	if (count)
		memcpy(s->segments, segments, count * sizeof(*segments));
	s->segment_count = count;
	return 0;
}

static uint64_t page_up(uint64_t v)
{
	return v > UINT64_MAX - PAGE_BYTES ? v : (v + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/*
 * objcopy --only-keep-debug takes the contents out of the segments and with them the offsets that
 * they had.  As far as segments follow each other page on page, as GNU ld lays them out, the file
 * had the same order; behind the first gap nothing is guessed.
 */
static void restore_offsets(struct symfile *s)
{
	uint64_t base = s->segment_count ? s->segments[0].vaddr : 0, next = base;
	size_t i;

	for (i = 0; i < s->segment_count; i++) {
		struct elf_file_segment *g = &s->segments[i];

		if (g->vaddr != next || g->vaddr % PAGE_BYTES)
			return;
		if (!g->file_bytes && g->exec) {
			g->off_bytes = g->vaddr - base;
			g->file_bytes = g->mem_bytes;
		}
		if (g->mem_bytes > UINT64_MAX - g->vaddr)
			return;
		next = page_up(g->vaddr + g->mem_bytes);
	}
}

bool symfile_vaddr(const struct symfile *s, uint64_t off_bytes, uint64_t *out)
{
	bool found = false;
	size_t i;

	for (i = 0; i < s->segment_count; i++) {
		const struct elf_file_segment *g = &s->segments[i];

		if (off_bytes < g->off_bytes || off_bytes - g->off_bytes >= g->file_bytes)
			continue;
		if (!found || g->exec)
			*out = g->vaddr + (off_bytes - g->off_bytes);
		found = true;
		if (g->exec)
			break;
	}
	return found;
}

/* ---- loading ---- */

/* The file's separate symbols, when it has none of its own.  May be NULL. */
static struct elf_file *open_debug(struct symfile *s, const struct name_roots *roots,
				   const struct elf_file *elf, const struct resolver_file *as)
{
	struct elf_file *debug = NULL;
	struct buildid id = { 0 };
	int err;

	if (elf_file_by_type(elf, SHT_SYMTAB))
		return NULL;
	if (buildid_from_fd(s->file.fd, &id))
		id.size_bytes = 0;
	err = file_search_debug(roots, &id, elf, s->file.path ? s->file.path : as->path, &s->debug);
	s->debug_stale = err == -ESTALE;
	if (err || !elf_file_open(s->debug.fd, &debug))
		return debug;
	located_done(&s->debug);
	return NULL;
}

static int add_bound(struct symfile *s, size_t *room, uint64_t off_bytes)
{
	int err = vec_reserve(&s->bounds, room, s->bound_count + 1);

	if (!err)
		s->bounds[s->bound_count++] = off_bytes;
	return err;
}

/* The bounds of one segment: its start and end, and those between. */
static int add_bounds(struct symfile *s, const struct elf_file_segment *g, const uint64_t *vaddrs,
		      size_t count, size_t *room)
{
	int err = add_bound(s, room, g->off_bytes);

	for (size_t i = 0; !err && i < count; i++)
		if (vaddrs[i] > g->vaddr && vaddrs[i] - g->vaddr < g->file_bytes)
			err = add_bound(s, room, g->off_bytes + (vaddrs[i] - g->vaddr));
	if (!err && g->file_bytes <= UINT64_MAX - g->off_bytes)
		err = add_bound(s, room, g->off_bytes + g->file_bytes);
	return err;
}

/* The addresses where names begin and end, and where functions without a name do. */
static int add_function_bounds(const struct symfile *s, uint64_t **vaddrs, size_t *count)
{
	size_t n = s->ranges ? function_ranges_count(s->ranges) : 0;
	uint64_t *all = n ? reallocarray(*vaddrs, *count + 2 * n, sizeof(*all)) : *vaddrs;

	if (n && !all)
		return -ENOMEM;
	*vaddrs = all;
	for (size_t i = 0; i < n; i++, *count += 2)
		function_ranges_at(s->ranges, i, &all[*count], &all[*count + 1]);
	return 0;
}

/* By offset, as symfile_vaddr() leads back from there. */
static int read_bounds(struct symfile *s, const struct elf_file *elf, const struct elf_file *debug,
		       const struct elf_file *mini)
{
	size_t count, room = 0;
	uint64_t *vaddrs;
	int err = symtab_bounds(elf, debug, mini, &vaddrs, &count);

	if (err)
		return err;
	err = add_function_bounds(s, &vaddrs, &count);
	for (size_t i = 0; !err && i < s->segment_count; i++)
		err = add_bounds(s, &s->segments[i], vaddrs, count, &room);
	free(vaddrs);
	s->bound_count = insertion_sort_unique(s->bounds, s->bound_count);
	return err;
}

/* The segments must be known.  *vaddrs is the caller's (free()). */
static int find_wanted(const struct symfile *s, const struct symfile_wanted *wanted,
		       uint64_t **vaddrs, size_t *count)
{
	*vaddrs = reallocarray(NULL, wanted->count + 1, sizeof(**vaddrs));
	*count = 0;
	for (size_t i = 0; *vaddrs && i < wanted->count; i++)
		*count += symfile_vaddr(s, wanted->off_bytes[i], &(*vaddrs)[*count]);
	return *vaddrs ? 0 : -ENOMEM;
}

/* Removes the addresses that a symbol covers. */
static void remove_named(struct symfile *s, uint64_t *vaddrs, size_t *count)
{
	uint64_t start, end;
	size_t n = 0;

	for (size_t i = 0; i < *count; i++)
		if (!symtab_extent(s->symbols, vaddrs[i], &start, &end))
			vaddrs[n++] = vaddrs[i];
	*count = n;
}

/* A broken table is left out: its functions are not distinguished, as if it were not there. */
static int read_ranges(struct symfile *s, const struct elf_file *elf, const struct elf_file *debug,
		       const struct elf_file *mini, const struct symtab_wanted *wanted)
{
	if (debug || mini || elf_file_by_type(elf, SHT_SYMTAB) ||
	    function_ranges_new(elf, wanted, &s->ranges) != -ENOMEM)
		return 0;
	return -ENOMEM;
}

static int load_bounds(struct symfile *s, const struct name_roots *roots,
		       const struct elf_file *elf, const struct elf_file *debug,
		       const struct elf_file *mini)
{
	const struct symtab_wanted none = { 0 }; /* bounds do not depend on whose part it is */
	int err = roots->function_addresses ? read_ranges(s, elf, debug, mini, &none) : 0;

	return err ? err : read_bounds(s, elf, debug, mini);
}

/* wanted: NULL: all.  Functions without a name are distinguished even where no table of symbols can be read. */
static int load_symbols(struct symfile *s, const struct name_roots *roots,
			const struct elf_file *elf, const struct elf_file *debug,
			const struct elf_file *mini, const struct symfile_wanted *wanted)
{
	uint64_t *vaddrs = NULL;
	struct symtab_wanted at;
	int err = wanted ? find_wanted(s, wanted, &vaddrs, &at.count) : 0, ranges_err = 0;

	if (err)
		return err;
	at.vaddrs = vaddrs;
	err = symtab_new(elf, debug, mini, wanted ? &at : NULL, &s->symbols);
	if (!err && wanted)
		remove_named(s, vaddrs, &at.count);
	if (roots->function_addresses && (!wanted || at.count))
		ranges_err = read_ranges(s, elf, debug, mini, wanted ? &at : NULL);
	free(vaddrs);
	return err ? err : ranges_err;
}

static enum name_reason load_tables(struct symfile *s, const struct name_roots *roots,
				    const struct elf_file *elf, const struct elf_file *debug,
				    const struct symfile_wanted *wanted)
{
	bool only_bounds = wanted && wanted->only_bounds;
	struct elf_file *mini = NULL;
	uint8_t *unpacked = NULL;
	size_t unpacked_bytes;
	int err;

	if (!debug && !elf_file_by_type(elf, SHT_SYMTAB) &&
	    !minidebug_read(elf, &unpacked, &unpacked_bytes) &&
	    elf_file_from_bytes(unpacked, unpacked_bytes, &mini))
		mini = NULL;
	s->mini = mini;
	err = only_bounds ? load_bounds(s, roots, elf, debug, mini)
			  : load_symbols(s, roots, elf, debug, mini, wanted);
	elf_file_close(mini);
	free(unpacked);
	if (err)
		return NAME_BAD_ELF;
	if (only_bounds)
		return NAME_FOUND;
	return symtab_count(s->symbols) ? NAME_FOUND : symfile_miss(s);
}

bool symfile_load(struct symfile *s, const struct name_roots *roots, const struct resolver_file *as,
		  const struct symfile_wanted *wanted)
{
	struct elf_file *elf = NULL, *debug;

	s->reason = file_search_open(roots, as, &s->file);
	if (s->reason != NAME_FOUND)
		return false;
	if (elf_file_open(s->file.fd, &elf)) {
		s->reason = NAME_BAD_ELF;
	} else if (keep_segments(s, elf)) {
		s->reason = NAME_BAD_ELF;
		elf_file_close(elf);
	} else {
		debug = open_debug(s, roots, elf, as);
		s->reason = load_tables(s, roots, elf, debug, wanted);
		elf_file_close(debug);
		elf_file_close(elf);
	}
	close_fd(&s->file);
	close_fd(&s->debug);
	return true;
}

/* As they were recorded. */
static bool take_segments(struct symfile *s, const struct resolver_file *as)
{
	struct elf_file_segment *segments;
	uint32_t i;

	if (!as->segment_count)
		return false;
	segments = reallocarray(s->segments, as->segment_count, sizeof(*segments));
	if (!segments)
		return false;
	s->segments = segments;
	s->segment_count = as->segment_count;
	for (i = 0; i < as->segment_count; i++) {
		const struct file_facts_segment *g = &as->segments[i];

		segments[i] = (struct elf_file_segment){ g->vaddr, g->off_bytes, g->size_bytes,
							 g->size_bytes, true };
	}
	return true;
}

bool symfile_load_debug(struct symfile *s, const struct name_roots *roots,
			const struct resolver_file *as, const struct symfile_wanted *wanted)
{
	struct elf_file *debug = NULL;
	enum name_reason reason = NAME_BAD_ELF;

	if (!as->id.build_id.size_bytes ||
	    file_search_debug(roots, &as->id.build_id, NULL, "", &s->debug))
		return false;
	if (elf_file_open(s->debug.fd, &debug)) {
		located_done(&s->debug);
		return false;
	}
	if (!keep_segments(s, debug)) {
		if (!take_segments(s, as))
			restore_offsets(s);
		reason = load_tables(s, roots, debug, NULL, wanted);
	}
	elf_file_close(debug);
	close_fd(&s->debug);
	if (reason != NAME_FOUND)
		return false;
	s->reason = reason;
	return true;
}

bool symfile_function(const struct symfile *s, uint64_t vaddr, uint64_t *start)
{
	return s->ranges && function_ranges_find(s->ranges, vaddr, start);
}

enum name_reason symfile_miss(const struct symfile *s)
{
	if (s->symbols && symtab_is_full(s->symbols))
		return NAME_BETWEEN;
	return s->debug_stale ? NAME_DEBUG_STALE : NAME_STRIPPED;
}

/* ---- DWARF ---- */

/* Opens again what was found; it may be another file by now, so its build-id is asked again. */
static bool reopen(int opener, const struct located *was, const struct resolver_file *as,
		   struct located *out)
{
	const struct buildid *id = &as->id.build_id;
	struct buildid now;
	struct stat st;
	int fd;

	fd = was->path ? roots_open(opener, was->root, was->path, true, &st) : -1;
	if (fd < 0)
		return false;
	if (id->size_bytes && (buildid_from_fd(fd, &now) || !file_search_same_id(&now, id))) {
		close(fd);
		return false;
	}
	return !file_search_fill(out, fd, was->root, was->path, was->trust);
}

bool symfile_reopen(int opener, const struct symfile *s, const struct resolver_file *as,
		    struct located *out)
{
	if (!reopen(opener, &s->file, as, out))
		return false;
	if (as->id.build_id.size_bytes || !file_search_other_sum(as, out->fd))
		return true;
	located_done(out);
	return false;
}

/* NULL: it is not here any more, or no ELF file. */
static struct elf_file *reopen_elf(bool found, const struct located *l)
{
	struct elf_file *elf = NULL;

	return found && !elf_file_open(l->fd, &elf) ? elf : NULL;
}

/* Which files these are was found out when the functions were loaded. */
struct symtab *symfile_variables(struct symfile *s, const struct name_roots *roots,
				 const struct resolver_file *as)
{
	struct located file = { .fd = -1 }, debug = { .fd = -1 };
	struct elf_file *elf, *elf_debug;

	if (s->variables_tried)
		return s->variables;
	s->variables_tried = true;
	elf = reopen_elf(symfile_reopen(roots->opener, s, as, &file), &file);
	elf_debug = reopen_elf(reopen(roots->opener, &s->debug, as, &debug), &debug);
	if ((elf || elf_debug) &&
	    symtab_new_variables(elf ? elf : elf_debug, elf ? elf_debug : NULL, &s->variables))
		s->variables = NULL;
	elf_file_close(elf_debug);
	elf_file_close(elf);
	located_done(&debug);
	located_done(&file);
	return s->variables;
}

/*
 * Called for files with DWARF.  true: the DWARF of these files is taken, and no other is looked
 * for.
 */
typedef bool (*dwarf_fn)(struct symfile *s, const struct located *l, int alt_fd, void *arg);

static void note_alt(struct symfile *s, const struct elf_file *elf, bool stale)
{
	struct altlink link;

	if (s->alt_name || altlink_read(elf, &link))
		return;
	s->alt_name = link.path;
	s->alt_gap = stale ? ADDR2LINE_STALE : ADDR2LINE_GONE;
}

/* Passes on the DWARF of l, if it has any, and closes it. */
static bool try_dwarf(struct symfile *s, const struct name_roots *roots, struct located *l,
		      dwarf_fn fn, void *arg)
{
	struct located alt = { .fd = -1 };
	struct elf_file *elf = NULL;
	bool has = false;
	int err;

	if (!elf_file_open(l->fd, &elf)) {
		has = elf_file_by_name(elf, ".debug_info") || elf_file_by_name(elf, ".zdebug_info");
		err = has ? file_search_alt(roots, elf, l, &alt) : 0;
		if (err) {
			alt.fd = -1;
			note_alt(s, elf, err == -ESTALE);
		}
		elf_file_close(elf);
	}
	has = has && fn(s, l, alt.fd, arg);
	located_done(&alt);
	located_done(l);
	return has;
}

/* A file with a symbol table of its own may still have its DWARF elsewhere. */
static bool find_dwarf(struct symfile *s, const struct name_roots *roots,
		       const struct resolver_file *as, dwarf_fn fn, void *arg)
{
	struct located l = { .fd = -1 }, debug;
	struct elf_file *elf = NULL;
	struct buildid id;
	int err;

	if (reopen(roots->opener, &s->debug, as, &l) && try_dwarf(s, roots, &l, fn, arg))
		return true;
	l = (struct located){ .fd = -1 };
	if (!symfile_reopen(roots->opener, s, as, &l))
		return false;
	if (buildid_from_fd(l.fd, &id))
		id.size_bytes = 0;
	if (elf_file_open(l.fd, &elf))
		elf = NULL;
	err = s->debug.path || !elf ? -ENOENT : 0;
	if (!err)
		err = file_search_debug(roots, &id, elf, s->file.path, &debug);
	elf_file_close(elf);
	if (!err && try_dwarf(s, roots, &debug, fn, arg)) {
		located_done(&l);
		return true;
	}
	return try_dwarf(s, roots, &l, fn, arg);
}

static bool open_lines(struct symfile *s, const struct located *l, int alt_fd, void *arg)
{
	if (lines_open(l->fd, alt_fd, &s->lines))
		s->lines = NULL;
	return s->lines;
}

struct lines *symfile_lines(struct symfile *s, const struct name_roots *roots,
			    const struct resolver_file *as)
{
	if (!s->lines_loaded)
		(void)find_dwarf(s, roots, as, open_lines, NULL);
	s->lines_loaded = true;
	return s->lines;
}

struct go_lines *symfile_golines(struct symfile *s, const struct name_roots *roots,
				 const struct resolver_file *as)
{
	struct located l = { .fd = -1 };
	struct elf_file *elf = NULL;

	if (s->golines_tried)
		return s->golines;
	s->golines_tried = true;
	if (!symfile_reopen(roots->opener, s, as, &l))
		return NULL;
	if (!elf_file_open(l.fd, &elf) && go_lines_new(elf, &s->golines))
		s->golines = NULL;
	elf_file_close(elf);
	located_done(&l);
	return s->golines;
}

struct batch {
	uint64_t *vaddrs;
	size_t count;
	unsigned thread_count;
	const struct name_roots *roots;
};

/* Only what was split has its addresses in a section of their own, and all that clang makes of DWARF 5. */
static bool may_be_split(int fd)
{
	struct elf_file *elf = NULL;
	bool may;

	if (elf_file_open(fd, &elf))
		return false;
	may = elf_file_by_name(elf, ".debug_addr");
	elf_file_close(elf);
	return may;
}

static void read_parts(struct symfile *s, const struct located *l, const struct batch *b, bool gaps)
{
	const struct dwo_search places = { .roots = b->roots, .program = l, .other = &s->file };
	const struct addr2line_parts parts = { .open = dwo_search_open,
					       .open_package = dwo_search_open_package,
					       .ctx = &places };
	struct addr2line *t = NULL;

	if (gaps) {
		if (!addr2line_gaps_new(l->fd, b->vaddrs, b->count, &parts, &t))
			s->gaps = t;
	} else if (!addr2line_new(l->fd, b->vaddrs, b->count, b->thread_count, &parts, &t)) {
		s->linetab = t;
	}
}

static bool open_linetab(struct symfile *s, const struct located *l, int alt_fd, void *arg)
{
	read_parts(s, l, arg, false);
	return s->linetab;
}

/* A file with DWARF ends the search; that it is unsupported or complete is an answer, too. */
static bool open_gaps(struct symfile *s, const struct located *l, int alt_fd, void *arg)
{
	if (may_be_split(l->fd))
		read_parts(s, l, arg, true);
	return true;
}

static void find_batch(struct symfile *s, struct batch *b, const struct resolver_file *as,
		       const struct symfile_wanted *wanted, dwarf_fn fn)
{
	b->vaddrs = reallocarray(NULL, wanted->count + 1, sizeof(*b->vaddrs));
	if (!b->vaddrs)
		return;
	for (size_t i = 0; i < wanted->count; i++)
		b->count += symfile_vaddr(s, wanted->off_bytes[i], &b->vaddrs[b->count]);
	addrsort(b->vaddrs, b->count);
	(void)find_dwarf(s, b->roots, as, fn, b);
	free(b->vaddrs);
}

struct addr2line *symfile_linetab(struct symfile *s, const struct name_roots *roots,
				  const struct resolver_file *as,
				  const struct symfile_wanted *wanted, unsigned thread_count)
{
	struct batch b = { .thread_count = thread_count, .roots = roots };

	if (!s->linetab_tried)
		find_batch(s, &b, as, wanted, open_linetab);
	s->linetab_tried = true;
	return s->linetab;
}

void symfile_find_gap(struct symfile *s, const struct name_roots *roots,
		      const struct resolver_file *as, const struct symfile_wanted *wanted)
{
	struct name_roots here = *roots;
	struct batch b = { .roots = &here };

	here.fetcher = NULL;
	if (!s->linetab_tried && !s->gaps_tried)
		find_batch(s, &b, as, wanted, open_gaps);
	s->gaps_tried = true;
}

enum addr2line_gap symfile_gap(const struct symfile *s, const char **name)
{
	const struct addr2line *t = s->linetab ? s->linetab : s->gaps;
	enum addr2line_gap gap = t ? addr2line_gap(t, name) : ADDR2LINE_COMPLETE;

	if (gap || !s->alt_name)
		return gap;
	*name = s->alt_name;
	return s->alt_gap;
}
