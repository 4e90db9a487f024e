/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * events - the events that BPF programs send to user space
 *
 * The contract between bpf/ and record/: fixed-width fields, explicit padding, a header first.
 * Every event goes through the ring of the CPU it happened on.  A CPU whose ring is full counts
 * the event in the map `lost`, under its type.
 */
#ifndef EBPREC_BPF_EVENTS_H
#define EBPREC_BPF_EVENTS_H

#include <linux/types.h>

#include "format/unwind/arch.h"

/* include/linux/sched.h: set in __state before a thread's last switch; exit_state is set earlier. */
enum { TASK_DEAD = 0x80 };

enum ebprec_event_type {
	EBPREC_EV_CPU = 1,    /* struct cpu_event */
	EBPREC_EV_SWITCH = 2, /* struct switch_event */
	EBPREC_EV_MARK = 3,   /* struct mark_event */
	EBPREC_EV_COPY = 4, /* struct copy_event: a sample whose user stack is still to be walked */
	EBPREC_EV_TASK = 5, /* struct task_event */
	EBPREC_EV_WAKER = 6, /* struct waker_event */
	EBPREC_EV_PROBE = 7, /* struct probe_event */
	EBPREC_EV_METRIC =
		8, /* struct metric_event; as lost: entries that a table had no space for */
	EBPREC_EV_SWITCH_COPY =
		9, /* struct switch_copy_event: a switch whose stack is still to be walked */
	EBPREC_EV_EXIT = 10,   /* struct exit_event */
	EBPREC_EV_EXEC = 11,   /* struct exec_event */
	EBPREC_EV_CODE = 12,   /* struct runtime_code_event, of bpf/runtime_maps.h */
	EBPREC_EV_TARGET = 13, /* struct target_event */
	EBPREC_EV_END,         /* one past the last */
};

/* Size of the map `lost`: behind what was lost, by type, is what was left out of the same type. */
#define EBPREC_EV_COUNTS (2 * EBPREC_EV_END)

struct event_header {
	__u16 type;       /* enum ebprec_event_type */
	__u16 size_bytes; /* header included */
	__u32 cpu;
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* ---- cpu.bpf.c ---- */
#define CPU_KERNEL_MAX 127 /* frames; the kernel's default limit (perf_event_max_stack) */
#define CPU_USER_MAX \
	256 /* of a stack that is no sample's, and of a sample's, if no more are asked for */
#define CPU_SAMPLE_MAX 1024 /* user frames of a sample */

/* How user stacks are taken. */
enum cpu_stacks {
	CPU_STACKS_AUTO, /* by tables and frame pointers; copied while these are not known */
	CPU_STACKS_CFI,  /* the same without copies */
	CPU_STACKS_FP,
	CPU_STACKS_COPY, /* always copied, walked in user space */
	CPU_STACKS_NONE,
};

/* Set in cpu_event.flags beside enum stack_result_flags; never leaves the recorder. */
#define CPU_FLAG_COPY_REFUSED 0x8000 /* user space could have known more: no token, no room */

/* The same: words of an interpreter (bpf/runtime_maps.h) stand behind the user frames. */
#define EVENT_FLAG_RUNTIME 0x4000

#define RUNTIME_FRAMES_MAX 512 /* of an interpreted program; the same */
#define RUNTIME_SAMPLE_MAX 1024
#define RUNTIME_HEAD_WORDS 2 /* before them: RUNTIME_WORD_HEAD, and walk_proc's runtime_base */
#define RUNTIME_WORDS_MAX  (RUNTIME_HEAD_WORDS + RUNTIME_FRAMES_MAX)

/* The stacks of a thread: the last member of each event that has them. */
struct event_stack {
	__u16 kernel_count; /* frames[0..kernel_count), leaf first */
	__u16 user_count;   /* frames[kernel_count..+user_count), leaf first */
	__u8 how;           /* enum stack_result_how, of the user part */
	__u8 why;           /* enum unwind_why */
	__u16 flags;        /* enum stack_result_flags, CPU_FLAG_COPY_REFUSED, EVENT_FLAG_RUNTIME */
	__u64 frames[CPU_KERNEL_MAX + CPU_USER_MAX]; /* only as many as counted are sent */
};

/* The id of a stack without frames. */
#define EVENT_STACK_HEAD_BYTES 8
#define EVENT_HEAD_BYTES(type) (__builtin_offsetof(struct type, stack) + EVENT_STACK_HEAD_BYTES)

#define SERVICES_MAX        4096 /* with a budget at a time */
#define SERVICE_CGROUPS_MAX 16384

/* The counters of a CPU, in a map. */
struct cpu_cost {
	__u64 sampling_ns;   /* on samples that were taken */
	__u64 skipped_count; /* samples that were not, in all */
	__u32 skipped; /* the same, since the last one that was: the next one stands for them, too */
	__u32 pad;
};

/* The time for stacks of switches, of a CPU. */
struct stack_budget {
	__u64 since_ns; /* when the chance was last adjusted */
	__u64 cost_ns;  /* on stacks that were drawn, since then */
	__u64 rare_ns; /* on stacks of rare waits; decreases at the rate that is allowed for these */
	__u64 spent_ns; /* on all of them */
	__u32 chance;   /* of CHANCE_ONE; 0: not begun */
	__u32 pad;
};

struct cpu_event {
	struct event_header h;
	__u32 pid, tid; /* by user space's terms: pid is the process */
	__u64 cgroup_id;
	__u64 period; /* ns with cpu-clock, cycles with a PMU */
	struct event_stack stack;
	/* More frames, and words, which begin behind the frames that are there. */
	__u64 more_room[CPU_SAMPLE_MAX - CPU_USER_MAX + RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX];
};

#define COPY_REGS        UNWIND_HERE_REGS       /* by DWARF number; see enum unwind_regno */
#define COPY_MAX_BYTES   (28u << 10)            /* the kernel has per-CPU values of 32 KB at most */
#define COPY_WORDS_BYTES (3016 - 8 * COPY_REGS) /* on top of that: what is left of such a value */
#define COPY_BELOW_SP    128 /* the red zone, and registers that epilogues popped */

struct copy_event {
	struct event_header h;
	__u32 pid, tid;
	__u64 cgroup_id;
	__u64 period;
	__u16 kernel_count; /* of kernel[], which is sent completely */
	__u8 why;           /* why the stack was not walked where it was: enum unwind_why */
	__u8 pad;
	__u32 stack_bytes;
	__u64 stack_addr; /* of stack[0] */
	__u64 regs[COPY_REGS];
	__u64 kernel[CPU_KERNEL_MAX];
	/* Only stack_bytes are sent, and behind them, from a multiple of 8 on, words of an interpreter. */
	__u8 stack[COPY_MAX_BYTES + COPY_WORDS_BYTES];
};

#define COPY_EVENT_HEAD_BYTES (56 + 8 * (COPY_REGS + CPU_KERNEL_MAX))

/* ---- sched.bpf.c ---- */
struct switch_event {
	struct event_header h;
	__u32 prev_pid, prev_tid; /* a process and its thread */
	__u32 next_pid, next_tid;
	__s16 prev_prio, next_prio;     /* the kernel's: 0..99 real time, 120 nice 0 */
	__u16 prev_state;               /* task_struct.__state as the tracepoint got it */
	__u8 prev_exit_state;           /* set by exit_notify(), before the last switch */
	__u8 preempt;                   /* bool */
	__u64 prev_ran_ns, next_ran_ns; /* CPU time in all its life: se.sum_exec_runtime */
	char prev_comm[16], next_comm[16];
	__u16 syscall; /* of the thread that leaves: its number plus 1; 0: in none */
	__u8 wanted;   /* enum switch_wants */
	__u8 policy;   /* of the thread that leaves: SCHED_* */
	__u32 weight; /* switches that the stack stands for; 0: no stack, and the rest is not sent */
	struct event_stack stack;
};

#define SWITCH_EVENT_SHORT_BYTES 96 /* without a stack */

#define SWITCH_COPY_BYTES (24u << 10)

/* A switch, as far as its stack was walked, and what user space needs to walk it itself. */
struct switch_copy_event {
	struct switch_event sw; /* sent completely */
	__u64 stack_addr;       /* of stack[0] */
	__u32 stack_bytes, pad;
	__u64 regs[COPY_REGS];
	/* Only stack_bytes are sent, and words behind them as in struct copy_event. */
	__u8 stack[SWITCH_COPY_BYTES + 8 * RUNTIME_WORDS_MAX];
};

#define SWITCH_COPY_HEAD_BYTES __builtin_offsetof(struct switch_copy_event, stack)

enum switch_wants { /* of a recorded process */
		    SWITCH_WANTS_PREV = 1,
		    SWITCH_WANTS_NEXT = 2,
		    /* And, where that is asked for: it had to wait for the CPU too long. */
		    SWITCH_NEXT_LATE = 4,
};

/* Other events of a thread; each is a tracepoint of sched:*. */
enum task_what {
	TASK_WAKEUP,     /* sched_wakeup: runnable from here on */
	TASK_WAKEUP_NEW, /* sched_wakeup_new: for the first time */
	TASK_MIGRATE,    /* sched_migrate_task, from CPU a to CPU b */
	TASK_FORK,       /* sched_process_fork: the current thread made it */
	TASK_EXIT,       /* sched_process_exit: it begins to end */
	TASK_WHATS,
};

/* An interrupt did it, on top of the thread that is named: a bit of the tracepoint's common_flags. */
enum task_irq { TASK_HARDIRQ = 0x08 };

struct task_event {
	struct event_header h;
	__u8 what; /* enum task_what */
	__u8 irq;  /* enum task_irq, of its waker */
	__u16 pad;
	__u32 by_pid, by_tid; /* the acting thread: the waker, the parent, the thread itself */
	__u32 pid, tid;       /* the thread that it happens to */
	__s32 prio;
	__s32 a, b; /* WAKEUP*: a is the CPU; MIGRATE: from a to b; EXIT: a: the last one */
	char comm[16];
	char by_comm[16]; /* FORK; else not sent */
};

#define TASK_EVENT_SHORT_BYTES 64

/* A thread has left the CPU for the last time: its names and ids, and the counts of all its life. */
struct exit_event {
	struct event_header h;
	__u32 pid, tid, ppid;
	__s32 prio, nice;
	__u32 policy; /* SCHED_* */
	__u64 runtime_ns, voluntary, involuntary;
	__s32 code; /* as wait() has it */
	__u32 pad;
	char comm[16];
};

/* The stack of a waker, when the wait that it ends has one. */
struct waker_event {
	struct event_header h;
	__u32 pid, tid; /* of the waker, or of the thread that an interrupt met */
	__u32 wakee_tid;
	__u32 irq; /* enum task_irq */
	struct event_stack stack;
	__u64 words_room[RUNTIME_WORDS_MAX];
};

/* ---- exec.bpf.c ---- */
#define EXEC_ARGS_MAX 4096 /* bytes of a command line; longer ones are cut */
#define EXEC_ENV_MAX  (16u << 10)

enum exec_flags { /* as enum cmdline_record_flags */
		  EXEC_ARGS_CUT = 1,
		  EXEC_ENV_CUT = 2,
		  EXEC_ENV = 4,
};

/* A process has become another program. */
struct exec_event {
	struct event_header h;
	__u32 pid;
	__u32 flags;                             /* enum exec_flags */
	__u32 args_bytes, env_bytes;             /* of data, one behind the other */
	__u8 data[EXEC_ARGS_MAX + EXEC_ENV_MAX]; /* only what is counted is sent */
};

#define EXEC_EVENT_HEAD_BYTES 32

/* ---- user_marks.bpf.c ---- */
#define MARK_NAME_BYTES 128 /* with the NUL */
#define MARK_TEXT_BYTES 512

enum mark_unread { /* strings that were not in memory when the probe fired */
		   MARK_UNREAD_GROUP = 1,
		   MARK_UNREAD_NAME = 2,
		   MARK_UNREAD_TEXT = 4,
};

/* Behind it: group, name and text, each with its NUL, in the sizes given, the rest for text. */
struct mark_event {
	struct event_header h;
	__u32 pid, tid;
	__u64 duration_ns, id;
	__u32 kind; /* enum trace_data_mark_kind, or another value of the program */
	__u16 group_bytes, name_bytes;
	__u32 unread; /* enum mark_unread */
	__u32 pad;
};

#define MARK_SHORT_BYTES 88 /* of text, in records of marks with short names */

/* The cookie of a probe identifies it. */
enum mark_source {
	MARK_SOURCE_PROGRAM = 0, /* a mark of some program */
	MARK_SOURCE_EBPREC = 1,  /* of `ebprec mark` */
	MARK_SOURCE_FIRST = 2,   /* and so on: the user's probes */
};

#define PROBE_ARGS_MAX   12 /* of a USDT probe; the maximum of sys/sdt.h */
#define PROBE_DATA_BYTES 192

/* Where an argument of a USDT probe is, when the probe is hit. */
enum usdt_kind {
	USDT_UNKNOWN, /* nowhere that we know how to look */
	USDT_CONST,   /* value */
	USDT_REG,     /* a register */
	USDT_MEMORY,  /* at register + (index << scale) + value */
};
#define USDT_NO_REG 0xff

struct usdt_arg {
	__u64 value;
	__u8 kind;
	__u8 reg, index; /* in struct pt_regs, in words of 8 bytes; USDT_NO_REG: none */
	__u8 scale;
	__u8 bytes; /* 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 zero[2];
};

struct usdt_args {
	__u32 count, zero;
	struct usdt_arg arg[PROBE_ARGS_MAX];
};

#define USDT_ARGS_MAX 1024 /* of all probes together that the user names */

/* A probe that is taken for a mark. */
struct probe_event {
	struct event_header h;
	__u32 pid, tid;
	__u32 source; /* enum mark_source */
	__u32 data_bytes;
	/* USDT: a word with a bit for each argument that cannot be read, arguments, as __s64; of
	 * tracepoints: their raw bytes. */
	__u8 data[PROBE_DATA_BYTES];
};

/* ---- heap.bpf.c ---- */

/* The function that a probe is in, by its cookie; the first are also kinds of allocations. */
enum heap_entry {
	HEAP_MALLOC,
	HEAP_CALLOC,
	HEAP_REALLOC,
	HEAP_ALIGNED,
	HEAP_POSIX,
	HEAP_FREE,
};

/* ---- instruments with tables: table.bpf.h ---- */
/* ---- target_set.bpf.c ---- */
#define TARGET_CGROUPS_MAX 65536
#define TARGET_COMMS_MAX   64

/* A process that was selected as it runs. */
struct target_event {
	struct event_header h;
	__u32 pid;
	__u32 inherits; /* 1: a child of a recorded process, whose mappings are known */
};

#define METRIC_EVENT_ROW_MAX 256

struct metric_event {
	struct event_header h;
	__u32 pid, tid;
	__u32 table; /* the event's number over all instruments, set by user space */
	__u32 row_bytes;
	__u64 weight; /* what reports count it as: its duration, its bytes */
	__u8 row[METRIC_EVENT_ROW_MAX];
	struct event_stack stack;
};

_Static_assert(__builtin_offsetof(struct event_stack, frames) == EVENT_STACK_HEAD_BYTES,
	       "bpf/user contract");
_Static_assert(sizeof(struct event_header) == 16, "bpf/user contract");
_Static_assert(__builtin_offsetof(struct copy_event, stack) == COPY_EVENT_HEAD_BYTES,
	       "bpf/user contract");
_Static_assert(sizeof(struct copy_event) <= 32768, "the kernel's limit of per-CPU values");
_Static_assert(sizeof(struct switch_copy_event) <= 32768, "the same");
_Static_assert(__builtin_offsetof(struct switch_event, stack) == SWITCH_EVENT_SHORT_BYTES,
	       "bpf/user contract");
_Static_assert(__builtin_offsetof(struct task_event, by_comm) == TASK_EVENT_SHORT_BYTES,
	       "bpf/user contract");
_Static_assert(sizeof(struct task_event) == 80, "bpf/user contract");
_Static_assert(__builtin_offsetof(struct exec_event, data) == EXEC_EVENT_HEAD_BYTES,
	       "bpf/user contract");
_Static_assert(sizeof(struct exit_event) == 88, "bpf/user contract");
_Static_assert(sizeof(struct target_event) == 24, "bpf/user contract");
_Static_assert(sizeof(struct mark_event) == 56, "bpf/user contract");
_Static_assert(sizeof(struct probe_event) == 32 + PROBE_DATA_BYTES, "bpf/user contract");
_Static_assert(sizeof(struct usdt_args) == 8 + 16 * PROBE_ARGS_MAX, "bpf/user contract");

#endif
