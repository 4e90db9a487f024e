/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
#include "format/base/radix_sort.h"
#include "format/base/vec.h"
#include "format/unwind/eh_frame.h"

struct cie {
	struct cfi_common common;
	uint32_t off_bytes; /* of its length field: what FDEs point at */
	bool has_range;     /* the encoding of the FDEs' ranges is known */
	bool broken;        /* but nothing else may be */
	bool has_aug_data;  /* the FDEs hold augmentation data with its size before it */
};

struct fde {
	uint64_t pc;
	uint32_t size_bytes; /* of code */
	uint32_t ins_off_bytes, ins_size_bytes;
	uint32_t cie; /* index, or NO_CIE: a broken FDE, its range is unsupported */
};

enum { NO_CIE = INT32_MAX };
enum { MANY = 1000 }; /* FDEs, of which sorting by digits is faster */

enum {
	HDR_TABLE_BYTES = 12, /* offset of the table in .eh_frame_hdr */
	HDR_ENTRY_BYTES = 8,
	/* For all entries that are looked up: one may be large, and it is read again each time. */
	LOOKUP_MAX_BYTES = 2 * EH_FRAME_MAX_BYTES,
};

struct eh_frame {
	struct eh_frame_section section;
	struct parse_err *err;
	struct cie *cies; /* ascending by off_bytes */
	uint32_t n_cies;
	size_t max_cies;
	struct fde *fdes;
	uint32_t n_fdes;
	size_t max_fdes;
	bool sorted;
	uint32_t last_cie; /* most FDEs share the CIE of the one before */
	/* The table of .eh_frame_hdr, with one CIE, that of the last FDE; NULL: all entries were read. */
	const uint8_t *table;
	uint64_t hdr_vaddr;
	uint32_t n_table;
	size_t looked_up_bytes;
	struct eh_frame_stats stats;
};

/* One length-prefixed entry of the section. */
struct entry {
	uint32_t off_bytes;    /* of the length field */
	uint32_t id_off_bytes; /* of the CIE id or pointer, that is behind the length */
	uint32_t id;
	struct cursor body; /* over the section up to the entry's end, positioned behind the id */
};

/*
 * Reads the frame of the next entry.  1: *e is filled; 0: the section ended; or a negative errno.
 * Zero words between entries end the list of one object file, and the next may follow.
 */
static int next_entry(const struct eh_frame *f, struct cursor *c, struct entry *e)
{
	uint64_t size_bytes;

	do {
		if (cursor_left(c) < 4)
			return 0;
		e->off_bytes = (uint32_t)c->off_bytes;
		size_bytes = cursor_u32(c);
		if (!size_bytes && f->section.ends_at_zero)
			return 0;
	} while (!size_bytes);
	if (size_bytes == 0xffffffff)
		size_bytes = cursor_u64(c);
	e->id_off_bytes = (uint32_t)c->off_bytes;
	if (!cursor_ok(c) || cursor_left(c) < size_bytes)
		return parse_fail(f->err, -ENODATA, e->off_bytes, "entry goes beyond the section");
	if (size_bytes < 4)
		return parse_fail(f->err, -EBADMSG, e->off_bytes, "entry too short");
	e->body = cursor_of(c->data, c->off_bytes + size_bytes);
	e->body.off_bytes = c->off_bytes;
	e->id = cursor_u32(&e->body);
	cursor_skip(c, size_bytes);
	return 1;
}

/* The letters behind "z": what the augmentation data holds, in order. */
static int parse_aug_data(const struct eh_frame *f, const char *letters, struct cursor *c,
			  struct cie *cie)
{
	uint64_t size_bytes = cfi_uleb(c), ignored;
	size_t end;
	uint8_t encoding;

	if (!cursor_ok(c) || size_bytes > cursor_left(c))
		return -EBADMSG;
	end = c->off_bytes + size_bytes;
	for (; *letters; letters++) {
		if (*letters == 'R') {
			cie->common.pointer_encoding = cursor_u8(c);
		} else if (*letters == 'P') {
			encoding = cursor_u8(c) & 0x0f; /* what it points at is of no interest */
			if (cfi_pointer(c, encoding, f->section.vaddr, NULL, &ignored))
				return -EBADMSG;
		} else if (*letters == 'L') {
			cursor_skip(c, 1);
		} else if (*letters == 'S') {
			cie->common.signal_frame = true;
		} else if (*letters != 'B' && *letters != 'G') {
			break; /* unknown, but its data can be skipped */
		}
	}
	if (!cursor_ok(c) || c->off_bytes > end)
		return -EBADMSG;
	c->off_bytes = end;
	return 0;
}

/* The contents of a CIE; any failure only marks it as broken. */
static int parse_cie(const struct eh_frame *f, struct cursor *c, struct cie *cie)
{
	uint8_t version = cursor_u8(c), arch = (uint8_t)f->section.arch;
	const char *aug = cursor_str(c);
	uint64_t ra;
	int err;

	if (!aug || (version != 1 && version != 3 && version != 4))
		return -EBADMSG;
	if (!strcmp(aug, "eh"))
		cursor_skip(c, 8); /* a pointer that only ancient compilers wrote */
	else if (*aug && *aug != 'z')
		return -EBADMSG; /* augmentation of unknown size */
	if (version == 4 && (cursor_u8(c) != 8 || cursor_u8(c) != 0))
		return -EBADMSG; /* size of addresses and of segment selectors */
	cie->common.arch = arch;
	cie->common.track_bx = f->section.track_bx && arch == UNWIND_X86_64;
	cie->common.code_align = cfi_uleb(c);
	cie->common.data_align = cfi_sleb(c);
	ra = version == 1 ? cursor_u8(c) : cfi_uleb(c);
	cie->common.unusual_ra = ra != (arch == UNWIND_AARCH64 ? UNWIND_ARM_LR : UNWIND_X86_RA);
	cie->has_aug_data = *aug == 'z';
	if (cie->has_aug_data) {
		err = parse_aug_data(f, aug + 1, c, cie);
		if (err)
			return err;
	}
	if (!cursor_ok(c))
		return -EBADMSG;
	cie->has_range = true;
	return cfi_common_init(&cie->common, c->data + c->off_bytes, cursor_left(c));
}

static int add_cie(struct eh_frame *f, struct entry *e)
{
	struct cie cie = { .off_bytes = e->off_bytes };
	int err;

	if (f->n_cies == EH_FRAME_MAX_CIES)
		return parse_fail(f->err, -EOVERFLOW, e->off_bytes, "too many CIEs");
	err = vec_reserve(&f->cies, &f->max_cies, f->n_cies + 1);
	if (err)
		return err;
	cie.broken = parse_cie(f, &e->body, &cie) != 0;
	f->cies[f->n_cies++] = cie;
	return 0;
}

/* The entry at off_bytes alone.  false: there is none, or too many were looked up. */
static bool look_up_entry(struct eh_frame *f, uint64_t off_bytes, struct entry *e)
{
	struct cursor c = cursor_of(f->section.data, f->section.size_bytes);

	if (off_bytes >= f->section.size_bytes)
		return false;
	c.off_bytes = (size_t)off_bytes;
	if (next_entry(f, &c, e) <= 0)
		return false;
	f->looked_up_bytes += c.off_bytes - e->off_bytes;
	return f->looked_up_bytes <= LOOKUP_MAX_BYTES;
}

static uint32_t look_up_cie(struct eh_frame *f, uint32_t off_bytes)
{
	struct entry e;

	f->n_cies = 0;
	return look_up_entry(f, off_bytes, &e) && !e.id && !add_cie(f, &e) ? 0 : NO_CIE;
}

/* The index of the CIE at off_bytes, or NO_CIE. */
static uint32_t find_cie(struct eh_frame *f, uint32_t off_bytes)
{
	uint32_t lo;

	if (f->last_cie < f->n_cies && f->cies[f->last_cie].off_bytes == off_bytes)
		return f->last_cie;
	if (f->table)
		return look_up_cie(f, off_bytes);
	lo = (uint32_t)lower_bound(i, 0, f->n_cies, f->cies[i].off_bytes < off_bytes);
	if (lo == f->n_cies || f->cies[lo].off_bytes != off_bytes)
		return NO_CIE;
	f->last_cie = lo;
	return lo;
}

/*
 * Reads the range of an FDE.  -EBADMSG: not even that can be read, and the FDE covers nothing.
 * fde->cie stays NO_CIE when only the rest is broken.
 */
static int parse_fde(struct eh_frame *f, struct entry *e, struct fde *fde)
{
	uint32_t index = find_cie(f, e->id_off_bytes - e->id);
	const struct cie *cie = index == NO_CIE ? NULL : &f->cies[index];
	uint8_t encoding = cie ? cie->common.pointer_encoding : 0;
	uint64_t raw, pc, size_bytes, aug_bytes;
	struct cursor *c = &e->body;

	if (!cie || !cie->has_range || e->id > e->id_off_bytes ||
	    cfi_pointer(c, encoding, f->section.vaddr, &raw, &pc) ||
	    cfi_pointer(c, encoding & 0x07, f->section.vaddr, NULL, &size_bytes))
		return -EBADMSG;
	if (!raw || !pc)
		size_bytes = 0; /* the linker dropped the code */
	if (size_bytes > UINT32_MAX || size_bytes > UINT64_MAX - pc)
		return -EBADMSG;
	*fde = (struct fde){ .pc = pc, .size_bytes = (uint32_t)size_bytes, .cie = NO_CIE };
	if (cie->broken)
		return 0;
	if (cie->has_aug_data) {
		aug_bytes = cfi_uleb(c);
		if (!cursor_ok(c) || aug_bytes > cursor_left(c))
			return 0;
		cursor_skip(c, aug_bytes);
	}
	fde->ins_off_bytes = (uint32_t)c->off_bytes;
	fde->ins_size_bytes = (uint32_t)cursor_left(c);
	fde->cie = index;
	return 0;
}

static int add_fde(struct eh_frame *f, struct entry *e)
{
	struct fde fde;
	int err;

	f->stats.fdes++;
	if (parse_fde(f, e, &fde)) {
		f->stats.fdes_broken++;
		return 0;
	}
	if (!fde.size_bytes) {
		f->stats.fdes_dropped++;
		return 0;
	}
	err = vec_reserve(&f->fdes, &f->max_fdes, (size_t)f->n_fdes + 1);
	if (err)
		return err;
	if (f->n_fdes && f->fdes[f->n_fdes - 1].pc >= fde.pc)
		f->sorted = false;
	f->fdes[f->n_fdes++] = fde;
	return 0;
}

/* By address; of equal ones the longest comes last, and so wins. */
static int compare_fdes(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	if (x->size_bytes != y->size_bytes)
		return x->size_bytes < y->size_bytes ? -1 : 1;
	return x->ins_off_bytes < y->ins_off_bytes ? 1 : -1;
}

/* As compare_fdes(), for many.  false: no memory. */
static bool sort_many(struct eh_frame *f)
{
	void *fdes = f->fdes;
	uint32_t end;

	if (radix_sort_records(&fdes, f->n_fdes, sizeof(*f->fdes), offsetof(struct fde, pc)))
		return false;
	f->fdes = fdes;
	f->max_fdes = f->n_fdes;
	for (uint32_t i = 0; i < f->n_fdes; i = end) {
		for (end = i + 1; end < f->n_fdes && f->fdes[end].pc == f->fdes[i].pc;)
			end++;
		if (end > i + 1)
			qsort(&f->fdes[i], end - i, sizeof(*f->fdes), compare_fdes);
	}
	return true;
}

static int collect(struct eh_frame *f)
{
	struct cursor c = cursor_of(f->section.data, f->section.size_bytes);
	struct entry e;
	int more, err;

	f->sorted = true;
	while ((more = next_entry(f, &c, &e)) > 0) {
		err = e.id ? add_fde(f, &e) : add_cie(f, &e);
		if (err)
			return err;
	}
	if (more < 0)
		return more;
	if (!f->sorted && (f->n_fdes < MANY || !sort_many(f)))
		qsort(f->fdes, f->n_fdes, sizeof(*f->fdes), compare_fdes);
	f->stats.cies = f->n_cies;
	return 0;
}

/* Hands out rows; joins equal neighbours. */
struct emitter {
	struct eh_frame *f;
	eh_frame_row_fn fn;
	void *ctx;
	uint64_t last; /* the bytes of the last rule */
	bool any;
	uint64_t covered_to; /* where the code of the last FDE ends */
};

static int emit(struct emitter *em, uint64_t pc, const struct unwind_rule *rule)
{
	struct eh_frame_stats *stats = &em->f->stats;
	uint64_t bytes;

	memcpy(&bytes, rule, sizeof(bytes));
	if (em->any && bytes == em->last)
		return 0;
	if (stats->rows == EH_FRAME_MAX_ROWS)
		return parse_fail(em->f->err, -EOVERFLOW, 0, "too many rows");
	stats->rows++;
	em->any = true;
	em->last = bytes;
	return em->fn(em->ctx, pc, rule);
}

static int emit_special(struct emitter *em, uint64_t pc, enum unwind_cfa cfa)
{
	struct unwind_rule rule = { .cfa = (uint8_t)cfa };

	return emit(em, pc, &rule);
}

static int emit_state(struct emitter *em, const struct cfi_run *run)
{
	struct eh_frame_stats *stats = &em->f->stats;
	struct unwind_rule rule;
	enum cfi_unsup why;
	bool fp_dropped;

	why = cfi_rule(run->common, &run->state, &rule, &fp_dropped);
	stats->raw_rows++;
	if (why)
		stats->unsup_rows[why]++;
	if (fp_dropped)
		stats->fp_lost_rows++;
	return emit(em, run->pc, &rule);
}

/* Runs one FDE and hands out its rows below limit. */
static int emit_fde(struct emitter *em, const struct fde *fde, uint64_t limit, struct cfi_run *run)
{
	const struct eh_frame_section *section = &em->f->section;
	bool first = true;
	int more, err;

	if (fde->cie == NO_CIE) {
		em->f->stats.unsup_rows[CFI_UNSUP_BROKEN]++;
		return emit_special(em, fde->pc, UNWIND_CFA_UNSUP);
	}
	cfi_run_init(run, &em->f->cies[fde->cie].common, section->data + fde->ins_off_bytes,
		     fde->ins_size_bytes, section->vaddr + fde->ins_off_bytes, fde->pc);
	do {
		more = cfi_run_row(run);
		if (more < 0) {
			em->f->stats.unsup_rows[CFI_UNSUP_BROKEN]++;
			return emit_special(em, run->pc, UNWIND_CFA_UNSUP);
		}
		if (first || run->dirty) {
			err = emit_state(em, run);
			if (err)
				return err;
		}
		first = false;
		run->pc = run->next_pc;
	} while (more && run->pc < limit);
	return 0;
}

/* As emit_fde(), and the end of the code before. */
static int emit_next(struct emitter *em, const struct fde *fde, uint64_t limit)
{
	struct cfi_run run;
	int err = 0;

	if (em->any && fde->pc - em->covered_to > EH_FRAME_MAX_PADDING_BYTES)
		err = emit_special(em, em->covered_to, UNWIND_CFA_END);
	if (!err)
		err = emit_fde(em, fde, limit, &run);
	em->covered_to = limit;
	return err;
}

static int emit_end(struct emitter *em)
{
	return em->any ? emit_special(em, em->covered_to, UNWIND_CFA_END) : 0;
}

/* Where the code of FDE number i ends, or that of the next one begins. */
static uint64_t limit_of(const struct eh_frame *f, uint32_t i)
{
	uint64_t limit = f->fdes[i].pc + f->fdes[i].size_bytes;

	return i + 1 < f->n_fdes && f->fdes[i + 1].pc < limit ? f->fdes[i + 1].pc : limit;
}

static int emit_rows(struct emitter *em)
{
	const struct eh_frame *f = em->f;
	uint64_t limit;
	int err;

	for (uint32_t i = 0; i < f->n_fdes; i++) {
		limit = limit_of(f, i);
		if (limit == f->fdes[i].pc)
			continue; /* the next one hides it all */
		err = emit_next(em, &f->fdes[i], limit);
		if (err)
			return err;
	}
	return emit_end(em);
}

static int read_section(struct eh_frame *f, struct parse_err *err)
{
	f->err = err;
	return f->section.size_bytes > EH_FRAME_MAX_BYTES
		       ? parse_fail(err, -EOVERFLOW, 0, "section too large")
		       : collect(f);
}

static void free_entries(struct eh_frame *f)
{
	free(f->cies);
	free(f->fdes);
}

int eh_frame_rows(const struct eh_frame_section *section, eh_frame_row_fn fn, void *ctx,
		  struct eh_frame_stats *stats, struct parse_err *err)
{
	struct eh_frame f = { .section = *section };
	struct emitter em = { .f = &f, .fn = fn, .ctx = ctx };
	int ret = read_section(&f, err);

	if (!ret)
		ret = emit_rows(&em);
	if (!ret && stats)
		*stats = f.stats;
	free_entries(&f);
	return ret;
}

int eh_frame_open(const struct eh_frame_section *section, struct eh_frame **out,
		  struct parse_err *err)
{
	struct eh_frame *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return -ENOMEM;
	f->section = *section;
	ret = read_section(f, err);
	f->err = NULL;
	if (ret) {
		eh_frame_close(f);
		return ret;
	}
	*out = f;
	return 0;
}

void eh_frame_close(struct eh_frame *f)
{
	if (f)
		free_entries(f);
	free(f);
}

enum unwind_arch eh_frame_arch(const struct eh_frame *f)
{
	return f->section.arch;
}

int eh_frame_ranges(const struct eh_frame *f, eh_frame_range_fn fn, void *ctx)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < f->n_fdes; i++)
		ret = fn(ctx, f->fdes[i].pc, f->fdes[i].size_bytes);
	return ret;
}

/* ---- by address ---- */

static uint64_t table_pc(const struct eh_frame *f, uint32_t i)
{
	return f->hdr_vaddr +
	       (uint64_t)(int64_t)(int32_t)le32_load(f->table + (size_t)i * HDR_ENTRY_BYTES);
}

/* The FDE that entry number i of the table leads to. */
static bool look_up_fde(struct eh_frame *f, uint32_t i, struct fde *fde)
{
	uint64_t vaddr = f->hdr_vaddr + (uint64_t)(int64_t)(int32_t)le32_load(
						f->table + (size_t)i * HDR_ENTRY_BYTES + 4);
	struct entry e;

	return look_up_entry(f, vaddr - f->section.vaddr, &e) && e.id && !parse_fde(f, &e, fde) &&
	       fde->pc == table_pc(f, i);
}

/* The last FDE that begins at or before pc, and where its code ends.  false: none does, or it cannot be read. */
static bool find_fde(struct eh_frame *f, uint64_t pc, struct fde *fde, uint64_t *limit)
{
	uint32_t lo;

	if (f->table) {
		lo = (uint32_t)lower_bound(i, 0, f->n_table, table_pc(f, (uint32_t)i) <= pc);
		if (!lo || !look_up_fde(f, lo - 1, fde))
			return false;
		*limit = fde->pc + fde->size_bytes;
		if (lo < f->n_table && table_pc(f, lo) < *limit)
			*limit = table_pc(f, lo);
	} else {
		lo = (uint32_t)lower_bound(i, 0, f->n_fdes, f->fdes[i].pc <= pc);
		if (!lo)
			return false;
		*fde = f->fdes[lo - 1];
		*limit = limit_of(f, lo - 1);
	}
	return true;
}

bool eh_frame_find(struct eh_frame *f, uint64_t pc, uint64_t *start, uint32_t *size_bytes)
{
	struct fde fde;
	uint64_t limit;

	if (!find_fde(f, pc, &fde, &limit) || pc >= limit)
		return false;
	*start = fde.pc;
	*size_bytes = (uint32_t)(limit - fde.pc);
	return true;
}

int eh_frame_rows_at(struct eh_frame *f, const uint64_t *starts, size_t count, eh_frame_row_fn fn,
		     void *ctx)
{
	struct emitter em = { .f = f, .fn = fn, .ctx = ctx };
	struct fde fde;
	uint64_t limit;
	int err = 0;

	f->stats.rows = 0;
	for (size_t i = 0; !err && i < count; i++)
		if (find_fde(f, starts[i], &fde, &limit) && fde.pc == starts[i] && limit != fde.pc)
			err = emit_next(&em, &fde, limit);
	return err ? err : emit_end(&em);
}

static int read_hdr(struct eh_frame *f, const struct eh_frame_hdr *hdr)
{
	static const uint8_t encodings[] = { 1, 0x1b, 0x03, 0x3b }; /* those that linkers write */
	uint64_t vaddr;
	int err = eh_frame_hdr_find(hdr->data, hdr->size_bytes, hdr->vaddr, &vaddr);

	if (err)
		return err;
	if (hdr->size_bytes < HDR_TABLE_BYTES)
		return -ENODATA;
	if (memcmp(hdr->data, encodings, sizeof(encodings)) != 0)
		return -ENOTSUP;
	f->table = hdr->data + HDR_TABLE_BYTES;
	f->n_table = le32_load(hdr->data + HDR_TABLE_BYTES - 4);
	f->hdr_vaddr = hdr->vaddr;
	if (!f->n_table || f->n_table > (hdr->size_bytes - HDR_TABLE_BYTES) / HDR_ENTRY_BYTES)
		return -ENODATA;
	if (vaddr != f->section.vaddr)
		return -EBADMSG;
	for (uint32_t i = 1; i < f->n_table; i++)
		if (table_pc(f, i) <= table_pc(f, i - 1))
			return -EBADMSG;
	return 0;
}

int eh_frame_open_by_hdr(const struct eh_frame_section *section, const struct eh_frame_hdr *hdr,
			 struct eh_frame **out)
{
	struct eh_frame *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->section = *section;
	f->section.ends_at_zero = true; /* a lookup does not go on behind it */
	err = section->size_bytes > EH_FRAME_MAX_BYTES ? -EOVERFLOW : read_hdr(f, hdr);
	if (!err)
		err = vec_reserve(&f->cies, &f->max_cies, 1);
	if (err) {
		eh_frame_close(f);
		return err;
	}
	*out = f;
	return 0;
}

int eh_frame_hdr_find(const uint8_t *hdr, size_t size_bytes, uint64_t hdr_vaddr,
		      uint64_t *eh_frame_vaddr)
{
	struct cursor c = cursor_of(hdr, size_bytes);
	uint8_t version = cursor_u8(&c), encoding = cursor_u8(&c);

	cursor_skip(&c, 2); /* how the search table is encoded */
	if (!cursor_ok(&c))
		return -ENODATA;
	if (version != 1)
		return -ENOTSUP;
	return cfi_pointer(&c, encoding, hdr_vaddr, NULL, eh_frame_vaddr);
}
