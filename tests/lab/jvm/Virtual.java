/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Virtual SECONDS - virtual threads, of Java 21 and later: one that computes and is never unmounted, and four that sleep, so that they are
 * unmounted, and compute when they are mounted again.  Each is 13 calls deep.
 */
class Virtual {
	static volatile long sink;
	static volatile boolean end;

	static long spin(long n) {
		long x = n;

		for (long i = 0; i < n; i++)
			x = x * 6364136223846793005L + 1;
		return x;
	}

	static void deep(int n, boolean sleeps) throws Exception {
		if (n > 0) {
			deep(n - 1, sleeps);
			return;
		}
		if (sleeps)
			Thread.sleep(1);
		sink += spin(300000);
	}

	static void work(boolean sleeps) {
		try {
			while (!end)
				deep(12, sleeps);
		} catch (Exception e) {
			System.exit(1);
		}
	}

	static void stays() { work(false); }

	static void leaves() { work(true); }

	public static void main(String[] a) throws Exception {
		var all = new java.util.ArrayList<Thread>();

		all.add(Thread.ofVirtual().start(Virtual::stays));
		for (int i = 0; i < 4; i++)
			all.add(Thread.ofVirtual().start(Virtual::leaves));
		Thread.sleep((long) (Double.parseDouble(a[0]) * 1000));
		end = true;
		for (Thread t : all)
			t.join();
	}
}
