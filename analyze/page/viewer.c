/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The viewer's bytes, as scripts/join-web.sh made them; the build's -Wa,-I has where these are.  A file in assembler
 * would have no note of -fcf-protection, and the linker would take it from the entire program.
 */
#include "analyze/page/viewer.h"

#include <stdint.h>

/* clang-format off */
#define PART(name, file)                                        \
	"	.balign 8\n"                                   \
	"page_viewer_" name "_bytes:\n"                         \
	"	.quad 2f - 1f\n"                               \
	"page_viewer_" name "_text:\n"                          \
	"1:	.incbin \"" file "\"\n"                         \
	"2:\n"

__asm__("	.pushsection .rodata\n"
	PART("head", "head.html")
	PART("tail", "tail.html")
	"	.popsection\n");
/* clang-format on */

extern const uint64_t page_viewer_head_bytes, page_viewer_tail_bytes;
extern const char page_viewer_head_text[], page_viewer_tail_text[];

struct page_viewer_part page_viewer_head(void)
{
	return (struct page_viewer_part){ page_viewer_head_text, page_viewer_head_bytes };
}

struct page_viewer_part page_viewer_tail(void)
{
	return (struct page_viewer_part){ page_viewer_tail_text, page_viewer_tail_bytes };
}
