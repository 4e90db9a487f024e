/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/marks/added_marks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/base/result_file.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/marks.h"
#include "analyze/out/message.h"
#include "analyze/rewrite/rewrite.h"

/* A group or the first part of one: "log" of "log:err". */
static bool is_of_group(const char *group, const char *name)
{
	size_t bytes = strlen(name);

	return !strncmp(group, name, bytes) && group[bytes] == ':';
}

/* A second time, each mark would be there twice. */
static int has_marks(const struct added_marks *a, bool *out)
{
	struct string_table *names;
	struct marks marks;
	int err = string_table_new(&names);

	*out = false;
	if (err)
		return err;
	err = marks_load(a->capture, names, &marks);
	for (size_t i = 0; !err && i < marks.count; i++)
		*out |= is_of_group(string_table_text(names, marks.marks[i].group), a->group);
	if (!err)
		marks_done(&marks);
	string_table_free(names);
	return err;
}

static int find_times(struct added_marks *a)
{
	struct time_span room;
	const struct time_span *span = cmd_span(a->capture, &room);
	bool has = false;
	int err = has_marks(a, &has);

	if (err)
		return message_error("cannot read '%s': %s", a->options->input, strerror(-err));
	if (has)
		return message_error("cannot add to '%s': it has %s already", a->options->input,
				     a->what);
	a->attr = event_iter_find(a->capture, TRACE_DATA_MARK_ID);
	if (capture_get_kind(a->capture) != CAPTURE_EBX || !a->attr)
		return message_error(
			"cannot add to '%s': it has no event for marks (was it recorded "
			"by perf, or --without mark?)",
			a->options->input);
	if (!span || !capture_clock(a->capture, &a->mono_ns, &a->wall_ns))
		return message_error("cannot add to '%s': it does not have the time of day",
				     a->options->input);
	a->span = *span;
	if (capture_meta_segment(a->capture, &a->span))
		return MESSAGE_OK;
	capture_meta_extend_back(a->capture, &a->span);
	capture_meta_extend(a->capture, &a->span);
	return MESSAGE_OK;
}

int added_marks_input(struct added_marks_options *o, const struct usage *usage, char **words)
{
	int status = cmd_input(usage, words, &o->input);

	if (!status && !strcmp(o->input, "-") && !o->output)
		status = usage_error(usage, "standard input needs '--output FILE'");
	return status;
}

const char *added_marks_library_why(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no libsystemd.so.0 (Debian: libsystemd0)";
	case -ENOTSUP:
		return "a static program cannot load libsystemd.so.0";
	default:
		return strerror(-err);
	}
}

int added_marks_open(struct added_marks *a)
{
	int status = cmd_open_capture(a->options->input, &a->capture);

	if (!status && a->options->output)
		status = cmd_new_capture(a->capture, a->options->input, a->options->output);
	return status ? status : find_times(a);
}

void added_marks_close(struct added_marks *a)
{
	if (a->capture)
		capture_close(a->capture);
	a->capture = NULL;
}

int added_marks_put(struct added_marks *a, const struct mark_record *m)
{
	_Alignas(8) uint8_t record[MARK_RECORD_BYTES_MAX];
	size_t bytes;

	if (a->count == ADDED_MARKS_MAX) {
		a->left_out_count++;
		return 0;
	}
	bytes = mark_record_encode(a->attr, m, record);
	a->count++;
	a->write_err = bytes ? writer_record(a->w, EBX_STREAM_MARK, record, bytes, m->time_ns, 0)
			     : -ENOTSUP;
	return a->write_err;
}

struct filling {
	struct added_marks *marks;
	int (*fill)(void *arg);
	void *arg;
	int err;
};

static int fill_capture(void *arg, struct writer *w)
{
	struct filling *f = arg;
	int err;

	f->marks->w = w;
	err = f->fill(f->arg);
	if (!f->marks->write_err)
		f->err = err;
	return err;
}

int added_marks_write(struct added_marks *a, int (*fill)(void *arg), void *arg, int *fill_err)
{
	const char *output = a->options->output ? a->options->output : a->options->input;
	struct filling filling = { a, fill, arg, 0 };
	struct rewrite_opts how = { .add = fill_capture, .add_arg = &filling };
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status = cmd_begin_capture(output, false, &to);

	*fill_err = 0;
	if (status)
		return status;
	err = rewrite_capture(a->capture, result_file_fd(to), &how, &stats);
	if (err) {
		result_file_abort(to);
		*fill_err = filling.err;
		return filling.err ? MESSAGE_FAILED : message_cannot_write(output, err);
	}
	status = cmd_place_capture(to, output, !a->options->output, a->options->quiet);
	if (!status && a->left_out_count)
		message_note("%" PRIu64 " %s are left out: a capture gets at most %d%s",
			     a->left_out_count, a->what, ADDED_MARKS_MAX, a->fewer);
	if (!status && !a->options->quiet)
		message_note("%s '%s': %" PRIu64 " %s", a->options->output ? "wrote" : "replaced",
			     output, a->count, a->what);
	return status;
}
