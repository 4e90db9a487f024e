/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/outbuf.h"
#include "format/os/clock.h"
#include "format/os/slurp.h"
#include "record/privsep/path_below.h"
#include "record/process/proc/proc_stat.h"

#define MTIME_LATE_NS 20000000ULL /* a file's time is that of the kernel's last tick */

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void jit_file_done(struct jitfile *f)
{
	close_if(f->root_fd);
	close_if(f->tmp_fd);
	close_if(f->dump_fd);
	free(f->dump);
}

static int dup_of(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

struct jitfile jit_file_copy(const struct jitfile *f)
{
	struct jitfile copy = *f;

	copy.root_fd = dup_of(f->root_fd);
	copy.tmp_fd = dup_of(f->tmp_fd);
	copy.dump_fd = dup_of(f->dump_fd);
	copy.dump = f->dump ? strdup(f->dump) : NULL;
	return copy;
}

/* ---- the process ---- */

uint32_t jit_file_inner_pid(const char *status)
{
	const char *line = strstr(status, "\nNSpid:");
	unsigned long pid = 0;
	char *end;

	if (!line)
		return 0;
	for (line += strlen("\nNSpid:"); *line == '\t' || *line == ' '; line = end) {
		pid = strtoul(line, &end, 10);
		if (end == line)
			break;
	}
	return pid > INT32_MAX ? 0 : (uint32_t)pid;
}

static bool is_apart(uint32_t pid)
{
	struct stat ours, its;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	return !stat(path, &its) && !stat("/proc/self/ns/mnt", &ours) && its.st_ino != ours.st_ino;
}

/* When the process was forked, on the wall clock as it is set now; 0: it is gone. */
static uint64_t start_of(uint32_t pid)
{
	uint64_t boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME),
		 tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK), start_ns = 0;
	struct outbuf text = { 0 };
	struct proc_stat stat;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (!slurp(path, &text) && text.size_bytes &&
	    !proc_stat_parse((const char *)text.data, &stat))
		start_ns = boot_ns + stat.start_ticks * tick_ns;
	outbuf_done(&text);
	return start_ns;
}

/* ---- files ---- */

/*
 * Whether the file was last written before the process began: by another one, that had the same pid.  A process whose clock was set
 * forward since may have written it itself; then names are missing, and none is wrong.
 */
static bool is_older(const struct jitfile *f, const struct stat *file)
{
	return clock_timespec_ns(file->st_mtim) + MTIME_LATE_NS < f->start_ns;
}

/*
 * Opens the file that was found (at: O_PATH, closed) for reading, if it is a regular file of the
 * expected user.  -ESTALE: it is older than the process, and not expected to be.
 */
static int open_found(const struct jitfile *f, int at, bool wants_older)
{
	char path[32];
	struct stat st;
	int fd;

	if (at < 0)
		return -ENOENT;
	if (fstat(at, &st) || !S_ISREG(st.st_mode)) {
		fd = -ENOENT; /* a device may do anything when it is opened */
	} else if (st.st_uid && st.st_uid != f->owner) {
		fd = -EPERM;
	} else if (is_older(f, &st) != wants_older) {
		fd = -ESTALE;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

/* At its path; if that leads nowhere, the mounts have gone with the process. */
static int open_map(const struct jitfile *f, bool wants_older)
{
	char path[48];
	int at;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", f->inner_pid);
	at = path_below(f->root_fd, path, false);
	if (at < 0 && f->tmp_fd >= 0)
		at = openat(f->tmp_fd, strrchr(path, '/') + 1, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return open_found(f, at, wants_older);
}

/* The last bytes before an offset of the file; false: it has none. */
static bool read_end(int fd, off_t at, uint8_t end[JIT_FILE_END_BYTES])
{
	size_t n = at < JIT_FILE_END_BYTES ? (size_t)at : JIT_FILE_END_BYTES;

	memset(end, 0, JIT_FILE_END_BYTES);
	return n && pread(fd, end, n, at - (off_t)n) == (ssize_t)n;
}

/* Notes what another process left in the perf map, where this one has not written yet. */
static void look_at_older(struct jitfile *f)
{
	int fd = open_map(f, true);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && read_end(fd, st.st_size, f->older_end))
		f->older_bytes = (uint64_t)st.st_size;
	close(fd);
}

bool jit_file_pass_older(const struct jitfile *f, int fd)
{
	uint8_t end[JIT_FILE_END_BYTES];
	char line[4096];
	const char *newline;
	off_t at = (off_t)f->older_bytes;
	ssize_t n;

	if (!read_end(fd, at, end) || memcmp(end, f->older_end, sizeof(end)) != 0)
		return false;
	n = pread(fd, line, sizeof(line), at - 1);
	newline = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	lseek(fd, newline ? at + (newline - line) : 0, newline ? SEEK_SET : SEEK_END);
	return true;
}

int jit_file_open_map(const struct jitfile *f)
{
	return open_map(f, false);
}

bool jit_file_look(struct jitfile *f)
{
	struct outbuf status = { 0 };
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/status", f->pid);
	if (!slurp(path, &status) && status.size_bytes)
		f->inner_pid = jit_file_inner_pid((const char *)status.data);
	outbuf_done(&status);
	snprintf(path, sizeof(path), "/proc/%u", f->pid);
	f->start_ns = start_of(f->pid);
	if (!f->inner_pid || !f->start_ns || stat(path, &st))
		return false;
	f->owner = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%u/root", f->pid);
	f->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->root_fd < 0)
		return false;
	f->apart = is_apart(f->pid);
	f->tmp_fd = f->apart ? path_below(f->root_fd, "/tmp", true) : -1;
	look_at_older(f);
	return true;
}

int jit_file_open_dump(const struct jitfile *f)
{
	int at = path_below(f->root_fd, f->dump, false);

	if (at < 0 && f->dump_fd >= 0)
		at = fcntl(f->dump_fd, F_DUPFD_CLOEXEC, 0);
	return open_found(f, at, false);
}
