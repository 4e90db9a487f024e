/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_commands - captures whose parts are well-formed and do not fit one another, through a command
 *
 * The bytes choose records of all events (record_script.h, sched_script.h), marks, exits, wakers and records inside of
 * which others are; the stream that each of them goes to, mostly the right one; objects of each kind, of
 * contents that have its form, again and again with the same number; and sections of the head.  At last
 * single bytes of the file may be changed, with its checksums put right.
 *
 * The first two bytes choose the command.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "format/payload/cmdline_record.h"
#include "format/payload/context_record.h"
#include "format/payload/container_record.h"
#include "format/payload/file_facts.h"
#include "tests/fuzz/draw.h"
#include "tests/fuzz/resum.h"
#include "tests/fuzz/sched_script.h"

#define FILE_MOST   (4u << 20)
#define OBJECT_MOST 65536
#define NOWHERE     "/proc/self/attr" /* names are not those of this machine */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* The events behind those of record_script.h. */
enum {
	MARK = REC_ATTRS + SCHED_SCRIPT_EVENTS,
	WAKER,
	ENDED, /* ebprec:exit */
	ATTRS,
	OUR_ID = 400, /* of MARK; the others follow */
};

static const char *const event_names[ATTRS] = {
	"cpu-clock",
	"dummy",
	"bpf-output",
	"sched:sched_switch",
	"sched:sched_wakeup",
	"sched:sched_wakeup_new",
	"sched:sched_migrate_task",
	"sched:sched_process_fork",
	"sched:sched_process_exit",
	"ebprec:mark",
	"ebprec:waker",
	"ebprec:exit",
};

struct made {
	struct record_script t;
	struct writer *w;
	uint8_t object[OBJECT_MOST];
};

/* ---- objects ---- */

static void put_value(struct cursor *in, FILE *to, unsigned depth);

/* The names that the analyzer looks for in the capture's META. */
static void put_member(struct cursor *in, FILE *to, unsigned depth)
{
	static const char *const keys[] = {
		"system_wide",
		"pids",
		"command_pid",
		"cpus_not_sampled",
		"cpu",
		"from_mono_ns",
		"to_mono_ns",
		"parts",
		"freq_cpus",
		"governors",
		"freqs_khz",
		"node_bytes",
		"node_distances",
		"boot_wall_ns",
		"affinity",
		"instruments",
		"options",
		"host",
		"lost",
		"samples",
		"command_line",
		"throttled",
		"name",
		"kernel",
		"start_wall_ns",
	};

	fprintf(to, "\"%s\": ", DRAW_OF(in, keys));
	put_value(in, to, depth + 1);
}

static void put_value(struct cursor *in, FILE *to, unsigned depth)
{
	static const char *const words[] = {
		"true",           "false", "null", "\"\"", "\"0-3\"", "\"10 21\"",
		"\"\\u0041\\n\"", "1e400", "-1",   "\"a",  "{",       "]"
	};
	uint8_t how = cursor_u8(in);
	uint32_t count = how >> 3 & 3;

	if (depth > 200 || (how & 7) < 3) {
		fprintf(to, "%llu", (unsigned long long)draw_number(in));
	} else if ((how & 7) < 5) {
		fputs(DRAW_OF(in, words), to);
	} else if ((how & 7) == 5) {
		putc('[', to);
		for (uint32_t i = 0; i < count; i++) {
			fputs(i ? ", " : "", to);
			put_value(in, to, depth + 1);
		}
		putc(']', to);
	} else {
		putc('{', to);
		for (uint32_t i = 0; i < count; i++) {
			fputs(i ? ", " : "", to);
			put_member(in, to, depth);
		}
		putc('}', to);
	}
}

static void put_meta(struct cursor *in, FILE *to)
{
	putc('{', to);
	for (uint32_t i = 0, count = 1 + draw_below(in, 12); i < count; i++) {
		fputs(i ? ",\n " : "", to);
		put_member(in, to, 0);
	}
	fputs("}\n", to);
}

/* A file that goes with the capture: u16 size of its name, the name, lines. */
static void put_file(struct cursor *in, FILE *to)
{
	static const char *const names[] = { "/proc/kallsyms",
					     "/tmp/perf-2.map",
					     "/tmp/perf-3.map",
					     "/tmp/jit-2.dump",
					     "/proc/modules",
					     "/f1",
					     "" };
	static const char *const lines[] = { "ffffffff81000000 T _text\n",
					     "ffffffff81001000 t f\n",
					     "ffffffffc0001000 t g\t[m]\n",
					     "1000 100 java\n",
					     "2000 ffffffffffffffff all\n",
					     "zz zz zz\n",
					     "1000 0 \n",
					     "\n" };
	const char *name = DRAW_OF(in, names);
	uint16_t bytes = (uint16_t)(draw_rarely(in, 32) ? draw_number(in) : strlen(name));

	fwrite(&bytes, sizeof(bytes), 1, to);
	fputs(name, to);
	for (uint32_t count = draw_below(in, 12); count; count--)
		fputs(DRAW_OF(in, lines), to);
}

static struct file_facts_text draw_text(struct cursor *in)
{
	static const char *const texts[] = { "/f1",
					     "/f2",
					     "/f3",
					     "",
					     "/",
					     "/a/../b",
					     "//anon",
					     "/user.slice/x.scope",
					     "memfd:x (deleted)" };
	const char *text = DRAW_OF(in, texts);

	return (struct file_facts_text){ text, (uint16_t)strlen(text) };
}

static void put_facts(struct cursor *in, FILE *to)
{
	uint8_t out[FILE_FACTS_MAX_BYTES];

	for (uint32_t count = 1 + draw_below(in, 4); count; count--) {
		struct file_facts f = {
			.id.dev_major = (uint32_t)draw_number(in),
			.id.inode = draw_number(in),
			.id.inode_generation = draw_number(in),
			.size_bytes = draw_number(in),
			.mount_namespace = draw_number(in),
			.segment_count = draw_below(in, FILE_FACTS_SEGMENTS_MAX + 1),
			.path = draw_text(in),
			.root = draw_text(in),
			.cgroup = draw_text(in),
		};

		f.id.build_id.size_bytes = (uint8_t)draw_below(in, BUILDID_MAX_BYTES + 1);
		for (uint32_t i = 0; i < f.segment_count; i++)
			f.segments[i] = (struct file_facts_segment){ draw_number(in),
								     draw_number(in),
								     draw_number(in) };
		fwrite(out, 1, file_facts_encode(&f, out), to);
	}
}

static void put_args(struct cursor *in, FILE *to)
{
	static const char words[] = "sh\0-c\0a b\0X=1\0=\0";
	uint8_t head[CMDLINE_RECORD_HEAD_BYTES];

	for (uint32_t count = 1 + draw_below(in, 4); count; count--) {
		const struct cmdline_record p = { .pid = (uint32_t)draw_number(in),
						  .flags = cursor_u8(in),
						  .time_ns = draw_number(in),
						  .args_bytes = draw_below(in, sizeof(words)),
						  .env_bytes = draw_below(in, sizeof(words)) };

		cmdline_record_encode(&p, head);
		fwrite(head, 1, sizeof(head), to);
		fwrite(words, 1, p.args_bytes, to);
		fwrite(words, 1, p.env_bytes, to);
	}
}

static void put_containers(struct cursor *in, FILE *to)
{
	uint8_t out[CONTAINER_RECORD_ENTRY_MAX];
	char id[CONTAINER_RECORD_DIGITS];

	for (uint32_t count = 1 + draw_below(in, 4); count; count--) {
		memset(id, "0123456789abcdef"[cursor_u8(in) & 15], sizeof(id));
		fwrite(out, 1,
		       container_record_encode(
			       &(struct container_record_entry){ id, "name", sizeof(id), 4 }, out),
		       to);
	}
}

/* Five numbers, then samples of any event. */
static void put_border(struct cursor *in, FILE *to)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE };

	for (unsigned i = 0; i < 5; i++) {
		uint64_t number = draw_number(in);

		fwrite(&number, 1, sizeof(number), to);
	}
	for (uint32_t count = draw_below(in, 16); count; count--) {
		uint32_t words = draw_below(in, 24);
		uint64_t id = draw_below(in, 16);

		header.size = (uint16_t)(sizeof(header) + 8 + 8 * words);
		fwrite(&header, 1, sizeof(header), to);
		fwrite(&id, 1, sizeof(id), to);
		for (; words; words--) {
			uint64_t number = draw_number(in);

			fwrite(&number, 1, sizeof(number), to);
		}
	}
}

static void put_mounts(struct cursor *in, FILE *to)
{
	static const char *const lines[] = {
		"21 1 8:1 / / rw - ext4 /dev/a rw\n",
		"22 21 0:20 /sub /f1 rw shared:1 - btrfs /dev/b rw\n",
		"23 21 0:30 / /f2 rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u\n",
		("24 24 0:30 / / rw - overlay o rw,lowerdir=" NOWHERE ":\\054\n"),
		"x y z\n",
		"25 21 1:1 / /a\\040b rw - x y z\n",
		"\n"
	};

	for (uint32_t count = 1 + draw_below(in, 6); count; count--)
		fputs(DRAW_OF(in, lines), to);
}

/* SYMTAB: version, by what, build-id, numbers of places and bytes, device, inode, and what they count. */
static void put_symtab(struct cursor *in, FILE *to)
{
	uint8_t head[64] = { 0 };

	le16_store(head, (uint16_t)(1 + draw_below(in, 3)));
	head[2] = (uint8_t)draw_below(in, 8);
	head[3] = (uint8_t)draw_below(in, 24);
	le32_store(head + 4, (uint32_t)draw_number(in));
	le32_store(head + 8, (uint32_t)draw_number(in));
	le64_store(head + 12, draw_number(in));
	fwrite(head, 1, sizeof(head), to);
	for (uint32_t count = draw_below(in, 64); count; count--) {
		uint64_t v = draw_number(in);

		fwrite(&v, draw_rarely(in, 3) ? 8 : 4, 1, to);
	}
}

static void put_any(struct cursor *in, FILE *to)
{
	for (uint32_t count = draw_below(in, 64); count; count--)
		putc(cursor_u8(in), to);
}

static void put_contexts(struct cursor *in, FILE *to)
{
	static const char *const names[] = { "a", "checkout", "/x/y", "unknown_service:x" };
	uint8_t head[CONTEXT_RECORD_HEAD_BYTES], message[CONTEXT_RECORD_NAME_MAX + 64];

	for (uint32_t count = draw_below(in, 6); count; count--) {
		const char *name = DRAW_OF(in, names);
		struct context_record r = { .pid = 1 + draw_below(in, 4),
					    .since_ns = draw_below(in, 1u << 20) };

		if (!draw_rarely(in, 4))
			r.size_bytes = (uint32_t)context_record_message(name, strlen(name),
									message);
		context_record_encode(&r, head);
		fwrite(head, 1, sizeof(head), to);
		fwrite(message, 1, r.size_bytes, to);
	}
}

static void add_object(struct made *m)
{
	static void (*const puts[])(struct cursor *, FILE *) = {
		[EBX_META] = put_meta,     [EBX_MOUNTS] = put_mounts,
		[EBX_FILE] = put_file,     [EBX_SYMTAB] = put_symtab,
		[EBX_NOTE] = put_meta,     [EBX_FACTS] = put_facts,
		[EBX_ARGS] = put_args,     [EBX_CONTAINERS] = put_containers,
		[EBX_BORDER] = put_border, [EBX_CONTEXTS] = put_contexts,
	};
	struct cursor *in = &m->t.in;
	uint32_t form = 1 + draw_below(in, EBX_CONTEXTS);
	uint32_t kind = draw_rarely(in, 16) ? 1 + draw_below(in, 16) : form;
	uint64_t number = draw_rarely(in, 4) ? draw_number(in) : 1 + draw_below(in, 3);
	FILE *to = fmemopen(m->object, sizeof(m->object), "w");
	long bytes;

	script_must(to);
	setvbuf(to, NULL, _IONBF, 0);
	(puts[form] ?: put_any)(in, to);
	bytes = ftell(to);
	fclose(to);
	script_must(bytes >= 0);
	for (uint32_t count = draw_rarely(in, 4) ? draw_below(in, 8) : 0; count && bytes; count--)
		m->object[draw_below(in, (uint32_t)bytes)] = cursor_u8(in);
	/* A record that the writer refuses is not in the file. */
	(void)writer_object(m->w, (enum ebx_kind)kind, number, m->object, (size_t)bytes);
}

/* ---- records ---- */

/* A sample of one of our own events. */
static void add_own(struct made *m)
{
	static const char *const words[] = { "a", "b", "group", "", "\x9b[31m", "=1+1", "a;b\n" };
	struct cursor *in = &m->t.in;
	unsigned which = draw_below(in, 3);
	uint8_t raw[2048];
	size_t bytes;
	const struct trace_data_mark mark = { .duration_ns = draw_number(in),
					      .id = draw_number(in),
					      .kind = draw_below(in, 6),
					      .group = DRAW_OF(in, words),
					      .name = DRAW_OF(in, words),
					      .message = DRAW_OF(in, words) };
	struct rec_sample s = { .pid = script_id(&m->t), .tid = script_id(&m->t), .raw = raw };

	s.time_ns = script_time(&m->t);
	if (which == 0) {
		bytes = trace_data_mark_encode(raw, sizeof(raw), s.tid, &mark);
	} else if (which == 1) {
		const struct trace_data_waker w = { .tid = script_id(&m->t),
						    .irq = cursor_u8(in) & 1 };

		trace_data_waker_encode(raw, s.tid, &w);
		bytes = TRACE_DATA_WAKER_BYTES;
	} else {
		struct trace_data_exit e = { .comm = "ended",
					     .pid = script_id(&m->t),
					     .tid = s.tid };

		e.ppid = script_id(&m->t);
		e.policy = (uint32_t)draw_number(in);
		e.runtime_ns = draw_number(in);
		e.code = (int32_t)draw_number(in);
		trace_data_exit_encode(raw, &e);
		bytes = TRACE_DATA_EXIT_BYTES;
	}
	if (draw_rarely(in, 16))
		raw[draw_below(in, (uint32_t)bytes)] = cursor_u8(in);
	s.raw_bytes = bytes;
	bytes = rec_sample(m->t.rec, &s);
	le64_store(m->t.rec + 8, OUR_ID + which);
	script_add(&m->t, which == 0 ? EBX_STREAM_MARK : EBX_STREAM_SCHED, bytes, s.time_ns, 0);
}

/* A record that should not be inside of another: private, compressed, of a pipe, or of the future. */
static void add_nested(struct made *m)
{
	struct cursor *in = &m->t.in;
	uint32_t type = 64 + draw_below(in, 24);
	size_t body = 8 * (size_t)(6 + draw_below(in, 20));
	const struct ebx_private p = { .kind = (uint16_t)(1 + draw_below(in, 12)),
				       .flags = cursor_u8(in) & 3,
				       .part = draw_below(in, 3),
				       .object = draw_below(in, 3),
				       .raw_bytes = (uint32_t)(draw_rarely(in, 4) ? draw_number(in)
										  : body - 40),
				       .payload_bytes = (uint32_t)(body - 40) };

	memset(m->t.rec, 0, 8 + body);
	for (size_t i = 0; i < body && draw_rarely(in, 2); i++)
		m->t.rec[48 + i % (body - 40)] = cursor_u8(in);
	rec_finish(m->t.rec, 8 + body, type, 0);
	if (type == PERFFILE_RECORD_PRIVATE) {
		ebx_private_encode(&p, (uint16_t)(8 + body), m->t.rec);
		resum_private(m->t.rec, 8 + body);
	}
	script_add(&m->t, EBX_STREAM_SIDE, 8 + body, m->t.now_ns, -1);
}

/* Records without samples, or samples that are too short, and all others. */
static void add_record(struct made *m)
{
	uint8_t op = cursor_u8(&m->t.in) % 24;

	if (op == 20)
		add_nested(m);
	else if (op > 17)
		add_own(m);
	else if (op > 15)
		sched_script_event(&m->t, SCHED_EVENT_SWITCH);
	else if (op > 13)
		sched_script_event(&m->t, 1 + op % (SCHED_SCRIPT_EVENTS - 1));
	else if (!script_op(&m->t, op, REC_CPU_ID))
		sched_script_sample(&m->t);
}

/* The record that was drawn last goes into the file, at times into a stream that is another's. */
static void give(struct made *m)
{
	struct record_script *t = &m->t;

	for (size_t i = 0; i < t->count; i++) {
		const struct script_record *r = &t->list[i];
		enum ebx_stream stream = r->stream;

		if (draw_rarely(&t->in, 24))
			stream = (enum ebx_stream)(1 + draw_below(&t->in, EBX_STREAM_END - 1));
		(void)writer_record(m->w, stream, t->bytes.data + r->at, r->size_bytes, r->block_ns,
				    r->cpu); /* what the writer refuses is not in the file */
		if (r->flushed)
			script_must(!writer_flush(m->w, draw_rarely(&t->in, 2)));
	}
	t->count = 0;
	t->bytes.size_bytes = 0;
}

/* ---- the head ---- */

static size_t describe(uint8_t *out, const struct writer_attr *attrs, size_t count)
{
	const size_t each = sizeof(struct perf_event_attr) + 8 + 64 + 8;

	memset(out, 0, 8 + count * each);
	le32_store(out, (uint32_t)count);
	le32_store(out + 4, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < count; i++) {
		uint8_t *p = out + 8 + i * each;
		struct perf_event_attr attr = attrs[i].attr;

		attr.size = sizeof(attr);
		memcpy(p, &attr, sizeof(attr));
		le32_store(p + sizeof(attr), 1);
		le32_store(p + sizeof(attr) + 4, 64);
		snprintf((char *)p + sizeof(attr) + 8, 64, "%s", event_names[i]);
		le64_store(p + sizeof(attr) + 72, attrs[i].ids[0]);
	}
	return 8 + count * each;
}

static void make_attrs(struct cursor *in, struct writer_attr attrs[ATTRS], uint64_t ids[ATTRS])
{
	static const uint64_t more[] = { PERF_SAMPLE_WEIGHT,       PERF_SAMPLE_READ,
					 PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER,
					 PERF_SAMPLE_STACK_USER,   PERF_SAMPLE_ADDR,
					 PERF_SAMPLE_CGROUP,       PERF_SAMPLE_STREAM_ID };

	rec_attrs(attrs);
	for (uint32_t i = REC_ATTRS; i < ATTRS; i++) {
		static const uint64_t ours[] = { TRACE_DATA_MARK_ID, TRACE_DATA_WAKER_ID,
						 TRACE_DATA_EXIT_ID };

		ids[i] = i < MARK ? SCHED_SCRIPT_ID + i - REC_ATTRS : OUR_ID + i - MARK;
		attrs[i] = attrs[2];
		attrs[i].attr.type = PERF_TYPE_TRACEPOINT;
		attrs[i].attr.config = i < MARK ? ids[i] : ours[i - MARK];
		attrs[i].ids = &ids[i];
	}
	while (draw_rarely(in, 16)) /* an event whose samples are not what their attr has */
		attrs[draw_below(in, ATTRS)].attr.sample_type ^= DRAW_OF(in, more);
	if (draw_rarely(in, 16))
		script_defers(&attrs[0].attr);
	if (draw_rarely(in, 32))
		attrs[draw_below(in, ATTRS)].attr.read_format = cursor_u8(in);
	if (draw_rarely(in, 32)) /* two events of one id */
		attrs[draw_below(in, ATTRS)].ids = attrs[draw_below(in, ATTRS)].ids;
}

static void damage(struct cursor *in, uint8_t *bytes, size_t size_bytes)
{
	for (uint32_t count = draw_rarely(in, 8) ? 1 + draw_below(in, 4) : 0; count && size_bytes;
	     count--)
		bytes[draw_below(in, (uint32_t)size_bytes)] = cursor_u8(in);
}

/* False: the writer does not take such a head. */
static bool begin(struct made *m, int fd)
{
	struct trace_data_event events[SCHED_SCRIPT_EVENTS + 3];
	static uint8_t host[] = "\x08\0\0\0machine", cpus[] = "\2\0\0\0\2\0\0\0";
	uint8_t desc[16 + ATTRS * 256], *section = NULL;
	struct writer_attr attrs[ATTRS];
	uint64_t ids[ATTRS];
	struct writer_feature features[5] = { { PERFFILE_HOSTNAME, host, sizeof(host) },
					      { PERFFILE_OSRELEASE, host, sizeof(host) },
					      { PERFFILE_NRCPUS, cpus, 8 } };
	struct writer_opts opts = { .attrs = attrs,
				    .attr_count = ATTRS,
				    .features = features,
				    .feature_count = 5,
				    .clock_mono_ns = 1,
				    .clock_wall_ns = 2,
				    .level = 1 };
	struct cursor *in = &m->t.in;
	size_t bytes;

	make_attrs(in, attrs, ids);
	memcpy(events, sched_script_formats, sizeof(sched_script_formats));
	events[SCHED_SCRIPT_EVENTS] = (struct trace_data_event){ "ebprec",
								 trace_data_mark_format() };
	events[SCHED_SCRIPT_EVENTS + 1] = (struct trace_data_event){ "ebprec",
								     trace_data_waker_format() };
	events[SCHED_SCRIPT_EVENTS + 2] = (struct trace_data_event){ "ebprec",
								     trace_data_exit_format() };
	script_must(!trace_data_build(events, SCHED_SCRIPT_EVENTS + 3, NULL, &section, &bytes));
	damage(in, section, bytes);
	features[3] = (struct writer_feature){ PERFFILE_TRACING_DATA, section, bytes };
	bytes = describe(desc, attrs, ATTRS);
	damage(in, desc, bytes);
	features[4] = (struct writer_feature){ PERFFILE_EVENT_DESC, desc, bytes };
	bytes = (size_t)writer_new(fd, &opts, &m->w);
	free(section);
	return !bytes;
}

/* ---- the command ---- */

static void run(uint8_t how, char *path)
{
	static const char in[] = "IN";
	static const struct {
		draw_command_fn run;
		const char *words[10];
		bool json;
	} jobs[] = {
		{ cmd_info, { "info", "-i", in }, false },
		{ cmd_info, { "info", "--json", "-i", in }, true },
		{ cmd_report, { "report", "--symfs", NOWHERE, "-i", in }, false },
		{ cmd_report,
		  { "report", "--symfs", NOWHERE, "--json", "--sort", "pid,comm,dso,sym", "-i",
		    in },
		  true },
		{ cmd_report, { "report", "--symfs", NOWHERE, "--folded", "-i", in }, false },
		{ cmd_report,
		  { "report", "--symfs", NOWHERE, "--off-cpu", "--json", "-i", in },
		  true },
		{ cmd_report, { "report", "--symfs", NOWHERE, "--wall", "-i", in }, false },
		{ cmd_report,
		  { "report", "--symfs", NOWHERE, "--process", "2", "--json", "-i", in },
		  true },
		{ cmd_report, { "report", "--symfs", NOWHERE, "--tree", "-i", in }, false },
		{ cmd_report, { "report", "--symfs", NOWHERE, "--brief", "-i", in }, false },
		{ cmd_script, { "script", "--symfs", NOWHERE, "-i", in }, false },
		{ cmd_sched, { "sched", "--all", "--json", "-i", in }, true },
		{ cmd_sched, { "sched", "--threads", "--latency", "-i", in }, false },
		{ cmd_summary, { "summary", "--symfs", NOWHERE, "--json", "-i", in }, true },
		{ cmd_marks, { "marks", "--json", "-i", in }, true },
		{ cmd_marks, { "marks", "-i", in }, false },
		{ cmd_slice, { "slice", "--last", "1us", "-o", "/dev/null", "-i", in }, false },
		{ cmd_export,
		  { "export", "--symfs", NOWHERE, "--to", "firefox", "-o", "-", in },
		  true },
		{ cmd_export,
		  { "export", "--symfs", NOWHERE, "--to", "chrome", "-o", "-", in },
		  true },
		{ cmd_export,
		  { "export", "--symfs", NOWHERE, "--to", "speedscope", "-o", "-", in },
		  true },
		{ cmd_export,
		  { "export", "--symfs", NOWHERE, "--to", "pprof", "-o", "/dev/null", in },
		  false },
		{ cmd_export, { "export", "--raw", "-o", "/dev/null", in }, false },
		{ cmd_scrub, { "scrub", "-o", "/dev/null", in }, false },
		{ cmd_recover, { "recover", "-o", "/dev/null", in }, false },
		{ cmd_diff, { "diff", "--symfs", NOWHERE, "--json", in, in }, true },
		{ cmd_merge, { "merge", "-o", "/dev/null", in, in }, false },
		{ cmd_metrics, { "metrics", "--json", "-i", in }, true },
	};
	size_t job = how % (sizeof(jobs) / sizeof(jobs[0]));
	const char *words[11] = { NULL };

	for (size_t i = 0; jobs[job].words[i]; i++)
		words[i] = jobs[job].words[i] == in ? path : jobs[job].words[i];
	draw_run(jobs[job].run, words, jobs[job].json);
}

/* Changes bytes of the finished file. */
static void damage_file(struct cursor *in, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *bytes;
	uint32_t at;

	if (!draw_rarely(in, 4) || size <= 0 || size > FILE_MOST)
		return;
	bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	script_must(bytes != MAP_FAILED);
	for (uint32_t count = 1 + draw_below(in, 6); count; count--) {
		at = cursor_u32(in) % (uint32_t)size;
		bytes[at] = cursor_u8(in);
	}
	if (!draw_rarely(in, 4))
		resum_capture(bytes, (size_t)size);
	munmap(bytes, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct made *m = calloc(1, sizeof(*m));
	int fd = memfd_create("commands", MFD_CLOEXEC);
	uint8_t command, how;
	char path[48];

	script_must(m && fd >= 0);
	m->t.now_ns = SCRIPT_BEGIN_NS;
	m->t.in = cursor_of(data, size_bytes);
	command = cursor_u8(&m->t.in);
	how = cursor_u8(&m->t.in);
	m->t.liar = how & 1;
	m->t.later = how & 2;
	if (!begin(m, fd))
		goto out;
	for (uint32_t i = 0; i < SCRIPT_RECORDS_MAX && cursor_ok(&m->t.in) && cursor_left(&m->t.in);
	     i++) {
		if (draw_rarely(&m->t.in, 8))
			add_object(m);
		else
			add_record(m);
		if (m->t.count)
			give(m);
	}
	/* A recorder that was killed finished nothing. */
	if (how & 4)
		script_must(!writer_flush(m->w, true));
	else
		script_must(!writer_finish(m->w, NULL, 0));
	writer_free(m->w);
	m->t.in = cursor_of(data + size_bytes / 2, size_bytes - size_bytes / 2);
	damage_file(&m->t.in, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run(command, path);
out:
	script_done(&m->t);
	close(fd);
	free(m);
	return 0;
}
