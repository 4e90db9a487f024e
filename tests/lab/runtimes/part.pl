# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# part.pl - is run by stacks.pl again and again
main::m_work(300);
1;
