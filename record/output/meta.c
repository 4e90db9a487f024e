/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/meta.h"

#include <time.h>

#include "format/base/json_writer.h"

static void host(struct json *j, const struct hostinfo *h, const struct hostenv *env)
{
	json_begin(j, "host");
	json_string(j, "name", h->hostname);
	json_string(j, "distribution", h->distribution);
	json_string(j, "kernel", h->kernel_release);
	json_string(j, "kernel_version", h->kernel_version);
	json_string(j, "kernel_cmdline", h->kernel_cmdline);
	json_string(j, "arch", h->arch);
	json_string(j, "cpu_model", h->cpu_model);
	json_u64(j, "cpus_online", h->cpus_online);
	json_u64(j, "cpus_present", h->cpus_present);
	json_u64(j, "memory_bytes", h->memory_bytes);
	json_string(j, "governor", h->governor);
	hostenv_json(env, j);
	json_string(j, "virtualisation", h->virtualisation);
	json_string(j, "container", h->container);
	json_string(j, "clocksource", h->clocksource);
	json_u64(j, "boot_wall_ns", h->boot_wall_ns);
	json_end(j);
}

static void options(struct json *j, const struct meta_start *m)
{
	static const char *const stacks[] = {
		[CPU_STACKS_AUTO] = "auto", [CPU_STACKS_CFI] = "cfi",   [CPU_STACKS_FP] = "fp",
		[CPU_STACKS_COPY] = "copy", [CPU_STACKS_NONE] = "none",
	};
	const struct record_opts *o = m->opts;
	unsigned i;

	json_begin(j, "options");
	json_begin_array(j, "command_line");
	for (i = 0; i < (unsigned)o->argc; i++)
		json_string(j, NULL, o->argv[i]);
	json_end_array(j);
	json_bool(j, "system_wide", o->system_wide);
	json_begin_array(j, "pids");
	for (i = 0; i < o->pid_count; i++)
		json_u64(j, NULL, o->pids[i]);
	json_end_array(j);
	json_u64(j, "command_pid", m->command_pid);
	json_bool(j, "bpf", m->bpf);
	json_bool(j, "user_only", m->user_only);
	json_string(j, "event", m->event_name);
	json_u64(j, "freq_hz", o->freq_hz);
	json_u64(j, "duration_ns", o->duration_ns);
	json_u64(j, "zstd_level", o->level);
	json_u64(j, "ring_bytes_per_cpu", m->ring_bytes_per_cpu);
	json_begin_array(j, "instruments");
	for (i = 0; i < m->instrument_count; i++)
		json_string(j, NULL, m->instruments[i]);
	json_end_array(j);
	json_bool(j, "command_lines", o->command_lines);
	json_bool(j, "environment", o->environment);
	json_string(j, "user_stacks", stacks[o->stacks]);
	json_u64(j, "max_frames", o->max_frames);
	json_end(j);
}

void meta_start(struct outbuf *out, const struct meta_start *m)
{
	struct json j = { .out = out };
	time_t seconds = (time_t)(m->wall_ns / 1000000000ULL);
	struct tm utc = { 0 };
	char text[40];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_begin(&j, NULL);
	json_string(&j, "ebprec", EBPREC_VERSION);
	json_string(&j, "started", text);
	json_u64(&j, "start_wall_ns", m->wall_ns);
	json_u64(&j, "start_mono_ns", m->mono_ns);
	host(&j, m->host, m->env);
	options(&j, m);
	json_end(&j);
}

void meta_account(struct outbuf *out, const struct account *a, const struct meta_end *end)
{
	struct json j = { .out = out };

	json_begin(&j, NULL);
	json_string(&j, "ended", end->reason);
	if (end->recorded_ns) {
		json_begin(&j, "segment");
		json_u64(&j, "number", end->number);
		json_u64(&j, "recorded_ns", end->recorded_ns);
		json_u64(&j, "dropped_until_mono_ns", end->dropped_until_ns);
		json_end(&j);
	}
	account_json(&j, a);
	if (end->cpugaps)
		cpugaps_json(end->cpugaps, end->dropped_until_ns, &j);
	json_end(&j);
}
