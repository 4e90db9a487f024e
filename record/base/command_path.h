/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* command_path - the file that a command's first word names, as execvp() finds it */
#ifndef EBPREC_RECORD_BASE_COMMAND_PATH_H
#define EBPREC_RECORD_BASE_COMMAND_PATH_H

#include <limits.h>

/* 0, or the negative errno with which an exec of the name fails, as far as the path shows it. */
int command_path_find(const char *name, char path[PATH_MAX]);

#endif
