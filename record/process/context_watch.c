/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/context_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"
#include "format/os/slurp.h"
#include "record/process/proc/proc_maps.h"
#include "record/process/proc/process_user.h"

#define FIRST_NS  1000000000ULL
#define FURTHER   10           /* times as old is the process at the next look */
#define LOOKS_MAX 8            /* at a time, */
#define PAUSE_NS  100000000ULL /* and then none for so long */
#define READ_NS   2000000000ULL

struct context_watch_process {
	uint32_t pid;
	uint64_t began_ns; /* or the recording did */
	uint64_t age_ns;   /* of the next look */
};

void context_watch_done(struct context_watch *w)
{
	context_log_done(&w->log);
	free(w->list);
	u64map_done(&w->by_pid);
	*w = (struct context_watch){ 0 };
}

static uint64_t due_ns(const struct context_watch_process *p)
{
	return saturate_add(p->began_ns, p->age_ns);
}

static void note_due(struct context_watch *w, const struct context_watch_process *p)
{
	if (due_ns(p) < w->next_ns)
		w->next_ns = due_ns(p);
}

static int watch(struct context_watch *w, const struct context_watch_process *p)
{
	uint32_t *at = u64map_get(&w->by_pid, p->pid, 0);
	int err;

	note_due(w, p);
	if (at) {
		w->list[*at] = *p;
		return 0;
	}
	if (w->count >= CONTEXT_WATCH_MAX) {
		w->log.refused_count++;
		return 0;
	}
	err = vec_reserve(&w->list, &w->room, w->count + 1);
	if (!err)
		err = u64map_put(&w->by_pid, p->pid, 0, (uint32_t)w->count);
	if (!err)
		w->list[w->count++] = *p;
	return err;
}

static void forget(struct context_watch *w, uint32_t pid)
{
	uint32_t *at = u64map_get(&w->by_pid, pid, 0), *moved;

	if (!at)
		return;
	moved = u64map_get(&w->by_pid, w->list[w->count - 1].pid, 0);
	w->list[*at] = w->list[--w->count];
	*moved = *at;
	u64map_remove(&w->by_pid, pid, 0);
}

static int put(struct context_watch *w, uint32_t pid, uint64_t began_ns, uint64_t as_of_ns,
	       const struct outbuf *context)
{
	if (!context->size_bytes || !outbuf_ok(context))
		return 0;
	return context_log_add(&w->log, pid, context_log_has(&w->log, pid) ? as_of_ns : began_ns,
			       context->data, context->size_bytes);
}

int context_watch_saw(struct context_watch *w, uint32_t pid, uint64_t since_ns, uint64_t as_of_ns,
		      const struct outbuf *context)
{
	int err = w->wanted ? put(w, pid, since_ns, as_of_ns, context) : 0;

	if (err || !w->wanted)
		return err;
	return watch(w, &(struct context_watch_process){
				.pid = pid, .began_ns = as_of_ns, .age_ns = FIRST_NS * FURTHER });
}

/* COMM: pid, tid, name.  FORK and EXIT: pid, ppid, tid, ptid. */
int context_watch_record(struct context_watch *w, const struct perf_event_header *record,
			 uint64_t time_ns)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	bool begins, ends;
	uint32_t pid;
	int err;

	if (!w->wanted || record->size < sizeof(*record) + 16)
		return 0;
	pid = le32_load(body);
	begins = (record->type == PERF_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC) ||
		 (record->type == PERF_RECORD_FORK && pid != le32_load(body + 4));
	ends = record->type == PERF_RECORD_EXIT && pid == le32_load(body + 8);
	if (!begins && !ends)
		return 0;
	err = context_log_end(&w->log, pid, time_ns);
	if (ends)
		forget(w, pid);
	else if (!err)
		err = watch(w, &(struct context_watch_process){
				       .pid = pid, .began_ns = time_ns, .age_ns = FIRST_NS });
	return err;
}

/* ---- looks ---- */

struct look {
	struct io_job base;
	struct context_watch *to;
	uint32_t pid;
	uint64_t began_ns, as_of_ns;
	struct outbuf context;
};

static void read_context(struct io_job *base)
{
	struct look *l = (struct look *)base;
	struct outbuf maps = { 0 };
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", l->pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!slurp_some(fd, "maps", PROC_MAPS_TEXT_MAX, &maps) && outbuf_ok(&maps) &&
	    maps.size_bytes)
		context_log_read(fd, (const char *)maps.data, &l->context);
	outbuf_done(&maps);
	close(fd);
}

static void drop_look(struct io_job *base)
{
	struct look *l = (struct look *)base;

	outbuf_done(&l->context);
	free(l);
}

/* The context is taken if the process has not called exec or ended since the look was begun. */
static void take_context(struct io_job *base)
{
	struct look *l = (struct look *)base;
	struct context_watch *w = l->to;
	const uint32_t *at = u64map_get(&w->by_pid, l->pid, 0);
	int err = at && w->list[*at].began_ns == l->began_ns
			  ? put(w, l->pid, l->began_ns, l->as_of_ns, &l->context)
			  : 0;

	w->late_err = w->late_err ? w->late_err : err;
	drop_look(base);
}

static void miss_context(struct io_job *base)
{
	((struct look *)base)->to->log.refused_count++;
}

static int begin_look(struct context_watch *w, const struct context_watch_process *p,
		      uint64_t now_ns)
{
	struct look *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct look){ .base = { .work = read_context,
				      .done = take_context,
				      .given_up = miss_context,
				      .drop = drop_look,
				      .key = io_key(IO_KIND_PROCESS, p->pid, 0),
				      .user = process_user(p->pid) },
			    .to = w,
			    .pid = p->pid,
			    .began_ns = p->began_ns,
			    .as_of_ns = now_ns };
	if (io_timeout_run(w->io, &l->base, false, READ_NS) == -EBUSY) {
		miss_context(&l->base);
		drop_look(&l->base);
	}
	return 0;
}

int context_watch_look(struct context_watch *w, uint64_t now_ns)
{
	unsigned looks = 0;
	int err = w->late_err;

	if (err || now_ns < w->next_ns)
		return err;
	w->next_ns = UINT64_MAX;
	for (size_t i = 0; !err && i < w->count; i++) {
		if (due_ns(&w->list[i]) <= now_ns && looks < LOOKS_MAX) {
			looks++;
			err = begin_look(w, &w->list[i], now_ns);
			w->list[i].age_ns *= FURTHER;
		}
		note_due(w, &w->list[i]);
	}
	if (w->next_ns < now_ns + PAUSE_NS)
		w->next_ns = now_ns + PAUSE_NS;
	return err;
}
