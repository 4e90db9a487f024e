/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/jit_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"
#include "format/perf/jitdump.h"

/* Pieces of code of one process: a hostile file has as many as it likes. */
#define CODE_MAX (1u << 20)

void jit_code_done(struct jit_code *j)
{
	for (size_t i = 0; i < j->count; i++)
		free((char *)(uintptr_t)j->list[i].text);
	free(j->list);
	free(j->code);
	*j = (struct jit_code){ 0 };
}

/* "perf-123.map": prefix, number, suffix */
static bool parse_name(const char *name, const char *format, uint32_t *pid)
{
	int end = 0;

	return sscanf(name, format, pid, &end) == 1 && end && !name[end];
}

/* Process ids, numbered as they came. */
struct pids {
	uint32_t *list;
	size_t count, capacity;
	struct hash_index index;
};

struct reading {
	struct jit_code *jits;
	struct pids texts; /* the numbers are those of jits->list */
	struct pids dumps; /* that were read already, maybe by another name of the same number */
};

static void pids_done(struct pids *p)
{
	free(p->list);
	hash_index_done(&p->index);
}

static uint32_t find_pid(const struct pids *p, uint32_t pid, uint32_t *pos)
{
	uint64_t hash = hash_index_pair(&p->index, pid, 0);
	uint32_t number;

	*pos = hash_index_start(&p->index, hash);
	while ((number = hash_index_match(&p->index, hash, pos)) != HASH_INDEX_NONE)
		if (p->list[number] == pid) /* NOLINT: what the index finds is in the list */
			break;
	return number;
}

/* 1: it was there.  -ENOMEM. */
static int add_pid(struct pids *p, uint32_t pid, uint32_t *number)
{
	int err = hash_index_reserve(&p->index);
	uint32_t pos;

	if (!err)
		err = vec_reserve(&p->list, &p->capacity, p->count + 1);
	if (err)
		return err;
	*number = find_pid(p, pid, &pos);
	if (*number != HASH_INDEX_NONE)
		return 1;
	*number = (uint32_t)p->count++;
	p->list[*number] = pid;
	hash_index_put(&p->index, hash_index_pair(&p->index, pid, 0), pos, *number);
	return 0;
}

static int append_text(struct resolver_jit *jit, const char *text, size_t size_bytes)
{
	char *both = realloc((char *)(uintptr_t)jit->text, jit->size_bytes + 1 + size_bytes + 1);

	if (!both)
		return -ENOMEM;
	jit->text = both;
	both[jit->size_bytes] = '\n'; /* the last line may be cut */
	memcpy(both + jit->size_bytes + 1, text, size_bytes);
	jit->size_bytes += 1 + size_bytes;
	return 0;
}

/* Puts text behind what there is of the process; text is taken over, also on failure. */
static int add_text(struct reading *r, uint32_t pid, char *text, size_t size_bytes)
{
	struct jit_code *j = r->jits;
	uint32_t number;
	int err = vec_reserve(&j->list, &j->capacity, j->count + 1);

	if (!err)
		err = add_pid(&r->texts, pid, &number);
	if (err) {
		err = err == 1 ? append_text(&j->list[number], text, size_bytes) : err;
		free(text);
		return err;
	}
	j->list[j->count++] =
		(struct resolver_jit){ .pid = pid, .text = text, .size_bytes = size_bytes };
	return 0;
}

static int add_map(void *ctx, const char *name, const char *text, size_t size_bytes)
{
	struct reading *r = ctx;
	uint32_t pid, pos;
	char *copy;

	if (*name != 'p' || !parse_name(name, "perf-%9u.map%n", &pid) ||
	    find_pid(&r->texts, pid, &pos) != HASH_INDEX_NONE)
		return 0; /* or another name of the same number */
	copy = malloc(size_bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size_bytes);
	return add_text(r, pid, copy, size_bytes);
}

/* ---- jitdumps ---- */

struct dump {
	struct jit_code *jits;
	uint32_t pid;
	bool timed;
	FILE *lines;
	uint64_t next_place;
	size_t first; /* of its code */
};

static int add_code(struct dump *d, const struct jitdump_code *code, uint64_t place)
{
	struct jit_code *j = d->jits;
	int err;

	if (!d->timed)
		return 0;
	err = vec_reserve(&j->code, &j->code_capacity, j->code_count + 1);
	if (!err)
		j->code[j->code_count++] = (struct jit_code_text){ .pid = d->pid,
								   .time_ns = code->time_ns,
								   .addr = code->addr,
								   .size_bytes = code->size_bytes,
								   .place = place };
	return err;
}

/* A line at the place of the code, or where nothing is known of times at its address. */
static int load_code(struct dump *d, const struct jitdump_code *code)
{
	uint64_t place = d->timed ? d->next_place : code->addr;

	fprintf(d->lines, "%" PRIx64 " %" PRIx64 " ", place, code->size_bytes);
	for (size_t i = 0; i < code->name_bytes; i++)
		fputc(code->name[i] == '\n' ? ' ' : code->name[i], d->lines);
	fputc('\n', d->lines);
	if (d->timed)
		d->next_place += code->size_bytes;
	return add_code(d, code, place);
}

/* Where a piece was loaded, by its number, which compilers count up. */
struct loaded {
	uint64_t index, place;
};

static int by_index(const void *a, const void *b)
{
	const struct loaded *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

struct moves {
	struct loaded *list;
	size_t count, capacity;
	bool sorted;
};

static int remember(struct moves *m, uint64_t index, uint64_t place)
{
	int err = vec_reserve(&m->list, &m->capacity, m->count + 1);

	if (err)
		return err;
	m->sorted = !m->count || (m->sorted && m->list[m->count - 1].index <= index);
	m->list[m->count++] = (struct loaded){ index, place };
	return 0;
}

static int move_code(struct dump *d, struct moves *m, const struct jitdump_code *code)
{
	struct loaded key = { .index = code->index }, *found;

	if (!m->sorted && m->count > 1)
		qsort(m->list, m->count, sizeof(*m->list), by_index);
	m->sorted = true;
	found = m->count ? bsearch(&key, m->list, m->count, sizeof(*m->list), by_index) : NULL;
	return found ? add_code(d, code, found->place) : 0;
}

static int read_dump(struct dump *d, struct cursor *c)
{
	struct moves moves = { 0 };
	struct jitdump_code code;
	int err = 0;

	while (!err && d->jits->code_count - d->first < CODE_MAX && moves.count < CODE_MAX &&
	       jitdump_next(c, &code) == 1) {
		if (code.size_bytes > UINT64_MAX - d->next_place)
			break;
		if (code.is_move) {
			err = move_code(d, &moves, &code);
			continue;
		}
		err = remember(&moves, code.index, d->next_place);
		if (!err)
			err = load_code(d, &code);
	}
	free(moves.list);
	return err;
}

static int add_dump(void *ctx, const char *name, const char *bytes, size_t size_bytes)
{
	struct reading *r = ctx;
	struct dump d = { .jits = r->jits, .next_place = JIT_CODE_OWN };
	struct cursor c = cursor_of(bytes, size_bytes);
	struct jitdump_header header;
	size_t text_bytes = 0;
	char *text = NULL;
	uint32_t number;
	int err;

	if (*name != 'j' || !parse_name(name, "jit-%9u.dump%n", &d.pid))
		return 0;
	err = add_pid(&r->dumps, d.pid, &number);
	if (err)
		return err == 1 ? 0 : err;
	if (jitdump_header(&c, &header))
		return 0;
	d.timed = !header.foreign_clock;
	d.first = d.jits->code_count;
	d.lines = open_memstream(&text, &text_bytes);
	if (!d.lines)
		return -ENOMEM;
	err = read_dump(&d, &c);
	if (fclose(d.lines) && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	return add_text(r, d.pid, text, text_bytes);
}

int jit_code_read(const struct embedded *files, struct jit_code *out)
{
	struct jit_code j = { 0 };
	struct reading reading = { .jits = &j };
	int err = embedded_each(files, "perf-", add_map, &reading);

	if (!err)
		err = embedded_each(files, "jit-", add_dump, &reading);
	pids_done(&reading.texts);
	pids_done(&reading.dumps);
	if (j.count)
		qsort(j.list, j.count, sizeof(*j.list), resolver_jit_by_pid);
	if (err)
		jit_code_done(&j);
	else
		*out = j;
	return err;
}
