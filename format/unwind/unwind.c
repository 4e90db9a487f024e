/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <stdio.h>

#include "format/base/cursor.h"
#include "format/unwind/unwind.h"

static const char *const why_texts[UNWIND_WHY_COUNT] = {
	[UNWIND_OK] = "not ended",
	[UNWIND_COMPLETE] = "complete",
	[UNWIND_ZERO_PC] = "complete (return address 0)",
	[UNWIND_NO_CFI] = "no unwind table for this code",
	[UNWIND_UNSUPPORTED] = "unwind rule not supported",
	[UNWIND_READ_FAULT] = "stack not readable",
	[UNWIND_SP_NOT_UP] = "stack pointer did not move up",
	[UNWIND_BAD_PC] = "return address is not code",
	[UNWIND_FP_UNKNOWN] = "frame pointer lost",
	[UNWIND_REG_UNKNOWN] = "register not known in this frame",
	[UNWIND_NOT_A_FRAME] = "frame pointer does not point up the stack",
	[UNWIND_NO_MAPPING] = "address in no known file",
	[UNWIND_NO_TABLE] = "unwind table not ready",
	[UNWIND_MAX_FRAMES] = "too many frames",
	[UNWIND_NO_ROOM] = "no room for the unwind table (see record --tables)",
	[UNWIND_NO_FILE] = "its file could not be opened for its unwind table",
};

const char *unwind_why_text(enum unwind_why why)
{
	if ((unsigned int)why >= UNWIND_WHY_COUNT)
		return "unknown reason";
	return why_texts[why];
}

static int copy_read(const struct unwind_mem *mem, uint64_t addr, __u64 *out)
{
	const struct unwind_copy *copy = (const struct unwind_copy *)mem; /* mem comes first */
	uint64_t off = addr - copy->base;

	if (copy->size_bytes < 8 || addr < copy->base || off > copy->size_bytes - 8)
		return 1;
	*out = le64_load(copy->data + off);
	return 0;
}

void unwind_copy_init(struct unwind_copy *copy, const void *data, size_t size_bytes, uint64_t base,
		      const __u64 *gprs, uint32_t n_gprs)
{
	_Static_assert(offsetof(struct unwind_copy, mem) == 0, "copy_read casts");

	*copy = (struct unwind_copy){
		.mem = { .read = copy_read, .gprs = gprs, .n_gprs = gprs ? n_gprs : 0 },
		.data = data,
		.size_bytes = size_bytes,
		.base = base,
	};
}
