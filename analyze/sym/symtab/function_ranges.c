/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/function_ranges.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/function_parts.h"
#include "format/base/insertion_sort.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/unwind/eh_frame.h"

struct function_ranges {
	struct function_part *list; /* by start */
	size_t count, room;
};

/* Overlapping ones end where the next begins, as in its rows. */
static int add_range(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	struct function_ranges *r = ctx;
	struct function_part *last = r->count ? &r->list[r->count - 1] : NULL;

	if (last && last->start == pc) {
		last->size_bytes = size_bytes; /* of equal ones the longest comes last */
		return 0;
	}
	if (last && pc - last->start < last->size_bytes)
		last->size_bytes = (uint32_t)(pc - last->start);
	if (vec_reserve(&r->list, &r->room, r->count + 1))
		return -ENOMEM;
	r->list[r->count++] = (struct function_part){ pc, pc, size_bytes };
	return 0;
}

static bool find_arch(const struct elf_file *elf, enum unwind_arch *out)
{
	switch (elf_file_machine(elf)) {
	case EM_X86_64:
		*out = UNWIND_X86_64;
		return elf_file_is64(elf);
	case EM_AARCH64:
		*out = UNWIND_AARCH64;
		return true;
	default:
		return false;
	}
}

/* Those of the wanted addresses, which may come in any order. */
static int add_wanted(struct eh_frame *frame, const struct symtab_wanted *wanted,
		      struct function_ranges *r)
{
	uint64_t *vaddrs = reallocarray(NULL, wanted->count, sizeof(*vaddrs)), start, end = 0;
	uint32_t size_bytes;
	int err = vaddrs ? 0 : -ENOMEM;

	if (!err) {
		memcpy(vaddrs, wanted->vaddrs, wanted->count * sizeof(*vaddrs));
		addrsort(vaddrs, wanted->count);
	}
	for (size_t i = 0; !err && i < wanted->count; i++) {
		if (vaddrs[i] < end || !eh_frame_find(frame, vaddrs[i], &start, &size_bytes))
			continue;
		err = add_range(r, start, size_bytes);
		end = start + size_bytes;
	}
	free(vaddrs);
	return err;
}

static int read_all(const struct elf_file *elf, const struct eh_frame_section *section,
		    const struct symtab_wanted *wanted, struct function_ranges *r)
{
	struct eh_frame *frame;
	int err = eh_frame_open(section, &frame, NULL);

	if (err)
		return err;
	err = eh_frame_ranges(frame, add_range, r);
	if (!err)
		err = function_parts_join(elf, frame, wanted, r->list, r->count);
	eh_frame_close(frame);
	return err;
}

/* Only the FDEs of wanted addresses.  -ENOENT: the file has no table of them. */
static int read_wanted(const struct elf_file *elf, const struct eh_frame_section *section,
		       const struct symtab_wanted *wanted, struct function_ranges *r)
{
	const struct elf_file_section *s = elf_file_by_name(elf, ".eh_frame_hdr");
	struct eh_frame *frame;
	uint8_t *bytes;
	int err;

	if (!s || elf_file_read(elf, s, &bytes))
		return -ENOENT;
	err = eh_frame_open_by_hdr(section, &(struct eh_frame_hdr){ bytes, s->size_bytes, s->addr },
				   &frame);
	if (!err) {
		err = add_wanted(frame, wanted, r);
		if (!err)
			err = function_parts_join(elf, frame, wanted, r->list, r->count);
		eh_frame_close(frame);
	} else if (err != -ENOMEM) {
		err = -ENOENT;
	}
	free(bytes);
	return err;
}

static int read_ranges(const struct elf_file *elf, const struct eh_frame_section *section,
		       const struct symtab_wanted *wanted, struct function_ranges *r)
{
	int err = wanted && wanted->count ? read_wanted(elf, section, wanted, r) : -ENOENT;

	return err == -ENOENT ? read_all(elf, section, wanted, r) : err;
}

int function_ranges_new(const struct elf_file *elf, const struct symtab_wanted *wanted,
			struct function_ranges **out)
{
	const struct elf_file_section *s = elf_file_by_name(elf, ".eh_frame");
	struct eh_frame_section section = { 0 };
	struct function_ranges *r;
	uint8_t *bytes;
	int err;

	if (!s || s->size_bytes > EH_FRAME_MAX_BYTES || !find_arch(elf, &section.arch))
		return -ENOENT;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	err = elf_file_read(elf, s, &bytes);
	if (!err) {
		section.data = bytes;
		section.size_bytes = s->size_bytes;
		section.vaddr = s->addr;
		err = read_ranges(elf, &section, wanted, r);
		free(bytes);
	}
	if (err || !r->count) {
		function_ranges_free(r);
		return err == -ENOMEM ? err : -ENOENT;
	}
	*out = r;
	return 0;
}

void function_ranges_free(struct function_ranges *r)
{
	if (r)
		free(r->list);
	free(r);
}

bool function_ranges_find(const struct function_ranges *r, uint64_t vaddr, uint64_t *start)
{
	size_t lo = lower_bound(i, 0, r->count, r->list[i].start <= vaddr);

	if (!lo || vaddr - r->list[lo - 1].start >= r->list[lo - 1].size_bytes)
		return false;
	*start = r->list[lo - 1].function;
	return true;
}

size_t function_ranges_count(const struct function_ranges *r)
{
	return r->count;
}

void function_ranges_at(const struct function_ranges *r, size_t i, uint64_t *start, uint64_t *end)
{
	*start = r->list[i].start;
	*end = r->list[i].start + r->list[i].size_bytes;
}
