/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* wait_stacks - the nodes of the stacks that waits ended in, and of the threads that ended them */
#ifndef EBPREC_ANALYZE_PAGE_WAIT_STACKS_H
#define EBPREC_ANALYZE_PAGE_WAIT_STACKS_H

#include "analyze/page/stacks.h"
#include "analyze/page/table/texts.h"
#include "analyze/page/waits.h"

/*
 * Finds the nodes of w's stacks, whose numbers are there by now, and the names of its threads: texts has the renames of
 * its capture.  -ENOMEM, -EOVERFLOW.
 */
int page_wait_stacks_make(struct page_waits *w, const struct page_stacks *stacks,
			  struct page_texts *texts);

#endif
