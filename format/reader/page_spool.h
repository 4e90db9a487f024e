/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * page_spool - the capture that a page of `ebprec report --html --with-capture` carries (docs/PAGE.md)
 *
 * It is a block of base64 of which the page has the length and the checksum: a page that was truncated or changed there
 * gives no capture, whatever its other parts are.
 */
#ifndef EBPREC_FORMAT_READER_PAGE_SPOOL_H
#define EBPREC_FORMAT_READER_PAGE_SPOOL_H

#include <stdbool.h>

#include "format/base/err.h"
#include "format/base/outbuf.h"
#include "format/reader/source.h"

/* Appends the block of a capture of so many bytes; false: it ends before.  The buffer may be bad. */
bool page_spool_add(struct outbuf *out, const struct source *capture);

/* Do these bytes begin as a page does? */
bool page_spool_is(const struct source *s);
/*
 * Writes the capture into fd, which is empty; *size_bytes how long it is, less than s has.  -EBADMSG: the page has none, or it is
 * not complete or was changed; -ENOMEM; the errno of a write.
 */
int page_spool_take(const struct source *s, int fd, uint64_t *size_bytes, struct parse_err *err);

#endif
