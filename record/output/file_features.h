/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * features - the feature sections that say what was recorded where
 *
 * Builds the static sections of perf.data (HOSTNAME .. CLOCK_DATA) from host facts.  Source for the
 * layouts: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c (6.1).
 */
#ifndef EBPREC_RECORD_OUTPUT_FILE_FEATURES_H
#define EBPREC_RECORD_OUTPUT_FILE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "format/writer/writer.h"
#include "record/output/machine_info.h"
#include "format/base/outbuf.h"

#define FEATURES_MAX 24

struct features {
	struct outbuf section[FEATURES_MAX];
	unsigned bit[FEATURES_MAX];
	size_t count;
};

/* Adds an empty section for the caller to fill; at most FEATURES_MAX. */
struct outbuf *features_add(struct features *f, unsigned bit);
void features_done(struct features *f);

/* HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CPU_TOPOLOGY. */
void features_host(struct features *f, const struct hostinfo *h);
/* CMDLINE. */
void features_cmdline(struct features *f, int argc, char *const *argv);
/* CLOCKID and CLOCK_DATA: one moment on CLOCK_MONOTONIC and on the wall clock. */
void features_clock(struct features *f, uint64_t mono_ns, uint64_t wall_ns);

/* Fills out[FEATURES_MAX] for the writer; borrowed from *f.  -ENOMEM when a section ran out. */
int features_for_writer(const struct features *f, struct writer_feature *out, size_t *count);

#endif
