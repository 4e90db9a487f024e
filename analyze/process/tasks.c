/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "format/base/lower_bound.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

#define PENDING_MAX   65536u /* records that wait for earlier ones: some megabytes */
#define ANCESTORS_MAX 256    /* a circle of forks is in a broken file only */

/* A record that waits for its turn. */
struct pending {
	uint64_t time_ns, number; /* number: equal times stay as they came */
	uint64_t start_ns;        /* FORK: as the record itself has it */
	uint64_t found_by; /* FORK: the bit of the later part that found it at its start; else 0 */
	uint32_t type;
	uint32_t pid, tid, ppid, ptid;
	uint32_t comm;
	bool exec;
};

struct tasks_reader {
	const struct capture *c;
	struct string_table *strings;
	struct tasks t;
	struct hash_index last; /* tid -> its last life */
	struct pending *list;
	size_t count, capacity;
	uint64_t number;
};

/* ---- lives ---- */

static uint32_t find_last(const struct tasks_reader *r, uint32_t tid, uint32_t *pos)
{
	uint64_t hash = hash_index_pair(&r->last, tid, 0);
	uint32_t id;

	*pos = hash_index_start(&r->last, hash);
	while ((id = hash_index_match(&r->last, hash, pos)) != HASH_INDEX_NONE)
		if (r->t.lives[id].tid == tid) /* NOLINT: what the index finds is in the list */
			break;
	return id;
}

static struct tasks_life *last_life(const struct tasks_reader *r, uint32_t tid)
{
	uint32_t pos, id = find_last(r, tid, &pos);

	return id == HASH_INDEX_NONE ? NULL : &r->t.lives[id];
}

static int begin_life(struct tasks_reader *r, const struct pending *p, struct tasks_life **out)
{
	struct tasks *t = &r->t;
	uint32_t pos;

	if (t->count >= TASKS_NONE)
		return -EOVERFLOW;
	if (vec_reserve(&t->lives, &t->capacity, t->count + 1) || hash_index_reserve(&r->last))
		return -ENOMEM;
	if (find_last(r, p->tid, &pos) == HASH_INDEX_NONE)
		hash_index_put(&r->last, hash_index_pair(&r->last, p->tid, 0), pos,
			       (uint32_t)t->count);
	else
		hash_index_replace(&r->last, pos, (uint32_t)t->count);
	t->lives[t->count] = (struct tasks_life){
		.first_ns = p->time_ns,
		.pid = p->pid,
		.tid = p->tid,
		.ppid = TASKS_NONE,
		.comm = TASKS_NONE,
	};
	*out = &t->lives[t->count++];
	return 0;
}

static int name_life(struct tasks *t, struct tasks_life *life, uint64_t since_ns, uint32_t comm)
{
	if (life->comm == comm)
		return 0;
	if (t->name_count >= TASKS_NONE)
		return -EOVERFLOW;
	if (vec_reserve(&t->names, &t->name_capacity, t->name_count + 1))
		return -ENOMEM;
	t->names[t->name_count++] = (struct tasks_name){ since_ns, comm,
							 (uint32_t)(life - t->lives) };
	life->comm = comm;
	life->name_count++;
	return 0;
}

static uint32_t comm_of(const struct tasks_reader *r, uint32_t tid)
{
	const struct tasks_life *life = last_life(r, tid);

	return life ? life->comm : TASKS_NONE;
}

/* Whether it is the task of that life, found again by a later part: both began at one time. */
static bool is_found_again(const struct tasks_life *life, const struct pending *p)
{
	uint64_t a_ns = life->start_ns, b_ns = p->start_ns;

	if (life->end_ns || life->ppid == TASKS_NONE || !(p->found_by || life->found_by))
		return false;
	if (p->found_by && b_ns == p->time_ns)
		return false; /* when it began is not known */
	return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= TASKS_START_SLACK_NS;
}

/* Whether a FORK is of another task than the last one with that tid: its name may have come before. */
static bool begins_anew(const struct tasks_life *life, const struct pending *p)
{
	if (is_found_again(life, p))
		return false;
	return life->end_ns ||
	       (p->time_ns && (life->ppid != TASKS_NONE || p->time_ns > life->first_ns));
}

static int apply_fork(struct tasks_reader *r, const struct pending *p)
{
	struct tasks_life *life = last_life(r, p->tid);
	uint32_t comm = comm_of(r, p->ptid);
	bool is_first;
	int err;

	if (comm == TASKS_NONE)
		comm = comm_of(r, p->ppid);
	if (!life || begins_anew(life, p)) {
		if (life && !life->end_ns)
			life->end_ns = p->start_ns;
		err = begin_life(r, p, &life);
		if (err)
			return err;
	}
	is_first = life->ppid == TASKS_NONE;
	life->pid = p->pid;
	life->ppid = p->ppid;
	life->named_only = false;
	life->found_by |= p->found_by;
	if (is_first || !p->found_by) {
		life->was_found = p->found_by;
		life->was_there = !p->time_ns;
		life->start_ns = p->start_ns;
	}
	return comm == TASKS_NONE || life->comm != TASKS_NONE
		       ? 0
		       : name_life(&r->t, life, p->time_ns, comm);
}

static int apply_comm(struct tasks_reader *r, const struct pending *p)
{
	struct tasks_life *life = last_life(r, p->tid);
	int err = 0;

	if (!life) {
		err = begin_life(r, p, &life);
		if (err)
			return err;
		life->named_only = true;
	}
	life->pid = p->pid;
	if (p->exec) {
		life->named_only = false;
		life->execed = true;
	}
	return name_life(&r->t, life, p->time_ns, p->comm);
}

/* A process whose first thread has ended lasts as long as the others. */
static void apply_exit(struct tasks_reader *r, const struct pending *p)
{
	struct tasks_life *life = last_life(r, p->tid), *process = last_life(r, p->pid);

	if (life)
		life->end_ns = p->time_ns;
	if (process && process != life && process->end_ns && process->end_ns < p->time_ns)
		process->end_ns = p->time_ns;
}

/* ---- records by time ---- */

/* Records without a time are of what was there before all others. */
static int by_time(const void *va, const void *vb)
{
	const struct pending *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Applies all but the last so many. */
static int apply_pending(struct tasks_reader *r, size_t left)
{
	size_t i = 0;
	int err = 0;

	if (r->count)
		qsort(r->list, r->count, sizeof(*r->list), by_time);
	for (; !err && i + left < r->count; i++) {
		const struct pending *p = &r->list[i];

		if (p->type == PERF_RECORD_EXIT)
			apply_exit(r, p);
		else
			err = p->type == PERF_RECORD_FORK ? apply_fork(r, p) : apply_comm(r, p);
	}
	r->count -= i;
	if (r->count)
		memmove(r->list, r->list + i, r->count * sizeof(*r->list));
	return err;
}

static void add_lost(struct tasks_reader *r, const struct perfrec_lost *lost)
{
	const struct capture_attr *attr = capture_attr_by_id(r->c, lost->id);
	size_t count;

	if (attr) {
		uint64_t *sum = &r->t.lost[attr - capture_attrs(r->c, &count)];

		*sum = saturate_add(*sum, lost->count);
	}
}

/* A task that a later part of a merged capture found when it began has the time of its first record. */
static uint64_t found_by(const struct tasks *t, uint64_t time_ns)
{
	for (size_t i = 1; i < t->part_count; i++)
		if (t->parts[i].records.from_ns == time_ns)
			return (uint64_t)1 << i;
	return 0;
}

int tasks_reader_add(struct tasks_reader *r, const struct perfrec_side *side)
{
	struct pending p = { .time_ns = side->id.time_ns, .type = side->type };
	int err = 0;

	if (side->type == PERF_RECORD_LOST)
		add_lost(r, &side->lost);
	if (side->type == PERF_RECORD_COMM) {
		p.pid = side->comm.pid;
		p.tid = side->comm.tid;
		p.exec = side->comm.exec;
		err = string_table_add(r->strings, side->comm.comm, strlen(side->comm.comm),
				       &p.comm);
	} else if (side->type == PERF_RECORD_FORK || side->type == PERF_RECORD_EXIT) {
		p.pid = side->task.pid;
		p.tid = side->task.tid;
		p.ppid = side->task.ppid;
		p.ptid = side->task.ptid;
		p.start_ns = side->task.time_ns ? side->task.time_ns : side->id.time_ns;
		p.found_by = found_by(&r->t, side->id.time_ns);
	} else {
		return 0;
	}
	if (!err)
		err = vec_reserve(&r->list, &r->capacity, r->count + 1);
	if (err)
		return err;
	p.number = r->number++;
	r->list[r->count++] = p;
	return r->count < PENDING_MAX ? 0 : apply_pending(r, PENDING_MAX / 2);
}

/* ---- reading ---- */

int tasks_reader_new(const struct capture *c, struct string_table *strings,
		     struct tasks_reader **out)
{
	struct tasks_reader *r = calloc(1, sizeof(*r));
	size_t count;

	if (!r)
		return -ENOMEM;
	(void)capture_attrs(c, &count);
	r->c = c;
	r->strings = strings;
	r->t.lost = calloc(count + 1, sizeof(*r->t.lost));
	r->t.parts = calloc(CAPTURE_META_PARTS_MAX, sizeof(*r->t.parts));
	if (!r->t.lost || !r->t.parts) {
		tasks_reader_free(r);
		return -ENOMEM;
	}
	r->t.part_count = capture_meta_parts(c, r->t.parts);
	*out = r;
	return 0;
}

void tasks_reader_free(struct tasks_reader *r)
{
	if (!r)
		return;
	tasks_done(&r->t);
	hash_index_done(&r->last);
	free(r->list);
	free(r);
}

static uint64_t since_ns(const struct tasks_life *life)
{
	return life->was_there ? 0 : life->start_ns;
}

static int by_tid(const void *va, const void *vb, void *ctx)
{
	const struct tasks *t = ctx;
	uint32_t ia = *(const uint32_t *)va, ib = *(const uint32_t *)vb;
	const struct tasks_life *a = &t->lives[ia], *b = &t->lives[ib];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (since_ns(a) != since_ns(b))
		return since_ns(a) < since_ns(b) ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

static int sort_by_tid(struct tasks *t)
{
	t->by_tid = calloc(t->count + 1, sizeof(*t->by_tid));
	if (!t->by_tid)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++)
		t->by_tid[i] = (uint32_t)i;
	qsort_r(t->by_tid, t->count, sizeof(*t->by_tid), by_tid, t);
	return 0;
}

/* Names came by time; those of a life stay so. */
static int sort_names(struct tasks *t)
{
	struct tasks_name *sorted = calloc(t->name_count + 1, sizeof(*sorted));
	uint32_t at = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		t->lives[i].first_name = at;
		at += t->lives[i].name_count;
		t->lives[i].name_count = 0;
	}
	for (size_t i = 0; i < t->name_count; i++) {
		struct tasks_life *life = &t->lives[t->names[i].life];

		sorted[life->first_name + life->name_count++] = t->names[i];
	}
	free(t->names);
	t->names = sorted;
	t->name_capacity = t->name_count + 1;
	return 0;
}

/* Which lives are kernel threads: parents come before their children. */
static void find_kernel_threads(struct tasks *t, const struct string_table *strings)
{
	const struct tasks_life *parent;

	for (size_t i = 0; i < t->count; i++) {
		struct tasks_life *life = &t->lives[i];

		if (life->execed || life->ppid == TASKS_NONE)
			continue;
		if (!life->ppid) {
			life->is_kernel = life->comm != TASKS_NONE &&
					  !strcmp(string_table_text(strings, life->comm),
						  "kthreadd");
			continue;
		}
		parent = tasks_at(t, life->ppid, life->was_there ? 0 : life->start_ns);
		life->is_kernel = parent && parent != life && parent->is_kernel;
	}
}

int tasks_reader_finish(struct tasks_reader *r, struct tasks *out)
{
	int err = apply_pending(r, 0);

	if (!err)
		err = sort_names(&r->t);
	if (!err)
		err = sort_by_tid(&r->t);
	if (err)
		return err;
	find_kernel_threads(&r->t, r->strings);
	*out = r->t;
	r->t = (struct tasks){ 0 };
	return 0;
}

static int read_records(const struct capture *c, struct tasks_reader *r)
{
	static const struct perf_event_attr bare;
	struct event_of finder = event_of_capture(c);
	const struct capture_attr *attr;
	struct record_iter *it = NULL;
	struct perfrec_side side;
	struct record rec;
	int err = record_iter_new(c, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);

	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_FORK && rec.header->type != PERF_RECORD_COMM &&
		    rec.header->type != PERF_RECORD_EXIT && rec.header->type != PERF_RECORD_LOST)
			continue;
		attr = event_of_find(&finder, rec.header);
		if (!perfrec_side(rec.header, rec.header->size, attr ? &attr->attr : &bare, &side,
				  NULL))
			err = tasks_reader_add(r, &side);
	}
	record_iter_free(it);
	return err;
}

int tasks_load(const struct capture *c, struct string_table *strings, struct tasks *out)
{
	struct tasks_reader *r = NULL;
	int err = tasks_reader_new(c, strings, &r);

	if (!err)
		err = read_records(c, r);
	if (!err)
		err = tasks_reader_finish(r, out);
	tasks_reader_free(r);
	return err;
}

void tasks_done(struct tasks *t)
{
	free(t->lives);
	free(t->names);
	free(t->by_tid);
	free(t->lost);
	free(t->parts);
	*t = (struct tasks){ 0 };
}

/* ---- questions ---- */

/* Whether the life is of a smaller tid, or of that one and had begun. */
static bool has_begun(const struct tasks_life *life, uint32_t tid, uint64_t time_ns)
{
	return life->tid < tid || (life->tid == tid && since_ns(life) <= time_ns);
}

/* Behind the lives of that tid, in by_tid, that had begun by that time. */
static size_t behind(const struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	return lower_bound(i, 0, t->count, has_begun(&t->lives[t->by_tid[i]], tid, time_ns));
}

/* The life at that place of by_tid, if it is of the tid. */
static const struct tasks_life *at_place(const struct tasks *t, size_t place, uint32_t tid)
{
	const struct tasks_life *life;

	if (place >= t->count)
		return NULL;
	life = &t->lives[t->by_tid[place]];
	return life->tid == tid ? life : NULL;
}

const struct tasks_life *tasks_at(const struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	size_t place = behind(t, tid, time_ns);
	const struct tasks_life *life = place ? at_place(t, place - 1, tid) : NULL;

	return life ? life : at_place(t, place, tid);
}

uint32_t tasks_comm_at(const struct tasks *t, const struct tasks_life *life, uint64_t time_ns)
{
	const struct tasks_name *names = &t->names[life->first_name];

	if (!life->name_count)
		return TASKS_NONE;
	return names[lower_bound(i, 1, life->name_count, names[i].since_ns <= time_ns) - 1].comm;
}

uint32_t tasks_thread_comm(const struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const struct tasks_life *life = tasks_at(t, tid, time_ns);

	return life && life->pid == pid ? tasks_comm_at(t, life, time_ns) : TASKS_NONE;
}

uint32_t tasks_parent_comm(const struct tasks *t, const struct tasks_life *life)
{
	uint64_t forked_ns = life->was_there ? 0 : life->start_ns;
	const struct tasks_life *parent = NULL;

	if (life->ppid != TASKS_NONE)
		parent = tasks_at(t, life->ppid, forked_ns);
	return parent && parent != life ? tasks_comm_at(t, parent, forked_ns) : TASKS_NONE;
}

bool tasks_is_in_part(const struct tasks *t, const struct tasks_life *life, size_t part,
		      uint64_t begin_ns)
{
	if (life->ppid == TASKS_NONE || (life->end_ns && life->end_ns < begin_ns))
		return false;
	if (part ? life->found_by >> part & 1 : life->was_there)
		return true;
	/* Forked while the recorder of that part read what was there. */
	return !life->was_there && !life->was_found && life->start_ns <= begin_ns &&
	       (!part || life->start_ns >= t->parts[part].records.from_ns);
}

bool tasks_is_process(const struct tasks_life *life)
{
	return life->pid == life->tid;
}

/* How much of [from_ns, to_ns] is in the life. */
static uint64_t overlap_ns(const struct tasks_life *life, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t start_ns = since_ns(life);
	uint64_t end_ns = life->end_ns ? life->end_ns : UINT64_MAX;

	start_ns = start_ns > from_ns ? start_ns : from_ns;
	end_ns = end_ns < to_ns ? end_ns : to_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* The place of the last process of that pid before a place of by_tid; SIZE_MAX: none. */
static size_t process_before(const struct tasks *t, uint32_t pid, size_t place)
{
	const struct tasks_life *life;

	while (place-- > 0) {
		life = at_place(t, place, pid);
		if (!life)
			break;
		if (tasks_is_process(life))
			return place;
	}
	return SIZE_MAX;
}

uint32_t tasks_process(const struct tasks *t, uint32_t pid)
{
	size_t place = process_before(t, pid, behind(t, pid, UINT64_MAX));

	return place == SIZE_MAX ? TASKS_NONE : t->by_tid[place];
}

uint32_t tasks_process_during(const struct tasks *t, uint32_t pid, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t best = TASKS_NONE;
	size_t place = behind(t, pid, to_ns);
	uint64_t most_ns = 0, ns;

	while ((place = process_before(t, pid, place)) != SIZE_MAX) {
		const struct tasks_life *life = &t->lives[t->by_tid[place]];

		if (life->end_ns && life->end_ns <= from_ns)
			break;
		ns = overlap_ns(life, from_ns, to_ns);
		if (ns > most_ns) {
			most_ns = ns;
			best = t->by_tid[place];
		}
	}
	return best == TASKS_NONE ? tasks_process(t, pid) : best;
}

const struct cmdline_record *tasks_cmdline(const struct tasks *t, const struct cmdlines *cmdlines,
					   uint32_t pid, uint64_t time_ns)
{
	const struct cmdline_record *args;
	const struct tasks_life *life;
	size_t place;

	for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
		args = cmdlines_find(cmdlines, pid, time_ns);
		place = process_before(t, pid, behind(t, pid, time_ns));
		if (place == SIZE_MAX)
			return args;
		life = &t->lives[t->by_tid[place]];
		if (life->was_there || (args && args->time_ns >= life->start_ns))
			return args;
		pid = life->ppid;
		time_ns = life->start_ns;
	}
	return NULL;
}
