/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_load - what happened to hostile processes, and whose samples are whose
 *
 * A record script (record_script.h) is loaded from a capture of ours and from a file as perf has it, as one and in slices,
 * by one thread and by several: each must count the same stacks.  Four bytes in front of it choose
 * the layout of its events, what is counted apart, which samples are asked for and what is compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash_index.h"
#include "analyze/fold/count_samples.h"
#include "analyze/report/views.h"
#include "format/perf/jitdump.h"
#include "tests/fuzz/record_script.h"

/* The results of runs over the same bytes must be equal: no secret is in them. */
static const struct hash_key digest_key = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define NOWHERE "/nonexistent" /* names are those of places */

enum layout { LAYOUT_OURS, LAYOUT_BARE, LAYOUT_COUNTS, LAYOUT_COPIES, LAYOUTS };

/* The choices of the first bytes. */
struct setting {
	enum layout layout;
	bool narrow_frames; /* a flush behind each sample */
	bool jits;
	unsigned fields; /* enum group_fields */
	uint8_t filter, compare;
};

/* ---- samples ---- */

static void make_attrs(enum layout layout, bool later, struct writer_attr attrs[REC_ATTRS])
{
	rec_attrs(attrs);
	if (later)
		script_defers(&attrs[0].attr);
	for (size_t i = 0; i < REC_ATTRS; i++) {
		struct perf_event_attr *a = &attrs[i].attr;

		if (layout == LAYOUT_BARE)
			a->sample_id_all = 0;
		if (layout == LAYOUT_COUNTS) {
			a->sample_type |= PERF_SAMPLE_READ;
			a->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		}
	}
	if (layout == LAYOUT_BARE) {
		attrs[0].attr.freq = 0;
		attrs[0].attr.sample_period = 77;
	}
	if (layout == LAYOUT_COPIES) {
		attrs[0].attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attrs[0].attr.sample_regs_user = 0xff0fff; /* perf's, of x86-64 */
	} else {
		attrs[0].attr.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP;
	}
}

static size_t put_chain(struct record_script *t, size_t size)
{
	static const uint64_t marks[] = {
		PERF_CONTEXT_USER,         PERF_CONTEXT_KERNEL,
		PERF_CONTEXT_HV,           PERF_CONTEXT_GUEST_USER,
		PERF_CONTEXT_GUEST_KERNEL, (uint64_t)-640,
		(uint64_t)-4095,           (uint64_t)-77,
	};
	size_t count = cursor_u8(&t->in) % 32, from = size;

	size += 8;
	for (size_t i = 0; i < count; i++, size += 8) {
		uint8_t how = cursor_u8(&t->in);

		if (how < 24)
			le64_store(t->rec + size, marks[how & 7]);
		else if (how < 32)
			le64_store(t->rec + size, le64_load(t->rec + size - 8)); /* recursion */
		else
			le64_store(t->rec + size, script_address(t));
		if (t->later && le64_load(t->rec + size) == SCRIPT_DEFERRED && ++i < count)
			le64_store(t->rec + (size += 8), script_cookie(t));
	}
	size = from + 8 + 8 * count;
	le64_store(t->rec + from, count);
	return size;
}

static size_t put_counts(struct record_script *t, size_t size)
{
	le64_store(t->rec + size, 2);
	le64_store(t->rec + size + 8, cursor_u8(&t->in));
	le64_store(t->rec + size + 16, REC_CPU_ID);
	le64_store(t->rec + size + 24, cursor_u8(&t->in));
	le64_store(t->rec + size + 32, REC_RAW_ID);
	return size + 40;
}

/* 20 registers and 64 bytes of stack. */
static size_t put_copy(struct record_script *t, size_t size)
{
	uint8_t abi = cursor_u8(&t->in) % 4, copied = cursor_u8(&t->in) % 80;

	le64_store(t->rec + size, abi);
	size += 8;
	for (size_t i = 0; abi && i < 20; i++, size += 8)
		le64_store(t->rec + size, i == 7 ? 0x7000 : script_address(t));
	le64_store(t->rec + size, 64);
	size += 8;
	for (size_t i = 0; i < 8; i++, size += 8)
		le64_store(t->rec + size, script_address(t));
	le64_store(t->rec + size, copied);
	return size + 8;
}

/* Such that their sum is no number any more, where each view is made of one sum of them. */
static uint64_t make_period(struct record_script *t, const struct setting *s)
{
	uint8_t b = cursor_u8(&t->in);

	return s->compare % 4 == 3 && b >= 240 ? UINT64_MAX >> (b & 3) : b;
}

/* A sample of the first event, or of the one that no command asks for. */
static void add_sample(struct record_script *t, const struct setting *s, bool other)
{
	static const uint16_t modes[] = { PERF_RECORD_MISC_USER,       PERF_RECORD_MISC_KERNEL,
					  PERF_RECORD_MISC_USER,       PERF_RECORD_MISC_HYPERVISOR,
					  PERF_RECORD_MISC_GUEST_USER, 0,
					  PERF_RECORD_MISC_USER,       PERF_RECORD_MISC_KERNEL };
	uint32_t pid = script_id(t);
	uint8_t how = cursor_u8(&t->in), cpu = how >> 4 & 3;
	uint64_t time_ns = script_time(t);
	size_t size = 56;

	if (!time_ns) /* no sample of any recorder, and blocks have no bit for it */
		time_ns = 1;
	le64_store(t->rec + 8, other ? REC_RAW_ID : REC_CPU_ID);
	le64_store(t->rec + 16, script_address(t));
	le32_store(t->rec + 24, pid);
	le32_store(t->rec + 28, how & 8 ? script_id(t) : pid);
	le64_store(t->rec + 32, time_ns);
	le64_store(t->rec + 40, cpu == 3 ? 0xfffe : cpu);
	le64_store(t->rec + 48, how & 64 ? make_period(t, s) : 1000);
	if (s->layout == LAYOUT_COUNTS)
		size = put_counts(t, size);
	size = put_chain(t, size);
	if (other || s->layout != LAYOUT_COPIES) {
		le32_store(t->rec + size, 4);
		le32_store(t->rec + size + 4, cursor_u8(&t->in) % 5u | (how & 3) << 8);
		size += 8;
	}
	if (!other && s->layout == LAYOUT_COPIES) {
		size = put_copy(t, size);
	} else if (!other) {
		le64_store(t->rec + size, how & 4 ? cursor_u8(&t->in) % 6 : 1);
		size += 8;
	}
	if (how & 128) /* one that does not fit */
		size -= 8;
	rec_finish(t->rec, size, PERF_RECORD_SAMPLE, modes[how & 7]);
	/* A group read is with the first event, as a slice of perf's file has it. */
	script_add(t, other && s->layout != LAYOUT_COUNTS ? EBX_STREAM_MARK : EBX_STREAM_CPU, size,
		   time_ns, cpu);
	if (s->narrow_frames)
		script_flush(t);
}

/* ---- the script ---- */

/* A header of jitdump, and one piece of code that is loaded or moved. */
static size_t put_dump(struct record_script *t, uint8_t out[128])
{
	uint8_t how = cursor_u8(&t->in), *load = out + JITDUMP_HEADER_BYTES, *body = load + 16;

	memset(out, 0, 128);
	le32_store(out, 0x4a695444);
	le32_store(out + 4, 1);
	le32_store(out + 8, JITDUMP_HEADER_BYTES);
	out[32] = how & 2;
	le32_store(load, how & 4 ? JITDUMP_MOVE : JITDUMP_LOAD);
	le32_store(load + 4, 16 + 48);
	le64_store(load + 8, script_time(t));
	le64_store(body + 16 + (how & 4 ? 8 : 0), script_address(t));
	le64_store(body + 24 + (how & 4 ? 8 : 0), script_length(t));
	if (!(how & 4))
		memcpy(body + 40, "made", 5);
	return JITDUMP_HEADER_BYTES + 16 + 48;
}

/* "perf-PID.map", which has names of code by its address, or "jit-PID.dump", by its time, too. */
static void add_jit(struct record_script *t)
{
	uint8_t bytes[192], how = cursor_u8(&t->in);
	char name[32];
	int name_bytes = snprintf(name, sizeof(name), how & 1 ? "jit-%u.dump" : "perf-%u.map",
				  script_id(t) % 1000000000u);
	size_t at = 4 + (size_t)name_bytes;

	memcpy(bytes + 4, name, (size_t)name_bytes);
	if (how & 1)
		at += put_dump(t, bytes + at);
	else
		at += (size_t)snprintf((char *)bytes + at, 64, "%llx %llx jitted\n",
				       (unsigned long long)script_address(t),
				       (unsigned long long)script_length(t));
	le16_store(bytes, (uint16_t)(at - 2));
	le16_store(bytes + 2, (uint16_t)name_bytes);
	script_must(!buf_add(&t->objects, bytes, at));
}

static void put_records(struct record_script *t, const struct setting *s)
{
	while (script_goes_on(t)) {
		uint8_t op = cursor_u8(&t->in) % 24;

		if (script_op(t, op, op & 1 ? REC_CPU_ID : REC_SIDE_ID))
			continue;
		if (op == 11 && s->jits)
			add_jit(t);
		else
			add_sample(t, s, op == 12);
	}
}

/* ---- what is compared ---- */

/* Sums that do not depend on the order, nor on how the samples are divided. */
struct sum {
	uint64_t samples, periods;
	uint64_t stacks; /* hashes of their text, as often as they were there */
	uint64_t period_stacks;
	bool saturated; /* a stack's periods are more than a number holds: parts add up to another sum */
	uint64_t ends;
	uint64_t broken, all; /* all: samples of the event in the file */
	struct stack_counter_counts counts;
};

struct asked {
	const struct setting *setting;
	struct time_span span;
	bool sliced; /* the model knows the span only */
	unsigned threads;
};

static uint64_t hash_place(const struct process_model *m, const struct location *p)
{
	uint64_t hash = hash_pair(&digest_key, p->offset, (uint64_t)p->kind << 1 | p->is_return);
	const struct process_model_file *file;

	if (p->kind != LOCATION_FILE && p->kind != LOCATION_KSYMBOL)
		return hash;
	file = process_model_file(m, p->file);
	hash = hash_pair(&digest_key, hash,
			 hash_bytes(&digest_key, file->path, strlen(file->path)));
	hash = hash_pair(&digest_key, hash, file->id.inode << 32 ^ file->jit_pid);
	return hash_pair(
		&digest_key, hash,
		hash_bytes(&digest_key, file->id.build_id.bytes, file->id.build_id.size_bytes));
}

static uint64_t hash_path(const struct process_model *m, const struct stack_counter *s,
			  uint32_t node)
{
	const struct stack_table_node *nodes = stack_counter_stacks(s)->nodes;
	uint64_t hash = 1;

	for (; node >= STACK_TABLE_FIRST_NODE; node = nodes[node].parent)
		hash = hash_pair(&digest_key, hash,
				 hash_place(m, &stack_counter_places(s)->list[nodes[node].frame]));
	return hash;
}

static uint64_t hash_group(const struct string_table *names, const struct group *g)
{
	const char *comm = g->comm & STACK_COUNTER_TID_GROUP ? ""
							     : string_table_text(names, g->comm);
	uint64_t hash = hash_bytes(&digest_key, comm, strlen(comm));

	if (g->comm & STACK_COUNTER_TID_GROUP)
		hash = hash_pair(&digest_key, hash, g->comm);
	hash = hash_pair(&digest_key, hash, (uint64_t)g->pid << 32 | g->tid);
	hash = hash_pair(&digest_key, hash, (uint64_t)(uint32_t)g->cpu << 32 ^ g->time_ns);
	return hash_pair(&digest_key, hash, g->cgroup);
}

static void sum_up(const struct process_model *m, const struct string_table *names,
		   struct groups *groups, const struct stack_counter *s, struct sum *out)
{
	const struct stack_table *stacks = stack_counter_stacks(s);
	size_t count;
	const struct group *list = groups_list(groups, &count);

	for (size_t i = 0; i < stacks->entry_count; i++) {
		const struct stack_table_entry *e = &stacks->entries[i];
		uint64_t hash;

		script_must(e->key.group < count && e->sample_count);
		hash = hash_group(names, &list[e->key.group]);
		hash = hash_pair(&digest_key, hash, hash_path(m, s, e->key.user));
		hash = hash_pair(&digest_key, hash, hash_path(m, s, e->key.kernel));
		out->samples += e->sample_count;
		out->periods += e->period_sum;
		out->stacks += hash * e->sample_count;
		out->period_stacks += hash * e->period_sum;
		out->saturated |= e->period_sum == UINT64_MAX;
		out->ends += hash_pair(&digest_key, hash, e->key.end) * e->sample_count;
	}
}

/* A thread's answer holds for all of the time that it has. */
static void check_threads(const struct process_model *m, struct record_script *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const uint8_t *rec = t->bytes.data + t->list[i].at;
		struct process_model_where at, edge;
		uint64_t time_ns, from_ns, to_ns;
		uint32_t pid, tid;

		if (t->list[i].stream != EBX_STREAM_CPU)
			continue;
		pid = le32_load(rec + 24);
		tid = le32_load(rec + 28);
		time_ns = le64_load(rec + 32);
		process_model_thread_while(m, pid, tid, time_ns, &at, &from_ns, &to_ns);
		script_must(from_ns <= time_ns && time_ns <= to_ns);
		process_model_thread(m, pid, tid, from_ns, &edge);
		script_must(!memcmp(&at, &edge, sizeof(at)));
		process_model_thread(m, pid, tid, to_ns, &edge);
		script_must(!memcmp(&at, &edge, sizeof(at)));
	}
}

/* The mappings of a process rise, and each is what its addresses are. */
static void check_maps(const struct process_model *m)
{
	for (uint32_t e = 0; e < process_model_epoch_count(m); e++) {
		uint32_t space = process_model_epoch_space(m, e);
		uint64_t addr = 0;
		struct process_model_map map, same;
		struct process_model_place place;

		while (process_model_next_map(m, space, addr, &map)) {
			script_must(map.start < map.end && map.end > addr && map.start >= addr);
			script_must(map.file < process_model_file_count(m));
			script_must(process_model_map_at(m, space, map.end - 1, &same));
			script_must(same.start == map.start && same.end == map.end);
			script_must(process_model_place(m, space, map.start, &place));
			script_must(place.file == map.file &&
				    place.file_off_bytes == map.file_off_bytes);
			addr = map.end;
		}
	}
}

static void make_filter(const struct asked *a, struct filter *f)
{
	struct filter_error why;
	uint8_t how = a->setting->filter;

	filter_init(f);
	f->span = a->span;
	f->no_idle = how & 1;
	f->no_kernel_threads = how & 2;
	if (how & 4)
		script_must(!filter_add_pids(f, how & 128 ? "!2,3,4" : "2,3,4,5,6", &why));
	if (how & 8)
		script_must(!filter_add_comms(f, how & 128 ? "!c1,c2" : "c1,c2,:3", &why));
	if (how & 16)
		script_must(!filter_add_cpus(f, how & 128 ? "!0" : "0-1,65534", &why));
}

static struct sum count_at(const struct capture *c, struct record_script *t, const struct asked *a)
{
	struct sum out = { 0 };
	struct string_table *names = NULL;
	struct load_stats stats;
	const struct name_roots roots = { .symfs = NOWHERE };
	struct load_query q = { .roots = &roots, .thread_count = a->threads };
	struct load_scan scan;
	struct stack_counter *sampler;
	struct process_model *m;
	struct filter filter;

	make_filter(a, &filter);
	script_must(!string_table_new(&names) && !groups_new(a->setting->fields, 7, &q.groups));
	script_must(!load_model(c, names, a->sliced ? &a->span : NULL, &m, &scan));
	if (!a->sliced)
		check_threads(m, t);
	check_maps(m);
	q.filter = &filter;
	q.names = names;
	q.cached = scan.cached.words ? &scan.cached : NULL;
	q.later = scan.later.key_count ? &scan.later : NULL;
	script_must(!load_samples(c, m, &q, &sampler, &stats));
	script_must(!stack_counter_finish(sampler) && !stack_counter_settle(sampler));
	sum_up(m, names, q.groups, sampler, &out);
	out.counts = *stack_counter_counts(sampler);
	out.broken = stats.broken_samples;
	out.all = stats.event_samples;
	script_must(out.samples == out.counts.samples);
	script_must(!stats.damaged_blocks && !scan.damaged_blocks);
	stack_counter_free(sampler);
	load_scan_done(&scan);
	process_model_free(m);
	groups_free(q.groups);
	string_table_free(names);
	filter_done(&filter);
	return out;
}

static void show(const struct sum *s)
{
	fprintf(stderr,
		"%llu samples of %llu, periods %llu, stacks %llx, their periods %llx, ends %llx, "
		"without a chain %llu, deferred %llu, left out %llu, unknown %llu\n",
		(unsigned long long)s->samples, (unsigned long long)s->all,
		(unsigned long long)s->periods, (unsigned long long)s->stacks,
		(unsigned long long)s->period_stacks, (unsigned long long)s->ends,
		(unsigned long long)s->counts.without_chain, (unsigned long long)s->counts.deferred,
		(unsigned long long)s->counts.frames_left_out,
		(unsigned long long)s->counts.unknown_contexts);
}

static void agree(const struct sum *a, const struct sum *b, bool with_ends, const char *what)
{
	bool same_periods = a->periods == b->periods && a->period_stacks == b->period_stacks;

	if (a->samples == b->samples && a->stacks == b->stacks &&
	    (same_periods || a->saturated || b->saturated) && (!with_ends || a->ends == b->ends) &&
	    !memcmp(&a->counts, &b->counts, sizeof(a->counts)))
		return;
	fprintf(stderr, "%s\n", what);
	show(a);
	show(b);
	abort();
}

static void add_sum(struct sum *to, const struct sum *from)
{
	to->samples += from->samples;
	to->periods += from->periods;
	to->stacks += from->stacks;
	to->period_stacks += from->period_stacks;
	to->saturated |= from->saturated;
	to->ends += from->ends;
	to->all = from->all;
	to->counts.samples += from->counts.samples;
	to->counts.without_chain += from->counts.without_chain;
	to->counts.deferred += from->counts.deferred;
	to->counts.frames_left_out += from->counts.frames_left_out;
	to->counts.unknown_contexts += from->counts.unknown_contexts;
}

/* Three parts of the time, one of them maybe a moment. */
static struct sum count_parts(const struct capture *c, struct record_script *t, struct asked a)
{
	uint64_t from_ns = SCRIPT_BEGIN_NS + (a.setting->compare & 15) * 40u;
	const struct time_span parts[] = {
		{ 0, from_ns - 1 },
		{ from_ns, from_ns + (a.setting->compare & 64 ? 0 : 300) },
		{ from_ns + (a.setting->compare & 64 ? 1 : 301), UINT64_MAX },
	};
	struct sum all = { 0 };

	for (size_t i = 0; i < 3; i++) {
		struct sum one;

		a.span = parts[i];
		one = count_at(c, t, &a);
		script_must(!i || one.all == all.all);
		add_sum(&all, &one);
	}
	return all;
}

/* ---- reports ---- */

/* The text of a view; owned.  *picked: how many samples that is of. */
static char *view_text(const struct capture *c, const struct asked *a,
		       const struct report_view *view, uint64_t *picked)
{
	struct report_query query = { .thread_count = a->threads,
				      .roots = { .symfs = NOWHERE },
				      .demangle = true };
	struct report_annotate annotate = { .query = { .function = ".", .with_code = true } };
	struct report_ask ask = {
		.weight = a->setting->filter & 64 ? CALLTREE_PERIOD : CALLTREE_SAMPLES,
		.min_percent = a->setting->filter & 32 ? 100 : 0,
		.weight_name = "samples",
		.head = "",
		.around = "[f1]",
		.annotate = &annotate,
	};
	struct filter filter;
	char *text = NULL;
	const char *bad;
	struct report r;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	make_filter(a, &filter);
	query.filter = &filter;
	if (view->keys)
		script_must(!sort_keys_parse(&ask.keys, view->keys, &bad, &bytes));
	query.fields = GROUP_COMM | sort_keys_fields(&ask.keys);
	script_must(to && !(a->sliced ? report_open_later(c, &r) : report_open(c, &r)));
	if (!strcmp(view->name, "annotate"))
		report_annotate_begin(&annotate, &r, &query);
	script_must(!report_make(&r, &query));
	*picked = r.picked;
	script_must(r.picked == r.sampled.samples);
	if (view->write(&r, &ask, to) == -ENOENT)
		fputs("none", to);
	fclose(to);
	annotate_done(&annotate.found);
	report_done(&r);
	filter_done(&filter);
	return text;
}

/* "...stack 12", line by line. */
static uint64_t sum_of_lines(const char *text)
{
	uint64_t sum = 0;

	for (const char *end; *text; text = end + 1) {
		const char *number;

		end = strchr(text, '\n');
		script_must(end);
		for (number = end; number > text && number[-1] != ' '; number--)
			;
		sum += strtoull(number, NULL, 10);
	}
	return sum;
}

static void compare_reports(const struct script_capture *a, const struct script_capture *b,
			    const struct asked *how, const struct asked *other)
{
	size_t count;
	const struct report_view *views = report_views(&count);
	const struct report_view *view = &views[how->setting->compare / 4 % count];
	uint64_t picked[2];
	char *one = view_text(a->c, how, view, &picked[0]),
	     *two = view_text(b->c, other, view, &picked[1]);

	script_must(picked[0] == picked[1]);
	if (strcmp(one, two) != 0) {
		fprintf(stderr, "%s:\n%s\n%s\n", view->name, one, two);
		abort();
	}
	if (!strcmp(view->name, "folded") && !(how->setting->filter & 64))
		script_must(sum_of_lines(one) == picked[0]);
	free(one);
	free(two);
}

/* ---- all of it ---- */

static void compare(struct record_script *t, const struct setting *s,
		    const struct writer_opts *opts)
{
	struct script_capture ours = script_open(t, *opts, false);
	const struct asked entire = { s, TIME_SPAN_ALL, false, 1 };
	struct asked other = { s, TIME_SPAN_ALL, true, 2 };
	struct sum a, b;

	if (s->compare % 4 == 3) {
		compare_reports(&ours, &ours, &entire, &other);
	} else {
		a = count_at(ours.c, t, &entire);
		if (s->compare % 4 == 0)
			b = count_at(ours.c, t, &other);
		else if (s->compare % 4 == 1)
			b = count_parts(ours.c, t, other);
		if (s->compare % 4 < 2)
			agree(&a, &b, true, s->compare % 4 ? "parts" : "all as a slice");
	}
	if (s->compare % 4 == 2 && !t->objects.size_bytes) {
		struct script_capture plain = script_open(t, *opts, true);

		b = count_at(plain.c, t, &entire);
		agree(&a, &b, s->layout == LAYOUT_COPIES, "perf's");
		script_must(a.all == b.all && a.broken == b.broken);
		script_close(&plain);
	}
	script_close(&ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct record_script *t = calloc(1, sizeof(*t));
	struct writer_attr attrs[REC_ATTRS];
	const struct writer_opts opts = {
		.attrs = attrs, .attr_count = REC_ATTRS, .level = 1, .uuid = "fuzz"
	};
	struct setting s;
	uint8_t b;

	script_must(t);
	t->in = cursor_of(data, size_bytes);
	t->now_ns = SCRIPT_BEGIN_NS;
	b = cursor_u8(&t->in);
	s.layout = b % LAYOUTS;
	s.narrow_frames = b & 16;
	s.jits = b & 32;
	t->liar = b & 64;
	t->later = b & 128;
	s.fields = GROUP_COMM | cursor_u8(&t->in) % 64u;
	s.filter = cursor_u8(&t->in);
	s.compare = cursor_u8(&t->in);
	make_attrs(s.layout, t->later, attrs);
	put_records(t, &s);
	compare(t, &s, &opts);
	script_done(t);
	free(t);
	return 0;
}
