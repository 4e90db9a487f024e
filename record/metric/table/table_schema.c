/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/table/table_schema.h"

#include <errno.h>
#include <string.h>

#include "record/metric/table/missing_tracepoints.h"

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static int add_member(const struct btf *btf, const char *name, uint32_t type_id, uint32_t off_bytes,
		      bool is_key, struct metric_format *f)
{
	const struct btf_type *t = resolve(btf, type_id);
	enum metric_kind kind = METRIC_UNSIGNED;
	uint32_t count = 1;
	int err;

	if (t && btf_is_array(t)) {
		count = btf_array(t)->nelems;
		t = resolve(btf, btf_array(t)->type);
		if (t && btf_is_int(t) && t->size == 1)
			kind = METRIC_TEXT;
	}
	if (!t || !(btf_is_int(t) || btf_is_any_enum(t)))
		return -ENOTSUP;
	if (btf_is_int(t) && kind != METRIC_TEXT && btf_int_encoding(t) & BTF_INT_SIGNED)
		kind = METRIC_SIGNED;
	f->row_bytes = off_bytes;
	err = metric_format_add(f, name, kind, t->size, count, is_key);
	if (!err && f->fields[f->field_count - 1].off_bytes != off_bytes)
		return -ENOTSUP; /* packed */
	return err;
}

int table_schema_fields(const struct btf *btf, const struct btf *kernel, uint32_t type_id,
			uint32_t base_off_bytes, bool is_key, struct metric_format *f)
{
	const struct btf_type *t = resolve(btf, type_id);
	const struct btf_member *m;
	const char *name;
	int err = 0;

	if (!t || !btf_is_struct(t))
		return -ENOTSUP;
	m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t) && !err; i++, m++) {
		name = btf__name_by_offset(btf, m->name_off);
		if (!name || !*name || btf_member_bit_offset(t, i) % 8)
			return -ENOTSUP;
		if (strncmp(name, "pad", 3) != 0 && !missing_tracepoints_column(btf, kernel, t, i))
			err = add_member(btf, name, m->type,
					 base_off_bytes + btf_member_bit_offset(t, i) / 8, is_key,
					 f);
	}
	f->row_bytes = base_off_bytes + t->size;
	return err;
}

uint32_t table_schema_pointed(const struct btf *btf, const char *variable)
{
	int32_t id = btf__find_by_name_kind(btf, variable, BTF_KIND_VAR);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	t = t ? resolve(btf, t->type) : NULL;
	return t && btf_is_ptr(t) ? t->type : 0;
}

/* The map of a section of variables: libbpf puts the object's name in front. */
static struct bpf_map *map_of_section(const struct bpf_object *obj, const char *section)
{
	size_t section_bytes = strlen(section), name_bytes;
	struct bpf_map *map;
	const char *name;

	bpf_object__for_each_map(map, obj)
	{
		name = bpf_map__name(map);
		name_bytes = strlen(name);
		if (name_bytes >= section_bytes &&
		    !strcmp(name + name_bytes - section_bytes, section))
			return map;
	}
	return NULL;
}

static bool is_called(const struct btf *btf, uint32_t var_id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, var_id);
	const char *called = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return called && !strcmp(called, name);
}

struct bpf_map *table_schema_variable(const struct bpf_object *obj, const char *name,
				      uint32_t size_bytes, uint32_t *off_bytes)
{
	const struct btf *btf = bpf_object__btf(obj);
	uint32_t types = btf ? btf__type_cnt(btf) : 0;

	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const struct btf_var_secinfo *v;

		if (!btf_is_datasec(t))
			continue;
		v = btf_var_secinfos(t);
		for (uint32_t i = 0; i < btf_vlen(t); i++, v++) {
			if (v->size != size_bytes || !is_called(btf, v->type, name))
				continue;
			*off_bytes = v->offset;
			return map_of_section(obj, btf__name_by_offset(btf, t->name_off));
		}
	}
	return NULL;
}
