/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * writer - writes a capture that is complete after every flush
 *
 * All static sections are written when the writer is made, so that from the first flush on the file
 * is complete: each flush puts the finished blocks and a fresh feature table at the end with one
 * pwrite, then patches data.size.  A recorder that dies loses only what it had not flushed.  When a
 * write fails (disk full), the writer puts the feature table back behind the last good flush, so
 * that the recorded data stays readable, and from then on returns that error, until
 * writer_give_up().
 *
 * Without a file (fd -1) a writer packs alone: batches are taken out of it, held in memory, and put
 * into other writers, which make captures with the same head.
 *
 * Each record is added complete, as perf.data has it, to a stream; a stream is cut into blocks of
 * at most EBX_RAW_MAX bytes of records, each an independent zstd frame (FORMAT.md 4).  One thread
 * uses a writer at a time.
 */
#ifndef EBPREC_FORMAT_WRITER_WRITER_H
#define EBPREC_FORMAT_WRITER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/ebx_records.h"
#include "format/perf/perffile.h"

struct writer;       /* opaque */
struct writer_batch; /* opaque: packed records without a place in a file */

struct writer_attr {
	struct perf_event_attr attr; /* .size is set by the writer */
	const uint64_t *ids;         /* at least one; borrowed during writer_new() */
	size_t id_count;
};

struct writer_feature {
	unsigned bit;     /* enum perffile_feature */
	const void *data; /* borrowed during the call; the section as perf.data has it */
	size_t size_bytes;
};

struct writer_opts {
	const struct writer_attr *attrs; /* attrs[0] is the sampling event */
	size_t attr_count;
	/* Any order, no bit twice, without COMPRESSED, SAMPLE_TIME and BUILD_ID: those are the writer's. */
	const struct writer_feature *features;
	size_t feature_count;
	uint64_t clock_mono_ns, clock_wall_ns;
	uint8_t uuid[16];
	int level; /* zstd, 1..19 */
	bool plain; /* no blocks, no private parts: the uncompressed perf.data that `ebprec export` writes */
	/*
	 * fd is only written to, from front to back, as pipe_spool.h has it; no flush can be taken back.
	 * wait, if any, is called before each write of a page or less: 0 go on, or the error.
	 */
	bool pipe;
	int (*wait)(void *arg);
	void *wait_arg;
};

struct writer_stats {
	uint64_t file_bytes; /* as of the last flush */
	uint64_t raw_bytes;  /* records given so far */
};

/*
 * Writes the head of the file.  fd must be a regular file, empty, seekable, opened for reading and
 * writing; it is borrowed, and the caller closes it after writer_free().  -1: there is no file, and
 * writer_take() returns the records; flush and finish are -EINVAL. -EINVAL for options that break a
 * rule above; else the errno of the write.  opts->pipe: fd may be anything.
 */
int writer_new(int fd, const struct writer_opts *opts, struct writer **out);
void writer_free(struct writer *w); /* NULL is fine; does not finish the file */
/* One more file with the head of `like`, but for the uuid: the same options, nothing in it. */
int writer_like(int fd, const struct writer *like, const uint8_t uuid[16], struct writer **out);

/*
 * Adds one complete record (size a multiple of 8, at most PERFFILE_RECORD_MAX; its header is
 * right). time_ns 0 for a record without a time: it does not move the block's t_min.  A sample's
 * CPU goes to cpu, -1 where there is none.
 */
int writer_record(struct writer *w, enum ebx_stream stream, const void *record, size_t size_bytes,
		  uint64_t time_ns, int cpu);

/* Counts events of a stream that were lost: the next block of the stream carries the number. */
void writer_lost(struct writer *w, enum ebx_stream stream, uint64_t count);

/* Adds a private object, cut into parts and compressed.  Does nothing when opts.plain. */
int writer_object(struct writer *w, enum ebx_kind kind, uint64_t object, const void *data,
		  size_t size_bytes);

/*
 * Writes all records given so far (SIDE blocks first); the file is complete then.  round: also
 * write a FINISHED_ROUND; then no later record may be older than the newest record of the round
 * before this one (perf's contract).
 */
int writer_flush(struct writer *w, bool round);

/* Why the writer takes nothing more: the errno of a write, or -ENOMEM; 0: it does. */
int writer_error(const struct writer *w);

/*
 * After a write failed: forgets what was given since the last good flush, so that the capture can
 * still be finished, with less.  -EINVAL: nothing failed; -ENOMEM, or any error of a pipe: that was
 * it, and stays.
 */
int writer_give_up(struct writer *w);

/*
 * The directory's items, which grow with the length of a recording, go into this empty file, open
 * for reading and writing, when it is much.  Taken; -1: it stays in memory.
 */
void writer_spill_to(struct writer *w, int fd);

/* Bytes given since the last flush: the caller flushes when this grows past its liking. */
size_t writer_pending_bytes(const struct writer *w);

/*
 * Flushes, then writes SAMPLE_TIME, the given features (BUILD_ID) and the directory, and marks the
 * capture clean.  The writer takes no more records.
 */
int writer_finish(struct writer *w, const struct writer_feature *features, size_t feature_count);

/* ---- batches ---- */

int writer_batch_new(struct writer_batch **out); /* an empty one; -ENOMEM */
void writer_batch_free(struct writer_batch *b);  /* NULL is fine */
/* Memory that it takes. */
size_t writer_batch_bytes(const struct writer_batch *b);
/* The earliest time in it that is no side-band's; 0: none. */
uint64_t writer_batch_first_ns(const struct writer_batch *b);

/* Moves the objects given so far behind those of `into`.  -ENOMEM. */
int writer_take_objects(struct writer *w, struct writer_batch *into);
/* Adds what `from` has behind what is in `to`; `from` is only read.  -ENOMEM. */
int writer_batch_join(struct writer_batch *to, const struct writer_batch *from);
/* Leaves the objects of a kind out of it. */
void writer_batch_forget(struct writer_batch *b, enum ebx_kind kind);
/* Moves all records given so far, and what was lost, into a batch of its own.  -ENOMEM. */
int writer_take(struct writer *w, struct writer_batch **out);
/* Adds a batch as if its records and objects had been given to w; b is only read. */
int writer_put(struct writer *w, const struct writer_batch *b);
/* The records of a stream, in order; stops when on_record returns an error, and returns it. */
int writer_batch_records(const struct writer_batch *b, enum ebx_stream stream,
			 int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
			 void *arg);

void writer_get_stats(const struct writer *w, struct writer_stats *out);

#endif
