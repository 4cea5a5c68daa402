package index

// What the tests of this package reach into.

var (
	Quoted   = quoted
	Encoding = encoding
	Sum      = sum
)

// Find is a needle's index.
func Find(needle, text string) int { return newNeedle(needle).index(text) }

// FindThree is a needle's three.
func FindThree(needle, text string) int { return newNeedle(needle).three(text) }

// MaxMarks are the marks that a cursor carries at most.
const MaxMarks = maxMarks
