/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuselayers and mapcopy: what root may not look into */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/elffacts.h"
#include "record/fuselayers.h"
#include "record/mapcopy.h"

#define WORDS(s) s, sizeof(s) /* with the last NUL */

static void the_layers_are_behind_the_options(void **state)
{
	static const struct {
		const char *words;
		size_t size_bytes;
		const char *layers, *point;
	} cases[] = {
		{ WORDS("fuse-overlayfs\0-o\0lowerdir=/a:/b,upperdir=/c,workdir=/w,,volatile\0/m"),
		  ",lowerdir=/a:/b,upperdir=/c", "/m" },
		{ WORDS("/usr/bin/fuse-overlayfs\0-olowerdir=/a\0/m n"), ",lowerdir=/a", "/m n" },
		{ WORDS("f\0-f\0-o\0workdir=/w\0-o\0lowerdir=/a\0/m\0-d"), ",lowerdir=/a", "/m" },
		/* libfuse takes a backslash away, the layers' own ones stay: a comma, a colon, a blank */
		{ WORDS("f\0-o\0lowerdir=/a\\,b:/c\\\\:d:/e f\0/m"),
		  ",lowerdir=/a\\054b:/c\\134:d:/e\\040f", "/m" },
		{ WORDS("f\0-o\0lowerdir=/a=b#\n\0/m"), ",lowerdir=/a\\075b\\043\\012", "/m" },
		{ WORDS("f\0-o\0lowerdir=\\\0/m"), ",lowerdir=\\134", "/m" },
	};
	struct outbuf out = { 0 };
	const char *point = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		outbuf_clear(&out);
		outbuf_add(&out, "rw", 2);
		assert_int_equal(
			fuselayers_parse(cases[i].words, cases[i].size_bytes, &out, &point), 0);
		outbuf_add(&out, "", 1);
		assert_string_equal((char *)out.data + 2, cases[i].layers);
		assert_string_equal(point, cases[i].point);
	}
	outbuf_done(&out);
}

static void what_tells_no_layers_adds_nothing(void **state)
{
	static const struct {
		const char *words;
		size_t size_bytes;
	} cases[] = {
		{ "", 0 },
		{ WORDS("") },
		{ WORDS("fuse-overlayfs") },
		{ WORDS("fuse-overlayfs\0-o") },
		{ WORDS("fuse-overlayfs\0-o\0lowerdir=/a") },           /* mounted nowhere */
		{ WORDS("fuse-overlayfs\0-o\0lowerdir=/a\0relative") }, /* or who knows where */
		{ WORDS("fuse-overlayfs\0/m") },
		{ WORDS("fuse-overlayfs\0lowerdir=/a\0/m") },
		{ WORDS("fuse-overlayfs\0-o\0workdir=/a,xlowerdir=/b\0/m") },
		{ WORDS("lowerdir=/a\0/m") },
		{ "f\0-o\0lowerdir=/a\0/m", 19 }, /* no NUL at the end */
	};
	struct outbuf out = { 0 };
	const char *point = "as it was";
	char *large = calloc(1, FUSELAYERS_WORDS_MAX + 1);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fuselayers_parse(cases[i].words, cases[i].size_bytes, &out, &point) !=
			    -EBADMSG ||
		    out.size_bytes || strcmp(point, "as it was") != 0)
			fail_msg("case %zu", i);
	assert_int_equal(fuselayers_parse(large, FUSELAYERS_WORDS_MAX + 1, &out, &point), -EBADMSG);
	free(large);
	outbuf_done(&out);
}

static void a_mount_point_has_a_device(void **state)
{
	static const char mounts[] = "36 35 98:0 /mnt1 / rw - ext3 /dev/root rw\n"
				     "37 36 0:44 / /a\\040b rw - fuse.fuse-overlayfs f rw\n"
				     "38 36 0:45 / /m rw - fuse.fuse-overlayfs f rw\n"
				     "39 36 0:46 / /m rw - fuse.fuse-overlayfs f rw\n"
				     "40 36 0:123456789012345678901234567890 / /long rw - x x x\n"
				     "41 36 0:47\n\n"
				     "42 36 0:48 / /end\\04";
	char device[32];

	fuselayers_device(mounts, "/a b", device, sizeof(device));
	assert_string_equal(device, "0:44");
	fuselayers_device(mounts, "/m", device, sizeof(device));
	assert_string_equal(device, "0:46"); /* the other is below it */
	fuselayers_device(mounts, "/", device, sizeof(device));
	assert_string_equal(device, "98:0");
	fuselayers_device(mounts, "/long", device, sizeof(device));
	assert_string_equal(device, "");
	fuselayers_device(mounts, "/a", device, sizeof(device));
	assert_string_equal(device, "");
	fuselayers_device(mounts, "/end ", device, sizeof(device));
	assert_string_equal(device, "");
	fuselayers_device("", "/", device, sizeof(device));
	assert_string_equal(device, "");
}

/* Whoever calls itself so and serves nothing changes nothing. */
static void a_mount_that_nobody_serves_is_as_it_was(void **state)
{
	static const char text[] = "37 36 0:999999 / / rw - fuse.fuse-overlayfs f rw\n1 2 3\n";
	struct outbuf mounts = { 0 };

	fuselayers_add(&mounts);
	assert_int_equal(mounts.size_bytes, 0);
	outbuf_add(&mounts, text, sizeof(text));
	mounts.size_bytes--;
	fuselayers_add(&mounts);
	assert_int_equal(mounts.size_bytes, sizeof(text) - 1);
	assert_memory_equal(mounts.data, text, sizeof(text) - 1);
	outbuf_done(&mounts);
}

/* ---- mapcopy ---- */

static struct siderec_map own_map(struct stat *st)
{
	assert_int_equal(stat("/proc/self/exe", st), 0);
	return (struct siderec_map){ .pid = (uint32_t)getpid(),
				     .dev_major = major(st->st_dev),
				     .dev_minor = minor(st->st_dev),
				     .inode = st->st_ino,
				     .path = "/nowhere" };
}

/* The device of a mapping is not always that of stat. */
static void as_mapped(struct siderec_map *m)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long long inode;
	char line[4096];
	unsigned a, b;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %x:%x %llu", &a, &b, &inode) == 3 &&
		    inode == m->inode) {
			m->dev_major = a;
			m->dev_minor = b;
		}
	fclose(f);
}

static void a_copy_tells_what_the_file_tells(void **state)
{
	struct elffacts of_file, of_copy;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy;
	struct stat st;
	struct siderec_map m = own_map(&st);

	as_mapped(&m);
	copy = mapcopy_open(&m, MAPCOPY_HEADS);
	assert_true(file >= 0 && copy >= 0);
	elffacts_read(file, &of_file);
	elffacts_read(copy, &of_copy);
	assert_int_equal(of_copy.build_id.size_bytes, of_file.build_id.size_bytes);
	assert_memory_equal(of_copy.build_id.bytes, of_file.build_id.bytes,
			    of_file.build_id.size_bytes);
	assert_int_equal(of_copy.segment_count, of_file.segment_count);
	assert_memory_equal(of_copy.segments, of_file.segments, sizeof(of_file.segments));
	/* Read with care, and kept by nobody. */
	assert_int_equal(fstat(copy, &st), 0);
	assert_true(elffacts_is_of_others(&st));
	close(copy);
	close(file);
}

static void a_copy_has_the_bytes_of_all_that_is_mapped(void **state)
{
	uint8_t from_file[4096], from_copy[4096];
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy;
	struct stat st;
	struct siderec_map m = own_map(&st);
	uint64_t code = 0;
	struct elffacts facts;

	as_mapped(&m);
	copy = mapcopy_open(&m, MAPCOPY_WHOLE);
	assert_true(file >= 0 && copy >= 0);
	elffacts_read(file, &facts);
	assert_true(facts.segment_count > 0);
	code = facts.segments[0].off_bytes;
	assert_int_equal(pread(file, from_file, sizeof(from_file), (off_t)code), sizeof(from_file));
	assert_int_equal(pread(copy, from_copy, sizeof(from_copy), (off_t)code), sizeof(from_copy));
	assert_memory_equal(from_file, from_copy, sizeof(from_file));
	close(copy);
	close(file);
}

static void what_is_not_mapped_has_no_copy(void **state)
{
	char path[] = "/tmp/ebprec-mapcopy-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;
	struct siderec_map m = own_map(&st);
	pid_t pid = fork();
	void *text;

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	m.pid = (uint32_t)pid; /* gone */
	assert_int_equal(mapcopy_open(&m, MAPCOPY_HEADS), -ESTALE);
	m.pid = (uint32_t)getpid();
	m.inode = UINT64_MAX;
	assert_int_equal(mapcopy_open(&m, MAPCOPY_HEADS), -ESTALE);
	/* What is mapped and no ELF file; behind its end nothing can be read. */
	assert_int_equal(write(fd, "#!/bin/sh", 9), 9);
	assert_int_equal(ftruncate(fd, 10), 0);
	text = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(text != MAP_FAILED);
	assert_int_equal(fstat(fd, &st), 0);
	m.inode = st.st_ino;
	as_mapped(&m);
	assert_int_equal(mapcopy_open(&m, MAPCOPY_HEADS), -ENOEXEC);
	munmap(text, 65536);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layers_are_behind_the_options),
		cmocka_unit_test(what_tells_no_layers_adds_nothing),
		cmocka_unit_test(a_mount_point_has_a_device),
		cmocka_unit_test(a_mount_that_nobody_serves_is_as_it_was),
		cmocka_unit_test(a_copy_tells_what_the_file_tells),
		cmocka_unit_test(a_copy_has_the_bytes_of_all_that_is_mapped),
		cmocka_unit_test(what_is_not_mapped_has_no_copy),
	};

	return cmocka_run_group_tests_name("fuselayers", tests, NULL, NULL);
}
