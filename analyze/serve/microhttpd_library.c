/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/serve/microhttpd_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

struct symbol {
	const char *name;
	size_t offset; /* of its pointer */
};

#define SYMBOL(member)                                                      \
	{                                                                   \
		"MHD_" #member, offsetof(struct microhttpd_library, member) \
	}

static const struct symbol symbols[] = {
	SYMBOL(start_daemon),
	SYMBOL(stop_daemon),
	SYMBOL(run),
	SYMBOL(get_timeout),
	SYMBOL(get_daemon_info),
	SYMBOL(lookup_connection_value),
	SYMBOL(get_connection_info),
	SYMBOL(create_response_from_buffer),
	SYMBOL(add_response_header),
	SYMBOL(queue_response),
	SYMBOL(destroy_response),
};

/* ISO C has no cast from an object pointer to a function; POSIX has dlsym(). */
static bool find_symbol(struct microhttpd_library *l, const struct symbol *s)
{
	void *found = dlsym(l->handle, s->name);

	memcpy((char *)l + s->offset, &found, sizeof(found));
	return found;
}

int microhttpd_library_open(struct microhttpd_library *out)
{
	struct microhttpd_library l = { 0 };

	/* A static program was started without a loader: another C library would come with what it loads. */
	if (!getauxval(AT_BASE))
		return -ENOENT;
	l.handle = dlopen("libmicrohttpd.so.12", RTLD_NOW);
	if (!l.handle)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!find_symbol(&l, &symbols[i]))
			return -ENOENT;
	*out = l;
	return 0;
}
