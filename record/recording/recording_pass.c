/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <linux/perf_event.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/os/clock.h"
#include "record/recording/recording_priv.h"

/*
 * The error of a part: 0, as it costs no more than the text states.  An error of the writer is
 * returned.
 */
static int part_result(struct recording *r, int err, const char *what, const char *costs)
{
	int write_err = err ? writer_error(r->writer) : 0;

	if (write_err)
		return write_err;
	if (err)
		note_failed_part(&r->notes, err, what, costs);
	return 0;
}

int recording_instrument_result(struct recording *r, const struct instrument *inst, int err,
				const char *costs)
{
	char what[64];

	if (!err)
		return 0;
	snprintf(what, sizeof(what), "the instrument '%s' failed", inst->name);
	return part_result(r, err, what, costs);
}

/* ---- what comes out of the rings ---- */

static int on_event(void *arg, const struct event_header *ev)
{
	struct recording *r = arg;
	bool broken = ev->type >= EBPREC_EV_END;
	size_t i;
	int err;

	if (ev->type == EBPREC_EV_TARGET)
		return recording_selected(r, (const struct target_event *)ev);
	if (ev->type == EBPREC_EV_CODE && r->runtimes) {
		err = runtimes_code(r->runtimes, ev);
		r->emit.account.broken_event_count += err == -EBADMSG;
		return err == -EBADMSG ? 0 : err;
	}
	for (i = 0; i < INSTRUMENT_COUNT && ev->type < EBPREC_EV_END; i++) {
		if (!r->running[i] || !recording_instruments[i]->on_event ||
		    !(recording_instruments[i]->events & 1u << ev->type))
			continue;
		err = recording_instruments[i]->on_event(&r->ctx[i], ev);
		if (err && err != -EBADMSG) {
			sink_count_unrecorded(&r->emit, ev->type);
			return recording_instrument_result(r, recording_instruments[i], err,
							   "such events count as lost");
		}
		if (!err)
			return 0;
		broken = true;
	}
	r->emit.account.broken_event_count += broken;
	return 0;
}

/*
 * Puts the file's build-id in the place of device and inode, where it has one.  False: the record
 * is not complete, *out is not filled.  out->path lies in the record.
 */
static bool complete_mmap2(struct recording *r, struct perf_event_header *h, uint64_t time_ns,
			   struct mapping *out)
{
	uint8_t *rec = (uint8_t *)h;
	struct mapping m = {
		.pid = le32_load(rec + 8),
		.tid = le32_load(rec + 12),
		.start = le64_load(rec + 16),
		.size_bytes = le64_load(rec + 24),
		.file_off_bytes = le64_load(rec + 32),
		.id = { .dev_major = le32_load(rec + 40),
			.dev_minor = le32_load(rec + 44),
			.inode = le64_load(rec + 48),
			.inode_generation = le64_load(rec + 56) },
		.prot = le32_load(rec + 64),
		.flags = le32_load(rec + 68),
		.path = (const char *)rec + 72,
	};

	if (h->size < 72 + 8 + SIDE_RECORD_TAIL_BYTES ||
	    !memchr(m.path, 0, h->size - 72 - SIDE_RECORD_TAIL_BYTES))
		return false;
	h->misc &=
		(uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID; /* another listener's: mapped_files.h */
	if (vdso_is(&r->vdso, m.path, m.size_bytes))
		m.id.build_id = r->vdso.build_id;
	else
		mapped_files_lookup(&r->buildids, &m, time_ns);
	*out = m;
	le64_store(rec + 56, m.id.inode_generation);
	if (!m.id.build_id.size_bytes)
		return true;
	memset(rec + 40, 0, 24);
	rec[40] = m.id.build_id.size_bytes;
	memcpy(rec + 44, m.id.build_id.bytes, m.id.build_id.size_bytes);
	h->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	mapped_files_name(&r->buildids, &m.id.build_id, m.path, false);
	return true;
}

static int on_sample(struct recording *r, const struct perf_event_header *h)
{
	size_t i;
	int err;

	for (i = 0; i < INSTRUMENT_COUNT; i++) {
		if (!r->running[i] || !recording_instruments[i]->on_sample)
			continue;
		err = recording_instruments[i]->on_sample(&r->ctx[i], h);
		if (err == -ENOENT)
			continue;
		r->emit.account.broken_event_count += err == -EBADMSG;
		if (!err || err == -EBADMSG)
			return 0;
		sink_count_unrecorded(&r->emit, EBPREC_EV_CPU);
		return recording_instrument_result(r, recording_instruments[i], err,
						   "such events count as lost");
	}
	return 0;
}

/* addr, length, type, flags */
static void note_symbol(struct recording *r, const struct perf_event_header *h)
{
	const uint8_t *body = (const uint8_t *)(h + 1);

	if (r->kallsyms && h->size >= sizeof(*h) + 16)
		kernel_symbols_index_note(r->kallsyms, le64_load(body), le32_load(body + 8),
					  le16_load(body + 14) &
						  PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
}

/* id, path */
static void note_cgroup(struct recording *r, const struct perf_event_header *h)
{
	const char *path = (const char *)(h + 1) + 8;

	if (h->size <= sizeof(*h) + 8 + SIDE_RECORD_TAIL_BYTES ||
	    !memchr(path, 0, h->size - sizeof(*h) - 8 - SIDE_RECORD_TAIL_BYTES))
		return;
	container_watch_saw(&r->containers, path);
	service_budgets_cgroup(&r->budgets, le64_load((const uint8_t *)(h + 1)), path);
	recording_select_cgroup(r, le64_load((const uint8_t *)(h + 1)), path);
}

/*
 * The mapping again, with the build-id that its record lacks: as of the same time, so that it is true of what
 * came after it.  Where that is too long ago only BPF and the list of build-ids learn of it.
 */
void recording_late_file(void *recording, struct mapping *m, uint64_t time_ns)
{
	struct recording *r = recording;
	struct side_record rec = { .id = sink_side_id(&r->emit), .time_ns = time_ns };
	/* Without a build-id, the generation that was made of size and times leads to the file's facts. */
	bool is_known = m->id.build_id.size_bytes || m->id.inode_generation & MAPPED_FILES_STAMPED;
	int err = 0;

	mapped_files_name(&r->buildids, &m->id.build_id, m->path, false);
	if (r->walker)
		err = process_maps_renew(unwinder_maps(r->walker), m, time_ns);
	if (!err && is_known && time_ns && time_ns >= r->emit.floor_ns)
		err = sink_side(&r->emit, &rec, side_record_mmap2(&rec, m));
	r->late_err = r->late_err ? r->late_err : err;
}

/* Emits a mapping that the kernel reported differently, or not at all. */
static int emit_mapping(struct recording *r, struct mapping *m, uint64_t time_ns)
{
	struct side_record rec = { .id = sink_side_id(&r->emit), .time_ns = time_ns };
	size_t size_bytes;
	int err = 0;

	mapped_files_lookup(&r->buildids, m, time_ns);
	mapped_files_name(&r->buildids, &m->id.build_id, m->path, false);
	size_bytes = side_record_mmap2(&rec, m);
	if (r->walker)
		err = unwinder_record(r->walker, (const struct perf_event_header *)rec.bytes, m,
				      time_ns);
	return err ? err : sink_side(&r->emit, &rec, size_bytes);
}

/* Code that was not yet where a program moves it to. */
static int emit_moved(struct recording *r, uint64_t now_ns)
{
	struct mapping m;
	int err = 0;

	while (!err && hugepage_text_again(&r->moved, &m, now_ns))
		err = emit_mapping(r, &m, now_ns);
	return err;
}

static int on_record(void *arg, struct perf_event_header *h, uint64_t time_ns)
{
	struct recording *r = arg;
	struct mapping m;
	bool mapped;
	int err = 0;

	if (h->type == PERF_RECORD_SAMPLE)
		return on_sample(r, h);
	if (!pid_namespace_wants(&r->pidns, h) || !targets_want(&r->targets, h, time_ns))
		return 0;
	if (h->type == PERF_RECORD_KSYMBOL)
		note_symbol(r, h);
	if (h->type == PERF_RECORD_CGROUP)
		note_cgroup(r, h);
	event_attrs_settle_ids(&r->attrs, h);
	proc_scan_record(&r->scan, h);
	mapped = h->type == PERF_RECORD_MMAP2 && complete_mmap2(r, h, time_ns, &m);
	if (mapped && hugepage_text_look(&r->moved, &m, NULL, time_ns))
		return emit_mapping(r, &m, time_ns);
	if (mapped) {
		jit_symbols_map(&r->jitfiles, &m);
		jvm_maps_see(&r->jvms, &m, clock_ns(CLOCK_MONOTONIC));
	}
	if (h->type == PERF_RECORD_EXIT) {
		jvm_maps_exit(&r->jvms, h);
		err = jit_symbols_exit(&r->jitfiles, h);
	}
	if (!err)
		err = cmdline_log_record(&r->args, h, time_ns, !r->exec_seen);
	if (!err)
		err = context_watch_record(&r->contexts, h, time_ns);
	if (err)
		return err;
	r->rescan |= h->type == PERF_RECORD_LOST;
	if (r->walker)
		err = unwinder_record(r->walker, h, mapped ? &m : NULL, time_ns);
	return err ? err : sink_kernel(&r->emit, h, time_ns);
}

/* The side-band lost records: what is mapped where is read again, once a second at most. */
static void rescan(struct recording *r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - r->rescanned_ns < RECORDING_FLUSH_NS || !proc_scan_maps(&r->scan))
		return;
	r->rescan = false;
	r->rescanned_ns = now_ns;
}

/* A LOST record stands in the place of what was skipped: what is mapped is read again. */
static void report_skipped(struct recording *r)
{
	struct account *a = &r->emit.account;
	uint64_t bytes = sideband_skipped_bytes(r->sideband);

	if (bytes == a->side_skipped_bytes)
		return;
	if (!a->side_skipped_bytes)
		note(&r->notes, NOTE_WARNING,
		     "a ring of perf events holds what is no record: names and mappings of that moment are lost (what is mapped is read again)");
	a->side_skipped_bytes = bytes;
}

static int tick(struct recording *r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	if (clock_is_due(&r->cpus_asked_ns, now_ns, RECORDING_PASS_NS))
		recording_look_at_cpus(r, false);
	jvm_maps_pass(&r->jvms, now_ns);
	err = context_watch_look(&r->contexts, now_ns);
	for (size_t i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		if (r->running[i] && recording_instruments[i]->tick)
			err = recording_instrument_result(
				r, recording_instruments[i],
				recording_instruments[i]->tick(&r->ctx[i], now_ns),
				"what it adds to its events is missing then");
	}
	return err;
}

/* Reads the records since the last pass. */
static int take_events(struct recording *r, bool last)
{
	uint64_t until_ns = UINT64_MAX, begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	/*
	 * Samples first: the side-band records about them are older than they are, and so are in
	 * their rings by now and land in the same round.
	 */
	err = r->bpf ? bpf_ring_drain(r->rings, on_event, r) : 0;
	r->drained_ns = clock_ns(CLOCK_MONOTONIC);
	io_timeout_pass(r->io);
	if (!err)
		err = r->late_err ? r->late_err : r->scan.late_err;
	/*
	 * A child's fork is always read with the child's records, in whichever rings they are:
	 * copy_process() writes the FORK record (perf_event_fork()) before the child runs for the
	 * first time.  So for each record of the child before this moment the fork is in a ring
	 * that is read after it, and both are sorted by time.
	 * A process that is selected as it runs is so by an event of the rings above, which had to come before.
	 */
	if (!last && r->targets.selects)
		until_ns = begin_ns - RECORDING_LATE_NS;
	else if (!last)
		until_ns = clock_ns(CLOCK_MONOTONIC) - (r->targets.all ? 0 : RECORDING_LATE_NS);
	if (!err)
		err = sideband_drain(r->sideband);
	report_skipped(r);
	if (!err)
		err = sideband_deliver(r->sideband, until_ns, on_record, r);
	if (!r->bpf && until_ns < r->drained_ns)
		r->drained_ns = until_ns;
	if (!err && !last)
		err = emit_moved(r, until_ns);
	if (r->walker && (r->rescan || r->scan.again) && !last)
		rescan(r);
	container_watch_look(&r->containers, clock_ns(CLOCK_MONOTONIC));
	if (!err && r->walker)
		err = unwinder_pass(r->walker, until_ns);
	return err;
}

int recording_pass(struct recording *r, bool last)
{
	int err = take_events(r, last);

	return err || last ? err : tick(r);
}

int recording_meanwhile(void *recording)
{
	return take_events(recording, false);
}

/* ---- what goes into the file ---- */

static int write_symbols(struct recording *r)
{
	struct outbuf lines = { 0 };
	int err = 0;

	if (r->kallsyms && r->opts->kallsyms && kernel_symbols_index_take(r->kallsyms, &lines)) {
		err = outbuf_ok(&lines) ? 0 : -ENOMEM;
		if (!err)
			err = recording_embed(r, FILE_KALLSYMS + r->kallsyms_pieces++,
					      "/proc/kallsyms", lines.data, lines.size_bytes);
	}
	outbuf_done(&lines);
	return err;
}

int recording_write_notes(struct recording *r)
{
	struct notes *n = &r->notes;
	int err = 0;

	if (outbuf_ok(&n->text) && n->text.size_bytes)
		err = writer_object(r->writer, EBX_NOTE, r->notes_pieces++, n->text.data,
				    n->text.size_bytes);
	outbuf_clear(&n->text);
	return err;
}

static void count_left_out(struct account *a, const uint64_t counts[EBPREC_EV_END])
{
	a->left_out_samples = counts[EBPREC_EV_CPU];
	a->left_out_switches = counts[EBPREC_EV_SWITCH];
	a->left_out_task_events = counts[EBPREC_EV_TASK];
	a->left_out_marks = counts[EBPREC_EV_MARK];
	a->left_out_rows = counts[EBPREC_EV_METRIC];
}

static int count_lost(struct recording *r)
{
	uint64_t counts[EBPREC_EV_COUNTS];
	int err = bpf_ring_counts(r->rings, counts);

	if (err)
		return part_result(r, err, "cannot read how many events were lost",
				   "the counts are as of when they could be read");
	count_left_out(&r->emit.account, counts + EBPREC_EV_END);
	return sink_lost(&r->emit, counts, clock_ns(CLOCK_MONOTONIC));
}

int recording_flush(struct recording *r)
{
	int err;

	err = r->walker ? unwinder_settle(r->walker, r->emit.round_newest_ns) : 0;
	if (!err && r->bpf)
		err = count_lost(r);
	if (!err)
		err = write_symbols(r);
	if (!err)
		err = file_origin_flush(&r->file_origin);
	if (!err)
		err = container_watch_flush(&r->containers);
	if (!err)
		err = cmdline_log_flush(&r->args);
	if (!err)
		err = context_log_flush(&r->contexts.log);
	if (!err && r->runtimes && !r->window)
		err = runtimes_flush(r->runtimes, r->writer, r->end_reason != NULL);
	recording_look_at_cpus(r, true);
	if (!err)
		err = recording_write_notes(r);
	return err ? err : recording_keep(r);
}
