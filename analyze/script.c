/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/script.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/load.h"
#include "analyze/naming.h"
#include "analyze/say.h"
#include "format/cursor.h"
#include "format/perfrec.h"

#define NS_PER_SECOND 1000000000u

static const struct {
	const char *name;
	unsigned field;
} fields[] = {
	{ "comm", SCRIPT_COMM },     { "pid", SCRIPT_PID },       { "tid", SCRIPT_TID },
	{ "cpu", SCRIPT_CPU },       { "time", SCRIPT_TIME },     { "period", SCRIPT_PERIOD },
	{ "event", SCRIPT_EVENT },   { "trace", SCRIPT_TRACE },   { "ip", SCRIPT_IP },
	{ "sym", SCRIPT_SYM },       { "symoff", SCRIPT_SYMOFF }, { "dso", SCRIPT_DSO },
	{ "cgroup", SCRIPT_CGROUP },
};

int script_parse_fields(const char *text, unsigned *out, const char **bad, size_t *bad_bytes)
{
	unsigned found = 0;
	const char *end;
	size_t size, i;

	for (;; text = end + 1) {
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
		found |= fields[i].field;
		if (!*end)
			break;
	}
	*out = found;
	return 0;
}

unsigned script_default_fields(const struct capture_attr *attr)
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

/* What is printed of a frame. */
struct line {
	uint64_t addr, into_bytes;
	const char *name, *dso; /* NULL: not known */
	char made_dso[32];
};

/* perf calls memory without a file after where a JIT compiler would put its names. */
static bool is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/anon_hugepage", 14);
}

static void user_line(const struct script *s, uint32_t space, uint32_t pid, uint64_t addr,
		      bool is_return, struct line *out)
{
	uint64_t look = addr - (is_return && addr);
	const struct resolved *r;
	struct model_place place;
	uint32_t file;

	*out = (struct line){ .addr = addr };
	if (!model_place(s->model, space, look, &place))
		return;
	file = naming_file(s->model, place.file, s->resolver);
	out->addr = place.file_off_bytes + (addr - look);
	r = resolver_user(s->resolver, file, out->addr, is_return);
	out->dso = model_file(s->model, place.file)->path;
	out->name = r->name;
	out->into_bytes = r->into_bytes;
	if (!is_anonymous(out->dso))
		return;
	out->addr = addr;
	snprintf(out->made_dso, sizeof(out->made_dso), "/tmp/perf-%" PRIu32 ".map", pid);
	out->dso = out->made_dso;
}

static void kernel_line(const struct script *s, uint32_t space, uint64_t addr, bool is_return,
			struct line *out)
{
	const struct resolved *r;
	struct model_place place;
	bool mapped = model_place(s->model, space, addr - (is_return && addr), &place);

	*out = (struct line){ .addr = addr };
	if (mapped && model_file(s->model, place.file)->is_ksymbol) {
		out->name = out->dso = model_file(s->model, place.file)->path;
		out->into_bytes = place.file_off_bytes + (is_return && addr);
		return;
	}
	r = resolver_kernel(s->resolver, addr, is_return);
	out->name = r->name;
	out->dso = r->name || mapped ? r->dso : NULL;
	out->into_bytes = r->into_bytes;
}

static void write_name(const char *text, FILE *to)
{
	say_escaped(to, text, strlen(text));
}

static void write_line(const struct line *line, unsigned asked, FILE *to)
{
	if (asked & SCRIPT_IP)
		fprintf(to, "%16" PRIx64, line->addr);
	if (asked & SCRIPT_SYM) {
		putc(' ', to);
		write_name(line->name ? line->name : "[unknown]", to);
		if (line->name && asked & SCRIPT_SYMOFF)
			fprintf(to, "+0x%" PRIx64, line->into_bytes);
	}
	if (asked & SCRIPT_DSO) {
		fputs(" (", to);
		write_name(line->dso ? line->dso : "[unknown]", to);
		putc(')', to);
	}
}

struct frames {
	const struct script *s;
	uint32_t user_space, kernel_space, pid;
	unsigned asked;
	FILE *to;
};

static void find_line(const struct frames *f, unsigned mode, uint64_t addr, bool is_return,
		      struct line *line)
{
	if (mode == PERF_RECORD_MISC_KERNEL)
		kernel_line(f->s, f->kernel_space, addr, is_return, line);
	else if (mode == PERF_RECORD_MISC_USER)
		user_line(f->s, f->user_space, f->pid, addr, is_return, line);
	else
		*line = (struct line){ .addr = addr };
}

/* The innermost frame of each context is an address, the others are where calls return to. */
static void write_chain(const struct frames *f, const struct perf_sample *sample)
{
	unsigned mode = sample->cpumode;
	bool is_return = false;
	struct line line;

	for (size_t i = 0; i < sample->chain_count; i++) {
		uint64_t addr = le64_load(sample->chain + 8 * i);

		if (addr >= PERF_CONTEXT_MAX) {
			mode = addr == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL
			       : addr == PERF_CONTEXT_USER ? PERF_RECORD_MISC_USER
							   : PERF_RECORD_MISC_CPUMODE_UNKNOWN;
			is_return = false;
			continue;
		}
		find_line(f, mode, addr, is_return, &line);
		putc('\t', f->to);
		write_line(&line, f->asked, f->to);
		putc('\n', f->to);
		is_return = true;
	}
}

/* ---- the event ---- */

static void write_comm(const struct script *s, const struct perf_sample *sample, uint32_t comm,
		       bool with_chains, FILE *to)
{
	char unknown[16];
	const char *text = unknown;

	if (comm == MODEL_NONE)
		snprintf(unknown, sizeof(unknown), ":%" PRId32, (int32_t)sample->tid);
	else
		text = strings_text(s->names, comm);
	if (!with_chains && strlen(text) < 16)
		fprintf(to, "%*s", 16 - (int)strlen(text), "");
	write_name(text, to);
	putc(' ', to);
}

static void write_start(const struct script *s, const struct perf_sample *sample, uint64_t types,
			uint32_t comm, unsigned asked, FILE *to)
{
	if (asked & SCRIPT_COMM)
		write_comm(s, sample, comm, s->any_chain && asked & SCRIPT_IP, to);
	if (asked & SCRIPT_PID && asked & SCRIPT_TID)
		fprintf(to, "%5" PRId32 "/%-5" PRId32 " ", (int32_t)sample->pid,
			(int32_t)sample->tid);
	else if (asked & (SCRIPT_PID | SCRIPT_TID))
		fprintf(to, "%5" PRId32 " ",
			(int32_t)(asked & SCRIPT_PID ? sample->pid : sample->tid));
	if (asked & SCRIPT_CPU && types & PERF_SAMPLE_CPU)
		fprintf(to, "[%03" PRId32 "] ", sample->cpu);
	if (asked & SCRIPT_TIME && types & PERF_SAMPLE_TIME) {
		if (s->ns)
			fprintf(to, "%5" PRIu64 ".%09" PRIu64 ": ", sample->time_ns / NS_PER_SECOND,
				sample->time_ns % NS_PER_SECOND);
		else
			fprintf(to, "%5" PRIu64 ".%06" PRIu64 ": ", sample->time_ns / NS_PER_SECOND,
				sample->time_ns % NS_PER_SECOND / 1000);
	}
}

static void write_event(const struct script *s, const struct perf_sample *sample,
			const struct capture_attr *attr, unsigned asked, FILE *to)
{
	uint64_t period = sample->period;

	if (!(attr->attr.sample_type & PERF_SAMPLE_PERIOD))
		period = attr->attr.freq ? 1 : attr->attr.sample_period;
	if (asked & SCRIPT_PERIOD)
		fprintf(to, "%10" PRIu64 " ", period);
	if (asked & SCRIPT_EVENT)
		fprintf(to, "%*s: ", s->event_width, load_event_name(attr));
	if (asked & SCRIPT_TRACE && attr->attr.type == PERF_TYPE_TRACEPOINT && s->trace &&
	    sample->raw_bytes)
		tracetext_write(s->trace, attr->attr.config, sample->raw, sample->raw_bytes,
				sample->cpu, to);
}

static void write_stack(const struct script *s, const struct perf_sample *sample, uint64_t types,
			uint32_t space, unsigned asked, FILE *to)
{
	struct frames f = {
		.s = s,
		.user_space = space,
		.pid = sample->pid,
		.kernel_space = model_kernel(s->model, sample->time_ns),
		.asked = asked,
		.to = to,
	};
	struct line line;

	if (!(asked & SCRIPT_IP))
		return;
	if (types & PERF_SAMPLE_CALLCHAIN) {
		putc('\n', to);
		write_chain(&f, sample);
		return;
	}
	putc(' ', to);
	find_line(&f, sample->cpumode, sample->ip, false, &line);
	line.addr = sample->ip; /* as it was, when it stands alone */
	write_line(&line, asked, to);
}

int script_sample(const struct script *s, const struct perf_event_header *header,
		  const struct capture_attr *attr, FILE *to)
{
	unsigned asked = s->fields ? s->fields : script_default_fields(attr);
	uint64_t types = attr->attr.sample_type;
	struct perf_sample sample;
	struct model_where where;
	uint32_t cgroup;

	if (perfrec_sample(header, header->size, &attr->attr, &sample, NULL))
		return -EBADMSG;
	model_thread(s->model, sample.pid, sample.tid, sample.time_ns, &where);
	write_start(s, &sample, types, where.comm, asked, to);
	write_event(s, &sample, attr, asked, to);
	if (asked & SCRIPT_CGROUP) {
		cgroup = model_cgroup(s->model, sample.cgroup);
		putc(' ', to);
		write_name(cgroup == MODEL_NONE ? "unknown" : strings_text(s->names, cgroup), to);
	}
	write_stack(s, &sample, types, where.space, asked, to);
	putc('\n', to);
	return 0;
}
