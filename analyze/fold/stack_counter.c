/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Nearly all of the time of counting a sample is waiting for memory: the tables are larger than any
 * cache.  So samples are taken in batches, and each step is done for the entire batch before the
 * next one: the first look-up of a step is announced for all of them, and when the last is
 * announced, the first has arrived.  A batch has the same results as its samples one by one; a
 * field of a cache is only written and read in one step, and within it in the order of the samples.
 */
#include "format/base/saturate.h"
#include "analyze/fold/stack_counter_priv.h"

#include "format/base/vec.h"
#include "format/base/cursor.h"

#define FETCH_CALLERS 2 /* of a run: whose nodes are announced beside that of its innermost frame */

#define PENDING 0x80000000u /* in place of an entry: the sample of this batch */

/* ---- first step: is the entire stack known? ---- */

static uint64_t frame_at(const struct run *run, size_t i)
{
	return le64_load(run->cut.frames + 8 * i);
}

static uint32_t root_of(const struct run *run)
{
	return run->is_user ? STACK_TABLE_USER_ROOT : STACK_TABLE_KERNEL_ROOT;
}

static const uint64_t *path_at(const struct stack_counter *s, const struct run *run, size_t depth)
{
	return &s->paths[run->path + depth];
}

/* The locations of the frames that are not the prefix's; prefetches the buckets that fold them. */
static int locate_run(struct stack_counter *s, struct run *run)
{
	size_t count = run->cut.count, innermost = count - 1;
	struct mapping_cache_walk walk;
	int err = vec_reserve(&s->paths, &s->path_capacity, s->path_count + count);

	if (!err)
		err = vec_reserve(&s->steps, &s->step_capacity, s->step_count + count);
	if (err)
		return err;
	run->path = s->path_count;
	s->path_count += count;
	run->prefix = run->outer ? NULL : prefix_cache_of(s->prefixes, &run->cut, root_of(run));
	run->followed = run->prefix ? prefix_follow(run->prefix, &run->cut) : 0;
	run->step = s->step_count;
	mapping_cache_begin(s->maps, &run->cut, &walk);
	for (size_t i = run->followed; i < count; i++) {
		struct step *step = &s->steps[s->step_count++];
		const struct symbol_buckets *parts = mapping_cache_locate(
			&walk, &run->cut, frame_at(run, innermost - i), i != innermost,
			&step->place);

		step->range.region = NULL;
		if (parts)
			step->range = symbol_buckets_find(parts, &step->place);
	}
	return 0;
}

/* Cuts the chain of a sample; its runs go to the end of the batch's, outermost first. */
static int begin_runs(struct stack_counter *s, struct item *item, bool *malformed)
{
	const struct run *outer[2] = { NULL, NULL };
	struct callchain cut;
	size_t first_user = 0;
	int err = 0;

	callchain_do(item->chain, item->chain_count, &item->context, &cut);
	/* A chain of markers alone is not found by its frame. */
	*malformed = cut.deferred || cut.frames_left_out || cut.unknown_contexts || !cut.run_count;
	s->counts.deferred += cut.deferred;
	s->counts.frames_left_out += cut.frames_left_out;
	s->counts.unknown_contexts += cut.unknown_contexts;
	if (!cut.run_count && !item->bare) { /* no sample is dropped for having no chain */
		callchain_ip(item->ip, &item->context, &cut);
		s->counts.without_chain++;
	}
	/* Everything from the first user run on goes to the user tree. */
	while (first_user < cut.run_count && cut.runs[first_user].kind != LOCATION_FILE)
		first_user++;
	item->first_run = (uint32_t)s->run_count;
	for (size_t i = cut.run_count; !err && i-- > 0;) {
		bool is_user = i >= first_user;
		struct run *run = &s->runs[s->run_count++];

		*run = (struct run){ .cut = cut.runs[i],
				     .outer = outer[is_user],
				     .is_user = is_user };
		outer[is_user] = run;
		err = locate_run(s, run);
	}
	item->last_run = (uint32_t)s->run_count;
	return err;
}

/*
 * Looks for the entire stack, and claims its slot where it is not there.  A malformed chain is
 * counted each time it comes, so such a stack is not remembered.
 */
static int begin_item(struct stack_counter *s, struct item *item)
{
	struct stack_slot *slot = item->slot;
	uint32_t number = (uint32_t)(item - s->items);
	bool malformed;
	int err;

	if (slot && slot->entry && slot->hash == item->hash) {
		if (slot->entry & PENDING) {
			item->same = (slot->entry & ~PENDING) + 1;
		} else {
			item->entry = slot->entry;
			__builtin_prefetch(&s->stacks.entries[item->entry - 1].sample_count, 1);
		}
		return 0;
	}
	s->missed[s->missed_count++] = (uint8_t)number;
	err = begin_runs(s, item, &malformed);
	if (!err && slot)
		*slot = (struct stack_slot){ item->hash, malformed ? 0 : PENDING | number };
	return err;
}

/* ---- second step: what do its frames stand for? ---- */

/* The path of each frame: a hash of the places from the root to it. */
static void trace_run(struct stack_counter *s, struct run *run)
{
	const struct hash_key key = s->stacks.key; /* a copy: nothing written to out changes it */
	uint64_t path, *out = &s->paths[run->path];
	size_t known = run->followed;
	struct step *step = &s->steps[run->step];

	if (run->prefix)
		prefix_take(run->prefix, known, out);
	path = known        ? out[known - 1]
	       : run->outer ? *path_at(s, run->outer, run->outer->cut.count - 1)
			    : stack_table_root_path(&s->stacks, root_of(run));
	for (size_t i = known; i < run->cut.count; i++, step++) {
		symbol_buckets_fold(&step->range, &step->place);
		path = hash_mix(&key, path, locations_hash(&key, &step->place));
		out[i] = path;
	}
	if (run->prefix)
		prefix_leave(run->prefix, &run->cut, out, known);
}

/* By the paths of both trees.  Announces its entry. */
static void trace_item(struct stack_counter *s, struct item *item)
{
	uint64_t paths[2] = { stack_table_root_path(&s->stacks, STACK_TABLE_KERNEL_ROOT),
			      stack_table_root_path(&s->stacks, STACK_TABLE_USER_ROOT) };

	for (uint32_t i = item->first_run; i < item->last_run; i++) {
		trace_run(s, &s->runs[i]);
		paths[s->runs[i].is_user] = *path_at(s, &s->runs[i], s->runs[i].cut.count - 1);
	}
	item->hash_of_entry = stack_table_hash(&s->stacks, paths[1], paths[0], item->key.group,
					       item->key.end);
	stack_table_fetch_entry(&s->stacks, item->hash_of_entry);
}

static void trace_items(struct stack_counter *s)
{
	for (size_t i = 0; i < s->step_count; i++)
		symbol_buckets_look(&s->steps[i].range);
	for (size_t i = 0; i < s->missed_count; i++)
		trace_item(s, &s->items[s->missed[i]]);
}

/* ---- third step: is that known? ---- */

/* The slot that the sample took, if no other has taken it since, gets its entry. */
static void set_entry(struct stack_counter *s, struct item *item, uint32_t entry)
{
	uint32_t number = (uint32_t)(item - s->items);

	item->entry = entry + 1;
	if (item->slot && item->slot->entry == (PENDING | number))
		item->slot->entry = item->entry & PENDING ? 0 : item->entry;
}

/* Where there is no entry, the nodes are announced. */
static void fetch_nodes(struct stack_counter *s, const struct item *item)
{
	for (uint32_t number = item->first_run; number < item->last_run; number++) {
		const struct run *run = &s->runs[number];

		for (size_t i = 0; i < run->cut.count && i <= FETCH_CALLERS; i++)
			stack_table_fetch(&s->stacks, *path_at(s, run, run->cut.count - 1 - i));
	}
}

static void find_entries(struct stack_counter *s)
{
	size_t missed = 0;

	for (size_t i = 0; i < s->missed_count; i++)
		stack_table_look_entry(&s->stacks, s->items[s->missed[i]].hash_of_entry);
	for (size_t i = 0; i < s->missed_count; i++) {
		struct item *item = &s->items[s->missed[i]];
		uint32_t entry = stack_table_find_entry(&s->stacks, item->hash_of_entry);

		if (entry == HASH_INDEX_NONE) {
			fetch_nodes(s, item);
			s->missed[missed++] = s->missed[i];
		} else {
			set_entry(s, item, entry);
		}
	}
	s->missed_count = missed;
}

/* ---- fourth step: nodes that there are ---- */

/* Where the paths are that were announced. */
static void look_at_run(const struct stack_counter *s, const struct run *run)
{
	size_t count = run->cut.count;

	for (size_t i = 0; i < count && i <= FETCH_CALLERS; i++)
		stack_table_look_path(&s->stacks, *path_at(s, run, count - 1 - i));
}

/* The innermost frame that has a node; those further out have one, too. */
static void find_known(const struct stack_counter *s, struct run *run)
{
	uint32_t known = (uint32_t)run->cut.count, node = HASH_INDEX_NONE;

	while (known && node == HASH_INDEX_NONE)
		node = stack_table_find_path(&s->stacks, *path_at(s, run, known-- - 1));
	run->known = node == HASH_INDEX_NONE ? 0 : known + 1;
	run->node = node;
}

/* The places of the frames that have no node; their slots are announced. */
static int add_wants(struct stack_counter *s, uint32_t number)
{
	const struct run *run = &s->runs[number];
	size_t count = run->cut.count - run->known;
	struct mapping_cache_walk walk;
	struct want *want;
	int err;

	if (!count)
		return 0;
	err = vec_reserve(&s->wants, &s->want_capacity, s->want_count + count);
	if (err)
		return err;
	mapping_cache_begin(s->maps, &run->cut, &walk);
	for (size_t i = count; i-- > 0;) {
		want = &s->wants[s->want_count++];
		mapping_cache_place(&walk, &run->cut, frame_at(run, i), i != 0, &want->place);
		want->hash = locations_hash(&s->places.key, &want->place);
		want->run = number;
		want->depth = (uint32_t)(run->cut.count - 1 - i);
		locations_fetch(&s->places, want->hash);
	}
	return 0;
}

static int find_nodes(struct stack_counter *s)
{
	const struct item *item;
	int err = 0;

	for (size_t i = 0; i < s->missed_count; i++) {
		item = &s->items[s->missed[i]];
		for (uint32_t r = item->first_run; r < item->last_run; r++)
			look_at_run(s, &s->runs[r]);
	}
	for (size_t i = 0; !err && i < s->missed_count; i++) {
		item = &s->items[s->missed[i]];
		for (uint32_t r = item->first_run; !err && r < item->last_run; r++) {
			find_known(s, &s->runs[r]);
			err = add_wants(s, r);
		}
	}
	return err;
}

/* ---- fifth step: nodes that there are not ---- */

/* In the order of the runs: what a run was called from comes first. */
static int make_node(struct stack_counter *s, const struct want *want)
{
	struct run *run = &s->runs[want->run];
	uint32_t place;
	int err = locations_add_hashed(&s->places, &want->place, want->hash, &place);

	if (err)
		return err;
	if (!want->depth)
		run->node = run->outer ? run->outer->node : root_of(run);
	return stack_table_child_by_path(&s->stacks, run->node, *path_at(s, run, want->depth),
					 place, &run->node);
}

static int make_nodes(struct stack_counter *s)
{
	int err = 0;

	for (size_t i = 0; i < s->want_count; i++)
		locations_look(&s->places, s->wants[i].hash);
	for (size_t i = 0; !err && i < s->want_count; i++)
		err = make_node(s, &s->wants[i]);
	return err;
}

/* ---- last step: counts ---- */

/* The entry of a stack that had none when it was looked for. */
static int add_entry(struct stack_counter *s, struct item *item)
{
	uint32_t entry;
	int err;

	item->key.user = STACK_TABLE_USER_ROOT;
	item->key.kernel = STACK_TABLE_KERNEL_ROOT;
	for (uint32_t i = item->first_run; i < item->last_run; i++)
		*(s->runs[i].is_user ? &item->key.user : &item->key.kernel) = s->runs[i].node;
	err = stack_table_add_entry(&s->stacks, item->hash_of_entry, &item->key, &entry);
	if (!err)
		set_entry(s, item, entry);
	return err;
}

/* After all of the batch were counted. */
static int keep_samples(struct stack_counter *s)
{
	struct stack_table *t = &s->stacks;
	int err = vec_reserve(&t->samples, &t->sample_capacity, t->sample_count + s->item_count);

	for (size_t i = 0; !err && i < s->item_count; i++) {
		const struct item *item = &s->items[i];

		t->samples[t->sample_count++] =
			(struct stack_table_sample){ .time_ns = item->time_ns,
						     .period = item->period,
						     .entry = item->entry - 1,
						     .cpu = item->cpu };
	}
	return err;
}

static int count_all(struct stack_counter *s)
{
	struct stack_table_entry *e;
	int err = 0;

	for (size_t i = 0; !err && i < s->item_count; i++) {
		struct item *item = &s->items[i];

		if (item->same)
			item->entry = s->items[item->same - 1].entry;
		else if (!item->entry)
			err = add_entry(s, item);
		if (err)
			break;
		e = &s->stacks.entries[item->entry - 1];
		e->sample_count++;
		e->period_sum = saturate_add(e->period_sum, item->period);
	}
	return err;
}

int stack_counter_flush(struct stack_counter *s)
{
	int err = 0;

	s->run_count = s->step_count = s->path_count = s->want_count = s->missed_count = 0;
	for (size_t i = 0; !err && i < s->item_count; i++)
		err = begin_item(s, &s->items[i]);
	if (!err) {
		trace_items(s);
		find_entries(s);
	}
	if (!err)
		err = find_nodes(s);
	if (!err)
		err = make_nodes(s);
	if (!err)
		err = count_all(s);
	if (!err && s->keeps_samples)
		err = keep_samples(s);
	s->item_count = 0;
	return err;
}

/* ---- one sample ---- */

void stack_counter_where(struct stack_counter *s, const struct perf_sample *sample,
			 struct process_model_where *out)
{
	thread_cache_where(s->whose, sample, out);
}

/* All addresses of a chain, four at a time: of three multiplications only one waits for those before. */
static uint64_t hash_chain(const struct hash_key *key, const uint8_t *chain, size_t count,
			   uint64_t h)
{
	size_t i = 0;

	for (; i + 4 <= count; i += 4, chain += 32)
		h = hash_multiply(h ^ hash_mix(key, le64_load(chain), le64_load(chain + 8)),
				  hash_mix(key, le64_load(chain + 16), le64_load(chain + 24)));
	for (; i < count; i++, chain += 8)
		h = hash_mix(key, h, le64_load(chain));
	return h;
}

/* Announces the slot of stack, group and end. */
static void fetch_stack(struct stack_counter *s, struct item *item)
{
	const struct hash_key *key = &s->stacks.key;
	uint64_t h = hash_mix(
		key, (uint64_t)item->context.user_space << 32 | item->context.kernel_space,
		(uint64_t)item->key.group << 32 | item->key.end << 8 | item->context.cpumode);

	item->hash = hash_chain(key, item->chain, item->chain_count, h + item->chain_count);
	item->slot = &s->stack_slots[item->hash & ((STACK_COUNTER_STACK_SLOTS >> s->shrink) - 1)];
	__builtin_prefetch(item->slot, 1);
}

static int put(struct stack_counter *s, const struct perf_sample *sample,
	       const struct process_model_where *where, uint32_t end, bool bare)
{
	uint32_t comm = where->comm == PROCESS_MODEL_NONE ? STACK_COUNTER_TID_GROUP | sample->tid
							  : where->comm;
	struct item *item = &s->items[s->item_count];
	int err;

	/* The rest is written by the steps that know it; clearing it all took longer than anything here. */
	item->chain = sample->chain;
	item->chain_count = sample->chain_count;
	item->period = sample->period;
	if (s->keeps_samples) {
		item->time_ns = sample->time_ns;
		item->cpu = sample->cpu;
	}
	item->key.end = end;
	item->context = (struct callchain_context){
		where->space, thread_cache_kernel_space(s->whose, sample->time_ns), sample->cpumode
	};
	item->slot = NULL;
	item->entry = item->same = 0;
	item->bare = bare;
	le64_store(item->ip, sample->ip);
	err = thread_cache_group(s->whose, sample, comm, &item->key.group);
	if (!err && s->sums_groups) {
		err = stack_counter_add_to_sum(s, item->key.group,
					       &(struct stack_counter_sum){ 1, sample->period });
		item->key.group = 0;
	}
	if (err)
		return err;
	if (item->chain_count)
		fetch_stack(s, item);
	s->counts.samples++;
	return ++s->item_count < STACK_COUNTER_BATCH ? 0 : stack_counter_flush(s);
}

int stack_counter_put(struct stack_counter *s, const struct perf_sample *sample,
		      const struct process_model_where *where, const struct stack_result *info)
{
	return put(s, sample, where, info ? stack_counter_end(info) : STACK_COUNTER_END_UNKNOWN,
		   false);
}

int stack_counter_add_wait(struct stack_counter *s, const struct perf_sample *sample,
			   const struct process_model_where *where, uint32_t end, uint64_t count)
{
	struct stack_table_entry *e;
	int err = put(s, sample, where, end, true);

	if (!err)
		err = stack_counter_flush(s);
	if (err)
		return err;
	e = &s->stacks.entries[s->items[0].entry - 1]; /* the batch was of one, counted once */
	e->sample_count = saturate_add(e->sample_count - 1, count);
	return 0;
}
