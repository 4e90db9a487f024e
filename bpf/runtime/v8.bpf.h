/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * v8 - the functions of JavaScript that native frames are of, for node 18 and later
 *
 * V8's functions have native frames, which the walk finds by their frame pointers.  The frame of a function, compiled or
 * interpreted, has its context and the function below the frame pointer; from the function leads a way to its name and the
 * name of its script.  Each object has to be of the type that it has to be of, or the frame has no name.
 *
 * A return address in compiled code is in that function, which takes the frame's place.  In other code it is in the loop that
 * runs the function, or in what the function called without a frame for it: the function is put behind that.
 * Where the thread itself is rbp may be the caller's: in code that begins or ends.  So that function is the one which the
 * object with the code has, or none; the frame's function, if it is another one, called it.
 *
 * A program that writes its names itself (perf-PID.map, jit-PID.dump) has those, and none from here.
 */
#ifndef EBPREC_BPF_RUNTIME_V8_H
#define EBPREC_BPF_RUNTIME_V8_H

#include "bpf/runtime/runtime.bpf.h"

#define V8_TEXT_HOPS     4 /* from one string to the one that has its characters */
#define V8_NONSTRING     0x80
#define V8_INLINE_LOCALS 75 /* more locals have one word for all their names */
#define V8_LOCALS_MAX    4096
#define V8_SCOPE_HEAD    48
#define V8_LITERAL \
	8 /* from shared_token on: which function of its script it is, which stays as objects move */
#define V8_ARRAY_HEAD 16 /* of arrays: the map, and how many elements there are */
#define V8_CODE_ALIGN 64 /* instructions of compiled code begin at multiples of it */
#define V8_CODE_ROUNDS \
	128 /* of RUNTIME_OBJECT_BYTES each, in which a stack's beginnings of code are looked for */
#define V8_FDS             64         /* descriptors among which a file of names is looked for */
#define V8_HAS_NAME        (3u << 12) /* of ScopeInfo's flags: 0: no words for it */
#define V8_HAS_INFERRED    (1u << 14)
#define V8_HAS_SAVED_CLASS (1u << 10)

/* Whether a process writes its names itself. */
struct v8_process {
	__u64 start_ns;
	__u32 execs, writes_names;
	__u64 stream_map; /* the first word of objects with compiled code; 0: not known yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_THREADS);
	__type(key, __u32);
	__type(value, struct v8_process);
} v8_processes SEC(".maps");

/* ---- objects ---- */

/* Reads the object at a tagged pointer, and returns its type; -1: it is none. */
static __always_inline int v8_read(const struct runtime_state *s, __u8 *to, __u64 size_bytes,
				   __u64 tagged)
{
	__u64 map;
	__u16 type;

	if ((tagged & 3) != 1 || runtime_read(to, size_bytes, tagged - 1))
		return -1;
	map = *(volatile __u64 *)to;
	if ((map & 3) != 1 ||
	    bpf_probe_read_user(&type, sizeof(type), (const void *)(map - 1 + s->desc.v8.map_type)))
		return -1;
	return type;
}

/* ---- programs that write their names ---- */

/* Whether the descriptor is of /tmp/perf-PID.map or jit-PID.dump, by the name alone.  2: there are no more descriptors. */
__attribute__((noinline)) int runtime_v8_is_names(__u32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;
	char name[24] = {};
	__u32 i, at;

	if (fd >= BPF_CORE_READ(fdt, max_fds))
		return 2;
	files = BPF_CORE_READ(fdt, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (!file)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	at = name[0] == 'p' && name[1] == 'e' && name[2] == 'r' && name[3] == 'f' && name[4] == '-'
		     ? 5
	     : name[0] == 'j' && name[1] == 'i' && name[2] == 't' && name[3] == '-' ? 4
										    : 0;
	for (i = 4; i < 16; i++)
		at += at == i && name[i] >= '0' && name[i] <= '9';
	at &= 15;
	return at > 4 && name[at] == '.' && (name[at + 1] == 'm' || name[at + 1] == 'd');
}

static long v8_names_fd(__u32 fd, void *ctx)
{
	__u32 *found = ctx;
	int is = runtime_v8_is_names(fd);

	*found |= is == 1;
	return is != 0;
}

/* The entry of the current process; NULL: there is none yet. */
static __always_inline struct v8_process *v8_process(const struct runtime_state *s)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct v8_process *known = bpf_map_lookup_elem(&v8_processes, &tgid);

	return known && known->start_ns == s->key.start_ns && known->execs == s->key.execs ? known
											   : NULL;
}

/*
 * Asked when the process was seen to run a function: V8 opens these files before it runs the first one, and closes them at
 * the end.  Behind that walk, not in it: Linux before 6.8 would find the stack of all these functions too deep.
 */
__attribute__((noinline)) int runtime_v8_writes_names(struct runtime_state *s)
{
	struct v8_process *known, fresh = {};
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!s)
		return 0;
	known = v8_process(s);
	if (known)
		return known->writes_names;
	fresh.start_ns = s->key.start_ns;
	fresh.execs = s->key.execs;
	bpf_loop(V8_FDS, v8_names_fd, &fresh.writes_names, 0);
	bpf_map_update_elem(&v8_processes, &tgid, &fresh, BPF_ANY);
	return fresh.writes_names;
}

/* ---- names ---- */

/* Finds the characters of a string: s->text_*.  1: it is none, or one of several parts. */
__attribute__((noinline)) int runtime_v8_text(struct runtime_state *s, __u64 tagged)
{
	__u64 skip = 0, at;
	__u32 i, count = 0;
	int type;

	if (!s)
		return 1;
	for (i = 0; i < V8_TEXT_HOPS; i++) {
		type = v8_read(s, s->object, 32, tagged);
		if (type < 0 || type >= V8_NONSTRING)
			return 1;
		count = i ? count : RUNTIME_FIELD(s->object, __u32, 12);
		at = RUNTIME_FIELD(s->object, __u64, 16);
		if (!(type & 7)) {
			s->text_bytes = type & 8 ? 1 : 2;
			s->text_at = tagged - 1 + 16 + skip * s->text_bytes;
			s->text_count = count;
			return 0;
		}
		if ((type & 7) == 3) /* a part of another one */
			skip += RUNTIME_FIELD(s->object, __u64, 24) >> 32;
		else if ((type & 7) ==
			 1) { /* two parts, of which the second is empty when they became one */
			tagged = RUNTIME_FIELD(s->object, __u64, 24);
			type = v8_read(s, s->object, 16, tagged);
			if (type < 0 || type >= V8_NONSTRING || RUNTIME_FIELD(s->object, __u32, 12))
				return 1;
		} else if ((type & 7) != 5) /* 5: another one took its place */
			return 1;
		tagged = at;
	}
	return 1;
}

/* Reads the characters of s->text_* into an event: the beginning, or, with from_end, the end.  False: they cannot be read. */
#define V8_READ_TEXT(s, head, to, from_end)                                                        \
	({                                                                                         \
		runtime_set_text((head), (s)->text_count, (s)->text_bytes);                        \
		RUNTIME_READ_TEXT((s)->text_at, (__u64)(s)->text_count *((s)->text_bytes & 3), to, \
				  from_end);                                                       \
	})

/*
 * The name in the ScopeInfo in s->object, and where its function begins.  Its words: flags, parameters, locals, then, where
 * flags are no Smi (from node 24 on), the function's begin and end; names and properties of the locals; the name and a
 * Smi; perhaps another name that V8 made up; begin and end where they are not above.  0: there is none, 1: it is not as that.
 */
static __always_inline __u64 v8_scope_name(struct runtime_state *s, __u64 scope, __s32 *begin,
					   __u64 *made_up)
{
	__u64 words[4], flags = RUNTIME_FIELD(s->object, __u64, 8), at;
	__u32 count = RUNTIME_FIELD(s->object, __u64, 24) >> 32;
	bool is_raw = (__u32)flags != 0;

	if (count > V8_LOCALS_MAX)
		return 1;
	at = is_raw ? V8_SCOPE_HEAD : 32;
	*begin = is_raw ? RUNTIME_FIELD(s->object, __u64, 32) >> 32 : -1;
	flags = is_raw ? (__u32)flags : flags >> 32;
	if (!(flags & V8_HAS_NAME))
		return 0;
	at += count < V8_INLINE_LOCALS ? 16 * count : 8 + 8 * count;
	at += flags & V8_HAS_SAVED_CLASS ? 8 : 0;
	if (bpf_probe_read_user(words, sizeof(words), (const void *)(scope - 1 + at)) ||
	    (words[0] & 3) != 1 || (__u32)words[1])
		return 1;
	if (!is_raw)
		*begin = (flags & V8_HAS_INFERRED ? words[3] : words[2]) >> 32;
	*made_up = flags & V8_HAS_INFERRED ? words[2] : 0;
	return words[0];
}

/* Reads the name of the function in s->code into the event. */
__attribute__((noinline)) int runtime_v8_name(struct runtime_state *s, __u64 tagged)
{
	__u64 made_up = 0; /* "Module.load" of Module.load = function () {} */
	__s32 begin = -1;
	int type;

	if (!s)
		return 1;
	runtime_set_text(&s->event.qualname, 0, 1);
	type = v8_read(s, s->object, V8_SCOPE_HEAD, tagged);
	if (type == s->desc.v8.scope_type) {
		tagged = v8_scope_name(s, tagged, &begin, &made_up);
		if (tagged == 1)
			return 1;
	}
	s->event.first_line = begin;
	if (!(tagged & 1)) /* a Smi: it has no name */
		return 0;
	if (runtime_v8_text(s, tagged))
		return 1;
	if (!s->text_count && made_up && runtime_v8_text(s, made_up))
		return 0;
	return !V8_READ_TEXT(s, &s->event.qualname, s->event.qualname_text, 0);
}

/* The same for the name of its script.  1: it is no script's. */
__attribute__((noinline)) int runtime_v8_script(struct runtime_state *s, __u64 tagged)
{
	__u64 name, source;
	int type;

	if (!s)
		return 1;
	if (v8_read(s, s->object, 64, tagged) != s->desc.v8.script_type)
		return 1;
	name = RUNTIME_FIELD(s->object, __u64, s->desc.v8.script_name);
	source = RUNTIME_FIELD(s->object, __u64, s->desc.v8.script_source);
	runtime_set_text(&s->event.name, 0, 1);
	runtime_set_text(&s->event.file, 0, 1);
	type = v8_read(s, s->object, 16, source);
	if (s->desc.v8.script_source && type >= 0 && type < V8_NONSTRING)
		s->event.name.char_count = RUNTIME_FIELD(s->object, __u32, 12);
	if (runtime_v8_text(s, name) || !V8_READ_TEXT(s, &s->event.file, s->event.file_text, 1))
		runtime_set_text(&s->event.file, 0, 1);
	return 0;
}

/* Reads the table of positions of a function with this data into the event.  How many bytes it has; 0: there is none. */
__attribute__((noinline)) int runtime_v8_positions(struct runtime_state *s, __u64 data)
{
	__u64 count;
	int type;

	if (!s)
		return 0;
	if (!s->desc.v8.bytecode_type)
		return 0;
	type = v8_read(s, s->object, 64, data);
	if (type == s->desc.v8.code_type)
		type = v8_read(s, s->object, 64,
			       RUNTIME_FIELD(s->object, __u64, s->desc.v8.code_deopt));
	if (type != s->desc.v8.bytecode_type)
		return 0;
	data = RUNTIME_FIELD(s->object, __u64, s->desc.v8.bytecode_positions);
	if (v8_read(s, s->object, 16, data) != s->desc.v8.bytes_type)
		return 0;
	count = RUNTIME_FIELD(s->object, __u32, 12);
	count = count < RUNTIME_LINES_BYTES ? count : RUNTIME_LINES_BYTES;
	return RUNTIME_READ_TEXT(data - 1 + 16, count, s->event.lines, 0) ? count : 0;
}

static __always_inline bool v8_send(struct runtime_state *s, __u32 id)
{
	return runtime_send_code(s, id,
				 (__u32)runtime_v8_positions(
					 s, RUNTIME_FIELD(s->code, __u64, s->desc.v8.shared_data)));
}

/* The number of the function that a SharedFunctionInfo describes, in s->code_id.  1: it has none, and s->why if it should. */
__attribute__((noinline)) int runtime_v8_code(struct runtime_state *s, __u64 shared)
{
	__u64 name, script, sum;
	__u32 id = 0;

	if (!s)
		return 1;
	if (v8_read(s, s->code, 64, shared) != s->desc.v8.shared_type)
		return 1;
	name = RUNTIME_FIELD(s->code, __u64, s->desc.v8.shared_name);
	script = RUNTIME_FIELD(s->code, __u64, s->desc.v8.shared_script);
	sum = name * 31 + script * 37 + RUNTIME_FIELD(s->code, __u16, s->desc.v8.shared_token) +
	      41ULL * RUNTIME_FIELD(s->code, __u32, s->desc.v8.shared_token + V8_LITERAL);
	if (runtime_known_code(shared - 1, sum))
		return !s->code_id;
	if (!runtime_v8_script(s, script)) { /* else V8's own: those have native names */
		id = runtime_v8_name(s, name) ? 0 : runtime_new_code();
		if (!id || !v8_send(s, id)) {
			s->why = s->why == RUNTIME_NO_NUMBER ? s->why : RUNTIME_UNKNOWN;
			return 1;
		}
	}
	runtime_remember_code(id, sum);
	return !id;
}

/* ---- the function that the thread is in ---- */

/*
 * Whether code with s->pc begins at start, in an object that begins with this map.  s->deopt becomes its Code's field
 * with the function.  1: it does; 2: other code does; 0: nothing does.
 */
__attribute__((noinline)) int runtime_v8_is_code(struct runtime_state *s, __u64 start, __u64 map)
{
	__u64 code;
	__u16 type;

	if (!s)
		return 0;
	if ((map & 3) != 1 ||
	    bpf_probe_read_user(&type, sizeof(type),
				(const void *)(map - 1 + s->desc.v8.map_type)) ||
	    type != (s->desc.v8.stream_type ? s->desc.v8.stream_type : s->desc.v8.code_type))
		return 0;
	code = start - s->desc.v8.stream_head + 1;
	if (s->desc.v8.stream_type)
		code = runtime_word(code - 1 + 8);
	if (v8_read(s, s->code, 72, code) != s->desc.v8.code_type ||
	    (s->desc.v8.code_start &&
	     RUNTIME_FIELD(s->code, __u64, s->desc.v8.code_start) != start))
		return 0;
	s->stream_map = map;
	s->code_start = start;
	s->deopt = RUNTIME_FIELD(s->code, __u64, s->desc.v8.code_deopt);
	return s->pc - start < RUNTIME_FIELD(s->code, __u32, s->desc.v8.code_size) ? 1 : 2;
}

/* Looks for the beginning of the code with s->pc, the nearest ones first.  1: the search ends. */
__attribute__((noinline)) int runtime_v8_look_for_code(struct runtime_state *s, __u32 round)
{
	__u64 lowest, map;
	__u32 i, at;

	if (!s || !s->code_rounds)
		return 1;
	s->code_rounds--;
	lowest = (s->pc & ~(V8_CODE_ALIGN - 1ULL)) - round * (__u64)RUNTIME_OBJECT_BYTES -
		 (RUNTIME_OBJECT_BYTES - V8_CODE_ALIGN);
	if (runtime_read(s->object, RUNTIME_OBJECT_BYTES, lowest - s->desc.v8.stream_head))
		return 1;
	for (i = 1; i <= RUNTIME_OBJECT_BYTES / V8_CODE_ALIGN; i++) {
		at = RUNTIME_OBJECT_BYTES - i * V8_CODE_ALIGN;
		map = RUNTIME_FIELD(s->object, __u64, at);
		if (s->stream_map ? map != s->stream_map : (map & 3) != 1)
			continue;
		switch (runtime_v8_is_code(s, lowest + at, map)) {
		case 1:
			return 1;
		case 2:
			s->deopt = 0;
			return 1;
		default:
			break;
		}
	}
	return 0;
}

static long v8_look_for_code(__u32 round, void *ctx)
{
	struct runtime_state **s = ctx;

	return runtime_v8_look_for_code(*s, round) & 1;
}

/* An element of the deoptimization data of the code that was found. */
static __always_inline __u64 v8_deopt_element(const struct runtime_state *s, __u16 index)
{
	return runtime_word(s->deopt - 1 + V8_ARRAY_HEAD + 8 * (index & 15ULL));
}

/* The function for which that code was made; 0: there is none. */
static __always_inline __u64 v8_outer(struct runtime_state *s)
{
	__u64 function = v8_deopt_element(s, s->desc.v8.deopt_index);

	if (!s->desc.v8.wrapper_type)
		return function;
	return v8_read(s, s->object, 16, function) == s->desc.v8.wrapper_type
		       ? RUNTIME_FIELD(s->object, __u64, 8)
		       : 0;
}

/*
 * The number of the function that s->pc is in, in s->code_id; own: that of the frame at fp, 0: none.  1: it is not known.
 * Code that was not optimized has no function, but the bytecode that the frame has, too.
 */
__attribute__((noinline)) int runtime_v8_innermost(struct runtime_state *s, __u64 fp, __u32 own)
{
	__u64 function;

	if (!s)
		return 1;
	if ((s->deopt & 3) != 1)
		return 1;
	if (own && s->deopt == runtime_word(fp - 32)) {
		s->code_id = own;
		return 0;
	}
	function = v8_outer(s);
	if (!function)
		return 1;
	return runtime_v8_code(s, function);
}

#endif
