/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

/* ISO C has no cast from an object pointer to a function; POSIX has dlsym(). */
static bool find_symbol(void *handle, const struct shared_symbol *s, void *pointers)
{
	void *found = dlsym(handle, s->name);

	memcpy((char *)pointers + s->offset, &found, sizeof(found));
	return found;
}

int shared_library_open(const char *file, bool is_global, const struct shared_symbol *symbols,
			size_t count, void *pointers, void **handle)
{
	*handle = NULL;
	/* A static program was started without a loader: another C library would come with what it loads. */
	if (!getauxval(AT_BASE))
		return -ENOTSUP;
	*handle = dlopen(file, RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!*handle)
		return -ENOENT;
	for (size_t i = 0; i < count; i++) {
		if (find_symbol(*handle, &symbols[i], pointers))
			continue;
		dlclose(*handle);
		*handle = NULL;
		return -ENOENT;
	}
	return 0;
}
