/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_capture - writes a capture with chosen contents, without a kernel and without root
 *
 * The contents depend on the options alone: the same options give the same bytes.  Made for tests
 * of what a live recording seldom has, and for benches that want a known number of samples.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/unwind/unwind.h"
#include "tests/lib/gen/records.h"

#define START_NS 1000000000ULL
#define WALL_NS  1700000000000000000ULL

struct gen_opts {
	const char *path;
	unsigned long samples, depth, pids, cpus, symbols, stacks, flush, raw_bytes, ties,
		object_bytes;
	unsigned long level;
	bool big, plain, live, round, zero, results;
};

struct gen {
	const struct gen_opts *o;
	struct writer *w;
	uint64_t random;
	uint8_t rec[REC_MAX];
	uint8_t raw[REC_MAX];
	uint8_t result[STACK_RESULT_BYTES];
	uint64_t chain[512];
};

static uint64_t next_random(struct gen *g)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random;
}

static int put(struct gen *g, enum ebx_stream stream, size_t size, uint64_t time_ns, int cpu)
{
	return writer_record(g->w, stream, g->rec, size, time_ns, cpu);
}

/* Every process: fork, comm, one mapping. */
static int put_processes(struct gen *g)
{
	char name[32];
	int err = put(g, EBX_STREAM_SIDE, rec_kernel_mmap(g->rec), 0, -1);

	for (unsigned long i = 0; !err && i < g->o->pids; i++) {
		uint32_t pid = 1000 + (uint32_t)i;

		snprintf(name, sizeof(name), "proc%lu", i);
		err = put(g, EBX_STREAM_SIDE, rec_task(g->rec, PERF_RECORD_FORK, pid, 1, 0), 0, -1);
		if (!err)
			err = put(g, EBX_STREAM_SIDE, rec_comm(g->rec, pid, pid, name, 0), 0, -1);
		if (!err)
			err = put(g, EBX_STREAM_SIDE, rec_mmap2(g->rec, pid, "/usr/bin/gen", 0), 0,
				  -1);
	}
	return err;
}

/*
 * One of o->stacks stacks, few of them often and many seldom.  They form a tree: the frame at each
 * level depends on the stack's number without the bits that only callees see.
 */
static void make_chain(struct gen *g)
{
	uint64_t a = next_random(g) % g->o->stacks, b = next_random(g) % g->o->stacks;
	uint64_t stack = a * b / g->o->stacks;

	for (unsigned long i = 0; i < g->o->depth; i++) {
		unsigned long level = g->o->depth - i;
		uint64_t shared = i / 2 < 64 ? stack >> (i / 2) : 0;
		uint64_t function = (shared * 7919 + level * 104729) % g->o->symbols;

		g->chain[i] = REC_MMAP2_AT + function * 64 + function % 61;
	}
}

static int put_sample(struct gen *g, unsigned long i)
{
	const struct gen_opts *o = g->o;
	struct rec_sample s = {
		.pid = 1000 + (uint32_t)(next_random(g) % o->pids),
		.cpu = (uint32_t)(i % o->cpus),
		.time_ns = START_NS + (i / (o->ties ? o->ties : 1)) * 10000,
		.chain = g->chain,
		.chain_count = o->depth,
	};

	s.tid = s.pid;
	make_chain(g);
	if (o->raw_bytes) {
		for (size_t b = 0; b < o->raw_bytes; b += 8)
			le64_store(g->raw + b, next_random(g));
		s.raw = g->raw;
		s.raw_bytes = o->raw_bytes;
	}
	if (o->results) { /* every third stack is not complete, for reasons in turn */
		const struct stack_result result = {
			.how = STACK_RESULT_CFI,
			.why = i % 3 ? UNWIND_COMPLETE : (uint8_t)(UNWIND_NO_CFI + i / 3 % 9),
		};

		stack_result_encode(&result, g->result);
		s.result = g->result;
	}
	return put(g, EBX_STREAM_CPU, rec_sample(g->rec, &s), s.time_ns, (int)s.cpu);
}

/* One record of the largest size there is, and not to be compressed. */
static int put_big(struct gen *g)
{
	struct rec_sample s = { .pid = 1000, .tid = 1000, .time_ns = START_NS, .raw = g->raw };
	size_t empty = 64 + 4;

	s.raw_bytes = PERFFILE_RECORD_MAX - empty;
	for (size_t b = 0; b < s.raw_bytes; b += 8)
		le64_store(g->raw + b, next_random(g));
	return put(g, EBX_STREAM_CPU, rec_sample(g->rec, &s), s.time_ns, 0);
}

static int put_object(struct gen *g)
{
	uint8_t *data = malloc(g->o->object_bytes + 8);
	int err;

	if (!data)
		return -ENOMEM;
	for (size_t b = 0; b < g->o->object_bytes; b += 8)
		le64_store(data + b, g->o->zero ? 0 : next_random(g));
	err = writer_object(g->w, EBX_FILE, 1, data, g->o->object_bytes);
	free(data);
	return err;
}

static int fill(struct gen *g)
{
	static const char meta[] = "{\"generator\":\"gen_capture\"}";
	int err;

	err = writer_object(g->w, EBX_META, EBX_META_START, meta, sizeof(meta) - 1);
	if (!err)
		err = put_processes(g);
	if (!err && g->o->object_bytes)
		err = put_object(g);
	if (!err && g->o->big)
		err = put_big(g);
	for (unsigned long i = 0; !err && i < g->o->samples; i++) {
		err = put_sample(g, i);
		if (!err && g->o->flush && (i + 1) % g->o->flush == 0)
			err = writer_flush(g->w, g->o->round);
	}
	if (!err)
		err = g->o->live ? writer_flush(g->w, g->o->round) : writer_finish(g->w, NULL, 0);
	return err;
}

/* A section that holds one string: u32 length, then the string with zeros. */
static size_t string_section(uint8_t *out, const char *s)
{
	le32_store(out, 64);
	memset(out + 4, 0, 64);
	memcpy(out + 4, s, strlen(s));
	return 68;
}

static int generate(const struct gen_opts *o, int fd)
{
	static struct gen g;
	uint8_t host[68], release[68], arch[68], clock_id[8], clock_data[24];
	struct writer_feature features[] = {
		{ PERFFILE_HOSTNAME, host, string_section(host, "gen") },
		{ PERFFILE_OSRELEASE, release, string_section(release, "6.1.0-gen") },
		{ PERFFILE_ARCH, arch, string_section(arch, "x86_64") },
		{ PERFFILE_CLOCKID, clock_id, sizeof(clock_id) },
		{ PERFFILE_CLOCK_DATA, clock_data, sizeof(clock_data) },
	};
	struct writer_attr attrs[REC_ATTRS];
	struct writer_opts w = {
		.attrs = attrs,
		.attr_count = REC_ATTRS,
		.features = features,
		.feature_count = sizeof(features) / sizeof(features[0]),
		.clock_mono_ns = START_NS,
		.clock_wall_ns = WALL_NS,
		.uuid = "gen_capture",
		.level = (int)o->level,
		.plain = o->plain,
	};
	int err;

	rec_attrs(attrs);
	if (o->results)
		attrs[0].attr.sample_type |= PERF_SAMPLE_RAW;
	le64_store(clock_id, 1);
	le32_store(clock_data, 1);
	le32_store(clock_data + 4, 1);
	le64_store(clock_data + 8, WALL_NS);
	le64_store(clock_data + 16, START_NS);
	g = (struct gen){ .o = o, .random = 0x9e3779b97f4a7c15ULL };
	err = writer_new(fd, &w, &g.w);
	if (!err)
		err = fill(&g);
	writer_free(g.w);
	return err;
}

/* Options with a number; an option has the name of the value that it sets. */
static const struct number_option {
	const char *name;
	size_t off_bytes;
} numbers[] = {
	{ "samples", offsetof(struct gen_opts, samples) },
	{ "depth", offsetof(struct gen_opts, depth) },
	{ "pids", offsetof(struct gen_opts, pids) },
	{ "cpus", offsetof(struct gen_opts, cpus) },
	{ "symbols", offsetof(struct gen_opts, symbols) },
	{ "stacks", offsetof(struct gen_opts, stacks) },
	{ "flush", offsetof(struct gen_opts, flush) },
	{ "raw", offsetof(struct gen_opts, raw_bytes) },
	{ "ties", offsetof(struct gen_opts, ties) },
	{ "object", offsetof(struct gen_opts, object_bytes) },
	{ "level", offsetof(struct gen_opts, level) },
};

static const struct flag_option {
	const char *name;
	size_t off_bytes;
	bool value;
} flags[] = {
	{ "big", offsetof(struct gen_opts, big), true },
	{ "plain", offsetof(struct gen_opts, plain), true },
	{ "live", offsetof(struct gen_opts, live), true },
	{ "no-round", offsetof(struct gen_opts, round), false },
	{ "results", offsetof(struct gen_opts, results), true }, /* of user stacks */
	{ "zero", offsetof(struct gen_opts, zero), true },       /* bytes of the object */
};

static int usage(void)
{
	fprintf(stderr, "usage: gen_capture -o FILE");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fprintf(stderr, " [--%s N]", numbers[i].name);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		fprintf(stderr, " [--%s]", flags[i].name);
	fprintf(stderr, "\n");
	return 2;
}

/* Takes one option, and its value where it has one; returns how many words that were, 0: none. */
static int take(struct gen_opts *o, const char *word, const char *value)
{
	if (!strcmp(word, "-o") && value) {
		o->path = value;
		return 2;
	}
	if (strncmp(word, "--", 2))
		return 0;
	for (size_t i = 0; value && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(word + 2, numbers[i].name))
			continue;
		*(unsigned long *)((char *)o + numbers[i].off_bytes) = strtoul(value, NULL, 0);
		return 2;
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(word + 2, flags[i].name))
			continue;
		*(bool *)((char *)o + flags[i].off_bytes) = flags[i].value;
		return 1;
	}
	return 0;
}

static bool parse(int argc, char **argv, struct gen_opts *o)
{
	for (int i = 1, n; i < argc; i += n) {
		n = take(o, argv[i], argv[i + 1]);
		if (!n)
			return false;
	}
	return o->path && o->pids && o->cpus && o->symbols && o->stacks && o->depth <= 500 &&
	       o->raw_bytes % 8 == (o->raw_bytes ? 4 : 0) && o->raw_bytes <= 60000;
}

int main(int argc, char **argv)
{
	struct gen_opts o = {
		.samples = 1000,
		.depth = 10,
		.pids = 4,
		.cpus = 2,
		.symbols = 2000,
		.stacks = 2000,
		.flush = 10000,
		.level = 1,
		.round = true,
	};
	int fd, err;

	if (!parse(argc, argv, &o))
		return usage();
	fd = open(o.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		fprintf(stderr, "gen_capture: cannot create %s: %s\n", o.path, strerror(errno));
		return 1;
	}
	err = generate(&o, fd);
	if (!err && close(fd))
		err = -errno;
	if (err) {
		fprintf(stderr, "gen_capture: cannot write %s: %s\n", o.path, strerror(-err));
		return 1;
	}
	return 0;
}
