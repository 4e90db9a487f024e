/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
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

struct parser {
	const struct eh_frame_section *section;
	struct parse_err *err;
	struct cie *cies; /* ascending by off_bytes */
	uint32_t n_cies;
	size_t max_cies;
	struct fde *fdes;
	uint32_t n_fdes;
	size_t max_fdes;
	bool sorted;
	uint32_t last_cie; /* most FDEs share the CIE of the one before */
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
static int next_entry(const struct parser *p, struct cursor *c, struct entry *e)
{
	uint64_t size_bytes;

	do {
		if (cursor_left(c) < 4)
			return 0;
		e->off_bytes = (uint32_t)c->off_bytes;
		size_bytes = cursor_u32(c);
		if (!size_bytes && p->section->ends_at_zero)
			return 0;
	} while (!size_bytes);
	if (size_bytes == 0xffffffff)
		size_bytes = cursor_u64(c);
	e->id_off_bytes = (uint32_t)c->off_bytes;
	if (!cursor_ok(c) || cursor_left(c) < size_bytes)
		return parse_fail(p->err, -ENODATA, e->off_bytes, "entry goes beyond the section");
	if (size_bytes < 4)
		return parse_fail(p->err, -EBADMSG, e->off_bytes, "entry too short");
	e->body = cursor_of(c->data, c->off_bytes + size_bytes);
	e->body.off_bytes = c->off_bytes;
	e->id = cursor_u32(&e->body);
	cursor_skip(c, size_bytes);
	return 1;
}

/* The letters behind "z": what the augmentation data holds, in order. */
static int parse_aug_data(const struct parser *p, const char *letters, struct cursor *c,
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
			if (cfi_pointer(c, encoding, p->section->vaddr, NULL, &ignored))
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
static int parse_cie(const struct parser *p, struct cursor *c, struct cie *cie)
{
	uint8_t version = cursor_u8(c), arch = (uint8_t)p->section->arch;
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
	cie->common.track_bx = p->section->track_bx && arch == UNWIND_X86_64;
	cie->common.code_align = cfi_uleb(c);
	cie->common.data_align = cfi_sleb(c);
	ra = version == 1 ? cursor_u8(c) : cfi_uleb(c);
	cie->common.unusual_ra = ra != (arch == UNWIND_AARCH64 ? UNWIND_ARM_LR : UNWIND_X86_RA);
	cie->has_aug_data = *aug == 'z';
	if (cie->has_aug_data) {
		err = parse_aug_data(p, aug + 1, c, cie);
		if (err)
			return err;
	}
	if (!cursor_ok(c))
		return -EBADMSG;
	cie->has_range = true;
	return cfi_common_init(&cie->common, c->data + c->off_bytes, cursor_left(c));
}

static int add_cie(struct parser *p, struct entry *e)
{
	struct cie cie = { .off_bytes = e->off_bytes };
	int err;

	if (p->n_cies == EH_FRAME_MAX_CIES)
		return parse_fail(p->err, -EOVERFLOW, e->off_bytes, "too many CIEs");
	err = vec_reserve(&p->cies, &p->max_cies, p->n_cies + 1);
	if (err)
		return err;
	cie.broken = parse_cie(p, &e->body, &cie) != 0;
	p->cies[p->n_cies++] = cie;
	return 0;
}

/* The index of the CIE at off_bytes, or NO_CIE. */
static uint32_t find_cie(struct parser *p, uint32_t off_bytes)
{
	uint32_t lo;

	if (p->last_cie < p->n_cies && p->cies[p->last_cie].off_bytes == off_bytes)
		return p->last_cie;
	lo = (uint32_t)lower_bound(i, 0, p->n_cies, p->cies[i].off_bytes < off_bytes);
	if (lo == p->n_cies || p->cies[lo].off_bytes != off_bytes)
		return NO_CIE;
	p->last_cie = lo;
	return lo;
}

/*
 * Reads the range of an FDE.  -EBADMSG: not even that can be read, and the FDE covers nothing.
 * fde->cie stays NO_CIE when only the rest is broken.
 */
static int parse_fde(struct parser *p, struct entry *e, struct fde *fde)
{
	uint32_t index = find_cie(p, e->id_off_bytes - e->id);
	const struct cie *cie = index == NO_CIE ? NULL : &p->cies[index];
	uint8_t encoding = cie ? cie->common.pointer_encoding : 0;
	uint64_t raw, pc, size_bytes, aug_bytes;
	struct cursor *c = &e->body;

	if (!cie || !cie->has_range || e->id > e->id_off_bytes ||
	    cfi_pointer(c, encoding, p->section->vaddr, &raw, &pc) ||
	    cfi_pointer(c, encoding & 0x07, p->section->vaddr, NULL, &size_bytes))
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

static int add_fde(struct parser *p, struct entry *e)
{
	struct fde fde;
	int err;

	p->stats.fdes++;
	if (parse_fde(p, e, &fde)) {
		p->stats.fdes_broken++;
		return 0;
	}
	if (!fde.size_bytes) {
		p->stats.fdes_dropped++;
		return 0;
	}
	err = vec_reserve(&p->fdes, &p->max_fdes, (size_t)p->n_fdes + 1);
	if (err)
		return err;
	if (p->n_fdes && p->fdes[p->n_fdes - 1].pc >= fde.pc)
		p->sorted = false;
	p->fdes[p->n_fdes++] = fde;
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

static int collect(struct parser *p)
{
	struct cursor c = cursor_of(p->section->data, p->section->size_bytes);
	struct entry e;
	int more, err;

	p->sorted = true;
	while ((more = next_entry(p, &c, &e)) > 0) {
		err = e.id ? add_fde(p, &e) : add_cie(p, &e);
		if (err)
			return err;
	}
	if (more < 0)
		return more;
	if (!p->sorted)
		qsort(p->fdes, p->n_fdes, sizeof(*p->fdes), compare_fdes);
	p->stats.cies = p->n_cies;
	return 0;
}

/* Hands out rows; joins equal neighbours. */
struct emitter {
	struct parser *p;
	eh_frame_row_fn fn;
	void *ctx;
	uint64_t last; /* the bytes of the last rule */
	bool any;
};

static int emit(struct emitter *em, uint64_t pc, const struct unwind_rule *rule)
{
	struct eh_frame_stats *stats = &em->p->stats;
	uint64_t bytes;

	memcpy(&bytes, rule, sizeof(bytes));
	if (em->any && bytes == em->last)
		return 0;
	if (stats->rows == EH_FRAME_MAX_ROWS)
		return parse_fail(em->p->err, -EOVERFLOW, 0, "too many rows");
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
	struct eh_frame_stats *stats = &em->p->stats;
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
	const struct eh_frame_section *section = em->p->section;
	bool first = true;
	int more, err;

	if (fde->cie == NO_CIE) {
		em->p->stats.unsup_rows[CFI_UNSUP_BROKEN]++;
		return emit_special(em, fde->pc, UNWIND_CFA_UNSUP);
	}
	cfi_run_init(run, &em->p->cies[fde->cie].common, section->data + fde->ins_off_bytes,
		     fde->ins_size_bytes, section->vaddr + fde->ins_off_bytes, fde->pc);
	do {
		more = cfi_run_row(run);
		if (more < 0) {
			em->p->stats.unsup_rows[CFI_UNSUP_BROKEN]++;
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

static int emit_all(struct emitter *em)
{
	const struct parser *p = em->p;
	uint64_t limit, covered_to = 0;
	const struct fde *fde;
	struct cfi_run run;
	uint32_t i;
	int err;

	for (i = 0; i < p->n_fdes; i++) {
		fde = &p->fdes[i];
		limit = fde->pc + fde->size_bytes;
		if (i + 1 < p->n_fdes && p->fdes[i + 1].pc < limit)
			limit = p->fdes[i + 1].pc;
		if (limit == fde->pc)
			continue; /* the next one hides it all */
		if (em->any && fde->pc - covered_to > EH_FRAME_MAX_PADDING_BYTES) {
			err = emit_special(em, covered_to, UNWIND_CFA_END);
			if (err)
				return err;
		}
		err = emit_fde(em, fde, limit, &run);
		if (err)
			return err;
		covered_to = limit;
	}
	return em->any ? emit_special(em, covered_to, UNWIND_CFA_END) : 0;
}

int eh_frame_rows(const struct eh_frame_section *section, eh_frame_row_fn fn, void *ctx,
		  struct eh_frame_stats *stats, struct parse_err *err)
{
	struct parser p = { .section = section, .err = err };
	struct emitter em = { .p = &p, .fn = fn, .ctx = ctx };
	int ret;

	if (section->size_bytes > EH_FRAME_MAX_BYTES)
		return parse_fail(err, -EOVERFLOW, 0, "section too large");
	ret = collect(&p);
	if (!ret)
		ret = emit_all(&em);
	if (!ret && stats)
		*stats = p.stats;
	free(p.cies);
	free(p.fdes);
	return ret;
}

int eh_frame_ranges(const struct eh_frame_section *section, eh_frame_range_fn fn, void *ctx,
		    struct parse_err *err)
{
	struct parser p = { .section = section, .err = err };
	int ret;

	if (section->size_bytes > EH_FRAME_MAX_BYTES)
		return parse_fail(err, -EOVERFLOW, 0, "section too large");
	ret = collect(&p);
	for (uint32_t i = 0; !ret && i < p.n_fdes; i++)
		ret = fn(ctx, p.fdes[i].pc, p.fdes[i].size_bytes);
	free(p.cies);
	free(p.fdes);
	return ret;
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
