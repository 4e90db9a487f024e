/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_facts.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/privsep/elf/elf_jvm.h"
#include "record/privsep/elf/elf_listed.h"
#include "record/privsep/elf/elf_perl.h"
#include "record/privsep/elf/elf_python.h"
#include "record/privsep/elf/elf_v8.h"

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
	elf_python_find(&file, &out->runtime);
	if (out->runtime.state == ELF_RUNTIME_NONE)
		elf_v8_find(&file, &out->runtime);
	if (out->runtime.state == ELF_RUNTIME_NONE)
		elf_jvm_find(&file, &out->runtime);
	if (out->runtime.state == ELF_RUNTIME_NONE)
		elf_listed_find(&file, &out->runtime);
	if (out->runtime.state == ELF_RUNTIME_NONE)
		elf_perl_find(&file, &out->runtime);
}

bool elf_facts_is_of_others(const struct stat *st)
{
	/* The user's own, too: by file capabilities this program may do more than the user. */
	return st->st_uid || st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid);
}
