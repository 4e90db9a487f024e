/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/kallsyms.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/input/build_ids.h"
#include "format/base/vec.h"

/* A file of /proc or /sys: its size is only known when it has been read.  A NUL is put behind. */
static int read_all(const char *path, char **out, size_t *size_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t size = 0, capacity = 0;
	char *data = NULL;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (!err && n > 0) {
		err = vec_reserve(&data, &capacity, size + (64 << 10));
		if (err)
			break;
		n = read(fd, data + size, capacity - size - 1);
		if (n < 0)
			err = -errno;
		else
			size += (size_t)n;
	}
	close(fd);
	if (err) {
		free(data);
		return err;
	}
	data[size] = '\0';
	*out = data;
	*size_bytes = size;
	return 0;
}

/* "ffffffff81000000 T _text\n" */
uint64_t kallsyms_address(const char *text, const char *symbol)
{
	size_t n = strlen(symbol);
	const char *line, *next;

	for (line = text; *line; line = next) { /* NOLINT: it does not know strchrnul() */
		const char *end = strchrnul(line, '\n');
		const char *name = memchr(line, ' ', (size_t)(end - line));

		next = *end ? end + 1 : end;
		if (name && end - name > 3 && (size_t)(end - name) == n + 3 &&
		    !memcmp(name + 3, symbol, n))
			return strtoull(line, NULL, 16);
	}
	return 0;
}

static int is_kernel(void *ctx, const struct buildid *id, const char *path)
{
	if (!strncmp(path, "[kernel.kallsyms]", 17))
		*(struct buildid *)ctx = *id;
	return 0;
}

struct buildid kallsyms_kernel_id(struct capture_bytes section)
{
	struct buildid id = { 0 };

	build_ids_walk(section, is_kernel, &id);
	return id;
}

/* Whether the capture's kernel runs here: by build-id, else by host and release. */
static bool is_this_kernel(const struct capture *c)
{
	struct buildid theirs = kallsyms_kernel_id(capture_feature(c, PERFFILE_BUILD_ID));
	struct buildid ours = { 0 };
	const char *host = capture_feature_string(c, PERFFILE_HOSTNAME);
	const char *release = capture_feature_string(c, PERFFILE_OSRELEASE);
	struct utsname here;
	size_t size_bytes = 0;
	char *notes = NULL;
	int err;

	if (!theirs.size_bytes)
		return host && release && !uname(&here) && !strcmp(host, here.nodename) &&
		       !strcmp(release, here.release);
	err = read_all("/sys/kernel/notes", &notes, &size_bytes);
	if (err)
		return false;
	err = buildid_from_notes(notes, size_bytes, &ours);
	free(notes);
	return !err && ours.size_bytes == theirs.size_bytes &&
	       !memcmp(ours.bytes, theirs.bytes, ours.size_bytes);
}

static int from_this_machine(const struct capture *c, const struct load_scan *scan, char **out,
			     size_t *size_bytes)
{
	char *text = NULL;
	uint64_t addr;
	int err;

	if (!is_this_kernel(c))
		return -ENOENT;
	err = read_all("/proc/kallsyms", &text, size_bytes);
	if (err)
		return err;
	assert(text);
	addr = scan->kernel_addr ? kallsyms_address(text, scan->kernel_symbol) : 0;
	if (addr != scan->kernel_addr) {
		free(text);
		return addr ? -ENOENT : -EACCES; /* hidden addresses are all 0 */
	}
	*out = text;
	return 0;
}

int kallsyms_of_capture(const struct capture *c, const struct load_scan *scan, char **out,
			size_t *size_bytes)
{
	int err = embedded_get(scan->files, "/proc/kallsyms", out, size_bytes);

	/* Ours carry the names; but a slice of perf's file has no more than where the kernel lay. */
	if (err == -ENOENT && (capture_get_kind(c) != CAPTURE_EBX || scan->kernel_addr))
		err = from_this_machine(c, scan, out, size_bytes);
	return err;
}
