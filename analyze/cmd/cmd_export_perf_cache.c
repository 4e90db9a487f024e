/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/cmd_export_perf_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/cmd/common/open_report.h"
#include "analyze/sym/symbol_elf.h"
#include "analyze/names/bundle_sources.h"
#include "analyze/out/message.h"
#include "format/base/interpreted_code.h"

static int write_bytes(void *arg, FILE *to)
{
	const struct outbuf *bytes = arg;

	return fwrite(bytes->data, 1, bytes->size_bytes, to) == bytes->size_bytes ? 0 : -errno;
}

/* Makes each folder of the path that stands before a slash from `from` on. */
static int make_folders(char *path, size_t from)
{
	for (char *end = strchr(path + from, '/'); end; end = strchr(end + 1, '/')) {
		int err;

		*end = '\0';
		err = mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
		*end = '/';
		if (err)
			return err;
	}
	return 0;
}

/* The place where perf 4.13 and later look for it: DIR/.build-id/ab/cdef.../elf. */
static int write_names(const struct bundle *b, const char *dir)
{
	char hex[BUILDID_HEX_BYTES];
	struct outbuf bytes = { 0 };
	char *path;
	int err;

	buildid_hex(&bundle_head(b)->file.id.build_id, hex);
	if (asprintf(&path, "%s/.build-id/%.2s/%s/elf", dir, hex, hex + 2) < 0)
		return -ENOMEM;
	symbol_elf_encode(b, &bytes);
	err = outbuf_ok(&bytes) ? make_folders(path, strlen(dir)) : -ENOMEM;
	if (!err)
		err = cmd_write_output(path, write_bytes, &bytes);
	outbuf_done(&bytes);
	free(path);
	return err;
}

static bool is_interpreted(const struct bundle *b)
{
	const struct resolver_file *file = &bundle_head(b)->file;

	return interpreted_code_is_file(file->path) && file->id.build_id.size_bytes > 1;
}

static int write_files(const struct bundle_merge *files, const char *dir, size_t *names)
{
	int err = 0;

	for (size_t i = 0; !err && i < files->ids.count; i++) {
		const struct bundle *b = files->files[i].bundle;

		if (!is_interpreted(b))
			continue;
		err = write_names(b, dir);
		*names += bundle_count(b);
	}
	return err;
}

int cmd_export_perf_cache(const char *input, const char *dir, bool quiet)
{
	struct bundle_merge files = { 0 };
	struct capture *c;
	size_t broken, places = 0;
	int status = cmd_open_capture(input, &c), err;

	if (status)
		return status;
	err = bundle_sources_merge(c, &files, &broken);
	if (err)
		status = message_error("cannot read the names in '%s': %s", input, strerror(-err));
	if (!status && broken)
		message_note("%zu tables of '%s' are broken, or of a later version, skipping",
			     broken, input);
	err = status ? 0 : write_files(&files, dir, &places);
	if (err)
		status = message_cannot_write(dir, err);
	else if (!status && !places)
		status = message_error(
			"'%s' has no names of interpreted code (perf finds those of files "
			"itself)",
			input);
	else if (!status && !quiet)
		message_note(
			"wrote names of %zu places to '%s', for 'perf --buildid-dir %s report -i %s'",
			places, dir, dir, input);
	bundle_merge_done(&files);
	capture_close(c);
	return status;
}
