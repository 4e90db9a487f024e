/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * name_context - a resolver with all that a capture has for it
 *
 * Reads the names in a capture (bundles, the kernel's, the vdso, the identity of its files), and
 * holds them as long as the resolver needs them.  The kernel's names, which are many, are read when
 * the first one is needed.
 */
#ifndef EBPREC_ANALYZE_NAMES_NAME_CONTEXT_H
#define EBPREC_ANALYZE_NAMES_NAME_CONTEXT_H

#include <stdbool.h>

#include "analyze/names/bundle_sources.h"
#include "analyze/fold/location/symbol_buckets.h"
#include "analyze/names/mount_hints.h"
#include "analyze/fold/count_samples.h"
#include "analyze/process/process_model.h"
#include "analyze/sym/resolve.h"
#include "format/reader/capture.h"

/* Embedded by the owner; all zero is an empty one. */
struct name_context {
	const struct capture *capture; /* this and the next two are borrowed */
	const struct load_scan *scan;
	const struct process_model *model;
	struct resolver *resolver;
	struct symbol_buckets_set
		*parts; /* NULL: name_context_fold() was not called, or has ended */
	struct mount_hints *hints;
	struct bundle_sources bundles;
	char *vdso;
	bool asked_kernel;
	int kernel_err; /* why the kernel has no names: kallsyms_of_capture() */
};

/*
 * roots: what it points to is borrowed.  -ENOMEM.  *n: name_context_done(), also after a failure.
 * thread_count: see resolver_opts.
 */
int name_context_open(struct name_context *n, const struct capture *c, const struct load_scan *scan,
		      const struct process_model *model, const struct name_roots *roots,
		      bool demangle, unsigned thread_count);
/*
 * Goes on with a later state of the capture that n was opened with: what of it has been read stays.  c, scan and model
 * take the place of those that it was opened with.  -ENOMEM.
 */
int name_context_renew(struct name_context *n, const struct capture *c,
		       const struct load_scan *scan, const struct process_model *model);
/* Forgets the symbols of files that the last so many reports had no samples in. */
void name_context_trim(struct name_context *n, unsigned reports);
void name_context_done(struct name_context *n);

/* Before the resolver is asked for a kernel address.  -ENOMEM; no names are no error. */
int name_context_ask_kernel(struct name_context *n);

/*
 * Makes n->parts, for counting; no other thread may use the resolver until name_context_fold_end(),
 * which gives them back.  -ENOMEM.
 */
int name_context_fold(struct name_context *n);
void name_context_fold_end(struct name_context *n);

#endif
