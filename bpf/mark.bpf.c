// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * mark - moments that programs name themselves, by the USDT probe ebprec:mark
 *
 * Arguments of the probe: const char *group, *name, *message, u64 duration_ns, u32 kind.
 * Cost, measured on a 2-core VM (6.18): 1.4 to 2.2 us a mark, and the trap of the probe.
 * A string that is not in memory (a literal that was never touched) cannot be read here: it is
 * flagged, and the mark is kept.
 */
#include "bpf/common.bpf.h" /* first: <linux/bpf.h> and the helpers */

#include <linux/ptrace.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mark_event);
} scratch SEC(".maps");

static __always_inline long read_arg(struct pt_regs *ctx, __u64 arg, char *to, __u32 size_bytes)
{
	long at = 0;

	to[0] = 0;
	if (bpf_usdt_arg(ctx, arg, &at))
		return -1;
	return bpf_probe_read_user_str(to, size_bytes, (const void *)at);
}

SEC("usdt")
int mark_hit(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	long duration_ns = 0, kind = 0, text_bytes;
	struct mark_event *ev;
	__u32 zero = 0, size_bytes;
	void *ring;

	ev = bpf_map_lookup_elem(&scratch, &zero);
	ring = ring_here();
	if (!ev || !ring)
		goto lost;
	bpf_usdt_arg(ctx, 3, &duration_ns);
	bpf_usdt_arg(ctx, 4, &kind);
	ev->unread = 0;
	if (read_arg(ctx, 0, ev->group, sizeof(ev->group)) < 0)
		ev->unread |= MARK_UNREAD_GROUP;
	if (read_arg(ctx, 1, ev->name, sizeof(ev->name)) < 0)
		ev->unread |= MARK_UNREAD_NAME;
	text_bytes = read_arg(ctx, 2, ev->text, sizeof(ev->text));
	if (text_bytes < 1 || text_bytes > MARK_TEXT_BYTES) {
		ev->unread |= MARK_UNREAD_TEXT;
		ev->text[0] = 0;
		text_bytes = 1;
	}
	size_bytes = MARK_EVENT_HEAD_BYTES + text_bytes;
	fill_header(&ev->h, EBPREC_EV_MARK, size_bytes);
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->duration_ns = duration_ns;
	ev->kind = kind;
	if (!bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		return 0;
lost:
	count_lost(EBPREC_EV_MARK);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
