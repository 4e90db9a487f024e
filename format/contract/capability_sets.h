/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * capability_sets - the capabilities that a recording takes, their names, and those of a file
 *
 * A set has a bit for each capability of linux/capability.h, as in /proc/PID/status.  CAP_SYS_ADMIN counts as the newer
 * ones that were cut out of it, as it does for the kernel.
 */
#ifndef EBPREC_FORMAT_CONTRACT_CAPABILITY_SETS_H
#define EBPREC_FORMAT_CONTRACT_CAPABILITY_SETS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIGHT(cap) (1ULL << (cap))

/* The capabilities for loading and attaching BPF programs. */
#define CAPS_BPF (RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON))
/*
 * The capabilities for reading processes of other users, for as long as a recording lasts:
 * /proc/PID/maps and root (SYS_PTRACE), map_files (CHECKPOINT_RESTORE), files that only their
 * owners may read (DAC_READ_SEARCH).
 */
#define CAPS_READING \
	(RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_CHECKPOINT_RESTORE))
/* All of a complete recording, and setcap's words for them. */
#define CAPS_RECORDING (CAPS_BPF | CAPS_READING | RIGHT(CAP_SYSLOG))
#define CAPS_RECORDING_SETCAP                 \
	"cap_bpf,cap_perfmon,cap_sys_ptrace," \
	"cap_dac_read_search,cap_checkpoint_restore,cap_syslog=ep"

/* Those of `need` that are not in `have`. */
uint64_t caps_missing(uint64_t have, uint64_t need);
/* "CAP_BPF", or "capability 63" for one we have no name for. */
const char *caps_name(unsigned cap, char *out, size_t out_bytes);
/* "CAP_BPF, CAP_SYSLOG"; "none".  Cut where there is no room. */
void caps_list(uint64_t rights, char *out, size_t out_bytes);

/* The security.capability of a file. */
struct file_rights {
	uint64_t permitted;
	bool is_effective; /* setcap's "e" */
	bool is_nosuid;    /* its file system is mounted so that none of this counts */
};

/*
 * The bytes of security.capability (linux/capability.h: vfs_cap_data, versions 1 to 3); none: no capabilities.  Those of
 * another user namespace's root do not count here.  -EBADMSG.
 */
int file_rights_parse(const uint8_t *attr, size_t bytes, struct file_rights *out);

#endif
