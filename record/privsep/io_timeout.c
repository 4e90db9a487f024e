/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/io_timeout.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "format/os/slurp.h"
#include "record/base/thread_start.h"
#include "record/privsep/caps.h"

#define STACK_BYTES     (512u << 10)
#define TURNS_MAX       10 /* limits that a thread may wait for a CPU; then something else is wrong */
#define FINISH_STEP_NS  10000000ULL
#define SLOW_NS         20000000ULL
#define THREADS_AT_WORK 4u /* but for those that are slow */
#define FREE_NS         1000000000ULL
#define DROP_NS         1000000000ULL /* to close a file */

struct queue {
	struct io_job *first, **end;
};

struct worker {
	struct io_timeout *io;
	pthread_t thread;
	int tid; /* 0: it has not begun */
	bool is_busy;
	struct io_job *job;  /* NULL: it is idle, or drops one */
	uint64_t key, group; /* the job's */
	uint32_t user;
	bool hangs; /* its job was given up */
	unsigned turns;
	uint64_t begun_ns, max_ns;
	struct worker *next;
};

struct io_timeout {
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t wake, ready;
	struct queue todo, done;
	struct queue drops; /* jobs that are over, for a thread to drop */
	struct worker *workers;
	struct io_timeout_stats stats;
	uint32_t pending_count, todo_count, drop_count;
	uint32_t users; /* the owner, and threads */
	bool quit, no_more_threads;
	int event_fd;
	/* The owner's: */
	uint64_t wait_ns;
	unsigned vain_waits;   /* since the last pass */
	uint64_t wait_left_ns; /* of io_timeout_limit_waits() */
};

/* ---- queues ---- */

static void push(struct queue *q, struct io_job *job)
{
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
}

/* Takes *at, a link of the queue, out of it. */
static struct io_job *unlink_job(struct queue *q, struct io_job **at)
{
	struct io_job *job = *at;

	*at = job->next;
	if (q->end == &job->next)
		q->end = at;
	return job;
}

static struct queue empty_queue(struct queue *q)
{
	struct queue all = *q;

	if (!all.first)
		all.end = NULL;
	q->first = NULL;
	q->end = &q->first;
	return all;
}

uint64_t io_key(enum io_kind kind, uint64_t a, uint64_t b)
{
	uint64_t key = (uint64_t)kind << 60 ^ a * 0x9e3779b97f4a7c15ULL ^
		       (b + 1) * 0xc2b2ae3d27d4eb4fULL;

	key ^= key >> 29;
	return key ? key : 1;
}

/* A thread that drops a job blocks no other before it hangs. */
static const struct worker *worker_of_key(const struct io_timeout *io, uint64_t key)
{
	const struct worker *w = key ? io->workers : NULL;

	while (w && ((!w->job && !w->hangs) || w->key != key))
		w = w->next;
	return w;
}

static bool key_hangs(const struct io_timeout *io, uint64_t key)
{
	const struct worker *w = worker_of_key(io, key);

	return w && w->hangs;
}

static bool group_hangs(const struct io_timeout *io, uint64_t group)
{
	uint32_t count = 0;

	for (const struct worker *w = group ? io->workers : NULL; w; w = w->next)
		count += w->hangs && w->group == group;
	return count >= IO_HANGING_PER_GROUP;
}

static bool user_hangs(const struct io_timeout *io, uint32_t user)
{
	uint32_t count = 0;

	for (const struct worker *w = user ? io->workers : NULL; w; w = w->next)
		count += w->hangs && w->user == user;
	return count >= IO_HANGING_PER_USER;
}

/* ---- the threads ---- */

static void release(struct io_timeout *io)
{
	pthread_mutex_destroy(&io->lock);
	pthread_cond_destroy(&io->wake);
	pthread_cond_destroy(&io->ready);
	close(io->event_fd);
	free(io);
}

/* The first job whose key no thread works on; NULL: none. */
static struct io_job *next_job(struct io_timeout *io)
{
	struct io_job **at = &io->todo.first;

	while (*at && worker_of_key(io, (*at)->key))
		at = &(*at)->next;
	if (!*at)
		return NULL;
	io->todo_count--;
	return unlink_job(&io->todo, at);
}

/* The same of those that are to be dropped, which may hang as any other. */
static struct io_job *next_drop(struct io_timeout *io)
{
	struct io_job **at = &io->drops.first;

	while (*at && (key_hangs(io, (*at)->key) || group_hangs(io, (*at)->group) ||
		       user_hangs(io, (*at)->user)))
		at = &(*at)->next;
	if (!*at)
		return NULL;
	io->drop_count--;
	return unlink_job(&io->drops, at);
}

static void begin(struct worker *w, const struct io_job *job, uint64_t max_ns)
{
	w->is_busy = true;
	w->key = job->key;
	w->group = job->group;
	w->user = job->user;
	w->turns = 0;
	w->begun_ns = clock_ns(CLOCK_MONOTONIC);
	w->max_ns = max_ns;
}

static void end(struct worker *w)
{
	w->job = NULL;
	w->is_busy = false;
	w->io->stats.hanging_count -= w->hangs;
	w->hangs = false;
}

/* The lock is held on entry and on return. */
static void drop_job(struct worker *w, struct io_job *job)
{
	bool hung;

	begin(w, job, DROP_NS);
	pthread_mutex_unlock(&w->io->lock);
	job->drop(job);
	pthread_mutex_lock(&w->io->lock);
	hung = w->hangs;
	end(w);
	if (hung)
		pthread_cond_broadcast(
			&w->io->wake); /* others of its key, group and user may begin */
}

/* The lock is held on entry and on return. */
static void do_job(struct worker *w, struct io_job *job)
{
	struct io_timeout *io = w->io;
	uint64_t one = 1;
	bool drop;

	w->job = job;
	begin(w, job, job->max_ns);
	job->state = IO_RUNNING;
	pthread_mutex_unlock(&io->lock);
	job->work(job);
	pthread_mutex_lock(&io->lock);
	end(w);
	drop = job->state == IO_GIVEN_UP;
	if (job->state == IO_RUNNING) {
		job->state = IO_DONE;
		push(&io->done, job);
		pthread_cond_signal(&io->ready);
		(void)!write(io->event_fd, &one, sizeof(one));
	} else if (job->state == IO_GIVING_UP) {
		job->state = IO_RETURNED; /* the owner hands it back */
	}
	if (drop)
		drop_job(w, job);
	else
		pthread_cond_signal(&io->wake); /* another job of this key may begin */
}

static void forget_worker(struct worker *w)
{
	struct worker **at = &w->io->workers;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct io_timeout *io = w->io;
	struct io_job *job;
	bool last;

	(void)caps_drop(CAPS_READING); /* a thread has its own */
	pthread_mutex_lock(&io->lock);
	w->tid = (int)gettid();
	for (;;) {
		if ((job = next_job(io)))
			do_job(w, job);
		else if ((job = next_drop(io)))
			drop_job(w, job);
		else if (io->quit)
			break;
		else
			pthread_cond_wait(&io->wake, &io->lock);
	}
	forget_worker(w);
	pthread_cond_signal(&io->ready); /* for io_timeout_free() */
	last = !--io->users;
	pthread_mutex_unlock(&io->lock);
	free(w);
	if (last)
		release(io);
	return NULL;
}

static int start_thread(struct worker *w)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = thread_start(&w->thread, &attr, run, w);
	pthread_attr_destroy(&attr);
	return -err;
}

static void add_thread(struct io_timeout *io)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w)
		w->io = io;
	io->no_more_threads = !w || start_thread(w);
	if (io->no_more_threads) {
		free(w);
		return;
	}
	w->next = io->workers; /* it cannot go on before the lock is free */
	io->workers = w;
	io->users++;
	io->stats.thread_count++;
}

/*
 * Starts one more thread when jobs wait and not enough threads are free soon: a slow job must not
 * delay others.  False: there is no thread at all.
 */
static bool have_threads(struct io_timeout *io, uint64_t now_ns)
{
	uint32_t idle = 0, quick = 0;

	for (const struct worker *w = io->workers; w; w = w->next) {
		idle += !w->is_busy;
		quick += w->is_busy && !w->hangs && now_ns < w->begun_ns + SLOW_NS;
	}
	if (io->todo_count + io->drop_count > idle && idle + quick < THREADS_AT_WORK &&
	    io->stats.thread_count < IO_THREADS_MAX)
		add_thread(io);
	return io->stats.thread_count > 0;
}

/* ---- the owner's side ---- */

static void count_wait(struct io_timeout *io, uint64_t begin_ns)
{
	uint64_t waited_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;

	if (io->wait_left_ns != UINT64_MAX)
		io->wait_left_ns -= waited_ns < io->wait_left_ns ? waited_ns : io->wait_left_ns;
}

/* Waits for the job with the lock held; true: it is done, and not in the queue any more. */
static bool await_job(struct io_timeout *io, struct io_job *job)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t until_ns = begin_ns +
			    (io->wait_ns < io->wait_left_ns ? io->wait_ns : io->wait_left_ns);
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };
	struct io_job **at;

	while (job->state != IO_DONE &&
	       pthread_cond_clockwait(&io->ready, &io->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	count_wait(io, begin_ns);
	if (job->state != IO_DONE) {
		io->vain_waits++;
		return false;
	}
	for (at = &io->done.first; *at != job; at = &(*at)->next)
		;
	(void)unlink_job(&io->done, at);
	io->pending_count--;
	return true;
}

int io_timeout_run(struct io_timeout *io, struct io_job *job, bool wait, uint64_t max_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool done, taken;

	pthread_mutex_lock(&io->lock);
	taken = io->pending_count < IO_JOBS_MAX && !key_hangs(io, job->key) &&
		!group_hangs(io, job->group) && !user_hangs(io, job->user);
	if (taken) {
		push(&io->todo, job);
		io->todo_count++;
		taken = have_threads(io, now_ns);
		if (!taken) { /* it is the only one: there was never a thread */
			(void)empty_queue(&io->todo);
			io->todo_count = 0;
		}
	}
	if (!taken) {
		io->stats.refused_count++;
		pthread_mutex_unlock(&io->lock);
		return -EBUSY;
	}
	job->max_ns = max_ns;
	job->queued_ns = now_ns;
	job->state = IO_QUEUED;
	io->pending_count++;
	pthread_cond_signal(&io->wake);
	done = wait && io->vain_waits < IO_WAITS_MAX && io->wait_left_ns && await_job(io, job);
	pthread_mutex_unlock(&io->lock);
	if (!done)
		return -EINPROGRESS;
	job->done(job);
	return 0;
}

bool io_timeout_limit_waits(struct io_timeout *io, uint64_t max_ns)
{
	bool was_reached = !io->wait_left_ns;

	io->wait_left_ns = max_ns;
	return was_reached;
}

/* The thread would go on if it had a CPU: then it is the machine that is slow. */
static bool is_runnable(const struct worker *w)
{
	const char *state;
	bool runs = true;
	char path[48], *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w->tid);
	stat = w->tid ? slurp_line(path) : NULL;
	state = stat ? strrchr(stat, ')') : NULL;
	if (state && state[1] == ' ')
		runs = state[2] == 'R';
	free(stat);
	return runs;
}

static bool is_late(struct worker *w, uint64_t now_ns)
{
	if (now_ns < w->begun_ns + w->max_ns)
		return false;
	if (w->turns >= TURNS_MAX || !is_runnable(w))
		return true;
	w->turns++;
	w->begun_ns = now_ns;
	return false;
}

/* All threads hang, and there will be no other. */
static bool all_hang(const struct io_timeout *io)
{
	return io->stats.hanging_count == io->stats.thread_count &&
	       (io->stats.thread_count == IO_THREADS_MAX || io->no_more_threads);
}

static bool cannot_begin(const struct io_timeout *io, const struct io_job *job, uint64_t now_ns)
{
	return key_hangs(io, job->key) || group_hangs(io, job->group) ||
	       (all_hang(io) && now_ns >= job->queued_ns + job->max_ns);
}

enum patience { LIMITS, ONLY_RUNNABLE, NONE };

/* No callback waits for a drop, so its limit holds at any time. */
static bool is_to_go(struct worker *w, enum patience patience, uint64_t now_ns)
{
	return (w->job && (patience == NONE || (patience == ONLY_RUNNABLE && !is_runnable(w)))) ||
	       is_late(w, now_ns);
}

static void collect_late(struct io_timeout *io, enum patience patience, uint64_t now_ns,
			 struct queue *late)
{
	struct io_job **at = &io->todo.first;

	for (struct worker *w = io->workers; w; w = w->next) {
		if (!w->is_busy || w->hangs || !is_to_go(w, patience, now_ns))
			continue;
		w->hangs = true;
		io->stats.hanging_count++;
		io->stats.given_up_count++;
		if (!w->job)
			continue;
		w->job->state = IO_GIVING_UP;
		push(late, w->job);
	}
	while (*at) {
		if (patience != NONE && !cannot_begin(io, *at, now_ns)) {
			at = &(*at)->next;
			continue;
		}
		io->stats.refused_count++;
		io->todo_count--;
		push(late, unlink_job(&io->todo, at)); /* remains IO_QUEUED */
	}
}

/* The lock is held. */
static void hand_back(struct io_timeout *io, struct io_job *job)
{
	push(&io->drops, job);
	io->drop_count++;
	(void)have_threads(io, clock_ns(CLOCK_MONOTONIC));
	pthread_cond_signal(&io->wake);
}

void io_timeout_drop(struct io_timeout *io, struct io_job *job)
{
	pthread_mutex_lock(&io->lock);
	hand_back(io, job);
	pthread_mutex_unlock(&io->lock);
}

static void give_up(struct io_timeout *io, struct io_job *job)
{
	bool was_begun;

	if (job->given_up)
		job->given_up(job);
	pthread_mutex_lock(&io->lock);
	was_begun = job->state != IO_QUEUED;
	if (job->state == IO_RETURNED)
		hand_back(io, job);
	job->state = IO_GIVEN_UP;
	io->pending_count--;
	pthread_mutex_unlock(&io->lock);
	if (!was_begun)
		job->drop(job);
}

static void pass(struct io_timeout *io, enum patience patience)
{
	struct queue done, late = { .end = &late.first };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), ticks;
	struct io_job *job, *next;

	io->vain_waits = 0;
	pthread_mutex_lock(&io->lock);
	(void)!read(io->event_fd, &ticks, sizeof(ticks));
	collect_late(io, patience, now_ns, &late);
	(void)have_threads(io, now_ns);
	done = empty_queue(&io->done);
	for (job = done.first; job; job = job->next)
		io->pending_count--;
	pthread_mutex_unlock(&io->lock);
	for (job = done.first; job; job = next) {
		next = job->next;
		job->done(job);
	}
	for (job = late.first; job; job = next) {
		next = job->next;
		give_up(io, job);
	}
}

void io_timeout_pass(struct io_timeout *io)
{
	pass(io, LIMITS);
}

uint32_t io_timeout_pending(const struct io_timeout *io)
{
	return io->pending_count; /* written by the owner alone */
}

int io_timeout_fd(const struct io_timeout *io)
{
	return io->event_fd;
}

void io_timeout_wait(const struct io_timeout *io, uint64_t max_ns)
{
	struct timespec most = { .tv_sec = (time_t)(max_ns / 1000000000),
				 .tv_nsec = (long)(max_ns % 1000000000) };
	struct pollfd p = { .fd = io->event_fd, .events = POLLIN };

	(void)ppoll(&p, 1, &most, NULL);
}

void io_timeout_finish(struct io_timeout *io, uint64_t max_ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), took_ns = 0;

	while (io->pending_count && took_ns < TURNS_MAX * max_ns) {
		pass(io, took_ns < max_ns ? LIMITS : ONLY_RUNNABLE);
		if (io->pending_count)
			io_timeout_wait(io, FINISH_STEP_NS);
		took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	while (io->pending_count)
		pass(io, NONE); /* callbacks may begin others */
}

void io_timeout_get_stats(struct io_timeout *io, struct io_timeout_stats *out)
{
	pthread_mutex_lock(&io->lock);
	*out = io->stats;
	pthread_mutex_unlock(&io->lock);
}

/* ---- life ---- */

int io_timeout_new(uint64_t wait_ns, struct io_timeout **out)
{
	struct io_timeout *io = calloc(1, sizeof(*io));

	if (!io)
		return -ENOMEM;
	io->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (io->event_fd < 0) {
		free(io);
		return -errno;
	}
	pthread_mutex_init(&io->lock, NULL);
	pthread_cond_init(&io->wake, NULL);
	pthread_cond_init(&io->ready, NULL);
	(void)empty_queue(&io->todo);
	(void)empty_queue(&io->done);
	(void)empty_queue(&io->drops);
	io->users = 1;
	io->wait_ns = wait_ns;
	io->wait_left_ns = UINT64_MAX;
	*out = io;
	return 0;
}

/* Jobs that were not begun have nothing that could hang. */
static void drop_todo(struct io_timeout *io)
{
	struct io_job *next;

	for (struct io_job *job = empty_queue(&io->todo).first; job; job = next) {
		next = job->next;
		job->drop(job);
	}
	io->todo_count = 0;
}

static void hand_back_done(struct io_timeout *io)
{
	struct io_job *next;

	for (struct io_job *job = empty_queue(&io->done).first; job; job = next) {
		next = job->next;
		hand_back(io, job);
	}
}

/* A thread that will end soon. */
static bool is_any_ending(const struct io_timeout *io)
{
	const struct worker *w = io->workers;

	while (w && (w->job || w->hangs))
		w = w->next;
	return w;
}

void io_timeout_free(struct io_timeout *io)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + FREE_NS;
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };
	bool last;

	if (!io)
		return;
	pthread_mutex_lock(&io->lock);
	drop_todo(io);
	hand_back_done(io);
	io->quit = true;
	pthread_cond_broadcast(&io->wake);
	for (struct worker *w = io->workers; w; w = w->next)
		if (w->job)
			w->job->state = IO_GIVEN_UP;
	while (is_any_ending(io) &&
	       pthread_cond_clockwait(&io->ready, &io->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	last = !--io->users;
	pthread_mutex_unlock(&io->lock);
	if (last)
		release(io);
}
