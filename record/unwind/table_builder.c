/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/table_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/base/thread_start.h"
#include "record/privsep/elf_reader.h"
#include "record/process/file/map_copy.h"
#include "record/process/file/mapped_files.h"
#include "record/process/file/open_mapped.h"
#include "record/process/proc/process_user.h"
#include "record/privsep/caps.h"

#define HANGS_AFTER_S 2 /* the largest table takes a second */
#define OPEN_NS       2000000000ULL

struct queue {
	struct table_job *first, **end;
};

struct table_builder {
	struct io_timeout *io;          /* borrowed: opens files */
	struct table_opening *openings; /* the owner's: that are under way */
	struct table_cache *cache;      /* borrowed; the thread's */
	struct elf_reader *reader;      /* the thread's; NULL: it reads itself */
	uint32_t count;                 /* the owner's */
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t wake;
	struct queue todo, done;
	bool quit;
};

static void push(struct queue *q, struct table_job *job)
{
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
}

static struct table_job *pop(struct queue *q)
{
	struct table_job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->end = &q->first;
	return job;
}

/* ---- the work ---- */

/* A file that was opened for a job. */
struct table_source {
	int fd; /* negative: it cannot be reached */
	bool has_key;
	struct module_table_key key; /* in the cache */
	int64_t changed_ns;
};

struct table_opening {
	struct io_job base;
	struct io_timeout *io;   /* borrowed */
	struct table_builder *w; /* NULL: it is gone */
	struct table_opening *next;
	struct table_job *job; /* owned; NULL: it has this */
	bool with_key;
	struct table_source source;
};

/* When a file's contents last changed, as far as is known here: no server is asked.  0: it is not known. */
static int64_t changed_ns(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_CTIME, &st)
		       ? 0
		       : (int64_t)st.stx_ctime.tv_sec * 1000000000 + st.stx_ctime.tv_nsec;
}

static int read_table(struct table_job *job, struct elf_reader *reader, int fd)
{
	int err;

	if (!reader)
		return module_table_from_fd(fd, job->rules, &job->table, NULL);
	err = elf_reader_table(reader, fd, job->rules, &job->table);
	if (err == -ECHILD)
		snprintf(job->death, sizeof(job->death), "%s", elf_reader_death(reader));
	job->reader_ns = elf_reader_cpu_ns(reader);
	return err;
}

static int make_table(struct table_job *job, struct table_builder *w, const struct table_source *s)
{
	struct table_cache *cache = s->has_key ? w->cache : NULL;
	int64_t before_ns = s->changed_ns;
	int err, fd = s->fd;

	if (cache && !table_cache_get(cache, &s->key, job->rules, &job->table)) {
		job->from_cache = true;
		return 0;
	}
	err = read_table(job, w->reader, fd);
	/*
	 * Not for a file that was written meanwhile.  A table that cannot be cached is built again
	 * next time.
	 */
	if (!err && job->table && cache && before_ns && changed_ns(fd) == before_ns)
		(void)table_cache_put(cache, &s->key, job->table);
	return err == -ESTALE ? -EIO : err;
}

/* Its numbers may be those of another file by now. */
static bool is_another(const struct mapping *m, int fd)
{
	struct stat st;

	return m->id.inode_generation & MAPPED_FILES_STAMPED && m->stamp &&
	       (fstat(fd, &st) || mapped_files_stamp(&st) != m->stamp);
}

static int open_source(const struct mapping *m)
{
	struct open_mapped file = open_mapped_file(m, &m->seen_by, 1, MAP_COPY_ALL);

	free(file.found_path);
	if (file.fd >= 0 && !file.is_copy && is_another(m, file.fd)) {
		close(file.fd);
		return -ESTALE;
	}
	return file.fd;
}

static void run_job(struct table_job *job, struct table_builder *w)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	job->err = rule_table_new(&job->rules);
	if (!job->err)
		job->err = make_table(job, w, &job->opened->source);
	job->took_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
}

static void *run(void *arg)
{
	struct table_builder *w = arg;
	struct table_job *job;
	uint64_t one = 1;

	(void)caps_drop(CAPS_READING); /* a thread has its own */
	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		job = pop(&w->todo);
		if (!job) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		run_job(job, w);
		pthread_mutex_lock(&w->lock);
		push(&w->done, job);
		(void)!write(w->fd, &one, sizeof(one));
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- opening, in another thread: it may take for ever ---- */

static void open_work(struct io_job *base)
{
	struct table_opening *o = (struct table_opening *)base;
	struct table_source *s = &o->source;

	s->fd = open_source(&o->job->source);
	if (s->fd < 0)
		return;
	s->changed_ns = changed_ns(s->fd);
	s->has_key = o->with_key && !table_cache_key(s->fd, &s->key);
}

static void open_drop(struct io_job *base)
{
	struct table_opening *o = (struct table_opening *)base;

	if (o->source.fd >= 0)
		close(o->source.fd);
	tablejob_free(o->job);
	free(o);
}

/* A thread closes the file: that may take as long as to open it. */
static void drop_opened(struct table_builder *w, struct table_job *job)
{
	if (job->opened)
		io_timeout_drop(w->io, &job->opened->base);
	job->opened = NULL;
}

static void put_done(struct table_builder *w, struct table_job *job)
{
	uint64_t one = 1;

	job->err = -ESTALE;
	pthread_mutex_lock(&w->lock);
	push(&w->done, job);
	(void)!write(w->fd, &one, sizeof(one));
	pthread_mutex_unlock(&w->lock);
}

static void forget_opening(struct table_opening *o)
{
	struct table_opening **at = &o->w->openings;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
}

static void open_done(struct io_job *base)
{
	struct table_opening *o = (struct table_opening *)base;
	struct table_builder *w = o->w;
	struct table_job *job = o->job;

	if (!w) {
		io_timeout_drop(o->io, base);
		return;
	}
	forget_opening(o);
	o->job = NULL;
	job->opened = o;
	if (o->source.fd < 0) {
		put_done(w, job);
		return;
	}
	pthread_mutex_lock(&w->lock);
	push(&w->todo, job);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

static struct table_job *new_job(uint32_t number, const struct mapping *source)
{
	struct table_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->number = number;
	job->source = *source;
	job->source.path = strdup(source->path);
	if (job->source.path)
		return job;
	free(job);
	return NULL;
}

/* The thread has the job for as long as it takes: another one reports that it failed. */
static void open_given_up(struct io_job *base)
{
	struct table_opening *o = (struct table_opening *)base;
	struct table_job *failed = o->w ? new_job(o->job->number, &o->job->source) : NULL;

	if (!o->w)
		return;
	forget_opening(o);
	if (failed)
		put_done(o->w, failed);
	else
		o->w->count--;
}

/* ---- the owner's side ---- */

int table_builder_put(struct table_builder *w, uint32_t number, const struct mapping *source)
{
	uint64_t device = file_id_device(&source->id);
	struct table_opening *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	*o = (struct table_opening){ .base = { .work = open_work,
					       .done = open_done,
					       .given_up = open_given_up,
					       .drop = open_drop,
					       .key = io_key(IO_KIND_FILE, device, source->pid),
					       .user = process_user(source->pid) },
				     .io = w->io,
				     .w = w,
				     .job = new_job(number, source),
				     .with_key = w->cache,
				     .source.fd = -1 };
	o->base.group = io_key(IO_KIND_DEVICE, device, o->base.user);
	if (!o->job) {
		free(o);
		return -ENOMEM;
	}
	o->next = w->openings;
	w->openings = o;
	w->count++;
	if (io_timeout_run(w->io, &o->base, true, OPEN_NS) == -EBUSY) {
		open_given_up(&o->base);
		open_drop(&o->base);
	}
	return 0;
}

uint32_t table_builder_count(const struct table_builder *w)
{
	return w->count;
}

struct table_job *table_builder_take(struct table_builder *w)
{
	struct table_job *job;
	uint64_t ticks;

	if (!w->count)
		return NULL;
	pthread_mutex_lock(&w->lock);
	job = pop(&w->done);
	/* Under the lock: a job that ends after this wakes us again. */
	if (!w->done.first)
		(void)!read(w->fd, &ticks, sizeof(ticks));
	pthread_mutex_unlock(&w->lock);
	if (!job)
		return NULL;
	w->count--;
	drop_opened(w, job);
	return job;
}

void tablejob_free(struct table_job *job)
{
	if (!job)
		return;
	module_table_free(job->table);
	rule_table_free(job->rules);
	free((char *)job->source.path);
	free(job);
}

int table_builder_fd(const struct table_builder *w)
{
	return w->fd;
}

void table_builder_wait(struct table_builder *w, uint64_t max_ns)
{
	struct timespec most = { .tv_sec = (time_t)(max_ns / 1000000000),
				 .tv_nsec = (long)(max_ns % 1000000000) };
	struct pollfd p[] = { { .fd = w->fd, .events = POLLIN },
			      { .fd = io_timeout_fd(w->io), .events = POLLIN } };

	if (w->count)
		(void)ppoll(p, 2, &most, NULL);
	io_timeout_pass(w->io);
}

/* ---- life ---- */

static void release(struct table_builder *w)
{
	struct table_job *job;

	elf_reader_free(w->reader);
	while ((job = pop(&w->todo)) || (job = pop(&w->done))) {
		drop_opened(w, job);
		tablejob_free(job);
	}
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

int table_builder_new(struct io_timeout *io, struct table_cache *cache, const char *program,
		      struct table_builder **out)
{
	struct table_builder *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->io = io;
	w->cache = cache;
	w->todo.end = &w->todo.first;
	w->done.end = &w->done.first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = w->fd < 0 ? -errno : 0;
	if (!err && program)
		err = elf_reader_new(program, ELF_READER_OPTION, &w->reader);
	if (!err)
		err = -thread_start(&w->thread, NULL, run, w);
	if (err) {
		release(w);
		return err;
	}
	*out = w;
	return 0;
}

bool table_builder_free(struct table_builder *w)
{
	struct timespec until;

	if (!w)
		return true;
	for (struct table_opening *o = w->openings; o; o = o->next)
		o->w = NULL;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HANGS_AFTER_S;
	if (pthread_timedjoin_np(w->thread, NULL, &until)) {
		pthread_detach(w->thread);
		return false;
	}
	release(w);
	return true;
}
