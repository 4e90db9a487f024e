// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * user_marks - marks that programs set themselves, and the user's probes as marks moments
 *
 * mark_hit is the probe of format/include/ebprec-mark.h: group, name, text, id, duration and kind in the
 * registers of the first six arguments.  The other programs serve the user's probes: USDT probes
 * with their arguments, functions, tracepoints with their fields.  The cookie identifies the probe.
 *
 * A record is reserved before the strings are read, not put together in a buffer of the CPU: a
 * probe's program may be interrupted by that of another thread.  Most strings are short, and so is
 * the record; where one did not fit, a long one is taken.
 *
 * Cost, measured on a 2-core VM (6.18): 1.4 to 2.2 us a mark, and the trap of the probe.
 * A string that is not in memory (a literal that was never touched) cannot be read here: it is
 * flagged, and the mark is recorded.
 */
#define LEFT_OUT_EVENT EBPREC_EV_MARK
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/ids.bpf.h"
#include "bpf/lib/registers.bpf.h"

struct mark_short {
	struct mark_event ev;
	char group[48], name[48], text[MARK_SHORT_BYTES];
};

struct mark_long {
	struct mark_event ev;
	char group[MARK_NAME_BYTES], name[MARK_NAME_BYTES], text[MARK_TEXT_BYTES];
};

/* How much of the room is used; room itself: it was cut, or fits exactly. */
static __always_inline __u32 read_text(char *to, __u32 room, __u64 at, struct mark_event *ev,
				       __u32 unread)
{
	long bytes = bpf_probe_read_user_str(to, room, (const void *)at);

	if (bytes < 1) {
		ev->unread |= unread;
		to[0] = 0;
		return 1;
	}
	return bytes;
}

/* Fills a record of one of the two sizes.  False: a string was cut. */
#define FILL(m, ctx)                                                                              \
	({                                                                                        \
		__u64 tgid_pid__ = current_ids();                                                 \
		bool fits__ = true;                                                               \
		fill_header(&(m)->ev.h, EBPREC_EV_MARK, sizeof(*(m)));                            \
		(m)->ev.pid = tgid_pid__ >> 32;                                                   \
		(m)->ev.tid = tgid_pid__;                                                         \
		(m)->ev.duration_ns = PT_REGS_PARM5(ctx);                                         \
		(m)->ev.id = PT_REGS_PARM4(ctx);                                                  \
		(m)->ev.kind = PROBE_PARM6(ctx);                                                  \
		(m)->ev.group_bytes = sizeof((m)->group);                                         \
		(m)->ev.name_bytes = sizeof((m)->name);                                           \
		(m)->ev.unread = 0;                                                               \
		fits__ &= read_text((m)->group, sizeof((m)->group), PT_REGS_PARM1(ctx), &(m)->ev, \
				    MARK_UNREAD_GROUP) < sizeof((m)->group);                      \
		fits__ &= read_text((m)->name, sizeof((m)->name), PT_REGS_PARM2(ctx), &(m)->ev,   \
				    MARK_UNREAD_NAME) < sizeof((m)->name);                        \
		fits__ &= read_text((m)->text, sizeof((m)->text), PT_REGS_PARM3(ctx), &(m)->ev,   \
				    MARK_UNREAD_TEXT) < sizeof((m)->text);                        \
		fits__;                                                                           \
	})

SEC("uprobe")
int mark_hit(struct pt_regs *ctx)
{
	void *ring = ring_here();
	struct mark_short *s;
	struct mark_long *l;

	/* A mark of `ebprec mark` goes to all recorders. */
	if (filter && bpf_get_attach_cookie(ctx) != MARK_SOURCE_EBPREC && !is_target_current())
		return 0;
	if (!ring)
		goto lost;
	s = bpf_ringbuf_reserve(ring, sizeof(*s), 0);
	if (!s)
		goto lost;
	if (FILL(s, ctx)) {
		bpf_ringbuf_submit(s, wake_flags(ring));
		return 0;
	}
	bpf_ringbuf_discard(s, BPF_RB_NO_WAKEUP);
	l = bpf_ringbuf_reserve(ring, sizeof(*l), 0);
	if (!l)
		goto lost;
	(void)FILL(l, ctx);
	bpf_ringbuf_submit(l, wake_flags(ring));
	return 0;
lost:
	count_lost(EBPREC_EV_MARK);
	return 0;
}

/* ---- probes that users name ---- */

static __always_inline struct probe_event *begin_probe(__u64 cookie, void **ring)
{
	__u64 tgid_pid = current_ids();
	struct probe_event *ev;

	if (!is_target(tgid_pid >> 32))
		return NULL;
	*ring = ring_here();
	ev = *ring ? bpf_ringbuf_reserve(*ring, sizeof(*ev), 0) : NULL;
	if (!ev) {
		count_lost(EBPREC_EV_PROBE);
		return NULL;
	}
	fill_header(&ev->h, EBPREC_EV_PROBE, sizeof(*ev));
	ev->pid = tgid_pid >> 32;
	ev->tid = tgid_pid;
	ev->source = cookie;
	ev->data_bytes = 0;
	return ev;
}

SEC("uprobe")
int function_hit(struct pt_regs *ctx)
{
	struct probe_event *ev;
	void *ring;

	ev = begin_probe(bpf_get_attach_cookie(ctx), &ring);
	if (ev)
		bpf_ringbuf_submit(ev, wake_flags(ring));
	return 0;
}

/* The arguments of a USDT probe, by the probe's cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USDT_ARGS_MAX);
	__type(key, __u32);
	__type(value, struct usdt_args);
} usdt_places SEC(".maps");

/* Reads a register by its number, which comes from a file that is not trusted: bounds are checked. */
static __always_inline bool read_register(struct pt_regs *ctx, __u8 reg, __u64 *out)
{
	return reg < sizeof(saved_regs) / 8 &&
	       !bpf_probe_read_kernel(out, sizeof(*out), (void *)ctx + reg * 8);
}

static __always_inline bool read_argument(struct pt_regs *ctx, const struct usdt_arg *a, __u64 *out)
{
	__u64 value = a->value, base = 0, index = 0;
	__u32 bytes = a->bytes, unused;

	if (bytes < 1 || bytes > 8)
		return false;
	switch (a->kind) {
	case USDT_CONST:
		break;
	case USDT_REG:
		if (!read_register(ctx, a->reg, &value))
			return false;
		break;
	case USDT_MEMORY:
		if (a->reg != USDT_NO_REG && !read_register(ctx, a->reg, &base))
			return false;
		if (a->index != USDT_NO_REG && !read_register(ctx, a->index, &index))
			return false;
		base += value + (index << (a->scale & 3));
		value = 0;
		if (bpf_probe_read_user(&value, bytes, (const void *)base))
			return false;
		break;
	default:
		return false;
	}
	unused = (64 - 8 * bytes) & 63;
	value <<= unused;
	*out = a->is_signed ? (__u64)((__s64)value >> unused) : value >> unused;
	return true;
}

SEC("uprobe")
int usdt_hit(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	const struct usdt_args *args;
	__u32 place = cookie >> 32;
	struct probe_event *ev;
	__u64 *words, value;
	void *ring;
	__u32 i;

	args = bpf_map_lookup_elem(&usdt_places, &place);
	ev = args ? begin_probe(cookie, &ring) : NULL;
	if (!ev)
		return 0;
	words = (__u64 *)ev->data;
	words[0] = 0; /* which arguments cannot be read */
	for (i = 0; i < PROBE_ARGS_MAX && i < args->count; i++) {
		value = 0;
		if (!read_argument(ctx, &args->arg[i], &value))
			words[0] |= 1ull << i;
		words[1 + i] = value;
	}
	ev->data_bytes = (1 + i) * sizeof(__u64);
	bpf_ringbuf_submit(ev, wake_flags(ring));
	return 0;
}
/* Returning 0 would hide the tracepoint's event from all other listeners, perf among them. */
SEC("tracepoint")
int tracepoint_hit(void *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 bytes = cookie >> 32;
	struct probe_event *ev;
	void *ring;

	ev = begin_probe(cookie, &ring);
	if (!ev)
		return 1;
	if (bytes > PROBE_DATA_BYTES)
		bytes = PROBE_DATA_BYTES;
	/* The first eight bytes, the common fields, cannot be read here. */
	if (bytes > 8 && !bpf_probe_read_kernel(ev->data, bytes, ctx))
		ev->data_bytes = bytes;
	bpf_ringbuf_submit(ev, wake_flags(ring));
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
