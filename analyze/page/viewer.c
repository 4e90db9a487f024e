/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The viewer's bytes, as scripts/join-web.sh made them; the build's -Wa,-I says where these are.  A file in assembler
 * would have no note of -fcf-protection, and the linker would take it from the whole program.
 */
#include "analyze/page/viewer.h"

__asm__("	.pushsection .rodata\n"
	"page_viewer_head_begin:\n"
	"	.incbin \"head.html\"\n"
	"page_viewer_head_end:\n"
	"page_viewer_tail_begin:\n"
	"	.incbin \"tail.html\"\n"
	"page_viewer_tail_end:\n"
	"	.popsection\n");

extern const char page_viewer_head_begin[], page_viewer_head_end[];
extern const char page_viewer_tail_begin[], page_viewer_tail_end[];

struct page_viewer_part page_viewer_head(void)
{
	return (struct page_viewer_part){ page_viewer_head_begin,
					  (size_t)(page_viewer_head_end - page_viewer_head_begin) };
}

struct page_viewer_part page_viewer_tail(void)
{
	return (struct page_viewer_part){ page_viewer_tail_begin,
					  (size_t)(page_viewer_tail_end - page_viewer_tail_begin) };
}
