/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/push/forms/forms.h"

static const struct push_form *const forms[] = {
	&push_clickhouse, &push_otlp,        &push_pyroscope, &push_influx,
	&push_prometheus, &push_pushgateway, &push_json,
};

int push_target_request(const struct push_target *t, const struct push_batch *b, size_t part,
			struct push_request *out)
{
	const struct push_form *f = t->form;

	*out = (struct push_request){ .url = f->url ? f->url(t, b, part) : strdup(t->url),
				      .headers = f->headers,
				      .body = b->parts[part].body.data,
				      .body_bytes = b->parts[part].body.size_bytes,
				      .gzip = f->gzip,
				      .is_gzip_file = f->is_gzip_file,
				      .replaces = f->replaces };
	return out->url ? 0 : -ENOMEM;
}

static const struct push_form *find_form(const char *name, size_t size_bytes)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strlen(forms[i]->name) == size_bytes &&
		    !memcmp(forms[i]->name, name, size_bytes))
			return forms[i];
	return NULL;
}

/* A name that may stand in a statement as it is. */
static bool is_identifier(const char *text)
{
	return *text &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_")] == '\0' &&
	       strlen(text) <= 64;
}

/* ---- secrets ---- */

static bool is_name_of_secret(const char *name, size_t size_bytes)
{
	static const char *const names[] = {
		"p",     "pass",         "passwd",  "password", "pwd",     "secret",
		"token", "access_token", "api_key", "apikey",   "api-key", "auth",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == size_bytes && !strncasecmp(names[i], name, size_bytes))
			return true;
	return false;
}

/* query: NAME=VALUE&... */
static bool query_has_secret(const char *query)
{
	while (*query) {
		size_t bytes = strcspn(query, "&;#"), name_bytes = strcspn(query, "=&;#");

		if (name_bytes + 1 < bytes && is_name_of_secret(query, name_bytes))
			return true;
		query += bytes;
		query += *query != '\0';
	}
	return false;
}

bool push_url_has_secret(const char *url)
{
	const char *scheme = strstr(url, "://"), *begin = scheme ? scheme + 3 : url;
	size_t bytes = strcspn(begin, "/?#");
	const char *colon = memchr(begin, ':', bytes), *at = memrchr(begin, '@', bytes),
		   *query = strchr(begin, '?');

	if (at && colon && colon < at)
		return true;
	/* A password with a slash: what would be the port is no number, and the host comes later. */
	if (colon && *begin != '[' && !at && strchr(begin + bytes, '@') &&
	    strspn(colon + 1, "0123456789") != (size_t)(begin + bytes - colon - 1))
		return true;
	return query && query_has_secret(query + 1);
}

/* ---- addresses ---- */

/* The parts of [USER@]HOST[:PORT][/REST]. */
struct address {
	char *user, *host; /* owned; host with its port */
	const char *rest;  /* from the slash on */
};

static int read_address(const char *text, struct address *out, const char **problem)
{
	size_t bytes = strcspn(text, "/?");
	const char *at = memchr(text, '@', bytes);
	size_t user_bytes = at ? (size_t)(at - text) : 0;

	out->user = at ? strndup(text, user_bytes) : NULL;
	if (at)
		at++;
	out->host = strndup(at ? at : text, bytes - (at ? user_bytes + 1 : 0));
	out->rest = text + bytes;
	if (!out->host || (at && !out->user))
		return -ENOMEM;
	if (!*out->host || strpbrk(out->host, " \t\r\n\"'\\@")) {
		*problem = "it has no host";
		return -EINVAL;
	}
	return 0;
}

/* clickhouse keeps its database apart, and all its requests go to "/". */
static int put_clickhouse(const struct address *a, const char *scheme, struct push_target *t,
			  const char **problem)
{
	const char *database = *a->rest == '/' ? a->rest + 1 : a->rest;
	const char *bracket = strrchr(a->host, ']');
	bool has_port = strchr(bracket ? bracket : a->host, ':');

	if (!is_identifier(database)) {
		*problem = "the name of a database was expected behind the host";
		return -EINVAL;
	}
	t->database = strdup(database);
	if (!t->database)
		return -ENOMEM;
	if (asprintf(&t->url, "%s://%s%s", scheme, a->host,
		     has_port                   ? ""
		     : !strcmp(scheme, "https") ? ":8443"
						: ":8123") < 0) {
		t->url = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int put_url(const struct address *a, const char *scheme, struct push_target *t)
{
	if (asprintf(&t->url, "%s://%s%s%s", scheme, a->host, *a->rest == '/' ? "" : "/",
		     a->rest) >= 0)
		return 0;
	t->url = NULL;
	return -ENOMEM;
}

int push_target_parse(const char *text, struct push_target *out, const char **problem)
{
	const char *colon = strstr(text, "://");
	const char *plus = colon ? memchr(text, '+', (size_t)(colon - text)) : NULL;
	struct push_target t = { .name = text };
	struct address a = { 0 };
	const char *scheme = "http";
	int err;

	*problem =
		"it has a password or token, which all users of the machine see (--token-file FILE, mode 0600, has it)";
	if (push_url_has_secret(text))
		return -EACCES;
	*problem = "FORM+http://HOST/PATH or clickhouse://HOST/DATABASE was expected";
	if (!colon)
		return -EINVAL;
	t.form = find_form(text, (size_t)((plus ? plus : colon) - text));
	if (!t.form || (!plus && t.form != &push_clickhouse))
		return -EINVAL;
	if (plus && !strncmp(plus, "+https:", 7))
		scheme = "https";
	else if (plus && strncmp(plus, "+http:", 6) != 0)
		return -EINVAL;
	err = read_address(colon + 3, &a, problem);
	if (!err)
		err = t.form == &push_clickhouse ? put_clickhouse(&a, scheme, &t, problem)
						 : put_url(&a, scheme, &t);
	free(a.host);
	t.user = a.user;
	if (err)
		push_target_done(&t);
	else
		*out = t;
	return err;
}

void push_target_done(struct push_target *t)
{
	free(t->url);
	free(t->user);
	free(t->database);
	*t = (struct push_target){ 0 };
}

char *push_target_url(const struct push_target *t, const char *path)
{
	const char *own = strchr(strstr(t->url, "://") + 3, '/');
	char *out;

	if (own[1] && own[1] != '?')
		return strdup(t->url);
	return asprintf(&out, "%.*s%s%s", (int)(own - t->url), t->url, path, own + 1) < 0 ? NULL
											  : out;
}

char *push_target_escape(const char *text)
{
	char *out = malloc(3 * strlen(text) + 1), *at = out;

	if (!out)
		return NULL;
	for (; *text; text++) {
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~",
			   *text))
			*at++ = *text;
		else
			at += sprintf(at, "%%%02X", (unsigned char)*text);
	}
	*at = '\0';
	return out;
}
