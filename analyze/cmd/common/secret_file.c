/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/common/secret_file.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "analyze/base/read_file.h"
#include "analyze/out/message.h"

#define SECRET_BYTES 4096

void secret_keep_in_memory(void)
{
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int secret_file_read(const char *path, char **out)
{
	struct stat st;
	int err;

	secret_keep_in_memory();
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
