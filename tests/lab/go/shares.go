// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later

// shares burns CPU time: 30 % in spin called by thirty, 70 % in spin called by seventy.  spin has no
// frame, so frame pointers lead past its callers.  With a word it also allocates, in four goroutines.
package main

import (
	"fmt"
	"os"
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

func burn(end time.Time, also func() int) int {
	s := 0
	for time.Now().Before(end) {
		s += thirty(100000) + seventy(100000) + also()
	}
	return s
}

func main() {
	var wg sync.WaitGroup

	time.Sleep(500 * time.Millisecond) // so that the recorder has its table
	end := time.Now().Add(2 * time.Second)
	if len(os.Args) < 2 {
		burn(end, func() int { return 0 })
		return
	}
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			burn(end, allocate)
		}()
	}
	wg.Wait()
}
