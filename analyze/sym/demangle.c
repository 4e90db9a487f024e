/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* demangle - the name a programmer wrote */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/sym/demangle.h"

#define NAME_MAX_BYTES 1024

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
	if (!may_be_mangled(name) || strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES)
		return NULL;
	if (name[1] == 'D')
		return dlang_demangle(name, DMGL_NO_OPTS);
	return cplus_demangle(name, DMGL_NO_OPTS);
}
