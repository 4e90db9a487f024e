/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/parts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/input/capture_meta.h"
#include "analyze/input/marks.h"
#include "format/perf/trace_data.h"

#define SECOND_NS ((uint64_t)1000000000)
/* Records of a moment may be in the flush after the next one: stacks that wait for an unwind table. */
#define LATE_NS (SECOND_NS * 2 / 5)
/* Seconds from one time that all symbols are forgotten to the next. */
#define FORGET_EVERY 10

/* PATH or PATH.NUMBER; owned.  NULL: no memory. */
static char *parts_path(const struct parts *p, unsigned number)
{
	char *path = NULL;
	int bytes = number ? asprintf(&path, "%s.%u", p->path, number)
			   : asprintf(&path, "%s", p->path);

	return bytes < 0 ? NULL : path;
}

static bool has_part(const struct parts *p, unsigned number)
{
	char *path = parts_path(p, number);
	bool has = path && !access(path, F_OK);

	free(path);
	return has;
}

/* A file that is complete has all of its time, also where nothing happened. */
static bool span_of_complete(const struct capture *c, struct time_span *out)
{
	if (!capture_meta_segment(c, out))
		return false;
	out->to_ns -= out->to_ns < LATE_NS ? out->to_ns : LATE_NS;
	return out->from_ns < out->to_ns;
}

/* From the first sample or switch to the last, and what else is known to have none.  false: nothing is known yet. */
static bool span_of(const struct capture *c, struct time_span *out)
{
	struct time_span complete;
	size_t count;
	const struct capture_block *blocks = capture_blocks(c, &count);
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct capture_block *b = &blocks[i];

		if ((b->stream != EBX_STREAM_CPU && b->stream != EBX_STREAM_SCHED) ||
		    b->t_max_ns == UINT64_MAX)
			continue;
		if (!any || b->t_min_ns < out->from_ns)
			out->from_ns = b->t_min_ns;
		if (!any || b->t_max_ns > out->to_ns)
			out->to_ns = b->t_max_ns;
		any = true;
	}
	if (!span_of_complete(c, &complete))
		return any;
	if (!any || complete.from_ns < out->from_ns)
		out->from_ns = complete.from_ns;
	if (!any || complete.to_ns > out->to_ns)
		out->to_ns = complete.to_ns;
	return true;
}

/* ---- a second ---- */

struct second_work {
	struct parts *parts;
	struct history *history;
	const struct capture *capture;
	struct filter *filter;
	struct history_second *second;
};

static int count_one(const struct second_work *w, size_t attr, enum history_measure measure)
{
	struct report_query query = {
		.attr = attr,
		.filter = w->filter,
		.off_cpu = measure == HISTORY_WALL || measure == HISTORY_WAKERS,
		.wakers = measure == HISTORY_WAKERS,
		.wall = measure == HISTORY_WALL,
		.fields = GROUP_COMM | GROUP_PID | GROUP_TID | GROUP_CGROUP,
		.keep_samples = measure == HISTORY_CPU,
		.thread_count = 1,
		.roots = w->parts->roots,
		.namer = &w->parts->names,
		.demangle = w->parts->demangle,
		.no_quality = true,
	};
	struct report r;
	int err = report_open_later(w->capture, &r);

	if (err)
		return err;
	err = report_make(&r, &query);
	if (!err)
		err = history_add(w->history, w->second, &r, measure);
	report_done(&r);
	return err;
}

static int count_event(const struct second_work *w)
{
	size_t attr;
	int err = w->parts->find_event(w->parts->find_event_arg, w->capture, &attr);

	if (!err)
		err = count_one(w, attr, HISTORY_EVENT);
	return err == -ENOENT || err == -ENODATA ? 0 : err;
}

static int count_second(const struct second_work *w)
{
	const struct load_scan none = { .attr_samples = NULL };
	size_t attr;
	int err = load_choose_event(w->capture, &none, NULL, &attr);

	if (!w->second->has_part)
		w->second->first_part = w->parts->number;
	w->second->last_part = w->parts->number;
	w->second->has_part = true;
	if (!err)
		err = count_one(w, attr, HISTORY_CPU);
	if (err && err != -ENODATA)
		return err;
	return w->parts->find_event ? count_event(w) : 0;
}

/* "group name text" of a mark; owned.  NULL: no memory. */
static char *mark_text(const struct string_table *names, const struct mark *m)
{
	static const char *const kinds[] = {
		[TRACE_DATA_MARK_POINT] = "",
		[TRACE_DATA_MARK_BEGIN] = "begin ",
		[TRACE_DATA_MARK_END] = "end ",
		[TRACE_DATA_MARK_SPAN] = "",
	};
	const char *kind = m->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[m->kind] : "";
	char *text;
	int bytes = asprintf(&text, "%s%s/%s %s", kind, string_table_text(names, m->group),
			     string_table_text(names, m->name), string_table_text(names, m->text));

	return bytes < 0 ? NULL : text;
}

static int add_marks(struct parts *p, struct history *h, const struct capture *c)
{
	struct string_table *names;
	struct marks m;
	uint64_t from_ns = p->marks_ns;
	int err = string_table_new(&names);

	if (err)
		return err;
	err = marks_load(c, names, &m);
	for (size_t i = 0; !err && i < m.count; i++) {
		char *text;

		if (m.marks[i].time_ns < from_ns)
			continue;
		text = mark_text(names, &m.marks[i]);
		err = text ? history_add_mark(h, m.marks[i].time_ns, text) : -ENOMEM;
		p->marks_ns = m.marks[i].time_ns + 1;
		free(text);
	}
	if (!err)
		marks_done(&m);
	string_table_free(names);
	return err;
}

/* The seconds of c up to `end`, which is not among them; the last one stays open where the next file goes on with it. */
static int add_seconds(struct parts *p, struct history *h, const struct capture *c, uint64_t end,
		       bool goes_on, unsigned most)
{
	struct filter filter = p->filter;
	struct second_work w = { .parts = p, .history = h, .capture = c, .filter = &filter };
	unsigned done = 0;
	int err = 0;

	while (!err && p->next_second < end && done < most) {
		uint64_t second = p->next_second;
		bool open = goes_on && second + 1 == end;

		filter.span = (struct time_span){ second * SECOND_NS,
						  (second + 1) * SECOND_NS - 1 };
		w.second = history_second_of(h, second);
		err = w.second ? count_second(&w) : -ENOMEM;
		if (!err && open)
			break;
		if (!err)
			err = history_close_second(h, w.second);
		p->next_second++;
		done++;
	}
	return err ? err : (int)done;
}

static void next_part(struct parts *p)
{
	p->number++;
	p->seen_bytes = 0;
}

static int poll_part(struct parts *p, struct history *h, const struct capture *c, bool is_last,
		     unsigned most)
{
	struct time_span span = TIME_SPAN_ALL;
	uint64_t end;
	int done;

	if (!span_of(c, &span)) {
		if (!is_last)
			next_part(p);
		return is_last ? -EAGAIN : 0;
	}
	/* What is before the first complete second of the recording is left out. */
	if (!p->next_second)
		p->next_second = span.from_ns / SECOND_NS + 1;
	if (!p->sample_ns && !capture_clock(c, &p->sample_ns, &p->host_ns))
		p->sample_ns = p->host_ns = 0;
	end = is_last ? (span.to_ns < LATE_NS ? 0 : (span.to_ns - LATE_NS) / SECOND_NS)
		      : span.to_ns / SECOND_NS + 1;
	if (p->next_second >= end && is_last)
		return -EAGAIN;
	done = add_marks(p, h, c);
	if (!done)
		done = add_seconds(p, h, c, end, !is_last, most);
	if (!is_last && done >= 0 && p->next_second + 1 >= end)
		next_part(p);
	return done;
}

/* Opening a file that is as it was would be in vain. */
static bool has_grown(struct parts *p, const char *path)
{
	struct stat st;
	bool has = stat(path, &st) || st.st_size != p->seen_bytes;

	if (has)
		p->seen_bytes = st.st_size;
	return has;
}

/* number: of the first file behind that of *number which is there.  false: there is none. */
static bool find_later(const struct parts *p, unsigned *number)
{
	const char *slash = strrchr(p->path, '/'), *name = slash ? slash + 1 : p->path;
	char *folder = slash ? strndup(p->path, (size_t)(slash - p->path) + 1) : strdup(".");
	DIR *dir = folder ? opendir(folder) : NULL;
	size_t name_bytes = strlen(name);
	unsigned least = UINT_MAX;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		unsigned long other;
		char *end;

		if (strncmp(entry->d_name, name, name_bytes) != 0 ||
		    entry->d_name[name_bytes] != '.')
			continue;
		other = strtoul(entry->d_name + name_bytes + 1, &end, 10);
		if (!*end && other > p->number && other < least)
			least = (unsigned)other;
	}
	if (dir)
		closedir(dir);
	free(folder);
	*number = least;
	return least != UINT_MAX;
}

/* The recorder deletes the oldest files: this process was stopped for longer than they last. */
static int skip_deleted(struct parts *p)
{
	unsigned number;

	if (!find_later(p, &number))
		return -ENOENT;
	p->number = number;
	p->seen_bytes = 0;
	p->next_second = 0; /* nothing is known of the seconds between */
	return 0;
}

static bool has_more(const struct parts *p, size_t limit_bytes)
{
	const struct mallinfo2 used = mallinfo2();

	return p->limit_bytes && used.uordblks + used.hblkhd > limit_bytes;
}

/*
 * What was read of symbols is forgotten when it has become too much, first that of files which had no samples for long.
 * Where that of the last seconds alone is too much, the next second reads all of it again: so that is not done each time.
 */
static void forget_names(struct parts *p)
{
	static const unsigned reports[] = { 60, 4 };
	size_t limit_bytes = p->limit_bytes;

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]) && has_more(p, limit_bytes);
	     i++)
		name_context_trim(&p->names, reports[i]);
	if (p->next_second < p->forget_second)
		limit_bytes += limit_bytes / 2;
	if (!has_more(p, limit_bytes))
		return;
	name_context_done(&p->names);
	p->forget_second = p->next_second + FORGET_EVERY;
}

int parts_poll(struct parts *p, struct history *h, unsigned most)
{
	/* Asked before it is opened: where there is a next one, this one is complete. */
	bool is_last = !has_part(p, p->number + 1);
	char *path = parts_path(p, p->number);
	struct capture *c = NULL;
	int err = path ? 0 : -ENOMEM;

	if (!err && is_last && !has_grown(p, path))
		err = -EAGAIN;
	if (!err)
		err = capture_open(path, &c, NULL);
	free(path);
	if (err == -ENODATA)
		return -EAGAIN; /* it is just being made */
	if (err == -ENOENT)
		return skip_deleted(p);
	if (err)
		return err;
	err = poll_part(p, h, c, is_last, most);
	capture_close(c);
	forget_names(p);
	return err;
}

/* ---- waits ---- */

/* Files without any switch are of processes that waited, or ran, all of the time. */
static bool has_switch_event(const struct capture *c)
{
	const struct load_scan none = { .attr_samples = NULL };
	size_t attr;

	return !load_choose_event(c, &none, "sched:sched_switch", &attr);
}

static int fill_from(const struct second_work *w, unsigned number, enum history_measure measure)
{
	const struct load_scan none = { .attr_samples = NULL };
	struct second_work work = *w;
	char *path = parts_path(w->parts, number);
	struct capture *c = NULL;
	size_t attr;
	int err = path ? capture_open(path, &c, NULL) : -ENOMEM;

	free(path);
	if (err)
		return err == -ENOENT ? 0 : err;
	work.capture = c;
	err = load_choose_event(c, &none, NULL, &attr);
	if (!err)
		err = count_one(&work, attr, measure);
	if (err == -ENODATA) {
		w->parts->no_switches |= !has_switch_event(c);
		err = 0;
	}
	capture_close(c);
	return err;
}

static int fill_second(struct parts *p, struct history *h, struct history_second *s,
		       enum history_measure measure)
{
	struct filter filter = p->filter;
	const struct second_work w = { .parts = p, .history = h, .filter = &filter, .second = s };
	int err = history_open(s, measure);

	filter.span = (struct time_span){ s->second * SECOND_NS, (s->second + 1) * SECOND_NS - 1 };
	for (unsigned i = s->first_part; !err && !p->no_switches && i <= s->last_part; i++)
		err = fill_from(&w, i, measure);
	history_close(s, measure);
	return err;
}

int parts_fill(struct parts *p, struct history *h, size_t first, size_t count,
	       enum history_measure measure, unsigned most)
{
	/* The table of what threads lived has their waits. */
	enum history_measure counted = measure == HISTORY_OFFCPU ? HISTORY_WALL : measure;
	unsigned done = 0;
	int err = 0;

	for (size_t i = first + count; !err && i-- > first && done < most;) {
		struct history_second *s = &h->seconds[i];

		if (s->second >= p->next_second || history_has(s, counted))
			continue;
		err = fill_second(p, h, s, counted);
		done++;
	}
	if (done)
		forget_names(p);
	return err ? err : (int)done;
}

void parts_done(struct parts *p)
{
	name_context_done(&p->names);
}
