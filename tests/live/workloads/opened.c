/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * opened COUNT [FIFO] - opens COUNT files that stay open and COUNT that do not, and prints the kernel's
 * memory for them
 *
 * Prints "opened held PID CACHE_BEFORE CACHE_AFTER RSS_KIB SIZE_KIB" of a child that holds COUNT open
 * files and TOUCHED bytes until no process has FIFO open for writing any more, and "opened freed PID" of one
 * that closes each.  CACHE_*: objects of filp in /proc/slabinfo, 0 where that is not to be read; RSS and
 * size as in /proc/PID/status.
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

enum { TOUCHED = 32 << 20 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long number_of(const char *path, const char *line)
{
	char text[512];
	FILE *f = fopen(path, "r");
	long value = 0;

	while (f && fgets(text, sizeof(text), f)) {
		if (!strncmp(text, line, strlen(line)))
			value = atol(text + strlen(line));
	}
	if (f)
		fclose(f);
	return value;
}

static void open_files(long count, int keep)
{
	int fd;

	while (count--) {
		fd = open("/dev/null", O_RDONLY);
		if (fd < 0)
			die("open");
		if (!keep)
			close(fd);
	}
}

/* Writes to ready_fd when it holds all. */
static pid_t hold(long count, const char *fifo, int ready_fd)
{
	pid_t pid = fork();
	int fd = -1;
	char byte;
	char *p;

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "holds");
	if (fifo && (fd = open(fifo, O_RDONLY)) < 0)
		die(fifo);
	p = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	memset(p, 1, TOUCHED);
	open_files(count, 1);
	close(STDOUT_FILENO); /* its reader must not wait for us */
	close(STDERR_FILENO);
	if (write(ready_fd, "", 1) != 1)
		die("write");
	if (fd >= 0)
		(void)!read(fd, &byte, 1);
	_exit(0);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1009, before, after;
	struct rlimit most = { (rlim_t)count + 64, (rlim_t)count + 64 };
	char path[64], byte;
	int ready[2], status;
	pid_t pid;

	if (setrlimit(RLIMIT_NOFILE, &most) || pipe(ready))
		die("setrlimit");
	/* All files are open within some milliseconds; the recorder shall know how to walk us by then. */
	usleep(300000);
	before = number_of("/proc/slabinfo", "filp ");
	pid = hold(count, argc > 2 ? argv[2] : NULL, ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("read");
	after = number_of("/proc/slabinfo", "filp ");
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	printf("opened held %d %ld %ld %ld %ld\n", (int)pid, before, after,
	       number_of(path, "VmRSS:"), number_of(path, "VmSize:"));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "frees");
		open_files(count, 0);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("frees");
	printf("opened freed %d\n", (int)pid);
	return 0;
}
