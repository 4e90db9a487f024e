/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * server - the HTTP side of `ebprec serve`, by libmicrohttpd, for clients of which nothing good is expected
 *
 *	POST (any path)	a batch: 200; 400 and why; 401; 413; 429; 503 when it cannot be stored now
 *	GET /metrics	Prometheus' text format
 *	GET /gaps	JSON: of each sender the numbers that are missing
 *
 * One thread.  A connection may be open for SERVE_REQUEST_SECONDS a request, however slowly its bytes come; there are at most
 * SERVE_CONNECTIONS_MAX of them, and SERVE_HELD_MAX_BYTES of bodies of requests and answers.  Headers have 32 KiB.
 */
#ifndef EBPREC_ANALYZE_SERVE_SERVER_H
#define EBPREC_ANALYZE_SERVE_SERVER_H

#include "analyze/serve/microhttpd_library.h"
#include "analyze/serve/store.h"

#define SERVE_CONNECTIONS_MAX 64
#define SERVE_REQUEST_SECONDS 30
#define SERVE_HELD_MAX_BYTES  (256u << 20)

struct serve_opts {
	struct microhttpd_library library;
	int socket;         /* that listens; taken */
	const char *secret; /* what a bearer token of a POST must be; NULL: none is needed */
	uint64_t most_body_bytes;
	/* A batch cannot be stored, why; at most once until one can. */
	void (*on_problem)(void *arg, const char *why);
	void *arg;
};

struct serve_server; /* opaque */

/* All borrowed.  -ENOMEM, -EIO: it cannot be started. */
int serve_server_new(const struct serve_opts *opts, struct serve_store *store,
		     struct serve_server **out);
void serve_server_free(struct serve_server *s); /* NULL is fine */
/* Works for a while.  -EIO: it cannot go on. */
int serve_server_work(struct serve_server *s);

#endif
