/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sockets - bytes that processes send and receive through sockets, and the owner of a socket
 *
 * Sizes come from the kernel's tracepoints (since 6.3; before that, from the results of system
 * calls); how long they take is their system call.
 */
#ifndef EBPREC_BPF_SOCKETS_H
#define EBPREC_BPF_SOCKETS_H

#include "bpf/lib/fd_file.bpf.h"
#include "bpf/lib/table.bpf.h"

/* ---- the owner of a socket: its last user, by the number of its inode, which is not reused ---- */

struct socket_owner {
	__u64 cgroup;
	__u32 pid, pad;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct socket_owner);
} net_owners SEC(".maps");

static __always_inline void current_owner(struct socket_owner *o)
{
	o->pid = current_ids() >> 32;
	o->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(o->comm, sizeof(o->comm));
}

/* include/net/tcp_states.h: these are less than a socket, and have no inode. */
enum { STATE_TIME_WAIT = 6, STATE_NEW_SYN_RECV = 12 };

static __always_inline void put_owner(struct socket_owner *out, struct sock *sk)
{
	struct socket_owner *owner;
	__u64 inode;
	__u32 state;

	if (!sk)
		return;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state == STATE_TIME_WAIT || state == STATE_NEW_SYN_RECV)
		return;
	inode = BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino);
	owner = bpf_map_lookup_elem(&net_owners, &inode);
	if (owner)
		*out = *owner;
}

/* ---- sizes ---- */

struct net_sockets_key {
	__u32 interval, pid;
	__u32 family, protocol;
};

struct net_sockets_value {
	char comm[16];
	__u64 cgroup;
	__u64 sends, send_bytes, send_errors, receives, receive_bytes, receive_errors;
	/* Counts the calls that succeeded. */
	__u64 send_calls, send_ns, max_send_ns, receive_calls, receive_ns, max_receive_ns;
	__u32 hist_send_bytes[METRIC_SLOTS];
	__u32 hist_receive_bytes[METRIC_SLOTS];
	__u32 hist_send_ns[METRIC_SLOTS];
	__u32 hist_receive_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(net_sockets, struct net_sockets_key, struct net_sockets_value, 4096);

/* A send or receive that was slow. */
struct net_slow {
	char comm[16];
	__u32 family, protocol, is_send, pad;
	__u64 bytes, took_ns;
};

METRIC_EVENT(1, net_slow);

static __always_inline struct net_sockets_value *socket_entry(__u32 family, __u32 protocol)
{
	struct net_sockets_key key = {
		.interval = metric_interval,
		.pid = current_ids() >> 32,
		.family = family,
		.protocol = protocol,
	};
	struct net_sockets_value *v;

	if (!is_target(key.pid))
		return 0;
	v = METRIC_ENTRY(&table_net_sockets, &key, struct net_sockets_value);
	if (v && !v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	return v;
}

static __always_inline void count_send(struct net_sockets_value *v, long bytes)
{
	__u32 slot;

	if (bytes < 0) {
		ADD(v->send_errors, 1);
		return;
	}
	slot = log2_slot(bytes);
	ADD(v->sends, 1);
	ADD(v->send_bytes, bytes);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_send_bytes[slot], 1);
}

static __always_inline void count_receive(struct net_sockets_value *v, long bytes)
{
	__u32 slot;

	if (bytes < 0) {
		ADD(v->receive_errors, 1);
		return;
	}
	slot = log2_slot(bytes);
	ADD(v->receives, 1);
	ADD(v->receive_bytes, bytes);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_receive_bytes[slot], 1);
}

/* ---- system calls at sockets ---- */

enum call { CALL_NONE, CALL_SEND, CALL_RECEIVE };

/* sendmmsg and recvmmsg return messages, not bytes. */
static __always_inline enum call call_of(long nr)
{
	switch (nr) {
	case __NR_write:
	case __NR_writev:
	case __NR_sendfile: /* to its first */
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
		return CALL_SEND;
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
		return CALL_RECEIVE;
	default:
		return CALL_NONE;
	}
}

struct call_now {
	__u64 since_ns; /* 0: in none */
	__u64 inode;    /* that the thread is known to use */
	__u64 messages; /* of sendmmsg and recvmmsg */
	__u32 family, protocol;
	__u32 is_peek, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_now);
} net_calls SEC(".maps");

static __always_inline void own(struct call_now *now, __u64 inode)
{
	struct socket_owner owner = {};

	if (now->inode == inode)
		return;
	now->inode = inode;
	current_owner(&owner);
	bpf_map_update_elem(&net_owners, &inode, &owner, BPF_ANY);
}

static __always_inline int socket_call_begins(saved_regs *regs, long nr)
{
	struct task_struct *t;
	struct call_now *now;
	struct socket *socket;
	struct file *file;
	struct sock *sk;

	if (call_of(nr) == CALL_NONE)
		return 0;
	t = (void *)bpf_get_current_task_btf();
	if (is_compat(t) || !is_target_task(t))
		return 0;
	file = file_of(t, call_arg(regs, 0));
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & MODE_KIND) != MODE_SOCKET)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	now = bpf_task_storage_get(&net_calls, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!sk || !now) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	own(now, BPF_CORE_READ(file, f_inode, i_ino));
	now->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	now->protocol = BPF_CORE_READ(sk, sk_protocol);
	now->messages = nr == __NR_sendmmsg || nr == __NR_recvmmsg ? call_arg(regs, 1) : 0;
	now->is_peek = (nr == __NR_recvfrom && call_arg(regs, 3) & MESSAGE_PEEK) ||
		       (nr == __NR_recvmsg && call_arg(regs, 2) & MESSAGE_PEEK);
	now->since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void send_slow(void *ctx, const struct call_now *now, bool is_send,
				      __u64 took_ns, long bytes)
{
	struct metric_event *ev = event_begin(1, sizeof(struct net_slow));
	struct net_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->family = now->family;
	row->protocol = now->protocol;
	row->is_send = is_send;
	row->bytes = now->messages ? 0 : bytes;
	row->took_ns = ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

/* include/linux/socket.h: struct mmsghdr, and UIO_MAXIOV, the most that are taken of them. */
enum { MESSAGE_BYTES = 64, MESSAGE_LENGTH_OFF = 56, MESSAGES_MAX = 1024 };

struct messages {
	struct net_sockets_value *v;
	__u64 at;
	bool is_send;
};

static long count_message(__u32 i, struct messages *m)
{
	__u32 bytes = 0;

	bpf_probe_read_user(&bytes, sizeof(bytes),
			    (void *)(m->at + i * MESSAGE_BYTES + MESSAGE_LENGTH_OFF));
	if (m->is_send)
		count_send(m->v, bytes);
	else
		count_receive(m->v, bytes);
	return 0;
}

/* For kernels without these tracepoints: Linux 6.1. */
static __always_inline void count_returned(struct net_sockets_value *v, const struct call_now *now,
					   bool is_send, long ret)
{
	struct messages m = { .v = v, .at = now->messages, .is_send = is_send };

	if (bpf_core_type_exists(btf_trace_sock_send_length) || now->is_peek)
		return;
	if (now->messages && ret > 0)
		bpf_loop(ret < MESSAGES_MAX ? ret : MESSAGES_MAX, count_message, &m, 0);
	else if (is_send)
		count_send(v, ret);
	else
		count_receive(v, ret);
}

static __always_inline int socket_call_ends(void *ctx, saved_regs *regs, long ret)
{
	enum call call = call_of(call_number(regs));
	struct net_sockets_value *v;
	struct call_now *now;
	__u64 took_ns;
	__u32 slot;

	if (call == CALL_NONE)
		return 0;
	now = bpf_task_storage_get(&net_calls, (void *)bpf_get_current_task_btf(), 0, 0);
	if (!now || !now->since_ns)
		return 0;
	took_ns = bpf_ktime_get_ns() - now->since_ns;
	now->since_ns = 0;
	v = socket_entry(now->family, now->protocol);
	if (!v)
		return 0;
	count_returned(v, now, call == CALL_SEND, ret);
	if (ret < 0)
		return 0;
	slot = log2_slot(took_ns);
	if (call == CALL_SEND) {
		ADD(v->send_calls, 1);
		ADD(v->send_ns, took_ns);
		if (took_ns > v->max_send_ns)
			v->max_send_ns = took_ns;
		if (slot < METRIC_SLOTS)
			ADD(v->hist_send_ns[slot], 1);
	} else {
		ADD(v->receive_calls, 1);
		ADD(v->receive_ns, took_ns);
		if (took_ns > v->max_receive_ns)
			v->max_receive_ns = took_ns;
		if (slot < METRIC_SLOTS)
			ADD(v->hist_receive_ns[slot], 1);
	}
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, now, call == CALL_SEND, took_ns, ret);
	return 0;
}

#endif
