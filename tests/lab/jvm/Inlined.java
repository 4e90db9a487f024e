/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Inlined SECONDS - a thread "worker" whose functions the compiler puts into each other, and which sleeps in the innermost of them.
 * It prints, once each, the stacks that the JVM reports of it while it sleeps: METHOD:LINE;..., outermost first.
 */
class Inlined {
	static volatile long sink;
	static volatile boolean end;

	static int sleepy(int n) throws Exception {
		if (n * 0x9e3779b1 >>> 21 == 0) // by chance, once in 2048
			Thread.sleep(1);
		return n ^ 5;
	}

	static int inner(int n) throws Exception {
		int x = sleepy(n) + 1;
		return x * 3;
	}

	static int middle(int n) throws Exception {
		int y = n + 1;
		return inner(y)
			+ inner(n);
	}

	static int outer(int n) throws Exception {
		return middle(n) - 7;
	}

	static void loop() throws Exception {
		for (int n = 0; !end; n++)
			sink += outer(n);
	}

	/* The stack of a thread, without methods of other classes; null: it does not sleep. */
	static String stack(Thread of) {
		StringBuilder text = new StringBuilder();
		boolean sleeps = false;

		for (StackTraceElement e : of.getStackTrace()) {
			sleeps |= e.getClassName().equals("java.lang.Thread") && e.getMethodName().startsWith("sleep");
			if (e.getClassName().equals("Inlined"))
				text.insert(0, ";" + e.getMethodName() + ":" + e.getLineNumber());
		}
		return sleeps ? text.substring(1) : null;
	}

	public static void main(String[] a) throws Exception {
		Thread worker = new Thread(() -> { try { loop(); } catch (Exception e) { System.exit(1); } }, "worker");
		var seen = new java.util.TreeSet<String>();

		worker.start();
		long until = System.nanoTime() + (long) (Double.parseDouble(a[0]) * 1e9);
		while (System.nanoTime() < until) {
			Thread.sleep(3);
			String text = stack(worker);
			if (text != null)
				seen.add(text);
		}
		end = true;
		seen.forEach(System.out::println);
	}
}
