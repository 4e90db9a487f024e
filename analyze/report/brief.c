/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/brief.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/markdown.h"
#include "analyze/out/number_text.h"
#include "format/base/saturate.h"

#define NAME_COLUMNS    48
#define COMM_COLUMNS    24
#define COMMAND_COLUMNS 80
#define LINE_COLUMNS    180

/* How much of each table is shown. */
struct room {
	size_t rows, lines;
	unsigned name_columns;
};

/* ---- numbers ---- */

static void put_time(FILE *to, uint64_t ns)
{
	char text[NUMBER_TEXT_BYTES] = "0 s";

	if (ns)
		number_time((double)ns, text);
	fputs(text, to);
}

static void put_ratio(FILE *to, double ratio)
{
	if (isinf(ratio))
		fputs("any", to);
	else
		fprintf(to, "x%.*f", ratio < 100 ? 2 : 0, ratio < 1e6 ? ratio : 1e6);
}

/*
 * The command that prints what stands before it; options: behind its name, "" or with a blank in front.  Two commands
 * do not choose samples.
 */
static void put_command(FILE *to, const struct brief *b, const char *command, const char *options)
{
	bool chooses = strcmp(command, "info") != 0 && strcmp(command, "sched") != 0;
	char text[384];

	snprintf(text, sizeof(text), "ebprec %s%s %s", command, options,
		 chooses ? b->words : b->file);
	markdown_code(to, text, 0);
}

/* --OPTION 'EXPRESSION' */
static void put_matching(FILE *to, const struct brief *b, const char *command,
			 const char *expression)
{
	char options[288];

	snprintf(options, sizeof(options), " --parent '%s'", expression);
	put_command(to, b, command, options);
}

static void put_elapsed(FILE *to, const struct brief *b)
{
	put_time(to, b->facts.elapsed_ns);
}

/* ---- the first line ---- */

static void put_cause(FILE *to, const struct brief *b)
{
	if (!b->cause)
		return;
	fputs(", most of it ", to);
	markdown_code(to, b->cause->waiter, COMM_COLUMNS);
	if (*b->cause->where) {
		fputs(" in ", to);
		markdown_code(to, b->cause->where, NAME_COLUMNS);
	}
}

static void put_waits(FILE *to, const struct brief *b, uint64_t ns, const char *object)
{
	fputs("threads waited ", to);
	put_time(to, ns);
	fprintf(to, " for %s in ", object);
	put_elapsed(to, b);
	fputs(", and ran ", to);
	put_time(to, b->facts.run_ns);
	put_cause(to, b);
}

static void write_incomplete(FILE *to, const struct brief *b)
{
	const struct situation_facts *f = &b->facts;

	if (f->lost_samples)
		fprintf(to, "%" PRIu64 " of %" PRIu64 " samples were lost (%.1f %%)%s",
			f->lost_samples, f->samples + f->lost_samples,
			number_percent(f->lost_samples, saturate_add(f->samples, f->lost_samples)),
			f->is_damaged || f->unknown_ns ? ", " : "");
	if (f->unknown_ns) {
		fputs("events are missing in ", to);
		put_time(to, f->unknown_ns);
		fprintf(to, " of threads%s", f->is_damaged ? ", " : "");
	}
	if (f->is_damaged)
		fputs("the file is cut or damaged", to);
	fputs("; all numbers below are of what is left", to);
}

static void write_empty(FILE *to, const struct brief *b)
{
	fputs("no sample and no wait", to);
	if (b->facts.elapsed_ns) {
		fputs(" in ", to);
		put_elapsed(to, b);
	}
}

static void write_swapping(FILE *to, const struct brief *b)
{
	put_waits(to, b, b->facts.swap_ns, "memory that is on disk, or to be freed");
}

static void write_fork_storm(FILE *to, const struct brief *b)
{
	fprintf(to, "%" PRIu64 " processes were started in ", b->facts.started);
	put_elapsed(to, b);
	if (b->facts.elapsed_ns)
		fprintf(to, " (%.0f a second)",
			(double)b->facts.started * 1e9 / (double)b->facts.elapsed_ns);
	fputs("; the short ones ran ", to);
	put_time(to, b->facts.short_run_ns);
	fputs(" of ", to);
	put_time(to, b->facts.run_ns);
	if (b->most.processes) {
		fprintf(to, ", %" PRIu64 " of them ", b->most.processes);
		markdown_code(to, b->most.comm, COMM_COLUMNS);
	}
}

static void write_collecting(FILE *to, const struct brief *b)
{
	fprintf(to, "%.1f %% of %" PRIu64 " samples are in it",
		number_percent(b->facts.collecting, b->facts.samples), b->facts.samples);
	if (b->process_count) {
		fputs("; most ran ", to);
		markdown_code(to, b->processes[0].comm, COMM_COLUMNS);
	}
}

static void write_locks(FILE *to, const struct brief *b)
{
	put_waits(to, b, b->facts.lock_ns, "locks");
}

static void write_disk(FILE *to, const struct brief *b)
{
	put_waits(to, b, b->facts.disk_ns, "disks and files");
}

static void put_top_process(FILE *to, const struct brief *b)
{
	if (!b->process_count)
		return;
	markdown_code(to, b->processes[0].comm, COMM_COLUMNS);
	fputs(" ran ", to);
	put_time(to, b->processes[0].run_ns);
	fputs(" of ", to);
	put_elapsed(to, b);
}

static void write_overload(FILE *to, const struct brief *b)
{
	put_waits(to, b, b->facts.queue_ns, "a CPU");
}

static void write_cpu(FILE *to, const struct brief *b)
{
	put_top_process(to, b);
	if (b->facts.elapsed_ns && b->process_count)
		fprintf(to, " (%.0f %% of a CPU)",
			number_percent(b->processes[0].run_ns, b->facts.elapsed_ns));
	if (b->function_count) {
		fprintf(to, "%s%.1f %% of samples are in ", b->process_count ? "; " : "",
			number_percent(b->functions[0].self, b->all));
		markdown_code(to, b->functions[0].name, NAME_COLUMNS);
	}
}

static void write_waiting(FILE *to, const struct brief *b)
{
	put_top_process(to, b);
	if (!b->wait_count)
		return;
	fputs(b->process_count ? ", and " : "", to);
	markdown_code(to, b->waits[0].waiter, COMM_COLUMNS);
	fputs(" waited ", to);
	put_time(to, b->waits[0].total_ns);
	fprintf(to, " (%s)", b->waits[0].reason);
}

static void write_busy(FILE *to, const struct brief *b)
{
	const struct situation_facts *f = &b->facts;

	put_time(to, f->run_ns);
	fputs(" of CPU time in ", to);
	put_elapsed(to, b);
	if (f->cpus)
		fprintf(to, ": %" PRIu64 " CPUs were busy %.1f %%", f->cpus,
			number_percent(f->run_ns, f->elapsed_ns) / (double)f->cpus);
	if (b->process_count) {
		fputs(", most ran ", to);
		markdown_code(to, b->processes[0].comm, COMM_COLUMNS);
	}
}

static const struct {
	void (*write)(FILE *to, const struct brief *b);
	const char *command; /* that has the numbers; NULL: that by an expression */
} lines[SITUATION_COUNT] = {
	[SITUATION_INCOMPLETE] = { write_incomplete, "info" },
	[SITUATION_EMPTY] = { write_empty, "info" },
	[SITUATION_SWAPPING] = { write_swapping, "report --off-cpu" },
	[SITUATION_FORK_STORM] = { write_fork_storm, "summary" },
	[SITUATION_COLLECTING] = { write_collecting, "report" },
	[SITUATION_LOCKS] = { write_locks, "report --off-cpu" },
	[SITUATION_DISK] = { write_disk, "report --waits" },
	[SITUATION_OVERLOAD] = { write_overload, "report --waits" },
	[SITUATION_CPU] = { write_cpu, "summary" },
	[SITUATION_WAITING] = { write_waiting, "summary" },
	[SITUATION_IDLE] = { write_busy, "summary" },
	[SITUATION_PARTLY] = { write_busy, "summary" },
};

static void write_first(FILE *to, const struct brief *b, enum situation found)
{
	const char *expression = found == SITUATION_SWAPPING     ? b->swap
				 : found == SITUATION_LOCKS      ? b->locks
				 : found == SITUATION_COLLECTING ? b->collecting
								 : NULL;

	fprintf(to, "**%s**: ", situation_title(found));
	lines[found].write(to, b);
	fputs(" (", to);
	if (expression)
		put_matching(to, b, lines[found].command, expression);
	else
		put_command(to, b, lines[found].command, "");
	fputs(").\n\n", to);
}

/* The frame of all numbers. */
static void write_frame(FILE *to, const struct brief *b)
{
	const struct situation_facts *f = &b->facts;

	put_elapsed(to, b);
	if (b->scope)
		fprintf(to, " of %s", b->scope);
	if (f->cpus)
		fprintf(to, ", %" PRIu64 " CPUs", f->cpus);
	if (b->host) {
		fputs(", host ", to);
		markdown_code(to, b->host, COMM_COLUMNS);
	}
	fprintf(to, ", %" PRIu64 " samples", f->samples);
	if (b->event) {
		fputs(" of ", to);
		markdown_code(to, b->event, COMM_COLUMNS);
	}
	if (b->command) {
		fputs(", recorded by ", to);
		markdown_code(to, b->command, COMMAND_COLUMNS);
	}
	fputs(" (", to);
	put_command(to, b, "info", "");
	fputs(").\n", to);
}

/* ---- tables ---- */

static size_t at_most(size_t count, size_t rows)
{
	return count < rows ? count : rows;
}

static void write_heading(FILE *to, const struct brief *b, const char *title, const char *command)
{
	fprintf(to, "\n## %s\n\n", title);
	if (command)
		put_command(to, b, command, "");
	fputs(command ? ":\n\n" : "", to);
}

static void write_processes(FILE *to, const struct brief *b, const struct room *room)
{
	size_t count = at_most(b->process_count, room->rows);

	if (!count)
		return;
	put_command(to, b, "summary", "");
	fputs(":\n\n| CPU time | of a CPU | process |\n|--:|--:|---|\n", to);
	for (size_t i = 0; i < count; i++) {
		const struct brief_process *p = &b->processes[i];

		fputs("| ", to);
		put_time(to, p->run_ns);
		fprintf(to, " | %.1f %% | ", number_percent(p->run_ns, b->facts.elapsed_ns));
		markdown_cell(to, p->comm, COMM_COLUMNS);
		if (p->processes > 1)
			fprintf(to, " (%" PRIu64 " processes)", p->processes);
		fputs(" |\n", to);
	}
	fputs("\n", to);
}

static void write_functions(FILE *to, const struct brief *b, const struct room *room)
{
	size_t count = at_most(b->function_count, room->rows);

	if (!count)
		return;
	put_command(to, b, "report", "");
	fputs(":\n\n| self | total | function | file |\n|--:|--:|---|---|\n", to);
	for (size_t i = 0; i < count; i++) {
		const struct brief_function *f = &b->functions[i];

		fprintf(to, "| %.1f %% | %.1f %% | ", number_percent(f->self, b->all),
			number_percent(f->total, b->all));
		markdown_cell(to, f->name, room->name_columns);
		fputs(" | ", to);
		markdown_cell(to, f->object, COMM_COLUMNS);
		fputs(" |\n", to);
	}
}

static void write_where_time_went(FILE *to, const struct brief *b, const struct room *room)
{
	write_heading(to, b, "Where the time went", NULL);
	if (!b->process_count && !b->function_count)
		fputs("Nothing ran that was recorded.\n", to);
	write_processes(to, b, room);
	write_functions(to, b, room);
}

static void write_waits(FILE *to, const struct brief *b, const struct room *room)
{
	size_t count = at_most(b->wait_count, room->rows);

	write_heading(to, b, "What was waited for", b->has_switches ? "report --waits" : NULL);
	if (!b->has_switches)
		fputs("Not known: no context switches were recorded.\n", to);
	else if (!b->wait_count)
		fputs("Nothing.\n", to);
	if (count)
		fputs("| total | longest | count | waiter | reason | where |\n|--:|--:|--:|---|---|---|\n",
		      to);
	for (size_t i = 0; i < count; i++) {
		const struct brief_wait *w = &b->waits[i];

		fputs("| ", to);
		put_time(to, w->total_ns);
		fputs(" | ", to);
		put_time(to, w->longest_ns);
		fprintf(to, " | %" PRIu64 " | ", w->count);
		markdown_cell(to, w->waiter, COMM_COLUMNS);
		fprintf(to, " | %s | ", w->reason);
		markdown_cell(to, w->where, room->name_columns);
		fputs(" |\n", to);
	}
	if (b->left_out_ns) {
		fputs("\nLeft out: ", to);
		put_time(to, b->left_out_ns);
		fputs(" of waits for events, timers, children and work.\n", to);
	}
}

static void write_change(FILE *to, const struct brief_change *c, const struct room *room)
{
	fprintf(to, "| %.1f %% | %.1f %% | ", 100 * c->share_before, 100 * c->share_after);
	if (isinf(c->ratio))
		fputs("new", to);
	else
		put_ratio(to, c->ratio);
	fputs(" | ", to);
	put_ratio(to, c->low);
	fputs(" .. ", to);
	put_ratio(to, c->high);
	fputs(" | ", to);
	markdown_cell(to, c->name, room->name_columns);
	fputs(" | ", to);
	markdown_cell(to, c->object, COMM_COLUMNS);
	fputs(" |\n", to);
}

static void write_changes(FILE *to, const struct brief *b, const struct room *room)
{
	size_t count = at_most(b->change_count, room->rows);
	char command[BRIEF_WORDS_MAX + 16];

	if (!b->baseline)
		return;
	snprintf(command, sizeof(command), "diff %s", b->baseline);
	write_heading(to, b, "What is unusual against the baseline", command);
	if (b->unlike)
		fprintf(to, "Not compared: %s.\n", b->unlike);
	else if (!b->change_count)
		fputs("Nothing that is not chance.\n", to);
	if (count)
		fputs("| before | now | ratio | 95 % interval | function | file |\n|--:|--:|--:|---|---|---|\n",
		      to);
	for (size_t i = 0; i < count; i++)
		write_change(to, &b->changes[i], room);
	if (b->change_count - count + b->more_changes)
		fprintf(to, "\n%zu more have changed.\n",
			b->change_count - count + b->more_changes);
}

static void write_quality(FILE *to, const struct brief *b, const struct room *room)
{
	write_heading(to, b, "How far to trust it", "report");
	if (*b->quality)
		markdown_block(to, b->quality, room->lines, LINE_COLUMNS);
	else
		fputs("No stacks were recorded, nothing is known to be lost.\n", to);
}

/* ---- what to run next ---- */

static void put_step(FILE *to, const struct brief *b, const char *command, const char *options,
		     const char *gives)
{
	fputs("- ", to);
	put_command(to, b, command, options);
	fprintf(to, ": %s\n", gives);
}

static void put_record(FILE *to, const char *command, const char *gives)
{
	fputs("- ", to);
	markdown_code(to, command, 0);
	fprintf(to, ": %s\n", gives);
}

static void write_steps(FILE *to, const struct brief *b, enum situation found)
{
	static const char locks[] = "ebprec record --with locks",
			  disks[] = "ebprec record --with block",
			  counters[] = "ebprec record --with counters";

	write_heading(to, b, "What to run next", NULL);
	if (found == SITUATION_INCOMPLETE || found == SITUATION_EMPTY) {
		put_step(to, b, "info", "",
			 "what was recorded, what was lost, and the recorder's notes");
		put_record(to, "ebprec doctor", "what this machine cannot record, and why");
	}
	if (found == SITUATION_LOCKS)
		put_record(to, locks,
			   "then 'ebprec metrics locks': which thread held which lock, how long");
	if (found == SITUATION_DISK || found == SITUATION_SWAPPING)
		put_record(to, disks, "then 'ebprec metrics block': latencies of each disk");
	if (found == SITUATION_SWAPPING || found == SITUATION_OVERLOAD)
		put_record(to, counters, "memory, swap and pressure over time");
	if (found == SITUATION_FORK_STORM)
		put_step(to, b, "summary", " --top 30", "which programs are started, and by which");
	if (found == SITUATION_OVERLOAD)
		put_step(to, b, "sched", " --threads", "how long each thread waited for a CPU");
	if (found == SITUATION_COLLECTING || found == SITUATION_CPU || found == SITUATION_PARTLY)
		put_step(to, b, "report", " --tree", "which callers cost it");
	if (b->has_switches && found >= SITUATION_LOCKS)
		put_step(to, b, "report", " --wakers", "which threads ended the waits");
	put_step(to, b, "report", " --html page.html", "all of it over time, in a browser");
}

/* ---- all of it ---- */

static void write_all(FILE *to, const struct brief *b, const struct room *room)
{
	enum situation found = situation_find(&b->facts);

	write_first(to, b, found);
	write_frame(to, b);
	write_where_time_went(to, b, room);
	write_waits(to, b, room);
	write_changes(to, b, room);
	write_quality(to, b, room);
	write_steps(to, b, found);
}

/* Owned; NULL: no memory. */
static char *make_text(const struct brief *b, const struct room *room, size_t *size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	if (!to)
		return NULL;
	write_all(to, b, room);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Up to the last line that fits. */
static size_t end_of_line(const char *text)
{
	const char *end = memrchr(text, '\n', BRIEF_BYTES_MAX);

	return end ? (size_t)(end - text) + 1 : 0;
}

int brief_write(const struct brief *b, FILE *to)
{
	static const struct room rooms[] = { { BRIEF_ROWS, 8, NAME_COLUMNS },
					     { 4, 6, 40 },
					     { 3, 5, 32 },
					     { 2, 4, 24 },
					     { 1, 2, 16 },
					     { 0, 1, 16 } };
	char *text = NULL;
	size_t size = 0;
	int err;

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		free(text);
		text = make_text(b, &rooms[i], &size);
		if (!text || size <= BRIEF_BYTES_MAX)
			break;
	}
	if (!text)
		return -ENOMEM;
	/* The last one has names in its first lines alone: it is longer only when these are of long characters. */
	if (size > BRIEF_BYTES_MAX)
		size = end_of_line(text);
	fwrite(text, 1, size, to);
	err = fflush(to) ? -errno : 0;
	free(text);
	return err;
}
