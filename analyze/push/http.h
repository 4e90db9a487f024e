/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * http - requests to several servers at once, by libcurl, and answers of which little is believed
 *
 * An answer may have as many bytes as its caller keeps, and take as long as the options allow, whatever of it comes; redirections are
 * not followed, no proxy is asked but the one that was named, certificates are checked.  A server that is slow or gone costs the others nothing.
 */
#ifndef EBPREC_ANALYZE_PUSH_HTTP_H
#define EBPREC_ANALYZE_PUSH_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/push/forms/target.h"

#define PUSH_ANSWER_MAX_BYTES  (64u << 20) /* of a query; */
#define PUSH_RECEIPT_MAX_BYTES (64u << 10) /* of what is sent */
#define PUSH_WORDS_BYTES       400

/* All borrowed; NULL or 0: the usual. */
struct push_http_opts {
	const char *ca_file, *cert_file, *key_file, *proxy;
	const char *proxy_user, *proxy_password; /* both or none */
	uint64_t most_bytes_per_s;               /* of what is sent to one server; 0: no limit */
	uint64_t timeout_ms; /* of one request, besides what most_bytes_per_s lets it take */
};

struct push_http; /* opaque */

/* One request and its answer.  Embedded by the owner; all zero is an idle one. */
struct push_exchange {
	void *easy, *headers; /* libcurl's; NULL when nothing is under way */
	struct outbuf packed; /* the body, when it is compressed */
	struct outbuf answer; /* of the body */
	size_t most_bytes;    /* of it */
	bool done, too_long;
	bool was_sent; /* or a part of it: the server may have acted on it */
	long status;   /* 0: no answer, and words say why */
	uint64_t retry_after_s;
	char words[PUSH_WORDS_BYTES]; /* the server's, in one line, or why there is no answer */
	char problem[256];
};

/* -ENOENT: no libcurl is there; -ENOMEM.  *out: push_http_free(). */
int push_http_new(const struct push_http_opts *opts, struct push_http **out);
void push_http_free(struct push_http *h); /* NULL is fine */
/*
 * Begins a request; the body must stay until x->done.  keeps_bytes: how much of the answer's body is wanted at
 * most, beyond which the request fails.  -ENOMEM.
 */
int push_http_begin(struct push_http *h, const struct push_target *t, const struct push_request *r,
		    size_t keeps_bytes, struct push_exchange *x);
/* Works until something is done, at most so long. */
void push_http_work(struct push_http *h, int timeout_ms);
/* Forgets it, finished or not; free what it holds. */
void push_http_end(struct push_http *h, struct push_exchange *x);
/* Begins one, and works until it is done.  -ENOMEM. */
int push_http_ask(struct push_http *h, const struct push_target *t, const struct push_request *r,
		  size_t keeps_bytes, struct push_exchange *x);
void push_request_done(struct push_request *r);

#endif
