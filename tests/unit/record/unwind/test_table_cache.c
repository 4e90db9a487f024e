/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "record/base/cache_dir.h"
#include "record/unwind/table_cache.h"

enum { HEAD_BYTES = 80, CRC_AT = 12, SUMMED_AT = 16 };

struct env {
	char dir[64];
	struct table_cache *cache;
	struct rule_table *set;
	struct module_table *table; /* of this program */
	struct module_table_key key;
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	int fd;

	*state = e;
	strcpy(e->dir, "/tmp/ebprec-cache-XXXXXX");
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (!mkdtemp(e->dir) || fd < 0 || rule_table_new(&e->set) ||
	    module_table_from_fd(fd, e->set, &e->table, NULL) ||
	    table_cache_open(e->dir, 1 << 20, &e->cache))
		return 1;
	close(fd);
	e->key = (struct module_table_key){
		.build_id = { .bytes = { 1, 2, 3, 4 }, .size_bytes = 4 }, .size_bytes = 12345
	};
	return 0;
}

/* Calls fn for each file of the folder; returns how many there are. */
static unsigned each_file(const struct env *e, void (*fn)(const char *path))
{
	DIR *dir = opendir(e->dir);
	struct dirent *d;
	unsigned count = 0;
	char path[512];

	assert_non_null(dir);
	while ((d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", e->dir, d->d_name);
		if (fn)
			fn(path);
		count++;
	}
	closedir(dir);
	return count;
}

static void remove_file(const char *path)
{
	unlink(path);
}

static int teardown(void **state)
{
	struct env *e = *state;

	each_file(e, remove_file);
	rmdir(e->dir);
	table_cache_close(e->cache);
	module_table_free(e->table);
	rule_table_free(e->set);
	free(e);
	return 0;
}

static void same_tables(const struct module_table *a, const struct module_table *b)
{
	struct module_table_view v, w;
	uint64_t pc, end, ours, theirs;

	module_table_view(a, &v);
	module_table_view(b, &w);
	assert_int_equal(v.n_rows, w.n_rows);
	assert_int_equal(v.n_pages, w.n_pages);
	assert_int_equal(v.first_page, w.first_page);
	assert_int_equal(v.arch, w.arch);
	assert_int_equal(v.tracks_bx, w.tracks_bx);
	assert_memory_equal(v.pc_low, w.pc_low, v.n_rows * sizeof(*v.pc_low));
	end = (v.first_page + v.n_pages) << MODULE_TABLE_PAGE_BITS;
	for (pc = v.first_page << MODULE_TABLE_PAGE_BITS; pc < end; pc += 7)
		assert_memory_equal(module_table_find(a, pc), module_table_find(b, pc),
				    sizeof(struct unwind_rule));
	for (pc = 0; pc < 1 << 22; pc += 4096) {
		ours = theirs = 1;
		assert_int_equal(module_table_bias(a, 0x7f0000000000, pc, &ours),
				 module_table_bias(b, 0x7f0000000000, pc, &theirs));
		assert_int_equal(ours, theirs);
	}
}

static void cache_gives_back_what_it_was_given(void **state)
{
	struct env *e = *state;
	struct unwind_rule stranger = { .cfa = UNWIND_CFA_SP, .cfa_off = 4242 };
	struct rule_table *other = NULL;
	struct module_table *got = NULL;

	assert_int_equal(table_cache_get(e->cache, &e->key, e->set, &got), -ENOENT);
	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	/* Into a set where the rules have other ids. */
	assert_int_equal(rule_table_new(&other), 0);
	rule_table_intern(other, &stranger);
	assert_int_equal(table_cache_get(e->cache, &e->key, other, &got), 0);
	same_tables(e->table, got);
	module_table_free(got);
	rule_table_free(other);
	assert_int_equal(each_file(e, NULL), 1);
}

/* libm's .fini begins where its rules end. */
static void cache_gives_back_the_table_of_each_library(void **state)
{
	static const char *const names[] = { "libc.so.6", "libm.so.6", "libz.so.1",
					     "libzstd.so.1" };
	struct env *e = *state;
	struct module_table *made, *got;
	struct link_map *map;
	void *library;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		library = dlopen(names[i], RTLD_LAZY);
		assert_non_null(library);
		assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
		fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(module_table_from_fd(fd, e->set, &made, NULL), 0);
		e->key.size_bytes = i + 1;
		assert_int_equal(table_cache_put(e->cache, &e->key, made), 0);
		assert_int_equal(table_cache_get(e->cache, &e->key, e->set, &got), 0);
		same_tables(made, got);
		module_table_free(made);
		module_table_free(got);
		close(fd);
		dlclose(library);
	}
}

static void is_private(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void cache_files_are_for_us_alone(void **state)
{
	struct env *e = *state;

	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	assert_int_equal(each_file(e, is_private), 1);
}

static void cache_does_not_mix_files_up(void **state)
{
	struct env *e = *state;
	struct module_table_key key = e->key;
	struct module_table *got = NULL;

	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	key.size_bytes++;
	assert_int_equal(table_cache_get(e->cache, &key, e->set, &got), -ENOENT);
	key = e->key;
	key.build_id.bytes[0]++;
	assert_int_equal(table_cache_get(e->cache, &key, e->set, &got), -ENOENT);
	key = e->key;
	key.build_id.size_bytes++;
	assert_int_equal(table_cache_get(e->cache, &key, e->set, &got), -ENOENT);
	key.build_id.size_bytes = 0;
	assert_int_equal(table_cache_put(e->cache, &key, e->table), -EINVAL);
	assert_null(got);
}

/* ---- broken bytes ---- */

struct bytes {
	uint8_t *data;
	size_t size_bytes;
};

static void set_u32(struct bytes *b, size_t at, uint32_t v)
{
	le32_store(b->data + at, v);
}

static void no_magic(struct bytes *b)
{
	b->data[0]++;
}
static void next_version(struct bytes *b)
{
	set_u32(b, 8, MODULE_TABLE_VERSION + 1);
}
static void wrong_sum(struct bytes *b)
{
	b->data[CRC_AT]++;
}
static void wrong_size(struct bytes *b)
{
	b->data[16]++;
}
static void wrong_id(struct bytes *b)
{
	b->data[24]++;
}
static void longer_id(struct bytes *b)
{
	b->data[44]++;
}
static void no_pages(struct bytes *b)
{
	set_u32(b, 56, 0);
}
static void many_pages(struct bytes *b)
{
	set_u32(b, 56, UINT32_MAX);
}
static void no_rows(struct bytes *b)
{
	set_u32(b, 60, 0);
}
static void many_rows(struct bytes *b)
{
	set_u32(b, 60, UINT32_MAX);
}
static void one_row_less(struct bytes *b)
{
	set_u32(b, 60, le32_load(b->data + 60) - 1);
}
static void no_rules(struct bytes *b)
{
	set_u32(b, 64, 0);
}
static void many_rules(struct bytes *b)
{
	set_u32(b, 64, UINT32_MAX);
}
static void many_segments(struct bytes *b)
{
	set_u32(b, 68, 17);
}
static void strange_arch(struct bytes *b)
{
	b->data[72] = 2;
}
static void wrong_alignment(struct bytes *b)
{
	b->data[HEAD_BYTES + 24] = 1;
}
static void endless_segment(struct bytes *b)
{
	memset(b->data + HEAD_BYTES, 0xff, 16);
}
static void one_byte_more(struct bytes *b)
{
	b->size_bytes++;
}
static void head_alone(struct bytes *b)
{
	b->size_bytes = HEAD_BYTES;
}
static void half_a_head(struct bytes *b)
{
	b->size_bytes = HEAD_BYTES / 2;
}
static void nothing(struct bytes *b)
{
	b->size_bytes = 0;
}

static size_t pages_at(const struct bytes *b)
{
	return HEAD_BYTES + 32 * (size_t)le32_load(b->data + 68) +
	       8 * (size_t)le32_load(b->data + 64);
}

static size_t rows_at(const struct bytes *b)
{
	return pages_at(b) + 4 * (size_t)le32_load(b->data + 56);
}

static void page_without_rows(struct bytes *b)
{
	set_u32(b, pages_at(b), 0);
}
static void page_of_all_rows(struct bytes *b)
{
	set_u32(b, pages_at(b), UINT32_MAX);
}
static void page_begins_late(struct bytes *b)
{
	le16_store(b->data + rows_at(b), 1);
}
static void rows_do_not_ascend(struct bytes *b)
{
	le16_store(b->data + rows_at(b) + 4, 0);
}
static void unknown_rule(struct bytes *b)
{
	le16_store(b->data + b->size_bytes - 2, 0xfffe);
}

/* sum: the checksum is put right again, so that what is behind it is met. */
static const struct {
	const char *name;
	void (*harm)(struct bytes *b);
	bool sum;
	int err;
} harms[] = {
	{ "no magic", no_magic, true, -EBADMSG },
	{ "next version", next_version, true, -ESTALE },
	{ "wrong sum", wrong_sum, false, -EBADMSG },
	{ "wrong size", wrong_size, true, -ESTALE },
	{ "wrong build-id", wrong_id, true, -ESTALE },
	{ "longer build-id", longer_id, true, -ESTALE },
	{ "no pages", no_pages, true, -EBADMSG },
	{ "many pages", many_pages, true, -EBADMSG },
	{ "no rows", no_rows, true, -EBADMSG },
	{ "many rows", many_rows, true, -EBADMSG },
	{ "one row less", one_row_less, true, -EBADMSG },
	{ "no rules", no_rules, true, -EBADMSG },
	{ "many rules", many_rules, true, -EBADMSG },
	{ "many segments", many_segments, true, -EBADMSG },
	{ "strange arch", strange_arch, true, -EBADMSG },
	{ "wrong alignment", wrong_alignment, true, -EBADMSG },
	{ "endless segment", endless_segment, true, -EBADMSG },
	{ "one byte more", one_byte_more, true, -EBADMSG },
	{ "head alone", head_alone, true, -ENODATA },
	{ "half a head", half_a_head, false, -ENODATA },
	{ "nothing", nothing, false, -ENODATA },
	{ "page without rows", page_without_rows, true, -EBADMSG },
	{ "page of all rows", page_of_all_rows, true, -EBADMSG },
	{ "page begins late", page_begins_late, true, -EBADMSG },
	{ "rows do not ascend", rows_do_not_ascend, true, -EBADMSG },
	{ "unknown rule", unknown_rule, true, -EBADMSG },
};

static void broken_bytes_are_refused(void **state)
{
	struct env *e = *state;
	struct module_table *got = NULL;
	struct buf complete = { 0 };
	struct bytes b;
	size_t i;
	int err;

	assert_int_equal(module_table_to_bytes(e->table, &e->key, &complete), 0);
	for (i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		b = (struct bytes){ malloc(complete.size_bytes + 1), complete.size_bytes };
		memcpy(b.data, complete.data, complete.size_bytes);
		b.data[complete.size_bytes] = 0;
		harms[i].harm(&b);
		if (harms[i].sum)
			le32_store(b.data + CRC_AT,
				   crc32c(0, b.data + SUMMED_AT, b.size_bytes - SUMMED_AT));
		err = module_table_from_cache(b.data, b.size_bytes, &e->key, e->set, &got);
		if (err != harms[i].err)
			fail_msg("%s: got %d, want %d", harms[i].name, err, harms[i].err);
		free(b.data);
	}
	/* Any cut, and any byte that is another. */
	for (i = 0; i < complete.size_bytes; i += 1 + complete.size_bytes / 997)
		assert_int_not_equal(
			module_table_from_cache(complete.data, i, &e->key, e->set, &got), 0);
	for (i = 0; i < complete.size_bytes; i += 1 + complete.size_bytes / 997) {
		complete.data[i] ^= 0x10;
		err = module_table_from_cache(complete.data, complete.size_bytes, &e->key, e->set,
					      &got);
		/* Behind the id lie bytes that are never read; the sum holds them, too. */
		assert_int_not_equal(err, 0);
		complete.data[i] ^= 0x10;
	}
	assert_null(got);
	buf_done(&complete);
}

static void flip_a_byte(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 100), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 100), 1);
	close(fd);
}

static void cut(const char *path)
{
	assert_int_equal(truncate(path, 200), 0);
}

static void cache_removes_what_is_broken(void **state)
{
	struct env *e = *state;
	struct module_table *got = NULL;

	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	each_file(e, flip_a_byte);
	assert_int_equal(table_cache_get(e->cache, &e->key, e->set, &got), -EBADMSG);
	assert_int_equal(each_file(e, NULL), 0);
	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	each_file(e, cut);
	assert_int_equal(table_cache_get(e->cache, &e->key, e->set, &got), -ENODATA);
	assert_int_equal(each_file(e, NULL), 0);
	assert_null(got);
}

/* ---- room ---- */

static void age(const char *path)
{
	struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

static void cache_keeps_below_its_bound(void **state)
{
	struct env *e = *state;
	struct module_table_key key = e->key, first = e->key;
	struct module_table *got = NULL;
	struct table_cache *small = NULL;
	struct buf one = { 0 };
	unsigned i;

	assert_int_equal(module_table_to_bytes(e->table, &key, &one), 0);
	assert_int_equal(table_cache_open(e->dir, 4 * one.size_bytes, &small), 0);
	assert_int_equal(table_cache_put(small, &first, e->table), 0);
	each_file(e, age);
	for (i = 0; i < 40; i++) {
		key.size_bytes++;
		assert_int_equal(table_cache_put(small, &key, e->table), 0);
		assert_true(each_file(e, NULL) <= 4);
	}
	/* The oldest is gone, the last is there. */
	assert_int_equal(table_cache_get(small, &first, e->set, &got), -ENOENT);
	assert_int_equal(table_cache_get(small, &key, e->set, &got), 0);
	module_table_free(got);
	table_cache_close(small);
	/* A table that would fill half of it is not cached. */
	assert_int_equal(table_cache_open(e->dir, one.size_bytes, &small), 0);
	assert_int_equal(table_cache_put(small, &first, e->table), -EFBIG);
	table_cache_close(small);
	buf_done(&one);
}

static void cache_clears_up_after_recorders_that_died(void **state)
{
	struct env *e = *state;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/.new-1-0", e->dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	age(path);
	assert_int_equal(table_cache_put(e->cache, &e->key, e->table), 0);
	assert_int_equal(each_file(e, NULL), 1);
	assert_int_not_equal(access(path, F_OK), 0);
}

/* ---- which owners to trust ---- */

static void cache_folder_has_to_be_ours(void **state)
{
	struct env *e = *state;
	struct table_cache *c = NULL;
	char deep[128];

	assert_int_equal(table_cache_open("relative", 1, &c), -EINVAL);
	assert_int_equal(table_cache_open("/proc/none/such", 1, &c), -ENOENT);
	assert_int_equal(table_cache_open("/dev/null", 1, &c), -ENOTDIR);
	assert_int_equal(chmod(e->dir, 0777), 0);
	assert_int_equal(table_cache_open(e->dir, 1, &c), -EPERM);
	assert_int_equal(chmod(e->dir, 0755), 0);
	assert_null(c);
	snprintf(deep, sizeof(deep), "%s/a/b", e->dir);
	assert_int_equal(table_cache_open(deep, 1, &c), 0);
	table_cache_close(c);
	rmdir(deep);
	*strrchr(deep, '/') = 0;
	rmdir(deep);
}

static void files_that_others_write_are_not_cached(void **state)
{
	struct env *e = *state;
	struct module_table_key key;
	char path[128];
	int fd;

	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(table_cache_key(fd, &key), 0);
	assert_int_equal(key.build_id.size_bytes, 20);
	close(fd);
	snprintf(path, sizeof(path), "%s/open", e->dir);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(table_cache_key(fd, &key), -ENOENT); /* no build-id */
	assert_int_equal(fchmod(fd, 0622), 0);
	assert_int_equal(table_cache_key(fd, &key), -EACCES);
	assert_int_equal(fchmod(fd, 0600), 0);
	if (!geteuid()) {
		assert_int_equal(fchown(fd, 65534, 65534), 0);
		assert_int_equal(table_cache_key(fd, &key), -EACCES);
	}
	close(fd);
}

static void cache_is_in_the_folder_of_the_environment(void **state)
{
	char path[64];

	setenv("EBPREC_TABLE_CACHE", "/some/where", 1);
	cache_dir_default(path, sizeof(path));
	assert_string_equal(path, "/some/where");
	cache_dir_default(path, 5); /* too long */
	assert_string_equal(path, "");
	unsetenv("EBPREC_TABLE_CACHE");
	cache_dir_default(path, sizeof(path));
	if (!geteuid())
		assert_string_equal(path, "/var/cache/ebprec");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(cache_gives_back_what_it_was_given),
		CASE(cache_gives_back_the_table_of_each_library),
		CASE(cache_files_are_for_us_alone),
		CASE(cache_does_not_mix_files_up),
		CASE(broken_bytes_are_refused),
		CASE(cache_removes_what_is_broken),
		CASE(cache_keeps_below_its_bound),
		CASE(cache_clears_up_after_recorders_that_died),
		CASE(cache_folder_has_to_be_ours),
		CASE(files_that_others_write_are_not_cached),
		cmocka_unit_test(cache_is_in_the_folder_of_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
