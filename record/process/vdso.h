/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vdso - the code the kernel maps into every process, which is in no file
 *
 * The recorder's own copy is every 64-bit process's copy.  32-bit processes have another one: its
 * size distinguishes it, and it is left unnamed.
 */
#ifndef EBPREC_RECORD_PROCESS_VDSO_H
#define EBPREC_RECORD_PROCESS_VDSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"

struct vdso {
	const uint8_t *image; /* our own mapping: lives as long as the process; NULL: none */
	size_t size_bytes;
	struct buildid build_id;
};

/* Leaves *out all zero when this process has no vdso. */
void vdso_find(struct vdso *out);
/* Whether a mapping is a copy of it. */
bool vdso_is(const struct vdso *v, const char *path, uint64_t size_bytes);

#endif
