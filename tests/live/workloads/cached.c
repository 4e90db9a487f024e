/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cached FILE - processes that use the page cache in known ways, and what the kernel knows of each
 *
 * Prints "cached NAME PID RESIDENT MAJOR RCHAR WCHAR READ_BYTES WRITE_BYTES" of: write (PAGES pages,
 * a page a call), cold (reads them when they are on the disk alone), warm (reads them ROUNDS times,
 * two pages a call), map (touches COLD of them, mapped, on the disk alone).  RESIDENT: pages of the
 * file in memory before, by mincore(); MAJOR: by wait4(); the rest by /proc/PID/io before its end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 1009, ROUNDS = 3, COLD = 53, PAGE = 4096 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int resident(int fd)
{
	unsigned char in[PAGES] = { 0 };
	int count = 0;
	void *p = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED || mincore(p, (size_t)PAGES * PAGE, in))
		die("mincore");
	for (int i = 0; i < PAGES; i++)
		count += in[i] & 1;
	munmap(p, (size_t)PAGES * PAGE);
	return count;
}

static void do_write(int fd)
{
	char page[PAGE];

	memset(page, 'x', sizeof(page));
	for (int i = 0; i < PAGES; i++) {
		if (write(fd, page, sizeof(page)) != PAGE)
			die("write");
	}
}

static void do_read(int fd, int rounds, size_t bytes)
{
	char pages[2 * PAGE];

	for (int i = 0; i < rounds; i++) {
		lseek(fd, 0, SEEK_SET);
		while (read(fd, pages, bytes) > 0)
			;
	}
}

static void do_cold(int fd)
{
	do_read(fd, 1, PAGE);
}

static void do_warm(int fd)
{
	do_read(fd, ROUNDS, (size_t)2 * PAGE);
}

static void do_map(int fd)
{
	volatile char *p = mmap(NULL, (size_t)COLD * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED || madvise((void *)p, (size_t)COLD * PAGE, MADV_RANDOM))
		die("mmap");
	for (int i = 0; i < COLD; i++)
		(void)p[i * PAGE];
}

static void run(const char *name, void (*what)(int fd), int fd)
{
	unsigned long long rchar = 0, wchar = 0, read_bytes = 0, write_bytes = 0;
	int before = strcmp(name, "write") ? resident(fd) : 0, report[2], status;
	struct rusage used;
	char io[512] = "";
	ssize_t bytes;
	pid_t pid;

	if (pipe(report))
		die("pipe");
	pid = fork();
	if (!pid) {
		int self = open("/proc/self/io", O_RDONLY);

		prctl(PR_SET_NAME, name);
		what(fd);
		bytes = self < 0 ? 0 : read(self, io, sizeof(io));
		_exit(write(report[1], io, (size_t)bytes) != bytes);
	}
	if (wait4(pid, &status, 0, &used) != pid || status)
		die(name);
	if (read(report[0], io, sizeof(io) - 1) > 0)
		sscanf(io,
		       "rchar: %llu wchar: %llu syscr: %*u syscw: %*u read_bytes: %llu write_bytes: "
		       "%llu",
		       &rchar, &wchar, &read_bytes, &write_bytes);
	close(report[0]);
	close(report[1]);
	printf("cached %s %d %d %ld %llu %llu %llu %llu\n", name, (int)pid, before, used.ru_majflt,
	       rchar, wchar, read_bytes, write_bytes);
	fflush(stdout);
}

static void make_cold(int fd)
{
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("posix_fadvise");
}

int main(int argc, char **argv)
{
	int fd = argc < 2 ? -1 : open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		die("open");
	run("write", do_write, fd);
	make_cold(fd);
	run("cold", do_cold, fd);
	run("warm", do_warm, fd);
	make_cold(fd);
	run("map", do_map, fd);
	return 0;
}
