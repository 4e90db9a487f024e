/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* modelstory - a model that gets events from a test, and is asked afterwards */
#ifndef EBPREC_TESTS_MODELSTORY_H
#define EBPREC_TESTS_MODELSTORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/process/process_model.h"

struct fixture {
	struct string_table *names;
	struct process_model *m;
};

static inline struct fixture setup(void)
{
	struct fixture f;

	assert_int_equal(string_table_new(&f.names), 0);
	assert_int_equal(process_model_new(f.names, &f.m), 0);
	return f;
}

static inline void teardown(struct fixture *f)
{
	process_model_free(f->m);
	string_table_free(f->names);
}

static inline void add(struct fixture *f, const struct perfrec_side *side)
{
	assert_int_equal(process_model_add(f->m, side), 0);
}

static inline void fork_at(struct fixture *f, uint64_t time_ns, uint32_t ppid, uint32_t pid,
			   uint32_t tid)
{
	add(f, &(struct perfrec_side){
		       .type = PERF_RECORD_FORK,
		       .id.time_ns = time_ns,
		       .task = { .pid = pid,
				 .ppid = ppid,
				 .tid = tid,
				 .ptid = ppid,
				 .time_ns = time_ns },
	       });
}

static inline void comm_at(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid,
			   const char *comm, bool exec)
{
	add(f, &(struct perfrec_side){
		       .type = PERF_RECORD_COMM,
		       .id.time_ns = time_ns,
		       .comm = { .pid = pid, .tid = tid, .exec = exec, .comm = comm },
	       });
}

static inline void map_at(struct fixture *f, uint64_t time_ns, uint32_t pid, uint64_t start,
			  uint64_t end, uint64_t file_off_bytes, const char *path)
{
	add(f, &(struct perfrec_side){
		       .type = PERF_RECORD_MMAP2,
		       .misc = PERF_RECORD_MISC_USER,
		       .id.time_ns = time_ns,
		       .mmap = { .pid = pid,
				 .tid = pid,
				 .start = start,
				 .size_bytes = end - start,
				 .file_off_bytes = file_off_bytes,
				 .path = path },
	       });
}

static inline void ksymbol_at(struct fixture *f, uint64_t time_ns, uint64_t addr,
			      uint32_t size_bytes, const char *name, bool unregister)
{
	add(f, &(struct perfrec_side){
		       .type = PERF_RECORD_KSYMBOL,
		       .id.time_ns = time_ns,
		       .ksymbol = { .addr = addr,
				    .size_bytes = size_bytes,
				    .name = name,
				    .unregister = unregister },
	       });
}

/* "comm path+0xoff", with - for what is not known. */
static inline const char *ask_thread(struct fixture *f, uint64_t time_ns, uint32_t pid,
				     uint32_t tid, uint64_t addr)
{
	static char text[256];
	struct process_model_where where;
	struct process_model_place place;
	int n;

	process_model_thread(f->m, pid, tid, time_ns, &where);
	n = snprintf(text, sizeof(text), "%s ",
		     where.comm == PROCESS_MODEL_NONE ? "-"
						      : string_table_text(f->names, where.comm));
	if (process_model_place(f->m, where.space, addr, &place))
		snprintf(text + n, sizeof(text) - (size_t)n, "%s+0x%llx",
			 process_model_file(f->m, place.file)->path,
			 (unsigned long long)place.file_off_bytes);
	else
		snprintf(text + n, sizeof(text) - (size_t)n, "-");
	return text;
}

static inline const char *ask(struct fixture *f, uint64_t time_ns, uint32_t pid, uint64_t addr)
{
	return ask_thread(f, time_ns, pid, pid, addr);
}

static inline const char *ask_kernel(struct fixture *f, uint64_t time_ns, uint64_t addr)
{
	struct process_model_place place;

	if (!process_model_place(f->m, process_model_kernel(f->m, time_ns), addr, &place))
		return "-";
	return process_model_file(f->m, place.file)->path;
}

static inline void seal(struct fixture *f)
{
	assert_int_equal(process_model_seal(f->m), 0);
}

#endif
