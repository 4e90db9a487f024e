/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/input/tracepoint/tracepoint_format.h"
#include "analyze/rewrite/scrub/scrub.h"
#include "analyze/rewrite/scrub/seen.h"
#include "analyze/rewrite/scrub/verify.h"
#include "analyze/rewrite/scrub/text.h"
#include "analyze/sym/bundle.h"
#include "analyze/sym/dwarf/source_frame.h"
#include "format/base/interpreted_code.h"
#include "format/payload/file_facts.h"
#include "format/perf/jitdump.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"
#include "tests/lib/gen/captures.h"

static const uint8_t key[PSEUDONYM_KEY_BYTES] = { 0, 1, 2,  3,  4,  5,  6,  7,
						  8, 9, 10, 11, 12, 13, 14, 15 };
static struct maker maker;

/* The values are those of the authors' paper and of their reference program. */
static void pseudonym_hash_is_siphash(void **state)
{
	static const uint8_t text[15] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

	assert_int_equal(pseudonym_hash(key, text, 15), 0xa129ca6149be45e5ULL);
	assert_int_equal(pseudonym_hash(key, text, 0), 0x726fdb47dd0e0e31ULL);
	assert_int_equal(pseudonym_hash(key, text, 8), 0x93f5f5799a932462ULL);
}

static void pseudonyms_are_the_same_under_a_key_and_counted(void **state)
{
	char a[] = "alice-with-a-long-name-of-forty-letters", b[sizeof(a)], c[sizeof(a)];
	uint8_t other[PSEUDONYM_KEY_BYTES] = { 9 };
	struct pseudonyms *p, *q;
	struct pseudonym got;

	memcpy(b, a, sizeof(a));
	memcpy(c, a, sizeof(a));
	assert_int_equal(pseudonyms_new(key, false, &p), 0);
	assert_int_equal(pseudonyms_new(other, false, &q), 0);
	pseudonyms_put(p, PSEUDONYM_USER, a, strlen(a));
	pseudonyms_put(p, PSEUDONYM_USER, b, strlen(b));
	pseudonyms_put(q, PSEUDONYM_USER, c, strlen(c));
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	assert_null(strstr(a, "alice"));
	assert_int_equal(strlen(a), sizeof(a) - 1);
	assert_true(pseudonyms_get(p, 0, &got));
	assert_int_equal(got.times, 2);
	assert_string_equal(got.instead, a);
	assert_string_equal(got.word, "alice-with-a-long-name-of-forty-letters");
	assert_false(pseudonyms_get(p, 1, &got));
	pseudonyms_free(p);
	pseudonyms_free(q);
}

/* ---- texts ---- */

#define SHA   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NO_ID "0000000000000000000000000000000000000000000000000000000000000000"

static void scrubtext_hides_what_it_should_and_nothing_else(void **state)
{
	static const struct {
		enum scrub_text_form form;
		const char *text, *want;
	} cases[] = {
		{ SCRUB_TEXT_PATH, "/home/ann/my work/a.so", "/anon/xxx/xxxxxxx/xxxx" },
		{ SCRUB_TEXT_FREE, "bann annann ann_ann-ann", "bann annann ann_ann-xxx" },
		{ SCRUB_TEXT_PATH, "/home/ann/a (deleted)", "/anon/xxx/x (deleted)" },
		{ SCRUB_TEXT_PATH, "/var/home/ann/", "/var/anon/xxx/" },
		{ SCRUB_TEXT_PATH, "/home", "/home" },
		{ SCRUB_TEXT_PATH, "/home/", "/anon/" },
		{ SCRUB_TEXT_PATH, "/homes/ab/c", "/homes/ab/c" },
		{ SCRUB_TEXT_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6",
		  "/usr/lib/x86_64-linux-gnu/libc.so.6" },
		{ SCRUB_TEXT_FREE, "a /home/ann/x,b rest", "a /anon/xxx/x,b rest" },
		{ SCRUB_TEXT_FREE, "/tmp/ann-1 ann annex joann", "/tmp/xxx-1 xxx annex joann" },
		{ SCRUB_TEXT_JSON, "{\"ann\": \"by ann\\\"ann\", \"x\": [\"ann\"]}",
		  "{\"ann\": \"by xxx\\\"xxx\", \"x\": [\"xxx\"]}" },
		{ SCRUB_TEXT_JSON, "{\"ann", "{\"xxx" },
		{ SCRUB_TEXT_PATH, "/machine.slice/libpod-" SHA ".scope/c",
		  "/machine.slice/libpod-" NO_ID ".scope/c" },
		{ SCRUB_TEXT_PATH, "/x/" SHA "0", "/x/" SHA "0" },
		{ SCRUB_TEXT_PATH, "/pod01234567_89ab_cdef_0123_456789abcdef.slice",
		  "/podxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.slice" },
		{ SCRUB_TEXT_FREE, "10.0.0.7:80 1.2.3 v6.1.0.13 256.1.1.1 1.2.3.4.5",
		  "xxxxxxxx:80 1.2.3 v6.1.0.13 256.1.1.1 1.2.3.4.5" },
		{ SCRUB_TEXT_FREE, "fe80::1/64 02:42:ac:11:00:02 std::abc 12:30:15 a::b",
		  "xxxxxxx/64 xxxxxxxxxxxxxxxxx std::abc 12:30:15 a::b" },
		{ SCRUB_TEXT_FREE, "", "" },
	};
	bool wanted[PSEUDONYM_KINDS];
	struct pseudonyms *p;
	struct scrub_text *s;
	char text[200];

	memset(wanted, 1, sizeof(wanted));
	assert_int_equal(pseudonyms_new(key, true, &p), 0);
	assert_int_equal(scrub_text_new(p, wanted, &s), 0);
	assert_int_equal(scrub_text_learn(s, "/home/ann/x", 11), 0);
	assert_int_equal(scrub_text_learn(s, "/home/root/x", 12), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, cases[i].text);
		scrub_text_apply(s, cases[i].form, text, strlen(text));
		assert_string_equal(text, cases[i].want);
	}
	memcpy(text, "\00010.0.0.7", 10); /* bytes of unknown form */
	scrub_text_apply(s, SCRUB_TEXT_FREE, text, 9);
	assert_string_equal(text + 1, "xxxxxxxx");
	scrub_text_free(s);
	pseudonyms_free(p);
}

static void scrubtext_keeps_what_is_not_wanted(void **state)
{
	static const bool none[PSEUDONYM_KINDS];
	char text[] = "/home/ann/x " SHA " 10.0.0.7", was[sizeof(text)];
	struct pseudonyms *p;
	struct scrub_text *s;

	memcpy(was, text, sizeof(text));
	assert_int_equal(pseudonyms_new(key, true, &p), 0);
	assert_int_equal(scrub_text_new(p, none, &s), 0);
	assert_int_equal(scrub_text_learn(s, text, strlen(text)), 0);
	scrub_text_apply(s, SCRUB_TEXT_FREE, text, strlen(text));
	assert_string_equal(text, was);
	scrub_text_free(s);
	pseudonyms_free(p);
}

/* A name of a file is not learnt: it is hidden where it stands. */
static void a_name_that_is_too_long_to_be_looked_for_is_refused_but_of_a_file(void **state)
{
	bool wanted[PSEUDONYM_KINDS];
	char text[600] = "/home/", want[600] = "/anon/";
	struct pseudonyms *p;
	struct scrub_text *s;

	memset(text + 6, 'n', 256);
	memset(want + 6, 'x', 256);
	strcpy(text + 262, " -n -nn");
	strcpy(want + 262, " -n -nn");
	memset(wanted, 1, sizeof(wanted));
	assert_int_equal(pseudonyms_new(key, true, &p), 0);
	assert_int_equal(scrub_text_new(p, wanted, &s), 0);
	assert_int_equal(scrub_text_word(s, PSEUDONYM_HOST, text + 6, 255), 0);
	assert_int_equal(scrub_text_word(s, PSEUDONYM_HOST, text + 6, 256), -EOVERFLOW);
	assert_int_equal(scrub_text_word(s, PSEUDONYM_WORD, text + 6, 256), 0);
	assert_int_equal(scrub_text_learn(s, text, strlen(text)), 0);
	scrub_text_apply(s, SCRUB_TEXT_FREE, text, strlen(text));
	assert_string_equal(text, want);
	scrub_text_free(s);
	pseudonyms_free(p);
}

/* ---- captures ---- */

static void add_facts(void)
{
	uint8_t bytes[FILE_FACTS_MAX_BYTES];
	struct file_facts f = {
		.path = { "/home/sesame/app", 16 },
		.root = { "/home/sesame/0", 14 },
		.cgroup = { "/user.slice/sesame.service", 26 },
	};

	assert_int_equal(writer_object(maker.w, EBX_FACTS, 1, bytes, file_facts_encode(&f, bytes)),
			 0);
}

static void add_bundle(void)
{
	struct bundle_place places[] = { { .offset = 0x7f0000001000, .name = "sesame_open" },
					 { .offset = 0x555500000000, .name = "shut" },
					 { .offset = 16, .name = "lib" } };
	struct bundle_head head = { .file = { .path = "/home/sesame/app" },
				    .symbols = "/home/sesame/app.debug" };
	uint8_t *data;
	size_t size;

	assert_int_equal(bundle_encode(&head, places, 3, NULL, &data, &size), 0);
	assert_int_equal(writer_object(maker.w, EBX_SYMTAB, 1, data, size), 0);
	free(data);
}

/* As the recorder names code of Python: "FOLDER/__init__.py" where others have their file's base name. */
static void add_python(void)
{
	static const struct source_frame frames[] = {
		{ "py::f (sesame_a/__init__.py)", "/home/x/sesame_a/__init__.py", 1, 0 },
		{ "py::g (sesame_b.py)", "/home/x/sesame_b.py", 1, 0 },
		{ "py::h (sesame_c/__main__.py)", "sesame_c/__main__.py", 1, 0 },
		{ "py::i (encodings/__init__.py)", "/usr/lib/encodings/__init__.py", 1, 0 },
	};
	struct bundle_frames all = { frames, 4 };
	struct bundle_place places[4];
	struct bundle_head head = { .file = { .path = INTERPRETED_CODE_PYTHON }, .symbols = "" };
	uint8_t *data;
	size_t size;

	for (uint32_t i = 0; i < 4; i++)
		places[i] = (struct bundle_place){ .offset = 16 + i,
						   .name = frames[i].function,
						   .frame_count = 1,
						   .first_frame = i };
	assert_int_equal(bundle_encode(&head, places, 4, &all, &data, &size), 0);
	assert_int_equal(writer_object(maker.w, EBX_SYMTAB, 2, data, size), 0);
	free(data);
}

static void add_text(enum ebx_kind kind, uint64_t number, const char *text)
{
	assert_int_equal(writer_object(maker.w, kind, number, text, strlen(text)), 0);
}

static void add_file(uint64_t number, const char *name, const char *text)
{
	char bytes[300];
	size_t size = strlen(name);

	le16_store(bytes, (uint16_t)size);
	strcpy(bytes + 2, name);
	strcpy(bytes + 2 + size, text);
	assert_int_equal(writer_object(maker.w, EBX_FILE, number, bytes, 2 + size + strlen(text)),
			 0);
}

/* A load of 0x7f0000001000, something else, a move to 0x7f0000002000, and half a record. */
static size_t make_jitdump(uint8_t *out, size_t room)
{
	static const char name[] = "sesame /home/sesame/b.js";
	uint8_t *at = out + JITDUMP_HEADER_BYTES;

	memset(out, 0, room);
	le32_store(out, 0x4a695444);
	le32_store(out + 4, 1);
	le32_store(out + 8, JITDUMP_HEADER_BYTES);
	le32_store(at + 4, JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES + sizeof(name) + 6);
	le64_store(at + JITDUMP_RECORD_BYTES + 16, 0x7f0000001000);
	le64_store(at + JITDUMP_RECORD_BYTES + 24, 16);
	memcpy(at + JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES, name, sizeof(name));
	memcpy(at + JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES + sizeof(name), "sesame", 6);
	at += le32_load(at + 4);
	le32_store(at, JITDUMP_DEBUG);
	le32_store(at + 4, JITDUMP_RECORD_BYTES + 6);
	memcpy(at + JITDUMP_RECORD_BYTES, "sesame", 6);
	at += le32_load(at + 4);
	le32_store(at, JITDUMP_MOVE);
	le32_store(at + 4, JITDUMP_RECORD_BYTES + 48);
	le64_store(at + JITDUMP_RECORD_BYTES + 24, 0x7f0000002000);
	le64_store(at + JITDUMP_RECORD_BYTES + 32, 16);
	at += le32_load(at + 4);
	le32_store(at + 4, 10000);
	memcpy(at + JITDUMP_RECORD_BYTES, "sesame", 6);
	return (size_t)(at - out) + JITDUMP_RECORD_BYTES + 6;
}

static void add_jitdump(void)
{
	static const char name[] = "jit-12.dump";
	uint8_t bytes[400];
	size_t size;

	le16_store(bytes, sizeof(name) - 1);
	memcpy(bytes + 2, name, sizeof(name) - 1);
	size = make_jitdump(bytes + 2 + sizeof(name) - 1, 300) + 2 + sizeof(name) - 1;
	assert_int_equal(writer_object(maker.w, EBX_FILE, 9, bytes, size), 0);
}

/* The word "sesame" in every kind of object, and in names of programs. */
static struct bytes secrets(bool finished)
{
	struct bytes b;

	maker_begin(&maker, false);
	add_text(EBX_META, EBX_META_START,
		 "{\"options\": {\"command_line\": [\"open\", \"sesame ]\"], \"x\": 1}, \"host\": "
		 "{\"kernel_cmdline\": \"root=sesame\"}, \"user\": \"sesame\"}");
	add_text(EBX_META, EBX_META_ACCOUNT, "{\"ended\": \"sesame\"}");
	add_text(EBX_META, EBX_META_PARTS, "{\"parts\": [\"sesame\"]}");
	add_text(EBX_MOUNTS, 7, "1 0 8:1 / /home/sesame\\040x rw - nfs sesame:/export rw\n");
	add_file(1, "/tmp/sesame.txt", "by sesame");
	add_file(2, "perf-12.map",
		 "7f0000001000 10 sesame_jit\n7f0000001010 10 /home/sesame/a.js\n");
	add_file(3, "/proc/kallsyms", "ffffffff81000000 T sesame_probe\t[m]\n");
	add_jitdump();
	add_text(EBX_NOTE, 1, "sesame was late");
	add_text((enum ebx_kind)77, 1, "sesame");
	add_facts();
	add_bundle();
	add_python();
	maker_comm(&maker, 7, "sesame-open", 10);
	maker_sample(&maker, 7, 15, 0);
	assert_int_equal(writer_flush(maker.w, true), 0);
	if (finished)
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static struct scrub_verify_found look_for(const char *pattern, const struct bytes *b)
{
	struct scrub_verify_found found;
	struct source file;
	struct capture *c;
	regex_t re;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED), 0);
	assert_int_equal(capture_from_bytes(b->data, b->size, &c, NULL), 0);
	source_of_bytes(b->data, b->size, &file);
	assert_int_equal(scrubcheck(c, &file, &re, 1, &found), 0);
	capture_close(c);
	regfree(&re);
	return found;
}

static struct bytes scrubbed_by(const struct bytes *from, const char *symbols, bool layout,
				bool unknown, struct scrub_stats *stats_out)
{
	struct maker to = { .fd = memfd_create("scrub", MFD_CLOEXEC) };
	struct scrub_opts o = { .command_lines = true, .layout = layout, .unknown = unknown };
	struct rewrite_opts how = { 0 };
	struct rewrite_stats stats;
	struct scrub *s;
	struct capture *c;
	struct bytes b;
	regex_t re;

	memcpy(o.key, key, sizeof(key));
	memset(o.wanted, 1, sizeof(o.wanted));
	assert_int_equal(regcomp(&re, symbols, REG_EXTENDED), 0);
	o.symbols = (struct scrub_patterns){ &re, 1 };
	assert_int_equal(capture_from_bytes(from->data, from->size, &c, NULL), 0);
	assert_int_equal(scrub_new(c, &o, &s), 0);
	how.edit = scrub_edit(s);
	assert_int_equal(rewrite_capture(c, to.fd, &how, &stats), 0);
	assert_int_equal(scrub_error(s), 0);
	if (stats_out)
		*stats_out = *scrub_get_stats(s);
	b = maker_bytes(&to);
	close(to.fd);
	scrub_free(s);
	capture_close(c);
	regfree(&re);
	return b;
}

static struct bytes scrubbed(const struct bytes *from, const char *symbols, bool layout)
{
	return scrubbed_by(from, symbols, layout, false, NULL);
}

static void scrub_leaves_the_word_in_no_record_and_no_object(void **state)
{
	for (int finished = 0; finished < 2; finished++) {
		struct bytes b = secrets(finished), clean = scrubbed(&b, "^sesame", true);
		struct scrub_verify_found before = look_for("sesame", &b),
					  after = look_for("sesame", &clean);

		assert_in_range(before.text_count, 18, 40);
		assert_int_equal(after.text_count, 0);
		assert_int_equal(after.unread_count, 0);
		assert_int_equal(look_for("encodings/__init__", &clean).text_count, 2);
		assert_int_equal(look_for("machine", &clean).text_count, 0); /* the host */
		assert_int_equal(look_for("\"command_line\": \\[\\], \"x\": 1", &clean).text_count,
				 1);
		free(b.data);
		free(clean.data);
	}
}

static void scrub_moves_addresses_of_bundles_and_keeps_their_order(void **state)
{
	struct bytes b = secrets(true), clean = scrubbed(&b, "^$", true);
	size_t count, size;
	struct bundle_place place;
	struct bundle *bundle;
	struct capture *c;
	uint8_t *data;

	assert_int_equal(capture_from_bytes(clean.data, clean.size, &c, NULL), 0);
	for (const struct capture_object *o = capture_objects(c, &count); count--; o++) {
		if (o->kind != EBX_SYMTAB || o->object != 1)
			continue;
		assert_int_equal(capture_object_read(c, o, &data, &size), 0);
		assert_int_equal(bundle_decode(data, size, &bundle), 0);
		assert_true(bundle_find(bundle, 16, false, &place));
		assert_string_equal(place.name, "lib");
		assert_false(bundle_find(bundle, 0x555500000000, false, &place));
		bundle_free(bundle);
	}
	capture_close(c);
	free(b.data);
	free(clean.data);
}

static void scrub_moves_jit_code_with_its_samples(void **state)
{
	struct bytes b = secrets(true), clean = scrubbed(&b, "^sesame", true);
	struct jitdump_header header;
	struct jitdump_code load, moved;
	size_t count, size;
	struct capture *c;
	struct cursor at;
	uint8_t *data;
	unsigned seen = 0;

	assert_int_equal(capture_from_bytes(clean.data, clean.size, &c, NULL), 0);
	for (const struct capture_object *o = capture_objects(c, &count); count--; o++) {
		if (o->kind != EBX_FILE || o->object != 9)
			continue;
		assert_int_equal(capture_object_read(c, o, &data, &size), 0);
		at = cursor_of(data + 13, size - 13);
		assert_int_equal(jitdump_header(&at, &header), 0);
		assert_int_equal(jitdump_next(&at, &load), 1);
		assert_int_equal(load.name_bytes, strlen("sesame /home/sesame/b.js"));
		assert_int_equal(jitdump_next(&at, &moved), 1);
		assert_true(moved.is_move);
		assert_int_equal(moved.addr - load.addr, 0x1000);
		assert_int_not_equal(load.addr, 0x7f0000001000);
		assert_int_equal(jitdump_next(&at, &load), 0);
		free(data);
		seen++;
	}
	assert_int_equal(seen, 1);
	capture_close(c);
	free(b.data);
	free(clean.data);
}

/* ---- what is not understood ---- */

#define HIDDEN       "hidden!!" /* eight bytes that must not stay */
#define HARDWARE_ID  201
#define TRACE_ID     202
#define SECTION_BPF  25
#define KERNEL_PLACE 0xffffffff9a000110ULL

static const char trace_format[] =
	"name: unusual\nID: 4242\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long address;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 count;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc u8[] bytes;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->count\n";

/* Formats, and behind them symbols, texts and names of threads, as perf has them. */
static uint8_t *make_formats(size_t *size_bytes)
{
	const struct trace_data_event event = { "unusual", trace_format };
	uint8_t *section, *longer;
	size_t end;

	assert_int_equal(trace_data_build(&event, 1, NULL, &section, &end), 0);
	end = tracepoint_format_end(section, end);
	assert_int_not_equal(end, 0);
	longer = calloc(1, end + 4 + 8 + 4 + 8 + 8 + 8);
	assert_non_null(longer);
	memcpy(longer, section, end);
	free(section);
	*size_bytes = end;
	for (unsigned i = 0; i < 3; i++) {
		longer[*size_bytes] = 8;
		*size_bytes += i < 2 ? 4 : 8;
		memcpy(longer + *size_bytes, HIDDEN, 8);
		*size_bytes += 8;
	}
	return longer;
}

static void put_words(struct maker *m, size_t *size, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++, *size += 8)
		le64_store(m->rec + *size, words[i]);
}

static uint64_t hidden_word(void)
{
	uint64_t word;

	memcpy(&word, HIDDEN, 8);
	return word;
}

static void put_record(struct maker *m, enum ebx_stream stream, size_t size, uint32_t type)
{
	assert_int_equal(
		writer_record(m->w, stream, m->rec, rec_finish(m->rec, size, type, 0), 20, 0), 0);
}

/*
 * A branch, a copy of 8 bytes of stack in a room of 24, registers of the interrupt, a physical address, AUX data.
 * The kernel does not clear the room behind the copy: there stands what the ring held before.
 */
static void add_hardware_sample(struct maker *m)
{
	const uint64_t h = hidden_word(),
		       words[] = { HARDWARE_ID, 7, 20, 1, h, h, h, /* one branch */
				   24,          h, h,  h, 8,       /* a stack */
				   2,           h, h,              /* ABI and two registers */
				   h,           8, h };
	size_t size = 8;

	put_words(m, &size, words, sizeof(words) / sizeof(words[0]));
	put_record(m, EBX_STREAM_CPU, size, PERF_RECORD_SAMPLE);
}

static void add_trace_sample(struct maker *m, uint32_t raw_bytes)
{
	const uint64_t words[] = { TRACE_ID, 7, 20 };
	size_t size = 8;
	uint8_t *raw;

	put_words(m, &size, words, 3);
	le32_store(m->rec + size, raw_bytes);
	raw = m->rec + size + 4;
	for (size_t i = 0; i + 8 <= raw_bytes; i += 8)
		memcpy(raw + i, HIDDEN, 8);
	memset(raw + raw_bytes / 8 * 8, 0, raw_bytes % 8);
	if (raw_bytes >= 44) {
		memcpy(raw + 8, "visible\0" HIDDEN, 16); /* as kernels that do not clear a comm */
		le64_store(raw + 24, KERNEL_PLACE);
		le64_store(raw + 32, 1234567);
		le32_store(raw + 40, 8 << 16 | 48);
	}
	put_record(m, EBX_STREAM_CPU, size + 4 + raw_bytes, PERF_RECORD_SAMPLE);
}

static struct bytes unknown_things(void)
{
	static const uint64_t ids[] = { HARDWARE_ID, TRACE_ID };
	static const uint8_t bpf[] = HIDDEN, host[24] = "\x14\0\0\0host\0" HIDDEN;
	size_t formats_bytes, size;
	uint8_t *formats = make_formats(&formats_bytes);
	const struct writer_feature features[] = {
		{ PERFFILE_TRACING_DATA, formats, formats_bytes },
		{ PERFFILE_HOSTNAME, host, sizeof(host) },
		{ SECTION_BPF, bpf, sizeof(bpf) },
	};
	struct writer_attr attrs[2] = {
		{ .attr = { .type = PERF_TYPE_HARDWARE,
			    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					   PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK |
					   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR |
					   PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX,
			    .sample_regs_intr = 3,
			    .sample_id_all = 1 },
		  .ids = &ids[0],
		  .id_count = 1 },
		{ .attr = { .type = PERF_TYPE_TRACEPOINT,
			    .config = 4242,
			    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					   PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
			    .sample_id_all = 1 },
		  .ids = &ids[1],
		  .id_count = 1 },
	};
	const struct writer_opts opts = { .attrs = attrs,
					  .attr_count = 2,
					  .features = features,
					  .feature_count = 3,
					  .clock_mono_ns = 1,
					  .level = 1 };
	static const uint32_t types[] = { PERF_RECORD_AUX, PERF_RECORD_TEXT_POKE, 21, 23, 40 };
	struct bytes b;

	maker.fd = memfd_create("capture", MFD_CLOEXEC);
	assert_true(maker.fd >= 0);
	assert_int_equal(writer_new(maker.fd, &opts, &maker.w), 0);
	free(formats);
	add_hardware_sample(&maker);
	add_trace_sample(&maker, 60);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size = 8;
		for (unsigned k = 0; k < 8; k++, size += 8)
			memcpy(maker.rec + size, HIDDEN, 8);
		put_record(&maker, EBX_STREAM_SIDE, size, types[i]);
	}
	/* A mapping that ends inside its numbers. */
	memcpy(maker.rec + 8, HIDDEN, 8);
	put_record(&maker, EBX_STREAM_SIDE, 16, PERF_RECORD_MMAP2);
	add_text((enum ebx_kind)77, 1, HIDDEN);
	add_file(1, "notes.txt", HIDDEN);
	add_file(2, "perf-12.map", HIDDEN "\n7f0000001000 10 named\n");
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static void scrub_leaves_out_what_it_does_not_understand_and_counts_it(void **state)
{
	struct bytes b = unknown_things(), clean, retained;
	struct scrub_stats did, retained_did;
	struct perf_sample sample = { 0 };
	size_t count;
	struct record_iter *it;
	struct record r;
	struct capture *c;

	clean = scrubbed_by(&b, "^$", true, false, &did);
	retained = scrubbed_by(&b, "^$", true, true, &retained_did);
	assert_in_range(look_for("hidden", &b).text_count, 10, 60);
	assert_int_equal(look_for("hidden", &clean).text_count, 0);
	assert_int_equal(look_for("hidden", &clean).unread_count, 0);
	assert_in_range(look_for("hidden", &retained).text_count, 9, 60);
	assert_int_equal(did.hardware_count, 1);
	assert_int_equal(did.stack_count, 1);
	assert_int_equal(did.raw_count, 1);
	/* 5 kinds of records and a broken one, 2 objects and a line, a section, 3 parts of one, and what is behind the host. */
	assert_int_equal(did.dropped_count, 6 + 3 + 5);
	assert_int_equal(retained_did.dropped_count + retained_did.raw_count +
				 retained_did.hardware_count,
			 0);
	/* Known data are there: the text, the number, the address that was moved. */
	assert_int_equal(capture_from_bytes(clean.data, clean.size, &c, NULL), 0);
	assert_int_equal(record_iter_new(c, UINT32_MAX, 0, SIZE_MAX, &it), 0);
	while (record_iter_next(it, &r) > 0)
		if (r.header->type == PERF_RECORD_SAMPLE &&
		    perfrec_identifier(r.header, r.header->size, &capture_attrs(c, &count)->attr) ==
			    TRACE_ID)
			assert_int_equal(perfrec_sample(r.header, r.header->size,
							&capture_attrs(c, &count)[1].attr, &sample,
							NULL),
					 0);
	assert_int_equal(sample.raw_bytes, 60);
	assert_string_equal((const char *)sample.raw + 8, "visible");
	assert_int_equal(le64_load(sample.raw + 24),
			 KERNEL_PLACE); /* no kernel map has its address */
	assert_int_equal(le64_load(sample.raw + 32), 1234567);
	record_iter_free(it);
	capture_close(c);
	free(b.data);
	free(clean.data);
	free(retained.data);
}

static void scrubcheck_sees_what_it_cannot_read(void **state)
{
	struct bytes b = secrets(true);
	struct scrub_verify_found found;

	assert_int_equal(look_for("no such text", &b).unread_count, 0);
	memset(b.data + EBX_HEAD_BYTES + EBX_PRIVATE_HEADER_BYTES, 0xa5, 16); /* the first object */
	found = look_for("no such text", &b);
	assert_int_not_equal(found.unread_count, 0);
	assert_int_equal(found.text_count, 0);
	free(b.data);
}

/* Each list is full of names that differ, but for one; then two that were there come in turn. */
static void names_that_repeat_in_a_full_list_sort_it_no_more(void **state)
{
	struct scrub_seen s = { .comms = NULL };
	char name[16];

	for (unsigned i = 0; s.comm_count < 1 << 16 || s.comm_count + 1 < s.comm_room; i++) {
		snprintf(name, sizeof(name), "/n%u", i);
		assert_int_equal(scrub_seen_add_comm(&s, name, sizeof(name)), 0);
		assert_int_equal(scrub_seen_add_path(&s, name, strlen(name), false), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "/n%u", i % 2);
		assert_int_equal(scrub_seen_add_comm(&s, name, sizeof(name)), 0);
		assert_int_equal(scrub_seen_add_path(&s, name, strlen(name), false), 0);
	}
	assert_true(s.comm_room - s.comm_count > s.comm_count / 4);
	assert_true(s.path_room - s.path_count > s.path_count / 4);
	scrub_seen_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pseudonym_hash_is_siphash),
		cmocka_unit_test(pseudonyms_are_the_same_under_a_key_and_counted),
		cmocka_unit_test(scrubtext_hides_what_it_should_and_nothing_else),
		cmocka_unit_test(scrubtext_keeps_what_is_not_wanted),
		cmocka_unit_test(a_name_that_is_too_long_to_be_looked_for_is_refused_but_of_a_file),
		cmocka_unit_test(scrub_leaves_the_word_in_no_record_and_no_object),
		cmocka_unit_test(scrub_moves_addresses_of_bundles_and_keeps_their_order),
		cmocka_unit_test(scrub_moves_jit_code_with_its_samples),
		cmocka_unit_test(scrub_leaves_out_what_it_does_not_understand_and_counts_it),
		cmocka_unit_test(scrubcheck_sees_what_it_cannot_read),
		cmocka_unit_test(names_that_repeat_in_a_full_list_sort_it_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
