/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_runtime - any bytes as an ELF file with CPython or V8, as names of code and their lines, and as words of frames */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/bundle.h"
#include "format/base/interpreted_code.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"
#include "record/runtime/code_names.h"
#include "record/runtime/jvm_lines.h"
#include "record/runtime/python_lines.h"
#include "record/runtime/ruby_lines.h"
#include "record/runtime/splice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void find_in(void (*find)(const struct elf_parts *, struct elf_runtime *),
		    const struct source *file, struct elf_runtime *out)
{
	struct elf_parts parts;

	memset(out, 0, sizeof(*out));
	if (elf_parts_read(file, &parts))
		return;
	find(&parts, out);
	elf_parts_done(&parts);
}

static void find_python(const uint8_t *data, size_t size_bytes)
{
	struct elf_runtime p;
	struct source s;

	source_of_bytes(data, size_bytes, &s);
	find_in(elf_python_find, &s, &p);
	if (p.state == ELF_RUNTIME_UNDERSTOOD && !p.desc.eval[0].size_bytes)
		abort();
}

/* Fields lie in what bpf/runtime/v8.bpf.h reads of an object. */
static void find_v8(const uint8_t *data, size_t size_bytes)
{
	const struct runtime_v8_offsets *o;
	struct elf_runtime p;
	struct source s;

	source_of_bytes(data, size_bytes, &s);
	find_in(elf_v8_find, &s, &p);
	o = &p.desc.v8;
	if (p.state != ELF_RUNTIME_UNDERSTOOD && o->is_understood)
		abort();
	if (o->map_type > 56 || o->function_shared > 56 || o->shared_name > 56 ||
	    o->shared_script > 56 || o->shared_token > 56 || o->script_name > 56 ||
	    o->code_start > 56 || o->code_size > 56 || o->code_deopt > 56 || o->deopt_index > 15 ||
	    o->bytecode_positions > 56 || o->shared_data > 56 || o->function_count > 64)
		abort();
}

static void find_listed(const uint8_t *data, size_t size_bytes)
{
	struct elf_runtime p;
	struct source s;

	source_of_bytes(data, size_bytes, &s);
	find_in(elf_listed_find, &s, &p);
	if (p.state == ELF_RUNTIME_UNDERSTOOD &&
	    (!p.desc.eval[0].size_bytes || !p.desc.listed.frame_bytes))
		abort();
}

/* Entries lie in the table, and sizes in what bpf/runtime/jvm.bpf.h reads. */
static void find_jvm(const uint8_t *data, size_t size_bytes)
{
	const struct runtime_jvm_structs *j;
	struct elf_runtime p;
	struct source s;

	source_of_bytes(data, size_bytes, &s);
	find_in(elf_jvm_find, &s, &p);
	j = &p.desc.jvm;
	if ((p.state == ELF_RUNTIME_UNDERSTOOD) != !!j->block_bytes || j->block_bytes > 16 ||
	    j->pool_bytes > 128 || j->const_bytes > 256)
		abort();
	for (size_t i = 0; i < RUNTIME_JVM_FIELDS; i++)
		if (j->entry[i] >= 2048 &&
		    (i < RUNTIME_JVM_CONST_FLAGS || j->entry[i] != RUNTIME_NO_FIELD))
			abort();
}

/* Text that is written can be read. */
static void name_code(const uint8_t *data, size_t size_bytes, enum runtime_kind kind)
{
	struct code_names c = { .path = INTERPRETED_CODE_PYTHON,
				.build_id = { .size_bytes = BUILDID_MAX_BYTES } };
	struct runtime_code_event *ev = calloc(1, sizeof(*ev));
	uint32_t version = kind == RUNTIME_PYTHON ? 0x0308 + (size_bytes & 7)
			   : kind == RUNTIME_V8   ? (size_bytes & 1 ? 0x0d06 : 0x0e06)
						  : 0;
	struct outbuf bytes = { 0 };
	struct bundle *b;

	if (!ev)
		return;
	memcpy(ev, data, size_bytes < sizeof(*ev) ? size_bytes : sizeof(*ev));
	ev->h.size_bytes = (uint16_t)(size_bytes < sizeof(*ev) ? size_bytes : sizeof(*ev));
	ev->id %= 1000;
	if (!code_names_add(&c, ev, kind, version))
		for (uint64_t i = 0; i < 100; i++)
			(void)code_names_hit(&c, (uint64_t)ev->id << RUNTIME_INSTR_BITS | i, i & 1);
	code_names_encode(&c, 0, &bytes);
	if (outbuf_ok(&bytes) && bytes.size_bytes) {
		if (bundle_decode(bytes.data, bytes.size_bytes, &b))
			abort();
		bundle_free(b);
	} else {
		outbuf_done(&bytes);
	}
	code_names_done(&c);
	free(ev);
}

static void join_frames(const uint8_t *data, size_t size_bytes)
{
	const struct runtime_desc d = { .is_nested = size_bytes & 1,
					.eval = { { 0x1000, 0x100 }, { 0x1100, 0x10 } } };
	size_t words = size_bytes / 8, count, user;
	struct splice_stack s = { 0 };
	__u64 *out, *copy;

	if (words < RUNTIME_HEAD_WORDS + 1)
		return;
	copy = malloc(words * 8);
	out = malloc(SPLICE_FRAMES_MAX * sizeof(*out));
	if (copy && out) {
		memcpy(copy, data, words * 8);
		user = copy[0] % words;
		user = user < CPU_SAMPLE_MAX ? user : CPU_SAMPLE_MAX;
		s = (struct splice_stack){ .user = copy,
					   .user_count = user,
					   .is_complete = words & 1,
					   .words = copy + user,
					   .word_count = words - user };
		if (s.word_count > RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX)
			s.word_count = RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX;
		if (s.word_count >= RUNTIME_HEAD_WORDS) {
			(void)splice_frames(&s, &d, out, &count);
			if (count > SPLICE_FRAMES_MAX || count < user)
				abort();
			(void)splice_functions(&s, out, &count);
			if (count > user + s.word_count || count < user)
				abort();
		}
	}
	free(copy);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1); /* of its exact size */

	if (!copy)
		return 0;
	memcpy(copy, data, size_bytes);
	find_python(copy, size_bytes);
	find_v8(copy, size_bytes);
	find_listed(copy, size_bytes);
	find_jvm(copy, size_bytes);
	name_code(copy, size_bytes, RUNTIME_PYTHON);
	name_code(copy, size_bytes, RUNTIME_V8);
	name_code(copy, size_bytes, RUNTIME_RUBY);
	name_code(copy, size_bytes, RUNTIME_PHP);
	name_code(copy, size_bytes, RUNTIME_PERL);
	name_code(copy, size_bytes, RUNTIME_JVM);
	join_frames(copy, size_bytes);
	for (uint32_t version = 0x0308; version <= 0x030b; version++)
		for (uint32_t at = 0; at < 64; at += 6)
			(void)python_lines_find(version, copy, size_bytes, 1, at);
	for (uint32_t at = 0; at < 64; at += 6) {
		(void)jvm_lines_find(17, copy, size_bytes, at);
		(void)jvm_lines_find(25, copy, size_bytes, at);
	}
	for (uint32_t at = 0; at < 5000; at += 61)
		(void)ruby_lines_find(copy, size_bytes, at);
	free(copy);
	return 0;
}
