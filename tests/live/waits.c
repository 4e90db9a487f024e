/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * waits FILE - waits in known ways for known times, and tells what the kernel counted
 *
 * A child process sleeps 10 times 50 ms, waits 200 ms for a lock that the thread "holder" has,
 * reads 10 bytes that the thread "feeder" writes 20 ms apart, faults in FILE (made here, 8 MiB),
 * and spins for 300 ms of CPU time; each in a function of its own.  Then it waits, and the parent
 * prints what the kernel counted for each of its threads, and when:
 *
 *	thread PID TID NAME RUN_NS WAIT_NS VOLUNTARY INVOLUNTARY
 *	time SECONDS.NANOSECONDS		of CLOCK_MONOTONIC
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (8u << 20)

struct meeting {
	pthread_mutex_t lock;
	int held[2], fed[2], go[2]; /* pipes */
};

static void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void wait_sleeping(void)
{
	for (int i = 0; i < 10; i++)
		sleep_ms(50);
}

static void release_lock(struct meeting *m)
{
	pthread_mutex_unlock(&m->lock);
}

static void *hold_lock(void *arg)
{
	struct meeting *m = arg;
	char byte = 'h';

	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&m->lock);
	(void)!write(m->held[1], &byte, 1);
	sleep_ms(200);
	release_lock(m);
	(void)!read(m->go[0], &byte, 1);
	return NULL;
}

static void wait_for_lock(struct meeting *m)
{
	pthread_mutex_lock(&m->lock);
	pthread_mutex_unlock(&m->lock);
}

static void *feed_pipe(void *arg)
{
	struct meeting *m = arg;
	char byte = 'f';

	pthread_setname_np(pthread_self(), "feeder");
	for (int i = 0; i < 10; i++) {
		sleep_ms(20);
		(void)!write(m->fed[1], &byte, 1);
	}
	(void)!read(m->go[0], &byte, 1);
	return NULL;
}

static void wait_for_pipe(struct meeting *m)
{
	char byte;

	for (int i = 0; i < 10; i++)
		(void)!read(m->fed[0], &byte, 1);
}

static unsigned long wait_for_pages(const volatile char *pages)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < FILE_BYTES; i += 4096)
		sum += (unsigned long)pages[i];
	return sum;
}

static void spin(long ms)
{
	struct timespec t;
	volatile unsigned long n = 0;

	do {
		for (int i = 0; i < 10000; i++)
			n++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

/* A file whose pages are on the disk, not in memory. */
static char *map_cold_file(const char *path)
{
	static char block[65536];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *pages;

	if (fd < 0)
		return NULL;
	memset(block, 'x', sizeof(block));
	for (size_t i = 0; i < FILE_BYTES / sizeof(block); i++)
		(void)!write(fd, block, sizeof(block));
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	pages = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return pages == MAP_FAILED ? NULL : pages;
}

static int child(const char *path, int done)
{
	struct meeting m = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t holder, feeder;
	char byte, *pages;

	if (pipe(m.held) || pipe(m.fed) || pipe(m.go))
		return 1;
	pthread_setname_np(pthread_self(), "waiter");
	wait_sleeping();
	pthread_create(&holder, NULL, hold_lock, &m);
	(void)!read(m.held[0], &byte, 1);
	wait_for_lock(&m);
	pthread_create(&feeder, NULL, feed_pipe, &m);
	wait_for_pipe(&m);
	pages = map_cold_file(path);
	if (!pages)
		return 1;
	madvise(pages, FILE_BYTES, MADV_RANDOM); /* one page a fault */
	wait_for_pages(pages);
	spin(300);
	(void)!write(done, "d", 1);
	(void)!read(m.go[0], &byte, 1); /* until it is killed */
	return 0;
}

/* ---- the parent ---- */

static long number_of(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[256];
	long value = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

static int is_asleep(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];
	int asleep = 0;

	while (f && fgets(line, sizeof(line), f))
		asleep |= !strncmp(line, "State:\tS", 8);
	if (f)
		fclose(f);
	return asleep;
}

static void tell_thread(pid_t pid, long tid)
{
	char path[128], name[32] = "?";
	long long run_ns = -1, wait_ns = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%ld/status", (int)pid, tid);
	while (!is_asleep(path))
		sleep_ms(1);
	snprintf(path, sizeof(path), "/proc/%d/task/%ld/schedstat", (int)pid, tid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%lld %lld", &run_ns, &wait_ns) != 2)
		run_ns = -1;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/task/%ld/comm", (int)pid, tid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/task/%ld/status", (int)pid, tid);
	printf("thread %d %ld %s %lld %lld %ld %ld\n", (int)pid, tid, name, run_ns, wait_ns,
	       number_of(path, "voluntary_ctxt_switches:"),
	       number_of(path, "nonvoluntary_ctxt_switches:"));
}

int main(int argc, char **argv)
{
	struct dirent *e;
	struct timespec now;
	int done[2];
	char byte, path[64];
	pid_t pid;
	DIR *dir;

	if (argc < 2 || pipe(done))
		return 2;
	pid = fork();
	if (!pid) {
		close(done[0]);
		_exit(child(argv[1], done[1]));
	}
	close(done[1]);
	if (pid < 0 || read(done[0], &byte, 1) != 1)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name != '.')
			tell_thread(pid, strtol(e->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("time %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
	fflush(stdout);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(argv[1]);
	return 0;
}
