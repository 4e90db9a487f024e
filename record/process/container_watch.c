/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/payload/container_record.h"
#include "record/process/cgroup_paths.h"
#include "record/process/container_stores.h"
#include "record/process/proc_stat.h"
#include "format/base/slurp.h"

#define COUNT_MAX     8192
#define UNNAMED_MAX   (COUNT_MAX / 2)
#define TRIES         10 /* the engine may be about to write it */
#define TRY_NS        200000000ULL
#define LOOKS_A_TRY   8           /* at a time: users can make many cgroups, and large files */
#define PAUSE_NS      50000000ULL /* after so many */
#define ANCESTORS_MAX 64
#define MAKERS_MAX    4

struct container_watch_one {
	char id[CONTAINER_RECORD_DIGITS];
	uint8_t tries_left;
	uint64_t next_ns; /* of trying */
	char *cgroup;     /* owned; NULL: it is given up, or named */
};

void container_watch_done(struct container_watch *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].cgroup);
	free(c->list);
	free(c->mount);
	u64map_done(&c->by_id);
	outbuf_done(&c->fresh);
	*c = (struct container_watch){ 0 };
}

static uint64_t hex_of(const char *digits)
{
	char text[17];

	memcpy(text, digits, 16);
	text[16] = '\0';
	return strtoull(text, NULL, 16);
}

static struct container_watch_one *find(const struct container_watch *c, const char *id)
{
	const uint32_t *at = u64map_get(&c->by_id, hex_of(id), hex_of(id + 16));

	return at && !memcmp(c->list[*at].id, id, CONTAINER_RECORD_DIGITS) ? &c->list[*at] : NULL;
}

static void settle(struct container_watch *c, struct container_watch_one *one)
{
	free(one->cgroup);
	one->cgroup = NULL;
	c->unnamed_count--;
}

/*
 * Those that have a name, or never will, need not be known: one that comes back is looked for again.
 * -ENOMEM: some are no longer known, none twice.
 */
static int forget_settled(struct container_watch *c)
{
	size_t count = c->count;
	int err = 0;

	u64map_done(&c->by_id);
	c->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct container_watch_one one = c->list[i];

		if (!one.cgroup)
			continue;
		err = err ? err
			  : u64map_put(&c->by_id, hex_of(one.id), hex_of(one.id + 16),
				       (uint32_t)c->count);
		if (!err) {
			c->list[c->count++] = one;
			continue;
		}
		settle(c, &one);
		c->missed_count++;
	}
	return err;
}

static int reserve(struct container_watch *c)
{
	struct container_watch_one *list;

	if (c->unnamed_count == UNNAMED_MAX)
		return -EOVERFLOW;
	if (c->count == COUNT_MAX)
		return forget_settled(c);
	if (c->count < c->room)
		return 0;
	list = reallocarray(c->list, c->room + 64, sizeof(*list));
	if (!list)
		return -ENOMEM;
	c->list = list;
	c->room += 64;
	return 0;
}

void container_watch_saw(struct container_watch *c, const char *cgroup)
{
	const char *id = container_record_in(cgroup);
	struct container_watch_one *one;
	char *copy;

	if (!id || find(c, id))
		return;
	copy = reserve(c) ? NULL : strdup(cgroup);
	if (!copy || u64map_put(&c->by_id, hex_of(id), hex_of(id + 16), (uint32_t)c->count)) {
		free(copy);
		c->missed_count++;
		return;
	}
	one = &c->list[c->count++];
	*one = (struct container_watch_one){ .tries_left = TRIES, .cgroup = copy };
	memcpy(one->id, id, CONTAINER_RECORD_DIGITS);
	c->unnamed_count++;
}

/* ---- what is found ---- */

struct found {
	struct container_watch *c;
	const char *only; /* this container's id; NULL: believed of any */
};

static void on_name(void *ctx, const char *id, const char *name, size_t name_bytes)
{
	uint8_t entry[CONTAINER_RECORD_ENTRY_MAX];
	struct found *f = ctx;
	struct container_watch_one *one = find(f->c, id);

	if (!one || !one->cgroup || (f->only && memcmp(f->only, id, CONTAINER_RECORD_DIGITS) != 0))
		return;
	outbuf_add(&f->c->fresh, entry,
		   container_record_encode(
			   &(struct container_record_entry){ one->id, name, CONTAINER_RECORD_DIGITS,
							     name_bytes },
			   entry));
	settle(f->c, one);
}

/* ---- who watches over a container ---- */

static uint32_t first_pid(int dir_fd, const char *path)
{
	struct outbuf text = { 0 };
	uint32_t pid = 0;

	if (!slurp_at(dir_fd, path, &text) && text.size_bytes)
		pid = (uint32_t)strtoul((const char *)text.data, NULL, 10);
	outbuf_done(&text);
	return pid;
}

static const char *mount_of(struct container_watch *c)
{
	struct outbuf mounts = { 0 };
	char mount[PATH_MAX] = "";

	if (!c->mount && !slurp("/proc/self/mountinfo", &mounts)) {
		(void)cgroup_paths_mount((const char *)mounts.data, mount, sizeof(mount));
		c->mount = strdup(mount);
	}
	outbuf_done(&mounts);
	return c->mount ? c->mount : "";
}

/* A process in the cgroup, or in one right below it; 0: none. */
static uint32_t member_of(struct container_watch *c, const char *cgroup)
{
	const char *mount = mount_of(c);
	char path[PATH_MAX], procs[NAME_MAX + 16];
	uint32_t pid = 0;
	struct dirent *d;
	DIR *dir;

	if (!*mount || snprintf(path, sizeof(path), "%s%s", mount, cgroup) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0;
	pid = first_pid(dirfd(dir), "cgroup.procs");
	while (!pid && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || *d->d_name == '.')
			continue;
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", d->d_name);
		pid = first_pid(dirfd(dir), procs);
	}
	closedir(dir);
	return pid;
}

static uint32_t parent_of(uint32_t pid)
{
	struct outbuf text = { 0 };
	struct proc_stat stat = { 0 };
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (slurp(path, &text) || !text.size_bytes || proc_stat_parse((char *)text.data, &stat))
		stat.ppid = 0;
	outbuf_done(&text);
	return stat.ppid;
}

static bool is_inside(uint32_t pid, const char *id)
{
	struct outbuf text = { 0 };
	const char *own = NULL;
	bool inside;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (!slurp(path, &text) && text.size_bytes)
		own = container_record_in((const char *)text.data);
	inside = own && !memcmp(own, id, CONTAINER_RECORD_DIGITS);
	outbuf_done(&text);
	return inside;
}

/* The first ancestor of the container's processes that is not one of them; 0: none. */
static uint32_t watcher_of(struct container_watch *c, const struct container_watch_one *one)
{
	uint32_t pid = member_of(c, one->cgroup);
	unsigned steps = 0;

	while (pid && steps++ < ANCESTORS_MAX && is_inside(pid, one->id))
		pid = parent_of(pid);
	return steps < ANCESTORS_MAX ? pid : 0;
}

const char *container_watch_conmon_name(const char *args, size_t size_bytes, const char *id)
{
	const char *end = args + size_bytes, *at = args, *next, *name = NULL, *base;
	bool same = false;

	if (!size_bytes || end[-1])
		return NULL;
	base = strrchr(args, '/');
	if (strcmp(base ? base + 1 : args, "conmon") != 0)
		return NULL;
	for (; at < end; at = next) {
		next = at + strlen(at) + 1;
		if (next >= end)
			break;
		if (!strcmp(at, "-c") || !strcmp(at, "--cid"))
			same = !strncmp(next, id, CONTAINER_RECORD_DIGITS);
		else if (!strcmp(at, "-n") || !strcmp(at, "--name"))
			name = next;
	}
	return same && name && container_record_is_name(name, strlen(name)) ? name : NULL;
}

static bool is_conmon(struct found *f, uint32_t pid)
{
	struct outbuf args = { 0 };
	const char *name = NULL;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	if (!slurp(path, &args) && args.size_bytes)
		name = container_watch_conmon_name((const char *)args.data, args.size_bytes,
						   f->only);
	if (name)
		on_name(f, f->only, name, strlen(name));
	outbuf_done(&args);
	return name;
}

/* While a container is being made its watcher's child, runc, stands between them. */
static bool ask_conmon(struct found *f, uint32_t pid)
{
	for (unsigned steps = 0; pid && steps < MAKERS_MAX; steps++, pid = parent_of(pid))
		if (is_conmon(f, pid))
			return true;
	return false;
}

/* A root's own stores have been asked. */
static bool is_asked(int root_fd, uint32_t uid)
{
	struct stat own, theirs;

	return !uid && !stat("/", &own) && !fstat(root_fd, &theirs) &&
	       own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino;
}

static void ask_stores(struct found *f, int root_fd, uint32_t uid)
{
	container_stores_look(f->c->reader, root_fd, uid, f->only, CONTAINER_STORES_ALL, on_name,
			      f);
}

static void ask_watcher(struct container_watch *c, const struct container_watch_one *one)
{
	struct found f = { .c = c, .only = one->id };
	uint32_t pid = watcher_of(c, one);
	char path[48];
	struct stat st;
	int root_fd;

	if (!pid || ask_conmon(&f, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return;
	if (!is_asked(root_fd, st.st_uid))
		ask_stores(&f, root_fd, st.st_uid);
	close(root_fd);
}

void container_watch_look(struct container_watch *c, uint64_t now_ns)
{
	enum container_stores_which which = CONTAINER_STORES_ALL;
	struct found any = { .c = c };
	unsigned looks = 0;
	int root_fd = -1;

	if (c->next_ns > now_ns)
		return;
	/* Each in its turn. */
	for (size_t i = 0; i < c->count && c->unnamed_count && looks < LOOKS_A_TRY; i++) {
		struct container_watch_one *one = &c->list[c->at++ % c->count];

		if (!one->cgroup || one->next_ns > now_ns)
			continue;
		looks++;
		if (root_fd < 0)
			root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root_fd >= 0)
			container_stores_look(c->reader, root_fd, CONTAINERSTORES_NO_HOME, one->id,
					      which, on_name, &any);
		which = CONTAINER_STORES_SINGLE; /* the lists told of all */
		if (!one->cgroup)
			continue;
		ask_watcher(c, one);
		one->next_ns = now_ns + TRY_NS;
		if (one->cgroup && !--one->tries_left)
			settle(c, one);
	}
	if (looks == LOOKS_A_TRY)
		c->next_ns = now_ns + PAUSE_NS;
	if (root_fd >= 0)
		close(root_fd);
}

int container_watch_flush(struct container_watch *c)
{
	int err = 0;

	if (c->writer && c->fresh.size_bytes && outbuf_ok(&c->fresh))
		err = writer_object(c->writer, EBX_CONTAINERS, c->next_object++, c->fresh.data,
				    c->fresh.size_bytes);
	outbuf_clear(&c->fresh);
	return err;
}
