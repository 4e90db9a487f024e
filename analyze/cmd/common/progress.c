/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000U
#define EVERY_NS 200000000U
#define BLANK    "\r\033[K"

struct progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* Under the lock: */
	const struct capture *capture; /* NULL: not open yet */
	bool ended;
	int fd;
	bool shown;
	unsigned shown_pct;
};

static int terminal_fd(void)
{
	const char *term = getenv("TERM"), *fd = getenv(PROGRESS_VARIABLE);

	if (!term || !*term || !strcmp(term, "dumb"))
		return -1;
	if (isatty(STDERR_FILENO))
		return STDERR_FILENO;
	return fd && isatty(atoi(fd)) ? atoi(fd) : -1;
}

static void put(const struct progress *p, const char *text)
{
	ssize_t n = write(p->fd, text, strlen(text));

	(void)n; /* a terminal that went away */
}

/* Blocks may be read again for another question: what is left over is not known. */
static void show(struct progress *p)
{
	uint64_t read, all;
	unsigned pct = 0;
	char text[48] = BLANK "reading ...\r";

	if (p->capture) {
		read = capture_blocks_read(p->capture, &all);
		pct = all && read < all ? (unsigned)(read * 100 / all) : 99;
		snprintf(text, sizeof(text), BLANK "reading: %u %%\r", pct);
	}
	if (p->shown && pct == p->shown_pct)
		return;
	put(p, text);
	p->shown = true;
	p->shown_pct = pct;
}

static void *look(void *arg)
{
	struct progress *p = arg;
	struct timespec until;
	uint64_t wait_ns = FIRST_NS;

	pthread_mutex_lock(&p->lock);
	while (!p->ended) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)(wait_ns % 1000000000);
		until.tv_sec += (time_t)(wait_ns / 1000000000) + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&p->wake, &p->lock, &until) && !p->ended)
			show(p);
		wait_ns = EVERY_NS;
	}
	if (p->shown)
		put(p, BLANK);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct progress *progress_begin(void)
{
	struct progress *p;
	pthread_condattr_t attr;
	int fd = terminal_fd();

	p = fd < 0 ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->fd = fd;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&p->thread, NULL, look, p)) {
		free(p);
		return NULL;
	}
	return p;
}

void progress_watch(struct progress *p, const struct capture *c)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->capture = c;
	pthread_mutex_unlock(&p->lock);
}

void progress_clear(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->shown)
		put(p, BLANK);
	p->shown = false;
	pthread_mutex_unlock(&p->lock);
}

void progress_hide(void *arg)
{
	struct progress *p = arg;
	bool was;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	was = p->ended;
	p->ended = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	if (!was)
		pthread_join(p->thread, NULL);
}

void progress_end(struct progress *p)
{
	progress_hide(p);
	free(p);
}
