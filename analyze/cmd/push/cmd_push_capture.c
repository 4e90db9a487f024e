/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A capture becomes batches. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/push/cmd_push.h"
#include "analyze/input/event/event_of.h"
#include "analyze/out/message.h"
#include "analyze/push/encode.h"
#include "analyze/push/points.h"
#include "analyze/push/samples.h"
#include "format/perf/perffile.h"

#define NS_PER_SECOND 1000000000u

/* Whether it is waited for, once it sends.  It is printed once. */
static bool waits_for(struct push_state *p, enum push_place place, int err, const char *why)
{
	if (!p->opts->follow || !p->sender || (err != -EAGAIN && err != -ENOSPC && err != -EDQUOT))
		return false;
	if (!(p->reported & place))
		message_error("cannot write %s '%s/%s': %s (it goes on when it can)",
			      place == PUSH_PLACE_LEDGER ? "the ledger" : "batches to",
			      p->opts->folder, place == PUSH_PLACE_LEDGER ? "push.sqlite" : "out",
			      why);
	p->reported |= place;
	p->blocked = true;
	return true;
}

int push_ledger_error(struct push_state *p, int err)
{
	const char *why = err == -EIO || err == -EAGAIN ? push_ledger_problem(p->ledger)
							: strerror(-err);

	return waits_for(p, PUSH_PLACE_LEDGER, err, why)
		       ? MESSAGE_FAILED
		       : message_error("cannot write the ledger '%s/push.sqlite': %s",
				       p->opts->folder, why);
}

static bool is_clock(const char *event)
{
	return !strncmp(event, "cpu-clock", 9) || !strncmp(event, "task-clock", 10);
}

/* One name for what a sampled clock and sampled cycles count; what they weigh differs. */
static void name_weight(const struct capture_attr *attr, struct push_source *source)
{
	const char *name = event_name(attr);

	source->event = !strncmp(name, "cycles", 6) || is_clock(name) ? "cpu" : name;
	source->weight_type = is_clock(name) ? "cpu" : name;
	source->weight_unit = is_clock(name) ? "nanoseconds" : "count";
	if (is_clock(name) && attr->attr.freq && attr->attr.sample_freq)
		source->period_ns = NS_PER_SECOND / attr->attr.sample_freq;
}

static int encode_for(struct push_state *p, size_t i, const char *path,
		      const struct push_source *source, uint64_t *added)
{
	uint64_t count;
	int err = push_encode(p->ledger, &p->targets[i], p->ids[i], p->out, source, &count);

	if (!err) {
		p->reported = 0;
		*added += count;
		if (!count && !p->opts->quiet)
			message_note(
				p->targets[i].form->takes_metrics
					? "'%s' has no tables of instruments, nothing goes to '%s'"
					: "'%s' has no samples, nothing goes to '%s'",
				path, p->targets[i].name);
		return 0;
	}
	if (err == -EIO || err == -EAGAIN)
		return push_ledger_error(p, err);
	if (waits_for(p, PUSH_PLACE_OUT, err, strerror(-err)))
		return MESSAGE_FAILED;
	return message_error("cannot write the batches of '%s' to '%s': %s", path, p->out,
			     strerror(-err));
}

static int make_samples(struct push_state *p, const char *path, struct report *r,
			struct push_source *source, struct push_samples *samples)
{
	size_t count;
	struct picked picked;
	const bool quiet = p->opts->quiet || p->reported; /* it was made before, and not written */
	int err, status = pick_options_parse(&p->opts->pick, p->usage, &picked);

	if (status)
		return status;
	status = pick_options_resolve(&p->opts->pick, p->usage, path, quiet, r, &picked);
	if (!status) {
		picked.query.fields = PUSH_GROUPS;
		picked.query.quantum_ns = p->opts->interval_ns;
		picked.query.with_sources = true;
		err = report_make(r, &picked.query);
		if (!err)
			err = push_samples_make(r, samples);
		name_weight(&capture_attrs(r->capture, &count)[picked.query.attr], source);
		if (r->scan.attr_lost)
			source->lost = r->scan.attr_lost[picked.query.attr];
		if (err)
			status = message_error("cannot push '%s': %s", path, strerror(-err));
		else if (!quiet)
			print_quality_losses(r, path);
	}
	pick_options_done(&picked);
	return status;
}

/* Whether one of the wanted targets takes metrics, or else samples. */
static bool has_form(const struct push_state *p, uint64_t wanted, bool takes_metrics)
{
	for (size_t i = 0; i < p->count; i++)
		if (wanted & 1ull << i && p->targets[i].form->takes_metrics == takes_metrics)
			return true;
	return false;
}

/* Points before samples: a report that was made has no model any more. */
static int encode_open(struct push_state *p, const char *path, struct cmd_open *in,
		       struct push_source *source, uint64_t wanted, uint64_t *added)
{
	struct push_samples samples = { 0 };
	struct push_points points = { 0 };
	struct report *r = &in->report;
	int status = 0;

	if (has_form(p, wanted, true) &&
	    push_points_make(in->capture, r->names, r->model, source->to_wall_ns, &points))
		status = message_error("cannot push '%s': %s", path, strerror(ENOMEM));
	if (!status && source->has_samples && has_form(p, wanted, false))
		status = make_samples(p, path, r, source, &samples);
	source->samples = &samples;
	source->points = &points;
	for (size_t i = 0; i < p->count && !status; i++)
		if (wanted & 1ull << i)
			status = encode_for(p, i, path, source, added);
	push_samples_done(&samples);
	push_points_done(&points);
	return status;
}

/* A bit for each target that has not had it; and of those, that there is room for. */
static int find_wanted(struct push_state *p, const char *identity, uint64_t *missing,
		       uint64_t *wanted)
{
	bool has;
	int err = 0;

	*missing = 0;
	for (size_t i = 0; i < p->count && !err; i++) {
		err = push_ledger_has_capture(p->ledger, p->ids[i], identity, &has);
		if (!err && !has)
			*missing |= 1ull << i;
	}
	*wanted = *missing & ~p->full;
	return err ? push_ledger_error(p, err) : 0;
}

/* The time of its samples; false: it has none, and where its records are stands for that. */
static bool span_of(const struct cmd_open *in, struct time_span *out)
{
	const struct time_span *span = report_span(&in->report);

	if (span)
		*out = *span;
	else
		capture_data_range(in->capture, &out->from_ns, &out->to_ns);
	return span;
}

static int encode_capture(struct push_state *p, const char *path, struct cmd_open *in,
			  uint64_t *added)
{
	const struct capture *c = in->capture;
	const char *host = p->opts->host ? p->opts->host
					 : capture_feature_string(c, PERFFILE_HOSTNAME);
	struct push_source source = { .interval_ns = p->opts->interval_ns };
	struct time_span span;
	uint64_t sample_ns, wall_ns, missing = 0, wanted = 0;
	char *name;
	int status;

	if (!capture_clock(c, &sample_ns, &wall_ns))
		return message_error("cannot push '%s': it does not have the time of day", path);
	source.has_samples = span_of(in, &span);
	name = push_host_name(host);
	source.host = name;
	source.to_wall_ns = wall_ns - sample_ns;
	source.end_ns = span.to_ns;
	source.identity = name ? push_identity(c, name, &span, source.to_wall_ns) : NULL;
	status = source.identity ? find_wanted(p, source.identity, &missing, &wanted)
				 : message_error("cannot push '%s': %s", path, strerror(ENOMEM));
	if (!status && wanted)
		status = encode_open(p, path, in, &source, wanted, added);
	else if (!status && !missing && !p->opts->follow && !p->opts->quiet)
		message_note("'%s' was pushed before, skipping", path);
	free(source.identity);
	free(name);
	return status;
}

int push_capture(struct push_state *p, const char *path, uint64_t *added, enum push_file *what)
{
	struct cmd_open in;
	int status = cmd_open(path, "push", true, &in);

	*what = status ? PUSH_FILE_UNREADABLE : PUSH_FILE_COMPLETE;
	if (status)
		return status;
	if (capture_damage(in.capture)->unfinished)
		*what = PUSH_FILE_UNFINISHED;
	else
		status = encode_capture(p, path, &in, added);
	cmd_close(&in);
	return status;
}
