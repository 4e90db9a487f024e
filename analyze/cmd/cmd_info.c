/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec info - everything that is inside a file */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/input/embedded_files.h"
#include "analyze/input/perf_features.h"
#include "analyze/out/json_text.h"
#include "analyze/out/message.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/capture_stats.h"
#include "analyze/input/event/time_span.h"
#include "analyze/input/marks.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/text_table.h"
#include "analyze/report/log_sums.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct info_opts {
	const char *input, *extract;
	bool json, objects, blocks;
};

static const struct option info_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", offsetof(struct info_opts, input), 0, 0,
	  "the capture or perf.data file, - for standard input (default: ebprec.data)" },
	{ OPT_FLAG, 0, "json", NULL, offsetof(struct info_opts, json), 0, 0,
	  "the same facts as JSON" },
	{ OPT_FLAG, 0, "blocks", NULL, offsetof(struct info_opts, blocks), 0, 0,
	  "list the blocks one by one" },
	{ OPT_FLAG, 0, "objects", NULL, offsetof(struct info_opts, objects), 0, 0,
	  "list the embedded objects one by one" },
	{ OPT_STRING, 0, "extract", "NAME", offsetof(struct info_opts, extract), 0, 0,
	  "write this embedded file to standard output, and nothing else" },
	{ OPT_IDLE, 'q', "quiet", NULL, 0, 0, 0, NULL },
	{ 0 },
};

static const struct usage info_usage = {
	.command = "info",
	.words = "[--json] [--blocks] [--objects] [--extract NAME] [[-i] FILE]",
	.about = "Shows everything that is inside a capture, or any perf.data file: the machine,\n"
		 "the events, what was recorded, what was lost, and what is broken.\n",
	.options = info_options,
	.reads = USAGE_READS,
	.shows = true,
};

/* ---- the file ---- */

static void show_uuid(struct text_table *v, const uint8_t uuid[16])
{
	char text[37], *to = text;

	for (int i = 0; i < 16; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      uuid[i]);
	text_table_text(v, "uuid", text);
}

static void show_file(struct text_table *v, const struct capture *c, const char *path)
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

	text_table_section(v, "file");
	text_table_text(v, "path", path);
	text_table_size(v, "size", capture_file_bytes(c));
	text_table_text(v, "kind", kinds[capture_get_kind(c)]);
	if (!super)
		return;
	text_table_number(v, "version", super->version);
	text_table_text(v, "state",
			super->state < COUNT_OF(states) ? states[super->state] : "unknown");
	show_uuid(v, super->uuid);
}

static void show_time(struct text_table *v, const struct capture *c)
{
	uint64_t sample_ns, wall_ns;
	struct time_span span;
	bool clock = capture_clock(c, &sample_ns, &wall_ns);

	text_table_section(v, "time");
	if (clock) {
		text_table_wall_ns(v, "anchor_wall", wall_ns);
		text_table_ns(v, "anchor_clock", sample_ns);
	}
	if (time_span_of_capture(c, &span))
		return;
	text_table_ns(v, "first_sample", span.from_ns);
	text_table_ns(v, "last_sample", span.to_ns);
	text_table_ns(v, "duration", span.to_ns - span.from_ns);
	capture_meta_extend_back(c, &span);
	if (clock)
		text_table_wall_ns(v, "began", wall_ns + (span.from_ns - sample_ns));
}

/* ---- the machine ---- */

static void show_cpus(struct text_table *v, const struct capture *c)
{
	uint32_t available, online;

	if (feature_cpus(c, &available, &online))
		return;
	text_table_number(v, "cpus", available);
	text_table_number(v, "cpus_online", online);
}

static void show_machine(struct text_table *v, const struct capture *c)
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

	text_table_section(v, "machine");
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		text = capture_feature_string(c, strings[i].bit);
		if (text)
			text_table_text(v, strings[i].key, text);
	}
	show_cpus(v, c);
	if (!feature_memory(c, &memory_bytes))
		text_table_size(v, "memory", memory_bytes);
	if (!feature_build_ids(c, &id_count))
		text_table_number(v, "files_with_id", id_count);
	if (!feature_command_line(c, &command)) {
		text_table_text(v, "command_line", command);
		free(command);
	}
}

static void show_features(struct text_table *v, const struct capture *c)
{
	static const char *const columns[] = { "section", "size" };
	struct capture_bytes b;
	char number[8];
	unsigned bit;

	text_table_begin(v, "sections", columns, COUNT_OF(columns));
	for (bit = 0; bit < PERFFILE_FEATURE_BITS; bit++) {
		b = capture_feature(c, bit);
		if (!b.data)
			continue;
		snprintf(number, sizeof(number), "%u", bit);
		text_table_row(v);
		text_table_text(v, "section", feature_name(bit) ? feature_name(bit) : number);
		text_table_size(v, "size", b.size_bytes);
	}
	text_table_end(v);
}

/* ---- events ---- */

static void show_fields(struct text_table *v, uint64_t sample_type)
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
	text_table_text(v, "fields", text);
}

static void show_events(struct text_table *v, const struct capture *c,
			const struct capture_stats *t)
{
	static const char *const columns[] = { "name",   "type",    "config", "frequency",
					       "period", "samples", "lost",   "fields" };
	static const char *const types[] = { "hardware", "software", "tracepoint",
					     "cache",    "raw",      "breakpoint" };
	const struct perf_event_attr *a;
	char number[16];
	size_t i, count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	text_table_begin(v, "events", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++) {
		a = &attrs[i].attr;
		snprintf(number, sizeof(number), "%u", a->type);
		text_table_row(v);
		text_table_text(v, "name", attrs[i].name);
		text_table_text(v, "type", a->type < COUNT_OF(types) ? types[a->type] : number);
		text_table_number(v, "config", a->config);
		text_table_number(v, "frequency", a->freq ? a->sample_freq : 0);
		text_table_number(v, "period", a->freq ? 0 : a->sample_period);
		text_table_number(v, "samples", t->attrs[i].sample_count);
		text_table_number(v, "lost", t->attrs[i].lost_count);
		show_fields(v, a->sample_type);
	}
	text_table_end(v);
}

/* ---- what was recorded ---- */

static void show_ratio(struct text_table *v, uint64_t raw_bytes, uint64_t file_bytes)
{
	char text[24] = "-";

	if (raw_bytes && file_bytes)
		snprintf(text, sizeof(text), "%.2f", (double)raw_bytes / (double)file_bytes);
	text_table_measure(v, "ratio", text);
}

static void show_streams(struct text_table *v, const struct capture_stats *t)
{
	static const char *const columns[] = { "stream", "blocks", "records", "samples",
					       "raw",    "stored", "ratio" };
	const struct capture_stats_stream *s;
	unsigned i;

	text_table_begin(v, "blocks", columns, COUNT_OF(columns));
	for (i = 0; i < EBX_STREAM_END; i++) {
		s = &t->streams[i];
		if (!s->block_count)
			continue;
		text_table_row(v);
		text_table_text(v, "stream", i ? ebx_stream_name(i) : "mixed");
		text_table_number(v, "blocks", s->block_count);
		text_table_number(v, "records", s->record_count);
		text_table_number(v, "samples", s->sample_count);
		text_table_size(v, "raw", s->raw_bytes);
		text_table_size(v, "stored", s->file_bytes);
		show_ratio(v, s->raw_bytes, s->file_bytes);
	}
	text_table_end(v);
}

static void show_records(struct text_table *v, const struct capture_stats *t)
{
	static const char *const columns[] = { "record", "count" };
	const char *name;
	char number[16];
	unsigned i;

	text_table_begin(v, "records", columns, COUNT_OF(columns));
	for (i = 0; i < CAPTURE_STATS_TYPES; i++) {
		if (!t->types[i])
			continue;
		name = capture_stats_type_name(i);
		snprintf(number, sizeof(number), "%u", i);
		text_table_row(v);
		text_table_text(v, "record", name ? name : number);
		text_table_number(v, "count", t->types[i]);
	}
	if (t->other_types) {
		text_table_row(v);
		text_table_text(v, "record", "other");
		text_table_number(v, "count", t->other_types);
	}
	text_table_end(v);
}

static void show_kinds(struct text_table *v, const struct capture_stats *t)
{
	static const char *const columns[] = { "kind", "objects", "parts", "cut", "raw", "stored" };
	const struct capture_stats_kind *k;
	unsigned i;

	text_table_begin(v, "kinds", columns, COUNT_OF(columns));
	for (i = 0; i < CAPTURE_STATS_KINDS; i++) {
		k = &t->kinds[i];
		if (!k->object_count)
			continue;
		text_table_row(v);
		text_table_text(v, "kind", ebx_kind_name(i));
		text_table_number(v, "objects", k->object_count);
		text_table_number(v, "parts", k->part_count);
		text_table_number(v, "cut", k->cut_count);
		text_table_size(v, "raw", k->raw_bytes);
		text_table_size(v, "stored", k->file_bytes);
	}
	text_table_end(v);
}

static int show_log_lines_of(struct text_table *v, const struct marks *m,
			     const struct string_table *names)
{
	static const char *const columns[] = { "unit", "lines", "errors", "warnings" };
	struct log_sum *sums;
	size_t count;
	int err = log_sums_make(m, names, &sums, &count);

	text_table_begin(v, "log_lines", columns, COUNT_OF(columns));
	for (size_t i = 0; i < count; i++) {
		text_table_row(v);
		text_table_text(v, "unit", string_table_text(names, sums[i].unit));
		text_table_number(v, "lines", sums[i].line_count);
		text_table_number(v, "errors", sums[i].error_count);
		text_table_number(v, "warnings", sums[i].warning_count);
	}
	text_table_end(v);
	free(sums);
	return err;
}

/* Lines of the journal, which are marks. */
static int show_log_lines(struct text_table *v, const struct capture *c)
{
	struct string_table *names;
	struct marks m;
	int err = string_table_new(&names);

	if (err)
		return err;
	err = marks_load(c, names, &m);
	if (!err) {
		err = show_log_lines_of(v, &m, names);
		marks_done(&m);
	}
	string_table_free(names);
	return err;
}

/*
 * LOST records count every loss, and the blocks' headers repeat those of events.  The larger number
 * is taken: where it differs, LOST records are damaged.  side_records_lost is not among the events.
 */
static void show_losses(struct text_table *v, const struct capture *c,
			const struct capture_stats *t)
{
	uint64_t block_count = 0, side_count = 0, event_count;
	const struct capture_attr *attrs;
	size_t i, count;

	attrs = capture_attrs(c, &count);
	for (i = 0; i < count; i++)
		side_count += capture_attr_is_side(&attrs[i]) ? t->attrs[i].lost_count : 0;
	for (i = 0; i < EBX_STREAM_END; i++)
		block_count += i == EBX_STREAM_SIDE ? 0 : t->streams[i].lost_count;
	event_count = t->lost_count - side_count;
	text_table_section(v, "losses");
	text_table_number(v, "events_lost", event_count > block_count ? event_count : block_count);
	text_table_number(v, "side_records_lost", side_count);
	text_table_number(v, "throttled", t->types[PERF_RECORD_THROTTLE]);
	text_table_number(v, "samples_unknown", t->attrs[t->attr_count].sample_count);
}

/* Where each block is, and of which time. */
static void show_blocks(struct text_table *v, const struct capture *c)
{
	static const char *const columns[] = { "at",   "stream", "records", "first",
					       "last", "lost",   "raw",     "stored" };
	size_t i, count;
	const struct capture_block *f = capture_blocks(c, &count);

	text_table_begin(v, "block_list", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++, f++) {
		text_table_row(v);
		text_table_number(v, "at", f->off_bytes);
		text_table_text(v, "stream",
				f->stream == CAPTURE_STREAM_MIXED ? "mixed"
								  : ebx_stream_name(f->stream));
		text_table_number(v, "records", f->record_count);
		text_table_ns(v, "first", f->t_min_ns);
		text_table_ns(v, "last", f->t_max_ns);
		text_table_number(v, "lost", f->lost_count);
		text_table_size(v, "raw", f->raw_bytes);
		text_table_size(v, "stored", f->file_bytes);
	}
	text_table_end(v);
}

/* ---- what is broken ---- */

static void show_damage(struct text_table *v, const struct capture *c,
			const struct capture_stats *t)
{
	const struct capture_damage *d = capture_damage(c);
	bool any = d->unfinished || d->cut || d->bad_blocks || d->bad_sections || d->missing_seq ||
		   d->unknown_records || d->unknown_blocks || t->bad_blocks || d->first.what;

	text_table_section(v, "damage");
	if (!any) {
		text_table_bool(v, "any", false);
		return;
	}
	text_table_bool(v, "any", true);
	text_table_bool(v, "unfinished", d->unfinished);
	text_table_bool(v, "cut", d->cut);
	if (d->cut)
		text_table_number(v, "cut_at", d->cut_off_bytes);
	text_table_number(v, "bad_blocks", (uint64_t)d->bad_blocks + t->bad_blocks);
	text_table_size(v, "bad", d->bad_bytes);
	text_table_number(v, "bad_sections", d->bad_sections);
	text_table_number(v, "missing_blocks", d->missing_seq);
	text_table_number(v, "unknown_records", d->unknown_records);
	text_table_number(v, "unknown_blocks", d->unknown_blocks);
	if (d->first.what) {
		text_table_text(v, "first", d->first.what);
		text_table_number(v, "first_at", d->first.offset_bytes);
	}
}

/* ---- embedded objects ---- */

static void show_object_name(struct text_table *v, const struct capture *c,
			     const struct capture_object *o)
{
	struct capture_bytes name;
	uint8_t *data = NULL;
	size_t size_bytes;

	if (o->kind != EBX_FILE)
		text_table_text(v, "name", "");
	else if (capture_object_read(c, o, &data, &size_bytes) ||
		 !embedded_name_of(data, size_bytes, &name))
		text_table_text(v, "name", "(broken)");
	else
		text_table_bytes_text(v, "name", (const char *)name.data, name.size_bytes);
	free(data);
}

static void show_objects(struct text_table *v, const struct capture *c)
{
	static const char *const columns[] = {
		"kind", "object", "raw", "stored", "complete", "name"
	};
	size_t i, count;
	const struct capture_object *o = capture_objects(c, &count);

	text_table_begin(v, "objects", columns, COUNT_OF(columns));
	for (i = 0; i < count; i++, o++) {
		text_table_row(v);
		text_table_text(v, "kind", ebx_kind_name(o->kind));
		text_table_number(v, "object", o->object);
		text_table_size(v, "raw", o->raw_bytes);
		text_table_size(v, "stored", o->file_bytes);
		text_table_bool(v, "complete", o->is_complete);
		show_object_name(v, c, o);
	}
	text_table_end(v);
}

/* META and NOTE objects are text for the reader: shown completely. */
static int show_texts(struct text_table *v, const struct capture *c)
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
		err = json_text_indent((const char *)data, o->kind == EBX_META ? size_bytes : 0,
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
		text_table_section(v, key);
		text_table_lines(v, "text", laid_bytes ? laid : (const char *)data,
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

		message_escaped(stdout, text, (size_t)(eol - text));
		putchar('\n');
		text = eol;
	}
}

static int extract(const struct capture *c, const char *path, const char *name)
{
	struct embedded *files = NULL;
	char *text = NULL;
	size_t size_bytes;
	int err = embedded_read(c, &files);

	if (!err)
		err = embedded_get(files, name, &text, &size_bytes);
	if (!err)
		write_content(text, size_bytes);
	free(text);
	embedded_free(files);
	if (err == -ENOENT)
		return message_error("cannot extract '%s': '%s' has no complete file of that name "
				     "('ebprec info --objects' lists them)",
				     name, path);
	return err ? message_error("cannot extract '%s' from '%s': %s", name, path, strerror(-err))
		   : MESSAGE_OK;
}

/* ---- all of it ---- */

static int show(const struct capture *c, const struct info_opts *opts)
{
	struct text_table *v = NULL;
	struct capture_stats t;
	int err = capture_stats_capture(c, UINT32_MAX, &t);

	if (err)
		return message_error("cannot read '%s': %s", opts->input, strerror(-err));
	err = text_table_open(stdout, opts->json, &v);
	if (err)
		goto out;
	show_file(v, c, opts->input);
	show_time(v, c);
	show_machine(v, c);
	show_events(v, c, &t);
	show_streams(v, &t);
	if (opts->blocks)
		show_blocks(v, c);
	show_records(v, &t);
	show_kinds(v, &t);
	if (opts->objects)
		show_objects(v, c);
	show_features(v, c);
	err = show_log_lines(v, c);
	if (!err)
		err = show_texts(v, c);
	show_losses(v, c, &t);
	show_damage(v, c, &t);
out:
	capture_stats_done(&t);
	if (text_table_close(v) || err)
		return message_error("cannot show '%s': out of memory", opts->input);
	return MESSAGE_OK;
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
	status = opts.extract ? extract(c, opts.input, opts.extract) : show(c, &opts);
	capture_close(c);
	return status;
}
