/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "analyze/base/shared_library.h"

#define SYMBOL(member)                                                 \
	{                                                              \
		"curl_" #member, offsetof(struct curl_library, member) \
	}

static const struct shared_symbol symbols[] = {
	SYMBOL(global_init),      SYMBOL(global_cleanup),      SYMBOL(easy_init),
	SYMBOL(easy_cleanup),     SYMBOL(easy_setopt),         SYMBOL(easy_getinfo),
	SYMBOL(easy_strerror),    SYMBOL(multi_init),          SYMBOL(multi_cleanup),
	SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle), SYMBOL(multi_perform),
	SYMBOL(multi_poll),       SYMBOL(multi_info_read),     SYMBOL(slist_append),
	SYMBOL(slist_free_all),
};

int curl_library_open(struct curl_library *out)
{
	return shared_library_open("libcurl.so.4", false, symbols,
				   sizeof(symbols) / sizeof(symbols[0]), out, &out->handle)
		       ? -ENOENT
		       : 0;
}

void curl_library_close(struct curl_library *l)
{
	if (l->handle)
		dlclose(l->handle);
	*l = (struct curl_library){ 0 };
}
