/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/control_socket.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct control_socket opened(void)
{
	struct control_socket c = { .fd = -1 };

	assert_int_equal(control_socket_open(&c), 0);
	return c;
}

/* A client that has sent this; NULL: nothing yet. */
static int connected(const char *word)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at;
	socklen_t bytes = recorder_socket_address((int)getpid(), &at);

	assert_int_equal(connect(fd, (struct sockaddr *)&at, bytes), 0);
	if (word)
		assert_int_equal(send(fd, word, strlen(word), MSG_NOSIGNAL), strlen(word));
	return fd;
}

static bool is_ready(const struct control_socket *c)
{
	struct pollfd p = { .fd = c->epoll_fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Its answer, after which it was hung up; "": it was hung up without one. */
static const char *answer_of(int fd)
{
	static char text[RECORDER_SOCKET_ANSWER_BYTES + 1];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	char more;

	assert_true(n >= 0 || errno == ECONNRESET);
	text[n > 0 ? n : 0] = '\0';
	n = recv(fd, &more, 1, MSG_DONTWAIT);
	assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
	close(fd);
	return text;
}

static bool still_waits(int fd)
{
	char text;

	return recv(fd, &text, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

static void each_client_gets_the_answer_to_its_request(void **state)
{
	struct control_socket c = opened();
	int ping = connected("ping"), snapshot = connected("snapshot"), stop = connected("stop"),
	    second = connected("snapshot");

	assert_true(is_ready(&c));
	assert_int_equal(control_socket_take(&c),
			 1u << RECORDER_PING | 1u << RECORDER_SNAPSHOT | 1u << RECORDER_STOP);
	assert_false(is_ready(&c));
	assert_int_equal(control_socket_take(&c), 0);
	control_socket_answer(&c, RECORDER_PING, RECORDER_DONE, "1 s");
	assert_string_equal(answer_of(ping), "+1 s");
	assert_true(still_waits(snapshot));
	control_socket_answer(&c, RECORDER_SNAPSHOT, RECORDER_CANNOT, "no ring");
	assert_string_equal(answer_of(snapshot), "?no ring");
	assert_string_equal(answer_of(second), "?no ring");
	assert_true(still_waits(stop));
	control_socket_answer(&c, RECORDER_STOP, RECORDER_FAILED, "disk full");
	assert_string_equal(answer_of(stop), "-disk full");
	control_socket_close(&c);
}

static void a_request_may_come_long_after_its_client(void **state)
{
	struct control_socket c = opened();
	int fd = connected(NULL);

	assert_int_equal(control_socket_take(&c), 0);
	assert_false(is_ready(&c));
	assert_int_equal(send(fd, "ping", 4, 0), 4);
	assert_true(is_ready(&c));
	assert_int_equal(control_socket_take(&c), 1u << RECORDER_PING);
	control_socket_answer(&c, RECORDER_PING, RECORDER_DONE, "");
	assert_string_equal(answer_of(fd), "+");
	control_socket_close(&c);
}

static void what_is_no_request_is_answered_and_asks_for_nothing(void **state)
{
	static const char *const words[] = {
		"pin",    "pings", "Ping",
		"stop\n", "\xff",  "a word of more bytes than any request has, and more"
	};
	struct control_socket c = opened();
	int nothing;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		int fd = connected(words[i]);

		assert_int_equal(control_socket_take(&c), 0);
		assert_string_equal(answer_of(fd), "?there is no such request");
	}
	nothing = connected(NULL);
	assert_int_equal(send(nothing, "", 0, 0), 0);
	assert_int_equal(control_socket_take(&c), 0);
	assert_string_equal(answer_of(nothing), "");
	assert_int_equal(c.count, 0);
	control_socket_close(&c);
}

static void a_client_that_left_is_forgotten(void **state)
{
	struct control_socket c = opened();
	int before = connected(NULL), after = connected("stop");

	assert_int_equal(control_socket_take(&c), 1u << RECORDER_STOP);
	close(before);
	close(after);
	assert_true(is_ready(&c));
	assert_int_equal(control_socket_take(&c), 0);
	assert_false(is_ready(&c));
	assert_int_equal(c.count, 1); /* its answer goes nowhere */
	control_socket_answer(&c, RECORDER_STOP, RECORDER_DONE, "");
	assert_int_equal(c.count, 0);
	control_socket_close(&c);
}

static void clients_that_do_not_ask_make_room_and_those_that_wait_do_not(void **state)
{
	int silent[CONTROL_SOCKET_CLIENTS], asking[CONTROL_SOCKET_CLIENTS], one_more;
	struct control_socket c = opened();

	for (int i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		silent[i] = connected(NULL);
		control_socket_take(&c);
	}
	for (int i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		asking[i] = connected("snapshot");
		assert_int_equal(control_socket_take(&c), 1u << RECORDER_SNAPSHOT);
		assert_string_equal(answer_of(silent[i]), "");
	}
	one_more = connected("stop");
	assert_int_equal(control_socket_take(&c), 0);
	assert_string_equal(answer_of(one_more), "");
	control_socket_answer(&c, RECORDER_SNAPSHOT, RECORDER_DONE, "x");
	for (int i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		assert_string_equal(answer_of(asking[i]), "+x");
	control_socket_close(&c);
}

static void at_the_end_all_that_wait_are_answered(void **state)
{
	struct control_socket c = opened();
	int taken = connected("snapshot"), silent = connected(NULL), new;

	control_socket_take(&c);
	new = connected("stop");
	control_socket_close(&c);
	assert_string_equal(answer_of(taken), "-the recording ended");
	assert_string_equal(answer_of(silent), "-the recording ended");
	assert_string_equal(answer_of(new), "-the recording ended");
	assert_int_equal(control_socket_take(&c), 0);
	control_socket_close(&c);
}

static void a_long_answer_is_cut(void **state)
{
	char text[2 * RECORDER_SOCKET_ANSWER_BYTES];
	struct control_socket c = opened();
	int fd = connected("ping");

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	control_socket_take(&c);
	control_socket_answer(&c, RECORDER_PING, RECORDER_DONE, text);
	assert_int_equal(strlen(answer_of(fd)), RECORDER_SOCKET_ANSWER_BYTES - 1);
	control_socket_close(&c);
}

static void another_user_is_not_answered(void **state)
{
	struct control_socket c = opened();
	int go[2], status = -1;
	pid_t child;
	char byte;

	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (!child) {
		/* The server's process id, which the child's socket does not have. */
		struct sockaddr_un at;
		socklen_t bytes = recorder_socket_address((int)getppid(), &at);
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		if (seteuid(65534) || connect(fd, (struct sockaddr *)&at, bytes) ||
		    send(fd, "stop", 4, MSG_NOSIGNAL) != 4 || write(go[1], "", 1) != 1)
			_exit(2);
		_exit(recv(fd, &byte, 1, 0) > 0);
	}
	assert_int_equal(read(go[0], &byte, 1), 1);
	assert_int_equal(control_socket_take(&c), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(c.count, 0);
	control_socket_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_client_gets_the_answer_to_its_request),
		cmocka_unit_test(a_request_may_come_long_after_its_client),
		cmocka_unit_test(what_is_no_request_is_answered_and_asks_for_nothing),
		cmocka_unit_test(a_client_that_left_is_forgotten),
		cmocka_unit_test(clients_that_do_not_ask_make_room_and_those_that_wait_do_not),
		cmocka_unit_test(at_the_end_all_that_wait_are_answered),
		cmocka_unit_test(a_long_answer_is_cut),
		cmocka_unit_test(another_user_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
