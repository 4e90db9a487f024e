/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/process/file/deleted_files.h"
#include "record/output/meta.h"
#include "record/recording/recording_priv.h"
#include "record/privsep/caps.h"
#include "record/privsep/main_filter.h"

#define IO_END_NS 2000000000ULL /* the end waits so long for files that do not answer */

/*
 * Order matters: forks are followed before anything of a child can be recorded, and cpu_perf takes
 * the samples that no instrument before it knows.
 */
const struct instrument *const recording_instruments[INSTRUMENT_COUNT] = {
	&inst_target, &inst_exec,  &inst_cpu,  &inst_trace,
	&inst_copy,   &inst_sched, &inst_mark, &inst_metric,
};

int recording_fail_write(struct recording *r, int err)
{
	const char *hint = r->start_ns && (r->window || r->file.file.in_place)
				   ? "what was recorded before is readable"
				   : NULL;

	if (r->opts->to_pipe)
		hint = err == -EPIPE       ? "its reader has ended"
		       : err == -ETIMEDOUT ? "its reader does not read"
					   : NULL;
	return note_fail(&r->notes, err, hint, "cannot write '%s'", r->opts->output);
}

/* Records that were not written are lost; the rest may still become a finished capture. */
static void give_up_unwritten(struct recording *r)
{
	if (r->window)
		return;
	/* Where there is no room for the records of these losses there may be for the account, which counts them. */
	(void)sink_give_up(&r->emit, clock_ns(CLOCK_MONOTONIC));
}

/* The first failure is what ends the recording; what could not be written after it is lost as well. */
static void failed(struct recording *r, int err)
{
	if (writer_error(r->writer) || r->segment_failed)
		recording_fail_write(r, err);
	else
		note_fail(&r->notes, err, "what was recorded before is readable",
			  "cannot go on recording");
	give_up_unwritten(r);
}

void recording_count(struct recording *r)
{
	struct io_timeout_stats io;

	account_own_cost(&r->emit.account);
	if (r->walker)
		unwinder_account(r->walker, &r->emit.account);
	if (!r->emit.gave_up) {
		jit_symbols_account(&r->jitfiles, &r->emit.account);
		jvm_maps_account(&r->jvms, &r->emit.account);
		r->emit.account.args_count = r->args.entry_count;
		r->emit.account.args_cut_count = r->args.cut_count;
	}
	r->emit.account.args_missing_count = r->args.missing_count;
	r->emit.account.contexts_refused_count = r->contexts.log.refused_count;
	r->emit.account.failed_part_count = notes_harmed(&r->notes);
	r->emit.account.containers_missing_count = r->containers.missed_count +
						   r->containers.unanswered_count;
	r->emit.account.silent_process_count = r->scan.unread_count;
	r->emit.account.silent_mapping_count = r->buildids.unanswered_count;
	io_timeout_get_stats(r->io, &io);
	r->emit.account.given_up_count = io.given_up_count;
	r->emit.account.not_begun_count = io.refused_count;
	r->emit.account.layers_missing_count = r->file_origin.layers_missing_count;
	if (r->runtimes)
		runtimes_account(r->runtimes, &r->emit.account);
}

/* Writes the account, the notes, and what completes a capture. */
static int finish_file(struct recording *r)
{
	struct meta_end end = { .reason = r->end_reason ? r->end_reason : "failed",
				.mono_ns = r->start_ns + r->emit.account.duration_ns,
				.cpugaps = &r->cpugaps,
				.notes = &r->notes };
	struct outbuf meta = { 0 };
	struct writer_feature build_ids = { .bit = PERFFILE_BUILD_ID };
	struct writer_stats stats;
	int err;

	if (r->window)
		return recording_finish_files(r);
	/* Once: what failed may fail again while the recording stops. */
	if (r->emit.gave_up)
		note(&r->notes, NOTE_STORED, "%s: what came in then is lost", r->notes.failure);
	recording_count(r);
	meta_account(&meta, &r->emit.account, &end);
	err = writer_object(r->writer, EBX_META, EBX_META_ACCOUNT, meta.data, meta.size_bytes);
	outbuf_done(&meta);
	if (!err)
		err = recording_write_notes(r);
	build_ids.data = build_id_list_section(r->buildids.named, &build_ids.size_bytes);
	if (!err)
		err = writer_finish(r->writer, &build_ids, build_ids.size_bytes ? 1 : 0);
	writer_get_stats(r->writer, &stats);
	r->emit.account.file_bytes = stats.file_bytes;
	return err;
}

static void note_nameless_containers(struct recording *r, enum note_level level, uint64_t count,
				     const char *why)
{
	if (count == 1)
		note(&r->notes, level, "1 container is shown by its id: %s", why);
	else if (count)
		note(&r->notes, level, "%llu containers are shown by their ids: %s",
		     (unsigned long long)count, why);
}

/* A process and a user get a share alone (fair_share.h, RUNTIME_PROCESS_CODES). */
static void note_nameless_code(struct recording *r)
{
	const struct account *a = &r->emit.account;

	if (a->code_refused_count)
		note(&r->notes, NOTE_WARNING,
		     "%llu functions of interpreted code have no names: there are too many of one process or user, or of all, or "
		     "they are broken",
		     (unsigned long long)a->code_refused_count);
	if (a->code_placeless_count)
		note(&r->notes, NOTE_WARNING,
		     "%llu frames of interpreted code have no names: there are too many places of one process or user, or of all",
		     (unsigned long long)a->code_placeless_count);
	if (a->code_unnumbered_count)
		note(&r->notes, NOTE_WARNING,
		     "%llu stacks lack frames of interpreted code: their process made more than %d pieces of it",
		     (unsigned long long)a->code_unnumbered_count, RUNTIME_PROCESS_CODES);
}

/* Stacks of these files are unwound by frame pointers and marked so; the note has the reason. */
static void note_missing_parts(struct recording *r)
{
	const struct account *a = &r->emit.account;
	const char *path, *death = r->walker ? unwinder_death(r->walker, &path) : NULL;

	recording_count(r);
	if (death)
		note(&r->notes, NOTE_WARNING,
		     "no unwind tables of %llu files: the process that reads them died (%s, last of %s)",
		     (unsigned long long)a->table_died_count, death, path);
	if (r->scan.unread_count)
		note(&r->notes, NOTE_WARNING,
		     "%u process%s did not answer (memory map locked): nothing is known of earlier mappings, nor of "
		     "the command line",
		     r->scan.unread_count, r->scan.unread_count == 1 ? "" : "es");
	if (r->buildids.unanswered_count)
		note(&r->notes, NOTE_WARNING,
		     "%llu mappings have no build-id and no unwind tables, as their files did not answer",
		     (unsigned long long)r->buildids.unanswered_count);
	if (r->file_origin.layers_missing_count)
		note(&r->notes, NOTE_WARNING,
		     "files of %llu mount%s of fuse-overlayfs may have no names: the process with its layers did not "
		     "answer",
		     (unsigned long long)r->file_origin.layers_missing_count,
		     r->file_origin.layers_missing_count == 1 ? "" : "s");
	note_nameless_code(r);
	if (a->renamed_mark_count)
		note(&r->notes, NOTE_WARNING,
		     "%llu marks of programs are in groups that ebprec itself fills: their groups begin with 'program:' here",
		     (unsigned long long)a->renamed_mark_count);
	note_nameless_containers(r, NOTE_WARNING, r->containers.missed_count,
				 "too many others came at the same time");
	note_nameless_containers(r, NOTE_INFO, r->containers.unanswered_count,
				 "the files with their names were not read in time");
	if (r->buildids.unnamed_count)
		note(&r->notes, NOTE_INFO,
		     "the list of build-ids (perf buildid-list) ends after %d files; mappings have theirs",
		     MAPPED_FILES_NAMED);
}

/* Events end; what the rings hold still belongs to the capture. */
static int stop(struct recording *r)
{
	size_t i;
	int err;

	r->emit.account.duration_ns = clock_ns(CLOCK_MONOTONIC) - r->start_ns;
	if (r->bpf) {
		r->emit.account.bpf_ns = bpf_programs_run_ns(r->progs_below, r->progs_last);
		r->emit.account.ring_peak_bytes = bpf_ring_peak_bytes(r->rings);
	}
	for (i = 0; i < INSTRUMENT_COUNT; i++) {
		if (r->running[i])
			recording_instruments[i]->stop(&r->ctx[i]);
	}
	err = recording_pass(r, true);
	if (r->kallsyms)
		kernel_symbols_index_end_records(r->kallsyms);
	workload_reap(&r->workload); /* what it used is known from then on */
	for (i = 0; i < INSTRUMENT_COUNT && !err; i++) {
		if (r->running[i] && recording_instruments[i]->augment)
			err = recording_instrument_result(
				r, recording_instruments[i],
				recording_instruments[i]->augment(&r->ctx[i]),
				"what it adds at the end is missing");
	}
	if (!err)
		jvm_maps_finish(&r->jvms);
	if (!err)
		err = jit_symbols_finish(&r->jitfiles);
	io_timeout_finish(r->io, IO_END_NS);
	if (!err)
		err = r->late_err ? r->late_err : r->scan.late_err;
	if (!err)
		err = r->jitfiles.late_err;
	note_missing_parts(r);
	if (!err)
		err = recording_flush(r);
	return err;
}

static void release(struct recording *r)
{
	size_t i;

	recording_take_down(r);
	control_socket_close(&r->control);
	service_notify_close(&r->manager);
	snapshot_triggers_done(&r->triggers);
	rotated_file_close(&r->segment);
	backlog_free(r->window);
	writer_free(r->writer);
	output_file_close(&r->file);
	kernel_symbols_index_free(r->kallsyms);
	io_timeout_free(r->io);
	hugepage_text_done(&r->moved);
	mapped_files_done(&r->buildids);
	file_origin_done(&r->file_origin);
	container_watch_done(&r->containers);
	cgroup_selection_done(&r->selection);
	jit_symbols_done(&r->jitfiles);
	jvm_maps_done(&r->jvms);
	elf_reader_free(r->jit_reader);
	elf_reader_free(r->store_reader);
	cmdline_log_done(&r->args);
	context_watch_done(&r->contexts);
	runtimes_free(r->runtimes);
	interpreter_files_done(&r->interpreters);
	cgroup_age_done(&r->cgroups);
	machine_info_done(&r->host);
	machine_env_done(&r->env);
	cpuset_list_done(&r->cpus);
	cpu_hotplug_done(&r->cpuwatch);
	cpu_gaps_done(&r->cpugaps);
	reopener_free(r->reopener);
	workload_done(&r->workload);
	notes_done(&r->notes);
	for (i = 0; i < r->opts->pid_count; i++) {
		if (r->pid_fds[i] >= 0)
			close(r->pid_fds[i]);
	}
	if (r->any_epoll_fd >= 0)
		close(r->any_epoll_fd);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
	if (r->timer_fd >= 0)
		close(r->timer_fd);
	free(r);
}

/* 127 and 126 as shells have it. */
static int exit_status_of(const struct recording *r, int err)
{
	if (r->command_failed)
		return err == -ENOENT ? 127 : 126;
	return err || notes_harmed(&r->notes) ? 1 : workload_exit_status(&r->workload);
}

/* While connecting is still allowed.  A service whose manager cannot be reached records all the same. */
static void find_manager(struct recording *r)
{
	int err = r->opts->command ? 0 : service_notify_open(&r->manager);

	if (err)
		note(&r->notes, NOTE_WARNING,
		     "cannot notify the service manager at NOTIFY_SOCKET: %s, skipping",
		     err == -EINVAL ? "it is neither a path nor a name that begins with '@'"
				    : strerror(-err));
}

/* From here on events come, the file is in its place, and little is needed of what we may do. */
static void give_up_rights(struct recording *r)
{
	struct caps_use use = {
		.bpf = r->bpf,
		.command = r->workload.pid,
		.writing = r->window || (r->opts->gone && r->opts->gone->dir),
		.realtime = r->bpf && r->realtime.by_right,
	};
	char names[200];
	int err;

	(void)reopener_seal(r->reopener);
	err = caps_drop(caps_needed(&use));
	caps_list(caps_effective(), names, sizeof(names));
	if (err)
		note(&r->notes, NOTE_WARNING, "cannot give up rights: %s, skipping",
		     strerror(-err));
	else
		note(&r->notes, NOTE_DETAIL, "rights that stay while recording: %s", names);
	err = main_filter_enter();
	if (err)
		note(&r->notes, NOTE_WARNING, "cannot give up system calls: %s, skipping",
		     strerror(-err));
}

/* "recording until 'make' ends, for 10 s at most, or until Ctrl-C" */
static void report_end_condition(struct recording *r)
{
	const struct record_opts *o = r->opts;
	char until[80] = "", most[64] = "", size[64] = "", stop[64] = "Ctrl-C";

	if (o->command)
		snprintf(until, sizeof(until), " until '%.60s' ends,", o->command[0]);
	else if (o->pid_count == 1)
		snprintf(until, sizeof(until), " until process %u ends,", o->pids[0]);
	else if (o->pid_count)
		snprintf(until, sizeof(until), " until %u processes end,", o->pid_count);
	if (o->duration_ns)
		snprintf(most, sizeof(most), " for %.9g s%s,", (double)o->duration_ns / 1e9,
			 *until ? " at most" : "");
	if (o->max_file_bytes && !o->rotate)
		snprintf(size, sizeof(size), " until the capture has %.6g MiB,",
			 (double)o->max_file_bytes / (1 << 20));
	if (!isatty(STDIN_FILENO))
		snprintf(stop, sizeof(stop), "SIGINT (kill -INT %d)", (int)getpid());
	note(&r->notes, NOTE_STATUS, "recording%s%s%s%s until %s", until, most, size,
	     *until || *most || *size ? " or" : "", stop);
}

static void end_command(struct recording *r)
{
	unsigned long long wait_s = WORKLOAD_TERM_WAIT_NS / 1000000000;

	switch (workload_end(&r->workload)) {
	case WORKLOAD_ENDED:
		break;
	case WORKLOAD_KILLED:
		note(&r->notes, NOTE_WARNING, "'%s' did not end within %llu s of SIGTERM: killed",
		     r->opts->command[0], wait_s);
		break;
	case WORKLOAD_LEFT:
		note(&r->notes, NOTE_WARNING,
		     "'%s' (pid %d) did not end within %llu s of SIGTERM, nor of SIGKILL: left running",
		     r->opts->command[0], (int)r->workload.pid, wait_s);
	}
}

/* The capture is complete, or as complete as it becomes. */
static void answer_last_requests(struct recording *r, int err)
{
	char text[RECORDING_LINE_BYTES];

	(void)control_socket_take(&r->control);
	recording_describe(r, true, text);
	if (!err)
		control_socket_answer(&r->control, RECORDER_STOP, RECORDER_DONE, text);
	else
		control_socket_answer(&r->control, RECORDER_STOP, RECORDER_FAILED,
				      r->notes.failure[0] ? r->notes.failure : strerror(-err));
	control_socket_close(&r->control);
}

static int run(struct recording *r)
{
	int err, finish_err;

	err = recording_start(r);
	if (err)
		return err;
	/* The command sees no name but those that stay. */
	if (!r->window)
		err = r->opts->to_pipe ? 0 : output_file_place(&r->file, &r->notes);
	else if (r->segment.writer)
		err = rotated_file_place(&r->segment, &r->notes);
	if (!err && r->workload.pid) {
		err = workload_start(&r->workload);
		r->command_failed = err;
		if (err) {
			output_file_take_back(&r->file);
			output_file_take_back(&r->segment.file);
			return note_fail(&r->notes, err, workload_remedy(r->opts->command[0], err),
					 "cannot run '%s'", r->opts->command[0]);
		}
	}
	if (!err) {
		find_manager(r);
		give_up_rights(r);
		report_end_condition(r);
		service_notify_send(&r->manager, "READY=1");
		err = recording_loop(r);
		service_notify_send(&r->manager, "STOPPING=1");
		if (err)
			failed(r, err);
	}
	finish_err = stop(r);
	if (finish_err)
		failed(r, finish_err);
	err = err ? err : finish_err;
	/* Also after a failed write: the head may still be marked: the rest is complete. */
	finish_err = finish_file(r);
	if (!finish_err && r->file.file.in_place)
		finish_err = output_file_sync(&r->file);
	if (finish_err)
		recording_fail_write(r, finish_err);
	err = err ? err : finish_err;
	answer_last_requests(r, err);
	end_command(r); /* it may take seconds: the capture is complete by now */
	return err;
}

int recording_run(const struct record_opts *opts, const struct recording_ui *ui,
		  struct account *account, unsigned *last_file, int *exit_status,
		  char failure[1024])
{
	struct recording *r = calloc(1, sizeof(*r));
	size_t i;
	int err;

	*last_file = 0;
	*exit_status = 1;
	if (!r) {
		snprintf(failure, 1024, "cannot record: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	r->run_ns = clock_ns(CLOCK_MONOTONIC);
	r->opts = opts;
	r->ui = ui;
	r->notes.show = ui->note;
	r->notes.show_arg = ui->arg;
	r->file = r->segment.file = OUTPUT_FILE_NONE;
	r->control.fd = r->manager.fd = r->epoll_fd = r->any_epoll_fd = r->signal_fd = r->timer_fd =
		-1;
	r->targets = TARGETS_NONE;
	r->budgets.map_fd = -1;
	r->selection.opts = opts;
	for (i = 0; i < RECORD_PIDS_MAX; i++)
		r->pid_fds[i] = -1;

	err = run(r);
	if (err && !r->notes.failure[0])
		note_fail(&r->notes, err, NULL, "cannot record");
	account_own_cost(&r->emit.account);
	*account = r->emit.account;
	*last_file = r->last_file;
	*exit_status = exit_status_of(r, err);
	snprintf(failure, 1024, "%s", r->notes.failure);
	release(r);
	return err;
}
