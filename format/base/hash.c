/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/base/hash.h"

#include <errno.h>
#include <sys/random.h>

int hash_key_new(struct hash_key *out)
{
	struct hash_key key;
	ssize_t got;

	do
		got = getrandom(&key, sizeof(key), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(key)) /* reads of up to 256 bytes are never partial */
		return got < 0 ? -errno : -EIO;
	*out = key;
	return 0;
}
