/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_usdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/privsep/elf/stap_notes.h"

/* ---- arguments ---- */

/* By their names of 8, 4, 2 and 1 bytes: places in struct pt_regs of x86, in words. */
static const struct {
	const char *names[4];
	uint8_t reg;
} registers[] = {
	{ { "rax", "eax", "ax", "al" }, 10 },     { { "rbx", "ebx", "bx", "bl" }, 5 },
	{ { "rcx", "ecx", "cx", "cl" }, 11 },     { { "rdx", "edx", "dx", "dl" }, 12 },
	{ { "rsi", "esi", "si", "sil" }, 13 },    { { "rdi", "edi", "di", "dil" }, 14 },
	{ { "rbp", "ebp", "bp", "bpl" }, 4 },     { { "rsp", "esp", "sp", "spl" }, 19 },
	{ { "r8", "r8d", "r8w", "r8b" }, 9 },     { { "r9", "r9d", "r9w", "r9b" }, 8 },
	{ { "r10", "r10d", "r10w", "r10b" }, 7 }, { { "r11", "r11d", "r11w", "r11b" }, 6 },
	{ { "r12", "r12d", "r12w", "r12b" }, 3 }, { { "r13", "r13d", "r13w", "r13b" }, 2 },
	{ { "r14", "r14d", "r14w", "r14b" }, 1 }, { { "r15", "r15d", "r15w", "r15b" }, 0 },
	{ { "rip", "eip", "ip", "ip" }, 16 },
};

/* Parses "%rax" at *text, and moves *text behind it. */
static bool take_register(const char **text, uint8_t *out)
{
	const char *word = *text + 1;
	size_t bytes;

	if (**text != '%')
		return false;
	bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789");
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++) {
		for (size_t k = 0; k < 4; k++) {
			const char *name = registers[i].names[k];

			if (strlen(name) != bytes || strncmp(name, word, bytes) != 0)
				continue;
			*text = word + bytes;
			*out = registers[i].reg;
			return true;
		}
	}
	return false;
}

/* A number in base 0, as assemblers write it; none is 0 where that may be. */
static bool take_number(const char **text, bool may_lack, __u64 *out)
{
	char *end;

	*out = 0;
	if (**text != '-' && **text != '+' && (**text < '0' || **text > '9'))
		return may_lack;
	errno = 0;
	*out = **text == '-' ? (__u64)strtoll(*text, &end, 0) : strtoull(*text, &end, 0);
	if (errno || end == *text)
		return false;
	*text = end;
	return true;
}

/* "(%rax)", "(%rax,%rbx,4)", "(,%rbx,8)" at *text. */
static bool take_address(const char **text, struct usdt_arg *a)
{
	__u64 factor = 1;

	a->reg = a->index = USDT_NO_REG;
	if (*(*text)++ != '(')
		return false;
	if (**text != ',' && !take_register(text, &a->reg))
		return false;
	if (**text == ',') {
		(*text)++;
		if (!take_register(text, &a->index))
			return false;
		if (**text == ',') {
			(*text)++;
			if (!take_number(text, false, &factor))
				return false;
		}
	}
	if (factor != 1 && factor != 2 && factor != 4 && factor != 8)
		return false;
	a->scale = (uint8_t)__builtin_ctzll(factor);
	return *(*text)++ == ')';
}

/* "x0", "w30", "sp" at *text: in struct pt_regs of aarch64 sp is behind x30. */
static bool take_arm_register(const char **text, uint8_t *out)
{
	char *end;
	unsigned long number;

	if (!strncmp(*text, "sp", 2)) {
		*out = UNWIND_ARM_SP;
		*text += 2;
		return true;
	}
	if ((**text != 'x' && **text != 'w') || (*text)[1] < '0' || (*text)[1] > '9')
		return false;
	number = strtoul(*text + 1, &end, 10);
	if (number > UNWIND_ARM_LR)
		return false;
	*out = (uint8_t)number;
	*text = end;
	return true;
}

/* "[x1]", "[sp, 16]", "[x1, x2]" at *text. */
static bool take_arm_address(const char **text, struct usdt_arg *a)
{
	a->index = USDT_NO_REG;
	(*text)++;
	if (!take_arm_register(text, &a->reg))
		return false;
	if (**text == ',') {
		*text += 1 + strspn(*text + 1, " ");
		if (!take_arm_register(text, &a->index) && !take_number(text, false, &a->value))
			return false;
	}
	return *(*text)++ == ']';
}

/* The place of an argument of aarch64: the text behind the '@'. */
static bool read_arm_place(const char *text, struct usdt_arg *a)
{
	if (*text == '[') {
		a->kind = USDT_MEMORY;
		return take_arm_address(&text, a) && !*text;
	}
	if (*text == '-' || (*text >= '0' && *text <= '9')) {
		a->kind = USDT_CONST;
		return take_number(&text, false, &a->value) && !*text;
	}
	a->kind = USDT_REG;
	return take_arm_register(&text, &a->reg) && !*text;
}

/* One argument, all of it: text ends where it does. */
static bool read_arg(enum unwind_arch arch, const char *text, struct usdt_arg *a)
{
	__u64 bytes;

	if (!take_number(&text, false, &bytes) || *text++ != '@')
		return false; /* "8f@%xmm0": no register that the kernel has saved for us */
	a->is_signed = (__s64)bytes < 0;
	bytes = a->is_signed ? -bytes : bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	a->bytes = (uint8_t)bytes;
	if (arch == UNWIND_AARCH64)
		return read_arm_place(text, a);
	if (*text == '$') {
		a->kind = USDT_CONST;
		text++;
		return take_number(&text, false, &a->value) && !*text;
	}
	if (*text == '%') {
		a->kind = USDT_REG;
		return take_register(&text, &a->reg) && !*text;
	}
	a->kind = USDT_MEMORY;
	return take_number(&text, true, &a->value) && take_address(&text, a) && !*text;
}

/* How long the argument at text is: a blank ends it, but not between brackets. */
static size_t arg_bytes(const char *text)
{
	size_t bytes = strcspn(text, " ["), inside;

	if (text[bytes] != '[')
		return bytes;
	inside = bytes + strcspn(text + bytes, "]");
	return inside + strcspn(text + inside, " ");
}

void elf_usdt_args(enum unwind_arch arch, const char *text, struct usdt_args *out)
{
	char word[128];
	size_t bytes;

	memset(out, 0, sizeof(*out));
	for (text += strspn(text, " "); *text && out->count < PROBE_ARGS_MAX;
	     text += strspn(text, " ")) {
		struct usdt_arg a = { 0 };

		bytes = arg_bytes(text);
		if (bytes < sizeof(word)) {
			memcpy(word, text, bytes);
			word[bytes] = '\0';
			if (read_arg(arch, word, &a))
				out->arg[out->count] = a;
		}
		out->count++;
		text += bytes;
	}
}

/* ---- places ---- */

struct search {
	const char *provider, *name;
	struct elf_usdt_probe *out;
	int err;
};

static bool take(void *arg, const struct stap_note *n)
{
	struct search *s = arg;
	struct elf_usdt_site *site;

	if (strcmp(n->provider, s->provider) != 0 || strcmp(n->name, s->name) != 0)
		return true;
	if (s->out->count == ELF_USDT_SITES_MAX) {
		s->err = -EOVERFLOW;
		return false;
	}
	site = &s->out->sites[s->out->count++];
	site->nop_bytes = n->nop_bytes;
	site->semaphore_bytes = n->semaphore_bytes;
	elf_usdt_args(UNWIND_HERE, n->args, &site->args);
	return true;
}

int elf_usdt_find(const struct source *file, const char *provider, const char *name,
		  struct elf_usdt_probe *out)
{
	struct search s = { .provider = provider, .name = name, .out = out };
	struct elf_parts parts;
	int err;

	out->count = out->zero = 0;
	err = elf_parts_read(file, &parts);
	if (err)
		return err;
	stap_notes_each(&parts, take, &s);
	elf_parts_done(&parts);
	return s.err || out->count ? s.err : -ENOENT;
}
