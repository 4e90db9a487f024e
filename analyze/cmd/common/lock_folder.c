/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/lock_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "analyze/out/message.h"

int lock_folder(const char *folder, const char *command)
{
	char *path;
	int fd = -1, code;

	if (asprintf(&path, "%s/lock", folder) >= 0) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		free(path);
	}
	if (fd < 0)
		return message_error("cannot write to '%s': %s", folder, strerror(errno));
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	code = errno;
	close(fd);
	return code == EWOULDBLOCK
		       ? message_error("another 'ebprec %s' works in '%s'", command, folder)
		       : message_error("cannot lock '%s': %s", folder, strerror(code));
}
