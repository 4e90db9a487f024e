/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_of.h"
#include "analyze/report/script/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/location/callchain.h"
#include "analyze/report/script/script_cache.h"
#include "analyze/fold/count_samples.h"
#include "analyze/names/function_table.h"
#include "analyze/out/message.h"
#include "analyze/names/interrupted.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"
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

/* The printed parts of a frame. */
struct line {
	uint64_t addr, into_bytes;
	const char *name, *dso; /* NULL: not known */
	char made_dso[32];
	uint32_t file; /* of the resolver; UINT32_MAX: none */
	enum name_reason reason;
};

/* The key of a frame's text: the kinds of locations in the cache of lines. */
enum frame_location_kind {
	LOC_UNMAPPED,  /* address */
	LOC_FILE,      /* file of the model, offset in it */
	LOC_ANONYMOUS, /* address in the space of a process */
	LOC_KERNEL,    /* whether it is mapped, address */
	LOC_KSYMBOL,   /* file of the model, offset in it */
};

struct frame_location {
	enum frame_location_kind kind;
	bool mapped;
	struct process_model_place at;
	uint64_t addr;
	bool is_return;
};

/* Each frame is put into words once, and copied from then on. */
struct script_memory {
	struct script_cache *lines;
	uint32_t *files; /* of the resolver, by number of the model, + 1; 0: not asked yet */
	FILE *maker;     /* makes one line: into made */
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
	m->files = calloc((size_t)process_model_file_count(s->model) + 1, sizeof(*m->files));
	m->maker = open_memstream(&m->made, &m->made_bytes);
	if (err || !m->files || !m->maker) {
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
	free(m->files);
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

/* perf calls memory without a file after where a JIT compiler would put its names. */
static bool is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/anon_hugepage", 14);
}

struct frames {
	const struct script *s;
	uint32_t user_space, kernel_space, pid;
	unsigned asked;
	bool copied; /* user frames were walked in a copy of the stack */
};

static uint32_t file_of(const struct script *s, uint32_t model_number)
{
	uint32_t *file = &s->memory->files[model_number];

	if (!*file) /* without memory UINT32_MAX, and asked again */
		*file = function_table_file(s->model, model_number, s->resolver) + 1;
	return *file - 1;
}

static struct frame_location find_location(const struct frames *f, unsigned mode, uint64_t addr,
					   bool is_return)
{
	uint64_t look = addr - (is_return && addr);
	struct frame_location location = { .kind = LOC_UNMAPPED,
					   .addr = addr,
					   .is_return = is_return };
	const struct process_model *model = f->s->model;
	const struct process_model_file *file;

	if (mode == PERF_RECORD_MISC_KERNEL) {
		location.mapped = process_model_place(model, f->kernel_space, look, &location.at);
		location.kind =
			location.mapped && process_model_file(model, location.at.file)->is_ksymbol
				? LOC_KSYMBOL
				: LOC_KERNEL;
	} else if (mode == PERF_RECORD_MISC_USER) {
		location.mapped = process_model_place(model, f->user_space, look, &location.at);
		if (location.mapped) {
			file = process_model_file(model, location.at.file);
			location.kind = is_anonymous(file->path) ? LOC_ANONYMOUS : LOC_FILE;
		}
	}
	return location;
}

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
		place.what = (uint64_t)f->user_space << 32 | f->pid;
		break;
	case LOC_KERNEL:
		place.what = location->mapped;
		break;
	default:
		break;
	}
	return place;
}

static void make_user_line(const struct frames *f, const struct frame_location *location,
			   struct line *out)
{
	const struct script *s = f->s;
	uint64_t off = location->at.file_off_bytes + (location->is_return && location->addr);
	struct resolved r;

	/* The line will be remembered: what it is made of need not be. */
	out->file = file_of(s, location->at.file);
	resolver_user_once(s->resolver, out->file, off, location->is_return, &r);
	resolver_set_path(s->resolver, out->file,
			  process_model_file(s->model, location->at.file)->path, &r);
	out->reason = r.reason;
	out->dso = r.dso;
	out->name = r.name;
	out->into_bytes = r.into_bytes;
	if (location->kind == LOC_FILE) {
		out->addr = off;
		return;
	}
	snprintf(out->made_dso, sizeof(out->made_dso), "/tmp/perf-%" PRIu32 ".map", f->pid);
	out->dso = out->made_dso;
}

static void make_line(const struct frames *f, const struct frame_location *location,
		      struct line *out)
{
	const struct script *s = f->s;
	const struct resolved *r;

	*out = (struct line){ .addr = location->addr, .file = UINT32_MAX, .reason = NAME_NO_MAP };
	switch (location->kind) {
	case LOC_FILE:
	case LOC_ANONYMOUS:
		make_user_line(f, location, out);
		break;
	case LOC_KSYMBOL:
		out->reason = NAME_FOUND;
		out->name = out->dso = process_model_file(s->model, location->at.file)->path;
		out->into_bytes = location->at.file_off_bytes +
				  (location->is_return && location->addr);
		break;
	case LOC_KERNEL:
		r = resolver_kernel(s->resolver, location->addr, location->is_return);
		out->reason = r->reason;
		out->name = r->name;
		out->dso = r->name || location->mapped ? r->dso : NULL;
		out->into_bytes = r->into_bytes;
		break;
	default:
		break;
	}
}

static void write_name(const char *text, FILE *to)
{
	message_escaped(to, text, strlen(text));
}

/* " [build-id]", and " [by build-id: FILE]" or " [why there is no name]". */
static void write_origin(const struct script *s, const struct line *line, unsigned asked, FILE *to)
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

static void write_line(const struct script *s, const struct line *line, unsigned asked, FILE *to)
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

/* A line and the byte stored with it: whether a signal returns there. */
static int put_cached(struct script_memory *m, const char *text, size_t size_bytes,
		      bool *is_trampoline)
{
	*is_trampoline = *text == 's';
	return put(m, text + 1, size_bytes - 1);
}

/* A line of a chain, from memory or made now. */
static int put_frame(const struct frames *f, unsigned mode, uint64_t addr, bool is_return,
		     bool *is_trampoline)
{
	struct script_memory *m = f->s->memory;
	struct script_cache_key key = {
		.addr = addr,
		.space = mode == PERF_RECORD_MISC_KERNEL ? f->kernel_space : f->user_space,
		.how = f->asked << 8 | mode << 1 | is_return,
	};
	struct script_cache_place place;
	struct frame_location location;
	struct line line;
	size_t size_bytes;
	const char *text = script_cache_get(m->lines, &key, &size_bytes);

	if (text)
		return put_cached(m, text, size_bytes, is_trampoline);
	location = find_location(f, mode, addr, is_return);
	place = place_of(f, &location, key.how);
	text = script_cache_find(m->lines, &key, &place, &size_bytes);
	if (text)
		return put_cached(m, text, size_bytes, is_trampoline);
	make_line(f, &location, &line);
	rewind(m->maker);
	fputs(line.name && interrupted_is_trampoline(line.name) ? "s\t" : "-\t", m->maker);
	write_line(f->s, &line, f->asked, m->maker);
	putc('\n', m->maker);
	if (fflush(m->maker))
		return -ENOMEM;
	size_bytes = (size_t)ftello(m->maker);
	script_cache_add(m->lines, &key, &place, m->made, size_bytes);
	return put_cached(m, m->made, size_bytes, is_trampoline);
}

/*
 * The innermost frame of each context is an address, and so is the code that a signal interrupted;
 * the others are return addresses.  For those that were unwound from a copy perf prints the address
 * before, which is in the call.
 */
static int put_chain(const struct frames *f, const struct perf_sample *sample)
{
	unsigned mode = sample->cpumode;
	bool is_return = false, by_signal = false;
	int err = 0;

	for (size_t i = 0; !err && i < sample->chain_count; i++) {
		uint64_t addr = le64_load(sample->chain + 8 * i);

		if (addr >= PERF_CONTEXT_MAX) {
			mode = addr == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL
			       : addr == PERF_CONTEXT_USER ? PERF_RECORD_MISC_USER
							   : PERF_RECORD_MISC_CPUMODE_UNKNOWN;
			is_return = false;
			i += addr == CALLCHAIN_USER_DEFERRED; /* the cookie is no address */
			continue;
		}
		if (is_return && f->copied && mode == PERF_RECORD_MISC_USER)
			err = put_frame(f, mode, addr - !!addr, false, &by_signal);
		else
			err = put_frame(f, mode, addr, is_return, &by_signal);
		is_return = !by_signal;
	}
	return err;
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
		.user_space = space,
		.pid = sample->pid,
		.kernel_space = process_model_kernel(s->model, sample->time_ns),
		.asked = asked,
	};
	struct script_memory *m = s->memory;
	struct stack_result info;
	struct line line;
	struct frame_location location;
	int err;

	if (!(asked & SCRIPT_IP))
		return 0;
	if (attr->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		m->sample_bytes = 0;
		err = sample_chain_complete(s->chain, &walked, attr, space, RESULT_NOWHERE, &info);
		f.copied = err == 1;
		if (err >= 0)
			err = put(m, "\n", 1);
		if (!err)
			err = put_chain(&f, &walked);
		fwrite(m->sample, 1, m->sample_bytes, to);
		return err;
	}
	putc(' ', to);
	location = find_location(&f, sample->cpumode, sample->ip, false);
	make_line(&f, &location, &line);
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
