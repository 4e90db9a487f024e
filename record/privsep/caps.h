/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * caps - what this process may do, which right is missing, and giving up those no longer needed
 *
 * Rights are capabilities of the calling thread.
 */
#ifndef EBPREC_RECORD_PRIVSEP_CAPS_H
#define EBPREC_RECORD_PRIVSEP_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/contract/capability_sets.h"

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

/* The effective capabilities of this thread, a bit each; 0 when they cannot be read. */
uint64_t caps_effective(void);

/* The hint for EPERM or EACCES of bpf(); a static text. */
const char *caps_hint_bpf(void);

/* The kernel refuses to show its memory to BPF (lockdown=confidentiality). */
bool caps_locked_down(void);
/* The mode between brackets in the text of /sys/kernel/security/lockdown is `mode`. */
bool caps_lockdown_is(const char *text, const char *mode);

/*
 * Gives up everything but `keep`, for good, of this thread: effective, permitted, inheritable,
 * ambient and bounding set (but for those of this program's file); programs that it executes get no more either.  Negative errno.
 */
int caps_drop(uint64_t keep);
/*
 * For a child that will execute another program, which then has of `keep` what exec would give it without this: as root
 * what is permitted here, else what is ambient, and nothing else.  Gives up all but `keep`, for good: effective, permitted,
 * inheritable, ambient and (with CAP_SETPCAP) bounding set, and no_new_privs.  Negative errno: nothing is to be executed.
 */
int caps_drop_for_exec(uint64_t keep);
/*
 * For a child that will execute the user's command: gives up the capabilities from the recorder's
 * own file, as exec would, before the path is resolved.  Root keeps its capabilities.
 */
int caps_of_user(void);

#endif
