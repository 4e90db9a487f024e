/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/cli.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/duration_text.h"
#include "record/instrument/mark_spec.h"
#include "record/instrument_options.h"
#include "record/metric/catalogue.h"
#include "record/option_table.h"
#include "record/output/snapshot/snapshot_trigger.h"

#define AT(field) offsetof(struct record_opts, field)

/*
 * The names for --with and --without, besides the instruments of the catalogue.  All are on by
 * default.
 */
#define NO_SWITCH SIZE_MAX /* it is always there */
static const struct {
	const char *name;
	size_t offset;
} parts[] = {
	{ "sched", AT(sched) },
	{ "mark", AT(mark) },
	{ "kallsyms", AT(kallsyms) },
	{ "cpu", NO_SWITCH },
};

enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]) };

#define wrong(error, ...) ((void)option_fail(error, __VA_ARGS__), CLI_WRONG)

static bool decimal(const char *text, const char **end, unsigned long max, unsigned long *out)
{
	unsigned long v = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		v = v * 10 + (unsigned long)(*text - '0');
		if (v > max)
			return false;
	}
	*end = text;
	*out = v;
	return true;
}

/* All names; returns how many. */
static size_t part_names(const char *names[PART_COUNT + CATALOGUE_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < PART_COUNT; i++)
		names[count++] = parts[i].name;
	for (size_t i = 0; i < catalogue_count; i++)
		names[count++] = metriclist[i].name;
	return count;
}

/* Whether a list has the name, alone or between commas, and not behind a colon. */
static bool is_named(const struct option_list *list, const char *name)
{
	size_t bytes = strlen(name);

	for (unsigned i = 0; i < list->count; i++) {
		const char *word = list->values[i];

		for (;; word++) {
			if (!strncmp(word, name, bytes) && strchr(",:", word[bytes]))
				return true;
			word += strcspn(word, ",:");
			if (*word != ',')
				break;
		}
	}
	return false;
}

static enum cli_result switch_part(struct record_opts *o, const char *word, size_t bytes, bool on,
				   struct option_error *error)
{
	const char *names[PART_COUNT + CATALOGUE_MAX], *near;
	size_t k, count = part_names(names);
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)bytes, word);
	if (!strcmp(name, "all")) {
		for (k = 0, o->metrics = 0; on && k < catalogue_count; k++)
			o->metrics |= metriclist[k].named ? 0 : 1u << k;
		return CLI_RUN;
	}
	for (k = 0; k < count && strcmp(name, names[k]); k++)
		;
	if (k == count) {
		near = options_nearest(name, names, count);
		return wrong(error, "option '--with%s' does not know '%.60s'%s%s%s",
			     on ? "" : "out", name, near ? ", did you mean '" : "",
			     near ? near : "", near ? "'?" : ", 'ebprec record --list' names all");
	}
	if (k < PART_COUNT && parts[k].offset == NO_SWITCH)
		return on ? CLI_RUN
			  : wrong(error,
				  "option '--without' cannot leave out '%s', only make it rare "
				  "(-F 1)",
				  name);
	if (!on && is_named(&o->with, names[k]))
		return wrong(error, "options '--with %s' and '--without %s' exclude each other",
			     names[k], names[k]);
	if (k < PART_COUNT)
		*(bool *)((char *)o + parts[k].offset) = on;
	else if (metriclist[k - PART_COUNT].at_end)
		*(bool *)((char *)o + metriclist[k - PART_COUNT].at_end) = on;
	else if (on)
		o->metrics |= 1u << (k - PART_COUNT);
	else
		o->metrics &= ~(1u << (k - PART_COUNT));
	return CLI_RUN;
}

/* NAME:OPTION,...; the rest of the argument is this instrument's. */
static enum cli_result read_own_options(struct record_opts *o, const char *word, size_t bytes,
					bool on, struct option_error *error)
{
	for (size_t place = 0; on && place < catalogue_count; place++) {
		if (strlen(metriclist[place].name) == bytes &&
		    !strncmp(metriclist[place].name, word, bytes))
			return instrument_options_read(o, place, word + bytes + 1, error)
				       ? CLI_WRONG
				       : CLI_RUN;
	}
	return wrong(error, "option '--with%s': '%.*s' takes no options", on ? "" : "out",
		     (int)bytes, word);
}

static enum cli_result switch_parts(struct record_opts *o, const struct option_list *list, bool on,
				    struct option_error *error)
{
	enum cli_result result = CLI_RUN;
	const char *word;
	size_t bytes;

	for (unsigned i = 0; i < list->count; i++) {
		for (word = list->values[i]; result == CLI_RUN; word += bytes + 1) {
			bytes = strcspn(word, ",:");
			result = switch_part(o, word, bytes, on, error);
			if (result == CLI_RUN && word[bytes] == ':')
				result = read_own_options(o, word, bytes, on, error);
			if (word[bytes] != ',')
				break;
		}
	}
	return result;
}

static enum cli_result read_heap_libs(struct record_opts *o, struct option_error *error)
{
	const struct option_list *list = &o->heap_lib_list;

	for (unsigned i = 0; i < list->count; i++)
		if (instrument_options_add_lib(o, list->values[i], strlen(list->values[i]), error))
			return CLI_WRONG;
	return CLI_RUN;
}

static enum cli_result read_pids(struct record_opts *o, struct option_error *error)
{
	const char *p, *end;
	unsigned long pid;
	unsigned i;

	for (i = 0; i < o->pid_list.count; i++) {
		for (p = o->pid_list.values[i];; p = end + 1) {
			if (!decimal(p, &end, INT32_MAX, &pid) || !pid || (*end && *end != ','))
				return wrong(error, "option '--pid' needs process ids, not '%.60s'",
					     o->pid_list.values[i]);
			if (o->pid_count == RECORD_PIDS_MAX)
				return wrong(error, "option '--pid' takes at most %d processes",
					     RECORD_PIDS_MAX);
			o->pids[o->pid_count++] = (uint32_t)pid;
			if (!*end)
				break;
		}
	}
	if (o->pid_count && o->all)
		return wrong(error, "options '--all-cpus' and '--pid' exclude each other");
	return CLI_RUN;
}

static enum cli_result check_selection(struct record_opts *o, struct option_error *error)
{
	const struct {
		const struct option_list *list;
		const char *name;
	} kinds[] = { { &o->cgroups, "cgroup" },
		      { &o->units, "unit" },
		      { &o->containers, "container" },
		      { &o->comms, "comm" } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].list->count)
			continue;
		o->selects = true;
		if (o->pid_count || !o->bpf)
			return wrong(error, "options '--%s' and '--%s' exclude each other",
				     o->pid_count ? "pid" : "no-bpf", kinds[i].name);
		for (unsigned k = 0; k < kinds[i].list->count; k++)
			if (!*kinds[i].list->values[k])
				return wrong(error, "option '--%s' needs a name", kinds[i].name);
	}
	return CLI_RUN;
}

static enum cli_result read_freq(struct record_opts *o, unsigned max_hz, struct option_error *error)
{
	unsigned long hz;
	const char *end;

	if (!strcmp(o->freq, "max")) {
		o->freq_hz = max_hz ? max_hz : 100000;
		return CLI_RUN;
	}
	if (!decimal(o->freq, &end, 1000000, &hz) || *end || !hz)
		return wrong(error,
			     "option '--freq' needs samples a second (1 to 1000000) or 'max', "
			     "not '%.60s'",
			     o->freq);
	if (max_hz && hz > max_hz)
		return wrong(error,
			     "option '--freq' may be at most %u here, not %lu "
			     "(kernel.perf_event_max_sample_rate)",
			     max_hz, hz);
	o->freq_hz = (unsigned)hz;
	return CLI_RUN;
}

static enum cli_result read_event(struct record_opts *o, struct option_error *error)
{
	static const char *const names[] = { "auto", "cycles", "cpu-clock" };
	const char *near;
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(o->event_name, names[i])) {
			o->event = (enum record_event)i;
			return CLI_RUN;
		}
	}
	if (strchr(o->event_name, ':') && strncmp(o->event_name, "c", 1) != 0)
		return wrong(error,
			     "option '--event' is auto, cycles or cpu-clock, not '%.60s': "
			     "--mark tp:SYSTEM:EVENT records a tracepoint",
			     o->event_name);
	near = options_nearest(o->event_name, names, 3);
	return wrong(error, "option '--event' is auto, cycles or cpu-clock, not '%.60s'%s%s%s",
		     o->event_name, near ? ", did you mean '" : "", near ? near : "",
		     near ? "'?"
			  : ": '--with pmu:EVENT' counts other events of the hardware, if 'ebprec "
			    "record --list' has pmu here");
}

static enum cli_result read_call_graph(struct record_opts *o, struct option_error *error)
{
	static const char *const names[] = {
		[CPU_STACKS_AUTO] = "auto", [CPU_STACKS_CFI] = "cfi",   [CPU_STACKS_FP] = "fp",
		[CPU_STACKS_COPY] = "copy", [CPU_STACKS_NONE] = "none",
	};
	const char *rest, *near, *text = o->call_graph;
	unsigned long bytes;
	size_t i;

	if (!text)
		return CLI_RUN;
	if (!strcmp(text, "dwarf"))
		text = names[CPU_STACKS_CFI];
	if (!strncmp(text, "copy,", 5) || !strncmp(text, "dwarf,", 6)) {
		text = strchr(text, ',') + 1;
		if (!decimal(text, &rest, COPY_MAX_BYTES - COPY_BELOW_SP, &bytes) || *rest ||
		    bytes < 512)
			return wrong(error,
				     "option '--call-graph' copies 512 to %u bytes, not '%.60s'",
				     COPY_MAX_BYTES - COPY_BELOW_SP, text);
		o->stacks = CPU_STACKS_COPY;
		o->copy_bytes = (unsigned)bytes & ~7u;
		return CLI_RUN;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			o->stacks = (enum cpu_stacks)i;
			return CLI_RUN;
		}
	}
	if (!strcmp(text, "lbr"))
		return wrong(error,
			     "option '--call-graph' cannot be 'lbr': branches are not recorded "
			     "(auto, the default, needs neither them nor frame pointers)");
	near = options_nearest(text, names, sizeof(names) / sizeof(names[0]));
	return wrong(error,
		     "option '--call-graph' is auto, cfi, fp, copy[,BYTES] or none, "
		     "not '%.60s'%s%s%s",
		     text, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum cli_result read_overhead(struct record_opts *o, struct option_error *error)
{
	double percent = 2;
	char *end;

	if (o->max_overhead) {
		percent = strtod(o->max_overhead, &end);
		if (end != o->max_overhead && *end == '%')
			end++;
		if (end == o->max_overhead || *end || !(percent >= 0 && percent <= 100))
			return wrong(error,
				     "option '--max-overhead' is 0 to 100 percent, not '%.60s'",
				     o->max_overhead);
	}
	o->stack_ns_a_second = (uint64_t)(percent * 1e7);
	return CLI_RUN;
}

static enum cli_result check_marks(const struct record_opts *o, struct option_error *error)
{
	struct mark_spec spec;
	unsigned i;

	for (i = 0; i < o->marks.count; i++)
		if (mark_spec_parse(o->marks.values[i], &spec))
			return wrong(error,
				     "option '--mark' is usdt:FILE:PROVIDER:NAME, "
				     "uprobe:FILE:FUNCTION or tp:SYSTEM:EVENT, not '%.60s'",
				     o->marks.values[i]);
	if (o->marks.count && (!o->mark || !o->bpf))
		return wrong(error, "options '--mark' and '--%s' exclude each other",
			     o->mark ? "no-bpf" : "without mark");
	return CLI_RUN;
}

/* 60s, 1.5h, 500ms or 64K, 64M, 2G: of the letters that are both, small ones are times. */
static bool read_limit(const char *text, const char **end, struct record_limit *out)
{
	static const struct {
		const char *letters;
		unsigned shift;
	} sizes[] = { { "Kk", 10 }, { "M", 20 }, { "Gg", 30 } };
	unsigned long n;

	if (duration_read(text, false, end, &out->ns))
		return out->ns > 0;
	if (!decimal(text, end, 1000000, &n) || !n || !**end)
		return false;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (strchr(sizes[i].letters, **end)) {
			out->bytes = (uint64_t)n << sizes[i].shift;
			(*end)++;
			return true;
		}
	}
	return false;
}

/* bytes 0: no limit was given. */
static enum cli_result check_room(const char *option, uint64_t bytes, struct option_error *error)
{
	return !bytes || bytes >= RECORD_LIMIT_MIN_BYTES
		       ? CLI_RUN
		       : wrong(error,
			       "option '--%s' needs at least %dK: the beginning and the end of a "
			       "capture take some hundred KiB",
			       option, RECORD_LIMIT_MIN_BYTES >> 10);
}

static enum cli_result read_trigger(struct record_opts *o, const char *words,
				    struct option_error *error)
{
	struct snapshot_trigger trigger;

	if (snapshot_trigger_parse(words, &trigger))
		return wrong(error,
			     "option '--trigger' is mark:TEXT, runq:20ms or "
			     "psi:cpu|memory|io:some|full:50ms/1s, not '%.60s'",
			     words);
	if (trigger.kind == SNAPSHOT_TRIGGER_MARK && (!o->mark || !o->bpf))
		return wrong(error, "option '--trigger %.60s' needs marks and BPF", words);
	if (trigger.kind != SNAPSHOT_TRIGGER_RUNQ)
		return CLI_RUN;
	if (!o->sched || !o->bpf)
		return wrong(error, "option '--trigger %.60s' needs context switches and BPF",
			     words);
	if (o->late_ns)
		return wrong(error, "option '--trigger runq' can be given once");
	o->late_ns = trigger.late_us * 1000;
	return CLI_RUN;
}

static enum cli_result read_limits(struct record_opts *o, struct option_error *error)
{
	enum cli_result result;
	unsigned long files;
	const char *end;
	unsigned i;

	if (o->ring && (!read_limit(o->ring, &end, &o->keep) || *end))
		return wrong(error,
			     "option '--ring' needs a time such as 60s or a size such as "
			     "64M, not '%.60s'",
			     o->ring);
	if (o->rotate) {
		if (!read_limit(o->rotate, &end, &o->turn) || (*end && *end != ','))
			return wrong(error,
				     "option '--%s' needs a time such as 10m or a size such as "
				     "100M, not '%.60s'",
				     o->rotate_name, o->rotate);
		if (*end) {
			if (!decimal(end + 1, &end, 1000000, &files) || *end || !files)
				return wrong(error,
					     "option '--%s' keeps a number of files, not '%.60s'",
					     o->rotate_name, strchr(o->rotate, ',') + 1);
			o->keep_files = (unsigned)files;
		}
	}
	result = check_room("ring", o->keep.bytes, error);
	if (result == CLI_RUN)
		result = check_room(o->rotate_name, o->turn.bytes, error);
	if (result == CLI_RUN)
		result = check_room("max-size", o->max_file_bytes, error);
	if (result != CLI_RUN)
		return result;
	if (o->triggers.count && !o->ring)
		return wrong(error, "option '--trigger' goes with '--ring'");
	for (i = 0; i < o->triggers.count; i++) {
		result = read_trigger(o, o->triggers.values[i], error);
		if (result != CLI_RUN)
			return result;
	}
	if (o->ring && (o->rotate || o->max_file_bytes))
		return wrong(error, "options '--ring' and '--%s' exclude each other",
			     o->rotate ? o->rotate_name : "max-size");
	if (o->ring && (o->bundle || o->html))
		return wrong(error, "options '--ring' and '--%s' exclude each other",
			     o->bundle ? "bundle" : "html");
	if (o->html && (!*o->html || !strcmp(o->html, o->output)))
		return wrong(error, "option '--html' needs the name of another file");
	if (o->html && (o->rotate || o->max_file_bytes))
		return wrong(error, "options '--html' and '--%s' exclude each other",
			     o->rotate ? o->rotate_name : "max-size");
	return CLI_RUN;
}

static enum cli_result read_slower(struct record_opts *o, struct option_error *error)
{
	const char *end;

	if (!o->slower ||
	    (duration_read(o->slower, false, &end, &o->slower_ns) && !*end && o->slower_ns))
		return CLI_RUN;
	return wrong(error, "option '--slower' needs a time with its unit, as 10ms, not '%.60s'",
		     o->slower);
}

/* Probes slow down each process that runs into them, so the user has to name processes. */
static enum cli_result check_heap(const struct record_opts *o, struct option_error *error)
{
	for (size_t k = 0; k < catalogue_count; k++) {
		if (o->metrics & 1u << k && metriclist[k].named && (o->system_wide || o->selects) &&
		    !o->heap_lib_count)
			return wrong(error,
				     "option '--with %s' needs -p, a command without -a, "
				     "or --with %s:lib=FILE",
				     metriclist[k].name, metriclist[k].name);
	}
	return CLI_RUN;
}

static enum cli_result derive(struct record_opts *o, unsigned max_freq_hz,
			      struct option_error *error)
{
	enum cli_result result;

	o->sched = o->mark = o->kallsyms = true;
	result = switch_parts(o, &o->with, true, error);
	if (result == CLI_RUN)
		result = switch_parts(o, &o->without, false, error);
	if (result == CLI_RUN)
		result = read_heap_libs(o, error);
	if (result == CLI_RUN)
		result = check_marks(o, error);
	if (result == CLI_RUN)
		result = read_pids(o, error);
	if (result == CLI_RUN)
		result = check_selection(o, error);
	if (result == CLI_RUN)
		result = read_freq(o, max_freq_hz, error);
	if (result == CLI_RUN)
		result = read_event(o, error);
	if (result == CLI_RUN)
		result = read_call_graph(o, error);
	if (result == CLI_RUN)
		result = read_overhead(o, error);
	if (result == CLI_RUN)
		result = read_limits(o, error);
	if (result == CLI_RUN)
		result = read_slower(o, error);
	if (result != CLI_RUN)
		return result;
	if (o->interval_ns < 100000000)
		return wrong(error, "option '--interval' needs at least 0.1 seconds");
	if (!strcmp(o->output, "-")) {
		if (o->ring || o->rotate || o->bundle || o->html || o->journal || o->dbus)
			return wrong(error, "options '--output -' and '--%s' exclude each other",
				     o->ring     ? "ring"
				     : o->rotate ? o->rotate_name
				     : o->bundle ? "bundle"
				     : o->html   ? "html"
				     : o->dbus   ? "with dbus"
						 : "with journal");
		o->to_pipe = true;
		o->output = "standard output";
	}
	if (!*o->output)
		return wrong(error, "option '--output' needs a file name");
	if (o->table_cache && strcmp(o->table_cache, "none") && o->table_cache[0] != '/')
		return wrong(error,
			     "option '--table-cache' needs an absolute path or 'none', not '%.60s'",
			     o->table_cache);
	if (o->samples_an_hour && !o->bpf)
		return wrong(error,
			     "options '--samples-per-hour' and '--no-bpf' exclude each other");
	o->system_wide = !o->selects && (o->all || (!o->pid_count && !o->command));
	return check_heap(o, error);
}

enum cli_result cli_parse(int argc, char **argv, unsigned max_freq_hz, struct record_opts *out,
			  struct option_error *error)
{
	struct record_opts o = {
		.freq = "99",
		.event_name = "auto",
		.output = "ebprec.data",
		.bpf = true,
		.command_lines = true,
		.priority = true,
		.level = 3,
		.max_frames = CPU_USER_MAX,
		.copy_bytes = 24 << 10,
		.table_bytes = 64 << 20,
		.interval_ns = 1000000000,
		.argc = argc,
		.argv = argv,
	};
	int first_word = argc, err;
	enum cli_result result;

	err = options_parse(opttable, &o, argc, argv, false, &first_word, error);
	if (err == -ECANCELED)
		return CLI_HELP;
	if (err)
		return CLI_WRONG;
	if (o.list)
		return CLI_LIST;
	if (o.doctor)
		return CLI_DOCTOR;
	if (o.version)
		return CLI_VERSION;
	if (first_word < argc)
		o.command = argv + first_word;
	else if (argc > 1 && !strcmp(argv[argc - 1], "--"))
		return wrong(error,
			     "COMMAND is missing after '--': without '--' the entire machine "
			     "or -p PID is recorded");
	result = derive(&o, max_freq_hz, error);
	if (result == CLI_RUN)
		*out = o;
	return result;
}

void cli_print_help(FILE *to)
{
	fputs("usage: ebprec record [-a | -p PID[,PID...]] [options] [[--] COMMAND ARGS...]\n"
	      "       ebprec record --cgroup|--unit|--container|--comm NAME [options]\n"
	      "\n"
	      "Records where the time goes: CPU samples with stacks, context switches, marks,\n"
	      "and all that is needed to read them elsewhere.  Ends with COMMAND, after -d,\n"
	      "with the recorded processes, or by Ctrl-C.\n\n",
	      to);
	options_print(opttable, to);
	fputs("\nexit status: COMMAND's own; 0 recorded, 1 failed, or a part of it did, 2 wrong\n"
	      "usage, 126 and 127 COMMAND could not be run, 130 interrupted twice\n",
	      to);
}

void cli_print_lines(FILE *to)
{
	options_print_lines(opttable, true, to);
}
