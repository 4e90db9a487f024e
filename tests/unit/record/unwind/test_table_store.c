/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/privsep/io_timeout.h"
#include "record/unwind/table_store.h"

#define LONG_NS   60000000000ULL
#define CAP_BYTES (16 << 20)
#define START     0x400000

struct rig {
	struct unwind_bpf_maps space;
	struct vdso vdso;
	struct table_store *tables;
	char path[64]; /* a copy of this program, where files are not to be had by their inode */
	struct mapping map;
};

static struct io_timeout *io;

static int segment_off(struct dl_phdr_info *info, size_t size_bytes, void *out)
{
	(void)size_bytes;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			*(uint64_t *)out = info->dlpi_phdr[i].p_offset;
	return 1; /* the program comes first */
}

static int make(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct stat st;
	int from = open("/proc/self/exe", O_RDONLY), to;

	assert_non_null(r);
	*state = r;
	strcpy(r->path, "/dev/shm/test_unwtables-XXXXXX");
	to = mkstemp(r->path);
	assert_true(from >= 0 && to >= 0 && !fstat(from, &st));
	for (off_t at = 0; at < st.st_size;)
		assert_true(sendfile(to, from, &at, (size_t)(st.st_size - at)) > 0);
	assert_int_equal(fstat(to, &st), 0);
	close(from);
	close(to);
	r->map = (struct mapping){ .pid = (uint32_t)getpid(),
				   .start = START,
				   .size_bytes = 4096,
				   .id.dev_major = major(st.st_dev),
				   .id.dev_minor = minor(st.st_dev),
				   .id.inode = st.st_ino,
				   .path = r->path };
	dl_iterate_phdr(segment_off, &r->map.file_off_bytes);
	assert_int_equal(unwind_bpf_maps_init(&r->space, CAP_BYTES, false), 0);
	return table_store_new(io, &r->space, &r->vdso, NULL, NULL, false, &r->tables);
}

static int done(void **state)
{
	struct rig *r = *state;

	table_store_free(r->tables);
	unwind_bpf_maps_done(&r->space);
	unlink(r->path);
	free(r);
	return 0;
}

/* The same file, of a process that has ended, by a path that is gone. */
static struct mapping gone(const struct rig *r)
{
	struct mapping m = r->map;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	m.pid = (uint32_t)pid;
	m.path = "/gone/test_unwtables";
	return m;
}

static enum walk_kind settled(struct rig *r, uint32_t number)
{
	struct walk_map place = { 0 };

	for (table_store_pass(r->tables); table_store_is_pending(r->tables, number);
	     table_store_pass(r->tables))
		table_store_wait(r->tables, LONG_NS);
	table_store_place(r->tables, number, r->map.start, r->map.file_off_bytes, &place);
	return (enum walk_kind)place.kind;
}

static void file_has_its_table(void **state)
{
	struct rig *r = *state;

	assert_int_equal(settled(r, table_store_of(r->tables, &r->map)), WALK_TABLE);
}

static void file_that_cannot_be_opened_is_not_one_without_a_table(void **state)
{
	struct rig *r = *state;
	struct mapping m = gone(r);
	uint32_t number = table_store_of(r->tables, &m);

	assert_int_equal(settled(r, number), WALK_UNREACHED);
	/* Until a process maps it that can be asked. */
	assert_int_equal(table_store_of(r->tables, &r->map), number);
	assert_int_equal(settled(r, number), WALK_TABLE);
}

static void a_process_that_maps_it_while_another_is_asked_is_asked_next(void **state)
{
	struct rig *r = *state;
	struct mapping m = gone(r);
	uint32_t number = table_store_of(r->tables, &m);

	table_store_pass(r->tables);
	assert_int_equal(table_store_of(r->tables, &r->map), number);
	assert_int_equal(settled(r, number), WALK_TABLE);
}

static void file_that_is_not_elf_has_none(void **state)
{
	struct rig *r = *state;
	int fd = open(r->path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	assert_int_equal(settled(r, table_store_of(r->tables, &r->map)), WALK_NO_TABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(file_has_its_table, make, done),
		cmocka_unit_test_setup_teardown(
			file_that_cannot_be_opened_is_not_one_without_a_table, make, done),
		cmocka_unit_test_setup_teardown(
			a_process_that_maps_it_while_another_is_asked_is_asked_next, make, done),
		cmocka_unit_test_setup_teardown(file_that_is_not_elf_has_none, make, done),
	};

	int failed;

	if (io_timeout_new(60000000000ULL, &io))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	io_timeout_free(io);
	return failed;
}
