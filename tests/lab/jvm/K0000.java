/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* K0000 - a class that Churn loads again and again, with another number in all names.  It calls its methods in lines 10, 16 and 19. */
public class K0000 implements Runnable {
	long x0000 = 1;
	Object o0000 = "text";

	@Override public void run() {
		for (int i = 0; i < 200; i++)
			try {
				first0000(i);
			} catch (IllegalStateException e) {
				x0000++;
			}
	}

	void first0000(int i) { second0000(i);
		/* Another type every now and then: what was compiled for one alone is thrown away. */
		o0000 = i == 77 ? (Object) Integer.valueOf(i) : "text";
		third0000(i);
	}

	void second0000(int i) { for (int k = 0; k < 300; k++) x0000 = x0000 * 6364136223846793005L + o0000.hashCode(); }

	void third0000(int i) {
		if (i % 3 == 0)
			throw new IllegalStateException();
		for (int k = 0; k < 300; k++)
			x0000 ^= x0000 << 13;
	}
}
