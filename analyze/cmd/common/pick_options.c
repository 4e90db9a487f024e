/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The options of report_options.h: their meaning, and the messages when they make no sense. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/base/read_file.h"
#include "analyze/input/slice_border.h"
#include "analyze/input/event/sample_time.h"
#include "analyze/input/event/event_of.h"
#include "analyze/input/mark_times.h"
#include "analyze/input/marks.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/report/key/sort_keys.h"
#include "analyze/out/message.h"
#include "format/text/duration_text.h"
#include "format/base/vec.h"

#define NS_PER_SECOND 1000000000u

typedef int (*add_fn)(struct filter *f, const char *text, struct filter_error *error);

static int add_list(struct filter *f, const struct usage *usage, const char *option,
		    const struct option_list *list, add_fn add)
{
	struct filter_error error;
	int err;

	for (unsigned i = 0; i < list->count; i++) {
		err = add(f, list->values[i], &error);
		if (err == -EINVAL)
			return usage_error(usage, "option '--%s': %s", option, error.text);
		if (err)
			return message_error("cannot read the options: %s", strerror(-err));
	}
	return 0;
}

static int add_regexes(struct name_filter *p, const struct usage *usage, const char *option,
		       const struct option_list *list, enum name_filter_what what)
{
	char error[128];
	int err;

	for (unsigned i = 0; i < list->count; i++) {
		err = name_filter_add(p, what, list->values[i], error, sizeof(error));
		if (err == -EINVAL)
			return usage_error(usage,
					   "option '--%s': '%s' is no regular expression: %s",
					   option, list->values[i], error);
		if (err)
			return usage_error(usage, "more than %d regular expressions",
					   NAME_FILTER_MAX);
	}
	return 0;
}

static int parse_weight(const char *text, const struct usage *usage, struct picked *p)
{
	if (!text || !strcmp(text, "samples")) {
		p->weight = CALLTREE_SAMPLES;
		p->weight_name = "samples";
	} else if (!strcmp(text, "period")) {
		p->weight = CALLTREE_PERIOD;
		p->weight_name = "period";
	} else if (!strcmp(text, "time")) {
		p->weight = CALLTREE_PERIOD;
		p->weight_name = "time_ns";
	} else {
		return usage_error(usage,
				   "option '--weight' cannot be '%s': "
				   "'samples', 'period' or 'time' was expected",
				   text);
	}
	return 0;
}

int pick_options_tasks(struct filter *f, const struct usage *usage,
		       const struct task_options *tasks, const struct option_list *cpus)
{
	int status = add_list(f, usage, tasks->comm_name, &tasks->comms, filter_add_comms);

	if (!status)
		status = add_list(f, usage, "pid", &tasks->pids, filter_add_pids);
	if (!status)
		status = add_list(f, usage, "tid", &tasks->tids, filter_add_tids);
	if (!status && cpus)
		status = add_list(f, usage, "cpu", cpus, filter_add_cpus);
	return status;
}

int pick_options_groups(struct name_filter *p, const struct usage *usage,
			const struct group_options *groups)
{
	int status = add_regexes(p, usage, "cgroup", &groups->cgroups, NAME_FILTER_CGROUP);

	return status ? status
		      : add_regexes(p, usage, "container", &groups->containers,
				    NAME_FILTER_CONTAINER);
}

#define SERVICE_RULES_BYTES (1u << 20)

/* 0, or the exit status after an error was printed. */
int pick_options_service_rules(const char *path, struct service_rules **out)
{
	struct parse_err where = { 0 };
	char *text = NULL;
	int err = read_file_text(path, SERVICE_RULES_BYTES, &text);

	if (!err)
		err = service_rules_new(text, out, &where);
	free(text);
	if (err == -EBADMSG)
		return message_error("cannot read '%s': line %" PRIu64 ": %s", path,
				     where.offset_bytes, where.what);
	return err ? message_error("cannot read '%s': %s", path, strerror(-err)) : 0;
}

static int parse_services(const struct pick_options *opts, const struct usage *usage,
			  struct picked *p)
{
	int status = add_regexes(&p->pick, usage, "service", &opts->services, NAME_FILTER_SERVICE);

	if (!status && opts->service_rules)
		status = pick_options_service_rules(opts->service_rules, &p->services);
	p->pick.services = p->services;
	return status;
}

static int parse_hide(const char *text, const struct usage *usage, struct picked *p)
{
	p->query.without_interpreter = text && !strcmp(text, "interpreter");
	return !text || p->query.without_interpreter
		       ? 0
		       : usage_error(usage,
				     "option '--hide' cannot be '%s': 'interpreter' was expected",
				     text);
}

int pick_options_parse(const struct pick_options *opts, const struct usage *usage,
		       struct picked *out)
{
	struct picked p = { 0 };
	int status;

	filter_init(&p.filter);
	p.filter.no_idle = !opts->idle;
	p.filter.no_kernel_threads = !opts->kernel_threads;
	status = pick_options_tasks(&p.filter, usage, &opts->tasks, &opts->cpus);
	if (!status)
		status = pick_options_groups(&p.pick, usage, &opts->groups);
	if (!status)
		status = parse_services(opts, usage, &p);
	if (!status)
		status = add_regexes(&p.pick, usage, "dso", &opts->dsos, NAME_FILTER_DSO);
	if (!status)
		status = add_regexes(&p.pick, usage, "symbol", &opts->symbols, NAME_FILTER_SYMBOL);
	if (!status)
		status = add_regexes(&p.pick, usage, "parent", &opts->parents, NAME_FILTER_PARENT);
	if (!status)
		status = parse_weight(opts->weight, usage, &p);
	if (!status)
		status = parse_hide(opts->hide, usage, &p);
	if (status) {
		filter_done(&p.filter);
		name_filter_done(&p.pick);
		service_rules_free(p.services);
		return status;
	}
	*out = p;
	return 0;
}

void pick_options_done(struct picked *p)
{
	filter_done(&p->filter);
	name_filter_done(&p->pick);
	service_rules_free(p->services);
	name_roots_done(&p->roots);
}

/* ---- time ---- */

static int parse_last(const char *text, const struct time_span *recorded, struct time_span *out)
{
	uint64_t last_ns;

	if (!duration_read(text, true, &text, &last_ns) || *text || !last_ns)
		return -EINVAL;
	if (out->from_ns <
	    recorded->to_ns - (last_ns < recorded->to_ns ? last_ns : recorded->to_ns))
		out->from_ns = recorded->to_ns - last_ns;
	return 0;
}

/*
 * Percentages are perf's: of the time between the first sample and the last.  Waits may go on behind
 * that one until the recording ended, and 100 % is where it ended.
 */
static int parse_time(const char *time, const struct capture *c, const struct time_span *recorded,
		      struct time_span *out, struct parse_err *where)
{
	struct time_span samples;
	int err;

	if (!recorded || !strchr(time, '%') || time_span_of_capture(c, &samples))
		return time_span_parse(time, recorded, out, where);
	err = time_span_parse(time, &samples, out, where);
	if (!err && out->to_ns == samples.to_ns && recorded->to_ns > samples.to_ns)
		out->to_ns = recorded->to_ns;
	return err;
}

enum { CLOCK_TEXT_BYTES = 40 };

/* As --time takes it. */
static const char *clock_text(const struct time_span_clock *clock, uint64_t time_ns,
			      char room[CLOCK_TEXT_BYTES])
{
	uint64_t wall_ns = clock->wall_ns + (time_ns - clock->sample_ns);
	time_t seconds = (time_t)(wall_ns / NS_PER_SECOND);
	struct tm tm = { 0 };
	size_t used;

	gmtime_r(&seconds, &tm);
	used = strftime(room, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(room + used, CLOCK_TEXT_BYTES - used, ".%06" PRIu64,
		 wall_ns % NS_PER_SECOND / 1000);
	return room;
}

/* Nothing of the recording is in the time: prints which time it is of.  clock: NULL, it is not known. */
static void note_outside(const char *time, const char *path, const struct time_span *recorded,
			 const struct time_span_clock *clock, const struct time_span *asked)
{
	char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];

	if (asked->from_ns <= recorded->to_ns && asked->to_ns >= recorded->from_ns)
		return;
	message_note("nothing of '%s' is within '--time %s': it is from %.6f s to %.6f s, which is "
		     "+0,+%.6f",
		     path, time, (double)recorded->from_ns / 1e9, (double)recorded->to_ns / 1e9,
		     (double)(recorded->to_ns - recorded->from_ns) / 1e9);
	if (clock)
		message_note("  by the clock, in UTC: --time %s,%s",
			     clock_text(clock, recorded->from_ns, from),
			     clock_text(clock, recorded->to_ns, to));
	if (!strpbrk(time, "+%:") && asked->to_ns < recorded->from_ns &&
	    asked->from_ns <= recorded->to_ns - recorded->from_ns)
		message_note("  times since the first sample begin with '+': --time +%.*s,+%s",
			     (int)strcspn(time, ","), time, strchr(time, ',') + 1);
}

static int read_span(const char *time, const char *last, const struct usage *usage,
		     const char *path, const struct capture *c, const struct time_span *recorded,
		     struct time_span *out)
{
	struct parse_err where = { 0 };
	struct time_span_clock clock;
	bool known;
	int err;

	known = capture_clock(c, &clock.sample_ns, &clock.wall_ns);
	if (time) {
		if (time_span_is_wall(time))
			err = time_span_parse_wall(time, recorded, known ? &clock : NULL, out,
						   &where);
		else
			err = parse_time(time, c, recorded, out, &where);
		if (err)
			return usage_error(usage, "option '--time' cannot be '%s': %s", time,
					   where.what);
		if (recorded)
			note_outside(time, path, recorded, known ? &clock : NULL, out);
	}
	if (!last)
		return 0;
	if (!recorded)
		return usage_error(
			usage,
			"option '--last': the file does not have the time of its last sample");
	if (parse_last(last, recorded, out))
		return usage_error(usage,
				   "option '--last' cannot be '%s': a length of time as 2s "
				   "or 500ms, above 0, was expected",
				   last);
	return 0;
}

void pick_options_near_mark(const struct marks *m, const struct string_table *names, bool spans,
			    const char *word, char room[USAGE_NEAR_BYTES])
{
	const size_t prefix = spans && !strncmp(word, "slowest:", 8) ? 8 : 0;
	size_t count = spans ? m->span_count : m->count;
	const char **list = calloc(count + 1, sizeof(*list));

	for (size_t i = 0; list && i < count; i++) {
		uint32_t name = spans ? m->spans[i].name : m->marks[i].name;

		list[i] = string_table_text(names, name);
	}
	word += prefix;
	usage_near(word, prefix || !spans ? strlen(word) : strcspn(word, "#"), list,
		   list ? count : 0, room);
	free(list);
}

/* The parts of the span that marks choose. */
static int read_marks(const struct time_options *when, const char *path, const struct capture *c,
		      struct string_table *names, struct filter *f)
{
	struct time_span *parts = NULL;
	struct marks marks;
	const char *missing = "";
	char near[USAGE_NEAR_BYTES] = "";
	size_t count = 0;
	int err;

	err = marks_load(c, names, &marks);
	if (err)
		return message_error("cannot read '%s': %s", path, strerror(-err));
	if (when->during)
		err = mark_times_during(&marks, names, when->during, &parts, &count, &missing,
					&f->span_tid);
	else
		err = mark_times_between(&marks, names, when->between.first, when->between.second,
					 &parts, &count, &missing);
	if (err == -ENOENT)
		pick_options_near_mark(&marks, names, when->during, missing, near);
	marks_done(&marks);
	if (err == -ENOENT && !when->during && missing == when->between.second)
		return message_error("no mark '%s' behind a mark '%s' in '%s' (see 'ebprec marks')",
				     missing, when->between.first, path);
	if (err == -ERANGE)
		return message_error("no span '%s' in '%s': it has %zu of that name%s", missing,
				     path, count, strchr(missing, '#') ? "" : ", none with an end");
	if (err == -ENOENT)
		return message_error("no %s '%s' in '%s'%s (see 'ebprec marks')",
				     when->during ? "span" : "mark", missing, path, near);
	if (!err)
		err = filter_set_parts(f, parts, count);
	if (err == -ENOENT)
		return message_error("'%s' is not within the time that is asked for", missing);
	return err ? message_error("cannot read '%s': %s", path, strerror(-err)) : 0;
}

/* A slice knows of processes and threads before and behind it, too: its own time is asked for, or a part of that. */
static int limit_to_slice(const char *path, const struct capture *c, struct time_span *span)
{
	struct slice_border border;
	int err = slice_border_load(c, &border);

	if (err)
		return err == -ENOENT ? 0
				      : message_error("cannot read '%s': %s", path, strerror(-err));
	if (!border.head.is_file && span->from_ns <= border.head.to_ns &&
	    span->to_ns >= border.head.from_ns) {
		if (span->from_ns < border.head.from_ns)
			span->from_ns = border.head.from_ns;
		if (span->to_ns > border.head.to_ns)
			span->to_ns = border.head.to_ns;
	}
	slice_border_done(&border);
	return 0;
}

bool pick_options_has_time(const struct time_options *when)
{
	return when->time || when->last || when->during || when->between.first;
}

int pick_options_time(const struct time_options *when, const struct usage *usage, const char *path,
		      const struct capture *c, const struct time_span *recorded, struct filter *f)
{
	struct string_table *names;
	int status;

	if (when->during && when->between.first)
		return usage_error(usage, "--during or --between, not both");
	status = read_span(when->time, when->last, usage, path, c, recorded, &f->span);
	if (!status)
		status = limit_to_slice(path, c, &f->span);
	if (status || (!when->during && !when->between.first))
		return status;
	if (string_table_new(&names))
		return message_error("cannot read '%s': %s", path, strerror(ENOMEM));
	status = read_marks(when, path, c, names, f);
	string_table_free(names);
	return status;
}

int pick_options_percent(const char *text, const char *option, const struct usage *usage,
			 double *out)
{
	double value;
	char *end;

	value = strtod(text, &end);
	if (end != text && *end == '%')
		end++;
	if (end == text || *end || !(value >= 0 && value <= 100))
		return usage_error(usage, "option '--%s' cannot be '%s': 0 to 100 was expected",
				   option, text);
	*out = value;
	return 0;
}

int reportopts_no_key(const struct usage *usage, const char *keys, const char *bad,
		      size_t bad_bytes)
{
	static const struct usage_word of_perf[] = {
		{ "period", "--weight period" },
		{ "socket", "cpu" },
		{ "core", "cpu" },
		{ "parent", "--parent REGEX" },
		{ "time", "--time FROM,TO" },
		{ "cgroup_id", "cgroup" },
		{ "overhead_sys", "'ebprec summary'" },
		{ "overhead_us", "'ebprec summary'" },
		{ "trace", "'ebprec script'" },
	};
	const char *names[SORT_KEY_COUNT];
	char near[USAGE_CHOICES_BYTES];

	for (size_t i = 0; i < sizeof(of_perf) / sizeof(of_perf[0]); i++)
		if (strlen(of_perf[i].word) == bad_bytes &&
		    !memcmp(of_perf[i].word, bad, bad_bytes))
			return usage_error(usage, "key '%s' of perf is not known here: %s",
					   of_perf[i].word, of_perf[i].instead);
	sort_keys_names(names);
	return usage_error(usage, "option '--sort' cannot be '%s': there is no key '%.*s'%s", keys,
			   (int)bad_bytes, bad,
			   usage_near_or_choices(bad, bad_bytes, names, SORT_KEY_COUNT, near));
}

/* ---- which event ---- */

static void print_events(const struct report *r)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);

	for (size_t i = 0; i < count; i++) {
		if (r->scan.attr_samples)
			message_note("  %s (%" PRIu64 " samples)", event_name(&attrs[i]),
				     r->scan.attr_samples[i]);
		else
			message_note("  %s", event_name(&attrs[i]));
	}
}

/* The choice changes the answer, and not all forms of it name the event: -q does not hide the note. */
static int choose_event(const struct pick_options *opts, const char *path, const struct report *r,
			size_t *attr)
{
	const char *event = opts->event;
	size_t count, with_samples = 0;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);

	if (load_choose_event(r->capture, &r->scan, event, attr)) {
		if (!count)
			return message_error("'%s' describes no event, its samples cannot be read",
					     path);
		message_error("no event '%s' in '%s'; it has:", event, path);
		print_events(r);
		return MESSAGE_FAILED;
	}
	for (size_t i = 0; r->scan.attr_samples && i < count; i++)
		with_samples += !!r->scan.attr_samples[i];
	if (!event && !opts->no_event_note && with_samples > 1)
		message_note(
			"'%s' has samples of %zu events; these are '%s' (--event NAME for others)",
			path, with_samples, event_name(&attrs[*attr]));
	return 0;
}

static int choose_time(const struct capture_attr *attr, const char *path, struct picked *p)
{
	if (sample_time_is_known(&attr->attr, &p->query.sample_ns))
		return 0;
	return message_error("event '%s' of '%s' does not measure time (--weight period)",
			     event_name(attr), path);
}

/* A span is of a thread, and its time is everybody's. */
static void note_thread(const struct time_options *when, const struct filter *f)
{
	if (when->during && f->span_tid && !f->tid_count)
		message_note(
			"--during '%s' counts all threads in that time; the span is of thread %" PRIu32
			" (--tid %" PRIu32 " shows that thread alone)",
			when->during, f->span_tid, f->span_tid);
}

int pick_options_resolve(const struct pick_options *opts, const struct usage *usage,
			 const char *path, bool quiet, const struct report *r, struct picked *p)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &count);
	int status, err;

	status = pick_options_time(&opts->when, usage, path, r->capture, report_span(r),
				   &p->filter);
	if (!status && !quiet)
		note_thread(&opts->when, &p->filter);
	if (!status)
		status = choose_event(opts, path, r, &p->query.attr);
	if (!status && !strcmp(p->weight_name, "time_ns"))
		status = choose_time(&attrs[p->query.attr], path, p);
	if (status)
		return status;
	err = name_roots_make(&opts->names, &p->roots, quiet);
	if (err == -ENOENT)
		message_note("cannot ask debuginfod: no libdebuginfod.so.1, skipping (Debian: "
			     "libdebuginfod1)");
	else if (err)
		return message_error("cannot report '%s': %s", path, strerror(-err));
	p->query.filter = &p->filter;
	p->query.pick = &p->pick;
	p->query.roots = p->roots.roots;
	p->query.demangle = opts->names.demangle;
	p->query.with_inlined = opts->names.with_inlined;
	p->query.thread_count = opts->jobs;
	p->query.fields = GROUP_COMM | name_filter_fields(&p->pick);
	p->query.services = p->services;
	return 0;
}

/* ---- as words ---- */

static int __attribute__((format(printf, 2, 3)))
add_word(struct option_words *w, const char *format, ...)
{
	va_list args;
	char *word;
	int size;

	if (vec_reserve(&w->list, &w->capacity, w->count + 1))
		return -ENOMEM;
	va_start(args, format);
	size = vasprintf(&word, format, args);
	va_end(args);
	if (size < 0)
		return -ENOMEM;
	w->list[w->count++] = word;
	return 0;
}

static int add_option(struct option_words *w, const struct option *o, const char *given,
		      const char *usual)
{
	const char *const *text = (const char *const *)(given + o->offset);
	const struct option_list *list = (const struct option_list *)(given + o->offset);
	const struct option_pair *pair = (const struct option_pair *)(given + o->offset);
	const bool *flag = (const bool *)(given + o->offset);
	const unsigned *number = (const unsigned *)(given + o->offset);
	int err = 0;

	switch (o->type) {
	case OPT_FLAG:
		if (*flag != *(const bool *)(usual + o->offset))
			err = add_word(w, "--%s%s", *flag ? "" : "no-", o->long_name);
		break;
	case OPT_UINT:
		if (*number != *(const unsigned *)(usual + o->offset))
			err = add_word(w, "--%s=%u", o->long_name, *number);
		break;
	case OPT_STRING:
		if (*text)
			err = add_word(w, "--%s=%s", o->long_name, *text);
		break;
	case OPT_LIST:
		for (unsigned i = 0; !err && i < list->count; i++)
			err = add_word(w, "--%s=%s", o->long_name, list->values[i]);
		break;
	case OPT_PAIR:
		if (pair->first)
			err = add_word(w, "--%s=%s", o->long_name, pair->first);
		if (!err && pair->first)
			err = add_word(w, "%s", pair->second);
		break;
	default:
		break;
	}
	return err;
}

int pick_options_words(const struct pick_options *opts, const char *of, struct option_words *out)
{
	static const struct option table[] = { PICKOPTS(0), { 0 } };
	const struct pick_options usual = PICK_OPTIONS_DEFAULTS;
	struct option_words words = { 0 };
	int err = of ? add_word(&words, "--of=%s", of) : 0;

	for (const struct option *o = table; !err && o->type != OPT_END; o++)
		if (strcmp(o->long_name, "jobs") != 0)
			err = add_option(&words, o, (const char *)opts, (const char *)&usual);
	if (err)
		option_words_done(&words);
	else
		*out = words;
	return err;
}

void option_words_done(struct option_words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->list[i]);
	free(w->list);
	*w = (struct option_words){ 0 };
}
