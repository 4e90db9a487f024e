/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* lock_folder - one process of a command a folder */
#ifndef EBPREC_ANALYZE_CMD_COMMON_LOCK_FOLDER_H
#define EBPREC_ANALYZE_CMD_COMMON_LOCK_FOLDER_H

/* Until this process ends; prints why not.  command: its name, as "push". */
int lock_folder(const char *folder, const char *command);

#endif
