/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The thread has the right to see the kernel's addresses, and no other. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "record/kernel/kernel_symbols_index_priv.h"
#include "record/base/thread_start.h"
#include "record/privsep/caps.h"

struct kernel_symbols_index_reading {
	struct kernel_symbols_index_source source;
	pthread_t thread;
	bool has_thread;
	struct kernel_symbols_index *real; /* for what follows */
	atomic_bool done;
};

static void *run(void *arg)
{
	struct kernel_symbols_index_reading *r = arg;

	if (r->has_thread)
		(void)caps_drop(RIGHT(CAP_SYSLOG)); /* a thread has its own */
	if (kernel_symbols_index_read(&r->source, &r->real))
		r->real = NULL;
	atomic_store(&r->done, true);
	return NULL;
}

void kernel_symbols_index_anew_begin(struct kernel_symbols_index *k)
{
	struct kernel_symbols_index_reading *r;

	if (k->reading)
		return;
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	r->source = k->source;
	r->has_thread = true;
	k->reading = r;
	if (thread_start(&r->thread, NULL, run, r)) {
		r->has_thread = false;
		run(r);
	}
}

bool kernel_symbols_index_anew_take(struct kernel_symbols_index *k, bool wait,
				    struct kernel_symbols_index **out)
{
	struct kernel_symbols_index_reading *r = k->reading;

	*out = NULL;
	if (!r) /* no memory */
		return true;
	if (!wait && !atomic_load(&r->done))
		return false;
	if (r->has_thread)
		pthread_join(r->thread, NULL);
	*out = r->real;
	free(r);
	k->reading = NULL;
	return true;
}
