/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/stacks.h"
#include "analyze/sym/function_label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"
#include "analyze/report/profile/calltree.h"
#include "analyze/report/profile/stack_path.h"
#include "analyze/sym/locate/file_search.h"
#include "format/base/vec.h"

/* Flags of a frame, as docs/PAGE.md has them. */
enum {
	FRAME_KERNEL = 1,
	FRAME_INLINED = 2,
};

/* Kinds of frames, by which the viewer colours them. */
enum frame_kind {
	KIND_GROUP, /* of none: threads and processes have it */
	KIND_USER,
	KIND_INLINED,
	KIND_KERNEL,
	KIND_JIT,
	KIND_BPF,
	KIND_WAIT,
	KIND_NO_NAME,
};

struct builder {
	const struct page_reports *reports;
	struct page_texts *texts;
	struct page_stacks *out;
	struct string_table *rows; /* names of frames and bases of their files, as they are */
	struct radix_item *order;  /* entries, those of equal stacks side by side */
	uint32_t *frame_of;        /* by function of the reports: the frame that is the function */
	uint32_t *line_of;         /* the frame that is its line, or the same */
	struct calltree tree;      /* labels: frames */
	struct hash_index object_index;
};

/* ---- which functions ---- */

/* The function of that number; *of: whose it is, *at: what it is there. */
static const struct function *function_at(const struct page_reports *reports, uint32_t number,
					  const struct page_report **of, uint32_t *at)
{
	size_t i = 0;

	while (i + 1 < reports->count && number >= reports->list[i].report->naming.function_count)
		number -= (uint32_t)reports->list[i++].report->naming.function_count;
	*of = &reports->list[i];
	*at = number;
	return &(*of)->report->naming.functions[number];
}

static size_t function_count(const struct page_reports *reports)
{
	size_t count = 0;

	for (size_t i = 0; i < reports->count; i++)
		count += reports->list[i].report->naming.function_count;
	return count;
}

static int mark_used(const struct stack_table *s, bool *used)
{
	bool *seen = calloc(s->node_count + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++) {
		const uint32_t ends[] = { s->entries[i].key.kernel, s->entries[i].key.user };

		for (size_t part = 0; part < 2; part++)
			for (uint32_t at = ends[part]; at >= STACK_TABLE_FIRST_NODE && !seen[at];
			     at = s->nodes[at].parent) {
				seen[at] = true;
				used[s->nodes[at].frame] = true;
			}
	}
	free(seen);
	return 0;
}

/* A name in a report of one capture, and in one of another or the same. */
static int compare_texts(const struct report *ra, uint32_t a, const struct report *rb, uint32_t b)
{
	return ra->names == rb->names && a == b
		       ? 0
		       : strcmp(string_table_text(ra->names, a), string_table_text(rb->names, b));
}

static int compare_rows(const struct builder *b, uint32_t one, uint32_t other)
{
	return one == other
		       ? 0
		       : strcmp(string_table_text(b->rows, one), string_table_text(b->rows, other));
}

/* By what a row of a table of functions shows: 0 for two functions of one row. */
static int by_row(const struct builder *b, const struct page_frame *one,
		  const struct page_frame *other)
{
	int cmp = compare_rows(b, one->row_name, other->row_name);

	if (!cmp)
		cmp = compare_rows(b, one->row_base, other->row_base);
	return cmp ? cmp : (one->flags & FRAME_KERNEL) - (other->flags & FRAME_KERNEL);
}

/* As by_row(), and lines of a function have rows of their own. */
static int by_line(const struct builder *b, const struct page_frame *one,
		   const struct page_frame *other)
{
	const struct page_report *of_one, *of_other;
	uint32_t at;
	uint32_t line = function_at(b->reports, one->function, &of_one, &at)->line,
		 other_line = function_at(b->reports, other->function, &of_other, &at)->line;
	int cmp = by_row(b, one, other);

	return cmp ? cmp
		   : compare_texts(of_one->report, one->is_function ? 0 : line, of_other->report,
				   other->is_function ? 0 : other_line);
}

static int compare_frames(const struct builder *b, const struct page_frame *one,
			  const struct page_frame *other)
{
	const struct page_report *of_one, *of_other;
	const struct report *ra, *rb;
	uint32_t na, nb;
	const struct function *fa = function_at(b->reports, one->function, &of_one, &na),
			      *fb = function_at(b->reports, other->function, &of_other, &nb);
	int cmp = by_line(b, one, other);

	ra = of_one->report;
	rb = of_other->report;
	if (!cmp)
		cmp = compare_texts(ra, fa->dso, rb, fb->dso);
	if (!cmp)
		cmp = compare_texts(ra, name_sources_of(&ra->sources, na).build_id, rb,
				    name_sources_of(&rb->sources, nb).build_id);
	if (!cmp)
		cmp = (int)fa->reason - (int)fb->reason;
	return cmp ? cmp : one->flags - other->flags;
}

static int by_function(const void *va, const void *vb, void *builder)
{
	const struct page_frame *a = va, *b = vb;
	int cmp = compare_frames(builder, a, b);

	if (!cmp)
		cmp = (a->function > b->function) - (a->function < b->function);
	return cmp ? cmp : a->is_function - b->is_function;
}

static bool has_line(const struct builder *b, uint32_t function)
{
	const struct page_report *of;
	uint32_t at;

	return function_at(b->reports, function, &of, &at)->line;
}

/* Functions in which a reader would see no difference are one frame. */
static void number_frames(struct builder *b, size_t count)
{
	struct page_frame *list = b->out->frames;
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		const struct page_frame frame = list[i];

		if (!made || compare_frames(b, &list[made - 1], &frame))
			list[made++] = frame;
		if (frame.is_function || !has_line(b, frame.function))
			b->frame_of[frame.function] = (uint32_t)made - 1;
		if (!frame.is_function)
			b->line_of[frame.function] = (uint32_t)made - 1;
	}
	for (size_t i = 1; i < made; i++)
		list[i].row = list[i - 1].row + (by_line(b, &list[i - 1], &list[i]) ? 1 : 0);
	b->out->frame_count = made;
}

/* The name of a file without its folders, and what stands behind it; owned, NULL: no memory. */
static char *copy_base(const char *path)
{
	size_t size;
	const char *base = function_label_base(path, &size);

	return strndup(base, size);
}

static int add_row_name(struct builder *b, const struct page_renames *renames, const char *name,
			uint32_t *out)
{
	char *room;
	const char *text = page_texts_rename(renames, name, &room);
	int err = text ? string_table_add(b->rows, text, strlen(text), out) : -ENOMEM;

	free(room);
	return err;
}

static int begin_frame(struct builder *b, uint32_t number, struct page_frame *frame)
{
	const struct page_report *of;
	uint32_t at;
	const struct function *f = function_at(b->reports, number, &of, &at);
	const struct string_table *names = of->report->names;
	char *base = copy_base(string_table_text(names, f->dso));
	int err = base ? add_row_name(b, &of->renames, string_table_text(names, f->name),
				      &frame->row_name)
		       : -ENOMEM;

	if (!err)
		err = add_row_name(b, &of->renames, base, &frame->row_base);
	free(base);
	frame->function = number;
	frame->flags = (f->is_kernel ? FRAME_KERNEL : 0) | (f->is_inlined ? FRAME_INLINED : 0);
	return err;
}

static int choose_frames(struct builder *b)
{
	size_t count = function_count(b->reports), first = 0, used_count = 0;
	bool *used = calloc(count + 1, sizeof(*used));
	int err = used ? string_table_new(&b->rows) : -ENOMEM;

	for (size_t i = 0; !err && i < b->reports->count; i++) {
		err = mark_used(&b->reports->list[i].report->stacks, used + first);
		first += b->reports->list[i].report->naming.function_count;
	}
	b->frame_of = calloc(count + 1, sizeof(*b->frame_of));
	b->line_of = calloc(count + 1, sizeof(*b->line_of));
	b->out->frames = calloc(count + 1, 2 * sizeof(*b->out->frames));
	if (!err && (!b->frame_of || !b->line_of || !b->out->frames))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		if (!used[i])
			continue;
		err = begin_frame(b, (uint32_t)i, &b->out->frames[used_count++]);
		if (!err && has_line(b, (uint32_t)i)) {
			b->out->frames[used_count] = b->out->frames[used_count - 1];
			b->out->frames[used_count++].is_function = true;
		}
	}
	free(used);
	if (err)
		return err;
	qsort_r(b->out->frames, used_count, sizeof(*b->out->frames), by_function, b);
	number_frames(b, used_count);
	return 0;
}

/* ---- what is known of them ---- */

static const char *object_kind(const struct function *f, const char *path)
{
	if (!strcmp(path, "[bpf]"))
		return "bpf";
	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vsyscall]"))
		return "vdso";
	if (!strcmp(path, "[off-cpu]"))
		return "wait";
	if (f->is_kernel)
		return strncmp(path, "[kernel", 7) ? "module" : "kernel";
	if (!strncmp(path, "/tmp/perf-", 10) || file_search_is_anonymous(path))
		return "jit";
	return *path == '/' ? "file" : "none";
}

static enum frame_kind frame_kind(const struct function *f, const char *object)
{
	static const char *const kinds[] = {
		[KIND_JIT] = "jit", [KIND_BPF] = "bpf", [KIND_WAIT] = "wait"
	};

	if (f->reason)
		return KIND_NO_NAME;
	for (enum frame_kind kind = KIND_JIT; kind <= KIND_WAIT; kind++)
		if (!strcmp(object, kinds[kind]))
			return kind;
	return f->is_kernel ? KIND_KERNEL : f->is_inlined ? KIND_INLINED : KIND_USER;
}

static int describe_object(struct builder *b, const struct page_frame *frame, struct page_object *o)
{
	const struct page_report *of;
	uint32_t at;
	const struct function *f = function_at(b->reports, frame->function, &of, &at);
	const struct report *r = of->report;
	const char *path = string_table_text(r->names, f->dso);
	char *base = copy_base(path);
	int err = base ? page_texts_add(b->texts, path, &o->path) : -ENOMEM;

	if (!err)
		err = page_texts_add_name(b->texts, base, &o->base);
	if (!err)
		err = page_texts_add(
			b->texts,
			string_table_text(r->names, name_sources_of(&r->sources, at).build_id),
			&o->build_id);
	if (!err)
		err = page_texts_add(b->texts, object_kind(f, path), &o->kind);
	free(base);
	return err;
}

static int find_object(struct builder *b, const struct page_object *o, uint32_t *out)
{
	struct page_stacks *s = b->out;
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&b->object_index);

	if (err)
		return err;
	hash = hash_index_bytes(&b->object_index, o, sizeof(*o));
	pos = hash_index_start(&b->object_index, hash);
	while ((id = hash_index_match(&b->object_index, hash, &pos)) != HASH_INDEX_NONE)
		if (!memcmp(&s->objects[id], o, sizeof(*o))) {
			*out = id;
			return 0;
		}
	err = vec_reserve(&s->objects, &s->object_capacity, s->object_count + 1);
	if (err)
		return err;
	*out = (uint32_t)s->object_count;
	s->objects[s->object_count++] = *o;
	hash_index_put(&b->object_index, hash, pos, *out);
	return 0;
}

static int fill_frame(struct builder *b, struct page_frame *frame)
{
	const struct page_report *of;
	uint32_t at;
	const struct function *f = function_at(b->reports, frame->function, &of, &at);
	struct string_table *names = of->report->names;
	struct page_object object;
	uint32_t label;
	int err;

	frame->kind = (uint8_t)frame_kind(
		f, object_kind(f, string_table_text(of->report->names, f->dso)));
	b->texts->renames = of->renames;
	err = page_texts_add_name(b->texts, string_table_text(names, f->name), &frame->name);
	if (!err)
		err = function_table_label(names, string_table_text(names, f->name), "", &label);
	if (!err)
		err = page_texts_add_name(b->texts, string_table_text(names, label), &frame->label);
	if (!err)
		err = page_texts_add(b->texts,
				     string_table_text(names, frame->is_function ? 0 : f->line),
				     &frame->line);
	if (!err)
		err = page_texts_add(b->texts, f->reason ? name_reason_text(f->reason) : "",
				     &frame->reason);
	if (!err)
		err = describe_object(b, frame, &object);
	return err ? err : find_object(b, &object, &frame->object);
}

/* ---- the tree ---- */

/* Entries of equal stacks side by side. */
static int sort_entries(struct builder *b, const struct stack_table *s)
{
	free(b->order);
	b->order = calloc(s->entry_count + 1, sizeof(*b->order));
	if (!b->order)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++)
		b->order[i] = (struct radix_item){ (uint64_t)s->entries[i].key.user << 32 |
							   s->entries[i].key.kernel,
						   (uint32_t)i };
	return radix_sort(&b->order, s->entry_count);
}

static int add_stack(struct builder *b, const struct stack_table *s, const uint32_t *frame_of,
		     struct stack_path *path, uint32_t entry, uint32_t *out)
{
	const struct stack_path_rule rule = { .labels = frame_of, .empty = STACK_PATH_NONE };
	int err = stack_path_read(path, s, &s->entries[entry], &rule);

	*out = CALLTREE_ROOT;
	if (!err && path->labels[0] == STACK_PATH_NONE)
		return 0; /* a stack without frames */
	for (size_t i = path->count; !err && i-- > 0;)
		err = calltree_child(&b->tree, *out, path->labels[i], out);
	return err;
}

/* Each distinct stack is walked once.  frame_of: by function of the report that s is of. */
static int add_stacks(struct builder *b, const struct stack_table *s, const uint32_t *frame_of,
		      uint32_t **node_of)
{
	struct stack_path path = { 0 };
	uint32_t node = CALLTREE_ROOT;
	int err = 0;

	*node_of = calloc(s->entry_count + 1, sizeof(**node_of));
	if (!*node_of)
		return -ENOMEM;
	err = sort_entries(b, s);
	for (size_t i = 0; !err && i < s->entry_count; i++) {
		if (!i || b->order[i].key != b->order[i - 1].key)
			err = add_stack(b, s, frame_of, &path, b->order[i].value, &node);
		(*node_of)[b->order[i].value] = node;
	}
	stack_path_done(&path);
	return err;
}

static bool has_lines(const struct function_table *naming)
{
	for (size_t i = 0; i < naming->function_count; i++)
		if (naming->functions[i].line)
			return true;
	return false;
}

static int build_tree(struct builder *b)
{
	size_t first = 0;
	int err = calltree_init(&b->tree);

	for (size_t i = 0; !err && i < b->reports->count; i++) {
		const struct report *r = b->reports->list[i].report;

		err = add_stacks(b, &r->stacks, b->frame_of + first, &b->out->node_of[i]);
		if (!err && has_lines(&r->naming))
			err = add_stacks(b, &r->stacks, b->line_of + first, &b->out->lines_of[i]);
		first += r->naming.function_count;
	}
	return err;
}

/* Nodes by their caller, and below one caller by their frames. */
static int sort_nodes(const struct calltree *t, struct radix_item **out)
{
	struct radix_item *list = calloc(t->count + 1, sizeof(*list));
	int err;

	if (!list)
		return -ENOMEM;
	for (size_t i = 1; i < t->count; i++)
		list[i - 1] = (struct radix_item){
			(uint64_t)t->nodes[i].parent << 32 | t->nodes[i].label, (uint32_t)i
		};
	err = radix_sort(&list, t->count - 1);
	if (err)
		free(list);
	else
		*out = list;
	return err;
}

/* first: by node, where its callees begin in the list. */
static void find_first(const struct calltree *t, const struct radix_item *list, uint32_t *first)
{
	size_t at = 0;

	for (size_t i = 0; i <= t->count; i++) {
		while (at < t->count - 1 && list[at].key >> 32 < i)
			at++;
		first[i] = (uint32_t)at;
	}
}

/*
 * The number of each node in a walk from the root.  todo: nodes that were not walked yet, of which the last is next.
 */
static void number_nodes(const struct builder *b, const struct radix_item *list,
			 const uint32_t *first, uint32_t *todo, uint32_t *numbers)
{
	const struct calltree *t = &b->tree;
	struct page_stacks *out = b->out;
	size_t count = 0;

	todo[count++] = CALLTREE_ROOT;
	while (count) {
		uint32_t node = todo[--count];

		numbers[node] = (uint32_t)out->node_count;
		out->nodes[out->node_count++] = (struct page_node){ numbers[t->nodes[node].parent],
								    t->nodes[node].label };
		for (size_t i = first[node + 1]; i-- > first[node];)
			todo[count++] = list[i].value;
	}
}

/* nodes: NULL: there are none. */
static void take_numbers(uint32_t *nodes, size_t count, const uint32_t *numbers)
{
	for (size_t i = 0; nodes && i < count; i++)
		nodes[i] = numbers[nodes[i]];
}

static int order_tree(struct builder *b)
{
	const struct calltree *t = &b->tree;
	uint32_t *first = calloc(t->count + 2, sizeof(*first));
	uint32_t *todo = calloc(t->count + 1, sizeof(*todo));
	uint32_t *numbers = calloc(t->count + 1, sizeof(*numbers));
	struct radix_item *list = NULL;
	int err = -ENOMEM;

	b->out->nodes = calloc(t->count + 1, sizeof(*b->out->nodes));
	if (first && todo && numbers && b->out->nodes)
		err = sort_nodes(t, &list);
	if (!err) {
		find_first(t, list, first);
		number_nodes(b, list, first, todo, numbers);
		for (size_t r = 0; r < b->reports->count; r++) {
			size_t entry_count = b->reports->list[r].report->stacks.entry_count;

			take_numbers(b->out->node_of[r], entry_count, numbers);
			take_numbers(b->out->lines_of[r], entry_count, numbers);
		}
	}
	free(first);
	free(todo);
	free(numbers);
	free(list);
	return err;
}

int page_stacks_make(const struct page_reports *reports, struct page_texts *texts,
		     struct page_stacks *out)
{
	struct page_stacks fresh = { 0 };
	struct builder b = { .reports = reports, .texts = texts, .out = &fresh };
	int err = choose_frames(&b);

	for (size_t i = 0; !err && i < fresh.frame_count; i++)
		err = fill_frame(&b, &fresh.frames[i]);
	if (!err)
		err = build_tree(&b);
	if (!err)
		err = order_tree(&b);
	calltree_done(&b.tree);
	hash_index_done(&b.object_index);
	string_table_free(b.rows);
	free(b.order);
	free(b.frame_of);
	free(b.line_of);
	if (err)
		page_stacks_done(&fresh);
	else
		*out = fresh;
	return err;
}

void page_stacks_done(struct page_stacks *s)
{
	free(s->frames);
	free(s->objects);
	free(s->nodes);
	for (size_t i = 0; i < PAGE_REPORTS; i++) {
		free(s->node_of[i]);
		free(s->lines_of[i]);
	}
	*s = (struct page_stacks){ 0 };
}

/* ---- writing ---- */

#define WRITE_TEXTS(p, texts, list, count, field)                                        \
	do {                                                                             \
		page_columns_begin(p, #field);                                           \
		for (size_t i_ = 0; i_ < (count); i_++)                                  \
			page_columns_put(p, page_texts_number(texts, (list)[i_].field)); \
	} while (0)

static void write_frames(const struct page_stacks *s, const struct page_texts *texts,
			 struct page_columns *p)
{
	page_columns_begin_table(p, "frames", s->frame_count);
	WRITE_TEXTS(p, texts, s->frames, s->frame_count, name);
	WRITE_TEXTS(p, texts, s->frames, s->frame_count, label);
	page_columns_begin(p, "object");
	for (size_t i = 0; i < s->frame_count; i++)
		page_columns_put(p, s->frames[i].object);
	page_columns_begin(p, "flags");
	for (size_t i = 0; i < s->frame_count; i++)
		page_columns_put(p, s->frames[i].flags);
	page_columns_begin(p, "kind");
	for (size_t i = 0; i < s->frame_count; i++)
		page_columns_put(p, s->frames[i].kind);
	page_columns_begin_differences(p, "row");
	for (size_t i = 0; i < s->frame_count; i++)
		page_columns_put_difference(p, s->frames[i].row);
	WRITE_TEXTS(p, texts, s->frames, s->frame_count, line);
	WRITE_TEXTS(p, texts, s->frames, s->frame_count, reason);
	page_columns_end_table(p);
}

void page_stacks_write(const struct page_stacks *s, const struct page_texts *texts,
		       struct page_columns *p)
{
	page_columns_begin_table(p, "objects", s->object_count);
	WRITE_TEXTS(p, texts, s->objects, s->object_count, path);
	WRITE_TEXTS(p, texts, s->objects, s->object_count, base);
	WRITE_TEXTS(p, texts, s->objects, s->object_count, build_id);
	WRITE_TEXTS(p, texts, s->objects, s->object_count, kind);
	page_columns_end_table(p);
	write_frames(s, texts, p);
	/* The root needs no row. */
	page_columns_begin_table(p, "nodes", s->node_count - 1);
	page_columns_begin(p, "parent");
	for (size_t i = 1; i < s->node_count; i++)
		page_columns_put(p, i - s->nodes[i].parent);
	page_columns_begin(p, "frame");
	for (size_t i = 1; i < s->node_count; i++)
		page_columns_put(p, s->nodes[i].frame);
	page_columns_end_table(p);
}
