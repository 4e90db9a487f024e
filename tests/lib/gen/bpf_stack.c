/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_stack FILE... - the stack that programs of BPF need, as check_max_stack_depth() of Linux 6.1 counts it
 *
 * Prints for each object the chain of calls that needs the most: the file's name, bytes, how many functions, and their names
 * from the program on.  All code counts, also what the verifier removes because a constant of the recorder excludes it (in a
 * pid namespace it has another value); callbacks count as calls.  Status 1, and a line, for what Linux 6.1 refuses, or what
 * is not understood here.
 */
#include <assert.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_MAX      512 /* MAX_BPF_STACK */
#define STACK_TAIL_MAX 256 /* of the callers of a function that ends in another program */
#define FRAMES_MAX     8   /* MAX_CALL_FRAMES */
#define FRAME_UNIT     32  /* before Linux 6.8, for its interpreter */

#define FUNCTIONS_MAX 1024
#define CALLS_MAX     256 /* of one function */
#define INSNS_MAX     65536
#define SECTIONS_MAX  256
#define UNKNOWN       1 /* no offset in the stack: these are 0 and below */

struct function {
	const char *name;
	size_t section;
	uint32_t first, count; /* instructions in its section */
	uint32_t stack_bytes;
	bool is_program, ends_in_tail_call;
	uint32_t calls[CALLS_MAX], call_count;
	/* The chain that needs the most below it, itself included; 0: not yet known. */
	uint32_t most_bytes, most_frames;
	uint32_t most_next;
	bool is_open; /* find_most() is in it: a function that calls it is recursive */
};

struct object {
	const char *path, *name;
	Elf *elf;
	struct bpf_insn *insns[SECTIONS_MAX]; /* of sections with code */
	uint32_t insn_counts[SECTIONS_MAX];
	/* By instruction: the function that its relocation names; -1: none. */
	int64_t *targets[SECTIONS_MAX];
	struct function *functions;
	uint32_t function_count;
	bool is_refused;
};

static void refuse(struct object *o, const char *function, const char *what)
{
	fprintf(stderr, "bpf_stack: %s: %s: %s\n", o->name, function, what);
	o->is_refused = true;
}

static void fail(const struct object *o, const char *what)
{
	fprintf(stderr, "bpf_stack: %s: %s\n", o->path, what);
	exit(1);
}

static int64_t function_at(const struct object *o, size_t section, uint64_t insn)
{
	for (uint32_t i = 0; i < o->function_count; i++)
		if (o->functions[i].section == section && o->functions[i].first == insn)
			return i;
	return -1;
}

static void read_code(struct object *o)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->elf, scn))) {
		size_t at = elf_ndxscn(scn);
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || at >= SECTIONS_MAX)
			fail(o, "cannot read its sections");
		if (shdr.sh_type != SHT_PROGBITS || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    !shdr.sh_size)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || data->d_size / sizeof(struct bpf_insn) > INSNS_MAX)
			fail(o, "cannot read its code");
		o->insns[at] = data->d_buf;
		o->insn_counts[at] = data->d_size / sizeof(struct bpf_insn);
		o->targets[at] = malloc(o->insn_counts[at] * sizeof(int64_t) + 1);
		assert(o->targets[at]);
		for (uint32_t i = 0; i < o->insn_counts[at]; i++)
			o->targets[at][i] = -1;
	}
}

/* A program is a function that has a section of its own, or shares one that is not .text. */
static void read_functions(struct object *o, Elf_Scn *symbols, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(symbols, NULL);
	size_t names;
	GElf_Sym sym;

	if (!data || elf_getshdrstrndx(o->elf, &names))
		fail(o, "cannot read its symbols");
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		struct function *f = &o->functions[o->function_count];
		GElf_Shdr of;

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx >= SECTIONS_MAX ||
		    !o->insns[sym.st_shndx])
			continue;
		if (o->function_count == FUNCTIONS_MAX)
			fail(o, "too many functions");
		f->name = elf_strptr(o->elf, shdr->sh_link, sym.st_name);
		f->section = sym.st_shndx;
		f->first = sym.st_value / sizeof(struct bpf_insn);
		f->count = sym.st_size / sizeof(struct bpf_insn);
		if (!f->name || !f->count ||
		    f->first + (uint64_t)f->count > o->insn_counts[f->section] ||
		    !gelf_getshdr(elf_getscn(o->elf, f->section), &of))
			fail(o, "a function is not in its section");
		f->is_program = strcmp(elf_strptr(o->elf, names, of.sh_name), ".text") != 0;
		o->function_count++;
	}
}

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* A relocation names the function, or the section, and then the instruction has the offset in it. */
static void read_relocations(struct object *o, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL),
		 *symbols = elf_getdata(elf_getscn(o->elf, shdr->sh_link), NULL);
	size_t section = shdr->sh_info;
	GElf_Rel rel;

	if (!data || !symbols)
		fail(o, "cannot read its relocations");
	for (int i = 0; gelf_getrel(data, i, &rel); i++) {
		uint64_t at = rel.r_offset / sizeof(struct bpf_insn), to;
		const struct bpf_insn *insn;
		GElf_Sym sym;

		if (at >= o->insn_counts[section] ||
		    !gelf_getsym(symbols, GELF_R_SYM(rel.r_info), &sym))
			fail(o, "a relocation leads nowhere");
		if (sym.st_shndx >= SECTIONS_MAX || !o->insns[sym.st_shndx])
			continue; /* a map, data */
		insn = &o->insns[section][at];
		to = sym.st_value / sizeof(*insn);
		if (is_call(insn))
			to += GELF_ST_TYPE(sym.st_info) == STT_SECTION ? insn->imm + 1 : 0;
		else
			to += insn->imm / (int)sizeof(*insn);
		o->targets[section][at] = function_at(o, sym.st_shndx, to);
		if (o->targets[section][at] < 0)
			fail(o, "a relocation of code names no function");
	}
}

/* The content of registers: an offset from r10 that is not positive, or UNKNOWN. */
struct registers {
	bool is_seen;
	int32_t offset[11];
};

static void see_offset(struct function *f, int64_t offset)
{
	if (offset < 0 && -offset > f->stack_bytes)
		f->stack_bytes = -offset;
}

/* Each address in the stack that is made or used counts: what is made is passed to a helper or to a function. */
static void run_insn(struct function *f, const struct bpf_insn *insn, struct registers *r)
{
	int32_t *dst = &r->offset[insn->dst_reg], src = r->offset[insn->src_reg];
	uint8_t class = BPF_CLASS(insn->code);

	switch (class) {
	case BPF_LDX:
		if (src != UNKNOWN)
			see_offset(f, (int64_t)src + insn->off);
		*dst = UNKNOWN;
		break;
	case BPF_ST:
	case BPF_STX:
		if (*dst != UNKNOWN)
			see_offset(f, (int64_t)*dst + insn->off);
		if (class == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC) {
			r->offset[0] = UNKNOWN; /* compare and exchange */
			if (insn->src_reg != 10)
				r->offset[insn->src_reg] = UNKNOWN;
		}
		break;
	case BPF_ALU64:
		if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X))
			*dst = src;
		else if (insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && *dst != UNKNOWN)
			see_offset(f, *dst += insn->imm);
		else
			*dst = UNKNOWN;
		break;
	case BPF_ALU:
	case BPF_LD:
		*dst = UNKNOWN;
		break;
	default:
		if (insn->code == (BPF_JMP | BPF_CALL))
			for (int i = 0; i <= 5; i++)
				r->offset[i] = UNKNOWN;
	}
}

/* Adds what is known where code comes from to what is known where it goes to; returns whether that changed. */
static bool join(struct registers *to, const struct registers *from)
{
	bool is_changed = !to->is_seen;

	if (!to->is_seen) {
		*to = *from;
		return true;
	}
	for (int i = 0; i <= 10; i++) {
		if (to->offset[i] != from->offset[i] && to->offset[i] != UNKNOWN) {
			to->offset[i] = UNKNOWN;
			is_changed = true;
		}
	}
	return is_changed;
}

/* Every way through the function, until nothing new is known of a register. */
static void measure(struct object *o, struct function *f)
{
	const struct bpf_insn *insns = &o->insns[f->section][f->first];
	struct registers *at = calloc(f->count + 2,
				      sizeof(*at)); /* the last instruction may be two long */
	bool is_changed = true;

	assert(at);
	at[0].is_seen = true;
	for (int i = 0; i < 10; i++)
		at[0].offset[i] = UNKNOWN;
	while (is_changed) {
		is_changed = false;
		for (uint32_t i = 0; i < f->count; i++) {
			uint8_t code = insns[i].code, class = BPF_CLASS(code);
			bool is_exit = code == (BPF_JMP | BPF_EXIT),
			     is_call = code == (BPF_JMP | BPF_CALL);
			bool is_jump = (class == BPF_JMP || class == BPF_JMP32) && !is_exit &&
				       !is_call;
			bool is_wide = code == (BPF_LD | BPF_IMM | BPF_DW);
			struct registers now = at[i];

			if (!now.is_seen)
				continue;
			run_insn(f, &insns[i], &now);
			if (is_jump) {
				int64_t to = (int64_t)i + insns[i].off + 1;

				if (class == BPF_JMP32 && BPF_OP(code) == BPF_JA)
					fail(o, "a jump that Linux 6.1 does not have");
				if (to < 0 || to >= f->count)
					fail(o, "a jump leaves its function");
				is_changed |= join(&at[to], &now);
			}
			if (!is_exit && code != (BPF_JMP | BPF_JA))
				is_changed |= join(&at[i + 1 + is_wide], &now);
		}
	}
	free(at);
}

static void add_call(struct object *o, struct function *f, int64_t callee)
{
	if (callee < 0)
		fail(o, "a call leads to no function");
	if (f->call_count == CALLS_MAX)
		fail(o, "a function has too many calls");
	f->calls[f->call_count++] = callee;
}

/* Calls, and functions whose address is taken: those that a loop calls back. */
static void find_calls(struct object *o, struct function *f)
{
	const struct bpf_insn *insns = o->insns[f->section];

	for (uint32_t i = f->first; i < f->first + f->count; i++) {
		int64_t target = o->targets[f->section][i];

		if (is_call(&insns[i]))
			add_call(o, f,
				 target >= 0 ? target
					     : function_at(o, f->section,
							   (int64_t)i + insns[i].imm + 1));
		else if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
			 insns[i].imm == BPF_FUNC_tail_call)
			f->ends_in_tail_call = true;
		else if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) && target >= 0)
			add_call(o, f, target);
		else if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
			 insns[i].src_reg == BPF_PSEUDO_FUNC)
			fail(o, "a callback without a relocation");
	}
}

static uint32_t frame_bytes(const struct function *f)
{
	return f->stack_bytes ? (f->stack_bytes + FRAME_UNIT - 1) / FRAME_UNIT * FRAME_UNIT
			      : FRAME_UNIT;
}

/* The most that f and what it calls need, and the most frames; these may be of two chains. */
static void find_most(struct object *o, struct function *f)
{
	uint32_t bytes = 0, frames = 0;

	if (f->is_open)
		fail(o, "a function calls itself");
	if (f->most_bytes)
		return;
	f->is_open = true;
	f->most_next = o->function_count;
	for (uint32_t i = 0; i < f->call_count; i++) {
		const struct function *g = &o->functions[f->calls[i]];

		find_most(o, &o->functions[f->calls[i]]);
		if (g->most_bytes > bytes) {
			bytes = g->most_bytes;
			f->most_next = f->calls[i];
		}
		frames = g->most_frames > frames ? g->most_frames : frames;
	}
	f->most_bytes = frame_bytes(f) + bytes;
	f->most_frames = 1 + frames;
	f->is_open = false;
}

/* Whether a function below f, whose callers have above bytes, ends in a tail call too deep. */
static void check_tail_calls(struct object *o, const struct function *f, uint32_t above)
{
	if (above >= STACK_TAIL_MAX && f->ends_in_tail_call)
		refuse(o, f->name, "a tail call below 256 bytes of stack");
	for (uint32_t i = 0; i < f->call_count; i++)
		check_tail_calls(o, &o->functions[f->calls[i]], above + frame_bytes(f));
}

static void print_most(const struct object *o, const struct function *f)
{
	uint32_t frames = 1;

	for (const struct function *g = f; g->most_next < o->function_count;
	     g = &o->functions[g->most_next])
		frames++;
	printf("%s %u %u", o->name, f->most_bytes, frames);
	for (;; f = &o->functions[f->most_next]) {
		printf(" %s", f->name);
		if (f->most_next == o->function_count)
			break;
	}
	printf("\n");
}

static void count_stack(struct object *o)
{
	struct function *most = NULL;

	for (uint32_t i = 0; i < o->function_count; i++) {
		measure(o, &o->functions[i]);
		find_calls(o, &o->functions[i]);
	}
	for (uint32_t i = 0; i < o->function_count; i++) {
		struct function *f = &o->functions[i];

		if (!f->is_program)
			continue; /* what no program calls is not loaded */
		find_most(o, f);
		check_tail_calls(o, f, 0);
		if (f->most_bytes > STACK_MAX)
			refuse(o, f->name, "more than 512 bytes of stack");
		if (f->most_frames > FRAMES_MAX)
			refuse(o, f->name, "more than 8 functions that call each other");
		if (!most || f->most_bytes > most->most_bytes)
			most = f;
	}
	if (!most)
		fail(o, "no program");
	print_most(o, most);
}

static void read_object(struct object *o)
{
	GElf_Shdr shdr;

	read_code(o);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			read_functions(o, scn, &shdr);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_REL &&
		    shdr.sh_info < SECTIONS_MAX && o->insns[shdr.sh_info])
			read_relocations(o, scn, &shdr);
}

static bool count_object(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct object o = { .path = path, .name = slash ? slash + 1 : path };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	o.elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	o.functions = calloc(FUNCTIONS_MAX, sizeof(*o.functions));
	assert(o.functions);
	if (!o.elf || elf_kind(o.elf) != ELF_K_ELF)
		fail(&o, "cannot read it as ELF");
	read_object(&o);
	count_stack(&o);
	for (size_t i = 0; i < SECTIONS_MAX; i++)
		free(o.targets[i]);
	free(o.functions);
	elf_end(o.elf);
	close(fd);
	return !o.is_refused;
}

int main(int argc, char **argv)
{
	bool is_loaded = argc > 1;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		is_loaded &= count_object(argv[i]);
	return is_loaded ? 0 : 1;
}
