/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bundler - has the analyzer put names into a capture that was just made
 *
 * The recorder itself looks up no symbol.  `ebprec` is looked for beside this program, then in
 * ../../bin as `make install` puts it, and is run as the same user.
 */
#ifndef EBPREC_RECORD_BUNDLER_H
#define EBPREC_RECORD_BUNDLER_H

/* Runs `ebprec bundle -q PATH` and waits for it.  0; -ENOENT: no ebprec; -EIO: it failed and has said why. */
int bundler_run(const char *path);

#endif
