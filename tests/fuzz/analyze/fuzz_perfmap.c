/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_perfmap - any bytes as the map of a JIT compiler, as facts about files and as command lines */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/perf_map.h"
#include "format/payload/file_facts.h"
#include "format/payload/cmdline_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *copy = malloc(size_bytes ? size_bytes : 1);
	struct cursor c;
	struct file_facts f;
	struct cmdline_record p;
	struct perf_map *m;
	const char *name;
	uint64_t addr;

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	if (!perf_map_new(copy, size_bytes, &m)) {
		for (addr = 0; addr < 1 << 16; addr += 61) {
			name = perf_map_find(m, addr);
			if (name && !*name)
				abort();
		}
		perf_map_find(m, UINT64_MAX);
		perf_map_free(m);
	}
	c = cursor_of(copy, size_bytes);
	while (file_facts_next(&c, &f) == 1)
		if (f.segment_count > FILE_FACTS_SEGMENTS_MAX ||
		    (f.path.size_bytes && !memchr(f.path.text, f.path.text[0], f.path.size_bytes)))
			abort();
	c = cursor_of(copy, size_bytes);
	while (cmdline_record_next(&c, &p) == 1)
		if (p.args_bytes + p.env_bytes > size_bytes ||
		    memchr(p.args, 'x', p.args_bytes) == copy + size_bytes)
			abort();
	free(copy);
	return 0;
}
