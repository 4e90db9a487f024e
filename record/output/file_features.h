/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_features - the feature sections of perf.data's header: the machine and the command line
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

#define FILE_FEATURES_MAX 24

struct file_features {
	struct outbuf section[FILE_FEATURES_MAX];
	unsigned bit[FILE_FEATURES_MAX];
	size_t count;
};

/* Adds an empty section for the caller to fill; at most FILE_FEATURES_MAX. */
struct outbuf *file_features_add(struct file_features *f, unsigned bit);
void file_features_done(struct file_features *f);

/* HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CPU_TOPOLOGY. */
void file_features_host(struct file_features *f, const struct machine_info *h);
/* CMDLINE. */
void file_features_cmdline(struct file_features *f, int argc, char *const *argv);
/* CLOCKID and CLOCK_DATA: one moment on CLOCK_MONOTONIC and on the wall clock. */
void file_features_clock(struct file_features *f, uint64_t mono_ns, uint64_t wall_ns);

/* Fills out[FILE_FEATURES_MAX] for the writer; borrowed from *f.  -ENOMEM when a section ran out. */
int file_features_for_writer(const struct file_features *f, struct writer_feature *out,
			     size_t *count);

#endif
