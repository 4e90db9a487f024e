/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec-record - the live side of ebprec: `ebprec record` runs it
 *
 * The only file of the recorder that prints.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text/escape.h"
#include "record/cli.h"
#include "record/recording/name_bundler.h"
#include "record/recording/rotated_file.h"
#include "record/doctor.h"
#include "record/privsep/elf_reader.h"
#include "record/process/file/deleted_files.h"
#include "record/list.h"
#include "record/events/prober.h"
#include "record/events/reopener.h"
#include "record/privsep/jvm_asker.h"
#include "record/recording/recording.h"
#include "format/os/slurp.h"

enum { EXIT_USAGE = 2 };

struct screen {
	bool quiet, status_line, status_shown;
	unsigned verbose;
	uint64_t own_ns, at_ns; /* at the last tick */
	uint64_t reported_lost;
};

/* One line; names of files and options come from outside. */
static __attribute__((format(printf, 1, 2))) void print_message(const char *fmt, ...)
{
	char *words = NULL, *text = NULL;
	va_list ap;
	int bytes;

	va_start(ap, fmt);
	bytes = vasprintf(&words, fmt, ap);
	va_end(ap);
	if (bytes >= 0) {
		text = escape_copy(ESCAPE_TEXT, words, (size_t)bytes);
		free(words);
	}
	if (text)
		fprintf(stderr, "ebprec: %s\n", text);
	free(text);
}

static void clear_status(struct screen *s)
{
	if (s->status_shown)
		fputs("\r\033[K", stderr);
	s->status_shown = false;
}

static void show_note(void *arg, enum note_level level, const char *text)
{
	struct screen *s = arg;

	if (((level == NOTE_INFO || level == NOTE_STATUS) && s->quiet) ||
	    (level == NOTE_DETAIL && !s->verbose))
		return;
	clear_status(s);
	fprintf(stderr, "ebprec: %s\n", text); /* escaped: messages.h */
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void show_status(void *arg, const struct account *a)
{
	struct screen *s = arg;
	uint64_t own_ns = a->own_user_ns + a->own_system_ns;
	double share = a->duration_ns > s->at_ns ? 100.0 * (double)(own_ns - s->own_ns) /
							   (double)(a->duration_ns - s->at_ns)
						 : 0;

	s->own_ns = own_ns;
	s->at_ns = a->duration_ns;
	if (!s->status_line)
		return;
	fprintf(stderr, "\r\033[K%.0f s, %llu samples, %.1f MiB, %llu lost, %.1f %% of a CPU",
		seconds(a->duration_ns), (unsigned long long)a->sample_count, mib(a->file_bytes),
		(unsigned long long)account_lost(a), share);
	fflush(stderr);
	s->status_shown = true;
}

/* Counts of processes that were not selected. */
static void show_left_out(const struct account *a)
{
	print_message("left out, of other processes: %llu samples, %llu switches",
		      (unsigned long long)a->left_out_samples,
		      (unsigned long long)a->left_out_switches);
}

/* The number of the first file that the recording left. */
static unsigned first_file(const struct record_opts *opts, unsigned last_file)
{
	return opts->keep_files && last_file >= opts->keep_files ? last_file - opts->keep_files + 1
								 : 0;
}

/* "1.68 MiB in 3 files, x.data to x.data.2"; what was removed, or is gone, is not among them. */
static char *describe_files(const struct record_opts *opts, unsigned last_file,
			    const struct account *a)
{
	char *first = NULL, *last = NULL, *path, *text = NULL;
	unsigned count = 0;
	uint64_t bytes = 0;
	struct stat st;
	int n;

	for (uint64_t i = first_file(opts, last_file); opts->rotate && i <= last_file; i++) {
		path = rotated_file_path(opts->output, (unsigned)i);
		if (!path || stat(path, &st)) {
			free(path);
			continue;
		}
		bytes += (uint64_t)st.st_size;
		if (count++)
			free(last);
		else
			first = strdup(path);
		last = path;
	}
	if (count > 1 && first)
		n = asprintf(&text, "%.2f MiB in %u files, %s to %s", mib(bytes), count, first,
			     last);
	else
		n = asprintf(&text, "%.2f MiB in %s", mib(a->file_bytes),
			     last ? last : opts->output);
	free(first);
	free(last);
	return n < 0 ? NULL : text;
}

static void show_summary(struct screen *s, const struct record_opts *opts, unsigned last_file,
			 const struct account *a)
{
	char foreign[48] = "", switches[40] = "", marks[40] = "", failed[40] = "", samples[48] = "";
	const uint64_t lost = account_lost(a);
	char *files;

	clear_status(s);
	if (s->quiet && !lost && !a->failed_part_count)
		return;
	if (lost)
		snprintf(samples, sizeof(samples), " (%llu of them samples)",
			 (unsigned long long)account_lost_samples(a));
	if (a->foreign_count)
		snprintf(foreign, sizeof(foreign), ", %llu of them foreign",
			 (unsigned long long)a->foreign_count);
	if (a->switch_count)
		snprintf(switches, sizeof(switches), ", %llu switches",
			 (unsigned long long)a->switch_count);
	if (a->mark_count)
		snprintf(marks, sizeof(marks), ", %llu marks", (unsigned long long)a->mark_count);
	if (a->failed_part_count)
		snprintf(failed, sizeof(failed), ", %llu part%s failed",
			 (unsigned long long)a->failed_part_count,
			 a->failed_part_count == 1 ? "" : "s");
	files = describe_files(opts, last_file, a);
	print_message("%.1f s, %llu samples%s%s%s, %s, %llu lost%s%s, %.2f s of CPU",
		      seconds(a->duration_ns), (unsigned long long)a->sample_count, foreign,
		      switches, marks, files ? files : opts->output, (unsigned long long)lost,
		      samples, failed, seconds(a->own_user_ns + a->own_system_ns));
	free(files);
}

/* For the person at the terminal; scripts know what they want next. */
static void show_next(const struct screen *s, const struct record_opts *opts)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=@%+-";
	const char *quote = opts->output[strspn(opts->output, plain)] ? "'" : "";

	if (!s->status_line || opts->to_pipe || strchr(opts->output, '\'') ||
	    access(opts->output, R_OK))
		return;
	print_message("next: ebprec summary %s%s%s", quote, opts->output, quote);
}

/* Where user stacks come from and why they end, for -v. */
static void show_stacks(const struct account *a)
{
	unsigned long long tables = a->stack_how_count[STACK_RESULT_CFI];
	unsigned i;

	fprintf(stderr,
		"ebprec: user stacks: %llu by tables, %llu by frame pointers, %llu by both, "
		"%llu only an address, %llu none; %llu of them in copies, %llu copies refused\n",
		tables, (unsigned long long)a->stack_how_count[STACK_RESULT_FP],
		(unsigned long long)a->stack_how_count[STACK_RESULT_MIXED],
		(unsigned long long)a->stack_how_count[STACK_RESULT_PC],
		(unsigned long long)a->stack_how_count[STACK_RESULT_NONE],
		(unsigned long long)a->copy_count, (unsigned long long)a->copy_refused_count);
	for (i = 0; i < UNWIND_WHY_COUNT; i++) {
		if (a->stack_why_count[i])
			fprintf(stderr, "ebprec:   %llu end: %s\n",
				(unsigned long long)a->stack_why_count[i],
				unwind_why_text((enum unwind_why)i));
	}
	fprintf(stderr,
		"ebprec: unwind tables: %llu made in %.0f ms (%.1f M rows/s), %llu from the cache "
		"in %.0f ms, %llu not readable, %llu without room, %llu evicted, %.1f MiB\n",
		(unsigned long long)a->table_count, seconds(a->table_build_ns) * 1e3,
		a->table_build_ns ? (double)a->table_row_count * 1e3 / (double)a->table_build_ns
				  : 0,
		(unsigned long long)a->table_cached_count, seconds(a->table_cached_ns) * 1e3,
		(unsigned long long)a->table_failed_count,
		(unsigned long long)a->table_no_room_count,
		(unsigned long long)a->table_evicted_count, mib(a->table_bytes));
	fprintf(stderr,
		"ebprec: events began after %.0f ms, the longest pass took %.1f ms, memory %.1f MiB; "
		"%llu times no room for a process's mappings\n",
		seconds(a->startup_ns) * 1e3, seconds(a->longest_pass_ns) * 1e3,
		mib(a->own_peak_bytes), (unsigned long long)a->maps_refused_count);
}

static void second_signal(int signal_number)
{
	_exit(128 + signal_number);
}

static void arm_second_signal(void *arg)
{
	struct sigaction action = { .sa_handler = second_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* libbpf's messages are long; the recorder prints each failure in one line. */
static int no_libbpf_words(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int libbpf_words(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *words = NULL, *line, *rest;

	if (level == LIBBPF_DEBUG || vasprintf(&words, fmt, ap) < 0)
		return 0;
	rest = words;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			print_message("%s", line);
	free(words);
	return 0;
}

static unsigned max_freq_hz(void)
{
	char *text = slurp_line("/proc/sys/kernel/perf_event_max_sample_rate");
	unsigned long hz = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return hz <= 1000000 ? (unsigned)hz : 1000000;
}

/*
 * Large buffers come and go with what the machine does.  By itself glibc takes them from the heap after
 * the first one was freed, and then one small block above it keeps all of it for ever.
 */
static void give_back_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
	(void)mallopt(M_TRIM_THRESHOLD, 512 << 10);
	(void)mallopt(M_ARENA_MAX, 2);
}

/* Copies of programs that are gone lie beside the capture meanwhile: *dir, owned. */
static void prepare_bundle(struct name_bundler *b, const char *output, char **dir)
{
	int err = asprintf(dir, "%s.gone.%d", output, (int)getpid()) < 0 ? -ENOMEM : 0;

	if (err)
		*dir = NULL;
	else
		err = name_bundler_fork(b, output, *dir);

	if (err == -ENOENT)
		print_message(
			"cannot bundle '%s': there is no ebprec beside this program, skipping "
			"(ebprec bundle %s)",
			output, output);
	else if (err)
		print_message("cannot bundle '%s': %s, skipping", output, strerror(-err));
}

static void copy_deleted(struct deleted_files *gone)
{
	deleted_files_copy(gone);
	if (gone->missed_count)
		print_message(
			"%u deleted or replaced files could not be copied to '%s' and have no names in the capture, skipping",
			gone->missed_count, gone->dir);
	if (gone->unheld_count)
		print_message(
			"%u files could not be held open: those of them that were deleted or replaced meanwhile have no names, skipping "
			"(ulimit -n)",
			gone->unheld_count);
}

/* Found out before the recording, which may be long.  False, after a message: the page cannot be written. */
static bool can_write_page(const char *html)
{
	int err = strcmp(html, "-") != 0 ? name_bundler_check_page(html) : 0;

	if (err)
		print_message("cannot write '%s': %s (%s)", html, strerror(-err),
			      err == -ENOENT ? "make its folder first, or name another file"
					     : "name another file with --html");
	return !err;
}

static void prepare_page(struct name_bundler *b, const char *output, const char *html)
{
	int err = name_bundler_fork_page(b, output, html);

	if (err)
		print_message("cannot write '%s': %s, skipping (ebprec report --html %s %s)", html,
			      err == -ENOENT ? "there is no ebprec beside this program"
					     : strerror(-err),
			      html, output);
}

/* A copy that ends; NULL where nothing was given, or without memory. */
static char *copy_words(const struct record_file *words)
{
	char *copy = words->bytes ? strndup(words->name, words->bytes) : NULL;

	for (char *c = copy; c && *c; c++)
		*c = *c == '+' ? ',' : *c;
	return copy;
}

static void prepare_journal(struct name_bundler *b, const struct record_opts *opts)
{
	char *priority = copy_words(&opts->journal_priority),
	     *units = copy_words(&opts->journal_units);
	int err = name_bundler_fork_journal(b, opts->output, priority, units);

	if (err)
		print_message("cannot read the journal: %s, skipping (ebprec journal %s)",
			      err == -ENOENT ? "there is no ebprec beside this program"
					     : strerror(-err),
			      opts->output);
	free(priority);
	free(units);
}

static void prepare_dbus(struct name_bundler *b, const struct record_opts *opts)
{
	char *bus = copy_words(&opts->dbus_bus);
	int err = name_bundler_fork_dbus(b, opts->output, bus ? bus : "system");

	if (err)
		print_message("'%s' will be without messages of D-Bus%s, skipping", opts->output,
			      err == -ENOENT      ? ": there is no ebprec beside this program"
			      : err == -ETIMEDOUT ? ": the bus does not answer"
						  : "");
	free(bus);
}

/* The processes that wait until the recording has ended. */
struct followers {
	struct name_bundler dbus, journal, names, page;
	char *gone_dir; /* owned */
};

static void prepare_followers(struct followers *f, const struct record_opts *opts)
{
	if (opts->dbus)
		prepare_dbus(&f->dbus, opts);
	if (opts->journal)
		prepare_journal(&f->journal, opts);
	if (opts->bundle)
		prepare_bundle(&f->names, opts->output, &f->gone_dir);
	if (opts->html)
		prepare_page(&f->page, opts->output, opts->html);
}

/* what: is added to each file that the recording leaves. */
static void add_to_each(struct name_bundler *b, const struct record_opts *opts, unsigned last_file,
			bool has_dir, const char *what)
{
	if (b->pid && name_bundler_run(b, first_file(opts, last_file), last_file, has_dir))
		print_message("'%s'%s is without %s, skipping", opts->output,
			      last_file ? ", or one of its files," : "", what);
}

/* failed: the recording is not as it was to be; a page of it is made all the same. */
static void run_followers(struct followers *f, const struct record_opts *opts, unsigned last_file,
			  struct deleted_files *gone, bool failed)
{
	if (!failed) {
		add_to_each(&f->dbus, opts, last_file, true, "messages of D-Bus");
		add_to_each(&f->journal, opts, last_file, true, "lines of the journal");
	}
	if (f->names.pid && !failed) {
		copy_deleted(gone);
		add_to_each(&f->names, opts, last_file, gone->is_made, "names of its own");
	}
	if (f->page.pid && name_bundler_run(&f->page, 0, 0, false))
		print_message("there is no page '%s', skipping", opts->html);
}

static void followers_done(struct followers *f)
{
	name_bundler_done(&f->page);
	name_bundler_done(&f->names);
	name_bundler_done(&f->journal);
	name_bundler_done(&f->dbus);
	free(f->gone_dir);
}

/* The processes that it starts as itself.  False: it is none of them. */
static bool serve(const char *option, int *status)
{
	if (!strcmp(option, ELF_READER_OPTION) || !strcmp(option, ELF_READER_FACTS_OPTION) ||
	    !strcmp(option, ELF_READER_TEXTS_OPTION))
		*status = elf_reader_serve();
	else if (!strcmp(option, PROBER_OPTION))
		*status = prober_serve();
	else if (!strcmp(option, REOPENER_OPTION))
		*status = reopener_serve();
	else if (!strcmp(option, JVM_ASKER_OPTION))
		*status = jvm_asker_serve();
	else
		return false;
	return true;
}

/* Prints an answer that takes no recording; the exit status. */
static int answer(enum cli_result asked, bool as_lines, const struct option_error *error)
{
	switch (asked) {
	case CLI_HELP:
		if (as_lines)
			cli_print_lines(stdout);
		else
			cli_print_help(stdout);
		break;
	case CLI_VERSION:
		puts("ebprec-record " EBPREC_VERSION);
		break;
	case CLI_LIST:
		instrument_list_print(stdout);
		break;
	case CLI_DOCTOR:
		libbpf_set_print(no_libbpf_words);
		doctor_print(stdout);
		break;
	case CLI_WRONG:
		print_message("%s (see 'ebprec record --help')", error->text);
		return EXIT_USAGE;
	case CLI_RUN:
		break;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct recording_ui ui = { .note = show_note,
				   .tick = show_status,
				   .stopping = arm_second_signal };
	struct account account = { 0 };
	struct option_error error;
	struct screen screen = { 0 };
	struct record_opts opts;
	struct followers followers = { 0 };
	struct deleted_files gone = { 0 };
	char failure[1024] = "";
	enum cli_result result;
	unsigned last_file;
	int exit_status, err;

	/* Those that it starts as itself would be called "exe", in everybody's captures. */
	(void)prctl(PR_SET_NAME, "ebprec-record");
	if (argc == 2 && serve(argv[1], &exit_status))
		return exit_status;
	result = cli_parse(argc, argv, max_freq_hz(), &opts, &error);
	if (result != CLI_RUN)
		return answer(result, options_wants_lines(argc, argv), &error);
	/* Here, as the kernel forgets it when a program with file capabilities is started. */
	if (opts.end_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	screen.quiet = opts.quiet;
	screen.verbose = opts.verbose;
	screen.status_line = !opts.quiet && isatty(STDERR_FILENO);
	ui.arg = &screen;
	opts.self_program = "/proc/self/exe";
	give_back_memory();
	libbpf_set_print(opts.verbose > 1 ? libbpf_words : no_libbpf_words);

	if (opts.html && !can_write_page(opts.html))
		return EXIT_FAILURE;
	prepare_followers(&followers, &opts);
	gone.dir = followers.names.pid ? followers.gone_dir : NULL;
	opts.gone = &gone;
	err = recording_run(&opts, &ui, &account, &last_file, &exit_status, failure);
	if (err) {
		clear_status(&screen);
		print_message("%s", failure);
	}
	if (account.round_count)
		run_followers(&followers, &opts, last_file, &gone, err);
	deleted_files_done(&gone);
	followers_done(&followers);
	if (account.round_count > 1)
		show_summary(&screen, &opts, last_file, &account);
	if (opts.selects && !screen.quiet && account.duration_ns)
		show_left_out(&account);
	if (account.round_count > 1 && opts.verbose)
		show_stacks(&account);
	if (account.round_count > 1)
		show_next(&screen, &opts);
	return exit_status;
}
