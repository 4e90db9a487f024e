/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/perf_features.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

static const char *const names[] = {
	[1] = "TRACING_DATA",   [2] = "BUILD_ID",       [3] = "HOSTNAME",
	[4] = "OSRELEASE",      [5] = "VERSION",        [6] = "ARCH",
	[7] = "NRCPUS",         [8] = "CPUDESC",        [9] = "CPUID",
	[10] = "TOTAL_MEM",     [11] = "CMDLINE",       [12] = "EVENT_DESC",
	[13] = "CPU_TOPOLOGY",  [14] = "NUMA_TOPOLOGY", [15] = "BRANCH_STACK",
	[16] = "PMU_MAPPINGS",  [17] = "GROUP_DESC",    [18] = "AUXTRACE",
	[19] = "STAT",          [20] = "CACHE",         [21] = "SAMPLE_TIME",
	[22] = "MEM_TOPOLOGY",  [23] = "CLOCKID",       [24] = "DIR_FORMAT",
	[25] = "BPF_PROG_INFO", [26] = "BPF_BTF",       [27] = "COMPRESSED",
	[28] = "CPU_PMU_CAPS",  [29] = "CLOCK_DATA",    [30] = "HYBRID_TOPOLOGY",
	[31] = "PMU_CAPS",
};

const char *feature_name(unsigned bit)
{
	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}

static struct cursor section_cursor(const struct capture *c, unsigned bit)
{
	struct capture_bytes b = capture_feature(c, bit);

	return cursor_of(b.data, b.size_bytes);
}

int feature_cpus(const struct capture *c, uint32_t *available_count, uint32_t *online_count)
{
	struct cursor s = section_cursor(c, PERFFILE_NRCPUS);
	uint32_t available = cursor_u32(&s), online = cursor_u32(&s);

	if (!s.data)
		return -ENOENT;
	if (!cursor_ok(&s))
		return -EBADMSG;
	*available_count = available;
	*online_count = online;
	return 0;
}

int feature_memory(const struct capture *c, uint64_t *memory_bytes)
{
	struct cursor s = section_cursor(c, PERFFILE_TOTAL_MEM);
	uint64_t kib = cursor_u64(&s);

	if (!s.data)
		return -ENOENT;
	if (!cursor_ok(&s) || kib > UINT64_MAX >> 10)
		return -EBADMSG;
	*memory_bytes = kib << 10;
	return 0;
}

/* The words of a string list are NUL-terminated in room_bytes that are padded. */
static int next_word(struct cursor *s, const char **word, size_t *length)
{
	uint32_t room_bytes = cursor_u32(s);
	const uint8_t *p = cursor_bytes(s, room_bytes);

	if (!p)
		return -EBADMSG;
	*word = (const char *)p;
	*length = strnlen((const char *)p, room_bytes);
	return 0;
}

int feature_command_words(const struct capture *c,
			  void (*see)(void *ctx, const char *word, size_t bytes), void *ctx)
{
	struct cursor s = section_cursor(c, PERFFILE_CMDLINE);
	uint32_t count = cursor_u32(&s);
	size_t length;
	const char *word;

	if (!s.data)
		return -ENOENT;
	while (count--) {
		if (next_word(&s, &word, &length))
			return -EBADMSG;
		see(ctx, word, length);
	}
	return 0;
}

struct line {
	char *text;
	size_t used_bytes;
};

static void add_word(void *ctx, const char *word, size_t bytes)
{
	struct line *l = ctx;

	if (l->used_bytes)
		l->text[l->used_bytes++] = ' ';
	memcpy(l->text + l->used_bytes, word, bytes);
	l->used_bytes += bytes;
}

int feature_command_line(const struct capture *c, char **out)
{
	/* Each word takes less room joined (one space) than stored (four bytes of length). */
	struct line line = { .text = malloc(section_cursor(c, PERFFILE_CMDLINE).size_bytes + 1) };
	int err;

	if (!line.text)
		return -ENOMEM;
	err = feature_command_words(c, add_word, &line);
	if (err) {
		free(line.text);
		return err;
	}
	line.text[line.used_bytes] = '\0';
	*out = line.text;
	return 0;
}

int feature_topology(const struct capture *c, uint32_t *package_count, uint32_t *core_count)
{
	struct cursor s = section_cursor(c, PERFFILE_CPU_TOPOLOGY);
	uint32_t packages = cursor_u32(&s), cores;
	const char *list;
	size_t length;

	if (!s.data)
		return -ENOENT;
	for (uint32_t i = 0; i < packages; i++) {
		if (next_word(&s, &list, &length))
			return -EBADMSG;
	}
	cores = cursor_u32(&s);
	if (!cursor_ok(&s))
		return -EBADMSG;
	*package_count = packages;
	*core_count = cores;
	return 0;
}

int feature_build_ids(const struct capture *c, uint32_t *count)
{
	struct cursor s = section_cursor(c, PERFFILE_BUILD_ID);
	uint32_t n = 0;
	uint16_t record_bytes;

	if (!s.data)
		return -ENOENT;
	for (; cursor_left(&s); n++) {
		cursor_skip(&s, 6); /* type and misc: perf writes 0 */
		record_bytes = cursor_u16(&s);
		if (!cursor_ok(&s) || record_bytes < 8)
			return -EBADMSG;
		cursor_skip(&s, record_bytes - 8U);
	}
	if (!cursor_ok(&s))
		return -EBADMSG;
	*count = n;
	return 0;
}
