/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/jit_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/os/clock.h"
#include "record/privsep/path_below.h"
#include "record/process/proc/process_user.h"
#include "format/base/outbuf.h"

#define LOOK_NS         2000000000ULL
#define COPY_STEP_NS    10000000ULL
#define FILES_A_PROCESS 2 /* at most */

void jit_symbols_done(struct jit_symbols *j)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		jit_file_done(&j->list[i]);
	free(j->list);
	fair_share_done(&j->running);
	fair_share_done(&j->taken);
	*j = (struct jit_symbols){ 0 };
}

/* ---- processes that make code ---- */

/* ".../jit-123.dump" */
static bool is_dump(const char *path)
{
	const char *slash = strrchr(path, '/');
	unsigned pid;
	int end = 0;

	return slash && slash[1] == 'j' && sscanf(slash + 1, "jit-%9u.dump%n", &pid, &end) == 1 &&
	       end && !slash[1 + end];
}

/* As perf and /proc/PID/maps call executable memory that no file is behind. */
static bool makes_code(const struct mapping *m)
{
	static const char *const names[] = { "//anon", "/memfd:", "[anon", "/dev/zero" };
	size_t i;

	if (!(m->prot & PROT_EXEC) || m->pid == UINT32_MAX)
		return false;
	if (is_dump(m->path))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(m->path, names[i], strlen(names[i])))
			return true;
	return false;
}

static struct jitfile *find(const struct jit_symbols *j, uint32_t pid)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		if (j->list[i].pid == pid && !j->list[i].has_exited)
			return &j->list[i];
	return NULL;
}

static void remove_file(struct jit_symbols *j, struct jitfile *f)
{
	fair_share_give(&j->running, f->pid, f->user, 1);
	*f = j->list[--j->count];
}

/* ---- a look at a process, in a thread ---- */

struct jitfiles_look {
	struct io_job base;
	struct jit_symbols *to;
	struct jitfile found;
	bool only_dump; /* the rest is known: root_fd is there */
};

static void look_work(struct io_job *job)
{
	struct jitfiles_look *l = (struct jitfiles_look *)job;
	struct jitfile *f = &l->found;

	if ((l->only_dump || jit_file_look(f)) && f->dump && f->apart)
		f->dump_fd = path_below(f->root_fd, f->dump, false);
}

static void look_drop(struct io_job *job)
{
	struct jitfiles_look *l = (struct jitfiles_look *)job;

	jit_file_done(&l->found);
	free(l);
}

static struct jitfile *looked_at(const struct jitfiles_look *l)
{
	struct jit_symbols *j = l->to;

	for (size_t i = 0; i < j->count; i++)
		if (j->list[i].look == l)
			return &j->list[i];
	return NULL;
}

static int take(struct jit_symbols *j, struct jitfile *f);
static void begin_look(struct jit_symbols *j, struct jitfile *f);

/* The entry takes the findings, but for the path: another thread may still read that. */
static void merge(struct jitfile *f, struct jitfiles_look *l)
{
	bool knows_dump = l->found.dump;

	if (!l->only_dump) {
		f->inner_pid = l->found.inner_pid;
		f->start_ns = l->found.start_ns;
		f->owner = l->found.owner;
		f->root_fd = l->found.root_fd;
		f->apart = l->found.apart;
		f->tmp_fd = l->found.tmp_fd;
		f->older_bytes = l->found.older_bytes;
		memcpy(f->older_end, l->found.older_end, sizeof(f->older_end));
		l->found.root_fd = l->found.tmp_fd = -1;
	}
	f->dump_fd = l->found.dump_fd;
	l->found.dump_fd = -1;
	f->look = NULL;
	if (f->dump && !knows_dump && f->apart && !f->has_exited)
		begin_look(l->to, f); /* it was mapped meanwhile */
}

static void look_done(struct io_job *job)
{
	struct jitfiles_look *l = (struct jitfiles_look *)job;
	struct jit_symbols *j = l->to;
	struct jitfile *f = looked_at(l);
	int err = 0;

	if (f && l->found.root_fd < 0) { /* gone */
		jit_file_done(f);
		remove_file(j, f);
	} else if (f) {
		merge(f, l);
		if (f->has_exited) {
			err = take(j, f);
			remove_file(j, f);
		}
	}
	j->late_err = j->late_err ? j->late_err : err;
	io_timeout_drop(j->io, job);
}

static void look_given_up(struct io_job *job)
{
	struct jitfiles_look *l = (struct jitfiles_look *)job;
	struct jitfile *f = looked_at(l);

	if (!f)
		return;
	l->to->counts.missing_count++;
	jit_file_done(f);
	remove_file(l->to, f);
}

static void begin_look(struct jit_symbols *j, struct jitfile *f)
{
	struct jitfiles_look *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	*l = (struct jitfiles_look){
		.base = { .work = look_work,
			  .done = look_done,
			  .given_up = look_given_up,
			  .drop = look_drop,
			  .key = io_key(IO_KIND_CODE, f->pid, 0),
			  .user = f->user },
		.to = j,
		.found = { .pid = f->pid,
			   .root_fd = f->root_fd >= 0 ? fcntl(f->root_fd, F_DUPFD_CLOEXEC, 0) : -1,
			   .apart = f->apart,
			   .tmp_fd = -1,
			   .dump_fd = -1,
			   .dump = f->dump ? strdup(f->dump) : NULL },
		.only_dump = f->root_fd >= 0,
	};
	f->look = l;
	if (io_timeout_run(j->io, &l->base, true, LOOK_NS) == -EBUSY) {
		look_given_up(&l->base);
		look_drop(&l->base);
	}
}

/* The process; NULL: there is no room. */
static struct jitfile *remember(struct jit_symbols *j, uint32_t pid, bool *is_new)
{
	struct jitfile *f = find(j, pid);
	uint32_t user;

	*is_new = !f;
	if (f)
		return f;
	user = process_user(pid);
	if (vec_reserve(&j->list, &j->room, j->count + 1) ||
	    fair_share_take(&j->running, JIT_SYMBOLS_MAX, pid, user, 1)) {
		j->counts.missing_count++;
		return NULL;
	}
	f = &j->list[j->count++];
	*f = (struct jitfile){
		.pid = pid, .user = user, .root_fd = -1, .tmp_fd = -1, .dump_fd = -1
	};
	return f;
}

void jit_symbols_map(struct jit_symbols *j, const struct mapping *m)
{
	bool is_new, has_dump;
	struct jitfile *f;

	if (!j->writer || !makes_code(m))
		return;
	f = remember(j, m->pid, &is_new);
	if (!f)
		return;
	has_dump = !f->dump && is_dump(m->path);
	if (has_dump)
		f->dump = strdup(m->path);
	if (is_new || (has_dump && !f->look && f->apart))
		begin_look(j, f);
}

/* ---- taking ---- */

/*
 * These append at most limit_bytes of the file, from where it is; *complete: there is no more.  errno: nothing was
 * appended.
 */
static int read_up_to(struct elf_reader *reader, int fd, size_t limit_bytes, struct outbuf *out,
		      bool *complete)
{
	const size_t chunk_bytes = 1u << 18;
	size_t done_bytes = 0;
	ssize_t n = 1;

	while (n > 0 && done_bytes < limit_bytes && outbuf_ok(out)) {
		size_t want = limit_bytes - done_bytes < chunk_bytes ? limit_bytes - done_bytes
								     : chunk_bytes;
		uint8_t *to = outbuf_reserve(out, want);

		n = to ? read(fd, to, want) : 0;
		if (n > 0) {
			out->size_bytes += (size_t)n;
			done_bytes += (size_t)n;
		}
	}
	*complete = done_bytes < limit_bytes;
	return 0;
}

/* The files of a process, read and compressed in a thread. */
struct jitfiles_take {
	struct io_job base;
	struct jit_symbols *from;
	struct elf_reader *reader;      /* a share */
	struct writer *to;              /* borrowed; NULL: they are not wanted any more */
	struct jitfiles_counts *counts; /* borrowed, with it */
	struct fair_share *share;       /* the same */
	struct jitfiles_take *next;
	struct jitfile file;
	struct writer *packer;
	struct writer_batch *packed;
	uint64_t first_object;
	size_t limit_bytes; /* what its process might take when it began */
	struct jitfiles_counts taken;
	int err;
};

static void pack(struct jitfiles_take *t, const char *name, int fd,
		 int (*append)(struct elf_reader *reader, int fd, size_t limit_bytes,
			       struct outbuf *out, bool *complete))
{
	size_t limit = t->limit_bytes - (size_t)t->taken.bytes, n = strlen(name);
	struct outbuf object = { 0 };
	bool complete = true;

	if (limit > JIT_SYMBOLS_FILE_BYTES)
		limit = JIT_SYMBOLS_FILE_BYTES;
	outbuf_u16(&object, (uint16_t)n);
	outbuf_add(&object, name, n);
	if (append(t->reader, fd, limit, &object, &complete)) {
		t->taken.missing_count++;
		outbuf_done(&object);
		return;
	}
	if (!outbuf_ok(&object))
		t->err = -ENOMEM;
	if (!t->err)
		t->err = writer_object(t->packer, EBX_FILE, t->first_object + t->taken.file_count,
				       object.data, object.size_bytes);
	t->taken.cut_count += !complete;
	t->taken.file_count++;
	t->taken.bytes += object.size_bytes - 2 - n;
	outbuf_done(&object);
}

static void take_work(struct io_job *job)
{
	struct jitfiles_take *t = (struct jitfiles_take *)job;
	const struct jitfile *f = &t->file;
	int fd = jit_file_open_map(f);
	char name[32];

	if (fd >= 0) {
		t->taken.older_count += jit_file_pass_older(f, fd);
		snprintf(name, sizeof(name), "perf-%u.map", f->pid);
		pack(t, name, fd, read_up_to);
		close(fd);
	}
	t->taken.missing_count += fd < 0 && !f->dump;
	t->taken.older_count += fd == -ESTALE;
	fd = f->dump && !t->err ? jit_file_open_dump(f) : -1;
	t->taken.missing_count += f->dump && fd < 0;
	t->taken.older_count += fd == -ESTALE;
	if (fd >= 0) {
		snprintf(name, sizeof(name), "jit-%u.dump", f->pid);
		pack(t, name, fd, elf_reader_jitdump);
		close(fd);
	}
	if (!t->err)
		t->err = writer_take_objects(t->packer, t->packed);
}

static void take_drop(struct io_job *job)
{
	struct jitfiles_take *t = (struct jitfiles_take *)job;

	jit_file_done(&t->file);
	elf_reader_free(t->reader);
	writer_free(t->packer);
	writer_batch_free(t->packed);
	free(t);
}

static void forget_take(struct jitfiles_take *t)
{
	struct jitfiles_take **at = &t->from->takes;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
}

static void take_done(struct io_job *job)
{
	struct jitfiles_take *t = (struct jitfiles_take *)job;
	struct jit_symbols *j = t->from;
	int err = t->err;

	forget_take(t);
	if (t->to && fair_share_take(t->share, JIT_SYMBOLS_ALL_BYTES, t->file.pid, t->file.owner,
				     t->taken.bytes)) {
		t->counts->cut_count += t->taken.file_count; /* others were faster */
	} else if (t->to) {
		err = err ? err : writer_put(t->to, t->packed);
		t->counts->file_count += t->taken.file_count;
		t->counts->missing_count += t->taken.missing_count;
		t->counts->older_count += t->taken.older_count;
		t->counts->cut_count += t->taken.cut_count;
		t->counts->bytes += t->taken.bytes;
	}
	j->late_err = j->late_err ? j->late_err : err;
	io_timeout_drop(j->io, job); /* a process's root may be the last that holds a file system */
}

static void take_given_up(struct io_job *job)
{
	struct jitfiles_take *t = (struct jitfiles_take *)job;

	forget_take(t);
	if (t->to)
		t->counts->missing_count++;
}

static int new_take(struct jit_symbols *j, struct writer *to, struct jitfiles_take **out)
{
	static const uint8_t uuid[16]; /* of a file that there never is */
	struct jitfiles_take *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->base = (struct io_job){
		.work = take_work, .done = take_done, .given_up = take_given_up, .drop = take_drop
	};
	t->from = j;
	t->reader = elf_reader_share(j->reader);
	t->to = to;
	t->file = (struct jitfile){ .root_fd = -1, .tmp_fd = -1, .dump_fd = -1 };
	err = writer_like(-1, to, uuid, &t->packer);
	if (!err)
		err = writer_batch_new(&t->packed);
	if (err)
		take_drop(&t->base);
	else
		*out = t;
	return err;
}

/* Begins to take the files of f, which is taken, too. */
static int begin_take(struct jit_symbols *j, struct jitfile *f, struct writer *to,
		      struct jitfiles_counts *counts, struct fair_share *share,
		      uint64_t *next_object)
{
	struct jitfiles_take *t = NULL;
	int err = new_take(j, to, &t);

	if (err) {
		jit_file_done(f);
		return err;
	}
	t->file = *f;
	t->counts = counts;
	t->share = share;
	t->first_object = *next_object;
	t->limit_bytes = fair_share_left(share, JIT_SYMBOLS_ALL_BYTES, f->pid, f->owner);
	t->base.key = io_key(IO_KIND_CODE, f->pid, 0);
	t->base.user = f->owner;
	*next_object += FILES_A_PROCESS;
	t->next = j->takes;
	j->takes = t;
	if (io_timeout_run(j->io, &t->base, false, JITFILES_TAKE_NS) == -EBUSY) {
		take_given_up(&t->base);
		take_drop(&t->base);
	}
	return 0;
}

static int take(struct jit_symbols *j, struct jitfile *f)
{
	return begin_take(j, f, j->writer, &j->counts, &j->taken, &j->next_object);
}

int jit_symbols_exit(struct jit_symbols *j, const struct perf_event_header *record)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	struct jitfile *f;
	int err;

	if (j->late_err)
		return j->late_err;
	if (record->size < sizeof(*record) + 16 || le32_load(body) != le32_load(body + 8))
		return 0; /* a thread */
	f = find(j, le32_load(body));
	if (!f)
		return 0;
	f->has_exited = true;
	if (f->look)
		return 0; /* look_done() does the rest */
	err = take(j, f);
	remove_file(j, f);
	return err;
}

int jit_symbols_finish(struct jit_symbols *j)
{
	int err = 0;
	size_t i;

	for (i = j->count; i-- > 0 && !err;) {
		j->list[i].has_exited = true;
		if (j->list[i].look)
			continue;
		err = take(j, &j->list[i]);
		remove_file(j, &j->list[i]);
	}
	return err;
}

static bool is_taking_to(const struct jit_symbols *j, const struct writer *to)
{
	const struct jitfiles_take *t = j->takes;

	while (t && t->to != to)
		t = t->next;
	return t;
}

int jit_symbols_copy(struct jit_symbols *j, struct writer *to, struct account *a, uint64_t max_ns,
		     int (*meanwhile)(void *arg), void *arg)
{
	uint64_t next_object = j->next_object, end_ns = clock_ns(CLOCK_MONOTONIC) + max_ns;
	struct jitfiles_counts counts = j->counts;
	struct fair_share share = { .taken = j->counts.bytes };
	int err = 0;

	for (size_t i = 0; i < j->count && !err; i++) {
		struct jitfile copy;

		if (j->list[i].root_fd < 0)
			continue;
		copy = jit_file_copy(&j->list[i]);
		err = begin_take(j, &copy, to, &counts, &share, &next_object);
	}
	while (!err && is_taking_to(j, to) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		io_timeout_wait(j->io, COPY_STEP_NS);
		io_timeout_pass(j->io);
		err = meanwhile ? meanwhile(arg) : 0;
	}
	for (struct jitfiles_take *t = j->takes; t; t = t->next) {
		if (t->to != to)
			continue;
		t->to = NULL;
		counts.missing_count++;
	}
	fair_share_done(&share);
	a->jit_file_count = counts.file_count;
	a->jit_missing_count = counts.missing_count;
	a->jit_older_count = counts.older_count;
	a->jit_cut_count = counts.cut_count;
	a->jit_bytes = counts.bytes;
	return err;
}

void jit_symbols_account(const struct jit_symbols *j, struct account *a)
{
	a->jit_file_count = j->counts.file_count;
	a->jit_missing_count = j->counts.missing_count;
	a->jit_older_count = j->counts.older_count;
	a->jit_cut_count = j->counts.cut_count;
	a->jit_bytes = j->counts.bytes;
}
