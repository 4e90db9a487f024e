/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/serve/server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "analyze/push/forms/prometheus.h"
#include "format/os/clock.h"
#include "format/text/json_writer.h"

#define NS_PER_SECOND 1000000000ull
#define HEADER_BYTES  (32u << 10) /* of a request line and headers */
#define WAIT_MS       1000

/* A connection; its slot is free when fd is -1. */
struct slot {
	struct serve_server *server;
	int fd;
	uint64_t since_ns; /* it was opened, or its last request ended */
	uint64_t held_bytes;
};

struct serve_server {
	struct serve_opts opts;
	struct serve_store *store;
	struct MHD_Daemon *daemon;
	struct slot slots[SERVE_CONNECTIONS_MAX];
	uint64_t held_bytes;
	bool has_problem;
};

/* A request that comes with a body. */
struct request {
	struct outbuf body;
};

/* ---- connections ---- */

static void on_connection(void *arg, struct MHD_Connection *c, void **socket_arg,
			  enum MHD_ConnectionNotificationCode what)
{
	struct serve_server *s = arg;
	const union MHD_ConnectionInfo *info;
	struct slot *slot = *socket_arg;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (slot)
			slot->fd = -1;
		return;
	}
	info = s->opts.library.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (size_t i = 0; info && i < SERVE_CONNECTIONS_MAX; i++) {
		if (s->slots[i].fd >= 0)
			continue;
		s->slots[i] = (struct slot){ .server = s,
					     .fd = info->connect_fd,
					     .since_ns = clock_ns(CLOCK_MONOTONIC) };
		*socket_arg = &s->slots[i];
		return;
	}
}

static struct slot *slot_of(const struct serve_server *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = s->opts.library.get_connection_info(
		c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* However slowly a client sends or reads: its time is over, and the library notices the end of the connection. */
static void end_late(struct serve_server *s)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
		if (s->slots[i].fd >= 0 &&
		    now_ns - s->slots[i].since_ns > SERVE_REQUEST_SECONDS * NS_PER_SECOND)
			(void)shutdown(s->slots[i].fd, SHUT_RDWR);
}

static bool hold(struct serve_server *s, struct slot *slot, uint64_t bytes)
{
	if (!slot || s->held_bytes + bytes > SERVE_HELD_MAX_BYTES)
		return false;
	s->held_bytes += bytes;
	slot->held_bytes += bytes;
	return true;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **request_arg,
			 enum MHD_RequestTerminationCode why)
{
	struct serve_server *s = arg;
	struct request *r = *request_arg;
	struct slot *slot = slot_of(s, c);

	(void)why;
	if (slot) {
		s->held_bytes -= slot->held_bytes;
		slot->held_bytes = 0;
		slot->since_ns = clock_ns(CLOCK_MONOTONIC);
	}
	if (r)
		outbuf_done(&r->body);
	free(r);
	*request_arg = NULL;
}

/* ---- answers ---- */

/* The text is taken. */
static enum MHD_Result answer(struct serve_server *s, struct MHD_Connection *c, unsigned status,
			      const char *type, struct outbuf *text)
{
	const struct microhttpd_library *l = &s->opts.library;
	struct MHD_Response *r;
	enum MHD_Result result;

	if (!hold(s, slot_of(s, c), text->size_bytes) || text->bad) {
		outbuf_done(text);
		return MHD_NO;
	}
	r = l->create_response_from_buffer(text->size_bytes, text->data, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		outbuf_done(text);
		return MHD_NO;
	}
	(void)l->add_response_header(r, "Content-Type", type);
	result = l->queue_response(c, status, r);
	l->destroy_response(r);
	*text = (struct outbuf){ 0 };
	return result;
}

static enum MHD_Result answer_words(struct serve_server *s, struct MHD_Connection *c,
				    unsigned status, const char *words)
{
	struct outbuf text = { 0 };

	outbuf_printf(&text, "%s\n", words);
	return answer(s, c, status, "text/plain; charset=utf-8", &text);
}

static int put_sender_gap(void *arg, uint64_t from, uint64_t to)
{
	struct json_writer *j = arg;

	json_writer_begin_array(j, NULL);
	json_writer_u64(j, NULL, from);
	json_writer_u64(j, NULL, to);
	json_writer_end_array(j);
	return 0;
}

struct listing {
	struct serve_server *server;
	struct json_writer json;
	struct outbuf *text;
};

static int put_sender(void *arg, const struct serve_sender *sender)
{
	struct listing *l = arg;
	int err;

	json_writer_begin(&l->json, NULL);
	json_writer_string(&l->json, "source", sender->source);
	json_writer_string(&l->json, "sender", sender->sender);
	json_writer_u64(&l->json, "first", sender->first);
	json_writer_u64(&l->json, "last", sender->last);
	json_writer_u64(&l->json, "received", sender->received);
	json_writer_u64(&l->json, "twice", sender->twice);
	json_writer_u64(&l->json, "missing", sender->missing);
	json_writer_begin_array(&l->json, "gaps");
	err = serve_store_each_gap(l->server->store, sender, put_sender_gap, &l->json);
	json_writer_end_array(&l->json);
	json_writer_end(&l->json);
	return err;
}

static enum MHD_Result answer_gaps(struct serve_server *s, struct MHD_Connection *c)
{
	struct outbuf text = { 0 };
	struct listing l = { .server = s, .json = { .out = &text }, .text = &text };
	int err;

	json_writer_begin_array(&l.json, NULL);
	err = serve_store_each_sender(s->store, put_sender, &l);
	json_writer_end_array(&l.json);
	if (!err)
		return answer(s, c, 200, "application/json", &text);
	outbuf_done(&text);
	return answer_words(s, c, 503, serve_store_problem(s->store));
}

static const char *const about_senders[] = { "batches", "missing_batches", "repeated_batches" };

struct about {
	struct outbuf text[3];
};

static void put_about(struct outbuf *out, const char *what, const struct serve_sender *sender,
		      uint64_t value)
{
	outbuf_printf(out, "ebprec_serve_%s{source=\"", what);
	push_prometheus_label(out, sender->source);
	outbuf_printf(out, "\",sender=\"");
	push_prometheus_label(out, sender->sender);
	outbuf_printf(out, "\"} %" PRIu64 "\n", value);
}

static int add_about(void *arg, const struct serve_sender *sender)
{
	struct about *a = arg;

	put_about(&a->text[0], about_senders[0], sender, sender->received);
	put_about(&a->text[1], about_senders[1], sender, sender->missing);
	put_about(&a->text[2], about_senders[2], sender, sender->twice);
	return 0;
}

/* Lines of a metric are behind each other. */
static int put_metrics(struct serve_server *s, struct outbuf *out)
{
	struct about a = { .text = { { 0 } } };
	int err = serve_store_each_sender(s->store, add_about, &a);

	for (int i = 0; i < 3; i++) {
		outbuf_printf(out, "# TYPE ebprec_serve_%s gauge\n", about_senders[i]);
		outbuf_add(out, a.text[i].data, a.text[i].size_bytes);
		out->bad |= a.text[i].bad;
		outbuf_done(&a.text[i]);
	}
	outbuf_printf(
		out,
		"# TYPE ebprec_serve_series_left_out gauge\nebprec_serve_series_left_out %" PRIu64
		"\n",
		serve_store_left_out(s->store));
	return err ? err : serve_store_put_metrics(s->store, out);
}

static enum MHD_Result answer_metrics(struct serve_server *s, struct MHD_Connection *c)
{
	struct outbuf text = { 0 };

	if (!put_metrics(s, &text))
		return answer(s, c, 200, "text/plain; version=0.0.4; charset=utf-8", &text);
	outbuf_done(&text);
	return answer_words(s, c, 503, serve_store_problem(s->store));
}

/* ---- batches ---- */

/* In a time that does not depend on how much of it is right. */
static bool is_same(const char *given, const char *secret)
{
	size_t bytes = strlen(secret), given_bytes = strlen(given);
	unsigned differ = given_bytes != bytes;

	for (size_t i = 0; i < given_bytes; i++)
		differ |= (unsigned)(unsigned char)(given[i] ^ secret[bytes ? i % bytes : 0]);
	return !differ;
}

static bool is_allowed(const struct serve_server *s, struct MHD_Connection *c)
{
	const char *given = s->opts.library.lookup_connection_value(c, MHD_HEADER_KIND,
								    "Authorization");

	if (!s->opts.secret)
		return true;
	return given && !strncmp(given, "Bearer ", 7) && is_same(given + 7, s->opts.secret);
}

static enum MHD_Result answer_error(struct serve_server *s, struct MHD_Connection *c, int err,
				    const char *problem)
{
	if (err == -EBADMSG)
		return answer_words(s, c, 400, problem);
	if (err == -EDQUOT)
		return answer_words(s, c, 429, "there are too many senders, or gaps");
	problem = err == -ENOMEM ? strerror(ENOMEM) : serve_store_problem(s->store);
	if (!s->has_problem)
		s->opts.on_problem(s->opts.arg, problem);
	s->has_problem = true;
	return answer_words(s, c, 503, problem);
}

static enum MHD_Result take_batch(struct serve_server *s, struct MHD_Connection *c,
				  const struct request *r)
{
	struct received batch;
	const char *problem = "";
	bool is_new;
	int err = received_read(r->body.data ? (const char *)r->body.data : "", r->body.size_bytes,
				&batch, &problem);

	if (!err) {
		err = serve_store_add(s->store, &batch, clock_ns(CLOCK_REALTIME) / NS_PER_SECOND,
				      &is_new, &problem);
		received_done(&batch);
	}
	if (err)
		return answer_error(s, c, err, problem);
	s->has_problem = false;
	return answer_words(s, c, 200, is_new ? "taken" : "it came before");
}

/* Before its body is read. */
static enum MHD_Result begin_batch(struct serve_server *s, struct MHD_Connection *c,
				   void **request_arg)
{
	const char *length = s->opts.library.lookup_connection_value(c, MHD_HEADER_KIND,
								     "Content-Length"),
		   *encoding = s->opts.library.lookup_connection_value(c, MHD_HEADER_KIND,
								       "Content-Encoding");

	if (!is_allowed(s, c))
		return answer_words(s, c, 401, "the token is missing, or another one");
	if (encoding && strcmp(encoding, "identity") != 0)
		return answer_words(s, c, 415, "the body is encoded");
	if (length && strtoull(length, NULL, 10) > s->opts.most_body_bytes)
		return answer_words(s, c, 413, "the body is too large");
	*request_arg = calloc(1, sizeof(struct request));
	return *request_arg ? MHD_YES : MHD_NO;
}

static enum MHD_Result add_body(struct serve_server *s, struct MHD_Connection *c, struct request *r,
				const char *data, size_t *size_bytes)
{
	if (r->body.size_bytes + *size_bytes > s->opts.most_body_bytes ||
	    !hold(s, slot_of(s, c), *size_bytes))
		return MHD_NO; /* in the middle of a body there is no answer */
	outbuf_add(&r->body, data, *size_bytes);
	*size_bytes = 0;
	return r->body.bad ? MHD_NO : MHD_YES;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size_bytes, void **request_arg)
{
	struct serve_server *s = arg;

	(void)version;
	if (!slot_of(s, c))
		return MHD_NO;
	if (!strcmp(method, "POST")) {
		if (!*request_arg)
			return begin_batch(s, c, request_arg);
		return *size_bytes ? add_body(s, c, *request_arg, data, size_bytes)
				   : take_batch(s, c, *request_arg);
	}
	if (strcmp(method, "GET") != 0)
		return answer_words(s, c, 405, "GET or POST was expected");
	if (!strcmp(url, "/metrics"))
		return answer_metrics(s, c);
	if (!strcmp(url, "/gaps"))
		return answer_gaps(s, c);
	return answer_words(s, c, 404, "there are /metrics and /gaps, and batches are POSTed");
}

/* ---- the server ---- */

static void ignore_message(void *arg, const char *format, va_list args)
{
	(void)arg;
	(void)format;
	(void)args;
}

int serve_server_new(const struct serve_opts *opts, struct serve_store *store,
		     struct serve_server **out)
{
	struct serve_server *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->store = store;
	for (size_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
		s->slots[i].fd = -1;
	s->daemon = opts->library.start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
		ignore_message, NULL, MHD_OPTION_LISTEN_SOCKET, opts->socket,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_REQUEST_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_END);
	if (!s->daemon) {
		free(s);
		return -EIO;
	}
	*out = s;
	return 0;
}

void serve_server_free(struct serve_server *s)
{
	if (!s)
		return;
	s->opts.library.stop_daemon(s->daemon);
	free(s);
}

int serve_server_work(struct serve_server *s)
{
	const struct microhttpd_library *l = &s->opts.library;
	const union MHD_DaemonInfo *info = l->get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd one = { .fd = info ? info->epoll_fd : -1, .events = POLLIN };
	unsigned long long wait_ms;

	if (l->get_timeout(s->daemon, &wait_ms) == MHD_NO || wait_ms > WAIT_MS)
		wait_ms = WAIT_MS;
	(void)poll(&one, 1, (int)wait_ms);
	if (one.fd < 0 || l->run(s->daemon) == MHD_NO)
		return -EIO;
	end_late(s);
	return 0;
}
