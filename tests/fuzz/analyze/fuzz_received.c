/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_received - any bytes as a batch that a client sends to `ebprec serve` */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/serve/received.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* No name or label ends a line of /metrics. */
static int check(void *arg, const struct received_count *c)
{
	unsigned *count = arg;

	if (strpbrk(c->name, "{}\"\\ \n") || strchr(c->labels, '\n') || !*c->value ||
	    strspn(c->value, "+-.0123456789eE") != strlen(c->value))
		abort();
	return ++*count > 10000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct received r;
	const char *problem;
	unsigned count = 0;

	if (received_read((const char *)data, size_bytes, &r, &problem)) {
		if (!problem || !*problem)
			abort();
		return 0;
	}
	if (!*r.source || !r.sequence || r.sequence > INT64_MAX)
		abort();
	(void)received_each(&r, check, &count, &problem);
	received_done(&r);
	return 0;
}
