/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel_maps - where the kernel and its modules are
 *
 * As perf writes them: MMAP2 of pid -1, "[kernel.kallsyms]_text" first, whose file offset is the
 * address of _text (that is how perf knows the relocation), then each module by its file.
 */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_MAPS_H
#define EBPREC_RECORD_KERNEL_KERNEL_MAPS_H

#include "record/process/file/mapped_files.h"
#include "record/output/sink.h"
#include "record/kernel/kernel_symbols_index.h"

/* k NULL: the kernel's symbols could not be read, only modules are written. */
int kernel_maps_emit(struct sink *e, struct mapped_files *b, const struct kernel_symbols_index *k);

struct kernel_module { /* a line of /proc/modules */
	char name[64];
	uint64_t addr, size_bytes;
};
/* Pure.  Parses the line at *text and moves behind it.  1, 0: the end, -EBADMSG: broken line. */
int kernel_module_next(const char **text, struct kernel_module *out);
/*
 * Pure.  The file of a module according to the text of modules.dep ("kernel/fs/x.ko.xz: deps"),
 * where - and _ are the same.  Relative path in out; false: not listed, or longer than out.
 */
bool kernel_module_file(const char *modules_dep, const char *name, char *out, size_t out_bytes);

#endif
