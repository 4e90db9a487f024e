/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/probe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/unwind/arch.h"
#include "record/privsep/elf/elf_symbol.h"

/* A device may do anything when it is opened, and a FIFO waits. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* In one of the folders, which colons are between. */
static int open_in(const char *folders, const char *name)
{
	char path[PATH_MAX];
	const char *end;
	int fd = -ENOENT;

	for (; fd < 0 && folders && *folders; folders = *end ? end + 1 : end) {
		end = strchrnul(folders, ':');
		if (end > folders && snprintf(path, sizeof(path), "%.*s/%s", (int)(end - folders),
					      folders, name) < (int)sizeof(path))
			fd = open_regular(path);
	}
	return fd;
}

int probe_file_open(const char *name)
{
	bool is_library = strstr(name, ".so");
	int fd;

	if (strchr(name, '/'))
		return open_regular(name);
	fd = open_in(getenv(is_library ? "LD_LIBRARY_PATH" : "PATH"), name);
	if (fd < 0)
		fd = open_in(is_library ? "/lib/" UNWIND_HERE_LIBS ":/usr/lib/" UNWIND_HERE_LIBS ":"
					  "/usr/lib64:/lib64:/usr/lib:/lib"
					: "/usr/bin:/usr/sbin:/bin:/sbin",
			     name);
	return fd < 0 ? open_regular(name) : fd; /* in the folder where we are */
}

/* As a source that lives as long as the descriptor. */
static int source_of(int fd, struct source *out)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*out = (struct source){ .fd = fd, .size_bytes = (uint64_t)st.st_size };
	return 0;
}

int probe_file_function(int fd, struct elf_reader *reader, const char *function, uint64_t *out)
{
	struct source file;
	int err;

	if (reader)
		return elf_reader_symbol(reader, fd, function, out);
	err = source_of(fd, &file);
	return err ? err : elf_symbol_offset(&file, function, out);
}

int probe_file_usdt(int fd, struct elf_reader *reader, const char *provider, const char *name,
		    struct elf_usdt_probe *out)
{
	struct source file;
	int err;

	if (reader)
		return elf_reader_probe(reader, fd, provider, name, out);
	err = source_of(fd, &file);
	return err ? err : elf_usdt_find(&file, provider, name, out);
}

const char *probe_file_hint(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "it is no ELF file of " UNWIND_HERE_NAME;
	case -ENOENT:
		return "no such file, or it has no such function";
	case -ENOTUNIQ:
		return "it has several functions of that name";
	case -EBADMSG:
	case -EFBIG:
		return "its table of symbols is broken";
	case -EOVERFLOW:
		return "it is in more places than can be listened to";
	case -EINVAL:
		return "no regular file";
	case -ECHILD:
		return "the process that reads ELF files died over it";
	default:
		return NULL;
	}
}
