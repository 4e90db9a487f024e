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

static void user_stacks(struct json *j, const struct account *a)
{
	static const char *const hows[STACKINFO_HOWS] = {
		[STACKINFO_NONE] = "none",  [STACKINFO_PC] = "pc_only",
		[STACKINFO_CFI] = "tables", [STACKINFO_FP] = "frame_pointers",
		[STACKINFO_MIXED] = "both",
	};
	unsigned i;

	json_begin(j, "user_stacks");
	json_begin(j, "found_by");
	for (i = 0; i < STACKINFO_HOWS; i++)
		json_u64(j, hows[i], a->stack_how_count[i]);
	json_end(j);
	json_begin(j, "end");
	for (i = 0; i < UNWIND_WHY_COUNT; i++) {
		if (a->stack_why_count[i])
			json_u64(j, unwind_why_text((enum unwind_why)i), a->stack_why_count[i]);
	}
	json_end(j);
	json_u64(j, "copied", a->copy_count);
	json_u64(j, "copies_refused", a->copy_refused_count);
	json_begin(j, "tables");
	json_u64(j, "built", a->table_count);
	json_u64(j, "from_cache", a->table_kept_count);
	json_u64(j, "failed", a->table_failed_count);
	json_u64(j, "reader_died", a->table_died_count);
	json_u64(j, "reader_ns", a->table_reader_ns);
	json_u64(j, "no_room", a->table_no_room_count);
	json_u64(j, "evicted", a->table_evicted_count);
	json_u64(j, "rows_built", a->table_row_count);
	json_u64(j, "bytes", a->table_bytes);
	json_u64(j, "build_ns", a->table_build_ns);
	json_u64(j, "from_cache_ns", a->table_kept_ns);
	json_end(j);
	json_u64(j, "processes_without_room", a->maps_refused_count);
	json_end(j);
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
	json_u64(&j, "duration_ns", a->duration_ns);
	json_u64(&j, "samples", a->sample_count);
	json_u64(&j, "sampler_runs", a->hit_count);
	json_u64(&j, "switches", a->switch_count);
	json_u64(&j, "switches_with_stack", a->switch_stack_count);
	json_u64(&j, "wakeups", a->wakeup_count);
	json_u64(&j, "marks", a->mark_count);
	json_u64(&j, "rows", a->row_count);
	json_u64(&j, "side_records", a->side_count);
	json_begin(&j, "lost");
	json_u64(&j, "samples", a->lost_count[EBPREC_EV_CPU] + a->lost_count[EBPREC_EV_COPY]);
	json_u64(&j, "switches", a->lost_count[EBPREC_EV_SWITCH]);
	json_u64(&j, "task_events", a->lost_count[EBPREC_EV_TASK] + a->lost_count[EBPREC_EV_EXIT]);
	json_u64(&j, "wakers", a->lost_count[EBPREC_EV_WAKER]);
	json_u64(&j, "marks", a->lost_count[EBPREC_EV_MARK] + a->lost_count[EBPREC_EV_PROBE]);
	json_u64(&j, "rows", a->lost_count[EBPREC_EV_METRIC]);
	json_u64(&j, "side_records", a->side_lost_count);
	json_u64(&j, "command_lines", a->lost_count[EBPREC_EV_EXEC] + a->args_missing_count);
	json_u64(&j, "container_names", a->containers_missing_count);
	json_u64(&j, "interrupted", a->interrupted_count);
	json_u64(&j, "broken_events", a->broken_event_count);
	json_u64(&j, "forks_not_followed", a->lost_count[0]);
	json_end(&j);
	json_u64(&j, "throttled", a->throttle_count);
	if (end->cpugaps)
		cpugaps_json(end->cpugaps, end->dropped_until_ns, &j);
	user_stacks(&j, a);
	json_begin(&j, "command_lines");
	json_u64(&j, "told", a->args_count);
	json_u64(&j, "cut", a->args_cut_count);
	json_end(&j);
	json_begin(&j, "jit");
	json_u64(&j, "files", a->jit_file_count);
	json_u64(&j, "bytes", a->jit_bytes);
	json_u64(&j, "cut", a->jit_cut_count);
	json_u64(&j, "processes_without_file", a->jit_missing_count);
	json_end(&j);
	json_u64(&j, "marks_not_readable", a->unread_mark_count);
	json_u64(&j, "out_of_order", a->out_of_order_count);
	json_u64(&j, "rounds", a->round_count);
	json_u64(&j, "startup_ns", a->startup_ns);
	json_u64(&j, "longest_pass_ns", a->longest_pass_ns);
	json_begin(&j, "own_cpu");
	json_u64(&j, "user_ns", a->own_user_ns);
	json_u64(&j, "system_ns", a->own_system_ns);
	json_u64(&j, "bpf_ns", a->bpf_ns);
	json_u64(&j, "sampling_ns", a->sampling_ns);
	json_end(&j);
	json_begin(&j, "thinned");
	json_u64(&j, "samples", a->thinned_count);
	json_u64(&j, "one_of_at_most", a->thinned_most);
	json_end(&j);
	json_u64(&j, "ring_peak_bytes", a->ring_peak_bytes);
	json_u64(&j, "hurried", a->hurry_count);
	json_u64(&j, "own_memory_peak_bytes", a->own_peak_bytes);
	json_end(&j);
}
