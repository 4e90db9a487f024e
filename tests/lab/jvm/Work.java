/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Work SECONDS - methods with 60, 30 and 10 % of the rounds, and threads that recurse, sleep, and wait for a monitor and a
 * socket.  It prints "ready PID" when all of them wait, and at the end how many ms of CPU time the three methods had.
 */
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

class Work {
	static final Object lock = new Object();
	static volatile long sink;

	static long burn60(long n) { long x = n; for (long i = 0; i < n; i++) x = x * 6364136223846793005L + 1; return x; }
	static long burn30(long n) { long x = n; for (long i = 0; i < n; i++) x = x * 6364136223846793005L + 3; return x; }
	static long burn10(long n) { long x = n; for (long i = 0; i < n; i++) x = x * 6364136223846793005L + 5; return x; }

	static void down(int n) throws Exception { if (n > 0) down(n - 1); else while (true) Thread.sleep(7); }
	static void sleeps() throws Exception { while (true) Thread.sleep(5); }
	static void waits() { while (true) synchronized (lock) { sink++; } }
	static void reads(Socket s) throws Exception { while (s.getInputStream().read() >= 0) sink++; }

	interface Body { void run() throws Exception; }

	static void start(String name, Body body) {
		Thread t = new Thread(() -> { try { body.run(); } catch (Exception e) { System.exit(1); } }, name);
		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] a) throws Exception {
		long[] ns = new long[3];
		var me = ManagementFactory.getThreadMXBean();
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Socket client = new Socket(server.getInetAddress(), server.getLocalPort()), peer = server.accept();

		start("deep", () -> down(200));
		start("sleeper", () -> sleeps());
		start("reader", () -> reads(client));
		start("holder", () -> { while (true) { synchronized (lock) { Thread.sleep(20); } Thread.sleep(1); } });
		start("waiter", () -> waits());
		start("writer", () -> { while (true) { peer.getOutputStream().write(1); Thread.sleep(5); } });
		Thread.sleep(300);
		System.out.println("ready " + ProcessHandle.current().pid());
		long end = System.nanoTime() + (long) (Double.parseDouble(a[0]) * 1e9);
		var chance = new java.util.Random(7);
		while (System.nanoTime() < end) {
			int k = 1 + chance.nextInt(40); // else it keeps step with the sampling
			long t0 = me.getCurrentThreadCpuTime();
			sink += burn60(60000 * k);
			long t1 = me.getCurrentThreadCpuTime();
			sink += burn30(30000 * k);
			long t2 = me.getCurrentThreadCpuTime();
			sink += burn10(10000 * k);
			ns[0] += t1 - t0;
			ns[1] += t2 - t1;
			ns[2] += me.getCurrentThreadCpuTime() - t2;
		}
		System.out.println(ns[0] / 1000000 + " " + ns[1] / 1000000 + " " + ns[2] / 1000000);
		System.exit(0);
	}
}
