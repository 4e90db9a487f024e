/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf_facts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/privsep/elf_reader.h"

void elffacts_read(int fd, struct elffacts *out)
{
	struct source file = { .fd = fd };
	struct stat st;

	memset(out, 0, sizeof(*out)); /* it is sent as it is */
	if (buildid_from_fd(fd, &out->build_id))
		out->build_id.size_bytes = 0;
	if (!out->build_id.size_bytes)
		out->sum = filefacts_sum(fd);
	out->segment_count = filefacts_segments(fd, out->segments);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	file.size_bytes = (uint64_t)st.st_size;
	out->site_count = (uint32_t)markelf_sites(&file, out->sites);
}

bool elffacts_is_of_others(const struct stat *st)
{
	return (st->st_uid && st->st_uid != geteuid()) || st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && st->st_gid);
}

int elffacts_read_safely(int fd, struct elfworker *reader, struct elffacts *out)
{
	struct stat st;
	int err;

	if (!reader || (!fstat(fd, &st) && !elffacts_is_of_others(&st))) {
		elffacts_read(fd, out);
		return 0;
	}
	err = elfworker_facts(reader, fd, out);
	if (err)
		*out = (struct elffacts){ 0 };
	return err;
}
