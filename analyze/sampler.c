/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sampler.h"

#include "format/cursor.h"

/* Linux 6.18: the user part follows in a record of its own; a cookie stands in its place. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

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
	uint32_t node;
};

#define STACK_CACHE_SLOTS (1u << 17)

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
	uint32_t nodes[MEMO_FRAMES];
};

struct sampler {
	const struct model *model;
	struct groups *groups; /* borrowed; NULL: by comm */
	struct group_slot *group_cache;
	struct stacks stacks;
	struct places places;
	struct sampler_counts counts;
	struct addr_slot *cache;
	struct memo *memos;
	struct chain_slot *chains;
	struct stack_slot *whole;
};

/* A stretch of a chain in one context: frames [0, count), innermost first. */
struct run {
	const uint8_t *frames; /* u64 each */
	size_t count;
	uint32_t space;
	enum place_kind kind; /* FILE, KERNEL, GUEST or HYPERVISOR */
};

/* ---- one frame ---- */

static int make_place(struct sampler *s, const struct run *run, uint64_t addr, bool is_return,
		      uint32_t *out)
{
	struct place place = { .kind = run->kind };
	uint64_t look = addr - (is_return && addr ? 1 : 0); /* a call may end its mapping */
	struct model_place found;
	bool mapped;

	if (run->kind == PLACE_FILE || run->kind == PLACE_KERNEL) {
		mapped = model_place(s->model, run->space, look, &found);
		if (run->kind == PLACE_KERNEL) {
			place.offset = addr;
			place.is_return = is_return;
			if (mapped && model_file(s->model, found.file)->is_ksymbol)
				place = (struct place){ .kind = PLACE_KSYMBOL, .file = found.file };
		} else if (mapped) {
			place.file = found.file;
			place.offset = found.file_off_bytes + (addr - look);
			place.is_return = is_return;
		} else {
			place.kind = PLACE_UNMAPPED;
		}
	}
	return places_add(&s->places, &place, out);
}

static int place_of(struct sampler *s, const struct run *run, uint64_t addr, bool is_return,
		    uint32_t *out)
{
	uint32_t space_key = run->space * 2 + is_return + 1;
	struct addr_slot *slot;
	int err;

	if (run->kind != PLACE_FILE && run->kind != PLACE_KERNEL)
		return make_place(s, run, addr, is_return, out);
	slot = &s->cache[hash_pair(addr, space_key) & (ADDR_CACHE_SLOTS - 1)];
	if (slot->addr == addr && slot->space_key == space_key && space_key) {
		*out = slot->place;
		return 0;
	}
	err = make_place(s, run, addr, is_return, out);
	if (!err)
		*slot = (struct addr_slot){ addr, space_key, *out };
	return err;
}

static uint64_t frame_at(const struct run *run, size_t i)
{
	return le64_load(run->frames + 8 * i);
}

/* ---- one run of frames ---- */

/* Where the last stack like this one is kept; NULL where that would not be safe. */
static struct memo *memo_of(struct sampler *s, const struct run *run, uint32_t owner, uint32_t root)
{
	struct memo *memo;

	if (run->kind == PLACE_FILE && root == STACKS_USER_ROOT)
		memo = &s->memos[owner * 2 % MEMO_SLOTS];
	else if (run->kind == PLACE_KERNEL && root == STACKS_KERNEL_ROOT)
		memo = &s->memos[(owner * 2 + 1) % MEMO_SLOTS];
	else
		return NULL;
	if (memo->key != run->space + 1) {
		memo->key = run->space + 1;
		memo->count = 0;
	}
	return memo;
}

/* The slot for the callers of a run that starts at root; *found: it holds them. */
static struct chain_slot *chain_slot_of(struct sampler *s, const struct run *run, uint32_t root,
					bool *found)
{
	uint64_t hash = hash_pair(run->space, root), check = ~hash, addr;
	struct chain_slot *slot;

	for (size_t i = 1; i < run->count; i++) {
		addr = frame_at(run, i);
		hash = (hash ^ addr) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
		check = ((check << 23 | check >> 41) ^ addr) * 0xc2b2ae3d27d4eb4fu;
	}
	check ^= check >> 31;
	slot = &s->chains[hash & (CHAIN_CACHE_SLOTS - 1)];
	*found = slot->hash == hash && slot->check == check && (hash | check);
	if (!*found)
		*slot = (struct chain_slot){ .hash = hash, .check = check };
	return slot;
}

/*
 * Walks from the root to the innermost caller.  The memo holds only return addresses, and is asked
 * only for such: equal addresses then mean equal places.
 */
static int add_callers(struct sampler *s, const struct run *run, struct memo *memo, uint32_t *node)
{
	size_t callers = run->count - 1, known = 0;
	uint32_t place;
	int err;

	if (memo) {
		while (known < callers && known < memo->count &&
		       memo->addrs[known] == frame_at(run, callers - known))
			known++;
		if (known)
			*node = memo->nodes[known - 1];
		memo->count = (uint32_t)known;
	}
	for (size_t i = known; i < callers; i++) {
		uint64_t addr = frame_at(run, callers - i);

		err = place_of(s, run, addr, true, &place);
		if (!err)
			err = stacks_child(&s->stacks, *node, place, node);
		if (err)
			return err;
		if (memo && i < MEMO_FRAMES) {
			memo->addrs[i] = addr;
			memo->nodes[i] = *node;
			memo->count = (uint32_t)i + 1;
		}
	}
	return 0;
}

static int add_run(struct sampler *s, const struct run *run, uint32_t owner, uint32_t root,
		   uint32_t *out)
{
	struct memo *memo = memo_of(s, run, owner, root);
	struct chain_slot *slot = NULL;
	uint32_t node = root, place;
	bool found = false;
	int err = 0;

	if (memo && run->count > CHAIN_CALLERS_MIN)
		slot = chain_slot_of(s, run, root, &found);
	if (found) {
		node = slot->node;
	} else {
		err = add_callers(s, run, memo, &node);
		if (slot && err)
			*slot = (struct chain_slot){ 0 };
		else if (slot)
			slot->node = node;
	}
	if (!err)
		err = place_of(s, run, frame_at(run, 0), false, &place);
	return err ? err : stacks_child(&s->stacks, node, place, out);
}

/* ---- one sample ---- */

#define MAX_RUNS 8 /* context changes in one chain that are told apart; the kernel makes two */

struct chain {
	struct run runs[MAX_RUNS];
	size_t run_count;
	uint32_t user_space, kernel_space;
};

static void set_context(const struct chain *chain, struct run *run, unsigned cpumode)
{
	run->space = MODEL_NONE;
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		run->kind = PLACE_KERNEL;
		run->space = chain->kernel_space;
		break;
	case PERF_RECORD_MISC_HYPERVISOR:
		run->kind = PLACE_HYPERVISOR;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		run->kind = PLACE_GUEST;
		break;
	default:
		run->kind = PLACE_FILE;
		run->space = chain->user_space;
		break;
	}
}

/* The cpumode a marker switches to; 0: a marker of the future. */
static unsigned marker_mode(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return 0;
	}
}

static void add_frames(struct sampler *s, struct chain *chain, const uint8_t *frames, size_t count,
		       unsigned cpumode)
{
	struct run *run;

	if (!count)
		return;
	if (chain->run_count == MAX_RUNS) {
		s->counts.frames_left_out += count;
		return;
	}
	run = &chain->runs[chain->run_count++];
	run->frames = frames;
	run->count = count;
	set_context(chain, run, cpumode);
}

static void cut_chain(struct sampler *s, const struct perf_sample *sample, struct chain *chain)
{
	unsigned mode = sample->cpumode, next;
	size_t begin = 0, i;

	for (i = 0; i < sample->chain_count; i++) {
		uint64_t addr = le64_load(sample->chain + 8 * i);

		if (addr < PERF_CONTEXT_MAX)
			continue;
		add_frames(s, chain, sample->chain + 8 * begin, i - begin, mode);
		begin = i + 1;
		next = marker_mode(addr);
		if (next) {
			mode = next;
		} else if (addr == CONTEXT_USER_DEFERRED) {
			s->counts.deferred++;
			begin = ++i + 1; /* the cookie is no address */
		} else {
			s->counts.unknown_contexts++;
		}
	}
	if (begin < sample->chain_count)
		add_frames(s, chain, sample->chain + 8 * begin, sample->chain_count - begin, mode);
}

/*
 * Runs come innermost first: the kernel's, then the user's.  Everything from the first user run on
 * goes to the user tree; a run continues at the node of the run that it was called from.
 */
static int add_chain(struct sampler *s, const struct chain *chain, uint32_t *user, uint32_t *kernel)
{
	size_t first_user = 0;
	uint32_t *node;
	int err;

	while (first_user < chain->run_count && chain->runs[first_user].kind != PLACE_FILE)
		first_user++;
	*user = STACKS_USER_ROOT;
	*kernel = STACKS_KERNEL_ROOT;
	for (size_t i = chain->run_count; i-- > 0;) {
		node = i >= first_user ? user : kernel;
		err = add_run(s, &chain->runs[i], chain->user_space, *node, node);
		if (err)
			return err;
	}
	return 0;
}

void sampler_where(const struct sampler *s, const struct perf_sample *sample,
		   struct model_where *out)
{
	model_thread(s->model, sample->pid, sample->tid, sample->time_ns, out);
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
	slot = &s->group_cache[hash_bytes(&group, sizeof(group)) % GROUP_CACHE_SLOTS];
	if (!slot->number || memcmp(&slot->group, &group, sizeof(group)) != 0) {
		err = groups_add(s->groups, &group, out);
		if (err)
			return err;
		*slot = (struct group_slot){ group, *out + 1 };
	}
	*out = slot->number - 1;
	return 0;
}

static int add_new(struct sampler *s, const struct perf_sample *sample,
		   const struct model_where *where, struct stacks_key *key, bool bare,
		   uint32_t *entry)
{
	struct chain chain = { .user_space = where->space };
	uint8_t ip[8];
	int err;

	chain.kernel_space = model_kernel(s->model, sample->time_ns);
	cut_chain(s, sample, &chain);
	if (!chain.run_count && !bare) { /* no sample is dropped for having no chain */
		le64_store(ip, sample->ip);
		add_frames(s, &chain, ip, 1, sample->cpumode);
		s->counts.without_chain++;
	}
	err = add_chain(s, &chain, &key->user, &key->kernel);
	return err ? err : stacks_count_entry(&s->stacks, key, 1, sample->period, entry);
}

/* The slot for the sample's stack, group and end.  Four sums at a time: a CPU can do that at once. */
static struct stack_slot *stack_slot_of(struct sampler *s, const struct perf_sample *sample,
					uint32_t space, const struct stacks_key *key, bool *found)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t seed = hash_pair((uint64_t)space << 32 | model_kernel(s->model, sample->time_ns),
				  (uint64_t)key->group << 32 | key->end << 8 | sample->cpumode);
	uint64_t h[4] = { seed, seed + 1, seed + 2, seed + 3 }, a, b;
	size_t i = 0, count = sample->chain_count;
	struct stack_slot *slot;

	for (; i + 4 <= count; i += 4) {
		for (size_t k = 0; k < 4; k++) {
			h[k] = (h[k] ^ le64_load(sample->chain + 8 * (i + k))) * odd;
			h[k] ^= h[k] >> 29;
		}
	}
	for (; i < count; i++) {
		h[0] = (h[0] ^ le64_load(sample->chain + 8 * i)) * odd;
		h[0] ^= h[0] >> 29;
	}
	a = hash_pair(h[0], h[1]);
	b = hash_pair(h[2] + count, h[3] ^ a);
	slot = &s->whole[b & (STACK_CACHE_SLOTS - 1)];
	*found = slot->entry && slot->hash == a && slot->check == (uint32_t)(b >> 32);
	if (!*found)
		*slot = (struct stack_slot){ .hash = a, .check = (uint32_t)(b >> 32) };
	return slot;
}

/* Whether something about a chain was counted that is counted again when it comes again. */
static bool is_odd(const struct sampler_counts *now, const struct sampler_counts *before)
{
	return now->deferred != before->deferred ||
	       now->frames_left_out != before->frames_left_out ||
	       now->unknown_contexts != before->unknown_contexts;
}

static int add(struct sampler *s, const struct perf_sample *sample, const struct model_where *where,
	       uint32_t end, bool bare)
{
	uint32_t comm = where->comm == MODEL_NONE ? SAMPLER_TID_GROUP | sample->tid : where->comm;
	struct stacks_key key = { .end = end };
	struct sampler_counts before = s->counts;
	struct stack_slot *slot = NULL;
	bool found = false;
	uint32_t entry;
	int err;

	err = group_of(s, sample, comm, &key.group);
	if (err)
		return err;
	if (sample->chain_count)
		slot = stack_slot_of(s, sample, where->space, &key, &found);
	if (found) {
		s->stacks.entries[slot->entry - 1].sample_count++;
		s->stacks.entries[slot->entry - 1].period_sum += sample->period;
	} else {
		err = add_new(s, sample, where, &key, bare, &entry);
		if (!err && slot && !is_odd(&s->counts, &before))
			slot->entry = entry + 1;
	}
	if (!err)
		s->counts.samples++;
	return err;
}

int sampler_add(struct sampler *s, const struct perf_sample *sample,
		const struct model_where *where, const struct stackinfo *info)
{
	return add(s, sample, where, info ? 1u + info->why : SAMPLER_END_UNKNOWN, false);
}

int sampler_add_wait(struct sampler *s, const struct perf_sample *sample,
		     const struct model_where *where, uint32_t end)
{
	return add(s, sample, where, end, true);
}

/* ---- the whole ---- */

int sampler_new(const struct model *model, struct groups *groups, struct sampler **out)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->model = model;
	s->groups = groups;
	s->group_cache = calloc(groups ? GROUP_CACHE_SLOTS : 1, sizeof(*s->group_cache));
	s->cache = bigmem_zeroed(ADDR_CACHE_SLOTS * sizeof(*s->cache));
	s->memos = bigmem_zeroed(MEMO_SLOTS * sizeof(*s->memos));
	s->chains = bigmem_zeroed(CHAIN_CACHE_SLOTS * sizeof(*s->chains));
	s->whole = bigmem_zeroed(STACK_CACHE_SLOTS * sizeof(*s->whole));
	if (s->cache && s->memos && s->chains && s->whole && s->group_cache)
		err = stacks_init(&s->stacks);
	if (err) {
		sampler_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	stacks_done(&s->stacks);
	places_done(&s->places);
	free(s->cache);
	free(s->memos);
	free(s->chains);
	free(s->whole);
	free(s->group_cache);
	free(s);
}

int sampler_merge(struct sampler *s, struct sampler *from)
{
	uint32_t *numbers = calloc(from->places.count + 1, sizeof(*numbers));
	int err = 0;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; !err && i < from->places.count; i++)
		err = places_add(&s->places, &from->places.list[i], &numbers[i]);
	if (!err)
		err = stacks_merge(&s->stacks, &from->stacks, numbers);
	free(numbers);
	if (err)
		return err;
	s->counts.samples += from->counts.samples;
	s->counts.without_chain += from->counts.without_chain;
	s->counts.deferred += from->counts.deferred;
	s->counts.frames_left_out += from->counts.frames_left_out;
	s->counts.unknown_contexts += from->counts.unknown_contexts;
	stacks_done(&from->stacks);
	places_done(&from->places);
	from->counts = (struct sampler_counts){ 0 };
	return stacks_init(&from->stacks);
}

void sampler_finish(struct sampler *s)
{
	stacks_finish(&s->stacks);
	hashidx_done(&s->places.index);
	free(s->cache);
	free(s->memos);
	free(s->chains);
	free(s->whole);
	free(s->group_cache);
	s->cache = NULL;
	s->memos = NULL;
	s->chains = NULL;
	s->whole = NULL;
	s->group_cache = NULL;
}

const struct stacks *sampler_stacks(const struct sampler *s)
{
	return &s->stacks;
}

const struct places *sampler_places(const struct sampler *s)
{
	return &s->places;
}

const struct sampler_counts *sampler_counts(const struct sampler *s)
{
	return &s->counts;
}
