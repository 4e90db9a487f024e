/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/report/cmd_brief.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/diff/cmd_diff.h"
#include "analyze/cmd/summary/cmd_summary_processes.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/cmdlines.h"
#include "analyze/input/event/event_of.h"
#include "analyze/input/perf_features.h"
#include "analyze/out/message.h"
#include "analyze/report/brief.h"
#include "analyze/report/profile/flat_profile.h"
#include "analyze/report/quality_text.h"
#include "analyze/report/process/summary.h"
#include "format/base/saturate.h"
#include "format/text/escape.h"

#define NS_PER_US 1000

/* Functions on stacks, as --parent finds them. */
#define COLLECTING                                                                    \
	"gc_collect|gc_mark|gc_sweep|GC_mark|gcBgMarkWorker|gcDrain|gcAssist|GCTask|" \
	"GarbageCollect|G1.*Closure|PSScavenge|Heap::Collect|MarkCompact"
#define SWAP "do_swap_page|swapin|swap_read|shrink_(lruvec|node)|try_to_free_(mem_cgroup_)?pages"
#define LOCKS                                                                            \
	"mutex_(timed)?lock|rwlock_(rd|wr)lock|lll_lock_wait|lock_contended|rwsem_down|" \
	"take_gil|runtime.lock2|semacquire|ObjectMonitor::enter"

struct work {
	const struct brief_ask *ask;
	struct picked picked;
	struct report *r;
	struct report waits;
	struct summary summary;
	struct summary_processes processes;
	struct row_keys keys;
	struct flat flat;
	struct brief b;
	char unknown[BRIEF_ROWS + 1][16];
	char *words, *file, *compared, *quality, *command; /* owned */
	char *changed[BRIEF_ROWS];                         /* owned: name, NUL, object */
	bool has_waits;
};

/* ---- time and machine ---- */

static void read_machine(struct work *w)
{
	const struct capture *c = w->r->capture;
	const struct filter *filter = w->picked.query.filter;
	struct situation_facts *f = &w->b.facts;
	const struct capture_damage *d = capture_damage(c);
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	uint32_t available, online;
	struct time_span span;

	if (w->r->scan.span_known) {
		span = w->r->scan.span;
		capture_meta_extend_back(c, &span);
		capture_meta_extend(c, &span);
		f->elapsed_ns = filter_overlap_ns(filter, span.from_ns, span.to_ns);
	}
	if (!feature_cpus(c, &available, &online))
		f->cpus = online;
	/* perf's files are of whatever has samples. */
	f->is_system_wide = !capture_meta_is(meta, "system_wide", "false");
	if (!f->is_system_wide || capture_meta_is(meta, "system_wide", "true"))
		w->b.scope = f->is_system_wide ? "all processes" : "some processes";
	capture_meta_free(meta);
	f->is_damaged = d->cut || d->unfinished || d->bad_blocks || d->missing_seq ||
			w->r->stats.damaged_blocks;
	w->b.host = capture_feature_string(c, PERFFILE_HOSTNAME);
	if (feature_command_line(c, &w->command))
		w->command = NULL;
	w->b.command = w->command;
}

/* ---- processes and functions ---- */

static void take_processes(struct work *w)
{
	const struct summary *s = &w->summary;
	struct situation_facts *f = &w->b.facts;
	struct brief *b = &w->b;

	for (size_t i = 0; i < s->count; i++) {
		const struct summary_row *row = &s->rows[i];

		if (!row->pid || !row->run_ns)
			continue;
		f->run_ns = saturate_add(f->run_ns, row->run_ns);
		if (row->processes > 1 && row->processes > b->most.processes)
			b->most = (struct brief_process){
				.comm = summary_processes_comm(w->r, &w->processes, row,
							       w->unknown[BRIEF_ROWS]),
				.run_ns = row->run_ns,
				.processes = row->processes,
			};
		if (row->processes > 1)
			f->short_run_ns = saturate_add(f->short_run_ns, row->run_ns);
		else if (row->run_ns > f->top_run_ns)
			f->top_run_ns = row->run_ns;
		if (b->process_count == BRIEF_ROWS)
			continue;
		b->processes[b->process_count] = (struct brief_process){
			.comm = summary_processes_comm(w->r, &w->processes, row,
						       w->unknown[b->process_count]),
			.run_ns = row->run_ns,
			.processes = row->processes,
		};
		b->process_count++;
	}
	f->started = w->processes.started_count;
}

static int take_functions(struct work *w)
{
	struct sort_keys keys = { { KEY_DSO, KEY_SYMBOL }, 2 };
	struct row_keys_source source = { .naming = &w->r->naming,
					  .names = w->r->names,
					  .containers = w->r->containers };
	struct brief *b = &w->b;
	int err;

	source.groups = groups_list(w->r->groups, &source.group_count);
	err = row_keys_make(&keys, &source, &w->keys);
	if (!err)
		err = flat_make(&w->r->stacks, w->picked.weight, &w->keys, &keys, w->r->names,
				false, &w->flat);
	if (err)
		return err;
	b->all = w->flat.sum;
	for (size_t i = 0; i < w->flat.count && i < BRIEF_ROWS && w->flat.rows[i].self; i++) {
		const struct flat_row *row = &w->flat.rows[i];
		const struct row_keys_label *label = &w->keys.labels[row->frame];

		b->functions[b->function_count++] = (struct brief_function){
			.name = string_table_text(w->r->names, label->texts[KEY_SYMBOL]),
			.object = string_table_text(w->r->names, label->texts[KEY_DSO]),
			.self = row->self,
			.total = row->total,
		};
	}
	return 0;
}

/* The stacks with such a function. */
static int sum_matching(const struct report *r, const char *expression, struct name_filter_sum *out)
{
	struct name_filter filter = { .count = 0 };
	char error[64];
	int err = name_filter_add(&filter, NAME_FILTER_PARENT, expression, error, sizeof(error));

	if (!err)
		err = name_filter_sum(&filter, &r->stacks, &r->naming, r->names, out);
	name_filter_done(&filter);
	return err;
}

static int read_samples(struct work *w)
{
	struct report_query *query = &w->picked.query;
	struct situation_facts *f = &w->b.facts;
	struct name_filter_sum sum;
	struct time_span window;
	int err;

	window = w->r->scan.span_known ? w->r->scan.span : (struct time_span){ 0, 0 };
	query->fields |= summary_fields();
	query->quantum_ns = summary_quantum_ns(&window);
	query->sum_groups = !w->picked.pick.count;
	query->apart = true;
	err = report_make(w->r, query);
	if (!err)
		err = summary_processes_load(w->r, query, &window, &w->summary, NULL,
					     &w->processes);
	if (err)
		return err;
	f->samples = w->r->picked;
	f->lost_samples = w->r->counts.lost_samples;
	w->b.event = w->r->event;
	take_processes(w);
	err = sum_matching(w->r, COLLECTING, &sum);
	if (!err)
		f->collecting = sum.samples;
	return err ? err : take_functions(w);
}

/* ---- waits ---- */

static bool is_reason(const char *reason, const char *list)
{
	char word[48];

	snprintf(word, sizeof(word), "%.40s", reason);
	return *reason && strstr(list, word);
}

/* Most threads are in these waits most of the time, and they slow nothing. */
static bool is_idle_wait(const char *reason)
{
	return is_reason(reason,
			 "[kernel thread] [epoll] [poll] [select] [nanosleep] [timer] [signal] "
			 "[eventfd] [io_uring] [tty] [child] [stopped]");
}

/* The reasons that the situation is about; "": none. */
static const char *reasons_of(enum situation s)
{
	switch (s) {
	case SITUATION_SWAPPING:
		return "[page fault] [block I/O]";
	case SITUATION_LOCKS:
		return "[futex] [lock]";
	case SITUATION_DISK:
		return "[block I/O] [file]";
	case SITUATION_OVERLOAD:
		return "[run queue] [preempted]";
	default:
		return "";
	}
}

static const char *waiter_of(const struct string_table *names, const struct wait_row *row)
{
	/* Threads without a name are rare, and their number is in report --waits. */
	return row->comm & STACK_COUNTER_TID_GROUP ? "?" : string_table_text(names, row->comm);
}

static struct brief_wait make_wait(const struct report *r, const struct wait_row *row)
{
	const char *reason = string_table_text(r->names, row->reason);
	struct brief_wait wait = {
		.waiter = waiter_of(r->names, row),
		.where = string_table_text(r->names, row->where),
		.count = row->count,
		.total_ns = row->total_ns,
		.longest_ns = row->longest_ns,
	};

	/* "[futex]" without its brackets. */
	reason += *reason == '[';
	snprintf(wait.reason, sizeof(wait.reason), "%.*s", (int)strcspn(reason, "]"), reason);
	return wait;
}

static void sum_reasons(struct work *w)
{
	const struct wait_table *t = &w->waits.wait_table;
	struct situation_facts *f = &w->b.facts;

	for (size_t i = 0; i < t->count; i++) {
		const char *reason = string_table_text(w->waits.names, t->rows[i].reason);

		if (is_reason(reason, reasons_of(SITUATION_DISK)))
			f->disk_ns = saturate_add(f->disk_ns, t->rows[i].total_ns);
		if (is_reason(reason, reasons_of(SITUATION_OVERLOAD)))
			f->queue_ns = saturate_add(f->queue_ns, t->rows[i].total_ns);
	}
}

/* The longest first, as the table has them; in a recording of all processes without those of idle ones. */
static void take_waits(struct work *w)
{
	const struct wait_table *t = &w->waits.wait_table;
	struct brief *b = &w->b;

	for (size_t i = 0; i < t->count; i++) {
		const char *reason = string_table_text(w->waits.names, t->rows[i].reason);

		if (!t->rows[i].total_ns)
			continue;
		if (b->facts.is_system_wide && is_idle_wait(reason))
			b->left_out_ns = saturate_add(b->left_out_ns, t->rows[i].total_ns);
		else if (b->wait_count < BRIEF_ROWS)
			b->waits[b->wait_count++] = make_wait(&w->waits, &t->rows[i]);
	}
}

static void find_cause(struct work *w, struct brief_wait *room)
{
	const struct wait_table *t = &w->waits.wait_table;
	const char *reasons = reasons_of(situation_find(&w->b.facts));

	for (size_t i = 0; i < t->count && !w->b.cause; i++)
		if (is_reason(string_table_text(w->waits.names, t->rows[i].reason), reasons)) {
			*room = make_wait(&w->waits, &t->rows[i]);
			w->b.cause = room;
		}
}

static int read_waits(struct work *w)
{
	struct report_query query = w->picked.query;
	struct situation_facts *f = &w->b.facts;
	struct name_filter_sum swap, locks;
	int err = report_open_beside(w->r, &w->waits);

	if (err)
		return err;
	w->has_waits = true;
	query.off_cpu = query.wakers = query.wait_rows = true;
	query.sum_groups = false;
	query.fields = GROUP_COMM | (query.fields & GROUP_SERVICE);
	err = report_make(&w->waits, &query);
	if (err == -ENODATA) {
		w->b.has_switches = cmd_has_recorded_switches(w->r->capture);
		return 0;
	}
	w->b.has_switches = true;
	if (!err)
		err = sum_matching(&w->waits, SWAP, &swap);
	if (!err)
		err = sum_matching(&w->waits, LOCKS, &locks);
	if (err)
		return err;
	f->swap_ns = swap.period * NS_PER_US;
	f->lock_ns = locks.period * NS_PER_US;
	f->wait_ns = w->waits.waits.facts.total_ns;
	f->unknown_ns = w->waits.waits.facts.unknown_ns;
	sum_reasons(w);
	take_waits(w);
	return 0;
}

/* ---- quality ---- */

/* Waits have their own lines; the others are those of samples. */
static size_t wait_lines(const char *text)
{
	const char *at = text;

	while (!strncmp(at, "waits", 5) || *at == ' ') {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return (size_t)(at - text);
}

static int read_quality(struct work *w)
{
	char *waits = NULL;
	size_t size;
	FILE *to = open_memstream(&waits, &size);

	if (!to)
		return -ENOMEM;
	if (w->has_waits)
		quality_text_write(&w->waits, w->ask->input, to);
	fclose(to);
	to = waits ? open_memstream(&w->quality, &size) : NULL;
	if (to) {
		quality_text_write(w->r, w->ask->input, to);
		fwrite(waits, 1, wait_lines(waits), to);
		fclose(to);
	}
	free(waits);
	w->b.quality = w->quality;
	return w->quality ? 0 : -ENOMEM;
}

/* ---- the baseline ---- */

static void take_change(struct work *w, const struct diff_text *t, const struct diff_table_row *row)
{
	const char *key = string_table_text(t->texts, row->key);
	size_t object = diff_text_column_bytes(key), at = w->b.change_count;
	const char *name = key + object + !!key[object];
	char *text = malloc(strlen(key) + 2);

	if (!text)
		return;
	strcpy(text, name);
	memcpy(text + strlen(name) + 1, key, object);
	text[strlen(name) + 1 + object] = '\0';
	w->changed[at] = text;
	w->b.changes[at] = (struct brief_change){
		.name = text,
		.object = text + strlen(name) + 1,
		.share_before = row->share[DIFF_BEFORE],
		.share_after = row->share[DIFF_AFTER],
		.ratio = row->ratio,
		.low = row->low,
		.high = row->high,
	};
	w->b.change_count++;
}

static void take_changes(void *arg, const struct diff_text *t, const struct diff_table_result *r)
{
	struct work *w = arg;

	if (r->too_short)
		w->b.unlike = "one of the two is too short, or has too few samples";
	for (size_t i = 0; i < r->count; i++) {
		if (r->rows[i].result != DIFF_REAL)
			continue;
		if (w->b.change_count < BRIEF_ROWS)
			take_change(w, t, &r->rows[i]);
		else
			w->b.more_changes++;
	}
}

static int read_changes(struct work *w)
{
	char *words[] = { (char *)(uintptr_t)w->ask->baseline, (char *)(uintptr_t)w->ask->input,
			  NULL };

	return w->ask->baseline ? cmd_diff_rows(w->ask->pick, words, take_changes, w) : 0;
}

/* ---- words of commands ---- */

/* With options, if any; name: in place of a text that is too long for a line.  Owned; NULL: no memory. */
static char *make_words(const char *path, const struct option_words *options, const char *name)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	cmdlines_put_word(to, path, strlen(path));
	for (size_t i = 0; options && i < options->count; i++) {
		putc(' ', to);
		cmdlines_put_word(to, options->list[i], strlen(options->list[i]));
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	if (size <= BRIEF_WORDS_MAX && escape_plain(ESCAPE_TEXT, text, size) == size &&
	    strcmp(path, "-") != 0)
		return text;
	free(text);
	return strdup(name);
}

static int read_words(struct work *w)
{
	const char *path = w->ask->is_temporary ? "-" : w->ask->input;
	struct option_words options;

	if (pick_options_words(w->ask->pick, NULL, &options))
		return -ENOMEM;
	w->words = make_words(path, &options, "FILE");
	/* Both are of one name. */
	w->file = w->words && !strcmp(w->words, "FILE") ? strdup("FILE")
							: make_words(path, NULL, "FILE");
	if (w->ask->baseline)
		w->compared = make_words(w->ask->baseline, NULL, "BASELINE");
	option_words_done(&options);
	w->b.words = w->words;
	w->b.file = w->file;
	w->b.baseline = w->compared;
	return w->words && w->file && (w->compared || !w->ask->baseline) ? 0 : -ENOMEM;
}

/* ---- the answer ---- */

static int write_answer(void *arg, FILE *to)
{
	struct work *w = arg;

	return brief_write(&w->b, to);
}

static int answer(struct work *w)
{
	struct brief_wait cause;
	int status, err;

	status = pick_options_resolve(w->ask->pick, w->ask->usage, w->ask->input, w->ask->quiet,
				      w->r, &w->picked);
	if (status)
		return status;
	err = read_words(w);
	if (!err)
		err = read_samples(w);
	if (!err)
		read_machine(w);
	if (!err)
		err = read_waits(w);
	if (!err)
		err = read_quality(w);
	if (err)
		return message_error("cannot report '%s': %s", w->ask->input, strerror(-err));
	if (w->has_waits)
		find_cause(w, &cause);
	status = read_changes(w);
	if (status)
		return status;
	err = cmd_write_output(NULL, write_answer, w);
	if (err == -EPIPE) {
		clearerr(stdout);
		return MESSAGE_OK;
	}
	return err ? message_cannot_write("standard output", err) : MESSAGE_OK;
}

static void work_done(struct work *w)
{
	flat_done(&w->flat);
	row_keys_done(&w->keys);
	summary_done(&w->summary);
	summary_processes_done(&w->processes);
	if (w->has_waits)
		report_done(&w->waits);
	for (size_t i = 0; i < BRIEF_ROWS; i++)
		free(w->changed[i]);
	free(w->words);
	free(w->file);
	free(w->compared);
	free(w->quality);
	free(w->command);
}

int cmd_brief(const struct brief_ask *ask)
{
	struct work *w = calloc(1, sizeof(*w));
	struct cmd_open in;
	int status;

	if (ask->baseline && !strcmp(ask->input, "-")) {
		free(w);
		return usage_error(ask->usage, "--baseline FILE compares with a file, not with "
					       "standard input");
	}
	if (!w)
		return message_error("cannot report '%s': %s", ask->input, strerror(ENOMEM));
	w->ask = ask;
	w->b = (struct brief){ .collecting = COLLECTING, .swap = SWAP, .locks = LOCKS };
	status = pick_options_parse(ask->pick, ask->usage, &w->picked);
	if (!status) {
		status = cmd_open_with_tasks(ask->input, "report", ask->quiet, &in);
		if (!status) {
			w->r = &in.report;
			status = answer(w);
			work_done(w);
			cmd_close(&in);
		} else {
			work_done(w);
		}
		pick_options_done(&w->picked);
	}
	free(w);
	return status;
}
