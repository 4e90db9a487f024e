/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/denetenv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/feature.h"
#include "analyze/metatext.h"
#include "analyze/say.h"
#include "format/perffile.h"

static void put_text(const char *text, FILE *to)
{
	say_json(to, text ? text : "", text ? strlen(text) : 0);
}

/* The recorder's JSON has the governor of the first CPU; it is a plain word, or there is none. */
static void put_governor(const struct capture *c, FILE *to)
{
	char *meta = metatext_read(c, EBX_META_START);
	const char *word = meta ? metatext_after(meta, "governor") : NULL;
	size_t bytes = word && *word == '"' ? strspn(word + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;

	if (bytes && word[1 + bytes] == '"')
		fprintf(to, ", \"cpu_governor\": [\"%.*s\"]", (int)bytes, word + 1);
	free(meta);
}

static void put_env(const struct capture *c, const struct denetenv *e, FILE *to)
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
	fputs("}, \"numa\": {\"nodes\": 0, \"distances\": [], \"node_sizes_mb\": []}, "
	      "\"affinity_inherited\": \"\"",
	      to);
	put_governor(c, to);
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
	say_json(w->to, word, bytes);
}

static void put_metadata(const struct capture *c, const struct denetenv *e, FILE *to)
{
	struct words words = { .to = to };
	const struct filter *f = e->filter;

	fprintf(to, "{\"kind\": \"metadata\", \"pid\": %" PRIu32 ", \"cmd\": [",
		f->pid_count == 1 && !f->not_pids ? f->pids[0] : 0);
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

void denetenv_write(const struct capture *c, const struct denetenv *e, FILE *to)
{
	put_env(c, e, to);
	put_metadata(c, e, to);
}
