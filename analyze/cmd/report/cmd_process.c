/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec report --process - threads, programs, mappings, mounts and cgroup of one process */
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/report/cmd_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/summary/cmd_summary_processes.h"
#include "analyze/export/exporter.h"
#include "analyze/input/perf_features.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/out/message.h"
#include "format/base/vec.h"
#include "analyze/out/text_table.h"
#include "format/base/cursor.h"

#define MNT_INDEX 5  /* of the namespaces in a record: linux/perf_event.h */
#define ID_BYTES  32 /* of the sample_id behind them, as captures have it */
#define HOST_OFF  20 /* in that: what the host calls the thread (FORMAT.md 4.7) */

struct program { /* from a fork or exec to the next */
	uint64_t since_ns;
	uint32_t comm;
};

struct program_map {
	struct process_model_map map;
	uint32_t program;
	char build_id[BUILDID_HEX_BYTES];
	char *path; /* owned */
};

struct thread {
	uint32_t tid;
	struct group group;  /* of its samples; comm as they have it */
	uint64_t started_ns; /* 0: before the recording */
	uint32_t comm;       /* its last name, in the list's names */
	uint64_t samples;
};

struct process {
	const struct process_ask *ask;
	struct report *report;
	struct program *programs;
	size_t program_count, program_capacity;
	struct program_map *maps;
	size_t map_count, map_capacity;
	struct summary_processes processes;
	struct summary runs; /* only its time by context switches is asked for */
	struct thread *threads;
	size_t thread_count, thread_capacity;
	uint32_t ppid, cgroup; /* UINT32_MAX: not known */
	uint64_t mount_ns;     /* 0: not recorded */
	uint32_t host_pid;     /* the same */
	uint64_t samples, period;
};

/* ---- the side-band ---- */

static int add_maps(struct process *p, const struct process_model *m, uint32_t epoch)
{
	uint32_t space = process_model_epoch_space(m, epoch);
	struct program_map next = { .program = (uint32_t)p->program_count };
	const struct process_model_file *f;
	uint64_t at = 0;

	for (; process_model_next_map(m, space, at, &next.map); at = next.map.end) {
		if (vec_reserve(&p->maps, &p->map_capacity, p->map_count + 1))
			return -ENOMEM;
		f = process_model_file(m, next.map.file);
		buildid_hex(&f->id.build_id, next.build_id);
		next.path = strdup(f->path);
		if (!next.path)
			return -ENOMEM;
		p->maps[p->map_count++] = next;
		if (next.map.end <= at)
			break;
	}
	return 0;
}

static int add_programs(struct process *p)
{
	const struct process_model *m = p->report->model;
	struct process_model_where where;
	uint64_t end_ns;
	int err = 0;

	for (uint32_t e = 0; !err && e < process_model_epoch_count(m); e++) {
		if (process_model_epoch_pid(m, e) != p->ask->pid)
			continue;
		/* Its name at its end: before the next one began. */
		end_ns = UINT64_MAX;
		for (uint32_t next = e + 1; next < process_model_epoch_count(m); next++)
			if (process_model_epoch_pid(m, next) == p->ask->pid &&
			    process_model_epoch_since(m, next) < end_ns)
				end_ns = process_model_epoch_since(m, next) - 1;
		process_model_thread(m, p->ask->pid, p->ask->pid, end_ns, &where);
		err = add_maps(p, m, e);
		if (!err)
			err = vec_reserve(&p->programs, &p->program_capacity, p->program_count + 1);
		if (!err)
			p->programs[p->program_count++] =
				(struct program){ process_model_epoch_since(m, e), where.comm };
	}
	return err;
}

static int thread_of(struct process *p, uint32_t tid, struct thread **out)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		if (p->threads[i].tid == tid) {
			*out = &p->threads[i];
			return 0;
		}
	}
	if (vec_reserve(&p->threads, &p->thread_capacity, p->thread_count + 1))
		return -ENOMEM;
	p->threads[p->thread_count] = (struct thread){ .tid = tid, .comm = PROCESS_MODEL_NONE };
	*out = &p->threads[p->thread_count++];
	return 0;
}

static int add_threads(struct process *p)
{
	const struct tasks *known = p->processes.known;
	struct thread *t;
	int err = 0;

	for (size_t i = 0; !err && i < known->count; i++) {
		const struct tasks_life *e = &known->lives[i];

		if (e->pid != p->ask->pid)
			continue;
		err = thread_of(p, e->tid, &t);
		if (err)
			break;
		t->started_ns = e->was_there ? 0 : e->start_ns;
		t->comm = e->comm;
		if (e->tid == e->pid)
			p->ppid = e->ppid;
	}
	return err;
}

/* NAMESPACES: pid, tid, how many, then device and inode of each; sample_id. */
static void see_namespaces(struct process *p, const struct perf_event_header *header)
{
	struct cursor c = cursor_of(header + 1, header->size - sizeof(*header));
	uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
	uint64_t count = cursor_u64(&c), inode;

	for (uint64_t i = 0; i < count && !c.bad; i++) {
		cursor_u64(&c);
		inode = cursor_u64(&c);
		if (!c.bad && pid == p->ask->pid && i == MNT_INDEX)
			p->mount_ns = inode;
	}
	if (pid != p->ask->pid || tid != pid || cursor_left(&c) != ID_BYTES)
		return;
	cursor_skip(&c, HOST_OFF);
	p->host_pid = cursor_u32(&c);
}

static int read_namespaces(struct process *p)
{
	struct record_iter *it;
	struct record rec;
	int err = record_iter_new(p->report->capture, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while (record_iter_next(it, &rec) == 1)
		if (rec.header->type == PERF_RECORD_NAMESPACES)
			see_namespaces(p, rec.header);
	record_iter_free(it);
	return 0;
}

/* ---- the samples ---- */

static int add_samples(struct process *p)
{
	struct report *r = p->report;
	size_t count;
	const struct group *groups = groups_list(r->groups, &count);
	struct thread *t;
	int err = 0;

	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];

		err = thread_of(p, groups[e->key.group].tid, &t);
		if (err)
			break;
		t->group = groups[e->key.group];
		t->samples += e->sample_count;
		p->samples += e->sample_count;
		p->period += e->period_sum;
		p->cgroup = (uint32_t)t->group.cgroup;
	}
	return err;
}

static int by_samples(const void *va, const void *vb)
{
	const struct thread *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* ---- the answer ---- */

static const char *name_of(const struct process *p, uint32_t comm)
{
	return comm == PROCESS_MODEL_NONE ? "[unknown]" : string_table_text(p->report->names, comm);
}

/* Times are shown from the first sample on; what was there before, as 0. */
static void view_since(struct text_table *v, const struct process *p, const char *key,
		       uint64_t time_ns)
{
	uint64_t from_ns = p->report->scan.span_known ? p->report->scan.span.from_ns : 0;

	text_table_ns(v, key, time_ns > from_ns ? time_ns - from_ns : 0);
}

static void show_life(struct text_table *v, const struct process *p)
{
	uint64_t run_ns = summary_processes_sampled_ns(&p->processes, p->samples, p->period);

	for (size_t i = 0; i < p->runs.count; i++)
		if (p->runs.rows[i].pid == p->ask->pid)
			run_ns = saturate_add(run_ns, p->runs.rows[i].run_ns);
	summary_processes_show_life(v, &p->processes, p->ask->pid, p->ask->json);
	summary_processes_show_cpu_time(v, &p->processes, run_ns);
}

static void show_process(struct text_table *v, const struct process *p)
{
	const struct capture *c = p->report->capture;
	const char *host = capture_feature_string(c, PERFFILE_HOSTNAME),
		   *kernel = capture_feature_string(c, PERFFILE_OSRELEASE);
	const char *cgroup = p->cgroup == UINT32_MAX ? "[unknown]" : name_of(p, p->cgroup);
	char container[CONTAINER_NAMES_TEXT_MAX], *command;

	text_table_section(v, "process");
	text_table_number(v, "pid", p->ask->pid);
	if (p->host_pid)
		text_table_number(v, "host_pid", p->host_pid);
	if (p->ppid != UINT32_MAX)
		text_table_number(v, "parent", p->ppid);
	text_table_text(v, "comm",
			name_of(p, p->program_count ? p->programs[p->program_count - 1].comm
						    : PROCESS_MODEL_NONE));
	show_life(v, p);
	text_table_number(v, "samples", p->samples);
	text_table_number(v, "threads", p->thread_count);
	text_table_text(v, "cgroup", cgroup);
	container_names_text(p->report->containers, cgroup, container);
	text_table_text(v, "container", container);
	if (p->mount_ns)
		text_table_number(v, "mount_namespace", p->mount_ns);
	text_table_section(v, "recorded");
	text_table_text(v, "file", p->ask->input);
	if (host)
		text_table_text(v, "host", host);
	if (kernel)
		text_table_text(v, "kernel", kernel);
	if (!feature_command_line(c, &command)) {
		text_table_text(v, "command", command);
		free(command);
	}
}

/* The command line of the process as this program; NULL: not recorded. */
static const struct cmdline_record *args_of(const struct process *p, size_t program)
{
	uint64_t end_ns = program + 1 < p->program_count ? p->programs[program + 1].since_ns - 1
							 : UINT64_MAX;

	return tasks_cmdline(p->processes.known, &p->processes.cmdlines, p->ask->pid, end_ns);
}

static int show_programs(struct text_table *v, const struct process *p)
{
	static const char *const columns[] = { "since", "comm", "command_line" };
	const struct cmdline_record *args;
	char *line;

	text_table_begin(v, "programs", columns, 3);
	for (size_t i = 0; i < p->program_count; i++) {
		args = args_of(p, i);
		line = args ? cmdlines_line(args) : strdup("");
		if (!line)
			return -ENOMEM;
		text_table_row(v);
		view_since(v, p, "since", p->programs[i].since_ns);
		text_table_text(v, "comm", name_of(p, p->programs[i].comm));
		text_table_text(v, "command_line", line);
		free(line);
	}
	text_table_end(v);
	return 0;
}

static size_t until(const char *text, size_t bytes, char c)
{
	const char *at = memchr(text, c, bytes);

	return at ? (size_t)(at - text) : bytes;
}

/* The environment of its last program; only there when the recording was asked for it. */
static void show_environment(struct text_table *v, const struct process *p)
{
	static const char *const columns[] = { "variable", "value" };
	const struct cmdline_record *args = p->program_count ? args_of(p, p->program_count - 1)
							     : NULL;
	size_t bytes, name_bytes;
	const char *text;

	text_table_begin(v, "environment", columns, 2);
	for (size_t at = 0; args && at < args->env_bytes; at += bytes + 1) {
		text = args->env + at;
		bytes = strnlen(text, args->env_bytes - at);
		name_bytes = until(text, bytes, '=');
		text_table_row(v);
		text_table_bytes_text(v, "variable", text, name_bytes);
		text_table_bytes_text(v, "value", text + name_bytes + (name_bytes < bytes),
				      bytes - name_bytes - (name_bytes < bytes));
	}
	text_table_end(v);
}

static void show_threads(struct text_table *v, struct process *p)
{
	static const char *const columns[] = { "tid", "comm", "started", "samples" };
	char unknown[16];

	if (p->thread_count)
		qsort(p->threads, p->thread_count, sizeof(*p->threads), by_samples);
	text_table_begin(v, "threads", columns, 4);
	for (size_t i = 0; i < p->thread_count; i++) {
		struct thread *t = &p->threads[i];

		text_table_row(v);
		text_table_number(v, "tid", t->tid);
		text_table_text(v, "comm",
				t->comm == PROCESS_MODEL_NONE && t->samples
					? export_comm(p->report, &t->group, unknown)
					: name_of(p, t->comm));
		view_since(v, p, "started", t->started_ns);
		text_table_number(v, "samples", t->samples);
	}
	text_table_end(v);
}

static void show_maps(struct text_table *v, const struct process *p)
{
	static const char *const columns[] = { "program", "start", "end",
					       "offset",  "path",  "build_id" };
	char text[24];

	text_table_begin(v, "maps", columns, 6);
	for (size_t i = 0; i < p->map_count; i++) {
		const struct program_map *m = &p->maps[i];

		text_table_row(v);
		text_table_number(v, "program", m->program);
		snprintf(text, sizeof(text), "0x%" PRIx64, m->map.start);
		text_table_complete_text(v, "start", text);
		snprintf(text, sizeof(text), "0x%" PRIx64, m->map.end);
		text_table_complete_text(v, "end", text);
		snprintf(text, sizeof(text), "0x%" PRIx64, m->map.file_off_bytes);
		text_table_complete_text(v, "offset", text);
		text_table_text(v, "path", m->path);
		text_table_text(v, "build_id", m->build_id);
	}
	text_table_end(v);
}

/* The last record of its mount namespace. */
static int show_mounts(struct text_table *v, const struct process *p)
{
	const struct capture *c = p->report->capture;
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	uint8_t *data;
	int err;

	while (p->mount_ns && count--) {
		if (o[count].kind != EBX_MOUNTS || o[count].object != p->mount_ns)
			continue;
		err = capture_object_read(c, &o[count], &data, &size_bytes);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		text_table_section(v, "mounts");
		text_table_lines(v, "mountinfo", (const char *)data, size_bytes);
		free(data);
		break;
	}
	return 0;
}

static int show(struct process *p)
{
	struct text_table *v;
	int err = text_table_open(stdout, p->ask->json, &v), close_err;

	if (err)
		return err;
	show_process(v, p);
	err = show_programs(v, p);
	show_threads(v, p);
	show_maps(v, p);
	show_environment(v, p);
	if (!err)
		err = show_mounts(v, p);
	close_err = text_table_close(v);
	return err ? err : close_err;
}

static int gather(struct process *p, struct picked *picked)
{
	int err = summary_processes_load(p->report, picked, NULL, &p->runs, NULL, &p->processes);

	if (!err)
		err = add_programs(p);

	if (!err)
		err = add_threads(p);
	if (!err)
		err = read_namespaces(p);
	picked->query.fields |= GROUP_TID | GROUP_CGROUP;
	if (!err)
		err = report_make(p->report, &picked->query);
	return err ? err : add_samples(p);
}

static int answer(const struct process_ask *ask, struct report *r, struct picked *picked)
{
	struct process p = { .ask = ask, .report = r, .ppid = UINT32_MAX, .cgroup = UINT32_MAX };
	int status, err;

	status = pick_options_resolve(&ask->pick, ask->usage, ask->input, ask->quiet, r, picked);
	if (status)
		return status;
	err = gather(&p, picked);
	if (!err)
		print_quality_periods(r, ask->input);
	if (err)
		status = message_error("cannot report '%s': %s", ask->input, strerror(-err));
	else if (!p.program_count && !p.samples)
		status = message_error("there is no process %" PRIu32
				       " in '%s' (see 'ebprec summary' for those that ran)",
				       ask->pid, ask->input);
	else if (show(&p))
		status = message_error("cannot report '%s': %s", ask->input, strerror(ENOMEM));
	for (size_t i = 0; i < p.map_count; i++)
		free(p.maps[i].path);
	free(p.maps);
	summary_processes_done(&p.processes);
	summary_done(&p.runs);
	free(p.programs);
	free(p.threads);
	return status;
}

int cmd_process(const struct process_ask *ask)
{
	struct picked picked;
	struct cmd_open in;
	int status;

	status = pick_options_parse(&ask->pick, ask->usage, &picked);
	if (status)
		return status;
	status = cmd_open_with_tasks(ask->input, "report", ask->quiet, &in);
	if (!status) {
		if (ask->json)
			container_names_complete_ids(in.report.containers);
		status = answer(ask, &in.report, &picked);
		cmd_close(&in);
	}
	pick_options_done(&picked);
	return status;
}
