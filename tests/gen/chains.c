/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * chains - functions and lines of addresses, as `addr2line -f -i` prints them
 *
 *	chains FILE [DWZ_FILE] <ADDRESSES
 *
 * One address a line, in hex; behind each chain comes an empty line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/lines.h"

int main(int argc, char **argv)
{
	struct lines_frame frames[LINES_DEPTH_MAX];
	struct lines *l;
	char line[64];
	int fd, alt, err;

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
		size_t i, n = lines_find(l, strtoull(line, NULL, 16), frames, LINES_DEPTH_MAX);

		if (!n)
			puts("??\n??:0");
		for (i = 0; i < n; i++)
			printf("%s\n%s:%u\n", frames[i].function ? frames[i].function : "??",
			       frames[i].file ? frames[i].file : "??", frames[i].line);
		puts("");
	}
	lines_free(l);
	return 0;
}
