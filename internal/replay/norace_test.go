//go:build !race

package replay

// raced says that the race detector is on, which makes long tests take ten times as long.
const raced = false
