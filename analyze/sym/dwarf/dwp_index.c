/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/dwp_index.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/cursor.h"

#define HEAD_BYTES      16
#define INDEX_MAX_BYTES (256U << 20)
#define COLUMNS_MAX     16

static int read_columns(struct dwp_index *p, uint16_t version, uint64_t table_off)
{
	static const uint32_t ids[DWP_INDEX_COLUMNS] = { 1, 3, 6, 8 };

	for (int i = 0; i < DWP_INDEX_COLUMNS; i++) {
		p->columns[i] = UINT32_MAX;
		if (i == DWP_INDEX_RNGLISTS && version < 5)
			continue; /* 8 was .debug_macro */
		for (uint32_t k = 0; k < p->column_count; k++)
			if (le32_load(p->index + table_off + 4 * (uint64_t)k) == ids[i])
				p->columns[i] = k;
	}
	return p->columns[DWP_INDEX_INFO] == UINT32_MAX ||
			       p->columns[DWP_INDEX_ABBREV] == UINT32_MAX
		       ? -ENOTSUP
		       : 0;
}

/* Slots have 8 bytes of id and 4 of a row; then come the columns' names, offsets and sizes. */
static int read_head(struct dwp_index *p, uint64_t size_bytes)
{
	uint16_t version;
	uint64_t need;

	if (size_bytes < HEAD_BYTES)
		return -ENOTSUP;
	version = le16_load(p->index); /* before 5 it had 4 bytes */
	p->column_count = le32_load(p->index + 4);
	p->unit_count = le32_load(p->index + 8);
	p->slot_count = le32_load(p->index + 12);
	if ((version != 2 && version != 5) || le16_load(p->index + 2) || !p->column_count ||
	    p->column_count > COLUMNS_MAX || !p->slot_count || p->slot_count & (p->slot_count - 1))
		return -ENOTSUP;
	need = HEAD_BYTES + 12 * (uint64_t)p->slot_count +
	       4 * (uint64_t)p->column_count * (1 + 2 * (uint64_t)p->unit_count);
	if (need > size_bytes)
		return -ENOTSUP;
	return read_columns(p, version, HEAD_BYTES + 12 * (uint64_t)p->slot_count);
}

int dwp_index_open(int fd, struct dwp_index *out)
{
	const struct elf_file_section *s;
	struct dwp_index p = { 0 };
	int err;

	err = elf_file_open(fd, &p.elf);
	if (err)
		return err == -ENOMEM ? err : -ENOTSUP;
	s = elf_file_by_name(p.elf, ".debug_cu_index");
	err = s && s->size_bytes <= INDEX_MAX_BYTES ? elf_file_read(p.elf, s, &p.index) : -ENOTSUP;
	if (!err)
		err = read_head(&p, s->size_bytes);
	if (err)
		dwp_index_close(&p);
	else
		*out = p;
	return err == 0 || err == -ENOMEM ? err : -ENOTSUP;
}

void dwp_index_close(struct dwp_index *p)
{
	elf_file_close(p->elf);
	free(p->index);
	*p = (struct dwp_index){ 0 };
}

/* row: from 1 on, as the slots count. */
static void read_row(const struct dwp_index *p, uint32_t row, struct dwp_index_row *out)
{
	const uint8_t *table = p->index + HEAD_BYTES + 12 * (uint64_t)p->slot_count;

	*out = (struct dwp_index_row){ 0 };
	for (int i = 0; i < DWP_INDEX_COLUMNS; i++) {
		uint64_t at = (uint64_t)row * p->column_count + p->columns[i];

		if (p->columns[i] == UINT32_MAX)
			continue;
		out->off_bytes[i] = le32_load(table + 4 * at);
		out->size_bytes[i] = le32_load(
			table + 4 * (at + (uint64_t)p->unit_count * p->column_count));
	}
}

bool dwp_index_find(const struct dwp_index *p, uint64_t id, uint64_t most, uint64_t *probes,
		    struct dwp_index_row *out)
{
	uint32_t mask = p->slot_count - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
	const uint8_t *rows = p->index + HEAD_BYTES + 8 * (uint64_t)p->slot_count;

	/* A table without an empty slot, or one that leads around, ends after all of it. */
	for (*probes = 0; *probes < p->slot_count && *probes < most; ++*probes) {
		uint32_t row = le32_load(rows + 4 * (uint64_t)at);

		if (!row)
			return false;
		if (le64_load(p->index + HEAD_BYTES + 8 * (uint64_t)at) == id) {
			if (row > p->unit_count)
				return false;
			read_row(p, row, out);
			return true;
		}
		at = (at + step) & mask;
	}
	return false;
}
