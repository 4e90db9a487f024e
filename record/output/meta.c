/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/meta.h"

#include <time.h>

#include "format/text/json_writer.h"
#include "record/base/messages.h"

static void host(struct json_writer *j, const struct machine_info *h, const struct machine_env *env)
{
	json_writer_begin(j, "host");
	json_writer_string(j, "name", h->hostname);
	json_writer_string(j, "distribution", h->distribution);
	json_writer_string(j, "kernel", h->kernel_release);
	json_writer_string(j, "kernel_version", h->kernel_version);
	json_writer_string(j, "kernel_cmdline", h->kernel_cmdline);
	json_writer_string(j, "arch", h->arch);
	json_writer_string(j, "cpu_model", h->cpu_model);
	json_writer_u64(j, "cpus_online", h->cpus_online);
	json_writer_u64(j, "cpus_present", h->cpus_present);
	json_writer_u64(j, "memory_bytes", h->memory_bytes);
	json_writer_string(j, "governor", h->governor);
	machine_env_json(env, j);
	json_writer_string(j, "virtualisation", h->virtualisation);
	json_writer_string(j, "container", h->container);
	json_writer_string(j, "clocksource", h->clocksource);
	json_writer_u64(j, "boot_wall_ns", h->boot_wall_ns);
	json_writer_end(j);
}

static void names(struct json_writer *j, const char *key, const struct option_list *list)
{
	json_writer_begin_array(j, key);
	for (unsigned i = 0; i < list->count; i++)
		json_writer_string(j, NULL, list->values[i]);
	json_writer_end_array(j);
}

static void selection(struct json_writer *j, const struct record_opts *o)
{
	json_writer_begin(j, "selection");
	names(j, "cgroups", &o->cgroups);
	names(j, "units", &o->units);
	names(j, "containers", &o->containers);
	names(j, "comms", &o->comms);
	json_writer_end(j);
}

static void options(struct json_writer *j, const struct meta_start *m)
{
	static const char *const stacks[] = {
		[CPU_STACKS_AUTO] = "auto", [CPU_STACKS_CFI] = "cfi",   [CPU_STACKS_FP] = "fp",
		[CPU_STACKS_COPY] = "copy", [CPU_STACKS_NONE] = "none",
	};
	const struct record_opts *o = m->opts;
	unsigned i;

	json_writer_begin(j, "options");
	json_writer_begin_array(j, "command_line");
	for (i = 0; i < (unsigned)o->argc; i++)
		json_writer_string(j, NULL, o->argv[i]);
	json_writer_end_array(j);
	json_writer_bool(j, "system_wide", o->system_wide);
	json_writer_begin_array(j, "pids");
	for (i = 0; i < o->pid_count; i++)
		json_writer_u64(j, NULL, o->pids[i]);
	json_writer_end_array(j);
	if (o->selects)
		selection(j, o);
	json_writer_u64(j, "command_pid", m->command_pid);
	json_writer_bool(j, "bpf", m->bpf);
	json_writer_bool(j, "user_only", m->user_only);
	json_writer_string(j, "event", m->event_name);
	json_writer_u64(j, "freq_hz", o->freq_hz);
	json_writer_u64(j, "samples_per_hour", o->samples_an_hour);
	json_writer_u64(j, "duration_ns", o->duration_ns);
	json_writer_u64(j, "zstd_level", o->level);
	json_writer_u64(j, "ring_bytes_per_cpu", m->ring_bytes_per_cpu);
	json_writer_begin_array(j, "instruments");
	for (i = 0; i < m->instrument_count; i++)
		json_writer_string(j, NULL, m->instruments[i]);
	json_writer_end_array(j);
	json_writer_u64(j, "pid_namespace", m->pid_namespace);
	json_writer_bool(j, "command_lines", o->command_lines);
	json_writer_bool(j, "environment", o->environment);
	json_writer_string(j, "user_stacks", stacks[o->stacks]);
	json_writer_u64(j, "max_frames", o->max_frames);
	json_writer_end(j);
}

void meta_start(struct outbuf *out, const struct meta_start *m)
{
	struct json_writer j = { .out = out };
	time_t seconds = (time_t)(m->wall_ns / 1000000000ULL);
	struct tm utc = { 0 };
	char text[40];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_writer_begin(&j, NULL);
	json_writer_string(&j, "ebprec", EBPREC_VERSION);
	json_writer_string(&j, "started", text);
	json_writer_u64(&j, "start_wall_ns", m->wall_ns);
	json_writer_u64(&j, "start_mono_ns", m->mono_ns);
	host(&j, m->host, m->env);
	options(&j, m);
	json_writer_end(&j);
}

void meta_account(struct outbuf *out, const struct account *a, const struct meta_end *end)
{
	struct json_writer j = { .out = out };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "ended", end->reason);
	json_writer_u64(&j, "ended_mono_ns", end->mono_ns);
	if (end->recorded_ns) {
		json_writer_begin(&j, "segment");
		json_writer_u64(&j, "number", end->number);
		json_writer_u64(&j, "recorded_ns", end->recorded_ns);
		json_writer_u64(&j, "dropped_until_mono_ns", end->dropped_until_ns);
		json_writer_end(&j);
	}
	account_json(&j, a);
	if (end->cpugaps)
		cpu_gaps_json(end->cpugaps, end->dropped_until_ns, &j);
	if (end->notes)
		notes_json(end->notes, &j);
	json_writer_end(&j);
}
