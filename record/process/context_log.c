/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/context_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "record/process/proc/proc_maps.h"

#define COPY_OBJECT 1 /* the only one of a window's capture */

#define NAME    "OTEL_CTX"
#define VERSION 2

/* At the begin of the mapping. */
struct header {
	char signature[8]; /* NAME; written last */
	uint32_t version, message_bytes;
	uint64_t published_ns; /* 0: it is being written anew */
	uint64_t message;      /* its address */
};

_Static_assert(sizeof(struct header) == 32, "OTEP 4719");

struct context_log_entry {
	uint32_t pid, size_bytes;
	uint64_t since_ns, until_ns; /* until_ns 0: still so */
	bool is_last;                /* when it ended, the process had none */
	uint8_t *message;            /* owned */
};

void context_log_done(struct context_log *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->list[i].message);
	free(k->list);
	u64map_done(&k->last);
	outbuf_done(&k->pending);
	*k = (struct context_log){ 0 };
}

static void put(struct outbuf *to, const struct context_record *r)
{
	uint8_t head[CONTEXT_RECORD_HEAD_BYTES];

	context_record_encode(r, head);
	outbuf_add(to, head, sizeof(head));
	outbuf_add(to, r->message, r->size_bytes);
}

/* The context that the process has; NULL: none. */
static struct context_log_entry *find(const struct context_log *k, uint32_t pid)
{
	const uint32_t *at = u64map_get(&k->last, pid, 0);

	return at ? &k->list[*at] : NULL;
}

bool context_log_has(const struct context_log *k, uint32_t pid)
{
	return find(k, pid);
}

int context_log_end(struct context_log *k, uint32_t pid, uint64_t time_ns)
{
	struct context_log_entry *e = find(k, pid);

	if (!e || e->since_ns > time_ns)
		return 0;
	e->until_ns = time_ns ? time_ns : 1;
	e->is_last = true;
	u64map_remove(&k->last, pid, 0);
	if (k->in_window)
		return 0;
	put(&k->pending, &(struct context_record){ .pid = pid, .since_ns = time_ns });
	return outbuf_ok(&k->pending) ? 0 : -ENOMEM;
}

/* There is room. */
static int append(struct context_log *k, uint32_t pid, uint64_t time_ns, const void *message,
		  size_t size_bytes)
{
	struct context_log_entry e = { .pid = pid,
				       .size_bytes = (uint32_t)size_bytes,
				       .since_ns = time_ns,
				       .message = malloc(size_bytes) };
	int err = e.message ? vec_reserve(&k->list, &k->room, k->count + 1) : -ENOMEM;

	if (!err)
		err = u64map_put(&k->last, pid, 0, (uint32_t)k->count);
	if (err) {
		free(e.message);
		return err;
	}
	memcpy(e.message, message, size_bytes);
	k->list[k->count++] = e;
	k->message_bytes += size_bytes;
	return 0;
}

int context_log_add(struct context_log *k, uint32_t pid, uint64_t time_ns, const void *message,
		    size_t size_bytes)
{
	struct context_log_entry *was = find(k, pid);
	int err;

	if (was && was->since_ns > time_ns)
		return 0;
	if (size_bytes > CONTEXT_RECORD_BYTES_MAX || k->count >= CONTEXT_LOG_ENTRIES_MAX ||
	    k->message_bytes + size_bytes > CONTEXT_LOG_BYTES_MAX) {
		k->refused_count++;
		return context_log_end(k, pid, time_ns);
	}
	if (was && was->size_bytes == size_bytes && !memcmp(was->message, message, size_bytes))
		return 0;
	if (was)
		was->until_ns = time_ns ? time_ns : 1;
	err = append(k, pid, time_ns, message, size_bytes);
	if (err || k->in_window)
		return err;
	put(&k->pending, &(struct context_record){ .pid = pid,
						   .since_ns = time_ns,
						   .message = message,
						   .size_bytes = (uint32_t)size_bytes });
	return outbuf_ok(&k->pending) ? 0 : -ENOMEM;
}

/* ---- memory of processes ---- */

static bool read_memory(int mem_fd, uint64_t addr, void *out, size_t size_bytes)
{
	return pread(mem_fd, out, size_bytes, (off_t)addr) == (ssize_t)size_bytes;
}

static bool is_valid(const struct header *h)
{
	return !memcmp(h->signature, NAME, sizeof(h->signature)) && h->version == VERSION &&
	       h->published_ns && h->message_bytes && h->message_bytes <= CONTEXT_RECORD_BYTES_MAX;
}

/* The message whose header is at addr; also that it did not change meanwhile. */
static bool read_message(int mem_fd, uint64_t addr, struct outbuf *out)
{
	struct header h, again;
	uint8_t message[CONTEXT_RECORD_BYTES_MAX];

	if (!read_memory(mem_fd, addr, &h, sizeof(h)) || !is_valid(&h) ||
	    !read_memory(mem_fd, h.message, message, h.message_bytes) ||
	    !read_memory(mem_fd, addr, &again, sizeof(again)) ||
	    again.published_ns != h.published_ns)
		return false;
	outbuf_add(out, message, h.message_bytes);
	return true;
}

static bool is_context(const char *path)
{
	static const char *const names[] = { "/memfd:" NAME, "[anon_shmem:" NAME, "[anon:" NAME };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

void context_log_read(int proc_fd, const char *maps, struct outbuf *out)
{
	struct proc_map *map;
	int mem_fd;

	if (!strstr(maps, NAME))
		return;
	map = malloc(sizeof(*map));
	mem_fd = map ? openat(proc_fd, "mem", O_RDONLY | O_CLOEXEC) : -1;
	for (int more; mem_fd >= 0 && (more = proc_maps_next(&maps, map)) != 0;)
		if (more > 0 && is_context(map->path) && read_message(mem_fd, map->start, out))
			break;
	if (mem_fd >= 0)
		close(mem_fd);
	free(map);
}

/* ---- the window ---- */

static bool is_over(const struct context_log_entry *e, uint64_t before_ns)
{
	return e->until_ns && e->until_ns < before_ns;
}

/* When it is a quarter of them: the others are found by their places. */
void context_log_drop(struct context_log *k, uint64_t before_ns)
{
	size_t count = k->count, over = 0;

	for (size_t i = 0; i < count; i++)
		over += is_over(&k->list[i], before_ns);
	if (!over || over * 4 < count)
		return;
	k->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct context_log_entry e = k->list[i];
		uint32_t *at = e.until_ns ? NULL : u64map_get(&k->last, e.pid, 0);

		if (is_over(&e, before_ns)) {
			k->message_bytes -= e.size_bytes;
			free(e.message);
			continue;
		}
		if (at)
			*at = (uint32_t)k->count;
		k->list[k->count++] = e;
	}
}

int context_log_flush(struct context_log *k)
{
	int err;

	if (!k->writer || k->in_window || !k->pending.size_bytes)
		return 0;
	err = outbuf_ok(&k->pending) ? writer_object(k->writer, EBX_CONTEXTS, ++k->next_object,
						     k->pending.data, k->pending.size_bytes)
				     : -ENOMEM;
	outbuf_clear(&k->pending);
	context_log_drop(k, UINT64_MAX);
	return err;
}

int context_log_copy(const struct context_log *k, struct writer *to)
{
	struct outbuf all = { 0 };
	int err = 0;

	for (size_t i = 0; i < k->count; i++) {
		const struct context_log_entry *e = &k->list[i];

		put(&all, &(struct context_record){ .pid = e->pid,
						    .since_ns = e->since_ns,
						    .message = e->message,
						    .size_bytes = e->size_bytes });
		if (e->is_last)
			put(&all,
			    &(struct context_record){ .pid = e->pid, .since_ns = e->until_ns });
	}
	if (all.size_bytes)
		err = outbuf_ok(&all) ? writer_object(to, EBX_CONTEXTS, COPY_OBJECT, all.data,
						      all.size_bytes)
				      : -ENOMEM;
	outbuf_done(&all);
	return err;
}
