/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/time_span.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "format/base/cursor.h"
#include "format/text/duration_text.h"

#define NS_PER_SECOND 1000000000U

struct text {
	const char *start, *at;
	struct parse_err *err;
};

static int fail(const struct text *t, int code, const char *what)
{
	return parse_fail(t->err, code, (uint64_t)(t->at - t->start), what);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal number times 1e9; more than nine decimals are cut. */
static int read_nano(struct text *t, uint64_t *out)
{
	uint64_t v = 0, unit = NS_PER_SECOND / 10;

	if (!is_digit(*t->at))
		return fail(t, -EBADMSG, "a number was expected");
	for (; is_digit(*t->at); t->at++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*t->at - '0'), &v))
			return fail(t, -EBADMSG, "number too large");
	}
	if (__builtin_mul_overflow(v, NS_PER_SECOND, &v))
		return fail(t, -EBADMSG, "number too large");
	if (*t->at == '.') {
		for (t->at++; is_digit(*t->at); t->at++, unit /= 10) {
			if (__builtin_add_overflow(v, (uint64_t)(*t->at - '0') * unit, &v))
				return fail(t, -EBADMSG, "number too large");
		}
	}
	*out = v;
	return 0;
}

/* One end of FROM,TO: nothing (*out stays), SECONDS or +SECONDS, or with a unit. */
static int read_moment(struct text *t, const struct time_span *recorded, uint64_t *out)
{
	bool relative = *t->at == '+';
	uint64_t v;

	if (*t->at == ',' || !*t->at)
		return 0;
	if (relative && !recorded)
		return fail(t, -ENODATA, "the file does not have the time of its first sample");
	t->at += relative;
	if (!is_digit(*t->at))
		return fail(t, -EBADMSG, "a number was expected");
	if (!duration_read(t->at, true, &t->at, &v) ||
	    (relative && __builtin_add_overflow(v, recorded->from_ns, &v)))
		return fail(t, -EBADMSG, "number too large");
	*out = v;
	return 0;
}

static uint64_t share_of(uint64_t total_ns, uint64_t share_ppb)
{
	unsigned __int128 product = (unsigned __int128)total_ns * share_ppb;

	return (uint64_t)((product + NS_PER_SECOND / 2) / NS_PER_SECOND);
}

/* FROM%-TO%, as perf reckons it: the end belongs to the next share, unless it is the very end. */
static int read_shares(struct text *t, const struct time_span *recorded, struct time_span *out)
{
	uint64_t from, to, total_ns;
	int err = read_nano(t, &from);

	if (err)
		return err;
	if (strncmp(t->at, "%-", 2))
		return fail(t, -EBADMSG, "FROM%-TO% was expected");
	t->at += 2;
	err = read_nano(t, &to);
	if (err)
		return err;
	if (strcmp(t->at, "%"))
		return fail(t, -EBADMSG, "FROM%-TO% was expected");
	from /= 100;
	to /= 100;
	if (from > NS_PER_SECOND || to > NS_PER_SECOND)
		return fail(t, -EBADMSG, "more than 100 %");
	if (!recorded)
		return fail(t, -ENODATA,
			    "the file does not have the times of its first and last sample");
	total_ns = recorded->to_ns - recorded->from_ns;
	out->from_ns = recorded->from_ns + share_of(total_ns, from);
	out->to_ns = recorded->from_ns + share_of(total_ns, to);
	if (out->to_ns > out->from_ns && out->to_ns != recorded->to_ns)
		out->to_ns--;
	return 0;
}

int time_span_parse(const char *text, const struct time_span *recorded, struct time_span *out,
		    struct parse_err *err)
{
	struct text t = { .start = text, .at = text, .err = err };
	struct time_span span = TIME_SPAN_ALL;
	int rc;

	if (strchr(text, '%')) {
		rc = read_shares(&t, recorded, &span);
	} else {
		rc = read_moment(&t, recorded, &span.from_ns);
		if (!rc && *t.at != ',')
			rc = fail(&t, -EBADMSG,
				  *t.at ? "FROM,TO was expected, as +1.5s,+2s"
					: "a comma was expected (FROM,TO)");
		if (!rc) {
			t.at++;
			rc = read_moment(&t, recorded, &span.to_ns);
		}
		if (!rc && *t.at)
			rc = fail(&t, -EBADMSG, "not a time, as 1.5s or 20ms");
	}
	if (rc)
		return rc;
	if (span.from_ns > span.to_ns)
		return fail(&t, -EINVAL, "it ends before it starts");
	*out = span;
	return 0;
}

/* [YYYY-MM-DDT]HH:MM:SS[.frac] as ns of the wall clock; day_s: midnight of the day without a date. */
static int read_wall(struct text *t, uint64_t day_s, uint64_t *out)
{
	struct tm tm = { 0 };
	const char *end = strptime(t->at, "%Y-%m-%d", &tm);
	uint64_t seconds, fraction = 0;

	if (end) {
		t->at = end;
		if (*t->at != 'T' && *t->at != ' ')
			return fail(t, -EBADMSG, "a time was expected behind the date");
		t->at++;
		day_s = (uint64_t)timegm(&tm);
	}
	end = strptime(t->at, "%H:%M:%S", &tm);
	if (!end)
		return fail(t, -EBADMSG, "a time as 13:05:10 was expected");
	t->at = end;
	seconds = day_s + (uint64_t)tm.tm_hour * 3600 + (uint64_t)tm.tm_min * 60 +
		  (uint64_t)tm.tm_sec;
	if (*t->at == '.') {
		for (uint64_t unit = NS_PER_SECOND / 10; is_digit(*++t->at); unit /= 10)
			fraction += (uint64_t)(*t->at - '0') * unit;
	}
	*out = seconds * NS_PER_SECOND + fraction;
	return 0;
}

int time_span_parse_wall(const char *text, const struct time_span *recorded,
			 const struct time_span_clock *clock, struct time_span *out,
			 struct parse_err *err)
{
	struct text t = { .start = text, .at = text, .err = err };
	uint64_t ends[2] = { 0, UINT64_MAX }, wall, day_s;
	int rc;

	if (!clock || !recorded)
		return fail(&t, -ENODATA, "the file does not have the wall clock's time");
	day_s = (clock->wall_ns - clock->sample_ns + recorded->from_ns) / NS_PER_SECOND / 86400 *
		86400;
	for (int i = 0; i < 2; i++) {
		if (*t.at != (i ? '\0' : ',')) {
			rc = read_wall(&t, day_s, &wall);
			if (rc)
				return rc;
			/* A time before the clock of the samples began becomes its beginning. */
			wall += clock->sample_ns;
			ends[i] = wall > clock->wall_ns ? wall - clock->wall_ns : 0;
		}
		if (*t.at != (i ? '\0' : ','))
			return fail(&t, -EBADMSG,
				    i ? "not a time" : "a comma was expected (FROM,TO)");
		t.at += !i;
	}
	if (ends[0] > ends[1])
		return fail(&t, -EINVAL, "it ends before it starts");
	*out = (struct time_span){ ends[0], ends[1] };
	return 0;
}

int time_span_of_capture(const struct capture *c, struct time_span *out)
{
	struct capture_bytes section = capture_feature(c, PERFFILE_SAMPLE_TIME);
	struct time_span span = { .from_ns = UINT64_MAX, .to_ns = 0 };
	const struct capture_block *blocks;
	size_t i, count;

	if (section.size_bytes >= 16) {
		span.from_ns = le64_load(section.data);
		span.to_ns = le64_load(section.data + 8);
	} else {
		blocks = capture_blocks(c, &count);
		for (i = 0; i < count; i++) {
			if (!blocks[i].sample_count || blocks[i].t_max_ns == UINT64_MAX)
				continue;
			if (blocks[i].t_min_ns < span.from_ns)
				span.from_ns = blocks[i].t_min_ns;
			if (blocks[i].t_max_ns > span.to_ns)
				span.to_ns = blocks[i].t_max_ns;
		}
	}
	if (span.from_ns > span.to_ns || !span.to_ns)
		return -ENODATA;
	*out = span;
	return 0;
}
