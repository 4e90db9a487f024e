/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/secret_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/base/read_file.h"
#include "analyze/out/message.h"

#define SECRET_BYTES 4096

int secret_file_read(const char *path, char **out)
{
	struct stat st;
	int err;

	if (stat(path, &st))
		return message_error("cannot read '%s': %s", path, strerror(errno));
	if (st.st_mode & 077)
		return message_error("cannot use '%s': others may read it (chmod 600)", path);
	err = read_file_text(path, SECRET_BYTES, out);
	if (err)
		return message_error("cannot read '%s': %s", path, strerror(-err));
	(*out)[strcspn(*out, "\r\n")] = '\0';
	return 0;
}
