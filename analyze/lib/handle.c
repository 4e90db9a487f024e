/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/lib/handle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/lib/sized.h"

/* The sizes of the first release. */
#define OPEN_OPTS_BYTES sizeof(struct ebprec_open_opts)
#define INFO_BYTES      sizeof(struct ebprec_info)
#define EVENT_BYTES     sizeof(struct ebprec_event)
#define PROCESS_BYTES   sizeof(struct ebprec_process)

const char *ebprec_version(void)
{
	return EBPREC_VERSION;
}

/* ---- errors ---- */

int handle_fail(struct ebprec *e, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->error, sizeof(e->error), format, args);
	va_end(args);
	return code;
}

int handle_begin(struct ebprec *e)
{
	e->error[0] = '\0';
	return e->capture ? 0 : handle_fail(e, -EBADF, "no capture is open");
}

const char *ebprec_error(const struct ebprec *e)
{
	return e ? e->error : "Cannot allocate memory";
}

int handle_fail_structure(struct ebprec *e, int code, const char *name)
{
	return handle_fail(e, code, "struct %s: %s", name,
			   code == -E2BIG ? "fields are set that this version does not know"
					  : "its size is not set, or too small");
}

/* ---- opening ---- */

static int fail_open(struct ebprec *e, const char *path, int code, const struct parse_err *where)
{
	const char *kind = code == -EBADMSG   ? "not a capture, nor perf.data"
			   : code == -ENOTSUP ? "not supported"
			   : code == -ENODATA ? "cut short"
					      : strerror(-code);

	if (!where->what)
		return handle_fail(e, code, "cannot open '%s': %s", path, kind);
	if (!where->offset_bytes)
		return handle_fail(e, code, "cannot open '%s': %s: %s", path, kind, where->what);
	return handle_fail(e, code, "cannot open '%s': %s: %s at byte %" PRIu64, path, kind,
			   where->what, where->offset_bytes);
}

static int open_capture(struct ebprec *e, const char *path, const struct ebprec_open_opts *given)
{
	struct parse_err where = { 0 };
	struct ebprec_open_opts opts;
	struct capture *c;
	int err = sized_take(&opts, sizeof(opts), OPEN_OPTS_BYTES, given);

	if (err)
		return handle_fail_structure(e, err, "ebprec_open_opts");
	e->path = strdup(path);
	err = e->path ? capture_open(path, &c, &where) : -ENOMEM;
	if (err)
		return fail_open(e, path, err, &where);
	if (opts.unpack_limit_bytes)
		capture_set_unpack_limit(c, opts.unpack_limit_bytes);
	if (capture_unpacked_bytes(c) > capture_unpack_limit(c)) {
		err = handle_fail(e, -EOVERFLOW,
				  "cannot open '%s': its private objects unpack to %" PRIu64
				  " bytes, more than %" PRIu64,
				  path, capture_unpacked_bytes(c), capture_unpack_limit(c));
		capture_close(c);
		return err;
	}
	e->capture = c;
	return 0;
}

int ebprec_open(const char *path, const struct ebprec_open_opts *opts, struct ebprec **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? open_capture(*out, path, opts) : -ENOMEM;
}

void ebprec_close(struct ebprec *e)
{
	if (!e)
		return;
	for (size_t i = 0; e->args && i < e->process_count; i++)
		free(e->args[i]);
	free(e->args);
	free(e->processes);
	cmdlines_done(&e->cmdlines);
	marks_done(&e->marks);
	free(e->mark_order);
	if (e->has_facts)
		report_done(&e->facts);
	capture_close(e->capture);
	free(e->path);
	free(e);
}

/* ---- facts ---- */

/* A process is the life of its first thread. */
static int list_processes(struct ebprec *e)
{
	const struct tasks *t = &e->facts.tasks;

	e->processes = calloc(t->count + 1, sizeof(*e->processes));
	if (!e->processes)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++)
		if (t->lives[i].pid == t->lives[i].tid)
			e->processes[e->process_count++] = (uint32_t)i;
	return 0;
}

int handle_begin_with_facts(struct ebprec *e)
{
	int err = handle_begin(e);

	if (err || e->has_facts)
		return err;
	err = report_open_with_tasks(e->capture, &e->facts);
	if (!err) {
		err = list_processes(e);
		if (err)
			report_done(&e->facts);
	}
	if (err)
		return handle_fail(e, err, "cannot read the side-band records: %s", strerror(-err));
	e->has_facts = true;
	if (load_choose_event(e->capture, &e->facts.scan, NULL, &e->chosen))
		e->chosen = SIZE_MAX;
	return 0;
}

int ebprec_get_info(struct ebprec *e, struct ebprec_info *out)
{
	struct ebprec_info i = { .size = sizeof(i) };
	const struct capture_damage *damage;
	const struct time_span *span;
	size_t count;
	int err = handle_begin_with_facts(e);

	if (err)
		return err;
	damage = capture_damage(e->capture);
	span = report_span(&e->facts);
	i.hostname = capture_feature_string(e->capture, PERFFILE_HOSTNAME);
	i.kernel_release = capture_feature_string(e->capture, PERFFILE_OSRELEASE);
	i.arch = capture_feature_string(e->capture, PERFFILE_ARCH);
	i.cpu = capture_feature_string(e->capture, PERFFILE_CPUDESC);
	i.file_bytes = capture_file_bytes(e->capture);
	if (span) {
		i.first_sample_ns = span->from_ns;
		i.last_sample_ns = span->to_ns;
	}
	capture_clock(e->capture, &i.clock_ns, &i.wall_ns);
	i.kind = capture_get_kind(e->capture) == CAPTURE_EBX    ? EBPREC_KIND_EBPREC
		 : capture_get_kind(e->capture) == CAPTURE_PIPE ? EBPREC_KIND_PIPE
								: EBPREC_KIND_PERF;
	i.is_unfinished = damage->unfinished || damage->cut;
	i.damaged_blocks = damage->bad_blocks + e->facts.scan.damaged_blocks;
	capture_attrs(e->capture, &count);
	i.event_count = (uint32_t)count;
	i.process_count = (uint32_t)e->process_count;
	err = sized_give(out, &i, sizeof(i), INFO_BYTES);
	return err ? handle_fail_structure(e, err, "ebprec_info") : 0;
}

int ebprec_get_event(struct ebprec *e, size_t index, struct ebprec_event *out)
{
	const struct capture_attr *attrs;
	struct ebprec_event v;
	size_t count;
	int err = handle_begin_with_facts(e);

	if (err)
		return err;
	attrs = capture_attrs(e->capture, &count);
	if (index >= count)
		return handle_fail(e, -ENOENT, "there are %zu events", count);
	v = (struct ebprec_event){
		.size = sizeof(v),
		.name = event_name(&attrs[index]),
		.config = attrs[index].attr.config,
		.period = attrs[index].attr.freq ? 0 : attrs[index].attr.sample_period,
		.freq_hz = attrs[index].attr.freq ? attrs[index].attr.sample_freq : 0,
		.type = attrs[index].attr.type,
		.is_chosen = index == e->chosen,
		.has_stacks = !!(attrs[index].attr.sample_type & PERF_SAMPLE_CALLCHAIN),
	};
	err = sized_give(out, &v, sizeof(v), EVENT_BYTES);
	return err ? handle_fail_structure(e, err, "ebprec_event") : 0;
}

/* ---- processes ---- */

/* NULL: not known.  -ENOMEM. */
static int find_args(struct ebprec *e, size_t process, const char **out)
{
	const struct tasks_life *life = &e->facts.tasks.lives[e->processes[process]];
	const struct cmdline_record *record;
	int err;

	*out = NULL;
	if (!e->args) {
		e->args = calloc(e->process_count + 1, sizeof(*e->args));
		if (!e->args)
			return -ENOMEM;
		err = cmdlines_load(e->capture, &e->cmdlines);
		if (err) {
			free(e->args);
			e->args = NULL;
			return err;
		}
	}
	if (!e->args[process]) {
		record = cmdlines_find(&e->cmdlines, life->pid,
				       life->end_ns ? life->end_ns : UINT64_MAX);
		if (!record || record->time_ns < life->start_ns)
			return 0;
		e->args[process] = cmdlines_line(record);
	}
	*out = e->args[process];
	return *out ? 0 : -ENOMEM;
}

int ebprec_get_process(struct ebprec *e, size_t index, struct ebprec_process *out)
{
	const struct tasks_life *life;
	struct ebprec_process p;
	int err = handle_begin_with_facts(e);

	if (err)
		return err;
	if (index >= e->process_count)
		return handle_fail(e, -ENOENT, "there are %zu processes", e->process_count);
	life = &e->facts.tasks.lives[e->processes[index]];
	p = (struct ebprec_process){
		.size = sizeof(p),
		.comm = life->comm == TASKS_NONE ? NULL
						 : string_table_text(e->facts.names, life->comm),
		.start_ns = life->start_ns,
		.end_ns = life->end_ns,
		.pid = life->pid,
		.ppid = life->ppid,
		.is_kernel = life->is_kernel,
		.was_before = life->was_there,
	};
	err = find_args(e, index, &p.args);
	if (err)
		return handle_fail(e, err, "cannot read the command lines: %s", strerror(-err));
	err = sized_give(out, &p, sizeof(p), PROCESS_BYTES);
	return err ? handle_fail_structure(e, err, "ebprec_process") : 0;
}
