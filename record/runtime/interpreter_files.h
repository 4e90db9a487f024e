/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * interpreter_files - which files contain an interpreter, before a process maps them
 *
 * A recording learns of an interpreter when a process maps its file, milliseconds after the mapping: a program
 * of milliseconds has ended by then.  So a recording reads files before it begins: that of its command, that
 * of the script that the command may be, and those in which earlier recordings found an interpreter.
 *
 * The paths of these are lines of a file in the cache's folder (cache_dir.h).  The list has no more than
 * paths, so nothing in it can be out of date: each file is read anew.  A path that leads to no interpreter any more leaves
 * the list; the oldest leaves it when it is full.
 */
#ifndef EBPREC_RECORD_RUNTIME_INTERPRETER_FILES_H
#define EBPREC_RECORD_RUNTIME_INTERPRETER_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "record/privsep/elf/elf_facts.h"
#include "record/privsep/elf_reader.h"
#include "record/privsep/io_timeout.h"

#define INTERPRETER_FILES_MAX 32

/* Zero: none, and none are written. */
struct interpreter_files {
	char folder[PATH_MAX]; /* "": none */
	char *path[INTERPRETER_FILES_MAX];
	size_t count;
	size_t looking; /* files that are being read */
	bool changed;
	struct elf_reader *reader; /* borrowed: of files of others */
	struct io_timeout *io;     /* borrowed */
	/* A file that was asked for; it need not contain an interpreter. */
	void (*found)(void *arg, const struct stat *st, const struct elf_facts *facts);
	void *arg;
};

/* Reads the list; an empty one, where there is none. */
void interpreter_files_load(struct interpreter_files *f, const char *folder);
/* Begins to read the files of the list; found() is called for each in io_timeout_pass(). */
void interpreter_files_look(struct interpreter_files *f);
/* The same for the file that a command's first word names, and for the program that runs it, if it is a script. */
void interpreter_files_look_at_command(struct interpreter_files *f, const char *name);
/* Passes until all are read, for max_ns at most. */
void interpreter_files_wait(struct interpreter_files *f, uint64_t max_ns);
/* An interpreter was found in this file. */
void interpreter_files_add(struct interpreter_files *f, const char *path);
/* Writes the list, if it is another one, and empties it. */
void interpreter_files_done(struct interpreter_files *f);

#endif
