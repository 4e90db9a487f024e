/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/denet_env.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/perf_features.h"
#include "analyze/input/capture_meta.h"
#include "format/perf/perffile.h"

static void put_text(struct json_writer *j, const char *key, const char *text)
{
	json_writer_string(j, key, text ? text : "");
}

/* A member that is a text of the recorder's, or null. */
static void put_word_of(struct json_writer *j, const char *name, struct capture_meta_value meta,
			const char *key)
{
	char *text = capture_meta_string(capture_meta_member(meta, key));

	if (text && *text)
		put_text(j, name, text);
	else
		json_writer_null(j, name);
	free(text);
}

static void put_numbers(struct json_writer *j, const char *key, struct capture_meta_value array,
			uint64_t divide_by)
{
	struct capture_meta_value at = capture_meta_first(array);
	uint64_t n;

	json_writer_begin_array(j, key);
	for (; capture_meta_number(at, NULL, &n); at = capture_meta_next(array, at))
		json_writer_u64(j, NULL, n / divide_by);
	json_writer_end_array(j);
}

/* "0,1,2" */
static void put_list(struct json_writer *j, const char *key, struct capture_meta_value array)
{
	struct capture_meta_value at = capture_meta_first(array);
	struct outbuf list = { 0 };
	uint64_t n;

	for (; capture_meta_number(at, NULL, &n); at = capture_meta_next(array, at))
		outbuf_printf(&list, "%s%" PRIu64, list.size_bytes ? "," : "", n);
	json_writer_text(j, key, (const char *)list.data, list.size_bytes);
	outbuf_done(&list);
}

/* "10 21" as [10, 21] */
static void put_distances(struct json_writer *j, const char *text)
{
	size_t digits;

	json_writer_begin_array(j, NULL);
	for (text += strspn(text, " "); (digits = strspn(text, "0123456789"));
	     text += strspn(text, " ")) {
		json_writer_u64(j, NULL, strtoull(text, NULL, 10));
		text += digits;
	}
	json_writer_end_array(j);
}

static void put_numa(struct json_writer *j, struct capture_meta_value meta)
{
	struct capture_meta_value distances = capture_meta_member(meta, "node_distances"), at;
	size_t nodes = 0;
	char *text;

	json_writer_begin(j, "numa");
	json_writer_begin_array(j, "distances");
	for (at = capture_meta_first(distances); (text = capture_meta_string(at));
	     at = capture_meta_next(distances, at)) {
		put_distances(j, text);
		free(text);
		nodes++;
	}
	json_writer_end_array(j);
	json_writer_u64(j, "nodes", nodes);
	put_numbers(j, "node_sizes_mb", capture_meta_member(meta, "node_bytes"), 1 << 20);
	json_writer_end(j);
}

/*
 * Writes the frequency of each CPU with frequency scaling, in the order of cpufreq_cpus; null:
 * there is none.
 */
static void put_frequencies(struct json_writer *j, struct capture_meta_value meta)
{
	struct capture_meta_value governors = capture_meta_member(meta, "governors"), at;
	char *text;

	if (!capture_meta_first(governors).text) {
		json_writer_null(j, "cpufreq_cpus");
		json_writer_null(j, "cpu_governor");
		json_writer_null(j, "cpu_freq_khz");
		return;
	}
	put_list(j, "cpufreq_cpus", capture_meta_member(meta, "freq_cpus"));
	put_numbers(j, "cpu_freq_khz", capture_meta_member(meta, "freqs_khz"), 1);
	json_writer_begin_array(j, "cpu_governor");
	for (at = capture_meta_first(governors); (text = capture_meta_string(at));
	     at = capture_meta_next(governors, at)) {
		put_text(j, NULL, text);
		free(text);
	}
	json_writer_end_array(j);
}

/* Facts that denet reads on the machine of a program, here from the recorder. */
static void put_machine(struct json_writer *j, const struct capture *c)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	char *affinity = capture_meta_string(capture_meta_member(meta, "affinity"));

	put_numa(j, meta);
	put_text(j, "affinity_inherited", affinity);
	put_frequencies(j, meta);
	put_word_of(j, "thp_enabled", meta, "thp");
	if (capture_meta_is(meta, "smt_active", "\"1\"") ||
	    capture_meta_is(meta, "smt_active", "\"0\""))
		json_writer_bool(j, "smt_active", capture_meta_is(meta, "smt_active", "\"1\""));
	else
		json_writer_null(j, "smt_active");
	put_word_of(j, "cgroup", meta, "cgroup");
	free(affinity);
	capture_meta_free(meta);
}

static void put_env(struct json_writer *j, const struct capture *c, const struct denet_env *e)
{
	uint32_t packages = 0, cores = 0, cpus = 0, online;

	(void)feature_topology(c, &packages, &cores);
	(void)feature_cpus(c, &cpus, &online);
	json_writer_begin(j, NULL);
	json_writer_string(j, "kind", "env");
	json_writer_u64(j, "ts_ms", e->start_ms);
	put_text(j, "host", capture_feature_string(c, PERFFILE_HOSTNAME));
	put_text(j, "kernel", capture_feature_string(c, PERFFILE_OSRELEASE));
	json_writer_begin(j, "lscpu");
	json_writer_u64(j, "sockets", packages);
	json_writer_u64(j, "cores_per_socket", packages ? cores / packages : 0);
	json_writer_u64(j, "threads_per_core", cores ? cpus / cores : 0);
	put_text(j, "model", capture_feature_string(c, PERFFILE_CPUDESC));
	json_writer_end(j);
	put_machine(j, c);
	json_writer_end(j);
}

struct words {
	struct json_writer *j;
	char *first; /* owned */
};

static void put_word(void *ctx, const char *word, size_t bytes)
{
	struct words *w = ctx;

	if (!w->first)
		w->first = strndup(word, bytes);
	json_writer_text(w->j, NULL, word, bytes);
}

static void put_metadata(struct json_writer *j, const struct capture *c, const struct denet_env *e)
{
	struct words words = { .j = j };

	json_writer_begin(j, NULL);
	json_writer_string(j, "kind", "metadata");
	json_writer_u64(j, "pid", e->pid);
	json_writer_begin_array(j, "cmd");
	(void)feature_command_words(c, put_word, &words);
	json_writer_end_array(j);
	put_text(j, "executable", words.first);
	free(words.first);
	json_writer_u64(j, "t0_ms", e->start_ms);
	json_writer_begin(j, "capabilities");
	json_writer_begin(j, "psi");
	json_writer_bool(j, "system", e->has_pressure);
	json_writer_bool(j, "per_process", false);
	json_writer_end(j);
	json_writer_begin(j, "perf_hw");
	json_writer_bool(j, "available", e->has_counters);
	json_writer_end(j);
	json_writer_end(j);
	json_writer_end(j);
}

void denet_env_write(const struct capture *c, const struct denet_env *e, struct json_writer *j)
{
	put_env(j, c, e);
	put_metadata(j, c, e);
}
