/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/quality_text.h"
#include "analyze/sym/function_label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_meta.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "analyze/report/quality/debian_packages.h"
#include "analyze/report/quality/runtimes.h"
#include "format/reader/capture.h"

enum {
	CAUSES_SHOWN = 3,
	CURES_BYTES = 512,
	INTERPRETED_PERCENT = 5, /* of samples, from which on they are worth a line */
	LINE_BYTES = 2048, /* of one; a longer one is cut to it only where there is no memory */
};

/* A line, of which foreign names cannot make two. */
static void __attribute__((format(printf, 2, 3))) put_line(FILE *to, const char *format, ...)
{
	char usual[LINE_BYTES], *longer = NULL, *line = usual;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(usual, sizeof(usual), format, args);
	va_end(args);
	if (size < 0)
		return;
	if (size >= LINE_BYTES) {
		va_start(args, format);
		if (vasprintf(&longer, format, args) < 0)
			longer = NULL;
		va_end(args);
		line = longer ? longer : usual;
	}
	message_escaped(to, line, strlen(line));
	putc('\n', to);
	free(longer);
}

/* The options for the compilers of a set: "node: run it with ...; java: run it with ...". */
static void list_cures(uint16_t set, const char *(*cure)(unsigned number), char *text,
		       size_t text_bytes)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned i = 0; i < RUNTIMES_COMPILERS; i++)
		if (set & 1u << i && cure(i) && used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%s: %s",
						 used ? "; " : "", runtimes_compiler(i), cure(i));
}

/* Whether user stacks are what the kernel found by frame pointers, and nothing else was recorded. */
static bool is_by_frame_pointers(const struct report *r)
{
	const struct perf_event_attr *a = r->attr ? &r->attr->attr : NULL;

	return a && capture_get_kind(r->capture) != CAPTURE_EBX &&
	       a->sample_type & PERF_SAMPLE_CALLCHAIN &&
	       !(a->sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK));
}

/* Advice for recordings by perf whose stacks are missing or break off. */
static const char with_stacks[] = "record with 'perf record --call-graph dwarf' or 'ebprec record'";

/* before: the remedy of the line above, which is not repeated; then of this one. */
static void write_break(const struct report *r, const struct stack_quality_cause *c,
			const char **before, FILE *to)
{
	const char *dso = string_table_text(r->names, c->dso);
	const char *text = stack_quality_end_text(c->reason), *remedy, *base;
	char cures[CURES_BYTES];
	size_t size;

	base = function_label_base(dso, &size);
	remedy = stack_quality_end_remedy(c->reason, dso);
	if (!text && *dso != '[' && is_by_frame_pointers(r)) {
		text = "it keeps no frame pointers, which perf record -g follows";
		remedy = with_stacks;
	}
	if (c->reason == UNWIND_NO_FILE + 1 && capture_get_kind(r->capture) != CAPTURE_EBX) {
		text = "the file that was recorded is not here, or is another version now";
		remedy = "find it with --debug-dir or --symfs, or record again";
	}
	list_cures(c->compilers, runtimes_stacks_cure, cures, sizeof(cures));
	if (text && *cures)
		remedy = cures;
	else if (remedy && remedy == *before)
		remedy = NULL;
	else
		*before = remedy;
	put_line(to, "  %.1f %% break off in %.*s%s%s%s%s%s",
		 number_percent(c->count, r->quality.user_stacks), (int)size, base,
		 text ? ": " : "", text ? text : "", remedy ? " (" : "", remedy ? remedy : "",
		 remedy ? ")" : "");
}

/* Where no sample has a stack, none of them breaks off. */
static void write_no_stacks(const struct report *r, FILE *to)
{
	put_line(to, "stacks: none in %" PRIu64 " samples, which have the address alone (%s)",
		 r->quality.samples, with_stacks);
}

/* Whether user stacks were left out of the recording by an option. */
static bool has_no_user_stacks(const struct report *r)
{
	struct capture_meta_value meta = capture_meta_read(r->capture, EBX_META_START);
	bool none = capture_meta_is(meta, "user_stacks", "\"none\"");

	capture_meta_free(meta);
	return none;
}

static void write_breaks(const struct report *r, FILE *to)
{
	const struct stack_quality *v = &r->quality;
	const char *remedy = NULL;

	if (has_no_user_stacks(r)) {
		put_line(to, "  of user code there are addresses alone (record without "
			     "'--call-graph none')");
		return;
	}
	for (size_t i = 0; i < v->break_count && i < CAUSES_SHOWN; i++)
		write_break(r, &v->breaks[i], &remedy, to);
}

static void write_stacks(const struct report *r, FILE *to)
{
	const struct stack_quality *v = &r->quality;

	if (r->sampled.without_chain == v->samples) {
		write_no_stacks(r, to);
		return;
	}
	put_line(to,
		 "stacks: %" PRIu64 " samples, %" PRIu64 " with a user stack; %" PRIu64
		 " of these complete (%.1f %%)",
		 v->samples, v->user_stacks, v->complete_stacks,
		 number_percent(v->complete_stacks, v->user_stacks));
	write_breaks(r, to);
	if (r->sampled.without_chain)
		put_line(to, "  %" PRIu64 " samples have no stack at all, but one address",
			 r->sampled.without_chain);
	if (r->sampled.deferred)
		put_line(to, "  %" PRIu64 " user stacks were to come later, and did not",
			 r->sampled.deferred);
}

/* Why kernel frames have no name, where the resolver only knows that it got no names. */
static const char *kernel_reason(const struct report *r, const char **remedy)
{
	if (r->kallsyms_err != -ENOENT)
		return NULL;
	*remedy = "captures of 'ebprec record' carry the kernel's names";
	return "its names are not in the file, and this is not the machine, or not its boot";
}

static void write_guesses(const struct report *r, FILE *to)
{
	uint64_t guessed = symbol_coverage_guessed(&r->symbols);

	if (guessed)
		put_line(to,
			 "  %.1f %% are from files that only their path speaks for "
			 "(see --symbols-report)",
			 number_percent(guessed, r->quality.frames));
}

/* The compiler has the names of code made at run time; a file of perf cannot hold them. */
static const char *recorder_cure(const struct report *r)
{
	return capture_get_kind(r->capture) == CAPTURE_EBX
		       ? ""
		       : "record with 'ebprec record', perf's files hold no such names; ";
}

static void list_made_cures(const struct report *r, const struct stack_quality_cause *c, char *text,
			    size_t text_bytes)
{
	char cures[CURES_BYTES];

	list_cures(c->compilers, runtimes_names_cure, cures, sizeof(cures));
	snprintf(text, text_bytes, "%s%s", recorder_cure(r),
		 *cures ? cures : name_reason_remedy(NAME_ANONYMOUS));
}

/* Whether the debug symbols of a package would have its names. */
static bool is_stripped(const struct stack_quality_cause *c)
{
	return c->reason == NAME_STRIPPED || c->reason == NAME_DEBUG_STALE;
}

/* package: the one with its debug symbols; NULL: none is known. */
static void write_unnamed(const struct report *r, const struct stack_quality_cause *c,
			  const char *package, FILE *to)
{
	const struct stack_quality *v = &r->quality;
	const char *remedy = name_reason_remedy(c->reason), *reason = NULL;
	char made[CURES_BYTES + 128];

	if (c->reason == NAME_KERNEL_HIDDEN)
		reason = kernel_reason(r, &remedy);
	if (c->reason == NAME_ANONYMOUS) {
		list_made_cures(r, c, made, sizeof(made));
		remedy = made;
	}
	if (c->reason == NAME_BETWEEN && stack_quality_is_made(string_table_text(r->names, c->dso)))
		remedy =
			"code that was made after its map was written: have it written again when the "
			"recording ends";
	if (!reason)
		reason = name_reason_text(c->reason);
	put_line(to, "  %.1f %% of %s in %s: %s%s%s%s%s%s",
		 c->samples ? number_percent(c->samples, v->samples)
			    : number_percent(c->count, v->frames),
		 c->samples ? "samples end" : "frames are", string_table_text(r->names, c->dso),
		 reason, remedy ? " (" : "", remedy ? remedy : "", package ? ": " : "",
		 package ? package : "", remedy ? ")" : "");
}

/* The lines of the files that lack most names, with the packages that have them. */
static void write_unnamed_files(const struct report *r, FILE *to)
{
	const struct stack_quality *v = &r->quality;
	const char *paths[CAUSES_SHOWN];
	char *packages[CAUSES_SHOWN];
	size_t count = 0, next = 0;

	for (size_t i = 0; i < v->unnamed_count && i < CAUSES_SHOWN; i++)
		if (is_stripped(&v->unnamed[i]))
			paths[count++] = string_table_text(r->names, v->unnamed[i].dso);
	debian_packages_find(DEBIAN_PACKAGES_FOLDER, paths, count, packages);
	for (size_t i = 0; i < v->unnamed_count && i < CAUSES_SHOWN; i++)
		write_unnamed(r, &v->unnamed[i],
			      is_stripped(&v->unnamed[i]) ? packages[next++] : NULL, to);
	for (size_t i = 0; i < count; i++)
		free(packages[i]);
}

/* Why the recorder did not read the functions of an interpreted program; samples, not frames. */
static void write_reasons(const struct stack_quality_interpreted *in, const char *language,
			  const char *understood, FILE *to)
{
	for (unsigned why = 1; why < RUNTIME_WHYS; why++) {
		const char *text = stack_quality_runtime_text(why);
		const char *remedy = why == RUNTIME_NOT_UNDERSTOOD
					     ? understood
					     : stack_quality_runtime_remedy(why);

		if (in->by_why[why] && text)
			put_line(to,
				 "  %" PRIu64 " of %" PRIu64
				 " samples in %s code lack functions of it: %s%s%s%s",
				 in->by_why[why], in->samples + in->named, language, text,
				 remedy ? " (" : "", remedy ? remedy : "", remedy ? ")" : "");
	}
}

static uint64_t sum_reasons(const struct stack_quality_interpreted *in)
{
	uint64_t sum = 0;

	for (unsigned why = 1; why < RUNTIME_WHYS; why++)
		sum += in->by_why[why];
	return sum;
}

/* Samples that ran an interpreted program without names of its functions. */
static void write_interpreted(const struct report *r, FILE *to)
{
	for (unsigned i = 0; i < RUNTIMES_INTERPRETERS; i++) {
		const struct stack_quality_interpreted *in = &r->quality.interpreted[i];
		const struct runtimes_interpreter *of = runtimes_interpreter(i);
		const char *base;
		size_t size;

		write_reasons(in, of->language, of->understood, to);
		if (in->samples <= sum_reasons(in) ||
		    number_percent(in->samples, r->quality.samples) < INTERPRETED_PERCENT)
			continue;
		base = function_label_base(string_table_text(r->names, in->dso), &size);
		put_line(
			to,
			"  %.1f %% of samples ran %s code in %.*s: its functions show as %s%s%s%s%s",
			number_percent(in->samples, r->quality.samples), of->language, (int)size,
			base, of->function, of->cure ? " (" : "",
			of->prefix ? recorder_cure(r) : "", of->cure ? of->cure : "",
			of->cure ? ")" : "");
	}
	write_reasons(&r->quality.interpreted[RUNTIMES_INTERPRETERS], "interpreted", NULL, to);
}

static void write_names(const struct report *r, FILE *to)
{
	const struct stack_quality *v = &r->quality;

	if (v->unnamed_frames)
		put_line(to,
			 "names: %" PRIu64 " of %" PRIu64
			 " samples end in a function without one (%.1f %%); %" PRIu64 " of %" PRIu64
			 " frames have none (%.1f %%)",
			 v->unnamed_samples, v->samples,
			 number_percent(v->unnamed_samples, v->samples), v->unnamed_frames,
			 v->frames, number_percent(v->unnamed_frames, v->frames));
	else
		put_line(to, "names: all %" PRIu64 " frames have one", v->frames);
	write_unnamed_files(r, to);
	write_interpreted(r, to);
}

static void write_losses(const struct report *r, FILE *to)
{
	uint64_t samples = r->counts.lost_samples;

	if (samples)
		put_line(to, "lost: %" PRIu64 " samples were lost while recording", samples);
	if (r->counts.lost_events)
		put_line(to,
			 "lost: %" PRIu64 " events were lost while recording; some names or "
			 "mappings may be missing",
			 r->counts.lost_events);
	if (r->counts.throttled)
		put_line(to,
			 "lost: the kernel stopped sampling for a moment %" PRIu64
			 " times (sample less often)",
			 r->counts.throttled);
}

bool quality_text_ends_early(const struct capture *c)
{
	const struct capture_damage *d = capture_damage(c);
	size_t count;
	const struct capture_block *blocks = capture_blocks(c, &count);

	/* A recorder writes first which processes there are. */
	for (size_t i = 0; i < count; i++)
		if (blocks[i].stream != EBX_STREAM_SIDE)
			return false;
	return d->unfinished || d->cut;
}

/* How it ended, when it did not end as it should. */
static void write_end(const struct capture *c, const char *path, FILE *to)
{
	const struct capture_damage *d = capture_damage(c);

	if (quality_text_ends_early(c)) {
		put_line(
			to,
			"file: '%s' ends at byte %" PRIu64
			" and has no events: they were truncated, or its recorder ended before it wrote any",
			path, d->cut ? d->cut_off_bytes : capture_file_bytes(c));
		return;
	}
	if (d->unfinished)
		put_line(to, "file: '%s' is not finished, or its recorder died ('ebprec recover')",
			 path);
	if (d->cut)
		put_line(to,
			 "file: '%s' is cut at byte %" PRIu64 ": what was behind it is not here",
			 path, d->cut_off_bytes);
}

static void write_file(const struct report *r, const char *path, FILE *to)
{
	const struct capture_damage *d = capture_damage(r->capture);
	uint32_t blocks = d->bad_blocks + r->stats.damaged_blocks;
	uint64_t records = r->counts.broken + r->stats.broken_samples;

	/* In perf's files both passes read the same blocks. */
	if (capture_get_kind(r->capture) == CAPTURE_EBX)
		blocks += r->scan.damaged_blocks;
	write_end(r->capture, path, to);
	if (blocks || d->missing_seq)
		put_line(to,
			 "file: '%s' is damaged: %" PRIu32 " parts are unreadable, %" PRIu32
			 " are missing",
			 path, blocks, d->missing_seq);
	if (d->bad_sections)
		put_line(to,
			 "file: %" PRIu32 " sections of the head of '%s' are unreadable or wrong%s",
			 d->bad_sections, path,
			 capture_get_kind(r->capture) == CAPTURE_EBX
				 ? " ('ebprec recover' writes them anew from what is there)"
				 : "");
	if (records)
		put_line(to, "file: %" PRIu64 " records of '%s' are broken, skipping", records,
			 path);
}

/* Whether any event of the file has stacks. */
static bool has_stacks(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (attrs[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return capture_get_kind(c) == CAPTURE_EBX;
}

/* Broken stacks show the functions that a thread waited in, and not what called them. */
static const char *how_far(const struct stack_quality *v, char text[64])
{
	const double complete = number_percent(v->complete_stacks, v->user_stacks);

	*text = '\0';
	if (v->user_stacks && complete < 99.95)
		snprintf(text, 64, ", as far as they go (%.1f %% are complete)", complete);
	return text;
}

/* The time of a thread in a system call is exact; stacks of some waits divide it among functions. */
static void write_wait_shares(const struct report *r, FILE *to)
{
	const struct offcpu_facts *f = &r->waits.facts;
	const double error = 100.0 * f->error_share, total_s = (double)f->total_ns / 1e9;
	const double part = 100.0 * (double)f->with_stack_ns / (double)f->total_ns;
	const bool is_ours = capture_get_kind(r->capture) == CAPTURE_EBX;
	char text[64];

	if (!f->with_stack_ns)
		put_line(
			to,
			"waits: %.6f s, exact for each thread and system call; no wait has a stack",
			total_s);
	else if (error < 0.05)
		put_line(
			to,
			"waits: %.6f s, exact for each thread and system call; stacks show the functions "
			"of %.1f %% of it%s, whose times are right to less than 0.1 %%",
			total_s, part, how_far(&r->quality, text));
	else
		put_line(
			to,
			"waits: %.6f s, exact for each thread and system call; stacks show the functions "
			"of %.1f %% of it%s, whose times are estimated from %" PRIu64 " of %" PRIu64
			" waits: the standard error is %.1f %% of that in all, and more for a row of few stacks%s",
			total_s, part, how_far(&r->quality, text), f->stacks, f->switches, error,
			is_ours ? " (less with 'ebprec record --max-overhead' higher, or longer)"
				: "");
}

static void write_unknown_waits(const struct offcpu_facts *f, const char *before, FILE *to)
{
	if (f->unknown_ns)
		put_line(to, "%s%s: %.6f s in which %s", before,
			 f->is_wall ? "without a stack" : "left out", (double)f->unknown_ns / 1e9,
			 f->lost ? "events are missing (record with a larger -m)"
				 : "the kernel did not report every switch ('ebprec sched' "
				   "has them by thread)");
}

/* How far reasons and stacks of waits can be trusted; their sum is exact. */
static void write_waits(const struct report *r, FILE *to)
{
	const struct offcpu_facts *f = &r->waits.facts;

	if (f->total_ns && !has_stacks(r->capture))
		put_line(
			to,
			"waits: %.6f s; the file has no stacks, so reasons are mostly 'other', and places "
			"and wakers not known (record with 'perf sched record -g', or 'ebprec record')",
			(double)f->total_ns / 1e9);
	else if (f->total_ns)
		write_wait_shares(r, to);
	if (f->is_wall && !f->on_samples && f->on_ns)
		put_line(to, "  no samples show what threads did on a CPU");
	if (f->before_ns)
		put_line(to, "  %s: %.6f s of waits that began before the recording",
			 f->is_wall ? "without a stack" : "left out", (double)f->before_ns / 1e9);
	write_unknown_waits(f, "  ", to);
}

void quality_text_write_periods(const struct report *r, const char *path, FILE *to)
{
	if (r->period_shift)
		put_line(to,
			 "file: the periods of '%s' add up to more than a number can be; they are "
			 "divided by 2^%u here, and shares may be wrong",
			 path, r->period_shift);
}

static void write_what_is_missing(const struct report *r, const char *path, FILE *to)
{
	write_losses(r, to);
	write_file(r, path, to);
	quality_text_write_periods(r, path, to);
}

void quality_text_write_losses(const struct report *r, const char *path, FILE *to)
{
	const struct offcpu_facts *f = &r->waits.facts;

	/* Less than a percent of waits changes no answer. */
	if (f->unknown_ns > f->total_ns / 100)
		write_unknown_waits(f, "waits ", to);
	write_what_is_missing(r, path, to);
}

void quality_text_write(const struct report *r, const char *path, FILE *to)
{
	if (r->waits.facts.total_ns || r->waits.facts.before_ns)
		write_waits(r, to);
	if (r->quality.samples) {
		write_stacks(r, to);
		write_names(r, to);
		write_guesses(r, to);
	}
	write_what_is_missing(r, path, to);
}
