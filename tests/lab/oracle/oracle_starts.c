/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * oracle_starts - compares where functions of a stripped file begin by .eh_frame with the symbols of its debug file
 *
 *	oracle_starts STRIPPED DEBUG
 *
 * The truth: the FUNC symbols with a size, but for those that lie in another one.  X.cold is a part of X: the local
 * symbol of that name in the same source file, or the only one of that name.  Prints one line of counts (enum
 * count_of), and to stderr what is wrong.  Exit status 2 where a file cannot be read.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/sym/symtab/function_ranges.h"

enum { PLACE_BYTES = 16 }; /* between the places that are asked for */

enum count_of {
	FUNCTIONS,       /* that are no cold part */
	STARTS,          /* of them begin where they do by .eh_frame */
	FUNCTIONS_WRONG, /* of them: the first byte counts as another function's */
	COLD,            /* cold parts with a known function */
	COLD_JOINED,     /* of them: with their function */
	COLD_ALONE,      /* of them: a function of its own */
	COLD_WRONG,      /* of them: with another function */
	PLACES,
	PLACES_RIGHT,
	PLACES_NONE,  /* of no function */
	PLACES_WRONG, /* of another one, but for cold parts that are alone */
	COUNTS,
};

struct symbol {
	uint64_t start, end, function; /* function: where it begins that this is (a part of) */
	const char *name;
	size_t source; /* number of the source file, 0: a global symbol */
	bool is_cold;
};

struct symbols {
	struct symbol *list;
	size_t count;
};

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end != y->end ? (x->end > y->end ? -1 : 1) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static size_t cold_suffix(const char *name)
{
	size_t size = strlen(name);

	return size > 5 && !strcmp(name + size - 5, ".cold") ? size - 5 : 0;
}

/* The function of a cold part, looked up in symbols by name; 0: not known. */
static uint64_t function_of(const struct symbols *s, const struct symbol *cold)
{
	char *name = strndup(cold->name, cold_suffix(cold->name));
	uint64_t found = 0;
	size_t lo = 0, hi = s->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(s->list[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->count && !strcmp(s->list[lo].name, name); lo++) {
		if (s->list[lo].source && s->list[lo].source == cold->source) {
			found = s->list[lo].start;
			break;
		}
		found = found && found != s->list[lo].start ? UINT64_MAX : s->list[lo].start;
	}
	free(name);
	return found == UINT64_MAX ? 0 : found;
}

/* Drops the symbols that lie in another one; the list is by address then. */
static void drop_inner(struct symbols *s)
{
	size_t n = 0;

	qsort(s->list, s->count, sizeof(*s->list), by_start);
	for (size_t i = 0; i < s->count; i++)
		if (!n || s->list[i].start >= s->list[n - 1].end)
			s->list[n++] = s->list[i];
	s->count = n;
}

static int read_symbols(Elf *elf, struct symbols *out)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t source = 0;
	Elf_Data *data;
	GElf_Sym sym;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			break;
	data = section ? elf_getdata(section, NULL) : NULL;
	out->list = data ? calloc(data->d_size / header.sh_entsize + 1, sizeof(*out->list)) : NULL;
	if (!out->list)
		return -1;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
		bool is_local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;

		source += GELF_ST_TYPE(sym.st_info) == STT_FILE;
		if (!name || !sym.st_size || sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC))
			continue;
		out->list[out->count++] = (struct symbol){
			sym.st_value, sym.st_value + sym.st_size, sym.st_value,
			name,         is_local ? source : 0,      cold_suffix(name) > 0
		};
	}
	qsort(out->list, out->count, sizeof(*out->list), by_name);
	for (size_t i = 0; i < out->count; i++)
		if (out->list[i].is_cold)
			out->list[i].function = function_of(out, &out->list[i]);
	drop_inner(out);
	return 0;
}

static bool has_start(const struct function_ranges *r, uint64_t start)
{
	size_t lo = 0, hi = function_ranges_count(r);
	uint64_t at, end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		function_ranges_at(r, mid, &at, &end);
		if (at == start)
			return true;
		if (at < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static void report(const char *what, const struct symbol *s, uint64_t pc, uint64_t start)
{
	fprintf(stderr, "%s: %s+%#" PRIx64 " counts as part of the function at %#" PRIx64 "\n",
		what, s->name, pc - s->start, start);
}

static void count_symbol(const struct function_ranges *r, const struct symbol *s, uint64_t *counts)
{
	uint64_t start = 0;
	bool found = function_ranges_find(r, s->start, &start);

	if (!s->is_cold) {
		counts[FUNCTIONS]++;
		counts[STARTS] += has_start(r, s->start);
		if (found && start != s->start && counts[FUNCTIONS_WRONG]++ < 10)
			report("function", s, s->start, start);
	} else if (s->function && found) {
		counts[COLD]++;
		counts[COLD_JOINED] += start == s->function;
		counts[COLD_ALONE] += start == s->start;
		if (start != s->start && start != s->function && counts[COLD_WRONG]++ < 10)
			report("cold part", s, s->start, start);
	}
	for (uint64_t pc = s->start; s->function && pc < s->end; pc += PLACE_BYTES) {
		found = function_ranges_find(r, pc, &start);
		counts[PLACES]++;
		counts[PLACES_NONE] += !found;
		counts[PLACES_RIGHT] += found && start == s->function;
		if (found && start != s->function && start != s->start &&
		    counts[PLACES_WRONG]++ < 10)
			report("place", s, pc, start);
	}
}

int main(int argc, char **argv)
{
	uint64_t counts[COUNTS] = { 0 };
	struct function_ranges *ranges = NULL;
	struct symbols symbols = { 0 };
	struct elf_file *stripped;
	int fd, debug_fd;
	Elf *debug;

	elf_version(EV_CURRENT);
	fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	debug_fd = argc == 3 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	debug = debug_fd >= 0 ? elf_begin(debug_fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (fd < 0 || !debug || elf_file_open(fd, &stripped) || read_symbols(debug, &symbols)) {
		fprintf(stderr, "oracle_starts: cannot read '%s' and '%s'\n",
			argc == 3 ? argv[1] : "", argc == 3 ? argv[2] : "");
		return 2;
	}
	if (!function_ranges_new(stripped, NULL, &ranges))
		for (size_t i = 0; i < symbols.count; i++)
			count_symbol(ranges, &symbols.list[i], counts);
	for (int i = 0; i < COUNTS; i++)
		printf("%" PRIu64 "%c", counts[i], i + 1 < COUNTS ? ' ' : '\n');
	free(symbols.list);
	function_ranges_free(ranges);
	elf_file_close(stripped);
	elf_end(debug);
	close(debug_fd);
	close(fd);
	return 0;
}
