/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* table_of_file - the unwind table of a file by its path, for tests */
#ifndef EBPREC_TESTS_TABLE_OF_FILE_H
#define EBPREC_TESTS_TABLE_OF_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "format/unwind/table/module_table.h"

/* As module_table_from_fd(), or the errno of open(). */
static inline int table_of_file(const char *path, struct rule_table *set, struct module_table **out,
				struct parse_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return -errno;
	ret = module_table_from_fd(fd, set, out, err);
	close(fd);
	return ret;
}

#endif
