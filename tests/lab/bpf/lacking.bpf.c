// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/* lacking - an instrument whose programs want tracepoints that no kernel has (docs/instruments/custom.md) */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define TAG(text) __attribute__((btf_decl_tag(text)))

__u32 metric_interval = 0;

struct lacking_key {
	__u32 interval, pid;
};

struct lacking_value {
	char comm[16];
	__u64 count;
	__u64 TAG("needs:no_such_tracepoint") wishes;
	__u64 TAG("needs:sched_switch") switches;
	__u64 TAG("needs:no_such_either") dreams;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct lacking_key);
	__type(value, struct lacking_value);
} table_lacking SEC(".maps");

SEC("raw_tp/sched_process_fork")
int count_fork(void *ctx)
{
	struct lacking_key key = {
		.interval = metric_interval,
		.pid = bpf_get_current_pid_tgid() >> 32,
	};
	struct lacking_value v = { .count = 1 };

	bpf_get_current_comm(v.comm, sizeof(v.comm));
	bpf_map_update_elem(&table_lacking, &key, &v, BPF_NOEXIST);
	return 0;
}

SEC("tp_btf/no_such_tracepoint")
TAG("instead:every wish is a fork")
int wish_maybe(void *ctx)
{
	return 0;
}

SEC("tp_btf/no_such_either")
int dream_maybe(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
