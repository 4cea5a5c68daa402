//go:build !race

package selection_test

// raced says that the race detector is on, which makes long tests take ten times as long.
const raced = false
