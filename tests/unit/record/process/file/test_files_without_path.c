/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuselayers, mapcopy, inodefile: files to which no path leads */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/privsep/elf/elf_facts.h"
#include "record/process/file/fuse_overlayfs.h"
#include "record/process/file/inode_file.h"
#include "record/process/file/map_copy.h"

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
			fuse_overlayfs_parse(cases[i].words, cases[i].size_bytes, &out, &point), 0);
		outbuf_add(&out, "", 1);
		assert_string_equal((char *)out.data + 2, cases[i].layers);
		assert_string_equal(point, cases[i].point);
	}
	outbuf_done(&out);
}

static void command_lines_without_layers_add_nothing(void **state)
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
		{ WORDS("fuse-overlayfs\0-o\0lowerdir=/a\0relative") }, /* or at an unknown place */
		{ WORDS("fuse-overlayfs\0/m") },
		{ WORDS("fuse-overlayfs\0lowerdir=/a\0/m") },
		{ WORDS("fuse-overlayfs\0-o\0workdir=/a,xlowerdir=/b\0/m") },
		{ WORDS("lowerdir=/a\0/m") },
		{ "f\0-o\0lowerdir=/a\0/m", 19 }, /* no NUL at the end */
	};
	struct outbuf out = { 0 };
	const char *point = "as it was";
	char *large = calloc(1, FUSE_OVERLAYFS_WORDS_MAX + 1);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fuse_overlayfs_parse(cases[i].words, cases[i].size_bytes, &out, &point) !=
			    -EBADMSG ||
		    out.size_bytes || strcmp(point, "as it was") != 0)
			fail_msg("case %zu", i);
	assert_int_equal(fuse_overlayfs_parse(large, FUSE_OVERLAYFS_WORDS_MAX + 1, &out, &point),
			 -EBADMSG);
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

	fuse_overlayfs_device(mounts, "/a b", device, sizeof(device));
	assert_string_equal(device, "0:44");
	fuse_overlayfs_device(mounts, "/m", device, sizeof(device));
	assert_string_equal(device, "0:46"); /* the other is below it */
	fuse_overlayfs_device(mounts, "/", device, sizeof(device));
	assert_string_equal(device, "98:0");
	fuse_overlayfs_device(mounts, "/long", device, sizeof(device));
	assert_string_equal(device, "");
	fuse_overlayfs_device(mounts, "/a", device, sizeof(device));
	assert_string_equal(device, "");
	fuse_overlayfs_device(mounts, "/end ", device, sizeof(device));
	assert_string_equal(device, "");
	fuse_overlayfs_device("", "/", device, sizeof(device));
	assert_string_equal(device, "");
}

/* A process with that name that serves nothing changes nothing. */
static void a_mount_without_a_server_is_as_it_was(void **state)
{
	static const char text[] = "37 36 0:999999 / / rw - fuse.fuse-overlayfs f rw\n1 2 3\n";
	struct outbuf mounts = { 0 };

	fuse_overlayfs_add(&mounts);
	assert_int_equal(mounts.size_bytes, 0);
	outbuf_add(&mounts, text, sizeof(text));
	mounts.size_bytes--;
	fuse_overlayfs_add(&mounts);
	assert_int_equal(mounts.size_bytes, sizeof(text) - 1);
	assert_memory_equal(mounts.data, text, sizeof(text) - 1);
	outbuf_done(&mounts);
}

/* ---- mapcopy ---- */

static struct mapping own_map(struct stat *st)
{
	assert_int_equal(stat("/proc/self/exe", st), 0);
	return (struct mapping){ .pid = (uint32_t)getpid(),
				 .id.dev_major = major(st->st_dev),
				 .id.dev_minor = minor(st->st_dev),
				 .id.inode = st->st_ino,
				 .path = "/nowhere" };
}

/* The device of a mapping is not always that of stat. */
static void as_mapped(struct mapping *m)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long long inode;
	char line[4096];
	unsigned a, b;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %x:%x %llu", &a, &b, &inode) == 3 &&
		    inode == m->id.inode) {
			m->id.dev_major = a;
			m->id.dev_minor = b;
		}
	fclose(f);
}

static void a_copy_of_a_file_has_the_facts_of_the_file(void **state)
{
	struct elf_facts of_file, of_copy;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy;
	struct stat st;
	struct mapping m = own_map(&st);

	as_mapped(&m);
	copy = map_copy_open(&m, MAP_COPY_HEADS);
	assert_true(file >= 0 && copy >= 0);
	elf_facts_read(file, &of_file);
	elf_facts_read(copy, &of_copy);
	assert_int_equal(of_copy.build_id.size_bytes, of_file.build_id.size_bytes);
	assert_memory_equal(of_copy.build_id.bytes, of_file.build_id.bytes,
			    of_file.build_id.size_bytes);
	assert_int_equal(of_copy.segment_count, of_file.segment_count);
	assert_memory_equal(of_copy.segments, of_file.segments, sizeof(of_file.segments));
	/* Read with care, and held open by no process. */
	assert_int_equal(fstat(copy, &st), 0);
	assert_true(elf_facts_is_of_others(&st));
	close(copy);
	close(file);
}

static void a_copy_has_the_bytes_of_all_that_is_mapped(void **state)
{
	uint8_t from_file[4096], from_copy[4096];
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy;
	struct stat st;
	struct mapping m = own_map(&st);
	uint64_t code = 0;
	struct elf_facts facts;

	as_mapped(&m);
	copy = map_copy_open(&m, MAP_COPY_ALL);
	assert_true(file >= 0 && copy >= 0);
	elf_facts_read(file, &facts);
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
	struct mapping m = own_map(&st);
	pid_t pid = fork();
	void *text;

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	m.pid = (uint32_t)pid; /* gone */
	assert_int_equal(map_copy_open(&m, MAP_COPY_HEADS), -ESTALE);
	m.pid = (uint32_t)getpid();
	m.id.inode = UINT64_MAX;
	assert_int_equal(map_copy_open(&m, MAP_COPY_HEADS), -ESTALE);
	/* A mapped file that is no ELF file; behind its end nothing can be read. */
	assert_int_equal(write(fd, "#!/bin/sh", 9), 9);
	assert_int_equal(ftruncate(fd, 10), 0);
	text = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(text != MAP_FAILED);
	assert_int_equal(fstat(fd, &st), 0);
	m.id.inode = st.st_ino;
	as_mapped(&m);
	assert_int_equal(map_copy_open(&m, MAP_COPY_HEADS), -ENOEXEC);
	munmap(text, 65536);
	close(fd);
	unlink(path);
}

/* ---- inodefile ---- */

static void a_device_is_mounted_somewhere(void **state)
{
	static const char mounts[] =
		"20 1 0:5 / /dev rw - devtmpfs d rw\n"
		"21 1 254:0 / /a\\040b\\134 rw,noatime shared:1 master:2 - ext4 /dev/vda rw\n"
		"22 1 254:0 /x /later rw - ext4 /dev/vda rw\n"
		"23 1 254:1 / /x rw - xfs /dev/vdb rw\n"
		"24 1 254:2 / /n rw - nfs4 h:/ rw\n"
		"25 1 254:3 / relative rw - ext4 /dev/vdc rw\n"
		"26 1 254:4 / /no-type rw\n"
		"27 1 254:5\n"
		"28 1 254:6 / /ext44 rw - ext44 x rw\n"
		"\n- ext4\n"
		"29 1 254:7 / ";
	static const struct {
		uint32_t minor;
		const char *point;
	} cases[] = {
		{ 0, "/a b\\" }, { 1, "/x" }, { 2, NULL }, { 3, NULL }, { 4, NULL },
		{ 5, NULL },     { 6, NULL }, { 7, NULL }, { 8, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *point = inode_file_mount(mounts, 254, cases[i].minor);

		if (!cases[i].point != !point || (point && strcmp(point, cases[i].point) != 0))
			fail_msg("254:%u is at %s", cases[i].minor, point ? point : "no place");
		free(point);
	}
	assert_null(inode_file_mount("", 254, 0));
}

static void what_has_no_handle_is_not_opened(void **state)
{
	char *path = NULL;
	struct stat st;
	struct mapping m = own_map(&st);

	assert_int_equal(inode_file_open(&m, &path), -ENOENT); /* any generation */
	m.id.inode_generation = 1;
	m.id.dev_major = 0; /* overlayfs, btrfs, tmpfs */
	assert_int_equal(inode_file_open(&m, &path), -ENOENT);
	m.id.dev_major = UINT32_MAX;
	assert_int_equal(inode_file_open(&m, &path), -ENOENT);
	m = own_map(&st);
	m.id.inode_generation = 1ULL << 32;
	assert_int_equal(inode_file_open(&m, &path), -ENOENT);
	/* Another generation is another file; without the right, or elsewhere, it is not asked. */
	m.id.inode_generation = 0xfffffff1;
	assert_true(inode_file_open(&m, &path) < 0);
	assert_null(path);
}

/* Where the kernel allows it: the file itself, under the name that it has now, or deleted. */
static void a_handle_leads_to_the_file_wherever_it_is(void **state)
{
	char path[] = "/tmp/ebprec-inodefile-XXXXXX", moved[64], *found = NULL;
	struct mapping m = { .pid = 1, .path = "/nowhere" };
	int file = mkstemp(path), generation = 0, fd;
	struct stat st, there;

	assert_true(file >= 0);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(fstat(file, &st), 0);
	m.id.dev_major = major(st.st_dev);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	if (ioctl(file, FS_IOC_GETVERSION, &generation))
		generation = 0;
	m.id.inode_generation = (uint32_t)generation;
	fd = inode_file_open(&m, &found);
	if (fd < 0)
		assert_true(fd == -EPERM || fd == -ENOENT || fd == -EOPNOTSUPP);
	else
		assert_true(!fstat(fd, &there) && there.st_ino == st.st_ino &&
			    there.st_dev == st.st_dev);
	if (found)
		assert_string_equal(found, moved);
	if (fd >= 0)
		close(fd);
	free(found);
	found = NULL;
	unlink(moved);
	fd = inode_file_open(&m, &found); /* it is open, so it is there */
	assert_null(found);
	if (fd >= 0)
		close(fd);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layers_are_behind_the_options),
		cmocka_unit_test(command_lines_without_layers_add_nothing),
		cmocka_unit_test(a_mount_point_has_a_device),
		cmocka_unit_test(a_mount_without_a_server_is_as_it_was),
		cmocka_unit_test(a_copy_of_a_file_has_the_facts_of_the_file),
		cmocka_unit_test(a_copy_has_the_bytes_of_all_that_is_mapped),
		cmocka_unit_test(what_is_not_mapped_has_no_copy),
		cmocka_unit_test(a_device_is_mounted_somewhere),
		cmocka_unit_test(what_has_no_handle_is_not_opened),
		cmocka_unit_test(a_handle_leads_to_the_file_wherever_it_is),
	};

	return cmocka_run_group_tests_name("pathless", tests, NULL, NULL);
}
