/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* table_schema - the types of a BPF object: columns of tables, offsets of variables */
#ifndef EBPREC_RECORD_METRIC_TABLE_TABLE_SCHEMA_H
#define EBPREC_RECORD_METRIC_TABLE_TABLE_SCHEMA_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/payload/metric_format.h"

/*
 * Adds the members of a struct as fields, from base_off_bytes of the row on.  Members called pad*
 * are left out, and those that this kernel (missing_tracepoints.h) has not got.  -ENOTSUP: a member that is no number, array of numbers or text; -EOVERFLOW.
 */
int table_schema_fields(const struct btf *btf, const struct btf *kernel, uint32_t type_id,
			uint32_t base_off_bytes, bool is_key, struct metric_format *f);
/* The struct that a global variable points to; 0: there is no such variable. */
uint32_t table_schema_pointed(const struct btf *btf, const char *variable);
/*
 * Where a global variable of that size is: *off_bytes in the value of a map.  NULL: there is none.
 */
struct bpf_map *table_schema_variable(const struct bpf_object *obj, const char *name,
				      uint32_t size_bytes, uint32_t *off_bytes);

#endif
