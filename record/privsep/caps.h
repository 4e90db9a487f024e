/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * caps - what this process may do, which right is missing, and giving up those no longer needed
 *
 * Rights are capabilities of the calling thread.  CAP_SYS_ADMIN counts as the newer ones that were
 * cut out of it, as it does for the kernel.
 */
#ifndef EBPREC_RECORD_PRIVSEP_CAPS_H
#define EBPREC_RECORD_PRIVSEP_CAPS_H

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
/* Files in folders that are not ours, and giving them to the user behind sudo. */
#define CAPS_WRITING (RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_CHOWN) | RIGHT(CAP_FOWNER))

/* The tasks that remain while events are recorded. */
struct caps_use {
	bool bpf;      /* maps are made, as tables come */
	bool command;  /* that may have become another user, and is to be ended */
	bool writing;  /* more files will be made */
	bool realtime; /* as a real-time thread, where no limit allows it */
};

/* The capabilities that this takes. */
uint64_t caps_needed(const struct caps_use *use);
/* "CAP_BPF, CAP_SYSLOG"; "none".  Cut where there is no room. */
void caps_list(uint64_t rights, char *out, size_t out_bytes);

/* The effective capabilities of this thread, a bit each; 0 when they cannot be read. */
uint64_t caps_effective(void);
/* Those of `need` that are not in `have`. */
uint64_t caps_missing(uint64_t have, uint64_t need);
/* "CAP_BPF", or "capability 63" for one we have no name for. */
const char *caps_name(unsigned cap, char *out, size_t out_bytes);

/* The hint for EPERM or EACCES of bpf(); a static text. */
const char *caps_hint_bpf(void);

/* The kernel refuses to show its memory to BPF (lockdown=confidentiality). */
bool caps_locked_down(void);
/* The mode between brackets in the text of /sys/kernel/security/lockdown is `mode`. */
bool caps_lockdown_is(const char *text, const char *mode);

/*
 * Gives up everything but `keep`, for good, of this thread: effective, permitted, inheritable,
 * ambient and bounding set; programs that it executes get no more either.  Negative errno.
 */
int caps_drop(uint64_t keep);
/*
 * For a child that will execute the user's command: gives up the capabilities from the recorder's
 * own file, as exec would, before the path is resolved.  Root keeps its capabilities.
 */
int caps_of_user(void);

#endif
