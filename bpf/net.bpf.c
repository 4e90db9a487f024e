// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * net - packets of each interface, and what processes send and receive through sockets
 *
 * net_dev_queue, net_dev_start_xmit and net_dev_xmit split the way of a packet into queue and
 * driver; netif_receive_skb is where a received one is handed up.  Entries are a CPU's own, but a
 * packet may be sent on top of another, so numbers are added atomically.
 */
#include "bpf/metric.bpf.h"

struct net_key {
	__u32 interval, cpu;
	char device[16];
};

struct net_value {
	__u64 rx_packets, rx_bytes, tx_packets, tx_bytes, tx_errors;
	__u64 queue_ns, driver_ns, queued;
	__u32 hist_queue_ns[METRIC_SLOTS];
	__u32 hist_driver_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(net, struct net_key, struct net_value, 4096);

struct net_sockets_key {
	__u32 interval, pid;
	__u32 family, protocol;
};

struct net_sockets_value {
	char comm[16];
	__u64 cgroup;
	__u64 sends, send_bytes, send_errors, receives, receive_bytes, receive_errors;
};

METRIC_TABLE_FIXED(net_sockets, struct net_sockets_key, struct net_sockets_value, 8192);

struct skb_now {
	__u64 queue_ns, driver_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct skb_now);
} net_now SEC(".maps"); /* by address of the packet; one that never leaves makes room by itself */

static __always_inline struct net_value *entry_of(const struct net_device *dev)
{
	struct net_key key = { .interval = metric_interval, .cpu = bpf_get_smp_processor_id() };

	bpf_probe_read_kernel_str(key.device, sizeof(key.device), dev->name);
	return METRIC_ENTRY(&table_net, &key, struct net_value);
}

/* What an interface counts beside the packet: loopback does not count its link's header. */
static __always_inline __u32 header_of(const struct net_device *dev)
{
	return dev->flags & DEVICE_LOOPBACK ? 0 : dev->hard_header_len;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_queue, struct sk_buff *skb)
{
	struct skb_now now = { .queue_ns = bpf_ktime_get_ns() };
	__u64 key = (__u64)skb;

	bpf_map_update_elem(&net_now, &key, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_start, struct sk_buff *skb, struct net_device *dev)
{
	__u64 key = (__u64)skb;
	struct skb_now *now = bpf_map_lookup_elem(&net_now, &key);

	if (now)
		now->driver_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(net_xmit, struct sk_buff *skb, int code, struct net_device *dev, unsigned int bytes)
{
	__u64 key = (__u64)skb, now_ns = bpf_ktime_get_ns();
	struct skb_now *now = bpf_map_lookup_elem(&net_now, &key), was = {};
	struct net_value *v = entry_of(dev);
	__u32 slot;

	if (now) {
		was = *now;
		bpf_map_delete_elem(&net_now, &key);
	}
	if (!v)
		return 0;
	if (code) {
		ADD(v->tx_errors, 1);
		return 0;
	}
	ADD(v->tx_packets, 1);
	ADD(v->tx_bytes, bytes - dev->hard_header_len + header_of(dev));
	if (!was.queue_ns || !was.driver_ns)
		return 0;
	ADD(v->queued, 1);
	ADD(v->queue_ns, was.driver_ns - was.queue_ns);
	ADD(v->driver_ns, now_ns - was.driver_ns);
	slot = log2_slot(was.driver_ns - was.queue_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_queue_ns[slot], 1);
	slot = log2_slot(now_ns - was.driver_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_driver_ns[slot], 1);
	return 0;
}

/* The link's header is taken off by then; interfaces count it. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(net_receive, struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct net_value *v = entry_of(dev);

	if (!v)
		return 0;
	ADD(v->rx_packets, 1);
	ADD(v->rx_bytes, skb->len + header_of(dev));
	return 0;
}

/* ---- sockets: since Linux 6.3 ---- */

static __always_inline struct net_sockets_value *socket_entry(const struct sock *sk)
{
	struct net_sockets_key key = { .interval = metric_interval };
	struct net_sockets_value *v;

	key.pid = bpf_get_current_pid_tgid() >> 32;
	key.family = sk->__sk_common.skc_family;
	key.protocol = sk->sk_protocol;
	if (!is_target(key.pid))
		return 0;
	v = METRIC_ENTRY(&table_net_sockets, &key, struct net_sockets_value);
	if (v && !v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	return v;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(net_send_maybe, struct sock *sk, int bytes)
{
	struct net_sockets_value *v = socket_entry(sk);

	if (v && bytes >= 0) {
		ADD(v->sends, 1);
		ADD(v->send_bytes, bytes);
	} else if (v) {
		ADD(v->send_errors, 1);
	}
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(net_recv_maybe, struct sock *sk, int bytes, int flags)
{
	struct net_sockets_value *v;

	if (flags & MESSAGE_PEEK)
		return 0; /* it will be read again */
	v = socket_entry(sk);
	if (v && bytes >= 0) {
		ADD(v->receives, 1);
		ADD(v->receive_bytes, bytes);
	} else if (v) {
		ADD(v->receive_errors, 1);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
