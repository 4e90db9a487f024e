/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * waits --mixed SECONDS FILE - threads that wait in many ways, printed as below
 *
 * The kernel's counts of the child so far come first, then "child PID"; it begins when a line comes on standard input,
 * and stays until that ends.  Threads spin and nap, hand each other bytes, fight for a lock, yield,
 * move between CPUs, touch new memory, write FILE to the disk, start processes and wait for them.
 *
 * waits FILE - waits in known ways for known times, and prints the kernel's counts
 *
 * A child process sleeps 10 times 50 ms, waits 200 ms for a lock that the thread "holder" has,
 * reads 10 bytes, for each of which it waits until the thread "feeder" has seen that for 20 ms, faults
 * in FILE (made here, 2 MiB), and spins for 300 ms of CPU time; each in a function of its own.  On a busy
 * machine these waits are longer, never shorter.  Then it waits, and the parent
 * prints the kernel's counts for each of its threads, and their time:
 *
 *	thread PID TID NAME RUN_NS WAIT_NS VOLUNTARY INVOLUNTARY
 *	time SECONDS.NANOSECONDS		of CLOCK_MONOTONIC
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (2u << 20)

struct meeting {
	pthread_mutex_t lock;
	atomic_uint waits;          /* how many waits for others have begun, or are about to */
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

/* Until the first thread is asleep in its wait number N, from 1 on. */
static void see_waiting(struct meeting *m, unsigned n)
{
	char text[256], state = 0;

	while (atomic_load(&m->waits) < n)
		sleep_ms(1);
	for (; state != 'S'; sleep_ms(1)) {
		int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
		ssize_t size = read(fd, text, sizeof(text) - 1);

		text[size > 0 ? size : 0] = 0;
		(void)sscanf(text, "%*d (%*[^)]) %c", &state);
		close(fd);
	}
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
	see_waiting(m, 1);
	sleep_ms(200);
	release_lock(m);
	(void)!read(m->go[0], &byte, 1);
	return NULL;
}

static void wait_for_lock(struct meeting *m)
{
	atomic_fetch_add(&m->waits, 1);
	pthread_mutex_lock(&m->lock);
	pthread_mutex_unlock(&m->lock);
}

static void *feed_pipe(void *arg)
{
	struct meeting *m = arg;
	char byte = 'f';

	pthread_setname_np(pthread_self(), "feeder");
	for (unsigned i = 0; i < 10; i++) {
		see_waiting(m, 2 + i);
		sleep_ms(20);
		(void)!write(m->fed[1], &byte, 1);
	}
	(void)!read(m->go[0], &byte, 1);
	return NULL;
}

static void wait_for_pipe(struct meeting *m)
{
	char byte;

	for (int i = 0; i < 10; i++) {
		atomic_fetch_add(&m->waits, 1);
		(void)!read(m->fed[0], &byte, 1);
	}
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

static size_t pages_in_memory(char *pages)
{
	static unsigned char here[FILE_BYTES / 4096];
	size_t n = 0;

	if (mincore(pages, FILE_BYTES, here))
		return FILE_BYTES / 4096;
	for (size_t i = 0; i < FILE_BYTES / 4096; i++)
		n += here[i] & 1;
	return n;
}

/* A file whose pages are on the disk, not in memory: one request to drop them is not always enough. */
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
	pages = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	for (int i = 0; i < 50 && pages != MAP_FAILED; i++) {
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (!pages_in_memory(pages))
			break;
		sleep_ms(10);
	}
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

/* ---- many threads ---- */

struct mixed {
	uint64_t until_ns;
	pthread_mutex_t lock;
	int there[2], back[2], go[2]; /* pipes */
	const char *path;
};

static bool goes_on(const struct mixed *m)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec < m->until_ns;
}

static void burn(unsigned long rounds)
{
	for (volatile unsigned long n = 0; n < rounds; n++)
		;
}

static void nap(const struct mixed *m)
{
	struct timespec t = { .tv_nsec = 300000 };

	while (goes_on(m)) {
		burn(100000);
		nanosleep(&t, NULL);
	}
}

static void ping(const struct mixed *m)
{
	char byte = 'p';

	while (goes_on(m) && write(m->there[1], &byte, 1) == 1 && read(m->back[0], &byte, 1) == 1)
		burn(2000);
	close(m->there[1]);
}

static void pong(const struct mixed *m)
{
	char byte;

	while (read(m->there[0], &byte, 1) == 1)
		(void)!write(m->back[1], &byte, 1);
}

static void fight(const struct mixed *m)
{
	while (goes_on(m)) {
		pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&m->lock);
		burn(20000);
		pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&m->lock);
	}
}

static void give_way(const struct mixed *m)
{
	while (goes_on(m)) {
		burn(3000);
		sched_yield();
	}
}

static void move(const struct mixed *m)
{
	cpu_set_t one;

	for (unsigned cpu = 0; goes_on(m); cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		burn(200000);
	}
}

static void touch(const struct mixed *m)
{
	while (goes_on(m)) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p == MAP_FAILED)
			return;
		memset(p, 1, 1 << 20);
		munmap(p, 1 << 20);
		sleep_ms(2);
	}
}

static void sync_file(const struct mixed *m)
{
	int fd = open(m->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	while (fd >= 0 && goes_on(m)) {
		(void)!pwrite(fd, "some bytes", 10, 0);
		fdatasync(fd);
		sleep_ms(5);
	}
}

static void start_others(const struct mixed *m)
{
	while (goes_on(m)) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static const struct job {
	const char *name;
	void (*run)(const struct mixed *m);
} jobs[] = {
	{ "napper", nap },          { "pinger", ping },    { "ponger", pong },
	{ "fighter1", fight },      { "fighter2", fight }, { "yielder", give_way },
	{ "mover", move },          { "toucher", touch },  { "syncer", sync_file },
	{ "forker", start_others },
};

enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

static struct mixed mixed;

static void *work(void *arg)
{
	const struct job *job = arg;
	char byte;

	pthread_setname_np(pthread_self(), job->name);
	job->run(&mixed);
	(void)!read(mixed.go[0], &byte, 1); /* until it is killed */
	return NULL;
}

static int mixed_child(const char *path, long seconds, int done)
{
	pthread_t threads[JOBS];
	struct timespec t;
	char byte;

	mixed.path = path;
	pthread_mutex_init(&mixed.lock, NULL);
	if (pipe(mixed.there) || pipe(mixed.back) || pipe(mixed.go))
		return 1;
	pthread_setname_np(pthread_self(), "mixed");
	clock_gettime(CLOCK_MONOTONIC, &t);
	mixed.until_ns = (uint64_t)(t.tv_sec + seconds) * 1000000000u + (uint64_t)t.tv_nsec;
	for (size_t i = 0; i < JOBS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)&jobs[i]);
	while (goes_on(&mixed))
		sleep_ms(20);
	sleep_ms(200);
	(void)!write(done, "d", 1);
	(void)!read(mixed.go[0], &byte, 1); /* until it is killed */
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

static void print_thread(pid_t pid, long tid)
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
	bool many = argc == 4 && !strcmp(argv[1], "--mixed");
	const char *file = argv[argc - 1];
	struct dirent *e;
	struct timespec now;
	int done[2], begin[2];
	char byte, path[64];
	pid_t pid;
	DIR *dir;

	if (argc < 2 || pipe(done) || pipe(begin))
		return 2;
	pid = fork();
	if (!pid) {
		close(done[0]);
		if (many && read(begin[0], &byte, 1) != 1)
			_exit(1);
		_exit(many ? mixed_child(file, strtol(argv[2], NULL, 10), done[1])
			   : child(file, done[1]));
	}
	close(done[1]);
	if (many) {
		print_thread(pid, pid);
		printf("child %d\n", (int)pid);
		fflush(stdout);
		(void)!read(STDIN_FILENO, &byte, 1);
		(void)!write(begin[1], "b", 1);
	}
	if (pid < 0 || read(done[0], &byte, 1) != 1)
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name != '.')
			print_thread(pid, strtol(e->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("time %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
	fflush(stdout);
	while (many && read(STDIN_FILENO, &byte, 1) == 1)
		;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(file);
	return 0;
}
