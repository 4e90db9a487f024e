/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * names - the names that our resolver gives to places
 *
 *	names [KALLSYMS] < PLACES
 *
 * Each line of PLACES is "HEX PATH", an offset in a file, or an address of the kernel when PATH is
 * "[kernel.kallsyms]" or a module.  Prints "HEX NAME PATH" as `perf script -F ip,sym,dso` would,
 * "[unknown]" for what has no name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/resolve.h"

static char *slurp(const char *path, size_t *size_bytes)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n, room = 0;

	*size_bytes = 0;
	while (f) {
		if (room - *size_bytes < 65536) {
			room = room ? 2 * room : 1 << 20;
			text = realloc(text, room);
			if (!text)
				abort();
		}
		n = fread(text + *size_bytes, 1, room - *size_bytes, f);
		if (!n)
			break;
		*size_bytes += n;
	}
	if (f)
		fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	struct resolver_opts opts = { .demangle = true };
	char line[8192], *path;
	char *kallsyms = NULL;
	size_t kallsyms_bytes = 0;
	struct resolver *r;

	if (argc > 1)
		kallsyms = slurp(argv[1], &kallsyms_bytes);
	if (resolver_new(&opts, &r) ||
	    (kallsyms && resolver_take_kallsyms(r, kallsyms, kallsyms_bytes)))
		return 1;
	free(kallsyms);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long place = strtoull(line, &path, 16);
		struct resolver_file f = { .path = path };
		const struct resolved *x;

		path += strspn(path, " ");
		path[strcspn(path, "\n")] = '\0';
		f.path = path;
		if (*path == '[' && strcmp(path, "[vdso]") != 0)
			x = resolver_kernel(r, place, false);
		else
			x = resolver_user(r, resolver_add_file(r, &f), place, false);
		printf("%llx %s %s\n", place, x->name ? x->name : "[unknown]", path);
	}
	resolver_free(r);
	return 0;
}
