/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_unwkept - any bytes as a table from the cache
 *
 * The checksum is put right first, and the key is the one in the bytes, or the engine would never get
 * behind them.  Beside memory errors it looks for broken promises of a table, and that writing
 * what was read gives the same table again.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/unwind/table/module_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(const struct module_table *t, const struct rule_table *set)
{
	struct module_table_view v;
	uint32_t i, k, rows = 0;
	uint64_t bias;

	module_table_view(t, &v);
	for (i = 0; i < v.n_pages; i++) {
		if (v.pages[i].first_row != rows || !v.pages[i].n_rows || v.pc_low[rows])
			abort();
		for (k = 1; k < v.pages[i].n_rows; k++) {
			if (v.pc_low[rows + k] <= v.pc_low[rows + k - 1])
				abort();
		}
		rows += v.pages[i].n_rows;
		module_table_find(t, (v.first_page + i) << MODULE_TABLE_PAGE_BITS);
	}
	for (i = 0; i < v.n_rows; i++) {
		if (v.rule_id[i] >= rule_table_count(set))
			abort();
	}
	if (rows != v.n_rows)
		abort();
	module_table_find(t, 0);
	module_table_find(t, UINT64_MAX);
	(void)module_table_bias(t, 0x555500001000, 0x1000, &bias);
}

/* Bytes that are read and written again are read once more. */
static void again(const struct module_table *t, const struct module_table_key *key)
{
	struct module_table *twin = NULL;
	struct rule_table *set = NULL;
	struct buf bytes = { 0 };

	if (rule_table_new(&set) || module_table_to_bytes(t, key, &bytes))
		abort();
	if (module_table_from_cache(bytes.data, bytes.size_bytes, key, set, &twin))
		abort();
	check(twin, set);
	module_table_free(twin);
	rule_table_free(set);
	buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct module_table_key key = { .size_bytes = 1 };
	struct module_table *table = NULL;
	struct rule_table *set = NULL;
	uint8_t *own;

	if (size_bytes < 80 || rule_table_new(&set))
		return 0;
	own = malloc(size_bytes);
	if (!own)
		abort();
	memcpy(own, data, size_bytes);
	le32_store(own + 8,
		   MODULE_TABLE_VERSION); /* or those of the corpus would be of another one */
	le32_store(own + 12, crc32c(0, own + 16, size_bytes - 16));
	key.size_bytes = le64_load(own + 16);
	memcpy(key.build_id.bytes, own + 24, BUILDID_MAX_BYTES);
	key.build_id.size_bytes = own[44];
	if (key.build_id.size_bytes && key.build_id.size_bytes <= BUILDID_MAX_BYTES &&
	    !module_table_from_cache(own, size_bytes, &key, set, &table)) {
		check(table, set);
		again(table, &key);
	}
	module_table_free(table);
	rule_table_free(set);
	free(own);
	return 0;
}
