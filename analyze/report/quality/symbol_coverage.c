/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/quality/symbol_coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"
#include "analyze/out/text_table.h"

#define NO_FILE UINT32_MAX

void symbol_coverage_done(struct symbol_coverage *u)
{
	free(u->frames);
	free(u->self);
	free(u->files);
	free(u->rows);
	*u = (struct symbol_coverage){ 0 };
}

/* ---- before naming ---- */

static void weigh_self(struct symbol_coverage *u, const struct stack_table *s)
{
	for (size_t i = 0; i < s->entry_count; i++) {
		const struct stack_table_key *k = &s->entries[i].key;
		uint32_t node = k->kernel == STACK_TABLE_KERNEL_ROOT ? k->user : k->kernel;

		if (node >= STACK_TABLE_FIRST_NODE)
			u->self[s->nodes[node].frame] += s->entries[i].sample_count;
	}
}

struct weight {
	uint32_t file;
	uint64_t frames;
};

static int heaviest_first(const void *va, const void *vb)
{
	const struct weight *a = va, *b = vb;

	if (a->frames != b->frames)
		return a->frames > b->frames ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

/* Those with the most frames first; where they are not weighed yet, with the most places. */
static int load_files(const struct symbol_coverage *u, struct resolver *resolver, bool by_weight)
{
	uint32_t count = 0, used = 0, *order;
	struct weight *w;

	for (size_t i = 0; i < u->place_count; i++)
		if (u->files[i] != NO_FILE && u->files[i] >= count)
			count = u->files[i] + 1;
	w = calloc((size_t)count + 1, sizeof(*w));
	order = calloc((size_t)count + 1, sizeof(*order));
	if (!w || !order) {
		free(w);
		free(order);
		return -ENOMEM;
	}
	for (uint32_t f = 0; f < count; f++)
		w[f].file = f;
	for (size_t i = 0; i < u->place_count; i++)
		if (u->files[i] != NO_FILE)
			w[u->files[i]].frames += by_weight ? u->frames[i] : 1;
	qsort(w, count, sizeof(*w), heaviest_first);
	while (used < count && w[used].frames) {
		order[used] = w[used].file;
		used++;
	}
	resolver_load(resolver, order, used);
	free(order);
	free(w);
	return 0;
}

/* Also makes all paths of a file, and all places in it, known before it is loaded. */
static int find_files(struct symbol_coverage *u, const struct locations *places,
		      const struct process_model *model, struct resolver *resolver)
{
	uint32_t *ids = calloc((size_t)process_model_file_count(model) + 1, sizeof(*ids)); /* + 1 */
	int err = ids ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < places->count; i++) {
		const struct location *p = &places->list[i];

		u->files[i] = NO_FILE;
		if (p->kind != LOCATION_FILE)
			continue;
		if (!ids[p->file])
			ids[p->file] = function_table_file(model, p->file, resolver) + 1;
		u->files[i] = ids[p->file] - 1; /* without memory: NO_FILE */
		err = resolver_want(resolver, u->files[i], p->offset, p->is_return);
	}
	free(ids);
	return err;
}

static void *weigh(void *arg)
{
	struct symbol_coverage *u = arg;

	u->weigh_err = stack_counter_settle(u->sampler);
	if (u->weigh_err)
		return NULL;
	weigh_self(u, stack_counter_stacks(u->sampler));
	u->weigh_err = stack_table_weigh_frames(stack_counter_stacks(u->sampler), u->frames);
	return NULL;
}

int symbol_coverage_wait(struct symbol_coverage *u)
{
	if (u->weighing)
		pthread_join(u->weigher, NULL);
	u->weighing = false;
	return u->weigh_err;
}

int symbol_coverage_load(struct symbol_coverage *u, struct stack_counter *sampler,
			 const struct process_model *model, struct resolver *resolver,
			 bool by_weight)
{
	const struct locations *places = stack_counter_places(sampler);
	int err;

	u->place_count = places->count;
	u->frames = calloc(places->count + 1, sizeof(*u->frames));
	u->self = calloc(places->count + 1, sizeof(*u->self));
	u->files = calloc(places->count + 1, sizeof(*u->files));
	if (!u->frames || !u->self || !u->files)
		return -ENOMEM;
	u->sampler = sampler;
	u->weighing = !by_weight && !pthread_create(&u->weigher, NULL, weigh, u);
	if (!u->weighing)
		weigh(u);
	err = find_files(u, places, model, resolver);
	return err ? err : load_files(u, resolver, by_weight);
}

/* ---- after it ---- */

/* The cost of locations in one file without a name for one reason. */
struct part {
	uint32_t dso, file;
	uint8_t reason;
	uint64_t frames, self;
};

struct parts {
	struct part *list;
	size_t count, capacity;
	struct hash_index index;
};

static bool is_same(const struct part *a, const struct part *b)
{
	/* NOLINTNEXTLINE: what the index finds was put into the list */
	return a->dso == b->dso && a->file == b->file && a->reason == b->reason;
}

static void add_counts(struct part *to, const struct part *part)
{
	to->frames += part->frames;
	to->self += part->self;
}

static int add_to_part(struct parts *p, const struct part *part)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&p->index);

	if (!err)
		err = vec_reserve(&p->list, &p->capacity, p->count + 1);
	if (err)
		return err;
	hash = hash_index_pair(&p->index, (uint64_t)part->dso << 32 | part->file, part->reason);
	pos = hash_index_start(&p->index, hash);
	while ((id = hash_index_match(&p->index, hash, &pos)) != HASH_INDEX_NONE) {
		struct part *known = &p->list[id];

		if (is_same(known, part)) {
			add_counts(known, part);
			return 0;
		}
	}
	hash_index_put(&p->index, hash, pos, (uint32_t)p->count);
	p->list[p->count++] = *part;
	return 0;
}

static int by_file(const void *va, const void *vb)
{
	const struct part *a = va, *b = vb;

	if (a->dso != b->dso)
		return a->dso < b->dso ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (int)a->reason - (int)b->reason;
}

static int most_frames_first(const void *va, const void *vb, void *names)
{
	const struct symbol_coverage_row *a = va, *b = vb;
	int cmp;

	if (a->frames != b->frames)
		return a->frames > b->frames ? -1 : 1;
	cmp = strcmp(string_table_text(names, a->dso), string_table_text(names, b->dso));
	return cmp ? cmp : memcmp(a->build_id.bytes, b->build_id.bytes, BUILDID_MAX_BYTES);
}

static int begin_row(struct symbol_coverage_row *row, const struct part *p,
		     const struct resolver *resolver, struct string_table *names)
{
	struct resolver_source s;
	const char *symbols = "";
	int err;

	*row = (struct symbol_coverage_row){ .dso = p->dso };
	if (resolver_source(resolver, p->file, &s)) {
		symbols = *s.debug_file ? s.debug_file : s.file;
		row->trust = (uint8_t)s.trust;
		row->mini = s.mini;
		row->full = s.full;
		row->go = s.go;
		row->build_id = s.build_id;
		row->gap = (uint8_t)s.gap;
		err = string_table_add(names, s.part, strlen(s.part), &row->part);
		if (err)
			return err;
	}
	return string_table_add(names, symbols, strlen(symbols), &row->symbols);
}

/* The first of equally frequent reasons wins. */
static void add_part(struct symbol_coverage_row *row, const struct part *p)
{
	row->frames += p->frames;
	row->self += p->self;
	if (p->reason == NAME_FOUND)
		return;
	row->unnamed += p->frames;
	if (p->frames > row->worst_frames) {
		row->worst_frames = p->frames;
		row->worst = p->reason;
	}
}

/* parts are sorted: those of a file stand together. */
static int make_rows(struct symbol_coverage *u, const struct parts *parts,
		     const struct resolver *resolver, struct string_table *names)
{
	int err;

	u->rows = calloc(parts->count + 1, sizeof(*u->rows));
	if (!u->rows)
		return -ENOMEM;
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *p = &parts->list[i], *last = i ? p - 1 : NULL;

		if (!last || last->dso != p->dso || last->file != p->file) {
			err = begin_row(&u->rows[u->row_count], p, resolver, names);
			if (err)
				return err;
			u->row_count++;
		}
		add_part(&u->rows[u->row_count - 1], p);
	}
	qsort_r(u->rows, u->row_count, sizeof(*u->rows), most_frames_first, names);
	return 0;
}

int symbol_coverage_sum(struct symbol_coverage *u, const struct function_table *naming,
			const struct resolver *resolver, struct string_table *names)
{
	struct part run = { .file = NO_FILE }; /* of the places so far that are the same */
	struct parts parts = { 0 };
	int err = symbol_coverage_wait(u);

	for (size_t i = 0; !err && i < u->place_count; i++) {
		const struct function *f = &naming->functions[naming->by_place[i]];
		struct part part = { f->dso, u->files[i], f->reason, u->frames[i], u->self[i] };

		if (i && !is_same(&run, &part))
			err = add_to_part(&parts, &run);
		if (i && is_same(&run, &part))
			add_counts(&run, &part);
		else
			run = part;
	}
	if (!err && u->place_count)
		err = add_to_part(&parts, &run);
	if (!err && parts.count)
		qsort(parts.list, parts.count, sizeof(*parts.list), by_file);
	if (!err)
		err = make_rows(u, &parts, resolver, names);
	free(parts.list);
	hash_index_done(&parts.index);
	free(u->frames);
	free(u->self);
	free(u->files);
	u->frames = u->self = NULL;
	u->files = NULL;
	return err;
}

uint64_t symbol_coverage_guessed(const struct symbol_coverage *u)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < u->row_count; i++)
		if (u->rows[i].trust == NAME_BY_PATH)
			frames += u->rows[i].frames - u->rows[i].unnamed;
	return frames;
}

/* ---- for people and programs ---- */

static const char *known_by(const struct symbol_coverage_row *r, const char *dso)
{
	if (*dso == '[')
		return r->frames > r->unnamed && r->trust == NAME_BY_NOTHING
			       ? "names in the capture"
			       : name_trust_text((enum name_trust)r->trust);
	return name_trust_text((enum name_trust)r->trust);
}

/* The reason of what has no name, and of what was inlined and is not shown. */
static void write_why(struct text_table *v, const struct symbol_coverage_row *r,
		      const struct string_table *names, const char *none)
{
	static const char *const gaps[] = {
		[ADDR2LINE_GONE] = "not here",
		[ADDR2LINE_STALE] = "of another build",
		[ADDR2LINE_BAD] = "broken, or not understood",
	};
	const char *why = r->worst != NAME_FOUND ? name_reason_text((enum name_reason)r->worst)
						 : NULL;
	char *text = NULL;

	if (r->gap &&
	    asprintf(&text, "%s%sits inlined functions are in %s, which is %s", why ? why : "",
		     why ? "; " : "", string_table_text(names, r->part), gaps[r->gap]) < 0)
		text = NULL;
	text_table_text(v, "why", text ? text : why ? why : none);
	free(text);
}

static void write_row(struct text_table *v, const struct symbol_coverage_row *r,
		      const struct string_table *names, const char *none)
{
	const char *dso = string_table_text(names, r->dso), *remedy;
	bool wanting = r->worst != NAME_FOUND;
	char hex[BUILDID_HEX_BYTES];

	buildid_hex(&r->build_id, hex);
	remedy = wanting ? name_reason_remedy((enum name_reason)r->worst) : NULL;
	if (!remedy && r->gap)
		remedy = "give its folder with --debug-dir";
	text_table_row(v);
	text_table_number(v, "frames", r->frames);
	text_table_number(v, "self", r->self);
	text_table_number(v, "unnamed", r->unnamed);
	text_table_text(v, "file", dso);
	text_table_text(v, "build_id", *hex ? hex : none);
	text_table_text(v, "known_by", known_by(r, dso));
	text_table_text(v, "symbols",
			string_table_bytes(names, r->symbols) ? string_table_text(names, r->symbols)
							      : none);
	text_table_text(v, "kind",
			r->mini    ? "MiniDebugInfo"
			: r->full  ? "full"
			: r->go    ? "Go's table"
			: r->trust ? "exports"
				   : none);
	write_why(v, r, names, none);
	text_table_text(v, "remedy", remedy ? remedy : none);
}

int symbol_coverage_write(const struct symbol_coverage *u, const struct string_table *names,
			  bool json, FILE *to)
{
	static const char *const columns[] = { "frames",   "self",    "unnamed", "file", "build_id",
					       "known_by", "symbols", "kind",    "why",  "remedy" };
	struct text_table *v;
	int err;

	err = text_table_open(to, json, &v);
	if (err)
		return err;
	text_table_begin(v, "files", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < u->row_count; i++)
		if (u->rows[i].frames)
			write_row(v, &u->rows[i], names, json ? "" : "-");
	text_table_end(v);
	return text_table_close(v);
}
