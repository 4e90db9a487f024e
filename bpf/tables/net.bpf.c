// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * net - packets of each interface, dropped packets, and the bytes that processes send and receive
 *
 * net_dev_queue, net_dev_start_xmit and net_dev_xmit split the way of a packet into queue and
 * driver; netif_receive_skb is where a received one is handed up; kfree_skb has the reason of a
 * drop.  Entries are a CPU's own, but a packet may be sent on top of another, so numbers are added
 * atomically.
 */
#include "bpf/lib/task.bpf.h"
#include "bpf/tables/sockets.bpf.h"

/* A row for each packet. */
const volatile bool each = 0;

struct net_key {
	__u32 interval, cpu;
	char device[16];
	__u32 netns, pad; /* the inode of its network namespace: each has a lo */
};

struct net_value {
	__u64 rx_packets, rx_bytes, tx_packets, tx_bytes, tx_errors;
	__u64 queue_ns, driver_ns, queued;
	__u32 hist_queue_ns[METRIC_SLOTS];
	__u32 hist_driver_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(net, struct net_key, struct net_value, 4096);

/* One that was slow, or each. */
struct net_packets {
	char comm[16]; /* of the sender; of a packet without one: empty */
	char device[16];
	__u64 queue_ns, driver_ns;
	__u32 bytes, of_pid;
};

METRIC_EVENT(0, net_packets);

struct packet_key {
	__u64 packet, device; /* a device on top of another sends the same packet */
};

struct packet_now {
	__u64 queue_ns, driver_ns;
	__u32 bytes, pid;
	char comm[16]; /* only for rows of packets */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct packet_key);
	__type(value, struct packet_now);
} net_now SEC(".maps"); /* one that never leaves makes room by itself */

/* An interface by its address, or by its number and network, which a dropped packet still has. */
struct device_key {
	__u64 at;
	__u32 ifindex, pad;
};

struct device_name {
	char name[16];
	__u32 netns, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct device_key);
	__type(value, struct device_name);
} net_devices SEC(".maps");

static __always_inline void remember(struct net_device *dev)
{
	struct device_key key = { .at = (__u64)dev };
	struct device_name is = {};

	if (bpf_map_lookup_elem(&net_devices, &key))
		return;
	bpf_probe_read_kernel_str(is.name, sizeof(is.name), dev->name);
	is.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	bpf_map_update_elem(&net_devices, &key, &is, BPF_ANY);
	key.at = (__u64)BPF_CORE_READ(dev, nd_net.net);
	key.ifindex = BPF_CORE_READ(dev, ifindex);
	bpf_map_update_elem(&net_devices, &key, &is, BPF_ANY);
}

static __always_inline struct net_value *entry_of(const struct net_device *dev)
{
	struct net_key key = { .interval = metric_interval, .cpu = bpf_get_smp_processor_id() };

	bpf_probe_read_kernel_str(key.device, sizeof(key.device), dev->name);
	key.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	return METRIC_ENTRY(&table_net, &key, struct net_value);
}

/* Bytes that an interface counts besides the packet: loopback does not count its link's header. */
static __always_inline __u32 header_of(const struct net_device *dev)
{
	return dev->flags & DEVICE_LOOPBACK ? 0 : dev->hard_header_len;
}

/* The owner of a packet: that of the socket, else the current process, unless an interrupt runs. */
static __always_inline void put_sender(void *ctx, struct sock *sk, struct socket_owner *out)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	put_owner(out, sk);
	if (!out->pid && !(t->flags & TASK_KTHREAD) && !in_interrupt(ctx))
		current_owner(out);
}

/* ---- packets ---- */

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_queue, struct sk_buff *skb)
{
	struct packet_key key = { .packet = (__u64)skb, .device = (__u64)skb->dev };
	struct packet_now now = { .queue_ns = bpf_ktime_get_ns(), .bytes = skb->len };
	struct socket_owner owner = {};

	remember(skb->dev);
	if (each || slower_ns) {
		put_sender(ctx, skb->sk, &owner);
		now.pid = owner.pid;
		__builtin_memcpy(now.comm, owner.comm, sizeof(now.comm));
	}
	bpf_map_update_elem(&net_now, &key, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_start, struct sk_buff *skb, struct net_device *dev)
{
	struct packet_key key = { .packet = (__u64)skb, .device = (__u64)dev };
	struct packet_now *now = bpf_map_lookup_elem(&net_now, &key);

	/* Not a part of another one, which was cut, that got the address of one that is gone. */
	if (now && skb->len >= now->bytes)
		now->driver_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void send_packet(struct net_device *dev, const struct packet_now *was,
					__u64 driver_ns)
{
	__u64 queue_ns = was->driver_ns - was->queue_ns;
	struct net_packets *row;
	struct metric_event *ev;

	if (!each && (!slower_ns || queue_ns + driver_ns < slower_ns))
		return;
	if (filter && (!was->pid || !is_target(was->pid)))
		return;
	ev = event_reserve(0, sizeof(struct net_packets), false);
	if (!ev)
		return;
	row = (void *)ev->row;
	__builtin_memcpy(row->comm, was->comm, sizeof(row->comm));
	bpf_probe_read_kernel_str(row->device, sizeof(row->device), dev->name);
	row->queue_ns = queue_ns;
	row->driver_ns = driver_ns;
	row->bytes = was->bytes;
	row->of_pid = ev->pid = ev->tid = was->pid;
	ev->weight = queue_ns + driver_ns;
	event_submit(ev);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(net_xmit, struct sk_buff *skb, int code, struct net_device *dev, unsigned int bytes)
{
	struct packet_key key = { .packet = (__u64)skb, .device = (__u64)dev };
	struct packet_now *now = bpf_map_lookup_elem(&net_now, &key), was = {};
	struct net_value *v = entry_of(dev);
	__u64 driver_ns;
	__u32 slot;

	if (now) {
		was = *now;
		/* Refused: it is put back into the queue. */
		if (!code)
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
	driver_ns = bpf_ktime_get_ns() - was.driver_ns;
	ADD(v->queued, 1);
	ADD(v->queue_ns, was.driver_ns - was.queue_ns);
	ADD(v->driver_ns, driver_ns);
	slot = log2_slot(was.driver_ns - was.queue_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_queue_ns[slot], 1);
	slot = log2_slot(driver_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_driver_ns[slot], 1);
	send_packet(dev, &was, driver_ns);
	return 0;
}

/* The link's header is taken off by then; interfaces count it. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(net_receive, struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct net_value *v = entry_of(dev);

	remember(dev);
	if (!v)
		return 0;
	ADD(v->rx_packets, 1);
	ADD(v->rx_bytes, skb->len + header_of(dev));
	return 0;
}

/* ---- packets that are dropped ---- */

/* The kernel's names for reasons, from the recorder: they differ from kernel to kernel. */
#define DROP_REASONS 256
#define REASON_BYTES 32
const volatile char drop_reasons[DROP_REASONS][REASON_BYTES] = {};

struct net_drops_key {
	__u32 interval, pid; /* 0: no owner */
	char reason[REASON_BYTES];
	char device[16];
	__u32 netns, pad;
};

struct net_drops_value {
	char comm[16];
	__u64 cgroup;
	__u64 drops, bytes;
};

METRIC_TABLE_FIXED(net_drops, struct net_drops_key, struct net_drops_value, 4096);

static __always_inline void put_reason(char out[REASON_BYTES], __u32 reason)
{
	__u64 number = reason;

	if (reason < DROP_REASONS)
		bpf_probe_read_kernel_str(out, REASON_BYTES, (void *)drop_reasons[reason]);
	if (!out[0])
		bpf_snprintf(out, REASON_BYTES, "reason_%u", &number, sizeof(number));
}

/*
 * A packet at a socket has no device any more, only garbage there; but where it came in.  So only what
 * was seen as an interface before is believed.
 */
static __always_inline void put_device(struct net_drops_key *out, struct sk_buff *skb,
				       struct sock *sk)
{
	struct device_key key = { .at = (__u64)skb->dev };
	struct device_name *is = bpf_map_lookup_elem(&net_devices, &key);

	if (!is && sk) {
		key.at = (__u64)BPF_CORE_READ(sk, __sk_common.skc_net.net);
		key.ifindex = skb->skb_iif;
		is = bpf_map_lookup_elem(&net_devices, &key);
	}
	out->device[0] = '-';
	if (!is)
		return;
	__builtin_memcpy(out->device, is->name, sizeof(is->name));
	out->netns = is->netns;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(net_drop, struct sk_buff *skb, void *location, __u32 reason)
{
	struct packet_key packet = { .packet = (__u64)skb, .device = (__u64)skb->dev };
	struct net_drops_key key = { .interval = metric_interval };
	struct socket_owner owner = {};
	struct net_drops_value *v;
	struct sock *sk = 0;

	bpf_map_delete_elem(&net_now, &packet);
	if (bpf_core_field_exists(((struct trace_event_raw_kfree_skb *)0)->rx_sk))
		sk = (void *)*(volatile unsigned long long *)&ctx[3];
	if (!sk)
		sk = skb->sk;
	put_sender(ctx, sk, &owner);
	key.pid = owner.pid;
	if (key.pid && !is_target(key.pid))
		return 0; /* a packet without an owner may be theirs */
	put_reason(key.reason, reason);
	put_device(&key, skb, sk);
	v = METRIC_ENTRY(&table_net_drops, &key, struct net_drops_value);
	if (!v)
		return 0;
	if (!v->comm[0]) {
		__builtin_memcpy(v->comm, owner.comm, sizeof(v->comm));
		v->cgroup = owner.cgroup;
	}
	ADD(v->drops, 1);
	ADD(v->bytes, skb->len);
	return 0;
}

/* ---- sockets ---- */

SEC("tp_btf/sock_send_length")
INSTEAD("sizes of sends and receives are what system calls return")
int BPF_PROG(net_send_maybe, struct sock *sk, int bytes)
{
	struct net_sockets_value *v;

	v = socket_entry(sk->__sk_common.skc_family, sk->sk_protocol);
	if (v)
		count_send(v, bytes);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(net_recv_maybe, struct sock *sk, int bytes, int flags)
{
	struct net_sockets_value *v;

	if (flags & MESSAGE_PEEK)
		return 0; /* it will be read again */
	v = socket_entry(sk->__sk_common.skc_family, sk->sk_protocol);
	if (v)
		count_receive(v, bytes);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(net_enter, saved_regs *regs, long nr)
{
	return socket_call_begins(regs, nr);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(net_exit, saved_regs *regs, long ret)
{
	return socket_call_ends(ctx, regs, ret);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
