/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/annotate/annotate_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "format/text/json_writer.h"
#include "format/base/vec.h"

#define SCHEMA        1
#define CONTEXT_LINES 4u /* of text around a line that has a cost */
#define TAB_COLUMNS   8
#define LEAST_COLUMNS 20u

struct page {
	const struct annotate *a;
	const struct string_table *names;
	const struct annotate_style *style;
	const struct annotated *f;
	int weight_width, number_width;
	FILE *to;
};

static const char *text_of(const struct page *p, uint32_t string)
{
	return string_table_text(p->names, string);
}

/* ---- why something is not there ---- */

static const char *text_gap(int err)
{
	switch (err) {
	case -ENOTDIR:
		return "its path is relative to a folder that is not known (--source-dir DIR)";
	case -EACCES:
	case -EPERM:
		return "it may not be read";
	case -ENOEXEC:
		return "it is not source code of a compiled language or of Python, by its name, or no text";
	case -EFBIG:
		return "there is too much of it";
	default:
		return "it is not here (--source-dir DIR; --debuginfod URLS asks a server)";
	}
}

static bool is_of_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib", "/bin/", "/sbin/", "/opt/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])) &&
		    strncmp(path, "/usr/local/", strlen("/usr/local/")) != 0)
			return true;
	return false;
}

static void write_remedy(FILE *to, enum name_reason reason)
{
	const char *remedy = name_reason_remedy(reason);

	if (remedy)
		fprintf(to, " (%s)", remedy);
}

/* The line of a function of which no line is known; owned, NULL: no memory. */
static char *line_gap(const struct page *p)
{
	const char *dso = text_of(p, p->f->dso);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	switch (p->f->gap) {
	case ANNOTATE_COMPLETE:
		break;
	case ANNOTATE_KERNEL:
		fputs("debug information of the kernel is not read", to);
		break;
	case ANNOTATE_JIT:
		fputs("this code was made at run time, and has no debug information", to);
		break;
	case ANNOTATE_BUNDLE:
		fprintf(to,
			"the capture has the names of '%s', but not its lines ('ebprec bundle "
			"--lines', where that file is, adds them)",
			dso);
		break;
	case ANNOTATE_FILE:
		fprintf(to, "'%s': %s", dso, name_reason_text(p->f->reason));
		write_remedy(to, p->f->reason);
		break;
	case ANNOTATE_NO_DWARF:
		if (is_of_system(dso))
			fprintf(to,
				"'%s' has no debug information (install that of its package: "
				"'dpkg -S' names it, NAME-dbgsym or NAME-dbg has it; 'dnf "
				"debuginfo-install'; or --debuginfod URLS)",
				dso);
		else
			fprintf(to,
				"'%s' has no debug information (compile with -g; or --debug-dir "
				"DIR, --debuginfod URLS)",
				dso);
		break;
	}
	fclose(to);
	return text;
}

/* Why instructions are missing; NULL: none are. */
static const char *code_gap(const struct page *p)
{
	if (p->f->gap == ANNOTATE_KERNEL)
		return "those of the kernel are not read";
	if (p->f->gap == ANNOTATE_JIT)
		return "this code is in no file";
	if (p->f->other_machine)
		return "only those of x86 are known";
	return p->f->reason != NAME_FOUND ? name_reason_text(p->f->reason) : NULL;
}

/* Where one of the two is missing, the other stands in. */
static bool shows_code(const struct page *p)
{
	return p->f->gap != ANNOTATE_COMPLETE || (p->style->with_code && !code_gap(p));
}

static const char *trouble_of(const struct annotate_file *file)
{
	if (file->err)
		return text_gap(file->err);
	if (file->is_newer)
		return "it was changed after the program was made: its lines may have moved";
	return file->is_newer_than_recording
		       ? "it was changed after the recording: its lines may have moved"
		       : NULL;
}

/* ---- columns ---- */

static int digits(uint64_t value)
{
	return value < 10 ? 1 : 1 + digits(value / 10);
}

static void write_percent(const struct page *p, uint64_t value)
{
	if (value) {
		terminal_percent(p->to, &p->style->look, number_percent(value, p->f->cost.total));
		putc(' ', p->to);
	} else {
		fprintf(p->to, "%9s", "");
	}
}

/* NULL: none. */
static void write_cost(const struct page *p, const struct annotate_cost *cost)
{
	write_percent(p, cost ? cost->self : 0);
	write_percent(p, cost ? cost->total : 0);
	if (cost && cost->total)
		fprintf(p->to, " %*" PRIu64 "  ", p->weight_width, cost->self);
	else
		fprintf(p->to, " %*s  ", p->weight_width, "");
}

static void write_headings(const struct page *p, const char *number, const char *text)
{
	fprintf(p->to, "%s#   self    total  %*s  %*s  %s%s\n",
		terminal_ink(&p->style->look, INK_FAINT), p->weight_width, p->style->weight,
		p->number_width, number, text, terminal_plain(&p->style->look, INK_FAINT));
}

/* With blanks for tabs, as far as the terminal is wide. */
static void write_source(const struct page *p, const char *text, size_t size_bytes, unsigned used)
{
	unsigned columns = 0, all = p->style->look.columns, part;
	const char *end = text + size_bytes, *tab;

	if (all)
		all = all > used + LEAST_COLUMNS ? all - used : LEAST_COLUMNS;
	while (text < end && (!all || columns < all)) {
		tab = memchr(text, '\t', (size_t)(end - text));
		part = message_columns(text, (size_t)((tab ? tab : end) - text));
		message_escaped_within(p->to, text, (size_t)((tab ? tab : end) - text),
				       all ? all - columns : 0);
		columns += part;
		text = tab ? tab + 1 : end;
		if (tab && text < end) {
			part = TAB_COLUMNS - columns % TAB_COLUMNS;
			fprintf(p->to, "%*s", (int)part, "");
			columns += part;
		}
	}
}

/* ---- source ---- */

/* The lines of one file, of a function's. */
struct section {
	const struct annotate_line *lines;
	size_t count;
	bool is_own;
	uint64_t total;
};

/* The function's own lines first, then those with most cost. */
static int compare_sections(const void *x, const void *y, void *page)
{
	const struct section *a = x, *b = y;
	const struct page *p = page;

	if (a->is_own != b->is_own)
		return a->is_own ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(text_of(p, a->lines->file), text_of(p, b->lines->file));
}

/* Owned; NULL: no memory. */
static struct section *sections_of(struct page *p, size_t *count)
{
	const struct annotate_line *lines = &p->a->lines[p->f->first_line];
	struct section *list = calloc(p->f->line_count + 1, sizeof(*list)), *s = NULL;

	*count = 0;
	for (size_t i = 0; list && i < p->f->line_count; i++) {
		if (!s || s->lines->file != lines[i].file) {
			s = &list[(*count)++];
			s->lines = &lines[i];
		}
		s->count++;
		s->is_own |= lines[i].is_own && (lines[i].cost.total || lines[i].is_start);
		s->total += lines[i].cost.total;
	}
	if (*count)
		qsort_r(list, *count, sizeof(*list), compare_sections, p);
	return list;
}

static bool is_shown(const struct annotate_line *line)
{
	return line->cost.total || line->is_start;
}

static void write_line(const struct page *p, const struct source_text *text, uint32_t number,
		       const struct annotate_cost *cost)
{
	size_t size;
	const char *line = source_text_line(text, number, &size);

	write_cost(p, cost);
	fprintf(p->to, "%*" PRIu32, p->number_width, number);
	if (line && size) {
		fputs("  ", p->to);
		write_source(p, line, size,
			     18 + 3 + (unsigned)p->weight_width + (unsigned)p->number_width + 2);
	}
	putc('\n', p->to);
}

/* From the line after the last one that was written, as far as context goes: the text between two. */
static uint32_t write_between(const struct page *p, const struct source_text *text, uint32_t last,
			      uint32_t next)
{
	uint32_t after = last && text->line_count - last > CONTEXT_LINES
				 ? last + CONTEXT_LINES
				 : (uint32_t)text->line_count,
		 before = next > CONTEXT_LINES ? next - CONTEXT_LINES : 1;

	if (!last)
		after = 0;
	if (next && after + 1 >= before)
		after = next - 1;
	for (uint32_t i = last + 1; last && i <= after; i++)
		write_line(p, text, i, NULL);
	if (!next || after + 1 == next)
		return next;
	if (last)
		fprintf(p->to, "%*s\n", 18 + 3 + p->weight_width + p->number_width, "...");
	for (uint32_t i = before; i < next; i++)
		write_line(p, text, i, NULL);
	return next;
}

static void write_section(const struct page *p, const struct section *s)
{
	const struct annotate_file *file = annotate_file_of(p->a, s->lines->file);
	static const struct source_text none = { .line_count = 0 };
	const struct source_text *text = file && !file->err ? &file->text : &none;
	const char *trouble = file ? trouble_of(file) : NULL;
	uint32_t last = 0;

	fputs("# ", p->to);
	message_escaped(p->to, text_of(p, s->lines->file), strlen(text_of(p, s->lines->file)));
	fprintf(p->to, "%s%s\n", trouble ? ": " : "", trouble ? trouble : "");
	write_headings(p, "line", "source");
	for (size_t i = 0; i < s->count; i++) {
		const struct annotate_line *line = &s->lines[i];

		if (!is_shown(line))
			continue;
		if (line->number <= text->line_count)
			write_between(p, text, last, line->number);
		write_line(p, text, line->number, &line->cost);
		last = line->number;
	}
	if (last && last < text->line_count)
		write_between(p, text, last, 0);
}

static int write_lines(struct page *p)
{
	size_t count;
	struct section *list = sections_of(p, &count);

	if (!list)
		return -ENOMEM;
	p->number_width = (int)strlen("line");
	for (size_t i = 0; i < p->f->line_count; i++) {
		int width = digits(p->a->lines[p->f->first_line + i].number + CONTEXT_LINES);

		p->number_width = width > p->number_width ? width : p->number_width;
	}
	for (size_t i = 0; i < count; i++)
		if (list[i].total)
			write_section(p, &list[i]);
	free(list);
	return 0;
}

/* ---- instructions ---- */

static void write_line_of(const struct page *p, const struct annotate_instruction *in)
{
	const struct annotate_file *file = annotate_file_of(p->a, in->file);
	const char *path = text_of(p, in->file), *slash = strrchr(path, '/'), *line = NULL;
	size_t size = 0;

	write_cost(p, NULL);
	fprintf(p->to, "%*s  ", p->number_width, "");
	fputs(terminal_ink(&p->style->look, INK_FAINT), p->to);
	path = slash ? slash + 1 : path;
	message_escaped(p->to, path, strlen(path));
	fprintf(p->to, ":%" PRIu32, in->number);
	if (file && !file->err)
		line = source_text_line(&file->text, in->number, &size);
	if (line && size) {
		fputs("  ", p->to);
		write_source(p, line, size,
			     18 + 3 + (unsigned)p->weight_width + (unsigned)p->number_width + 2 +
				     (unsigned)strlen(path) + 8);
	}
	fprintf(p->to, "%s\n", terminal_plain(&p->style->look, INK_FAINT));
}

static void write_instruction(const struct page *p, const struct annotate_instruction *in)
{
	char into[32] = "";

	if (!in->text && in->into_bytes != RESOLVED_INTO_UNKNOWN)
		snprintf(into, sizeof(into), "+0x%" PRIx64, in->into_bytes);
	write_cost(p, &in->cost);
	fprintf(p->to, "%*" PRIx64 "%s%s\n", p->number_width, in->vaddr,
		in->text || *into ? "  " : "", in->text ? in->text : into);
}

static void write_code(struct page *p)
{
	const struct annotate_instruction *list = &p->a->instructions[p->f->first_instruction],
					  *last = NULL;
	const char *gap = code_gap(p);
	char address[24];

	p->number_width = (int)strlen("address");
	for (size_t i = 0; i < p->f->instruction_count; i++) {
		int width = snprintf(address, sizeof(address), "%" PRIx64, list[i].vaddr);

		p->number_width = width > p->number_width ? width : p->number_width;
	}
	write_headings(p, "address", gap ? "in the function" : "instruction");
	for (size_t i = 0; i < p->f->instruction_count; i++) {
		const struct annotate_instruction *in = &list[i];

		if (!in->text && !in->cost.total)
			continue;
		if (in->file && (!last || last->file != in->file || last->number != in->number))
			write_line_of(p, in);
		last = in;
		write_instruction(p, in);
	}
	if (p->f->is_cut)
		fprintf(p->to, "# only its first %u bytes are shown\n", FUNCTION_CODE_MAX_BYTES);
}

/* ---- a function ---- */

static int write_function(struct page *p)
{
	const struct annotated *f = p->f;
	const char *name = text_of(p, f->name), *dso = text_of(p, f->dso);
	char *gap = line_gap(p);
	int err = gap ? 0 : -ENOMEM;

	if (err)
		return err;
	fputs("# ", p->to);
	message_escaped(p->to, name, strlen(name));
	fputs(" in ", p->to);
	message_escaped(p->to, dso, strlen(dso));
	fprintf(p->to, ": %" PRIu64 " %s, %.2f%% of all; %" PRIu64 " in it itself\n", f->cost.total,
		p->style->weight, number_percent(f->cost.total, p->a->sum), f->cost.self);
	p->weight_width = (int)strlen(p->style->weight);
	if (p->weight_width < digits(f->cost.total))
		p->weight_width = digits(f->cost.total);
	if (*gap) {
		fputs("# no source: ", p->to);
		message_escaped(p->to, gap, strlen(gap));
		putc('\n', p->to);
	}
	free(gap);
	if (code_gap(p) && (p->style->with_code || shows_code(p)))
		fprintf(p->to, "# no instructions: %s\n", code_gap(p));
	if (shows_code(p))
		write_code(p);
	else
		err = write_lines(p);
	return err;
}

/* ---- JSON ---- */

static void json_cost(struct json_writer *j, const struct annotate_cost *cost)
{
	json_writer_u64(j, "self", cost->self);
	json_writer_u64(j, "total", cost->total);
}

/* The text of a line, and nothing when there is none.  -ENOMEM. */
static int json_text(struct json_writer *j, const struct annotate_file *file, uint32_t number)
{
	size_t size;
	const char *line = file && !file->err ? source_text_line(&file->text, number, &size) : NULL;
	char *copy;

	if (!line)
		return 0;
	copy = strndup(line, size);
	if (!copy)
		return -ENOMEM;
	json_writer_string(j, "text", copy);
	free(copy);
	return 0;
}

static int json_section(const struct page *p, struct json_writer *j, const struct section *s)
{
	const struct annotate_file *file = annotate_file_of(p->a, s->lines->file);
	const char *trouble = file ? trouble_of(file) : NULL;
	int err = 0;

	json_writer_begin(j, NULL);
	json_writer_string(j, "file", text_of(p, s->lines->file));
	if (trouble)
		json_writer_string(j, "trouble", trouble);
	json_writer_begin_array(j, "lines");
	for (size_t i = 0; !err && i < s->count; i++) {
		if (!is_shown(&s->lines[i]))
			continue;
		json_writer_begin(j, NULL);
		json_writer_u64(j, "line", s->lines[i].number);
		json_cost(j, &s->lines[i].cost);
		err = json_text(j, file, s->lines[i].number);
		json_writer_end(j);
	}
	json_writer_end_array(j);
	json_writer_end(j);
	return err;
}

static void json_instruction(const struct page *p, struct json_writer *j,
			     const struct annotate_instruction *in)
{
	json_writer_begin(j, NULL);
	json_writer_u64(j, "address", in->vaddr);
	if (in->into_bytes != RESOLVED_INTO_UNKNOWN)
		json_writer_u64(j, "into", in->into_bytes);
	json_cost(j, &in->cost);
	if (in->text)
		json_writer_string(j, "text", in->text);
	if (in->file) {
		json_writer_string(j, "file", text_of(p, in->file));
		json_writer_u64(j, "line", in->number);
	}
	json_writer_end(j);
}

static void json_code(const struct page *p, struct json_writer *j)
{
	json_writer_begin_array(j, "instructions");
	for (size_t i = 0; i < p->f->instruction_count; i++) {
		const struct annotate_instruction *in =
			&p->a->instructions[p->f->first_instruction + i];

		if (in->text || in->cost.total)
			json_instruction(p, j, in);
	}
	json_writer_end_array(j);
}

static int json_function(struct page *p, struct json_writer *j)
{
	char *gap = line_gap(p);
	size_t count;
	struct section *list = sections_of(p, &count);
	int err = gap && list ? 0 : -ENOMEM;

	json_writer_begin(j, NULL);
	json_writer_string(j, "symbol", text_of(p, p->f->name));
	json_writer_string(j, "dso", text_of(p, p->f->dso));
	json_cost(j, &p->f->cost);
	if (gap && *gap)
		json_writer_string(j, "no_source", gap);
	json_writer_begin_array(j, "files");
	for (size_t i = 0; !err && i < count; i++)
		err = list[i].total ? json_section(p, j, &list[i]) : 0;
	json_writer_end_array(j);
	if (code_gap(p) && (p->style->with_code || shows_code(p)))
		json_writer_string(j, "no_instructions", code_gap(p));
	if (shows_code(p))
		json_code(p, j);
	json_writer_end(j);
	free(list);
	free(gap);
	return err;
}

/* ---- all of them ---- */

static int compare_totals(const void *x, const void *y, void *page)
{
	const struct page *p = page;
	const struct annotated *a = *(const struct annotated *const *)x,
			       *b = *(const struct annotated *const *)y;

	if (a->cost.total != b->cost.total)
		return a->cost.total > b->cost.total ? -1 : 1;
	if (a->name != b->name)
		return strcmp(text_of(p, a->name), text_of(p, b->name));
	return strcmp(text_of(p, a->dso), text_of(p, b->dso));
}

/* Those that have a cost, and, in *shown, how many are not below the limit.  Owned; NULL: no memory. */
static const struct annotated **order_functions(struct page *p, size_t *count, size_t *shown)
{
	const struct annotate *a = p->a;
	const struct annotated **list = calloc(a->function_count + 1, sizeof(*list));

	*count = *shown = 0;
	for (size_t i = 0; list && i < a->function_count; i++) {
		if (!a->functions[i].cost.total)
			continue;
		list[(*count)++] = &a->functions[i];
		*shown += number_percent(a->functions[i].cost.total, a->sum) >=
			  p->style->min_percent;
	}
	if (*count)
		qsort_r(list, *count, sizeof(*list), compare_totals, p);
	return list;
}

static int write_json(struct page *p, const struct annotated **list, size_t count)
{
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };
	int err = 0;

	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "schema", SCHEMA);
	json_writer_string(&j, "weight", p->style->weight);
	json_writer_u64(&j, "sum", p->a->sum);
	json_writer_begin_array(&j, "functions");
	for (size_t i = 0; !err && i < count; i++) {
		p->f = list[i];
		err = json_function(p, &j);
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
	if (!err && !outbuf_ok(&out))
		err = -ENOMEM;
	if (!err)
		fwrite(out.data, 1, out.size_bytes, p->to);
	outbuf_done(&out);
	return err;
}

static int write_text(struct page *p, const struct annotated **list, size_t count, size_t hidden)
{
	int err = 0;

	fputs(p->style->head, p->to);
	for (size_t i = 0; !err && i < count; i++) {
		p->f = list[i];
		if (i)
			putc('\n', p->to);
		err = write_function(p);
	}
	if (hidden)
		fprintf(p->to, "# %zu more, each below --min-percent\n", hidden);
	return err;
}

int annotate_write(const struct annotate *a, const struct string_table *names,
		   const struct annotate_style *style, FILE *to)
{
	struct page p = { .a = a, .names = names, .style = style, .to = to };
	const struct annotated **list;
	size_t count, shown;
	int err;

	list = order_functions(&p, &count, &shown);
	if (!list)
		return -ENOMEM;
	if (!count)
		err = -ENOENT;
	else if (style->json)
		err = write_json(&p, list, shown);
	else
		err = write_text(&p, list, shown, count - shown);
	free(list);
	return err;
}
