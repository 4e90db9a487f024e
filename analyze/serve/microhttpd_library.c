/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/serve/microhttpd_library.h"

#include <errno.h>
#include <stddef.h>

#include "analyze/base/shared_library.h"

#define SYMBOL(member)                                                      \
	{                                                                   \
		"MHD_" #member, offsetof(struct microhttpd_library, member) \
	}

static const struct shared_symbol symbols[] = {
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

int microhttpd_library_open(struct microhttpd_library *out)
{
	return shared_library_open("libmicrohttpd.so.12", false, symbols,
				   sizeof(symbols) / sizeof(symbols[0]), out, &out->handle)
		       ? -ENOENT
		       : 0;
}
