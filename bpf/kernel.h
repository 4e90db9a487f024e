/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel - the few kernel types the programs read, maintained by hand
 *
 * Only the fields that are used, in any order: preserve_access_index makes libbpf put in the
 * offsets of the running kernel at load.  A misspelt field shows at load, not here.
 */
#ifndef EBPREC_BPF_KERNEL_H
#define EBPREC_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads not yet in exit */
	int nr_threads;
	unsigned int flags; /* SIGNAL_EXITING */
	int group_exit_code;
	struct task_struct
		*group_exec_task; /* the thread in exec, which ends all others; NULL: none */
	/* Sums of threads that have ended: */
	unsigned long long sum_sched_runtime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
};

struct kernfs_node {
	unsigned long long id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent; /* the member `self` of the cgroup above */
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct pt_regs___kernel { /* aarch64; <linux/ptrace.h> has the part for user space */
	int syscallno;    /* -1: in no system call */
	__u64 orig_x0;
};

struct thread_info {     /* of which each architecture has its own: see bpf/lib/registers.bpf.h */
	unsigned status; /* x86 */
	unsigned long flags; /* aarch64 */
	unsigned cpu;        /* in here since 5.16, which is before what ebprec needs */
};

struct sched_entity {
	unsigned long long sum_exec_runtime; /* ns; also of real-time threads */
};

struct super_block {
	unsigned s_dev;
	unsigned long s_magic;
	char s_id[32]; /* the disk, or the kind of file system */
};

struct address_space;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct address_space {
	struct inode *host;
	unsigned long nrpages;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct address_space *f_mapping;
	struct inode *f_inode;
	struct path f_path;
	unsigned int f_flags;
	long long f_pos;
	void *private_data; /* of a socket: struct socket */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct folio {
	struct address_space *mapping;
	unsigned int _folio_nr_pages; /* of large ones */
};

struct folio___6_15 {
	unsigned int _nr_pages; /* its name since 4996fc547f5b, 6.15 */
};

struct buffer_head {
	struct folio *b_folio;
};

struct buffer_head___6_1 {
	struct folio *b_page; /* its name before d685c668b069, 6.3 */
};

struct percpu_counter {
	long long count;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code; /* of the program */
	unsigned long arg_start, arg_end, env_start, env_end;
	unsigned long start_brk, brk, start_stack;
	unsigned long total_vm; /* pages */
	struct percpu_counter rss_stat[4];
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff; /* vm_pgoff: pages */
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct mm_counter___6_1 {
	long long counter;
};

struct mm_rss_stat { /* gone with f1a7941243c1, 6.2 */
	struct mm_counter___6_1 count[4];
};

struct mm_struct___6_1 {
	struct mm_rss_stat rss_stat;
};

struct kmem_cache {
	unsigned int size; /* of an object, with what is around it */
	const char *name;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them; the initial namespace's first */
};

struct thread_registers { /* aarch64 */
	unsigned long tp_value;
};

struct thread_struct {
	unsigned long fsbase;       /* x86 */
	struct thread_registers uw; /* aarch64 */
};

struct task_struct {
	struct thread_info thread_info;
	struct thread_struct thread;
	unsigned int
		__state; /* "state" before 5.14; ebprec needs 5.18 (prev_state as an argument) */
	int exit_state;
	int prio;
	int pid;  /* the thread */
	int tgid; /* the process */
	int static_prio;
	unsigned int policy;
	int exit_code;
	unsigned long long start_time; /* CLOCK_MONOTONIC, ns */
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid; /* NULL once the task is released */
	struct css_set *cgroups;
	struct files_struct *files;
	char comm[16];
	struct sched_entity se;
	struct signal_struct *signal;
	unsigned int flags;        /* TASK_KERNEL, TASK_EXITING */
	void *stack;               /* its lowest address */
	struct mm_struct *mm;      /* NULL: kernel threads, and in exit */
	unsigned in_execve : 1;    /* from open to the first instruction of the new program */
	unsigned int self_exec_id; /* counts the execs of the process */
};

typedef struct {
	long long counter;
} atomic64_t;

struct mutex {
	atomic64_t owner; /* a task, and flags in the lowest bits; gone with PREEMPT_RT */
};

struct rw_semaphore {
	atomic64_t owner; /* the same; of readers the last one */
};

struct irqaction {
	const char *name;
};

struct gendisk {
	char disk_name[32];
};

struct request_queue {
	struct gendisk *disk; /* in the request itself before 5.17 */
};

enum mq_rq_state { MQ_RQ_IDLE = 0 };

struct request {
	struct request_queue *q;
	enum mq_rq_state state;
	unsigned int cmd_flags;  /* enum request_flags */
	unsigned int __data_len; /* bytes left */
};

struct in6_addr {
	unsigned char bytes[16];
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct socket {
	struct file *file;
	struct sock *sk;
};

struct sock_common {
	possible_net_t skc_net;
	unsigned char skc_state;
	unsigned int skc_daddr, skc_rcv_saddr;
	unsigned short skc_dport; /* high byte first */
	unsigned short skc_num;   /* the local port */
	unsigned short skc_family;
	unsigned long skc_flags; /* SOCKET_DONE */
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned short sk_protocol;
	int sk_err;
	struct socket *sk_socket; /* NULL: no program has it (any more) */
};

struct inet_sock {
	__u16 inet_sport; /* high byte first; stays when skc_num is given back */
};

struct tcp_sock {
	unsigned long long bytes_sent, bytes_retrans, bytes_received;
};

struct net_device {
	char name[16];
	unsigned short hard_header_len;
	unsigned int flags; /* DEVICE_LOOPBACK */
	int ifindex;
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev; /* while it waits at a socket: whatever else */
	struct sock *sk;
	unsigned int len;
	int skb_iif; /* where it came in */
	char cb[48]; /* private to the current owner: TCP's is struct tcp_skb_cb */
};

struct tcp_skb_cb {
	__u16 tcp_gso_segs;
};

struct trace_event_raw_kfree_skb {
	void *rx_sk; /* since c53795d48ee8, 6.11; the tracepoint's fourth argument */
};

struct trace_event_raw_tcp_retransmit_skb {
	int err; /* since 6.17; the tracepoint's third argument, and not 0 of what was not sent */
};

/* Tracepoints that a kernel may lack: both are since 6e6eda44b939, 6.3. */
typedef void (*btf_trace_sock_send_length)(void *, struct sock *, int, int);

struct bpf_iter_meta;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL: the end */
};

enum pageflags { PG_head = 0 }; /* its number is that of the running kernel */

#pragma clang attribute pop

/* include/linux/blk_types.h: the lowest 8 bits are the operation. */
enum request_flags {
	REQUEST_READ = 0,
	REQUEST_WRITE = 1,
	REQUEST_FLUSH = 2,
	REQUEST_OP = 0xff,
	REQUEST_FLUSHES = 1 << 17 | 1 << 18,        /* FUA, PREFLUSH */
	REQUEST_SYNC = 1 << 11 | 1 << 17 | 1 << 18, /* or FUA, or PREFLUSH */
};

/* include/net/sock.h: enum sock_flags; the other side has ended. */
enum { SOCKET_DONE = 1 << 1 };

/* include/uapi/linux/if.h: IFF_LOOPBACK. */
enum { DEVICE_LOOPBACK = 0x8 };

/* include/linux/socket.h: MSG_PEEK. */
enum { MESSAGE_PEEK = 2 };

/* include/linux/sched.h */
enum { TASK_INTERRUPTIBLE = 0x1 };

/* include/linux/sched/signal.h: SIGNAL_GROUP_EXIT. */
enum { SIGNAL_EXITING = 0x4 };

#define THREAD_STACK_MOST (32u << 10) /* bytes; 16 KiB, twice that with KASAN */

/* include/linux/sched.h: kernel threads, and threads of a process that never run its code; exit. */
enum task_kernel {
	TASK_IO_WORKER = 0x10,
	TASK_USER_WORKER = 0x4000, /* since 6.4; nothing before */
	TASK_KTHREAD = 0x200000,
	TASK_EXITING = 0x4,
	TASK_KERNEL = TASK_IO_WORKER | TASK_USER_WORKER | TASK_KTHREAD,
};

#endif
