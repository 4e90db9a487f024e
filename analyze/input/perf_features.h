/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* perf_features - the machine, from the feature sections of a perf.data file */
#ifndef EBPREC_ANALYZE_INPUT_PERF_FEATURES_H
#define EBPREC_ANALYZE_INPUT_PERF_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"

/* "HOSTNAME"; NULL for a bit that perf 6.1 does not know. */
const char *feature_name(unsigned bit);

/* All: -ENOENT when the section is absent, -EBADMSG when it is broken. */
int feature_cpus(const struct capture *c, uint32_t *available_count, uint32_t *online_count);
int feature_memory(const struct capture *c, uint64_t *memory_bytes);
/* The words, joined by spaces.  Owned (free()); -ENOMEM. */
int feature_command_line(const struct capture *c, char **out);
/* The same, word by word; words before a malformed one were reported. */
int feature_command_words(const struct capture *c,
			  void (*see)(void *ctx, const char *word, size_t bytes), void *ctx);
/* How many packages the CPUs are in, and how many cores there are. */
int feature_topology(const struct capture *c, uint32_t *package_count, uint32_t *core_count);
/* How many files have their build-id in the section. */
int feature_build_ids(const struct capture *c, uint32_t *count);

#endif
