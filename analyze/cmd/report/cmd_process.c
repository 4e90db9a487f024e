/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec report --process - threads, programs, mappings, mounts and cgroup of one process */
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/report/cmd_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/print_quality.h"
#include "analyze/cmd/summary/cmd_summary_processes.h"
#include "analyze/export/exporter.h"
#include "analyze/input/perf_features.h"
#include "analyze/report/key/row_keys.h"
#include "analyze/report/process/process_facts.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"

struct shown {
	const struct process_ask *ask;
	const struct report *report;
	struct process_facts facts;
};

static const char *name_of(const struct shown *p, uint32_t comm)
{
	return comm == PROCESS_MODEL_NONE ? "[unknown]" : string_table_text(p->report->names, comm);
}

/* Times are shown from the first sample on; what was there before, as 0. */
static void view_since(struct text_table *v, const struct shown *p, const char *key,
		       uint64_t time_ns)
{
	uint64_t from_ns = p->report->scan.span_known ? p->report->scan.span.from_ns : 0;

	text_table_ns(v, key, time_ns > from_ns ? time_ns - from_ns : 0);
}

static void show_life(struct text_table *v, const struct shown *p)
{
	summary_processes_show_life(v, &p->facts.processes, p->ask->pid, p->ask->json);
	summary_processes_show_cpu_time(v, &p->facts.processes, p->facts.run_ns);
}

static void show_process(struct text_table *v, const struct shown *p)
{
	const struct capture *c = p->report->capture;
	const char *host = capture_feature_string(c, PERFFILE_HOSTNAME),
		   *kernel = capture_feature_string(c, PERFFILE_OSRELEASE);
	const char *cgroup = p->facts.cgroup == UINT32_MAX ? "[unknown]"
							   : name_of(p, p->facts.cgroup);
	char container[CONTAINER_NAMES_TEXT_MAX], *command;

	text_table_section(v, "process");
	text_table_number(v, "pid", p->ask->pid);
	if (p->facts.host_pid)
		text_table_number(v, "host_pid", p->facts.host_pid);
	if (p->facts.ppid != UINT32_MAX)
		text_table_number(v, "parent", p->facts.ppid);
	text_table_text(v, "comm",
			name_of(p, p->facts.program_count
					   ? p->facts.programs[p->facts.program_count - 1].comm
					   : PROCESS_MODEL_NONE));
	show_life(v, p);
	text_table_number(v, "samples", p->facts.samples);
	text_table_number(v, "threads", p->facts.thread_count);
	text_table_text(v, "cgroup", cgroup);
	container_names_text(p->report->containers, cgroup, container);
	text_table_text(v, "container", container);
	if (p->facts.mount_ns)
		text_table_number(v, "mount_namespace", p->facts.mount_ns);
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

static int show_programs(struct text_table *v, const struct shown *p)
{
	static const char *const columns[] = { "since", "comm", "command_line" };
	const struct cmdline_record *args;
	char *line;

	text_table_begin(v, "programs", columns, 3);
	for (size_t i = 0; i < p->facts.program_count; i++) {
		args = process_facts_cmdline(&p->facts, i);
		line = args ? cmdlines_line(args) : strdup("");
		if (!line)
			return -ENOMEM;
		text_table_row(v);
		view_since(v, p, "since", p->facts.programs[i].since_ns);
		text_table_text(v, "comm", name_of(p, p->facts.programs[i].comm));
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
static void show_environment(struct text_table *v, const struct shown *p)
{
	static const char *const columns[] = { "variable", "value" };
	const struct cmdline_record *args = p->facts.program_count
						    ? process_facts_cmdline(
							      &p->facts, p->facts.program_count - 1)
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

static void show_threads(struct text_table *v, const struct shown *p)
{
	static const char *const columns[] = { "tid", "comm", "started", "samples" };
	char unknown[16];

	text_table_begin(v, "threads", columns, 4);
	for (size_t i = 0; i < p->facts.thread_count; i++) {
		const struct process_thread *t = &p->facts.threads[i];

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

static void show_maps(struct text_table *v, const struct shown *p)
{
	static const char *const columns[] = { "program", "start", "end",
					       "offset",  "path",  "build_id" };
	char text[24];

	text_table_begin(v, "maps", columns, 6);
	for (size_t i = 0; i < p->facts.map_count; i++) {
		const struct process_program_map *m = &p->facts.maps[i];

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

static int show_mounts(struct text_table *v, const struct shown *p)
{
	size_t size_bytes;
	uint8_t *data;
	int err = process_facts_mounts(&p->facts, p->report->capture, &data, &size_bytes);

	if (err)
		return err == -ENOMEM ? err : 0;
	text_table_section(v, "mounts");
	text_table_lines(v, "mountinfo", (const char *)data, size_bytes);
	free(data);
	return 0;
}

static int show(const struct shown *p)
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

static int answer(const struct process_ask *ask, struct report *r, struct picked *picked)
{
	struct shown p = { .ask = ask, .report = r };
	int status, err;

	status = pick_options_resolve(&ask->pick, ask->usage, ask->input, ask->quiet, r, picked);
	if (status)
		return status;
	err = process_facts_make(r, ask->pid, &picked->query, &p.facts);
	if (!err)
		print_quality_periods(r, ask->input);
	if (err)
		status = message_error("cannot report '%s': %s", ask->input, strerror(-err));
	else if (!p.facts.program_count && !p.facts.samples)
		status = message_error("there is no process %" PRIu32
				       " in '%s' (see 'ebprec summary' for those that ran)",
				       ask->pid, ask->input);
	else if (show(&p))
		status = message_error("cannot report '%s': %s", ask->input, strerror(ENOMEM));
	process_facts_done(&p.facts);
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
