/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/sample_decode.h"

int sample_decode_init(struct sample_decode *d, const struct capture *c, bool groups)
{
	*d = (struct sample_decode){ .events = event_of_capture(c) };
	return groups && group_read_any(c) ? group_read_new(c, &d->members) : 0;
}

void sample_decode_done(struct sample_decode *d)
{
	group_read_free(d->members);
	d->members = NULL;
}
