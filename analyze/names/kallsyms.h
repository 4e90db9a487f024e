/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kallsyms - the names of the kernel that was recorded
 *
 * A capture of ours carries them.  For perf's files this machine's /proc/kallsyms will do, but only
 * if it is the same kernel in the same place: equal build-ids (or, in a file without the kernel's,
 * equal host and release), and the symbol that the kernel's map is named after at its recorded
 * address, which differs after each boot where KASLR is on.
 */
#ifndef EBPREC_ANALYZE_NAMES_KALLSYMS_H
#define EBPREC_ANALYZE_NAMES_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/count_samples.h"
#include "format/base/buildid.h"
#include "format/reader/capture.h"

/*
 * The text; *out is owned (free()).  -ENOENT: not in the capture, and this is not the machine or not
 * the boot; -EACCES and other errno: it is, but its names cannot be read; -ENOMEM.
 */
int kallsyms_of_capture(const struct capture *c, const struct load_scan *scan, char **out,
			size_t *size_bytes);

/* The address of a symbol in the text of /proc/kallsyms; 0: not there, or hidden. */
uint64_t kallsyms_address(const char *text, const char *symbol);
/* The kernel's id in a BUILD_ID section; its size is 0 when there is none. */
struct buildid kallsyms_kernel_id(struct capture_bytes section);

#endif
