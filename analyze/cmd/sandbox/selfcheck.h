/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * selfcheck - what of an analysis works on this machine: names, servers, containers, the sandbox
 *
 * The other half of `ebprec doctor`; the recorder's is in the recorder.
 */
#ifndef EBPREC_ANALYZE_CMD_SANDBOX_SELFCHECK_H
#define EBPREC_ANALYZE_CMD_SANDBOX_SELFCHECK_H

#include <stddef.h>

#include "format/contract/finding.h"

size_t selfcheck_count(void);
/* The finding of this index. */
void selfcheck(size_t index, struct finding *out);

#endif
