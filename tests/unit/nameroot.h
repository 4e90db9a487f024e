/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * nameroot - a root of its own for the files of one test, and the answers of a resolver for the addresses in them
 *
 * A test is TEST(f), and sh() fills the root.
 */
#ifndef EBPREC_TESTS_NAMEROOT_H
#define EBPREC_TESTS_NAMEROOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyze/sym/resolve.h"
#include "tests/unit/fixture.h"

#define ID           "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67"
#define OFF_F_SIZED  0x1000 /* .text of tests/lib/fixtures/layout in the file */
#define OFF_F_NOSIZE 0x1040

/* A root of its own for the files of one test. */
struct env {
	char root[64];
	char fixtures[FIXTURE_PATH];
};

static inline int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	fixture_path("", e->fixtures);
	strcpy(e->root, "/tmp/ebprec-test-XXXXXX");
	assert_non_null(mkdtemp(e->root));
	assert_int_equal(chmod(e->root, 0755), 0);
	*state = e;
	return 0;
}

static inline int teardown(void **state)
{
	struct env *e = *state;
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", e->root);
	assert_int_equal(system(cmd), 0);
	free(e);
	return 0;
}

/* Runs a shell command with $f = the fixtures and $r = the root. */
static inline void sh(const struct env *e, const char *cmd)
{
	char *all;

	assert_true(asprintf(&all, "f='%s'; r='%s'; %s", e->fixtures, e->root, cmd) > 0);
	assert_int_equal(system(all), 0);
	free(all);
}

static inline struct resolver *resolver_with(struct name_roots roots, const char *kallsyms)
{
	struct resolver_opts opts = { .roots = roots, .demangle = true };
	struct resolver *r;

	assert_int_equal(resolver_new(&opts, &r), 0);
	if (kallsyms)
		assert_int_equal(resolver_take_kallsyms(r, kallsyms, strlen(kallsyms)), 0);
	return r;
}

static inline struct resolver *resolver_of(const char *symfs, const char *kallsyms)
{
	return resolver_with((struct name_roots){ .symfs = symfs }, kallsyms);
}

static inline struct resolver_file file_of(const char *path, bool with_id)
{
	struct resolver_file f = { .path = path };

	if (with_id) {
		memcpy(f.id.build_id.bytes, ID, 20);
		f.id.build_id.size_bytes = 20;
	}
	return f;
}

/* The name that one lookup gives, or the text of its reason. */
static inline const char *lookup(struct resolver *r, const char *path, bool with_id, uint64_t off)
{
	struct resolver_file f = file_of(path, with_id);
	const struct resolved *x = resolver_user(r, resolver_add_file(r, &f), off, false);

	if (!x->name != (x->reason != NAME_FOUND))
		fail_msg("name and reason do not agree for %s", path);
	assert_true(x->offset == off);
	return x->name ? x->name : name_reason_text(x->reason);
}

#define assert_reason(text, reason) assert_string_equal(text, name_reason_text(reason))

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
