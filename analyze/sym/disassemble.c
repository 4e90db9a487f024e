/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/disassemble.h"

#include <elf.h>
#include <stdio.h>

#include <Zydis/Zydis.h>

bool disassemble_knows(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386;
}

static bool init_decoder(ZydisDecoder *d, uint16_t machine)
{
	return ZYAN_SUCCESS(ZydisDecoderInit(
		d,
		machine == EM_X86_64 ? ZYDIS_MACHINE_MODE_LONG_64
				     : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
		machine == EM_X86_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32));
}

static bool init_formatter(ZydisFormatter *f, enum disassemble_style style)
{
	return ZYAN_SUCCESS(ZydisFormatterInit(f, style == DISASSEMBLE_INTEL
							  ? ZYDIS_FORMATTER_STYLE_INTEL
							  : ZYDIS_FORMATTER_STYLE_ATT)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE,
						      ZYAN_FALSE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_DISP_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_IMM_PADDING,
						      ZYDIS_PADDING_DISABLED));
}

size_t disassemble(uint16_t machine, enum disassemble_style style, uint64_t vaddr,
		   const uint8_t *bytes, size_t size_bytes, char text[DISASSEMBLE_TEXT_BYTES])
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	*text = '\0';
	if (!init_decoder(&decoder, machine) || !init_formatter(&formatter, style) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size_bytes, &in, operands)))
		return 1;
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &formatter, &in, operands, in.operand_count_visible, text,
		    DISASSEMBLE_TEXT_BYTES, vaddr, ZYAN_NULL)))
		*text = '\0';
	return in.length;
}
