/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Nearly all of the time of counting a sample is waiting for memory: the tables are larger than any
 * cache.  So samples are taken in batches, and each step is done for the whole batch before the next
 * one: the first look-up of a step is announced for all of them, and when the last is announced, the
 * first has arrived.  What a batch finds is what its samples would have found one by one; a field of
 * a cache is only written and read in one step, and within it in the order of the samples.
 */
#include "analyze/sampler.h"

#include <assert.h>

#include "analyze/chaincut.h"
#include "analyze/vec.h"
#include "format/cursor.h"

#define BATCH 128u

#define FEW_SHRINK 3 /* caches for few samples have an eighth of the slots */

#define ADDR_CACHE_SLOTS (1u << 15)
#define MEMO_SLOTS       512u
#define MEMO_FRAMES      96u /* outermost frames that a memo keeps */

#define GROUP_CACHE_SLOTS 1024u

#define CHAIN_CACHE_SLOTS (1u << 16)
#define CHAIN_CALLERS_MIN 3u /* shorter ones are as quickly looked up */

/*
 * A chain of callers that was seen, by 128 bits of hash.  Two chains are taken for one only in a file
 * that was made for it, and then a stack is counted as another: no more than such a file could say.
 */
struct chain_slot {
	uint64_t hash, check; /* both 0: free */
	uint32_t path, node;  /* of the innermost caller */
};

#define STACK_CACHE_SLOTS (1u << 17)
#define PENDING           0x80000000u /* in place of an entry: the sample of this batch */

/* A whole stack of a group that was seen, likewise by its hash. */
struct stack_slot {
	uint64_t hash;
	uint32_t check;
	uint32_t entry; /* + 1; 0: free */
};

struct addr_slot {
	uint64_t addr;
	uint32_t space_key; /* space * 2 + is_return + 1; 0: free */
	uint32_t place;
};

struct group_slot {
	struct group group;
	uint32_t number; /* + 1; 0: free */
};

/* The outer frames of the last stack of a space. */
struct memo {
	uint32_t key; /* space + 1; 0: free */
	uint32_t count;
	uint64_t addrs[MEMO_FRAMES]; /* outermost first; none of them the innermost frame */
	uint32_t paths[MEMO_FRAMES];
	uint32_t nodes[MEMO_FRAMES];
};

/* A frame that has to be looked up. */
struct want {
	struct addr_slot *slot; /* NULL: of a context without maps */
	uint32_t place, path;
};

/* A place that no cache knew. */
struct lost_place {
	struct place place;
	uint64_t hash;
	uint32_t want;
	uint32_t space_key;
	uint64_t addr;
};

/* Frames of one context of a sample, and what is known of them. */
struct run {
	struct chaincut_run cut;
	const struct run *outer; /* that it was called from, in the same tree; NULL: the root */
	uint64_t hash, check;    /* of its callers */
	struct chain_slot *slot; /* NULL: not looked for */
	struct memo *memo;       /* NULL: none */
	bool is_user, is_known;  /* is_known: the slot has its callers */
	uint32_t known;          /* callers that the memo has */
	uint32_t want, want_count;
	uint32_t path, node; /* of its innermost frame */
};

/* A sample of the batch. */
struct item {
	const uint8_t *chain; /* borrowed until the batch is counted */
	size_t chain_count;
	uint8_t ip[8]; /* in place of a chain */
	uint64_t period, hash;
	struct stacks_key key;
	struct stack_slot *slot; /* NULL: no whole stack to look for */
	struct chaincut_context context;
	uint32_t check;
	uint32_t entry; /* + 1; 0: not known yet */
	uint64_t hash_of_entry;
	uint32_t same;                /* + 1: the sample of the batch with the same stack */
	uint32_t first_run, last_run; /* of a stack that is looked up: [first, last) */
	bool bare;
};

struct sampler {
	const struct model *model;
	struct groups *groups; /* borrowed; NULL: by comm */
	unsigned shrink;       /* caches have 1 / 2^shrink of their slots */
	struct group_slot *group_cache;
	struct stacks stacks;
	struct stacks *parts; /* of the samplers that were joined */
	size_t part_count, part_capacity;
	struct places places;
	struct sampler_counts counts;
	struct addr_slot *cache;
	struct memo *memos;
	struct chain_slot *chains;
	struct stack_slot *whole;
	struct item *items;
	size_t item_count;
	struct run *runs; /* BATCH * CHAINCUT_RUNS */
	size_t run_count;
	struct want *wants;
	size_t want_count, want_capacity;
	struct lost_place *lost;
	size_t lost_count, lost_capacity;
};

/* ---- first step: is the whole stack known? ---- */

static uint64_t frame_at(const struct run *run, size_t i)
{
	return le64_load(run->cut.frames + 8 * i);
}

/* Where the last stack like this one is kept; NULL where that would not be safe. */
static struct memo *memo_of(struct sampler *s, const struct run *run, uint32_t owner)
{
	struct memo *memo;

	if (run->outer)
		return NULL;
	if (run->cut.kind == PLACE_FILE && run->is_user)
		memo = &s->memos[owner * 2 % MEMO_SLOTS];
	else if (run->cut.kind == PLACE_KERNEL && !run->is_user)
		memo = &s->memos[(owner * 2 + 1) % MEMO_SLOTS];
	else
		return NULL;
	return memo;
}

/* Announces the slot for the callers of a run. */
static void fetch_chain(struct sampler *s, struct run *run)
{
	uint64_t hash = hash_pair(run->cut.space, run->is_user), check = ~hash, addr;

	for (size_t i = 1; i < run->cut.count; i++) {
		addr = frame_at(run, i);
		hash = (hash ^ addr) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
		check = ((check << 23 | check >> 41) ^ addr) * 0xc2b2ae3d27d4eb4fu;
	}
	check ^= check >> 31;
	run->hash = hash;
	run->check = check;
	run->slot = &s->chains[hash & ((CHAIN_CACHE_SLOTS >> s->shrink) - 1)];
	__builtin_prefetch(run->slot, 1);
}

/* Cuts the chain of a sample; its runs go to the end of the batch's, outermost first. */
static void begin_runs(struct sampler *s, struct item *item, bool *odd)
{
	const struct run *outer[2] = { NULL, NULL };
	struct chaincut cut;
	size_t first_user = 0;

	chaincut_do(item->chain, item->chain_count, &item->context, &cut);
	*odd = cut.deferred || cut.frames_left_out || cut.unknown_contexts;
	s->counts.deferred += cut.deferred;
	s->counts.frames_left_out += cut.frames_left_out;
	s->counts.unknown_contexts += cut.unknown_contexts;
	if (!cut.run_count && !item->bare) { /* no sample is dropped for having no chain */
		chaincut_ip(item->ip, &item->context, &cut);
		s->counts.without_chain++;
	}
	/* Everything from the first user run on goes to the user tree. */
	while (first_user < cut.run_count && cut.runs[first_user].kind != PLACE_FILE)
		first_user++;
	item->first_run = (uint32_t)s->run_count;
	for (size_t i = cut.run_count; i-- > 0;) {
		bool is_user = i >= first_user;
		struct run *run = &s->runs[s->run_count++];

		*run = (struct run){ .cut = cut.runs[i],
				     .outer = outer[is_user],
				     .is_user = is_user };
		outer[is_user] = run;
		run->memo = memo_of(s, run, item->context.user_space);
		if (run->memo && run->cut.count > CHAIN_CALLERS_MIN)
			fetch_chain(s, run);
	}
	item->last_run = (uint32_t)s->run_count;
}

/*
 * Looks for the whole stack, and claims its slot where it is not there.  Something odd about a chain
 * is counted each time it comes, so such a stack is not remembered.
 */
static void begin_item(struct sampler *s, struct item *item)
{
	struct stack_slot *slot = item->slot;
	uint32_t number = (uint32_t)(item - s->items);
	bool odd;

	if (slot && slot->entry && slot->hash == item->hash && slot->check == item->check) {
		if (slot->entry & PENDING) {
			item->same = (slot->entry & ~PENDING) + 1;
		} else {
			item->entry = slot->entry;
			__builtin_prefetch(&s->stacks.entries[item->entry - 1].sample_count, 1);
		}
		return;
	}
	begin_runs(s, item, &odd);
	if (slot)
		*slot = (struct stack_slot){ item->hash, item->check, odd ? 0 : PENDING | number };
}

/* ---- second step: callers that were seen ---- */

/* Whether the slot has the callers; from here on it has. */
static bool claim_chain(struct run *run)
{
	struct chain_slot *slot = run->slot;
	bool found = slot->hash == run->hash && slot->check == run->check &&
		     (run->hash | run->check);

	slot->hash = run->hash;
	slot->check = run->check;
	return found;
}

/*
 * How many of the outermost callers the memo has, which then gets these.  It holds only return
 * addresses, and is asked only for such: equal addresses then mean equal places.
 */
static uint32_t ask_memo(struct memo *memo, const struct run *run)
{
	size_t callers = run->cut.count - 1, known = 0;

	if (memo->key != run->cut.space + 1) {
		memo->key = run->cut.space + 1;
		memo->count = 0;
	}
	while (known < callers && known < memo->count &&
	       memo->addrs[known] == frame_at(run, callers - known))
		known++;
	memo->count = callers < MEMO_FRAMES ? (uint32_t)callers : MEMO_FRAMES;
	for (size_t i = known; i < memo->count; i++)
		memo->addrs[i] = frame_at(run, callers - i);
	return (uint32_t)known;
}

static int add_wants(struct sampler *s, struct run *run)
{
	size_t callers = run->is_known ? 0 : run->cut.count - 1 - run->known;
	bool has_maps = run->cut.kind == PLACE_FILE || run->cut.kind == PLACE_KERNEL;
	int err = vec_reserve(&s->wants, &s->want_capacity, s->want_count + callers + 1);

	if (err)
		return err;
	run->want = (uint32_t)s->want_count;
	run->want_count = (uint32_t)callers + 1;
	for (size_t i = callers + 1; i-- > 0;) {
		uint32_t space_key = run->cut.space * 2 + (i != 0) + 1;
		struct want *want = &s->wants[s->want_count++];

		want->slot = NULL;
		if (!has_maps)
			continue;
		want->slot = &s->cache[hash_pair(frame_at(run, i), space_key) &
				       ((ADDR_CACHE_SLOTS >> s->shrink) - 1)];
		__builtin_prefetch(want->slot);
	}
	return 0;
}

static int find_callers(struct sampler *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->run_count; i++) {
		struct run *run = &s->runs[i];

		if (run->slot)
			run->is_known = claim_chain(run);
		if (!run->is_known && run->memo)
			run->known = ask_memo(run->memo, run);
		err = add_wants(s, run);
	}
	return err;
}

/* ---- third step: places ---- */

static void make_place(const struct sampler *s, const struct chaincut_run *run, uint64_t addr,
		       bool is_return, struct place *place)
{
	uint64_t look = addr - (is_return && addr ? 1 : 0); /* a call may end its mapping */
	struct model_place found;
	bool mapped;

	*place = (struct place){ .kind = (uint8_t)run->kind };
	if (run->kind != PLACE_FILE && run->kind != PLACE_KERNEL)
		return;
	mapped = model_place(s->model, run->space, look, &found);
	if (run->kind == PLACE_KERNEL) {
		place->offset = addr;
		place->is_return = is_return;
		if (mapped && model_file(s->model, found.file)->is_ksymbol)
			*place = (struct place){ .kind = PLACE_KSYMBOL, .file = found.file };
	} else if (mapped) {
		place->file = found.file;
		place->offset = found.file_off_bytes + (addr - look);
		place->is_return = is_return;
	} else {
		place->kind = PLACE_UNMAPPED;
	}
}

/* Asks the cache of addresses; for what it does not have, the slot of the place is announced. */
static int ask_addr(struct sampler *s, const struct run *run, uint32_t number, size_t frame)
{
	struct want *want = &s->wants[number];
	uint32_t space_key = run->cut.space * 2 + (frame != 0) + 1;
	uint64_t addr = frame_at(run, frame);
	struct lost_place *lost;
	int err;

	if (want->slot && want->slot->addr == addr && want->slot->space_key == space_key &&
	    space_key) {
		want->place = want->slot->place;
		return 0;
	}
	err = vec_reserve(&s->lost, &s->lost_capacity, s->lost_count + 1);
	if (err)
		return err;
	lost = &s->lost[s->lost_count++];
	make_place(s, &run->cut, addr, frame != 0, &lost->place);
	lost->hash = places_hash(&lost->place);
	lost->want = number;
	lost->space_key = space_key;
	lost->addr = addr;
	places_fetch(&s->places, lost->hash);
	return 0;
}

static int find_places(struct sampler *s)
{
	int err = 0;

	s->lost_count = 0;
	for (size_t i = 0; !err && i < s->run_count; i++) {
		const struct run *run = &s->runs[i];

		for (uint32_t k = 0; !err && k < run->want_count; k++)
			err = ask_addr(s, run, run->want + k, run->want_count - 1 - k);
	}
	for (size_t i = 0; i < s->lost_count; i++)
		places_look(&s->places, s->lost[i].hash);
	for (size_t i = 0; !err && i < s->lost_count; i++) {
		const struct lost_place *lost = &s->lost[i];
		struct want *want = &s->wants[lost->want];

		err = places_add_hashed(&s->places, &lost->place, lost->hash, &want->place);
		if (!err && want->slot)
			*want->slot = (struct addr_slot){ lost->addr, lost->space_key,
							  want->place };
	}
	return err;
}

/* ---- fourth step: nodes ---- */

static uint32_t root_of(const struct run *run)
{
	return run->is_user ? STACKS_USER_ROOT : STACKS_KERNEL_ROOT;
}

/* The path of each frame that is wanted; its slot is announced. */
static void fetch_nodes(struct sampler *s, struct run *run)
{
	uint32_t path = run->outer ? run->outer->path : stacks_root_path(root_of(run));

	if (run->is_known)
		path = run->slot->path;
	else if (run->known)
		path = run->memo->paths[run->known - 1];
	for (uint32_t k = 0; k < run->want_count; k++) {
		struct want *want = &s->wants[run->want + k];
		size_t at = run->known + k;

		if (k + 1 == run->want_count && run->slot)
			run->slot->path = path;
		path = stacks_path(path, want->place);
		want->path = path;
		stacks_fetch(&s->stacks, path);
		if (k + 1 < run->want_count && run->memo && at < MEMO_FRAMES)
			run->memo->paths[at] = path;
	}
	run->path = path;
}

static int walk_nodes(struct sampler *s, struct run *run)
{
	uint32_t node = run->outer ? run->outer->node : root_of(run);
	int err = 0;

	if (run->is_known)
		node = run->slot->node;
	else if (run->known)
		node = run->memo->nodes[run->known - 1];
	for (uint32_t k = 0; !err && k < run->want_count; k++) {
		const struct want *want = &s->wants[run->want + k];
		size_t at = run->known + k;

		if (k + 1 == run->want_count && run->slot)
			run->slot->node = node;
		err = stacks_child_by_path(&s->stacks, node, want->path, want->place, &node);
		if (!err && k + 1 < run->want_count && run->memo && at < MEMO_FRAMES)
			run->memo->nodes[at] = node;
	}
	run->node = node;
	return err;
}

static int find_nodes(struct sampler *s)
{
	int err = 0;

	for (size_t i = 0; i < s->run_count; i++)
		fetch_nodes(s, &s->runs[i]);
	for (size_t i = 0; i < s->want_count; i++)
		stacks_look(&s->stacks, s->wants[i].path);
	for (size_t i = 0; !err && i < s->run_count; i++)
		err = walk_nodes(s, &s->runs[i]);
	return err;
}

/* ---- last step: counts ---- */

static void end_runs(struct sampler *s, struct item *item)
{
	item->key.user = STACKS_USER_ROOT;
	item->key.kernel = STACKS_KERNEL_ROOT;
	for (uint32_t i = item->first_run; i < item->last_run; i++)
		*(s->runs[i].is_user ? &item->key.user : &item->key.kernel) = s->runs[i].node;
	item->hash_of_entry = stacks_fetch_entry(&s->stacks, &item->key);
}

/* Counts a stack that was looked up; its slot, when no other sample took it, gets its entry. */
static int count_item(struct sampler *s, struct item *item)
{
	uint32_t number = (uint32_t)(item - s->items), entry;
	int err = stacks_count_entry(&s->stacks, &item->key, 1, item->period, &entry);

	if (err)
		return err;
	item->entry = entry + 1;
	if (item->slot && item->slot->entry == (PENDING | number))
		item->slot->entry = item->entry & PENDING ? 0 : item->entry;
	return 0;
}

static int count_all(struct sampler *s)
{
	int err = 0;

	for (size_t i = 0; i < s->item_count; i++)
		if (!s->items[i].entry && !s->items[i].same)
			end_runs(s, &s->items[i]);
	for (size_t i = 0; i < s->item_count; i++)
		if (!s->items[i].entry && !s->items[i].same)
			stacks_look_entry(&s->stacks, s->items[i].hash_of_entry);
	for (size_t i = 0; !err && i < s->item_count; i++) {
		struct item *item = &s->items[i];

		if (item->same)
			item->entry = s->items[item->same - 1].entry;
		if (item->entry) {
			s->stacks.entries[item->entry - 1].sample_count++;
			s->stacks.entries[item->entry - 1].period_sum += item->period;
		} else {
			err = count_item(s, item);
		}
	}
	return err;
}

int sampler_flush(struct sampler *s)
{
	int err;

	s->run_count = s->want_count = 0;
	for (size_t i = 0; i < s->item_count; i++)
		begin_item(s, &s->items[i]);
	err = find_callers(s);
	if (!err)
		err = find_places(s);
	if (!err)
		err = find_nodes(s);
	if (!err)
		err = count_all(s);
	s->item_count = 0;
	return err;
}

/* ---- one sample ---- */

void sampler_where(const struct sampler *s, const struct perf_sample *sample,
		   struct model_where *out)
{
	model_thread(s->model, sample->pid, sample->tid, sample->time_ns, out);
}

static uint64_t group_hash(const struct group *g)
{
	return hash_pair((uint64_t)g->comm << 32 | g->pid,
			 g->time_ns ^ g->cgroup ^ ((uint64_t)g->tid << 32 | (uint32_t)g->cpu));
}

static int group_of(struct sampler *s, const struct perf_sample *sample, uint32_t comm,
		    uint32_t *out)
{
	struct group group = {
		.cgroup = sample->cgroup,
		.time_ns = sample->time_ns,
		.comm = comm,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
	};
	struct group_slot *slot;
	int err;

	if (!s->groups) {
		*out = comm;
		return 0;
	}
	groups_trim(s->groups, &group);
	slot = &s->group_cache[group_hash(&group) % GROUP_CACHE_SLOTS];
	if (!slot->number || memcmp(&slot->group, &group, sizeof(group)) != 0) {
		err = groups_add(s->groups, &group, out);
		if (err)
			return err;
		*slot = (struct group_slot){ group, *out + 1 };
	}
	*out = slot->number - 1;
	return 0;
}

/* Sums up stack, group and end, and announces their slot.  Four sums at a time: a CPU can do that at once. */
static void fetch_stack(struct sampler *s, struct item *item)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t seed = hash_pair(
		(uint64_t)item->context.user_space << 32 | item->context.kernel_space,
		(uint64_t)item->key.group << 32 | item->key.end << 8 | item->context.cpumode);
	uint64_t h[4] = { seed, seed + 1, seed + 2, seed + 3 }, b;
	size_t i = 0, count = item->chain_count;

	for (; i + 4 <= count; i += 4) {
		for (size_t k = 0; k < 4; k++) {
			h[k] = (h[k] ^ le64_load(item->chain + 8 * (i + k))) * odd;
			h[k] ^= h[k] >> 29;
		}
	}
	for (; i < count; i++) {
		h[0] = (h[0] ^ le64_load(item->chain + 8 * i)) * odd;
		h[0] ^= h[0] >> 29;
	}
	item->hash = hash_pair(h[0], h[1]);
	b = hash_pair(h[2] + count, h[3] ^ item->hash);
	item->check = (uint32_t)(b >> 32);
	item->slot = &s->whole[b & ((STACK_CACHE_SLOTS >> s->shrink) - 1)];
	__builtin_prefetch(item->slot, 1);
}

static int put(struct sampler *s, const struct perf_sample *sample, const struct model_where *where,
	       uint32_t end, bool bare)
{
	uint32_t comm = where->comm == MODEL_NONE ? SAMPLER_TID_GROUP | sample->tid : where->comm;
	struct item *item = &s->items[s->item_count];
	int err;

	*item = (struct item){
		.chain = sample->chain,
		.chain_count = sample->chain_count,
		.period = sample->period,
		.key.end = end,
		.context.user_space = where->space,
		.context.kernel_space = model_kernel(s->model, sample->time_ns),
		.context.cpumode = sample->cpumode,
		.bare = bare,
	};
	le64_store(item->ip, sample->ip);
	err = group_of(s, sample, comm, &item->key.group);
	if (err)
		return err;
	if (item->chain_count)
		fetch_stack(s, item);
	s->counts.samples++;
	return ++s->item_count < BATCH ? 0 : sampler_flush(s);
}

int sampler_put(struct sampler *s, const struct perf_sample *sample,
		const struct model_where *where, const struct stackinfo *info)
{
	return put(s, sample, where, info ? 1u + info->why : SAMPLER_END_UNKNOWN, false);
}

int sampler_add_wait(struct sampler *s, const struct perf_sample *sample,
		     const struct model_where *where, uint32_t end)
{
	int err = put(s, sample, where, end, true);

	return err ? err : sampler_flush(s);
}

/* ---- the whole ---- */

int sampler_new(const struct model *model, struct groups *groups, bool few, struct sampler **out)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->model = model;
	s->groups = groups;
	s->group_cache = calloc(groups ? GROUP_CACHE_SLOTS : 1, sizeof(*s->group_cache));
	s->shrink = few ? FEW_SHRINK : 0;
	s->cache = bigmem_zeroed((ADDR_CACHE_SLOTS >> s->shrink) * sizeof(*s->cache));
	s->memos = bigmem_zeroed(MEMO_SLOTS * sizeof(*s->memos));
	s->chains = bigmem_zeroed((CHAIN_CACHE_SLOTS >> s->shrink) * sizeof(*s->chains));
	s->whole = bigmem_zeroed((STACK_CACHE_SLOTS >> s->shrink) * sizeof(*s->whole));
	s->items = calloc(BATCH, sizeof(*s->items));
	s->runs = calloc(BATCH * CHAINCUT_RUNS, sizeof(*s->runs));
	if (s->cache && s->memos && s->chains && s->whole && s->group_cache && s->items && s->runs)
		err = stacks_init(&s->stacks);
	if (err) {
		sampler_free(s);
		return err;
	}
	*out = s;
	return 0;
}

/* Frees what only adding needs. */
static void free_caches(struct sampler *s)
{
	free(s->cache);
	free(s->memos);
	free(s->chains);
	free(s->whole);
	free(s->group_cache);
	free(s->items);
	free(s->runs);
	free(s->wants);
	free(s->lost);
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	stacks_done(&s->stacks);
	for (size_t i = 0; i < s->part_count; i++)
		stacks_done(&s->parts[i]);
	free(s->parts);
	places_done(&s->places);
	free_caches(s);
	free(s);
}

void sampler_finish(struct sampler *s)
{
	assert(!s->item_count);
	stacks_finish(&s->stacks);
	places_finish(&s->places);
	free_caches(s);
	s->cache = NULL;
	s->memos = NULL;
	s->chains = NULL;
	s->whole = NULL;
	s->group_cache = NULL;
	s->items = NULL;
	s->runs = NULL;
	s->wants = NULL;
	s->lost = NULL;
}

int sampler_join(struct sampler *s, struct sampler *from)
{
	uint32_t *numbers = calloc(from->places.count + 1, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	sampler_finish(from);
	if (!err)
		err = vec_reserve(&s->parts, &s->part_capacity, s->part_count + 1);
	if (!err)
		err = places_merge(&s->places, &from->places, numbers);
	if (!err) {
		stacks_renumber(&from->stacks, numbers);
		s->parts[s->part_count++] = from->stacks;
		from->stacks = (struct stacks){ 0 };
		places_done(&from->places);
		s->counts.samples += from->counts.samples;
		s->counts.without_chain += from->counts.without_chain;
		s->counts.deferred += from->counts.deferred;
		s->counts.frames_left_out += from->counts.frames_left_out;
		s->counts.unknown_contexts += from->counts.unknown_contexts;
		from->counts = (struct sampler_counts){ 0 };
	}
	free(numbers);
	return err;
}

void sampler_take_part(struct sampler *s, size_t part, struct stacks *out)
{
	struct stacks *from = part ? &s->parts[part - 1] : &s->stacks;

	*out = *from;
	*from = (struct stacks){ 0 };
}

const struct stacks *sampler_part(const struct sampler *s, size_t part)
{
	if (!part)
		return &s->stacks;
	return part <= s->part_count ? &s->parts[part - 1] : NULL;
}

const struct places *sampler_places(const struct sampler *s)
{
	return &s->places;
}

const struct sampler_counts *sampler_counts(const struct sampler *s)
{
	return &s->counts;
}
