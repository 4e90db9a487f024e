/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_reader - files of strangers, read by a process that can do nothing else
 *
 * The user of a program chooses the contents of its file, and a recorder of root reads it; the same
 * holds for what JIT compilers write and for the files of container engines, which any user may
 * have.  So the reading is done by a process of its own: without capabilities, with a system call
 * filter that knows reading, memory and ending (no opening, no network, no programs), a limit of
 * memory, and no descriptors but a socket.  It gets an open file and answers with a table, in the
 * bytes that the table cache keeps, which are checked like any others.
 *
 * The process is this program itself, started anew: it has nothing of the recorder's memory.  It is
 * started when first needed, and again when it died; a file it died over costs that file's table.
 * Threads may share one, and are answered one after the other.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_READER_H
#define EBPREC_RECORD_PRIVSEP_ELF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"
#include "format/unwind/table/module_table.h"
#include "record/privsep/elf/elf_facts.h"
#include "record/privsep/elf/elf_usdt.h"
#include "record/privsep/store_files.h"

/* The program's first word; its main() calls serve(). */
#define ELF_READER_OPTION       "--elf-worker"
#define ELF_READER_FACTS_OPTION "--elf-facts" /* the same, by other names in a list of processes */
#define ELF_READER_TEXTS_OPTION "--text-files"

struct elf_reader; /* opaque */

/* program: the path of one that serves, option: its first word; borrowed. */
int elf_reader_new(const char *program, const char *option, struct elf_reader **out);
void elf_reader_free(struct elf_reader *w); /* frees it with the last user; NULL is fine */
struct elf_reader *elf_reader_share(struct elf_reader *w); /* for one more elf_reader_free() */

/*
 * The table of an open ELF file, as module_table_from_fd() makes it; NULL in *out, and 0, when there is
 * not one row in it.  -ECHILD: the process died over it, or too often before; else as there.
 */
int elf_reader_table(struct elf_reader *w, int fd, struct rule_table *set,
		     struct module_table **out);
/* The result of elf_facts_read(). -ECHILD: the process died over it, or did not answer for a
 * second. */
int elf_reader_facts(struct elf_reader *w, int fd, struct elf_facts *out);
/* By the process when other users may write the file, else here; w NULL: there is no process.  -ECHILD: *out is
 * empty. */
int elf_reader_facts_safely(struct elf_reader *w, int fd, struct elf_facts *out);
/* The result of elf_symbol_offset(). -ECHILD as above. */
int elf_reader_symbol(struct elf_reader *w, int fd, const char *name, uint64_t *out);
/* The result of elf_usdt_find(). -ECHILD as above. */
int elf_reader_probe(struct elf_reader *w, int fd, const char *provider, const char *name,
		     struct elf_usdt_probe *out);
/*
 * Appends what jitstrip() leaves of a jitdump, at most limit_bytes.  *complete: the limit did not
 * come before the end. -ECHILD as above, -ENOMEM.
 */
int elf_reader_jitdump(struct elf_reader *w, int fd, size_t limit_bytes, struct outbuf *out,
		       bool *complete);
/*
 * Passes the entries that store_file_parse() finds in an open file to fn, after all of them were
 * received and checked; fn may ask again. -ECHILD as above, -ENOMEM, or what it returned.
 */
int elf_reader_store_file(struct elf_reader *w, int fd, enum store_file form, const char *key,
			  store_file_fn fn, void *ctx);
/* CPU time of all these processes so far. */
uint64_t elf_reader_cpu_ns(struct elf_reader *w);
/* The last end of the process: "killed by signal 11"; static or the worker's; "" when it never
 * ended. */
const char *elf_reader_death(const struct elf_reader *w);

/* Runs in the process: gives up all rights and serves until the socket ends; returns the exit
 * status. */
int elf_reader_serve(void);

#endif
