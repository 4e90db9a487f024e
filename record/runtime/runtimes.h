/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runtimes - the interpreters of a recording
 *
 * Which mapped files contain one, what BPF has to know to read its frames (bpf/runtime_maps.h), and what becomes
 * of these: stacks are joined (splice.h), code gets names (code_names.h), and the capture maps a file of
 * interpreted code into each process that has an interpreter.
 */
#ifndef EBPREC_RECORD_RUNTIME_RUNTIMES_H
#define EBPREC_RECORD_RUNTIME_RUNTIMES_H

#include <bpf/libbpf.h>
#include <sys/stat.h>

#include "record/base/mapping.h"
#include "record/output/sink.h"
#include "record/privsep/elf/elf_facts.h"
#include "record/base/messages.h"
#include "record/runtime/code_names.h"
#include "record/runtime/splice.h"

struct runtimes_file {
	struct runtime_desc desc;
	uint64_t code_vaddr, code_offset, exec_vaddr;
};

struct runtimes {
	struct sink *emit;                         /* borrowed */
	struct notes *notes;                       /* borrowed */
	struct runtimes_file files[RUNTIME_DESCS]; /* by number; 0: none */
	uint32_t count;
	struct u64map by_file; /* mapped_files_key() -> number */
	int descs_fd, codes_fd, places_fd, threads_fd, numbers_fd, count_fd, files_fd, earlies_fd;
	struct code_names
		names[RUNTIME_KINDS]; /* by the kind of the interpreter; without a path: none */
	uint64_t objects;             /* of names, that were written */
	uint64_t java_frames, java_unplaced; /* account.h */
	uint64_t
		unnumbered_count; /* stacks without frames, as there were no more numbers of code for their process */
	/* Interpreters that are not understood were reported: bits of enum elf_runtime_state; and that there were too many. */
	uint8_t warned[RUNTIME_KINDS];
	bool warned_no_room;
	int late_err;
	__u64 frames[SPLICE_FRAMES_MAX];
};

/* Makes the BPF maps.  io reads scripts; NULL: none are read.  errno of bpf(2), -ENOMEM. */
int runtimes_new(struct sink *emit, struct notes *notes, struct io_timeout *io,
		 struct runtimes **out);
void runtimes_free(struct runtimes *r); /* NULL is fine */

/* Gives a skeleton the maps, before load. */
#define runtimes_share(r, skel)                                                                    \
	({                                                                                         \
		int err__ = bpf_map__reuse_fd((skel)->maps.runtime_descs, (r)->descs_fd);          \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_codes, (r)->codes_fd);      \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_places, (r)->places_fd);    \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_threads, (r)->threads_fd);  \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_process_numbers,            \
						  (r)->numbers_fd);                                \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_code_count, (r)->count_fd); \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_files, (r)->files_fd);      \
		if (!err__)                                                                        \
			err__ = bpf_map__reuse_fd((skel)->maps.runtime_earlies, (r)->earlies_fd);  \
		err__;                                                                             \
	})

/* A file is mapped, and this is what is known of it.  Whether it is an interpreter whose frames can be read. */
bool runtimes_see_file(struct runtimes *r, const uint64_t key[2], const char *path,
		       const struct elf_facts *facts);
/* A file that a process may map: from then on BPF finds the interpreter in it, if there is one, at the mapping. */
void runtimes_expect_file(struct runtimes *r, const struct stat *st, const struct elf_facts *facts);
/*
 * The number of the interpreter whose loop is in this mapping, and what the process adds to addresses of the file; 0:
 * none is.  From then on BPF knows processes that map the file, before their mappings come here.
 */
uint32_t runtimes_in_map(const struct runtimes *r, const struct mapping *m, uint64_t *base);
/* From that time on a process may have frames of a program that this interpreter runs. */
void runtimes_map_code(struct runtimes *r, uint32_t number, uint32_t pid, uint64_t time_ns);

/* -EBADMSG: the event is broken; -ENOMEM. */
int runtimes_code(struct runtimes *r, const struct event_header *h);
/*
 * Joins the words of an event with its user frames; the result is r->frames, valid until the next call.  *info gets
 * the result.  Returns the count of frames; 0: they are as they were.
 */
size_t runtimes_join(struct runtimes *r, const __u64 *user, size_t user_count, const __u64 *words,
		     size_t word_count, struct stack_result *info);

/* Frames of a copy of a stack, from a process that has an interpreter; all borrowed. */
struct runtimes_stack {
	uint32_t number; /* of the interpreter; 0: it has none */
	uint64_t base;
	const __u64 *user;
	const bool *made; /* which frames are in code without a file; NULL: none is */
	size_t user_count;
};

/*
 * BPF walks no further than to the frame for which the stack was copied, so that it saw no functions of frames behind it.
 * words: what came with the copy; NULL: nothing.  *info gets why frames are missing, where they are.
 */
void runtimes_miss(const struct runtimes *r, const struct runtimes_stack *c, const __u64 *words,
		   struct stack_result *info);

/* Counts code without names: account.h, code_*_count. */
void runtimes_account(const struct runtimes *r, struct account *a);

/* The names that are new; last: all of them.  errno of the write. */
int runtimes_flush(struct runtimes *r, struct writer *to, bool last);
/* All names, into a file of several. */
int runtimes_copy(struct runtimes *r, struct writer *to);

#endif
