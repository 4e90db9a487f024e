/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* calls32 - known numbers of system calls, for gcc -m32; prints its id */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	printf("%d\n", (int)getpid());
	for (int i = 0; i < 307; i++)
		(void)getppid();
	for (int i = 0; i < 101; i++)
		(void)!access("/no such file", R_OK);
	for (int i = 0; i < 53; i++)
		close(open("/dev/null", O_RDONLY));
	return 0;
}
