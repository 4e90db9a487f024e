/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jit_file - the files that a process with a JIT compiler has written: where they are, and which of them are its own
 *
 * Only a regular file of the process's owner (or root's) is opened, which was written since the process began (pids are
 * used again, and files stay).  Lines of an earlier process in a perf map are left out where the process was seen before it wrote
 * there.  Else all are taken: of two lines for an address the later one, which is its own, is the name
 * (analyze/sym/symtab/perf_map.c); the others name addresses at which it has code only by chance.
 */
#ifndef EBPREC_RECORD_PROCESS_JIT_FILE_H
#define EBPREC_RECORD_PROCESS_JIT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define JIT_FILE_END_BYTES 32 /* by which what was there before is recognized */

struct jitfile {
	uint32_t pid, inner_pid; /* as in the samples; in its own pid namespace */
	uint64_t start_ns;       /* when it was forked, on the wall clock */
	uint32_t owner;          /* of its root folder in /proc */
	uint32_t user;           /* process_user(): whose share of the list it takes */
	int root_fd;             /* O_PATH, as the others; -1: not yet */
	bool apart;              /* in another mount namespace than ours */
	/* The folders that end with such a namespace, when this was its last process; -1: none. */
	int tmp_fd, dump_fd;
	/* How much another process had written into the perf map, and the end of that. */
	uint64_t older_bytes;
	uint8_t older_end[JIT_FILE_END_BYTES];
	char *dump; /* the path of its jitdump below the root; NULL: it has mapped none */
	struct jitfiles_look
		*look;   /* of jit_symbols: by which the descriptors come; NULL: they are there */
	bool has_exited; /* its files are to be taken then */
};

/* Fills in what /proc has of the process, by its pid; false: it is gone.  Reads strangers' files: in a thread. */
bool jit_file_look(struct jitfile *f);
/* Each has descriptors of its own. */
struct jitfile jit_file_copy(const struct jitfile *f);
void jit_file_done(struct jitfile *f);

/* For reading.  -ESTALE: it is older than the process. */
int jit_file_open_map(const struct jitfile *f);
int jit_file_open_dump(const struct jitfile *f);
/*
 * Goes on behind what another process had written into the perf map, at the beginning of a line, unless the process wrote the file anew.
 * False: there is nothing of others.
 */
bool jit_file_pass_older(const struct jitfile *f, int fd);

/* Pure: the last number of the line "NSpid:" in the text of /proc/PID/status; 0: none. */
uint32_t jit_file_inner_pid(const char *status);

#endif
