/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/caps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "format/os/slurp.h"

static int get(struct __user_cap_header_struct *header, struct __user_cap_data_struct data[2])
{
	*header = (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
	return syscall(SYS_capget, header, data) ? -errno : 0;
}

uint64_t caps_effective(void)
{
	struct __user_cap_data_struct data[2] = { { 0 } };
	struct __user_cap_header_struct header;

	if (get(&header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

const char *caps_hint_bpf(void)
{
	uint64_t missing = caps_missing(caps_effective(), CAPS_BPF);

	if (missing == CAPS_BPF)
		return "need root, or CAP_BPF and CAP_PERFMON";
	if (missing)
		return missing == RIGHT(CAP_PERFMON) ? "CAP_PERFMON is missing"
						     : "CAP_BPF is missing";
	return "a container or a security module forbids it";
}

bool caps_lockdown_is(const char *text, const char *mode)
{
	const char *open = strchr(text, '[');
	size_t bytes = strlen(mode);

	return open && !strncmp(open + 1, mode, bytes) && open[1 + bytes] == ']';
}

bool caps_locked_down(void)
{
	char *text = slurp_line("/sys/kernel/security/lockdown");
	bool locked = text && caps_lockdown_is(text, "confidentiality");

	free(text);
	return locked;
}

uint64_t caps_needed(const struct caps_use *use)
{
	uint64_t need = CAPS_READING | RIGHT(CAP_SYSLOG); /* kallsyms may be read again */

	if (use->bpf)
		need |= RIGHT(CAP_BPF);
	if (use->command)
		need |= RIGHT(CAP_KILL);
	if (use->writing)
		need |= CAPS_WRITING;
	if (use->realtime)
		need |= RIGHT(CAP_SYS_NICE);
	return need;
}

int caps_of_user(void)
{
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[2];
	uint64_t ambient = 0;
	int err = get(&header, data), cap;

	if (err || !geteuid())
		return err;
	for (cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
			ambient |= RIGHT(cap);
	}
	data[0].effective = data[0].permitted = (uint32_t)ambient;
	data[1].effective = data[1].permitted = (uint32_t)(ambient >> 32);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Those of this program's file; none when they cannot be read. */
static uint64_t caps_of_own_file(void)
{
	uint8_t attr[XATTR_CAPS_SZ_3];
	ssize_t bytes = getxattr("/proc/self/exe", "security.capability", attr, sizeof(attr));
	struct file_rights file;

	return bytes > 0 && !file_rights_parse(attr, (size_t)bytes, &file) ? file.permitted : 0;
}

/* With CAP_SETPCAP alone.  Without, no_new_privs makes what is left in the set harmless. */
static void bound_to(uint64_t keep)
{
	for (int cap = 0; cap <= 63 && prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!(keep & RIGHT(cap)))
			(void)prctl(PR_CAPBSET_DROP, cap);
	}
}

int caps_drop(uint64_t keep)
{
	/* Helpers are the same file, which the kernel starts only with all of its capabilities in the bounding set. */
	uint64_t bounding = keep | caps_of_own_file();
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[2];
	int err = get(&header, data);
	uint64_t permitted;

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	bound_to(bounding);
	permitted = (data[0].permitted | (uint64_t)data[1].permitted << 32) & keep;
	data[0] = (struct __user_cap_data_struct){ (uint32_t)permitted, (uint32_t)permitted, 0 };
	permitted >>= 32;
	data[1] = (struct __user_cap_data_struct){ (uint32_t)permitted, (uint32_t)permitted, 0 };
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int caps_drop_for_exec(uint64_t keep)
{
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[2];
	int err = get(&header, data);

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	bound_to(keep);
	for (int i = 0; i < 2; i++, keep >>= 32) {
		data[i].permitted &= (uint32_t)keep;
		data[i].effective = data[i].permitted;
		data[i].inheritable &= (uint32_t)keep; /* and so ambient ones (cap_capset()) */
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}
