/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/flame_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/profile/folded_order.h"
#include "format/text/escape.h"
#include "format/base/vec.h"

/* In pixels. */
#define WIDTH     1200
#define MARGIN    10
#define ROW       17
#define HEAD      64  /* title and legend */
#define CHARACTER 6.7 /* of a monospace font of 11 pixels, and a little */
#define MIN_WIDTH 0.1
#define MIN_TEXT  3 /* characters; a narrower frame has no text */

#define NAME_BYTES 512 /* of a frame's text; what is longer ends in ".." */
#define SHADES     4

static const struct {
	char letter; /* of its classes */
	const char *name;
	const char *shades[SHADES];
} kinds[FLAME_KINDS] = {
	[FLAME_PROCESS] = { 'p', "process", { "#c9d3e6", "#c9d3e6", "#c9d3e6", "#c9d3e6" } },
	[FLAME_USER] = { 'u', "user", { "#f5b971", "#f3c07f", "#f0b263", "#f7c68e" } },
	[FLAME_KERNEL] = { 'k', "kernel", { "#8fb8e8", "#9cc1ec", "#84b0e4", "#a9caef" } },
	[FLAME_INLINED] = { 'i', "inlined", { "#b6dba0", "#bfe0ab", "#add696", "#c8e5b6" } },
	[FLAME_UNNAMED] = { 'n', "no name", { "#d9d9d9", "#d9d9d9", "#d9d9d9", "#d9d9d9" } },
	[FLAME_WAIT] = { 'w', "wait", { "#d9b8e0", "#d9b8e0", "#d9b8e0", "#d9b8e0" } },
};

struct frame {
	uint32_t node, depth;
	uint64_t begin; /* weight to the left of it */
};

struct flame {
	const struct calltree *tree;
	const struct string_table *names;
	const struct flame_style *style;
	struct folded_order order;
	uint64_t *totals; /* by node */
	struct frame *todo;
	size_t todo_count, todo_capacity;
	uint32_t depth;    /* of the deepest frame that is drawn */
	uint64_t left_out; /* frames */
	FILE *to;
};

/* ---- text ---- */

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_xml_noncharacter(const char *text, size_t size_bytes)
{
	return size_bytes >= 3 && !memcmp(text, "\xef\xbf", 2) && (uint8_t)text[2] >= 0xbe;
}

static void put_character(FILE *to, const char *text, size_t size_bytes)
{
	switch (*text) {
	case '<':
		fputs("&lt;", to);
		break;
	case '>':
		fputs("&gt;", to);
		break;
	case '&':
		fputs("&amp;", to);
		break;
	case '"':
		fputs("&quot;", to);
		break;
	default:
		fwrite(text, 1, size_bytes, to);
	}
}

/* A foreign text in XML, at most max characters of what is printed for it. */
static void put_text(FILE *to, const char *text, size_t size_bytes, size_t max)
{
	char out[ESCAPE_BYTES_MAX];
	size_t used, out_bytes;

	for (size_t count = 0; size_bytes && count < max; text += used, size_bytes -= used) {
		if (is_xml_noncharacter(text, size_bytes)) {
			fprintf(to, "\\xef\\xbf\\x%02x", (uint8_t)text[2]);
			used = 3;
			count += 12;
			continue;
		}
		used = escape_next(ESCAPE_TEXT, text, size_bytes, out, &out_bytes);
		put_character(to, out, out_bytes);
		count += used == out_bytes ? 1 : out_bytes;
	}
}

/* The name of a frame, without the mark of its kind. */
static enum flame_kind kind_of(const struct flame *f, const struct frame *at, const char **name,
			       size_t *size_bytes)
{
	uint32_t label = f->tree->nodes[at->node].label;
	size_t bytes = string_table_bytes(f->names, label);
	const char *text = string_table_text(f->names, label), *mark = text + bytes - 4;

	*name = text;
	*size_bytes = bytes;
	if (!at->depth)
		return FLAME_PROCESS;
	if (bytes > 4 && (!memcmp(mark, "_[k]", 4) || !memcmp(mark, "_[i]", 4)))
		*size_bytes -= 4;
	return (enum flame_kind)f->style->kinds[label];
}

static unsigned shade_of(const char *name, size_t size_bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size_bytes; i++)
		sum = sum * 31 + (uint8_t)name[i];
	return (sum >> 8) % SHADES;
}

/* ---- the tree ---- */

/* A parent's number is lower than its child's. */
static int sum_totals(struct flame *f)
{
	const struct calltree *t = f->tree;

	f->totals = calloc(t->count, sizeof(*f->totals));
	if (!f->totals)
		return -ENOMEM;
	for (size_t n = t->count; n-- > 0;) {
		f->totals[n] += t->nodes[n].self;
		if (n != CALLTREE_ROOT)
			f->totals[t->nodes[n].parent] += f->totals[n];
	}
	return 0;
}

static double width_of(const struct flame *f, uint64_t weight)
{
	uint64_t sum = f->totals[CALLTREE_ROOT];

	return sum ? (double)weight / (double)sum * (WIDTH - 2 * MARGIN) : 0;
}

/* The frames that a frame calls, or for the root the processes: those that are wide enough. */
static int push_callees(struct flame *f, uint32_t node, uint32_t depth, uint64_t begin)
{
	const struct folded_order *o = &f->order;
	size_t from = f->todo_count;
	int err = vec_reserve(&f->todo, &f->todo_capacity,
			      from + o->first[node + 1] - o->first[node]);

	if (err)
		return err;
	for (uint32_t i = o->first[node]; i < o->first[node + 1]; i++) {
		const struct folded_item *item = &o->items[i];

		/* A caller whose stacks end there, too, comes a second time. */
		if (item->is_end && o->first[item->node + 1] > o->first[item->node])
			continue;
		if (width_of(f, f->totals[item->node]) >= MIN_WIDTH)
			f->todo[f->todo_count++] = (struct frame){ item->node, depth, begin };
		else
			f->left_out++;
		begin += f->totals[item->node];
	}
	return 0;
}

/* Calls visit for each frame that is drawn. */
static int each_frame(struct flame *f, void (*visit)(struct flame *f, const struct frame *at))
{
	int err;

	f->todo_count = 0;
	f->left_out = 0;
	err = push_callees(f, CALLTREE_ROOT, 0, 0);
	while (!err && f->todo_count) {
		struct frame at = f->todo[--f->todo_count];

		visit(f, &at);
		err = push_callees(f, at.node, at.depth + 1, at.begin);
	}
	return err;
}

static void note_depth(struct flame *f, const struct frame *at)
{
	f->depth = at->depth > f->depth ? at->depth : f->depth;
}

/* ---- the picture ---- */

static unsigned height_of(const struct flame *f)
{
	return HEAD + (f->depth + 1) * ROW + 2 * MARGIN + ROW;
}

static void draw_frame(struct flame *f, const struct frame *at)
{
	uint64_t total = f->totals[at->node];
	double x = MARGIN + width_of(f, at->begin), width = width_of(f, total);
	unsigned y = HEAD + (f->depth - at->depth) * ROW + MARGIN;
	size_t bytes, room = (size_t)((width - 4) / CHARACTER);
	const char *name;
	enum flame_kind kind = kind_of(f, at, &name, &bytes);

	fputs("<g><title>", f->to);
	put_text(f->to, name, bytes, NAME_BYTES);
	fprintf(f->to,
		" (%s, %" PRIu64 " %s, %.2f%%)</title><rect class=\"%c%u\" x=\"%.2f\" y=\"%u\" "
		"width=\"%.2f\" height=\"%d\"/>",
		kinds[kind].name, total, f->style->unit,
		100 * (double)total / (double)f->totals[CALLTREE_ROOT], kinds[kind].letter,
		shade_of(name, bytes), x, y, width, ROW - 1);
	if (width > 4 && room >= MIN_TEXT) {
		bool fits = escape_columns(name, bytes) <= room;

		fprintf(f->to, "<text x=\"%.2f\" y=\"%u\">", x + 2, y + ROW - 5);
		put_text(f->to, name, bytes, fits ? room : room - 2);
		fputs(fits ? "</text>" : "..</text>", f->to);
	}
	fputs("</g>\n", f->to);
}

static void draw_legend(const struct flame *f)
{
	unsigned x = MARGIN;

	for (size_t k = 0; k < FLAME_KINDS; k++) {
		fprintf(f->to,
			"<rect class=\"%c0\" x=\"%u\" y=\"36\" width=\"14\" height=\"14\"/>"
			"<text x=\"%u\" y=\"47\">%s</text>\n",
			kinds[k].letter, x, x + 18, kinds[k].name);
		x += 100;
	}
}

static void draw_head(const struct flame *f)
{
	const char *title = f->style->title;
	unsigned height = height_of(f);

	fprintf(f->to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n<title>",
		WIDTH, height, WIDTH, height);
	put_text(f->to, title, strlen(title), SIZE_MAX);
	fputs("</title>\n<style>rect{stroke:#fff;stroke-width:.3}", f->to);
	for (size_t k = 0; k < FLAME_KINDS; k++)
		for (unsigned i = 0; i < SHADES; i++)
			fprintf(f->to, ".%c%u{fill:%s}", kinds[k].letter, i, kinds[k].shades[i]);
	fprintf(f->to,
		"</style>\n<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"15\">",
		WIDTH, height, MARGIN);
	put_text(f->to, title, strlen(title), SIZE_MAX);
	fputs("</text>\n", f->to);
}

static void draw_foot(const struct flame *f)
{
	unsigned y = height_of(f) - MARGIN;

	if (!f->totals[CALLTREE_ROOT])
		fprintf(f->to, "<text x=\"%d\" y=\"%u\">no %s</text>\n", MARGIN, y, f->style->unit);
	else if (f->left_out)
		fprintf(f->to,
			"<text x=\"%d\" y=\"%u\">%" PRIu64
			" calls are narrower than a tenth of a pixel and left out, with what they call</text>\n",
			MARGIN, y, f->left_out);
	fputs("</svg>\n", f->to);
}

int flame_svg_write(const struct calltree *t, const struct string_table *names,
		    const struct flame_style *style, FILE *to)
{
	struct flame f = { .tree = t, .names = names, .style = style, .to = to };
	int err = folded_order_make(t, names, 0, &f.order);

	if (err)
		return err;
	err = sum_totals(&f);
	if (!err)
		err = each_frame(&f, note_depth); /* the height comes first */
	if (!err) {
		draw_head(&f);
		draw_legend(&f);
		err = each_frame(&f, draw_frame);
	}
	if (!err)
		draw_foot(&f);
	folded_order_done(&f.order);
	free(f.totals);
	free(f.todo);
	return err;
}
