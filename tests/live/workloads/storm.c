/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * storm RATE SECONDS [DIR] - starts RATE programs a second, evenly, and prints how many there were
 *
 * Each is this program again, which computes for a moment and ends.  On a machine that is too busy
 * there are fewer: they are started one after the other's time has come, and never twice as fast.
 * With DIR each is a file of its own there, with a build-id of its own, which is removed soon after.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double at_s)
{
	double left_s = at_s - now_s();
	struct timespec t;

	if (left_s <= 0)
		return;
	t.tv_sec = (time_t)left_s;
	t.tv_nsec = (long)((left_s - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static unsigned work(unsigned depth)
{
	volatile unsigned sum = depth;

	for (unsigned i = 0; i < 1000; i++)
		sum += i;
	return depth ? work(depth - 1) + sum : sum;
}

#define COPIES 256 /* files that are there at a time */

/* This program's file, and where the number of a copy goes. */
struct image {
	char *bytes, *build_id;
	size_t size_bytes;
};

static bool read_image(struct image *image)
{
	static const char head[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU";
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool complete;

	if (fd < 0 || fstat(fd, &st))
		return false;
	image->size_bytes = (size_t)st.st_size;
	image->bytes = malloc(image->size_bytes);
	complete = image->bytes && read(fd, image->bytes, image->size_bytes) == st.st_size;
	close(fd);
	image->build_id = complete ? memmem(image->bytes, image->size_bytes, head, sizeof(head))
				   : NULL;
	if (image->build_id)
		image->build_id += sizeof(head);
	return image->build_id;
}

static bool make_copy(const struct image *image, const char *path, uint64_t number)
{
	bool complete;
	int fd;

	unlink(path); /* another inode, and not one that runs */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return false;
	memcpy(image->build_id, &number, sizeof(number));
	complete = write(fd, image->bytes, image->size_bytes) == (ssize_t)image->size_bytes;
	close(fd);
	return complete;
}

/* Long enough to be seen before it is gone. */
static int live_a_moment(void)
{
	struct timespec moment = { .tv_nsec = 100000000 };
	unsigned sum = 0;

	for (unsigned i = 0; i < 4; i++)
		sum += work(100);
	nanosleep(&moment, NULL);
	return sum == 1;
}

static void start(const char *program, bool lives)
{
	char name[] = "storm", lasting[] = "-";
	char *leaf[] = { name, lives ? lasting : NULL, NULL };
	pid_t pid = fork();

	if (pid)
		return;
	execve(program, leaf, environ);
	_exit(127);
}

int main(int argc, char **argv)
{
	double began_s = now_s(), rate, seconds;
	char copy[256] = "/proc/self/exe";
	struct image image = { 0 };
	unsigned long count = 0;

	if (argc < 3)
		return argc < 2 ? work(100) == 1 : live_a_moment();
	if (argc > 3 && !read_image(&image))
		return 1;
	rate = atof(argv[1]);
	seconds = atof(argv[2]);
	while (now_s() - began_s < seconds) {
		sleep_until(began_s + (double)count / rate);
		if (argc > 3) {
			snprintf(copy, sizeof(copy), "%s/storm-%lu", argv[3], count % COPIES);
			if (!make_copy(&image, copy, count))
				return 1;
		}
		start(copy, argc > 3);
		count++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%lu\n", count);
	return 0;
}
