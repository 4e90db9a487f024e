/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec dbus - calls and signals of a D-Bus from the time of a capture, put into it as marks */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/base/read_file.h"
#include "analyze/cmd/marks/added_marks.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/dbus/dbus_calls.h"
#include "analyze/dbus/dbus_capture.h"
#include "analyze/dbus/dbus_monitor.h"
#include "analyze/out/message.h"

#define FILE_MAX_BYTES ((uint64_t)1 << 30)
#define SYSTEM_BUS     "unix:path=/run/dbus/system_bus_socket"

struct dbus_opts {
	struct added_marks_options capture;
	const char *messages, *bus;
	struct dbus_monitor *monitor; /* of the bus */
};

#define AT(field) offsetof(struct dbus_opts, field)

static const struct option dbus_options[] = {
	ADDED_MARKS_OPTIONS(AT(capture)),
	{ OPT_STRING, 0, "messages", "FILE", AT(messages), 0, 0,
	  "what 'busctl capture' or 'dbus-monitor --pcap' wrote meanwhile" },
	{ OPT_STRING, 0, "bus", "BUS", AT(bus), 0, 0,
	  "listen to this bus until a line is read: system, session or an address" },
	{ 0 },
};

struct work {
	struct added_marks marks;
	struct dbus_calls *calls;
	const struct dbus_monitor
		*monitor; /* has the processes of senders; NULL: they are not known */
	uint64_t bad_count;
};

/* ---- marks ---- */

static struct added_marks marks_for(const struct added_marks_options *options)
{
	return (struct added_marks){ .options = options,
				     .group = "dbus",
				     .what = "calls and signals of D-Bus",
				     .fewer = "" };
}

static uint64_t end_of(const struct dbus_call *call)
{
	return call->time_ns + call->duration_ns;
}

static int put_call(struct work *work, const struct dbus_call *call)
{
	static const char *const states[] = {
		[DBUS_CALL_RETURNED] = "",
		[DBUS_CALL_OPEN] = ", no reply",
		[DBUS_CALL_ONE_WAY] = ", no reply wanted",
		[DBUS_CALL_SIGNAL] = "",
	};
	char name[2 * DBUS_NAME_MAX], text[3 * DBUS_NAME_MAX + 64];
	uint32_t pid = work->monitor ? dbus_monitor_pid(work->monitor, call->sender) : 0;
	const struct mark_record m = {
		.time_ns = end_of(call),
		.pid = pid,
		.tid = pid,
		.mark = { .duration_ns = call->duration_ns,
			  .kind = call->state == DBUS_CALL_RETURNED ? TRACE_DATA_MARK_SPAN
								    : TRACE_DATA_MARK_POINT,
			  .group = call->state == DBUS_CALL_SIGNAL ? "dbus:signal" : "dbus:call",
			  .name = name,
			  .message = text },
	};

	if (!time_span_has(&work->marks.span, m.time_ns))
		return 0;
	snprintf(name, sizeof(name), "%s%s%s", call->interface, *call->interface ? "." : "",
		 call->member);
	snprintf(text, sizeof(text), "from %s%s%s%s%s%s", call->sender,
		 *call->destination ? " to " : "", call->destination,
		 *call->error ? ", error " : "", call->error, states[call->state]);
	return added_marks_put(&work->marks, &m);
}

static int compare_ends(const void *va, const void *vb)
{
	uint64_t a = end_of(va), b = end_of(vb);

	return a < b ? -1 : a > b;
}

static int put_calls(void *arg)
{
	struct work *work = arg;
	size_t count = dbus_calls_count(work->calls);
	struct dbus_call *calls = calloc(count + 1, sizeof(*calls));
	int err = calls ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++)
		calls[i] = dbus_calls_at(work->calls, i);
	if (!err)
		qsort(calls, count, sizeof(*calls), compare_ends);
	for (size_t i = 0; !err && i < count; i++)
		err = put_call(work, &calls[i]);
	free(calls);
	return err;
}

static int write_calls(const struct dbus_opts *o, struct work *work)
{
	int err, status;

	work->marks.left_out_count = dbus_calls_dropped(work->calls, work->marks.span.from_ns);
	status = added_marks_write(&work->marks, put_calls, work, &err);
	if (err)
		return message_error("cannot put the messages into '%s': %s",
				     work->marks.options->input, strerror(-err));
	if (!status && work->bad_count)
		message_note("%" PRIu64 " messages of '%s' cannot be read, skipping",
			     work->bad_count, o->messages);
	return status;
}

/* ---- of a file ---- */

static int add_message(void *arg, uint64_t wall_ns, const struct dbus_message *m)
{
	struct work *work = arg;
	const struct added_marks *a = &work->marks;

	return dbus_calls_add(work->calls, a->mono_ns + (wall_ns - a->wall_ns), m);
}

static const char *capture_why(int err)
{
	switch (err) {
	case -EBADMSG:
		return "it is neither a pcap nor a pcapng file";
	case -EPROTONOSUPPORT:
		return "it has no messages of D-Bus";
	default:
		return strerror(-err);
	}
}

static int read_messages(const struct dbus_opts *o, struct work *work)
{
	struct dbus_capture_stats stats = { 0 };
	uint8_t *bytes = NULL;
	size_t size_bytes;
	int err = read_file_bytes(o->messages, FILE_MAX_BYTES, &bytes, &size_bytes);

	if (!err)
		err = dbus_capture_read(bytes, size_bytes, add_message, work, &stats);
	free(bytes);
	if (err)
		return message_error("cannot read messages of '%s': %s", o->messages,
				     capture_why(err));
	work->bad_count = stats.bad_count;
	if (stats.cut_bytes)
		message_note("'%s' is cut: its last %zu bytes are no complete message", o->messages,
			     stats.cut_bytes);
	return MESSAGE_OK;
}

static int put_file(const struct dbus_opts *o, struct work *work)
{
	int status;

	work->marks = marks_for(&o->capture);
	status = added_marks_open(&work->marks);
	if (!status)
		status = read_messages(o, work);
	if (!status)
		status = write_calls(o, work);
	added_marks_close(&work->marks);
	return status;
}

/* ---- of a bus ---- */

static int hear(void *arg, uint64_t time_ns, const struct dbus_message *m)
{
	struct work *work = arg;

	return dbus_calls_add(work->calls, time_ns, m);
}

static const char *address_of(const char *bus)
{
	const char *address;

	if (!strcmp(bus, "system")) {
		address = getenv("DBUS_SYSTEM_BUS_ADDRESS");
		return address ? address : SYSTEM_BUS;
	}
	return strcmp(bus, "session") != 0 ? bus : getenv("DBUS_SESSION_BUS_ADDRESS");
}

static const char *connect_why(int err)
{
	switch (err) {
	case -ENOENT:
	case -ECONNREFUSED:
		return "there is no such bus";
	case -EACCES:
		return "this user may not open its socket";
	case -EPERM:
	case -ECONNRESET:
	case -ENOTCONN:
		return "it refuses connections of this user (that of a session accepts its user)";
	default:
		return strerror(-err);
	}
}

static const char *bus_why(int err, enum dbus_monitor_step step)
{
	if (step == DBUS_MONITOR_LOADS)
		return added_marks_library_why(err);
	if (step == DBUS_MONITOR_CONNECTS)
		return connect_why(err);
	return err == -EACCES || err == -EPERM
		       ? "it does not let this user listen (that of the system lets root, that "
			 "of a session its user)"
		       : strerror(-err);
}

static int connect_bus(struct dbus_opts *o)
{
	const char *address = address_of(o->bus);
	enum dbus_monitor_step step;
	int err;

	if (!address)
		return message_error(
			"cannot listen to the bus of the session: DBUS_SESSION_BUS_ADDRESS is not "
			"set (sudo -E keeps it, or give the address)");
	err = dbus_monitor_new(address, &o->monitor, &step);
	return err ? message_error("cannot listen to the bus '%s': %s", o->bus, bus_why(err, step))
		   : MESSAGE_OK;
}

/* The captures that get the messages: FILE, or FILE.FIRST to FILE.LAST where 0 is FILE. */
struct request {
	unsigned first, last;
};

/* A line of standard input: nothing, or "FIRST LAST".  false: it ends without one. */
static bool read_request(struct request *out)
{
	char line[32] = "";
	size_t used = 0;
	ssize_t n;

	do {
		n = read(STDIN_FILENO, line + used, 1);
		used += n > 0 && used + 1 < sizeof(line);
	} while ((n < 0 && errno == EINTR) || (n > 0 && line[used - 1] != '\n'));
	*out = (struct request){ 0, 0 };
	line[used] = '\0';
	if (sscanf(line, "%u %u", &out->first, &out->last) != 2)
		*out = (struct request){ 0, 0 };
	return n > 0;
}

static int put_calls_into(const struct dbus_opts *o, struct work *work, const char *path)
{
	struct added_marks_options options = o->capture;
	int status;

	options.input = path;
	work->marks = marks_for(&options);
	status = added_marks_open(&work->marks);
	if (!status)
		status = write_calls(o, work);
	added_marks_close(&work->marks);
	return status;
}

/* One of several, which may have been moved away meanwhile. */
static int put_calls_into_numbered(const struct dbus_opts *o, struct work *work, unsigned number)
{
	char *path = NULL;
	int status = MESSAGE_OK;

	if (!number && access(o->capture.input, F_OK))
		return MESSAGE_OK;
	if (!number)
		return put_calls_into(o, work, o->capture.input);
	if (asprintf(&path, "%s.%u", o->capture.input, number) < 0)
		return message_error("cannot write marks: %s", strerror(ENOMEM));
	if (!access(path, F_OK))
		status = put_calls_into(o, work, path);
	free(path);
	return status;
}

/* A line of standard input ends it; where that ends without one, the recording has failed. */
static int put_bus(const struct dbus_opts *o, struct work *work)
{
	struct request request;
	int err, status = MESSAGE_OK;

	if (puts("listening") == EOF || fflush(stdout))
		return message_error("cannot write to standard output: %s", strerror(errno));
	err = dbus_monitor_run(o->monitor, STDIN_FILENO, hear, work);
	if (err)
		message_note("the bus '%s' was heard until it ended: %s", o->bus, strerror(-err));
	if (!read_request(&request))
		return MESSAGE_OK;
	if (!request.last)
		return put_calls_into(o, work, o->capture.input);
	for (uint64_t i = request.first; i <= request.last; i++) {
		int failed = put_calls_into_numbered(o, work, (unsigned)i);

		status = status ? status : failed;
	}
	return status;
}

/* ---- both ---- */

static int prepare(void *opts);

static const struct usage dbus_usage = {
	.command = "dbus",
	.words = "[OPTIONS] [[-i] FILE]",
	.about = "Puts calls of D-Bus from the time of a capture into it, as spans 'dbus:call'\n"
		 "from the call to its reply, and signals as marks 'dbus:signal', without\n"
		 "what they contain.  'ebprec record --with dbus' listens meanwhile.\n",
	.options = dbus_options,
	.reads = USAGE_REPLACES,
	.reads_output = true,
	.starts = prepare,
};

static int prepare(void *opts)
{
	struct dbus_opts *o = opts;

	if (!o->bus == !o->messages)
		return usage_error(&dbus_usage,
				   "'ebprec dbus' needs '--messages FILE' or '--bus BUS'");
	return o->bus ? connect_bus(o) : MESSAGE_OK;
}

static int run(const struct dbus_opts *o, struct work *work)
{
	int status = MESSAGE_OK;

	work->monitor = o->monitor;
	if (dbus_calls_new(&work->calls))
		status = message_error("cannot join messages: %s", strerror(ENOMEM));
	if (!status)
		status = o->bus ? put_bus(o, work) : put_file(o, work);
	dbus_calls_free(work->calls);
	return status;
}

int cmd_dbus(int argc, char **argv)
{
	struct dbus_opts opts = { 0 };
	struct work work = { 0 };
	char **words;
	int status;

	if (!usage_parse(&dbus_usage, &opts, argc, argv, 0, 1, &words, &status)) {
		dbus_monitor_free(opts.monitor);
		return status;
	}
	status = added_marks_input(&opts.capture, &dbus_usage, words);
	if (!status && !strcmp(opts.capture.input, "-") && opts.bus)
		status = usage_error(&dbus_usage,
				     "options '--input -' and '--bus' exclude each other");
	if (!status)
		status = run(&opts, &work);
	dbus_monitor_free(opts.monitor);
	return status;
}
