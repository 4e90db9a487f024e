/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/denet_env.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/perf_features.h"
#include "analyze/input/capture_meta.h"
#include "analyze/out/message.h"
#include "format/perf/perffile.h"

static void put_text(const char *text, FILE *to)
{
	message_json(to, text ? text : "", text ? strlen(text) : 0);
}

/* A member that is a text of the recorder's, or null. */
static void put_word_of(struct capture_meta_value meta, const char *key, const char *name, FILE *to)
{
	char *text = capture_meta_string(capture_meta_member(meta, key));

	fprintf(to, ", \"%s\": ", name);
	if (text && *text)
		put_text(text, to);
	else
		fputs("null", to);
	free(text);
}

/* An array of numbers, divided, between two brackets or in quotes. */
static void put_numbers(struct capture_meta_value array, uint64_t divide_by, const char around[2],
			FILE *to)
{
	struct capture_meta_value at = capture_meta_first(array);
	const char *comma = "";
	uint64_t n;

	putc(around[0], to);
	for (; capture_meta_number(at, NULL, &n); at = capture_meta_next(array, at)) {
		fprintf(to, "%s%" PRIu64, comma, n / divide_by);
		comma = *around == '[' ? ", " : ",";
	}
	putc(around[1], to);
}

/* "10 21" as [10, 21] */
static void put_distances(const char *text, FILE *to)
{
	const char *comma = "";
	size_t digits;

	putc('[', to);
	for (text += strspn(text, " "); (digits = strspn(text, "0123456789"));
	     text += strspn(text, " ")) {
		fprintf(to, "%s%" PRIu64, comma, (uint64_t)strtoull(text, NULL, 10));
		comma = ", ";
		text += digits;
	}
	putc(']', to);
}

static void put_numa(struct capture_meta_value meta, FILE *to)
{
	struct capture_meta_value distances = capture_meta_member(meta, "node_distances"), at;
	size_t nodes = 0;
	char *text;

	fputs(", \"numa\": {\"distances\": [", to);
	for (at = capture_meta_first(distances); (text = capture_meta_string(at));
	     at = capture_meta_next(distances, at)) {
		if (nodes++)
			fputs(", ", to);
		put_distances(text, to);
		free(text);
	}
	fprintf(to, "], \"nodes\": %zu, \"node_sizes_mb\": ", nodes);
	put_numbers(capture_meta_member(meta, "node_bytes"), 1 << 20, "[]", to);
	putc('}', to);
}

/*
 * Writes the frequency of each CPU with frequency scaling, in the order of cpufreq_cpus; null:
 * there is none.
 */
static void put_frequencies(struct capture_meta_value meta, FILE *to)
{
	struct capture_meta_value governors = capture_meta_member(meta, "governors"), at;
	const char *comma = "";
	char *text;

	if (!capture_meta_first(governors).text) {
		fputs(", \"cpufreq_cpus\": null, \"cpu_governor\": null, \"cpu_freq_khz\": null",
		      to);
		return;
	}
	fputs(", \"cpufreq_cpus\": ", to);
	put_numbers(capture_meta_member(meta, "freq_cpus"), 1, "\"\"", to);
	fputs(", \"cpu_freq_khz\": ", to);
	put_numbers(capture_meta_member(meta, "freqs_khz"), 1, "[]", to);
	fputs(", \"cpu_governor\": [", to);
	for (at = capture_meta_first(governors); (text = capture_meta_string(at));
	     at = capture_meta_next(governors, at)) {
		fputs(comma, to);
		comma = ", ";
		put_text(text, to);
		free(text);
	}
	putc(']', to);
}

/* Facts that denet reads on the machine of a program, here from the recorder. */
static void put_machine(const struct capture *c, FILE *to)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	char *affinity = capture_meta_string(capture_meta_member(meta, "affinity"));

	put_numa(meta, to);
	fputs(", \"affinity_inherited\": ", to);
	put_text(affinity, to);
	put_frequencies(meta, to);
	put_word_of(meta, "thp", "thp_enabled", to);
	fprintf(to, ", \"smt_active\": %s",
		capture_meta_is(meta, "smt_active", "\"1\"")   ? "true"
		: capture_meta_is(meta, "smt_active", "\"0\"") ? "false"
							       : "null");
	put_word_of(meta, "cgroup", "cgroup", to);
	free(affinity);
	capture_meta_free(meta);
}

static void put_env(const struct capture *c, const struct denet_env *e, FILE *to)
{
	uint32_t packages = 0, cores = 0, cpus = 0, online;

	(void)feature_topology(c, &packages, &cores);
	(void)feature_cpus(c, &cpus, &online);
	fprintf(to, "{\"kind\": \"env\", \"ts_ms\": %" PRIu64 ", \"host\": ", e->start_ms);
	put_text(capture_feature_string(c, PERFFILE_HOSTNAME), to);
	fputs(", \"kernel\": ", to);
	put_text(capture_feature_string(c, PERFFILE_OSRELEASE), to);
	fprintf(to,
		", \"lscpu\": {\"sockets\": %" PRIu32 ", \"cores_per_socket\": %" PRIu32
		", \"threads_per_core\": %" PRIu32 ", \"model\": ",
		packages, packages ? cores / packages : 0, cores ? cpus / cores : 0);
	put_text(capture_feature_string(c, PERFFILE_CPUDESC), to);
	putc('}', to);
	put_machine(c, to);
	fputs("}\n", to);
}

struct words {
	FILE *to;
	char *first; /* owned */
	size_t count;
};

static void put_word(void *ctx, const char *word, size_t bytes)
{
	struct words *w = ctx;

	if (w->count++)
		fputs(", ", w->to);
	else
		w->first = strndup(word, bytes);
	message_json(w->to, word, bytes);
}

static void put_metadata(const struct capture *c, const struct denet_env *e, FILE *to)
{
	struct words words = { .to = to };

	fprintf(to, "{\"kind\": \"metadata\", \"pid\": %" PRIu32 ", \"cmd\": [", e->pid);
	(void)feature_command_words(c, put_word, &words);
	fputs("], \"executable\": ", to);
	put_text(words.first, to);
	free(words.first);
	fprintf(to,
		", \"t0_ms\": %" PRIu64 ", \"capabilities\": {\"psi\": {\"system\": %s, "
		"\"per_process\": false}, \"perf_hw\": {\"available\": %s}}}\n",
		e->start_ms, e->has_pressure ? "true" : "false",
		e->has_counters ? "true" : "false");
}

void denet_env_write(const struct capture *c, const struct denet_env *e, FILE *to)
{
	put_env(c, e, to);
	put_metadata(c, e, to);
}
