/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/lib/sized.h"

#include <errno.h>
#include <string.h>

static size_t size_of(const void *structure)
{
	size_t size;

	memcpy(&size, structure, sizeof(size));
	return size;
}

int sized_take(void *own, size_t own_bytes, size_t least_bytes, const void *given)
{
	const unsigned char *bytes = given;
	size_t size = given ? size_of(given) : 0;

	memset(own, 0, own_bytes);
	if (!given)
		return 0;
	if (size < least_bytes)
		return -EINVAL;
	for (size_t i = own_bytes; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(own, given, size < own_bytes ? size : own_bytes);
	return 0;
}

int sized_give(void *to, const void *own, size_t own_bytes, size_t least_bytes)
{
	size_t size = size_of(to), known = size < own_bytes ? size : own_bytes;

	if (size < least_bytes)
		return -EINVAL;
	memset(to, 0, size);
	memcpy(to, own, known);
	memcpy(to, &size, sizeof(size));
	return 0;
}
