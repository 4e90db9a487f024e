/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_story - writes a capture of what a text says (standard input), a line a record
 *
 *	TIME fork PPID PID TID			times are ns; 0 in side-band: was there before
 *	TIME comm PID TID NAME
 *	TIME exec PID TID NAME
 *	TIME exit PID TID
 *	TIME map PID START BYTES OFFSET PATH	numbers as in C
 *	TIME kmap START BYTES SYMBOL		the kernel's own, named after SYMBOL
 *	TIME ksym ADDR BYTES NAME		TIME unksym ADDR BYTES NAME
 *	TIME lost COUNT
 *	TIME sample PID TID CPU PERIOD CHAIN...	u:ADDR,... k:ADDR,... innermost first; m:NUMBER raw
 *	- kallsyms ADDR TYPE NAME [MODULE]	a line of /proc/kallsyms, embedded
 *	- flush
 *
 * Empty lines and lines that start with # are skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/gen/records.h"

struct story {
	struct writer *w;
	uint8_t rec[REC_MAX];
	char *kallsyms; /* with the object's head in front */
	size_t kallsyms_bytes;
	FILE *kallsyms_to;
};

/* The next word of the line, NULL at its end. */
static char *word(char **rest)
{
	char *w = strsep(rest, " \t");

	while (w && !*w)
		w = strsep(rest, " \t");
	return w;
}

static uint64_t number(char **rest)
{
	const char *w = word(rest);

	return w ? strtoull(w, NULL, 0) : 0;
}

static int side(struct story *s, size_t size, uint32_t type, uint16_t misc, uint64_t time_ns)
{
	size = rec_tail(s->rec, size, 0, 0, time_ns);
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec, rec_finish(s->rec, size, type, misc),
			     time_ns, -1);
}

static int put_task(struct story *s, uint32_t type, uint64_t time_ns, char *rest)
{
	uint32_t ppid = type == PERF_RECORD_FORK ? (uint32_t)number(&rest) : 0;

	le32_store(s->rec + 8, (uint32_t)number(&rest));
	le32_store(s->rec + 12, ppid);
	le32_store(s->rec + 16, (uint32_t)number(&rest));
	le32_store(s->rec + 20, ppid);
	le64_store(s->rec + 24, time_ns);
	return side(s, 32, type, 0, time_ns);
}

static int put_comm(struct story *s, bool exec, uint64_t time_ns, char *rest)
{
	le32_store(s->rec + 8, (uint32_t)number(&rest));
	le32_store(s->rec + 12, (uint32_t)number(&rest));
	return side(s, rec_string(s->rec, 16, rest ? rest : ""), PERF_RECORD_COMM,
		    exec ? PERF_RECORD_MISC_COMM_EXEC : 0, time_ns);
}

static int put_map(struct story *s, uint64_t time_ns, char *rest)
{
	uint32_t pid = (uint32_t)number(&rest);

	memset(s->rec, 0, 72);
	le32_store(s->rec + 8, pid);
	le32_store(s->rec + 12, pid);
	for (unsigned i = 0; i < 3; i++)
		le64_store(s->rec + 16 + 8 * i, number(&rest));
	le32_store(s->rec + 64, 5); /* r-x */
	return side(s, rec_string(s->rec, 72, rest ? rest : ""), PERF_RECORD_MMAP2,
		    PERF_RECORD_MISC_USER, time_ns);
}

static int put_kmap(struct story *s, uint64_t time_ns, char *rest)
{
	uint64_t start = number(&rest);
	char path[256];

	le32_store(s->rec + 8, UINT32_MAX);
	le32_store(s->rec + 12, 0);
	le64_store(s->rec + 16, start);
	le64_store(s->rec + 24, number(&rest));
	le64_store(s->rec + 32, start);
	snprintf(path, sizeof(path), "[kernel.kallsyms]%s", rest ? rest : "");
	return side(s, rec_string(s->rec, 40, path), PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
		    time_ns);
}

static int put_ksym(struct story *s, bool unregister, uint64_t time_ns, char *rest)
{
	le64_store(s->rec + 8, number(&rest));
	le32_store(s->rec + 16, (uint32_t)number(&rest));
	le16_store(s->rec + 20, PERF_RECORD_KSYMBOL_TYPE_BPF);
	le16_store(s->rec + 22, unregister ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
	return side(s, rec_string(s->rec, 24, rest ? rest : ""), PERF_RECORD_KSYMBOL, 0, time_ns);
}

static int put_lost(struct story *s, uint64_t time_ns, char *rest)
{
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_lost(s->rec, REC_CPU_ID, number(&rest), time_ns), time_ns, -1);
}

/* "u:0x1,0x2" behind the chain so far; false when it is not of that form. */
static bool add_chain(struct story *s, char *part, size_t *count)
{
	uint64_t marker = *part == 'u' ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL;
	char *addr, *rest = part + 2;

	if (!strchr("ukm", *part) || part[1] != ':')
		return false;
	if (*part != 'm')
		le64_store(s->rec + 64 + 8 * (*count)++, marker);
	while ((addr = strsep(&rest, ",")) && *count < 8000)
		le64_store(s->rec + 64 + 8 * (*count)++, strtoull(addr, NULL, 0));
	return true;
}

static int put_sample(struct story *s, uint64_t time_ns, char *rest)
{
	uint16_t misc = PERF_RECORD_MISC_USER;
	uint64_t pid = number(&rest), tid = number(&rest), cpu = number(&rest);
	size_t count = 0;
	char *part;

	le64_store(s->rec + 8, REC_CPU_ID);
	le32_store(s->rec + 24, (uint32_t)pid);
	le32_store(s->rec + 28, (uint32_t)tid);
	le64_store(s->rec + 32, time_ns);
	le64_store(s->rec + 40, cpu);
	le64_store(s->rec + 48, number(&rest));
	while ((part = word(&rest))) {
		if (!count && *part == 'k')
			misc = PERF_RECORD_MISC_KERNEL;
		if (!add_chain(s, part, &count))
			return -EINVAL;
	}
	le64_store(s->rec + 16, count > 1 ? le64_load(s->rec + 72) : 0x1234);
	le64_store(s->rec + 56, count);
	return writer_record(s->w, EBX_STREAM_CPU, s->rec,
			     rec_finish(s->rec, 64 + 8 * count, PERF_RECORD_SAMPLE, misc), time_ns,
			     (int)cpu);
}

static int put_kallsyms(struct story *s, const char *rest)
{
	fprintf(s->kallsyms_to, "%s\n", rest ? rest : "");
	return 0;
}

static int put(struct story *s, char *line)
{
	const char *time = word(&line), *verb = word(&line);
	uint64_t time_ns = time ? strtoull(time, NULL, 0) : 0;

	if (!time || *time == '#')
		return 0;
	if (!verb)
		return -EINVAL;
	if (!strcmp(verb, "fork"))
		return put_task(s, PERF_RECORD_FORK, time_ns, line);
	if (!strcmp(verb, "exit"))
		return put_task(s, PERF_RECORD_EXIT, time_ns, line);
	if (!strcmp(verb, "comm") || !strcmp(verb, "exec"))
		return put_comm(s, *verb == 'e', time_ns, line);
	if (!strcmp(verb, "map"))
		return put_map(s, time_ns, line);
	if (!strcmp(verb, "kmap"))
		return put_kmap(s, time_ns, line);
	if (!strcmp(verb, "ksym") || !strcmp(verb, "unksym"))
		return put_ksym(s, *verb == 'u', time_ns, line);
	if (!strcmp(verb, "lost"))
		return put_lost(s, time_ns, line);
	if (!strcmp(verb, "sample"))
		return put_sample(s, time_ns, line);
	if (!strcmp(verb, "kallsyms"))
		return put_kallsyms(s, line);
	if (!strcmp(verb, "flush"))
		return writer_flush(s->w, true);
	return -EINVAL;
}

/* Reads the story; *line_number is that of the line that failed. */
static int tell(struct story *s, FILE *from, unsigned *line_number)
{
	static const char name[] = "/proc/kallsyms";
	char *line = NULL;
	size_t capacity = 0;
	int err = 0;

	s->kallsyms_to = open_memstream(&s->kallsyms, &s->kallsyms_bytes);
	if (!s->kallsyms_to)
		return -errno;
	fprintf(s->kallsyms_to, "%c%c%s", (int)(sizeof(name) - 1), 0, name);
	while (!err && getline(&line, &capacity, from) >= 0) {
		++*line_number;
		line[strcspn(line, "\n")] = '\0';
		err = put(s, line);
	}
	free(line);
	fclose(s->kallsyms_to);
	if (!err && s->kallsyms_bytes > 2 + sizeof(name) - 1)
		err = writer_object(s->w, EBX_FILE, 1, s->kallsyms, s->kallsyms_bytes);
	free(s->kallsyms);
	return err ? err : writer_finish(s->w, NULL, 0);
}

static int generate(int fd, bool plain, unsigned *line_number)
{
	static uint8_t host[] = "\x08\0\0\0machine";
	const struct writer_feature features[] = { { PERFFILE_HOSTNAME, host, sizeof(host) } };
	struct writer_attr attrs[REC_ATTRS];
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = REC_ATTRS,
		.features = features,
		.feature_count = 1,
		.clock_mono_ns = 1000000000,
		.clock_wall_ns = 1700000000000000000,
		.uuid = "gen_story",
		.level = 1,
		.plain = plain,
	};
	static struct story s;
	int err;

	rec_attrs(attrs);
	err = writer_new(fd, &opts, &s.w);
	if (!err)
		err = tell(&s, stdin, line_number);
	writer_free(s.w);
	return err;
}

int main(int argc, char **argv)
{
	bool plain = argc > 1 && !strcmp(argv[1], "--plain");
	unsigned line_number = 0;
	int fd, err;

	if (argc != 2 + plain) {
		fprintf(stderr, "usage: gen_story [--plain] FILE < STORY\n");
		return 2;
	}
	fd = open(argv[1 + plain], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	err = fd < 0 ? -errno : generate(fd, plain, &line_number);
	if (err) {
		fprintf(stderr, "gen_story: line %u: %s\n", line_number, strerror(-err));
		return 1;
	}
	return 0;
}
