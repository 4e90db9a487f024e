/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* process_user - the user of a process, which can make its files hang */
#ifndef EBPREC_RECORD_PROCESS_PROC_PROCESS_USER_H
#define EBPREC_RECORD_PROCESS_PROC_PROCESS_USER_H

#include <stdint.h>

#define PROCESS_USER_NONE UINT32_MAX /* of a process that is gone */

/* The real user id.  Not the owner of /proc/PID, which is root for processes that may not be dumped. */
uint32_t process_user(uint32_t pid);

/* Pure.  The number behind "Uid:" in the text of a /proc/PID/status. */
uint32_t process_user_in(const char *status);

#endif
