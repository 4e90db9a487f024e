/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/dbus/dbus_monitor.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/base/shared_library.h"
#include "analyze/base/string_table.h"
#include "format/base/vec.h"

#define BUS_NAME    "org.freedesktop.DBus"
#define ANSWER_USEC 5000000
#define NAMES_MAX   100000 /* senders whose processes are kept */

/* As <systemd/sd-bus.h> declares them; the headers are not needed to build. */
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
	const char *name, *message;
	int need_free;
} sd_bus_error;
typedef int (*sd_bus_handler)(sd_bus_message *m, void *arg, sd_bus_error *error);

struct library {
	void *handle;
	int (*new)(sd_bus **out);
	int (*set_address)(sd_bus *bus, const char *address);
	int (*set_bus_client)(sd_bus *bus, int is_client);
	int (*set_monitor)(sd_bus *bus, int is_monitor);
	int (*set_method_call_timeout)(sd_bus *bus, uint64_t usec);
	int (*start)(sd_bus *bus);
	int (*call_method)(sd_bus *bus, const char *destination, const char *path,
			   const char *interface, const char *member, sd_bus_error *error,
			   sd_bus_message **reply, const char *types, ...);
	int (*get_unique_name)(sd_bus *bus, const char **out);
	int (*get_fd)(sd_bus *bus);
	int (*process)(sd_bus *bus, sd_bus_message **out);
	sd_bus *(*unref)(sd_bus *bus);
	int (*call_method_async)(sd_bus *bus, sd_bus_slot **slot, const char *destination,
				 const char *path, const char *interface, const char *member,
				 sd_bus_handler fn, void *arg, const char *types, ...);
	int (*message_read)(sd_bus_message *m, const char *types, ...);
	void (*error_free)(sd_bus_error *error);
	int (*get_type)(sd_bus_message *m, uint8_t *out);
	int (*get_cookie)(sd_bus_message *m, uint64_t *out);
	int (*get_reply_cookie)(sd_bus_message *m, uint64_t *out);
	int (*get_expect_reply)(sd_bus_message *m);
	const char *(*get_sender)(sd_bus_message *m);
	const char *(*get_destination)(sd_bus_message *m);
	const char *(*get_interface)(sd_bus_message *m);
	const char *(*get_member)(sd_bus_message *m);
	const sd_bus_error *(*get_error)(sd_bus_message *m);
	sd_bus_message *(*message_unref)(sd_bus_message *m);
};

/* What an answer of the bus goes to. */
struct sender {
	const struct library *l;
	uint32_t pid; /* 0: not known */
};

struct dbus_monitor {
	struct library l;
	sd_bus *bus, *asking;
	char own_names[2][DBUS_NAME_MAX];
	struct string_table *senders;
	struct sender **list; /* by sender */
	size_t count, room;
};

static const struct shared_symbol symbols[] = {
	{ "sd_bus_new", offsetof(struct library, new) },
	{ "sd_bus_set_address", offsetof(struct library, set_address) },
	{ "sd_bus_set_bus_client", offsetof(struct library, set_bus_client) },
	{ "sd_bus_set_monitor", offsetof(struct library, set_monitor) },
	{ "sd_bus_set_method_call_timeout", offsetof(struct library, set_method_call_timeout) },
	{ "sd_bus_start", offsetof(struct library, start) },
	{ "sd_bus_call_method", offsetof(struct library, call_method) },
	{ "sd_bus_get_unique_name", offsetof(struct library, get_unique_name) },
	{ "sd_bus_get_fd", offsetof(struct library, get_fd) },
	{ "sd_bus_process", offsetof(struct library, process) },
	{ "sd_bus_flush_close_unref", offsetof(struct library, unref) },
	{ "sd_bus_call_method_async", offsetof(struct library, call_method_async) },
	{ "sd_bus_message_read", offsetof(struct library, message_read) },
	{ "sd_bus_error_free", offsetof(struct library, error_free) },
	{ "sd_bus_message_get_type", offsetof(struct library, get_type) },
	{ "sd_bus_message_get_cookie", offsetof(struct library, get_cookie) },
	{ "sd_bus_message_get_reply_cookie", offsetof(struct library, get_reply_cookie) },
	{ "sd_bus_message_get_expect_reply", offsetof(struct library, get_expect_reply) },
	{ "sd_bus_message_get_sender", offsetof(struct library, get_sender) },
	{ "sd_bus_message_get_destination", offsetof(struct library, get_destination) },
	{ "sd_bus_message_get_interface", offsetof(struct library, get_interface) },
	{ "sd_bus_message_get_member", offsetof(struct library, get_member) },
	{ "sd_bus_message_get_error", offsetof(struct library, get_error) },
	{ "sd_bus_message_unref", offsetof(struct library, message_unref) },
};

static int load_library(struct library *l)
{
	return shared_library_open("libsystemd.so.0", false, symbols,
				   sizeof(symbols) / sizeof(symbols[0]), l, &l->handle);
}

static int connect_bus(const struct library *l, const char *address, bool is_monitor, sd_bus **bus,
		       char own_name[DBUS_NAME_MAX])
{
	const char *name;
	int err = l->new (bus);

	if (err >= 0)
		err = l->set_address(*bus, address);
	if (err >= 0)
		err = l->set_bus_client(*bus, 1);
	if (err >= 0)
		err = l->set_monitor(*bus, is_monitor);
	if (err >= 0)
		err = l->set_method_call_timeout(*bus, ANSWER_USEC);
	if (err >= 0)
		err = l->start(*bus);
	if (err >= 0)
		err = l->get_unique_name(*bus, &name);
	if (err < 0)
		return err;
	strncpy(own_name, name, DBUS_NAME_MAX - 1);
	return 0;
}

static int become_monitor(struct dbus_monitor *m)
{
	sd_bus_error error = { 0 };
	int err = m->l.call_method(m->bus, BUS_NAME, "/org/freedesktop/DBus",
				   BUS_NAME ".Monitoring", "BecomeMonitor", &error, NULL, "asu", 0,
				   0);

	m->l.error_free(&error);
	return err < 0 ? err : 0;
}

int dbus_monitor_new(const char *address, struct dbus_monitor **out, enum dbus_monitor_step *step)
{
	struct dbus_monitor *m = calloc(1, sizeof(*m));
	int err = m ? string_table_new(&m->senders) : -ENOMEM;

	*step = DBUS_MONITOR_LOADS;
	if (!err)
		err = load_library(&m->l);
	if (!err) {
		*step = DBUS_MONITOR_CONNECTS;
		err = connect_bus(&m->l, address, false, &m->asking, m->own_names[0]);
	}
	if (!err)
		err = connect_bus(&m->l, address, true, &m->bus, m->own_names[1]);
	if (!err) {
		*step = DBUS_MONITOR_LISTENS;
		err = become_monitor(m);
	}
	if (err)
		dbus_monitor_free(m);
	else
		*out = m;
	return err;
}

void dbus_monitor_free(struct dbus_monitor *m)
{
	if (!m)
		return;
	if (m->asking)
		m->l.unref(m->asking);
	if (m->bus)
		m->l.unref(m->bus);
	if (m->l.handle)
		dlclose(m->l.handle);
	string_table_free(m->senders);
	for (size_t i = 0; i < m->count; i++)
		free(m->list[i]);
	free(m->list);
	free(m);
}

/* sd_bus_handler; an error, as of a connection that has ended, is no number. */
static int on_pid(sd_bus_message *reply, void *arg, sd_bus_error *error)
{
	struct sender *sender = arg;

	(void)error;
	if (sender->l->message_read(reply, "u", &sender->pid) < 0)
		sender->pid = 0;
	return 0;
}

/*
 * Nobody waits for the answer: the messages behind it would be read late.  Only connections have a process, whose names
 * begin so; the bus itself is none.
 */
static int ask_pid(struct dbus_monitor *m, const char *name)
{
	struct sender *sender;
	uint32_t id;
	int err;

	if (*name != ':' || string_table_count(m->senders) == NAMES_MAX)
		return 0;
	err = string_table_add(m->senders, name, strlen(name), &id);
	if (err || id < m->count)
		return err;
	while (m->count <= id) {
		sender = calloc(1, sizeof(*sender));
		if (!sender || vec_reserve(&m->list, &m->room, m->count + 1)) {
			free(sender);
			return -ENOMEM;
		}
		sender->l = &m->l;
		m->list[m->count++] = sender;
	}
	err = m->l.call_method_async(m->asking, NULL, BUS_NAME, "/org/freedesktop/DBus", BUS_NAME,
				     "GetConnectionUnixProcessID", on_pid, m->list[id], "s", name);
	return err < 0 ? err : 0;
}

uint32_t dbus_monitor_pid(const struct dbus_monitor *m, const char *sender)
{
	uint32_t id = string_table_find(m->senders, sender);

	return id < m->count ? m->list[id]->pid : 0;
}

static void copy_name(char out[DBUS_NAME_MAX], const char *name)
{
	strncpy(out, name ? name : "", DBUS_NAME_MAX - 1);
}

static void read_message(const struct library *l, sd_bus_message *from, struct dbus_message *to)
{
	const sd_bus_error *error = l->get_error(from);
	uint64_t cookie = 0, reply_cookie = 0;

	*to = (struct dbus_message){ 0 };
	(void)l->get_type(from, &to->type);
	(void)l->get_cookie(from, &cookie);
	(void)l->get_reply_cookie(from, &reply_cookie);
	to->serial = (uint32_t)cookie;
	to->reply_serial = (uint32_t)reply_cookie;
	to->wants_reply = to->type == DBUS_CALL && l->get_expect_reply(from) > 0;
	copy_name(to->sender, l->get_sender(from));
	copy_name(to->destination, l->get_destination(from));
	copy_name(to->interface, l->get_interface(from));
	copy_name(to->member, l->get_member(from));
	copy_name(to->error, error ? error->name : NULL);
}

static bool is_own(const struct dbus_monitor *m, const struct dbus_message *message)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(message->sender, m->own_names[i]) ||
		    !strcmp(message->destination, m->own_names[i]))
			return true;
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* 1: there was something to do. */
static int hear_one(struct dbus_monitor *m, dbus_monitor_fn *fn, void *arg)
{
	sd_bus_message *from = NULL;
	struct dbus_message message;
	int err, had = m->l.process(m->bus, &from);
	uint64_t time_ns = now_ns();

	if (had <= 0 || !from)
		return had;
	read_message(&m->l, from, &message);
	m->l.message_unref(from);
	if (is_own(m, &message))
		return 1;
	err = ask_pid(m, message.sender);
	if (!err)
		err = fn(arg, time_ns, &message);
	return err ? err : 1;
}

/* Sends what is asked, and reads the answers. */
static int hear_answers(const struct dbus_monitor *m)
{
	int had;

	do
		had = m->l.process(m->asking, NULL);
	while (had > 0);
	return had;
}

int dbus_monitor_run(struct dbus_monitor *m, int stop_fd, dbus_monitor_fn *fn, void *arg)
{
	struct pollfd fds[] = { { .fd = m->l.get_fd(m->bus), .events = POLLIN },
				{ .fd = m->l.get_fd(m->asking), .events = POLLIN },
				{ .fd = stop_fd, .events = POLLIN } };
	int had;

	for (;;) {
		do
			had = hear_one(m, fn, arg);
		while (had > 0);
		if (had == 0)
			had = hear_answers(m);
		if (had < 0)
			return had;
		if (fds[2].revents)
			return 0;
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return -errno;
	}
}
