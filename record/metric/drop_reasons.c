/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/drop_reasons.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "SKB_DROP_REASON_";

int drop_reasons_from_btf(const struct btf *btf, struct drop_reasons *out)
{
	int32_t id = btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	const struct btf_enum *e;
	const char *name;

	if (!t)
		return -ENOENT;
	*out = (struct drop_reasons){ 0 };
	e = btf_enum(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++, e++) {
		name = btf__name_by_offset(btf, e->name_off);
		if (!name || e->val < 0 || e->val >= DROP_REASONS_MAX)
			continue; /* a mask */
		if (!strncmp(name, prefix, sizeof(prefix) - 1))
			name += sizeof(prefix) - 1;
		snprintf(out->names[e->val], DROP_REASON_BYTES, "%s", name);
	}
	return 0;
}
