/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runtime_maps - what bpf/runtime and the recorder agree on about interpreters
 *
 * An interpreter is described once for each file that contains one (struct runtime_desc, by a number from 1 on);
 * struct walk_proc has that number for each process that maps the file.  All addresses in a
 * description are those of the file; walk_proc has what the process adds to them.
 *
 * The frames of the interpreted program travel behind the user frames of an event, as words: RUNTIME_HEAD_WORDS,
 * then a word a frame, innermost first.  A frame's code has a number in the recording; its names are
 * an event of their own (struct runtime_code_event), which is sent when that code is seen for the first time.  The
 * reason why frames are missing is an enum runtime_why (format/unwind/stack_result.h).
 */
#ifndef EBPREC_BPF_RUNTIME_MAPS_H
#define EBPREC_BPF_RUNTIME_MAPS_H

#include <linux/types.h>

#include "bpf/events.h"

enum {
	RUNTIME_DESCS = 64,
	RUNTIME_FILES = 256,
	RUNTIME_EARLY = 4096,   /* processes */
	RUNTIME_CODES = 16384,  /* that BPF remembers */
	RUNTIME_THREADS = 4096, /* the same */
	/* Numbers for code that one process gets, of the RUNTIME_CODE_MAX of all; user space holds no more of its names. */
	RUNTIME_PROCESS_CODES = 65536,
	RUNTIME_NO_FIELD = 0xffff,
	RUNTIME_NAME_BYTES = 96,
	RUNTIME_QUALNAME_BYTES = 160,
	RUNTIME_FILE_BYTES = 224,
	RUNTIME_LINES_BYTES = 4096,
	RUNTIME_EVAL_RANGES = 2,
	RUNTIME_PLACES = 16384, /* places in compiled code that BPF remembers */
	RUNTIME_INLINED =
		16, /* functions at one of them, the compiled one and those inlined in it */
};

enum runtime_kind {
	RUNTIME_NONE,
	RUNTIME_PYTHON,
	RUNTIME_OTHER, /* one that is not understood: of the description only eval is there */
	RUNTIME_V8,
	RUNTIME_JVM,
	RUNTIME_RUBY,
	RUNTIME_PHP,
	RUNTIME_PERL,
	RUNTIME_KINDS
};

/* How the place in a frame's code is stored. */
enum runtime_python_instr {
	RUNTIME_PYTHON_INSTR_POINTER, /* an address of an instruction */
	RUNTIME_PYTHON_INSTR_BYTES,   /* int, bytes from the first one; -1: not begun */
	RUNTIME_PYTHON_INSTR_UNITS,   /* int, in units of 2 bytes */
};

/* Offsets of CPython's structs, in bytes; RUNTIME_NO_FIELD: this version has no such field. */
struct runtime_python_offsets {
	__u16 runtime_interpreters; /* _PyRuntimeState: the first interpreter */
	__u16 interpreter_next, interpreter_threads;
	__u16 thread_next, thread_id;
	__u16 thread_frame; /* the current frame, or, where there is cframe_frame, the struct that has it */
	__u16 cframe_frame;
	__u16 frame_bytes; /* that have all fields below */
	__u16 frame_code, frame_previous, frame_instr;
	__u16 frame_entry; /* a byte, not 0: the eval loop was entered for this frame */
	__u16 frame_owner; /* a byte */
	__u16 owner_entry; /* of this owner: no frame, but the mark of such an entry */
	__u16 instr;       /* enum runtime_python_instr */
	__u16 code_bytes;  /* that have all fields below */
	__u16 code_firstlineno, code_filename, code_name, code_qualname, code_lines;
	__u16 code_instrs; /* the first instruction is in the object; for RUNTIME_PYTHON_INSTR_POINTER */
	__u16 ascii_bytes, compact_bytes; /* of a str: what stands before its text */
	__u16 version;                    /* 0x030b: 3.11 */
};

/*
 * Offsets of V8's objects, in bytes from where an object begins, and their types, as maps have them.  A tagged pointer
 * is 1 above that.
 */
struct runtime_v8_offsets {
	__u16 is_understood; /* 0: nothing else is there */
	__u16 map_type;
	__u16 function_first, function_count; /* types of functions */
	__u16 function_shared;
	__u16 shared_type, shared_name, shared_script;
	__u16 shared_token; /* two bytes: from the word "function" to where the function begins */
	__u16 scope_type;
	__u16 script_type, script_name;
	__u16 script_source; /* 0: not known */
	/*
	 * Compiled code: an object of stream_type, whose instructions begin at stream_head, and which points to
	 * a Code, or, of stream_type 0, is one.
	 */
	__u16 code_type; /* 0: not known */
	__u16 stream_type, stream_head;
	__u16 code_start, code_size; /* 8 and 4 bytes; code_start 0: there is none */
	__u16 code_deopt,
		deopt_index; /* a Code's deoptimization data, and its element with the function */
	__u16 wrapper_type;  /* of what that may be around the function; 0: it is not */
	/*
	 * Bytecode, which a function's data is, or the Code there has where it has deopt data otherwise: its first instruction,
	 * and the table of positions, an object of bytes_type.
	 */
	__u16 bytecode_type; /* 0: not known, so functions have no running lines */
	__u16 bytecode_head, bytecode_positions, bytes_type, shared_data;
	__u16 version; /* with bytecode_type; 0x0d06: 13.6 */
	/*
	 * Functions that optimized code has inlined: the Code's table of positions (0: not known), and elements of its
	 * deoptimization data.
	 */
	__u16 code_positions;
	__u16 inlined_count_index, literals_index, inlinings_index, compilation_index;
	__u16 code_flags,
		turbofan_kind; /* in the low four bits of flags: that of TurboFan's code */
};

/*
 * Fields of HotSpot's structs.  A JVM has a table of their offsets in its memory, gHotSpotVMStructs, which it fills in as it
 * starts: the file has only which entry is of which field.
 */
enum runtime_jvm_field {
	RUNTIME_JVM_ARRAY_COUNT, /* GrowableArrayBase::_len */
	RUNTIME_JVM_ARRAY_DATA,
	RUNTIME_JVM_HEAP_MEMORY, /* of a CodeHeap: a VirtualSpace */
	RUNTIME_JVM_HEAP_SEGMENTS,
	RUNTIME_JVM_HEAP_SHIFT,
	RUNTIME_JVM_SPACE_LOW,
	RUNTIME_JVM_SPACE_HIGH,
	RUNTIME_JVM_BLOCK_USED, /* of HeapBlock::Header, with which a block begins */
	RUNTIME_JVM_BLOB_NAME,
	RUNTIME_JVM_BLOB_BYTES,
	RUNTIME_JVM_BLOB_CODE,     /* an address, or an offset: blob_code_bytes */
	RUNTIME_JVM_BLOB_FRAME,    /* words of a frame, with the return address */
	RUNTIME_JVM_BLOB_COMPLETE, /* from here on in the code the frame is complete */
	RUNTIME_JVM_NMETHOD_METHOD,
	RUNTIME_JVM_NMETHOD_ID, /* of the compilation */
	RUNTIME_JVM_METHOD_CONST,
	RUNTIME_JVM_CONST_POOL,
	RUNTIME_JVM_CONST_NAME,
	RUNTIME_JVM_CONST_CODE_BYTES,
	RUNTIME_JVM_POOL_COUNT,
	RUNTIME_JVM_POOL_HOLDER,
	RUNTIME_JVM_POOL_FILE,
	RUNTIME_JVM_KLASS_NAME,
	RUNTIME_JVM_SYMBOL_BYTES,
	RUNTIME_JVM_SYMBOL_BODY,
	/* Fields from here on are not in all versions: entry RUNTIME_NO_FIELD. */
	RUNTIME_JVM_CONST_FLAGS,
	RUNTIME_JVM_CONST_WORDS, /* of all of it, with what stands behind the bytecode */
	/* Where an nmethod has its scopes: enum runtime_jvm_scopes. */
	RUNTIME_JVM_SCOPES_AT,
	RUNTIME_JVM_SCOPES_DATA,
	RUNTIME_JVM_SCOPES_DESCS,
	RUNTIME_JVM_SCOPES_END,
	RUNTIME_JVM_METADATA_AT,
	RUNTIME_JVM_METADATA_OFFSET,
	RUNTIME_JVM_METADATA_END,
	RUNTIME_JVM_FIELDS
};

/*
 * An nmethod has three tables: PcDescs, the scopes of each pc that is returned to, and the methods of these.
 * IN_BLOB: SCOPES_AT is where scopes begin and methods end; DESCS, END (of them) and METADATA_OFFSET count from the blob.
 * APART: DATA, DESCS and END count from SCOPES_AT, METADATA_OFFSET and METADATA_END from METADATA_AT.
 */
enum runtime_jvm_scopes {
	RUNTIME_JVM_NO_SCOPES,
	RUNTIME_JVM_SCOPES_IN_BLOB,
	RUNTIME_JVM_SCOPES_APART,
};

struct runtime_jvm_structs {
	__u16 entry[RUNTIME_JVM_FIELDS]; /* of the table */
	/* Sizes: of a block's head, and where bytecode and entries of the pool begin.  block_bytes 0: nothing is known. */
	__u16 block_bytes, const_bytes, pool_bytes;
	__u8 blob_code_bytes, blob_complete_bytes; /* 8 or 4; 4 or 2 */
	__u16 version;                             /* 17 */
	__u16 scopes;                              /* enum runtime_jvm_scopes */
};

/*
 * Offsets of Ruby's and PHP's structs, in bytes.  The frames of Ruby lie one behind the other in a stack that the state has,
 * those of PHP are a list.
 */
struct runtime_listed_offsets {
	__u16 version;        /* 0x0301: 3.1 */
	__u16 state_frame;    /* the innermost frame */
	__u16 frame_bytes;    /* that have all fields below; in Ruby the next one is behind them */
	__u16 frame_previous; /* of PHP */
	__u16 frame_instr;    /* a pointer to the instruction */
	__u16 frame_code;     /* 0 there: of no code */
	__u16 frame_flags;    /* four bytes; of Ruby a pointer to them */
	__u16 code_bytes;     /* that have all fields below, but lines */
	__u16 code_name;      /* a text; of PHP 0 where code is not of a function */
	__u16 code_qualname;  /* of Ruby the name without what it is in, of PHP the class, or 0 */
	__u16 code_file;      /* a text; of Ruby perhaps an array of them */
	__u16 code_instrs;    /* a pointer to the first instruction */
	__u16 code_instr_count; /* four bytes */
	__u16 code_first_line;  /* of PHP, and behind it the last one, four bytes each */
	__u16 code_lines; /* of Ruby: a pointer to the lines; their count two words behind it, then their index */
	__u16 class_name;       /* of PHP */
	__u16 instr_bytes;      /* of an instruction */
	__u16 instr_line;       /* of PHP: the line in it */
	__u16 class_references; /* of PHP: four bytes, 1 or a few */
	__u16 code_method;      /* of Ruby: the code of the method that it is in */
};

/* Offsets of Perl's structs, in bytes. */
struct runtime_perl_offsets {
	__u16 version; /* 0x0524: 5.36 */
	/* The interpreter: the operation and the statement that run, and the innermost stack of contexts. */
	__u16 interp_op, interp_statement, interp_stack;
	__u16 stack_bytes; /* that have all fields below */
	__u16 stack_contexts, stack_previous;
	__u16 stack_last; /* four bytes: the index of the last context, and behind it that of the last there is room for */
	/* Four bytes: the index of the last context of a sub, an eval or a format, -1: none; and behind it the type. */
	__u16 stack_last_call;
	__u16 context_bytes;     /* of one */
	__u16 context_statement; /* that made it */
	__u16 context_return;    /* the operation to go on with; 0: the loop ends */
	__u16 context_outer;     /* four bytes: the index of the one around it; -1: none */
	__u16 context_code;      /* of a sub; of a file the string with its name is before it */
	__u16 statement_bytes;   /* that have all fields below */
	__u16 statement_type, statement_line, statement_file, statement_number;
	__u16 code_stash, code_name, code_file, code_flags; /* of its body */
	__u16 glob_name, glob_stash;                        /* of its body */
	__u16 glob_other; /* of what the glob points to: the glob that has the name */
	__u16 stash_name, stash_name_count; /* of its body */
};

/* Code of the interpreter that runs the program, one entry of it a native frame. */
struct runtime_range {
	__u64 start, size_bytes;
};

struct runtime_desc {
	__u32 kind;      /* enum runtime_kind */
	__u32 is_nested; /* eval[1] calls eval[0]: where both are on the stack they are one entry; not of Perl, whose eval[1] is perl_run() */
	struct runtime_range eval[RUNTIME_EVAL_RANGES];
	__u64 state; /* _PyRuntime; executor_globals; rb_cArray, or 0; of a JVM its table of structs */
	__u64 code_type; /* of a JVM: where CodeCache::_heaps is */
	__u64 text_type, bytes_type;
	union {
		struct {
			struct runtime_python_offsets python;
			__u16 pad[15];
		};
		struct runtime_v8_offsets v8;
		struct runtime_jvm_structs jvm;
		struct runtime_listed_offsets listed;
		struct runtime_perl_offsets perl;
	};
	/*
	 * Ruby's and Perl's state is a thread's: the word with the number of its module, and its offset in the module's part; in a
	 * program's own file no word, and the offset from where the thread's register points to.
	 */
	__u64 tls_module, tls_offset;
};

/* A file with an interpreter, by device (major << 20 | minor) and inode as the kernel has them. */
struct runtime_file_key {
	__u64 dev, inode;
};

struct runtime_file {
	__u64 code_vaddr, code_offset; /* of the loop */
	__u64 exec_vaddr; /* of the first code: what a program's start_code is made of */
	__u32 number;     /* of the description */
	__u32 zero;
};

/* The interpreter of a process whose mappings are not known yet; by its id. */
struct runtime_early {
	__u64 mm; /* of this memory, and no other that the process had before or has since */
	__u64 base;
	__u32 number; /* 0: not found yet */
	__u32 tries;  /* how often it was looked for */
};

/* Sizes of the hash of code, whose structs are bpf/runtime's own. */
#define RUNTIME_CODE_KEY_BYTES   24
#define RUNTIME_CODE_VALUE_BYTES 16
#define RUNTIME_NUMBERS_BYTES    16 /* the same of the hash of processes that got numbers, */
#define RUNTIME_PLACE_BYTES      (24 + 8 * RUNTIME_INLINED) /* and of that of places in compiled code */

/* ---- words ---- */
#define RUNTIME_WORD_COUNT(head)      ((head)&0xffff)
#define RUNTIME_WORD_WHY(head)        ((head) >> 16 & 0xff)
#define RUNTIME_WORD_DESC(head)       ((head) >> 24 & 0xff)
#define RUNTIME_WORD_SUM(head)        ((head) >> 32)
#define RUNTIME_WORD_HEAD(n, why, of) ((__u64)(n) | (__u64)(why) << 16 | (__u64)(of) << 24)
/* The sum of the native frames that have functions of V8's or methods of Java, each once. */
#define RUNTIME_SUM(sum, frame) ((__u32)((sum)*31 + (__u32)(frame)))

/* A frame for which the eval loop was entered, so all frames behind it are of an outer entry. */
#define RUNTIME_FRAME_ENTRY (1ULL << 63)
/* An entry without any frame. */
#define RUNTIME_FRAME_NOTHING (1ULL << 62)
/*
 * A word of a function of V8's, or of a method of Java, has the index of its native frame.  The frame's place becomes the function's, or, with
 * RUNTIME_FRAME_BEHIND, the function called what runs there.  Several methods of one frame are inlined, each in the next one.
 * The low bits are the bytecode's index and 2, or RUNTIME_NO_BYTECODE; of V8 with RUNTIME_IN_SCRIPT the place in the script's text.
 * The frames may have been found anew: RUNTIME_WORD_SUM is
 * for comparing them.
 */
#define RUNTIME_FRAME_BEHIND      (1ULL << 62)
#define RUNTIME_NO_BYTECODE       1
#define RUNTIME_IN_SCRIPT         (1u << 19)
#define RUNTIME_FRAME_INDEX(word) ((word) >> RUNTIME_FRAME_BITS & 0x3ff)
/*
 * Perl: the loop may not be running for this entry, as C code calls it again and again; and, of a sub without an operation to go
 * on with that such an entry called: it may be a part of that one.
 */
#define RUNTIME_FRAME_MAYBE (1ULL << 61)
#define RUNTIME_FRAME_JOINS (1ULL << 60)
/* The rest is the offset in the recording's file of interpreted code. */
#define RUNTIME_FRAME_BITS         44
#define RUNTIME_INSTR_BITS         20
#define RUNTIME_INSTR_MASK         ((1u << RUNTIME_INSTR_BITS) - 1)
#define RUNTIME_FRAME_OFFSET(word) ((word) & ((1ULL << RUNTIME_FRAME_BITS) - 1))
#define RUNTIME_CODE_MAX           ((1u << (RUNTIME_FRAME_BITS - RUNTIME_INSTR_BITS)) - 1)

/* A text as the interpreter has it. */
struct runtime_text {
	__u32 char_count;
	__u8 char_bytes; /* 1, 2, 4 */
	__u8 is_ascii;
	__u8 is_utf8; /* and counted in bytes */
	__u8 zero;
};

/* Frames of Perl that are in no sub: first_line of their code. */
enum runtime_perl_frame {
	RUNTIME_PERL_SUB,
	RUNTIME_PERL_MAIN,    /* of the program */
	RUNTIME_PERL_EVAL,    /* of a text */
	RUNTIME_PERL_REQUIRE, /* of a file */
	RUNTIME_PERL_BLOCK,   /* that C code calls: of sort, or in a regular expression */
	RUNTIME_PERL_FRAMES
};

/* The kind of owner that a method of Ruby has: first_line of its code. The name of the class or module is in owner. */
enum runtime_ruby_owner {
	RUNTIME_RUBY_NO_OWNER,     /* none, without a name, or not known */
	RUNTIME_RUBY_OF_INSTANCES, /* Server#handle */
	RUNTIME_RUBY_OF_ITSELF,    /* Server.start */
	RUNTIME_RUBY_OWNERS
};

/* Ruby's lines[]: the index, then the lines. */
#define RUNTIME_RUBY_INDEX_BYTES 1008
#define RUNTIME_RUBY_LINE_BYTES  12

/* The names of code; where a text is too long, its beginning is here, of the file's path its end. */
struct runtime_code_event {
	struct event_header h;
	__u32 pid;
	__u32 id;
	__u32 desc; /* number of its runtime_desc */
	__s32 first_line; /* of V8: the place in the source text where the function begins; -1: not known */
	/* V8's functions have no name beside their qualname: there char_count is that of their script, in UTF-16; 0: not known. */
	struct runtime_text name, qualname, file, owner; /* the last one of Ruby alone */
	__u32 user;                                      /* of the process: its user id */
	__u32 line_bytes; /* of lines[], at most RUNTIME_LINES_BYTES: those behind do not fit */
	__u8 name_text[RUNTIME_NAME_BYTES];
	__u8 qualname_text[RUNTIME_QUALNAME_BYTES];
	__u8 file_text[RUNTIME_FILE_BYTES];
	__u8 owner_text[RUNTIME_QUALNAME_BYTES];
	__u8 lines[RUNTIME_LINES_BYTES]; /* only line_bytes are sent */
};

#define RUNTIME_CODE_EVENT_HEAD_BYTES __builtin_offsetof(struct runtime_code_event, lines)

_Static_assert(sizeof(struct runtime_range) == 16, "bpf/user contract");
_Static_assert(sizeof(struct runtime_python_offsets) == 50, "bpf/user contract");
_Static_assert(sizeof(struct runtime_v8_offsets) == 68, "bpf/user contract");
_Static_assert(sizeof(struct runtime_jvm_structs) == 80, "bpf/user contract");
_Static_assert(sizeof(struct runtime_desc) == 168, "bpf/user contract");
_Static_assert(sizeof(struct runtime_listed_offsets) == 40, "bpf/user contract");
_Static_assert(sizeof(struct runtime_perl_offsets) == 56, "bpf/user contract");
_Static_assert(sizeof(struct runtime_text) == 8, "bpf/user contract");
_Static_assert(sizeof(struct runtime_file_key) == 16, "bpf/user contract");
_Static_assert(sizeof(struct runtime_file) == 32, "bpf/user contract");
_Static_assert(sizeof(struct runtime_early) == 24, "bpf/user contract");
_Static_assert(__builtin_offsetof(struct runtime_code_event, lines) ==
		       16 + 16 + 32 + 8 + 96 + 160 + 224 + 160,
	       "bpf/user contract");

#endif
