/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mapped_files - which build-id a mapped file has, and which files the capture names
 *
 * The kernel could put build-ids into the MMAP2 records itself (attr.build_id).  We do not ask it
 * to: as of 6.18 it then marks the records of every other listener as well, which do not hold one
 * (perf_event_mmap_output() sets header.misc and never takes it back), and perf 6.1 dies of that.
 *
 * A file is read once for each device, inode and generation, not once a process.  Thousands are
 * remembered, those that were mapped last; one that was forgotten is read again when it comes back.
 *
 * File systems without a device of their own have numbers that the next one mounted has again, and many of
 * them no generation: of two containers one after the other, with an overlay on a tmpfs each, different files
 * have the same numbers, and of two subvolumes of btrfs at once.  Such a file is asked for its size and
 * times, of each mount once a second, and what is made of these becomes its generation, here and in the capture.
 * Each process that maps it is asked, too, but where the kernel reports what happens to the file (file_watch.h).
 *
 * Files are read by threads (io_timeout.h): the caller waits a few milliseconds at most.  A mapping whose file
 * takes longer is remembered, and its owner is called when the file's build-id is known.  A file system that
 * does not answer (a network's that is gone) is given up after two seconds, and no file of it is
 * waited for again before it answers; mappings of its files have no build-id, and are counted.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_MAPPED_FILES_H
#define EBPREC_RECORD_PROCESS_FILE_MAPPED_FILES_H

#include <stdint.h>

#include "format/base/buildid.h"
#include "format/perf/build_id_feature.h"
#include "record/privsep/io_timeout.h"
#include "record/privsep/elf_reader.h"
#include "record/process/file/file_origin.h"
#include "record/process/file/file_watch.h"
#include "record/base/u64map.h"
#include "record/base/messages.h"
#include "record/base/mapping.h"

#define MAPPED_FILES_CACHED 4096  /* files; twice as many at most */
#define MAPPED_FILES_LATE   4096  /* mappings that wait for their files */
#define MAPPED_FILES_NAMED  16384 /* in the BUILD_ID section: mappings have their ids besides */

/* Set in a generation that is made of the file's size and times, and is not the file system's. */
#define MAPPED_FILES_STAMPED (1ULL << 63)

struct stat;

struct mapped_file {
	struct buildid id;
	uint64_t stamp;  /* of its size and times; 0: not known */
	uint64_t saw_ns; /* when the numbers were last seen to be this file's */
	uint64_t mount;  /* by which it was seen then (map_file.h) */
	bool is_weak;    /* its file system gives the same numbers to different files at once */
	bool may_watch;  /* its file system reports what happens to it */
	int watch;       /* 0: none (file_watch.h) */
};

/* Files by device and generation, and inode; weak ones also without the generation: the last seen. */
struct mapped_files_list {
	struct u64map by_file; /* -> index in list */
	struct mapped_file *list;
	size_t count, room;
};

struct mapped_files_late; /* in mapped_files.c */

/* A file that was just read.  All borrowed. */
struct mapped_files_found {
	const char *path; /* as it was mapped */
	int fd;           /* open for reading */
	long fs_type;     /* statfs(2); 0: not known */
	const struct stat *st;
	const struct elf_facts *facts;
	const uint64_t *key; /* of two words: mapped_files_key() */
};

/* Its server decides when anything is answered, statfs(2) too, so a type that is not known is FUSE's. */
bool mapped_files_is_fuse(long fs_type);

struct mapped_files {
	struct mapped_files_list fresh,
		old;                 /* full: what is old is forgotten, what was fresh gets old */
	size_t cached_max;           /* in each: MAPPED_FILES_CACHED */
	struct build_id_list *named; /* the BUILD_ID section */
	uint64_t unnamed_count;      /* mappings of files for which there was no room in it */
	struct file_origin *file_origin; /* borrowed: gets each file; NULL: not wanted */
	struct elf_reader *reader;       /* of files of others; NULL: without a process */
	struct notes *notes;             /* borrowed; NULL: not wanted */
	struct io_timeout *io;           /* borrowed */
	struct mapped_files_late *late;
	size_t late_count, late_room;
	struct u64map reading; /* files that are being read */
	struct file_watch watches;
	uint64_t ask_count; /* times that a file was asked whether it is still the same */
	uint32_t gone_pid;  /* the process that was found to be gone last; 0: none */
	/* The process that was asked last, and by which mount it sees that device. */
	uint32_t asked_pid, asked_minor;
	uint64_t asked_mount;
	struct u64map silent; /* device and user whose file system was reported not to answer */
	uint64_t unanswered_count; /* mappings without a build-id, for that */
	/* A mapping of mapped_files_lookup(), whose file is known now; with a build-id if it has one.  Or NULL. */
	void (*on_late)(void *arg, struct mapping *m, uint64_t time_ns);
	void *on_late_arg;
	/* Called for each file, too; or NULL. */
	void (*on_file)(void *arg, const struct mapped_files_found *f);
	void *on_file_arg;
	uint64_t read_count; /* files */
};

/* io: borrowed.  program: what reads files of others in a process of its own (elf_reader.h), or NULL.  -ENOMEM. */
int mapped_files_init(struct mapped_files *b, struct io_timeout *io, const char *program);
void mapped_files_done(struct mapped_files *b);

/*
 * Fills m->id.build_id of a file-backed mapping of process m->pid, from the file when it is new.
 * Leaves it empty when there is none or the file cannot be read.  m->id.inode_generation becomes the
 * number that distinguishes the file from others with its device and inode.  m->is_stuck: the file
 * did not answer yet, and on_late() may be called for the mapping, with this time.
 */
void mapped_files_lookup(struct mapped_files *b, struct mapping *m, uint64_t time_ns);

/* A number that changes with the file: of its size and times; 0: they are not known. */
uint64_t mapped_files_stamp(const struct stat *st);

/* The key of a file, and whether it is known: if not, file_origin will get it again. */
void mapped_files_key(const struct file_id *id, uint64_t key[2]);
bool mapped_files_knows(const struct mapped_files *b, const uint64_t key[2]);

/* Adds a file to the BUILD_ID section, when it has an id.  kernel: it is the kernel or a module. */
void mapped_files_name(struct mapped_files *b, const struct buildid *id, const char *path,
		       bool kernel);

#endif
