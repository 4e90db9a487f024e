/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/uprobe_multi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "record/base/thread_start.h"

#define THREADS_MAX 16

struct uprobe_multi_end {
	struct bpf_link *link; /* NULL: */
	int fd;                /* of a link that libbpf does not know */
};

/* ---- the kernel's links ---- */

enum { TRACE_UPROBE_MULTI = 48, UPROBE_MULTI_RETURN = 1 }; /* linux/bpf.h, of 6.6 */

/* The part of union bpf_attr for BPF_LINK_CREATE of these links. */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, uprobe_flags, pid, zero;
};

static uint64_t to_kernel(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* A descriptor, or negative errno. */
static int create(struct link_create *l)
{
	long fd;

	l->attach_type = TRACE_UPROBE_MULTI;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, l, sizeof(*l));
	return fd < 0 ? -errno : (int)fd;
}

bool uprobe_multi_have_links(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct link_create folder = { .count = 1 };
	uint64_t off_bytes = 0;
	bool have;
	int prog;

	opts.expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_MULTI;
	prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "ebprec_try", "Dual BSD/GPL", nothing, 2, &opts);
	if (prog < 0)
		return false;
	/* Nothing is attached: it is no file.  Those that choose threads look for the process after that. */
	folder.prog_fd = (uint32_t)prog;
	folder.path = to_kernel("/");
	folder.offsets = to_kernel(&off_bytes);
	have = create(&folder) == -EBADF;
	folder.pid = UINT32_MAX;
	have = have && create(&folder) == -EINVAL;
	close(prog);
	return have;
}

void uprobe_multi_mean(const struct uprobe_multi *u, struct bpf_program *prog)
{
	if (u->by_links)
		(void)bpf_program__set_expected_attach_type(
			prog, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

/* ---- beginning ---- */

static int make_room(struct uprobe_multi *u)
{
	if (u->count == UPROBE_MULTI_MAX)
		return -EOVERFLOW;
	return vec_reserve(&u->ends, &u->room, u->count + 1);
}

int uprobe_multi_link(int prog_fd, const struct uprobe_multi_file *file,
		      const struct uprobe_multi_place *places, size_t count)
{
	uint64_t *words = calloc(count, 3 * sizeof(*words));
	char path[32];
	struct link_create l = {
		.prog_fd = (uint32_t)prog_fd,
		.path = to_kernel(path),
		.offsets = to_kernel(words),
		.semaphores = to_kernel(words + count),
		.cookies = to_kernel(words + 2 * count),
		.count = (uint32_t)count,
		.uprobe_flags = file->is_return ? UPROBE_MULTI_RETURN : 0,
		.pid = file->pid > 0 ? (uint32_t)file->pid : 0,
	};
	int fd;

	if (!words)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	for (size_t i = 0; i < count; i++) {
		words[i] = places[i].off_bytes;
		words[count + i] = places[i].semaphore_bytes;
		words[2 * count + i] = places[i].cookie;
	}
	fd = create(&l);
	free(words);
	return fd;
}

int uprobe_multi_add(struct uprobe_multi *u, int link_fd)
{
	int err = make_room(u);

	if (!err)
		u->ends[u->count++] = (struct uprobe_multi_end){ .fd = link_fd };
	return err;
}

static int attach_by_link(struct uprobe_multi *u, const struct bpf_program *prog,
			  const struct uprobe_multi_file *file,
			  const struct uprobe_multi_place *places, size_t count)
{
	int fd = uprobe_multi_link(bpf_program__fd(prog), file, places, count);
	int err = fd < 0 ? fd : uprobe_multi_add(u, fd);

	if (err && fd >= 0)
		close(fd);
	return err;
}

static int attach_by_event(struct uprobe_multi *u, const struct bpf_program *prog,
			   const struct uprobe_multi_file *file, const char *path,
			   const struct uprobe_multi_place *place)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .ref_ctr_offset = place->semaphore_bytes,
		    .bpf_cookie = place->cookie, .retprobe = file->is_return);
	LIBBPF_OPTS(bpf_perf_event_opts, event_opts, .bpf_cookie = place->cookie);
	struct bpf_link *link;
	int event = -1, err = make_room(u);

	if (err)
		return err;
	if (u->prober) {
		event = prober_open(u->prober, file->fd, place->off_bytes, place->semaphore_bytes);
		if (event < 0)
			return event;
		link = bpf_program__attach_perf_event_opts(prog, event, &event_opts);
	} else {
		link = bpf_program__attach_uprobe_opts(prog, file->pid, path, place->off_bytes,
						       &opts);
	}
	if (link) {
		u->ends[u->count++] =
			(struct uprobe_multi_end){ .link = link }; /* it has the event */
		return 0;
	}
	err = -errno;
	if (event >= 0)
		close(event);
	return err;
}

int uprobe_multi_attach(struct uprobe_multi *u, const struct bpf_program *prog,
			const struct uprobe_multi_file *file,
			const struct uprobe_multi_place *places, size_t count)
{
	char path[32];
	int err = 0;

	if (u->by_links)
		return count ? attach_by_link(u, prog, file, places, count) : 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	for (size_t i = 0; i < count && !err; i++)
		err = attach_by_event(u, prog, file, path, &places[i]);
	return err;
}

/* ---- ending ---- */

/* The threads' and the owner's; the last of them frees it. */
struct ending {
	struct uprobe_multi_end *ends;
	size_t count, next, ended_count;
	unsigned users;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

static void end_one(const struct uprobe_multi_end *end)
{
	if (end->link)
		bpf_link__destroy(end->link);
	else
		close(end->fd);
}

static struct ending *ending_new(struct uprobe_multi *u)
{
	struct ending *e = calloc(1, sizeof(*e));
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&e->lock, NULL);
	e->ends = u->ends;
	e->count = u->count;
	e->users = 1;
	return e;
}

/* With the lock held, which it releases. */
static void leave(struct ending *e)
{
	bool is_last = !--e->users;

	pthread_mutex_unlock(&e->lock);
	if (!is_last)
		return;
	pthread_cond_destroy(&e->wake);
	pthread_mutex_destroy(&e->lock);
	free(e->ends);
	free(e);
}

static void *end_some(void *arg)
{
	struct ending *e = arg;

	pthread_mutex_lock(&e->lock);
	while (e->next < e->count) {
		const struct uprobe_multi_end *end = &e->ends[e->next++];

		pthread_mutex_unlock(&e->lock);
		end_one(end);
		pthread_mutex_lock(&e->lock);
		e->ended_count++;
		pthread_cond_signal(&e->wake);
	}
	leave(e);
	return NULL;
}

/* With the lock held.  How many there are; perf events would wait for each other. */
static unsigned start_threads(struct ending *e, size_t most)
{
	pthread_attr_t attr;
	unsigned count = 0;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (count < most && !thread_start(&thread, &attr, end_some, e))
		count++;
	pthread_attr_destroy(&attr);
	e->users += count;
	return count;
}

static size_t end_in_threads(struct ending *e, size_t most)
{
	struct timespec until;
	size_t left;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += UPROBE_MULTI_END_S;
	pthread_mutex_lock(&e->lock);
	if (!start_threads(e, most)) {
		e->users++;
		pthread_mutex_unlock(&e->lock);
		end_some(e);
		pthread_mutex_lock(&e->lock);
	}
	while (e->ended_count < e->count && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&e->wake, &e->lock, &until);
	left = e->count - e->ended_count;
	leave(e);
	return left;
}

size_t uprobe_multi_end(struct uprobe_multi *u)
{
	struct ending *e = u->count ? ending_new(u) : NULL;
	size_t left = 0, threads = u->by_links ? THREADS_MAX : 1;

	if (e) {
		left = end_in_threads(e, threads < u->count ? threads : u->count);
	} else {
		for (size_t i = 0; i < u->count; i++)
			end_one(&u->ends[i]);
		free(u->ends);
	}
	u->ends = NULL;
	u->count = u->room = 0;
	return left;
}
