/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_capture - writes a capture with chosen contents, without a kernel and without root
 *
 * The contents depend on the options alone: the same options give the same bytes.  Made for tests
 * of what a live recording seldom has, and for benches that want a known number of samples.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/gen/records.h"

#define START_NS 1000000000ULL
#define WALL_NS  1700000000000000000ULL

struct gen_opts {
	const char *path;
	unsigned long samples, depth, pids, cpus, symbols, flush, raw_bytes, ties, object_bytes;
	unsigned long level;
	bool big, plain, live, round;
};

struct gen {
	const struct gen_opts *o;
	struct writer *w;
	uint64_t random;
	uint8_t rec[REC_MAX];
	uint8_t raw[REC_MAX];
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
	int err = 0;

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

/* Stacks share their roots, as real ones do: the deeper, the fewer choices. */
static void make_chain(struct gen *g)
{
	uint64_t r = next_random(g);

	for (unsigned long i = 0; i < g->o->depth; i++) {
		unsigned long from_root = g->o->depth - i;
		uint64_t choice = from_root > 8 ? r >> (i % 32) : r & ((1u << from_root) - 1);

		g->chain[i] = REC_MMAP2_AT + (choice * 31 + from_root * 7919) % g->o->symbols * 64 +
			      from_root % 64;
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
		le64_store(data + b, next_random(g));
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

static const struct option long_opts[] = {
	{ "output", required_argument, NULL, 'o' }, { "samples", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'd' },  { "pids", required_argument, NULL, 'p' },
	{ "cpus", required_argument, NULL, 'c' },   { "symbols", required_argument, NULL, 's' },
	{ "flush", required_argument, NULL, 'f' },  { "raw", required_argument, NULL, 'r' },
	{ "ties", required_argument, NULL, 't' },   { "object", required_argument, NULL, 'O' },
	{ "level", required_argument, NULL, 'z' },  { "big", no_argument, NULL, 'b' },
	{ "plain", no_argument, NULL, 'P' },        { "live", no_argument, NULL, 'l' },
	{ "no-round", no_argument, NULL, 'R' },     { NULL, 0, NULL, 0 },
};

static int usage(void)
{
	fprintf(stderr,
		"usage: gen_capture -o FILE [--samples N] [--depth N] [--pids N] [--cpus N]\n"
		"\t[--symbols N] [--flush EVERY-N-SAMPLES] [--raw BYTES] [--ties N]\n"
		"\t[--object BYTES] [--level N] [--big] [--plain] [--live] [--no-round]\n");
	return 2;
}

static bool parse(int argc, char **argv, struct gen_opts *o)
{
	for (int c; (c = getopt_long(argc, argv, "o:n:d:p:", long_opts, NULL)) != -1;) {
		unsigned long *number = c == 'n'   ? &o->samples
					: c == 'd' ? &o->depth
					: c == 'p' ? &o->pids
					: c == 'c' ? &o->cpus
					: c == 's' ? &o->symbols
					: c == 'f' ? &o->flush
					: c == 'r' ? &o->raw_bytes
					: c == 't' ? &o->ties
					: c == 'O' ? &o->object_bytes
					: c == 'z' ? &o->level
						   : NULL;
		if (number)
			*number = strtoul(optarg, NULL, 0);
		else if (c == 'o')
			o->path = optarg;
		else if (c == 'b')
			o->big = true;
		else if (c == 'P')
			o->plain = true;
		else if (c == 'l')
			o->live = true;
		else if (c == 'R')
			o->round = false;
		else
			return false;
	}
	return o->path && optind == argc && o->pids && o->cpus && o->symbols && o->depth <= 500 &&
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
