/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * chains - functions and lines of addresses, as `addr2line -f -i` prints them
 *
 *	chains FILE [DWZ_FILE] <ADDRESSES
 *	chains --all FILE [THREADS] <ADDRESSES
 *	chains --go FILE <ADDRESSES
 *
 * One address a line, in hex; behind each chain comes an empty line.  --all asks for all at once
 * (linetab), as reports do, and prints on stderr how many of them were left to libdw.  --go: by the table of
 * Go's runtime.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/locate/dwo_search.h"
#include "analyze/sym/symtab/go_symbols.h"
#include "analyze/sym/dwarf/libdw_lines.h"
#include "analyze/sym/dwarf/addr2line.h"
#include "format/base/vec.h"

static void print(const struct source_frame *frames, size_t n)
{
	if (!n)
		puts("??\n??:0");
	for (size_t i = 0; i < n; i++)
		printf("%s\n%s:%u\n", frames[i].function ? frames[i].function : "??",
		       frames[i].file ? frames[i].file : "??", frames[i].line);
	puts("");
}

static int by_value(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t *read_addresses(size_t *count)
{
	uint64_t *list = NULL;
	size_t room = 0;
	char line[64];

	*count = 0;
	while (fgets(line, sizeof(line), stdin)) {
		if (vec_reserve(&list, &room, *count + 1))
			abort();
		list[(*count)++] = strtoull(line, NULL, 16);
	}
	return list;
}

/* Opened when something is left to it. */
static struct lines *libdw;

static size_t ask_libdw(int fd, uint64_t vaddr, struct source_frame *frames)
{
	if (!libdw && lines_open(fd, -1, &libdw))
		return 0;
	return lines_find(libdw, vaddr, frames, LINES_DEPTH_MAX);
}

static int all_at_once(const char *path, unsigned thread_count)
{
	struct source_frame frames[LINES_DEPTH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	size_t count, left = 0;
	uint64_t *asked = read_addresses(&count), *sorted;
	const struct name_roots roots = { 0 };
	const struct located program = { .fd = fd, .root = "", .path = realpath(path, NULL) };
	const struct dwo_search places = { .roots = &roots, .program = &program };
	struct addr2line *t = NULL;
	const char *part;

	sorted = malloc((count + 1) * sizeof(*sorted));
	if (!asked || !sorted)
		exit(1);
	if (count)
		memcpy(sorted, asked, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	err = addr2line_new(fd, sorted, count, thread_count,
			    &(struct addr2line_parts){ .open = dwo_search_open,
						       .open_package = dwo_search_open_package,
						       .ctx = &places },
			    &t);
	for (size_t i = 0; i < count; i++) {
		size_t n;

		if (err || !addr2line_find(t, asked[i], frames, LINES_DEPTH_MAX, &n)) {
			n = ask_libdw(fd, asked[i], frames);
			left++;
		}
		print(frames, n);
	}
	fprintf(stderr, "%zu of %zu left to libdw\n", left, count);
	if (t && addr2line_gap(t, &part))
		fprintf(stderr, "no %s: %d\n", part, (int)addr2line_gap(t, &part));
	free(program.path);
	addr2line_free(t);
	lines_free(libdw);
	free(sorted);
	free(asked);
	return 0;
}

static int by_go(const char *path)
{
	struct source_frame frame;
	struct elf_file *elf = NULL;
	struct go_lines *g = NULL;
	char line[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = elf_file_open(fd, &elf);

	if (!err)
		err = go_lines_new(elf, &g);
	while (!err && fgets(line, sizeof(line), stdin))
		print(&frame, go_lines_find(g, strtoull(line, NULL, 16), &frame, 1));
	if (err)
		fprintf(stderr, "chains: %s: %s\n", path, strerror(-err));
	go_lines_free(g);
	elf_file_close(elf);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct source_frame frames[LINES_DEPTH_MAX];
	struct lines *l;
	char line[64];
	int fd, alt, err;

	if (argc > 2 && !strcmp(argv[1], "--all"))
		return all_at_once(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 0);
	if (argc > 2 && !strcmp(argv[1], "--go"))
		return by_go(argv[2]);
	if (argc < 2)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	alt = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	err = fd < 0 ? -1 : lines_open(fd, alt, &l);
	if (err) {
		fprintf(stderr, "chains: %s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		print(frames, lines_find(l, strtoull(line, NULL, 16), frames, LINES_DEPTH_MAX));
	}
	lines_free(l);
	return 0;
}
