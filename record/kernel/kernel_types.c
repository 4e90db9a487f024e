/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/kernel_types.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/full_io.h"

#define NAMES_MAX 1024  /* of structs in one object: those here have below 100 */
#define FLAVOR    "___" /* what is behind it libbpf takes for no part of a struct's name */

struct kernel_types {
	pthread_mutex_t lock;
	unsigned users;
	struct btf *all; /* NULL: not read yet */
};

struct kernel_types *kernel_types_new(void)
{
	struct kernel_types *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	pthread_mutex_init(&k->lock, NULL);
	k->users = 1;
	return k;
}

struct kernel_types *kernel_types_share(struct kernel_types *k)
{
	if (!k)
		return NULL;
	pthread_mutex_lock(&k->lock);
	k->users++;
	pthread_mutex_unlock(&k->lock);
	return k;
}

void kernel_types_free(struct kernel_types *k)
{
	bool is_last;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	is_last = !--k->users;
	pthread_mutex_unlock(&k->lock);
	if (!is_last)
		return;
	btf__free(k->all); /* NULL is fine */
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* ---- names ---- */

struct names {
	const char *name[NAMES_MAX];
	size_t bytes[NAMES_MAX]; /* of each, without its flavor */
	size_t count;
	bool is_first[256]; /* whether one begins with this character */
};

static size_t bytes_of(const char *name)
{
	const char *flavor = strstr(name, FLAVOR);

	return flavor ? (size_t)(flavor - name) : strlen(name);
}

/* The name of a struct or union; NULL: it has none, or is another type. */
static const char *struct_name(const struct btf *types, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(types, id);
	const char *name = btf_is_composite(t) ? btf__name_by_offset(types, t->name_off) : NULL;

	return name && *name ? name : NULL;
}

static int find_names(const struct btf *programs, struct names *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t id = 1; id < btf__type_cnt(programs); id++) {
		const char *name = struct_name(programs, id);

		if (!name)
			continue;
		if (out->count == NAMES_MAX)
			return -E2BIG;
		out->name[out->count] = name;
		out->bytes[out->count++] = bytes_of(name);
		out->is_first[(unsigned char)*name] = true;
	}
	return 0;
}

static bool is_wanted(const struct names *n, const char *name)
{
	size_t bytes;

	if (!n->is_first[(unsigned char)*name])
		return false;
	bytes = bytes_of(name);
	for (size_t i = 0; i < n->count; i++)
		if (n->bytes[i] == bytes && !memcmp(n->name[i], name, bytes))
			return true;
	return false;
}

/* ---- copies ---- */

struct copy {
	const struct btf *from;
	struct btf *to;
	int *id; /* in `to`, of each type in `from`; 0: it was not copied yet */
	int pointer;
};

static int copy_type(struct copy *c, uint32_t id);

static int copy_array(struct copy *c, const struct btf_type *t)
{
	const struct btf_array *a = btf_array(t);
	int index = copy_type(c, a->index_type), element = copy_type(c, a->type);

	if (index < 0 || element < 0)
		return index < 0 ? index : element;
	return btf__add_array(c->to, index, element, a->nelems);
}

/* Types of members come before the struct, whose members follow it. */
static int copy_struct(struct copy *c, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);
	const char *name = btf__name_by_offset(c->from, t->name_off);
	int id, err;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		err = copy_type(c, m[i].type);
		if (err < 0)
			return err;
	}
	id = btf_is_union(t) ? btf__add_union(c->to, name, t->size)
			     : btf__add_struct(c->to, name, t->size);
	for (uint32_t i = 0; i < btf_vlen(t) && id > 0; i++) {
		err = btf__add_field(c->to, btf__name_by_offset(c->from, m[i].name_off),
				     copy_type(c, m[i].type), btf_member_bit_offset(t, i),
				     btf_member_bitfield_size(t, i));
		if (err)
			return err;
	}
	return id;
}

static int copy_pointer(struct copy *c)
{
	if (!c->pointer)
		c->pointer = btf__add_ptr(c->to, 0);
	return c->pointer;
}

static int copy_anew(struct copy *c, const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		return copy_pointer(c);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_struct(c, t);
	case BTF_KIND_ARRAY:
		return copy_array(c, t);
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_TYPE_TAG:
		return copy_type(c, t->type); /* what it is of has the same size */
	default:
		return btf__add_type(c->to, c->from, t);
	}
}

/* The id of a copy, 0 for void; negative errno. */
static int copy_type(struct copy *c, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);

	if (!t)
		return -EINVAL;
	if (id && !c->id[id])
		c->id[id] = copy_anew(c, t);
	return c->id[id];
}

int kernel_types_pick(const struct btf *all, const struct btf *programs, int fd)
{
	uint32_t count = btf__type_cnt(all), size_bytes;
	struct copy c = { all, btf__new_empty(), calloc(count, sizeof(*c.id)), 0 };
	struct names *names = malloc(sizeof(*names));
	int err = c.to && c.id && names ? find_names(programs, names) : -ENOMEM;
	const void *bytes;

	for (uint32_t id = 1; id < count && err >= 0; id++) {
		const char *name = struct_name(all, id);

		if (name && is_wanted(names, name))
			err = copy_type(&c, id);
	}
	if (err >= 0) {
		bytes = btf__raw_data(c.to, &size_bytes);
		err = bytes ? full_write(fd, bytes, size_bytes) : -ENOMEM;
	}
	btf__free(c.to);
	free(c.id);
	free(names);
	return err;
}

int kernel_types_write(struct kernel_types *k, const struct btf *programs, int fd)
{
	int err = 0;

	pthread_mutex_lock(&k->lock);
	if (!k->all)
		k->all = btf__load_vmlinux_btf();
	if (!k->all)
		err = -errno;
	pthread_mutex_unlock(&k->lock);
	return err ? err : kernel_types_pick(k->all, programs, fd);
}
