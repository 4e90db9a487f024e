/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/interpreter_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/outbuf.h"
#include "format/os/clock.h"
#include "format/os/slurp.h"
#include "record/base/cache_dir.h"
#include "record/base/command_path.h"
#include "record/privsep/path_below.h"

#define NAME        "interpreters"
#define LIST_BYTES  (INTERPRETER_FILES_MAX * PATH_MAX)
#define FIRST_BYTES 256 /* of a script; BINPRM_BUF_SIZE of the kernel */
#define LOOK_NS     2000000000ULL

/* ---- the list ---- */

static size_t find(const struct interpreter_files *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->count && strcmp(f->path[i], path); i++)
		;
	return i;
}

static void drop_at(struct interpreter_files *f, size_t at)
{
	free(f->path[at]);
	f->count--;
	memmove(&f->path[at], &f->path[at + 1], (f->count - at) * sizeof(f->path[0]));
	f->changed = true;
}

void interpreter_files_add(struct interpreter_files *f, const char *path)
{
	char *copy;

	if (path[0] != '/' || strchr(path, '\n') || strlen(path) >= PATH_MAX ||
	    find(f, path) < f->count)
		return;
	copy = strdup(path);
	if (!copy)
		return;
	if (f->count == INTERPRETER_FILES_MAX)
		drop_at(f, 0);
	f->path[f->count++] = copy;
	f->changed = true;
}

void interpreter_files_load(struct interpreter_files *f, const char *folder)
{
	int dir = *folder ? cache_dir_open(folder) : -ENOENT;
	struct outbuf text = { 0 };
	char *line, *rest;

	if (dir < 0 || strlen(folder) >= sizeof(f->folder)) {
		if (dir >= 0)
			close(dir);
		return;
	}
	strcpy(f->folder, folder); /* NOLINT: its length was checked */
	if (!slurp_some(dir, NAME, LIST_BYTES, &text)) {
		rest = (char *)text.data;
		while ((line = strsep(&rest, "\n")))
			interpreter_files_add(f, line);
	}
	f->changed = false;
	outbuf_done(&text);
	close(dir);
}

/* Writes a temporary file first: a reader at this moment sees the old list or the new one. */
static void write_list(const struct interpreter_files *f)
{
	int dir = cache_dir_open(f->folder), fd;
	struct outbuf text = { 0 };
	char temp[48];
	bool good;

	if (dir < 0)
		return;
	for (size_t i = 0; i < f->count; i++)
		outbuf_printf(&text, "%s\n", f->path[i]);
	snprintf(temp, sizeof(temp), CACHE_DIR_TEMP_PREFIX "i%d", (int)getpid());
	fd = outbuf_ok(&text)
		     ? openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
		     : -1;
	if (fd >= 0) {
		good = !text.size_bytes ||
		       write(fd, text.data, text.size_bytes) == (ssize_t)text.size_bytes;
		good &= !close(fd);
		if (!good || renameat(dir, temp, dir, NAME))
			(void)unlinkat(dir, temp, 0);
	}
	outbuf_done(&text);
	close(dir);
}

void interpreter_files_done(struct interpreter_files *f)
{
	if (f->changed && *f->folder)
		write_list(f);
	while (f->count)
		free(f->path[--f->count]);
	f->changed = false;
}

/* ---- looking, in a thread ---- */

struct look {
	struct io_job base;
	struct interpreter_files *files;
	struct elf_reader *reader; /* a share */
	char path[PATH_MAX];
	bool is_command; /* which may be a script */
	bool is_read;
	struct stat st;
	struct elf_facts facts;
};

static void look_drop(struct io_job *job)
{
	struct look *l = (struct look *)job;

	elf_reader_free(l->reader);
	free(l);
}

/* Negative: it is no regular file, or cannot be opened.  A path of the list is a stranger's: anything may be there. */
static int open_file(struct look *l)
{
	int at = open(l->path, O_PATH | O_CLOEXEC);

	return at < 0 ? -errno : path_below_read(at, &l->st);
}

/* The next word of a line whose words are between blanks; NULL: there are no more. */
static char *next_word(char **rest)
{
	char *word;

	while ((word = strsep(rest, " \t")))
		if (*word)
			return word;
	return NULL;
}

/* Replaces the path of a script by that of the program in its first line: behind env, the one that env looks for. */
static bool follow_script(struct look *l, int fd)
{
	char first[FIRST_BYTES], *rest = first + 2, *word;
	ssize_t n = pread(fd, first, sizeof(first) - 1, 0);

	if (n < 3 || first[0] != '#' || first[1] != '!')
		return false;
	first[n] = 0;
	first[strcspn(first, "\n")] = 0;
	word = next_word(&rest);
	if (!word)
		return false;
	if (strlen(word) >= 4 && !strcmp(word + strlen(word) - 4, "/env")) {
		do { /* its options and variables */
			word = next_word(&rest);
		} while (word && (*word == '-' || strchr(word, '=')));
		return word && !command_path_find(word, l->path);
	}
	strcpy(l->path, word); /* NOLINT: FIRST_BYTES are less than PATH_MAX */
	return true;
}

static void look_work(struct io_job *job)
{
	struct look *l = (struct look *)job;
	int fd = open_file(l);

	if (fd >= 0 && l->is_command && follow_script(l, fd)) {
		close(fd);
		fd = open_file(l);
	}
	if (fd < 0)
		return;
	l->is_read = !elf_reader_facts_safely(l->reader, fd, &l->facts);
	close(fd);
}

static void look_done(struct io_job *job)
{
	struct look *l = (struct look *)job;
	struct interpreter_files *f = l->files;
	size_t at = find(f, l->path);

	f->looking--;
	if (!l->is_read || l->facts.runtime.state == ELF_RUNTIME_NONE) {
		if (!l->is_command && at < f->count)
			drop_at(f, at);
	} else {
		f->found(f->arg, &l->st, &l->facts);
	}
	io_timeout_drop(f->io, job);
}

static void look_given_up(struct io_job *job)
{
	((struct look *)job)->files->looking--;
}

/* All have one key: where one hangs, no other is begun. */
static void look_at(struct interpreter_files *f, const char *path, bool is_command)
{
	struct look *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	*l = (struct look){ .base = { .work = look_work,
				      .done = look_done,
				      .given_up = look_given_up,
				      .drop = look_drop,
				      .key = io_key(IO_KIND_INTERPRETERS, 0, 0) },
			    .files = f,
			    .reader = elf_reader_share(f->reader),
			    .is_command = is_command };
	strcpy(l->path, path); /* NOLINT: all callers have checked its length */
	if (io_timeout_run(f->io, &l->base, false, LOOK_NS) == -EBUSY)
		look_drop(&l->base);
	else
		f->looking++;
}

void interpreter_files_look(struct interpreter_files *f)
{
	char *path[INTERPRETER_FILES_MAX];
	size_t count = f->count, i;

	for (i = 0; i < count; i++) /* those that are none leave the list meanwhile */
		path[i] = strdup(f->path[i]);
	for (i = 0; i < count; i++) {
		if (path[i])
			look_at(f, path[i], false);
		free(path[i]);
	}
}

void interpreter_files_look_at_command(struct interpreter_files *f, const char *name)
{
	char path[PATH_MAX];

	if (!command_path_find(name, path))
		look_at(f, path, true);
}

void interpreter_files_wait(struct interpreter_files *f, uint64_t max_ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), took_ns = 0;

	while (f->looking && took_ns < max_ns) {
		io_timeout_wait(f->io, max_ns - took_ns);
		io_timeout_pass(f->io);
		took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
}
