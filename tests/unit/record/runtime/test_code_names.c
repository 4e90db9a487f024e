/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* code_names: what the recorder writes is what the analyzer reads */
#include "record/runtime/code_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/bundle.h"
#include "format/base/interpreted_code.h"

#define AT(id, instr) ((uint64_t)(id) << RUNTIME_INSTR_BITS | ((instr) + 1))

static struct runtime_text put(uint8_t *to, size_t room, const char *text, bool from_end)
{
	size_t n = strlen(text), have = n < room ? n : room;

	memcpy(to, text + (from_end ? n - have : 0), have);
	return (struct runtime_text){ .char_count = (uint32_t)n, .char_bytes = 1, .is_ascii = 1 };
}

/* Code of 3.10 in lines 7 and 9, from instruction 4 on. */
static void make(struct runtime_code_event *ev, uint32_t id, const char *qualname, const char *name,
		 const char *file)
{
	static const uint8_t lines[] = { 4, 0, 10, 2 };

	memset(ev, 0, sizeof(*ev));
	ev->h.type = EBPREC_EV_CODE;
	ev->h.size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES + sizeof(lines);
	ev->id = id;
	ev->first_line = 7;
	ev->name = put(ev->name_text, sizeof(ev->name_text), name, false);
	ev->qualname = put(ev->qualname_text, sizeof(ev->qualname_text), qualname, false);
	ev->file = put(ev->file_text, sizeof(ev->file_text), file, true);
	ev->line_bytes = sizeof(lines);
	memcpy(ev->lines, lines, sizeof(lines));
}

static void add(struct code_names *c, uint32_t id, const char *qualname, const char *name,
		const char *file)
{
	struct runtime_code_event ev;

	make(&ev, id, qualname, name, file);
	assert_int_equal(code_names_add(c, &ev, RUNTIME_PYTHON, 0x030a), 0);
}

static struct bundle *read_back(const struct code_names *c, size_t from)
{
	struct outbuf bytes = { 0 };
	struct bundle *b = NULL;

	code_names_encode(c, from, &bytes);
	assert_true(outbuf_ok(&bytes));
	assert_int_equal(bundle_decode(bytes.data, bytes.size_bytes, &b), 0);
	return b; /* has the bytes */
}

static void check(const struct bundle *b, uint64_t offset, bool is_return, const char *name,
		  const char *file, uint32_t line)
{
	struct bundle_place place;
	struct source_frame frame;

	assert_true(bundle_find(b, offset, is_return, &place));
	assert_string_equal(place.name, name);
	assert_int_equal(place.frame_count, 1);
	frame = bundle_frame(b, place.first_frame);
	assert_string_equal(frame.function, name);
	assert_string_equal(frame.file, file);
	assert_int_equal(frame.line, line);
}

static void places_have_the_name_file_and_line_of_their_code(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON,
				.build_id = { .bytes = "0123456789abcdefghi", .size_bytes = 20 } };
	struct bundle *b;

	(void)state;
	add(&c, 1, "Work.run", "run", "/srv/app/load.py");
	add(&c, 2, "<module>", "<module>", "/usr/lib/json/__init__.py");
	assert_int_equal(code_names_hit(&c, AT(2, 0), true), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 6), true), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 2), false), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 2), false), 0); /* known */
	assert_int_equal(code_names_hit(&c, AT(3, 0), true), 0);  /* of code without a name */
	assert_int_equal(c.count, 4);
	b = read_back(&c, 0);
	assert_int_equal(bundle_count(b), 3);
	assert_string_equal(bundle_head(b)->file.path, "[python]");
	assert_memory_equal(bundle_head(b)->file.id.build_id.bytes, "0123456789abcdefghi", 20);
	check(b, AT(1, 2), false, "py::Work.run (load.py)", "/srv/app/load.py", 7);
	check(b, AT(1, 6), true, "py::Work.run (load.py)", "/srv/app/load.py", 9);
	check(b, AT(2, 0), true, "py::<module> (json/__init__.py)", "/usr/lib/json/__init__.py", 7);
	bundle_free(b);
	b = read_back(&c, 2); /* what is new */
	assert_int_equal(bundle_count(b), 1);
	bundle_free(b);
	code_names_done(&c);
}

static void texts_of_two_and_four_bytes_become_utf8(void **state)
{
	static const uint16_t two[] = { 'g', 0x00fc, 0x20ac };
	static const uint32_t four[] = { 'x', 0x1f40d };
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	make(&ev, 1, "", "", "a.py");
	ev.name = ev.qualname = (struct runtime_text){ .char_count = 3, .char_bytes = 2 };
	memcpy(ev.name_text, two, sizeof(two));
	memcpy(ev.qualname_text, two, sizeof(two));
	ev.file = (struct runtime_text){ .char_count = 2, .char_bytes = 4 };
	memcpy(ev.file_text, four, sizeof(four));
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 0), true), 0);
	b = read_back(&c, 0);
	check(b, AT(1, 0), true, "py::g\xc3\xbc\xe2\x82\xac (x\xf0\x9f\x90\x8d)",
	      "x\xf0\x9f\x90\x8d", 7);
	bundle_free(b);
	code_names_done(&c);
}

static void texts_that_were_read_at_a_wrong_offset_name_nothing(void **state)
{
	static const struct {
		const char *name, *file;
		uint32_t name_bytes;
	} cases[] = {
		{ "f\0\0\0e5", "a.py", 6 }, /* a NUL, and what is behind it */
		{ "\x05ork", "a.py", 4 },
		{ "wor\xc4", "a.py", 4 }, /* not ASCII, as it should be */
		{ "lib/a.py", "a.py", 8 },
		{ "work", "a\x01.py", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_names c = { .path = INTERPRETED_CODE_PYTHON,
					.build_id = { .size_bytes = 20 } };
		struct runtime_code_event ev;

		make(&ev, 1, "", "", cases[i].file);
		ev.name.char_count = ev.qualname.char_count = cases[i].name_bytes;
		memcpy(ev.name_text, cases[i].name, cases[i].name_bytes);
		memcpy(ev.qualname_text, cases[i].name, cases[i].name_bytes);
		assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x0308), 0);
		assert_int_equal(c.refused_count, 1);
		code_names_done(&c);
	}
}

static void long_names_are_cut_and_long_paths_keep_their_end(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	char name[300], path[400];
	struct bundle_place place;
	struct bundle *b;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[299] = '\0';
	memset(path, 'p', sizeof(path));
	strcpy(path + 390, "/last.py");
	add(&c, 1, name, name, path);
	assert_int_equal(code_names_hit(&c, AT(1, 0), true), 0);
	b = read_back(&c, 0);
	assert_true(bundle_find(b, AT(1, 0), true, &place));
	assert_non_null(strstr(place.name, "nnn... (last.py)"));
	assert_int_equal(strlen(place.name), 4 + RUNTIME_QUALNAME_BYTES + 3 + strlen(" (last.py)"));
	bundle_free(b);
	code_names_done(&c);
}

static void names_that_contradict_each_other_are_not_believed(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	struct outbuf bytes = { 0 };

	(void)state;
	add(&c, 1, "a.py", "run", "Work.run"); /* as offsets of another version would have it */
	add(&c, 2, "rerun", "run", "a.py");
	add(&c, 3, "", "", "a.py");
	assert_int_equal(c.refused_count, 3);
	for (uint32_t id = 1; id <= 3; id++)
		assert_int_equal(code_names_hit(&c, AT(id, 0), true), 0);
	code_names_encode(&c, 0, &bytes);
	assert_true(outbuf_ok(&bytes));
	assert_int_equal(bytes.size_bytes, 0);
	outbuf_done(&bytes);
	code_names_done(&c);
}

static void incomplete_events_are_refused(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;

	(void)state;
	make(&ev, 1, "f", "f", "a.py");
	ev.line_bytes++;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), -EBADMSG);
	make(&ev, 0, "f", "f", "a.py");
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), -EBADMSG);
	make(&ev, RUNTIME_CODE_MAX + 1, "f", "f", "a.py");
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), -EBADMSG);
	make(&ev, 1, "f", "f", "a.py");
	ev.file.char_bytes = 3;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), -EBADMSG);
	make(&ev, 1, "f", "f", "a.py");
	ev.h.size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES - 1;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), -EBADMSG);
	code_names_done(&c);
}

static void functions_of_javascript_may_have_any_name_or_none(void **state)
{
	static const struct {
		const char *name, *file, *shown;
		int32_t begin;
	} rows[] = {
		{ "burn", "/srv/app/work.js", "js::burn (work.js)", 40 },
		{ "Module._load", "node:internal/modules/cjs/loader",
		  "js::Module._load (node:internal/modules/cjs/loader)", 1 },
		{ "a/b", "file:///srv/x.mjs", "js::a/b (x.mjs)", 1 },
		{ "", "/srv/app/work.js", "js::(anonymous at 932) (work.js)", 932 },
		{ "", "", "js::(anonymous) ()", -1 },
	};
	struct code_names c = { .path = INTERPRETED_CODE_JAVASCRIPT,
				.build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		make(&ev, i + 1, rows[i].name, "", rows[i].file);
		ev.first_line = rows[i].begin;
		ev.line_bytes = 0;
		ev.h.size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES;
		assert_int_equal(code_names_add(&c, &ev, RUNTIME_V8, 0), 0);
		assert_int_equal(code_names_hit(&c, AT(i + 1, 0), true), 0);
	}
	make(&ev, 9, "f\1", "", "x.js"); /* not a name */
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_V8, 0), 0);
	assert_int_equal(c.refused_count, 1);
	b = read_back(&c, 0);
	assert_string_equal(bundle_head(b)->file.path, "[javascript]");
	for (uint32_t i = 0; i < 5; i++)
		check(b, AT(i + 1, 0), true, rows[i].shown, rows[i].file, 0);
	bundle_free(b);
	code_names_done(&c);
}

/* A number is a statement's: a sub has its package, other frames what they are; latin1 and UTF-8. */
static void frames_of_perl_have_the_name_of_their_sub_or_what_they_are(void **state)
{
	static const struct {
		int32_t kind;
		const char *package, *name, *file, *shown; /* NULL: it is refused */
	} rows[] = {
		{ RUNTIME_PERL_SUB, "Foo::Bar", "run", "/srv/lib/Bar.pm",
		  "perl::Foo::Bar::run (Bar.pm)" },
		{ RUNTIME_PERL_SUB, "main", "__ANON__", "(eval 7)", "perl::main::__ANON__ (eval)" },
		{ RUNTIME_PERL_SUB, "", "lexical", "a.pl", "perl::lexical (a.pl)" },
		{ RUNTIME_PERL_SUB, "main", "caf\xe9", "a.pl", "perl::main::caf\xc3\xa9 (a.pl)" },
		{ RUNTIME_PERL_SUB, "main", "ru\1", "a.pl", NULL },
		{ RUNTIME_PERL_SUB, "main", "run", "a\n.pl", NULL },
		{ RUNTIME_PERL_MAIN, "", "", "-e", "perl::(main) (-e)" },
		{ RUNTIME_PERL_EVAL, "", "", "", "perl::(eval)" },
		{ RUNTIME_PERL_EVAL, "", "", "(eval 7)", "perl::(eval)" },
		{ RUNTIME_PERL_REQUIRE, "", "", "", "perl::(require)" },
		{ RUNTIME_PERL_REQUIRE, "", "", "/srv/a.pm", "perl::(require) (a.pm)" },
		{ RUNTIME_PERL_BLOCK, "", "", "/srv/a.pm", "perl::(block) (a.pm)" },
		{ RUNTIME_PERL_FRAMES, "", "", "a.pl", NULL },
		{ -1, "", "", "a.pl", NULL },
	};
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct code_names c = { .path = INTERPRETED_CODE_PERL,
					.build_id = { .size_bytes = 20 } };

		make(&ev, 1, rows[i].package, rows[i].name, rows[i].file);
		ev.name.is_utf8 = ev.name.is_ascii = ev.qualname.is_ascii = ev.file.is_ascii = 0;
		ev.qualname.is_utf8 = ev.file.is_utf8 = 1;
		ev.first_line = rows[i].kind;
		ev.line_bytes = 0;
		assert_int_equal(code_names_add(&c, &ev, RUNTIME_PERL, 0), 0);
		assert_int_equal(code_names_hit(&c, AT(1, 12), true), 0);
		assert_int_equal(c.refused_count, !rows[i].shown);
		if (rows[i].shown) {
			b = read_back(&c, 0);
			check(b, AT(1, 12), true, rows[i].shown, rows[i].file, 12);
			bundle_free(b);
		}
		code_names_done(&c);
	}
}

static void a_method_of_ruby_has_what_owns_it(void **state)
{
	static const struct {
		int32_t how;
		const char *name, *base, *owner, *shown;
	} rows[] = {
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "Server", "rb::Server#run (a.rb)" },
		{ RUNTIME_RUBY_OF_ITSELF, "run", "run", "App::Server",
		  "rb::App::Server.run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "block (2 levels) in run", "run", "Server",
		  "rb::block (2 levels) in Server#run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "<=>", "<=>", "V2_x", "rb::V2_x#<=> (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "\xc3\x84rger",
		  "rb::\xc3\x84rger#run (a.rb)" },
		/* An owner that is no name of a class or module, or of no kind, is left out. */
		{ RUNTIME_RUBY_NO_OWNER, "run", "run", "Server", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OWNERS, "run", "run", "Server", "rb::run (a.rb)" },
		{ -1, "run", "run", "Server", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "server", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "#<Class:0x1>", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "App:Server", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "App::", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run", "run", "App::1", "rb::run (a.rb)" },
		{ RUNTIME_RUBY_OF_INSTANCES, "run...", "another", "Server", "rb::run... (a.rb)" },
	};
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct code_names c = { .path = INTERPRETED_CODE_RUBY,
					.build_id = { .size_bytes = 20 } };

		make(&ev, 1, rows[i].base, rows[i].name, "a.rb");
		ev.name.is_utf8 = ev.qualname.is_utf8 = 1;
		ev.name.is_ascii = ev.qualname.is_ascii = 0;
		ev.line_bytes = 0;
		ev.owner = put(ev.owner_text, sizeof(ev.owner_text), rows[i].owner, false);
		ev.first_line = rows[i].how;
		assert_int_equal(code_names_add(&c, &ev, RUNTIME_RUBY, 0), 0);
		assert_int_equal(code_names_hit(&c, AT(1, 0), true), 0);
		b = read_back(&c, 0);
		check(b, AT(1, 0), true, rows[i].shown, "a.rb", 0);
		bundle_free(b);
		code_names_done(&c);
	}
}

static void a_text_that_is_cut_leaves_the_owner_out(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_RUBY, .build_id = { .size_bytes = 20 } };
	char text[RUNTIME_QUALNAME_BYTES + 2];
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	memset(text, 'A', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	make(&ev, 1, "run", "run", "a.rb");
	ev.line_bytes = 0;
	ev.owner = put(ev.owner_text, sizeof(ev.owner_text), text, false);
	ev.first_line = RUNTIME_RUBY_OF_INSTANCES;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_RUBY, 0), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 0), true), 0);
	b = read_back(&c, 0);
	check(b, AT(1, 0), true, "rb::run (a.rb)", "a.rb", 0);
	bundle_free(b);
	code_names_done(&c);
}

/* Ruby's name ends with the one that it has without what it is in; PHP's class stands before the name, and its lines are in the places. */
static void code_of_ruby_and_php_has_one_name(void **state)
{
	static const struct {
		enum runtime_kind kind;
		const char *name, *qualname, *file, *shown; /* NULL: it is refused */
	} rows[] = {
		{ RUNTIME_RUBY, "block in run", "run", "/srv/a.rb", "rb::block in run (a.rb)" },
		{ RUNTIME_RUBY, "<main>", "<main>", "a.rb", "rb::<main> (a.rb)" },
		{ RUNTIME_RUBY, "tap", "tap", "<internal:/usr/lib/kernel.rb>",
		  "rb::tap (<internal:/usr/lib/kernel.rb>)" },
		{ RUNTIME_RUBY, "block in run", "other", "a.rb", NULL },
		{ RUNTIME_RUBY, "run", "", "a.rb", NULL },
		{ RUNTIME_RUBY, "run", "run", "run", NULL },
		{ RUNTIME_RUBY, "<internal:gem>", "<internal:gem>", "<internal:gem>",
		  "rb::<internal:gem> (<internal:gem>)" },
		{ RUNTIME_RUBY, "run", "run", "", NULL },
		{ RUNTIME_RUBY, "ru\1", "ru\1", "a.rb", NULL },
		{ RUNTIME_RUBY, "caf\xc3\xa9", "caf\xc3\xa9", "a.rb", "rb::caf\xc3\xa9 (a.rb)" },
		{ RUNTIME_PHP, "more", "App\\Work", "/srv/a.php", "php::App\\Work::more (a.php)" },
		{ RUNTIME_PHP, "", "", "/srv/a.php", "php::{main} (a.php)" },
		{ RUNTIME_PHP, "sqrt", "", "", "php::sqrt (internal)" },
		{ RUNTIME_PHP, "", "", "", NULL },
		{ RUNTIME_PHP, "f", "", "a\n.php", NULL },
	};
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_php = rows[i].kind == RUNTIME_PHP;
		struct code_names c = { .path = is_php ? INTERPRETED_CODE_PHP
						       : INTERPRETED_CODE_RUBY,
					.build_id = { .size_bytes = 20 } };

		make(&ev, 1, rows[i].qualname, rows[i].name, rows[i].file);
		ev.name.is_utf8 = ev.qualname.is_utf8 = ev.file.is_utf8 = 1;
		ev.name.is_ascii = ev.qualname.is_ascii = ev.file.is_ascii = 0;
		ev.line_bytes = 0;
		assert_int_equal(code_names_add(&c, &ev, rows[i].kind, 0), 0);
		assert_int_equal(code_names_hit(&c, AT(1, 12), true), 0);
		assert_int_equal(c.refused_count, !rows[i].shown);
		if (rows[i].shown) {
			b = read_back(&c, 0);
			check(b, AT(1, 12), true, rows[i].shown, rows[i].file, is_php ? 12 : 0);
			bundle_free(b);
		}
		code_names_done(&c);
	}
}

static void methods_of_java_have_their_class_and_are_utf8(void **state)
{
	static const struct {
		const char *name, *class_name, *file, *shown, *path;
	} rows[] = {
		{ "run", "java/util/concurrent/ThreadPoolExecutor$Worker",
		  "ThreadPoolExecutor.java",
		  "java::java.util.concurrent.ThreadPoolExecutor$Worker.run (ThreadPoolExecutor.java)",
		  "java/util/concurrent/ThreadPoolExecutor.java" },
		{ "<init>", "a/Main$$Lambda$1+0x00007fca10041220", "",
		  "java::a.Main$$Lambda$1/0x00007fca10041220.<init>", "" },
		{ "z\303\244hle", "\316\251", "A.java", "java::\316\251.z\303\244hle (A.java)",
		  "A.java" },
	};
	/* The first bytecode is of line 7, that at 4 of line 9; what stands behind the zero is of other tables. */
	static const uint8_t lines[] = { 7, 4 << 3 | 2, 0, 77 };
	struct code_names c = { .path = INTERPRETED_CODE_JAVA, .build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;
	struct bundle *b;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		make(&ev, i + 1, rows[i].class_name, rows[i].name, rows[i].file);
		ev.name.is_ascii = ev.qualname.is_ascii = 0;
		memcpy(ev.lines, lines, sizeof(lines));
		assert_int_equal(code_names_add(&c, &ev, RUNTIME_JVM, 17), 0);
		for (uint32_t at = 0; at < 7; at++)
			assert_int_equal(code_names_hit(&c, AT(i + 1, at), true), 0);
	}
	make(&ev, 9, "Main", "f\1", "x.java"); /* not a name */
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_JVM, 0), 0);
	make(&ev, 10, "Main", "a/b", "x.java"); /* no method's */
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_JVM, 0), 0);
	make(&ev, 11, "", "f", "x.java"); /* of no class */
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_JVM, 0), 0);
	assert_int_equal(c.refused_count, 3);
	b = read_back(&c, 0);
	assert_string_equal(bundle_head(b)->file.path, "[java]");
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t at = 0; at < 7; at++) /* 0: the bytecode is not known */
			check(b, AT(i + 1, at), true, rows[i].shown, rows[i].path,
			      !at          ? 0
			      : at - 1 < 4 ? 7
					   : 9);
	bundle_free(b);
	code_names_done(&c);
}

static void a_name_of_java_that_is_cut_ends_between_characters(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_JAVA, .build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;
	char shown[RUNTIME_NAME_BYTES + 32];
	struct bundle *b;

	(void)state;
	make(&ev, 1, "Main", "m", "");
	ev.name.is_ascii = 0;
	memset(ev.name_text, 'x', RUNTIME_NAME_BYTES);
	ev.name.char_count = RUNTIME_NAME_BYTES + 5;
	memcpy(ev.name_text + RUNTIME_NAME_BYTES - 2, "\342\202", 2); /* two of three bytes */
	ev.line_bytes = 0;
	ev.h.size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_JVM, 0), 0);
	assert_int_equal(code_names_hit(&c, AT(1, 0), true), 0);
	b = read_back(&c, 0);
	snprintf(shown, sizeof(shown), "java::Main.%.*s...", RUNTIME_NAME_BYTES - 2,
		 (const char *)ev.name_text);
	check(b, AT(1, 0), true, shown, "", 0);
	bundle_free(b);
	code_names_done(&c);
}

/* ---- shares ---- */

/* Adds code of a process, with names of more than 4 KiB, until one has no more room.  Returns how many have. */
static uint32_t fill(struct code_names *c, uint32_t pid, uint32_t *id)
{
	uint64_t refused = c->refused_count;
	struct runtime_code_event ev;
	uint32_t count = 0;

	make(&ev, 1, "f", "f", "a.py");
	ev.pid = pid;
	ev.line_bytes = RUNTIME_LINES_BYTES;
	ev.h.size_bytes = RUNTIME_CODE_EVENT_HEAD_BYTES + RUNTIME_LINES_BYTES;
	for (; c->refused_count == refused; count++) {
		ev.id = ++*id;
		assert_int_equal(code_names_add(c, &ev, RUNTIME_PYTHON, 0x030a), 0);
	}
	assert_int_equal(c->refused_count, refused + 1);
	return count - 1;
}

static void a_process_that_makes_code_without_end_leaves_room_for_names_of_others(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	uint32_t id = 0, endless = fill(&c, 1, &id), other = fill(&c, 2, &id);
	struct bundle *b;

	(void)state;
	assert_true(other >= endless / 2 - 1 && other <= endless / 2 + 1);
	add(&c, ++id, "late", "late", "b.py"); /* of a third */
	assert_int_equal(c.refused_count, 2);
	assert_int_equal(code_names_hit(&c, AT(id, 0), true), 0);
	b = read_back(&c, 0);
	check(b, AT(id, 0), true, "py::late (b.py)", "b.py", 7);
	bundle_free(b);
	code_names_done(&c);
}

static void a_process_that_runs_places_without_end_leaves_room_for_those_of_others(void **state)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON, .build_id = { .size_bytes = 20 } };
	struct runtime_code_event ev;
	struct bundle *b;
	size_t had;

	(void)state;
	add(&c, 1, "endless", "endless", "a.py");
	make(&ev, 2, "f", "f", "b.py");
	ev.pid = 7;
	assert_int_equal(code_names_add(&c, &ev, RUNTIME_PYTHON, 0x030a), 0);
	for (uint64_t i = 0; i < RUNTIME_INSTR_MASK; i++) {
		assert_int_equal(code_names_hit(&c, AT(1, i), true), 0);
		assert_int_equal(code_names_hit(&c, AT(1, i), false), 0);
	}
	had = c.count;
	assert_int_equal(had + c.placeless_count, 2 * RUNTIME_INSTR_MASK);
	assert_int_equal(code_names_hit(&c, AT(2, 0), true), 0);
	assert_int_equal(c.count, had + 1);
	b = read_back(&c, had);
	check(b, AT(2, 0), true, "py::f (b.py)", "b.py", 7);
	bundle_free(b);
	code_names_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_have_the_name_file_and_line_of_their_code),
		cmocka_unit_test(texts_of_two_and_four_bytes_become_utf8),
		cmocka_unit_test(texts_that_were_read_at_a_wrong_offset_name_nothing),
		cmocka_unit_test(long_names_are_cut_and_long_paths_keep_their_end),
		cmocka_unit_test(names_that_contradict_each_other_are_not_believed),
		cmocka_unit_test(incomplete_events_are_refused),
		cmocka_unit_test(methods_of_java_have_their_class_and_are_utf8),
		cmocka_unit_test(a_name_of_java_that_is_cut_ends_between_characters),
		cmocka_unit_test(functions_of_javascript_may_have_any_name_or_none),
		cmocka_unit_test(frames_of_perl_have_the_name_of_their_sub_or_what_they_are),
		cmocka_unit_test(code_of_ruby_and_php_has_one_name),
		cmocka_unit_test(a_method_of_ruby_has_what_owns_it),
		cmocka_unit_test(a_text_that_is_cut_leaves_the_owner_out),
		cmocka_unit_test(
			a_process_that_makes_code_without_end_leaves_room_for_names_of_others),
		cmocka_unit_test(
			a_process_that_runs_places_without_end_leaves_room_for_those_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
