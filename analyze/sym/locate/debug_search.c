/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_search_debug - files that are named after build-ids, and debug files that a link names
 *
 * The folder of a path from a capture is used below the roots only; the name in a link is a file
 * name, and what dwz names is opened below the root that its file came from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/sym/locate/debuglink.h"
#include "analyze/sym/locate/debuginfod.h"
#include "analyze/sym/locate/file_search_priv.h"
#include "analyze/sym/locate/open_in_root.h"

#define DEBUG_FOLDER "/usr/lib/debug"

int file_search_build_id(int fd, struct buildid *out)
{
	int err = buildid_from_fd(fd, out), section_err = -ENOENT;
	const struct elf_file_section *notes;
	struct elf_file *e = NULL;
	uint8_t *data = NULL;

	if (!err || elf_file_open(fd, &e))
		return err;
	notes = elf_file_by_name(e, ".note.gnu.build-id");
	if (notes)
		section_err = elf_file_read(e, notes, &data);
	if (!section_err)
		section_err = buildid_from_notes(data, notes->size_bytes, out);
	free(data);
	elf_file_close(e);
	return section_err ? err : 0;
}

/* Opens path below root (opener: as in roots_open()) and fills *out when its id is the wanted one.  -ENOENT, -ESTALE, -EACCES... */
static int open_with_id(int opener, const char *root, const char *path, const struct buildid *id,
			struct located *out)
{
	struct buildid found;
	struct stat st;
	int fd, err;

	fd = roots_open(opener, root, path, true, &st);
	if (fd < 0)
		return fd == -ENOEXEC ? -ESTALE : fd;
	err = file_search_build_id(fd, &found);
	if (err || !file_search_same_id(&found, id)) {
		close(fd);
		return -ESTALE;
	}
	return file_search_fill(out, fd, root, path, NAME_BY_BUILD_ID);
}

/* ---- by build-id ---- */

/* Tries one place; stores in *err the first error other than "not there". */
static bool try_id(int opener, const char *root, const char *before, const char *after,
		   const struct buildid *id, struct located *out, int *err)
{
	char hex[BUILDID_HEX_BYTES], path[sizeof(DEBUG_FOLDER) + BUILDID_HEX_BYTES + 32];
	int this_err;

	buildid_hex(id, hex);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s", before, hex, hex + 2, after);
	this_err = open_with_id(opener, root, path, id, out);
	if (this_err && this_err != -ENOENT && *err == -ENOENT)
		*err = this_err;
	return !this_err;
}

int file_search_by_id(const struct name_roots *roots, const struct buildid *id, bool debug,
		      struct located *out)
{
	/* "" as perf had it until 4.10. */
	static const char *const of_cache[] = { "/debug", "/elf", "/vdso", "" };
	const char *after = debug ? ".debug" : "";
	size_t i, first = debug ? 0 : 1, end = debug ? 1 : 4;
	int err = -ENOENT;

	if (id->size_bytes < 2)
		return -ENOENT;
	for (i = 0; i < roots->debug_dir_count; i++)
		if (try_id(roots->opener, roots->debug_dirs[i], "", after, id, out, &err) ||
		    try_id(roots->opener, roots->debug_dirs[i], DEBUG_FOLDER, after, id, out, &err))
			return 0;
	if (try_id(roots->opener, roots->symfs, DEBUG_FOLDER, after, id, out, &err))
		return 0;
	for (i = first; roots->cache && i < end; i++)
		if (try_id(roots->opener, roots->cache, "", of_cache[i], id, out, &err))
			return 0;
	return err;
}

int file_search_fetch(const struct name_roots *roots, const struct buildid *id, bool debug,
		      struct located *out)
{
	char *path;
	int fd, err;

	if (!roots->fetcher || !id->size_bytes)
		return -ENOENT;
	err = debuginfod_get(roots->fetcher, id, debug ? FETCH_DEBUG : FETCH_PROGRAM, &fd, &path);
	if (err)
		return err == -ESTALE ? err : -ENOENT;
	*out = (struct located){ fd, "", path, NULL, NAME_BY_BUILD_ID };
	return 0;
}

/* ---- by link ---- */

struct link_search {
	const struct buildid *id; /* of the stripped file; may be empty */
	const struct debuglink *link;
	const char *folder; /* of the stripped file, "" for "/" */
	int opener;
	struct located *out;
	int err;
};

/* Both build-ids decide when there are both, else the CRC. */
static int check_linked(int fd, const struct link_search *s, enum name_trust *trust)
{
	struct buildid id;
	uint32_t crc;
	int err;

	*trust = NAME_BY_BUILD_ID;
	if (s->id->size_bytes && !buildid_from_fd(fd, &id))
		return file_search_same_id(&id, s->id) ? 0 : -ESTALE;
	*trust = NAME_BY_STAT;
	err = debuglink_crc(fd, &crc);
	if (err)
		return err;
	return crc == s->link->crc32 ? 0 : -ESTALE;
}

static bool try_link(struct link_search *s, const char *root, const char *before,
		     const char *folder, const char *between)
{
	enum name_trust trust;
	struct stat st;
	char *path;
	int fd, err;

	if (asprintf(&path, "%s%s%s/%s", before, folder, between, s->link->name) < 0) {
		s->err = -ENOMEM;
		return false;
	}
	fd = roots_open(s->opener, root, path, true, &st);
	err = fd < 0 ? fd : check_linked(fd, s, &trust);
	if (!err)
		err = file_search_fill(s->out, fd, root, path, trust);
	else if (fd >= 0)
		close(fd);
	free(path);
	if (err == -ESTALE || err == -ENOEXEC)
		s->err = -ESTALE;
	return !err;
}

/* With /lib a link to /usr/lib, the file may be known by either path. */
static bool try_folders(struct link_search *s, const char *root, const char *before)
{
	if (try_link(s, root, before, s->folder, ""))
		return true;
	if (!strncmp(s->folder, "/usr/", 5))
		return try_link(s, root, before, s->folder + 4, "");
	return try_link(s, root, before, "/usr", s->folder);
}

static int by_link(const struct name_roots *roots, struct link_search *s)
{
	size_t i;

	s->err = -ENOENT;
	for (i = 0; i < roots->debug_dir_count; i++)
		if (try_folders(s, roots->debug_dirs[i], "") ||
		    try_link(s, roots->debug_dirs[i], "", "", ""))
			return 0;
	if (try_link(s, roots->symfs, "", s->folder, "") ||
	    try_link(s, roots->symfs, "", s->folder, "/.debug") ||
	    try_folders(s, roots->symfs, DEBUG_FOLDER))
		return 0;
	return s->err;
}

/* -ENOENT also when there is no link. */
static int by_link_of(const struct name_roots *roots, const struct buildid *id,
		      const struct elf_file *elf, const char *path, struct located *out)
{
	struct link_search s = { .id = id, .out = out, .opener = roots->opener };
	struct debuglink link;
	const char *slash = strrchr(path, '/');
	char *folder;
	int err;

	if (!elf || *path != '/' || debuglink_read(elf, &link))
		return -ENOENT;
	folder = strndup(path, (size_t)(slash - path));
	s.link = &link;
	s.folder = folder;
	err = folder ? by_link(roots, &s) : -ENOMEM;
	free(folder);
	free(link.name);
	return err;
}

/* A file of another build is worth reporting only when no other place has the right one. */
int file_search_debug(const struct name_roots *roots, const struct buildid *id,
		      const struct elf_file *elf, const char *path, struct located *out)
{
	bool stale;
	int err;

	err = file_search_by_id(roots, id, true, out);
	stale = err == -ESTALE;
	if (err)
		err = by_link_of(roots, id, elf, path, out);
	stale |= err == -ESTALE;
	if (err)
		err = file_search_fetch(roots, id, true, out);
	stale |= err == -ESTALE;
	return err && stale ? -ESTALE : err;
}

/* At the place that the debug file names, from its folder. */
static int alt_at(int opener, const struct located *of, const struct altlink *link,
		  struct located *out)
{
	const char *slash = of->path ? strrchr(of->path, '/') : NULL;
	char *path = NULL;
	int err;

	if (!slash)
		return -ENOENT;
	if (*link->path == '/')
		return open_with_id(opener, of->root, link->path, &link->build_id, out);
	if (asprintf(&path, "%.*s/%s", (int)(slash - of->path), of->path, link->path) < 0)
		return -ENOMEM;
	err = open_with_id(opener, of->root, path, &link->build_id, out);
	free(path);
	return err;
}

/* By its name in debug folders. */
static int alt_in_dirs(const struct name_roots *roots, const struct altlink *link,
		       struct located *out)
{
	const char *slash = strrchr(link->path, '/');
	int err = -ENOENT;
	char *path;

	if (asprintf(&path, "/%s", slash ? slash + 1 : link->path) < 0)
		return -ENOMEM;
	for (size_t i = 0; err && i < roots->debug_dir_count; i++) {
		int this_err = open_with_id(roots->opener, roots->debug_dirs[i], path,
					    &link->build_id, out);

		err = this_err == -ENOENT ? err : this_err;
	}
	free(path);
	return err;
}

int file_search_alt(const struct name_roots *roots, const struct elf_file *debug,
		    const struct located *of, struct located *out)
{
	struct altlink link;
	bool stale;
	int err;

	err = altlink_read(debug, &link);
	if (err)
		return err;
	err = file_search_by_id(roots, &link.build_id, true, out);
	stale = err == -ESTALE;
	if (err)
		err = alt_at(roots->opener, of, &link, out);
	stale |= err == -ESTALE;
	if (err)
		err = alt_in_dirs(roots, &link, out);
	stale |= err == -ESTALE;
	if (err)
		err = file_search_fetch(roots, &link.build_id, true, out);
	free(link.path);
	return err && stale ? -ESTALE : err;
}
