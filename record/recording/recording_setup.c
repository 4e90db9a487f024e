/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/perf/trace_data.h"
#include "record/base/cache_dir.h"
#include "record/kernel/kernel_types.h"
#include "record/recording/recording_priv.h"
#include "record/privsep/caps.h"
#include "format/os/slurp.h"
#include "format/base/foreign.h"

#define COPY_WAKE_BYTES (128u << 10) /* a quarter of what a user may lock for a CPU */

static int look_at_pid_namespace(struct recording *r)
{
	int err = pid_namespace_look(&r->pidns);

	if (err)
		return note_fail(
			&r->notes, err, PID_NAMESPACE_MOUNT_PROC,
			"cannot record: /proc is of another pid namespace than this process");
	if (r->pidns.inside && r->opts->system_wide)
		note(&r->notes, NOTE_INFO,
		     "inside a pid namespace: processes outside of it are counted as one, "
		     "'" FOREIGN_COMM "'");
	return 0;
}

static int start_pid_namespace(struct recording *r)
{
	int err = pid_namespace_start_bpf(&r->pidns);

	return err ? note_fail(&r->notes, err, instrument_hint(err),
			       "cannot translate process ids of this pid namespace")
		   : 0;
}

/* The kernel's events have the host's clock: ours has to be the same. */
static int check_time_namespace(struct recording *r)
{
	char *text = slurp_line("/proc/self/timens_offsets"), *end;
	long long seconds = 0, ns = 0;

	if (text && !strncmp(text, "monotonic", 9)) {
		seconds = strtoll(text + 9, &end, 10);
		ns = strtoll(end, NULL, 10);
	}
	free(text);
	return seconds || ns ? note_fail(&r->notes, -ENOTSUP, "record on the host",
					 "cannot record inside a time namespace, whose clock is "
					 "%lld s off",
					 seconds)
			     : 0;
}

static int check_bpf(struct recording *r)
{
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	(void)note_fail(&r->notes, -errno, "a kernel with CONFIG_DEBUG_INFO_BTF is needed",
			"no BTF: cannot read '/sys/kernel/btf/vmlinux'");
	return -ENOTSUP;
}

static int make_targets(struct recording *r)
{
	const struct record_opts *o = r->opts;
	unsigned i;
	int err;

	err = targets_init(&r->targets, o->system_wide, o->selects, r->bpf);
	if (err)
		return note_fail(&r->notes, err, instrument_hint(err), "cannot use BPF");
	for (i = 0; i < o->pid_count && !err; i++)
		err = targets_add(&r->targets, o->pids[i]);
	if (!o->system_wide && !o->selects && !o->pid_count && !err)
		err = targets_add(&r->targets, (uint32_t)r->workload.pid);
	if (err)
		return note_fail(&r->notes, err, NULL, "cannot choose processes");
	return 0;
}

static int make_budgets(struct recording *r)
{
	int err = service_budgets_begin(&r->budgets);

	return err ? note_fail(&r->notes, err, instrument_hint(err),
			       "cannot give services a budget")
		   : 0;
}

static int make_rings(struct recording *r)
{
	int err = bpf_ring_new(&r->cpus, r->opts->ring_bytes, &r->rings);

	if (err)
		return note_fail(&r->notes, err, instrument_hint(err),
				 "cannot make the BPF rings of %zu CPUs", r->cpus.count);
	note(&r->notes, NOTE_DETAIL, "%zu CPUs with a ring of %llu KiB each", r->cpus.count,
	     (unsigned long long)bpf_ring_bytes_per_cpu(r->rings) >> 10);
	return 0;
}

static int open_sideband(struct recording *r)
{
	struct sideband_opts o = { .cpus = &r->cpus, .reopener = r->reopener };

	if (!r->bpf) {
		o.scope = r->scope;
		o.ring_bytes = bpf_ring_split(r->opts->ring_bytes, r->cpus.count);
		o.wake_bytes = COPY_WAKE_BYTES;
	}
	return sideband_open(&o, &r->attrs, &r->notes, &r->sideband);
}

/* The folder of caches between recordings; "": none. */
static const char *cache_folder(const struct record_opts *o, char standard[PATH_MAX])
{
	if (o->table_cache)
		return strcmp(o->table_cache, "none") ? o->table_cache : "";
	cache_dir_default(standard, PATH_MAX);
	return standard;
}

static void read_kernel(struct recording *r)
{
	char standard[PATH_MAX];
	int err;

	if (r->kallsyms || sideband_user_only(r->sideband))
		return;
	err = kernel_symbols_index_load(cache_folder(r->opts, standard), &r->kallsyms);
	if (err)
		note(&r->notes, NOTE_WARNING, "cannot read the kernel's symbols: %s%s, skipping",
		     strerror(-err),
		     err != -EACCES ? ""
		     : caps_effective() & RIGHT(CAP_SYSLOG)
			     ? " (see kernel.kptr_restrict)"
			     : " (CAP_SYSLOG is missing, or see kernel.kptr_restrict)");
}

/*
 * Tables of earlier recordings; NULL: none.  When the folder was named by an option, a failure is
 * noted.
 */
static struct table_cache *open_cache(struct recording *r)
{
	char standard[PATH_MAX];
	const char *path = cache_folder(r->opts, standard);
	struct table_cache *cache = NULL;
	int err;

	if (!*path)
		return NULL;
	err = table_cache_open(path, TABLE_CACHE_DEFAULT_BYTES, &cache);
	if (err)
		note(&r->notes, path == standard ? NOTE_DETAIL : NOTE_WARNING,
		     "cannot keep unwind tables in '%s': %s%s, skipping", path, strerror(-err),
		     err == -EPERM
			     ? " (it must belong to this user, and only this user may write it)"
			     : "");
	return cache;
}

/* Without it user stacks are unwound by frame pointers: instrument_stacks(). */
static void make_walker(struct recording *r)
{
	const struct record_opts *o = r->opts;
	int err;

	if (o->stacks == CPU_STACKS_FP || o->stacks == CPU_STACKS_NONE)
		return;
	runtimes_free(r->runtimes); /* of BPF programs that could not be used */
	r->runtimes = NULL;
	err = r->bpf ? runtimes_new(&r->emit, &r->notes, r->io, &r->runtimes) : 0;
	if (err)
		note(&r->notes, NOTE_WARNING,
		     "cannot read frames of interpreted programs: %s, skipping", strerror(-err));
	err = unwinder_new(r->io, o, &r->vdso, open_cache(r), &r->emit, r->runtimes, r->bpf,
			   &r->walker);
	if (err)
		note(&r->notes, NOTE_WARNING,
		     "cannot unwind by tables: %s: user stacks are found by frame pointers, skipping",
		     strerror(-err));
}

static void on_interpreter(void *arg, const struct stat *st, const struct elf_facts *facts)
{
	struct recording *r = arg;

	if (r->runtimes)
		runtimes_expect_file(r->runtimes, st, facts);
}

/*
 * A program of milliseconds ends before its mappings are known: its interpreter has to be known by then.  Files are read
 * while BPF programs are being loaded.
 */
static void look_for_interpreters(struct recording *r)
{
	struct interpreter_files *f = &r->interpreters;
	char standard[PATH_MAX];

	if (!r->runtimes)
		return;
	f->reader = r->buildids.reader;
	f->io = r->io;
	f->found = on_interpreter;
	f->arg = r;
	interpreter_files_load(f, cache_folder(r->opts, standard));
	interpreter_files_look(f);
	if (r->opts->command)
		interpreter_files_look_at_command(f, r->opts->command[0]);
}

static bool wanted(const struct recording *r, const struct instrument *inst)
{
	if (inst == &inst_copy)
		return !r->bpf;
	if (inst == &inst_trace)
		return !r->bpf && r->opts->sched && r->targets.all && !r->pidns.inside &&
		       !sideband_user_only(r->sideband); /* it has the kernel's ids */
	if (inst == &inst_metric)
		return r->opts->metrics || r->opts->bpf_objects.count;
	if (!r->bpf)
		return false;
	if (inst == &inst_target)
		return !r->targets.all;
	if (inst == &inst_exec)
		return r->opts->command_lines;
	if (inst == &inst_sched)
		return r->opts->sched;
	if (inst == &inst_mark)
		return r->opts->mark;
	return true;
}

int recording_give_up(struct recording *r, size_t i, int err)
{
	const struct instrument *inst = recording_instruments[i];

	if (inst == &inst_cpu || inst == &inst_copy || inst == &inst_target)
		return err;
	if (inst == &inst_mark && r->opts->marks.count)
		return err; /* the user asked for these */
	/* The note about recording without BPF mentions the missing switches, too. */
	note(&r->notes, inst == &inst_trace ? NOTE_INFO : NOTE_WARNING, "%s, skipping",
	     r->notes.failure[0] ? r->notes.failure : strerror(-err));
	notes_forgive(&r->notes);
	inst->detach(&r->ctx[i]);
	r->running[i] = false;
	return 0;
}

/* Programs are being loaded meanwhile, and none is attached yet. */
static int publish_maps(struct recording *r)
{
	int err = r->bpf ? bpf_ring_publish(r->rings, &r->cpus) : 0;

	if (!err && r->bpf && r->walker)
		err = unwind_bpf_maps_publish(unwinder_space(r->walker));
	return err ? note_fail(&r->notes, err, instrument_hint(err),
			       "cannot make the BPF rings of %zu CPUs", r->cpus.count)
		   : 0;
}

/* Completes the CPU sampler, or all other instruments. */
static int complete(struct recording *r, bool cpu)
{
	size_t i;
	int err = 0;

	for (i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		const struct instrument *inst = recording_instruments[i];

		if (!r->running[i] || !inst->complete || (inst == &inst_cpu) != cpu)
			continue;
		err = sideband_drain(r->sideband);
		if (!err)
			err = inst->complete(&r->ctx[i]);
		if (err)
			err = recording_give_up(r, i, err);
		if (inst == &inst_exec)
			r->exec_seen = r->running[i];
	}
	return err;
}

static int prepare_all(struct recording *r, struct kernel_types *types)
{
	size_t i;
	int err = 0;

	for (i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		r->ctx[i] = (struct instrument_ctx){
			.opts = r->opts,
			.cpus = &r->cpus,
			.rings = r->rings,
			.targets = &r->targets,
			.service_cgroups_fd = r->budgets.map_fd,
			.pidns = &r->pidns,
			.types = types,
			.sideband = r->sideband,
			.reopener = r->reopener,
			.scope = &r->scope,
			.walker = r->walker,
			.runtimes = r->walker ? r->runtimes : NULL,
			.attrs = &r->attrs,
			.kallsyms = r->opts->kallsyms ? r->kallsyms : NULL,
			.notes = &r->notes,
			.triggers = &r->triggers,
			.emit = &r->emit,
			.args = &r->args,
			.reader = r->buildids.reader,
			.io = r->io,
			.meanwhile = recording_meanwhile,
			.meanwhile_arg = r,
		};
		if (!wanted(r, recording_instruments[i]))
			continue;
		r->running[i] = true;
		err = sideband_drain(r->sideband); /* loading takes a while */
		if (!err)
			err = recording_instruments[i]->prepare(&r->ctx[i]);
		r->ctx[i].types = NULL;
		if (err)
			err = recording_give_up(r, i, err);
	}
	return err;
}

static int prepare(struct recording *r)
{
	struct kernel_types *types = kernel_types_new();
	int err;

	r->progs_below = bpf_programs_last_id() + 1;
	r->exec_seen = false;
	err = prepare_all(r, types);
	kernel_types_free(types); /* what loads has a share of them */
	if (!err)
		err = publish_maps(r);
	/* The CPU sampler takes the longest: meanwhile marks wait until the kernel has placed a probe. */
	if (!err)
		err = complete(r, false);
	if (!err)
		err = complete(r, true);
	if (err)
		return err;
	event_attrs_set_tracepoint(&r->attrs, ATTR_MARK, "ebprec:mark", TRACE_DATA_MARK_ID);
	return event_attrs_number(&r->attrs);
}

static int set_up_with_bpf(struct recording *r)
{
	int err;

	r->bpf = true;
	err = check_bpf(r);
	if (!err)
		err = make_targets(r);
	if (!err && r->opts->samples_an_hour)
		err = make_budgets(r);
	if (!err)
		err = start_pid_namespace(r);
	if (!err)
		err = make_rings(r);
	if (!err)
		err = open_sideband(r);
	if (err)
		return err;
	read_kernel(r);
	make_walker(r);
	look_for_interpreters(r);
	/* Where the CPU sampler does not load either, all of it is done without BPF. */
	notes_hold(&r->notes);
	err = prepare(r);
	if (err)
		notes_forget(&r->notes);
	else
		notes_release(&r->notes);
	return err || !r->targets.selects ? err : recording_select(r);
}

/*
 * Chosen processes are picked out of all that runs, where we may see that: events of a process's own
 * begin anew with each child, and so never hit one that ends within a period (10 ms at 99 Hz).
 */
static int set_up_without_bpf(struct recording *r)
{
	const struct record_opts *o = r->opts;
	int err;

	r->bpf = false;
	r->emit.samples_in_side_rings = true;
	r->command_pid = (uint32_t)r->workload.pid;
	r->scope = (struct perf_event_set_scope){ 0 };
	err = make_targets(r);
	if (!err)
		err = open_sideband(r);
	if ((err == -EACCES || err == -EPERM) && !o->system_wide) {
		notes_forgive(&r->notes);
		if (o->pid_count)
			r->scope = (struct perf_event_set_scope){ o->pids, o->pid_count };
		else
			r->scope = (struct perf_event_set_scope){ &r->command_pid, 1 };
		reopener_free(r->reopener); /* theirs do not end with a CPU */
		r->reopener = NULL;
		err = open_sideband(r);
	}
	if (err)
		return err;
	read_kernel(r);
	note(&r->notes, NOTE_DETAIL, "%zu CPUs with a ring of %zu KiB each", r->cpus.count,
	     sideband_ring_bytes(r->sideband) >> 10);
	make_walker(r);
	return prepare(r);
}

/* A recording works without it; a user without rights needs none. */
static void start_reopener(struct recording *r)
{
	reopener_free(r->reopener);
	r->reopener = NULL;
	(void)reopener_new(r->opts->self_program, &r->reopener);
}

/* Whether it may work without BPF what did not work with it. */
static bool is_bpfs_fault(int err)
{
	return err != -ENOMEM && err != -EMFILE && err != -ENFILE && err != -ENOENT;
}

static int start_jvm_asker(struct recording *r)
{
	int err = r->opts->ask_jvm ? jvm_asker_new(r->opts->self_program, &r->jvms.asker) : 0;

	return err ? note_fail(&r->notes, err, NULL, "cannot start the process that asks JVMs") : 0;
}

int recording_set_up(struct recording *r)
{
	char why[sizeof(r->notes.failure)] = "--no-bpf";
	struct cpu_hotplug_news news;
	int err = check_time_namespace(r);

	if (!err)
		err = look_at_pid_namespace(r);
	if (err)
		return err;
	err = cpuset_list_read(CPUSET_LIST_DIR, "online", &r->cpus);
	if (!err) /* before there is an event */
		err = cpu_hotplug_look(&r->cpuwatch, CPUSET_LIST_DIR, &news);
	if (err)
		return note_fail(&r->notes, err, NULL, "cannot read " CPUSET_LIST_DIR "/online");
	cpu_hotplug_news_done(&news);
	err = start_jvm_asker(r);
	if (err)
		return err;
	start_reopener(r);
	if (r->opts->bpf) {
		err = set_up_with_bpf(r);
		if (!err || !is_bpfs_fault(err) || r->opts->marks.count || r->opts->selects)
			return err;
		memcpy(why, r->notes.failure, sizeof(why));
		notes_forgive(&r->notes);
		recording_take_down(r);
		start_reopener(r); /* it knows of events that are no more */
	}
	err = set_up_without_bpf(r);
	if (err)
		return err;
	note(&r->notes, r->opts->bpf && !geteuid() ? NOTE_WARNING : NOTE_INFO,
	     "recording by perf events, without %smarks: %s",
	     r->attrs.entry[ATTR_SWITCH].present ? "" : "context switches and ", why);
	if (sideband_user_only(r->sideband))
		note(&r->notes, NOTE_INFO,
		     "only user space is seen (kernel.perf_event_paranoid is %d, 1 would show the kernel)",
		     perf_event_set_paranoid());
	return 0;
}

void recording_take_down(struct recording *r)
{
	size_t i;

	for (i = INSTRUMENT_COUNT; i-- > 0;) {
		recording_instruments[i]->detach(&r->ctx[i]);
		r->running[i] = false;
	}
	unwinder_free(r->walker);
	r->walker = NULL;
	sideband_close(r->sideband);
	r->sideband = NULL;
	bpf_ring_free(r->rings);
	r->rings = NULL;
	targets_done(&r->targets);
	service_budgets_done(&r->budgets);
	pid_namespace_stop_bpf(&r->pidns);
	event_attrs_done(&r->attrs);
}
