/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/journal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/base/shared_library.h"

#define NS_PER_US    1000
#define SAME_BOOT_US 2000000 /* two boots are further apart */
#define AROUND_US    5000000 /* realtime of the journal and of the capture may differ so much */
#define LOCAL_ONLY   1       /* SD_JOURNAL_LOCAL_ONLY of <systemd/sd-journal.h> */
#define FIELD_MAX    4096    /* bytes of a field that are read */

/* As <systemd/sd-journal.h> and <systemd/sd-id128.h> declare them; the headers are not needed to build. */
typedef struct sd_journal sd_journal;
typedef union {
	uint8_t bytes[16];
	uint64_t qwords[2];
} sd_id128;

struct journal {
	void *handle;
	int (*open)(sd_journal **out, int flags);
	int (*open_files)(sd_journal **out, const char **paths, int flags);
	int (*open_directory)(sd_journal **out, const char *path, int flags);
	void (*close)(sd_journal *j);
	int (*seek_realtime_usec)(sd_journal *j, uint64_t usec);
	int (*next)(sd_journal *j);
	int (*get_realtime_usec)(sd_journal *j, uint64_t *usec);
	int (*get_monotonic_usec)(sd_journal *j, uint64_t *usec, sd_id128 *boot);
	int (*get_data)(sd_journal *j, const char *field, const void **data, size_t *bytes);
	int (*set_data_threshold)(sd_journal *j, size_t bytes);
};

static const struct shared_symbol symbols[] = {
	{ "sd_journal_open", offsetof(struct journal, open) },
	{ "sd_journal_open_files", offsetof(struct journal, open_files) },
	{ "sd_journal_open_directory", offsetof(struct journal, open_directory) },
	{ "sd_journal_close", offsetof(struct journal, close) },
	{ "sd_journal_seek_realtime_usec", offsetof(struct journal, seek_realtime_usec) },
	{ "sd_journal_next", offsetof(struct journal, next) },
	{ "sd_journal_get_realtime_usec", offsetof(struct journal, get_realtime_usec) },
	{ "sd_journal_get_monotonic_usec", offsetof(struct journal, get_monotonic_usec) },
	{ "sd_journal_get_data", offsetof(struct journal, get_data) },
	{ "sd_journal_set_data_threshold", offsetof(struct journal, set_data_threshold) },
};

static int load_library(struct journal *l)
{
	static const char *const compressors[] = { "libzstd.so.1", "liblz4.so.1", "liblzma.so.5" };
	int err = shared_library_open("libsystemd.so.0", false, symbols,
				      sizeof(symbols) / sizeof(symbols[0]), l, &l->handle);

	/* Later versions of the library load these when a line is compressed, which is too late. */
	for (size_t i = 0; !err && i < sizeof(compressors) / sizeof(compressors[0]); i++)
		(void)dlopen(compressors[i], RTLD_NOW | RTLD_LOCAL);
	return err;
}

const char *journal_priority_name(unsigned priority)
{
	/* syslog(3) */
	static const char *const names[JOURNAL_PRIORITIES] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"
	};

	return priority < JOURNAL_PRIORITIES ? names[priority] : NULL;
}

/* Files, or one folder; a folder among several is none of the library's forms. */
static int open_journal(const struct journal *l, const struct journal_ask *ask, sd_journal **out)
{
	const char **paths;
	struct stat st;
	int err;

	if (!ask->path_count)
		return l->open(out, LOCAL_ONLY);
	if (stat(ask->paths[0], &st))
		return -errno;
	if (ask->path_count == 1 && S_ISDIR(st.st_mode))
		return l->open_directory(out, ask->paths[0], 0);
	paths = calloc(ask->path_count + 1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < ask->path_count; i++)
		paths[i] = ask->paths[i];
	err = l->open_files(out, paths, 0);
	free(paths);
	return err;
}

/* Behind "FIELD=", truncated; false: the line has no such field. */
static bool read_field(const struct journal *l, sd_journal *j, const char *field, char *out,
		       size_t out_bytes)
{
	size_t bytes, head = strlen(field) + 1;
	const void *data;

	*out = '\0';
	if (l->get_data(j, field, &data, &bytes) < 0 || bytes < head)
		return false;
	bytes -= head;
	bytes = bytes < out_bytes - 1 ? bytes : out_bytes - 1;
	memcpy(out, (const char *)data + head, bytes);
	out[bytes] = '\0';
	return true;
}

/* The number of the field, or another one where there is none. */
static unsigned read_number(const struct journal *l, sd_journal *j, const char *field,
			    unsigned other)
{
	char text[16], *end;
	unsigned long value;

	if (!read_field(l, j, field, text, sizeof(text)) || *text < '0' || *text > '9')
		return other;
	value = strtoul(text, &end, 10);
	return *end || value > UINT32_MAX ? other : (unsigned)value;
}

/* list: names with commas between them. */
static bool is_listed(const char *list, const char *name)
{
	size_t bytes;

	for (; *list; list += bytes + !!list[bytes]) {
		bytes = strcspn(list, ",");
		if (bytes == strlen(name) && !memcmp(list, name, bytes))
			return true;
	}
	return false;
}

static bool is_asked(const struct journal_ask *ask, const struct journal_line *line)
{
	if (line->priority > ask->most_priority)
		return false;
	for (size_t i = 0; i < ask->unit_count; i++)
		if (is_listed(ask->units[i], line->unit))
			return true;
	return !ask->unit_count;
}

static void read_line(const struct journal *l, sd_journal *j, struct journal_line *line)
{
	char transport[16];

	line->priority = read_number(l, j, "PRIORITY", JOURNAL_PRIORITIES - 2);
	line->pid = read_number(l, j, "_PID", 0);
	(void)read_field(l, j, "SYSLOG_IDENTIFIER", line->identifier, sizeof(line->identifier));
	(void)read_field(l, j, "MESSAGE", line->text, sizeof(line->text));
	/* The manager's lines about a unit have it so; other senders may write what they like into that field. */
	if ((line->pid == 1 && read_field(l, j, "UNIT", line->unit, sizeof(line->unit))) ||
	    read_field(l, j, "_SYSTEMD_UNIT", line->unit, sizeof(line->unit)))
		return;
	if (read_field(l, j, "_TRANSPORT", transport, sizeof(transport)) &&
	    !strcmp(transport, "kernel"))
		strcpy(line->unit, "kernel");
	else
		memcpy(line->unit, line->identifier, sizeof(line->unit));
}

/* 1: it is behind the time that is asked for; 0: it is not of it; 2: it is. */
enum place { PLACE_OUTSIDE, PLACE_BEHIND, PLACE_INSIDE };

static enum place find_place(const struct journal *l, sd_journal *j, const struct journal_ask *ask,
			     uint64_t *time_ns)
{
	uint64_t booted_us = ask->wall_ns / NS_PER_US - ask->mono_ns / NS_PER_US;
	uint64_t wall_us, mono_us;
	sd_id128 boot;
	int64_t apart_us;

	if (l->get_realtime_usec(j, &wall_us) < 0 || l->get_monotonic_usec(j, &mono_us, &boot) < 0)
		return PLACE_OUTSIDE;
	if ((int64_t)(wall_us - booted_us) > (int64_t)(ask->span.to_ns / NS_PER_US) + AROUND_US)
		return PLACE_BEHIND;
	/* Any user may have written the file: numbers of any size. */
	apart_us = (int64_t)(wall_us - mono_us - booted_us);
	*time_ns = mono_us * NS_PER_US;
	return apart_us > -SAME_BOOT_US && apart_us < SAME_BOOT_US &&
			       time_span_has(&ask->span, *time_ns)
		       ? PLACE_INSIDE
		       : PLACE_OUTSIDE;
}

static int read_lines(const struct journal *l, sd_journal *j, const struct journal_ask *ask,
		      int (*fn)(void *arg, const struct journal_line *line), void *arg)
{
	uint64_t booted_us = ask->wall_ns / NS_PER_US - ask->mono_ns / NS_PER_US;
	uint64_t first_us = booted_us + ask->span.from_ns / NS_PER_US;
	struct journal_line line = { 0 };
	enum place place;
	int err = l->seek_realtime_usec(j, first_us > AROUND_US ? first_us - AROUND_US : 0);

	(void)l->set_data_threshold(j, FIELD_MAX);
	while (err >= 0 && (err = l->next(j)) > 0) {
		place = find_place(l, j, ask, &line.time_ns);
		if (place == PLACE_BEHIND)
			return 0;
		if (place == PLACE_OUTSIDE)
			continue;
		read_line(l, j, &line);
		err = is_asked(ask, &line) ? fn(arg, &line) : 0;
		if (err)
			return err;
	}
	return err;
}

int journal_new(struct journal **out)
{
	struct journal *l = calloc(1, sizeof(*l));
	int err = l ? load_library(l) : -ENOMEM;

	if (err)
		journal_free(l);
	else
		*out = l;
	return err;
}

void journal_free(struct journal *j)
{
	if (j && j->handle)
		dlclose(j->handle);
	free(j);
}

int journal_read(const struct journal *l, const struct journal_ask *ask,
		 int (*fn)(void *arg, const struct journal_line *line), void *arg)
{
	sd_journal *j = NULL;
	int err = open_journal(l, ask, &j);

	if (err >= 0)
		err = read_lines(l, j, ask, fn, arg);
	if (j)
		l->close(j);
	return err < 0 ? err : 0;
}
