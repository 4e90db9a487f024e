/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/meta.h"

#include <time.h>

#include "record/json.h"

static void host(struct json *j, const struct hostinfo *h)
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
	json_string(j, "virtualisation", h->virtualisation);
	json_string(j, "container", h->container);
	json_string(j, "clocksource", h->clocksource);
	json_u64(j, "boot_wall_ns", h->boot_wall_ns);
	json_end(j);
}

static void options(struct json *j, const struct meta_start *m)
{
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
	json_string(j, "event", m->event_name);
	json_u64(j, "freq_hz", o->freq_hz);
	json_u64(j, "duration_ns", o->duration_ns);
	json_u64(j, "zstd_level", o->level);
	json_u64(j, "ring_bytes_per_cpu", m->ring_bytes_per_cpu);
	json_begin_array(j, "instruments");
	for (i = 0; i < m->instrument_count; i++)
		json_string(j, NULL, m->instruments[i]);
	json_end_array(j);
	json_string(j, "user_stacks", "frame pointers");
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
	host(&j, m->host);
	options(&j, m);
	json_end(&j);
}

void meta_account(struct outbuf *out, const struct account *a, const char *end_reason)
{
	struct json j = { .out = out };

	json_begin(&j, NULL);
	json_string(&j, "ended", end_reason);
	json_u64(&j, "duration_ns", a->duration_ns);
	json_u64(&j, "samples", a->sample_count);
	json_u64(&j, "switches", a->switch_count);
	json_u64(&j, "marks", a->mark_count);
	json_u64(&j, "side_records", a->side_count);
	json_begin(&j, "lost");
	json_u64(&j, "samples", a->lost_count[EBPREC_EV_CPU]);
	json_u64(&j, "switches", a->lost_count[EBPREC_EV_SWITCH]);
	json_u64(&j, "marks", a->lost_count[EBPREC_EV_MARK]);
	json_u64(&j, "side_records", a->side_lost_count);
	json_u64(&j, "broken_events", a->broken_event_count);
	json_u64(&j, "forks_not_followed", a->lost_count[0]);
	json_end(&j);
	json_u64(&j, "throttled", a->throttle_count);
	json_u64(&j, "samples_with_pc_only", a->no_user_count);
	json_u64(&j, "marks_not_readable", a->unread_mark_count);
	json_u64(&j, "out_of_order", a->out_of_order_count);
	json_u64(&j, "rounds", a->round_count);
	json_begin(&j, "own_cpu");
	json_u64(&j, "user_ns", a->own_user_ns);
	json_u64(&j, "system_ns", a->own_system_ns);
	json_end(&j);
	json_end(&j);
}
