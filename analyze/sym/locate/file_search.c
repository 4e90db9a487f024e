/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* file_search - the file that was mapped, if this machine still has it */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analyze/sym/locate/file_search_priv.h"
#include "analyze/sym/locate/open_in_root.h"
#include "format/os/clock.h"

#define VDSO_NAME      "[vdso]"
#define VDSO_MAX_BYTES 65536
#define DELETED        " (deleted)"

void located_done(struct located *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	free(l->full_path);
	*l = (struct located){ .fd = -1 };
}

const char *located_shown(const struct located *l, const struct name_roots *roots)
{
	if (!l->path)
		return "";
	return l->full_path && strcmp(l->root, roots->symfs ? roots->symfs : "") != 0 ? l->full_path
										      : l->path;
}

int file_search_fill(struct located *out, int fd, const char *root, const char *path,
		     enum name_trust trust)
{
	char *copy = path ? strdup(path) : NULL, *full_path = NULL;

	if (path &&
	    (!copy || (!roots_is_host(root) && asprintf(&full_path, "%s%s", root, path) < 0))) {
		free(copy);
		close(fd);
		return -ENOMEM;
	}
	*out = (struct located){ fd, root ? root : "", copy, full_path, trust };
	return 0;
}

bool file_search_is_anonymous(const char *path)
{
	static const char *const prefixes[] = { "//anon",         "/dev/zero", "/memfd:",
						"/anon_hugepage", "/SYSV",     "/dev/shm/memfd:" };
	size_t i;

	if (path[0] != '/')
		return strcmp(path, VDSO_NAME) != 0;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool file_search_is_whiteout(const struct name_roots *roots, const char *path)
{
	const char *name = strrchr(path, '/');
	char *beside;
	struct stat st;
	bool is = !roots_stat(roots->opener, roots->symfs, path, &st) && S_ISCHR(st.st_mode) &&
		  !st.st_rdev;

	if (is || !name || asprintf(&beside, "%.*s/.wh.%s", (int)(name - path), path, name + 1) < 0)
		return is;
	is = !roots_stat(roots->opener, roots->symfs, beside, &st);
	free(beside);
	return is;
}

/* ---- identity ---- */

/*
 * perf.data pads ids to 20 bytes without a mark: zeroes behind the shorter one are no difference.
 */
bool file_search_same_id(const struct buildid *a, const struct buildid *b)
{
	const struct buildid *longer = a->size_bytes > b->size_bytes ? a : b;
	uint8_t shared = a->size_bytes + b->size_bytes - longer->size_bytes;
	size_t i;

	for (i = shared; i < longer->size_bytes; i++)
		if (longer->bytes[i])
			return false;
	return shared && !memcmp(a->bytes, b->bytes, shared);
}

/* Whether the open file is the recorded one. */
static enum name_reason check_id(int fd, const struct buildid *wanted)
{
	struct buildid id;
	int err;

	err = buildid_from_fd(fd, &id);
	if (err == -EBADMSG)
		return NAME_BAD_ELF;
	return !err && file_search_same_id(&id, wanted) ? NAME_FOUND : NAME_BUILD_ID_DIFFERS;
}

static enum name_reason reason_of(int err)
{
	if (err == -ENOEXEC)
		return NAME_BAD_ELF;
	return err == -EACCES || err == -EPERM ? NAME_NO_PERMISSION : NAME_FILE_GONE;
}

/*
 * Device and inode are those of the machine itself; where files have several devices, they prove
 * nothing.
 */
static bool is_another(const struct resolver_file *f, const struct stat *st)
{
	return f->id.inode && f->id.inode != st->st_ino && file_id_is_on(&f->id, st->st_dev);
}

bool file_search_other_sum(const struct resolver_file *f, int fd)
{
	struct file_facts_sum now;

	if (!f->sum.has_loaded && !f->sum.has_spread)
		return false;
	now = file_facts_sum(fd);
	return !file_facts_same_sum(&f->sum, &now);
}

/*
 * Without a build-id.  The inode alone proves nothing: on btrfs and overlayfs it may be another
 * one, and it may have been given to another file.  Nor do size and time alone: packages and images set
 * the time to whatever they like.  deleted: the path had the kernel's mark, so
 * what is there now is probably another file.
 */
static enum name_reason check_facts(const struct resolver_file *f, int fd, const struct stat *st,
				    bool deleted, bool is_host, enum name_trust *trust)
{
	uint64_t mtime_ns = clock_timespec_ns(st->st_mtim);
	bool same_inode = f->id.inode && st->st_ino == f->id.inode,
	     has_stat = f->size_bytes || f->mtime_ns;

	*trust = same_inode ? NAME_BY_INODE : NAME_BY_PATH;
	if (has_stat || f->sum.has_loaded)
		*trust = NAME_BY_STAT;
	if (has_stat && ((uint64_t)st->st_size != f->size_bytes || mtime_ns != f->mtime_ns))
		return NAME_FILE_CHANGED;
	if (*trust == NAME_BY_STAT)
		return file_search_other_sum(f, fd) ? NAME_FILE_CHANGED : NAME_FOUND;
	if (is_host && !same_inode && f->not_read)
		return NAME_NOT_READ; /* what is there now was there for the recorder, too */
	if (is_host && is_another(f, st))
		return NAME_FILE_CHANGED;
	return deleted && !same_inode ? NAME_FILE_GONE : NAME_FOUND;
}

static enum name_reason open_checked(const struct name_roots *roots, const struct resolver_file *f,
				     const char *path, bool deleted, struct located *out)
{
	bool has_id = f->id.build_id.size_bytes;
	enum name_trust trust = NAME_BY_BUILD_ID;
	enum name_reason reason;
	struct stat st;
	int fd;

	/* The kernel's paths have no links; without an id, one that is there now is suspect. */
	fd = roots_open(roots->opener, roots->symfs, path, has_id || !roots_is_host(roots->symfs),
			&st);
	if (fd < 0)
		return reason_of(fd);
	if (has_id)
		reason = check_id(fd, &f->id.build_id);
	else
		reason = check_facts(f, fd, &st, deleted, roots_is_host(roots->symfs), &trust);
	if (reason != NAME_FOUND) {
		close(fd);
		return reason;
	}
	return file_search_fill(out, fd, roots->symfs, path, trust) ? NAME_FILE_GONE : NAME_FOUND;
}

/* ---- vdso ---- */

/* The image that the kernel mapped into this process; 0: none that we know. */
static size_t own_vdso(const void **out)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	*out = e;
	return e->e_shoff + (size_t)e->e_shnum * e->e_shentsize; /* they come last */
}

/* A copy of an image, as a file. */
static int image_open(const void *image, size_t size_bytes)
{
	int fd;

	if (!size_bytes || size_bytes > VDSO_MAX_BYTES)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, image, size_bytes) != (ssize_t)size_bytes) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static enum name_reason image_checked(const void *image, size_t size_bytes,
				      const struct buildid *wanted, struct located *out)
{
	enum name_reason reason = NAME_FOUND;
	int fd;

	fd = image_open(image, size_bytes);
	if (fd < 0)
		return NAME_FILE_GONE;
	if (wanted->size_bytes)
		reason = check_id(fd, wanted);
	if (reason != NAME_FOUND) {
		close(fd);
		return reason;
	}
	return file_search_fill(out, fd, "", NULL,
				wanted->size_bytes ? NAME_BY_BUILD_ID : NAME_BY_PATH)
		       ? NAME_FILE_GONE
		       : NAME_FOUND;
}

/* The recorded image, or ours when it is the same. */
static enum name_reason vdso_checked(const struct name_roots *roots, const struct buildid *wanted,
				     struct located *out)
{
	const void *own = NULL;
	size_t own_bytes;

	if (roots->vdso && image_checked(roots->vdso, roots->vdso_bytes, wanted, out) == NAME_FOUND)
		return NAME_FOUND;
	own_bytes = own_vdso(&own);
	return image_checked(own, own_bytes, wanted, out);
}

/* ---- all of it ---- */

/* At the path that was recorded. */
static enum name_reason by_path(const struct name_roots *roots, const struct resolver_file *f,
				struct located *out)
{
	size_t path_bytes = strlen(f->path), mark_bytes = strlen(DELETED);
	enum name_reason reason;
	char *path;

	if (!strcmp(f->path, VDSO_NAME))
		return vdso_checked(roots, &f->id.build_id, out);
	reason = open_checked(roots, f, f->path, false, out);
	if (reason == NAME_FOUND || path_bytes <= mark_bytes ||
	    strcmp(f->path + path_bytes - mark_bytes, DELETED) != 0)
		return reason;
	path = strndup(f->path, path_bytes - mark_bytes);
	if (!path)
		return NAME_FILE_GONE;
	reason = open_checked(roots, f, path, true, out);
	free(path);
	return reason;
}

/* Without a build-id: a copy in a debug folder, that is called after the checksums. */
static bool by_checksum(const struct name_roots *roots, const struct resolver_file *f,
			struct located *out)
{
	char name[FILE_FACTS_COPY_NAME_BYTES];

	if (f->id.build_id.size_bytes || !f->sum.has_loaded || !f->sum.has_spread)
		return false;
	file_facts_copy_name(&f->sum, f->size_bytes, f->mtime_ns, name);
	for (size_t i = 0; i < roots->debug_dir_count; i++) {
		struct name_roots in_dir = { .symfs = roots->debug_dirs[i],
					     .opener = roots->opener };

		if (open_checked(&in_dir, f, name, false, out) == NAME_FOUND)
			return true;
	}
	return false;
}

enum name_reason file_search_open(const struct name_roots *roots, const struct resolver_file *f,
				  struct located *out)
{
	enum name_reason reason;

	if (!file_search_is_anonymous(f->path))
		reason = by_path(roots, f, out);
	else if (f->id.build_id.size_bytes) /* a program in a memfd: a copy may be here */
		reason = NAME_IN_MEMORY;
	else
		reason = NAME_ANONYMOUS;
	if (reason == NAME_FOUND || by_checksum(roots, f, out))
		return NAME_FOUND;
	if (reason == NAME_FILE_GONE && f->not_read)
		return NAME_NOT_READ;
	if (!f->id.build_id.size_bytes)
		return reason;
	if (!file_search_by_id(roots, &f->id.build_id, false, out) ||
	    !file_search_fetch(roots, &f->id.build_id, false, out))
		return NAME_FOUND;
	return reason;
}
