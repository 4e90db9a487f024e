/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/account.h"

#include <string.h>
#include <sys/resource.h>

enum {
	ADDS = ACCOUNT_ADDS,
	RECORDS = ACCOUNT_ADDS | ACCOUNT_WRITTEN,
	LOSS = ACCOUNT_ADDS | ACCOUNT_LOSS,
};

#define AT(field)      offsetof(struct account, field)
#define LOST(type)     offsetof(struct account, lost_count[EBPREC_EV_##type])
#define STACKS_BY(how) offsetof(struct account, stack_how_count[STACK_RESULT_##how])

/* Members of an object are neighbours. */
const struct account_field account_fields[] = {
	{ "duration_ns", AT(duration_ns), 0, ADDS, 0 },
	{ "samples", AT(sample_count), 0, RECORDS, EBPREC_EV_CPU },
	{ "foreign_samples", AT(foreign_count), 0, RECORDS, 0 },
	{ "sampler_runs", AT(hit_count), 0, ACCOUNT_OF_ALL, 0 },
	{ "switches", AT(switch_count), 0, RECORDS, EBPREC_EV_SWITCH },
	{ "switches_with_stack", AT(switch_stack_count), 0, RECORDS, 0 },
	{ "wakeups", AT(wakeup_count), 0, RECORDS, EBPREC_EV_TASK },
	{ "other_task_events", AT(task_count), 0, RECORDS, EBPREC_EV_TASK },
	{ "exits", AT(exit_count), 0, RECORDS, EBPREC_EV_EXIT },
	{ "wakers", AT(waker_count), 0, RECORDS, EBPREC_EV_WAKER },
	{ "marks", AT(mark_count), 0, RECORDS, EBPREC_EV_MARK },
	{ "rows", AT(row_count), 0, RECORDS, EBPREC_EV_METRIC },
	{ "side_records", AT(side_count), 0, RECORDS, ACCOUNT_LOST_SIDE },
	{ "lost.samples", LOST(CPU), 0, LOSS, 0 },
	{ "lost.samples", LOST(COPY), 0, LOSS, 0 },
	{ "lost.switches", LOST(SWITCH), 0, LOSS, 0 },
	{ "lost.switches", LOST(SWITCH_COPY), 0, LOSS, 0 },
	{ "lost.task_events", LOST(TASK), 0, LOSS, 0 },
	{ "lost.task_events", LOST(EXIT), 0, LOSS, 0 },
	{ "lost.wakers", LOST(WAKER), 0, LOSS, 0 },
	{ "lost.marks", LOST(MARK), 0, LOSS, 0 },
	{ "lost.marks", LOST(PROBE), 0, LOSS, 0 },
	{ "lost.rows", LOST(METRIC), 0, LOSS, 0 },
	{ "lost.side_records", AT(side_lost_count), 0, LOSS, 0 },
	{ "lost.side_bytes", AT(side_skipped_bytes), 0, ADDS, 0 },
	{ "lost.command_lines", LOST(EXEC), 0, LOSS, 0 },
	{ "lost.command_lines", AT(args_missing_count), 0, 0, 0 },
	{ "lost.process_contexts", AT(contexts_refused_count), 0, 0, 0 },
	{ "lost.code_names", LOST(CODE), 0, LOSS, 0 },
	{ "lost.code_names", AT(code_refused_count), 0, 0, 0 },
	{ "lost.code_places", AT(code_placeless_count), 0, 0, 0 },
	{ "lost.code_numbers", AT(code_unnumbered_count), 0, 0, 0 },
	{ "lost.container_names", AT(containers_missing_count), 0, 0, 0 },
	{ "lost.mount_layers", AT(layers_missing_count), 0, 0, 0 },
	{ "lost.selected_processes", LOST(TARGET), 0, LOSS, 0 },
	{ "lost.interrupted", AT(interrupted_count), 0, LOSS, 0 },
	{ "lost.broken_events", AT(broken_event_count), 0, ADDS, 0 },
	{ "lost.forks_not_followed", AT(lost_count[0]), 0, ADDS, 0 },
	{ "not_answered.processes", AT(silent_process_count), 0, 0, 0 },
	{ "not_answered.mappings", AT(silent_mapping_count), 0, 0, 0 },
	{ "not_answered.reads", AT(given_up_count), 0, 0, 0 },
	{ "not_answered.not_begun", AT(not_begun_count), 0, 0, 0 },
	{ "not_answered.at_start", AT(unread_at_start_count), 0, 0, 0 },
	{ "throttled", AT(throttle_count), 0, ADDS, 0 },
	{ "user_stacks.found_by.none", STACKS_BY(NONE), 0, RECORDS, 0 },
	{ "user_stacks.found_by.pc_only", STACKS_BY(PC), 0, RECORDS, 0 },
	{ "user_stacks.found_by.tables", STACKS_BY(CFI), 0, RECORDS, 0 },
	{ "user_stacks.found_by.frame_pointers", STACKS_BY(FP), 0, RECORDS, 0 },
	{ "user_stacks.found_by.both", STACKS_BY(MIXED), 0, RECORDS, 0 },
	{ "user_stacks.end", AT(stack_why_count), UNWIND_WHY_COUNT, RECORDS, 0 },
	{ "user_stacks.copied", AT(copy_count), 0, RECORDS, 0 },
	{ "user_stacks.copies_refused", AT(copy_refused_count), 0, ADDS, 0 },
	{ "user_stacks.tables.built", AT(table_count), 0, 0, 0 },
	{ "user_stacks.tables.from_cache", AT(table_cached_count), 0, 0, 0 },
	{ "user_stacks.tables.failed", AT(table_failed_count), 0, 0, 0 },
	{ "user_stacks.tables.reader_died", AT(table_died_count), 0, 0, 0 },
	{ "user_stacks.tables.reader_ns", AT(table_reader_ns), 0, 0, 0 },
	{ "user_stacks.tables.no_room", AT(table_no_room_count), 0, 0, 0 },
	{ "user_stacks.tables.evicted", AT(table_evicted_count), 0, 0, 0 },
	{ "user_stacks.tables.rows_built", AT(table_row_count), 0, 0, 0 },
	{ "user_stacks.tables.bytes", AT(table_bytes), 0, 0, 0 },
	{ "user_stacks.tables.build_ns", AT(table_build_ns), 0, 0, 0 },
	{ "user_stacks.tables.from_cache_ns", AT(table_cached_ns), 0, 0, 0 },
	{ "user_stacks.processes_without_room", AT(maps_refused_count), 0, 0, 0 },
	{ "command_lines.told", AT(args_count), 0, ACCOUNT_WRITTEN, EBPREC_EV_EXEC },
	{ "command_lines.cut", AT(args_cut_count), 0, ACCOUNT_WRITTEN, 0 },
	{ "jit.files", AT(jit_file_count), 0, ACCOUNT_WRITTEN, 0 },
	{ "jit.bytes", AT(jit_bytes), 0, ACCOUNT_WRITTEN, 0 },
	{ "jit.cut", AT(jit_cut_count), 0, ACCOUNT_WRITTEN, 0 },
	{ "jit.processes_without_file", AT(jit_missing_count), 0, 0, 0 },
	{ "jit.older_files", AT(jit_older_count), 0, 0, 0 },
	{ "jit.jvms_asked", AT(jvm_asked_count), 0, 0, 0 },
	{ "jit.jvms_without_answer", AT(jvm_failed_count), 0, 0, 0 },
	{ "java.frames", AT(java_frame_count), 0, 0, 0 },
	{ "java.frames_without_bytecode", AT(java_unplaced_count), 0, 0, 0 },
	{ "marks_not_readable", AT(unread_mark_count), 0, ADDS, 0 },
	{ "marks_renamed", AT(renamed_mark_count), 0, ADDS, 0 },
	{ "out_of_order", AT(out_of_order_count), 0, ADDS, 0 },
	{ "rounds", AT(round_count), 0, ADDS, 0 },
	{ "startup_ns", AT(startup_ns), 0, 0, 0 },
	{ "longest_pass_ns", AT(longest_pass_ns), 0, 0, 0 },
	{ "own_cpu.user_ns", AT(own_user_ns), 0, ADDS, 0 },
	{ "own_cpu.system_ns", AT(own_system_ns), 0, ADDS, 0 },
	{ "own_cpu.bpf_ns", AT(bpf_ns), 0, 0, 0 },
	{ "own_cpu.sampling_ns", AT(sampling_ns), 0, ADDS, 0 },
	{ "own_cpu.switch_stacks_ns", AT(switch_stack_ns), 0, ADDS, 0 },
	{ "left_out.samples", AT(left_out_samples), 0, ADDS, 0 },
	{ "left_out.switches", AT(left_out_switches), 0, ADDS, 0 },
	{ "left_out.task_events", AT(left_out_task_events), 0, ADDS, 0 },
	{ "left_out.marks", AT(left_out_marks), 0, ADDS, 0 },
	{ "left_out.rows", AT(left_out_rows), 0, ADDS, 0 },
	{ "thinned.samples", AT(thinned_count), 0, ADDS, 0 },
	{ "thinned.one_of_at_most", AT(thinned_most), 0, 0, 0 },
	{ "thinned.switch_stacks_least_ns", AT(switch_stack_least_ns), 0, 0, 0 },
	{ "ring_peak_bytes", AT(ring_peak_bytes), 0, 0, 0 },
	{ "hurried", AT(realtime_count), 0, 0, 0 },
	{ "own_memory_peak_bytes", AT(own_peak_bytes), 0, 0, 0 },
	{ NULL, AT(file_bytes), 0, 0, 0 },
	{ NULL, AT(failed_part_count), 0, 0, 0 },
};

const size_t account_field_count = sizeof(account_fields) / sizeof(account_fields[0]);

size_t account_numbers(const struct account_field *f)
{
	return f->count ? f->count : 1;
}

static uint64_t *number_at(struct account *a, const struct account_field *f)
{
	return (uint64_t *)((char *)a + f->offset);
}

static const uint64_t *at(const struct account *a, const struct account_field *f)
{
	return (const uint64_t *)((const char *)a + f->offset);
}

uint64_t account_lost(const struct account *a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < account_field_count; i++)
		sum += account_fields[i].flags & ACCOUNT_LOSS ? *at(a, &account_fields[i]) : 0;
	return sum;
}

uint64_t account_lost_samples(const struct account *a)
{
	return a->lost_count[EBPREC_EV_CPU] + a->lost_count[EBPREC_EV_COPY];
}

struct account account_since(const struct account *all, const struct account *before)
{
	struct account a = *all;

	for (size_t i = 0; i < account_field_count; i++) {
		const struct account_field *f = &account_fields[i];

		for (size_t k = 0; k < account_numbers(f); k++) {
			if (f->flags & ACCOUNT_ADDS)
				number_at(&a, f)[k] -= at(before, f)[k];
			else if (f->flags & ACCOUNT_OF_ALL)
				number_at(&a, f)[k] = 0;
		}
	}
	return a;
}

void account_give_up(struct account *a, const struct account *written,
		     uint64_t missing[EBPREC_EV_END + 1])
{
	a->jit_missing_count += a->jit_file_count - written->jit_file_count;
	for (size_t i = 0; i < account_field_count; i++) {
		const struct account_field *f = &account_fields[i];

		if (!(f->flags & ACCOUNT_WRITTEN))
			continue;
		if (f->lost_as)
			missing[f->lost_as] += *at(a, f) - *at(written, f);
		memcpy(number_at(a, f), at(written, f), account_numbers(f) * sizeof(uint64_t));
	}
}

void account_own_cost(struct account *a)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	a->own_user_ns = (uint64_t)usage.ru_utime.tv_sec * 1000000000ULL +
			 (uint64_t)usage.ru_utime.tv_usec * 1000ULL;
	a->own_peak_bytes = (uint64_t)usage.ru_maxrss << 10;
	a->own_user_ns += a->table_reader_ns; /* as of the last count */
	a->own_system_ns = (uint64_t)usage.ru_stime.tv_sec * 1000000000ULL +
			   (uint64_t)usage.ru_stime.tv_usec * 1000ULL;
}

/* ---- as JSON ---- */

/* The objects that are open: "user_stacks.tables." */
struct path {
	char text[64];
	size_t bytes;
};

static void close_objects(struct json_writer *j, struct path *open, size_t common_bytes)
{
	while (open->bytes > common_bytes) {
		json_writer_end(j);
		do {
			open->bytes--;
		} while (open->bytes && open->text[open->bytes - 1] != '.');
	}
}

/* Closes and opens objects until those of the name are open; the last word of the name. */
static const char *enter_objects(struct json_writer *j, struct path *open, const char *name)
{
	const char *dot;
	size_t common = 0;

	for (size_t i = 0; i < open->bytes && open->text[i] == name[i]; i++)
		common = name[i] == '.' ? i + 1 : common;
	close_objects(j, open, common);
	while ((dot = strchr(name + open->bytes, '.'))) {
		size_t bytes = (size_t)(dot - name);

		memcpy(open->text + open->bytes, name + open->bytes, bytes - open->bytes);
		open->text[bytes] = '\0';
		json_writer_begin(j, open->text + open->bytes);
		open->text[bytes] = '.';
		open->bytes = bytes + 1;
	}
	return name + open->bytes;
}

static void put_reasons(struct json_writer *j, const char *name, const uint64_t *counts)
{
	json_writer_begin(j, name);
	for (unsigned i = 0; i < UNWIND_WHY_COUNT; i++) {
		if (counts[i])
			json_writer_u64(j, unwind_why_text((enum unwind_why)i), counts[i]);
	}
	json_writer_end(j);
}

void account_json(struct json_writer *j, const struct account *a)
{
	struct path open = { .bytes = 0 };

	for (size_t i = 0; i < account_field_count; i++) {
		const struct account_field *f = &account_fields[i];
		const char *word;
		uint64_t sum = *at(a, f);

		if (!f->name)
			continue;
		word = enter_objects(j, &open, f->name);
		if (f->count) {
			put_reasons(j, word, at(a, f));
			continue;
		}
		for (; i + 1 < account_field_count && account_fields[i + 1].name &&
		       !strcmp(f->name, account_fields[i + 1].name);
		     i++)
			sum += *at(a, &account_fields[i + 1]);
		json_writer_u64(j, word, sum);
	}
	close_objects(j, &open, 0);
}
