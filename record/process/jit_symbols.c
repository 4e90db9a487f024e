/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/jit_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "record/process/jit_strip.h"
#include "format/base/outbuf.h"
#include "format/base/slurp.h"

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void forget(struct jitfile *f)
{
	close(f->root_fd);
	close_if(f->tmp_fd);
	close_if(f->dump_fd);
	free(f->dump);
}

void jit_symbols_done(struct jit_symbols *j)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		forget(&j->list[i]);
	free(j->list);
	*j = (struct jit_symbols){ 0 };
}

/* ---- who makes code ---- */

uint32_t jit_symbols_inner_pid(const char *status)
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

/* ".../jit-123.dump" */
static bool is_dump(const char *path)
{
	const char *slash = strrchr(path, '/');
	unsigned pid;
	int end = 0;

	return slash && slash[1] == 'j' && sscanf(slash + 1, "jit-%9u.dump%n", &pid, &end) == 1 &&
	       end && !slash[1 + end];
}

/* As perf and /proc/PID/maps call executable memory that no file is behind. */
static bool makes_code(const struct side_record_map *m)
{
	static const char *const names[] = { "//anon", "/memfd:", "[anon", "/dev/zero" };
	size_t i;

	if (!(m->prot & PROT_EXEC) || m->pid == UINT32_MAX)
		return false;
	if (is_dump(m->path))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(m->path, names[i], strlen(names[i])))
			return true;
	return false;
}

static struct jitfile *find(const struct jit_symbols *j, uint32_t pid)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		if (j->list[i].pid == pid)
			return &j->list[i];
	return NULL;
}

/* Finds it below the root as if that were "/": /tmp may be a link there.  -1: it is not there. */
static int find_below(int root_fd, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

static bool is_apart(uint32_t pid)
{
	struct stat ours, its;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	return !stat(path, &its) && !stat("/proc/self/ns/mnt", &ours) && its.st_ino != ours.st_ino;
}

static bool look(uint32_t pid, struct jitfile *out)
{
	struct outbuf status = { 0 };
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (slurp(path, &status) || !status.size_bytes) {
		outbuf_done(&status);
		return false;
	}
	out->pid = pid;
	out->inner_pid = jit_symbols_inner_pid((const char *)status.data);
	outbuf_done(&status);
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (!out->inner_pid || stat(path, &st))
		return false;
	out->owner = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	out->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (out->root_fd < 0)
		return false;
	out->apart = is_apart(pid);
	out->tmp_fd = out->apart ? find_below(out->root_fd, "/tmp", O_DIRECTORY) : -1;
	out->dump_fd = -1;
	return true;
}

/* The process, which is looked at when it is new; NULL: there is none, or no room. */
static struct jitfile *remember(struct jit_symbols *j, uint32_t pid)
{
	struct jitfile fresh = { 0 }, *list, *f = find(j, pid);

	if (f)
		return f;
	if (j->count == JIT_SYMBOLS_MAX) {
		j->missing_count++;
		return NULL;
	}
	if (j->count == j->room) {
		list = reallocarray(j->list, j->room + 32, sizeof(*list));
		if (!list)
			return NULL;
		j->list = list;
		j->room += 32;
	}
	if (!look(pid, &fresh))
		return NULL;
	j->list[j->count] = fresh;
	return &j->list[j->count++];
}

void jit_symbols_map(struct jit_symbols *j, const struct side_record_map *m)
{
	struct jitfile *f;

	if (!j->writer || !makes_code(m))
		return;
	f = remember(j, m->pid);
	if (!f || f->dump || !is_dump(m->path))
		return;
	f->dump = strdup(m->path);
	if (f->dump && f->apart)
		f->dump_fd = find_below(f->root_fd, f->dump, O_NOFOLLOW);
}

/* ---- taking ---- */

/* For reading what was found (at: O_PATH, closed), if it is a file and of whom it should be. */
static int open_found(const struct jitfile *f, int at)
{
	char path[32];
	struct stat st;
	int fd = -EPERM;

	if (at < 0)
		return -ENOENT;
	if (fstat(at, &st) || !S_ISREG(st.st_mode)) {
		fd = -ENOENT; /* a device may do anything when it is opened */
	} else if (!st.st_uid || st.st_uid == f->owner) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

/* At its path; if that leads nowhere, the mounts have gone with the process. */
static int open_map(const struct jitfile *f)
{
	char path[48];
	int at;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", f->inner_pid);
	at = find_below(f->root_fd, path, O_NOFOLLOW);
	if (at < 0 && f->tmp_fd >= 0)
		at = openat(f->tmp_fd, strrchr(path, '/') + 1, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	return open_found(f, at);
}

static int open_dump(const struct jitfile *f)
{
	int at = find_below(f->root_fd, f->dump, O_NOFOLLOW);

	if (at < 0 && f->dump_fd >= 0)
		at = fcntl(f->dump_fd, F_DUPFD_CLOEXEC, 0);
	return open_found(f, at);
}

static bool read_up_to(int fd, struct outbuf *out, size_t limit_bytes)
{
	const size_t chunk_bytes = 1u << 18;
	size_t done_bytes = 0;
	ssize_t n = 1;

	while (n > 0 && done_bytes < limit_bytes && outbuf_ok(out)) {
		size_t want = limit_bytes - done_bytes < chunk_bytes ? limit_bytes - done_bytes
								     : chunk_bytes;
		uint8_t *to = outbuf_reserve(out, want);

		n = to ? pread(fd, to, want, (off_t)done_bytes) : 0;
		if (n > 0) {
			out->size_bytes += (size_t)n;
			done_bytes += (size_t)n;
		}
	}
	return done_bytes < limit_bytes;
}

/* take: puts at most limit_bytes of the file behind what *out has; false: there is more. */
static int embed(struct jit_symbols *j, const char *name, int fd,
		 bool (*take)(int fd, struct outbuf *out, size_t limit_bytes))
{
	uint64_t limit = JIT_SYMBOLS_ALL_BYTES - j->bytes;
	struct outbuf object = { 0 };
	size_t n = strlen(name);
	int err = -ENOMEM;
	bool whole;

	if (limit > JIT_SYMBOLS_FILE_BYTES)
		limit = JIT_SYMBOLS_FILE_BYTES;
	outbuf_u16(&object, (uint16_t)n);
	outbuf_add(&object, name, n);
	whole = take(fd, &object, (size_t)limit);
	if (outbuf_ok(&object)) {
		j->cut_count += !whole;
		j->file_count++;
		j->bytes += object.size_bytes - 2 - n;
		err = writer_object(j->writer, EBX_FILE, j->next_object++, object.data,
				    object.size_bytes);
	}
	outbuf_done(&object);
	return err;
}

static int take(struct jit_symbols *j, const struct jitfile *f)
{
	int fd = open_map(f), err = 0;
	char name[32];

	if (fd >= 0) {
		snprintf(name, sizeof(name), "perf-%u.map", f->pid);
		err = embed(j, name, fd, read_up_to);
		close(fd);
	}
	if (fd < 0 && !f->dump)
		j->missing_count++;
	if (err || !f->dump)
		return err;
	fd = open_dump(f);
	if (fd < 0) {
		j->missing_count++;
		return 0;
	}
	snprintf(name, sizeof(name), "jit-%u.dump", f->pid);
	err = embed(j, name, fd, jitstrip);
	close(fd);
	return err;
}

int jit_symbols_exit(struct jit_symbols *j, const struct perf_event_header *record)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	struct jitfile *f;
	int err;

	if (record->size < sizeof(*record) + 16 || le32_load(body) != le32_load(body + 8))
		return 0; /* a thread */
	f = find(j, le32_load(body));
	if (!f)
		return 0;
	err = take(j, f);
	forget(f);
	*f = j->list[--j->count];
	return err;
}

int jit_symbols_finish(struct jit_symbols *j)
{
	int err = 0;
	size_t i;

	for (i = 0; i < j->count && !err; i++)
		err = take(j, &j->list[i]);
	return err;
}

int jit_symbols_copy(const struct jit_symbols *j, struct writer *to, struct account *a)
{
	struct jit_symbols copy = *j;
	int err;

	copy.writer = to;
	err = jit_symbols_finish(&copy);
	jit_symbols_account(&copy, a);
	return err;
}

void jit_symbols_account(const struct jit_symbols *j, struct account *a)
{
	a->jit_file_count = j->file_count;
	a->jit_missing_count = j->missing_count;
	a->jit_cut_count = j->cut_count;
	a->jit_bytes = j->bytes;
}
