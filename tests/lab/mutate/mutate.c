/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mutate - runs every command on damaged captures, in one process, and keeps what brings it down
 *
 *	mutate random FIRST COUNT SEED DIR FILE...  COUNT random changes of the FILEs, from number FIRST on
 *	mutate four FIRST COUNT SEED DIR FILE...    the same, through info, report, recover and script alone
 *	mutate bytes DIR FILE...                    each FILE cut at every byte, a bit of every byte flipped
 *	mutate all DIR FILE...                      each FILE as it is: hostile ones
 *
 * Any command may fail on a damaged file, with a line and a status.  It may not crash,
 * run for more than HANG_S seconds of CPU time, wait for more than WAIT_S, take more than MEMORY_MAX, or return what is no exit status.
 * Damaged files are made from (seed, number) alone, so that a finding can be made again; it is stored
 * as DIR/finding-N-COMMAND.data.  Batches run in children: a crash costs one damaged file.
 * Speaks TAP, one test a FILE or, when random, one a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/lib/ebprec.h"
#include "tests/fuzz/resum.h"

#define HANG_S     20
#define WAIT_S     600
#define MEMORY_MAX (1UL << 30)
#define FILE_MAX   (4U << 20)
#define BATCH      512
#define WORDS_MAX  10

/* Reads all samples, stacks and frames of a file through libebprec. */
static int see_sample(void *arg, struct ebprec_cursor *at)
{
	struct ebprec_location location = { .size = sizeof(location) };
	struct ebprec_sample sample = { .size = sizeof(sample) };
	int err = ebprec_get_sample(at, &sample);

	for (size_t i = 0; !err; i++)
		err = ebprec_get_location(at, i, &location);
	return err == -ENOENT ? 0 : err;
}

static int build_tree(struct ebprec_stacks *s, uint32_t flags)
{
	const struct ebprec_tree_opts opts = { .size = sizeof(opts), .flags = flags };
	struct ebprec_node node = { .size = sizeof(node) };
	struct ebprec_tree *t;
	int err = ebprec_make_tree(s, &opts, &t);

	for (uint32_t i = 0; !err; i++)
		err = ebprec_get_node(t, i, &node);
	ebprec_tree_free(t);
	return err == -ENOENT ? 0 : err;
}

static int count_stacks(struct ebprec *e, const struct ebprec_query *query)
{
	struct ebprec_group group = { .size = sizeof(group) };
	struct ebprec_stack stack = { .size = sizeof(stack) };
	struct ebprec_frame frame = { .size = sizeof(frame) };
	struct ebprec_stacks *s;
	int err = ebprec_count(e, query, &s);

	for (size_t i = 0; !err && !(err = ebprec_get_stack(s, i, &stack)); i++) {
		for (size_t f = 0; !err && f < stack.frame_count; f++)
			err = ebprec_get_frame(s, stack.frames[f], &frame);
		if (!err)
			err = ebprec_get_group(s, stack.group, &group);
	}
	if (s && err == -ENOENT)
		err = build_tree(s, EBPREC_BOTTOM_UP);
	if (!err)
		err = build_tree(s, EBPREC_BY_GROUP);
	ebprec_stacks_free(s);
	return err;
}

static int use_library(int argc, char **argv)
{
	const struct ebprec_query query = { .size = sizeof(query),
					    .symfs = argv[1],
					    .by = EBPREC_BY_COMM | EBPREC_BY_CGROUP,
					    .flags = EBPREC_INLINED | EBPREC_LINES |
						     EBPREC_QUALITY_TEXT };
	const struct ebprec_query plain = { .size = sizeof(plain), .symfs = argv[1] };
	struct ebprec_process process = { .size = sizeof(process) };
	struct ebprec_mark mark = { .size = sizeof(mark) };
	struct ebprec_info info = { .size = sizeof(info) };
	struct ebprec *e;
	int err = ebprec_open(argv[2], NULL, &e);

	if (!err)
		err = ebprec_get_info(e, &info);
	for (size_t i = 0; !err; i++)
		err = ebprec_get_process(e, i, &process);
	for (size_t i = 0; err == -ENOENT && !(err = ebprec_get_mark(e, i, &mark)); i++)
		err = -ENOENT;
	if (err == -ENOENT) {
		err = ebprec_each_sample(e, &plain, see_sample, NULL);
		if (!err)
			err = count_stacks(e, &query);
	}
	ebprec_close(e);
	return err != 0;
}

/*
 * The commands that run on each damaged file, the four first: IN stands for it, OUT for a file to be
 * written, ROOT for a folder that holds few files: else most of the time is that of their symbols.
 */
static const char in_word[] = "IN", out_word[] = "OUT", root_word[] = "ROOT";
static const struct job {
	int (*run)(int argc, char **argv);
	const char *words[WORDS_MAX];
} jobs[] = {
	{ cmd_info, { "info", "-i", in_word } },
	{ cmd_report, { "report", "--symfs", root_word, "-i", in_word } },
	{ cmd_recover, { "recover", "-o", out_word, in_word } },
	{ cmd_script, { "script", "--symfs", root_word, "-i", in_word } },
	{ cmd_info, { "info", "--json", "-i", in_word } },
	{ cmd_report, { "report", "--folded", "--annotations", "-i", in_word } },
	{ cmd_report, { "report", "--sort", "comm,dso,sym", "-i", in_word } },
	{ cmd_report, { "report", "--annotate", ".", "--asm", "-i", in_word } },
	{ cmd_sched, { "sched", "-i", in_word } },
	{ cmd_summary, { "summary", "-i", in_word } },
	{ cmd_slice, { "slice", "--time", "0.001,0.1", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--raw", "-o", out_word, "-i", in_word } },
	{ cmd_report, { "report", "--folded", "--time", "1.001,1.002", "-i", in_word } },
	{ cmd_metrics, { "metrics", "--json", "-i", in_word } },
	{ cmd_marks, { "marks", "-i", in_word } },
	{ cmd_scrub, { "scrub", "-o", out_word, in_word } },
	{ cmd_info, { "info", "--blocks", "-i", in_word } },
	{ cmd_info, { "info", "--objects", "-i", in_word } },
	{ cmd_report, { "report", "--html", out_word, "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--svg", out_word, "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--json", "--symfs", root_word, "-i", in_word } },
	{ cmd_report,
	  { "report", "--off-cpu", "--json=denet", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--csv", "--threads", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--tree", "--period", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--bottom-up", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--callers", ".", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--callees", ".", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--process", "1", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--symbols-report", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--off-cpu", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--wakers", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--waits", "--symfs", root_word, "-i", in_word } },
	{ cmd_report, { "report", "--wall", "--symfs", root_word, "-i", in_word } },
	{ cmd_report,
	  { "report", "--brief", "--baseline", in_word, "--symfs", root_word, "-i", in_word } },
	{ cmd_diff, { "diff", "--symfs", root_word, in_word, in_word } },
	{ cmd_diff, { "diff", "--json", "--symfs", root_word, in_word, in_word } },
	{ cmd_diff, { "diff", "--html", out_word, "--symfs", root_word, in_word, in_word } },
	{ cmd_summary, { "summary", "--json", "--symfs", root_word, "-i", in_word } },
	{ cmd_sched, { "sched", "--json", "-i", in_word } },
	{ cmd_sched, { "sched", "--exited", "-i", in_word } },
	{ cmd_sched, { "sched", "--latency", "--on-cpu", "-i", in_word } },
	{ cmd_metrics, { "metrics", "--histogram", "--symfs", root_word, "-i", in_word } },
	{ cmd_metrics, { "metrics", "--interval", "--symfs", root_word, "-i", in_word } },
	{ cmd_metrics, { "metrics", "--csv", "-i", in_word } },
	{ cmd_metrics, { "metrics", "--json=denet", "-i", in_word } },
	{ cmd_metrics, { "metrics", "--list", "-i", in_word } },
	{ cmd_marks, { "marks", "--summary", "-i", in_word } },
	{ cmd_marks, { "marks", "--waterfall", "-i", in_word } },
	{ cmd_marks, { "marks", "--json", "-i", in_word } },
	{ cmd_scrub, { "scrub", "--erase", "--keep-unknown", "-o", out_word, in_word } },
	{ cmd_scrub,
	  { "scrub", "--list", "--comm", ".", "--symbol", ".", "-o", out_word, in_word } },
	{ cmd_bundle, { "bundle", "--lines", "--symfs", root_word, "-o", out_word, in_word } },
	{ cmd_bundle, { "bundle", "--list", "--symfs", root_word, in_word } },
	{ cmd_merge, { "merge", "-o", out_word, in_word, in_word } },
	{ cmd_script, { "script", "--ns", "--symfs", root_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "folded", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "pprof", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "speedscope", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "firefox", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "chrome", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "callgrind", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "json", "-o", out_word, "-i", in_word } },
	{ cmd_export, { "export", "--to", "csv", "-o", out_word, "-i", in_word } },
	{ use_library, { "libebprec", root_word, in_word } },
};
#define JOBS (sizeof(jobs) / sizeof(jobs[0]))
#define FOUR 4
/* Run on each of many thousand changes; the others only see hostile files as they are. */
#define USUAL 16

struct source {
	const char *path;
	uint8_t *data;
	size_t size_bytes;
};

/* Where a child stands, for the parent that finds it dead. */
struct location {
	uint64_t number; /* of the damaged file */
	unsigned job;
	int bad_status; /* a job returned this, which is no exit status */
};

struct run {
	const struct source *sources;
	size_t source_count;
	uint64_t seed; /* 0: every byte in turn */
	bool as_they_are;
	unsigned jobs;   /* so many of the table */
	const char *dir; /* for findings and work files */
	char in[256], out[256];
	struct location *place; /* shared with the child */
	unsigned findings;
};

static uint64_t random_state; /* of the damage that is being done; xorshift64* */

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545F4914F6CDD1DULL >> 11) % below;
}

/* One change; the values are those on which sizes and counts go wrong. */
static size_t change_once(uint8_t *p, size_t size, size_t max)
{
	static const uint64_t edges[] = { 0,
					  1,
					  7,
					  8,
					  0x7f,
					  0xff,
					  0x7fff,
					  0xffff,
					  0x7fffffff,
					  0xffffffff,
					  0x7fffffffffffffff,
					  UINT64_MAX,
					  UINT64_MAX - 7,
					  1ULL << 32,
					  65,
					  81 };
	size_t at = draw(size), n = 1 + draw(16);
	uint64_t v = edges[draw(sizeof(edges) / sizeof(edges[0]))];

	switch (draw(8)) {
	case 0:
	case 1:
		p[at] ^= (uint8_t)(1 << draw(8));
		return size;
	case 2:
		p[at] = (uint8_t)draw(256);
		return size;
	case 3: /* an edge, as a field would lie */
		n = 1UL << draw(4);
		at -= at % n;
		memcpy(p + at, &v, size - at < n ? size - at : n);
		return size;
	case 4: /* somewhere else's bytes */
		n = draw(2) ? n : 1 + draw(256);
		n = size - at < n ? size - at : n;
		memmove(p + at, p + draw(size - n + 1), n);
		return size;
	case 5:
		memset(p + at, (int)draw(2) * 0xff, size - at < n ? size - at : n);
		return size;
	case 6: /* a few bytes out */
		n = size - at < n ? size - at : n;
		memmove(p + at, p + at + n, size - at - n);
		return size - n;
	default: /* a few bytes in */
		n = max - size < n ? max - size : n;
		memmove(p + at + n, p + at, size - at);
		return size + n;
	}
}

static size_t change(uint8_t *p, size_t size, size_t max)
{
	for (uint64_t i = 1 + draw(4); i && size; i--)
		size = change_once(p, size, max);
	return size;
}

static size_t damage_randomly(const struct run *r, uint64_t number, uint8_t *to)
{
	const struct source *s;
	size_t size;

	random_state = (r->seed + number) * 0x9E3779B97F4A7C15ULL | 1;
	draw(2);
	s = &r->sources[draw(r->source_count)];
	size = s->size_bytes;
	memcpy(to, s->data, size);
	if (draw(2) || !resum_change_inside(to, size, (unsigned)draw(1U << 30), change))
		size = change(to, size, FILE_MAX);
	if (draw(4))
		resum_capture(to, size);
	if (!draw(8))
		size = draw(size + 1);
	return size;
}

/* Number 2i is the first source cut behind i bytes, 2i + 1 the one with a bit of byte i flipped. */
static size_t damage_in_turn(const struct run *r, uint64_t number, uint8_t *to)
{
	const struct source *s = r->sources;
	size_t at = number / 2;

	memcpy(to, s->data, s->size_bytes);
	if (number % 2 == 0)
		return at;
	to[at] ^= (uint8_t)(1U << at % 8);
	return s->size_bytes;
}

static size_t damage(const struct run *r, uint64_t number, uint8_t *to)
{
	if (r->as_they_are) {
		memcpy(to, r->sources[number].data, r->sources[number].size_bytes);
		return r->sources[number].size_bytes;
	}
	return r->seed ? damage_randomly(r, number, to) : damage_in_turn(r, number, to);
}

static void write_file(const char *path, const uint8_t *data, size_t size_bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size_bytes) != (ssize_t)size_bytes) {
		fprintf(stderr, "mutate: cannot write '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	close(fd);
}

static int run_job(const struct run *r, const struct job *job)
{
	char words[WORDS_MAX][256], *argv[WORDS_MAX + 1] = { NULL };
	int argc;

	for (argc = 0; argc < WORDS_MAX && job->words[argc]; argc++) {
		const char *word = job->words[argc];

		word = word == in_word     ? r->in
		       : word == out_word  ? r->out
		       : word == root_word ? r->dir
					   : word;
		snprintf(words[argc], sizeof(words[argc]), "%s", word);
		argv[argc] = words[argc];
	}
	unlink(r->out);
	return job->run(argc, argv);
}

static void be_quiet(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit limit = { MEMORY_MAX, MEMORY_MAX };

	dup2(fd, STDERR_FILENO);
	setrlimit(RLIMIT_AS, &limit);
#endif
}

/* By its own time, too: on a busy machine a command that does not hang takes long. */
static void watch_for_hang(void)
{
	const struct itimerval own = { .it_value = { .tv_sec = HANG_S } };

	setitimer(ITIMER_PROF, &own, NULL);
	alarm(WAIT_S);
}

/* The child: numbers from `first` on, `count` of them. */
static void run_batch(const struct run *r, uint64_t first, uint64_t count)
{
	uint8_t *data = malloc(FILE_MAX);

	be_quiet();
	for (uint64_t i = first; data && i < first + count; i++) {
		r->place->number = i;
		write_file(r->in, data, damage(r, i, data));
		for (r->place->job = 0; r->place->job < r->jobs; r->place->job++) {
			int status;

			watch_for_hang();
			status = run_job(r, &jobs[r->place->job]);
			if (status < 0 || status > 2) {
				r->place->bad_status = status;
				_exit(3);
			}
		}
	}
	free(data);
	exit(0); /* not _exit: the leak checker speaks at exit */
}

static void keep_finding(struct run *r, int status)
{
	char path[512];
	uint8_t *data = malloc(FILE_MAX);

	if (!data)
		exit(2);
	snprintf(path, sizeof(path), "%s/finding-%llu-%s.data", r->dir,
		 (unsigned long long)r->place->number,
		 r->place->job < r->jobs ? jobs[r->place->job].words[0] : "end");
	write_file(path, data, damage(r, r->place->number, data));
	free(data);
	if (r->place->bad_status)
		printf("# %s: exit status %d\n", path, r->place->bad_status);
	else if (WIFSIGNALED(status))
		printf("# %s: %s\n", path, strsignal(WTERMSIG(status)));
	else
		printf("# %s: ended with %d\n", path, WEXITSTATUS(status));
	r->findings++;
	r->place->bad_status = 0;
}

/* Damaged files first to end - 1; each crash starts a new child behind it. */
static void run_all(struct run *r, uint64_t first, uint64_t end)
{
	for (uint64_t at = first; at < end && r->findings < 20;) {
		uint64_t n = end - at < BATCH ? end - at : BATCH;
		int status = 0;
		pid_t pid;

		if ((at - first) % (16 * BATCH) == 0 && at > first)
			printf("# %llu is next\n", (unsigned long long)at);
		fflush(stdout);
		pid = fork();
		if (pid < 0) {
			perror("mutate: fork");
			exit(2);
		}
		if (!pid)
			run_batch(r, at, n);
		waitpid(pid, &status, 0);
		if (!status) {
			at += n;
			continue;
		}
		keep_finding(r, status);
		at = r->place->number + 1;
	}
}

static void load(struct source *s, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > FILE_MAX / 2) {
		fprintf(stderr, "mutate: cannot use '%s': %s\n", path,
			fd < 0 ? strerror(errno) : "empty, or too large");
		exit(2);
	}
	*s = (struct source){ path, malloc((size_t)st.st_size), (size_t)st.st_size };
	if (!s->data || read(fd, s->data, s->size_bytes) != st.st_size)
		exit(2);
	close(fd);
}

static unsigned test_random(struct run *r, uint64_t first, uint64_t count)
{
	printf("1..1\n");
	run_all(r, first, first + count);
	printf("%sok 1 - %llu random changes of %zu files, %u commands each\n",
	       r->findings ? "not " : "", (unsigned long long)count, r->source_count, r->jobs);
	return r->findings;
}

static unsigned test_bytes(struct run *r)
{
	size_t files = r->source_count;
	unsigned findings = 0;

	printf("1..%zu\n", files);
	for (size_t i = 0; i < files; i++, r->sources++) {
		r->findings = 0;
		run_all(r, 0, 2 * r->sources->size_bytes);
		printf("%sok %zu - %s: cut at, and a bit flipped in, each of %zu bytes\n",
		       r->findings ? "not " : "", i + 1, strrchr(r->sources->path, '/'),
		       r->sources->size_bytes);
		findings += r->findings;
	}
	return findings;
}

static unsigned test_all(struct run *r)
{
	printf("1..1\n");
	run_all(r, 0, r->source_count);
	printf("%sok 1 - %zu files as they are, %u commands each\n", r->findings ? "not " : "",
	       r->source_count, r->jobs);
	return r->findings;
}

static int usage(void)
{
	fprintf(stderr, "usage: mutate random|four FIRST COUNT SEED DIR FILE...\n"
			"       mutate bytes|all DIR FILE...\n");
	return 2;
}

/* The files from `files` on, NULL behind them. */
static int prepare(struct run *r, const char *dir, char **files)
{
	struct source *sources;

	while (files[r->source_count])
		r->source_count++;
	sources = calloc(r->source_count + 1, sizeof(*sources));
	r->sources = sources;
	r->dir = dir;
	r->place = mmap(NULL, sizeof(*r->place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (!sources || r->place == MAP_FAILED) {
		free(sources);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->source_count; i++)
		load(&sources[i], files[i]);
	snprintf(r->in, sizeof(r->in), "%s/in-%d.data", dir, getpid());
	snprintf(r->out, sizeof(r->out), "%s/out-%d.data", dir, getpid());
	return 0;
}

static void done(struct run *r, const struct source *sources)
{
	unlink(r->in);
	unlink(r->out);
	for (size_t i = 0; i < r->source_count; i++)
		free(sources[i].data);
	free((struct source *)(uintptr_t)sources);
}

int main(int argc, char **argv)
{
	bool four = argc > 1 && !strcmp(argv[1], "four");
	bool random = four || (argc > 1 && !strcmp(argv[1], "random"));
	struct run r = { .jobs = four ? FOUR : USUAL };
	const struct source *sources;
	int dir = random ? 5 : 2;
	unsigned findings;

	r.as_they_are = argc > 1 && !strcmp(argv[1], "all");
	r.jobs = r.as_they_are ? JOBS : r.jobs;
	if (argc < dir + 2 || (!random && !r.as_they_are && strcmp(argv[1], "bytes") != 0))
		return usage();
	setenv("EBPREC_SANDBOX", "0", 1); /* one process runs them all */
	if (prepare(&r, argv[dir], argv + dir + 1))
		return 2;
	sources = r.sources;
	if (random) {
		r.seed = strtoull(argv[4], NULL, 10) * 1000000007 + 1;
		findings = test_random(&r, strtoull(argv[2], NULL, 10),
				       strtoull(argv[3], NULL, 10));
	} else if (r.as_they_are) {
		findings = test_all(&r);
	} else {
		findings = test_bytes(&r);
	}
	done(&r, sources);
	return findings > 0;
}
