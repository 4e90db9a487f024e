/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_facts.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/privsep/elf/elf_parts.h"

static void find_runtime(const struct source *file, struct elf_runtime *out)
{
	/* Python last: it alone may be in the table of all symbols, which of node has 7 MB of names. */
	static void (*const finds[])(const struct elf_parts *, struct elf_runtime *) = {
		elf_v8_find, elf_jvm_find, elf_listed_find, elf_perl_find, elf_python_find
	};
	struct elf_parts parts;

	if (elf_parts_read(file, &parts))
		return;
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		finds[i](&parts, out);
		if (out->state != ELF_RUNTIME_NONE)
			break;
	}
	elf_parts_done(&parts);
}

void elf_facts_read(int fd, struct elf_facts *out)
{
	struct source file = { .fd = fd };
	struct stat st;

	memset(out, 0, sizeof(*out)); /* it is sent as it is */
	if (buildid_from_fd(fd, &out->build_id))
		out->build_id.size_bytes = 0;
	if (!out->build_id.size_bytes)
		out->sum = file_facts_sum(fd);
	out->segment_count = file_facts_segments(fd, out->segments);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	file.size_bytes = (uint64_t)st.st_size;
	out->site_count = (uint32_t)elf_notes_sites(&file, out->sites);
	find_runtime(&file, &out->runtime);
}

bool elf_facts_is_of_others(const struct stat *st)
{
	/* The user's own, too: by file capabilities this program may do more than the user. */
	return st->st_uid || st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid);
}
