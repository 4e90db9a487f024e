/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Leaves multiply|root SECONDS - a loop in which methods are inlined that call nothing: eight() has 8 multiplications or square
 * roots, four() 4, two() 2 and one() 1.  Each needs the result of the one before, so these numbers are the shares of the time.
 */
class Leaves {
	static volatile double sink;

	static class Multiply {
		static long step(long x) { return (x ^ x >>> 29) * 0x9e3779b97f4a7c15L; }
		static long eight(long x) { return step(step(step(step(step(step(step(step(x)))))))); }
		static long four(long x) { return step(step(step(step(x)))); }
		static long two(long x) { return step(step(x)); }
		static long one(long x) { return step(x); }

		static long loop(int n) {
			long x = n;
			for (int i = 0; i < n; i++)
				x = one(two(four(eight(x))));
			return x;
		}
	}

	static class Root {
		static double step(double x) { return Math.sqrt(x + 3.0); }
		static double eight(double x) { return step(step(step(step(step(step(step(step(x)))))))); }
		static double four(double x) { return step(step(step(step(x)))); }
		static double two(double x) { return step(step(x)); }
		static double one(double x) { return step(x); }

		static double loop(int n) {
			double x = n;
			for (int i = 0; i < n; i++)
				x = one(two(four(eight(x))));
			return x;
		}
	}

	public static void main(String[] a) {
		long end = System.nanoTime() + (long) (Double.parseDouble(a[1]) * 1e9);
		boolean multiplies = a[0].equals("multiply");
		while (System.nanoTime() < end)
			sink += multiplies ? Multiply.loop(20000) : Root.loop(20000);
	}
}
