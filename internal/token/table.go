package token

// claude is of 2,888 differences between counts of Claude Sonnet 4 and 4.5, Opus 4.5 and 4.6, and Haiku 4.5. The bounds are
// those of pi's and of logs of whole requests, as recordings of Claude Code leave out what it sends beside.
func claude() Model {
	return Model{
		Name: string(Claude),
		Weights: Weights{Text: [width]float64{
			Words: 0.993, Long: 0.138, Inner: 0.197, Capital: 0.126, Digits: 1.480, Runs: 0.705, Marks: 0.152, Lines: 1.094, Empty: 0.950,
			Blanks: 1.012, Spaces: 0.044, Tabs: 0.228, Latin: 0.661, Symbols: 0.627, Letters: 1.237, Wide: 2.844,
		}, Message: 3.6, Call: 66.9, Result: 11.5},
		New: Bound{1.18, 16}, Spoken: Bound{2.05, 136}, Whole: Bound{1.10, 200},
	}
}

// openAI is of 1,042 differences between counts of GPT-4.1 mini and GPT-5.3 to 5.5. The bounds are those of Codex's; that of
// answers that were not counted is of Base.
func openAI() Model {
	return Model{
		Name: string(OpenAI),
		Weights: Weights{Text: [width]float64{
			Words: 0.919, Long: 0.109, Inner: 0.121, Capital: 0.116, Digits: 1.531, Runs: 0.265, Marks: 0.172, Lines: 0.846, Empty: 0.597,
			Blanks: 0.715, Spaces: 0.039, Tabs: 0.294, Latin: 0.530, Symbols: 0.218, Letters: 0.945, Wide: 2.294,
		}, Message: 4.8, Call: 17.0, Result: 10.2},
		New: Bound{1.20, 0}, Spoken: Bound{2.20, 100}, Whole: Bound{1.37, 400},
	}
}

// deepSeek is of 683 differences between counts of deepseek-chat; the bound of answers that were not counted is of Base.
func deepSeek() Model {
	return Model{
		Name: string(DeepSeek),
		Weights: Weights{Text: [width]float64{
			Words: 0.740, Long: 0.190, Inner: 0.157, Capital: 0.124, Digits: 1.553, Runs: 0.370, Marks: 0.244, Lines: 0.698, Empty: 0.647,
			Blanks: 0.645, Spaces: 0.025, Tabs: 0.341, Latin: 0.591, Symbols: 0.744, Letters: 1.095, Wide: 2.532,
		}, Message: 5.1, Call: 25.3, Result: 14.8},
		New: Bound{1.21, 0}, Spoken: Bound{2.20, 100}, Whole: Bound{1.15, 368},
	}
}
