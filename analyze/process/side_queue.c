/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/side_queue.h"

#include <errno.h>

#include "format/base/saturate.h"
#include "analyze/base/merge_runs.h"
#include "format/base/vec.h"

#define FEW_EVENTS (1u << 16) /* 3 MiB */

/* The kernel's own map may well reach to the last address. */
static uint64_t end_of(uint64_t start, uint64_t size_bytes)
{
	return size_bytes > UINT64_MAX - start ? UINT64_MAX : start + size_bytes;
}

static bool is_guest(const struct perfrec_side *side)
{
	unsigned mode = side->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/* No byte that end_of() could be behind. */
static bool is_empty(const struct perfrec_mmap *map)
{
	return !map->size_bytes || map->start == UINT64_MAX;
}

bool side_queue_is_void(const struct perfrec_side *side)
{
	return (side->type == PERF_RECORD_MMAP || side->type == PERF_RECORD_MMAP2) &&
	       (is_guest(side) || is_empty(&side->mmap));
}

static int add_mmap(struct side_queue *log, struct string_table *names,
		    const struct perfrec_side *side, struct side_event *e)
{
	const struct perfrec_mmap *map = &side->mmap;
	const struct process_model_file file = { .id = map->id };

	if (is_guest(side))
		return -ENOENT;
	if (is_empty(map))
		return -EBADMSG;
	e->kind = SIDE_MAP;
	e->pid = side_queue_map_pid(side->misc, map->pid);
	e->start = map->start;
	e->end = end_of(map->start, map->size_bytes);
	e->file_off_bytes = map->file_off_bytes;
	return file_table_add(&log->files, names, &file, map->path, &e->id);
}

static int add_ksymbol(struct side_queue *log, struct string_table *names,
		       const struct perfrec_side *side, struct side_event *e)
{
	const struct perfrec_ksymbol *sym = &side->ksymbol;
	struct process_model_file file = { .is_ksymbol = true };

	if (!sym->size_bytes || sym->addr == UINT64_MAX)
		return -EBADMSG;
	e->kind = SIDE_KSYMBOL;
	e->flag = sym->unregister;
	e->pid = SIDE_QUEUE_KERNEL;
	e->start = sym->addr;
	e->end = end_of(sym->addr, sym->size_bytes);
	return file_table_add(&log->files, names, &file, sym->name, &e->id);
}

/* The number of the cgroup, or HASH_INDEX_NONE with *pos at a free slot. */
static uint32_t find_cgroup(const struct side_queue *log, uint64_t id, uint64_t hash, uint32_t *pos)
{
	uint32_t number;

	while ((number = hash_index_match(&log->cgroup_index, hash, pos)) != HASH_INDEX_NONE)
		if (log->cgroups[number].id == id)
			break;
	return number;
}

uint32_t sidelog_cgroup(const struct side_queue *log, uint64_t id)
{
	uint64_t hash = hash_index_pair(&log->cgroup_index, id, 0);
	uint32_t pos = hash_index_start(&log->cgroup_index, hash);
	uint32_t number = find_cgroup(log, id, hash, &pos);

	return number == HASH_INDEX_NONE ? UINT32_MAX : log->cgroups[number].path;
}

static int add_cgroup(struct side_queue *log, struct string_table *names,
		      const struct perfrec_side *side)
{
	int err = vec_reserve(&log->cgroups, &log->cgroup_capacity, log->cgroup_count + 1);
	struct side_cgroup cgroup = { .id = side->cgroup.id };
	uint32_t pos, number;
	uint64_t hash;

	if (!err)
		err = hash_index_reserve(&log->cgroup_index);
	if (!err)
		err = string_table_add(names, side->cgroup.path, strlen(side->cgroup.path),
				       &cgroup.path);
	if (!err && log->cgroup_count >= HASH_INDEX_NONE - 1)
		err = -EOVERFLOW;
	if (err)
		return err;
	hash = hash_index_pair(&log->cgroup_index, cgroup.id, 0);
	pos = hash_index_start(&log->cgroup_index, hash);
	number = find_cgroup(log, cgroup.id, hash, &pos);
	if (number == HASH_INDEX_NONE) {
		hash_index_put(&log->cgroup_index, hash, pos, (uint32_t)log->cgroup_count);
		number = (uint32_t)log->cgroup_count++;
	}
	log->cgroups[number] = cgroup;
	return -ENOENT;
}

/*
 * Recorders mark the FORK records they make up for running processes with this bit: their maps follow, and
 * are not their parent's.  The time inside is when the process started; the record's own, like that of its
 * COMM and maps, is the start.
 */
static bool is_made_up(const struct perfrec_side *side)
{
	return (side->misc & PERF_RECORD_MISC_FORK_EXEC) || !side->task.time_ns;
}

static uint64_t time_of(const struct perfrec_side *side)
{
	if (side->type == PERF_RECORD_FORK && !side->id.time_ns && !is_made_up(side))
		return side->task.time_ns; /* no sample_id_all */
	return side->id.time_ns;
}

/* 0: *e is to be stored; -ENOENT: counted, nothing to store. */
static int to_event(struct side_queue *log, struct string_table *names,
		    const struct perfrec_side *side, struct side_event *e)
{
	switch (side->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return add_mmap(log, names, side, e);
	case PERF_RECORD_KSYMBOL:
		return add_ksymbol(log, names, side, e);
	case PERF_RECORD_COMM:
		e->kind = SIDE_COMM;
		e->pid = side->comm.pid;
		e->tid = side->comm.tid;
		e->flag = side->comm.exec;
		return string_table_add(names, side->comm.comm, strlen(side->comm.comm), &e->id);
	case PERF_RECORD_FORK:
		e->kind = SIDE_FORK;
		e->pid = side->task.pid;
		e->tid = side->task.tid;
		e->ppid = side->task.ppid;
		e->ptid = side->task.ptid;
		e->flag = is_made_up(side);
		return 0;
	case PERF_RECORD_CGROUP:
		return add_cgroup(log, names, side);
	case PERF_RECORD_EXIT:
		log->counts.exits++;
		return -ENOENT;
	case PERF_RECORD_LOST:
		log->counts.lost_events = saturate_add(log->counts.lost_events, side->lost.count);
		return -ENOENT;
	case PERF_RECORD_LOST_SAMPLES:
		log->counts.lost_samples = saturate_add(log->counts.lost_samples, side->lost.count);
		return -ENOENT;
	default:
		side_queue_add_unread(log, side->type, false);
		return -ENOENT;
	}
}

int side_queue_add_event(struct side_queue *log, const struct side_event *event)
{
	int err;

	if (event->time_ns < log->open_ns)
		return -ESTALE;
	err = vec_reserve(&log->events, &log->capacity, log->count + 1);
	if (!err)
		log->events[log->count++] = *event;
	return err;
}

void side_queue_add_unread(struct side_queue *log, uint32_t type, bool broken)
{
	if (broken)
		log->counts.broken++;
	else if (type == PERF_RECORD_THROTTLE)
		log->counts.throttled++;
	else
		log->counts.unknown++;
}

int side_queue_make(struct side_queue *log, struct string_table *names,
		    const struct perfrec_side *side, struct side_event *out)
{
	struct side_event e = { .time_ns = time_of(side) };
	int err = to_event(log, names, side, &e);

	if (err == -EBADMSG)
		log->counts.broken++;
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	*out = e;
	return 0;
}

int side_queue_add(struct side_queue *log, struct string_table *names,
		   const struct perfrec_side *side)
{
	struct side_event e;
	int err = side_queue_make(log, names, side, &e);

	return err == -ENOENT ? 0 : err ? err : side_queue_add_event(log, &e);
}

/* Those to be given out; code behind the records of its time, whichever was added first. */
static size_t list_keys(const struct side_queue *log, uint64_t last_ns, struct time_key *keys)
{
	size_t count = 0;

	for (int code = 0; code <= 1; code++)
		for (size_t i = 0; i < log->count; i++)
			if (log->events[i].time_ns <= last_ns &&
			    (log->events[i].kind == SIDE_CODE) == code)
				keys[count++] = (struct time_key){ log->events[i].time_ns, i };
	return count;
}

static void keep_later(struct side_queue *log, uint64_t last_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->events[i].time_ns > last_ns)
			log->events[count++] = log->events[i];
	log->count = count;
}

static int give_out(struct side_queue *log, uint64_t last_ns, side_queue_fn apply, void *ctx)
{
	struct time_key *keys = calloc(log->count + 1, sizeof(*keys));
	struct time_key *room = calloc(log->count + 1, sizeof(*room)), *sorted;
	size_t count;
	int err = 0;

	if (!keys || !room) {
		free(keys);
		free(room);
		return -ENOMEM;
	}
	count = list_keys(log, last_ns, keys);
	sorted = merge_runs(keys, room, count);
	free(sorted == keys ? room : keys); /* what is built now is large, too */
	for (size_t i = 0; !err && i < count; i++)
		err = apply(ctx, &log->events[sorted[i].index]);
	free(sorted);
	if (!err)
		keep_later(log, last_ns);
	return err;
}

/* Twice as many as were left: to look at those again and again must not take long. */
bool side_queue_is_full(const struct side_queue *log)
{
	return log->count >= FEW_EVENTS && log->count / 2 >= log->left_count;
}

int side_queue_settle(struct side_queue *log, uint64_t open_ns, side_queue_fn apply, void *ctx)
{
	int err;

	if (open_ns <= log->open_ns)
		return 0;
	err = give_out(log, open_ns - 1, apply, ctx);
	log->open_ns = open_ns;
	log->left_count = log->count;
	return err;
}

int side_queue_replay(struct side_queue *log, side_queue_fn apply, void *ctx)
{
	int err = give_out(log, UINT64_MAX, apply, ctx);

	free(log->events);
	log->events = NULL;
	log->count = log->capacity = 0;
	return err;
}

void side_queue_done(struct side_queue *log)
{
	free(log->events);
	log->events = NULL;
	log->count = log->capacity = log->left_count = 0;
	log->open_ns = 0;
	file_table_done(&log->files);
	free(log->cgroups);
	hash_index_done(&log->cgroup_index);
	log->cgroups = NULL;
	log->cgroup_count = log->cgroup_capacity = 0;
	log->counts = (struct process_model_counts){ 0 };
}
