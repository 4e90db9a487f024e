/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * listed - the frames of Ruby and PHP, which have all one form
 *
 * Ruby's are the control frames of the thread's execution context, one behind the other up to the end of its stack; a
 * variable of the thread leads to the context.  PHP's are a list that begins at a variable of the process, which
 * has one thread.  A frame has its code, the instruction, and flags, of which one marks those that the loop was entered for.
 *
 * The owner of Ruby's methods is read by way of the frame's environment, for names alone: where anything of it is not as it has
 * to be, names are without it.
 *
 * No pointer is trusted: code and texts have to be of the type that they have to be of, the instruction has to be one of the
 * code, and a line one of its lines; PHP's code has a name or is a file's; and Ruby's last frame is
 * marked as that.  Else the walk ends with a reason.
 */
#ifndef EBPREC_BPF_RUNTIME_LISTED_H
#define EBPREC_BPF_RUNTIME_LISTED_H

#include "bpf/runtime/runtime.bpf.h"

/* Ruby: include/ruby/internal/fl_type.h, internal/imemo.h, vm_core.h. */
#define RUBY_TYPE         0x1f
#define RUBY_STRING       5
#define RUBY_ARRAY        7
#define RUBY_IMEMO        0x1a
#define RUBY_IMEMO_SVAR   2
#define RUBY_IMEMO_MENT   6
#define RUBY_IMEMO_ISEQ   7
#define RUBY_IMEMO_SHIFT  12
#define RUBY_IMEMO_MASK   15
#define RUBY_APART        (1u << 13) /* of a string: its text is elsewhere; of an array: it is not */
#define RUBY_SHORT_SHIFT  14
#define RUBY_SHORT_MASK   31
#define RUBY_FRAME_KIND   0x7fff0001u
#define RUBY_FRAME_DUMMY  0x79990001u
#define RUBY_FRAME_FINISH 0x20
#define RUBY_FRAME_C      0x80
#define RUBY_INDEX_NEAR   54 /* instructions that the first part of the index of lines has, */
#define RUBY_INDEX_BYTES  48 /* its size, */
#define RUBY_BLOCK_INSTRS 512
#define RUBY_BLOCK_BYTES  80 /* and one block of the second */
#define RUBY_BLOCKS_MAX   ((RUNTIME_RUBY_INDEX_BYTES - RUBY_INDEX_BYTES) / RUBY_BLOCK_BYTES)
#define RUBY_LINES_MAX    ((RUNTIME_LINES_BYTES - RUNTIME_RUBY_INDEX_BYTES) / RUNTIME_RUBY_LINE_BYTES)
/* Ruby: method.h, internal/class.h, include/ruby/st.h. */
#define RUBY_ENV_LOCAL   2 /* an environment that is in no other one */
#define RUBY_ENV_MAX     8 /* that are one in the other */
#define RUBY_CLASS       2
#define RUBY_MODULE      3
#define RUBY_SINGLETON   (1u << 12) /* the class of one object */
#define RUBY_METHOD_TYPE 15
#define RUBY_CLASS_EXT   24 /* struct RClass: its struct rb_classext_struct, */
#define RUBY_EXT_IV_TBL  8  /* and in that the struct st_table of its variables */
#define RUBY_ST_START \
	32 /* the index of the first entry, that behind the last one, and the entries */
#define RUBY_VARIABLE_BYTES 24      /* hash, id, value */
#define RUBY_VARIABLES_MAX  10      /* that are looked at */
#define RUBY_VARIABLE_GONE  (~0ULL) /* its hash */
#define RUBY_ID_SCOPE       14 /* 0: of a name that no program can give to a variable of a class */
#define RUBY_ARRAY_TEXT     0x7961727241ULL /* "Array" */
/* PHP: Zend/zend_types.h, Zend/zend_compile.h. */
#define PHP_STRING         6
#define PHP_STRING_LENGTH  16
#define PHP_STRING_TEXT    24
#define PHP_INTERNAL       1 /* the type of a function in C, */
#define PHP_USER           2
#define PHP_EVAL           4
#define PHP_REFERENCES_MAX (1u << 16)
#define PHP_CALL_CODE      (1u << 16)
#define PHP_CALL_TOP       (1u << 17)

/* ---- texts ---- */

enum listed_text { LISTED_NAME, LISTED_QUALNAME, LISTED_FILE, LISTED_OWNER };

/* Where the text of a string is, and *count its bytes; 0: it is none. */
static __always_inline __u64 listed_text_at(const struct runtime_state *s, __u64 addr, __u64 *count)
{
	__u64 head[4];

	if (bpf_probe_read_user(head, sizeof(head), (const void *)addr))
		return 0;
	if (s->desc.kind == RUNTIME_PHP) {
		*count = head[2];
		return (head[0] >> 32 & 15) == PHP_STRING ? addr + PHP_STRING_TEXT : 0;
	}
	if ((head[0] & RUBY_TYPE) == RUBY_ARRAY && head[0] & RUBY_APART) {
		addr = head[2];
		if (bpf_probe_read_user(head, sizeof(head), (const void *)addr))
			return 0;
	}
	if ((head[0] & RUBY_TYPE) != RUBY_STRING)
		return 0;
	if (!(head[0] & RUBY_APART)) {
		*count = head[0] >> RUBY_SHORT_SHIFT & RUBY_SHORT_MASK;
		return addr + 16;
	}
	*count = head[2];
	return head[3];
}

/* The beginning of a text, or, with from_end, its end.  False: it cannot be read. */
#define LISTED_READ_TEXT(at, count, head, to, from_end)     \
	({                                                  \
		runtime_set_text((head), (count), 1);       \
		(head)->is_utf8 = 1;                        \
		RUNTIME_READ_TEXT(at, count, to, from_end); \
	})

/* Reads a string into the event as that text; addr 0: an empty one.  1: it cannot be read, or is no string. */
__attribute__((noinline)) int runtime_listed_text(struct runtime_state *s, __u64 addr, __u32 which)
{
	__u64 at = 0, count = 0;

	if (!s)
		return 1;
	if (addr)
		at = listed_text_at(s, addr, &count);
	if ((addr && !at) || count >> 20)
		return 1;
	if (which == LISTED_NAME)
		return !LISTED_READ_TEXT(at, count, &s->event.name, s->event.name_text, 0);
	if (which == LISTED_QUALNAME)
		return !LISTED_READ_TEXT(at, count, &s->event.qualname, s->event.qualname_text, 0);
	if (which == LISTED_OWNER)
		return !LISTED_READ_TEXT(at, count, &s->event.owner, s->event.owner_text, 0);
	return !LISTED_READ_TEXT(at, count, &s->event.file, s->event.file_text, 1);
}

/* ---- owners of Ruby's methods ---- */

static __always_inline __u32 ruby_imemo(__u64 flags)
{
	return (flags & RUBY_TYPE) == RUBY_IMEMO ? flags >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK
						 : ~0u;
}

/*
 * Looks whether s->environment has the entry of a method, or of what a program sets in a method, which has it then.  1: the search
 * ends, with s->entry, definition and owner, which are 0 if there is none; 0: s->environment is the one that it is in.
 */
__attribute__((noinline)) int runtime_ruby_environment(struct runtime_state *s)
{
	__u64 entry[5]; /* flags, class, definition, id, owner; or flags, the entry */
	__u64 addr, flags, off;

	if (!s)
		return 1;
	off = s->environment - 16;
	if (runtime_look(&s->environments, off, 24, false)) {
		s->entry = s->definition = s->owner = 0;
		return 1;
	}
	off -= s->environments.start;
	addr = RUNTIME_WINDOW_WORD(&s->environments, off);
	flags = RUNTIME_WINDOW_WORD(&s->environments, off + 16);
	if (addr && addr == s->entry)
		return 1;
	s->environment = RUNTIME_WINDOW_WORD(&s->environments, off + 8) & ~3ULL;
	if (!addr || bpf_probe_read_user(entry, sizeof(entry), (const void *)addr))
		entry[0] = 0;
	if (ruby_imemo(entry[0]) == RUBY_IMEMO_SVAR && flags & RUBY_ENV_LOCAL &&
	    bpf_probe_read_user(entry, sizeof(entry), (const void *)entry[1]))
		entry[0] = 0;
	s->entry = s->definition = s->owner = 0;
	if (ruby_imemo(entry[0]) == RUBY_IMEMO_MENT) {
		s->entry = addr;
		s->definition = entry[2];
		s->owner = entry[4];
	}
	return s->entry || flags & RUBY_ENV_LOCAL;
}

/*
 * Finds the method that a frame with this environment is of: a block's leads to the one that it is in, and the first of these that has
 * an entry decides, as in Ruby.
 */
static __always_inline void ruby_find_method(struct runtime_state *s, __u64 environment)
{
	__u32 i;

	s->environment = environment;
	for (i = 0; i < RUBY_ENV_MAX; i++)
		if (runtime_ruby_environment(s))
			return;
	s->entry = s->definition = s->owner = 0;
}

/* Whether there is the string "Array" at addr. */
static __always_inline bool ruby_is_array(__u64 addr)
{
	__u64 head[3];

	return !bpf_probe_read_user(head, sizeof(head), (const void *)addr) &&
	       (head[0] & (RUBY_TYPE | RUBY_APART)) == RUBY_STRING &&
	       (head[0] >> RUBY_SHORT_SHIFT & RUBY_SHORT_MASK) == 5 && head[2] == RUBY_ARRAY_TEXT;
}

/* Whether there is a class or module at addr whose own class is this one: a singleton class is of one object alone. */
static __always_inline bool ruby_is_attached(__u64 addr, __u64 class)
{
	__u64 head[2];

	return !(addr & 7) && !bpf_probe_read_user(head, sizeof(head), (const void *)addr) &&
	       head[1] == class &&
	       ((head[0] & RUBY_TYPE) == RUBY_CLASS || (head[0] & RUBY_TYPE) == RUBY_MODULE);
}

enum ruby_variable { RUBY_ID_OF_PATH, RUBY_PATH, RUBY_ATTACHED };

/*
 * Whether the variable at this place of s->object is the one that is wanted of s->class.  RUBY_PATH: the one with the id
 * s->text_at; RUBY_ID_OF_PATH: that is "Array"; RUBY_ATTACHED: the class or module that a singleton class is of.
 */
__attribute__((noinline)) int runtime_ruby_is_variable(struct runtime_state *s, __u32 at,
						       __u32 which)
{
	__u64 id, value;

	if (!s)
		return 0;
	id = RUNTIME_FIELD(s->object, __u64, at + 8);
	value = RUNTIME_FIELD(s->object, __u64, at + 16);
	if (RUNTIME_FIELD(s->object, __u64, at) == RUBY_VARIABLE_GONE || id & RUBY_ID_SCOPE)
		return 0;
	if (which == RUBY_PATH)
		return id == s->text_at;
	return which == RUBY_ATTACHED ? ruby_is_attached(value, s->class) : ruby_is_array(value);
}

/* A variable of s->class, in s->text_at, or the id of one; 0: it is not among the first ones. */
__attribute__((noinline)) int runtime_ruby_variable(struct runtime_state *s, __u32 which)
{
	__u64 table, place[3], count;
	__u32 i;

	if (!s)
		return 0;
	table = runtime_word(s->class + RUBY_CLASS_EXT);
	table = table ? runtime_word(table + RUBY_EXT_IV_TBL) : 0;
	if (!table ||
	    bpf_probe_read_user(place, sizeof(place), (const void *)(table + RUBY_ST_START)))
		goto none;
	count = place[1] - place[0];
	if (count >> 20)
		goto none;
	count = count > RUBY_VARIABLES_MAX ? RUBY_VARIABLES_MAX : count;
	if (runtime_read(s->object, count * RUBY_VARIABLE_BYTES,
			 place[2] + place[0] * RUBY_VARIABLE_BYTES))
		goto none;
	for (i = 0; i < RUBY_VARIABLES_MAX && i < count; i++)
		if (runtime_ruby_is_variable(s, i * RUBY_VARIABLE_BYTES, which)) {
			s->text_at = RUNTIME_FIELD(s->object, __u64,
						   i * RUBY_VARIABLE_BYTES +
							   (which == RUBY_ID_OF_PATH ? 8 : 16));
			return 0;
		}
none:
	s->text_at = 0;
	return 0;
}

/*
 * Reads the name of what owns the method that the code in s->code is of, and only if the method's definition has this code, or the
 * code that this is a block of: of define_method() it has not.  Returns an enum runtime_ruby_owner.
 */
__attribute__((noinline)) int runtime_ruby_owner(struct runtime_state *s)
{
	__u64 definition[2], class, flags; /* type, code */
	int how = RUNTIME_RUBY_OF_INSTANCES;

	if (!s)
		return RUNTIME_RUBY_NO_OWNER;
	if (!s->desc.state || !s->owner ||
	    bpf_probe_read_user(definition, sizeof(definition), (const void *)s->definition) ||
	    definition[0] & RUBY_METHOD_TYPE ||
	    definition[1] != runtime_word(s->body + s->desc.listed.code_method))
		return RUNTIME_RUBY_NO_OWNER;
	class = s->owner;
	flags = runtime_word(class);
	if (flags & RUBY_SINGLETON && (flags & RUBY_TYPE) == RUBY_CLASS) {
		how = RUNTIME_RUBY_OF_ITSELF;
		s->class = class;
		runtime_ruby_variable(s, RUBY_ATTACHED);
		class = s->text_at;
		flags = class ? runtime_word(class) : 0;
	}
	if ((flags & RUBY_TYPE) != RUBY_CLASS && (flags & RUBY_TYPE) != RUBY_MODULE)
		return RUNTIME_RUBY_NO_OWNER;
	s->class = runtime_word(s->desc.state + s->base);
	runtime_ruby_variable(s, RUBY_ID_OF_PATH);
	s->class = class;
	if (s->text_at)
		runtime_ruby_variable(s, RUBY_PATH);
	return !s->text_at || runtime_listed_text(s, s->text_at, LISTED_OWNER)
		       ? RUNTIME_RUBY_NO_OWNER
		       : how;
}

/* ---- code ---- */

/* Reads the lines of Ruby's code in s->code, where there is room for all of them.  Returns how many bytes. */
__attribute__((noinline)) int runtime_ruby_lines(struct runtime_state *s)
{
	__u64 at, index, count, blocks, size_bytes;

	if (!s)
		return 0;
	if (runtime_read(s->object, 32, s->body + s->desc.listed.code_lines))
		return 0;
	at = RUNTIME_FIELD(s->object, __u64, 0);
	count = RUNTIME_FIELD(s->object, __u32, 16);
	index = RUNTIME_FIELD(s->object, __u64, 24);
	blocks = RUNTIME_FIELD(s->code, __u32, s->desc.listed.code_instr_count);
	blocks = blocks < RUBY_INDEX_NEAR
			 ? 0
			 : (blocks - RUBY_INDEX_NEAR + RUBY_BLOCK_INSTRS - 1) / RUBY_BLOCK_INSTRS;
	if (!count || count > RUBY_LINES_MAX || blocks > RUBY_BLOCKS_MAX)
		return 0;
	size_bytes = RUBY_INDEX_BYTES + blocks * RUBY_BLOCK_BYTES;
	barrier_var(size_bytes);
	if (size_bytes > RUNTIME_RUBY_INDEX_BYTES ||
	    (count > 1 && bpf_probe_read_user(s->event.lines, size_bytes, (const void *)index)))
		return 0;
	size_bytes = count * RUNTIME_RUBY_LINE_BYTES;
	barrier_var(size_bytes);
	if (size_bytes > RUNTIME_LINES_BYTES - RUNTIME_RUBY_INDEX_BYTES ||
	    bpf_probe_read_user(s->event.lines + RUNTIME_RUBY_INDEX_BYTES, size_bytes,
				(const void *)at))
		return 0;
	return RUNTIME_RUBY_INDEX_BYTES + size_bytes;
}

/* The name of a class of PHP; 0: it is none.  A function begins like one, and has a pointer where the class counts references. */
static __always_inline __u64 listed_class_name(const struct runtime_state *s, __u64 at)
{
	__u32 references = 0;

	bpf_probe_read_user(&references, sizeof(references),
			    (const void *)(at + s->desc.listed.class_references));
	return references - 1 < PHP_REFERENCES_MAX ? runtime_word(at + s->desc.listed.class_name)
						   : 0;
}

/* Sends the names of the code in s->code as number id.  1: they cannot be read, or there was no room. */
static __always_inline int listed_send(struct runtime_state *s, __u32 id)
{
	__u64 qualname, line_bytes = 0;
	bool is_in_c = s->desc.kind == RUNTIME_PHP && s->code[0] == PHP_INTERNAL;

	/* A field behind what was read would be that of another object. */
	if (s->desc.listed.code_qualname > s->desc.listed.code_bytes - sizeof(__u64))
		return 1;
	qualname = RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_qualname);
	if (s->desc.kind == RUNTIME_PHP && qualname) {
		qualname = listed_class_name(s, qualname);
		if (!qualname)
			return 1;
	}
	if (runtime_listed_text(s, RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_name),
				LISTED_NAME) ||
	    runtime_listed_text(s, qualname, LISTED_QUALNAME) ||
	    runtime_listed_text(
		    s, is_in_c ? 0 : RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_file),
		    LISTED_FILE))
		return 1;
	s->event.first_line = 0;
	if (s->desc.kind == RUNTIME_RUBY) {
		s->event.first_line = runtime_ruby_owner(s);
		line_bytes = runtime_ruby_lines(s);
	}
	if (line_bytes > RUNTIME_LINES_BYTES)
		return 1;
	return !runtime_send_code(s, id, line_bytes);
}

/* Reads what describes the code at addr into s->code.  1: it is no code. */
static __always_inline int listed_read_code(struct runtime_state *s, __u64 addr)
{
	__u64 head[3]; /* flags, wrapper, body */

	if (s->desc.kind == RUNTIME_RUBY) {
		if (bpf_probe_read_user(head, sizeof(head), (const void *)addr) ||
		    (head[0] & RUBY_TYPE) != RUBY_IMEMO ||
		    (head[0] >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK) != RUBY_IMEMO_ISEQ)
			return 1;
		addr = head[2];
	}
	s->body = addr;
	return runtime_read(s->code, s->desc.listed.code_bytes, addr) ||
	       (s->desc.kind == RUNTIME_PHP && s->code[0] != PHP_INTERNAL &&
		s->code[0] != PHP_USER && s->code[0] != PHP_EVAL);
}

/* A field of s->frame. */
static __always_inline __u64 listed_frame_field(const struct runtime_state *s, __u16 off)
{
	return RUNTIME_WINDOW_WORD(&s->frames, s->frame - s->frames.start + off);
}

/* Whether PHP's frame is of a file's own code, in no function. */
static __always_inline bool listed_is_file(const struct runtime_state *s)
{
	return listed_frame_field(s, s->desc.listed.frame_flags) & PHP_CALL_CODE;
}

/*
 * Where the instruction at addr is in the code in s->code, and 1: in Ruby how many instructions are before it, in PHP its
 * line; 0: it has none.  -1: it is not one of this code.
 */
static __always_inline __s64 listed_place(const struct runtime_state *s, __u64 addr)
{
	__u64 off = addr - RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_instrs);
	__u64 all = (__u64)RUNTIME_FIELD(s->code, __u32, s->desc.listed.code_instr_count) *
		    s->desc.listed.instr_bytes;
	__u32 line, first, last;

	if (s->desc.kind == RUNTIME_RUBY) /* the next one: behind the last one there may be none */
		return off > all || off & 7 ? -1 : off / 8 < RUNTIME_INSTR_MASK ? off / 8 + 1 : 0;
	if (s->code[0] == PHP_INTERNAL)
		return 0;
	if (off >= all || bpf_probe_read_user(&line, sizeof(line),
					      (const void *)(addr + s->desc.listed.instr_line)))
		return -1;
	first = RUNTIME_FIELD(s->code, __u32, s->desc.listed.code_first_line);
	last = RUNTIME_FIELD(s->code, __u32, s->desc.listed.code_first_line + 4);
	if (line < first || line > last)
		return -1;
	return line < RUNTIME_INSTR_MASK ? line + 1 : 0;
}

/* The number of the code in s->code, in s->code_id; 0: PHP's own, without a name.  1: its names cannot be had. */
static __always_inline int listed_number(struct runtime_state *s, __u64 addr)
{
	__u64 sum;
	__u32 id;
	__u64 name = RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_name);

	s->code_id = 0;
	if (s->code[0] == PHP_INTERNAL && s->desc.kind == RUNTIME_PHP && !name)
		return 0;
	/* Classes that are copies have the same code for their methods. */
	addr += s->owner << 16;
	sum = s->owner * 29 + name * 31 +
	      RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_qualname) * 37 +
	      RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_file) * 41 +
	      RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_instrs);
	if (runtime_known_code(addr, sum))
		return 0;
	id = runtime_new_code();
	if (!id || listed_send(s, id))
		return 1;
	runtime_remember_code(id, sum);
	return 0;
}

/*
 * The word of a frame of the code at addr, in s->text_at; 0: PHP's own, without a name.  1: it is no code, or its names
 * cannot be had.  That of the frame before, which called itself, is not read again.
 */
__attribute__((noinline)) int runtime_listed_code(struct runtime_state *s, __u64 addr, __u64 instr)
{
	bool is_read, is_numbered;
	__s64 place;

	if (!s)
		return 1;
	is_read = addr == s->code_at;
	is_numbered = is_read && s->owner == s->code_owner;
	s->code_at = 0;
	s->why = RUNTIME_UNKNOWN;
	if (!is_read && listed_read_code(s, addr))
		return 1;
	place = listed_place(s, instr);
	if (place < 0 ||
	    (s->desc.kind == RUNTIME_PHP && s->code[0] != PHP_INTERNAL &&
	     listed_is_file(s) == !!RUNTIME_FIELD(s->code, __u64, s->desc.listed.code_name)) ||
	    (!is_numbered && listed_number(s, addr)))
		return 1;
	s->code_at = addr;
	s->code_owner = s->owner;
	s->text_at = s->code_id ? (__u64)s->code_id << RUNTIME_INSTR_BITS | place : 0;
	return 0;
}

/* ---- frames ---- */

enum listed_frame { LISTED_NO_FRAME, LISTED_SKIPPED, LISTED_LAST, LISTED_INNER, LISTED_ENTRY };

/*
 * The kind of s->frame, by its flags.  Those of C have no code that runs, nor has Ruby's last one, which is marked as
 * such: the main thread's has code.
 */
static __always_inline enum listed_frame listed_frame_kind(struct runtime_state *s, __u64 code)
{
	__u64 at = listed_frame_field(s, s->desc.listed.frame_flags);
	__u32 flags, kind;

	if (s->desc.kind == RUNTIME_PHP)
		return !code ? LISTED_LAST : (__u32)at & PHP_CALL_TOP ? LISTED_ENTRY : LISTED_INNER;
	if (runtime_look(&s->environments, at, sizeof(__u64), false))
		return LISTED_NO_FRAME;
	flags = RUNTIME_WINDOW_WORD(&s->environments, at - s->environments.start);
	kind = flags & RUBY_FRAME_KIND; /* 0x11110001, 0x22220001 .. 0x79990001 */
	if (!(kind & 1) || !(kind >> 16) || (kind >> 16 & 15) != (kind >> 20 & 15))
		return LISTED_NO_FRAME;
	if (kind == RUBY_FRAME_DUMMY)
		return LISTED_LAST;
	if (flags & RUBY_FRAME_C)
		return LISTED_SKIPPED;
	return flags & RUBY_FRAME_FINISH ? LISTED_ENTRY : LISTED_INNER;
}

/* 1: the walk ends. */
__attribute__((noinline)) int runtime_listed_frame(struct runtime_state *s)
{
	enum listed_frame kind;
	bool is_entry;
	__u64 code;

	if (!s)
		return 1;
	s->why = s->found ? RUNTIME_COMPLETE : RUNTIME_UNKNOWN;
	if (!s->at || (s->end && s->at >= s->end))
		return 1;
	s->why = RUNTIME_UNREADABLE;
	/* Ruby's callers are above, PHP's below: but for those of generators and fibers. */
	if (runtime_look(&s->frames, s->at, s->desc.listed.frame_bytes,
			 s->desc.kind == RUNTIME_RUBY))
		return 1;
	s->frame = s->at;
	s->at = s->desc.kind == RUNTIME_RUBY ? s->at + s->desc.listed.frame_bytes
					     : listed_frame_field(s, s->desc.listed.frame_previous);
	code = listed_frame_field(s, s->desc.listed.frame_code);
	kind = listed_frame_kind(s, code);
	s->why = RUNTIME_UNKNOWN;
	if (kind == LISTED_NO_FRAME)
		return 1;
	s->found = kind == LISTED_LAST || s->desc.kind == RUNTIME_PHP;
	s->why = RUNTIME_TOO_DEEP;
	if (!code || kind < LISTED_INNER)
		return 0;
	if (s->desc.kind == RUNTIME_RUBY)
		ruby_find_method(s, listed_frame_field(s, s->desc.listed.frame_flags));
	if (runtime_listed_code(s, code, listed_frame_field(s, s->desc.listed.frame_instr)))
		return 1;
	/* PHP's functions in C enter no loop. */
	is_entry = kind == LISTED_ENTRY &&
		   !(s->desc.kind == RUNTIME_PHP && s->code[0] == PHP_INTERNAL);
	s->why = RUNTIME_TOO_DEEP;
	return s->text_at ? runtime_put(s, s->text_at | (is_entry ? RUNTIME_FRAME_ENTRY : 0)) : 0;
}

static long listed_frame(__u32 index, void *ctx)
{
	struct runtime_state **s = ctx;

	return runtime_listed_frame(*s) &
	       1; /* for the verifier, which does not look into it here */
}

/* ---- the state ---- */

/* Finds the innermost frame. */
__attribute__((noinline)) int runtime_listed_find(struct runtime_state *s)
{
	__u64 state, stack[3]; /* Ruby's stack, its words, the innermost frame */

	if (!s)
		return 0;
	s->at = s->end = s->found = s->code_at = 0;
	s->entry = s->definition = s->owner = 0;
	s->frames.size_bytes = s->environments.size_bytes = 0;
	s->why = RUNTIME_NO_THREAD;
	if (s->desc.kind == RUNTIME_PHP) {
		s->at = runtime_word(s->desc.state + s->base + s->desc.listed.state_frame);
		return 0;
	}
	state = runtime_thread_variable(s);
	state = state ? runtime_word(state) : 0;
	if (!state || bpf_probe_read_user(stack, sizeof(stack), (const void *)state) || !stack[0])
		return 0;
	s->end = stack[0] + 8 * stack[1];
	s->why = RUNTIME_UNKNOWN;
	if (stack[1] >> 32 || stack[2] < stack[0] || stack[2] > s->end ||
	    (s->end - stack[2]) % s->desc.listed.frame_bytes) /* not 0: the table is checked */
		return 0;
	s->at = stack[2];
	return 0;
}

static __always_inline void runtime_listed_walk(struct runtime_state *s)
{
	runtime_set_process(&s->key);
	runtime_listed_find(s);
	if (s->at)
		bpf_loop(runtime_max_frames + 1, listed_frame, &s, 0);
}

#endif
