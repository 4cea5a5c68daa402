package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"golang.org/x/term"
)

// asks reports whether somebody at a terminal can be asked.
func (e *env) asks() bool {
	f, ok := e.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// line reads what is typed, unless the command is interrupted before.
func (e *env) line(ctx context.Context) (string, error) {
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(e.in).ReadString('\n') // the end of the input says no
		typed <- line
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(e.err)
		return "", ctx.Err()
	}
}
