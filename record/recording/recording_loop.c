/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/recording/recording_priv.h"

#define SIDE_NS \
	10000000ULL /* the rings are looked at this often when programs start; see side_ns() */
#define SIDE_MAX_NS  50000000ULL
#define FLUSH_BYTES  (8u << 20)
#define FLUSH_MIN_NS 250000000ULL /* rounds are further apart than any event is late */

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
	struct itimerspec every = { .it_interval.tv_nsec = RECORDING_PASS_NS,
				    .it_value.tv_nsec = RECORDING_PASS_NS };

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
	uint64_t most_ns = sideband_holds_back(r->sideband) ? RECORDING_LATE_NS : RECORDING_PASS_NS;

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
	return r->wanted && (r->end_reason || now_ns - r->wanted_ns >= RECORDING_FLUSH_NS ||
			     !r->walker || unwinder_oldest_ns(r->walker) > r->wanted_ns);
}

static bool flush_is_due(const struct recording *r, uint64_t since_ns)
{
	return since_ns >= RECORDING_FLUSH_NS - RECORDING_PASS_NS ||
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
		if (r->ui->tick && clock_is_due(&shown_ns, now_ns, RECORDING_FLUSH_NS)) {
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
