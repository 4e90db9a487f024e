/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_usdt.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include "record/privsep/elf/stap_notes.h"

/* ---- arguments ---- */

#define REGISTER(name) (offsetof(struct user_regs_struct, name) / 8)

/* By their names of 8, 4, 2 and 1 bytes; the kernel's struct pt_regs begins as user_regs_struct does. */
static const struct {
	const char *names[4];
	uint8_t reg;
} registers[] = {
	{ { "rax", "eax", "ax", "al" }, REGISTER(rax) },
	{ { "rbx", "ebx", "bx", "bl" }, REGISTER(rbx) },
	{ { "rcx", "ecx", "cx", "cl" }, REGISTER(rcx) },
	{ { "rdx", "edx", "dx", "dl" }, REGISTER(rdx) },
	{ { "rsi", "esi", "si", "sil" }, REGISTER(rsi) },
	{ { "rdi", "edi", "di", "dil" }, REGISTER(rdi) },
	{ { "rbp", "ebp", "bp", "bpl" }, REGISTER(rbp) },
	{ { "rsp", "esp", "sp", "spl" }, REGISTER(rsp) },
	{ { "r8", "r8d", "r8w", "r8b" }, REGISTER(r8) },
	{ { "r9", "r9d", "r9w", "r9b" }, REGISTER(r9) },
	{ { "r10", "r10d", "r10w", "r10b" }, REGISTER(r10) },
	{ { "r11", "r11d", "r11w", "r11b" }, REGISTER(r11) },
	{ { "r12", "r12d", "r12w", "r12b" }, REGISTER(r12) },
	{ { "r13", "r13d", "r13w", "r13b" }, REGISTER(r13) },
	{ { "r14", "r14d", "r14w", "r14b" }, REGISTER(r14) },
	{ { "r15", "r15d", "r15w", "r15b" }, REGISTER(r15) },
	{ { "rip", "eip", "ip", "ip" }, REGISTER(rip) },
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

/* One argument, all of it: text ends where it does. */
static bool read_arg(const char *text, struct usdt_arg *a)
{
	__u64 bytes;

	if (!take_number(&text, false, &bytes) || *text++ != '@')
		return false; /* "8f@%xmm0": no register that the kernel has saved for us */
	a->is_signed = (__s64)bytes < 0;
	bytes = a->is_signed ? -bytes : bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	a->bytes = (uint8_t)bytes;
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

void elf_usdt_args(const char *text, struct usdt_args *out)
{
	char word[128];
	size_t bytes;

	memset(out, 0, sizeof(*out));
	for (text += strspn(text, " "); *text && out->count < PROBE_ARGS_MAX;
	     text += strspn(text, " ")) {
		struct usdt_arg a = { 0 };

		bytes = strcspn(text, " ");
		if (bytes < sizeof(word)) {
			memcpy(word, text, bytes);
			word[bytes] = '\0';
			if (read_arg(word, &a))
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
	elf_usdt_args(n->args, &site->args);
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
