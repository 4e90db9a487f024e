/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_notes.h"

#include <string.h>

#include "record/privsep/elf/stap_notes.h"

/* The arguments as format/include/ebprec-mark.h has them; other probes named ebprec:mark differ. */
static const char *const mark_args = UNWIND_HERE == UNWIND_AARCH64
					     ? "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5"
					     : "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9";

struct found {
	struct elf_notes_site *out;
	size_t count;
};

static bool take(void *arg, const struct stap_note *n)
{
	struct found *f = arg;

	if (n->semaphore_bytes && !strcmp(n->provider, "ebprec") && !strcmp(n->name, "mark") &&
	    !strcmp(n->args, mark_args))
		f->out[f->count++] = (struct elf_notes_site){ n->nop_bytes, n->semaphore_bytes };
	return f->count < ELF_NOTES_SITES_MAX;
}

size_t elf_notes_sites(const struct source *file, struct elf_notes_site out[ELF_NOTES_SITES_MAX])
{
	struct found f = { .out = out };
	struct elf_parts parts;

	if (elf_parts_read(file, &parts))
		return 0;
	stap_notes_each(&parts, take, &f);
	elf_parts_done(&parts);
	return f.count;
}
