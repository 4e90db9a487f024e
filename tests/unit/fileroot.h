/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fileroot - a folder of files that stands in the place of /, as a machine has them in /proc and /sys */
#ifndef EBPREC_TESTS_FILEROOT_H
#define EBPREC_TESTS_FILEROOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILEROOT_BYTES = 64 };

static inline void fileroot_make(char root[FILEROOT_BYTES])
{
	strcpy(root, "/tmp/ebprec-root-XXXXXX");
	assert_non_null(mkdtemp(root));
}

/* fileroot_put(root, "proc/stat", text): with its folders; NULL takes the file away. */
static inline void fileroot_put(const char *root, const char *path, const char *text)
{
	char full_path[256];
	FILE *f;

	snprintf(full_path, sizeof(full_path), "%s/%s", root, path);
	if (!text) {
		unlink(full_path);
		return;
	}
	for (char *p = full_path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full_path, 0755);
		*p = '/';
	}
	f = fopen(full_path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void fileroot_done(const char *root)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

#endif
