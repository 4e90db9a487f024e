/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/jvm_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/os/clock.h"
#include "record/process/proc/process_user.h"

#define FIRST_NS  1000000000ULL
#define ASK_NS    ((JVM_ASKER_SECONDS + 2) * 1000000000ULL)
#define STEP_NS   10000000ULL
#define FINISH_NS (ASK_NS + 1000000000ULL)

struct ask {
	struct io_job base;
	struct jvm_maps *to;
	uint32_t pid;
	enum jvm_asker_result result;
};

void jvm_maps_done(struct jvm_maps *j)
{
	jvm_asker_free(j->asker);
	free(j->list);
	*j = (struct jvm_maps){ 0 };
}

static struct jvm_map *find(const struct jvm_maps *j, uint32_t pid)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->list[i].pid == pid)
			return &j->list[i];
	return NULL;
}

static bool is_jvm(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strcmp(slash, "/libjvm.so");
}

void jvm_maps_see(struct jvm_maps *j, const struct mapping *m, uint64_t now_ns)
{
	if (!j->asker || m->pid == UINT32_MAX || !is_jvm(m->path) || find(j, m->pid))
		return;
	if (j->count >= JVM_MAPS_MAX || vec_reserve(&j->list, &j->room, j->count + 1)) {
		j->failed_count++;
		return;
	}
	j->list[j->count++] = (struct jvm_map){
		.pid = m->pid,
		.user = process_user(m->pid),
		.step_ns = FIRST_NS,
		.next_ns = now_ns + FIRST_NS,
	};
}

void jvm_maps_exit(struct jvm_maps *j, const struct perf_event_header *record)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	struct jvm_map *p;

	if (!j->count || record->size < sizeof(*record) + 16 ||
	    le32_load(body) != le32_load(body + 8))
		return; /* a thread */
	p = find(j, le32_load(body));
	if (p)
		*p = j->list[--j->count];
}

/* ---- asking, in a thread ---- */

static void ask_work(struct io_job *job)
{
	struct ask *a = (struct ask *)job;

	a->result = jvm_asker_ask(a->to->asker, a->pid);
}

static void ask_drop(struct io_job *job)
{
	free(job);
}

static void take_result(struct jvm_maps *j, uint32_t pid, enum jvm_asker_result result)
{
	struct jvm_map *p = find(j, pid);

	j->pending--;
	if (!p || result == JVM_ASKER_GONE)
		return;
	p->is_asked = false;
	if (result == JVM_ASKER_DONE) {
		j->asked_count += !p->has_answered;
		p->has_answered = true;
		return;
	}
	j->failed_count++;
	p->has_failed = true;
	if (j->noted++ < JVM_MAPS_NOTES)
		note(j->notes, NOTE_WARNING,
		     "cannot ask the JVM of process %u for names of its code: %s, skipping", pid,
		     jvm_asker_text(result));
}

static void ask_done(struct io_job *job)
{
	const struct ask *a = (struct ask *)job;

	take_result(a->to, a->pid, a->result);
	free(job);
}

static void ask_given_up(struct io_job *job)
{
	const struct ask *a = (struct ask *)job;

	take_result(a->to, a->pid, JVM_ASKER_SILENT);
}

/* The key is that of taking its files (jit_symbols.c): these are taken after the answer. */
static void ask(struct jvm_maps *j, struct jvm_map *p)
{
	struct ask *a = calloc(1, sizeof(*a));

	if (!a)
		return;
	*a = (struct ask){
		.base = { .work = ask_work,
			  .done = ask_done,
			  .given_up = ask_given_up,
			  .drop = ask_drop,
			  .key = io_key(IO_KIND_CODE, p->pid, 0),
			  .user = p->user },
		.to = j,
		.pid = p->pid,
	};
	p->is_asked = true;
	j->pending++;
	if (io_timeout_run(j->io, &a->base, false, ASK_NS) == -EBUSY) {
		ask_given_up(&a->base);
		free(a);
	}
}

void jvm_maps_pass(struct jvm_maps *j, uint64_t now_ns)
{
	for (size_t i = 0; i < j->count; i++) {
		struct jvm_map *p = &j->list[i];

		if (p->is_asked || p->has_failed || now_ns < p->next_ns)
			continue;
		p->step_ns *= 2;
		p->next_ns = now_ns + p->step_ns;
		ask(j, p);
	}
}

void jvm_maps_finish(struct jvm_maps *j)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + FINISH_NS;

	jvm_maps_pass(j, UINT64_MAX);
	while (j->pending && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		io_timeout_wait(j->io, STEP_NS);
		io_timeout_pass(j->io);
	}
}

void jvm_maps_account(const struct jvm_maps *j, struct account *a)
{
	a->jvm_asked_count = j->asked_count;
	a->jvm_failed_count = j->failed_count;
}
