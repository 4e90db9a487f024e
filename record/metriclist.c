/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metriclist.h"

#include "bpf/syscalls.skel.h"
#include "record/metricobj.h"

const struct metricinst metriclist[] = {
	{ "syscalls", "system calls: how many, how long, with which errors", "0.2 us a call",
	  syscalls_bpf__elf_bytes },
};

const size_t metriclist_count = sizeof(metriclist) / sizeof(metriclist[0]);

bool metriclist_lacks(const struct metricinst *inst, char out[64])
{
	struct bpf_object *obj;
	size_t bytes;
	const void *elf = inst->elf(&bytes);
	bool lacks;

	obj = bpf_object__open_mem(elf, bytes, NULL);
	if (!obj)
		return false;
	lacks = metricobj_lacks(obj, out);
	bpf_object__close(obj);
	return lacks;
}
