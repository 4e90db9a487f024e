/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ehbytes - sections of .eh_frame put together from bytes, and the rows that come back
 *
 * A section is a CIE, then FDEs with pcrel | sdata4 ranges.  Rows come back as text, "1000 cfa=sp+8
 * fp=same ra=[cfa-8];1040 end".  Needs cmocka's headers before it.
 */
#ifndef EBPREC_TESTS_EHBYTES_H
#define EBPREC_TESTS_EHBYTES_H

#include <stdio.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/unwind/eh_frame.h"
#include "tests/lib/rule_text.h"

enum { VADDR = 0x8000, PC = 0x1000, SIZE = 0x40 };

/* The rule at a function's first instruction. */
#define START "cfa=sp+8 fp=same ra=[cfa-8]"

struct section {
	uint8_t data[65536];
	size_t n;
	size_t cie; /* offset of the CIE the next FDE uses */
};

struct bytes {
	uint8_t data[64];
	uint8_t n;
};

#define BYTES(...)                                                               \
	{                                                                        \
		.data = { __VA_ARGS__ }, .n = sizeof((uint8_t[]){ __VA_ARGS__ }) \
	}

static const struct bytes x86_initial = BYTES(0x0c, 7, 8, 0x90, 1);
static const struct bytes arm_initial = BYTES(0x0c, 31, 0);

static inline void put(struct section *s, const void *data, size_t n)
{
	assert_true(s->n + n <= sizeof(s->data));
	if (n)
		memcpy(s->data + s->n, data, n);
	s->n += n;
}

static inline void put32(struct section *s, uint32_t v)
{
	uint8_t b[4];

	le32_store(b, v);
	put(s, b, 4);
}

static inline void finish(struct section *s, size_t start)
{
	le32_store(s->data + start, (uint32_t)(s->n - start - 4));
}

static inline void put_cie_full(struct section *s, uint8_t version, const char *aug,
				const struct bytes *aug_data, enum unwind_arch arch, uint8_t ra,
				const struct bytes *ins)
{
	const uint8_t align[] = { arch == UNWIND_AARCH64 ? 4 : 1, 0x78 };
	const uint8_t sizes[] = { 8, 0 };

	s->cie = s->n;
	put32(s, 0);
	put32(s, 0);
	put(s, &version, 1);
	put(s, aug, strlen(aug) + 1);
	if (version == 4)
		put(s, sizes, 2);
	put(s, align, 2);
	put(s, &ra, 1);
	if (*aug == 'z') {
		put(s, &aug_data->n, 1);
		put(s, aug_data->data, aug_data->n);
	}
	put(s, ins->data, ins->n);
	finish(s, s->cie);
}

static inline void put_cie(struct section *s, enum unwind_arch arch)
{
	static const struct bytes encoding = BYTES(0x1b);

	put_cie_full(s, 1, "zR", &encoding, arch, arch == UNWIND_AARCH64 ? 30 : 16,
		     arch == UNWIND_AARCH64 ? &arm_initial : &x86_initial);
}

static inline void put_fde(struct section *s, uint64_t pc, uint32_t size, const struct bytes *ins)
{
	size_t start = s->n;
	const uint8_t no_aug = 0;

	put32(s, 0);
	put32(s, (uint32_t)(s->n - s->cie));
	put32(s, pc ? (uint32_t)(pc - (VADDR + s->n)) : 0);
	put32(s, size);
	put(s, &no_aug, 1);
	put(s, ins->data, ins->n);
	finish(s, start);
}

struct rows {
	enum unwind_arch arch;
	char text[4096];
	uint32_t n, stop_after;
};

static inline int take(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct rows *rows = ctx;
	size_t n = strlen(rows->text);
	char text[128];

	if (rows->stop_after && rows->n == rows->stop_after)
		return -ECANCELED;
	rule_text(rows->arch, rule, text, sizeof(text));
	snprintf(rows->text + n, sizeof(rows->text) - n, "%s%llx %s", n ? ";" : "",
		 (unsigned long long)pc, text);
	rows->n++;
	return 0;
}

static inline int run(const struct section *s, enum unwind_arch arch, struct rows *rows,
		      struct eh_frame_stats *stats, struct parse_err *err)
{
	/* exactly as large as it is, so that a sanitizer sees a read beyond */
	uint8_t *copy = malloc(s->n ? s->n : 1);
	struct eh_frame_section section = {
		.data = copy,
		.size_bytes = s->n,
		.vaddr = VADDR,
		.arch = arch,
	};
	int ret;

	assert_non_null(copy);
	memcpy(copy, s->data, s->n);
	*rows = (struct rows){ .arch = arch, .stop_after = rows->stop_after };
	ret = eh_frame_rows(&section, take, rows, stats, err);
	free(copy);
	return ret;
}

#endif
