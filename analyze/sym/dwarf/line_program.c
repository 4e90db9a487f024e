/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/line_program.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/dwarf/attr.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define PROGRAM_MAX_BYTES (256U << 20)
#define FORMATS_MAX       16
#define BEGIN_STEPS       8 /* opcodes before the address of a sequence */

/* ---- the header ---- */

static int add_dir(struct line_program *l, const struct dw_value *v)
{
	int err = vec_reserve(&l->dirs, &l->dir_room, l->dir_count + 1);

	if (!err)
		l->dirs[l->dir_count++] = *v;
	return err;
}

static int add_file(struct line_program *l, const struct line_program_file *file)
{
	int err = vec_reserve(&l->files, &l->file_room, l->file_count + 1);

	if (!err)
		l->files[l->file_count++] = *file;
	return err;
}

/* Up to DWARF 4: texts, each list ended by an empty one. */
static int read_old_names(struct line_program *l, struct cursor *c)
{
	struct dw_value v = { .form = DW_FORM_string };
	int err = 0;

	while (!err && (v.text = cursor_str(c)) && *v.text)
		err = add_dir(l, &v);
	while (!err && (v.text = cursor_str(c)) && *v.text) {
		struct line_program_file file = { .name = v, .dir = dw_uleb(c) };

		dw_uleb(c); /* time */
		dw_uleb(c); /* size */
		err = add_file(l, &file);
	}
	return err ? err : cursor_ok(c) ? 0 : -ENOTSUP;
}

/* DWARF 5: a table that begins with the description of its columns. */
static int read_names(struct line_program *l, const struct dw_unit *u, struct cursor *c, bool files)
{
	struct dw_attr columns[FORMATS_MAX];
	uint8_t column_count = cursor_u8(c);
	uint64_t count;
	int err = 0;

	if (column_count > FORMATS_MAX)
		return -ENOTSUP;
	for (uint8_t i = 0; i < column_count; i++) {
		columns[i] = (struct dw_attr){ .name = (uint16_t)dw_uleb(c) };
		columns[i].form = (uint16_t)dw_uleb(c);
	}
	count = dw_uleb(c);
	if (!column_count && count)
		return -ENOTSUP;
	for (uint64_t n = 0; !err && n < count; n++) {
		struct line_program_file file = { 0 };
		struct dw_value v;

		for (uint8_t i = 0; i < column_count; i++) {
			if (!dw_read_value(u, c, &columns[i], &v))
				return -ENOTSUP;
			if (columns[i].name == DW_LNCT_path)
				file.name = v;
			else if (columns[i].name == DW_LNCT_directory_index)
				file.dir = v.number;
		}
		if (!cursor_ok(c) || !cursor_left(c))
			return -ENOTSUP;
		err = files ? add_file(l, &file) : add_dir(l, &file.name);
	}
	return err;
}

static int read_header(struct line_program *l, const struct dw_unit *u)
{
	struct cursor c = cursor_of(l->bytes, l->size_bytes);
	uint32_t header_bytes;
	uint8_t operations = 1;
	int err;

	cursor_skip(&c, 4);
	l->version = cursor_u16(&c);
	if (l->version < 2 || l->version > 5)
		return -ENOTSUP;
	if (l->version >= 5)
		cursor_skip(&c, 2); /* sizes of addresses and segments */
	header_bytes = cursor_u32(&c);
	if (header_bytes > cursor_left(&c))
		return -ENOTSUP;
	l->program_off = c.off_bytes + header_bytes;
	l->unit_step = cursor_u8(&c);
	if (l->version >= 4)
		operations = cursor_u8(&c);
	cursor_skip(&c, 1); /* is_stmt */
	l->line_base = (int8_t)cursor_u8(&c);
	l->line_range = cursor_u8(&c);
	l->opcode_base = cursor_u8(&c);
	if (operations != 1 || !l->line_range || !l->opcode_base || !cursor_ok(&c))
		return -ENOTSUP;
	for (unsigned i = 1; i < l->opcode_base; i++)
		l->lengths[i] = cursor_u8(&c);
	if (l->version < 5)
		return read_old_names(l, &c);
	err = read_names(l, u, &c, false);
	return err ? err : read_names(l, u, &c, true);
}

int line_program_load(const struct dw_file *f, struct dw_unit *u, struct line_program *out)
{
	const struct elf_file_section *s = f->sections[DW_SEC_LINE];
	uint64_t off = u->line.number;
	uint8_t head[4];
	int err;

	out->dir_count = out->file_count = 0;
	if (!s || off > s->size_bytes || s->size_bytes - off < sizeof(head))
		return -ENOTSUP;
	err = elf_file_read_part(f->elf, s, off, head, sizeof(head));
	if (err)
		return err;
	out->size_bytes = 4 + (size_t)le32_load(head);
	if (!dw_take_steps(u, out->size_bytes) || out->size_bytes > PROGRAM_MAX_BYTES ||
	    out->size_bytes > s->size_bytes - off)
		return -ENOTSUP;
	err = vec_reserve(&out->bytes, &out->bytes_room, out->size_bytes);
	if (!err)
		err = elf_file_read_part(f->elf, s, off, out->bytes, out->size_bytes);
	return err ? err : read_header(out, u);
}

void line_program_done(struct line_program *l)
{
	free(l->bytes);
	free(l->dirs);
	free(l->files);
	*l = (struct line_program){ 0 };
}

const struct dw_value *line_program_name(const struct line_program *l, uint64_t i,
					 const struct dw_value **dir)
{
	const struct line_program_file *file;
	uint64_t at;

	if (l->version < 5 && !i--)
		return NULL;
	if (i >= l->file_count)
		return NULL;
	file = &l->files[i];
	at = file->dir - (l->version < 5);
	*dir = at < l->dir_count ? &l->dirs[at] : NULL;
	return &file->name;
}

/* ---- the program ---- */

/* The registers, as they are called in 6.2.2, of which a row is made. */
struct state {
	uint64_t addr, file, column;
	int64_t line;
};

/* The wanted addresses, compared with the rows. */
struct search {
	const uint64_t *vaddrs, *lows;
	size_t count, next; /* of vaddrs: the first that is not below the last row */
	struct line_program_row *rows;
	uint64_t answers; /* sequences may cover each other */
	bool skips;
	uint64_t begin; /* of the sequence */
};

/*
 * The row ends at addr, or addr begins a sequence.  When several rows cover an address the nearest
 * is right.  Returns the next wanted address: rows that end before it need not be looked at.
 */
static uint64_t end_row(struct search *s, const struct state *row, uint64_t addr)
{
	if (addr < row->addr)
		s->next = lower_bound(i, 0, s->count, s->vaddrs[i] < addr);
	for (; s->next < s->count && s->vaddrs[s->next] < addr; s->next++) {
		struct line_program_row *to = &s->rows[s->next];

		s->answers++;
		if (s->vaddrs[s->next] < row->addr || (to->known && row->addr < to->addr))
			continue;
		*to = (struct line_program_row){
			.known = true,
			.addr = row->addr,
			.file = row->file,
			.line = row->line > 0 && row->line <= INT32_MAX ? (uint32_t)row->line : 0,
			.column = row->column <= INT32_MAX ? (uint32_t)row->column : 0,
		};
	}
	return s->next < s->count ? s->vaddrs[s->next] : UINT64_MAX;
}

static void skip_operands(const struct line_program *l, struct cursor *c, uint8_t opcode)
{
	for (unsigned i = 0; i < l->lengths[opcode]; i++)
		dw_uleb(c);
}

/* All but DW_LNS_copy. */
static bool standard(const struct line_program *l, struct state *s, struct cursor *c,
		     uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_advance_pc:
		s->addr += dw_uleb(c) * l->unit_step;
		break;
	case DW_LNS_advance_line:
		s->line += dw_sleb(c);
		break;
	case DW_LNS_set_file:
		s->file = dw_uleb(c);
		break;
	case DW_LNS_set_column:
		s->column = dw_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		s->addr += (uint64_t)((255 - l->opcode_base) / l->line_range) * l->unit_step;
		break;
	case DW_LNS_fixed_advance_pc:
		s->addr += cursor_u16(c);
		break;
	default:
		skip_operands(l, c, opcode);
		break;
	}
	return cursor_ok(c);
}

static bool extended(struct state *s, const struct dw_unit *u, struct cursor *c, bool *ends)
{
	uint64_t size_bytes = dw_uleb(c);
	struct dw_value v;
	struct cursor in;

	*ends = false;
	if (size_bytes > cursor_left(c))
		return false;
	in = cursor_of(c->data + c->off_bytes, (size_t)size_bytes);
	cursor_skip(c, (size_t)size_bytes);
	switch (cursor_u8(&in)) {
	case DW_LNE_end_sequence:
		*ends = true;
		break;
	case DW_LNE_set_address:
		if (!dw_read_value(u, &in, &(struct dw_attr){ .form = DW_FORM_addr }, &v))
			return false;
		s->addr = v.number;
		break;
	case DW_LNE_define_file:
		return false;
	default: /* discriminators and others have no lines */
		break;
	}
	return true;
}

/*
 * Whether a sequence begins at the cursor, behind the end of another: with its address, before which
 * assemblers set columns and files.  Goes there.
 */
static bool begins(const struct line_program *l, const struct dw_unit *u, struct cursor *c)
{
	struct cursor at = *c;

	for (unsigned n = 0; n < BEGIN_STEPS && cursor_left(&at); n++) {
		uint8_t opcode = cursor_u8(&at);
		const uint8_t *address;

		if (opcode >= l->opcode_base || opcode == DW_LNS_copy ||
		    opcode == DW_LNS_fixed_advance_pc)
			return false;
		if (opcode) {
			skip_operands(l, &at, opcode);
			continue;
		}
		address = cursor_bytes(&at, 2);
		return address && address[0] == 1 + u->addr_bytes &&
		       address[1] == DW_LNE_set_address;
	}
	return false;
}

/*
 * Goes behind the end of the sequence, without reading it.  Its end looks like operands could, what
 * follows does not: addresses are set where sequences begin.
 */
static void skip_sequence(const struct line_program *l, const struct dw_unit *u, struct cursor *c)
{
	static const uint8_t end[] = { 0, 1, DW_LNE_end_sequence };
	const uint8_t *from = c->data + c->off_bytes, *stop = c->data + c->size_bytes;

	while ((from = memmem(from, (size_t)(stop - from), end, sizeof(end)))) {
		c->off_bytes = (size_t)(from - c->data) + sizeof(end);
		if (begins(l, u, c))
			return;
		from++;
	}
	c->off_bytes = c->size_bytes;
}

/* Whether nothing that is wanted is left in the range in which the sequence began. */
static bool is_useless(const struct search *s)
{
	return s->skips && (s->next == s->count || s->lows[s->next] > s->begin);
}

/* The steps of each special opcode: to divide once a row would be most of the work. */
struct steps {
	uint16_t addr[256];
	int16_t line[256];
};

static void make_steps(const struct line_program *l, struct steps *out)
{
	for (unsigned op = l->opcode_base; op < 256; op++) {
		out->addr[op] = (uint16_t)((op - l->opcode_base) / l->line_range * l->unit_step);
		out->line[op] = (int16_t)(l->line_base +
					  (int)((op - l->opcode_base) % l->line_range));
	}
}

static int run(const struct line_program *l, struct dw_unit *u, struct search *s)
{
	/* No row begins behind it: so the first of a sequence ends none. */
	const struct state none = { .addr = UINT64_MAX }, first = { .file = 1, .line = 1 };
	struct cursor c = cursor_of(l->bytes, l->size_bytes);
	struct state now = first, row = none;
	uint64_t due = 0;
	struct steps steps;

	make_steps(l, &steps);
	cursor_skip(&c, l->program_off);
	while (cursor_left(&c) && s->answers <= u->steps_left) {
		uint8_t opcode = cursor_u8(&c);
		bool ends = false;

		if (opcode >= l->opcode_base) {
			now.addr += steps.addr[opcode];
			now.line += steps.line[opcode];
		} else if (opcode && opcode != DW_LNS_copy) {
			if (!standard(l, &now, &c, opcode))
				return -ENOTSUP;
			continue;
		} else if (!opcode) {
			if (!extended(&now, u, &c, &ends))
				return -ENOTSUP;
			if (!ends)
				continue;
		}
		if (now.addr < row.addr || now.addr > due) {
			due = end_row(s, &row, now.addr);
			if (row.addr == UINT64_MAX)
				s->begin = now.addr;
			if (!ends && is_useless(s)) {
				skip_sequence(l, u, &c);
				ends = true;
			}
		}
		row = ends ? none : now;
		now = ends ? first : now;
	}
	return dw_take_steps(u, s->answers) && cursor_ok(&c) ? 0 : -ENOTSUP;
}

int line_program_run(const struct line_program *l, struct dw_unit *u,
		     const struct line_program_wanted *wanted, struct line_program_row *rows)
{
	struct search s = { .vaddrs = wanted->vaddrs,
			    .lows = wanted->lows,
			    .count = wanted->count,
			    .rows = rows,
			    .skips = true };
	int err = run(l, u, &s);

	for (size_t i = 0; i < s.count && s.skips; i++)
		s.skips = rows[i].known;
	if (!err && s.skips)
		return 0;
	/* Sequences are not what ranges promise: without skipping, then. */
	memset(rows, 0, s.count * sizeof(*rows));
	s.skips = false;
	s.next = s.answers = 0;
	return run(l, u, &s);
}
