/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/runtimes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "format/base/interpreted_code.h"
#include "record/process/file/mapped_files.h"

/* As many places more are written at once, as a part of all: 1 / 2^this. */
#define FLUSH_SHIFT 2

/* Where the names of their code are, and what the interpreters are called. */
static const struct {
	const char *path, *name;
} kinds[RUNTIME_KINDS] = {
	[RUNTIME_PYTHON] = { INTERPRETED_CODE_PYTHON, "Python" },
	[RUNTIME_V8] = { INTERPRETED_CODE_JAVASCRIPT, "V8" },
	[RUNTIME_JVM] = { INTERPRETED_CODE_JAVA, "Java" },
	[RUNTIME_RUBY] = { INTERPRETED_CODE_RUBY, "Ruby" },
	[RUNTIME_PHP] = { INTERPRETED_CODE_PHP, "PHP" },
	[RUNTIME_PERL] = { INTERPRETED_CODE_PERL, "Perl" },
};

static int make(enum bpf_map_type type, const char *name, uint32_t key_bytes, uint32_t value_bytes,
		uint32_t count)
{
	int fd = bpf_map_create(type, name, key_bytes, value_bytes, count, NULL);

	return fd < 0 ? -errno : fd;
}

static void name_file(struct code_names *c, const char *path)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	c->path = path;
	c->build_id.size_bytes = BUILDID_MAX_BYTES;
	if (getrandom(c->build_id.bytes, BUILDID_MAX_BYTES, 0) != BUILDID_MAX_BYTES)
		memcpy(c->build_id.bytes, &now_ns, sizeof(now_ns));
}

int runtimes_new(struct sink *emit, struct notes *notes, struct io_timeout *io,
		 struct runtimes **out)
{
	struct runtimes *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->emit = emit;
	r->notes = notes;
	for (size_t i = 0; i < RUNTIME_KINDS; i++)
		if (kinds[i].path)
			name_file(&r->names[i], kinds[i].path);
	r->names[RUNTIME_V8].sources.io = io;
	r->descs_fd = make(BPF_MAP_TYPE_ARRAY, "ebprec_runtimes", sizeof(uint32_t),
			   sizeof(struct runtime_desc), RUNTIME_DESCS);
	r->codes_fd = make(BPF_MAP_TYPE_LRU_HASH, "ebprec_codes", RUNTIME_CODE_KEY_BYTES,
			   RUNTIME_CODE_VALUE_BYTES, RUNTIME_CODES);
	r->places_fd = make(BPF_MAP_TYPE_LRU_HASH, "ebprec_places", RUNTIME_CODE_KEY_BYTES,
			    RUNTIME_PLACE_BYTES, RUNTIME_PLACES);
	r->threads_fd = make(BPF_MAP_TYPE_LRU_HASH, "ebprec_states", sizeof(uint32_t),
			     sizeof(uint64_t), RUNTIME_THREADS);
	r->numbers_fd = make(BPF_MAP_TYPE_LRU_HASH, "ebprec_numbers", sizeof(uint32_t),
			     RUNTIME_NUMBERS_BYTES, RUNTIME_THREADS);
	r->count_fd = make(BPF_MAP_TYPE_ARRAY, "ebprec_count", sizeof(uint32_t), sizeof(uint64_t),
			   1);
	r->files_fd = make(BPF_MAP_TYPE_HASH, "ebprec_interp", sizeof(struct runtime_file_key),
			   sizeof(struct runtime_file), RUNTIME_FILES);
	r->earlies_fd = make(BPF_MAP_TYPE_LRU_HASH, "ebprec_early", sizeof(uint32_t),
			     sizeof(struct runtime_early), RUNTIME_EARLY);
	err = r->descs_fd < 0     ? r->descs_fd
	      : r->codes_fd < 0   ? r->codes_fd
	      : r->places_fd < 0  ? r->places_fd
	      : r->threads_fd < 0 ? r->threads_fd
	      : r->numbers_fd < 0 ? r->numbers_fd
	      : r->count_fd < 0   ? r->count_fd
	      : r->files_fd < 0   ? r->files_fd
	      : r->earlies_fd < 0 ? r->earlies_fd
				  : 0;
	if (err)
		runtimes_free(r);
	else
		*out = r;
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void runtimes_free(struct runtimes *r)
{
	if (!r)
		return;
	close_fd(r->descs_fd);
	close_fd(r->codes_fd);
	close_fd(r->places_fd);
	close_fd(r->threads_fd);
	close_fd(r->numbers_fd);
	close_fd(r->count_fd);
	close_fd(r->files_fd);
	close_fd(r->earlies_fd);
	u64map_done(&r->by_file);
	for (size_t i = 0; i < RUNTIME_KINDS; i++)
		code_names_done(&r->names[i]);
	free(r);
}

/* ---- files and processes ---- */

static const char *state_text(const struct elf_runtime *p)
{
	switch (p->state) {
	case ELF_RUNTIME_THREADED:
		return p->kind == RUNTIME_PHP    ? "it is built with threads"
		       : p->kind == RUNTIME_PERL ? "it is built without threads"
						 : "it is built without the GIL";
	case ELF_RUNTIME_LAYOUT:
		return "its structs are not those of its version";
	default:
		return "its version is not known";
	}
}

static void warn_not_understood(struct runtimes *r, const char *path, const struct elf_runtime *p)
{
	_Static_assert(ELF_RUNTIME_THREADED < 8 * sizeof(r->warned[0]), "a bit for each state");
	if (r->warned[p->kind] & 1u << p->state)
		return;
	r->warned[p->kind] |= (uint8_t)(1u << p->state);
	if (p->kind == RUNTIME_V8) {
		note(r->notes, NOTE_WARNING, "cannot name functions of V8 in '%s': %s, skipping",
		     path, "its objects are not those of node 18 to 26");
		return;
	}
	if (p->kind == RUNTIME_JVM) {
		note(r->notes, NOTE_WARNING, "cannot read frames of Java in '%s': %s, skipping",
		     path, "only those of Java 17 to 25 on x86-64 are known");
		return;
	}
	note(r->notes, NOTE_WARNING, "cannot read frames of %s %u.%u in '%s': %s, skipping",
	     kinds[p->kind].name, p->version >> 8, p->version & 0xff, path, state_text(p));
}

static void warn_no_room(struct runtimes *r, const char *path, const struct elf_runtime *p)
{
	if (p->desc.kind == RUNTIME_NONE || r->warned_no_room)
		return;
	r->warned_no_room = true;
	note(r->notes, NOTE_WARNING,
	     "cannot read frames of the interpreter in '%s': there are more than %d interpreters, "
	     "skipping",
	     path, RUNTIME_DESCS - 1);
}

/* The number of an interpreter: copies of one file have one.  0: it has none, or there are too many. */
static uint32_t number_of(struct runtimes *r, const struct elf_runtime *p)
{
	const struct runtimes_file *f;
	uint32_t number;

	for (number = 1; number <= r->count; number++) {
		f = &r->files[number];
		if (!memcmp(&f->desc, &p->desc, sizeof(p->desc)) &&
		    f->code_vaddr == p->code_vaddr && f->code_offset == p->code_offset &&
		    f->exec_vaddr == p->exec_vaddr)
			return number;
	}
	if (p->desc.kind == RUNTIME_NONE || number >= RUNTIME_DESCS ||
	    bpf_map_update_elem(r->descs_fd, &number, &p->desc, BPF_ANY))
		return 0;
	r->files[number] = (struct runtimes_file){ p->desc, p->code_vaddr, p->code_offset,
						   p->exec_vaddr };
	r->count = number;
	return number;
}

bool runtimes_see_file(struct runtimes *r, const uint64_t key[2], const char *path,
		       const struct elf_facts *facts)
{
	const struct elf_runtime *p = &facts->runtime;
	uint32_t number;

	if (p->state == ELF_RUNTIME_NONE || u64map_get(&r->by_file, key[0], key[1]))
		return false;
	if (p->state != ELF_RUNTIME_UNDERSTOOD)
		warn_not_understood(r, path, p);
	number = number_of(r, p);
	if (!number)
		warn_no_room(r, path, p);
	return number && !u64map_put(&r->by_file, key[0], key[1], number) &&
	       p->state == ELF_RUNTIME_UNDERSTOOD;
}

/* Without room there the first moments of processes lack their frames, which is reported with each stack. */
static void publish_file(const struct runtimes *r, uint32_t dev_major, uint32_t dev_minor,
			 uint64_t inode, uint32_t number)
{
	const struct runtimes_file *f = &r->files[number];
	const struct runtime_file_key key = {
		.dev = (uint64_t)dev_major << 20 | dev_minor, /* MKDEV() of the kernel */
		.inode = inode,
	};
	const struct runtime_file file = {
		.code_vaddr = f->code_vaddr,
		.code_offset = f->code_offset,
		.exec_vaddr = f->exec_vaddr,
		.number = number,
	};

	(void)bpf_map_update_elem(r->files_fd, &key, &file, BPF_ANY);
}

void runtimes_expect_file(struct runtimes *r, const struct stat *st, const struct elf_facts *facts)
{
	uint32_t number = number_of(r, &facts->runtime);

	if (number)
		publish_file(r, major(st->st_dev), minor(st->st_dev), st->st_ino, number);
}

uint32_t runtimes_in_map(const struct runtimes *r, const struct mapping *m, uint64_t *base)
{
	const struct runtimes_file *f;
	const uint32_t *number;
	uint64_t key[2];

	if (!r->count)
		return 0;
	mapped_files_key(&m->id, key);
	number = u64map_get(&r->by_file, key[0], key[1]);
	if (!number)
		return 0;
	f = &r->files[*number];
	if (f->code_offset < m->file_off_bytes ||
	    f->code_offset - m->file_off_bytes >= m->size_bytes)
		return 0;
	*base = m->start + (f->code_offset - m->file_off_bytes) - f->code_vaddr;
	publish_file(r, m->id.dev_major, m->id.dev_minor, m->id.inode, *number);
	return *number;
}

/* Whether frames of its program are read. */
static bool is_read(const struct runtime_desc *d)
{
	return kinds[d->kind].path && (d->kind != RUNTIME_V8 || d->v8.is_understood) &&
	       (d->kind != RUNTIME_JVM || d->jvm.block_bytes);
}

void runtimes_map_code(struct runtimes *r, uint32_t number, uint32_t pid, uint64_t time_ns)
{
	struct side_record rec = { .id = sink_side_id(r->emit), .time_ns = time_ns };
	const struct code_names *names = &r->names[r->files[number].desc.kind];
	const struct mapping m = {
		.pid = pid,
		.tid = pid,
		.start = SPLICE_BASE,
		.size_bytes = 1ULL << RUNTIME_FRAME_BITS,
		.id.build_id = names->build_id,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.path = names->path,
	};
	int err;

	if (!is_read(&r->files[number].desc))
		return;
	if (rec.time_ns < r->emit->floor_ns)
		rec.time_ns = r->emit->floor_ns;
	err = sink_side(r->emit, &rec, side_record_mmap2(&rec, &m));
	r->late_err = r->late_err ? r->late_err : err;
}

/* ---- code and frames ---- */

int runtimes_code(struct runtimes *r, const struct event_header *h)
{
	const struct runtime_code_event *ev = (const void *)h;
	const struct runtime_desc *d;

	if (h->size_bytes < RUNTIME_CODE_EVENT_HEAD_BYTES || ev->desc > r->count)
		return -EBADMSG;
	d = &r->files[ev->desc].desc;
	if (!is_read(d))
		return -EBADMSG;
	return code_names_add(&r->names[d->kind], ev, d->kind,
			      d->kind == RUNTIME_PYTHON ? d->python.version
			      : d->kind == RUNTIME_JVM  ? d->jvm.version
			      : d->kind == RUNTIME_V8   ? d->v8.version
							: 0);
}

static void count_methods(struct runtimes *r, const __u64 *words, size_t count)
{
	r->java_frames += count;
	for (size_t i = 0; i < count; i++)
		r->java_unplaced += (words[i] & RUNTIME_INSTR_MASK) == RUNTIME_NO_BYTECODE;
}

size_t runtimes_join(struct runtimes *r, const __u64 *user, size_t user_count, const __u64 *words,
		     size_t word_count, struct stack_result *info)
{
	const struct splice_stack s = {
		.user = user,
		.user_count = user_count,
		.is_complete = info->why == UNWIND_COMPLETE || info->why == UNWIND_ZERO_PC,
		.ends_in_file = info->why == UNWIND_NO_TABLE || info->why == UNWIND_NO_ROOM ||
				info->why == UNWIND_NO_FILE || info->why == UNWIND_MAX_FRAMES,
		.words = words,
		.word_count = word_count,
	};
	uint32_t number = RUNTIME_WORD_DESC(words[0]);
	const struct runtime_desc *d;
	enum runtime_why why;
	size_t count;

	if (!number || number > r->count || user_count > CPU_SAMPLE_MAX)
		return 0;
	d = &r->files[number].desc;
	why = d->kind == RUNTIME_V8 || d->kind == RUNTIME_JVM
		      ? splice_functions(&s, r->frames, &count)
		      : splice_frames(&s, d, r->frames, &count);
	info->flags |= (uint16_t)(why << STACK_RESULT_RUNTIME_SHIFT);
	r->unnumbered_count += why == RUNTIME_NO_NUMBER;
	if (count == user_count && !memcmp(r->frames, user, count * sizeof(*user)))
		return 0;
	info->flags |= STACK_RESULT_RUNTIME;
	if (d->kind == RUNTIME_JVM)
		count_methods(r, words + RUNTIME_HEAD_WORDS, word_count - RUNTIME_HEAD_WORDS);
	for (size_t i = 0; i < count; i++)
		if (r->frames[i] - SPLICE_BASE < 1ULL << RUNTIME_FRAME_BITS &&
		    code_names_hit(&r->names[d->kind], r->frames[i] - SPLICE_BASE, i > 0))
			return 0;
	return count;
}

static bool misses_entry(const struct runtimes_stack *c, const struct runtime_desc *d)
{
	const __u64 words[RUNTIME_HEAD_WORDS] = {
		RUNTIME_WORD_HEAD(0, RUNTIME_NOT_WALKED, c->number),
		c->base,
	};
	const struct splice_stack s = {
		.user = c->user,
		.user_count = c->user_count,
		.words = words,
		.word_count = RUNTIME_HEAD_WORDS,
	};

	return splice_has_entry(&s, d);
}

/*
 * Whether frames in code that was made have no function.  The JVM's native code calls a method by a stub, which has none:
 * a stub alone is one that does some work for native code.
 */
static bool misses_functions(const struct runtimes_stack *c, const __u64 *words, unsigned kind)
{
	size_t count = words ? RUNTIME_WORD_COUNT(*words) : 0, in_a_row = 0,
	       enough = kind == RUNTIME_JVM ? 2 : 1;
	size_t i = count ? RUNTIME_FRAME_INDEX(words[RUNTIME_HEAD_WORDS + count - 1]) + 1 : 0;

	/* Behind the last method that has one its own stub follows. */
	while (count && i < c->user_count && c->made && c->made[i])
		i++;
	for (; i < c->user_count && c->made && in_a_row < enough; i++)
		in_a_row = c->made[i] ? in_a_row + 1 : 0;
	return in_a_row >= enough;
}

void runtimes_miss(const struct runtimes *r, const struct runtimes_stack *c, const __u64 *words,
		   struct stack_result *info)
{
	const struct runtime_desc *d;
	bool misses;

	if (!c->number || c->number > r->count ||
	    info->flags >> STACK_RESULT_RUNTIME_SHIFT & STACK_RESULT_RUNTIME_MASK)
		return;
	d = &r->files[c->number].desc;
	if (d->kind == RUNTIME_V8 || d->kind == RUNTIME_JVM)
		misses = misses_functions(c, words, d->kind);
	else
		misses = !words && misses_entry(c, d);
	if (misses)
		info->flags |= RUNTIME_NOT_WALKED << STACK_RESULT_RUNTIME_SHIFT;
}

void runtimes_account(const struct runtimes *r, struct account *a)
{
	a->code_refused_count = a->code_placeless_count = 0;
	for (size_t i = 0; i < RUNTIME_KINDS; i++) {
		a->code_refused_count += r->names[i].refused_count;
		a->code_placeless_count += r->names[i].placeless_count;
	}
	a->code_unnumbered_count = r->unnumbered_count;
	a->java_frame_count = r->java_frames;
	a->java_unplaced_count = r->java_unplaced;
}

/* ---- into the capture ---- */

static int write_names(struct runtimes *r, const struct code_names *names, size_t from,
		       struct writer *to)
{
	struct outbuf bytes = { 0 };
	int err = 0;

	code_names_encode(names, from, &bytes);
	if (!outbuf_ok(&bytes))
		err = -ENOMEM;
	else if (bytes.size_bytes)
		err = writer_object(to, EBX_SYMTAB, ++r->objects, bytes.data, bytes.size_bytes);
	outbuf_done(&bytes);
	return err;
}

static int flush_names(struct runtimes *r, struct code_names *names, struct writer *to, bool last)
{
	size_t fresh = names->count - names->written;
	int err;

	if (!fresh || (!last && fresh < names->count >> FLUSH_SHIFT))
		return 0;
	/* A place is written once, with the line that is known by then. */
	names->is_put_off = !last && names->sources.reading && !names->is_put_off;
	if (names->is_put_off)
		return 0;
	err = write_names(r, names, names->written, to);
	names->written = names->count;
	return err;
}

int runtimes_flush(struct runtimes *r, struct writer *to, bool last)
{
	int err = r->late_err;

	for (size_t i = 0; i < RUNTIME_KINDS && !err; i++)
		err = flush_names(r, &r->names[i], to, last);
	return err;
}

int runtimes_copy(struct runtimes *r, struct writer *to)
{
	int err = r->late_err;

	for (size_t i = 0; i < RUNTIME_KINDS && !err; i++)
		err = r->names[i].count ? write_names(r, &r->names[i], 0, to) : 0;
	return err;
}
