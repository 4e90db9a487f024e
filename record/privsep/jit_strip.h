/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jitstrip - a jitdump without the code it describes: enough for names, a hundredth of the bytes */
#ifndef EBPREC_RECORD_PRIVSEP_JIT_STRIP_H
#define EBPREC_RECORD_PRIVSEP_JIT_STRIP_H

#include <stdbool.h>
#include <stddef.h>

#include "format/base/outbuf.h"

/*
 * Appends the header and the loads and moves of the jitdump in fd, at most limit_bytes.  Another
 * file gives nothing.  False: the limit came before the end.
 */
bool jitstrip(int fd, struct outbuf *out, size_t limit_bytes);

#endif
