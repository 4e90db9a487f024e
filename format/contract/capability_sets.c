/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/contract/capability_sets.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[CAP_CHOWN] = "CAP_CHOWN",
	[CAP_DAC_OVERRIDE] = "CAP_DAC_OVERRIDE",
	[CAP_DAC_READ_SEARCH] = "CAP_DAC_READ_SEARCH",
	[CAP_FOWNER] = "CAP_FOWNER",
	[CAP_KILL] = "CAP_KILL",
	[CAP_SYS_PTRACE] = "CAP_SYS_PTRACE",
	[CAP_SYS_ADMIN] = "CAP_SYS_ADMIN",
	[CAP_SYSLOG] = "CAP_SYSLOG",
	[CAP_PERFMON] = "CAP_PERFMON",
	[CAP_BPF] = "CAP_BPF",
	[CAP_CHECKPOINT_RESTORE] = "CAP_CHECKPOINT_RESTORE",
};

uint64_t caps_missing(uint64_t have, uint64_t need)
{
	if (have & RIGHT(CAP_SYS_ADMIN))
		have |= CAPS_BPF | RIGHT(CAP_CHECKPOINT_RESTORE) | RIGHT(CAP_SYSLOG);
	return need & ~have;
}

const char *caps_name(unsigned cap, char *out, size_t out_bytes)
{
	if (cap < sizeof(names) / sizeof(names[0]) && names[cap])
		return names[cap];
	snprintf(out, out_bytes, "capability %u", cap);
	return out;
}

void caps_list(uint64_t rights, char *out, size_t out_bytes)
{
	size_t used = (size_t)snprintf(out, out_bytes, "%s", rights ? "" : "none");
	char room[32];
	unsigned cap;

	for (cap = 0; cap < 64; cap++) {
		if (rights & RIGHT(cap) && used < out_bytes)
			used += (size_t)snprintf(out + used, out_bytes - used, "%s%s",
						 used ? ", " : "",
						 caps_name(cap, room, sizeof(room)));
	}
}

static uint32_t load(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

int file_rights_parse(const uint8_t *attr, size_t bytes, struct file_rights *out)
{
	uint32_t magic = bytes >= 4 ? load(attr) : 0, version = magic & VFS_CAP_REVISION_MASK;

	*out = (struct file_rights){ 0 };
	if (!bytes)
		return 0;
	if (!(version == VFS_CAP_REVISION_1 && bytes == XATTR_CAPS_SZ_1) &&
	    !(version == VFS_CAP_REVISION_2 && bytes == XATTR_CAPS_SZ_2) &&
	    !(version == VFS_CAP_REVISION_3 && bytes == XATTR_CAPS_SZ_3))
		return -EBADMSG;
	if (version == VFS_CAP_REVISION_3 && load(attr + XATTR_CAPS_SZ_2))
		return 0;
	out->is_effective = magic & VFS_CAP_FLAGS_EFFECTIVE;
	out->permitted = load(attr + 4);
	if (version != VFS_CAP_REVISION_1)
		out->permitted |= (uint64_t)load(attr + 12) << 32;
	return 0;
}
