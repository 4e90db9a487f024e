/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/process/process_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

#define MNT_INDEX 5  /* of the namespaces in a record: linux/perf_event.h */
#define ID_BYTES  32 /* of the sample_id behind them, as captures have it */
#define HOST_OFF  20 /* in that: what the host calls the thread (FORMAT.md 4.7) */

static int add_maps(struct process_facts *p, const struct process_model *m, uint32_t epoch)
{
	uint32_t space = process_model_epoch_space(m, epoch);
	struct process_program_map next = { .program = (uint32_t)p->program_count };
	const struct process_model_file *f;
	uint64_t at = 0;

	for (; process_model_next_map(m, space, at, &next.map); at = next.map.end) {
		if (vec_reserve(&p->maps, &p->map_capacity, p->map_count + 1))
			return -ENOMEM;
		f = process_model_file(m, next.map.file);
		buildid_hex(&f->id.build_id, next.build_id);
		next.path = strdup(f->path);
		if (!next.path)
			return -ENOMEM;
		p->maps[p->map_count++] = next;
		if (next.map.end <= at)
			break;
	}
	return 0;
}

static int add_programs(struct process_facts *p, const struct process_model *m)
{
	struct process_model_where where;
	uint64_t end_ns;
	int err = 0;

	for (uint32_t e = 0; !err && e < process_model_epoch_count(m); e++) {
		if (process_model_epoch_pid(m, e) != p->pid)
			continue;
		/* Its name at its end: before the next one began. */
		end_ns = UINT64_MAX;
		for (uint32_t next = e + 1; next < process_model_epoch_count(m); next++)
			if (process_model_epoch_pid(m, next) == p->pid &&
			    process_model_epoch_since(m, next) < end_ns)
				end_ns = process_model_epoch_since(m, next) - 1;
		process_model_thread(m, p->pid, p->pid, end_ns, &where);
		err = add_maps(p, m, e);
		if (!err)
			err = vec_reserve(&p->programs, &p->program_capacity, p->program_count + 1);
		if (!err)
			p->programs[p->program_count++] = (struct process_program){
				process_model_epoch_since(m, e), where.comm
			};
	}
	return err;
}

static int thread_of(struct process_facts *p, uint32_t tid, struct process_thread **out)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		if (p->threads[i].tid == tid) {
			*out = &p->threads[i];
			return 0;
		}
	}
	if (vec_reserve(&p->threads, &p->thread_capacity, p->thread_count + 1))
		return -ENOMEM;
	p->threads[p->thread_count] = (struct process_thread){ .tid = tid,
							       .comm = PROCESS_MODEL_NONE };
	*out = &p->threads[p->thread_count++];
	return 0;
}

static int add_threads(struct process_facts *p)
{
	const struct tasks *known = p->processes.known;
	struct process_thread *t;
	int err = 0;

	for (size_t i = 0; !err && i < known->count; i++) {
		const struct tasks_life *e = &known->lives[i];

		if (e->pid != p->pid)
			continue;
		err = thread_of(p, e->tid, &t);
		if (err)
			break;
		t->started_ns = e->was_there ? 0 : e->start_ns;
		t->comm = e->comm;
		if (e->tid == e->pid)
			p->ppid = e->ppid;
	}
	return err;
}

/* NAMESPACES: pid, tid, how many, then device and inode of each; sample_id. */
static void see_namespaces(struct process_facts *p, const struct perf_event_header *header)
{
	struct cursor c = cursor_of(header + 1, header->size - sizeof(*header));
	uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
	uint64_t count = cursor_u64(&c), inode;

	for (uint64_t i = 0; i < count && !c.bad; i++) {
		cursor_u64(&c);
		inode = cursor_u64(&c);
		if (!c.bad && pid == p->pid && i == MNT_INDEX)
			p->mount_ns = inode;
	}
	if (pid != p->pid || tid != pid || cursor_left(&c) != ID_BYTES)
		return;
	cursor_skip(&c, HOST_OFF);
	p->host_pid = cursor_u32(&c);
}

static int read_namespaces(struct process_facts *p, const struct capture *c)
{
	struct record_iter *it;
	struct record rec;
	int err = record_iter_new(c, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while (record_iter_next(it, &rec) == 1)
		if (rec.header->type == PERF_RECORD_NAMESPACES)
			see_namespaces(p, rec.header);
	record_iter_free(it);
	return 0;
}

static int add_samples(struct process_facts *p, const struct report *r)
{
	size_t count;
	const struct group *groups = groups_list(r->groups, &count);
	struct process_thread *t;
	int err = 0;

	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];

		err = thread_of(p, groups[e->key.group].tid, &t);
		if (err)
			break;
		t->group = groups[e->key.group];
		t->samples += e->sample_count;
		p->samples += e->sample_count;
		p->period += e->period_sum;
		p->cgroup = (uint32_t)t->group.cgroup;
	}
	return err;
}

static int by_samples(const void *va, const void *vb)
{
	const struct process_thread *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

const struct cmdline_record *process_facts_cmdline(const struct process_facts *p, size_t program)
{
	uint64_t end_ns = program + 1 < p->program_count ? p->programs[program + 1].since_ns - 1
							 : UINT64_MAX;

	return tasks_cmdline(p->processes.known, &p->processes.cmdlines, p->pid, end_ns);
}

int process_facts_mounts(const struct process_facts *p, const struct capture *c, uint8_t **data,
			 size_t *size_bytes)
{
	size_t count;
	const struct capture_object *o = capture_objects(c, &count);
	int err = -ENOENT;

	while (p->mount_ns && count-- && err && err != -ENOMEM)
		if (o[count].kind == EBX_MOUNTS && o[count].object == p->mount_ns)
			err = capture_object_read(c, &o[count], data, size_bytes);
	return err;
}

static void add_run_time(struct process_facts *p, const struct summary *runs)
{
	p->run_ns = summary_processes_sampled_ns(&p->processes, p->samples, p->period);
	for (size_t i = 0; i < runs->count; i++)
		if (runs->rows[i].pid == p->pid)
			p->run_ns = saturate_add(p->run_ns, runs->rows[i].run_ns);
}

int process_facts_make(struct report *r, uint32_t pid, struct report_query *q,
		       struct process_facts *p)
{
	struct summary runs = { 0 }; /* only its time by context switches is asked for */
	int err;

	*p = (struct process_facts){ .pid = pid, .ppid = TASKS_NONE, .cgroup = PROCESS_MODEL_NONE };
	err = summary_processes_load(r, q, NULL, &runs, NULL, &p->processes);
	if (!err)
		err = add_programs(p, r->model);
	if (!err)
		err = add_threads(p);
	if (!err)
		err = read_namespaces(p, r->capture);
	q->fields |= GROUP_TID | GROUP_CGROUP;
	if (!err)
		err = report_make(r, q);
	if (!err)
		err = add_samples(p, r);
	if (!err && p->thread_count)
		qsort(p->threads, p->thread_count, sizeof(*p->threads), by_samples);
	if (!err)
		add_run_time(p, &runs);
	summary_done(&runs);
	return err;
}

void process_facts_done(struct process_facts *p)
{
	for (size_t i = 0; i < p->map_count; i++)
		free(p->maps[i].path);
	free(p->maps);
	summary_processes_done(&p->processes);
	free(p->programs);
	free(p->threads);
	*p = (struct process_facts){ 0 };
}
