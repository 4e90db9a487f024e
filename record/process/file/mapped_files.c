/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/mapped_files.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "format/os/clock.h"
#include "format/base/crc32c.h"
#include "record/process/file/map_copy.h"
#include "record/process/file/map_file.h"
#include "record/process/file/open_mapped.h"
#include "record/process/proc/process_user.h"

#define READING_MAX_NS 2000000000ULL /* a few reads, of a disk that has much to do */
#define SILENT_MANY    256           /* then all are forgotten, and reported again */
#define STAMP_HOLDS_NS 1000000000ULL /* for a process that is gone already */

/* A mapping whose file is being read. */
struct mapped_files_late {
	struct mapping map; /* path is owned */
	uint64_t key[2], time_ns;
};

int mapped_files_init(struct mapped_files *b, struct io_timeout *io, const char *program)
{
	int err = 0;

	*b = (struct mapped_files){ .cached_max = MAPPED_FILES_CACHED, .io = io };
	file_watch_init(&b->watches);
	if (program)
		err = elf_reader_new(program, ELF_READER_FACTS_OPTION, &b->reader);
	return err ? err : build_id_list_new(&b->named);
}

static void forget(struct mapped_files_list *f)
{
	u64map_done(&f->by_file);
	free(f->list);
	*f = (struct mapped_files_list){ 0 };
}

void mapped_files_done(struct mapped_files *b)
{
	for (size_t i = 0; i < b->late_count; i++)
		free((char *)b->late[i].map.path);
	free(b->late);
	u64map_done(&b->reading);
	u64map_done(&b->silent);
	file_watch_done(&b->watches);
	elf_reader_free(b->reader);
	forget(&b->fresh);
	forget(&b->old);
	build_id_list_free(b->named);
	*b = (struct mapped_files){ 0 };
}

/* An inode number may be given to another file; its generation then differs. */
void mapped_files_key(const struct file_id *id, uint64_t key[2])
{
	key[0] = file_id_device(id) ^ id->inode_generation << 44 ^ id->inode_generation >> 20;
	key[1] = id->inode;
}

bool mapped_files_knows(const struct mapped_files *b, const uint64_t key[2])
{
	return u64map_get(&b->fresh.by_file, key[0], key[1]) ||
	       u64map_get(&b->old.by_file, key[0], key[1]);
}

static void remember(struct mapped_files *b, const uint64_t key[2], const struct mapped_file *file)
{
	struct mapped_files_list *f = &b->fresh;
	const uint32_t *known = u64map_get(&f->by_file, key[0], key[1]);

	if (known) {
		f->list[*known] = *file;
		return;
	}
	if (f->count >= b->cached_max) {
		forget(&b->old);
		b->old = *f;
		*f = (struct mapped_files_list){ 0 };
	}
	if (!vec_reserve(&f->list, &f->room, f->count + 1) &&
	    !u64map_put(&f->by_file, key[0], key[1], (uint32_t)f->count))
		f->list[f->count++] = *file;
}

/* False: it is not known, or not any more. */
static bool recall(struct mapped_files *b, const uint64_t key[2], struct mapped_file *out)
{
	const uint32_t *index = u64map_get(&b->fresh.by_file, key[0], key[1]);

	if (index) {
		*out = b->fresh.list[*index];
		return true;
	}
	index = u64map_get(&b->old.by_file, key[0], key[1]);
	if (!index)
		return false;
	*out = b->old.list[*index];
	remember(b, key, out); /* it is in use */
	return true;
}

/* ---- numbers that other files have, too ---- */

uint64_t mapped_files_stamp(const struct stat *st)
{
	const uint64_t facts[] = { (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
				   (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
				   (uint64_t)st->st_ctim.tv_nsec };

	return st->st_ino ? (uint64_t)crc32c(0, facts, sizeof(facts)) << 32 |
				    (uint32_t)(facts[0] ^ facts[2] ^ facts[4]) | 1
			  : 0;
}

static bool is_weak(const struct mapping *m, const struct mapped_file *file)
{
	return !m->id.dev_major && !(m->id.inode_generation & MAPPED_FILES_STAMPED) &&
	       (file->is_weak || !m->id.inode_generation);
}

static bool is_recent(const struct mapped_file *file)
{
	return clock_ns(CLOCK_MONOTONIC) - file->saw_ns < STAMP_HOLDS_NS;
}

/* For a file with weak numbers its size and times become the generation. */
static void fill(struct mapping *m, const struct mapped_file *file)
{
	m->id.build_id = file->id;
	m->stamp = file->stamp;
	if (is_weak(m, file) && file->stamp)
		m->id.inode_generation = MAPPED_FILES_STAMPED | file->stamp >> 1;
}

/* ---- reading, in a thread ---- */

struct reading {
	struct io_job base;
	struct mapped_files *ids;
	struct mapping *now; /* the mapping that is waited for; NULL: it is late */
	struct mapping map;  /* path is owned */
	uint64_t key[2];
	uint64_t late_key[2]; /* of the mappings that wait for it */
	struct mapped_file
		known; /* what had its numbers last, or has them; without a stamp: nothing */
	bool is_held;  /* if the process is gone, that stands for what it had */
	bool is_known, is_gone;
	uint64_t mount;
	int watch_fd;              /* with which its file is watched; negative: it is not */
	int watch;                 /* owned; 0: none */
	uint64_t event_count;      /* of watches, when it was begun */
	struct elf_reader *reader; /* of files of others; NULL: all are read here */
	struct file_origin_peer peers[FILE_ORIGIN_PEERS]; /* of the process's, when it is gone */
	struct file_origin_seen seen; /* of the process by which it was opened */
	bool is_seen;                 /* and is wanted */
	struct open_mapped file;      /* owned */
	long fs_type;
	struct stat st;
	struct elf_facts facts;
};

static void end_watch(struct reading *r)
{
	if (r->watch)
		file_watch_end(r->watch_fd, r->watch);
	r->watch = 0;
}

static void reading_free(struct reading *r)
{
	end_watch(r);
	if (r->file.fd >= 0)
		close(r->file.fd);
	file_origin_seen_done(&r->seen);
	elf_reader_free(r->reader);
	free((char *)r->map.path);
	free(r->file.found_path);
	free(r);
}

static void drop(struct io_job *job)
{
	reading_free((struct reading *)job);
}

static void open_file(struct reading *r)
{
	uint32_t others[FILE_ORIGIN_PEERS];

	for (unsigned i = 0; i < FILE_ORIGIN_PEERS; i++)
		others[i] = r->peers[i].pid;
	r->file = open_mapped_file(&r->map, others, FILE_ORIGIN_PEERS, MAP_COPY_HEADS);
	r->seen.pid = r->file.by_pid;
}

static long fs_type_of(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) ? 0 : (long)fs.f_type;
}

bool mapped_files_is_fuse(long fs_type)
{
	return !fs_type || fs_type == FUSE_SUPER_MAGIC;
}

/* btrfs numbers the files of each subvolume anew; the server of a FUSE file system does as it likes. */
static bool repeats_numbers(long fs_type)
{
	return fs_type == BTRFS_SUPER_MAGIC || mapped_files_is_fuse(fs_type);
}

/*
 * The kernel reports all changes of files of local file systems.  An overlay of several of them gives the same number
 * to different files; stat() has other devices than its own for these.
 */
static bool may_watch(const struct reading *r)
{
	return !r->file.is_copy &&
	       (r->fs_type == OVERLAYFS_SUPER_MAGIC || r->fs_type == TMPFS_MAGIC) &&
	       file_id_is_on(&r->map.id, r->st.st_dev);
}

/* Opens nothing.  The watch begins before the file is looked at. */
static void ask_if_known(struct reading *r)
{
	int at = r->watch_fd >= 0 && r->known.may_watch ? map_file_name(&r->map) : -1, err;

	if (at >= 0)
		r->watch = file_watch_begin(r->watch_fd, at);
	err = mapfile_stat(&r->map, at, &r->st, &r->mount);
	if (at >= 0)
		close(at);
	r->is_gone = err == -ESRCH;
	r->is_known = err ? r->is_gone && r->is_held : mapped_files_stamp(&r->st) == r->known.stamp;
	if (err || !r->is_known)
		end_watch(r);
}

/* *st is read again: it must be newer than the watch. */
static int begin_watch(struct reading *r)
{
	r->watch = file_watch_begin(r->watch_fd, r->file.fd);
	return fstat(r->file.fd, &r->st);
}

static void work(struct io_job *job)
{
	struct reading *r = (struct reading *)job;

	if (r->known.stamp)
		ask_if_known(r);
	if (r->is_known)
		return;
	open_file(r);
	if (r->file.fd < 0 || fstat(r->file.fd, &r->st))
		return;
	r->fs_type = fs_type_of(r->file.fd);
	r->known = (struct mapped_file){ .is_weak = repeats_numbers(r->fs_type),
					 .may_watch = may_watch(r) };
	if (r->watch_fd >= 0 && r->known.may_watch && begin_watch(r))
		return;
	if (!r->reader || !elf_facts_is_of_others(&r->st))
		elf_facts_read(r->file.fd, &r->facts);
	else if (elf_reader_facts(r->reader, r->file.fd, &r->facts))
		r->facts = (struct elf_facts){ 0 }; /* then nothing is known of it */
	if (r->file.is_copy) {
		r->st = (struct stat){ 0 };      /* those of the file are not known */
		r->facts.sum.has_spread = false; /* there are holes in it */
	}
	if (r->is_seen)
		file_origin_look(&r->seen);
}

/* ---- and what is made of it ---- */

/* By the path that led to it. */
static void report_file_origin(struct mapped_files *b, struct reading *r)
{
	struct mapping as = r->map;

	as.id.build_id = r->facts.build_id;
	if (r->file.found_path)
		as.path = r->file.found_path;
	file_origin_file(b->file_origin, &as, &r->seen, &r->st, &r->facts);
}

static void report_file(struct mapped_files *b, const struct reading *r, const uint64_t key[2])
{
	const struct mapped_files_found found = { .path = r->map.path,
						  .fd = r->file.fd,
						  .fs_type = r->fs_type,
						  .st = &r->st,
						  .facts = &r->facts,
						  .key = key };

	b->on_file(b->on_file_arg, &found);
}

static void take_file(struct mapped_files *b, struct reading *r)
{
	uint64_t key[2];
	bool is_new = true;

	r->known.id = r->facts.build_id;
	r->known.stamp = mapped_files_stamp(&r->st);
	fill(&r->map, &r->known);
	mapped_files_key(&r->map.id, key);
	if (memcmp(key, r->key, sizeof(key))) {
		is_new = !mapped_files_knows(b, key);
		remember(b, key, &r->known);
	}
	b->read_count++;
	if (is_new && b->file_origin && r->is_seen)
		report_file_origin(b, r);
	if (is_new && b->on_file && !r->file.is_copy)
		report_file(b, r, key);
}

static void fill_answer(const struct reading *r, struct mapping *m)
{
	m->is_stuck = false;
	if (r->file.fd < 0 && !r->is_known)
		return; /* gone, or not ours to see */
	fill(m, &r->known);
	if (!r->is_known)
		m->seen_by = r->seen.pid != m->pid ? r->seen.pid : 0;
}

static void add_late(struct mapped_files *b, const uint64_t key[2], const struct mapping *m,
		     uint64_t time_ns)
{
	bool fits = b->on_late && b->late_count < MAPPED_FILES_LATE &&
		    !vec_reserve(&b->late, &b->late_room, b->late_count + 1);
	char *path = fits ? strdup(m->path) : NULL;

	if (!path) {
		b->unanswered_count++;
		return;
	}
	b->late[b->late_count] = (struct mapped_files_late){ .map = *m, .time_ns = time_ns };
	b->late[b->late_count].map.path = path;
	memcpy(b->late[b->late_count++].key, key, sizeof(b->late->key));
}

/* Takes one that waits for this file out of the list; false: there is none. */
static bool take_late(struct mapped_files *b, const uint64_t key[2], struct mapped_files_late *out)
{
	for (size_t i = 0; i < b->late_count; i++) {
		if (b->late[i].key[0] != key[0] || b->late[i].key[1] != key[1])
			continue;
		*out = b->late[i];
		b->late[i] = b->late[--b->late_count];
		return true;
	}
	return false;
}

static void done(struct io_job *job)
{
	struct reading *r = (struct reading *)job;
	struct mapped_files *b = r->ids;
	struct mapped_files_late late;

	u64map_remove(&b->reading, r->late_key[0], r->late_key[1]);
	r->known.watch = r->watch && file_watch_add(&b->watches, r->watch, r->event_count)
				 ? r->watch
				 : 0;
	r->watch = 0;
	b->gone_pid = r->is_gone ? r->map.pid : 0;
	b->asked_pid = r->map.pid;
	b->asked_minor = r->map.id.dev_minor;
	b->asked_mount = r->mount;
	if (r->file.fd >= 0)
		take_file(b, r);
	if (!r->is_gone && (r->file.fd >= 0 || r->is_known)) {
		r->known.saw_ns = clock_ns(CLOCK_MONOTONIC);
		r->known.mount = r->mount;
		remember(b, r->key, &r->known);
	}
	if (r->now)
		fill_answer(r, r->now);
	while (take_late(b, r->late_key, &late)) {
		fill_answer(r, &late.map);
		b->on_late(b->on_late_arg, &late.map, late.time_ns);
		free((char *)late.map.path);
	}
	io_timeout_drop(b->io, job); /* to close it may take as long as to open it */
}

static void report_silence(struct mapped_files *b, const struct mapping *m, uint32_t user)
{
	uint64_t device = file_id_device(&m->id);

	if (u64map_get(&b->silent, device, user))
		return;
	if (b->silent.key_count >= SILENT_MANY)
		u64map_done(&b->silent);
	(void)u64map_put(&b->silent, device, user, 0);
	if (b->notes)
		note(b->notes, NOTE_WARNING,
		     "the file system of '%s' does not answer: its files have no build-ids and no unwind tables, skipping",
		     m->path);
}

static void given_up(struct io_job *job)
{
	struct reading *r = (struct reading *)job;
	struct mapped_files *b = r->ids;
	struct mapped_files_late late;

	u64map_remove(&b->reading, r->late_key[0], r->late_key[1]);
	report_silence(b, &r->map, r->base.user);
	while (take_late(b, r->late_key, &late)) {
		b->unanswered_count++;
		free((char *)late.map.path);
	}
}

static struct reading *reading_new(struct mapped_files *b, struct mapping *m, const uint64_t key[2])
{
	struct reading *r = calloc(1, sizeof(*r));
	uint64_t device;

	if (!r)
		return NULL;
	*r = (struct reading){ .base = { .work = work,
					 .done = done,
					 .given_up = given_up,
					 .drop = drop,
					 .user = process_user(m->pid) },
			       .ids = b,
			       .now = m,
			       .map = *m,
			       .key = { key[0], key[1] },
			       .late_key = { key[0], key[1] },
			       .reader = elf_reader_share(b->reader),
			       .watch_fd = -1,
			       .event_count = b->watches.event_count,
			       .file.fd = -ENOENT };
	/*
	 * It may hang by its process, whose mmap lock is held, or by its device.  By user: a user
	 * that can make a path hang must not affect the files of other users.
	 */
	device = file_id_device(&m->id);
	r->base.key = io_key(IO_KIND_FILE, device, m->pid);
	r->base.group = io_key(IO_KIND_DEVICE, device, r->base.user);
	if (b->file_origin) {
		r->is_seen = true;
		memcpy(r->peers, b->file_origin->peers, sizeof(r->peers));
		file_origin_prepare(b->file_origin, &r->seen);
	}
	r->map.path = strdup(m->path);
	if (r->map.path)
		return r;
	reading_free(r);
	return NULL;
}

/* known: what had these numbers last; NULL: nothing. */
static void read_file(struct mapped_files *b, struct mapping *m, const uint64_t key[2],
		      uint64_t time_ns, const struct mapped_file *known)
{
	struct reading *r = reading_new(b, m, key);
	int err = r ? 0 : -ENOMEM;

	if (r && !m->id.dev_major &&
	    (file_watch_has_room(&b->watches) ||
	     (known && file_watch_holds(&b->watches, known->watch))))
		r->watch_fd = b->watches.fd;
	if (r && known) {
		/* Another process that maps these numbers is read separately. */
		r->known = *known;
		r->is_held = is_recent(known);
		r->late_key[0] = ++b->ask_count;
		r->late_key[1] = UINT64_MAX;
	}
	if (!err)
		err = u64map_put(&b->reading, r->late_key[0], r->late_key[1], 0);
	if (err) {
		if (r)
			reading_free(r);
		return;
	}
	err = io_timeout_run(b->io, &r->base, true, READING_MAX_NS);
	if (err == -EINPROGRESS) {
		r->now = NULL;
		m->is_stuck = true;
		add_late(b, r->late_key, m, time_ns);
	} else if (err == -EBUSY) {
		u64map_remove(&b->reading, r->late_key[0], r->late_key[1]);
		reading_free(r);
		m->is_stuck = true;
		b->unanswered_count++;
	}
}

static bool sees_by_same_mount(const struct mapped_files *b, const struct mapping *m,
			       const struct mapped_file *file)
{
	return b->asked_pid == m->pid && b->asked_minor == m->id.dev_minor && file->mount &&
	       b->asked_mount == file->mount;
}

/*
 * It need not be asked: the process is gone, sees the device by the mount by which the file was seen just now, or
 * nothing happened to the file since.
 */
static bool is_sure(struct mapped_files *b, const struct mapping *m, const struct mapped_file *file)
{
	return !is_weak(m, file) || !file->stamp ||
	       (is_recent(file) && (b->gone_pid == m->pid || sees_by_same_mount(b, m, file) ||
				    file_watch_holds(&b->watches, file->watch)));
}

void mapped_files_lookup(struct mapped_files *b, struct mapping *m, uint64_t time_ns)
{
	struct mapped_file known;
	uint64_t key[2];

	if (!m->id.inode || m->path[0] != '/')
		return;
	mapped_files_key(&m->id, key);
	if (recall(b, key, &known)) {
		if (is_sure(b, m, &known))
			fill(m, &known);
		else
			read_file(b, m, key, time_ns, &known);
		return;
	}
	if (!u64map_get(&b->reading, key[0], key[1])) {
		read_file(b, m, key, time_ns, NULL);
		return;
	}
	m->is_stuck = true;
	add_late(b, key, m, time_ns);
}

void mapped_files_name(struct mapped_files *b, const struct buildid *id, const char *path,
		       bool kernel)
{
	if (id->size_bytes && build_id_list_count(b->named) >= MAPPED_FILES_NAMED)
		b->unnamed_count++;
	else if (id->size_bytes)
		(void)build_id_list_add(b->named, id, path, kernel); /* the mapping has it, too */
}
