/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Churn SECONDS - classes that come and go, exceptions, and code that is compiled again and again
 *
 * Class K0001 is K0000 with other digits, and so its methods first0001() and second0001(): each has a class loader of its own, runs
 * until it is compiled, and is unloaded with its code, whose memory others get.  At the end it prints how many there were.
 */
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

class Churn {
	static volatile long sink;
	static volatile boolean end;

	/* Bytes of K0000 with another number: all of its names have digits of the same count. */
	static byte[] renamed(byte[] of, String digits) {
		String text = new String(of, StandardCharsets.ISO_8859_1);

		return text.replace("0000", digits).getBytes(StandardCharsets.ISO_8859_1);
	}

	static Runnable load(byte[] bytes, String name) throws Exception {
		ClassLoader loader = new ClassLoader(Churn.class.getClassLoader()) {
			@Override protected Class<?> findClass(String n) {
				return defineClass(n, bytes, 0, bytes.length);
			}
		};

		return (Runnable) loader.loadClass(name).getDeclaredConstructor().newInstance();
	}

	static void garbage() {
		while (!end)
			sink += new byte[(int) (sink & 0xfff) + 64].length;
	}

	public static void main(String[] a) throws Exception {
		byte[] bytes = Files.readAllBytes(Path.of(a[1], "K0000.class"));
		Thread collected = new Thread(Churn::garbage, "garbage");
		long until = System.nanoTime() + (long) (Double.parseDouble(a[0]) * 1e9);
		int n = 0;

		collected.start();
		while (System.nanoTime() < until) {
			String digits = String.format("%04d", ++n);
			long stop = System.nanoTime() + 30_000_000;
			Runnable r = load(renamed(bytes, digits), "K" + digits);
			while (System.nanoTime() < stop)
				r.run();
			if (n % 8 == 0)
				System.gc();
		}
		end = true;
		System.out.println(n);
	}
}
