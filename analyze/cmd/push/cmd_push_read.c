/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * A capture becomes batches: in a process of its own, which is confined before it opens the capture, without network and secrets,
 * and ends with it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/cmd/push/cmd_push.h"
#include "analyze/input/event/event_of.h"
#include "analyze/out/message.h"
#include "analyze/push/encode.h"
#include "analyze/push/messages.h"
#include "analyze/push/points.h"
#include "analyze/push/samples.h"
#include "format/base/mmap_array.h"
#include "format/perf/perffile.h"

#define NS_PER_SECOND 1000000000u

/* The options that name what the reader may read. */
static const struct option reader_options[] = {
	{ OPT_STRING, 0, "service-rules", "FILE", offsetof(struct push_opts, pick.service_rules), 0,
	  0, "" },
	NAMEOPTS(offsetof(struct push_opts, pick.names)),
	{ 0 },
};

static const struct usage reader_usage = {
	.command = "push",
	.words = "",
	.about = "",
	.options = reader_options,
	.reads = USAGE_READS,
};

/* One capture. */
struct reading {
	struct push_opts opts;
	struct push_target targets[OPTION_LIST_MAX]; /* without secrets */
	size_t count;
	const char *path;
	bool quiet;
	int socket;
	uint64_t wanted
		[1 +
		 OPTION_LIST_MAX]; /* the sender's number, the first number of each target; 0: not wanted */
	uint32_t target;           /* whose batches are made */
};

static bool is_clock(const char *event)
{
	return !strncmp(event, "cpu-clock", 9) || !strncmp(event, "task-clock", 10);
}

/* One name for what a sampled clock and sampled cycles count; what they weigh differs. */
static void name_samples(const struct capture_attr *attr, struct push_counted *counted)
{
	const char *name = event_name(attr);

	counted->event = !strncmp(name, "cycles", 6) || is_clock(name) ? "cpu" : name;
	counted->count_type = "samples";
	counted->weight_type = is_clock(name) ? "cpu" : name;
	counted->weight_unit = is_clock(name) ? "nanoseconds" : "count";
	if (is_clock(name) && attr->attr.freq && attr->attr.sample_freq)
		counted->period_ns = NS_PER_SECOND / attr->attr.sample_freq;
}

static int give_batch(void *arg, const struct push_batch *b)
{
	const struct reading *r = arg;
	struct outbuf bytes = { 0 };
	int err = push_batch_encode(b, &bytes);

	if (!err)
		err = push_message_send(r->socket, PUSH_MESSAGE_BATCH, r->target, 0, bytes.data,
					bytes.size_bytes);
	outbuf_done(&bytes);
	return err;
}

static int encode_for(struct reading *r, uint32_t target, const struct push_source *source)
{
	uint64_t count;
	int err;

	r->target = target;
	err = push_encode(&r->targets[target], source, r->wanted[0], r->wanted[1 + target],
			  give_batch, r, &count);
	if (!err)
		err = push_message_send(r->socket, PUSH_MESSAGE_END, target, count, NULL, 0);
	/* The sender had a reason to leave, and printed it. */
	return !err || err == -EPIPE || err == -ECONNRESET
		       ? 0
		       : message_error("cannot push '%s': %s", r->path, strerror(-err));
}

/* Samples of an event, and waits: as many lists as a capture has. */
#define COUNTED_MAX 2

/* The lists of a capture, and the report that has the texts of its waits. */
struct counting {
	struct push_counted list[COUNTED_MAX];
	size_t count;
	struct report waits; /* beside that of the samples; without capture: none */
};

static int count_samples(struct report *r, const struct report_query *query, struct counting *out)
{
	struct push_counted *counted = &out->list[out->count];
	size_t attr_count;
	int err = report_make(r, query);

	if (!err)
		err = push_samples_make(r, &counted->samples);
	if (err)
		return err;
	name_samples(&capture_attrs(r->capture, &attr_count)[query->attr], counted);
	if (r->scan.attr_lost)
		counted->lost = r->scan.attr_lost[query->attr];
	out->count++;
	return 0;
}

/* How long threads waited, and for what.  A capture without switches has none. */
static int count_waits(const struct report *samples, const struct report_query *query,
		       struct counting *out)
{
	struct push_counted *counted = &out->list[out->count];
	struct report_query how = *query;
	struct report *r = &out->waits;
	int err = report_open_beside(samples, r);

	how.off_cpu = how.exact_waits = how.no_quality = true;
	how.keep_model = false;
	if (!err)
		err = report_make(r, &how);
	if (err)
		return err == -ENODATA ? 0 : err;
	err = push_samples_make(r, &counted->samples);
	if (err)
		return err;
	counted->event = PUSH_WAITS;
	counted->count_type = "waits";
	counted->weight_type = PUSH_WAITS;
	counted->weight_unit = "nanoseconds";
	counted->lost = r->waits.facts.lost;
	out->count++;
	return 0;
}

static int count_all(struct reading *p, struct report *r, bool has_samples, struct counting *out)
{
	struct picked picked;
	const char *path = p->path;
	int err, status = pick_options_parse(&p->opts.pick, &reader_usage, &picked);

	if (status)
		return status;
	status = pick_options_resolve(&p->opts.pick, &reader_usage, path, p->quiet, r, &picked);
	if (!status) {
		picked.query.fields = PUSH_GROUPS;
		picked.query.quantum_ns = p->opts.interval_ns;
		picked.query.with_sources = true;
		picked.query.keep_model = p->opts.waits;
		err = has_samples ? count_samples(r, &picked.query, out) : 0;
		if (!err && p->opts.waits)
			err = count_waits(r, &picked.query, out);
		if (err)
			status = message_error("cannot push '%s': %s", path, strerror(-err));
		else if (!p->quiet)
			print_quality_losses(r, path);
	}
	pick_options_done(&picked);
	return status;
}

static void counting_done(struct counting *c)
{
	for (size_t i = 0; i < c->count; i++)
		push_samples_done(&c->list[i].samples);
	if (c->waits.capture)
		report_done(&c->waits);
}

/* Whether one of the wanted targets takes metrics, or else samples. */
static bool has_form(const struct reading *r, bool takes_metrics)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->wanted[1 + i] && r->targets[i].form->takes_metrics == takes_metrics)
			return true;
	return false;
}

/* Points before samples: a report that was made has no model any more. */
static int encode_open(struct reading *p, struct cmd_open *in, struct push_source *source)
{
	struct counting counting = { .count = 0 };
	struct push_points points = { 0 };
	struct report *r = &in->report;
	int status = 0;

	if (has_form(p, true) && push_points_make(in->capture, r->names, r->model,
						  source->to_wall_ns, source->labels, &points))
		status = message_error("cannot push '%s': %s", p->path, strerror(ENOMEM));
	if (!status && has_form(p, false))
		status = count_all(p, r, source->end_ns != UINT64_MAX, &counting);
	source->counted = counting.list;
	source->counted_count = counting.count;
	source->points = &points;
	for (uint32_t i = 0; i < p->count && !status; i++)
		if (p->wanted[1 + i])
			status = encode_for(p, i, source);
	counting_done(&counting);
	push_points_done(&points);
	return status;
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

/* Sends the identity of the capture, and receives which targets want it.  -ENODATA: none. */
static int ask_wanted(struct reading *r, const struct push_source *source)
{
	struct outbuf text = { 0 };
	struct push_message m = { 0 };
	uint64_t some = 0;
	int err;

	outbuf_add(&text, source->host, strlen(source->host) + 1);
	outbuf_add(&text, source->identity, strlen(source->identity) + 1);
	err = text.bad ? -ENOMEM
		       : push_message_send(r->socket, PUSH_MESSAGE_CAPTURE, 0, 0, text.data,
					   text.size_bytes);
	if (!err)
		err = push_message_receive(r->socket, &m);
	if (!err && m.bytes.size_bytes != (1 + r->count) * sizeof(uint64_t))
		err = -ENODATA;
	if (!err)
		memcpy(r->wanted, m.bytes.data, m.bytes.size_bytes);
	for (size_t i = 0; i < r->count; i++)
		some |= r->wanted[1 + i];
	outbuf_done(&text);
	outbuf_done(&m.bytes);
	return err ? err : some ? 0 : -ENODATA;
}

static int encode_capture(struct reading *r, struct cmd_open *in)
{
	const struct capture *c = in->capture;
	const char *host = r->opts.host ? r->opts.host
					: capture_feature_string(c, PERFFILE_HOSTNAME);
	struct push_source source = { .interval_ns = r->opts.interval_ns,
				      .labels = &r->opts.host_labels };
	struct time_span span;
	uint64_t sample_ns, wall_ns;
	char *name;
	int status = 0;

	if (!capture_clock(c, &sample_ns, &wall_ns))
		return message_error("cannot push '%s': it does not have the time of day", r->path);
	source.end_ns = span_of(in, &span) ? span.to_ns : UINT64_MAX;
	name = push_host_name(host);
	source.host = name;
	source.to_wall_ns = wall_ns - sample_ns;
	source.identity = name ? push_identity(c, name, &span, source.to_wall_ns) : NULL;
	if (!source.identity)
		status = message_error("cannot push '%s': %s", r->path, strerror(ENOMEM));
	else if (!ask_wanted(r, &source))
		status = encode_open(r, in, &source);
	free(source.identity);
	free(name);
	return status;
}

static int read_capture(struct reading *r)
{
	enum push_file file = PUSH_FILE_COMPLETE;
	struct cmd_open in;
	int status = cmd_open(r->path, "push", true, &in);

	if (status)
		return PUSH_READ_STATUS(status, PUSH_FILE_UNREADABLE);
	if (capture_damage(in.capture)->unfinished)
		file = PUSH_FILE_UNFINISHED;
	else
		status = encode_capture(r, &in);
	cmd_close(&in);
	return PUSH_READ_STATUS(status, file);
}

int push_read(void *arg, const char *path, unsigned flags, int socket)
{
	const struct push_opts *opts = arg;
	struct reading r = {
		.opts = *opts, .socket = socket, .path = path, .quiet = flags & PUSH_READ_QUIET
	};
	char *words[] = { (char *)(uintptr_t)path, NULL };
	const char *problem;

	mmap_array_tune();
	for (; r.count < opts->to.count; r.count++)
		if (push_target_parse(opts->to.values[r.count], &r.targets[r.count], &problem))
			return MESSAGE_FAILED; /* the sender looked before */
	if (!confine(&reader_usage, &r.opts, words))
		return PUSH_READ_STATUS(MESSAGE_FAILED, PUSH_FILE_UNREADABLE);
	return read_capture(&r);
}
