/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* call_abi - whose numbers those of system calls are; the values are in captures */
#ifndef EBPREC_FORMAT_BASE_CALL_ABI_H
#define EBPREC_FORMAT_BASE_CALL_ABI_H

enum call_abi {
	CALL_ABI_X86_64 = 0,
	CALL_ABI_I386 = 1,
	CALL_ABI_AARCH64 = 2,
	CALL_ABI_ARM = 3,
	CALL_ABIS,
};

#endif
