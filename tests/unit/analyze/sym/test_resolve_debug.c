/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* resolve, locate: debug files, and files with a build-id, in any folder */
#include "tests/unit/nameroot.h"

static void resolve_debug_packages_are_found_by_build_id(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);

	sh(e, "d=$r/usr/lib/debug/.build-id/01; mkdir -p $d; cp $f/layout.stripped $r/app;"
	      "cp $f/layout.debug $d/23456789abcdef0123456789abcdef01234567.debug");
	assert_string_equal(lookup(r, "/app", true, OFF_F_SIZED), "f_sized");
	resolver_free(r);
	r = resolver_of(e->root, NULL); /* one that lies is left alone */
	sh(e, "cp $f/layout.other-id "
	      "$r/usr/lib/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug");
	assert_reason(lookup(r, "/app", true, OFF_F_SIZED), NAME_DEBUG_STALE);
	resolver_free(r);
}

/* The answer of one look-up in a fresh resolver. */
static const char *ask(struct name_roots roots, const char *path, bool with_id, uint64_t off)
{
	static char answer[256];
	struct resolver *r = resolver_with(roots, NULL);

	snprintf(answer, sizeof(answer), "%s", lookup(r, path, with_id, off));
	resolver_free(r);
	return answer;
}

#define HEX_PATH "01/23456789abcdef0123456789abcdef01234567"

/* A symfs, two debug folders and a cache below the root of the test. */
struct locations {
	char symfs[128], first[128], second[128], cache[128];
	const char *dirs[2];
	struct name_roots roots;
};

static void places_make(const struct env *e, struct locations *p)
{
	sh(e, "mkdir -p $r/fs/opt/app/bin $r/d1/.build-id/01 $r/d2/.build-id/01 $r/cache");
	snprintf(p->symfs, sizeof(p->symfs), "%s/fs", e->root);
	snprintf(p->first, sizeof(p->first), "%s/d1", e->root);
	snprintf(p->second, sizeof(p->second), "%s/d2", e->root);
	snprintf(p->cache, sizeof(p->cache), "%s/cache", e->root);
	p->dirs[0] = p->first;
	p->dirs[1] = p->second;
	p->roots = (struct name_roots){
		.symfs = p->symfs, .debug_dirs = p->dirs, .debug_dir_count = 2, .cache = p->cache
	};
}

static void resolve_debug_files_are_found_in_every_folder(void **state)
{
	static const struct {
		const char *make;
		bool with_id;
	} cases[] = {
		/* by build-id: debug folders, below them as if they were roots, perf's cache */
		{ "cp $f/layout.debug $r/d1/.build-id/" HEX_PATH ".debug", true },
		{ "cp $f/layout.debug $r/d2/.build-id/" HEX_PATH ".debug", true },
		{ "d=$r/d2/usr/lib/debug/.build-id; mkdir -p $d/01;"
		  "cp $f/layout.debug $d/" HEX_PATH ".debug",
		  true },
		{ "d=$r/cache/.build-id/" HEX_PATH "; mkdir -p $d; cp $f/layout.debug $d/debug",
		  true },
		/* a relative and an absolute link, both inside the folder */
		{ "cp $f/layout.debug $r/d1/it; ln -s ../../it $r/d1/.build-id/" HEX_PATH ".debug",
		  true },
		{ "cp $f/layout.debug $r/d1/it; ln -s /it $r/d1/.build-id/" HEX_PATH ".debug",
		  true },
		/* by debuglink */
		{ "cp $f/it.debug $r/fs/opt/app/bin/", false },
		{ "mkdir $r/fs/opt/app/bin/.debug; cp $f/it.debug $r/fs/opt/app/bin/.debug/",
		  false },
		{ "d=$r/fs/usr/lib/debug/opt/app/bin; mkdir -p $d; cp $f/it.debug $d", false },
		{ "d=$r/fs/usr/lib/debug/usr/opt/app/bin; mkdir -p $d; cp $f/it.debug $d", false },
		{ "d=$r/d2/opt/app/bin; mkdir -p $d; cp $f/it.debug $d", false },
		{ "cp $f/it.debug $r/d1", false },
		{ "cp $f/layout.debug $r/fs/opt/app/bin/it.debug", true }, /* ids before CRCs */
	};
	struct env *e = *state;
	struct locations p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *file = cases[i].with_id ? "linked" : "linked.no-id", *answer;
		char copy[128];

		places_make(e, &p);
		snprintf(copy, sizeof(copy), "cp $f/%s $r/fs/opt/app/bin/app", file);
		sh(e, copy);
		answer = ask(p.roots, "/opt/app/bin/app", cases[i].with_id, OFF_F_SIZED);
		assert_reason(answer, NAME_STRIPPED);
		sh(e, cases[i].make);
		answer = ask(p.roots, "/opt/app/bin/app", cases[i].with_id, OFF_F_SIZED);
		if (strcmp(answer, "f_sized") != 0)
			fail_msg("%s: %s", cases[i].make, answer);
		sh(e, "rm -rf $r/*");
	}
}

/* A file below symfs is called as it was on the recorded machine. */
static void resolve_debug_files_are_shown_with_their_folder(void **state)
{
	struct env *e = *state;
	struct resolver_source source;
	struct resolver_file f = file_of("/opt/app/bin/app", true);
	struct resolver *r;
	struct locations p;
	char want[256];

	places_make(e, &p);
	sh(e, "cp $f/linked $r/fs/opt/app/bin/app; cp $f/layout.debug $r/d2/.build-id/" HEX_PATH
	      ".debug");
	r = resolver_with(p.roots, NULL);
	assert_string_equal(resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->name,
			    "f_sized");
	assert_true(resolver_source(r, 0, &source));
	snprintf(want, sizeof(want), "%s/.build-id/" HEX_PATH ".debug", p.second);
	assert_string_equal(source.debug_file, want);
	assert_string_equal(source.file, "/opt/app/bin/app");
	resolver_free(r);
}

static void resolve_debug_files_of_another_build_are_refused(void **state)
{
	static const struct {
		const char *make;
		bool with_id;
		enum name_reason reason;
	} cases[] = {
		{ "cp $f/layout.other-id $r/d1/.build-id/" HEX_PATH ".debug", true,
		  NAME_DEBUG_STALE },
		{ "cp $f/layout.other-id $r/fs/opt/app/bin/it.debug", true, NAME_DEBUG_STALE },
		{ "cp $f/it.debug $r/fs/opt/app/bin; echo >>$r/fs/opt/app/bin/it.debug", false,
		  NAME_DEBUG_STALE },
		{ ": >$r/fs/opt/app/bin/it.debug", false, NAME_DEBUG_STALE },
		/* no files: nothing is opened that may block or do harm, nothing outside */
		{ "mkfifo $r/fs/opt/app/bin/it.debug", false, NAME_STRIPPED },
		{ "ln -s /dev/zero $r/fs/opt/app/bin/it.debug", false, NAME_STRIPPED },
		{ "ln -s it.debug $r/fs/opt/app/bin/it.debug", false, NAME_STRIPPED },
		{ "mkdir $r/fs/opt/app/bin/it.debug", false, NAME_STRIPPED },
		{ "cp $f/it.debug $r; ln -s ../../../../it.debug $r/fs/opt/app/bin/it.debug", false,
		  NAME_STRIPPED },
		{ "cp $f/layout.debug $r; ln -s $r/layout.debug $r/d1/.build-id/" HEX_PATH ".debug",
		  true, NAME_STRIPPED },
	};
	struct env *e = *state;
	struct locations p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *file = cases[i].with_id ? "linked" : "linked.no-id", *answer;
		char copy[128];

		places_make(e, &p);
		snprintf(copy, sizeof(copy), "cp $f/%s $r/fs/opt/app/bin/app", file);
		sh(e, copy);
		sh(e, cases[i].make);
		answer = ask(p.roots, "/opt/app/bin/app", cases[i].with_id, OFF_F_SIZED);
		if (strcmp(answer, name_reason_text(cases[i].reason)) != 0)
			fail_msg("%s: %s", cases[i].make, answer);
		sh(e, "rm -rf $r/*");
	}
}

static void resolve_a_file_that_is_gone_is_found_by_its_build_id(void **state)
{
	static const char *const makes[] = {
		"cp $f/layout $r/d2/.build-id/" HEX_PATH,
		"d=$r/cache/.build-id/" HEX_PATH "; mkdir -p $d; cp $f/layout $d/elf",
		"d=$r/cache/.build-id/01; mkdir -p $d; cp $f/layout $r/cache/.build-id/" HEX_PATH,
		"d=$r/fs/usr/lib/debug/.build-id/01; mkdir -p $d; cp $f/layout $r/fs/opt;"
		"ln -s /opt/layout $r/fs/usr/lib/debug/.build-id/" HEX_PATH,
		/* the debug file alone */
		"cp $f/layout.debug $r/d1/.build-id/" HEX_PATH ".debug",
	};
	struct env *e = *state;
	struct locations p;
	size_t i;

	for (i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		const char *answer;

		places_make(e, &p);
		sh(e, makes[i]);
		answer = ask(p.roots, "/opt/app/bin/app", true, OFF_F_SIZED);
		if (strcmp(answer, "f_sized") != 0)
			fail_msg("%s: %s", makes[i], answer);
		assert_reason(ask(p.roots, "/opt/app/bin/app", false, OFF_F_SIZED), NAME_FILE_GONE);
		sh(e, "rm -rf $r/*");
	}
}

static void resolve_a_replaced_file_is_found_by_its_build_id(void **state)
{
	struct env *e = *state;
	struct locations p;

	places_make(e, &p);
	sh(e, "cp $f/layout.other-id $r/fs/opt/app/bin/app");
	assert_reason(ask(p.roots, "/opt/app/bin/app", true, OFF_F_SIZED), NAME_BUILD_ID_DIFFERS);
	sh(e, "cp $f/layout $r/d1/.build-id/" HEX_PATH);
	assert_string_equal(ask(p.roots, "/opt/app/bin/app", true, OFF_F_SIZED), "f_sized");
}

/* objcopy takes the offsets away: behind a gap between segments no place is guessed. */
static void resolve_with_the_debug_file_alone_guesses_no_place(void **state)
{
	struct env *e = *state;
	struct locations p;

	places_make(e, &p);
	sh(e, "cp $f/layout.debug $r/d1/.build-id/" HEX_PATH ".debug");
	assert_string_equal(ask(p.roots, "/gone", true, OFF_F_SIZED + 8), "f_sized");
	assert_reason(ask(p.roots, "/gone", true, 0x3000), NAME_BETWEEN);
	assert_reason(ask(p.roots, "/gone", true, 0x13000), NAME_BETWEEN);
}

static void resolve_minidebuginfo_joins_the_exports(void **state)
{
	struct env *e = *state;
	struct resolver *r;
	struct resolver_source source;
	struct name_roots roots = { .symfs = e->root };

	sh(e, "cp $f/layout.mini $r/app");
	assert_string_equal(ask(roots, "/app", true, OFF_F_SIZED), "f_sized");
	r = resolver_with(roots, NULL);
	lookup(r, "/app", true, OFF_F_SIZED);
	assert_true(resolver_source(r, 0, &source));
	assert_true(source.mini && source.full && source.asked);
	assert_int_equal(source.trust, NAME_BY_BUILD_ID);
	assert_string_equal(source.file, "/app");
	assert_string_equal(source.debug_file, "");
	assert_false(resolver_source(r, 1, &source));
	resolver_free(r);
	/* Broken: as if it were not there. */
	sh(e, "echo nothing >$r/bad; objcopy --update-section .gnu_debugdata=$r/bad $r/app");
	assert_reason(ask(roots, "/app", true, OFF_F_SIZED), NAME_STRIPPED);
}

static void resolve_a_program_in_a_memfd_by_its_build_id(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file memfd = file_of("/memfd:app (deleted)", true);

	assert_reason(lookup(r, memfd.path, true, OFF_F_SIZED), NAME_IN_MEMORY);
	resolver_free(r);
	r = resolver_of(e->root, NULL);
	sh(e, "cp $f/layout $r/app");
	resolver_add_file(r, &memfd);
	assert_string_equal(lookup(r, "/app", true, OFF_F_SIZED), "f_sized");
	assert_string_equal(lookup(r, memfd.path, true, OFF_F_SIZED), "f_sized");
	/* Where only a debug folder has it. */
	resolver_free(r);
	r = resolver_of(e->root, NULL);
	sh(e,
	   "mkdir -p $r/usr/lib/debug/.build-id/01; mv $r/app $r/usr/lib/debug/.build-id/" HEX_PATH);
	assert_string_equal(lookup(r, memfd.path, true, OFF_F_SIZED), "f_sized");
	resolver_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(resolve_debug_packages_are_found_by_build_id),
		TEST(resolve_debug_files_are_found_in_every_folder),
		TEST(resolve_debug_files_are_shown_with_their_folder),
		TEST(resolve_debug_files_of_another_build_are_refused),
		TEST(resolve_a_file_that_is_gone_is_found_by_its_build_id),
		TEST(resolve_a_replaced_file_is_found_by_its_build_id),
		TEST(resolve_with_the_debug_file_alone_guesses_no_place),
		TEST(resolve_minidebuginfo_joins_the_exports),
		TEST(resolve_a_program_in_a_memfd_by_its_build_id),
	};

	return cmocka_run_group_tests_name("resolve_debug", tests, NULL, NULL);
}
