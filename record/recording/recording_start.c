/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/perf/trace_data.h"
#include "record/process/container/cgroup_paths.h"
#include "format/os/clock.h"
#include "record/process/file/deleted_files.h"
#include "record/kernel/kernel_maps.h"
#include "record/output/meta.h"
#include "record/metric/catalogue.h"
#include "record/recording/recording_priv.h"
#include "record/events/tracepoint/tracefs.h"

#define TABLES_FIRST_NS 400000000ULL /* what is not built by then comes while events do */
#define TABLES_SLICE_NS 30000000ULL
#define WAITS_NS        2000000000ULL /* for all processes and files together */
#define INTERPRETERS_NS \
	50000000ULL /* for files of earlier recordings, which were begun long before */

/* One descriptor a CPU and event adds up. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Signals are read in the loop; SIGPIPE and SIGXFSZ become errors of the write. */
static int take_signals(struct recording *r)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	/* A shell starts what it puts into the background with SIGINT ignored: it ends us all the same. */
	sigaction(SIGINT, &standard, &r->signals.interrupt);
	sigaction(SIGTERM, &standard, &r->signals.terminate);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &set, &r->signals.mask) ? -errno : 0;
}

static int open_pids(struct recording *r)
{
	const struct record_opts *o = r->opts;
	unsigned i;

	for (i = 0; i < o->pid_count; i++) {
		r->pid_fds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
		if (r->pid_fds[i] < 0)
			return note_fail(&r->notes, -errno,
					 errno == EINVAL ? "it is a thread, give its process"
							 : "see ps -e",
					 "cannot record process %u", o->pids[i]);
		r->pids_alive++;
	}
	return 0;
}

/*
 * The capture goes to standard output; other writers to it (COMMAND, helpers) get standard error
 * instead, so that no other byte gets into the capture and no other process holds it open.
 */
static int open_output(struct recording *r)
{
	int err = 0;

	if (!r->opts->to_pipe)
		return output_file_open(&r->file, r->opts->output, &r->notes);
	if (isatty(STDOUT_FILENO))
		return note_fail(&r->notes, -EINVAL, "it is a terminal: give it a pipe or a file",
				 "cannot write '%s'", r->opts->output);
	r->file.file.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (r->file.file.fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		err = -errno;
	return err ? note_fail(&r->notes, err, NULL, "cannot write '%s'", r->opts->output) : 0;
}

static int fork_command(struct recording *r)
{
	int err;

	if (!r->opts->command)
		return 0;
	err = workload_fork(&r->workload, r->opts->command, &r->signals);
	r->command_failed = err;
	return err ? note_fail(&r->notes, err, workload_remedy(r->opts->command[0], err),
			       "cannot run '%s'", r->opts->command[0])
		   : 0;
}

static int tracing_section(struct recording *r, struct file_features *f)
{
	struct trace_data_event events[ATTR_END + 3];
	size_t i, count = 0, size_bytes;
	char *header_page = tracefs_header_page();
	uint8_t *section = NULL;
	int err;

	for (i = 0; i < ATTR_END; i++) {
		if (r->attrs.entry[i].present && r->attrs.entry[i].format)
			events[count++] = (struct trace_data_event){ i >= ATTR_METRIC ? "ebprec"
										      : "sched",
								     r->attrs.entry[i].format };
	}
	events[count++] = (struct trace_data_event){ "ebprec", trace_data_mark_format() };
	events[count++] = (struct trace_data_event){ "ebprec", trace_data_waker_format() };
	events[count++] = (struct trace_data_event){ "ebprec", trace_data_exit_format() };
	err = trace_data_build(events, count, header_page, &section, &size_bytes);
	if (!err)
		outbuf_add(file_features_add(f, PERFFILE_TRACING_DATA), section, size_bytes);
	free(section);
	free(header_page);
	return err;
}

static void on_file(void *arg, const struct mapped_files_found *f)
{
	struct recording *r = arg;

	deleted_files_see(r->opts->gone, f);
	if (r->runtimes && runtimes_see_file(r->runtimes, f->key, f->path, f->facts))
		interpreter_files_add(&r->interpreters, f->path);
	for (size_t i = 0; i < INSTRUMENT_COUNT; i++)
		if (r->running[i] && recording_instruments[i]->on_file)
			recording_instruments[i]->on_file(&r->ctx[i], f);
}

/*
 * With a window each capture has a file of its own: that one can be made is tried now, and not when
 * it is wanted.
 */
static int make_window(struct recording *r)
{
	const struct record_opts *o = r->opts;
	int err;

	if (!o->ring && !o->rotate)
		return 0;
	output_file_close(&r->file);
	err = snapshot_triggers_open(&r->triggers, &o->triggers, &r->notes);
	if (err)
		return err;
	return backlog_new(o->keep.ns, o->keep.bytes, sink_side_id(&r->emit), &r->attrs,
			   &r->window);
}

static int open_writer(struct recording *r)
{
	struct writer_feature sections[FILE_FEATURES_MAX];
	struct writer_attr attrs[ATTR_END];
	struct file_features f = { 0 };
	struct writer_opts o = { .attrs = attrs, .features = sections };
	int err;

	r->emit.attrs = &r->attrs;
	/* Where there are no sockets, signals and triggers work all the same. */
	(void)control_socket_open(&r->control);
	err = make_window(r);
	if (err)
		return err;
	r->clock_wall_ns = clock_ns(CLOCK_REALTIME);
	r->clock_mono_ns = clock_ns(CLOCK_MONOTONIC);
	file_features_host(&f, &r->host);
	file_features_cmdline(&f, r->opts->argc, r->opts->argv);
	file_features_clock(&f, r->clock_mono_ns, r->clock_wall_ns);
	event_attrs_event_desc(&r->attrs, file_features_add(&f, PERFFILE_EVENT_DESC));
	err = tracing_section(r, &f);
	if (!err)
		err = file_features_for_writer(&f, sections, &o.feature_count);
	o.attr_count = event_attrs_for_writer(&r->attrs, attrs);
	o.clock_mono_ns = r->clock_mono_ns;
	o.clock_wall_ns = r->clock_wall_ns;
	o.level = (int)r->opts->level;
	o.pipe = r->opts->to_pipe;
	o.wait = recording_await_reader;
	o.wait_arg = r;
	if (getrandom(o.uuid, sizeof(o.uuid), 0) != sizeof(o.uuid))
		memcpy(o.uuid, &o.clock_wall_ns, sizeof(o.clock_wall_ns));
	if (!err)
		err = writer_new(r->window ? -1 : r->file.file.fd, &o, &r->writer);
	if (!err && !r->window && !o.pipe)
		writer_spill_to(r->writer, output_file_spill(&r->file));
	file_features_done(&f);
	r->emit.writer = r->writer;
	r->file_origin.writer = r->writer;
	r->file_origin.in_window = r->window;
	r->buildids.file_origin = &r->file_origin;
	r->buildids.on_file = on_file;
	r->buildids.on_file_arg = r;
	r->containers.writer = r->writer;
	r->containers.reader = r->store_reader;
	r->containers.io = r->io;
	r->jitfiles.writer = r->writer;
	r->jitfiles.reader = r->jit_reader;
	r->jitfiles.io = r->io;
	r->jitfiles.next_object = FILE_JIT;
	r->jvms.io = r->io;
	r->jvms.notes = &r->notes;
	r->args.writer = r->writer;
	r->args.in_window = r->window;
	r->contexts.log.writer = r->writer;
	r->contexts.log.in_window = r->window;
	return err;
}

int recording_embed(struct recording *r, uint64_t object, const char *name, const void *data,
		    size_t size_bytes)
{
	struct outbuf payload = { 0 };
	int err = -ENOMEM;

	outbuf_u16(&payload, (uint16_t)strlen(name));
	outbuf_add(&payload, name, strlen(name));
	outbuf_add(&payload, data, size_bytes);
	if (outbuf_ok(&payload))
		err = writer_object(r->writer, EBX_FILE, object, payload.data, payload.size_bytes);
	outbuf_done(&payload);
	return err;
}

static int write_meta(struct recording *r)
{
	const char *names[INSTRUMENT_COUNT + CATALOGUE_MAX];
	struct outbuf json = { 0 };
	struct meta_start m = {
		.host = &r->host,
		.env = &r->env,
		.command_pid = (uint32_t)r->workload.pid,
		.opts = r->opts,
		.event_name = r->attrs.entry[ATTR_SAMPLE].name,
		.ring_bytes_per_cpu = r->bpf ? bpf_ring_bytes_per_cpu(r->rings)
					     : sideband_ring_bytes(r->sideband),
		.bpf = r->bpf,
		.user_only = sideband_user_only(r->sideband),
		.pid_namespace = r->pidns.inside ? r->pidns.inode : 0,
		.wall_ns = r->clock_wall_ns,
		.mono_ns = r->clock_mono_ns,
		.instruments = names,
	};
	size_t i;
	int err = -ENOMEM;

	for (i = 0; i < INSTRUMENT_COUNT; i++) {
		if (r->running[i] && recording_instruments[i] != &inst_metric)
			names[m.instrument_count++] = recording_instruments[i]->name;
	}
	for (i = 0; i < catalogue_count; i++) {
		if (r->opts->metrics & 1u << i)
			names[m.instrument_count++] = metriclist[i].name;
	}
	meta_start(&json, &m);
	if (outbuf_ok(&json))
		err = writer_object(r->writer, EBX_META, EBX_META_START, json.data,
				    json.size_bytes);
	outbuf_done(&json);
	return err;
}

/*
 * The first tables.  Meanwhile programs start and end: no other code reads the side-band's rings.
 */
static int build_tables(struct recording *r, uint64_t as_of_ns)
{
	int err;

	do {
		err = unwinder_pass(r->walker, as_of_ns);
		if (!err)
			err = sideband_drain(r->sideband);
		if (!err)
			unwinder_wait(r->walker, TABLES_SLICE_NS);
	} while (!err && unwinder_is_busy(r->walker) &&
		 clock_ns(CLOCK_MONOTONIC) - as_of_ns < TABLES_FIRST_NS);
	return err;
}

/* The state before the recording: the kernel first, as perf wants it. */
static int write_state(struct recording *r)
{
	uint64_t as_of_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	r->scan = (struct proc_scan){
		.emit = &r->emit,
		.io = r->io,
		.buildids = &r->buildids,
		.vdso = &r->vdso,
		.jitfiles = &r->jitfiles,
		.jvms = &r->jvms,
		.args = &r->args,
		.contexts = &r->contexts,
		.moved = &r->moved,
		.targets = &r->targets,
		.pidns = &r->pidns,
		.unwmaps = r->walker ? unwinder_maps(r->walker) : NULL,
	};
	err = write_meta(r);
	if (!err)
		err = kernel_maps_emit(&r->emit, &r->buildids, r->kallsyms);
	if (!err)
		err = bpf_programs_emit(&r->emit, r->kallsyms, r->progs_below);
	if (!err)
		err = sideband_drain(r->sideband);
	if (!err)
		err = cgroup_paths_emit(&r->emit, &r->containers);
	container_watch_look(&r->containers, as_of_ns);
	if (!err)
		err = pid_namespace_emit_foreign(&r->pidns, &r->emit);
	if (!err)
		err = proc_scan_run(&r->scan);
	/* Without BPF, for a few processes, only tables that a stack goes through are built. */
	if (!err && r->walker && (r->bpf || r->targets.all))
		err = build_tables(r, as_of_ns);
	if (!err && r->vdso.image)
		err = recording_embed(r, FILE_VDSO, "[vdso]", r->vdso.image, r->vdso.size_bytes);
	if (!err)
		note(&r->notes, NOTE_DETAIL,
		     "%u processes, %u threads, %u mappings of %llu files at start",
		     r->scan.process_count, r->scan.thread_count, r->scan.map_count,
		     (unsigned long long)r->buildids.read_count);
	return err;
}

static int attach(struct recording *r)
{
	bool is_less = false;
	size_t i;
	int err = 0;

	for (i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		if (!r->running[i])
			continue;
		err = sideband_drain(r->sideband);
		if (!err)
			err = recording_instruments[i]->attach(&r->ctx[i]);
		if (err)
			err = recording_give_up(r, i, err);
		is_less |= !r->running[i];
	}
	/* It has instruments that do not run; the last one is read. */
	return err || !is_less ? err : write_meta(r);
}

/*
 * Processes and files are waited for before events come, as long as they answer.  Others go on beside the
 * recording.
 */
static void end_waiting(struct recording *r)
{
	uint32_t count = io_timeout_pending(r->io);

	if (!io_timeout_limit_waits(r->io, UINT64_MAX) || !count)
		return;
	r->emit.account.unread_at_start_count = count;
	note(&r->notes, NOTE_WARNING,
	     "the recording began after %u s of waiting for processes and files: %u of them are read while it runs, "
	     "and what they do until then may have no names",
	     (unsigned)(WAITS_NS / 1000000000), count);
}

int recording_start(struct recording *r)
{
	int err;

	raise_file_limit();
	err = take_signals(r);
	if (!err)
		err = open_pids(r);
	if (!err)
		err = open_output(r);
	if (!err)
		err = fork_command(r);
	if (r->opts->priority)
		realtime_init(
			&r->realtime); /* the command was forked before and has its own priority */
	if (!err)
		err = io_timeout_new(IO_WAIT_NS, &r->io);
	if (!err)
		err = mapped_files_init(&r->buildids, r->io, r->opts->self_program);
	if (!err)
		err = elf_reader_new(r->opts->self_program, ELF_READER_TEXTS_OPTION,
				     &r->jit_reader);
	if (!err)
		err = elf_reader_new(r->opts->self_program, ELF_READER_TEXTS_OPTION,
				     &r->store_reader);
	r->buildids.notes = &r->notes;
	r->buildids.on_late = recording_late_file;
	r->buildids.on_late_arg = r;
	r->file_origin.io = r->io;
	r->moved.io = r->io;
	if (!err)
		err = machine_info_read(&r->host);
	if (!err)
		err = machine_env_read("", r->opts->pid_count == 1 ? r->opts->pids[0] : 0, &r->env);
	vdso_find(&r->vdso);
	r->args.wanted = r->opts->command_lines;
	r->args.environment = r->opts->environment;
	r->args.io = r->io;
	r->contexts.wanted = r->opts->command_lines;
	r->contexts.io = r->io;
	if (!err)
		err = recording_set_up(r);
	if (err)
		return err;
	err = open_writer(r);
	(void)io_timeout_limit_waits(r->io, WAITS_NS);
	interpreter_files_wait(&r->interpreters, INTERPRETERS_NS);
	if (!err)
		err = write_state(r);
	if (err)
		return recording_fail_write(r, err);
	err = attach(r);
	end_waiting(r);
	if (err)
		return err;
	r->progs_last = r->bpf ? bpf_programs_last_id() : 0;
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->emit.account.startup_ns = r->start_ns - r->run_ns;
	err = r->opts->rotate ? recording_first_segment(r) : 0;
	if (!err)
		err = recording_flush(r);
	return err ? recording_fail_write(r, err) : 0;
}
