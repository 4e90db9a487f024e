/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec info - everything that is inside a file */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cmd/open_report.h"
#include "analyze/cmd/commands.h"
#include "analyze/input/perf_features.h"
#include "analyze/out/json_text.h"
#include "analyze/out/message.h"
#include "analyze/input/capture_stats.h"
#include "analyze/input/time_span.h"
#include "analyze/cmd/usage.h"
#include "analyze/out/text_table.h"
#include "format/base/cursor.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct info_opts {
	const char *input, *extract;
	bool json, objects, frames;
};

static const struct option info_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", offsetof(struct info_opts, input), 0, 0,
	  "the capture or perf.data file, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "json", NULL, offsetof(struct info_opts, json), 0, 0,
	  "the same facts as JSON" },
	{ OPT_FLAG, 0, "frames", NULL, offsetof(struct info_opts, frames), 0, 0,
	  "list the frames one by one" },
	{ OPT_FLAG, 0, "objects", NULL, offsetof(struct info_opts, objects), 0, 0,
	  "list the embedded objects one by one" },
	{ OPT_STRING, 0, "extract", "NAME", offsetof(struct info_opts, extract), 0, 0,
	  "write this embedded file to standard output, and nothing else" },
	{ 0 },
};

static const struct usage info_usage = {
	.command = "info",
	.words = "[--json] [--frames] [--objects] [--extract NAME] [[-i] FILE]",
	.about = "Shows everything that is inside a capture, or any perf.data file: the machine,\n"
		 "the events, what was recorded, what was lost, and what is broken.\n",
	.options = info_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* ---- the file ---- */

static void show_uuid(struct view *v, const uint8_t uuid[16])
{
	char text[37], *to = text;

	for (int i = 0; i < 16; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      uuid[i]);
	view_text(v, "uuid", text);
}

static void show_file(struct view *v, const struct capture *c, const char *path)
{
	static const char *const kinds[] = {
		[CAPTURE_EBX] = "ebprec capture",
		[CAPTURE_PERF] = "perf.data",
		[CAPTURE_PIPE] = "perf.data, pipe mode",
	};
	static const char *const states[] = {
		[EBX_LIVE] = "unfinished",
		[EBX_CLEAN] = "finished",
		[EBX_RECOVERED] = "recovered",
	};
	const struct ebx_super *super = capture_super(c);

	view_section(v, "file");
	view_text(v, "path", path);
	view_size(v, "size", capture_file_bytes(c));
	view_text(v, "kind", kinds[capture_get_kind(c)]);
	if (!super)
		return;
	view_number(v, "version", super->version);
	view_text(v, "state", super->state < COUNT_OF(states) ? states[super->state] : "unknown");
	show_uuid(v, super->uuid);
}

static void show_time(struct view *v, const struct capture *c)
{
	uint64_t sample_ns, wall_ns;
	struct timespan span;
	bool clock = capture_clock(c, &sample_ns, &wall_ns);

	view_section(v, "time");
	if (clock) {
		view_wall_ns(v, "anchor_wall", wall_ns);
		view_ns(v, "anchor_clock", sample_ns);
	}
	if (timespan_of_capture(c, &span))
		return;
	view_ns(v, "first_sample", span.from_ns);
	view_ns(v, "last_sample", span.to_ns);
	view_ns(v, "duration", span.to_ns - span.from_ns);
	if (clock)
		view_wall_ns(v, "began", wall_ns + (span.from_ns - sample_ns));
}

/* ---- the machine ---- */

static void show_cpus(struct view *v, const struct capture *c)
{
	uint32_t available, online;

	if (feature_cpus(c, &available, &online))
		return;
	view_number(v, "cpus", available);
	view_number(v, "cpus_online", online);
}

static void show_machine(struct view *v, const struct capture *c)
{
	static const struct {
		unsigned bit;
		const char *key;
	} strings[] = {
		{ PERFFILE_HOSTNAME, "host" }, { PERFFILE_OSRELEASE, "kernel" },
		{ PERFFILE_ARCH, "arch" },     { PERFFILE_CPUDESC, "cpu" },
		{ PERFFILE_CPUID, "cpu_id" },  { PERFFILE_VERSION, "recorder" },
	};
	uint64_t memory_bytes;
	uint32_t id_count;
	const char *text;
	char *command;

	view_section(v, "machine");
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		text = capture_feature_string(c, strings[i].bit);
		if (text)
			view_text(v, strings[i].key, text);
	}
	show_cpus(v, c);
	if (!feature_memory(c, &memory_bytes))
		view_size(v, "memory", memory_bytes);
	if (!feature_build_ids(c, &id_count))
		view_number(v, "files_with_id", id_count);
	if (!feature_command_line(c, &command)) {
		view_text(v, "command_line", command);
		free(command);
	}
}

static void show_features(struct view *v, const struct capture *c)
{
	static const char *const columns[] = { "section", "size" };
	struct capture_bytes b;
	char number[8];
	unsigned bit;

	view_table(v, "sections", columns, COUNT_OF(columns));
	for (bit = 0; bit < PERFFILE_FEATURE_BITS; bit++) {
		b = capture_feature(c, bit);
		if (!b.data)
			continue;
		snprintf(number, sizeof(number), "%u", bit);
		view_row(v);
		view_text(v, "section", feature_name(bit) ? feature_name(bit) : number);
		view_size(v, "size", b.size_bytes);
	}
	view_table_end(v);
}

/* ---- events ---- */

static void show_fields(struct view *v, uint64_t sample_type)
{
	static const char *const names[] = {
		"ip",        "tid",          "time",        "addr",       "read",
		"callchain", "id",           "cpu",         "period",     "stream_id",
		"raw",       "branch_stack", "regs_user",   "stack_user", "weight",
		"data_src",  "identifier",   "transaction", "regs_intr",  "phys_addr",
		"aux",       "cgroup",       "data_page",   "code_page",  "weight_struct",
	};
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (sample_type >> i & 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? "," : "", names[i]);
	}
	view_text(v, "fields", text);
}

static void show_events(struct view *v, const struct capture *c, const struct tally *t)
{
	static const char *const columns[] = { "name",   "type",    "config", "frequency",
					       "period", "samples", "lost",   "fields" };
	static const char *const types[] = { "hardware", "software", "tracepoint",
					     "cache",    "raw",      "breakpoint" };
	const struct perf_event_attr *a;
	char number[16];
	size_t i, count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	view_table(v, "events", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++) {
		a = &attrs[i].attr;
		snprintf(number, sizeof(number), "%u", a->type);
		view_row(v);
		view_text(v, "name", attrs[i].name);
		view_text(v, "type", a->type < COUNT_OF(types) ? types[a->type] : number);
		view_number(v, "config", a->config);
		view_number(v, "frequency", a->freq ? a->sample_freq : 0);
		view_number(v, "period", a->freq ? 0 : a->sample_period);
		view_number(v, "samples", t->attrs[i].sample_count);
		view_number(v, "lost", t->attrs[i].lost_count);
		show_fields(v, a->sample_type);
	}
	view_table_end(v);
}

/* ---- what was recorded ---- */

static void show_ratio(struct view *v, uint64_t raw_bytes, uint64_t file_bytes)
{
	char text[24] = "-";

	if (raw_bytes && file_bytes)
		snprintf(text, sizeof(text), "%.2f", (double)raw_bytes / (double)file_bytes);
	view_measure(v, "ratio", text);
}

static void show_streams(struct view *v, const struct tally *t)
{
	static const char *const columns[] = { "stream", "frames", "records", "samples",
					       "raw",    "stored", "ratio" };
	const struct tally_stream *s;
	unsigned i;

	view_table(v, "frames", columns, COUNT_OF(columns));
	for (i = 0; i < EBX_STREAM_END; i++) {
		s = &t->streams[i];
		if (!s->frame_count)
			continue;
		view_row(v);
		view_text(v, "stream", i ? ebx_stream_name(i) : "mixed");
		view_number(v, "frames", s->frame_count);
		view_number(v, "records", s->record_count);
		view_number(v, "samples", s->sample_count);
		view_size(v, "raw", s->raw_bytes);
		view_size(v, "stored", s->file_bytes);
		show_ratio(v, s->raw_bytes, s->file_bytes);
	}
	view_table_end(v);
}

static void show_records(struct view *v, const struct tally *t)
{
	static const char *const columns[] = { "record", "count" };
	const char *name;
	char number[16];
	unsigned i;

	view_table(v, "records", columns, COUNT_OF(columns));
	for (i = 0; i < TALLY_TYPES; i++) {
		if (!t->types[i])
			continue;
		name = tally_type_name(i);
		snprintf(number, sizeof(number), "%u", i);
		view_row(v);
		view_text(v, "record", name ? name : number);
		view_number(v, "count", t->types[i]);
	}
	if (t->other_types) {
		view_row(v);
		view_text(v, "record", "other");
		view_number(v, "count", t->other_types);
	}
	view_table_end(v);
}

static void show_kinds(struct view *v, const struct tally *t)
{
	static const char *const columns[] = { "kind", "objects", "parts", "cut", "raw", "stored" };
	const struct tally_kind *k;
	unsigned i;

	view_table(v, "kinds", columns, COUNT_OF(columns));
	for (i = 0; i < TALLY_KINDS; i++) {
		k = &t->kinds[i];
		if (!k->object_count)
			continue;
		view_row(v);
		view_text(v, "kind", ebx_kind_name(i));
		view_number(v, "objects", k->object_count);
		view_number(v, "parts", k->part_count);
		view_number(v, "cut", k->cut_count);
		view_size(v, "raw", k->raw_bytes);
		view_size(v, "stored", k->file_bytes);
	}
	view_table_end(v);
}

/*
 * LOST records tell of every loss, and the frames' headers again of those of events.  The larger
 * number is taken: where it differs, LOST records are among what is broken.  What side_records_lost
 * has is not among the events.
 */
static void show_losses(struct view *v, const struct capture *c, const struct tally *t)
{
	uint64_t frame_count = 0, side_count = 0, event_count;
	const struct capture_attr *attrs;
	size_t i, count;

	attrs = capture_attrs(c, &count);
	for (i = 0; i < count; i++)
		side_count += capture_attr_is_side(&attrs[i]) ? t->attrs[i].lost_count : 0;
	for (i = 0; i < EBX_STREAM_END; i++)
		frame_count += i == EBX_STREAM_SIDE ? 0 : t->streams[i].lost_count;
	event_count = t->lost_count - side_count;
	view_section(v, "losses");
	view_number(v, "events_lost", event_count > frame_count ? event_count : frame_count);
	view_number(v, "side_records_lost", side_count);
	view_number(v, "throttled", t->types[PERF_RECORD_THROTTLE]);
	view_number(v, "samples_unknown", t->attrs[t->attr_count].sample_count);
}

/* Where each frame is, and of which time. */
static void show_frames(struct view *v, const struct capture *c)
{
	static const char *const columns[] = { "at",   "stream", "records", "first",
					       "last", "lost",   "raw",     "stored" };
	size_t i, count;
	const struct capture_frame *f = capture_frames(c, &count);

	view_table(v, "frame_list", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++, f++) {
		view_row(v);
		view_number(v, "at", f->off_bytes);
		view_text(v, "stream",
			  f->stream == CAPTURE_STREAM_MIXED ? "mixed" : ebx_stream_name(f->stream));
		view_number(v, "records", f->record_count);
		view_ns(v, "first", f->t_min_ns);
		view_ns(v, "last", f->t_max_ns);
		view_number(v, "lost", f->lost_count);
		view_size(v, "raw", f->raw_bytes);
		view_size(v, "stored", f->file_bytes);
	}
	view_table_end(v);
}

/* ---- what is broken ---- */

static void show_damage(struct view *v, const struct capture *c, const struct tally *t)
{
	const struct capture_damage *d = capture_damage(c);
	bool any = d->unfinished || d->cut || d->bad_frames || d->bad_sections || d->missing_seq ||
		   d->unknown_records || d->unknown_frames || t->bad_frames || d->first.what;

	view_section(v, "damage");
	if (!any) {
		view_bool(v, "any", false);
		return;
	}
	view_bool(v, "any", true);
	view_bool(v, "unfinished", d->unfinished);
	view_bool(v, "cut", d->cut);
	if (d->cut)
		view_number(v, "cut_at", d->cut_off_bytes);
	view_number(v, "bad_frames", (uint64_t)d->bad_frames + t->bad_frames);
	view_size(v, "bad", d->bad_bytes);
	view_number(v, "bad_sections", d->bad_sections);
	view_number(v, "missing_frames", d->missing_seq);
	view_number(v, "unknown_records", d->unknown_records);
	view_number(v, "unknown_frames", d->unknown_frames);
	if (d->first.what) {
		view_text(v, "first", d->first.what);
		view_number(v, "first_at", d->first.offset_bytes);
	}
}

/* ---- embedded objects ---- */

/* A file object's name and bytes; false when it is broken. */
static bool file_parts(const uint8_t *data, size_t size_bytes, struct cursor *name,
		       struct cursor *content)
{
	struct cursor c = cursor_of(data, size_bytes);
	size_t name_bytes = cursor_u16(&c);
	const uint8_t *p = cursor_bytes(&c, name_bytes);

	if (!p)
		return false;
	*name = cursor_of(p, name_bytes);
	*content = cursor_of(c.data + c.off_bytes, cursor_left(&c));
	return true;
}

static void show_object_name(struct view *v, const struct capture *c,
			     const struct capture_object *o)
{
	struct cursor name, content;
	uint8_t *data = NULL;
	size_t size_bytes;

	if (o->kind != EBX_FILE)
		view_text(v, "name", "");
	else if (capture_object_read(c, o, &data, &size_bytes) ||
		 !file_parts(data, size_bytes, &name, &content))
		view_text(v, "name", "(broken)");
	else
		view_bytes_text(v, "name", (const char *)name.data, name.size_bytes);
	free(data);
}

static void show_objects(struct view *v, const struct capture *c)
{
	static const char *const columns[] = { "kind", "object", "raw", "stored", "whole", "name" };
	size_t i, count;
	const struct capture_object *o = capture_objects(c, &count);

	view_table(v, "objects", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++, o++) {
		view_row(v);
		view_text(v, "kind", ebx_kind_name(o->kind));
		view_number(v, "object", o->object);
		view_size(v, "raw", o->raw_bytes);
		view_size(v, "stored", o->file_bytes);
		view_bool(v, "whole", o->whole);
		show_object_name(v, c, o);
	}
	view_table_end(v);
}

/* META and NOTE objects are text for the reader: shown whole. */
static int show_texts(struct view *v, const struct capture *c)
{
	size_t i, count, size_bytes, laid_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	uint8_t *data;
	char key[32], *laid;
	int err;

	for (i = 0; i < count; i++, o++) {
		if (o->kind != EBX_META && o->kind != EBX_NOTE)
			continue;
		if (capture_object_read(c, o, &data, &size_bytes))
			continue; /* counted as damage */
		err = jsontext_indent((const char *)data, o->kind == EBX_META ? size_bytes : 0,
				      &laid, &laid_bytes);
		if (err) {
			free(data);
			return err;
		}
		if (o->kind == EBX_NOTE)
			snprintf(key, sizeof(key), "note_%" PRIu64, o->object);
		else
			snprintf(key, sizeof(key), "%s",
				 o->object == EBX_META_ACCOUNT ? "account"
				 : o->object == EBX_META_PARTS ? "parts"
							       : "meta");
		view_section(v, key);
		view_lines(v, "text", laid_bytes ? laid : (const char *)data,
			   laid_bytes ? laid_bytes : size_bytes);
		free(laid);
		free(data);
	}
	return 0;
}

/* As it is, but for a terminal, which would obey it. */
static void write_content(const char *text, size_t size_bytes)
{
	const char *end = text + size_bytes;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(text, 1, size_bytes, stdout);
		return;
	}
	for (; text < end; text++) {
		const char *eol = memchr(text, '\n', (size_t)(end - text)) ?: end;

		say_escaped(stdout, text, (size_t)(eol - text));
		putchar('\n');
		text = eol;
	}
}

static int extract(const struct capture *c, const char *name)
{
	size_t i, count, size_bytes, name_bytes = strlen(name);
	const struct capture_object *o = capture_objects(c, &count);
	struct cursor found, content;
	uint8_t *data;
	bool match;
	int err;

	for (i = 0; i < count; i++, o++) {
		if (o->kind != EBX_FILE)
			continue;
		err = capture_object_read(c, o, &data, &size_bytes);
		if (err)
			continue;
		match = file_parts(data, size_bytes, &found, &content) &&
			found.size_bytes == name_bytes && !memcmp(found.data, name, name_bytes);
		if (match)
			write_content((const char *)content.data, content.size_bytes);
		free(data);
		if (match)
			return SAY_OK;
	}
	return say_error("no whole file '%s' in this capture (see 'ebprec info --objects')", name);
}

/* ---- all of it ---- */

static int show(const struct capture *c, const struct info_opts *opts)
{
	struct view *v = NULL;
	struct tally t;
	int err = tally_capture(c, UINT32_MAX, &t);

	if (err)
		return say_error("cannot read '%s': %s", opts->input, strerror(-err));
	err = view_open(stdout, opts->json, &v);
	if (err)
		goto out;
	show_file(v, c, opts->input);
	show_time(v, c);
	show_machine(v, c);
	show_events(v, c, &t);
	show_streams(v, &t);
	if (opts->frames)
		show_frames(v, c);
	show_records(v, &t);
	show_kinds(v, &t);
	if (opts->objects)
		show_objects(v, c);
	show_features(v, c);
	err = show_texts(v, c);
	show_losses(v, c, &t);
	show_damage(v, c, &t);
out:
	tally_done(&t);
	if (view_close(v) || err)
		return say_error("cannot show '%s': out of memory", opts->input);
	return SAY_OK;
}

int cmd_info(int argc, char **argv)
{
	struct info_opts opts = { 0 };
	struct capture *c;
	char **words;
	int status;

	if (!usage_parse(&info_usage, &opts, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&info_usage, words, &opts.input);
	if (status)
		return status;
	status = cmd_open_capture(opts.input, &c);
	if (status)
		return status;
	status = opts.extract ? extract(c, opts.extract) : show(c, &opts);
	capture_close(c);
	return status;
}
