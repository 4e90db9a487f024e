/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* tracefs - the formats of the kernel's tracepoints, as the capture needs them verbatim */
#ifndef EBPREC_RECORD_EVENTS_TRACEPOINT_TRACEFS_H
#define EBPREC_RECORD_EVENTS_TRACEPOINT_TRACEFS_H

/*
 * Text of events/SYSTEM/NAME/format, owned; NULL: not readable.  tracefs need not be mounted when we
 * may mount.
 */
char *tracefs_format(const char *system, const char *name);
/* Text of events/header_page, owned; NULL. */
char *tracefs_header_page(void);

#endif
