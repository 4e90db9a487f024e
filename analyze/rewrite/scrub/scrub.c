/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_meta.h"
#include "analyze/input/event/event_of.h"
#include "analyze/rewrite/scrub/scrub_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/payload/switch_fields.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"

/* Where the kernel is when it was not moved by lot, and its highest addresses, which never are. */
#define KERNEL_TEXT  0xffffffff81000000ULL
#define KERNEL_FIXED 0xffffffffff000000ULL
/* Programs, libraries and stacks of 64-bit programs are in this range; the rest is not drawn by lot. */
#define USER_FROM  (1ULL << 46)
#define USER_BYTES (1ULL << 46)
/* A turn by so much cuts the range between programs (0x55...) and libraries (0x7f...). */
#define USER_TURN_MIN  0x200000000000ULL
#define USER_TURN_MASK 0x04fffffff000ULL

#define PROGRAM_WORD_MIN_BYTES 3   /* shorter ones are found by chance */
#define PROGRAM_WORD_MAX_BYTES 255 /* no file has a longer name */

/* ---- texts ---- */

/* A hidden program's name is in other paths, too: of folders of its name, of copies of it. */
static void hide_components(struct scrub *s, char *path, size_t size_bytes)
{
	char *end = path + size_bytes, *next;

	for (; path < end; path = next + 1) {
		next = memchr(path, '/', (size_t)(end - path)) ?: end;
		if (scrub_seen_is_program(&s->seen, path, (size_t)(next - path)))
			pseudonyms_put(s->p, PSEUDONYM_COMM, path, (size_t)(next - path));
	}
}

/* Where a hidden program's name that begins at text ends; 0: none begins there. */
static size_t program_word_bytes(const struct scrub *s, const char *text, size_t size_bytes)
{
	size_t bytes = size_bytes < PROGRAM_WORD_MAX_BYTES ? size_bytes : PROGRAM_WORD_MAX_BYTES;

	if (bytes >= SCRUB_SEEN_COMM_BYTES && !scrub_seen_is_program(&s->seen, text, bytes))
		bytes = SCRUB_SEEN_COMM_BYTES - 1; /* no longer one begins so */
	for (; bytes >= PROGRAM_WORD_MIN_BYTES; bytes--)
		if (scrub_text_is_border(text, size_bytes, bytes) &&
		    scrub_seen_is_program_word(&s->seen, text, bytes))
			return bytes;
	return 0;
}

void scrub_program_words(struct scrub *s, char *text, size_t size_bytes)
{
	size_t bytes;

	scrub_probe_words(s, text, size_bytes);
	for (size_t at = 0; !s->learning && s->seen.base_count && at < size_bytes;
	     at += bytes ? bytes : 1) {
		bytes = scrub_text_is_border(text, size_bytes, at)
				? program_word_bytes(s, text + at, size_bytes - at)
				: 0;
		if (bytes)
			pseudonyms_put(s->p, PSEUDONYM_COMM, text + at, bytes);
	}
}

/* The names of files below /home that a command line has: a mark may be of a file that nothing mapped. */
static void learn_paths_in(struct scrub *s, const char *text, size_t size_bytes)
{
	const char *at = text, *end = text + size_bytes;
	size_t bytes;

	while (s->opts.wanted[PSEUDONYM_HOME] &&
	       (at = memmem(at, (size_t)(end - at), "/home/", 6))) {
		bytes = scrub_text_path_bytes(at, (size_t)(end - at));
		if (scrub_seen_add_hidden(&s->seen, at, bytes))
			s->err = -ENOMEM;
		at += bytes;
	}
}

/* Texts that people and programs wrote; not names of functions and events, which are to be found under them. */
static bool is_written(enum scrub_left_kind kind)
{
	return kind == SCRUB_LEFT_COMM || kind == SCRUB_LEFT_TEXT || kind == SCRUB_LEFT_ARGUMENT;
}

static void apply(struct scrub *s, enum scrub_text_form form, enum scrub_left_kind kind, char *text,
		  size_t size_bytes)
{
	/* The group of a mark is the name of the file where its probe is, of a library's, too. */
	if (is_written(kind) && scrub_seen_hides(&s->seen, text, size_bytes)) {
		pseudonyms_put(s->p, PSEUDONYM_COMM, text, size_bytes);
		return;
	}
	scrub_text_apply(s->text, form, text, size_bytes);
	if (form == SCRUB_TEXT_PATH)
		hide_components(s, text, size_bytes);
	else if (is_written(kind))
		scrub_program_words(s, text, size_bytes);
}

void scrub_note_left(struct scrub *s, enum scrub_left_kind kind, const char *text,
		     size_t size_bytes)
{
	bool is_noted = !s->learning && (s->opts.list_left || kind == SCRUB_LEFT_COMM);
	int err = !is_noted ? 0 : scrub_left_add(&s->left, kind, text, size_bytes);

	if (err)
		s->err = err;
}

void scrub_text(struct scrub *s, enum scrub_text_form form, enum scrub_left_kind kind, char *text,
		size_t size_bytes)
{
	int err = 0;

	if (!s->learning)
		apply(s, form, kind, text, size_bytes);
	else
		err = scrub_text_learn(s->text, text, size_bytes);
	if (s->learning && (form == SCRUB_TEXT_JSON || kind == SCRUB_LEFT_ARGUMENT))
		learn_paths_in(s, text, size_bytes);
	scrub_note_left(s, kind, text, size_bytes);
	if (err)
		s->err = err;
}

void scrub_text_in(struct scrub *s, enum scrub_text_form form, enum scrub_left_kind kind,
		   char *text, size_t room_bytes)
{
	size_t size = strnlen(text, room_bytes);
	bool blanked = false;

	scrub_text(s, form, kind, text, size);
	if (s->learning || s->opts.unknown)
		return;
	for (; size < room_bytes; size++) {
		blanked |= text[size] != 0;
		text[size] = '\0';
	}
	s->stats.dropped_count += blanked;
}

/* Behind a copy of the text stands a NUL: regexec() of the address sanitizer looks for one, whatever the flags. */
static bool matches_any(const struct scrub_patterns *p, const char *copy, size_t size_bytes)
{
	bool chosen = false;

	/* All of it: what is behind a NUL is in the file, too. */
	for (size_t i = 0; !chosen && i < p->count; i++) {
		regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)size_bytes };

		chosen = !regexec(&p->list[i], copy, 1, &range, REG_STARTEND);
	}
	return chosen;
}

/* Without memory it is chosen. */
static bool is_chosen(const struct scrub_patterns *p, const char *text, size_t size_bytes)
{
	char fixed[512], *copy = fixed;
	bool chosen;

	if (!p->count)
		return false;
	if (size_bytes >= sizeof(fixed))
		copy = malloc(size_bytes + 1);
	if (!copy)
		return true;
	memcpy(copy, text, size_bytes);
	copy[size_bytes] = '\0';
	chosen = matches_any(p, copy, size_bytes);
	if (copy != fixed)
		free(copy);
	return chosen;
}

bool scrub_symbol(struct scrub *s, char *name, size_t size_bytes)
{
	if (s->learning || !size_bytes || !is_chosen(&s->opts.symbols, name, size_bytes))
		return false;
	pseudonyms_put(s->p, PSEUDONYM_SYMBOL, name, size_bytes);
	return true;
}

void scrub_learn_word(struct scrub *s, enum pseudonym_kind kind, const char *word,
		      size_t size_bytes)
{
	int err = scrub_text_word(s->text, kind, word, size_bytes);

	if (err)
		s->err = err;
}

/* A chosen comm is a word from then on: programs have the names of their files. */
static void learn_comm(struct scrub *s, const char *comm, size_t room_bytes)
{
	size_t size = strnlen(comm, room_bytes);

	if (is_chosen(&s->opts.comms, comm, size))
		scrub_learn_word(s, PSEUDONYM_COMM, comm, size);
	if (scrub_seen_add_comm(&s->seen, comm, size))
		s->err = -ENOMEM;
}

static bool is_hidden_path(const struct scrub *s, const char *path, size_t size_bytes)
{
	return s->opts.wanted[PSEUDONYM_HOME] && memmem(path, size_bytes, "/home/", 6);
}

static void learn_path(struct scrub *s, const char *path, size_t size_bytes)
{
	if (s->learning && size_bytes && *path == '/' &&
	    scrub_seen_add_path(&s->seen, path, size_bytes, is_hidden_path(s, path, size_bytes)))
		s->err = -ENOMEM;
}

/* The name of a program whose file is hidden goes with it; others as any text. */
static void scrub_comm(struct scrub *s, char *comm, size_t room_bytes)
{
	size_t size = strnlen(comm, room_bytes);

	if (s->learning)
		learn_comm(s, comm, size);
	if (s->learning || !size ||
	    (!scrub_seen_hides(&s->seen, comm, size) && !is_chosen(&s->opts.comms, comm, size))) {
		scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_COMM, comm, size);
	} else {
		pseudonyms_put(s->p, PSEUDONYM_COMM, comm, size);
		scrub_note_left(s, SCRUB_LEFT_HIDDEN_COMM, comm, size);
	}
}

/* ---- addresses ---- */

uint64_t scrub_address(struct scrub *s, uint64_t address)
{
	uint64_t to = address;

	if (!s->opts.layout || s->learning)
		return address;
	if (address >> 63 && address < KERNEL_FIXED)
		to = address + s->kernel_move;
	else if (address - USER_FROM < USER_BYTES)
		to = USER_FROM + (address - USER_FROM + s->user_move) % USER_BYTES;
	s->stats.moved_count += to != address;
	return to;
}

static void move(struct scrub *s, uint8_t *at)
{
	le64_store(at, scrub_address(s, le64_load(at)));
}

/* How far the kernel is from where it would be without chance; modules go with it. */
static void learn_kernel(struct scrub *s, const struct perfrec_mmap *m)
{
	if (m->start >> 63 && !strncmp(m->path, "[kernel.kallsyms]", 17) && !s->kernel_move)
		s->kernel_move = (KERNEL_TEXT & ~0x1fffffULL) - (m->start & ~0x1fffffULL);
}

/* ---- records ---- */

/* Records that hold numbers alone: of threads, events, namespaces and BPF programs. */
static bool is_numbers(uint32_t type)
{
	return type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE ||
	       type == PERF_RECORD_READ || type == PERF_RECORD_ITRACE_START ||
	       type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE ||
	       type == PERF_RECORD_NAMESPACES || type == PERF_RECORD_BPF_EVENT;
}

/* False: it is not understood. */
static bool edit_side(struct scrub *s, const struct perf_event_attr *attr, uint8_t *rec)
{
	const struct perf_event_header *h = (const void *)rec;
	struct perfrec_side side;
	int err = perfrec_side(rec, h->size, attr, &side, NULL);

	if (!err && (side.type == PERF_RECORD_MMAP || side.type == PERF_RECORD_MMAP2)) {
		char *path = (char *)rec + ((const uint8_t *)side.mmap.path - rec);

		if (s->learning)
			learn_kernel(s, &side.mmap);
		learn_path(s, path, strlen(path));
		scrub_text(s, SCRUB_TEXT_PATH, SCRUB_LEFT_FILE, path, strlen(path));
		if (side.mmap.file_off_bytes >> 63)
			move(s, rec + 32);
		move(s, rec + 16);
	} else if (!err && side.type == PERF_RECORD_COMM) {
		char *comm = (char *)rec + ((const uint8_t *)side.comm.comm - rec);

		scrub_comm(s, comm, strlen(comm));
	} else if (!err && side.type == PERF_RECORD_CGROUP) {
		char *path = (char *)rec + ((const uint8_t *)side.cgroup.path - rec);

		scrub_text(s, SCRUB_TEXT_PATH, SCRUB_LEFT_CGROUP, path, strlen(path));
	} else if (!err && side.type == PERF_RECORD_KSYMBOL) {
		char *name = (char *)rec + ((const uint8_t *)side.ksymbol.name - rec);

		(void)scrub_symbol(s, name, strlen(name));
		move(s, rec + 8);
	} else if (!err && side.type == PERFREC_LATER) {
		for (size_t i = 0; i < side.later.count; i++)
			move(s, rec + (side.later.frames - rec) + 8 * i);
	} else if (err) {
		return err == -ENOTSUP && is_numbers(h->type);
	}
	return true;
}

/* Where the bytes of a field are; false: not in the raw data. */
static bool place_field(const struct scrub_field *f, const uint8_t *raw, size_t raw_bytes,
			size_t *off, size_t *size)
{
	uint32_t where;

	*off = f->off_bytes;
	*size = f->size_bytes;
	if (*off > raw_bytes || raw_bytes - *off < *size)
		return false;
	if (f->how == SCRUB_FIXED)
		return true;
	where = *size == 4 ? le32_load(raw + *off) : 0;
	*off = (where & 0xffff) + (f->how == SCRUB_REL_LOC ? *off + 4 : 0);
	*size = where >> 16;
	return *off <= raw_bytes && raw_bytes - *off >= *size;
}

static void edit_field(struct scrub *s, const struct scrub_field *f, uint8_t *raw, size_t raw_bytes)
{
	size_t off, size;

	if (!place_field(f, raw, raw_bytes, &off, &size))
		return;
	if (f->how != SCRUB_FIXED) /* where it is */
		memset(s->known + f->off_bytes, 1, f->size_bytes);
	if (f->is_text) /* what stands behind it is a longer one's that was there before */
		size = strnlen((const char *)raw + off, size);
	if (f->how == SCRUB_FIXED || f->is_text)
		memset(s->known + off, 1, size);
	if (f->is_file_name && s->opts.wanted[PSEUDONYM_HOME]) {
		memset(raw + off, 0, size);
	} else if (f->is_text) {
		if (f->is_comm)
			scrub_comm(s, (char *)raw + off, size);
		else
			scrub_text(s, SCRUB_TEXT_FREE, SCRUB_LEFT_TEXT, (char *)raw + off, size);
	} else if (f->is_address) {
		for (; size >= 8; off += 8, size -= 8)
			move(s, raw + off);
	}
}

/* The text of a journal's line may be anything; its time, level and unit stay.  So it is with messages of D-Bus. */
static void blank_log(struct scrub *s, uint8_t *raw, size_t raw_bytes)
{
	struct trace_data_mark m;

	if (s->learning || trace_data_mark_decode(raw, raw_bytes, &m) ||
	    !trace_data_mark_is_reserved(m.group) || !*m.message)
		return;
	memset(raw + ((const uint8_t *)m.message - raw), 0, strlen(m.message));
	s->stats.dropped_count++;
}

/*
 * Fields that are known stay, texts and addresses among them as they become, and how the walk of the user stack
 * ended; all else is blanked.
 */
static void edit_raw(struct scrub *s, const struct scrub_event *event, uint8_t *raw,
		     size_t raw_bytes)
{
	static const struct scrub_format none;
	const struct scrub_format *format = event->format ? event->format : &none;
	struct stack_result info;
	bool blanked = false;
	size_t result;

	memset(s->known, 0, raw_bytes);
	for (size_t i = 0; i < format->field_count; i++)
		edit_field(s, &format->fields[i], raw, raw_bytes);
	if (s->learning || s->opts.unknown)
		return;
	if (format->is_switch && raw_bytes >= SWITCH_FIELDS_BYTES)
		memset(s->known + raw_bytes - SWITCH_FIELDS_BYTES, 1, SWITCH_FIELDS_BYTES);
	if (!format->are_known)
		memset(s->known, 0, raw_bytes);
	if (result_place_find(event->result, raw_bytes, &result) &&
	    stack_result_decode(raw + result, raw_bytes - result, &info) &&
	    info.how != STACK_RESULT_NONE)
		memset(s->known + result, 1, STACK_RESULT_BYTES);
	for (size_t i = 0; i < raw_bytes; i++) {
		if (raw[i] && !s->known[i]) {
			raw[i] = 0;
			blanked = true;
		}
	}
	s->stats.raw_count += blanked;
}

static void blank(uint8_t *rec, const uint8_t *part, size_t size_bytes)
{
	if (part)
		memset(rec + (part - rec), 0, size_bytes);
}

/* Blanks copied stacks and registers. */
static void blank_copies(struct scrub *s, const struct perf_event_attr *attr,
			 const struct perf_sample *sample, const struct perfrec_rest *rest,
			 uint8_t *rec)
{
	s->stats.stack_count += sample->user_stack_bytes || sample->user_regs || rest->intr_regs;
	s->stats.lost_caller_count += sample->user_stack_bytes != 0;
	blank(rec, sample->user_stack, sample->user_stack_room_bytes);
	blank(rec, sample->user_regs, 8 * (size_t)__builtin_popcountll(attr->sample_regs_user));
	blank(rec, rest->intr_regs, 8 * (size_t)__builtin_popcountll(attr->sample_regs_intr));
	if (s->opts.unknown)
		return;
	s->stats.hardware_count += rest->branch_bytes || rest->phys_addr || rest->aux_bytes;
	blank(rec, rest->branches, rest->branch_bytes);
	blank(rec, rest->phys_addr, 8);
	blank(rec, rest->aux, rest->aux_bytes);
}

/* False: it is not understood. */
static bool edit_sample(struct scrub *s, const struct capture_attr *attr, uint8_t *rec)
{
	const struct perf_event_header *h = (const void *)rec;
	uint64_t type = attr->attr.sample_type;
	size_t count, at = sizeof(*h) + (type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	const struct capture_attr *attrs = capture_attrs(s->c, &count);
	struct perf_sample sample;
	struct perfrec_rest rest;

	if (perfrec_sample(rec, h->size, &attr->attr, &sample, NULL) ||
	    perfrec_sample_rest(rec, h->size, &attr->attr, &rest))
		return false;
	if (sample.raw)
		blank_log(s, rec + (sample.raw - rec), sample.raw_bytes);
	if (sample.raw)
		edit_raw(s, &s->events[attr - attrs], rec + (sample.raw - rec), sample.raw_bytes);
	if (s->learning)
		return true;
	if (type & PERF_SAMPLE_IP) {
		move(s, rec + at);
		at += 8;
	}
	at += (type & PERF_SAMPLE_TID ? 8 : 0) + (type & PERF_SAMPLE_TIME ? 8 : 0);
	if (type & PERF_SAMPLE_ADDR)
		move(s, rec + at);
	for (size_t i = 0; i < sample.chain_count; i++)
		move(s, rec + (sample.chain - rec) + i * 8);
	blank_copies(s, &attr->attr, &sample, &rest, rec);
	return true;
}

static bool edit_record(void *ctx, const struct capture_attr *attr, struct perf_event_header *rec)
{
	struct scrub *s = ctx;
	bool known = rec->type == PERF_RECORD_SAMPLE ? edit_sample(s, attr, (uint8_t *)rec)
						     : edit_side(s, &attr->attr, (uint8_t *)rec);

	if (known || s->opts.unknown)
		return true;
	s->stats.dropped_count += !s->learning;
	return false;
}

/* ---- learning ---- */

static void learn_copy(struct scrub *s, struct capture_bytes b, unsigned bit)
{
	uint8_t *copy = b.size_bytes ? malloc(b.size_bytes) : NULL;

	if (!copy) {
		s->err = b.size_bytes ? -ENOMEM : s->err;
		return;
	}
	memcpy(copy, b.data, b.size_bytes);
	(void)scrub_section(s, bit, copy, b.size_bytes);
	free(copy);
}

/* The machine's name, and the release of its kernel, which paths of modules have. */
static int learn_machine(struct scrub *s)
{
	const char *host = capture_feature_string(s->c, PERFFILE_HOSTNAME);
	size_t first = host ? strcspn(host, ".") : 0;
	int err = 0;

	if (s->opts.wanted[PSEUDONYM_HOST] && first && strcmp(host, "localhost") != 0 &&
	    *host != '(') {
		err = scrub_text_word(s->text, PSEUDONYM_HOST, host, strlen(host));
		if (!err)
			err = scrub_text_word(s->text, PSEUDONYM_HOST, host, first);
	}
	if (!err && s->release)
		err = scrub_text_word(s->text, PSEUDONYM_MACHINE, s->release, strlen(s->release));
	return err;
}

/* Owned; NULL: not known, or not to be hidden.  -ENOMEM. */
static int find_release(struct scrub *s)
{
	const char *feature = capture_feature_string(s->c, PERFFILE_OSRELEASE);
	struct capture_meta_value meta;

	if (!s->opts.machine)
		return 0;
	if (feature && *feature) {
		s->release = strdup(feature);
		return s->release ? 0 : -ENOMEM;
	}
	meta = capture_meta_read(s->c, EBX_META_START);
	s->release = capture_meta_string(
		capture_meta_member(capture_meta_member(meta, "host"), "kernel"));
	capture_meta_free(meta);
	if (s->release && !*s->release) {
		free(s->release);
		s->release = NULL;
	}
	return 0;
}

static int learn_head(struct scrub *s)
{
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(s->c, &count);
	uint8_t *data;
	int err = find_release(s);

	if (!err)
		err = learn_machine(s);
	for (size_t i = 0; !err && i < s->opts.word_count; i++)
		err = scrub_text_word(s->text, PSEUDONYM_WORD, s->opts.words[i],
				      strlen(s->opts.words[i]));
	for (unsigned bit = 1; !err && bit < 64; bit++)
		if (capture_feature(s->c, bit).data)
			learn_copy(s, capture_feature(s->c, bit), bit);
	for (size_t i = 0; !err && i < count; i++) {
		err = capture_object_read(s->c, &o[i], &data, &size_bytes);
		if (!err) {
			(void)scrub_object(s, &o[i], data, &size_bytes);
			free(data);
		} else if (err != -ENOMEM) {
			err = 0; /* rewriting counts it */
		}
	}
	return err ? err : s->err;
}

static int learn_records(struct scrub *s)
{
	struct event_of events = event_of_capture(s->c);
	uint32_t streams = 1U << EBX_STREAM_SIDE;
	struct record_iter *it;
	struct record r;
	uint64_t *copy;
	const struct capture_attr *attr;
	int err;

	if (s->opts.comms.count)
		streams = UINT32_MAX;
	copy = malloc(PERFFILE_RECORD_MAX);
	err = copy ? record_iter_new(s->c, streams, 0, SIZE_MAX, &it) : -ENOMEM;
	if (err) {
		free(copy);
		return err;
	}
	while ((err = record_iter_next(it, &r)) > 0) {
		attr = event_of_find(&events, r.header);
		if (r.header->size > PERFFILE_RECORD_MAX)
			continue;
		memcpy(copy, r.header, r.header->size);
		(void)edit_record(s, attr ? attr : events.attrs, (void *)copy);
	}
	record_iter_free(it);
	free(copy);
	return err ? err : s->err;
}

/* Finds the format of the raw data of each event. */
static int find_events(struct scrub *s)
{
	struct capture_bytes section = capture_feature(s->c, PERFFILE_TRACING_DATA);
	size_t count;
	const struct capture_attr *attrs = capture_attrs(s->c, &count);
	int err = section.data ? scrub_formats_read(&s->formats, section.data, section.size_bytes)
			       : 0;

	s->events = calloc(count + 1, sizeof(*s->events));
	if (!s->events)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		s->events[i].result = result_place_of(s->c, i);
		if (attrs[i].attr.type == PERF_TYPE_TRACEPOINT)
			s->events[i].format = scrub_formats_find(&s->formats, attrs[i].attr.config);
	}
	return err;
}

int scrub_new(const struct capture *c, const struct scrub_opts *o, struct scrub **out)
{
	struct scrub *s = calloc(1, sizeof(*s));
	size_t count;
	int err;

	if (!s)
		return -ENOMEM;
	(void)capture_attrs(c, &count);
	s->c = c;
	s->opts = *o;
	s->user_move = USER_TURN_MIN + (pseudonym_hash(o->key, "layout", 6) & USER_TURN_MASK);
	s->edit = (struct rewrite_edit){ s, o->times, edit_record, scrub_object, scrub_section };
	err = pseudonyms_new(o->key, o->erase, &s->p);
	if (!err)
		err = scrub_text_new(s->p, o->wanted, &s->text);
	if (!err)
		err = find_events(s);
	s->learning = true;
	if (!err)
		err = learn_head(s);
	if (!err && count)
		err = learn_records(s);
	s->learning = false;
	scrub_seen_seal(&s->seen);
	if (err)
		scrub_free(s);
	else
		*out = s;
	return err;
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	scrub_left_done(&s->left);
	scrub_seen_done(&s->seen);
	scrub_text_free(s->text);
	free(s->release);
	pseudonyms_free(s->p);
	scrub_formats_done(&s->formats);
	free(s->events);
	free(s);
}

const struct rewrite_edit *scrub_edit(struct scrub *s)
{
	return &s->edit;
}

int scrub_error(const struct scrub *s)
{
	return s->err ? s->err : pseudonyms_error(s->p);
}

const struct scrub_stats *scrub_get_stats(const struct scrub *s)
{
	return &s->stats;
}

const struct pseudonyms *scrub_pseudonyms(const struct scrub *s)
{
	return s->p;
}

const struct scrub_left *scrub_get_left(const struct scrub *s)
{
	return &s->left;
}

const struct scrub_seen *scrub_get_seen(const struct scrub *s)
{
	return &s->seen;
}

bool scrub_hides_path(const struct scrub *s, const char *path)
{
	return is_hidden_path(s, path, strlen(path));
}
