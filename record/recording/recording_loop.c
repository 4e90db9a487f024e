/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/os/clock.h"
#include "record/recording/recording_priv.h"

#define PASS_NS      100000000ULL /* the rings are looked at this often */
#define SIDE_NS      10000000ULL  /* and this often when programs start; see side_ns() */
#define SIDE_MAX_NS  50000000ULL
#define FLUSH_NS     1000000000ULL /* at most this much is lost when the recorder is killed */
#define FLUSH_BYTES  (8u << 20)
#define FLUSH_MIN_NS 250000000ULL /* rounds are further apart than any event is late */
#define LATE_NS      10000000ULL  /* FORK records of another CPU may come this late */

enum origin {
	SOURCE_RING,
	SOURCE_SIDE,
	SOURCE_TABLES,
	SOURCE_SIGNAL,
	SOURCE_TIMER,
	SOURCE_COMMAND,
	SOURCE_CONTROL,
	SOURCE_TRIGGER,
	SOURCE_PID,
	SOURCE_IO
};

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

	if (now_ns - r->rescanned_ns < FLUSH_NS || !proc_scan_maps(&r->scan))
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

	if (clock_is_due(&r->cpus_asked_ns, now_ns, PASS_NS))
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
		until_ns = begin_ns - LATE_NS;
	else if (!last)
		until_ns = clock_ns(CLOCK_MONOTONIC) - (r->targets.all ? 0 : LATE_NS);
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

/* ---- waiting ---- */

static int watch(struct recording *r, int fd, uint32_t events, enum origin source, unsigned index)
{
	struct epoll_event ev = { .events = events,
				  .data.u64 = (uint64_t)index << 8 | (uint64_t)source };

	return epoll_ctl(source == SOURCE_SIDE ? r->any_epoll_fd : r->epoll_fd, EPOLL_CTL_ADD, fd,
			 &ev)
		       ? -errno
		       : 0;
}

/* any_epoll_fd has all: what epoll_fd has, and the rings of the side-band. */
static int open_waiting(struct recording *r)
{
	struct epoll_event rest = { .events = EPOLLIN };

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->any_epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0 || r->any_epoll_fd < 0 ||
	    epoll_ctl(r->any_epoll_fd, EPOLL_CTL_ADD, r->epoll_fd, &rest))
		return -errno;
	return 0;
}

static int open_timer(struct recording *r)
{
	struct itimerspec every = { .it_interval.tv_nsec = PASS_NS, .it_value.tv_nsec = PASS_NS };

	r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer_fd < 0 || timerfd_settime(r->timer_fd, 0, &every, NULL))
		return -errno;
	return 0;
}

static int open_signals(struct recording *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

int recording_watch_side(struct recording *r, size_t ring)
{
	return watch(r, sideband_fd(r->sideband, ring), EPOLLIN | EPOLLET, SOURCE_SIDE, 0);
}

/* Without these it is only later that what is ready is taken: the loop looks ten times a second. */
static void watch_if_possible(struct recording *r, int fd, uint32_t events, enum origin source)
{
	int err = fd >= 0 ? watch(r, fd, events, source, 0) : 0;

	if (err)
		note_delayed_part(&r->notes, err, "cannot watch a ring or a helper",
				  "it is looked at ten times a second");
}

static void watch_requests(struct recording *r)
{
	int err = 0;

	if (r->control.fd >= 0)
		err = watch(r, r->control.epoll_fd, EPOLLIN, SOURCE_CONTROL, 0);
	if (err)
		note_failed_part(&r->notes, err,
				 "cannot wait for requests at the recorder's socket",
				 "SIGUSR2 asks for a snapshot, and SIGINT ends it, all the same");
	for (unsigned i = 0; i < r->triggers.count; i++) {
		err = snapshot_triggers_fd(&r->triggers, i) < 0
			      ? 0
			      : watch(r, snapshot_triggers_fd(&r->triggers, i), EPOLLPRI,
				      SOURCE_TRIGGER, i);
		if (err)
			note_failed_part(&r->notes, err, "cannot wait for a trigger",
					 "it writes no capture");
	}
}

/* Watches the events that end the recording. */
static int watch_ends(struct recording *r)
{
	int err = open_signals(r);

	if (!err)
		err = watch(r, r->signal_fd, EPOLLIN, SOURCE_SIGNAL, 0);
	if (!err && r->workload.pid)
		err = watch(r, r->workload.pidfd, EPOLLIN, SOURCE_COMMAND, 0);
	for (unsigned i = 0; !err && i < r->opts->pid_count; i++)
		err = watch(r, r->pid_fds[i], EPOLLIN, SOURCE_PID, i);
	return err;
}

static int watch_all(struct recording *r)
{
	int err = open_waiting(r);

	if (!err)
		err = watch_ends(r);
	if (err)
		return note_fail(&r->notes, err, NULL, "cannot wait for the end of the recording");
	if (!open_timer(r)) /* else the wait ends in time all the same */
		watch_if_possible(r, r->timer_fd, EPOLLIN, SOURCE_TIMER);
	if (r->walker)
		watch_if_possible(r, unwinder_fd(r->walker), EPOLLIN, SOURCE_TABLES);
	watch_if_possible(r, io_timeout_fd(r->io), EPOLLIN, SOURCE_IO);
	watch_requests(r);
	/* Edge-triggered: most events come without a wakeup, a level would never go down. */
	for (unsigned i = 0; r->bpf && i < bpf_ring_count(r->rings); i++)
		watch_if_possible(r, bpf_ring_poll_fd(r->rings, i), EPOLLIN | EPOLLET, SOURCE_RING);
	for (unsigned i = 0; i < sideband_count(r->sideband); i++)
		watch_if_possible(r, sideband_fd(r->sideband, i), EPOLLIN | EPOLLET, SOURCE_SIDE);
	return 0;
}

static void want_snapshot(struct recording *r, const char *why)
{
	if (!r->wanted)
		r->wanted_ns = clock_ns(CLOCK_MONOTONIC);
	r->wanted = why;
}

/* A request to the wrong recorder must not end it. */
static void asked_for_snapshot(struct recording *r)
{
	if (r->opts->ring)
		want_snapshot(r, "snapshot");
	else
		note(&r->notes, NOTE_INFO,
		     "a snapshot was asked for, which takes --ring, skipping");
}

static void take_requests(struct recording *r)
{
	unsigned asked = control_socket_take(&r->control);
	char text[RECORDING_LINE_BYTES];

	if (asked & 1u << RECORDER_PING) {
		recording_describe(r, false, text);
		control_socket_answer(&r->control, RECORDER_PING, RECORDER_DONE, text);
	}
	if (asked & 1u << RECORDER_SNAPSHOT && r->opts->ring)
		want_snapshot(r, "snapshot");
	else if (asked & 1u << RECORDER_SNAPSHOT)
		control_socket_answer(&r->control, RECORDER_SNAPSHOT, RECORDER_CANNOT,
				      "it was started without --ring");
	if (asked & 1u << RECORDER_STOP) {
		r->asked_to_end = true;
		r->end_reason = "stopped";
	}
}

static void handle(struct recording *r, const struct epoll_event *ev)
{
	unsigned index = (unsigned)(ev->data.u64 >> 8);
	struct signalfd_siginfo info;
	uint64_t ticks;

	switch ((enum origin)(ev->data.u64 & 0xff)) {
	case SOURCE_TIMER:
		(void)!read(r->timer_fd, &ticks, sizeof(ticks));
		break;
	case SOURCE_SIGNAL:
		if (read(r->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
			break;
		if (info.ssi_signo == SIGUSR2) {
			asked_for_snapshot(r);
			break;
		}
		r->asked_to_end = true;
		r->end_reason = info.ssi_signo == SIGINT ? "interrupted" : "terminated";
		break;
	case SOURCE_CONTROL:
		take_requests(r);
		break;
	case SOURCE_TRIGGER:
		snapshot_triggers_pressure(&r->triggers, index, clock_ns(CLOCK_MONOTONIC));
		break;
	case SOURCE_COMMAND:
		r->end_reason = "command ended";
		break;
	case SOURCE_PID:
		close(r->pid_fds[index]); /* leaves the epoll set, too */
		r->pid_fds[index] = -1;
		if (!--r->pids_alive)
			r->end_reason = "processes ended";
		break;
	case SOURCE_RING:
	case SOURCE_SIDE:
	case SOURCE_TABLES:
	case SOURCE_IO:
		break;
	}
}

/*
 * How long to wait at most: the timer comes sooner, but for the end of a given duration, and for records that were too
 * new to be handed over.  A program that starts and then computes writes no further record.
 */
static int wait_ms(const struct recording *r)
{
	uint64_t end_ns = r->start_ns + r->opts->duration_ns, now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t most_ns = sideband_holds_back(r->sideband) ? LATE_NS : PASS_NS;

	if (!r->opts->duration_ns || end_ns > now_ns + most_ns)
		return (int)(most_ns / 1000000);
	return end_ns > now_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : 0;
}

/*
 * How far apart looks at programs that start are: as far as samples of a CPU, since the mappings of a program are wanted when
 * it has a sample.  But many programs live no longer than SIDE_MAX_NS, and their files are read while they do.
 */
static uint64_t side_ns(const struct recording *r)
{
	uint64_t sample_ns = r->opts->freq_hz ? 1000000000 / r->opts->freq_hz : 0;

	if (sample_ns < SIDE_NS)
		return SIDE_NS;
	return sample_ns < SIDE_MAX_NS ? sample_ns : SIDE_MAX_NS;
}

/*
 * Waits for events, and returns how many there are to handle.  The mappings of a new program should be known soon, but a
 * shell script starts hundreds a second: when there is nothing else to do, waits until the last pass is side_ns() ago.
 */
static int await_events(struct recording *r, uint64_t passed_ns, struct epoll_event *events,
			int most)
{
	int count = epoll_wait(r->any_epoll_fd, events, most, wait_ms(r)), rest_ms = 0, most_ms;
	uint64_t until_ns = passed_ns + side_ns(r), now_ns = clock_ns(CLOCK_MONOTONIC);

	if (count <= 0)
		return count;
	if (r->bpf && now_ns < until_ns) /* without, copies of stacks fill the side-band's rings */
		rest_ms = (int)((until_ns - now_ns) / 1000000) + 1;
	most_ms = wait_ms(r);
	return epoll_wait(r->epoll_fd, events, most, rest_ms < most_ms ? rest_ms : most_ms);
}

static void raise_priority(struct recording *r)
{
	struct realtime_fill fill;

	if (!r->bpf)
		return;
	fill = (struct realtime_fill){ .events_bytes = bpf_ring_fill_bytes(r->rings),
				       .wake_bytes = bpf_ring_wake_bytes(r->rings),
				       .side_bytes = sideband_fill_bytes(r->sideband),
				       .side_ring_bytes = sideband_ring_bytes(r->sideband) };
	realtime_set(&r->realtime, realtime_is_due(&fill));
	r->emit.account.realtime_count = r->realtime.count;
}

/* Measures a round of the loop, from its wakeup on. */
static void clock_pass(struct recording *r, uint64_t woke_ns)
{
	uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - woke_ns;

	if (took_ns > r->emit.account.longest_pass_ns)
		r->emit.account.longest_pass_ns = took_ns;
}

/*
 * The event that asked for a snapshot belongs into it: it waits for events that wait for unwind tables, as long as a
 * flush would.
 */
static bool snapshot_is_due(const struct recording *r, uint64_t now_ns)
{
	return r->wanted && (r->end_reason || now_ns - r->wanted_ns >= FLUSH_NS || !r->walker ||
			     unwinder_oldest_ns(r->walker) > r->wanted_ns);
}

static bool flush_is_due(const struct recording *r, uint64_t since_ns)
{
	return since_ns >= FLUSH_NS - PASS_NS ||
	       (writer_pending_bytes(r->writer) > FLUSH_BYTES && since_ns >= FLUSH_MIN_NS);
}

int recording_loop(struct recording *r)
{
	uint64_t flushed_ns = r->start_ns, shown_ns = flushed_ns, now_ns = flushed_ns, woke_ns;
	struct epoll_event events[16];
	int err, i, count;
	bool snapshot;

	err = watch_all(r);
	while (!err && !r->end_reason) {
		count = await_events(r, now_ns, events, 16);
		if (count < 0 && errno != EINTR) {
			err = note_fail(&r->notes, -errno, "what was recorded before is readable",
					"cannot wait for events");
			break;
		}
		for (i = 0; i < count; i++)
			handle(r, &events[i]);
		woke_ns = clock_ns(CLOCK_MONOTONIC);
		raise_priority(r);
		err = recording_pass(r, false);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		r->emit.account.duration_ns = now_ns - r->start_ns;
		if (r->opts->duration_ns && now_ns - r->start_ns >= r->opts->duration_ns &&
		    !r->end_reason)
			r->end_reason = "duration";
		if (r->triggers.fired)
			want_snapshot(r, r->triggers.fired);
		r->triggers.fired = NULL;
		snapshot = snapshot_is_due(r, now_ns);
		if (!err && snapshot && r->walker)
			err = unwinder_settle(r->walker, r->wanted_ns + 1);
		if (!err && (snapshot || flush_is_due(r, now_ns - flushed_ns))) {
			raise_priority(r);
			err = recording_flush(r);
			flushed_ns = now_ns;
		}
		if (!err && snapshot)
			err = recording_snapshot(r);
		if (r->ui->tick && clock_is_due(&shown_ns, now_ns, FLUSH_NS)) {
			account_own_cost(&r->emit.account);
			r->ui->tick(r->ui->arg, &r->emit.account);
		}
		clock_pass(r, woke_ns);
		service_notify_alive(&r->manager, now_ns);
	}
	if (r->ui->stopping)
		r->ui->stopping(r->ui->arg);
	sigprocmask(SIG_SETMASK, &r->signals.mask, NULL);
	return err;
}
