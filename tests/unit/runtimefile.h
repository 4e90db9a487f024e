/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* runtimefile - the interpreter in a fixture, or in changed bytes of one */
#ifndef EBPREC_TESTS_RUNTIMEFILE_H
#define EBPREC_TESTS_RUNTIMEFILE_H

#include "format/reader/source.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"
#include "tests/unit/fixture.h"

/* elf_python_find(), elf_v8_find(), elf_jvm_find(), elf_listed_find() or elf_perl_find(). */
typedef void runtimefile_find(const struct elf_parts *parts, struct elf_runtime *out);

static inline struct elf_runtime runtimefile_in_source(runtimefile_find *find,
						       const struct source *file)
{
	struct elf_runtime r = { 0 };
	struct elf_parts parts;

	if (!elf_parts_read(file, &parts)) {
		find(&parts, &r);
		elf_parts_done(&parts);
	}
	return r;
}

/* Reads a fixture that fits into room_bytes.  Returns how many bytes it has. */
static inline size_t runtimefile_read(const char *name, uint8_t *bytes, size_t room_bytes)
{
	char path[FIXTURE_PATH];
	size_t size;
	FILE *f;

	fixture_path(name, path);
	f = fopen(path, "re");
	assert_non_null(f);
	size = fread(bytes, 1, room_bytes, f);
	assert_in_range(size, 1, room_bytes - 1);
	fclose(f);
	return size;
}

static inline struct elf_runtime runtimefile_in_bytes(runtimefile_find *find, const uint8_t *bytes,
						      size_t size_bytes)
{
	struct source s;

	source_of_bytes(bytes, size_bytes, &s);
	return runtimefile_in_source(find, &s);
}

static inline struct elf_runtime runtimefile_in(runtimefile_find *find, const char *name)
{
	char path[FIXTURE_PATH];
	struct elf_runtime r;
	struct source s;

	fixture_path(name, path);
	assert_int_equal(source_open(path, &s, NULL), 0);
	r = runtimefile_in_source(find, &s);
	source_done(&s);
	return r;
}

#endif
