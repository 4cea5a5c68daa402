package pricing_test

import (
	"testing"

	"pgregory.net/rapid"

	"ambit/internal/pricing"
)

// covers: G-08 part
func TestHitRate(t *testing.T) {
	near(t, "of nothing", pricing.Charge{}.HitRate(), 0)
	near(t, "of fresh input", pricing.Charge{Fresh: 5}.HitRate(), 0)
	near(t, "of all four", pricing.Charge{Fresh: 10, Read: 50, Write: 15, WriteHour: 25}.HitRate(), 0.5)
	near(t, "of reads", pricing.Charge{Read: 5}.HitRate(), 1)
}

func TestPrice(t *testing.T) {
	p := pricing.Price{Input: 4, Output: 20, Read: 0.2, Write: 5, WriteHour: 8}
	c := pricing.Charge{Fresh: 1_000_000, Read: 500_000, Write: 200_000, WriteHour: 100_000}
	near(t, "input", p.Of(c), 4+0.1+1+0.8)
	near(t, "output", p.OfOutput(250_000), 5)
	near(t, "twice", p.Of(c.Add(c)), 2*p.Of(c))
	near(t, "written", float64(c.Written()), 300_000)
}

func TestBank(t *testing.T) {
	b := pricing.Bank{Slack: 0.05}
	if b.Allows(0.01) || !b.Allows(0) {
		t.Error("an empty bank")
	}
	b.Append(100)
	b.Spend(90)
	if !b.Allows(14.99) || b.Allows(15.01) {
		t.Errorf("%+v", b)
	}
	if strict := (pricing.Bank{Account: 100, Spent: 90}); !strict.Allows(10) || strict.Allows(10.01) {
		t.Errorf("%+v", strict)
	}
}

// TestBankLaw: who cuts only when the bank allows it has never spent more than the account and the slack, if all else
// costs no more than append-only.
func TestBankLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := pricing.Bank{Slack: rapid.Float64Range(0, 0.2).Draw(t, "slack")}
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			usd := rapid.Float64Range(0, 2).Draw(t, "append")
			b.Append(usd)
			b.Spend(usd * rapid.Float64Range(0, 1).Draw(t, "share"))
			if cut := rapid.Float64Range(0, 5).Draw(t, "cut"); b.Allows(cut) {
				b.Spend(cut)
			}
			if b.Spent > (1+b.Slack)*b.Account+1e-9 {
				t.Fatalf("%+v", b)
			}
		}
	})
}
