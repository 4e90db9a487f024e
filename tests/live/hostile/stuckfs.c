/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stuckfs DIR FILE [close | read] - mounts a file system at DIR that has FILE as "program", until SIGUSR1 comes
 *
 * From then on it answers nothing, as a network's that is gone: a process that asks it waits, and only SIGKILL
 * interrupts it.  Ends with SIGTERM; then all that wait get an error.
 * From SIGUSR2 on each answer takes 20 ms.
 * close: it takes the news that a file is closed, and never answers; a process that closes it cannot be interrupted at all.
 * read: the same for a process that reads the file, which is another user's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUEST_BYTES (256u << 10)
#define PROGRAM       2 /* node */
#define SLOW_US       20000

static volatile sig_atomic_t stuck, slow, ended;

struct served {
	int fuse_fd;
	uint8_t *bytes;
	size_t size_bytes;
	bool no_close, no_read;
};

static void on_signal(int number)
{
	if (number == SIGUSR1)
		stuck = 1;
	else if (number == SIGUSR2)
		slow = 1;
	else
		ended = 1;
}

static void answer(const struct served *s, uint64_t unique, int err, const void *data,
		   size_t size_bytes)
{
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + size_bytes),
				     .error = err,
				     .unique = unique };
	struct iovec parts[] = { { &h, sizeof(h) }, { (void *)(uintptr_t)data, size_bytes } };

	if (writev(s->fuse_fd, parts, 2) < 0 && errno != ENOENT)
		perror("stuckfs: cannot answer");
}

static struct fuse_attr attr_of(const struct served *s, uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
				   .size = node == PROGRAM ? s->size_bytes : 4096,
				   .blocks = 8,
				   .mode = node == PROGRAM ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .nlink = 1,
				   .uid = s->no_read ? 12345 : 0,
				   .blksize = 4096 };
}

static void look_up(const struct served *s, const struct fuse_in_header *in)
{
	struct fuse_entry_out out = { .nodeid = PROGRAM, .attr = attr_of(s, PROGRAM) };
	const char *name = (const char *)(in + 1);

	if (strcmp(name, "program") != 0)
		answer(s, in->unique, -ENOENT, NULL, 0);
	else
		answer(s, in->unique, 0, &out, sizeof(out));
}

static void read_file(const struct served *s, const struct fuse_in_header *in)
{
	const struct fuse_read_in *r = (const void *)(in + 1);
	size_t n = r->offset < s->size_bytes ? s->size_bytes - r->offset : 0;

	answer(s, in->unique, 0, s->bytes + (n ? r->offset : 0), n < r->size ? n : r->size);
}

/* Answers that all was written, but does not change the file. */
static void write_file(const struct served *s, const struct fuse_in_header *in)
{
	const struct fuse_write_in *w = (const void *)(in + 1);
	struct fuse_write_out out = { .size = w->size };

	answer(s, in->unique, 0, &out, sizeof(out));
}

static void serve(const struct served *s, const struct fuse_in_header *in)
{
	const struct fuse_init_in *asked = (const void *)(in + 1);
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = asked->minor < FUSE_KERNEL_MINOR_VERSION
						       ? asked->minor
						       : FUSE_KERNEL_MINOR_VERSION,
				      .max_readahead = 1u << 17,
				      .max_write = 1u << 12 };
	struct fuse_attr_out attr = { .attr = attr_of(s, in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(s, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(s, in);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(s, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(s, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (!s->no_read)
			read_file(s, in);
		break;
	case FUSE_WRITE:
		write_file(s, in);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(s, in->unique, 0, NULL, 0);
		break;
	case FUSE_FLUSH:
		if (!s->no_close)
			answer(s, in->unique, -ENOSYS, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(s, in->unique, -ENOSYS, NULL, 0);
	}
}

static bool read_file_bytes(const char *path, struct served *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool complete;

	if (fd < 0 || fstat(fd, &st))
		return false;
	s->size_bytes = (size_t)st.st_size;
	s->bytes = malloc(s->size_bytes);
	complete = s->bytes && read(fd, s->bytes, s->size_bytes) == st.st_size;
	close(fd);
	return complete;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct served s = { 0 };
	uint8_t *request = malloc(REQUEST_BYTES);
	char options[128];

	if (argc < 3 || !request || !read_file_bytes(argv[2], &s)) {
		free(request);
		return 2;
	}
	s.no_close = argc > 3 && !strcmp(argv[3], "close");
	s.no_read = argc > 3 && !strcmp(argv[3], "read");
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	s.fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 s.fuse_fd);
	if (s.fuse_fd < 0 || mount("stuckfs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("stuckfs");
		free(request);
		return 1;
	}
	puts("mounted");
	fflush(stdout);
	while (!ended) {
		ssize_t n = stuck ? (pause(), 0) : read(s.fuse_fd, request, REQUEST_BYTES);

		if (n > 0 && slow)
			usleep(SLOW_US);
		if (n >= (ssize_t)sizeof(struct fuse_in_header) && !stuck)
			serve(&s, (const struct fuse_in_header *)(const void *)request);
	}
	close(s.fuse_fd);
	umount2(argv[1], MNT_DETACH);
	free(request);
	free(s.bytes);
	return 0;
}
