package pricing

import "math"

// Breakeven is how many more requests it takes until a warm cut has paid: removed tokens that are no longer read,
// before a suffix that is written once more, both in tokens. With w and r for the prices of writing and of reading
// relative to input that is suffix*(w-r)/(removed*r), w of the shorter life. It is 0 where nothing is cached, and
// infinite where nothing is removed.
func Breakeven(removed, suffix int, m Model) float64 {
	r := m.Rules
	switch {
	case removed <= 0:
		return math.Inf(1)
	case r.Match == Never:
		return 0
	}
	return float64(suffix) * (r.Write - r.Read) / (float64(removed) * r.Read)
}

// Bank says whether a cut that nobody needs may be paid for: only while all that was spent stays within what
// append-only requests would have cost, and some slack. The zero value is a bank without slack. It is not safe for
// concurrent use.
type Bank struct {
	Slack   float64 // a share of the account: 0.05 is five per cent
	Account float64 // what append-only with perfect caching would have cost until now, in USD
	Spent   float64 // what was spent, in USD
}

// Append adds to the account what append-only would have cost, in USD.
func (b *Bank) Append(usd float64) { b.Account += usd }

// Spend adds what was spent, in USD.
func (b *Bank) Spend(usd float64) { b.Spent += usd }

// Allows says whether a cut of that price, in USD, may be paid for now.
func (b *Bank) Allows(price float64) bool { return b.Spent+price <= (1+b.Slack)*b.Account }
