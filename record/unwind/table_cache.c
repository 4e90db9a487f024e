/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/base/cache_dir.h"
#include "format/base/full_io.h"

#define SUFFIX        ".unw"
#define TEMP_OLD_S    3600  /* its writer is gone */
#define TOUCH_AFTER_S 86400 /* a day's order is enough to know what is old */

struct table_cache {
	int dir_fd;
	uint64_t max_bytes;
	uint64_t bytes; /* of all files; UINT64_MAX: not counted yet */
	unsigned temp_count;
};

int table_cache_open(const char *path, uint64_t max_bytes, struct table_cache **out)
{
	int fd = cache_dir_open(path);
	struct table_cache *c;

	if (fd < 0)
		return fd;
	c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	*c = (struct table_cache){ .dir_fd = fd, .max_bytes = max_bytes, .bytes = UINT64_MAX };
	*out = c;
	return 0;
}

void table_cache_close(struct table_cache *c)
{
	if (!c)
		return;
	close(c->dir_fd);
	free(c);
}

/* ---- names ---- */

int table_cache_key(int fd, struct module_table_key *key)
{
	struct module_table_key k = { .size_bytes = 0 };
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EACCES;
	err = buildid_from_fd(fd, &k.build_id);
	if (err || !k.build_id.size_bytes)
		return -ENOENT;
	k.size_bytes = (uint64_t)st.st_size;
	*key = k;
	return 0;
}

#define NAME_BYTES (BUILDID_HEX_BYTES + 48)

static void name_of(const struct module_table_key *key, char name[NAME_BYTES])
{
	char hex[BUILDID_HEX_BYTES];

	buildid_hex(&key->build_id, hex);
	snprintf(name, NAME_BYTES, "%s-%llx-%u" SUFFIX, hex, (unsigned long long)key->size_bytes,
		 (unsigned)MODULE_TABLE_VERSION);
}

/* ---- reading ---- */

/* Reads an entire file; it is ours, so its size is only a matter of memory. */
static int read_file(int fd, uint64_t max_bytes, struct buf *out)
{
	struct stat st;
	ssize_t n;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max_bytes)
		return -EBADMSG;
	err = buf_reserve(out, (size_t)st.st_size);
	while (!err && out->size_bytes < (size_t)st.st_size) {
		n = pread(fd, out->data + out->size_bytes, (size_t)st.st_size - out->size_bytes,
			  (off_t)out->size_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		out->size_bytes += (size_t)n;
	}
	return err;
}

/* Files that are used stay. */
static void touch(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && time(NULL) - st.st_mtime > TOUCH_AFTER_S)
		(void)futimens(fd, NULL);
}

int table_cache_get(struct table_cache *c, const struct module_table_key *key,
		    struct rule_table *set, struct module_table **out)
{
	struct buf bytes = { 0 };
	char name[NAME_BYTES];
	int fd, err;

	name_of(key, name);
	fd = openat(c->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = read_file(fd, c->max_bytes, &bytes);
	if (!err)
		err = module_table_from_cache(bytes.data, bytes.size_bytes, key, set, out);
	if (!err)
		touch(fd);
	else if (err != -ENOMEM)
		(void)unlinkat(c->dir_fd, name, 0);
	close(fd);
	buf_done(&bytes);
	return err;
}

/* ---- room ---- */

struct entry {
	char name[NAME_BYTES];
	uint64_t bytes;
	time_t used;
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n >= m && !strcmp(name + n - m, suffix);
}

/* Describes one of our files; removes what a recorder that died left behind. */
static bool look_at(const struct table_cache *c, const char *name, struct entry *e)
{
	bool temp = !strncmp(name, CACHE_DIR_TEMP_PREFIX, strlen(CACHE_DIR_TEMP_PREFIX));
	struct stat st;

	if ((!temp && !ends_with(name, SUFFIX)) || strlen(name) >= sizeof(e->name) ||
	    fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (temp) {
		if (time(NULL) - st.st_mtime > TEMP_OLD_S)
			(void)unlinkat(c->dir_fd, name, 0);
		return false;
	}
	e->bytes = (uint64_t)st.st_size;
	e->used = st.st_mtime;
	strcpy(e->name, name); /* NOLINT: its length was checked */
	return true;
}

/* All files, in *out, to be freed. */
static int list(struct table_cache *c, struct buf *out)
{
	struct entry e;
	struct dirent *d;
	int fd, err = 0;
	DIR *dir;

	fd = openat(c->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	c->bytes = 0;
	while (!err && (d = readdir(dir))) {
		if (!look_at(c, d->d_name, &e))
			continue;
		c->bytes += e.bytes;
		err = buf_add(out, &e, sizeof(e));
	}
	closedir(dir);
	return err;
}

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Makes room for more_bytes, and a quarter of all, so that it is not done each time. */
static int make_room(struct table_cache *c, uint64_t more_bytes)
{
	struct buf all = { 0 };
	struct entry *e;
	size_t i, count;
	int err;

	if (more_bytes > c->max_bytes / 2)
		return -EFBIG;
	if (c->bytes != UINT64_MAX && c->bytes + more_bytes <= c->max_bytes)
		return 0;
	err = list(c, &all);
	e = (struct entry *)(void *)all.data;
	count = all.size_bytes / sizeof(*e);
	if (count && !err && c->bytes + more_bytes > c->max_bytes) {
		qsort(e, count, sizeof(*e), by_use);
		for (i = 0; i < count && c->bytes + more_bytes > c->max_bytes / 4 * 3; i++) {
			if (!unlinkat(c->dir_fd, e[i].name, 0) || errno == ENOENT)
				c->bytes -= e[i].bytes;
		}
	}
	buf_done(&all);
	return err;
}

/* ---- writing ---- */

int table_cache_put(struct table_cache *c, const struct module_table_key *key,
		    const struct module_table *t)
{
	char name[NAME_BYTES], temp[NAME_BYTES];
	struct buf bytes = { 0 };
	int fd, err = module_table_to_bytes(t, key, &bytes);

	if (!err)
		err = make_room(c, bytes.size_bytes);
	if (err) {
		buf_done(&bytes);
		return err;
	}
	name_of(key, name);
	snprintf(temp, sizeof(temp), CACHE_DIR_TEMP_PREFIX "%d-%u", (int)getpid(), c->temp_count++);
	fd = openat(c->dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = fd < 0 ? -errno : full_write(fd, bytes.data, bytes.size_bytes);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && renameat(c->dir_fd, temp, c->dir_fd, name))
		err = -errno;
	if (!err)
		c->bytes += bytes.size_bytes;
	else if (fd >= 0)
		(void)unlinkat(c->dir_fd, temp, 0);
	buf_done(&bytes);
	return err;
}
