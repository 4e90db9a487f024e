/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_words - any text as the little languages: times, filters, sort keys, rules, probes, facts */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/key/categories.h"
#include "analyze/input/event/filter.h"
#include "analyze/report/key/sort_keys.h"
#include "analyze/input/event/time_span.h"
#include "format/base/cursor.h"
#include "format/payload/file_facts.h"
#include "format/contract/finding.h"
#include "record/instrument/mark_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void read_time(const char *text)
{
	static const struct time_span recording = { 5000000000, 65000000000 };
	static const struct time_span_clock clock = { 5000000000, 1763719200000000000 };
	struct time_span span;
	struct parse_err err;

	if (!time_span_parse(text, &recording, &span, &err) && span.to_ns < span.from_ns)
		abort();
	if (!time_span_parse(text, NULL, &span, &err) && span.to_ns < span.from_ns)
		abort();
	if (!time_span_parse_wall(text, &recording, &clock, &span, &err) &&
	    span.to_ns < span.from_ns)
		abort();
}

static void read_filter(const char *text)
{
	struct filter_error error;
	struct filter f;

	filter_init(&f);
	(void)filter_add_pids(&f, text, &error);
	(void)filter_add_tids(&f, text, &error);
	(void)filter_add_cpus(&f, text, &error);
	(void)filter_add_comms(&f, text, &error);
	(void)filter_passes(&f, 1, 1, 0, 1);
	(void)filter_passes_comm(&f, "sh");
	filter_done(&f);
}

static void read_facts(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct file_facts f;

	while (file_facts_next(&c, &f) > 0) {
		if (f.segment_count > FILE_FACTS_SEGMENTS_MAX ||
		    f.id.build_id.size_bytes > BUILDID_MAX_BYTES)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1);
	struct categories *rules = NULL;
	struct sort_keys keys = { 0 };
	struct mark_spec spec;
	struct finding finding;
	struct parse_err err;
	const char *bad;
	size_t bad_bytes;

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	read_time(text);
	read_filter(text);
	if (!categories_new(text, &rules, &err))
		categories_free(rules);
	(void)sort_keys_parse(&keys, text, &bad, &bad_bytes);
	(void)mark_spec_parse(text, &spec);
	(void)finding_parse(text, &finding);
	read_facts(data, size_bytes);
	free(text);
	return 0;
}
