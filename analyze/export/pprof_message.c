/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/pprof_message.h"

#include <stdbool.h>

void pprof_message_done(struct pprof_message *m)
{
	protobuf_done(&m->out);
	protobuf_done(&m->part);
	protobuf_done(&m->inner);
	protobuf_done(&m->values);
}

void pprof_message_type(struct pprof_message *m, unsigned field, uint64_t type, uint64_t unit)
{
	protobuf_clear(&m->part);
	protobuf_number(&m->part, 1, type);
	protobuf_number(&m->part, 2, unit);
	protobuf_message(&m->out, field, &m->part);
}

void pprof_message_mapping(struct pprof_message *m, uint64_t id, uint64_t file, uint64_t build_id)
{
	protobuf_clear(&m->part);
	protobuf_number(&m->part, 1, id);
	protobuf_number(&m->part, 5, file);
	protobuf_number(&m->part, 6, build_id);
	protobuf_number(&m->part, 7, true); /* has_functions */
	protobuf_message(&m->out, PPROF_MAPPING, &m->part);
}

void pprof_message_function(struct pprof_message *m, uint64_t id, uint64_t name, uint64_t file,
			    uint64_t mapping)
{
	protobuf_clear(&m->part);
	protobuf_number(&m->part, 1, id);
	protobuf_number(&m->part, 2, name);
	protobuf_number(&m->part, 3, name);
	protobuf_number(&m->part, 4, file);
	protobuf_message(&m->out, PPROF_FUNCTION, &m->part);
	protobuf_clear(&m->inner);
	protobuf_number(&m->inner, 1, id);
	protobuf_clear(&m->part);
	protobuf_number(&m->part, 1, id);
	protobuf_number(&m->part, 2, mapping);
	protobuf_message(&m->part, 4, &m->inner);
	protobuf_message(&m->out, PPROF_LOCATION, &m->part);
}

void pprof_message_begin_sample(struct pprof_message *m)
{
	protobuf_clear(&m->part);
	protobuf_clear(&m->inner);
	protobuf_clear(&m->values);
}

void pprof_message_frame(struct pprof_message *m, uint64_t location)
{
	protobuf_packed(&m->inner, location);
}

void pprof_message_value(struct pprof_message *m, uint64_t value)
{
	protobuf_packed(&m->values, value);
}

/* Before the first label the frames and values, in the order of their fields. */
static void put_counts(struct pprof_message *m)
{
	if (m->part.size_bytes)
		return;
	protobuf_message(&m->part, 1, &m->inner);
	protobuf_message(&m->part, 2, &m->values);
}

void pprof_message_label(struct pprof_message *m, uint64_t key, uint64_t text, uint64_t number)
{
	put_counts(m);
	protobuf_clear(&m->inner);
	protobuf_number(&m->inner, 1, key);
	protobuf_number(&m->inner, 2, text);
	protobuf_number(&m->inner, 3, number);
	protobuf_message(&m->part, 3, &m->inner);
}

void pprof_message_end_sample(struct pprof_message *m, struct protobuf *to)
{
	put_counts(m);
	protobuf_message(to, PPROF_SAMPLE, &m->part);
}
