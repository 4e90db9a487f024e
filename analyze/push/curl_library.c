/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/curl_library.h"

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

#define SYMBOL(member)                                                 \
	{                                                              \
		"curl_" #member, offsetof(struct curl_library, member) \
	}

static const struct symbol symbols[] = {
	SYMBOL(global_init),      SYMBOL(global_cleanup),      SYMBOL(easy_init),
	SYMBOL(easy_cleanup),     SYMBOL(easy_setopt),         SYMBOL(easy_getinfo),
	SYMBOL(easy_strerror),    SYMBOL(multi_init),          SYMBOL(multi_cleanup),
	SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle), SYMBOL(multi_perform),
	SYMBOL(multi_poll),       SYMBOL(multi_info_read),     SYMBOL(slist_append),
	SYMBOL(slist_free_all),
};

/* ISO C has no cast from an object pointer to a function; POSIX has dlsym(). */
static bool find_symbol(struct curl_library *l, const struct symbol *s)
{
	void *found = dlsym(l->handle, s->name);

	memcpy((char *)l + s->offset, &found, sizeof(found));
	return found;
}

int curl_library_open(struct curl_library *out)
{
	struct curl_library l = { 0 };

	/* A static program was started without a loader: another C library would come with what it loads. */
	if (!getauxval(AT_BASE))
		return -ENOENT;
	l.handle = dlopen("libcurl.so.4", RTLD_NOW);
	if (!l.handle)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (!find_symbol(&l, &symbols[i])) {
			curl_library_close(&l);
			return -ENOENT;
		}
	}
	*out = l;
	return 0;
}

void curl_library_close(struct curl_library *l)
{
	if (l->handle)
		dlclose(l->handle);
	*l = (struct curl_library){ 0 };
}
