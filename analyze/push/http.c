/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyze/push/curl_library.h"

#define CONNECT_MS 10000

struct push_http {
	struct curl_library curl;
	struct push_http_opts opts;
	CURLM *multi;
};

int push_http_new(const struct push_http_opts *opts, struct push_http **out)
{
	struct push_http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->opts = *opts;
	err = curl_library_open(&h->curl);
	if (!err &&
	    (h->curl.global_init(CURL_GLOBAL_DEFAULT) || !(h->multi = h->curl.multi_init())))
		err = -ENOMEM;
	if (err)
		push_http_free(h);
	else
		*out = h;
	return err;
}

void push_http_free(struct push_http *h)
{
	if (!h)
		return;
	if (h->multi) {
		h->curl.multi_cleanup(h->multi);
		h->curl.global_cleanup();
	}
	curl_library_close(&h->curl);
	free(h);
}

/* ---- bodies ---- */

/* The bytes as gzip (RFC 1952), the same for the same bytes.  -ENOMEM. */
static int add_gzip(const void *data, size_t size_bytes, struct outbuf *out)
{
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)data, .avail_in = (uInt)size_bytes };
	uint8_t *room;
	uLong most;
	int rc;

	if (size_bytes > PUSH_BATCH_MAX_BYTES ||
	    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	most = deflateBound(&z, (uLong)size_bytes);
	room = outbuf_reserve(out, most);
	z.next_out = room;
	z.avail_out = (uInt)most;
	rc = room ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	if (rc == Z_STREAM_END)
		out->size_bytes += most - z.avail_out;
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -ENOMEM;
}

static size_t take_answer(char *data, size_t one, size_t count, void *arg)
{
	struct push_exchange *x = arg;

	(void)one; /* 1, by curl's promise */
	if (count > x->most_bytes - x->answer.size_bytes) {
		x->too_long = true;
		return 0;
	}
	outbuf_add(&x->answer, data, count);
	return x->answer.bad ? 0 : count;
}

/* ---- requests ---- */

static bool add_header(const struct push_http *h, struct push_exchange *x, const char *line)
{
	struct curl_slist *more = h->curl.slist_append(x->headers, line);

	if (more)
		x->headers = more;
	return more;
}

static bool add_secret(const struct push_http *h, const struct push_target *t, CURL *easy)
{
	if (t->user)
		return !h->curl.easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC) &&
		       !h->curl.easy_setopt(easy, CURLOPT_USERNAME, t->user) &&
		       !h->curl.easy_setopt(easy, CURLOPT_PASSWORD, t->secret ? t->secret : "");
	if (t->secret)
		return !h->curl.easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER) &&
		       !h->curl.easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, t->secret);
	return true;
}

static bool set_limits(const struct push_http *h, size_t body_bytes, CURL *easy)
{
	const struct push_http_opts *o = &h->opts;
	uint64_t most_ms = o->timeout_ms;

	if (o->most_bytes_per_s)
		most_ms += body_bytes * 1000 / o->most_bytes_per_s;
	return !h->curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
				    (long)(most_ms < CONNECT_MS ? most_ms : CONNECT_MS)) &&
	       !h->curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)most_ms) &&
	       !h->curl.easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE,
				    (curl_off_t)o->most_bytes_per_s);
}

/* libcurl before 7.85 has no names of protocols, but their bits (CURLOPT_PROTOCOLS). */
static bool set_protocols(const struct push_http *h, CURL *easy)
{
	const CURLoption bits = (CURLoption)(CURLOPTTYPE_LONG + 181);
	CURLcode code = h->curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");

	if (code == CURLE_UNKNOWN_OPTION)
		code = h->curl.easy_setopt(easy, bits, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	return !code;
}

static bool set_trust(const struct push_http *h, CURL *easy)
{
	const struct push_http_opts *o = &h->opts;

	return set_protocols(h, easy) && !h->curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
	       !h->curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
	       !h->curl.easy_setopt(easy, CURLOPT_PROXY, o->proxy ? o->proxy : "") &&
	       (!o->proxy_user ||
		(!h->curl.easy_setopt(easy, CURLOPT_PROXYUSERNAME, o->proxy_user) &&
		 !h->curl.easy_setopt(easy, CURLOPT_PROXYPASSWORD, o->proxy_password))) &&
	       (!o->ca_file || !h->curl.easy_setopt(easy, CURLOPT_CAINFO, o->ca_file)) &&
	       (!o->cert_file || !h->curl.easy_setopt(easy, CURLOPT_SSLCERT, o->cert_file)) &&
	       (!o->key_file || !h->curl.easy_setopt(easy, CURLOPT_SSLKEY, o->key_file));
}

static bool set_body(const struct push_http *h, const struct push_request *r,
		     struct push_exchange *x)
{
	const void *body = r->body;
	size_t size_bytes = r->body_bytes;

	if (!body)
		return true;
	/* What fails on a connection that was used before, libcurl sends again by itself: it may have arrived. */
	if (h->curl.easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, 1L))
		return false;
	if (r->gzip) {
		if (add_gzip(body, size_bytes, &x->packed) ||
		    (!r->is_gzip_file && !add_header(h, x, "Content-Encoding: gzip")))
			return false;
		body = x->packed.data;
		size_bytes = x->packed.size_bytes;
	}
	if (r->replaces && h->curl.easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, "PUT"))
		return false;
	return !h->curl.easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size_bytes) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_POSTFIELDS, body);
}

static bool set_request(const struct push_http *h, const struct push_target *t,
			const struct push_request *r, struct push_exchange *x)
{
	for (const char *const *header = r->headers; header && *header; header++)
		if (!add_header(h, x, *header))
			return false;
	return add_header(h, x, "Expect:") && set_body(h, r, x) && add_secret(h, t, x->easy) &&
	       set_trust(h, x->easy) && set_limits(h, r->body_bytes, x->easy) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_URL, r->url) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_USERAGENT, "ebprec/" EBPREC_VERSION) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, take_answer) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_WRITEDATA, x) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->problem) &&
	       !h->curl.easy_setopt(x->easy, CURLOPT_PRIVATE, x);
}

int push_http_begin(struct push_http *h, const struct push_target *t, const struct push_request *r,
		    size_t keeps_bytes, struct push_exchange *x)
{
	*x = (struct push_exchange){ .easy = h->curl.easy_init(), .most_bytes = keeps_bytes };
	if (x->easy && set_request(h, t, r, x) && !h->curl.multi_add_handle(h->multi, x->easy))
		return 0;
	push_http_end(h, x);
	return -ENOMEM;
}

/* The first line of the answer, as far as it can be printed. */
static void put_words(struct push_exchange *x)
{
	size_t count = 0;

	for (size_t i = 0; i < x->answer.size_bytes && count < sizeof(x->words) - 1; i++) {
		uint8_t c = x->answer.data[i];

		if (c == '\n' && count)
			break;
		if (c >= ' ' && c < 0x7f)
			x->words[count++] = (char)c;
	}
	x->words[count] = '\0';
}

static void finish(const struct push_http *h, struct push_exchange *x, CURLcode code)
{
	curl_off_t after_s = 0;
	long sent_bytes = 0;

	x->done = true;
	x->was_sent = h->curl.easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &sent_bytes) ||
		      sent_bytes;
	h->curl.easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->status);
	/* What ends in the middle of an error is that error; of a success it is not known what it was. */
	if ((code || x->too_long) && x->status < 400) {
		x->status = 0;
		snprintf(x->words, sizeof(x->words), "%s",
			 x->too_long   ? "the answer is too long"
			 : *x->problem ? x->problem
				       : h->curl.easy_strerror(code));
		return;
	}
	if (!h->curl.easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &after_s) && after_s > 0)
		x->retry_after_s = (uint64_t)after_s;
	put_words(x);
}

void push_http_work(struct push_http *h, int timeout_ms)
{
	struct push_exchange *x;
	CURLMsg *message;
	int running, left;

	h->curl.multi_perform(h->multi, &running);
	if (running)
		h->curl.multi_poll(h->multi, NULL, 0, timeout_ms, NULL);
	h->curl.multi_perform(h->multi, &running);
	while ((message = h->curl.multi_info_read(h->multi, &left))) {
		if (message->msg != CURLMSG_DONE ||
		    h->curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x))
			continue;
		finish(h, x, message->data.result);
	}
}

void push_http_end(struct push_http *h, struct push_exchange *x)
{
	if (x->easy) {
		h->curl.multi_remove_handle(h->multi, x->easy);
		h->curl.easy_cleanup(x->easy);
	}
	h->curl.slist_free_all(x->headers);
	outbuf_done(&x->packed);
	outbuf_done(&x->answer);
	*x = (struct push_exchange){ 0 };
}

int push_http_ask(struct push_http *h, const struct push_target *t, const struct push_request *r,
		  size_t keeps_bytes, struct push_exchange *x)
{
	int err = push_http_begin(h, t, r, keeps_bytes, x);

	while (!err && !x->done)
		push_http_work(h, 1000);
	return err;
}

void push_request_done(struct push_request *r)
{
	free(r->url);
	*r = (struct push_request){ 0 };
}
