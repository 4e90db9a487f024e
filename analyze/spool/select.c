/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/spool/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/base/saturate.h"
#include "format/text/duration_text.h"

#define NS_PER_SECOND 1000000000ULL
#define DAY_NS        (86400 * NS_PER_SECOND)
#define BOOT_SLACK_NS \
	(120 * NS_PER_SECOND) /* clocks are set while a machine runs; as merge has it */
#define GAP_NS \
	(2 * NS_PER_SECOND) /* a file ends with its last sample, and rotation takes a moment */

static bool is_same_boot(const struct spool_capture *a, const struct spool_capture *b)
{
	uint64_t x = a->facts.boot_wall_ns, y = b->facts.boot_wall_ns;

	return (x < y ? y - x : x - y) <= BOOT_SLACK_NS;
}

static bool meets(const struct time_span *span, uint64_t from_ns, uint64_t to_ns)
{
	return from_ns <= span->to_ns && to_ns >= span->from_ns;
}

static void extend(struct time_span *span, bool is_first, uint64_t from_ns, uint64_t to_ns)
{
	if (is_first || from_ns < span->from_ns)
		span->from_ns = from_ns;
	if (is_first || to_ns > span->to_ns)
		span->to_ns = to_ns;
}

/* 1, 0; negative errno. */
static int has_service(const struct spool *s, const struct spool_wanted *wanted,
		       const struct spool_capture *c)
{
	struct service_counts services = { 0 };
	int result = 0;

	/* Without a row it is as fast to count it as to ask it. */
	if (!wanted->wants_service || !c->row)
		return 1;
	result = spool_services(s, c, NULL, &services);
	for (size_t i = 0; !result && i < services.count; i++)
		result = wanted->wants_service(wanted->arg, services.list[i].name);
	service_counts_done(&services);
	return result;
}

static const struct spool_capture *find_newest(const struct spool *s, const struct time_span *span)
{
	const struct spool_capture *newest = NULL;
	size_t count;
	const struct spool_capture *all = spool_captures(s, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].state != SPOOL_UNREADABLE &&
		    meets(span, all[i].facts.from_ns, all[i].facts.to_ns))
			newest = &all[i];
	return newest;
}

static void add_losses(struct spool_losses *l, const struct spool_capture *c)
{
	l->lost_count = saturate_add(l->lost_count, c->facts.lost_count);
	l->damaged_count += c->facts.is_damaged;
	l->cut_count += c->state == SPOOL_CUT;
}

/* covered_ns: up to where the captures before it reach. */
static void add_gap(struct spool_losses *l, const struct spool_capture *c, uint64_t *covered_ns)
{
	if (*covered_ns && c->facts.from_ns > *covered_ns &&
	    c->facts.from_ns - *covered_ns > GAP_NS) {
		l->gap_ns += c->facts.from_ns - *covered_ns;
		l->gap_count++;
	}
	if (c->facts.to_ns > *covered_ns)
		*covered_ns = c->facts.to_ns;
}

static int select_captures(const struct spool *s, const struct spool_wanted *wanted,
			   struct spool_selection *out)
{
	const struct spool_capture *newest = find_newest(s, &wanted->span);
	size_t count;
	const struct spool_capture *all = spool_captures(s, &count);
	struct spool_losses *l = &out->losses;
	uint64_t covered_ns = 0;
	int found;

	for (size_t i = 0; i < count; i++) {
		const struct spool_capture *c = &all[i];

		if (c->state == SPOOL_UNREADABLE)
			l->unreadable_count++;
		if (c->state == SPOOL_UNREADABLE ||
		    !meets(&wanted->span, c->facts.from_ns, c->facts.to_ns))
			continue;
		if (!is_same_boot(c, newest)) {
			extend(&l->older, !l->older_count++, c->facts.from_ns, c->facts.to_ns);
			continue;
		}
		add_gap(l, c, &covered_ns);
		add_losses(l, c);
		found = has_service(s, wanted, c);
		if (found < 0)
			return found;
		if (found)
			out->list[out->count++] = c;
		else
			out->without_service++;
	}
	return 0;
}

static void add_one_removed(struct spool_losses *l, uint64_t from_ns, uint64_t to_ns,
			    uint64_t sample_count)
{
	extend(&l->removed, !l->removed_count++, from_ns, to_ns);
	l->removed_samples = saturate_add(l->removed_samples, sample_count);
}

static void add_removed(const struct spool *s, const struct spool_wanted *wanted,
			struct spool_losses *l)
{
	size_t count;
	const struct spool_removed *gone = spool_removals(s, &count);

	for (size_t i = 0; i < count; i++) {
		const struct spool_removed *e = &gone[i];

		if (!meets(&wanted->span, e->from_ns, e->to_ns))
			continue;
		add_one_removed(l, e->from_ns, e->to_ns, e->sample_count);
	}
}

/* From the wall's clock to the records'. */
static uint64_t to_records(const struct capture_facts *f, uint64_t wall_ns)
{
	if (wall_ns >= f->clock_wall_ns)
		return saturate_add(f->clock_ns, wall_ns - f->clock_wall_ns);
	return f->clock_ns > f->clock_wall_ns - wall_ns ? f->clock_ns - (f->clock_wall_ns - wall_ns)
							: 0;
}

static void set_records(const struct spool_wanted *wanted, struct spool_selection *out)
{
	const struct capture_facts *first, *last;
	uint64_t end_ns = 0;

	out->records = TIME_SPAN_ALL;
	if (!out->count)
		return;
	first = last = &out->list[0]->facts;
	for (size_t i = 0; i < out->count; i++) {
		if (out->list[i]->facts.to_ns < end_ns)
			continue;
		last = &out->list[i]->facts;
		end_ns = last->to_ns;
	}
	if (first->from_ns < wanted->span.from_ns)
		out->records.from_ns = to_records(first, wanted->span.from_ns);
	if (last->to_ns > wanted->span.to_ns)
		out->records.to_ns = to_records(last, wanted->span.to_ns);
}

int spool_select(const struct spool *s, const struct spool_wanted *wanted,
		 struct spool_selection *out)
{
	struct spool_selection fresh = { .list = NULL };
	size_t count;
	int err;

	(void)spool_captures(s, &count);
	fresh.list = calloc(count + 1, sizeof(*fresh.list));
	err = fresh.list ? select_captures(s, wanted, &fresh) : -ENOMEM;
	if (err) {
		spool_selection_done(&fresh);
		return err;
	}
	add_removed(s, wanted, &fresh.losses);
	set_records(wanted, &fresh);
	*out = fresh;
	return 0;
}

void spool_selection_done(struct spool_selection *s)
{
	free(s->list);
	*s = (struct spool_selection){ .list = NULL };
}

/* Its own losses are none of the answer any more. */
void spool_selection_leave_out(struct spool_selection *s, size_t i)
{
	const struct spool_capture *c = s->list[i];
	struct spool_losses *l = &s->losses;

	add_one_removed(l, c->facts.from_ns, c->facts.to_ns, c->facts.sample_count);
	l->lost_count -= c->facts.lost_count < l->lost_count ? c->facts.lost_count : l->lost_count;
	l->damaged_count -= c->facts.is_damaged;
	l->cut_count -= c->state == SPOOL_CUT;
	s->count--;
	memmove(&s->list[i], &s->list[i + 1], (s->count - i) * sizeof(*s->list));
}

/* ---- times ---- */

static bool read_clock(const char *text, const char *format, struct tm *utc)
{
	const char *end = strptime(text, format, utc);

	return end && !*end;
}

static bool read_date(const char *text, uint64_t *out_ns)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm utc = { 0 };
		time_t seconds;

		if (!read_clock(text, formats[i], &utc))
			continue;
		seconds = timegm(&utc);
		*out_ns = (uint64_t)seconds * NS_PER_SECOND;
		return seconds >= 0 && seconds < INT64_MAX / (int64_t)NS_PER_SECOND;
	}
	return false;
}

static bool read_time_of_day(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	struct tm utc = { 0 };
	uint64_t midnight_ns = now_ns - now_ns % DAY_NS, ns;

	if (!read_clock(text, "%H:%M", &utc) && !read_clock(text, "%H:%M:%S", &utc))
		return false;
	ns = midnight_ns +
	     (uint64_t)(utc.tm_hour * 3600 + utc.tm_min * 60 + utc.tm_sec) * NS_PER_SECOND;
	*out_ns = ns > now_ns && ns >= DAY_NS ? ns - DAY_NS : ns;
	return true;
}

bool spool_read_time(const char *text, uint64_t now_ns, uint64_t *out_ns)
{
	uint64_t ago_ns;
	const char *end;

	if (!strcmp(text, "now")) {
		*out_ns = now_ns;
		return true;
	}
	if (read_date(text, out_ns) || read_time_of_day(text, now_ns, out_ns))
		return true;
	if (!duration_read(text, false, &end, &ago_ns) || *end)
		return false;
	*out_ns = ago_ns < now_ns ? now_ns - ago_ns : 0;
	return true;
}
