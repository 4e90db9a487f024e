/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_of.h"
#include "analyze/report/script/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/script/frame_line.h"
#include "analyze/report/script/script_cache.h"
#include "analyze/out/message.h"
#include "analyze/names/interrupted.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"

#define NS_PER_SECOND 1000000000u

static const struct {
	const char *name;
	unsigned field;
} fields[] = {
	{ "comm", SCRIPT_COMM },
	{ "pid", SCRIPT_PID },
	{ "tid", SCRIPT_TID },
	{ "cpu", SCRIPT_CPU },
	{ "time", SCRIPT_TIME },
	{ "period", SCRIPT_PERIOD },
	{ "event", SCRIPT_EVENT },
	{ "trace", SCRIPT_TRACE },
	{ "ip", SCRIPT_IP },
	{ "sym", SCRIPT_SYM },
	{ "symoff", SCRIPT_SYMOFF },
	{ "dso", SCRIPT_DSO },
	{ "cgroup", SCRIPT_CGROUP },
	{ "container", SCRIPT_CONTAINER },
	{ "build_id", SCRIPT_BUILD_ID },
	{ "origin", SCRIPT_ORIGIN },
};

_Static_assert(sizeof(fields) / sizeof(fields[0]) == SCRIPT_FIELDS, "each has a name");

void script_field_names(const char *out[SCRIPT_FIELDS])
{
	for (size_t i = 0; i < SCRIPT_FIELDS; i++)
		out[i] = fields[i].name;
}

int script_parse_fields(const char *text, unsigned *out, unsigned *more, const char **bad,
			size_t *bad_bytes)
{
	unsigned found = 0, added = 0;
	bool adds;
	const char *end;
	size_t size, i;

	for (;; text = end + 1) {
		adds = *text == '+';
		text += adds;
		end = strchrnul(text, ',');
		size = (size_t)(end - text);
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			if (strlen(fields[i].name) == size && !memcmp(fields[i].name, text, size))
				break;
		if (i == sizeof(fields) / sizeof(fields[0])) {
			*bad = text;
			*bad_bytes = size;
			return -EINVAL;
		}
		*(adds ? &added : &found) |= fields[i].field;
		if (!*end)
			break;
	}
	*out = found;
	*more = added;
	return 0;
}

/* The default fields of perf for an event. */
static unsigned default_fields(const struct capture_attr *attr)
{
	unsigned found = SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT;

	if (attr->attr.type == PERF_TYPE_TRACEPOINT) {
		found |= SCRIPT_TRACE;
		if (attr->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			found |= SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO;
		return found;
	}
	return found | SCRIPT_PERIOD | SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO;
}

/* ---- frames ---- */

/* Each frame is put into words once, and copied from then on. */
struct script_memory {
	struct script_cache *lines;
	struct frame_lines frames;
	FILE *maker; /* makes one line: into made */
	char *made;
	size_t made_bytes;
	char *sample; /* the text of this one */
	size_t sample_bytes, sample_room;
};

int script_begin(struct script *s)
{
	struct script_memory *m = calloc(1, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	s->memory = m;
	if (err)
		return err;
	err = script_cache_new(&m->lines);
	if (!err)
		err = frame_lines_init(&m->frames, s->model, s->resolver);
	m->maker = open_memstream(&m->made, &m->made_bytes);
	if (err || !m->maker) {
		script_end(s);
		return -ENOMEM;
	}
	__fsetlocking(m->maker, FSETLOCKING_BYCALLER);
	return 0;
}

void script_end(struct script *s)
{
	struct script_memory *m = s->memory;

	if (!m)
		return;
	if (m->maker)
		fclose(m->maker);
	free(m->made);
	free(m->sample);
	frame_lines_done(&m->frames);
	script_cache_free(m->lines);
	free(m);
	s->memory = NULL;
}

static int put(struct script_memory *m, const char *text, size_t size_bytes)
{
	int err = vec_reserve(&m->sample, &m->sample_room, m->sample_bytes + size_bytes);

	if (err)
		return err;
	memcpy(m->sample + m->sample_bytes, text, size_bytes);
	m->sample_bytes += size_bytes;
	return 0;
}

struct frames {
	const struct script *s;
	struct frame_space space;
	unsigned asked;
};

static struct script_cache_place place_of(const struct frames *f,
					  const struct frame_location *location, uint32_t how)
{
	struct script_cache_place place = { .where = location->addr,
					    .how = how | location->kind << 24 };

	switch (location->kind) {
	case LOC_FILE:
	case LOC_KSYMBOL:
		place.what = location->at.file;
		place.where = location->at.file_off_bytes;
		break;
	case LOC_ANONYMOUS:
		place.what = (uint64_t)f->space.user << 32 | f->space.pid;
		break;
	case LOC_KERNEL:
		place.what = location->mapped;
		break;
	default:
		break;
	}
	return place;
}

static void write_name(const char *text, FILE *to)
{
	message_escaped(to, text, strlen(text));
}

/* " [build-id]", and " [by build-id: FILE]" or " [why there is no name]". */
static void write_origin(const struct script *s, const struct frame_line *line, unsigned asked,
			 FILE *to)
{
	struct resolver_source source = { 0 };
	bool known = resolver_source(s->resolver, line->file, &source);
	const char *file = known && *source.debug_file ? source.debug_file : source.file;
	char hex[BUILDID_HEX_BYTES];

	if (asked & SCRIPT_BUILD_ID) {
		buildid_hex(&source.build_id, hex);
		fprintf(to, " [%s]", *hex ? hex : "-");
	}
	if (!(asked & SCRIPT_ORIGIN))
		return;
	fputs(" [", to);
	if (line->reason != NAME_FOUND) {
		fputs(name_reason_text(line->reason), to);
	} else if (!known || source.trust == NAME_BY_NOTHING) {
		fputs("names in the capture", to);
	} else {
		fputs(name_trust_text(source.trust), to);
		fputs(*file ? ": " : "", to);
		write_name(file, to);
	}
	putc(']', to);
}

/* A cold part may lie before the start of its function. */
static void write_offset(uint64_t into_bytes, FILE *to)
{
	if (into_bytes >> 63)
		fprintf(to, "-0x%" PRIx64, -into_bytes);
	else
		fprintf(to, "+0x%" PRIx64, into_bytes);
}

static void write_line(const struct script *s, const struct frame_line *line, unsigned asked,
		       FILE *to)
{
	if (asked & SCRIPT_IP)
		fprintf(to, "%16" PRIx64, line->addr);
	if (asked & SCRIPT_SYM) {
		putc(' ', to);
		write_name(line->name ? line->name : "[unknown]", to);
		if (line->name && asked & SCRIPT_SYMOFF &&
		    line->into_bytes != RESOLVED_INTO_UNKNOWN)
			write_offset(line->into_bytes, to);
	}
	if (asked & SCRIPT_DSO) {
		fputs(" (", to);
		write_name(line->dso ? line->dso : "[unknown]", to);
		putc(')', to);
	}
	if (asked & (SCRIPT_BUILD_ID | SCRIPT_ORIGIN))
		write_origin(s, line, asked, to);
}

/* A line and the byte stored with it: whether a signal returns there, which is the result. */
static int put_cached(struct script_memory *m, const char *text, size_t size_bytes)
{
	int err = put(m, text + 1, size_bytes - 1);

	return err ? err : *text == 's';
}

/* A line of a chain, from memory or made now. */
static int put_frame(void *ctx, unsigned mode, uint64_t addr, bool is_return)
{
	const struct frames *f = ctx;
	struct script_memory *m = f->s->memory;
	struct script_cache_key key = {
		.addr = addr,
		.space = mode == PERF_RECORD_MISC_KERNEL ? f->space.kernel : f->space.user,
		.how = f->asked << 8 | mode << 1 | is_return,
	};
	struct script_cache_place place;
	struct frame_location location;
	struct frame_line line;
	size_t size_bytes;
	const char *text = script_cache_get(m->lines, &key, &size_bytes);

	if (text)
		return put_cached(m, text, size_bytes);
	location = frame_location_find(&m->frames, &f->space, mode, addr, is_return);
	place = place_of(f, &location, key.how);
	text = script_cache_find(m->lines, &key, &place, &size_bytes);
	if (text)
		return put_cached(m, text, size_bytes);
	frame_line_make(&m->frames, &f->space, &location, &line);
	rewind(m->maker);
	fputs(line.name && interrupted_is_trampoline(line.name) ? "s\t" : "-\t", m->maker);
	write_line(f->s, &line, f->asked, m->maker);
	putc('\n', m->maker);
	if (fflush(m->maker))
		return -ENOMEM;
	size_bytes = (size_t)ftello(m->maker);
	script_cache_add(m->lines, &key, &place, m->made, size_bytes);
	return put_cached(m, m->made, size_bytes);
}

/* ---- the event ---- */

/* As "%*d" and "%0*d" have it; fprintf() would be half of the time. */
static void put_number(FILE *to, int64_t value, int width, char fill)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char text[48];
	int at = sizeof(text), first;

	do {
		text[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	first = (int)sizeof(text) - (width < 40 ? width : 40);
	if (value < 0 && fill == ' ')
		text[--at] = '-';
	else if (value < 0)
		first++;
	while (at > first)
		text[--at] = fill;
	if (value < 0 && fill != ' ')
		text[--at] = '-';
	fwrite(text + at, 1, sizeof(text) - (size_t)at, to);
}

static void put_blanks(FILE *to, int count)
{
	while (count-- > 0)
		putc(' ', to);
}

static void write_comm(const struct script *s, const struct perf_sample *sample, uint32_t comm,
		       bool with_chains, FILE *to)
{
	char unknown[16];
	const char *text = unknown;

	if (comm == PROCESS_MODEL_NONE)
		snprintf(unknown, sizeof(unknown), ":%" PRId32, (int32_t)sample->tid);
	else
		text = string_table_text(s->names, comm);
	if (!with_chains)
		put_blanks(to, 16 - (int)message_columns(text, strlen(text)));
	write_name(text, to);
	putc(' ', to);
}

static void write_start(const struct script *s, const struct perf_sample *sample, uint64_t types,
			uint32_t comm, unsigned asked, FILE *to)
{
	if (asked & SCRIPT_COMM)
		write_comm(s, sample, comm, s->any_chain && asked & SCRIPT_IP, to);
	if (asked & SCRIPT_PID && asked & SCRIPT_TID) {
		fprintf(to, "%5" PRId32 "/%-5" PRId32 " ", (int32_t)sample->pid,
			(int32_t)sample->tid);
	} else if (asked & (SCRIPT_PID | SCRIPT_TID)) {
		put_number(to, (int32_t)(asked & SCRIPT_PID ? sample->pid : sample->tid), 5, ' ');
		putc(' ', to);
	}
	if (asked & SCRIPT_CPU && types & PERF_SAMPLE_CPU) {
		putc('[', to);
		put_number(to, (int32_t)sample->cpu, 3, '0');
		fputs("] ", to);
	}
	if (asked & SCRIPT_TIME && types & PERF_SAMPLE_TIME) {
		uint64_t part_ns = sample->time_ns % NS_PER_SECOND;

		put_number(to, (int64_t)(sample->time_ns / NS_PER_SECOND), 5, ' ');
		putc('.', to);
		put_number(to, (int64_t)(s->ns ? part_ns : part_ns / 1000), s->ns ? 9 : 6, '0');
		fputs(": ", to);
	}
}

static void write_event(const struct script *s, const struct perf_sample *sample,
			const struct capture_attr *attr, unsigned asked, FILE *to)
{
	uint64_t period = sample->period;
	const char *name;

	if (!(attr->attr.sample_type & PERF_SAMPLE_PERIOD))
		period = attr->attr.freq ? 1 : attr->attr.sample_period;
	if (asked & SCRIPT_PERIOD && period > INT64_MAX)
		fprintf(to, "%10" PRIu64 " ", period);
	else if (asked & SCRIPT_PERIOD) {
		put_number(to, (int64_t)period, 10, ' ');
		putc(' ', to);
	}
	if (asked & SCRIPT_EVENT) {
		name = event_name(attr);
		put_blanks(to, s->event_width - (int)message_columns(name, strlen(name)));
		write_name(name, to);
		fputs(": ", to);
	}
	if (asked & SCRIPT_TRACE && attr->attr.type == PERF_TYPE_TRACEPOINT && s->trace &&
	    sample->raw_bytes)
		tracepoint_text_write(s->trace, attr->attr.config, sample->raw, sample->raw_bytes,
				      sample->cpu, to);
}

static void write_cgroup(const struct script *s, uint64_t id, unsigned asked, FILE *to)
{
	uint32_t path = process_model_cgroup(s->model, id);
	const char *cgroup = path == PROCESS_MODEL_NONE ? "unknown"
							: string_table_text(s->names, path);
	char container[CONTAINER_NAMES_TEXT_MAX];

	if (asked & SCRIPT_CGROUP) {
		putc(' ', to);
		write_name(cgroup, to);
	}
	if (!(asked & SCRIPT_CONTAINER))
		return;
	container_names_text(s->containers, cgroup, container);
	putc(' ', to);
	write_name(*container ? container : *cgroup == '/' ? "[host]" : "[unknown]", to);
}

static int write_stack(const struct script *s, const struct perf_sample *sample,
		       const struct capture_attr *attr, uint32_t space, unsigned asked, FILE *to)
{
	struct perf_sample walked = *sample;
	struct frames f = {
		.s = s,
		.space = { .user = space,
			   .kernel = process_model_kernel(s->model, sample->time_ns),
			   .pid = sample->pid },
		.asked = asked,
	};
	struct script_memory *m = s->memory;
	struct stack_result info;
	struct frame_line line;
	struct frame_location location;
	bool copied;
	int err;

	if (!(asked & SCRIPT_IP))
		return 0;
	if (attr->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		m->sample_bytes = 0;
		err = sample_chain_complete(s->chain, &walked, attr, space, RESULT_NOWHERE, &info);
		copied = err == 1;
		if (err >= 0)
			err = put(m, "\n", 1);
		if (!err)
			err = frame_chain_each(&walked, copied, put_frame, &f);
		fwrite(m->sample, 1, m->sample_bytes, to);
		return err;
	}
	putc(' ', to);
	location = frame_location_find(&m->frames, &f.space, sample->cpumode, sample->ip, false);
	frame_line_make(&m->frames, &f.space, &location, &line);
	line.addr = sample->ip; /* as it was, when it stands alone */
	write_line(s, &line, asked, to);
	return 0;
}

int script_sample(const struct script *s, const struct perf_sample *sample,
		  const struct capture_attr *attr, FILE *to)
{
	unsigned asked = (s->fields ? s->fields : default_fields(attr)) | s->more;
	uint64_t types = attr->attr.sample_type;
	struct process_model_where where;
	int err;

	/* As perf: of an event that has no such field there is no line. */
	if (attr->attr.type != PERF_TYPE_TRACEPOINT && !(asked & ~(unsigned)SCRIPT_TRACE))
		return 0;
	process_model_thread(s->model, sample->pid, sample->tid, sample->time_ns, &where);
	write_start(s, sample, types, where.comm, asked, to);
	write_event(s, sample, attr, asked, to);
	if (asked & (SCRIPT_CGROUP | SCRIPT_CONTAINER))
		write_cgroup(s, sample->cgroup, asked, to);
	err = write_stack(s, sample, attr, where.space, asked, to);
	putc('\n', to);
	return err;
}
