/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Which file what was packed goes to: the one, the next of several, or none before it is wanted. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/recording/recording_priv.h"

#define FACTS_MANY  2048 /* files in the cache; above, those that no process maps are dropped */
#define PRUNE_NS    10000000000ULL
#define LOOK_MS     100
#define JIT_WAIT_NS 2000000000ULL /* for the maps of JIT compilers */
#define PATIENCE_NS 2000000000ULL /* for a reader, when we are asked to end */

/* ---- -o - ---- */

/* Signals are blocked, and no other code reads them while we wait here. */
static void look_for_signals(struct recording *r)
{
	struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	switch (sigtimedwait(&set, NULL, &now)) {
	case -1:
		return;
	case SIGINT:
		r->end_reason = "interrupted";
		break;
	default:
		r->end_reason = "terminated";
	}
	r->asked_to_end = true;
}

/*
 * No ring is read meanwhile: records that do not fit are lost and counted, and LOST records follow
 * when the reader continues.
 */
int recording_await_reader(void *recording)
{
	struct recording *r = recording;
	struct pollfd p = { .fd = r->file.file.fd, .events = POLLOUT };
	uint64_t now_ns;

	while (poll(&p, 1, LOOK_MS) <= 0) {
		look_for_signals(r);
		if (!r->asked_to_end)
			continue;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (!r->give_up_ns)
			r->give_up_ns = now_ns + PATIENCE_NS;
		else if (now_ns >= r->give_up_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

static struct meta_end end_of(const struct recording *r, const char *reason)
{
	return (struct meta_end){
		.reason = reason,
		.mono_ns = r->start_ns + r->emit.account.duration_ns,
		.cpugaps = &r->cpugaps,
		.notes = &r->notes,
		.number = r->segment_number,
		.recorded_ns = r->emit.account.duration_ns,
		.dropped_until_ns = r->opts->ring ? backlog_dropped_ns(r->window) : r->segment_ns,
	};
}

/* ---- --rotate ---- */

static int open_segment(struct recording *r, struct rotated_file *s, unsigned number)
{
	char *path = rotated_file_path(r->opts->output, number);
	int err = path ? rotated_file_open(s, path, r->writer, r->window, &r->file_origin,
					   &r->notes)
		       : -ENOMEM;

	free(path);
	return err;
}

int recording_first_segment(struct recording *r)
{
	return open_segment(r, &r->segment, 0);
}

/*
 * failed: a write did, and only the account is still tried.  Records that arrived while the file
 * was written are not part of it.
 */
static int finish(struct recording *r, struct rotated_file *s, const char *reason, bool failed,
		  struct account *done)
{
	struct account all = *backlog_account(r->window);
	struct rotated_file_end end = {
		.all = &all,
		.attrs = &r->attrs,
		.build_ids = r->buildids.named,
		.meta = end_of(r, failed ? "failed" : reason),
		.failed = failed,
	};
	int err = failed ? 0
			 : jit_symbols_copy(&r->jitfiles, s->writer, &all, JIT_WAIT_NS,
					    r->end_reason ? NULL : recording_meanwhile, r);

	if (!err && !failed)
		err = cmdline_log_copy(&r->args, s->writer);
	if (!err && !failed)
		err = context_log_copy(&r->contexts.log, s->writer);
	if (!err && !failed && r->runtimes)
		err = runtimes_copy(r->runtimes, s->writer);
	return err ? err : rotated_file_finish(s, &end, done);
}

static int finish_segment(struct recording *r, const char *reason)
{
	struct account done;
	int err = finish(r, &r->segment, reason, r->segment_failed, &done);

	if (!err)
		r->emit.account.file_bytes = done.file_bytes;
	return err;
}

static void remove_oldest(const struct recording *r)
{
	char *path;

	if (!r->opts->keep_files || r->segment_number < r->opts->keep_files)
		return;
	path = rotated_file_path(r->opts->output, r->segment_number - r->opts->keep_files);
	if (path)
		unlink(path);
	free(path);
}

static int next_segment(struct recording *r, uint64_t now_ns)
{
	int err = finish_segment(r, "rotated");

	rotated_file_close(&r->segment);
	if (!err)
		err = open_segment(r, &r->segment, r->segment_number + 1);
	if (!err)
		err = rotated_file_place(&r->segment, &r->notes);
	if (err)
		return err;
	r->last_file = ++r->segment_number;
	r->segment_ns = now_ns;
	r->last_file_bytes = 0;
	remove_oldest(r);
	return 0;
}

/* One more flush like the last one would go over the limit. */
static bool is_full(struct recording *r, uint64_t limit_bytes)
{
	uint64_t now = r->emit.account.file_bytes, before = r->last_file_bytes;

	return limit_bytes && before && now + (now - before) > limit_bytes;
}

static int keep_in_segment(struct recording *r, uint64_t now_ns)
{
	const struct record_opts *o = r->opts;
	struct writer_stats stats;
	int err = rotated_file_flush(&r->segment, &r->emit.account);

	if (err) {
		r->segment_failed = true;
		return err;
	}
	writer_get_stats(r->segment.writer, &stats);
	r->emit.account.file_bytes = stats.file_bytes;
	if (!r->end_reason &&
	    (is_full(r, o->turn.bytes) || is_full(r, o->max_file_bytes) ||
	     (o->turn.ns && now_ns - (r->segment_ns ? r->segment_ns : r->start_ns) >= o->turn.ns)))
		return next_segment(r, now_ns);
	r->last_file_bytes = stats.file_bytes;
	return 0;
}

static int see_mapped(void *arg, const uint8_t *record, size_t size_bytes)
{
	return file_origin_cache_see(arg, record, size_bytes);
}

static bool is_known(const void *arg, const uint64_t key[2])
{
	return mapped_files_knows(arg, key);
}

/*
 * Drops the cached origins of files that no process maps any more.  Without memory they stay until
 * the next time.
 */
static void prune_facts(struct recording *r, uint64_t from_ns, uint64_t now_ns)
{
	struct file_origin_cache *k = &r->file_origin.cache;
	struct u64map mapped = { 0 };
	struct file_origin_cache_rest rest = { .mapped = &mapped,
					       .is_known = is_known,
					       .arg = &r->buildids,
					       .from_ns = from_ns,
					       .now_ns = now_ns };

	if (k->count < FACTS_MANY || !clock_is_due(&k->pruned_ns, now_ns, PRUNE_NS))
		return;
	if (!backlog_each_state(r->window, see_mapped, &mapped))
		file_origin_cache_prune(k, &rest, r->file_origin.own_namespace);
	u64map_done(&mapped);
}

int recording_keep(struct recording *r)
{
	/* With several files, one has what happened until then, and the next one goes on from there. */
	uint64_t now_ns = r->drained_ns > r->start_ns ? r->drained_ns : r->start_ns, from_ns;
	int err;

	recording_count(r);
	if (!r->window) {
		err = sink_flush(&r->emit);
		if (!err && !r->end_reason && is_full(r, r->opts->max_file_bytes))
			r->end_reason = "size limit";
		r->last_file_bytes = r->emit.account.file_bytes;
		return err;
	}
	if (!r->end_reason) /* the next file has what comes from now on */
		r->emit.account.duration_ns = now_ns - r->start_ns;
	err = backlog_take(r->window, r->writer, &r->emit.account, now_ns,
			   r->segment_failed ? NULL : r->segment.writer);
	if (err)
		return err;
	from_ns = r->opts->ring ? backlog_dropped_ns(r->window) : r->segment_ns;
	cmdline_log_drop(&r->args, from_ns);
	context_log_drop(&r->contexts.log, from_ns);
	prune_facts(r, from_ns, now_ns);
	if (cgroup_age_begin(&r->cgroups, backlog_cgroup_count(r->window),
			     backlog_from_ns(r->window), now_ns))
		backlog_drop_cgroups(r->window, cgroup_age_may_go, &r->cgroups);
	sink_round(&r->emit);
	if (r->segment.writer && !r->segment_failed)
		return keep_in_segment(r, now_ns);
	r->emit.account.file_bytes = backlog_bytes(r->window);
	return 0;
}

/* ---- --ring ---- */

/* While a file is written events go on coming: the rings are emptied between two parts. */
static int put_window(struct recording *r, struct rotated_file *s)
{
	size_t i, count = backlog_part_count(r->window);
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = backlog_put_part(r->window, i, s->writer);
		if (!err)
			err = rotated_file_flush(s, backlog_part_account(r->window, i));
		if (!err && !r->end_reason)
			err = recording_pass(r, false);
	}
	return err;
}

/*
 * Data that was written before the disk was full stays, as everywhere.  is_last: nothing is
 * recorded meanwhile, and the disk may take its time.
 */
static int write_window(struct recording *r, unsigned number, bool is_last, const char *reason,
			struct account *done)
{
	struct rotated_file s = { .file = OUTPUT_FILE_NONE };
	int err, other_err;

	err = open_segment(r, &s, number);
	if (err)
		return err;
	r->segment_number = number;
	if (number > r->last_file)
		r->last_file = number;
	err = put_window(r, &s);
	other_err = finish(r, &s, reason, err != 0, done);
	if (!err)
		err = other_err;
	if (!err && is_last)
		err = output_file_sync(&s.file);
	other_err = rotated_file_place(&s, &r->notes);
	if (!other_err && is_last)
		other_err = output_file_sync(&s.file);
	rotated_file_close(&s);
	return err ? err : other_err;
}

/* The amounts in this file, or in memory where it is NULL, and the absolute path, for a client in another folder. */
static void describe(const struct account *a, const char *path, char text[RECORDING_LINE_BYTES])
{
	char *absolute = path ? realpath(path, NULL) : NULL;
	const char *quote = path ? "'" : "";

	snprintf(text, RECORDING_LINE_BYTES, "%.1f s, %llu samples, %.2f MiB in %s%s%s",
		 (double)a->duration_ns / 1e9, (unsigned long long)a->sample_count,
		 (double)a->file_bytes / (1 << 20), quote,
		 absolute ? absolute
		 : path   ? path
			  : "memory",
		 quote);
	free(absolute);
}

void recording_describe(const struct recording *r, bool is_complete,
			char text[RECORDING_LINE_BYTES])
{
	const struct account *a = &r->emit.account;
	char *path = r->segment.writer ? rotated_file_path(r->opts->output, r->segment_number)
				       : NULL;

	if (r->opts->to_pipe)
		snprintf(text, RECORDING_LINE_BYTES, "%.1f s, %llu samples to standard output",
			 (double)a->duration_ns / 1e9, (unsigned long long)a->sample_count);
	else
		describe(a,
			 path                            ? path
			 : r->opts->ring && !is_complete ? NULL
							 : r->opts->output,
			 text);
	free(path);
}

int recording_snapshot(struct recording *r)
{
	char *path = rotated_file_path(r->opts->output, r->segment_number + 1);
	struct account done = { 0 };
	char text[RECORDING_LINE_BYTES];
	int err = path ? write_window(r, r->segment_number + 1, false, r->wanted, &done) : -ENOMEM;

	if (!err) {
		describe(&done, path, text);
		control_socket_answer(&r->control, RECORDER_SNAPSHOT, RECORDER_DONE, text);
		note(&r->notes, NOTE_INFO, "%s: %s", r->wanted, text);
	} else {
		note_fail(&r->notes, err, NULL, "cannot write '%s'", path ? path : r->opts->output);
		note(&r->notes, NOTE_WARNING, "%s, skipping", r->notes.failure);
		control_socket_answer(&r->control, RECORDER_SNAPSHOT, RECORDER_FAILED,
				      r->notes.failure);
		notes_forgive(&r->notes);
	}
	r->wanted = NULL;
	free(path);
	return err == -ENOMEM ? err : 0;
}

int recording_finish_files(struct recording *r)
{
	const char *reason = r->end_reason ? r->end_reason : "failed";
	struct account done = { 0 };
	int err;

	recording_count(r);
	if (r->opts->ring)
		err = write_window(r, 0, true, reason, &done);
	else if (r->segment.writer)
		err = finish_segment(r, reason);
	else
		return 0; /* the next file could not be made: reported already */
	if (!err && r->opts->ring)
		r->emit.account = done;
	else if (!err)
		err = output_file_sync(&r->segment.file);
	return err;
}
