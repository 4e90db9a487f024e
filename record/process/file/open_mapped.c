/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/open_mapped.h"

#include "record/process/file/inode_file.h"
#include "record/process/file/map_copy.h"
#include "record/process/file/map_file.h"

struct open_mapped open_mapped_file(const struct mapping *m, const uint32_t *others,
				    size_t other_count, uint64_t copy_bytes)
{
	struct open_mapped o = { .fd = map_file_open(m), .by_pid = m->pid };

	if (o.fd < 0) {
		o.fd = inode_file_open(m, &o.found_path);
		o.by_pid = o.found_path ? 0 : m->pid;
	}
	if (o.fd < 0) {
		o.fd = map_copy_open(m, copy_bytes);
		o.is_copy = o.fd >= 0;
	}
	for (size_t i = 0; o.fd < 0 && i < other_count; i++) {
		if (!others[i])
			continue;
		/* The inode shows whether the files are the same. */
		o.fd = map_file_open_by(m, others[i]);
		o.by_pid = others[i];
	}
	return o;
}
