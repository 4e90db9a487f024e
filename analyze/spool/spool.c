/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analyze/input/capture_stats.h"
#include "analyze/spool/index.h"
#include "analyze/spool/removed.h"
#include "format/base/vec.h"
#include "format/os/clock.h"

#define INDEX_NAME   "index.sqlite"
#define REMOVED_NAME "removed"
/* A recorder writes each second; one that could not for so long has lost events, and its capture is read anew. */
#define RECORDING_NS 60000000000ULL
/* Names of threads are anybody's: of a capture with more the index has none, and it is read instead. */
#define SERVICES_MAX 4096
#define LOCK_TRIES   20
#define LOCK_WAIT_NS 100000000

struct spool {
	char *dir, *removed_path; /* owned */
	enum spool_access access;
	int lock_fd; /* -1: none */
	struct index *index;
	struct spool_capture *list; /* names owned */
	size_t count, capacity;
	struct spool_capture *rows; /* of the index, by name; names owned */
	size_t row_count, row_capacity;
	struct removed_list removed;
	struct spool_check check;
	uint32_t strange;
	uint64_t now_ns;
};

const char *spool_default(void)
{
	const char *dir = getenv(SPOOL_VARIABLE);

	return dir && *dir ? dir : SPOOL_DEFAULT;
}

static char *path_in(const struct spool *s, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", s->dir, name) < 0 ? NULL : path;
}

char *spool_path(const struct spool *s, const struct spool_capture *c)
{
	return path_in(s, c->name);
}

/* ---- rows of the index ---- */

static int take_row(void *arg, const struct spool_capture *row)
{
	struct spool *s = arg;
	char *name = strdup(row->name);

	if (!name || vec_reserve(&s->rows, &s->row_capacity, s->row_count + 1)) {
		free(name);
		return -ENOMEM;
	}
	s->rows[s->row_count] = *row;
	s->rows[s->row_count++].name = name;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct spool_capture *)a)->name,
		      ((const struct spool_capture *)b)->name);
}

static void drop_captures(struct spool_capture *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)list[i].name);
	free(list);
}

static int read_rows(struct spool *s)
{
	int err = index_each(s->index, take_row, s);

	if (s->row_count)
		qsort(s->rows, s->row_count, sizeof(*s->rows), by_name);
	return err;
}

/* NULL: there is none of this name. */
static struct spool_capture *row_of(const struct spool *s, const struct spool_capture *c)
{
	return s->row_count ? bsearch(c, s->rows, s->row_count, sizeof(*s->rows), by_name) : NULL;
}

static bool is_same_file(const struct spool_capture *a, const struct spool_capture *b)
{
	return a->file_bytes == b->file_bytes && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

/* ---- reading captures ---- */

static bool writes(const struct spool *s)
{
	return s->access != SPOOL_READ;
}

/* One from the future is of a clock that was set back meanwhile. */
static bool is_fresh(const struct spool *s, const struct spool_capture *c)
{
	uint64_t a = c->mtime_ns, b = s->now_ns;

	return (a < b ? b - a : a - b) < RECORDING_NS;
}

static enum spool_state state_of(const struct spool *s, const struct spool_capture *c)
{
	if (!c->facts.is_finished)
		return is_fresh(s, c) ? SPOOL_RECORDING : SPOOL_CUT;
	if (c->facts.is_damaged)
		return SPOOL_DAMAGED;
	return c->facts.clock_wall_ns ? SPOOL_COMPLETE : SPOOL_UNREADABLE;
}

/* What only a pass over all records finds. */
static void find_damage(const struct capture *capture, struct capture_facts *f)
{
	struct capture_stats stats;

	if (capture_stats_capture(capture, UINT32_MAX, &stats))
		return;
	f->is_damaged |= stats.bad_blocks != 0;
	capture_stats_done(&stats);
}

/* Puts the row; with an index that cannot be written the answer is the same. */
static void put_row(struct spool *s, struct spool_capture *c, const struct service_counts *services)
{
	if (writes(s) && index_put(s->index, c, services, &c->row))
		c->row = 0;
}

static bool are_equal(const struct service_counts *a, const struct service_counts *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->list[i].name, b->list[i].name) != 0 ||
		    a->list[i].sample_count != b->list[i].sample_count)
			return false;
	return true;
}

static bool is_right(const struct spool_capture *row, const struct service_counts *row_services,
		     const struct spool_capture *c, const struct service_counts *services)
{
	return are_equal(row_services, services) && row->state == c->state &&
	       row->facts.from_ns == c->facts.from_ns && row->facts.to_ns == c->facts.to_ns &&
	       row->facts.sample_count == c->facts.sample_count &&
	       row->facts.lost_count == c->facts.lost_count &&
	       row->facts.boot_wall_ns == c->facts.boot_wall_ns &&
	       row->facts.clock_ns == c->facts.clock_ns &&
	       row->facts.clock_wall_ns == c->facts.clock_wall_ns;
}

/*
 * The row of a file whose reading was begun and not ended: by a file that ends this process, or as it was killed.  It is
 * tried once more, and then is none.
 */
static bool is_begun(const struct spool_capture *row)
{
	return row->state == SPOOL_UNREADABLE && row->error == -EAGAIN;
}

static void put_warning(struct spool *s, struct spool_capture *c, bool again)
{
	struct spool_capture unread = *c;

	unread.state = SPOOL_UNREADABLE;
	unread.error = again ? -EBADMSG : -EAGAIN;
	put_row(s, &unread, NULL);
}

static void read_services(struct spool *s, struct spool_capture *c, const struct capture *capture,
			  const struct spool_capture *row)
{
	struct service_counts services = { 0 }, before = { 0 };
	int known = row ? index_services(s->index, row->row, &before) : 0;
	bool fits;

	put_row(s, c, NULL);
	if (!service_counts_add(capture, NULL, &services)) {
		service_counts_settle(&services);
		service_counts_settle(&before);
		fits = services.count <= SERVICES_MAX;
		if (row && (known != fits || (fits && !is_right(row, &before, c, &services))))
			s->check.wrong_rows++;
		if (fits)
			put_row(s, c, &services);
	}
	service_counts_done(&services);
	service_counts_done(&before);
}

/* row: that of this state of the file, for SPOOL_CHECK; else NULL.  again: reading it was begun before. */
static void read_capture(struct spool *s, struct spool_capture *c, const struct spool_capture *row,
			 bool again)
{
	struct capture *capture = NULL;
	char *path = spool_path(s, c);

	if (!row)
		put_warning(s, c, again);
	c->error = path ? capture_open(path, &capture, NULL) : -ENOMEM;
	free(path);
	c->state = SPOOL_UNREADABLE;
	if (!c->error) {
		capture_facts_read(capture, &c->facts);
		if (s->access == SPOOL_CHECK)
			find_damage(capture, &c->facts);
		c->state = state_of(s, c);
	}
	if (c->state == SPOOL_RECORDING) {
		if (c->row)
			(void)index_remove(s->index, c->row);
		c->row = 0;
	} else if (c->state == SPOOL_UNREADABLE) {
		put_row(s, c, NULL);
	} else if (writes(s)) {
		read_services(s, c, capture, row);
	}
	capture_close(capture);
}

/* ---- the folder ---- */

static bool is_strange(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return true;
	return false;
}

static bool is_own(const char *name)
{
	return *name == '.' || !strcmp(name, REMOVED_NAME) ||
	       !strncmp(name, INDEX_NAME, strlen(INDEX_NAME));
}

static int add_file(struct spool *s, int dir_fd, const char *name)
{
	struct spool_capture c = { .name = NULL };
	struct stat st;
	char *path;
	int begins;

	if (is_own(name) || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	path = path_in(s, name);
	begins = path ? capture_begins_at(path) : -ENOMEM;
	free(path);
	if (begins < 1)
		return begins == -ENOMEM ? -ENOMEM : 0;
	if (is_strange(name)) {
		s->strange++;
		return 0;
	}
	c.file_bytes = (uint64_t)st.st_size;
	c.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ULL + (uint64_t)st.st_mtim.tv_nsec;
	c.inode = st.st_ino;
	c.name = strdup(name);
	if (!c.name || vec_reserve(&s->list, &s->capacity, s->count + 1)) {
		free((char *)(uintptr_t)c.name);
		return -ENOMEM;
	}
	s->list[s->count++] = c;
	return 0;
}

static int read_folder(struct spool *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *entry;
	int err = dir ? 0 : -errno;

	while (!err && (entry = readdir(dir)) != NULL)
		err = add_file(s, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_name);
	return err;
}

static void read_captures(struct spool *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct spool_capture *c = &s->list[i], *row = row_of(s, c);
		bool is_same = row && is_same_file(row, c), again = is_same && is_begun(row),
		     is_known = is_same && !again;

		if (!is_known && s->access == SPOOL_CHECK)
			s->check.missing_rows++;
		if (is_known && s->access != SPOOL_CHECK) {
			c->state = row->state;
			c->error = row->error;
			c->facts = row->facts;
			c->row = row->row;
		} else {
			read_capture(s, c, is_known ? row : NULL, again);
		}
		removed_forget(&s->removed, c->name);
	}
}

static struct spool_removed removal_of(const struct spool_capture *c, const char *why)
{
	struct spool_removed e = {
		.from_ns = c->facts.from_ns,
		.to_ns = c->facts.to_ns ? c->facts.to_ns : c->mtime_ns,
		.sample_count = c->facts.sample_count,
		.lost_count = c->facts.lost_count,
		.file_bytes = c->file_bytes,
		.name = (char *)(uintptr_t)c->name,
	};

	snprintf(e.why, sizeof(e.why), "%s", why);
	return e;
}

/* Rows of captures that somebody else removed. */
static int note_missing(struct spool *s)
{
	int err = 0;

	for (size_t i = 0; writes(s) && !err && i < s->row_count; i++) {
		const struct spool_capture *row = &s->rows[i];
		struct spool_removed entry = removal_of(row, "missing");

		if (s->count && bsearch(row, s->list, s->count, sizeof(*s->list), by_name))
			continue;
		if (!removed_has(&s->removed, row->name)) {
			s->check.gone_captures++;
			err = removed_add(s->removed_path, &entry, &s->removed);
		}
		if (!err)
			(void)index_remove(s->index, row->row);
	}
	return err;
}

static int by_start(const void *va, const void *vb)
{
	const struct spool_capture *a = va, *b = vb;

	if (a->facts.from_ns != b->facts.from_ns)
		return a->facts.from_ns < b->facts.from_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_removal_start(const void *va, const void *vb)
{
	const struct spool_removed *a = va, *b = vb;

	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static void sort_lists(struct spool *s)
{
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_start);
	if (s->removed.count)
		qsort(s->removed.list, s->removed.count, sizeof(*s->removed.list),
		      by_removal_start);
}

/* ---- opening ---- */

static int lock_folder(struct spool *s)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };

	s->lock_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock_fd < 0)
		return -errno;
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(s->lock_fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		(void)nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

static int open_index(struct spool *s)
{
	char *path = path_in(s, INDEX_NAME);
	int err = path ? index_open(path, writes(s), &s->index, &s->check.index_was_damaged)
		       : -ENOMEM;

	free(path);
	return err ? err : read_rows(s);
}

static int fill(struct spool *s)
{
	int err = writes(s) ? lock_folder(s) : 0;

	if (!err)
		err = removed_read(s->removed_path, &s->removed);
	if (!err)
		err = read_folder(s);
	if (!err)
		err = open_index(s);
	if (err)
		return err;
	read_captures(s);
	err = note_missing(s);
	sort_lists(s);
	return err;
}

int spool_open(const char *dir, enum spool_access access, struct spool **out)
{
	struct spool *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->lock_fd = -1;
	s->access = access;
	s->now_ns = clock_ns(CLOCK_REALTIME);
	s->dir = strdup(dir);
	s->removed_path = s->dir ? path_in(s, REMOVED_NAME) : NULL;
	if (s->removed_path)
		err = fill(s);
	if (err)
		spool_close(s);
	else
		*out = s;
	return err;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	index_close(s->index);
	drop_captures(s->list, s->count);
	drop_captures(s->rows, s->row_count);
	removed_done(&s->removed);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->removed_path);
	free(s->dir);
	free(s);
}

/* ---- questions ---- */

const struct spool_capture *spool_captures(const struct spool *s, size_t *count)
{
	*count = s->count;
	return s->list;
}

const struct spool_removed *spool_removals(const struct spool *s, size_t *count)
{
	*count = s->removed.count;
	return s->removed.list;
}

const struct spool_check *spool_get_check(const struct spool *s)
{
	return &s->check;
}

uint32_t spool_strange_names(const struct spool *s)
{
	return s->strange;
}

int spool_services(const struct spool *s, const struct spool_capture *c,
		   const struct service_rules *rules, struct service_counts *to)
{
	struct capture *capture = NULL;
	int known = c->row && !rules ? index_services(s->index, c->row, to) : 0;
	char *path;
	int err;

	if (known || c->state == SPOOL_UNREADABLE)
		return known < 0 ? known : 0;
	path = spool_path(s, c);
	err = path ? capture_open(path, &capture, NULL) : -ENOMEM;
	free(path);
	if (!err)
		err = service_counts_add(capture, rules, to);
	capture_close(capture);
	return err;
}

/* ---- limits ---- */

static int remove_capture(struct spool *s, const struct spool_capture *c, const char *why)
{
	struct spool_removed entry = removal_of(c, why);
	char *path = spool_path(s, c);
	int err = path ? removed_add(s->removed_path, &entry, &s->removed) : -ENOMEM;
	bool is_full = err == -ENOSPC || err == -EDQUOT, has_line = !err;

	if ((!err || is_full) && !unlink(path))
		err = 0;
	else if (!err || is_full)
		err = errno == ENOENT ? 0 : -errno;
	/* A full disk has room for the line now.  If not, the row of the index tells the next one who opens the spool. */
	if (!err && is_full)
		has_line = !removed_add(s->removed_path, &entry, &s->removed);
	if (!err && has_line && c->row)
		(void)index_remove(s->index, c->row);
	free(path);
	return err;
}

static uint64_t free_bytes(const struct spool *s)
{
	struct statvfs fs;

	return statvfs(s->dir, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* Why the oldest capture has to go; NULL: it may stay. */
static const char *reason_of(const struct spool *s, const struct spool_limits *l,
			     const struct spool_capture *c, uint64_t size_bytes)
{
	uint64_t end_ns = c->facts.to_ns ? c->facts.to_ns : c->mtime_ns;

	if (l->size_bytes && size_bytes > l->size_bytes)
		return "size";
	if (l->age_ns && end_ns < l->now_ns && l->now_ns - end_ns > l->age_ns)
		return "age";
	return l->free_bytes && free_bytes(s) < l->free_bytes ? "disk" : NULL;
}

int spool_prune(struct spool *s, const struct spool_limits *limits, size_t *count)
{
	uint64_t size_bytes = 0;
	size_t used = 0;
	int err = 0;

	*count = 0;
	for (size_t i = 0; i < s->count; i++)
		size_bytes += s->list[i].file_bytes;
	for (size_t i = 0; i < s->count; i++) {
		struct spool_capture *c = &s->list[i];
		const char *why = err || c->state == SPOOL_RECORDING
					  ? NULL
					  : reason_of(s, limits, c, size_bytes);

		err = why ? remove_capture(s, c, why) : err;
		if (!why || err) {
			s->list[used++] = *c;
			continue;
		}
		size_bytes -= c->file_bytes;
		free((char *)(uintptr_t)c->name);
		++*count;
	}
	s->count = used;
	sort_lists(s);
	return err;
}
