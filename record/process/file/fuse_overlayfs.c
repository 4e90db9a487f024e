/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/fuse_overlayfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/os/slurp.h"

#define TYPE    " - fuse.fuse-overlayfs "
#define PROGRAM "fuse-overlayfs"

/* ---- the command line ---- */

/* "lowerdir=..." and the like, up to a comma.  libfuse takes a backslash and what it stands before as one. */
static const char *add_option(const char *s, const char *end, struct outbuf *out)
{
	const char *value = memchr(s, '=', (size_t)(end - s));
	bool wanted = !strncmp(s, "lowerdir=", 9) || !strncmp(s, "upperdir=", 9);

	if (wanted)
		outbuf_printf(out, ",%.*s", (int)(value - s) + 1, s);
	for (s = wanted ? value + 1 : s; s < end && *s != ','; s++) {
		if (*s == '\\' && s + 1 < end)
			s++;
		if (wanted && strchr(",= \t\n\\#", *s))
			outbuf_printf(out, "\\%03o", (unsigned char)*s);
		else if (wanted)
			outbuf_add(out, s, 1);
	}
	return s < end ? s + 1 : end;
}

static void add_options(const char *word, struct outbuf *out)
{
	const char *end = word + strlen(word);

	while (word < end)
		word = add_option(word, end, out);
}

int fuse_overlayfs_parse(const char *words, size_t size_bytes, struct outbuf *out,
			 const char **point)
{
	const char *last = NULL, *word, *next;
	size_t before = out->size_bytes;
	bool options = false;

	if (!size_bytes || words[size_bytes - 1] || size_bytes > FUSE_OVERLAYFS_WORDS_MAX)
		return -EBADMSG;
	/* The first word is the program. */
	for (word = words + strlen(words) + 1; word < words + size_bytes; word = next) {
		next = word + strlen(word) + 1;
		if (options || !strncmp(word, "-o", 2)) {
			add_options(options ? word : word + 2, out);
			options = !options && !word[2];
		} else if (*word == '/') {
			last = word;
		}
	}
	if (!last || out->size_bytes == before) {
		out->size_bytes = before;
		return -EBADMSG;
	}
	*point = last;
	return 0;
}

/* ---- which of the programs it is ---- */

/* A field of a mountinfo is this text; the kernel escapes some characters. */
static bool is_field(const char *field, size_t field_bytes, const char *text)
{
	size_t i = 0;

	for (; i < field_bytes && *text; i++, text++) {
		unsigned c = (unsigned char)field[i];

		if (c == '\\' && field_bytes - i > 3) {
			c = (unsigned)(field[i + 1] - '0') << 6 |
			    (unsigned)(field[i + 2] - '0') << 3 | (unsigned)(field[i + 3] - '0');
			i += 3;
		}
		if (c != (unsigned char)*text)
			return false;
	}
	return i == field_bytes && !*text;
}

/* The n-th field of a line, from 0; its size, or 0. */
static size_t field_of(const char *line, unsigned n, const char **out)
{
	for (; n && *line && *line != '\n'; line++)
		n -= *line == ' ';
	*out = line;
	return n ? 0 : strcspn(line, " \n");
}

void fuse_overlayfs_device(const char *mounts, const char *point, char *out, size_t out_bytes)
{
	const char *line, *field, *device;

	*out = '\0';
	/* The last of several mounts on a point hides the others. */
	for (line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t size_bytes = field_of(line, 4, &field);

		if (!is_field(field, size_bytes, point))
			continue;
		size_bytes = field_of(line, 2, &device);
		if (size_bytes && size_bytes < out_bytes)
			snprintf(out, out_bytes, "%.*s", (int)size_bytes, device);
	}
}

struct server {
	char device[32]; /* "0:44" */
	struct outbuf layers;
};

struct servers {
	struct server list[FUSE_OVERLAYFS_SERVERS_MAX];
	unsigned count;
};

static bool read_of(const char *pid, const char *what, struct outbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/%s", pid, what);
	outbuf_clear(out);
	return !slurp(path, out) && out->size_bytes;
}

/* A process of the program's name: its layers, and what it serves. */
static void see_server(struct servers *all, const char *pid)
{
	struct server *s = &all->list[all->count];
	struct outbuf words = { 0 }, mounts = { 0 };
	const char *point;

	*s = (struct server){ .device = "" };
	if (read_of(pid, "cmdline", &words) &&
	    !fuse_overlayfs_parse((const char *)words.data, words.size_bytes, &s->layers, &point) &&
	    read_of(pid, "mountinfo", &mounts))
		fuse_overlayfs_device((const char *)mounts.data, point, s->device,
				      sizeof(s->device));
	if (*s->device && outbuf_ok(&s->layers))
		all->count++;
	else
		outbuf_done(&s->layers);
	outbuf_done(&words);
	outbuf_done(&mounts);
}

static struct servers *find_servers(void)
{
	struct servers *all = calloc(1, sizeof(*all));
	struct outbuf comm = { 0 };
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (all && proc && all->count < FUSE_OVERLAYFS_SERVERS_MAX && (d = readdir(proc)))
		if (isdigit((unsigned char)*d->d_name) && read_of(d->d_name, "comm", &comm) &&
		    !strcmp((const char *)comm.data, PROGRAM "\n"))
			see_server(all, d->d_name);
	if (proc)
		closedir(proc);
	outbuf_done(&comm);
	return all;
}

static void free_servers(struct servers *all)
{
	for (unsigned i = 0; all && i < all->count; i++)
		outbuf_done(&all->list[i].layers);
	free(all);
}

/* Appends the line with the layers of the program that serves its device. */
static void add_line(const char *line, size_t size_bytes, const struct servers *all,
		     struct outbuf *out)
{
	const char *type = memmem(line, size_bytes, TYPE, strlen(TYPE)), *device;
	size_t device_bytes = field_of(line, 2, &device);

	outbuf_add(out, line, size_bytes);
	for (unsigned i = 0; type && i < all->count; i++) {
		const struct server *s = &all->list[i];

		if (strlen(s->device) != device_bytes ||
		    memcmp(s->device, device, device_bytes) != 0)
			continue;
		outbuf_add(out, s->layers.data, s->layers.size_bytes);
		return;
	}
}

bool fuse_overlayfs_are_in(const struct outbuf *mounts)
{
	return outbuf_ok(mounts) && mounts->size_bytes && strstr((const char *)mounts->data, TYPE);
}

void fuse_overlayfs_add(struct outbuf *mounts)
{
	struct outbuf out = { 0 };
	struct servers *all;
	const char *line;

	if (!fuse_overlayfs_are_in(mounts))
		return;
	all = find_servers();
	if (!all)
		return;
	for (line = (const char *)mounts->data; *line;) {
		size_t size_bytes = strcspn(line, "\n");

		add_line(line, size_bytes, all, &out);
		line += size_bytes;
		if (*line)
			outbuf_add(&out, line++, 1);
	}
	free_servers(all);
	if (!outbuf_ok(&out)) {
		outbuf_done(&out);
		return;
	}
	outbuf_done(mounts);
	*mounts = out;
}
