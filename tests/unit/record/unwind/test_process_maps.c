/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* walkspace, unwtables and unwmaps together, as a walk in BPF would see what they publish */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/io_timeout.h"
#include "tests/unit/fakebpf.h"
#include "format/base/cursor.h"
#include "format/os/clock.h"
#include "record/unwind/process_maps.h"

enum {
	FILES = 3,
	FDES = 20000, /* of two rows each: two tables fit into a chunk only one at a time */
	CODE = 0x1000000,
	FDE_BYTES = 24,
	CIE_BYTES = 24,
};

#define S 1000000000ULL

static struct io_timeout *io;

static const struct vdso no_vdso;

struct env {
	struct unwind_bpf_maps space;
	struct table_store *tables;
	struct process_maps *maps;
	char path[FILES][64];
	uint64_t clock_ns; /* of publications */
};

/* ---- files whose tables have a known size ---- */

static void put_phdr(uint8_t *p, uint32_t type, uint32_t flags, uint64_t off, uint64_t vaddr,
		     uint64_t size_bytes)
{
	le32_store(p, type);
	le32_store(p + 4, flags);
	le64_store(p + 8, off);
	le64_store(p + 16, vaddr);
	le64_store(p + 32, size_bytes);
	le64_store(p + 48, 0x1000);
}

/* DWARF's numbers of the stack pointer and of the return address. */
enum {
	SP = UNWIND_HERE == UNWIND_AARCH64 ? 31 : 7,
	RA = UNWIND_HERE == UNWIND_AARCH64 ? 30 : 16,
};

/* Functions of 32 bytes, each with sp + 8 first and sp + 16 four bytes later. */
static void write_file(const char *path)
{
	static const uint8_t cie[CIE_BYTES] = { 20,   0,    0,   0, 0,         0,    0,  0,
						1,    'z',  'R', 0, 1,         0x78, RA, 1,
						0x1b, 0x0c, SP,  8, 0x80 | RA, 1 };
	size_t hdr = 64 + 3 * 56, eh = hdr + 16, size = eh + CIE_BYTES + FDES * FDE_BYTES + 4, at;
	uint8_t *d = calloc(1, size), *p;
	uint32_t i;
	FILE *f;

	assert_non_null(d);
	memcpy(d, ELFMAG, SELFMAG);
	d[EI_CLASS] = ELFCLASS64;
	d[EI_DATA] = ELFDATA2LSB;
	d[EI_VERSION] = 1;
	le16_store(d + 16, ET_DYN);
	le16_store(d + 18, ELF_PARTS_MACHINE);
	le64_store(d + 32, 64);
	le16_store(d + 54, 56);
	le16_store(d + 56, 3);
	put_phdr(d + 64, PT_LOAD, PF_R, 0, 0, size);
	put_phdr(d + 120, PT_LOAD, PF_R | PF_X, 0, CODE, FDES * 32);
	put_phdr(d + 176, PT_GNU_EH_FRAME, PF_R, hdr, hdr, 8);
	d[hdr] = 1;
	d[hdr + 1] = 0x1b;
	le32_store(d + hdr + 4, (uint32_t)(eh - (hdr + 4)));
	memcpy(d + eh, cie, sizeof(cie));
	for (i = 0; i < FDES; i++) {
		at = CIE_BYTES + (size_t)i * FDE_BYTES;
		p = d + eh + at;
		le32_store(p, FDE_BYTES - 4);
		le32_store(p + 4, (uint32_t)at + 4);
		le32_store(p + 8, (uint32_t)(CODE + i * 32 - (eh + at + 8)));
		le32_store(p + 12, 32);
		p[17] = 0x44; /* advance_loc 4 */
		p[18] = 0x0e; /* def_cfa_offset 16 */
		p[19] = 16;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(d, 1, size, f), size);
	fclose(f);
	free(d);
}

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	int i;

	*state = e;
	for (i = 0; i < FILES; i++) {
		snprintf(e->path[i], sizeof(e->path[i]), "/tmp/ebprec-unwmaps-%d-%d", getpid(), i);
		write_file(e->path[i]);
	}
	return unwind_bpf_maps_init(&e->space, 1, true) ||
	       table_store_new(io, &e->space, &no_vdso, NULL, NULL, false, &e->tables) ||
	       process_maps_new(&e->space, e->tables, NULL, &e->maps);
}

static int teardown(void **state)
{
	struct env *e = *state;
	int i;

	process_maps_free(e->maps);
	table_store_free(e->tables);
	unwind_bpf_maps_done(&e->space);
	for (i = 0; i < FILES; i++)
		unlink(e->path[i]);
	free(e);
	return 0;
}

/* ---- what happens ---- */

static void map(struct env *e, uint32_t pid, int file, uint64_t start, uint64_t size_bytes)
{
	struct mapping m = { .pid = pid, .start = start, .size_bytes = size_bytes, .path = "" };
	struct stat st;

	if (file >= 0) {
		assert_int_equal(stat(e->path[file], &st), 0);
		m.id.dev_major = major(st.st_dev);
		m.id.dev_minor = minor(st.st_dev);
		m.id.inode = st.st_ino;
		m.path = e->path[file];
	}
	assert_int_equal(process_maps_map(e->maps, &m, 0), 0);
}

/* As a recording does: until no table is being made. */
static void settle(struct env *e)
{
	while (table_store_is_busy(e->tables)) {
		table_store_pass(e->tables);
		table_store_wait(e->tables, 60000000000ULL);
		table_store_pass(e->tables);
	}
	process_maps_publish(e->maps, ++e->clock_ns);
}

/* ---- what a walk sees ---- */

static const struct walk_map *run_of(const struct env *e, uint32_t pid, uint32_t *count)
{
	struct walk_proc proc;

	if (bpf_map_lookup_elem(e->space.procs_fd, &pid, &proc))
		return NULL;
	*count = proc.map_count;
	return &e->space.maps[proc.first_map];
}

/* "1000-2000:T ..." of a process: start, end and kind of each mapping; "-" when it is not known. */
static const char *seen(const struct env *e, uint32_t pid)
{
	static const char kinds[] = "P-TRJ"; /* by enum walk_kind */
	static char text[512];
	uint32_t i, count = 0;
	const struct walk_map *m = run_of(e, pid, &count);
	size_t n = 0;

	if (!m)
		return "unknown";
	text[0] = 0;
	for (i = 0; i < count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llx-%llx:%c", i ? " " : "",
				      (unsigned long long)m[i].start, (unsigned long long)m[i].end,
				      kinds[m[i].kind]);
	return text;
}

/* A walk comes to all of a process's mappings. */
static void walk(const struct env *e, uint32_t pid)
{
	uint32_t i, count = 0;
	struct walk_map *m = (struct walk_map *)run_of(e, pid, &count);

	assert_non_null(m);
	for (i = 0; i < count; i++)
		m[i].used = 1;
}

/* ---- tests ---- */

static void a_later_mapping_covers_earlier_ones(void **state)
{
	struct env *e = *state;

	map(e, 1, -1, 0x10000, 0x4000);
	map(e, 1, -1, 0x20000, 0x1000);
	settle(e);
	assert_string_equal(seen(e, 1), "10000-14000:J 20000-21000:J");
	map(e, 1, -1, 0x11000, 0x1000); /* inside */
	settle(e);
	assert_string_equal(seen(e, 1), "10000-11000:J 11000-12000:J 12000-14000:J 20000-21000:J");
	map(e, 1, -1, 0x13000, 0xd800); /* over an end, and into the next */
	settle(e);
	assert_string_equal(seen(e, 1), "10000-11000:J 11000-12000:J 12000-13000:J 13000-20800:J "
					"20800-21000:J");
	map(e, 1, -1, 0, 0x100000); /* over all */
	settle(e);
	assert_string_equal(seen(e, 1), "0-100000:J");
}

static void nonsense_is_not_mapped(void **state)
{
	struct env *e = *state;

	map(e, 1, -1, 0x10000, 0);
	map(e, 1, -1, UINT64_MAX - 10, 100);
	map(e, 1, -1, 0xffffffffff600000, 0x1000);
	settle(e);
	assert_string_equal(seen(e, 1), "unknown");
}

static void a_child_has_its_parents_mappings_until_it_changes_them(void **state)
{
	struct env *e = *state;

	map(e, 1, -1, 0x10000, 0x1000);
	process_maps_fork(e->maps, 1, 2);
	settle(e);
	assert_string_equal(seen(e, 2), "10000-11000:J");
	map(e, 2, -1, 0x20000, 0x1000);
	settle(e);
	assert_string_equal(seen(e, 1), "10000-11000:J");
	assert_string_equal(seen(e, 2), "10000-11000:J 20000-21000:J");
	process_maps_exit(e->maps, 1);
	settle(e);
	assert_string_equal(seen(e, 1), "unknown");
	assert_string_equal(seen(e, 2), "10000-11000:J 20000-21000:J");
}

static void an_exec_begins_anew(void **state)
{
	struct env *e = *state;
	uint64_t exec_ns = 5;
	uint32_t pid = 1;

	map(e, 1, -1, 0x10000, 0x1000);
	settle(e);
	process_maps_exec(e->maps, 1, 5);
	map(e, 1, -1, 0x30000, 0x1000);
	e->clock_ns = 10;
	(void)bpf_map_update_elem(e->space.execs_fd, &pid, &exec_ns, BPF_ANY);
	settle(e);
	assert_string_equal(seen(e, 1), "30000-31000:J");
}

static void the_last_thread_takes_the_process_along(void **state)
{
	struct env *e = *state;
	struct process_maps_stats stats;

	map(e, 1, -1, 0x10000, 0x1000);
	process_maps_fork(e->maps, 1, 1);
	settle(e);
	process_maps_exit(e->maps, 1);
	assert_string_equal(seen(e, 1), "10000-11000:J");
	process_maps_exit(e->maps, 1);
	assert_string_equal(seen(e, 1), "unknown");
	process_maps_get_stats(e->maps, &stats);
	assert_int_equal(stats.process_count, 0);
}

/* As a storm of forks does: places must come back. */
static void processes_that_come_and_go_take_no_room(void **state)
{
	struct env *e = *state;
	uint32_t i, before = e->space.free_maps.free_total;
	struct process_maps_stats stats;

	for (i = 2; i < 5000; i++) {
		map(e, i, -1, 0x10000, 0x1000);
		process_maps_fork(e->maps, i, i + 100000);
		if (i % 10 == 0)
			settle(e);
		process_maps_exit(e->maps, i + 100000);
		process_maps_exit(e->maps, i);
	}
	settle(e);
	process_maps_get_stats(e->maps, &stats);
	assert_int_equal(stats.process_count, 0);
	assert_int_equal(stats.refused_count, 0);
	unwind_bpf_maps_reclaim(&e->space,
				clock_ns(CLOCK_MONOTONIC) + 2 * UNWIND_BPF_MAPS_QUIET_NS);
	assert_int_equal(e->space.free_maps.free_total, before);
	assert_int_equal(fakebpf[e->space.procs_fd]->count, 0);
}

/* A mapping of a file that was never seen: its contents are not read. */
static void map_other(struct env *e, uint32_t pid, uint32_t number)
{
	struct mapping m = { .pid = pid,
			     .start = 0x90000,
			     .size_bytes = 0x1000,
			     .id.dev_minor = 77,
			     .id.inode = number + 1,
			     .path = "/nowhere/at/all" };

	assert_int_equal(process_maps_map(e->maps, &m, 0), 0);
}

/* A machine that compiles and deploys maps new files for ever. */
static void files_without_a_mapping_are_forgotten(void **state)
{
	struct env *e = *state;
	uint32_t i, all = e->space.free_pages.free_total;
	const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), later_ns = began_ns + 3600 * S;
	struct process_maps_run *held = NULL;

	map(e, 2, 0, 0x10000, 0x1000);
	settle(e);
	assert_string_equal(seen(e, 2), "10000-11000:T");
	assert_true(e->space.free_pages.free_total < all);
	for (i = 0; i < 5000; i++) {
		map_other(e, 3, i);
		if (i == 7)
			held = process_maps_hold(e->maps, 3);
		process_maps_exit(e->maps, 3);
	}
	settle(e);
	process_maps_exit(e->maps, 2);
	assert_true(table_store_are_many(e->tables));
	process_maps_forget_files(e->maps,
				  began_ns); /* they were mapped since, however slow we are */
	assert_true(table_store_are_many(e->tables));
	process_maps_forget_files(e->maps, later_ns);
	assert_false(table_store_are_many(e->tables));
	unwind_bpf_maps_reclaim(&e->space, later_ns + 2 * UNWIND_BPF_MAPS_QUIET_NS);
	assert_int_equal(e->space.free_pages.free_total, all);
	process_maps_release(e->maps, held);
	/* Numbers are used again, and a file that is seen again has its table again, and keeps it. */
	map(e, 2, 0, 0x10000, 0x1000);
	for (i = 0; i < 1500; i++)
		map_other(e, 4 + i, i);
	settle(e);
	assert_string_equal(seen(e, 2), "10000-11000:T");
	process_maps_forget_files(e->maps, later_ns);
	assert_true(table_store_are_many(e->tables)); /* all are mapped */
	settle(e);
	assert_string_equal(seen(e, 2), "10000-11000:T");
}

static void what_is_held_stays_as_it_was(void **state)
{
	struct env *e = *state;
	struct process_maps_run *run;
	struct walk_map found;
	uint32_t table;

	assert_null(process_maps_hold(e->maps, 1));
	map(e, 1, -1, 0x10000, 0x1000);
	run = process_maps_hold(e->maps, 1);
	assert_non_null(run);
	process_maps_exec(e->maps, 1, 1);
	map(e, 1, -1, 0x50000, 0x1000);
	settle(e);
	process_maps_exit(e->maps, 1);
	assert_true(process_maps_find(e->maps, run, 0x10fff, &found, &table));
	assert_int_equal(found.start, 0x10000);
	assert_false(process_maps_find(e->maps, run, 0x50000, &found, &table));
	assert_false(process_maps_find(e->maps, run, 0x11000, &found, &table));
	assert_false(process_maps_find(e->maps, NULL, 0x10000, &found, &table));
	process_maps_release(e->maps, run);
}

static void a_table_comes_by_itself_and_has_the_rules(void **state)
{
	struct env *e = *state;
	const struct unwind_rule *rule;
	struct process_maps_run *run;
	struct walk_map found;
	uint32_t table, i;

	map(e, 1, 0, 0x7f0000000000, FDES * 32);
	process_maps_publish(e->maps, ++e->clock_ns);
	assert_string_equal(seen(e, 1), "7f0000000000-7f000009c400:P");
	settle(e);
	assert_string_equal(seen(e, 1), "7f0000000000-7f000009c400:T");
	run = process_maps_hold(e->maps, 1);
	for (i = 0; i < FDES * 32; i += 61) {
		assert_true(process_maps_find(e->maps, run, 0x7f0000000000 + i, &found, &table));
		rule = table_store_rule(e->tables, &found, 0x7f0000000000 + i);
		assert_non_null(rule);
		assert_int_equal(rule->cfa, UNWIND_CFA_SP);
		assert_int_equal(rule->cfa_off, i % 32 < 4 ? 8 : 16);
	}
	process_maps_release(e->maps, run);
}

static void only_lazy_tables_wait_to_be_wanted(void **state)
{
	struct env *e = *state;
	struct table_store *lazy = NULL;
	struct mapping m = { .pid = 1, .start = 0x1000, .size_bytes = 0x1000 };
	struct stat st;
	uint32_t number;

	assert_int_equal(stat(e->path[0], &st), 0);
	m.id.dev_major = major(st.st_dev);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	m.path = e->path[0];
	assert_int_equal(table_store_new(io, &e->space, &no_vdso, NULL, NULL, true, &lazy), 0);
	number = table_store_of(lazy, &m);
	table_store_pass(lazy);
	assert_false(table_store_is_busy(lazy));
	assert_true(table_store_is_pending(lazy, number));
	table_store_prioritize(lazy, number);
	while (table_store_is_pending(lazy, number)) {
		table_store_pass(lazy);
		table_store_wait(lazy, 60000000000ULL);
	}
	table_store_free(lazy);
}

/* ---- room ---- */

static void tables_without_space_are_reported(void **state)
{
	struct env *e = *state;
	struct table_store_stats stats;

	map(e, 1, 0, 0x7f0000000000, 0x1000);
	map(e, 1, 1, 0x7f0001000000, 0x1000);
	settle(e);
	assert_true(table_store_wants_room(e->tables));
	table_store_get_stats(e->tables, &stats);
	assert_int_equal(stats.built_count, 2);
	assert_int_equal(stats.no_room_count, 1);
	/* One of both, whichever came first. */
	assert_non_null(strstr(seen(e, 1), ":T"));
	assert_non_null(strstr(seen(e, 1), ":R"));
}

/* File 0 has its table; file 1 came later and has none. */
static void fill_up(struct env *e)
{
	map(e, 1, 0, 0x7f0000000000, 0x1000);
	settle(e);
	map(e, 2, 1, 0x7f0000000000, 0x1000);
	settle(e);
	assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:T");
	assert_string_equal(seen(e, 2), "7f0000000000-7f0000001000:R");
}

static void look_for_room(struct env *e, uint64_t now_ns)
{
	process_maps_collect_used(e->maps, now_ns);
	table_store_make_room(e->tables, now_ns);
	process_maps_publish(e->maps, ++e->clock_ns);
}

static void an_unused_table_makes_room_for_one_that_is_wanted(void **state)
{
	struct env *e = *state;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC) + 3600 * S; /* however slow we are */
	struct table_store_stats stats;

	fill_up(e);
	look_for_room(e, now_ns); /* no walk needs it: nothing happens */
	assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:T");
	walk(e, 2);
	look_for_room(e, now_ns);
	assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:R");
	/* A walk may still be reading the rows: they are not given away yet. */
	walk(e, 2);
	look_for_room(e, now_ns);
	assert_string_equal(seen(e, 2), "7f0000000000-7f0000001000:R");
	unwind_bpf_maps_reclaim(&e->space, now_ns + 2 * S + UNWIND_BPF_MAPS_QUIET_NS);
	walk(e, 2);
	look_for_room(e, now_ns + 2 * S);
	settle(e);
	assert_string_equal(seen(e, 2), "7f0000000000-7f0000001000:T");
	assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:R");
	table_store_get_stats(e->tables, &stats);
	assert_int_equal(stats.evicted_count, 1);
}

static void a_table_in_use_is_not_evicted(void **state)
{
	struct env *e = *state;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC) + 3600 * S; /* however slow we are */
	int i;

	fill_up(e);
	for (i = 0; i < 20; i++) {
		walk(e, 1);
		walk(e, 2);
		look_for_room(e, now_ns + (uint64_t)i * S);
		assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:T");
	}
	/* Then no process uses it any more. */
	for (; i < 40; i++) {
		walk(e, 2);
		look_for_room(e, now_ns + (uint64_t)i * S);
	}
	assert_string_equal(seen(e, 1), "7f0000000000-7f0000001000:R");
}

static void walkspace_has_no_more_rows_than_its_cap(void **state)
{
	struct env *e = *state;
	struct walk_page page;
	uint64_t rows = 0;

	assert_int_equal(unwind_bpf_maps_take_rows(&e->space, 0, &page), -EINVAL);
	assert_int_equal(unwind_bpf_maps_take_rows(&e->space, WALK_CHUNK_ROWS + 1, &page), -EINVAL);
	while (!unwind_bpf_maps_take_rows(&e->space, 1000, &page)) {
		rows += 1000;
		assert_true(page.first_row + page.row_count <= WALK_CHUNK_ROWS);
	}
	assert_int_equal(rows, 65000);
	assert_int_equal(unwind_bpf_maps_table_bytes(&e->space), 65000 * 4);
	assert_int_equal(unwind_bpf_maps_free_rows(&e->space), WALK_CHUNK_ROWS - 65000);
	unwind_bpf_maps_give_rows(&e->space, &page);
	assert_int_equal(unwind_bpf_maps_take_rows(&e->space, 1000, &page), 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_later_mapping_covers_earlier_ones),
		CASE(nonsense_is_not_mapped),
		CASE(a_child_has_its_parents_mappings_until_it_changes_them),
		CASE(an_exec_begins_anew),
		CASE(the_last_thread_takes_the_process_along),
		CASE(processes_that_come_and_go_take_no_room),
		CASE(files_without_a_mapping_are_forgotten),
		CASE(what_is_held_stays_as_it_was),
		CASE(a_table_comes_by_itself_and_has_the_rules),
		CASE(only_lazy_tables_wait_to_be_wanted),
		CASE(tables_without_space_are_reported),
		CASE(an_unused_table_makes_room_for_one_that_is_wanted),
		CASE(a_table_in_use_is_not_evicted),
		CASE(walkspace_has_no_more_rows_than_its_cap),
	};
	int failed;

	if (io_timeout_new(60000000000ULL, &io))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	io_timeout_free(io);

	fakebpf_done();
	return failed;
}
