// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * tcp - connections: made, accepted, failed, ended, and retransmitted segments
 *
 * From sock:inet_sock_set_state, which reports every change of state, tcp:tcp_retransmit_skb and
 * tcp:tcp_retransmit_synack.  A connection belongs to the process that asked for it; one that came
 * from outside to the process that first changes its state (closes it), as accepting changes
 * nothing.  The answer to a request for one belongs to the listener.  Cost: about 1 us a change of
 * state, some six a connection.
 */
#include "bpf/lib/table.bpf.h"

enum tcp_state {
	STATE_ESTABLISHED = 1,
	STATE_SYN_SENT,
	STATE_SYN_RECV,
	STATE_FIN_WAIT1,
	STATE_CLOSE = 7,
	STATE_LAST_ACK = 9,
	STATE_LISTEN = 10,
};

enum { ERROR_CANCELED = 125 /* closed before there was an answer */ };
enum { PROTOCOL_TCP = 6, FAMILY_INET = 2 };

struct tcp_key {
	__u32 interval, pid;
};

struct tcp_value {
	char comm[16];
	__u64 cgroup;
	__u64 connects, failed, accepts, closes;
	__u64 retransmits, synack_retransmits; /* in segments, as RetransSegs of /proc/net/snmp */
	__u64 sent_bytes, received_bytes;      /* of connections that ended */
	__u64 connect_ns, max_connect_ns;
	__u32 hist_connect_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(tcp, struct tcp_key, struct tcp_value, 8192);

/* A connection that was asked for, and what came of it. */
struct tcp_connects {
	char comm[16];
	__u32 of_pid, family;
	__u64 saddr_hi, saddr_lo, daddr_hi, daddr_lo; /* IPv4 as ::ffff:1.2.3.4, high bytes first */
	__u32 lport, dport;
	__u32 error; /* 0: it stands */
	__u32 pad;
	__u64 took_ns;
};

METRIC_EVENT(0, tcp_connects);

/* A connection that ended. */
struct tcp_life {
	char comm[16];
	__u32 of_pid, family;
	__u64 saddr_hi, saddr_lo, daddr_hi, daddr_lo;
	__u32 lport, dport;
	__u32 accepted, retransmits;
	__u64 sent_bytes, received_bytes, lived_ns;
};

METRIC_EVENT(1, tcp_life);

struct tcp_now {
	__u64 start_ns, stands_ns;
	__u64 cgroup;
	__u32 pid, tid; /* 0: not known yet */
	__u32 accepted, retransmits;
	__u32 lport; /* freed before the end of the connection is reported */
	__u32 listens;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct tcp_now);
} tcp_now SEC(".maps"); /* by address of the socket */

static __always_inline void take_owner(struct tcp_now *now)
{
	__u64 pid_tgid = current_ids();

	now->pid = pid_tgid >> 32;
	now->tid = pid_tgid;
	now->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(now->comm, sizeof(now->comm));
}

static __always_inline struct tcp_value *entry_of(const struct tcp_now *now)
{
	struct tcp_key key = { .interval = metric_interval, .pid = now ? now->pid : 0 };
	struct tcp_value *v = METRIC_ENTRY(&table_tcp, &key, struct tcp_value);

	if (v && now && !v->comm[0]) {
		__builtin_memcpy(v->comm, now->comm, sizeof(v->comm));
		v->cgroup = now->cgroup;
	}
	return v;
}

/* To the numbers of an IPv6 address; an IPv4 address is mapped into them. */
#define PUT_ADDRESSES(row, sk)                                                           \
	do {                                                                             \
		struct in6_addr a__;                                                     \
		__u32 from__, to__;                                                      \
		(row)->family = (sk)->__sk_common.skc_family;                            \
		(row)->lport = (sk)->__sk_common.skc_num;                                \
		(row)->dport = __builtin_bswap16((sk)->__sk_common.skc_dport);           \
		if ((row)->family == FAMILY_INET) {                                      \
			from__ = (sk)->__sk_common.skc_rcv_saddr;                        \
			to__ = (sk)->__sk_common.skc_daddr;                              \
			(row)->saddr_lo = 0xffff00000000ULL | __builtin_bswap32(from__); \
			(row)->daddr_lo = 0xffff00000000ULL | __builtin_bswap32(to__);   \
		} else {                                                                 \
			BPF_CORE_READ_INTO(&a__, (sk), __sk_common.skc_v6_rcv_saddr);    \
			(row)->saddr_hi = __builtin_bswap64(*(__u64 *)&a__);             \
			(row)->saddr_lo = __builtin_bswap64(*((__u64 *)&a__ + 1));       \
			BPF_CORE_READ_INTO(&a__, (sk), __sk_common.skc_v6_daddr);        \
			(row)->daddr_hi = __builtin_bswap64(*(__u64 *)&a__);             \
			(row)->daddr_lo = __builtin_bswap64(*((__u64 *)&a__ + 1));       \
		}                                                                        \
	} while (0)

METRIC_SAVED_STACKS(tcp_stacks, 16384); /* of the process that asks for a connection */

static __always_inline void send_connect(struct sock *sk, const struct tcp_now *now, __u64 took_ns,
					 __u32 error)
{
	struct metric_event *ev = event_reserve(0, sizeof(struct tcp_connects), true);
	struct tcp_connects *row;
	__u64 key = (__u64)sk;

	if (!ev) {
		bpf_map_delete_elem(&tcp_stacks, &key);
		return;
	}
	row = (void *)ev->row;
	__builtin_memcpy(row->comm, now->comm, sizeof(row->comm));
	row->of_pid = ev->pid = now->pid;
	ev->tid = now->tid;
	PUT_ADDRESSES(row, sk);
	if (!row->lport)
		row->lport = __builtin_bswap16(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	row->error = error;
	row->took_ns = ev->weight = took_ns;
	stack_put(ev, &tcp_stacks, key);
	bpf_map_delete_elem(&tcp_stacks, &key);
	event_submit(ev);
}

static __always_inline void send_life(struct sock *sk, const struct tcp_now *now, __u64 sent,
				      __u64 received, __u64 now_ns)
{
	struct metric_event *ev = event_reserve(1, sizeof(struct tcp_life), false);
	struct tcp_life *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	__builtin_memcpy(row->comm, now->comm, sizeof(row->comm));
	row->of_pid = ev->pid = now->pid;
	ev->tid = now->tid;
	PUT_ADDRESSES(row, sk);
	row->lport = now->lport;
	row->accepted = now->accepted;
	row->retransmits = now->retransmits;
	row->sent_bytes = sent;
	row->received_bytes = received;
	row->lived_ns = ev->weight = now_ns - now->stands_ns;
	event_submit(ev);
}

static __always_inline void stands(struct sock *sk, struct tcp_now *now, __u64 now_ns)
{
	__u64 took_ns = now_ns - now->start_ns;
	struct tcp_value *v = entry_of(now);
	__u32 slot;

	now->stands_ns = now_ns;
	now->lport = sk->__sk_common.skc_num;
	send_connect(sk, now, took_ns, 0);
	if (!v)
		return;
	ADD(v->connects, 1);
	ADD(v->connect_ns, took_ns);
	if (took_ns > v->max_connect_ns)
		v->max_connect_ns = took_ns;
	slot = log2_slot(took_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_connect_ns[slot], 1);
}

static __always_inline void ended(struct sock *sk, const struct tcp_now *now, __u64 now_ns)
{
	struct tcp_sock *tp = (void *)sk;
	struct tcp_value *v = entry_of(now);
	__u64 sent = BPF_CORE_READ(tp, bytes_sent) - BPF_CORE_READ(tp, bytes_retrans);
	/* The end of the stream counts as a byte there. */
	__u64 received = BPF_CORE_READ(tp, bytes_received) -
			 !!(sk->__sk_common.skc_flags & SOCKET_DONE);

	send_life(sk, now, sent, received, now_ns);
	if (!v)
		return;
	ADD(v->closes, 1);
	ADD(v->sent_bytes, sent);
	ADD(v->received_bytes, received);
	if (now->accepted)
		ADD(v->accepts, 1);
}

static __always_inline void begin(void *ctx, struct sock *sk, bool accepted, __u64 now_ns)
{
	struct tcp_now now = { .start_ns = now_ns,
			       .accepted = accepted,
			       .lport = sk->__sk_common.skc_num };
	__u64 key = (__u64)sk;

	if (accepted)
		now.stands_ns = now_ns;
	else
		take_owner(&now);
	if (!accepted && !is_target(now.pid))
		return;
	if (bpf_map_update_elem(&tcp_now, &key, &now, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
	if (!accepted)
		stack_keep(ctx, &tcp_stacks, key);
}

static __always_inline void begin_listening(struct sock *sk)
{
	struct tcp_now now = { .listens = 1 };
	__u64 key = (__u64)sk;

	take_owner(&now);
	if (is_target(now.pid) && bpf_map_update_elem(&tcp_now, &key, &now, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state, struct sock *sk, int from, int to)
{
	__u64 key = (__u64)sk, now_ns = bpf_ktime_get_ns();
	struct tcp_now *now;
	struct tcp_value *v;

	if (sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	if (to == STATE_SYN_SENT || (from == STATE_SYN_RECV && to == STATE_ESTABLISHED)) {
		begin(ctx, sk, to != STATE_SYN_SENT, now_ns);
		return 0;
	}
	if (to == STATE_LISTEN) {
		begin_listening(sk);
		return 0;
	}
	now = bpf_map_lookup_elem(&tcp_now, &key);
	if (!now)
		return 0;
	/* The owner closes: it may be a thread of the kernel's on its behalf only after that. */
	if (!now->pid && (to == STATE_FIN_WAIT1 || to == STATE_LAST_ACK))
		take_owner(now);
	if (from == STATE_SYN_SENT && to == STATE_ESTABLISHED) {
		stands(sk, now, now_ns);
	} else if (from == STATE_SYN_SENT && to == STATE_CLOSE) {
		v = entry_of(now);
		if (v)
			ADD(v->failed, 1);
		send_connect(sk, now, now_ns - now->start_ns,
			     sk->sk_err ? sk->sk_err : ERROR_CANCELED);
	} else if (to == STATE_CLOSE && !now->listens && (!now->accepted || is_target(now->pid))) {
		ended(sk, now, now_ns);
	}
	if (to == STATE_CLOSE)
		bpf_map_delete_elem(&tcp_now, &key);
	return 0;
}

/* One retransmission may be several segments. */
static __always_inline __u32 segments_of(struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = (void *)&skb->cb;
	__u32 segments = BPF_CORE_READ(cb, tcp_gso_segs);

	return segments ? segments : 1;
}

/* A failed retransmission is reported, too; its error distinguishes it. */
static __always_inline bool was_sent(const __u64 *args)
{
	if (!bpf_core_field_exists(((struct trace_event_raw_tcp_retransmit_skb *)0)->err))
		return true;
	return !*(const volatile int *)&args[2];
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_again, struct sock *sk, struct sk_buff *skb)
{
	__u64 key = (__u64)sk;
	struct tcp_now *now = bpf_map_lookup_elem(&tcp_now, &key);
	__u32 segments = segments_of(skb);
	struct tcp_value *v;

	if ((!now && filter) || !was_sent(ctx))
		return 0;
	if (now)
		ADD(now->retransmits, segments);
	v = entry_of(now);
	if (v)
		ADD(v->retransmits, segments);
	return 0;
}

SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(tcp_synack, struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct tcp_now *now = bpf_map_lookup_elem(&tcp_now, &key);
	struct tcp_value *v;

	if (!now && filter)
		return 0;
	v = entry_of(now);
	if (v)
		ADD(v->synack_retransmits, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
