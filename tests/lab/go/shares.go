// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later

// shares [SECONDS] [WORD] burns CPU time for two seconds: 30 % in spin called by thirty, 70 % in spin called by seventy.
// spin has no frame, so frame pointers lead past its callers.  With a word it also allocates, in four goroutines.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

//go:noinline
func spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i
	}
	return s
}

//go:noinline
func thirty(n int) int { return spin(n*3) + 1 }

//go:noinline
func seventy(n int) int { return spin(n*7) + 1 }

//go:noinline
func allocate() int {
	m := map[string]*[8]int{}
	for i := 0; i < 20000; i++ {
		m[fmt.Sprint(i)] = new([8]int)
	}
	return len(m)
}

// burn looks at the clock once in 10 * n turns: where that switches to another stack, its samples know no caller.
func burn(end time.Time, n int, also func() int) int {
	s := 0
	for time.Now().Before(end) {
		s += thirty(n) + seventy(n) + also()
	}
	return s
}

func main() {
	var wg sync.WaitGroup

	time.Sleep(500 * time.Millisecond) // so that the recorder has its table
	seconds, words := 2, os.Args[1:]
	if len(words) > 0 {
		if given, err := strconv.Atoi(words[0]); err == nil {
			seconds, words = given, words[1:]
		}
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	if len(words) == 0 {
		burn(end, 1000000, func() int { return 0 })
		return
	}
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			burn(end, 100000, allocate)
		}()
	}
	wg.Wait()
}
