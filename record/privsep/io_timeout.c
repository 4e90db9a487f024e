/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/io_timeout.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/base/clock.h"
#include "record/privsep/caps.h"
#include "format/base/slurp.h"

#define TURNS_MAX 10 /* of a machine that is slow; then something else is wrong */

/* What those that are left behind still know of the others. */
struct shared {
	atomic_uint stuck, users;
};

/* A thread, and the one job that it has. */
struct hand {
	struct shared *shared;
	pthread_t thread;
	atomic_int tid;       /* 0: it has not begun */
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t wake, ready;
	struct aside_job *job;
	bool done, quit;
	bool left; /* nobody waits for it: it frees itself */
};

struct aside {
	struct hand *hand; /* NULL: none yet, or the last one is stuck */
	struct shared *shared;
};

static void put(struct shared *s)
{
	if (atomic_fetch_sub(&s->users, 1) == 1)
		free(s);
}

static void hand_free(struct hand *h)
{
	put(h->shared);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->wake);
	pthread_cond_destroy(&h->ready);
	free(h);
}

/* ---- the thread ---- */

/* True: it was left behind over this one. */
static bool do_job(struct hand *h)
{
	struct aside_job *job = h->job;
	bool left;

	pthread_mutex_unlock(&h->lock);
	job->work(job);
	pthread_mutex_lock(&h->lock);
	h->job = NULL;
	h->done = true;
	left = h->left;
	pthread_cond_signal(&h->ready);
	if (left)
		job->drop(job);
	return left;
}

static void *run(void *arg)
{
	struct hand *h = arg;
	bool left = false;

	atomic_store(&h->tid, (int)gettid());
	(void)rights_drop(RIGHTS_READING); /* a thread has its own */
	pthread_mutex_lock(&h->lock);
	while (!left && !h->quit) {
		if (h->job)
			left = do_job(h);
		else
			pthread_cond_wait(&h->wake, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	if (left) {
		atomic_fetch_sub(&h->shared->stuck, 1);
		hand_free(h);
	}
	return NULL;
}

/* All signals are the owner's. */
static int start(struct hand *h)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&h->thread, NULL, run, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/* ---- the owner's side ---- */

static struct hand *hand_of(struct aside *a)
{
	struct hand *h = a->hand;

	if (h || atomic_load(&a->shared->stuck) >= ASIDE_STUCK_MAX)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->shared = a->shared;
	atomic_fetch_add(&a->shared->users, 1);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, NULL);
	pthread_cond_init(&h->ready, NULL);
	if (start(h)) {
		hand_free(h);
		return NULL;
	}
	a->hand = h;
	return h;
}

/* The thread would go on if it had a CPU: then it is the machine that is slow. */
static bool is_runnable(const struct hand *h)
{
	int tid = atomic_load(&h->tid);
	const char *state;
	bool runs = true;
	char path[48], *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	stat = tid ? slurp_line(path) : NULL;
	state = stat ? strrchr(stat, ')') : NULL;
	if (state && state[1] == ' ')
		runs = state[2] == 'R';
	free(stat);
	return runs;
}

/* Until the job is done, or the time is up; the lock is held. */
static void await(struct hand *h, uint64_t max_ns)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + max_ns;
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };

	while (!h->done &&
	       pthread_cond_clockwait(&h->ready, &h->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
}

int aside_run(struct aside *a, struct aside_job *job, uint64_t max_ns)
{
	struct hand *h = hand_of(a);
	unsigned turns = 0;
	bool done;

	if (!h) {
		job->drop(job);
		return -EBUSY;
	}
	pthread_mutex_lock(&h->lock);
	h->job = job;
	h->done = false;
	pthread_cond_signal(&h->wake);
	do {
		await(h, max_ns);
	} while (!h->done && ++turns < TURNS_MAX && is_runnable(h));
	done = h->done;
	if (!done) {
		h->left = true;
		a->hand = NULL;
		atomic_fetch_add(&a->shared->stuck, 1);
		pthread_detach(h->thread);
	}
	pthread_mutex_unlock(&h->lock); /* from here on it may free itself */
	return done ? 0 : -ETIMEDOUT;
}

/* ---- life ---- */

int aside_new(struct aside **out)
{
	struct aside *a = calloc(1, sizeof(*a));
	struct shared *s = calloc(1, sizeof(*s));

	if (!a || !s) {
		free(a);
		free(s);
		return -ENOMEM;
	}
	atomic_init(&s->users, 1);
	a->shared = s;
	*out = a;
	return 0;
}

void aside_free(struct aside *a)
{
	struct hand *h;

	if (!a)
		return;
	h = a->hand;
	if (h) {
		pthread_mutex_lock(&h->lock);
		h->quit = true;
		pthread_cond_signal(&h->wake);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->thread, NULL);
		hand_free(h);
	}
	put(a->shared);
	free(a);
}
