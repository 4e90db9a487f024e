/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/empty_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/usage.h"
#include "analyze/input/event/filter.h"
#include "analyze/out/message.h"
#include "format/base/saturate.h"

#define SHOWN_MAX 5u

/* The kinds of filters: lists first, then the regular expressions in the order of enum name_filter_what. */
enum kind {
	KIND_COMM,
	KIND_PID,
	KIND_TID,
	KIND_CPU,
	KIND_NAMES,
	KIND_COUNT = KIND_NAMES + NAME_FILTER_KINDS
};

static const struct {
	const char *option;
	const char *missing; /* what is not there, before the value */
} kinds[KIND_COUNT] = {
	[KIND_COMM] = { "comm", "no thread is called" },
	[KIND_PID] = { "pid", "nothing is of process" },
	[KIND_TID] = { "tid", "nothing is of thread" },
	[KIND_CPU] = { "cpu", "nothing is of CPU" },
	[KIND_NAMES + NAME_FILTER_DSO] = { "dso", "no file matches" },
	[KIND_NAMES + NAME_FILTER_SYMBOL] = { "symbol", "no function matches" },
	[KIND_NAMES + NAME_FILTER_PARENT] = { "parent", "no caller matches" },
	[KIND_NAMES + NAME_FILTER_CGROUP] = { "cgroup", "no cgroup matches" },
	[KIND_NAMES + NAME_FILTER_CONTAINER] = { "container", "no container matches" },
	[KIND_NAMES + NAME_FILTER_SERVICE] = { "service", "no service matches" },
};

/* Everything in the asked time, by every field that filters look at. */
struct all {
	struct report report;
	const struct report_query *asked;
	const struct group *groups;
	size_t group_count;
};

static bool kind_is_given(const struct report_query *q, enum kind k)
{
	const struct filter *f = q->filter;

	switch (k) {
	case KIND_COMM:
		return f->comm_count;
	case KIND_PID:
		return f->pid_count;
	case KIND_TID:
		return f->tid_count;
	case KIND_CPU:
		return f->cpu_pair_count;
	default:
		return q->pick && name_filter_has(q->pick, (enum name_filter_what)(k - KIND_NAMES));
	}
}

static bool kind_is_negated(const struct report_query *q, enum kind k)
{
	const struct filter *f = q->filter;

	switch (k) {
	case KIND_COMM:
		return f->not_comms;
	case KIND_PID:
		return f->not_pids;
	case KIND_TID:
		return f->not_tids;
	case KIND_CPU:
		return f->not_cpus;
	default:
		for (size_t i = 0; i < q->pick->count; i++)
			if (q->pick->rules[i].what == (enum name_filter_what)(k - KIND_NAMES) &&
			    q->pick->rules[i].negated)
				return true;
		return false;
	}
}

/* The filter of one kind alone; borrowed from f. */
static struct filter filter_of(const struct filter *f, enum kind k)
{
	struct filter one;

	filter_init(&one);
	if (k == KIND_PID) {
		one.pids = f->pids;
		one.pid_count = f->pid_count;
		one.not_pids = f->not_pids;
	} else if (k == KIND_TID) {
		one.tids = f->tids;
		one.tid_count = f->tid_count;
		one.not_tids = f->not_tids;
	} else if (k == KIND_CPU) {
		one.cpus = f->cpus;
		one.cpu_pair_count = f->cpu_pair_count;
		one.not_cpus = f->not_cpus;
	} else {
		one.comms = f->comms;
		one.comm_count = f->comm_count;
		one.not_comms = f->not_comms;
	}
	return one;
}

/* Threads without a name are reported by their numbers, which filters do not look at. */
static const char *comm_of(const struct all *a, const struct group *g)
{
	return g->comm & STACK_COUNTER_TID_GROUP ? "" : string_table_text(a->report.names, g->comm);
}

static uint64_t weigh_lists(const struct all *a, enum kind k)
{
	const struct stack_table *s = &a->report.stacks;
	const struct filter one = filter_of(a->asked->filter, k);
	uint64_t passed = 0;

	for (size_t i = 0; i < s->entry_count; i++) {
		const struct group *g = &a->groups[s->entries[i].key.group];

		if (filter_passes(&one, g->pid, g->tid, g->cpu, 0) &&
		    filter_passes_comm(&one, comm_of(a, g)))
			passed += s->entries[i].sample_count;
	}
	return passed;
}

/* How many samples the expressions of one kind pass when they are taken for those of another.  -ENOMEM. */
static int weigh_names_as(const struct all *a, enum kind k, enum name_filter_what what,
			  uint64_t *passed)
{
	struct stack_table copy = a->report.stacks;
	struct name_filter *one = calloc(1, sizeof(*one));
	int err = -ENOMEM;

	*passed = 0;
	copy.sample_count = 0;
	copy.entries = calloc(copy.entry_count + 1, sizeof(*copy.entries));
	if (one && copy.entries) {
		one->services = a->asked->services;
		memcpy(copy.entries, a->report.stacks.entries,
		       copy.entry_count * sizeof(*copy.entries));
		for (size_t i = 0; i < a->asked->pick->count; i++)
			if (a->asked->pick->rules[i].what ==
			    (enum name_filter_what)(k - KIND_NAMES)) {
				one->rules[one->count] = a->asked->pick->rules[i];
				one->rules[one->count++].what = what;
			}
		err = name_filter_run(one, &copy, &a->report.naming, a->report.names,
				      a->report.containers, a->groups, a->group_count);
	}
	for (size_t i = 0; !err && i < copy.entry_count; i++)
		*passed += copy.entries[i].sample_count;
	free(one);
	free(copy.entries);
	return err;
}

static int weigh_names(const struct all *a, enum kind k, uint64_t *passed)
{
	return weigh_names_as(a, k, (enum name_filter_what)(k - KIND_NAMES), passed);
}

/* ---- what there is ---- */

struct present {
	const char *text;
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct present *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct present *)a)->text, ((const struct present *)b)->text);
}

/* The text of a kind that a group has, as users would type it; a new string of the report's names. */
static int group_text(struct all *a, enum kind k, const struct group *g, const char **out)
{
	char text[CONTAINER_NAMES_TEXT_MAX + SERVICE_NAME_MAX];
	uint32_t number;
	int err;

	if (k == KIND_COMM)
		snprintf(text, sizeof(text), "%s", comm_of(a, g));
	else if (k == KIND_PID)
		snprintf(text, sizeof(text), "%" PRIu32, g->pid);
	else if (k == KIND_TID)
		snprintf(text, sizeof(text), "%" PRIu32 " (%s)", g->tid, comm_of(a, g));
	else if (k == KIND_CPU && g->cpu >= 0)
		snprintf(text, sizeof(text), "%" PRId32, g->cpu);
	else
		*text = '\0';
	if (k == KIND_NAMES + NAME_FILTER_CGROUP) {
		*out = string_table_text(a->report.names, (uint32_t)g->cgroup);
		return 0;
	}
	if (k == KIND_NAMES + NAME_FILTER_CONTAINER)
		container_names_lines(a->report.containers,
				      string_table_text(a->report.names, (uint32_t)g->cgroup),
				      text);
	if (k == KIND_NAMES + NAME_FILTER_SERVICE)
		service_name(
			a->asked->services, a->report.containers,
			&(struct service_facts){
				.context = string_table_text(a->report.names, g->context),
				.cgroup = string_table_text(a->report.names, (uint32_t)g->cgroup),
				.comm = comm_of(a, g),
			},
			text);
	text[strcspn(text, "\n")] = '\0';
	err = string_table_add(a->report.names, text, strlen(text), &number);
	if (!err)
		*out = string_table_text(a->report.names, number);
	return err;
}

static int list_groups(struct all *a, enum kind k, struct present *list, size_t *count)
{
	const struct stack_table *s = &a->report.stacks;
	int err = 0;

	for (size_t i = 0; !err && i < a->group_count; i++)
		err = group_text(a, k, &a->groups[i], &list[i].text);
	for (size_t i = 0; !err && i < s->entry_count; i++)
		list[s->entries[i].key.group].samples += s->entries[i].sample_count;
	*count = a->group_count;
	return err;
}

static int list_functions(struct all *a, enum kind k, struct present *list, size_t *count)
{
	const struct stack_table *s = &a->report.stacks;
	const struct function_table *n = &a->report.naming;
	uint64_t *weights = calloc(n->function_count + 1, sizeof(*weights));
	int err = weights ? 0 : -ENOMEM;

	if (!err && k == KIND_NAMES + NAME_FILTER_PARENT)
		err = stack_table_weigh_frames(s, weights);
	for (size_t i = 0; !err && k != KIND_NAMES + NAME_FILTER_PARENT && i < s->entry_count;
	     i++) {
		const struct stack_table_key *key = &s->entries[i].key;
		uint32_t leaf = key->kernel >= STACK_TABLE_FIRST_NODE ? key->kernel : key->user;

		if (leaf >= STACK_TABLE_FIRST_NODE)
			weights[s->nodes[leaf].frame] += s->entries[i].sample_count;
	}
	for (size_t i = 0; !err && i < n->function_count; i++)
		list[i] = (struct present){ string_table_text(a->report.names,
							      k == KIND_NAMES + NAME_FILTER_DSO
								      ? n->functions[i].dso
								      : n->functions[i].name),
					    weights[i] };
	*count = n->function_count;
	free(weights);
	return err;
}

/* Lists all that there is of a kind, each once, most samples first.  -ENOMEM, -EOVERFLOW. */
static int list_present(struct all *a, enum kind k, struct present **out, size_t *out_count)
{
	bool is_function = k >= KIND_NAMES && k <= KIND_NAMES + NAME_FILTER_PARENT;
	size_t count = is_function ? a->report.naming.function_count : a->group_count, used = 0;
	struct present *list = calloc(count + 1, sizeof(*list));
	int err = -ENOMEM;

	if (list)
		err = is_function ? list_functions(a, k, list, &count)
				  : list_groups(a, k, list, &count);
	if (err) {
		free(list);
		return err;
	}
	qsort(list, count, sizeof(*list), by_text);
	for (size_t i = 0; i < count; i++) {
		if (used && !strcmp(list[used - 1].text, list[i].text))
			list[used - 1].samples += list[i].samples;
		else if (*list[i].text)
			list[used++] = list[i];
	}
	qsort(list, used, sizeof(*list), by_samples);
	while (used && !list[used - 1].samples)
		used--;
	*out = list;
	*out_count = used;
	return 0;
}

/* " (NAME)" of the process's first thread, if that is there. */
static void write_process_name(FILE *to, const struct all *a, const char *pid)
{
	uint32_t number = (uint32_t)strtoul(pid, NULL, 10);

	for (size_t i = 0; i < a->group_count; i++)
		if (a->groups[i].pid == number && a->groups[i].tid == number) {
			fprintf(to, " (%s)", comm_of(a, &a->groups[i]));
			return;
		}
}

/* "; there are: A, B and 3 more". */
static void write_others(FILE *to, const struct all *a, enum kind k, const struct present *list,
			 size_t count)
{
	for (size_t i = 0; i < count && i < SHOWN_MAX; i++) {
		fprintf(to, "%s%s", i ? ", " : "; there are: ", list[i].text);
		if (k == KIND_PID)
			write_process_name(to, a, list[i].text);
	}
	if (!count)
		fputs("; there are none", to);
	if (count > SHOWN_MAX)
		fprintf(to, " and %zu more", count - SHOWN_MAX);
}

/* Finds the name that is near the value; "": none is, or values are numbers. */
static void find_near(enum kind k, const char *value, const struct present *list, size_t count,
		      char near[USAGE_NEAR_BYTES])
{
	const char **texts = calloc(count + 1, sizeof(*texts));

	*near = '\0';
	for (size_t i = 0; texts && i < count; i++) {
		const char *slash = k == KIND_NAMES + NAME_FILTER_DSO ? strrchr(list[i].text, '/')
								      : NULL;

		texts[i] = slash ? slash + 1 : list[i].text;
	}
	if (texts && (k == KIND_COMM || k >= KIND_NAMES))
		usage_near(value, strlen(value), texts, count, near);
	free(texts);
}

static void write_numbers(FILE *to, const struct filter *f, enum kind k)
{
	const uint32_t *list = k == KIND_PID ? f->pids : f->tids;
	size_t count = k == KIND_PID ? f->pid_count : f->tid_count;

	for (size_t i = 0; k == KIND_CPU && i < f->cpu_pair_count; i++) {
		fprintf(to, "%s%" PRIu32, i ? ", " : "", f->cpus[2 * i]);
		if (f->cpus[2 * i] != f->cpus[2 * i + 1])
			fprintf(to, "-%" PRIu32, f->cpus[2 * i + 1]);
	}
	for (size_t i = 0; k != KIND_CPU && i < count; i++)
		fprintf(to, "%s%" PRIu32, i ? ", " : "", list[i]);
}

/* A number that is a thread's was taken for its process. */
static void write_thread(FILE *to, const struct all *a)
{
	const struct filter *f = a->asked->filter;

	for (size_t i = 0; i < a->group_count; i++)
		if (f->pid_count == 1 && a->groups[i].tid == f->pids[0] &&
		    a->groups[i].pid != f->pids[0]) {
			fprintf(to,
				", but of thread %" PRIu32 " of process %" PRIu32
				": --tid %" PRIu32,
				f->pids[0], a->groups[i].pid, f->pids[0]);
			return;
		}
}

/* value: a text; NULL: the numbers of the kind. */
static void print_missing(const struct all *a, enum kind k, const char *value,
			  const struct present *list, size_t count)
{
	char near[USAGE_NEAR_BYTES] = "", *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		return;
	if (value)
		find_near(k, value, list, count, near);
	fprintf(to, value ? "%s '%s'%s" : "%s ", kinds[k].missing, value, near);
	if (!value)
		write_numbers(to, a->asked->filter, k);
	if (k == KIND_PID)
		write_thread(to, a);
	if (!*near)
		write_others(to, a, k, list, count);
	if (!fclose(to))
		message_note("  %s%s", filter_has_window(a->asked->filter) ? "in this time " : "",
			     line);
	free(line);
}

/* No innermost function matches --symbol, but callers do. */
static void note_callers(const struct all *a)
{
	const enum kind k = KIND_NAMES + NAME_FILTER_SYMBOL;
	const struct name_filter *pick = a->asked->pick;
	uint64_t passed;

	if (name_filter_has(pick, NAME_FILTER_PARENT) ||
	    weigh_names_as(a, k, NAME_FILTER_PARENT, &passed) || !passed)
		return;
	for (size_t i = 0; i < pick->count; i++)
		if (pick->rules[i].what == NAME_FILTER_SYMBOL)
			message_note(
				"  --symbol looks at the innermost function, not at its callers: "
				"--parent '%s' chooses stacks that have it anywhere",
				pick->rules[i].text);
}

/* Notes what a kind of filter that passes nothing by itself asked for. */
static void explain_kind(struct all *a, enum kind k)
{
	const struct report_query *q = a->asked;
	struct present *list;
	size_t count;

	if (kind_is_negated(q, k)) {
		message_note("  --%s leaves everything out", kinds[k].option);
		return;
	}
	if (list_present(a, k, &list, &count))
		return;
	for (size_t i = 0; k == KIND_COMM && i < q->filter->comm_count; i++)
		print_missing(a, k, q->filter->comms[i], list, count);
	for (size_t i = 0; k >= KIND_NAMES && i < q->pick->count; i++)
		if (q->pick->rules[i].what == (enum name_filter_what)(k - KIND_NAMES))
			print_missing(a, k, q->pick->rules[i].text, list, count);
	if (k != KIND_COMM && k < KIND_NAMES)
		print_missing(a, k, NULL, list, count);
	if (k == KIND_NAMES + NAME_FILTER_SYMBOL)
		note_callers(a);
	free(list);
}

/* Each kind passes something, but no sample passes all. */
static void explain_together(const struct all *a, const uint64_t passed[KIND_COUNT], unsigned given)
{
	const struct filter *f = a->asked->filter;
	const char *unit = a->asked->off_cpu ? "waits" : "samples";

	for (enum kind k = 0; given > 1 && k < KIND_COUNT; k++)
		if (kind_is_given(a->asked, k))
			message_note("  --%s alone passes %" PRIu64
				     " %s, but none of them passes the other filters",
				     kinds[k].option, passed[k], unit);
	if (f->no_kernel_threads || f->no_idle)
		message_note("  %s leaves %s out",
			     f->no_kernel_threads ? "--no-kernel-threads" : "--no-idle",
			     given ? "those that pass the others" : "everything");
}

/* Adds what each kind of filter passes by itself.  -ENOMEM. */
static int weigh(const struct all *a, uint64_t passed[KIND_COUNT])
{
	uint64_t count;
	int err;

	for (enum kind k = 0; k < KIND_COUNT; k++) {
		count = 0;
		if (!kind_is_given(a->asked, k))
			continue;
		if (k < KIND_NAMES)
			count = weigh_lists(a, k);
		else if ((err = weigh_names(a, k, &count)))
			return err;
		passed[k] = saturate_add(passed[k], count);
	}
	return 0;
}

static void explain(struct all *a, const uint64_t passed[KIND_COUNT])
{
	unsigned given = 0, empty = 0;

	for (enum kind k = 0; k < KIND_COUNT; k++) {
		if (!kind_is_given(a->asked, k))
			continue;
		given++;
		if (passed[k])
			continue;
		empty++;
		explain_kind(a, k);
	}
	if (!empty)
		explain_together(a, passed, given);
}

static int open_all(const struct capture *capture, const struct report_query *asked, size_t attr,
		    struct all *out)
{
	const struct filter window = {
		.span = asked->filter->span,
		.parts = asked->filter->parts,
		.part_count = asked->filter->part_count,
	};
	const struct report_query everything = {
		.attr = attr,
		.filter = &window,
		.off_cpu = asked->off_cpu,
		.fields = GROUP_SERVICE | GROUP_PID | GROUP_TID | GROUP_CPU,
		.thread_count = asked->thread_count,
		.roots = asked->roots,
		.with_inlined = asked->with_inlined,
		.demangle = asked->demangle,
		.no_quality = true,
		.quality_later = true,
	};
	struct all a = { .asked = asked };
	int err = report_open(capture, &a.report);

	if (err)
		return err;
	err = report_make(&a.report, &everything);
	if (err) {
		report_done(&a.report);
		return err;
	}
	a.groups = groups_list(a.report.groups, &a.group_count);
	*out = a;
	return 0;
}

/* Adds what the filters pass of all other events that have samples. */
static int weigh_others(const struct capture *capture, const struct report_query *asked,
			const uint64_t *attr_samples, uint64_t passed[KIND_COUNT])
{
	struct all other;
	size_t count;
	int err = 0;

	(void)capture_attrs(capture, &count);
	for (size_t i = 0; !err && i < count; i++) {
		if (i == asked->attr || (attr_samples && !attr_samples[i]))
			continue;
		err = open_all(capture, asked, i, &other);
		if (err)
			break;
		err = weigh(&other, passed);
		report_done(&other.report);
	}
	return err;
}

/* [FILE] and [unknown] are no functions that one asks for.  Returns how many are left. */
static size_t drop_unnamed(struct present *list, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (*list[i].text != '[')
			list[left++] = list[i];
	return left;
}

char *empty_answer_functions(const struct report *r, const char *word)
{
	const enum kind k = KIND_NAMES + NAME_FILTER_PARENT;
	char near[USAGE_NEAR_BYTES], *text = NULL;
	struct all a = { .report = *r };
	struct present *list;
	size_t count, size;
	FILE *to;

	if (list_present(&a, k, &list, &count))
		return NULL;
	count = drop_unnamed(list, count);
	to = open_memstream(&text, &size);
	if (to) {
		find_near(k, word, list, count, near);
		fputs(near, to);
		if (!*near)
			write_others(to, &a, k, list, count);
		fclose(to);
	}
	free(list);
	return text;
}

void empty_answer_explain(const struct capture *capture, const struct report_query *query,
			  bool all_events)
{
	uint64_t passed[KIND_COUNT] = { 0 };
	struct all a;

	if (open_all(capture, query, query->attr, &a))
		return;
	if (!a.report.stacks.entry_count && filter_has_window(query->filter) && !all_events)
		message_note("  nothing of it is within the time that was asked for");
	else if (a.report.stacks.entry_count && !weigh(&a, passed) &&
		 (!all_events || !weigh_others(capture, query, a.report.scan.attr_samples, passed)))
		explain(&a, passed);
	report_done(&a.report);
}
