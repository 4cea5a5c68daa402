package token

import "math"

// size is how many weights there are: of pieces, and of messages, calls and results.
const size = width + 3

// vector is a content as the equations have it.
func (c Content) vector() (x [size]float64) {
	for i, n := range c.Text {
		x[i] = float64(n)
	}
	x[width], x[width+1], x[width+2] = float64(c.Messages), float64(c.Calls), float64(c.Results)
	return x
}

func (w Weights) vector() (x [size]float64) {
	copy(x[:], w.Text[:])
	x[width], x[width+1], x[width+2] = w.Message, w.Call, w.Result
	return x
}

func weightsOf(x [size]float64) Weights {
	w := Weights{Message: x[width], Call: x[width+1], Result: x[width+2]}
	copy(w.Text[:], x[:width])
	return w
}

// equations are the normal equations of a least-squares problem.
type equations struct {
	gram [size][size]float64
	rhs  [size]float64
}

// add adds one observation with its weight.
func (eq *equations) add(x [size]float64, y, weight float64) {
	for i, xi := range x {
		if xi == 0 {
			continue
		}
		row := &eq.gram[i]
		for j, xj := range x {
			row[j] += weight * xi * xj
		}
		eq.rhs[i] += weight * xi * y
	}
}

// solve finds the weights that are not negative and have the least error, pulled to prior, by coordinate descent.
func (eq *equations) solve(prior [size]float64) [size]float64 {
	b := prior
	for range maxSweeps {
		change := 0.0
		for i := range b {
			p := pull
			if prior[i] > 0 {
				p /= prior[i] * prior[i]
			}
			rest := eq.rhs[i] + p*prior[i]
			for j := range b {
				if j != i {
					rest -= eq.gram[i][j] * b[j]
				}
			}
			next := max(0, rest/(eq.gram[i][i]+p))
			change = max(change, math.Abs(next-b[i]))
			b[i] = next
		}
		if change < precision {
			break
		}
	}
	return b
}

const (
	maxSweeps = 5000
	precision = 1e-7
)
