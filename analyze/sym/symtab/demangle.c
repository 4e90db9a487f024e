/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* demangle - the name a programmer wrote */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/demangle.h"

#define MANGLED_MAX_BYTES   65536
#define DEMANGLED_MAX_BYTES 65536
/* D's demangler cannot be stopped, but without many references back it does not grow. */
#define D_MAX_BYTES      1024
#define D_MAX_REFERENCES 10

/* The output of libiberty so far. */
struct words {
	char *text;
	size_t size_bytes, room_bytes;
	jmp_buf too_much;
};

/*
 * The one way to stop libiberty is not to return to it.  Its callback functions keep everything on
 * the stack (they are made for signal handlers), but for one small buffer while a Rust name with
 * letters beyond ASCII is printed, which may be lost here.
 */
static void collect(const char *part, size_t part_bytes, void *opaque)
{
	struct words *w = opaque;
	size_t need_bytes = w->size_bytes + part_bytes + 1;

	if (part_bytes > DEMANGLED_MAX_BYTES || need_bytes > DEMANGLED_MAX_BYTES)
		longjmp(w->too_much, 1);
	if (need_bytes > w->room_bytes) {
		size_t room_bytes = 2 * need_bytes + 64;
		char *text = realloc(w->text, room_bytes);

		if (!text)
			longjmp(w->too_much, 1);
		w->text = text;
		w->room_bytes = room_bytes;
	}
	if (part_bytes) /* an empty part may be NULL */
		memcpy(w->text + w->size_bytes, part, part_bytes);
	w->size_bytes += part_bytes;
	w->text[w->size_bytes] = '\0';
}

/* Rust first: its legacy names look like C++. */
static bool demangle_into(const char *name, struct words *w)
{
	if (setjmp(w->too_much))
		return false;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, collect, w))
		return true;
	w->size_bytes = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, collect, w);
}

static char *demangle_d(const char *name)
{
	size_t references = 0;
	const char *p;

	for (p = name; *p; p++)
		references += *p == 'Q';
	if (p - name > D_MAX_BYTES || references > D_MAX_REFERENCES)
		return NULL;
	return dlang_demangle(name, DMGL_NO_OPTS);
}

/*
 * Saves the demanglers a look at the names of C, which are most.  "_GLOBAL_" are the constructors
 * of files; what is left out are dialects of compilers that do not write ELF.
 */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' ||
				  !strncmp(name + 1, "GLOBAL_", 7));
}

char *demangle(const char *name)
{
	struct words w = { .text = NULL };

	if (!may_be_mangled(name) || strnlen(name, MANGLED_MAX_BYTES + 1) > MANGLED_MAX_BYTES)
		return NULL;
	if (name[1] == 'D')
		return demangle_d(name);
	if (demangle_into(name, &w) && w.size_bytes)
		return w.text;
	free(w.text);
	return NULL;
}
