/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec serve - a small receiver of `ebprec push --to json+http://...`, which reports gaps and answers Prometheus
 *
 * It listens before it is confined: from then on it can accept connections, but make none, and writes to its own folder alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/lock_folder.h"
#include "analyze/cmd/common/secret_file.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/message.h"
#include "analyze/out/text_table.h"
#include "analyze/serve/server.h"

#define LISTEN_DEFAULT "127.0.0.1:9436"
#define SECOND_NS      1000000000ull

struct serve_options {
	const char *listen, *folder, *token;
	uint64_t most_body_bytes, forget_ns;
	unsigned most_series;
	bool status, json, quiet;
	/* Set before it is confined. */
	int socket;
	char *secret; /* owned */
	struct microhttpd_library library;
};

#define AT(field) offsetof(struct serve_options, field)

static const struct option serve_options[] = {
	{ OPT_STRING, 0, "listen", "HOST:PORT", AT(listen), 0, 0,
	  "numbers alone; port 0: any (default: " LISTEN_DEFAULT ")" },
	{ OPT_STRING, 'd', "dir", "DIR", AT(folder), 0, 0,
	  "what was received, and what is missing (default: ebprec.serve)" },
	{ OPT_STRING, 0, "token-file", "FILE", AT(token), 0, 0,
	  "clients must send this secret with batches (mode 0600)" },
	{ OPT_SIZE, 0, "max-body", "SIZE", AT(most_body_bytes), 0, 0,
	  "a batch may be so large (default: 16M)" },
	{ OPT_UINT, 0, "max-series", "N", AT(most_series), 1, 10000000,
	  "keep so many series; more are left out, and counted (default: 100000)" },
	{ OPT_SECONDS, 0, "forget", "SECONDS", AT(forget_ns), 0, 0,
	  "forget series that no batch had for so long (default: 86400)" },
	{ OPT_FLAG, 0, "status", NULL, AT(status), 0, 0,
	  "list the senders, and which batches are missing" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "the same as JSON" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "print only errors" },
	{ 0 },
};

static const struct usage serve_usage;

/* ---- before it is confined ---- */

/* HOST:PORT, or [HOST]:PORT. */
static int split_address(const char *text, char *host, size_t host_bytes, const char **port)
{
	const char *colon = strrchr(text, ':'), *begin = text;
	size_t bytes = colon ? (size_t)(colon - text) : 0;

	if (bytes > 2 && *begin == '[' && begin[bytes - 1] == ']') {
		begin++;
		bytes -= 2;
	}
	if (!colon || !colon[1] || !bytes || bytes >= host_bytes)
		return -EINVAL;
	memcpy(host, begin, bytes);
	host[bytes] = '\0';
	*port = colon + 1;
	return 0;
}

static int listen_at(const struct addrinfo *a)
{
	const int one = 1;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, SERVE_CONNECTIONS_MAX))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int print_address(const struct serve_options *o)
{
	struct sockaddr_storage at;
	socklen_t bytes = sizeof(at);
	char host[64], port[16];

	if (o->quiet)
		return 0;
	if (getsockname(o->socket, (struct sockaddr *)&at, &bytes) ||
	    getnameinfo((struct sockaddr *)&at, bytes, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return message_error("cannot listen at '%s': %s", o->listen, strerror(errno));
	message_note(strchr(host, ':') ? "listening at http://[%s]:%s"
				       : "listening at http://%s:%s",
		     host, port);
	return 0;
}

static int open_socket(struct serve_options *o)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	struct addrinfo *found = NULL;
	char host[64];
	const char *port;

	if (split_address(o->listen, host, sizeof(host), &port) ||
	    getaddrinfo(host, port, &hints, &found))
		return usage_error(
			&serve_usage,
			"option '--listen' cannot be '%s': 127.0.0.1:9436 or [::1]:9436 was expected",
			o->listen);
	o->socket = listen_at(found);
	freeaddrinfo(found);
	return o->socket < 0
		       ? message_error("cannot listen at '%s': %s", o->listen, strerror(-o->socket))
		       : print_address(o);
}

static int start(void *arg)
{
	struct serve_options *o = arg;
	int status = 0;

	if (o->status)
		return 0;
	if (microhttpd_library_open(&o->library))
		return message_error(
			"cannot serve: libmicrohttpd.so.12 cannot be loaded (Debian: libmicrohttpd12; a static "
			"ebprec cannot load it at all)");
	secret_keep_in_memory();
	if (o->token)
		status = secret_file_read(o->token, &o->secret);
	return status ? status : open_socket(o);
}

static const struct usage serve_usage = {
	.command = "serve",
	.words = "[OPTIONS]",
	.about = "Receives batches of 'ebprec push --to json+http://...', answers when they are\n"
		 "on the disk, and reports which are missing: at /gaps, and with --status.  Their\n"
		 "counts are at /metrics for Prometheus.\n",
	.options = serve_options,
	.reads = USAGE_READS,
	.sends = "dir",
	.serves = true,
	.looks = "status",
	.starts = start,
};

/* ---- the folder ---- */

static int open_store(const struct serve_options *o, struct serve_store **out)
{
	const struct serve_limits limits = { .most_series = o->most_series,
					     .forget_s = o->forget_ns / SECOND_NS };
	char *path, *problem = NULL;
	int err;

	if (asprintf(&path, "%s/serve.sqlite", o->folder) < 0)
		return message_error("cannot serve: %s", strerror(ENOMEM));
	err = o->status && access(path, F_OK) ? -ENOENT
					      : serve_store_open(path, &limits, out, &problem);
	if (err == -ENOENT)
		message_error("nothing was received into '%s' (-d DIR is another folder)",
			      o->folder);
	else if (err)
		message_error("cannot open '%s': %s", path, problem ? problem : strerror(-err));
	free(problem);
	free(path);
	return err ? MESSAGE_FAILED : 0;
}

/* ---- the list ---- */

struct listing {
	struct serve_store *store;
	struct text_table *table;
	char gaps[200];
};

static int add_gap(void *arg, uint64_t from, uint64_t to)
{
	struct listing *l = arg;
	size_t used = strlen(l->gaps);
	char one[48];

	snprintf(one, sizeof(one), from == to ? "%s%" PRIu64 : "%s%" PRIu64 "-%" PRIu64,
		 used ? ", " : "", from, to);
	if (used + strlen(one) < sizeof(l->gaps) - 4)
		strcat(l->gaps, one);
	else if (!strstr(l->gaps, "..."))
		strcat(l->gaps, "...");
	return 0;
}

static int add_sender(void *arg, const struct serve_sender *sender)
{
	struct listing *l = arg;
	int err;

	*l->gaps = '\0';
	err = serve_store_each_gap(l->store, sender, add_gap, l);
	text_table_row(l->table);
	text_table_text(l->table, "source", sender->source);
	text_table_text(l->table, "sender", sender->sender);
	text_table_number(l->table, "first", sender->first);
	text_table_number(l->table, "last", sender->last);
	text_table_number(l->table, "received", sender->received);
	text_table_number(l->table, "twice", sender->twice);
	text_table_number(l->table, "missing", sender->missing);
	text_table_text(l->table, "gaps", l->gaps);
	return err;
}

static int print_status(const struct serve_options *o, struct serve_store *store)
{
	static const char *const columns[] = { "source",   "sender", "first",   "last",
					       "received", "twice",  "missing", "gaps" };
	struct listing l = { .store = store };
	int err = text_table_open(stdout, o->json, &l.table);

	if (!err) {
		text_table_begin(l.table, "senders", columns, 8);
		err = serve_store_each_sender(store, add_sender, &l);
		text_table_end(l.table);
		err = text_table_close(l.table) ? -ENOMEM : err;
	}
	return err ? message_error("cannot list what is in '%s': %s", o->folder,
				   err == -ENOMEM ? strerror(ENOMEM) : serve_store_problem(store))
		   : MESSAGE_OK;
}

/* ---- the command ---- */

static void on_problem(void *arg, const char *why)
{
	const struct serve_options *o = arg;

	message_error("cannot write to '%s/serve.sqlite': %s (clients wait, and send again)",
		      o->folder, why);
}

static int serve(const struct serve_options *o, struct serve_store *store)
{
	const struct serve_opts opts = { .library = o->library,
					 .socket = o->socket,
					 .secret = o->secret,
					 .most_body_bytes = o->most_body_bytes,
					 .on_problem = on_problem,
					 .arg = (void *)(uintptr_t)o };
	struct serve_server *server;
	int err = serve_server_new(&opts, store, &server);

	if (err)
		return message_error("cannot serve: %s", err == -ENOMEM
								 ? strerror(ENOMEM)
								 : "libmicrohttpd cannot start");
	while (!err)
		err = serve_server_work(server);
	serve_server_free(server);
	return message_error("cannot serve any longer: %s", strerror(-err));
}

int cmd_serve(int argc, char **argv)
{
	struct serve_options opts = { .listen = LISTEN_DEFAULT,
				      .folder = "ebprec.serve",
				      .most_body_bytes = 16u << 20,
				      .most_series = 100000,
				      .forget_ns = 86400 * SECOND_NS,
				      .socket = -1 };
	struct serve_store *store = NULL;
	int status;

	if (!usage_parse(&serve_usage, &opts, argc, argv, 0, 0, NULL, &status))
		return status;
	if (!opts.status && mkdir(opts.folder, 0700) && errno != EEXIST)
		return message_error("cannot make '%s': %s", opts.folder, strerror(errno));
	status = opts.status ? 0 : lock_folder(opts.folder, "serve");
	if (!status)
		status = open_store(&opts, &store);
	if (!status)
		status = opts.status ? print_status(&opts, store) : serve(&opts, store);
	serve_store_close(store);
	free(opts.secret);
	return status;
}
