/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/base/shared_library.h"
#include "analyze/sym/locate/file_search_priv.h"
#include "format/os/clock.h"

/* As <elfutils/debuginfod.h> declares them; the header is not needed to build. */
typedef void *client;
typedef int find_fn(client c, const unsigned char *id, int id_bytes, char **path);
typedef int find_source_fn(client c, const unsigned char *id, int id_bytes, const char *source,
			   char **path);
typedef int progress_fn(client c, long a, long b);

struct library {
	void *handle;
	client (*begin)(void);
	void (*end)(client c);
	find_fn *find_debuginfo, *find_executable;
	find_source_fn *find_source;
	void (*set_progressfn)(client c, progress_fn *fn);
	void (*set_user_data)(client c, void *value);
};

struct debuginfod {
	struct library lib;
	client client;
	struct debuginfod_opts opts;
	uint64_t start_ns; /* of the first fetch; 0: none yet */
	struct fetch_counts counts;
	struct fetch_progress now;
	bool timed_out;
};

static bool is_late(const struct debuginfod *f)
{
	return clock_ns(CLOCK_MONOTONIC) - f->start_ns >= f->opts.limit_ns;
}

static const struct shared_symbol symbols[] = {
	{ "debuginfod_begin", offsetof(struct library, begin) },
	{ "debuginfod_end", offsetof(struct library, end) },
	{ "debuginfod_find_debuginfo", offsetof(struct library, find_debuginfo) },
	{ "debuginfod_find_executable", offsetof(struct library, find_executable) },
	{ "debuginfod_find_source", offsetof(struct library, find_source) },
	{ "debuginfod_set_progressfn", offsetof(struct library, set_progressfn) },
	{ "debuginfod_set_user_data", offsetof(struct library, set_user_data) },
};

static int load_library(struct library *l)
{
	return shared_library_open("libdebuginfod.so.1", true, symbols,
				   sizeof(symbols) / sizeof(symbols[0]), l, &l->handle)
		       ? -ENOENT
		       : 0;
}

static void report_progress(struct debuginfod *f)
{
	if (f->opts.progress)
		f->opts.progress(f->opts.arg, &f->now);
}

/* The library asks this about once a second, also while a server is silent.  Not 0 gives up. */
static int on_progress(client c, long a, long b)
{
	void *symbol = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");
	void *(*get_user_data)(client);
	struct debuginfod *f;

	if (!symbol)
		return 0;
	memcpy(&get_user_data, &symbol, sizeof(symbol)); /* as shared_library.c has it */
	f = get_user_data(c);
	f->timed_out = is_late(f);
	f->now.done_bytes = a > 0 && b > 0 ? (uint64_t)a : 0;
	f->now.total_bytes = b > 0 ? (uint64_t)b : 0;
	report_progress(f);
	return f->timed_out;
}

int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **out)
{
	struct debuginfod *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->opts = *opts;
	err = load_library(&f->lib);
	if (!err) {
		f->client = f->lib.begin();
		err = f->client ? 0 : -ENOMEM;
	}
	if (err) {
		debuginfod_free(f);
		return err;
	}
	f->lib.set_user_data(f->client, f);
	f->lib.set_progressfn(f->client, on_progress);
	*out = f;
	return 0;
}

void debuginfod_free(struct debuginfod *f)
{
	if (!f)
		return;
	if (f->client)
		f->lib.end(f->client);
	/* The library stays: libcurl below it does not like to be unloaded. */
	free(f);
}

/* Errors that the next file would meet again. */
static bool ends_all(int err)
{
	switch (err) {
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ETIMEDOUT:
	case -ETIME:
	case -ENOSYS: /* no server was named */
		return true;
	default:
		return false;
	}
}

/* source: of FETCH_SOURCE. */
static int ask(struct debuginfod *f, const struct buildid *id, enum fetch_kind kind,
	       const char *source, char **path)
{
	find_fn *find = kind == FETCH_DEBUG ? f->lib.find_debuginfo : f->lib.find_executable;
	int fd;

	f->timed_out = false;
	if (kind == FETCH_SOURCE)
		fd = f->lib.find_source(f->client, id->bytes, id->size_bytes, source, path);
	else
		fd = find(f->client, id->bytes, id->size_bytes, path);
	if (fd < 0 && f->timed_out)
		return -ETIMEDOUT;
	return fd;
}

/* Source code has no build-id: its server is believed. */
static int check(int fd, enum fetch_kind kind, const struct buildid *wanted, uint64_t *bytes)
{
	struct buildid id;
	struct stat st;

	if (fstat(fd, &st))
		return -ESTALE;
	if (kind != FETCH_SOURCE &&
	    (file_search_build_id(fd, &id) || !file_search_same_id(&id, wanted)))
		return -ESTALE;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static void count(struct debuginfod *f, int err, uint64_t bytes)
{
	f->counts.bytes += bytes;
	if (!err)
		f->counts.found++;
	else if (err == -ESTALE)
		f->counts.refused++;
	else
		f->counts.missing++;
	if (ends_all(err))
		f->counts.err = err;
}

static int get(struct debuginfod *f, const struct buildid *id, enum fetch_kind kind,
	       const char *source, int *fd, char **path)
{
	char hex[BUILDID_HEX_BYTES], *found = NULL;
	uint64_t bytes = 0;
	int got, err;

	if (!f->start_ns)
		f->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (!f->counts.err && is_late(f))
		f->counts.err = -ETIMEDOUT;
	if (f->counts.err || !id->size_bytes) {
		f->counts.not_asked++;
		return -ECANCELED;
	}
	buildid_hex(id, hex);
	f->now = (struct fetch_progress){ .build_id = hex, .kind = kind };
	report_progress(f);
	got = ask(f, id, kind, source, &found);
	err = got < 0 ? got : check(got, kind, id, &bytes);
	count(f, err, bytes);
	f->now.ended = true;
	f->now.err = err;
	f->now.done_bytes = bytes;
	report_progress(f);
	f->now.build_id = "";
	if (!err) {
		*fd = got;
		*path = found;
		return 0;
	}
	if (got >= 0)
		close(got);
	free(found);
	return err;
}

int debuginfod_get(struct debuginfod *f, const struct buildid *id, enum fetch_kind kind, int *fd,
		   char **path)
{
	return get(f, id, kind, NULL, fd, path);
}

int debuginfod_get_source(struct debuginfod *f, const struct buildid *id, const char *source,
			  int *fd, char **path)
{
	return get(f, id, FETCH_SOURCE, source, fd, path);
}

const struct fetch_counts *debuginfod_counts(const struct debuginfod *f)
{
	return &f->counts;
}
