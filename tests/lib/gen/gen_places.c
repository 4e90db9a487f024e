/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_places - writes a perf.data with a sample at every place of given files
 *
 *	gen_places [-b] [-c] OUT STEP FILE...
 *
 * Each file is mapped as one process has it, and there is a sample at each STEP bytes of its
 * executable segments, so that the names of two readers can be compared place by place.  `perf script` prints
 * offsets in the file.  FILE must be absolute and below 4 GiB.  With -b its build-id is recorded.
 * With -c it is a capture of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/base/buildid.h"
#include "tests/lib/gen/records.h"

#define PID        1000
#define PAGE_BYTES 4096

static uint8_t rec[REC_MAX];

static int put_map(struct writer *w, const char *path, const struct buildid *id, uint64_t base,
		   const GElf_Phdr *p)
{
	uint64_t off = p->p_offset & ~(uint64_t)(PAGE_BYTES - 1);
	size_t size = rec_mmap2(rec, PID, path, 0);

	le64_store(rec + 16, base + off);
	le64_store(rec + 24, (p->p_offset + p->p_filesz - off + PAGE_BYTES - 1) &
				     ~(uint64_t)(PAGE_BYTES - 1));
	le64_store(rec + 32, off);
	if (id->size_bytes) {
		memset(rec + 40, 0, 24);
		rec[40] = id->size_bytes;
		memcpy(rec + 44, id->bytes, id->size_bytes);
		le16_store(rec + 4,
			   (uint16_t)(le16_load(rec + 4) | PERF_RECORD_MISC_MMAP_BUILD_ID));
	}
	return writer_record(w, EBX_STREAM_SIDE, rec, size, 0, -1);
}

static int put_samples(struct writer *w, uint64_t base, const GElf_Phdr *p, uint64_t step,
		       uint64_t *time_ns)
{
	uint64_t off;
	size_t size;
	int err = 0;

	for (off = 0; !err && off < p->p_filesz; off += step) {
		uint64_t ip = base + p->p_offset + off;
		const struct rec_sample s = { .pid = PID,
					      .tid = PID,
					      .time_ns = (*time_ns)++,
					      .chain = &ip,
					      .chain_count = 1 };

		size = rec_sample(rec, &s);
		err = writer_record(w, EBX_STREAM_CPU, rec, size, s.time_ns, 0);
	}
	return err;
}

static int put_file(struct writer *w, const char *path, bool with_id, uint64_t base, uint64_t step,
		    uint64_t *time_ns)
{
	struct buildid id = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = -EBADMSG;
	size_t i, count = 0;
	GElf_Phdr p;
	Elf *elf;

	if (fd < 0)
		return -errno;
	if (with_id && buildid_from_fd(fd, &id)) {
		close(fd);
		return -ENOENT;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && !elf_getphdrnum(elf, &count))
		err = 0;
	for (i = 0; !err && i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		err = put_map(w, path, &id, base, &p);
		if (!err)
			err = put_samples(w, base, &p, step, time_ns);
	}
	elf_end(elf);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct writer_attr attrs[REC_ATTRS];
	struct writer_opts opts = { .attrs = attrs,
				    .attr_count = REC_ATTRS,
				    .clock_mono_ns = 1,
				    .clock_wall_ns = 1,
				    .level = 1,
				    .plain = true };
	uint64_t time_ns = 1000000000;
	struct writer *w = NULL;
	bool with_id = false;
	int i, fd, err;

	for (; argc > 1 && *argv[1] == '-'; argc--, argv++)
		if (!strcmp(argv[1], "-b"))
			with_id = true;
		else
			opts.plain = false;
	if (argc < 4)
		return 2;
	elf_version(EV_CURRENT);
	rec_attrs(attrs);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : writer_new(fd, &opts, &w);
	if (!err)
		err = writer_record(w, EBX_STREAM_SIDE, rec, rec_comm(rec, PID, PID, "places", 0),
				    0, -1);
	for (i = 3; !err && i < argc; i++)
		err = put_file(w, argv[i], with_id, (uint64_t)(i - 2) << 32,
			       strtoull(argv[2], NULL, 0), &time_ns);
	if (!err)
		err = writer_finish(w, NULL, 0);
	writer_free(w);
	if (err)
		fprintf(stderr, "gen_places: %s\n", strerror(-err));
	return err ? 1 : 0;
}
